"""Do the parts of a source fit the places that an index names?  PyTorch's errors where they do not."""

from ..errors import explain


def check_parts(name: str, a: tuple[int, ...], b: tuple[int, ...], d: int, count: int) -> None:
    """PyTorch's errors where parts of shape b along dimension d do not fit `count` places of shape a."""
    if d and d >= len(b):
        raise RuntimeError(
            f"{name}_(): Indexing dim {d} is out of bounds of the source tensor with dim {len(b)}"
        )
    if not b and count != 1:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if b and count != b[d]:
        raise RuntimeError(
            f"{name}_(): Number of indices ({count}) should be equal to source.size(dim): ({b[d]}), for dim: {d}"
        )
    if (_without(a, d) != _without(b, d)) if a and b else a != b:
        raise explain(
            RuntimeError,
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(a)} source.shape = {list(b)}",
        )


def check_copied_parts(a: tuple[int, ...], b: tuple[int, ...], d: int, count: int) -> None:
    """The same for index_copy, where a single number may be a part."""
    who = "index_copy_(): "
    if not b and count != 1:
        raise IndexError(f"{who}When source is scalar, index should have one element (got {count})")
    if a and b and len(a) != len(b):
        raise IndexError(
            f"{who}When source and destination are not scalars, their dimensionality must match. Source dimensionality "
            f"({len(b)}), destination dimensionality ({len(a)})"
        )
    parts = _without(a, d), _without(b, d)
    if parts[0] != parts[1]:
        to, of = (" ".join(map(str, part)) for part in parts)
        raise RuntimeError(
            f"{who}Source/destination tensor must have same slice shapes. Destination slice shape: {to} at dimension {d} "
            f"and source slice shape: {of} at dimension 0."
        )
    if b and count != b[d]:
        raise IndexError(f"{who}Number of indices ({count}) should be equal to source.size(dim) ({b[d]})")


def _without(shape: tuple[int, ...], d: int) -> tuple[int, ...]:
    return shape[:d] + shape[d + 1 :]
