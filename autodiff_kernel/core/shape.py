"""The shape of a tensor."""

from typing import Any


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints that prints as PyTorch's.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2, 3).shape, torch.ones(2, 3).size(-1)
    (torch.Size([2, 3]), 3)
    """

    def __new__(cls, sizes: Any = ()) -> "Size":
        """A Size of any iterable of ints. Raises TypeError for anything else in it."""
        found = tuple(sizes)
        for i, n in enumerate(found):
            if n.__class__ is not int:
                found = (*found[:i], _whole(n, i), *found[i + 1 :])
        return tuple.__new__(cls, found)

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        count = 1
        for n in self:
            count *= n
        return count

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __add__(self, other: Any) -> "Size":
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple(self) + other)

    def __radd__(self, other: Any) -> "Size":
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(other + tuple(self))

    def __mul__(self, times: Any) -> "Size":
        return Size(tuple(self) * times)

    __rmul__ = __mul__

    def __getitem__(self, i: Any) -> Any:
        part = tuple.__getitem__(self, i)
        return Size(part) if isinstance(i, slice) else part


def _whole(n: Any, position: int) -> Any:
    """A size that is no plain int: an integer of NumPy, or a 0-d tensor of integers."""
    if isinstance(n, bool):
        return int(n)
    wrong = TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{type(n).__name__}')")
    if not hasattr(n, "__index__"):
        raise wrong
    try:
        return n.__index__()
    except TypeError:
        raise wrong from None
