"""Inside vmap: random numbers, the same or different ones for the samples, and new tensors with a place for each.

Each vmap that is at work is served in turn, the innermost first: it asks for numbers for all of its samples, or for
one sample, outside of itself.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .batched import Batched, batch, make
from .dual import Dual
from .errors import explain
from .levels import Vmap, mapping, open_vmaps, outside
from .op import TABLE
from .tensor import Tensor
from .wrappers import rebatch, samples, unbatch


def drawing() -> Vmap | None:
    """The innermost vmap at work on this thread, None if there is none; RuntimeError if it allows no random numbers."""
    if not mapping or not open_vmaps():
        return None
    v = open_vmaps()[-1]
    if v.randomness == "error":
        raise explain(
            RuntimeError,
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap",
            "It is not clear whether all samples are to get the same numbers.",
            "write vmap(f, randomness='different') or vmap(f, randomness='same').",
        )
    return v


def of_shape(v: Vmap, draw: Callable[[tuple[int, ...]], Any], shape: tuple[int, ...]) -> Any:
    """draw(shape), a new tensor, for the samples of v."""
    with outside(v):
        if v.randomness == "same":
            return draw(shape)
        return make(draw((v.size, *shape)), v.level)


def one_each(v: Vmap, draw: Callable[[], Any]) -> Any:
    """draw(), whose numbers depend on one another, for each sample of v."""
    with outside(v):
        if v.randomness == "same":
            return draw()
        return make(TABLE["stack"](*[draw() for _ in range(v.size)], p=0), v.level)


def like(v: Vmap, draw: Callable[[Any], Any], x: Any) -> Any:
    """draw(x), which depends on x's form only, for the samples of v."""
    inner = unbatch(x, v.level)
    with outside(v):
        if v.randomness == "same":
            return draw(x if inner is None else TABLE["getitem"](inner, p=(0,)))
        if inner is None:
            inner = TABLE["clone"](batch(x, v.size))
        return rebatch(draw(inner), v.level)


def of_values(v: Vmap, draw: Callable[..., Any], xs: Sequence[Any]) -> Any:
    """draw(*xs), which depends on the values of the tensors among xs, for the samples of v."""
    inner = [unbatch(x, v.level) if isinstance(x, Tensor) else None for x in xs]
    with outside(v):
        if v.randomness == "same":
            if any(x is not None for x in inner):
                raise RuntimeError(
                    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue "
                    "with functorch"
                )
            return draw(*xs)
        from .batching.elementwise import aligned

        whole = [samples(x, v.level, v.size) if isinstance(x, Tensor) else x for x in xs]
        return rebatch(draw(*aligned(whole, [isinstance(x, Tensor) for x in xs])), v.level)


def fill(v: Vmap, draw: Callable[[Any], Any], x: Any) -> None:
    """draw(x), which fills x in place, for the samples of v."""
    inner = x.value if x.__class__ is Batched and x.level == v.level else unbatch(x, v.level)
    with outside(v):
        if v.randomness == "different":
            if inner is None:
                raise explain(
                    RuntimeError,
                    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like "
                    "same randomness.",
                    "The tensor is one for all samples: it has no place for numbers of each.",
                    "fill a new tensor: torch.empty_like(x) of one of the samples, or torch.randn.",
                )
            draw(inner)
        elif inner is None:
            draw(x)
        else:
            one = TABLE["clone"](TABLE["getitem"](inner, p=(0,)))
            draw(one)
            inner.copy_(one)


# ------------------------------------------------------------------------------------------------ new tensors
def for_samples(t: Tensor, x: Any) -> Tensor:
    """The new tensor t, with memory of its own for each sample of the vmaps that x belongs to."""
    for level, size in sorted(sizes_of(x).items()):
        if unbatch(t, level) is None:
            t = rebatch(TABLE["clone"](batch(t, size)), level)
    return t


def sizes_of(x: Any) -> dict[int, int]:
    """The levels of vmap that x belongs to, with their numbers of samples."""
    if x.__class__ is Batched:
        return {x.level: x.value.raw.shape[0], **sizes_of(x.value)}
    return {**sizes_of(x.primal), **sizes_of(x.tangent)} if x.__class__ is Dual else {}
