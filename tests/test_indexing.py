"""Indexing, read and write. Expected shapes, names, texts and values are PyTorch 2.13's."""

import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import modes

T = torch.tensor


def cube() -> Any:
    """A result of shape (2, 3, 4) that requires grad."""
    x = torch.arange(24.0).reshape(2, 3, 4).detach().requires_grad_()
    return x * 1


def names() -> dict[str, Any]:
    return {"torch": torch, "np": np, "T": T, "y": cube()}


# ------------------------------------------------------------------------------------------------ reading
READ = """
y[0] | (3, 4) | SelectBackward0 | view
y[0, 1] | (4,) | SelectBackward0 | view
y[0, 1, 2] | () | SelectBackward0 | view
y[-1] | (3, 4) | SelectBackward0 | view
y[0, 1:3] | (2, 4) | SliceBackward0 | view
y[1:] | (1, 3, 4) | SliceBackward0 | view
y[:] | (2, 3, 4) | SliceBackward0 | view
y[...] | (2, 3, 4) | AliasBackward0 | view
y[()] | (2, 3, 4) | AliasBackward0 | view
y[:, :] | (2, 3, 4) | AliasBackward0 | view
y[:, 0:3] | (2, 3, 4) | AliasBackward0 | view
y[:, -3:] | (2, 3, 4) | SliceBackward0 | view
y[:, 0] | (2, 4) | SelectBackward0 | view
y[..., 0] | (2, 3) | SelectBackward0 | view
y[0, ...] | (3, 4) | SelectBackward0 | view
y[0:2, ..., 1:3] | (2, 3, 2) | SliceBackward0 | view
y[...,0,...] | (2, 3) | SelectBackward0 | view
y[None] | (1, 2, 3, 4) | UnsqueezeBackward0 | view
y[0, None] | (1, 3, 4) | UnsqueezeBackward0 | view
y[None, 0] | (1, 3, 4) | SelectBackward0 | view
y[5:] | (0, 3, 4) | SliceBackward0 | view
y[1:0] | (0, 3, 4) | SliceBackward0 | view
y[-100:100:2] | (1, 3, 4) | SliceBackward0 | view
y[T(1)] | (3, 4) | SelectBackward0 | view
y[np.int64(1)] | (3, 4) | SelectBackward0 | view
y[np.array(1)] | (3, 4) | SelectBackward0 | view
y[slice(T(0), T(1))] | (1, 3, 4) | SliceBackward0 | view
y[True] | (1, 2, 3, 4) | IndexBackward0 | copy
y[False] | (0, 2, 3, 4) | IndexBackward0 | copy
y[T(True)] | (1, 2, 3, 4) | IndexBackward0 | copy
y[0, True] | (1, 3, 4) | IndexBackward0 | copy
y[[0, 1]] | (2, 3, 4) | IndexBackward0 | copy
y[[]] | (0, 3, 4) | IndexBackward0 | copy
y[range(2)] | (2, 3, 4) | IndexBackward0 | copy
y[np.array([0, 1])] | (2, 3, 4) | IndexBackward0 | copy
y[np.array([[0, 1], [1, 1]])] | (2, 2, 3, 4) | IndexBackward0 | copy
y[T([0, 1], dtype=torch.int32)] | (2, 3, 4) | IndexBackward0 | copy
y[T([[0, 1], [1, 0]])] | (2, 2, 3, 4) | IndexBackward0 | copy
y[:, [0, 1], [0, 1]] | (2, 2) | IndexBackward0 | copy
y[[0, 1], :, [0, 1]] | (2, 3) | IndexBackward0 | copy
y[0, :, [0, 1]] | (3, 2) | IndexBackward0 | copy
y[[0, 1], 0] | (2, 4) | IndexBackward0 | copy
y[[0, 1], None, [0, 1]] | (2, 1, 4) | IndexBackward0 | copy
y[[0, 1], 1:, [0, 1]] | (2, 2) | IndexBackward0 | copy
y[..., [0, 1]] | (2, 3, 2) | IndexBackward0 | copy
y[T([0, 1]), T([[0], [1]])] | (2, 2, 4) | IndexBackward0 | copy
y[T([True, False])] | (1, 3, 4) | IndexBackward0 | copy
y[[True, False]] | (1, 3, 4) | IndexBackward0 | copy
y[:, [True, False, True], [0, 1]] | (2, 2) | IndexBackward0 | copy
y[y > 3] | (20,) | IndexBackward0 | copy
y[:, y[0] > 3] | (2, 8) | IndexBackward0 | copy
y[y[:, :, 0] > 3, 0] | (5,) | IndexBackward0 | copy
y[0, y[0] > 3] | (8,) | IndexBackward0 | copy
y[[0, 1.5]] | (2, 3, 4) | IndexBackward0 | copy
"""


