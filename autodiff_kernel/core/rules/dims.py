"""Numbers of dimensions and sizes, as PyTorch reads and refuses them."""

from typing import Any, NoReturn

from ..errors import explain
from ..tensor import Tensor


def wrap_dim(d: Any, ndim: int, function: str = "", argument: str = "dim") -> int:
    """A dimension's number, counted from the front; a 0-d tensor has the dimensions 0 and -1.

    Raises IndexError out of range, and TypeError for what is no int.
    """
    if d.__class__ is not int:
        d = whole(d, function, argument)
    if -ndim <= d < ndim:
        return d if d >= 0 else d + ndim
    size = ndim or 1
    if -size <= d < size:
        return 0
    raise no_such_dim(d, ndim)


def no_such_dim(d: int, ndim: int) -> IndexError:
    """PyTorch's error for a dimension that a tensor of `ndim` dimensions does not have."""
    size = ndim or 1
    return explain(
        IndexError,
        f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {d})",
        f"The dimensions are counted from 0: there are {size}.",
        f"name one from 0 to {size - 1}, or -1 for the last one.",
        topic="no such dimension",
        dim=d,
        ndim=ndim,
    )


def whole(x: Any, function: str = "", argument: str = "dim") -> int:
    """An int, or what counts as one (NumPy's integers, 0-d integer tensors)."""
    if x.__class__ is int:
        return int(x)
    if x.__class__ is bool or not hasattr(x, "__index__"):
        start = f"{function}(): " if function else ""
        raise TypeError(f"{start}argument '{argument}' must be int, not {type(x).__name__}")
    return int(x.__index__())


def is_whole(x: Any) -> bool:
    if x.__class__ is int:
        return True
    if x.__class__ is bool or not hasattr(x, "__index__"):
        return False
    return not isinstance(x, Tensor) or x.raw.size == 1 and not x.raw.ndim and x.raw.dtype.kind in "iu"


def axes(dim: Any, ndim: int, function: str = "") -> tuple[int, ...] | None:
    """PyTorch's `dim` as NumPy's `axis`: None (all), or a tuple of dimensions counted from the front.

    Raises IndexError out of range, RuntimeError for a dimension named twice, TypeError for what is no int.
    """
    if dim is None:
        return None
    if dim.__class__ is int and -ndim <= dim < ndim:
        return (dim if dim >= 0 else dim + ndim,)
    if not isinstance(dim, (tuple, list)):
        if not hasattr(dim, "__index__"):
            raise TypeError(f"{function}(): argument 'dim' must be tuple of ints, not {type(dim).__name__}")
        dim = (dim,)
    out: list[int] = []
    for d in dim:
        d = wrap_dim(d, ndim, function)
        if d in out:
            raise explain(
                RuntimeError,
                f"dim {d} appears multiple times in the list of dims",
                cure="name each dimension once; -1 and the last one's number are the same.",
            )
        out.append(d)
    return tuple(out) if ndim and out else None


def sizes(given: tuple[Any, ...], function: str, argument: str = "size") -> tuple[int, ...]:
    """Sizes given one by one or as one sequence: `f(2, 3)`, `f((2, 3))`."""
    if len(given) == 1 and given[0].__class__ is not int and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    elif not given:
        raise TypeError(f'{function}() missing 1 required positional arguments: "{argument}"')
    out = []
    for i, n in enumerate(given):
        if n.__class__ is not int:
            if not is_whole(n):
                bad_sizes(function, given, argument, i)
            n = int(n)
        out.append(n)
    return tuple(out)


def size_list(given: Any, function: str, argument: str = "size", position: int = 2) -> tuple[int, ...]:
    """Sizes given as one sequence, where a single number is not enough: `torch.reshape(x, (2, 3))`."""
    if not isinstance(given, (tuple, list)):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be tuple of ints, not "
            f"{type(given).__name__}"
        )
    return sizes((given,), function, argument)


def bad_sizes(function: str, given: tuple[Any, ...], argument: str, i: int) -> NoReturn:
    kinds = ", ".join(type(n).__name__ for n in given)
    raise TypeError(
        f"{function}() received an invalid combination of arguments - got ({kinds}), but expected whole "
        "numbers for "
        f"'{argument}': argument '{argument}' must be tuple of ints, but found element of type "
        f"{type(given[i]).__name__} at pos {i}"
    )


def product(numbers: Any) -> int:
    """The product of ints: how many elements a shape has."""
    n = 1
    for k in numbers:
        n *= k
    return n


def given_dims(name: str, dims: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The dimensions given as `*dims`, or all together by name; TypeError for any other name."""
    if not named:
        return dims
    if "dims" not in named:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dims"')
    if len(named) > 1 or dims:
        extra = next((k for k in named if k != "dims"), "dims")
        raise TypeError(f"{name}() got an unexpected keyword argument '{extra}'")
    return (named["dims"],)
