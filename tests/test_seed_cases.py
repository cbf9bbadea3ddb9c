"""The cases S04–S26 of the two seed documents, by their ids, in the dialect of 2017 and in the modern one."""

import array
import warnings

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.autograd import Variable
from benchmarks.deep_function_machine import PAGE, modern_form, run


@pytest.fixture
def old():
    with torch.set_dialect("2017"):
        yield
    assert torch.get_dialect() == "modern"


NAMES = {"Half": torch.float16, "Float": torch.float32, "Double": torch.float64, "Short": torch.int16, "Int": torch.int32,
         "Long": torch.int64, "Char": torch.int8, "Byte": torch.uint8}  # fmt: skip


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s04_constructors(dialect):
    with torch.set_dialect(dialect):
        for name, dtype in NAMES.items():
            t = getattr(torch, f"{name}Tensor")([1, 2])
            assert t.dtype is dtype and t.type() == f"torch.{name}Tensor", name
        assert torch.Tensor([1]).type() == "torch.FloatTensor"
    assert torch.BoolTensor([True]).dtype is torch.bool


def test_s05_made_of_nothing_2017(old):
    x = torch.FloatTensor()
    assert repr(x) == "[torch.FloatTensor with no dimension]" == str(torch.Tensor())
    for use in (lambda: x + 1, lambda: x.exp(), lambda: torch.mul(x, x), lambda: x.sum()):
        with pytest.raises(RuntimeError, match="no dimension can be used in no operation"):
            use()


def test_s05_modern():
    assert repr(torch.FloatTensor()) == "tensor([])" and torch.FloatTensor().size() == (0,)


def test_s06_types_do_not_mix_2017(old):
    a, b = torch.FloatTensor([1.0]), torch.DoubleTensor([2.0])
    for use in (lambda: a * b, lambda: torch.mul(a, b), lambda: a.mul(b), lambda: a.mul_(b)):
        with pytest.raises(TypeError) as caught:
            use()
        text = str(caught.value)
        assert text.startswith(
            "mul received an invalid combination of arguments - got (torch.DoubleTensor), but expected one of:\n"
            " * (float value)\n"
            "      didn't match because some of the arguments have invalid types: (torch.DoubleTensor)\n"
            " * (torch.FloatTensor other)\n"
        )
    with pytest.raises(TypeError, match=r"got \(float\).*\n \* \(int value\)"):
        torch.IntTensor([1]) + 1.5
    with pytest.raises(TypeError, match="mm received"):
        torch.FloatTensor(2, 2).mm(torch.DoubleTensor(2, 2))


def test_s06_modern():
    assert (torch.FloatTensor([1.0]) * torch.DoubleTensor([2.0])).dtype is torch.float64


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s07_casts(dialect):
    with torch.set_dialect(dialect):
        a = torch.IntTensor([1, 300])
        for name, dtype in NAMES.items():
            cast = getattr(a, name.lower())()
            assert cast.dtype is dtype
            assert getattr(cast, name.lower())() is cast
        assert a.byte().tolist() == [1, 44]
        assert a.type_as(torch.FloatTensor(1)).dtype is torch.float32
        assert a.type("torch.DoubleTensor").type() == "torch.DoubleTensor"
        assert a.type("torch.IntTensor") is a


def test_s08_ragged_2017(old):
    for data, where in (
        ([[1, 2], [3]], "(1, 1) - expected 2 but got 1"),
        ([[[1], [2]], [[3], [4, 5]]], "(1, 1, 1) - expected 1 but got 2"),
    ):
        with pytest.raises(RuntimeError) as caught:
            torch.IntTensor(data)
        assert str(caught.value) == f"inconsistent sequence length at index {where}"