@pytest.mark.parametrize("line", READ.strip().splitlines())
def test_read(line: str) -> None:
    code, shape, name, kind = [part.strip() for part in line.split(" | ")]
    env = names()
    result = eval(code, env)
    assert (tuple(result.shape), result.grad_fn.name(), result._is_view()) == (
        eval(shape),
        name,
        kind == "view",
    )
    # the same values as NumPy's index, where that has PyTorch's layout
    if not any(part in code for part in ("0, :, [", "1.5", "int32", "...,0,...")):
        host = {**env, "y": env["y"].detach().numpy(), "T": lambda x, **_: np.array(x)}
        np.testing.assert_array_equal(result.detach().numpy(), eval(code, host))
    # recording takes the general way: the same result
    with modes.recording(True):
        again = eval(code, env)
    assert again.grad_fn.name() == name
    np.testing.assert_array_equal(again.detach().numpy(), result.detach().numpy())


def test_layout_is_not_numpys() -> None:
    x = torch.arange(24).reshape(2, 3, 4)
    assert x[0, :, [1, 2]].tolist() == [[1, 2], [5, 6], [9, 10]]  # NumPy gives the transpose


ERRORS = """
y[2] | IndexError | index 2 is out of bounds for dimension 0 with size 2
y[0, 3] | IndexError | index 3 is out of bounds for dimension 1 with size 3
y[T(5)] | IndexError | index 5 is out of bounds for dimension 0 with size 2
y[[5]] | IndexError | index 5 is out of bounds for dimension 0 with size 2
y[[-3]] | IndexError | index -3 is out of bounds for dimension 0 with size 2
y[0, 0, 0, 0] | IndexError | too many indices for tensor of dimension 3
y[[0], [0], [0], [0]] | IndexError | too many indices for tensor of dimension 3
y[y > 3, 0] | IndexError | too many indices for tensor of dimension 3
y[T(1.)] | IndexError | tensors used as indices must be long, int, byte or bool tensors
y[T([1], dtype=torch.int16)] | IndexError | tensors used as indices must be long, int, byte or bool tensors
y[1.0] | IndexError | only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got
y[{}] | IndexError | only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got d
y[np.float32(1)] | IndexError | only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid ind
y['a'] | TypeError | new(): invalid data type 'str'
y[T([True, False, True])] | IndexError | The shape of the mask [3] at index 0 does not match the shape of the indexed tensor
y[torch.ones(2, 2, dtype=torch.bool)] | IndexError | The shape of the mask [2, 2] at index 1 does not match the shape of the
y[[0, 1], [0, 1, 2]] | IndexError | shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]
y[::-1] | ValueError | step must be greater than zero
y[::0] | ValueError | slice step cannot be zero
y[2 ** 70] | ValueError | Overflow when unpacking long long
y[slice(0.5, None)] | TypeError | slice indices must be integers or None or have an __index__ method
T(3.)[0] | IndexError | invalid index of a 0-dim tensor.
T(3.)[:] | IndexError | slice() cannot be applied to a 0-dim tensor.
T(3.)[[0]] | IndexError | too many indices for tensor of dimension 0
torch.zeros(0, 3)[0] | IndexError | index 0 is out of bounds for dimension 0 with size 0
torch.zeros(0, 3)[[0]] | IndexError | index is out of bounds for dimension with size 0
"""


@pytest.mark.parametrize("line", ERRORS.strip().splitlines())
def test_errors(line: str) -> None:
    code, kind, text = [part.strip() for part in line.split(" | ")]
    with pytest.raises(eval(kind)) as caught:
        eval(code, names())
    assert type(caught.value).__name__ == kind
    assert str(caught.value).startswith(text)


