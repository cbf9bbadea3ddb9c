"""Named tuples of results, such as `torch.return_types.max(values=…, indices=…)`.

`torch.return_types` is this module: its types are made by `return_type` where the functions are written.
"""

from typing import Any


class ReturnType(tuple[Any, ...]):
    """A tuple whose parts have names, printed as PyTorch prints it.

    >>> import autodiff_kernel as torch
    >>> torch.max(torch.tensor([[1., 3.], [2., 0.]]), 1)
    torch.return_types.max(
    values=tensor([3., 2.]),
    indices=tensor([1, 0]))
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, parts: Any) -> Any:
        made = tuple.__new__(cls, parts)
        if len(made) != len(cls._fields):
            raise TypeError(
                f"{cls.__name__}() takes a {len(cls._fields)}-sequence ({len(made)}-sequence given)"
            )
        return made

    def __repr__(self) -> str:
        parts = ",\n".join(f"{name}={part!r}" for name, part in zip(self._fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{parts})"

    def __reduce__(self) -> Any:
        return _again, (type(self).__name__, tuple(self))


def _again(name: str, parts: tuple[Any, ...]) -> Any:
    return globals()[name](parts)


def _part(i: int) -> property:
    return property(lambda self: self[i])


def return_type(name: str, fields: str) -> type[ReturnType]:
    """Make the type `torch.return_types.NAME` with the given fields (names with blanks between)."""
    names = tuple(fields.split())
    body = {"__slots__": (), "_fields": names, "__match_args__": names, "n_fields": len(names),
            **{field: _part(i) for i, field in enumerate(names)}}  # fmt: skip
    made = type(name, (ReturnType,), body)
    made.__module__ = __name__
    globals()[name] = made
    return made
