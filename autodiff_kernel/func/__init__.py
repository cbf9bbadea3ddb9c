"""torch.func: functions in, derivative functions and batched functions out."""

from .forward import jvp as jvp
from .forward import linearize as linearize
from .jacobians import hessian as hessian
from .jacobians import jacfwd as jacfwd
from .jacobians import jacrev as jacrev
from .modules import functional_call as functional_call
from .modules import stack_module_state as stack_module_state
from .reverse import grad as grad
from .reverse import grad_and_value as grad_and_value
from .reverse import vjp as vjp
from .vectorize import vmap as vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