def test_s08_modern():
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 1 \(got 1\)"):
        torch.IntTensor([[1, 2], [3]])


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s09_every_sequence(dialect):
    with torch.set_dialect(dialect):
        for data in ([1, 2], (1, 2), range(1, 3), array.array("i", [1, 2]), np.array([1, 2])):
            assert torch.IntTensor(data).tolist() == [1, 2]
        assert torch.FloatTensor([(1, 2), range(3, 5), np.array([5.0, 6.0])]).tolist() == [
            [1, 2],
            [3, 4],
            [5, 6],
        ]


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s10_sizes(dialect):
    with torch.set_dialect(dialect):
        assert torch.FloatTensor(3, 3).size() == torch.Size([3, 3]) and torch.LongTensor(2, 1, 4).dim() == 3


def test_s11_indexing_2017(old):
    a = torch.IntTensor([[1, 2, 3], [4, 5, 6]])
    assert a[0].size() == (3,) and a[:, 0].tolist() == [1, 4] and a[0, 1:3].tolist() == [2, 3]
    for number in (a[0][1], a[0, 1], a[0].tolist()[1]):
        assert number == 2 and type(number) is int
    assert [x + 0 for x in a[0]] == [1, 2, 3] and all(type(x) is int for x in a[0])
    v = Variable(a.float())
    assert v[0, 1].size() == (1,) and isinstance(v[0, 1], Variable)
    a[0, 1] = 9
    assert a[0, 1] == 9


def test_s11_modern():
    a = torch.IntTensor([[1, 2, 3], [4, 5, 6]])
    assert repr(a[0, 1]) == "tensor(2, dtype=torch.int32)" == repr(a[0][1])


