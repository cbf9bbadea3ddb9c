"""torch.nn.utils.rnn: sequences of different lengths, padded or packed."""

from collections import namedtuple
from typing import Any

from ...core.api import FUNCTIONS
from ...core.dtype import int64
from ...core.errors import explain
from ...core.tensor import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence(
    namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])
):
    """Sequences of different lengths without padding: all first steps, all second steps, …

    data: (total steps, …); batch_sizes: how many sequences have a first step, a second one, …; sorted_indices: the order
    by length, in which they lie. `pack_padded_sequence` makes one.
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> Any:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """On another device, or in another dtype."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        """On a GPU."""
        return self._replace(data=self.data.cuda(*args, **kwargs))

    def cpu(self) -> Any:
        """On the CPU."""
        return self._replace(data=self.data.cpu())

    def double(self) -> Any:
        """In float64."""
        return self.to(self.data.double().dtype)

    def float(self) -> Any:
        """In float32."""
        return self.to(self.data.float().dtype)

    @property
    def is_cuda(self) -> bool:
        """Do the steps lie on a GPU?"""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Do the steps lie in pinned memory?"""
        return bool(self.data.is_pinned())


def invert_permutation(permutation: Any) -> Any:
    """The order that undoes another.

    >>> import autodiff_kernel as torch
    >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    return None if permutation is None else permutation.argsort()


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> Any:
    """Padded sequences (T, N, …), or (N, T, …) if batch_first, without their padding.

    lengths: of each, at least 1. enforce_sorted: they come in decreasing order. Raises RuntimeError for lengths that are not
    sorted or not positive.

    >>> import autodiff_kernel as torch
    >>> torch.nn.utils.rnn.pack_padded_sequence(torch.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True).data
    tensor([1, 3, 2])
    """
    counts = [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    order = None
    if not enforce_sorted:
        order = FUNCTIONS["tensor"](counts).sort(descending=True)[1].to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
        counts = sorted(counts, reverse=True)
    if batch_first:
        input = input.transpose(0, 1)
    if len(counts) != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={input.shape[1]})"
        )
    if min(counts) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in zip(counts, counts[1:])):
        raise explain(
            RuntimeError,
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep "
            "this requirement if you do not need "
            "ONNX exportability.",
            cure="enforce_sorted=False.",
        )
    sizes = [sum(n > t for n in counts) for t in range(counts[0])]
    data = FUNCTIONS["cat"]([input[t, :n] for t, n in enumerate(sizes)])
    return PackedSequence(data, FUNCTIONS["tensor"](sizes, dtype=int64), order)


def pad_packed_sequence(
    sequence: Any, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """(padded sequences, lengths) of a PackedSequence. Raises ValueError for a total_length that is too short."""
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got total_length="
                f"{total_length} and max sequence length being {longest}"
            )
    data, width = sequence.data, sizes[0]
    steps = []
    for part in data.split(sizes):
        missing = width - len(part)
        if missing:
            filler = FUNCTIONS["full"](
                (missing, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device
            )
            part = FUNCTIONS["cat"]([part, filler])
        steps.append(part)
    for _ in range((total_length or longest) - longest):
        steps.append(
            FUNCTIONS["full"]((width, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
        )
    padded = FUNCTIONS["stack"](steps, 1 if batch_first else 0)
    lengths = FUNCTIONS["tensor"]([sum(n > i for n in sizes) for i in range(width)], dtype=int64)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Sequences (L, …) of different lengths as one tensor (T, N, …), or (N, T, …) if batch_first.

    >>> import autodiff_kernel as torch
    >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(sequences, "__iter__"):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            + str(type(sequences))
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError("padding_side must be either 'left' or 'right'")
    sequences = list(sequences)
    longest = max(len(s) for s in sequences)
    rows = []
    for s in sequences:
        if len(s) < longest:
            shape = (longest - len(s), *s.shape[1:])
            filler = FUNCTIONS["full"](shape, padding_value, dtype=s.dtype, device=s.device)
            s = FUNCTIONS["cat"]([s, filler] if padding_side == "right" else [filler, s])
        rows.append(s)
    return FUNCTIONS["stack"](rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences of a padded tensor, each with its own length."""
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(x, lengths)]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> Any:
    """Sequences (L, …) of different lengths as a PackedSequence."""
    return pack_padded_sequence(
        pad_sequence(sequences), [len(s) for s in sequences], enforce_sorted=enforce_sorted
    )


def unpack_sequence(packed_sequences: Any) -> list[Any]:
    """The sequences of a PackedSequence."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
