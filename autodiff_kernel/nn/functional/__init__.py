"""torch.nn.functional: the functions that layers compute, for those who hold their own weights."""

from ...core.rules.layers import linear as linear
from ...core.rules.scatter import one_hot as one_hot
from ...core.rules.tensor_products import bilinear as bilinear
from . import (
    activations,
    attention,
    convolution,
    distance,
    dropping,
    embeddings,
    fractional,
    losses,
    normalization,
    pooling,
    vision,
)
from .activations import *  # noqa: F403
from .attention import *  # noqa: F403
from .convolution import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropping import *  # noqa: F403
from .embeddings import *  # noqa: F403
from .fractional import *  # noqa: F403
from .losses import *  # noqa: F403
from .normalization import *  # noqa: F403
from .pooling import *  # noqa: F403
from .vision import *  # noqa: F403

_PARTS = [
    activations,
    attention,
    convolution,
    distance,
    dropping,
    embeddings,
    fractional,
    losses,
    normalization,
    pooling,
    vision,
]
__all__ = sorted(["bilinear", "linear", "one_hot", *[name for part in _PARTS for name in part.__all__]])