def test_s12_tensors_as_indices_2017(old):
    a = torch.ByteTensor([[26, 119, 225], [83, 123, 182], [136, 5, 96]])
    mask = a > 120
    assert mask.type() == "torch.ByteTensor" and mask.tolist() == [[0, 0, 1], [0, 1, 1], [1, 0, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert a[mask].tolist() == [225, 123, 182, 136]
    assert a[torch.LongTensor([0, 2])].tolist() == [[26, 119, 225], [136, 5, 96]]
    a[mask] = 0
    assert a.tolist() == [[26, 119, 0], [83, 0, 0], [0, 5, 96]]


def test_s12_modern():
    a = torch.ByteTensor([1, 200])
    assert (a > 128).dtype is torch.bool
    with pytest.warns(UserWarning, match="uint8"):
        assert a[torch.ByteTensor([0, 1])].tolist() == [200]


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s13_questions(dialect):
    with torch.set_dialect(dialect):
        a = torch.Tensor(3, 3)
        assert (a.dim(), a.size(), a.type()) == (2, torch.Size([3, 3]), "torch.FloatTensor")
        assert isinstance(a.data_ptr(), int) and a.data_ptr() > 0
        assert repr(a.size()) == "torch.Size([3, 3])"


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s14_in_place_fills(dialect):
    with torch.set_dialect(dialect):
        torch.manual_seed(1)
        x = torch.FloatTensor(40)
        assert x.zero_() is x and x.tolist() == [0.0] * 40
        assert x.fill_(2.5) is x and set(x.tolist()) == {2.5}
        assert set(x.random_(3, 6).tolist()) == {3.0, 4.0, 5.0}
        assert all(-1 <= v < 1 for v in x.uniform_(-1, 1).tolist())
        x.normal_(5, 0.01)
        assert all(4.9 < v < 5.1 for v in x.tolist())
        assert set(x.bernoulli_(0.5).tolist()) == {0.0, 1.0}
        p = torch.FloatTensor([0.0, 1.0])
        assert torch.FloatTensor(2).bernoulli_(p).tolist() == [0.0, 1.0] == p.bernoulli().tolist()
        assert torch.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
        for name, arguments in (
            ("exponential_", (2,)),
            ("geometric_", (0.5,)),
            ("cauchy_", ()),
            ("log_normal_", ()),
        ):
            assert getattr(x, name)(*arguments) is x


def forms(name, x, *others):
    """As function, method and in place."""
    made = [getattr(torch, name)(x, *others), getattr(x, name)(*others)]
    twin = x.clone()
    assert getattr(twin, f"{name}_")(*others) is twin
    return [t.tolist() for t in (*made, twin)]


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s15_mathematics(dialect):
    with torch.set_dialect(dialect):
        x, y = torch.FloatTensor([1.0, 4.0]), torch.FloatTensor([2.0, 2.0])
        for name, answer in (("add", [3, 6]), ("sub", [-1, 2]), ("mul", [2, 8]), ("div", [0.5, 2])):
            assert forms(name, x, y) == [answer] * 3, name
        for name in (
            "exp",
            "log",
            "log1p",
            "abs",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
        ):
            reference = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name)
            z = torch.FloatTensor([0.25, 0.5])
            expected = getattr(np, reference)(np.float32([0.25, 0.5]))
            for form in forms(name, z):
                np.testing.assert_allclose(form, expected, rtol=1e-6)
        m, v = torch.FloatTensor([[1, 2], [3, 4]]), torch.FloatTensor([1, 1])
        assert m.t().tolist() == [[1, 3], [2, 4]] and m.clone().t_().tolist() == [[1, 3], [2, 4]]
        assert m.mm(m).tolist() == [[7, 10], [15, 22]] and m.mv(v).tolist() == [3, 7]
        assert float(v.dot(v)) == 2.0
        assert torch.randn(10, 3, 4).bmm(torch.randn(10, 4, 5)).size() == torch.Size([10, 3, 5])
        b = torch.FloatTensor(2, 2, 2).fill_(1)
        assert torch.addmm(m, m, m).tolist() == [[8, 12], [18, 26]]
        assert torch.addmv(v, m, v).tolist() == [4, 8]
        assert torch.addr(m, v, v).tolist() == [[2, 3], [4, 5]]
        assert torch.addbmm(m, b, b).tolist() == [[5, 6], [7, 8]]
        assert torch.baddbmm(b, b, b).tolist() == [[[3, 3], [3, 3]]] * 2


def test_s15_integer_division_and_old_names_2017(old):
    a = torch.IntTensor([7, -7])
    assert (a / 2).tolist() == [3, -3] == a.div(2).tolist() == torch.div(a, torch.IntTensor([2, 2])).tolist()
    assert (a / 2).type() == "torch.IntTensor"
    a /= 2
    assert a.tolist() == [3, -3] and a.div_(3).tolist() == [1, -1]
    A = torch.FloatTensor([[[4, 1], [2, 3]], [[2, 0], [0, 5]]])
    x = torch.btrisolve(torch.FloatTensor([[5, 5], [4, 10]]), *torch.btrifact(A))
    np.testing.assert_allclose(x.numpy(), [[1, 1], [2, 2]], rtol=1e-5)
    e, v = torch.eig(torch.FloatTensor([[2, 0], [0, 3]]), True)
    assert e.tolist() == [[2, 0], [3, 0]] and v.tolist() == [[1, 0], [0, 1]]
    e, v = torch.eig(torch.FloatTensor([[0, 1], [-1, 0]]), eigenvectors=True)
    assert sorted(e.tolist()) == [[0, -1], [0, 1]]
    X, _ = torch.gels(torch.FloatTensor([[1], [2], [3]]), torch.FloatTensor([[1, 0], [1, 1], [1, 2]]))
    np.testing.assert_allclose(X.numpy(), [[1], [1]], atol=1e-5)
    np.testing.assert_allclose(
        torch.gesv(torch.FloatTensor([[5], [5]]), A[0])[0].numpy(), [[1], [1]], rtol=1e-5
    )


def test_s15_modern():
    assert (torch.IntTensor([7]) / 2).tolist() == [3.5]
    assert not hasattr(torch, "btrifact") and not hasattr(torch.Tensor, "gels")
    A = torch.tensor([[4.0, 1.0], [2.0, 3.0]])
    LU, pivots = torch.linalg.lu_factor(A)
    np.testing.assert_allclose(
        torch.linalg.lu_solve(LU, pivots, torch.tensor([[5.0], [5.0]])).numpy(), [[1], [1]], rtol=1e-5
    )


REDUCED = {
    "mean": 2.5,
    "std": 5 / 3,
    "var": 5 / 3,
    "median": 2.0,
    "sum": 10.0,
    "prod": 24.0,
    "max": 4.0,
    "min": 1.0,
}


@pytest.mark.parametrize("name", REDUCED)
def test_s16_reductions(name):
    x = torch.FloatTensor([[1, 2], [3, 4]])
    answer = REDUCED[name] ** 0.5 if name == "std" else REDUCED[name]
    full = getattr(torch, name)(x)
    assert full.size() == () and full.item() == pytest.approx(answer)
    with torch.set_dialect("2017"):
        for number in (getattr(torch, name)(x), getattr(x, name)()):
            assert type(number) is float and number == pytest.approx(answer)
        of_variable = getattr(Variable(x), name)()
        assert of_variable.size() == torch.Size([1]) and of_variable.data[0] == pytest.approx(answer)
        along = getattr(x, name)(1)
        if name in ("max", "min", "median"):
            values, indices = along
            assert values.size() == (2,) and indices.type() == "torch.LongTensor"
        else:
            assert along.size() == (2,)
        assert getattr(torch.FloatTensor([1, 2]), name)(0)[0] is not None  # size 1, not a number
    assert getattr(x, name)(1)[0].size() in ((2,), ())


def test_s17_masks():
    x, y = torch.FloatTensor([1, 2, 3]), torch.FloatTensor([2, 2, 2])
    answers = {
        "eq": [0, 1, 0],
        "ne": [1, 0, 1],
        "gt": [0, 0, 1],
        "lt": [1, 0, 0],
        "ge": [0, 1, 1],
        "le": [1, 1, 0],
    }
    for name, answer in answers.items():
        assert getattr(x, name)(y).dtype is torch.bool and getattr(torch, name)(x, y).tolist() == [
            bool(v) for v in answer
        ]
        with torch.set_dialect("2017"):
            for mask in (getattr(x, name)(y), getattr(torch, name)(x, y), getattr(x, f"__{name}__")(y)):
                assert mask.type() == "torch.ByteTensor" and mask.tolist() == answer
    with torch.set_dialect("2017"):
        assert (x == y).sum() == 1 and x.eq(x).all() is True


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s18_operators(dialect):
    with torch.set_dialect(dialect):
        x, y = torch.FloatTensor([1, 2]), torch.FloatTensor([3, 4])
        assert [(x + y).tolist(), (x - y).tolist(), (x * y).tolist(), (y / x).tolist()] == [
            [4, 6],
            [-2, -2],
            [3, 8],
            [3, 2],
        ]
        z = x
        z += y
        z -= 1
        z *= 2
        z /= 4
        assert z is x and x.tolist() == [1.5, 2.5]
        assert float(x @ y) == 14.5
        x = torch.FloatTensor([1, 2])
        x += x.mul_(2)
        assert x.tolist() == [4, 8]


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s19_broadcasting(dialect):
    with torch.set_dialect(dialect):
        size = lambda *n: torch.FloatTensor(*n).fill_(1)  # noqa: E731
        assert (size(5, 7, 3) + size(5, 7, 3)).size() == (5, 7, 3)
        assert (size(5, 3, 4, 1) + size(3, 1, 1)).size() == (5, 3, 4, 1)
        with pytest.raises(RuntimeError, match="must match"):
            size(5, 2, 4, 1) + size(3, 1, 1)
        assert (size(5, 1, 4, 1) + size(3, 1, 1)).size() == torch.Size([5, 3, 4, 1])
        assert (size(2, 3) + size(1)).size() == (2, 3)
        with pytest.raises(RuntimeError):
            torch.FloatTensor() + size(2, 2)
        assert size(5, 3, 4, 1).add_(size(3, 1, 1)).size() == (5, 3, 4, 1)
        words = {
            "2017": r"The expanded size of the tensor \(1\) must match the existing size \(7\) at non-singleton dimension 2.",
            "modern": r"output with shape \[1, 3, 1\] doesn't match the broadcast shape \[3, 3, 7\]",
        }
        with pytest.raises(RuntimeError, match=words[dialect]):
            size(1, 3, 1).add_(size(3, 1, 7))


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s20_numpy_shares_memory(dialect):
    with torch.set_dialect(dialect):
        a = np.random.default_rng(0).random((3, 3))
        b = torch.from_numpy(a)
        assert b.type() == "torch.DoubleTensor"
        b.sub_(b)
        assert (a == 0).all()
        b.numpy()[0, 0] = 7
        assert a[0, 0] == 7 and b[0, 0] == 7


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s21_linear_softmax(dialect):
    # Quoted from the page:
    def LinearSoftmax(x, w, b):
        s = x.mm(w).add_(b)
        s.exp_()
        s.div_(s.sum(1))
        return s

    with torch.set_dialect(dialect):
        torch.manual_seed(0)
        x, w, b = (
            torch.FloatTensor(3, 2).uniform_(),
            torch.FloatTensor(2, 3).uniform_(),
            torch.FloatTensor(3).uniform_(),
        )
        e = np.exp(x.numpy() @ w.numpy() + b.numpy())
        np.testing.assert_allclose(LinearSoftmax(x, w, b).numpy(), e / e.sum(1), rtol=1e-5)
        s = x.mm(w).add_(b).exp_()
        s.div_(s.sum(1, keepdim=True))
        np.testing.assert_allclose(s.numpy().sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s22_devices(dialect):
    torch.cuda.simulate(3)
    try:
        with torch.set_dialect(dialect):
            # Quoted from the page, each comment as a test:
            x = torch.cuda.FloatTensor(1)
            y = torch.FloatTensor(1).cuda()
            with torch.cuda.device(1):
                a = torch.cuda.FloatTensor(1)
                b = torch.FloatTensor(1).cuda()
                c = a + b
                z = x + y
                d = torch.FloatTensor(1).cuda(2)
            found = [t.get_device() for t in (x, y, a, b, c, z, d)]
            assert found == [0, 0, 1, 1, 1, 0, 2]
            assert x.is_cuda and not x.cpu().is_cuda and x.cuda(1).get_device() == 1
            with pytest.raises(RuntimeError, match="same device"):
                a + x
            p, q = torch.FloatTensor([[2.0]]), torch.FloatTensor([[3.0]])
            assert p.cuda().mul_(q.cuda()).cpu().tolist() == [[6.0]]
            assert p.cuda(**{"async": True}).is_cuda and p.cuda(non_blocking=True).is_cuda
            pinned = p.pin_memory()
            assert pinned.is_pinned() and not p.is_pinned() and pinned.tolist() == p.tolist()
            assert [t.tolist() for t in torch.FloatTensor([3, 1, 2]).cuda().sort()] == [[1, 2, 3], [1, 2, 0]]
            before = torch.cuda.memory_allocated()
            big = torch.cuda.FloatTensor(1000000)
            assert torch.cuda.memory_allocated() - before >= 4_000_000
            del big
            assert torch.cuda.memory_allocated() == before and torch.cuda.memory_reserved() >= 4_000_000
            if dialect == "2017":
                assert (
                    repr(torch.cuda.FloatTensor([1])) == "\n 1\n[torch.cuda.FloatTensor of size 1 (GPU 0)]\n"
                )
    finally:
        torch.cuda.simulate(0)


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s23_three_ways(dialect):
    import sympy

    def f(x1, x2):
        return x1 * x2 + x1**2

    h = 1e-6
    numeric = [(f(2 + h, 3) - f(2 - h, 3)) / (2 * h), (f(2, 3 + h) - f(2, 3 - h)) / (2 * h)]
    a, b = sympy.symbols("a b")
    symbolic = [float(f(a, b).diff(v).subs({a: 2, b: 3})) for v in (a, b)]
    with torch.set_dialect(dialect):
        x1, x2 = (Variable(torch.FloatTensor([v]), requires_grad=True) for v in (2, 3))
        y = f(x1, x2)
        y.backward()
        automatic = [x1.grad.data[0], x2.grad.data[0]]
        assert float(y.data[0]) == 10
    assert automatic == symbolic == [7.0, 2.0]
    assert numeric == pytest.approx([7, 2], abs=1e-6)
    with torch.set_dialect("modern"):
        p, t = torch.func.jvp(
            f, (torch.tensor(2.0), torch.tensor(3.0)), (torch.tensor(1.0), torch.tensor(0.0))
        )
        assert (p.item(), t.item()) == (10, 7)


def test_s24_the_pages_dual_numbers():
    # Quoted from the page, its spelling included:
    class Varaible:
        def __init__(self, value, derivative):
            self.value = value
            self.derivative = derivative

        def __add__(self, other):
            return Varaible(self.value + other.value, self.derivative + other.derivative)

        def __mul__(self, other):
            return Varaible(
                self.value * other.value, self.derivative * other.value + self.value * other.derivative
            )

        def __pow__(self, other):
            return Varaible(self.value**other, other * self.value ** (other - 1))

    def f(x1, x2, seed=(1, 0)):
        vx1, vx2 = Varaible(x1, seed[0]), Varaible(x2, seed[1])
        vf = vx1 * vx2 + vx1**2
        return vf.value, vf.derivative

    assert f(2, 3) == (10, 7)
    assert f(2, 3, seed=(0, 1)) == (10, 6)  # its power forgets the inner derivative: 2 is right


@pytest.mark.parametrize("dialect", ["2017", "modern"])
def test_s25_variables(dialect):
    with torch.set_dialect(dialect):
        torch.manual_seed(3)
        x, w, b = (
            torch.FloatTensor(3).uniform_(),
            torch.FloatTensor(3, 3).uniform_(),
            torch.FloatTensor(3).uniform_(),
        )
        x, w, b = Variable(x, requires_grad=True), Variable(w), Variable(b)
        y = w.mv(x).add_(b)
        loss = y.sum()
        loss.backward()
        assert x.grad.data.tolist() == pytest.approx(w.data.sum(0).tolist())
        assert y.grad_fn is not None and w.grad is None and x.requires_grad and not b.requires_grad
        if dialect == "2017":
            rows = "\n".join(f"{v:7.4f}" for v in y.data.tolist())
            assert repr(y) == f"Variable containing:\n{rows}\n[torch.FloatTensor of size 3]\n"
            assert loss.size() == torch.Size([1]) and repr(x.grad).startswith("Variable containing:")
            assert isinstance(y, Variable) and not isinstance(y.data, Variable)
            assert not (Variable(torch.FloatTensor(1), volatile=True) * x[:1]).requires_grad
        with pytest.raises(RuntimeError, match="leaf Variable"):
            x.add_(1)
        v = x.exp()
        v.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            v.sum().backward()
        with pytest.raises(RuntimeError, match="vector"):
            w.mv(Variable(torch.FloatTensor(3, 1)))


def test_s26_deep_function_machine():
    verbatim, modern = run(PAGE, 12, "2017"), run(modern_form(PAGE), 12, "modern")
    assert all(type(v) is float for v in verbatim)
    assert verbatim == pytest.approx(modern, rel=1e-5) and len(verbatim) == 12
    assert all(later < earlier for earlier, later in zip(verbatim, verbatim[1:]))
