"""autograd.functional: values, graphs, strict mode and errors, as PyTorch 2.13 gives them."""

import inspect

import pytest

import autodiff_kernel as torch
from autodiff_kernel.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

X, Y, V = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0, 5.0]), torch.tensor([1.0, -1.0])
S = torch.tensor(2.0)


def square(a):
    return a * a


def linear(a):
    return a * 2


def two(a, b):
    return a * b.sum(), b * a.sum()


def cube(a):
    return (a**3).sum()


def constant(a):
    return torch.ones(2)


def numbers(x):
    return tuple(map(numbers, x)) if isinstance(x, tuple) else x.tolist()


def graphs(x):
    return tuple(map(graphs, x)) if isinstance(x, tuple) else x.requires_grad


WAYS = {
    "reverse": {},
    "with graph": {"create_graph": True},
    "batched": {"vectorize": True},
    "batched with graph": {"vectorize": True, "create_graph": True},
    "forward": {"strategy": "forward-mode"},
    "batched forward": {"strategy": "forward-mode", "vectorize": True},
}
JACOBIANS = [
    (square, X, [[2.0, 0.0], [0.0, 4.0]]),
    (square, S, 4.0),
    (lambda a: (a * 2,), (X,), (([[2.0, 0.0], [0.0, 2.0]],),)),
    (lambda a: a.sum(0), torch.ones(2, 3), [[[1.0, 0, 0], [1, 0, 0]], [[0, 1, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]]),
    (two, (X, Y), (([[12.0, 0.0], [0.0, 12.0]], [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]),
                   ([[3.0, 3.0], [4.0, 4.0], [5.0, 5.0]], [[3.0, 0, 0], [0, 3, 0], [0, 0, 3]]))),
    (constant, X, [[0.0, 0.0], [0.0, 0.0]]),
    (lambda a, b: a * 2, (X, Y), ([[2.0, 0.0], [0.0, 2.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])),
    (lambda a: a.long(), X, [[0.0, 0.0], [0.0, 0.0]]),
    (square, torch.zeros(0), []),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("func, at, expected", JACOBIANS)
def test_jacobians(func, at, expected, way):
    assert numbers(jacobian(func, at, **WAYS[way])) == expected


def test_the_jacobian_has_a_graph_where_it_is_asked_for():
    for way, options in WAYS.items():
        assert graphs(jacobian(square, X, **options)) == ("graph" in way)
        assert not jacobian(constant, X, **options).requires_grad
    x = X.clone().requires_grad_()
    for options in (WAYS["with graph"], WAYS["batched with graph"], WAYS["forward"], WAYS["batched forward"]):
        j = jacobian(lambda a: a**3, x, **options)
        assert torch.autograd.grad(j.sum(), x)[0].tolist() == [6.0, 12.0]
    assert x.grad is None
    with torch.no_grad():
        assert jacobian(square, x, create_graph=True).requires_grad


def test_dtypes_and_complex_values():
    assert jacobian(lambda a: a.double(), X).dtype == torch.float32
    assert jacobian(lambda a: a.double(), X, strategy="forward-mode").dtype == torch.float64
    z = X + 1j
    with pytest.raises(RuntimeError, match="implicitly created only for real scalar outputs"):
        jacobian(square, z)
    assert jacobian(square, z, vectorize=True).tolist() == [[2 - 2j, 0], [0, 4 - 2j]]
    assert jacobian(square, z, vectorize=True, strategy="forward-mode").tolist() == [[2 + 2j, 0], [0, 4 + 2j]]


def test_nesting():
    inner = lambda a: jacobian(cube, a, create_graph=True)  # noqa: E731
    assert jacobian(inner, X).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    fourth = lambda b: (b**4).sum()  # noqa: E731
    assert jacobian(lambda a: hessian(fourth, a, create_graph=True).sum(), X).tolist() == [24.0, 48.0]


HESSIANS = [
    (cube, X, [[6.0, 0.0], [0.0, 12.0]]),
    (cube, (X,), (([[6.0, 0.0], [0.0, 12.0]],),)),
    (lambda a: a**3, S, 12.0),
    (cube, torch.ones(1, 2), [[[[6.0, 0.0]], [[0.0, 6.0]]]]),
    (lambda a: (a**2).sum().reshape(1), X, [[2.0, 0.0], [0.0, 2.0]]),
    (lambda a, b: (a.sum() * b.sum()) ** 2, (X, Y[:1]),
     (([[18.0, 18.0], [18.0, 18.0]], [[36.0], [36.0]]), ([[36.0, 36.0]], [[18.0]]))),
    (lambda a: a.sum(), X, [[0.0, 0.0], [0.0, 0.0]]),
    (lambda a: torch.tensor(1.0), X, [[0.0, 0.0], [0.0, 0.0]]),
    (lambda a, b: (a**2).sum(), (X, Y[:1]), (([[2.0, 0.0], [0.0, 2.0]], [[0.0], [0.0]]), ([[0.0, 0.0]], [[0.0]]))),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("func, at, expected", HESSIANS)
def test_hessians(func, at, expected, way):
    options = dict(WAYS[way])
    if "strategy" in options:
        options["outer_jacobian_strategy"] = options.pop("strategy")
    assert numbers(hessian(func, at, **options)) == expected


def test_a_square_keeps_a_graph_of_zeros():
    """The second derivative of x² is constant, but knows x: PyTorch's third derivative is 0, the fourth an error."""
    for power in (lambda a: a**2, torch.square, lambda a: a**2.0):
        h = hessian(lambda a, power=power: power(a).sum(), X.clone().requires_grad_(), create_graph=True)
        assert h.requires_grad
        x = X.clone().requires_grad_()
        y, seen = power(x).sum(), []
        for _ in range(3):
            (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
            seen.append((g.tolist(), g.requires_grad))
            y = g
        assert seen == [([2.0, 4.0], True), ([2.0, 2.0], True), ([0.0, 0.0], False)]


# ------------------------------------------------------------------------------------------------ products
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_products(create_graph, strict):
    options = {"create_graph": create_graph, "strict": strict}
    results = {
        vjp(square, X, V, **options): ([1.0, 4.0], [2.0, -4.0]),
        vjp(two, (X, Y), (X, Y), **options): (
            ([12.0, 24.0], [9.0, 12.0, 15.0]),
            ([62.0, 74.0], [14.0, 17.0, 20.0]),
        ),
        vjp(cube, X, **options): (9.0, [3.0, 12.0]),
        vjp(lambda a: (cube(a),), X, **options): ((9.0,), [3.0, 12.0]),
        jvp(square, X, V, **options): ([1.0, 4.0], [2.0, -4.0]),
        jvp(two, (X, Y), (X, Y), **options): (
            ([12.0, 24.0], [9.0, 12.0, 15.0]),
            ([24.0, 48.0], [18.0, 24.0, 30.0]),
        ),
        jvp(square, S, **options): (4.0, 4.0),
        jvp(square, (S,), **options): (4.0, 4.0),
        hvp(cube, X, V, **options): (9.0, [6.0, -12.0]),
        vhp(cube, X, V, **options): (9.0, [6.0, -12.0]),
        hvp(lambda a: a**3, S, **options): (8.0, 12.0),
        vhp(lambda a: (a**2).sum().reshape(1), X, V, **options): ([5.0], [2.0, -2.0]),
    }
    product = lambda a, b: (a.sum() * b.sum()) ** 2  # noqa: E731
    for second in (hvp, vhp):
        found = second(product, (X, Y), (X, Y), **options)
        assert numbers(found) == (1296.0, ([2592.0, 2592.0], [648.0, 648.0, 648.0]))
    for found, expected in results.items():
        assert numbers(found) == expected
        flags = graphs(found)
        assert str(flags).count(str(create_graph)) and not str(flags).count(str(not create_graph))


def test_products_that_do_not_depend():
    assert numbers(vjp(constant, X, V)) == ([1.0, 1.0], [0.0, 0.0])
    assert numbers(vjp(lambda a, b: a * 2, (X, Y), V)) == ([2.0, 4.0], ([2.0, -2.0], [0.0, 0.0, 0.0]))
    assert numbers(jvp(constant, X, V)) == ([1.0, 1.0], [0.0, 0.0])
    assert numbers(hvp(lambda a: a.sum(), X, V)) == (3.0, [0.0, 0.0])
    assert numbers(vhp(lambda a: torch.tensor(1.0), X, V)) == (1.0, [0.0, 0.0])
    part = lambda a, b: (a**2).sum()  # noqa: E731
    assert numbers(hvp(part, (X, Y), (X, Y))) == (5.0, ([2.0, 4.0], [0.0, 0.0, 0.0]))


def test_products_with_a_graph_can_be_differentiated():
    x, v = X.clone().requires_grad_(), V.clone().requires_grad_()
    _, p = hvp(cube, x, v, create_graph=True)
    assert [g.tolist() for g in torch.autograd.grad(p.sum(), (x, v))] == [[6.0, -6.0], [6.0, 12.0]]
    _, p = jvp(square, x, v, create_graph=True)
    assert [g.tolist() for g in torch.autograd.grad(p.sum(), (x, v))] == [[2.0, -2.0], [2.0, 4.0]]
    _, p = vjp(square, x, v, create_graph=True)
    assert [g.tolist() for g in torch.autograd.grad(p.sum(), (x, v))] == [[2.0, -2.0], [2.0, 4.0]]
    assert not any(t.requires_grad for t in (*hvp(cube, x, v), *jvp(square, x, v), *vjp(square, x, v)))


# ------------------------------------------------------------------------------------------------ what is refused
CUT = r"Output 0 of the user-provided function does not require gradients"
FLAT = "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is"
GRAPH = {"strict": True, "create_graph": True}
STRICT = [
    (lambda: jacobian(constant, X, strict=True), CUT),
    (lambda: jacobian(lambda a, b: a * 2, (X, Y), strict=True),
     "Output 0 of the user-provided function is independent of input 1"),
    (lambda: jacobian(linear, X, **GRAPH),
     "jacobian of the user-provided function is independent of input 0.*create_graph=True"),
    (lambda: jacobian(square, X, strict=True, vectorize=True),
     "`strict=True` and `vectorized=True` are not supported together"),
    (lambda: jacobian(square, X, strict=True, strategy="forward-mode"),
     '`strict=True` and `strategy="forward-mode"` are not'),
    (lambda: hessian(lambda a: a.sum(), X, strict=True), FLAT.format(0)),
    (lambda: hessian(lambda a: torch.tensor(1.0), X, strict=True), CUT),
    (lambda: hessian(lambda a, b: (a**2).sum(), (X, Y), strict=True), FLAT.format(1)),
    (lambda: vjp(constant, X, V, strict=True), CUT),
    (lambda: vjp(lambda a, b: a * 2, (X, Y), V, strict=True),
     "The output of the user-provided function is independent of input 1"),
    (lambda: vjp(linear, X, V, **GRAPH), "The jacobian of the user-provided function is independent of input 0"),
    (lambda: vjp(lambda a, b: a * 2, (X, Y), V, **GRAPH),
     "The jacobian of the user-provided function is independent of input 0"),
    (lambda: jvp(constant, X, V, strict=True), CUT),
    (lambda: jvp(lambda a, b: a * 2, (X, Y), (X, Y), **GRAPH),
     "The output of the user-provided function is independent of input 1"),
    (lambda: jvp(linear, X, V, **GRAPH), "The jacobian of the user-provided function is independent of input 0"),
    (lambda: hvp(lambda a: a.sum(), X, V, strict=True), FLAT.format(0)),
    (lambda: vhp(lambda a: torch.tensor(1.0), X, V, strict=True), CUT),
    (lambda: hvp(lambda a, b: (a**2).sum(), (X, Y), (X, Y), strict=True),
     "The output of the user-provided function is independent of input 1"),
]  # fmt: skip


@pytest.mark.parametrize("action, words", STRICT)
def test_strict_mode(action, words):
    with pytest.raises(RuntimeError, match=words):
        action()


def test_what_strict_mode_lets_pass():
    assert numbers(jacobian(square, X, strict=True, create_graph=True)) == [[2.0, 0.0], [0.0, 4.0]]
    assert numbers(jacobian(linear, X, strict=True)) == [[2.0, 0.0], [0.0, 2.0]]
    assert numbers(hessian(lambda a: (a**2).sum(), X, **GRAPH)) == [[2.0, 0.0], [0.0, 2.0]]
    assert numbers(vjp(linear, X, V, strict=True)) == ([2.0, 4.0], [2.0, -2.0])
    assert numbers(jvp(linear, X, V, strict=True)) == ([2.0, 4.0], [2.0, -2.0])


NONE = r"The vector v can only be None if"
WRONG = [
    (lambda: jacobian(lambda a: 1.0, X), TypeError,
     "outputs of the user-provided function given to jacobian must be either a Tensor or a tuple of Tensors but the "
     "given outputs of the user-provided function has type <class 'float'>"),
    (lambda: jacobian(lambda a: [a], X), TypeError, "given outputs of the user-provided function has type <class 'list'>"),
    (lambda: jacobian(lambda a: (a, 3.0), X), TypeError, "but the value at index 1 has type <class 'float'>"),
    (lambda: jacobian(square, [X]), TypeError,
     "The inputs given to jacobian must be either a Tensor or a tuple of Tensors but the given inputs has type <class "
     "'list'>"),
    (lambda: jacobian(square, (X, 2.0)), TypeError, "value at index 1 has type <class 'float'>"),
    (lambda: jacobian(square, torch.tensor([1, 2])), RuntimeError,
     "only Tensors of floating point dtype can require gradients"),
    (lambda: jacobian(square, torch.tensor([1, 2]), strategy="forward-mode"), ValueError, "Expected primal to be floating"),
    (lambda: jacobian(square, X, strategy="foo"), AssertionError,
     'Expected strategy to be either "forward-mode" or "reverse'),
    (lambda: jacobian(lambda a: a.mul_(2), X.clone()), RuntimeError, "a leaf Variable that requires grad is being used"),
    (lambda: hessian(square, X), RuntimeError,
     "The Tensor returned by the function given to hessian should contain a single"),
    (lambda: hessian(lambda a: (a.sum(),), X), RuntimeError, "The function given to hessian should return a single Tensor"),
    (lambda: hessian(lambda a: 1.0, X), TypeError, "outputs of the user-provided function given to hessian must be"),
    (lambda: hessian(cube, 2.0), TypeError, "The inputs given to hessian must be"),
    (lambda: hessian(cube, X, outer_jacobian_strategy="foo"), AssertionError, "Expected strategy"),
    (lambda: vjp(square, X), RuntimeError, f"{NONE} the user-provided function returns a single Tensor with a single"),
    (lambda: vjp(square, X, Y), RuntimeError,
     r"v has invalid size: should be torch.Size\(\[2\]\) but got torch.Size\(\[3\]\)"),
    (lambda: vjp(two, (X, Y), (X, X)), RuntimeError, r"Entry 1 in v has invalid size: should be torch.Size\(\[3\]\) but got"),
    (lambda: vjp(two, (X, Y), (X,)), RuntimeError, "v is a tuple of invalid length: should be 2 but got 1"),
    (lambda: vjp(square, X, 1.0), TypeError,
     "The v given to vjp must be either a Tensor or a tuple of Tensors but the given v"),
    (lambda: jvp(square, X), RuntimeError, f"{NONE} the input to the user-provided function is a single Tensor with a"),
    (lambda: jvp(square, X, Y), RuntimeError, "v has invalid size"),
    (lambda: jvp(two, (X, Y), (X,)), RuntimeError, "v is a tuple of invalid length"),
    (lambda: hvp(cube, X), RuntimeError, NONE),
    (lambda: hvp(square, X, V), RuntimeError,
     "The Tensor returned by the function given to hvp should contain a single element"),
    (lambda: vhp(lambda a: (cube(a),), X, V), RuntimeError, "The function given to vhp should return a single Tensor"),
    (lambda: vhp(cube, X, Y), RuntimeError, "v has invalid size"),
    (lambda: vhp(lambda a: 1.0, X, V), TypeError, "outputs of the user-provided function given to vhp must be"),
]  # fmt: skip


@pytest.mark.parametrize("action, kind, words", WRONG)
def test_refusals(action, kind, words):
    with pytest.raises(kind, match=words):
        action()


def test_signatures():
    common = ["func", "inputs", "create_graph", "strict", "vectorize"]
    assert list(inspect.signature(jacobian).parameters) == [*common, "strategy"]
    assert list(inspect.signature(hessian).parameters) == [*common, "outer_jacobian_strategy"]
    for product in (vjp, jvp, hvp, vhp):
        assert list(inspect.signature(product).parameters) == [
            "func",
            "inputs",
            "v",
            "create_graph",
            "strict",
        ]
