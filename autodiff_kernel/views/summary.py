"""A model's layers as a table, the way torchinfo prints them: output shapes, parameters, bytes."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from autodiff_kernel.core import dtype as dtypes
from autodiff_kernel.core.api import FUNCTIONS
from autodiff_kernel.core.generator import get_rng_state, set_rng_state
from autodiff_kernel.core.modes import no_grad
from autodiff_kernel.core.tensor import Tensor

from .result import Result
from .style import CARD, INK, MONO, card_html, clip, escape_xml, printable

MOST = 400  # rows shown; a network that runs a layer a thousand times is told by its first calls
COLUMNS = {
    "input_size": "Input Shape",
    "output_size": "Output Shape",
    "num_params": "Param #",
    "kernel_size": "Kernel Shape",
    "mult_adds": "Mult-Adds",
    "trainable": "Trainable",
}


@dataclass
class Layer:
    """One call of a module, or a container that is not called itself (`output` is None)."""

    path: str
    kind: str
    depth: int
    number: int = 0
    leaf: bool = True
    input: tuple[int, ...] | None = None
    output: tuple[int, ...] | None = None
    bytes: int = 0
    kernel: str = "--"
    mult_adds: int = 0
    again: bool = False
    parameters: dict[int, tuple[int, bool]] = field(
        default_factory=dict
    )  # identity: how many, trained or not
    told: str = ""  # its parameters, as they are printed
    trained: str = "--"

    @property
    def size(self) -> int:
        return sum(n for n, _ in self.parameters.values())


@dataclass
class SummaryView:
    """The rows of a model, and what they add up to; the sizes are in bytes."""

    layers: tuple[Layer, ...]
    columns: tuple[str, ...]
    width: int
    rows: tuple[str, ...]
    ran: bool
    parameters: int = 0
    trainable: int = 0
    mult_adds: int = 0
    input_bytes: int = 0
    output_bytes: int = 0
    parameter_bytes: int = 0


def summary(
    model: Any,
    input_size: Sequence[Any] | None = None,
    input_data: Any = None,
    *,
    batch_dim: int | None = None,
    col_names: Sequence[str] | None = None,
    col_width: int = 25,
    depth: int = 3,
    device: Any = None,
    dtypes: Sequence[Any] | None = None,
    mode: str = "eval",
    row_settings: Sequence[str] = ("depth",),
    verbose: int | None = None,
    **kwargs: Any,
) -> Result:
    """Run a model once and list its layers in the order in which they were called, as torchinfo does.

    input_size: the shape of its input, batch included, or a list of shapes; batch_dim: where to put a batch of one in a shape
    without it.  input_data: an input of your own instead (a tensor, a list of arguments, a dict of named ones).
    Without both the model is not run and only parameters are shown.  col_names: of "input_size", "output_size", "num_params",
    "kernel_size", "mult_adds", "trainable"; row_settings: of "depth", "var_names"; dtypes, device: of the inputs.
    verbose: 1 prints (as a script does by itself), 0 does not (as a notebook does by itself).  kwargs go to the model.

    The run leaves no trace: no gradients, the model's modes and buffers and torch's random numbers as they were.
    Multiplications are counted as torchinfo does: a layer's parameters for each sample, of convolutions for each place
    too, of recurrent layers for each step too.

    Raises RuntimeError if the model fails, naming the layer; TypeError or ValueError for what is no model, no shape or
    no column.

    >>> import autodiff_kernel as torch
    >>> print(summary(torch.nn.Linear(3, 2), (5, 3), verbose=0).text.splitlines()[3])
    Linear                                   [5, 2]                    8
    """
    if not callable(getattr(type(model), "named_modules", None)):
        raise TypeError(f"summary(): the first argument is a model (nn.Module), got {type(model).__name__}")
    inputs = _inputs(model, input_size, input_data, batch_dim, device, dtypes)
    columns = tuple(col_names or (("output_size", "num_params") if inputs is not None else ("num_params",)))
    for name in columns:
        if name not in COLUMNS:
            raise ValueError(f"summary(): no column {name!r}; there are {', '.join(COLUMNS)}")
    if mode not in ("eval", "train", "same"):
        raise ValueError(f"summary(): mode is 'eval', 'train' or 'same', got {mode!r}")
    layers = _static(model) if inputs is None else _run(model, *inputs, kwargs, mode)
    view = _counted(model, layers, columns, col_width, depth, tuple(row_settings), inputs)
    result = Result(
        view,
        text=_text,
        html=lambda v: card_html(_pre(_text(v))),
        alt=f"{len(view.layers)} layers, {view.parameters:,} parameters, {view.trainable:,} of them trainable",
    )
    if verbose if verbose is not None else not hasattr(sys, "ps1"):
        print(result.text)
    return result


# ------------------------------------------------------------------------------------------------------- the inputs
def _inputs(
    model: Any, size: Any, data: Any, batch: int | None, device: Any, kinds: Sequence[Any] | None
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments to call the model with; None if there are none."""
    if data is not None:
        if isinstance(data, dict):
            return [], data
        return (list(data) if isinstance(data, list | tuple) else [data]), {}
    if size is None:
        return None
    shapes = [size] if all(isinstance(n, int) for n in size) else list(size)
    try:
        shapes = [tuple(int(n) for n in shape) for shape in shapes]
    except (TypeError, ValueError):
        raise ValueError(
            f"summary(): input_size is a shape like (64, 1, 28, 28) or a list of shapes, got {size!r}"
        ) from None
    if batch is not None:
        shapes = [(*shape[:batch], 1, *shape[batch:]) for shape in shapes]
    first = next(iter(model.parameters()), None)
    where = device if device is not None or first is None else first.device
    state = get_rng_state()
    try:
        made = [FUNCTIONS["rand"](*shape) for shape in shapes]
    finally:
        set_rng_state(state)
    wanted = list(kinds) if kinds is not None else [dtypes.float32] * len(made)
    return [x.to(device=where, dtype=kind) for x, kind in zip(made, wanted)], {}


