"""Random numbers, the source: PyTorch's CPU generator (an mt19937), its seeds and its state.

The same seed gives the same numbers as PyTorch's CPU generator, bit for bit.  This module turns a seed into raw
32-bit words; `distributions` turns the words into numbers, `draws` puts the numbers into tensors.

The engine keeps a second thing beside the words' state: the normal number left over when one was asked for, since
the Box-Muller transform makes them in pairs.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

if TYPE_CHECKING:
    import numpy.random

Array = np.ndarray[Any, Any]

DEFAULT_SEED: Final = 67280421310721  # of a generator that nobody has seeded, as in PyTorch
BLOCK: Final = 624  # words that the mt19937 makes at a time

# PyTorch's state: seed, words left in the block + 1, "seeded", next word, the block as u64, then of three doubles
# the middle one is the left-over normal number, whether there is one, and unused fields.
_STATE: Final = struct.Struct(f"<QiiQ{BLOCK}QdddixxxxfBxxx")
STATE_BYTES: Final = _STATE.size


class Engine:
    """A stream of random words: seeding, state and raw draws.

    `spare` is the left-over normal number or None.  Not made for use from two threads at once, except that no word
    is ever given out twice.

    >>> engine = Engine(0)
    >>> engine.words(2).tolist()
    [2357136044, 2546248239]
    """

    __slots__ = ("_bits", "_fresh", "_seed", "spare")

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._bits: numpy.random.MT19937 | None = None
        Engine.manual_seed(self, seed)

    def manual_seed(self, seed: int) -> Self:
        """Restart the stream; `seed` from -2^63 to 2^64-1, of which only the low 32 bits matter (as in PyTorch).

        Raises ValueError outside that range, RuntimeError for anything but an int.
        """
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(
                f"Overflow when unpacking long long: a seed lies between -2^63 and 2^64-1, not {seed}"
            )
        self._seed = int(seed) % 2**64
        self._fresh = True  # no word drawn yet
        self.spare: float | None = None
        if self._bits is not None:
            self._restart(self._bits)
        return self

    def seed(self) -> int:
        """Seed with a number from the operating system and return it."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed the stream was started with, from 0 to 2^64-1."""
        return self._seed

    def words(self, count: int) -> Array:
        """Draw `count` 32-bit words, as uint64 of shape (count,)."""
        bits = self._source()
        self._fresh = self._fresh and not count
        return bits.random_raw(count)

    def wide(self, count: int) -> Array:
        """Draw `count` 64-bit numbers, uint64 of shape (count,): two words each, the first one high."""
        words = self.words(2 * count)
        return (words[0::2] << np.uint64(32)) | words[1::2]

    def get_state(self) -> Array:
        """Return the whole state as PyTorch lays it out: uint8 of shape (5056,)."""
        inner = self._source().state["state"]
        at, left = (0, 1) if self._fresh else (inner["pos"], BLOCK + 1 - inner["pos"])
        spare = (0.0, self.spare or 0.0, 0.0, self.spare is not None)
        packed = _STATE.pack(self._seed, left, 1, at, *inner["key"].tolist(), *spare, 0.0, 0)
        return np.frombuffer(packed, np.uint8).copy()

    def set_state(self, state: Array) -> None:
        """Continue where `get_state` was called, here or in PyTorch; RuntimeError if `state` is no such state."""
        if state.size != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to "
                f"be {state.size}"
            )
        seed, left, seeded, at, *rest = _STATE.unpack(np.ascontiguousarray(state, np.uint8).tobytes())
        if not seeded or not 0 <= at <= BLOCK or left != (BLOCK + 1 - at if at else 1):
            raise RuntimeError("Invalid mt19937 state: these are not bytes that get_state() returned")
        self.manual_seed(seed)
        key = np.array(rest[:BLOCK], np.uint64).astype(np.uint32)
        self._source().state = {"bit_generator": "MT19937", "state": {"key": key, "pos": at or BLOCK}}
        self._fresh = at == 0
        self.spare = rest[BLOCK + 1] if rest[BLOCK + 3] else None

    def _source(self) -> numpy.random.MT19937:
        """Return NumPy's mt19937, which stands where this stream stands."""
        if self._bits is None:
            import numpy.random  # takes longer than the rest of this package: only when a number is wanted

            self._bits = numpy.random.MT19937(0)
            self._restart(self._bits)
        return self._bits

    def _restart(self, bits: numpy.random.MT19937) -> None:
        import numpy.random

        # RandomState seeds as the mt19937's authors do with one word, which is what PyTorch does.
        numpy.random.RandomState(bits).seed(self._seed & 0xFFFFFFFF)
