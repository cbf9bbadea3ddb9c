"""Memory that an operation reads and writes at once, and parts that do not fit their places. Answers are PyTorch's (2.13)."""

import pytest

import autodiff_kernel as torch

I = torch.tensor([0, 1, 2])  # noqa: E741
OVERLAP = "some elements of the input tensor and the written-to tensor refer to a single memory location"


def x(tracked: bool = False):
    t = torch.arange(1.0, 4.0)
    return t.requires_grad_() * 1 if tracked else t


WRITES = {
    "scatter_": lambda t: t.scatter_(0, I, t),
    "scatter_add_": lambda t: t.scatter_add_(0, I, t),
    "scatter_reduce_": lambda t: t.scatter_reduce_(0, I, t, "sum"),
    "index_add_": lambda t: t.index_add_(0, I, t),
    "index_copy_": lambda t: t.index_copy_(0, I, t),
    "index_reduce_": lambda t: t.index_reduce_(0, I, t, "prod"),
    "put_": lambda t: t.put_(I, t),
    "index_put_": lambda t: t.index_put_((I,), t),
    "a view": lambda t: t.scatter_(0, I, t.view(3)),
    "setitem": lambda t: t.__setitem__(I, t),
    "an element at places": lambda t: t.__setitem__(I, t[0]),
    "a part at a mask": lambda t: t.__setitem__(t > 1, t[1:]),
}


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("name", WRITES)
def test_what_goes_by_an_index_does_not_read_what_it_writes(name, tracked):
    t = x(tracked)
    with pytest.raises(RuntimeError, match=OVERLAP):
        WRITES[name](t)
    assert t.tolist() == [1.0, 2.0, 3.0] and t._version == 0


def test_an_index_may_not_be_the_tensor_itself():
    for write in (
        lambda t: t.scatter_(0, t, t.clone()),
        lambda t: t.index_fill_(0, t, 1),
        lambda t: t.__setitem__(t, t.clone()),
    ):
        with pytest.raises(RuntimeError, match=OVERLAP):
            write(torch.arange(3))


@pytest.mark.parametrize("tracked", [False, True])
def test_a_single_value_is_read_before_it_is_written(tracked):
    for write, expected in (
        (lambda t: t.fill_(t[0]), [1.0, 1.0, 1.0]),
        (lambda t: t.masked_fill_(t > 0, t[2]), [3.0, 3.0, 3.0]),
        (lambda t: t.index_fill_(0, I, t[0]), [1.0, 1.0, 1.0]),
        (lambda t: t.__setitem__(t > 1, t[2]), [1.0, 3.0, 3.0]),
        (lambda t: t.__setitem__(t > 1, t[:1]), [1.0, 1.0, 1.0]),
        (lambda t: t.__setitem__(I, t.flip(0)), [3.0, 2.0, 1.0]),
        (lambda t: t.__setitem__(I, t[I] * 2), [2.0, 4.0, 6.0]),
    ):
        t = x(tracked)
        write(t)
        assert t.tolist() == expected


def test_parts_that_do_not_fit_their_places():
    one, two = torch.tensor([1]), torch.tensor([0, 0])
    vector, matrix, number = torch.arange(3.0), torch.ones(3, 2), torch.tensor(5.0)
    for name, more in (("index_add", ()), ("index_reduce", ("amax",))):
        for t, d, index, source, kind, phrase in (
            (vector, 0, one, number, RuntimeError, r"Got self.shape = \[3\] source.shape = \[\]"),
            (vector, 0, two, number, IndexError, "Dimension specified as 0 but tensor has no dimensions"),
            (
                vector,
                0,
                two,
                torch.ones(1),
                RuntimeError,
                r"Number of indices \(2\) should be equal to source",
            ),
            (
                vector,
                0,
                one,
                torch.ones(2),
                RuntimeError,
                r"Number of indices \(1\) should be equal to source",
            ),
            (
                vector,
                0,
                one,
                torch.ones(1, 3),
                RuntimeError,
                r"Got self.shape = \[3\] source.shape = \[1, 3\]",
            ),
            (
                matrix,
                1,
                one,
                torch.ones(1),
                RuntimeError,
                "Indexing dim 1 is out of bounds of the source tensor",
            ),
            (number, 0, two[:1], torch.ones(1), RuntimeError, r"Got self.shape = \[\] source.shape = \[1\]"),
        ):
            with pytest.raises(kind, match=phrase):
                getattr(t, name)(d, index, source, *more)
    for t, index, source, kind, phrase in (
        (vector, two, number, IndexError, r"When source is scalar, index should have one element \(got 2\)"),
        (
            vector,
            one,
            torch.ones(1, 3),
            IndexError,
            r"Source dimensionality \(2\), destination dimensionality \(1\)",
        ),
        (
            matrix,
            one,
            number,
            RuntimeError,
            "Destination slice shape: 2 at dimension 0 and source slice shape:  at",
        ),
        (vector, one, torch.ones(2), IndexError, r"should be equal to source.size\(dim\) \(2\)"),
    ):
        with pytest.raises(kind, match=phrase):
            t.index_copy(0, index, source)
    assert vector.index_copy(0, one, number).tolist() == [0.0, 5.0, 2.0]
    assert number.index_add(0, two[:1], number).item() == 10.0


def test_dist_promotes_and_products_know_their_arguments_by_name():
    assert torch.dist(torch.tensor([1, 2]), torch.tensor([3.0, 5.0])).item() == pytest.approx(13**0.5)
    with pytest.raises(
        RuntimeError, match="input dtype should be either floating point or complex. Got Long"
    ):
        torch.dist(torch.tensor([1]), torch.tensor([2]))
    m, v = torch.ones(2, 2), torch.ones(2)
    assert m.mv(vec=v).tolist() == torch.mv(m, vec=v).tolist() == [2.0, 2.0]
    assert v.dot(tensor=v).item() == torch.dot(v, tensor=v).item() == 2.0
    for call in (lambda: m.mv(other=v), lambda: v.dot(other=v), lambda: m.mv(), lambda: v.dot(v, v)):
        with pytest.raises(TypeError):
            call()