# ---------------------------------------------------------------------------------------------------------- the run
def _named(model: Any) -> dict[int, str]:
    """Each module's path below the model: '' for the model itself."""
    return {id(module): name for name, module in reversed(list(model.named_modules()))}


def _layer(module: Any, path: str) -> Layer:
    """A row for a module."""
    parameters = {id(p): (p.numel(), bool(p.requires_grad)) for p in module.parameters()}
    leaf = next(iter(module.children()), None) is None
    made = Layer(
        path, type(module).__name__, len(path.split(".")) if path else 0, leaf=leaf, parameters=parameters
    )
    kernel = getattr(module, "kernel_size", None)
    if kernel is not None:
        made.kernel = str(list(kernel)) if isinstance(kernel, tuple) else str(kernel)
    if parameters:
        flags = {trained for _, trained in parameters.values()}
        made.trained = "Partial" if len(flags) > 1 else str(flags.pop())
    return made


def _static(model: Any) -> list[Layer]:
    """Every module once, in the order of the tree."""
    return [_layer(module, path) for path, module in model.named_modules()]


def _run(
    model: Any, args: list[Any], named: dict[str, Any], kwargs: dict[str, Any], mode: str
) -> list[Layer]:
    """The rows of one run, in the order of the calls."""
    paths, layers, open_calls, handles = _named(model), [], [], []  # type: ignore[var-annotated]
    modules = dict(model.named_modules())

    def before(module: Any, given: Any) -> None:
        path = paths[id(module)]
        for above in _missing(path, [layer.path for layer in layers]):
            layers.append(_layer(modules[above], above))
        layer = _layer(module, path)
        first = next((x for x in given if isinstance(x, Tensor)), None) if isinstance(given, tuple) else None
        layer.input = None if first is None else tuple(first.shape)
        layers.append(layer)
        open_calls.append(layer)

    def after(module: Any, given: Any, out: Any) -> None:
        layer = open_calls.pop()
        value = _first_tensor(out)
        if value is not None:
            layer.output = tuple(value.shape)
            layer.bytes = value.numel() * value.element_size()
        layer.mult_adds = _mult_adds(module, layer)

    modes = [(module, module.training) for module in model.modules()]
    buffers = [(b, b.clone()) for b in model.buffers()] if mode != "eval" else []
    state = get_rng_state()
    try:
        for module in model.modules():
            handles += [module.register_forward_pre_hook(before), module.register_forward_hook(after)]
        if mode != "same":
            model.train(mode == "train")
        with no_grad():
            model(*args, **named, **kwargs)
    except Exception as error:
        raise RuntimeError(_failure(model, layers, open_calls, error)) from error
    finally:
        for handle in handles:
            handle.remove()
        for module, training in modes:
            module.training = training
        for buffer, was in buffers:
            buffer.copy_(was)
        set_rng_state(state)
    return layers


