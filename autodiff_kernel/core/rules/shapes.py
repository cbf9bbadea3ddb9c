"""Other shapes of the same elements: reshape, permute, expand. These are views wherever PyTorch makes them views."""

from typing import Any

import numpy as np

from ..op import TABLE, Op
from ..graph import unbroadcast


def _expand_back(g: Any, n: Any) -> Any:
    return unbroadcast(g, n.sa)


reshape = Op("reshape", lambda a, p: a.reshape(p), a=lambda g, n: reshape(g, p=n.sa), mode="linear", params=True,
             view=True, node="ViewBackward0", partials=("1",), latex="{a}", doc="The same elements in another shape.")  # fmt: skip
permute = Op("permute", lambda a, p: a.transpose(p), a=lambda g, n: permute(g, p=inverse(n.p)), mode="linear",
             params=True, view=True, partials=("1",), latex="{a}", doc="The dimensions in another order.")  # fmt: skip
expand = Op("expand", np.broadcast_to, a=_expand_back, mode="linear", params=True, view=True, partials=("1",),
            latex="{a}", doc="Dimensions of size 1 repeated, without copying.")  # fmt: skip


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes `order`."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


_ = TABLE