def test_old_ways_warn() -> None:
    y = cube()
    with pytest.warns(
        UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"
    ):
        assert y[[[0, 1], [1, 1]]].shape == (2, 4)
    with pytest.warns(UserWarning, match=r"indexing with dtype torch.uint8 is now deprecated"):
        assert y[T([1, 0], dtype=torch.uint8)].shape == (1, 3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y[[0] * 40].shape == (40, 3, 4)


def test_views_share_memory() -> None:
    w = T([1.0, 2.0, 3.0])
    first, tail, scalar = w[0], w[1:], T(5.0)[()]
    w.mul_(10)
    assert (first.item(), tail.tolist(), w._version, first._version) == (10.0, [20.0, 30.0], 1, 1)
    first.fill_(7)
    assert (w.tolist(), first._base is w, scalar.ndim) == ([7.0, 20.0, 30.0], True, 0)
    assert w[[0, 1]]._base is None and w[[0, 1]]._version == 0


def test_gradients_accumulate_at_repeated_indices() -> None:
    x = T([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    (x[T([0, 0, -1])] * T([[1.0, 2.0], [10.0, 20.0], [3.0, 4.0]])).sum().backward()
    assert x.grad.tolist() == [[11.0, 22.0], [0.0, 0.0], [3.0, 4.0]]
    x.grad = None
    (x[[0, 0], [1, 1]].sum() + x[x > 4].sum() + x[1, 0] + x[1:, 1].sum()).backward()
    assert x.grad.tolist() == [[0.0, 2.0], [1.0, 1.0], [1.0, 2.0]]


def test_higher_order_and_forward_mode() -> None:
    x = T([1.0, 2.0, 3.0], requires_grad=True)
    y = (x[[0, 0, 2]] ** 3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert (g.tolist(), h.tolist()) == ([6.0, 0.0, 27.0], [12.0, 0.0, 18.0])
    value, tangent = torch.func.jvp(lambda x: x[1:] * x[0], (x.detach(),), (T([1.0, 10.0, 100.0]),))
    assert (value.tolist(), tangent.tolist()) == ([2.0, 3.0], [12.0, 103.0])


# ------------------------------------------------------------------------------------------------ writing
WRITE = """
z = torch.zeros(3); z[0] = 1.5 | [1.5, 0.0, 0.0] | 1
z = torch.zeros(3); z[-1] = T(2.) | [0.0, 0.0, 2.0] | 1
z = torch.zeros(2, 2); z[0] = T([1., 2.]) | [[1.0, 2.0], [0.0, 0.0]] | 1
z = torch.zeros(2, 2); z[:, 1] = T([[1., 2.]]) | [[0.0, 1.0], [0.0, 2.0]] | 1
z = torch.zeros(2, 2); z[0] = T([1, 2]) | [[1.0, 2.0], [0.0, 0.0]] | 1
z = torch.zeros(2, 2); z[0][1] = 7 | [[0.0, 7.0], [0.0, 0.0]] | 1
z = torch.zeros(2, 2); z[[0]][0] = 7 | [[0.0, 0.0], [0.0, 0.0]] | 0
z = torch.zeros(2, 2); z.t()[0] = 7 | [[7.0, 0.0], [7.0, 0.0]] | 1
z = torch.ones(3); z[T([0, 0, 1])] = T([1., 2., 3.]) | [2.0, 3.0, 1.0] | 1
z = torch.ones(3); z[1:1] = T([]) | [1.0, 1.0, 1.0] | 1
z = torch.ones(3); z[T(0)] = T([[5.]]) | [5.0, 1.0, 1.0] | 1
z = torch.ones(3); z[None] = T([[[5., 6., 7.]]]) | [5.0, 6.0, 7.0] | 1
z = torch.ones(3); z[True] = 5 | [5.0, 5.0, 5.0] | 1
z = torch.ones(3); z[False] = 5 | [1.0, 1.0, 1.0] | 0
z = torch.ones(3); z[T([True, False, True])] = T([5., 6.]) | [5.0, 1.0, 6.0] | 1
z = torch.ones(3); z[z > 0] = 0 | [0.0, 0.0, 0.0] | 1
z = torch.ones(2, 2); z[[0, 1], [0, 1]] = 3 | [[3.0, 1.0], [1.0, 3.0]] | 1
z = T(3.); z[()] = 4 | 4.0 | 1
z = T(3.); z[...] = T([4.]) | 4.0 | 1
z = T(3.); z[T(True)] = 4 | 4.0 | 1
z = torch.ones(4); z[::2] = z[1::2] | [1.0, 1.0, 1.0, 1.0] | 1
z = T([1, 2, 3]); z[0] = 1.7 | [1, 2, 3] | 1
z = T([1, 2, 3]); z[:2] = T([2.7, 3.9]) | [2, 3, 3] | 1
z = T([1, 2, 3]); z[z > 1] = T(7.9) | [1, 7, 7] | 1
z = torch.zeros(2, dtype=torch.bool); z[0] = 0.5 | [True, False] | 1
z = torch.zeros(2, dtype=torch.uint8); z[0] = -1 | [255, 0] | 1
z = torch.zeros(2, dtype=torch.float16); z[0] = 1e10 | [float('inf'), 0.0] | 1
z = torch.zeros(2); z[0] = True | [1.0, 0.0] | 1
z = torch.zeros(2); z[0] = 1 + 0j | [1.0, 0.0] | 1
z = torch.zeros(3); z.index_put_((T([0, 0]),), T([1., 2.]), accumulate=True) | [3.0, 0.0, 0.0] | 1
z = torch.zeros(2, 2); z.index_put_((T([0]), T([1])), T(5.)) | [[0.0, 5.0], [0.0, 0.0]] | 1
z = torch.zeros(2).index_put((T([1]),), T(5.)) | [0.0, 5.0] | 1
"""


@pytest.mark.parametrize("line", WRITE.strip().splitlines())
def test_write(line: str) -> None:
    code, values, version = [part.strip() for part in line.split(" | ")]
    env = names()
    exec(code, env)
    assert env["z"].tolist() == eval(values)
    if "z = torch.zeros(2).index_put(" not in code:
        assert env["z"]._version == int(version)


WRITE_ERRORS = """
y[5] = 1 | IndexError | index 5 is out of bounds for dimension 0 with size 2
y[[5]] = 1 | IndexError | index 5 is out of bounds for dimension 0 with size 2
y[0, 0] = T([1., 2.]) | RuntimeError | The expanded size of the tensor (4) must match the existing size (2) at non-singleton
y[0, 0, 0] = torch.ones(2) | RuntimeError | expand
y[[0, 1]] = torch.ones(3, 4, 4) | RuntimeError | shape mismatch: value tensor of shape [3, 4, 4] cannot be broadcast to inde
y[[0]] = T([1, 2, 3, 4]) | RuntimeError | Index put requires the source and destination dtypes match, got Float for the dest
y[0] = [1, 2, 3, 4] | TypeError | can't assign a list to a torch.FloatTensor
y[0] = np.ones(4) | TypeError | can't assign a numpy.ndarray to a torch.FloatTensor
y[0] = None | TypeError | can't assign a NoneType to a torch.FloatTensor
y[0] = 1j | RuntimeError | value cannot be converted to type float without overflow
y[::-1] = 1 | ValueError | step must be greater than zero
T(3.)[0] = 4 | IndexError | invalid index of a 0-dim tensor.
z = torch.zeros(2, dtype=torch.uint8); z[0] = 300 | RuntimeError | value cannot be converted to type uint8_t without overflow
z = torch.zeros(2, dtype=torch.int64); z[0] = float('nan') | RuntimeError | value cannot be converted to type int64_t withou
z = torch.zeros(2); z[0] = 1e300 | RuntimeError | value cannot be converted to type float without overflow
z = torch.zeros(2, dtype=torch.int64); z[0] = 2 ** 70 | ValueError | Overflow when unpacking long long
z = torch.ones(3); z[1:] = z[:-1] | RuntimeError | unsupported operation: some elements of the input tensor and the written-
x = torch.ones(3, requires_grad=True); x[0] = 1 | RuntimeError | a view of a leaf Variable that requires grad is being used
x = torch.ones(3, requires_grad=True); x[...] = 1 | RuntimeError | a leaf Variable that requires grad is being used in an in
x = torch.ones(3, requires_grad=True); x[:] = 1 | RuntimeError | a leaf Variable that requires grad is being used in an in-p
x = torch.ones(3, requires_grad=True); x[[0]] = 1 | RuntimeError | a leaf Variable that requires grad is being used in an in
torch.zeros(2).index_put_(T([0]), T(1.)) | TypeError | index_put_(): argument 'indices' (position 1) must be tuple of Tensor
"""


@pytest.mark.parametrize("line", WRITE_ERRORS.strip().splitlines())
def test_write_errors(line: str) -> None:
    code, kind, text = [part.strip() for part in line.split(" | ")]
    with pytest.raises(eval(kind)) as caught:
        exec(code, names())
    assert type(caught.value).__name__ == kind
    assert str(caught.value).startswith(text)


NODES = """
y[0] = 1 | CopySlices
y[0, 0, 0] = w[0] | CopySlices
y[1:] = w | CopySlices
y[None] = w | CopySlices
y[0, [0, 1]] = w | CopySlices
y[:] = w | CopyBackwards
y[...] = w | CopyBackwards
y[:, :] = w | CopyBackwards
y[...] = 2 | FillBackward3
y[y > 3] = 0 | IndexPutBackward0
y[[0, 1]] = w | IndexPutBackward0
y.copy_(w) | CopyBackwards
y.fill_(3) | FillBackward2
y.fill_(w[0]) | FillBackward3
y.zero_() | ZeroBackward0
"""


@pytest.mark.parametrize("line", NODES.strip().splitlines())
def test_names_of_writes(line: str) -> None:
    code, name = [part.strip() for part in line.split(" | ")]
    env = {**names(), "w": torch.ones(4, requires_grad=True)}
    exec(code, env)
    assert (env["y"].grad_fn.name().split("::")[-1], env["y"]._version) == (name, 1)


def test_what_few_indices_are() -> None:
    x = torch.arange(27.0).reshape(3, 3, 3)
    mask = T([[True, False, True], [True, True, False], [False, False, True]])
    assert x[1:, mask].view(-1).tolist() == [
        9.0,
        11,
        12,
        13,
        17,
        18,
        20,
        21,
        22,
        26,
    ]  # lies in row-major order
    assert x[T(2, dtype=torch.int8), T(-1, dtype=torch.int16)].tolist() == [24.0, 25.0, 26.0]
    assert x[None].stride() == (27, 9, 3, 1) and x[..., None].stride() == (9, 3, 1, 1)
    assert T(3.0)[None].stride() == (1,)
    with pytest.raises(IndexError, match="^slice\\(\\) cannot be applied to a 0-dim tensor."):
        T(3.0)[:] = 1
    byte = T([1, 0, 1], dtype=torch.uint8)
    z = torch.zeros(3)
    with pytest.warns(UserWarning, match="uint8"):
        z[byte] = T([1.0, 2.0])
        assert z.tolist() == [1.0, 0.0, 2.0]
        with pytest.raises(RuntimeError, match="masked_fill_ only supports boolean masks"):
            z[byte] = 5


def test_views_made_without_gradients_require_what_their_base_does() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        rows = [x[0], x.t(), x.view(-1), x.clone()[0], x.detach()[0]]
        assert [t.requires_grad for t in rows] == [True, True, True, False, False]
        assert (rows[0] * 2).requires_grad is False and rows[0].grad_fn is None and rows[0].is_leaf
        assert str(rows[0]) == "tensor([1., 1.], requires_grad=True)" and rows[0].numpy().tolist() == [
            1.0,
            1.0,
        ]
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        rows[0].numpy()


def test_a_write_that_reads_itself_counts_once() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.clone()
    y.mul_(y)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="is at version 1;"):
        y.sum().backward()


def test_an_assigned_value_stands_in_the_graph_itself() -> None:
    w = torch.ones(4, requires_grad=True)
    y = cube()
    before = y.grad_fn
    y[0, 0] = w
    assert [e for e, _ in y.grad_fn.next_functions] == [before, w.node]


def test_gradients_of_writes() -> None:
    x = T([1.0, 2.0, 3.0], requires_grad=True)
    w = T([10.0, 20.0], requires_grad=True)
    y = x * 2
    y[1:] = w * 3
    y[0] = y[0] + y[1]
    (y * T([1.0, 10.0, 100.0])).sum().backward()
    assert (y.tolist(), x.grad.tolist(), w.grad.tolist()) == (
        [32.0, 30.0, 60.0],
        [2.0, 0.0, 0.0],
        [33.0, 300.0],
    )

    x.grad, w.grad = None, None
    y = x * 2
    y[y > 3] = w
    y[[0, 0]] = w[0]
    (y * T([1.0, 10.0, 100.0])).sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([0.0, 0.0, 0.0], [12.0, 100.0])


def test_writing_into_a_constant_makes_it_a_result() -> None:
    buffer, w = torch.zeros(3), T(2.0, requires_grad=True)
    for i in range(3):
        buffer[i] = w**i
    buffer.sum().backward()
    assert (buffer.tolist(), w.grad.item()) == ([1.0, 2.0, 4.0], 5.0)


def test_writes_without_grad_leave_no_trace() -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        x[0] = 5.0
        x[x > 4] = 6.0
        x[1:] = T([7.0, 8.0])
    assert (x.tolist(), x.is_leaf, x._version) == ([6.0, 7.0, 8.0], True, 3)


def test_forward_mode_through_a_write() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y[0] = x[1] * x[2]
        y[[1]] = 5.0
        return y

    value, tangent = torch.func.jvp(f, (T([1.0, 2.0, 3.0]),), (T([1.0, 10.0, 100.0]),))
    assert (value.tolist(), tangent.tolist()) == ([6.0, 5.0, 3.0], [230.0, 0.0, 100.0])


def test_infinite_cotangents_do_not_leak_into_what_was_lost() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y[0] = 0.0
    y.sqrt().sum().backward()
    assert x.grad.tolist() == [0.0, 0.5]


# ------------------------------------------------------------------------------------------------ copy_, fill_, zero_
def test_copy() -> None:
    x = torch.zeros(2, 3)
    assert x.copy_(T([1, 2, 3])) is x
    assert (x.tolist(), x.dtype, x._version) == ([[1.0, 2.0, 3.0]] * 2, torch.float32, 1)
    a, b = torch.ones(2, requires_grad=True), T([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = a * 2
    y.copy_(b)
    (y * T([5.0, 6.0])).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist(), b.grad.dtype) == ([0.0, 0.0], [5.0, 6.0], torch.float64)
    with pytest.raises(
        RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(2\)"
    ):
        x.copy_(torch.ones(2))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.ones(3).copy_(torch.ones(2, 3))


def test_fill_and_zero() -> None:
    assert torch.ones(2).fill_(3).tolist() == [3.0, 3.0]
    assert T([1, 2]).fill_(1.9).tolist() == [1, 1]
    assert torch.fill(torch.ones(2), T(4)).tolist() == [4.0, 4.0]
    with pytest.raises(
        RuntimeError, match="fill_ only supports 0-dimension value tensor but got tensor with 1 dim"
    ):
        torch.ones(2).fill_(torch.ones(2))
    x, w = torch.ones(2, requires_grad=True), T(2.0, requires_grad=True)
    y = x * 3
    y.fill_(w)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist(), w.grad.item()) == ([2.0, 2.0], [0.0, 0.0], 2.0)
    z = x * 3
    z.zero_()
    assert z.requires_grad
    z.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


# ------------------------------------------------------------------------------------------------ on a simulated GPU
def test_on_a_simulated_gpu() -> None:
    torch.cuda.simulate(2)
    try:
        x = torch.arange(6.0).reshape(2, 3).cuda().requires_grad_()
        index = T([1, 0, 1])  # an index of the CPU goes with any device
        y = x[index][:, 1]
        assert (str(y.device), y.tolist(), x[0, 1].item()) == ("cuda:0", [4.0, 1.0, 4.0], 1.0)
        (y.sum() + x[x > 4].sum()).backward()
        assert x.grad.tolist() == [[0.0, 1.0, 0.0], [0.0, 2.0, 1.0]]
        z = torch.zeros(3).cuda()
        z[0] = 1.0
        z[T([1, 2])] = T([2.0, 3.0]).cuda()
        z[1:2] = T([9.0])  # copied over, as copy_ does
        assert z.tolist() == [1.0, 9.0, 3.0]
    finally:
        torch.cuda.simulate(0)
