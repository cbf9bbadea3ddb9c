"""torch.autograd: gradients of what was computed."""

import warnings as _warnings
from collections.abc import Sequence
from typing import Any

from ..core import backward as _engine
from ..core import batched as _batches
from ..core.edges import GradientEdge as _GradientEdge
from ..core.edges import arrivals as _arrivals
from ..core.edges import as_root as _as_root
from ..core.errors import explain as _explain
from ..core.levels import vmapping as _vmapping
from ..core.op import TABLE as _TABLE
from ..core.tensor import Tensor
from ..core.wrappers import samples as _samples
from . import anomaly_mode as anomaly_mode
from . import forward_ad as forward_ad
from . import function as function
from . import functional as functional
from . import grad_mode as grad_mode
from . import graph as graph
from . import variable as variable
from .anomaly_mode import detect_anomaly as detect_anomaly
from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
from .function import Function as Function
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import is_multithreading_enabled as is_multithreading_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .grad_mode import set_multithreading_enabled as set_multithreading_enabled
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck
from .variable import Variable as Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]


def _listed(x: Any) -> list[Any]:
    return [x] if isinstance(x, (Tensor, _GradientEdge)) or x is None else list(x)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of the tensors for all leaves (or for `inputs`) to their `.grad`.

    grad_tensors: a cotangent of each tensor's shape; None for tensors of one element.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> torch.autograd.backward([x.sum(), (x * x).sum()]); x.grad
    tensor([3., 5.])
    """
    if grad_variables is not None:  # its name in PyTorch 0.3
        _warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    roots = [_as_root(x) for x in _listed(tensors)]
    gradients = [None] * len(roots) if grad_tensors is None else _listed(grad_tensors)
    _engine.backward(roots, gradients, retain_graph, create_graph, inputs)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the outputs (summed) for each input, as a tuple; no `.grad` is touched.

    With `create_graph` the gradients can be differentiated again.  An input that the outputs do not depend on is an
    error, or gives None with `allow_unused`, or zeros with `materialize_grads`.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> g, = torch.autograd.grad(x ** 3, x, create_graph=True)
    >>> g, torch.autograd.grad(g, x)
    (tensor(12., grad_fn=<MulBackward0>), (tensor(12.),))
    """
    roots: Sequence[Any] = [_as_root(x) for x in _listed(outputs)]
    wanted = _listed(inputs)
    gradients = [None] * len(roots) if grad_outputs is None else _listed(grad_outputs)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    for i, x in enumerate(wanted):
        if isinstance(x, _GradientEdge):
            wanted[i] = _arrivals(x, roots)[0]
    if is_grads_batched:
        return _batched(
            roots, wanted, gradients, retain_graph, create_graph, bool(allow_unused), materialize_grads
        )
    out = _engine.grad(
        roots, wanted, gradients, retain_graph, create_graph, bool(allow_unused) or materialize_grads
    )
    if materialize_grads:
        out = tuple(_zeros(x, create_graph) if g is None else g for x, g in zip(wanted, out))
    return out


def _batched(
    roots: Any, wanted: Any, gradients: Any, retain: Any, create_graph: bool, unused: bool, materialize: bool
) -> tuple[Any, ...]:
    """The gradients for each entry of the cotangents' first dimension, in one walk: a vmap over cotangents."""
    given = [g for g in gradients if isinstance(g, Tensor)]
    if not given:
        raise _explain(
            RuntimeError,
            "grad can be implicitly created only for scalar outputs",
            "With is_grads_batched=True there is one gradient for each cotangent, and no cotangents were given.",
            "pass grad_outputs=, a tensor whose first dimension counts the cotangents.",
        )
    if any(not g.raw.ndim for g in given):
        raise IndexError(
            "invalid index of a 0-dim tensor: with is_grads_batched=True the first dimension of grad_outputs counts the "
            "cotangents"
        )
    sizes = [g.raw.shape[0] for g in given]
    size = sizes[0]
    if any(n != size for n in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            "dimension"
        )
    for i, (y, g) in enumerate(zip(roots, gradients)):
        if isinstance(g, Tensor) and g.raw.shape[1:] != y.raw.shape:
            raise _explain(
                RuntimeError,
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
                "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
                f"mismatch was detected: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {y.shape}.",
                "Each entry of the first dimension is a cotangent of its own.",
                f"pass a tensor of shape {[len(g.raw) if g.raw.ndim else 1, *y.raw.shape]}, or of another first size.",
            )
    with _vmapping(size) as v:
        cotangents = [None if g is None else _batches.make(g, v.level) for g in gradients]
        out = _engine.grad(roots, wanted, cotangents, retain, create_graph, unused or materialize)
        found = [None if g is None else _samples(g, v.level, size) for g in out]
    if materialize:
        found = [_zeros(x, create_graph) if g is None else g for x, g in zip(wanted, found)]
    return tuple(found)


def _zeros(x: Any, create_graph: bool) -> Any:
    """The gradient of an input that nothing depends on; with `create_graph` a leaf that can be differentiated."""
    zeros = _TABLE["zeros_like"](x.detach())
    return zeros.requires_grad_() if create_graph and not zeros.is_dual else zeros
