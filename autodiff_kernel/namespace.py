"""The names of `import autodiff_kernel as torch`: the package's own module takes them from here.

(They come with the first question for one, see `autodiff_kernel/__init__.py`; rare ones with the first question for
that very name, see `core/late.py`.)
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from . import autograd as autograd
from . import cuda as cuda
from . import dialect as dialect
from . import func as func
from . import nn as nn
from . import random as random
from . import utils as utils
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from .core import create as _create
from .core import late as _late
from .core import places as _places
from .core import return_types as return_types
from .core import settings as _settings
from .core.api import FUNCTIONS as _FUNCTIONS
from .core.device import device as device
from .core.dtype import *  # noqa: F403
from .core.formats import channels_last as channels_last
from .core.formats import channels_last_3d as channels_last_3d
from .core.formats import contiguous_format as contiguous_format
from .core.formats import layout as layout
from .core.formats import memory_format as memory_format
from .core.formats import preserve_format as preserve_format
from .core.formats import strided as strided
from .core.generator import Generator as Generator
from .core.generator import default_generator as default_generator
from .core.generator import get_rng_state as get_rng_state
from .core.generator import initial_seed as initial_seed
from .core.generator import manual_seed as manual_seed
from .core.generator import seed as seed
from .core.generator import set_rng_state as set_rng_state
from .core.inference import inference_mode as inference_mode
from .core.inference import is_inference_mode_enabled as is_inference_mode_enabled
from .core.memory_pool import OutOfMemoryError as OutOfMemoryError
from .core.modes import enable_grad as enable_grad
from .core.modes import is_grad_enabled as is_grad_enabled
from .core.modes import no_grad as no_grad
from .core.modes import set_grad_enabled as set_grad_enabled
from .core.printing import get_printoptions as get_printoptions
from .core.printing import printoptions as printoptions
from .core.printing import set_printoptions as set_printoptions
from .core.scopes import scope as scope
from .core.tensor import Size as Size
from .core.tensor import Tensor as Tensor
from .dialect import get_dialect as get_dialect
from .dialect import set_dialect as set_dialect
from .func import vmap as vmap

_LATE_MODULES = {
    *(
        "distributions",
        "accelerator",
        "as_torch",
        "backends",
        "datasets",
        "fft",
        "linalg",
        "optim",
        "serialization",
        "signal",
        "special",
        "testing",
        "vision",
    )
}
_LATE_NAMES = {
    "compile": "autograd.compiled", "load": "serialization", "save": "serialization",
    **dict.fromkeys(
        ("adaptive_avg_pool1d", "avg_pool1d", "channel_shuffle", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
         "max_pool3d", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"),
        "nn.functional",
    ),
}  # fmt: skip

globals().update(_FUNCTIONS)
globals().update(_create.TYPED)
globals().update(_settings.CONSTANTS)

_places.claim()


def __getattr__(name: str) -> _Any:
    """A rare name: its module is loaded now."""
    if name in _LATE_MODULES:
        value: _Any = _import_module(f"{__package__}.{name}")
        _places.claim()
    elif name in _LATE_NAMES:
        value = getattr(_import_module(f"{__package__}.{_LATE_NAMES[name]}"), name)
        _places.claim()
    else:
        value = _late.function(name)
        if value is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_late.HOMES, *_LATE_MODULES, *_LATE_NAMES})