def _missing(path: str, so_far: list[str]) -> list[str]:
    """The containers on the way to a module that no row stands for yet: a ModuleList is not called itself."""
    parts = path.split(".")
    above = [".".join(parts[:n]) for n in range(1, len(parts))]
    return [name for name in above if name not in so_far]


def _first_tensor(x: Any) -> Tensor | None:
    """The tensor whose shape stands for an output: the first one in it."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, dict):
        x = list(x.values())
    elif not isinstance(x, list | tuple):
        x = [getattr(x, "data", None)]
    found = (_first_tensor(item) for item in x) if isinstance(x, list | tuple) else ()
    return next((item for item in found if item is not None), None)


def _mult_adds(module: Any, layer: Layer) -> int:
    """Multiplications with parameters: torchinfo's rule."""
    out = layer.output
    if not out or not layer.leaf:
        return 0
    total = 0
    for name, p in module.named_parameters():
        if name in ("weight", "bias"):
            total += p.numel() * (math.prod((*out[:1], *out[2:])) if "Conv" in layer.kind else out[0])
        elif "weight" in name or "bias" in name:
            total += p.numel() * math.prod(out[:2])
    return total


def _failure(model: Any, layers: list[Layer], open_calls: list[Layer], error: Exception) -> str:
    """What to say about a model that failed: in which layer, and what had gone well."""
    where = open_calls[-1] if open_calls else None
    at = "before its first layer" if where is None else f"in {where.path or 'forward()'} ({where.kind})"
    shape = (
        f", whose input had shape {list(where.input)}"
        if where is not None and where.input is not None
        else ""
    )
    done = [f"{x.path} {list(x.output)}" for x in layers if x.output is not None][-5:]
    before = f"\nWhat ran before it: {', '.join(done)}" if done else ""
    return (
        f"Failed to run the model: it stopped {at}{shape}: {type(error).__name__}: {str(error).splitlines()[0]}{before}\n"
        "What to do: check input_size (batch included) and dtypes, or pass input_data=."
    )


# -------------------------------------------------------------------------------------------------------- the table
def _counted(
    model: Any,
    layers: list[Layer],
    columns: tuple[str, ...],
    width: int,
    depth: int,
    rows: tuple[str, ...],
    inputs: Any,
) -> SummaryView:
    """Number the rows, say of each what its parameters are, and add up."""
    seen: set[str] = set()
    numbers: dict[int, int] = {}
    for i, layer in enumerate(layers):
        layer.again = layer.path in seen
        seen.add(layer.path)
        numbers[layer.depth] = numbers.get(layer.depth, 0) + 1
        layer.number = numbers[layer.depth]
        layer.told = _told(layer, layers[i + 1 :], layer.depth == depth)
        if layer.depth == depth and not layer.leaf:
            layer.mult_adds = sum(x.mult_adds for x in _beneath(layer, layers[i + 1 :]))
    parameters = list({id(p): p for p in model.parameters()}.values())
    leaves = [layer for layer in layers if layer.leaf]
    view = SummaryView(
        tuple(layer for layer in layers if layer.depth <= depth), columns, width, rows, inputs is not None
    )
    view.parameters = sum(p.numel() for p in parameters)
    view.trainable = sum(p.numel() for p in parameters if p.requires_grad)
    view.parameter_bytes = sum(p.numel() * p.element_size() for p in parameters)
    view.mult_adds = sum(layer.mult_adds for layer in leaves)
    view.output_bytes = sum(2 * layer.bytes for layer in leaves if layer.parameters)
    if inputs is not None:
        tensors = [x for x in (*inputs[0], *inputs[1].values()) if isinstance(x, Tensor)]
        view.input_bytes = sum(x.numel() * x.element_size() for x in tensors)
    return view


