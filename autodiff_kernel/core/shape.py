"""The shape of a tensor."""

from typing import Any


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints that prints as PyTorch's.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2, 3).shape, torch.ones(2, 3).size(-1)
    (torch.Size([2, 3]), 3)
    """

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
        return Size(tuple(self) + tuple(other))

    def __mul__(self, times: Any) -> "Size":
        return Size(tuple(self) * times)

    def __getitem__(self, i: Any) -> Any:
        part = tuple.__getitem__(self, i)
        return Size(part) if isinstance(i, slice) else part
