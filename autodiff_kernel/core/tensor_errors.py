"""What a tensor refuses, in PyTorch's phrases, with what to write instead.

Each function makes one exception; `tensor.py` raises them.  `topic` is for explanations (see errors.py).
"""

from typing import Any, TypeVar

from .errors import explain

E = TypeVar("E", bound=BaseException)


def numpy_of_a_graph(t: Any) -> RuntimeError:
    return explain(
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        "NumPy does not record operations, so the graph would end here without notice.",
        "x.detach().numpy() where the gradient is not wanted (for a plot, say).",
        tensor=t,
        topic="numpy of a graph",
    )


def numpy_of_bfloat16(x: Any) -> TypeError:
    return explain(
        TypeError,
        "Got unsupported ScalarType BFloat16",
        "NumPy has no bfloat16 of its own.",
        "x.float().numpy().",
        tensor=x,
    )


def numpy_of_a_gpu(t: Any) -> TypeError:
    return explain(
        TypeError,
        f"can't convert {t.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
        "memory first.",
        tensor=t,
        topic="numpy of a GPU",
    )


def deepcopy_of_a_result(t: Any) -> RuntimeError:
    return explain(
        RuntimeError,
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
        "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
        "see https://github.com/pytorch/pytorch/pull/103001",
        "This tensor was computed: a copy would need a copy of the graph behind it.",
        "x.detach().clone() copies the values; x.clone() makes a copy that the graph knows.",
        tensor=t,
        node=t.node,
        topic="deepcopy of a result",
    )


def flag_of_a_result(t: Any) -> RuntimeError:
    return explain(
        RuntimeError,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
        "in a subgraph that doesn't require differentiation use var_no_grad = var.detach().",
        cure="use x.detach(), which has the values without the history.",
        node=t.node,
        tensor=t,
        topic="flag of a result",
    )


def whole_numbers(
    t: Any, phrase: str = "only Tensors of floating point dtype can require gradients"
) -> RuntimeError:
    return explain(
        RuntimeError,
        phrase,
        f"This one is {t.dtype}: whole numbers and truth values cannot change by a little.",
        "make it a floating point tensor, for example torch.tensor([1., 2.]) or x.float().",
        tensor=t,
        topic="whole numbers asked",
    )


def one_of_many(t: Any, kind: type[E], phrase: str, summary: str = "") -> E:
    return explain(
        kind,
        phrase,
        summary,
        "index one element first, reduce it (sum, mean), or use .tolist().",
        tensor=t,
        topic="one number of many",
    )


def truth_of_many(t: Any) -> RuntimeError:
    return explain(
        RuntimeError,
        "Boolean value of Tensor with more than one value is ambiguous",
        cure="ask .any() or .all(), or compare one element.",
        tensor=t,
        topic="truth of many",
    )


def other_grad(kind: type[E], phrase: str, cure: str) -> E:
    """For `x.grad = g` with a g that does not go with x."""
    return explain(
        kind, phrase, "A gradient has a number of the same kind for each number of its tensor.", cure
    )


def no_dimensions(t: Any, phrase: str) -> TypeError:
    return explain(
        TypeError,
        phrase,
        "A 0-d tensor is a single number.",
        "x.item() for the number; x.reshape(1) makes it a tensor with one element.",
        tensor=t,
        topic="index of a number",
    )


def real(number: Any, kind: str) -> Any:
    """A number for Python's int() or float(): RuntimeError for a complex one with an imaginary part."""
    if number.__class__ is not complex:
        return number
    if number.imag:
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return number.real