def _beneath(layer: Layer, later: list[Layer]) -> list[Layer]:
    """The rows that belong to a row: those that follow it and lie deeper."""
    found = []
    for other in later:
        if other.depth <= layer.depth:
            break
        found.append(other)
    return found


def _told(layer: Layer, later: list[Layer], cut: bool) -> str:
    """A row's parameters: all of them at the end of a branch, else those that no row beneath has."""
    if not layer.parameters:
        return "--"
    if layer.again:
        return "(recursive)"
    if layer.leaf or cut:
        return (
            f"{layer.size:,}"
            if any(trained for _, trained in layer.parameters.values())
            else f"({layer.size:,})"
        )
    left = dict(layer.parameters)
    for other in _beneath(layer, later):
        for key in other.parameters:
            left.pop(key, None)
    rest = sum(n for n, _ in left.values())
    return f"{rest:,}" if rest else "--"


def _cell(layer: Layer, column: str) -> str:
    if column == "num_params":
        return layer.told
    if column in ("input_size", "output_size"):
        shape = layer.input if column == "input_size" else layer.output
        return "--" if shape is None else str(list(shape))
    if column == "kernel_size":
        return layer.kernel
    if column == "trainable":
        return layer.trained
    return f"{layer.mult_adds:,}" if layer.mult_adds else "--"


def _title(layer: Layer, rows: tuple[str, ...]) -> str:
    """A row's first column: its place in the tree, its class, and its number or name."""
    branch = "" if layer.depth == 0 else "├─" if layer.depth == 1 else "│    " * (layer.depth - 1) + "└─"
    name = layer.path.rpartition(".")[2] or layer.kind
    told = layer.kind + (f" ({clip(printable(name), 40)})" if "var_names" in rows else "")
    return branch + told + (f": {layer.depth}-{layer.number}" if "depth" in rows and layer.depth else "")


def _text(view: SummaryView) -> str:
    """The table, as torchinfo prints it."""
    words = "type" + (" (var_name)" if "var_names" in view.rows else "")
    head = f"Layer ({words}{':depth-idx' if 'depth' in view.rows else ''})"
    titles = [_title(layer, view.rows) for layer in view.layers[:MOST]]
    first = max(40, *(len(title) + 1 for title in (*titles, head)))
    line = "=" * (first + view.width * len(view.columns))
    heads = "".join(f"{COLUMNS[name]:<{view.width}} " for name in view.columns)
    out = [line, f"{head:<{first}} {heads}".rstrip(), line]
    for layer, title in zip(view.layers, titles):
        cells = "".join(f"{_cell(layer, name):<{view.width}} " for name in view.columns)
        out.append(f"{title:<{first}} {cells}".rstrip())
    if len(view.layers) > MOST:
        out.append(f"… and {len(view.layers) - MOST:,} more rows")
    out += [
        line,
        f"Total params: {view.parameters:,}",
        f"Trainable params: {view.trainable:,}",
        f"Non-trainable params: {view.parameters - view.trainable:,}",
    ]
    if view.ran:
        sizes = (view.input_bytes, view.output_bytes, view.parameter_bytes)
        titles = ["Input size", "Forward/backward pass size", "Params size", "Estimated Total Size"]
        letter, unit = next(u for u in (("T", 1e12), ("G", 1e9), ("M", 0)) if view.mult_adds >= u[1])
        out += [f"Total mult-adds ({letter}): {view.mult_adds / (unit or 1e6):.2f}", line]
        out += [f"{title} (MB): {size / 1e6:.2f}" for title, size in zip(titles, (*sizes, sum(sizes)))]
    return "\n".join([*out, line])


def _pre(text: str) -> str:
    style = f"font-family:{MONO};font-size:12px;line-height:1.35;background:{CARD};color:{INK};margin:0;overflow:auto"
    return f"<pre style='{style}'>{escape_xml(text)}</pre>"
