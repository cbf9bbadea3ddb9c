"""PyTorch's tensor and autograd API in readable Python over NumPy and CuPy.

    import autodiff_kernel as torch      # the one line that differs

`autodiff_kernel.core` is the engine: the table of rules, the graph, the walk.
"""

import gc as _gc
import warnings as _warnings
from typing import Any

# Import makes many objects and no garbage: a collector that looks for some takes a tenth of the time.
_collects = _gc.isenabled()
_gc.disable()

# PyTorch is silent where NumPy warns (log of 0, overflow).  The user's own NumPy still warns.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autodiff_kernel(\.|$)")

from . import autograd as autograd  # noqa: E402
from . import cuda as cuda  # noqa: E402
from . import func as func  # noqa: E402
from . import linalg as linalg  # noqa: E402
from . import nn as nn  # noqa: E402
from . import random as random  # noqa: E402
from .core import create as _create  # noqa: E402
from .core import draws as _draws  # noqa: E402
from .core import journal as _journal  # noqa: E402
from .core import places as _places  # noqa: E402
from .core import questions as _questions  # noqa: E402
from .core import return_types as return_types  # noqa: E402
from .core import rules as _rules  # noqa: E402
from .core import sequences as _sequences  # noqa: E402
from .core.api import FUNCTIONS as _FUNCTIONS  # noqa: E402
from .core.device import device as device  # noqa: E402
from .core.dtype import *  # noqa: E402, F403
from .core.formats import channels_last as channels_last  # noqa: E402
from .core.formats import channels_last_3d as channels_last_3d  # noqa: E402
from .core.formats import contiguous_format as contiguous_format  # noqa: E402
from .core.formats import layout as layout  # noqa: E402
from .core.formats import memory_format as memory_format  # noqa: E402
from .core.formats import preserve_format as preserve_format  # noqa: E402
from .core.formats import strided as strided  # noqa: E402
from .core.generator import Generator as Generator  # noqa: E402
from .core.generator import default_generator as default_generator  # noqa: E402
from .core.generator import get_rng_state as get_rng_state  # noqa: E402
from .core.generator import initial_seed as initial_seed  # noqa: E402
from .core.generator import manual_seed as manual_seed  # noqa: E402
from .core.generator import seed as seed  # noqa: E402
from .core.generator import set_rng_state as set_rng_state  # noqa: E402
from .core.modes import enable_grad as enable_grad  # noqa: E402
from .core.modes import is_grad_enabled as is_grad_enabled  # noqa: E402
from .core.modes import no_grad as no_grad  # noqa: E402
from .core.modes import set_grad_enabled as set_grad_enabled  # noqa: E402
from .core.scopes import scope as scope  # noqa: E402
from .core.printing import get_printoptions as get_printoptions  # noqa: E402
from .core.printing import printoptions as printoptions  # noqa: E402
from .core.printing import set_printoptions as set_printoptions  # noqa: E402
from .core.tensor import Size as Size  # noqa: E402
from .core.tensor import Tensor as Tensor  # noqa: E402
from .version import __version__ as __version__  # noqa: E402

globals().update(_FUNCTIONS)
globals().update(_create.TYPED)
_ = (_rules, _journal, _draws, _questions, _sequences)

_places.claim()
if _collects:
    _gc.enable()


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext autodiff_kernel` calls."""
    from .jupyter.extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext autodiff_kernel` calls."""
    from .jupyter.extension import unload_ipython_extension as unload

    unload(shell)
