"""The functions of convolution: conv1d, conv2d, conv3d, the transposed ones, and how PyTorch checks their arguments."""

from typing import Any, NoReturn

from ..api import public
from ..errors import explain
from ..op import TABLE
from ..tensor import Tensor
from .convolution import Geometry, convolution_input, convolution_plain, transposed
from .convolution import convolution as convolution_row
from .forms import refuse
from .products import C_NAMES

LETTERS = ("depth", "height", "width")


# ------------------------------------------------------------------------------------------------ arguments
def combination(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    """PyTorch's TypeError where no signature fits."""
    given = [type(x).__name__ for x in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
    raise TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(given)}), but expected one of:\n"
        " * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints padding = 0, "
        "tuple of ints dilation = 1, int groups = 1)\n"
        ' * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, str padding = "valid", '
        "tuple of ints dilation = 1, int groups = 1)"
    )


def is_whole(x: Any) -> bool:
    return (
        isinstance(x, int) and not isinstance(x, bool) or hasattr(x, "__index__") and not isinstance(x, bool)
    )


def each_dim(x: Any, what: str, n: int, name: str, message: str = "") -> tuple[int, ...]:
    """One number for every spatial dimension."""
    if is_whole(x):
        return (int(x),) * n
    if not isinstance(x, (tuple, list)) or not all(map(is_whole, x)):
        raise TypeError(f"{name}(): argument '{what}' must be tuple of ints, not {type(x).__name__}")
    if len(x) == 1:
        return (int(x[0]),) * n
    if len(x) != n:
        raise RuntimeError(
            message
            or f"expected {what} to be a single integer value or a list of {n} values to match the convolution "
            f"dimensions, but got {what}={list(x)}"
        )
    return tuple(int(v) for v in x)


def check_types(x: Any, w: Any, b: Any) -> None:
    a, c = x.raw.dtype, w.raw.dtype
    if a.kind == "b":
        refuse("slow_conv2d_cpu", x.raw)
    if a != c:
        if a.kind not in "fc":
            raise explain(
                RuntimeError,
                f"expected scalar type {x.dtype.scalar_type} but found {w.dtype.scalar_type}",
                f"The input holds {a.name} and the weight {c.name}; a convolution does not convert.",
                "give the input as numbers of the weight's dtype: x.float().",
                topic="two dtypes", dtypes=(a.name, c.name),
            )  # fmt: skip
        raise explain(
            RuntimeError,
            f"Input type ({x.type()}) and weight type ({w.type()}) should be the same",
            f"The input holds {a.name} and the weight {c.name}; a convolution does not convert.",
            f"convert one of them first, for example with .to(torch.{c.name}).",
            topic="two dtypes", dtypes=(a.name, c.name),
        )  # fmt: skip
    if b is not None and b.raw.dtype != a:
        names = [C_NAMES.get(d.name, d.name) for d in (a, b.raw.dtype)]
        raise explain(
            RuntimeError, f"Input type ({names[0]}) and bias type ({names[1]}) should be the same",
            topic="two dtypes", dtypes=(a.name, b.raw.dtype.name),
        )  # fmt: skip


def check_channels(x: tuple[int, ...], w: tuple[int, ...], b: Any, groups: int, turned: bool) -> None:
    """Do the channels of input, weight and bias fit?"""
    out = w[1] * groups if turned else w[0]
    want = w[0] if turned else w[1] * groups
    given = f"transposed={int(turned)}" if turned else f"groups={groups}"
    if w[0] < groups or not turned and w[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be "
            + (
                f"at least {groups} at dimension 0"
                if w[0] < groups
                else f"divisible by {groups} at dimension 0"
            )
            + f", but got weight of size [{list(w)}] instead"
        )
    if x[1] != want or turned and want % groups:
        raise explain(
            RuntimeError,
            f"Given {given}, weight of size {list(w)}, expected input{list(x)} to have {want} channels, but got {x[1]} "
            "channels instead",
            f"Dimension 1 of the input counts its channels ({x[1]}); this layer was made for {want}.",
            f"a layer with {x[1]} input channels; or look at the input's shape: it is (samples, channels, …), and images "
            "from a file often have their channels last (x.permute(0, 3, 1, 2)).",
            topic="channels", shapes=(x, w),
        )  # fmt: skip
    if b is not None and b != (out,):
        raise explain(
            RuntimeError,
            f"Given {'transposed=1, ' if turned else ''}weight of size {list(w)}, expected bias to be 1-dimensional with "
            f"{out} elements, but got bias of size {list(b)} instead",
            cure="one number for each output channel.",
        )


def no_room(size: Any, kernel: Any) -> RuntimeError:
    sizes = [" x ".join(map(str, s)) for s in (size, kernel)]
    return explain(
        RuntimeError,
        f"Calculated padded input size per channel: ({sizes[0]}). Kernel size: ({sizes[1]}). Kernel size can't be greater "
        "than actual input size",
        "The window does not fit into the input once.",
        "a smaller kernel, more padding, or fewer layers before that halve the image.",
        topic="kernel", sizes=(tuple(size), tuple(kernel)),
    )  # fmt: skip


def same_padding(kernel: tuple[int, ...], dilation: tuple[int, ...]) -> list[tuple[int, int]]:
    """The zeros before and behind with which the result has the input's size; the odd one goes behind."""
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return [(t // 2, t - t // 2) for t in total]


# ------------------------------------------------------------------------------------------------ the functions
def convolve(
    name: str,
    n: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    """A convolution of n spatial dimensions."""
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        combination(name, input, weight)
    if not isinstance(padding, str) and not is_whole(padding) and not isinstance(padding, (tuple, list)):
        combination(name, input, weight, padding=padding)
    x, w = input.raw.shape, weight.raw.shape
    if len(x) not in (n + 1, n + 2):
        raise wrong_dims(name, n, x)
    if len(w) != n + 2:
        raise explain(
            RuntimeError,
            f"expected {name}'s weight to have {n + 2} dimensions (out channels, in channels / groups, kernel), but got "
            f"weight of size {list(w)}",
        )
    unbatched = len(x) == n + 1
    strides, dilations = each_dim(stride, "stride", n, name), each_dim(dilation, "dilation", n, name)
    kernel = w[2:]
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        if padding == "same" and any(s != 1 for s in strides):
            raise explain(
                RuntimeError, "padding='same' is not supported for strided convolutions",
                cure="give padding as numbers.",
            )  # fmt: skip
        sides = same_padding(kernel, dilations) if padding == "same" else [(0, 0)] * n
    else:
        sides = [(p, p) for p in each_dim(padding, "padding", n, name)]
    check_numbers(strides, sides, dilations, groups)
    batched = (1, *x) if unbatched else x
    check_channels(batched, w, None if bias is None else bias.raw.shape, groups, False)
    check_types(input, weight, bias)
    padded = [s + a + b for s, (a, b) in zip(batched[2:], sides)]
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations)]
    if any(r > s for r, s in zip(reach, padded)):
        raise no_room(padded, reach)
    if 0 in batched[2:] and batched[0] and batched[1]:
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {list(batched)}"
        )
    out = tuple((s - r) // t + 1 for s, r, t in zip(padded, reach, strides))
    p = Geometry(strides, tuple(a for a, _ in sides), dilations, groups, batched[2:], kernel, out)
    return run(convolution_row, convolution_plain, input, weight, bias, p, unbatched)


def run(full: Any, plain: Any, input: Any, weight: Any, bias: Any, p: Geometry, unbatched: bool) -> Any:
    """The row with a bias or without, on one sample as on a batch of one."""
    x = TABLE["unsqueeze"](input, p=0) if unbatched else input
    y = plain(x, weight, p=p) if bias is None else full(x, weight, bias, p=p)
    return y.squeeze(0) if unbatched else y


def wrong_dims(name: str, n: int, shape: tuple[int, ...]) -> RuntimeError:
    places = ("length", "height, width", "depth, height, width")[n - 1]
    return explain(
        RuntimeError,
        f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {list(shape)}",
        f"An input is (samples, channels, {places}), or one sample without the first.",
        "x.unsqueeze(1) adds channels of one to a batch of gray images." if n == 2 else "reshape the input.",
        topic="dimensions", shapes=(shape,),
    )  # fmt: skip


def check_numbers(strides: Any, sides: Any, dilations: Any, groups: int) -> None:
    for what, numbers in (("groups", (groups,)), ("stride", strides), ("dilation", dilations)):
        if any(v <= 0 for v in numbers):
            raise RuntimeError(f"non-positive {what} is not supported")
    if any(v < 0 for pair in sides for v in pair):
        raise RuntimeError("negative padding is not supported")


def spread(
    name: str, n: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, more: Any, groups: int,
    dilation: Any,
) -> Tensor:  # fmt: skip
    """A transposed convolution of n spatial dimensions; `more` is the output padding."""
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        combination(name, input, weight)
    x, w = input.raw.shape, weight.raw.shape
    if len(x) not in (n + 1, n + 2):
        raise wrong_dims(name, n, x)
    if len(w) != n + 2:
        raise explain(
            RuntimeError,
            f"expected {name}'s weight to have {n + 2} dimensions (in channels, out channels / groups, kernel), but got "
            f"weight of size {list(w)}",
        )
    unbatched = len(x) == n + 1
    strides, dilations = each_dim(stride, "stride", n, name), each_dim(dilation, "dilation", n, name)
    pads, extra = each_dim(padding, "padding", n, name), each_dim(more, "output_padding", n, name)
    check_numbers(strides, [(v, v) for v in pads], dilations, groups)
    if any(v < 0 for v in extra):
        raise RuntimeError("negative output_padding is not supported")
    batched = (1, *x) if unbatched else x
    check_channels(batched, w, None if bias is None else bias.raw.shape, groups, True)
    check_types(input, weight, bias)
    if any(e >= s and e >= d for e, s, d in zip(extra, strides, dilations)):
        names = LETTERS[3 - n :]
        said = [
            f"{what}_{place}: {v}"
            for what, values in (("output_padding", extra), ("stride", strides), ("dilation", dilations))
            for place, v in zip(names, values)
        ]
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got {' '.join(said)}"
        )
    kernel, small = w[2:], batched[2:]
    large = tuple(
        (s - 1) * t - 2 * a + d * (k - 1) + e + 1
        for s, t, a, d, k, e in zip(small, strides, pads, dilations, kernel, extra)
    )
    if any(v <= 0 for v in large):
        raise RuntimeError(
            f"Given input size per channel: {list(small)}. Calculated output size per channel: {list(large)}. Output size "
            "is too small"
        )
    p = Geometry(strides, pads, dilations, groups, large, kernel, small)
    return run(transposed, convolution_input, input, weight, bias, p, unbatched)


@public(method=False)
def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Weighted sums of the values under a window that slides along a sequence.

    input: (N, C, L) or (C, L); weight: (O, C/groups, K); bias: (O).  The result is (N, O, M) with
    M = (L + 2·padding − dilation·(K − 1) − 1) // stride + 1.  padding: zeros on both sides, 'valid' for none, or 'same'
    for as many as keep the length.  Raises RuntimeError for shapes or dtypes that do not fit.

    >>> import autodiff_kernel as torch
    >>> torch.conv1d(torch.tensor([[1., 2., 4., 8.]]), torch.tensor([[[-1., 1.]]]))
    tensor([[1., 2., 4.]])
    """
    return convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@public(method=False)
def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Weighted sums of the values under a window that slides over an image.

    input: (N, C, H, W) or (C, H, W); weight: (O, C/groups, kH, kW); bias: (O).  stride, padding, dilation: a number, or
    one for each direction; padding may be 'valid' (none) or 'same'.  Raises RuntimeError for shapes or dtypes that do
    not fit.

    >>> import autodiff_kernel as torch
    >>> x = torch.arange(9.).reshape(1, 3, 3)
    >>> torch.conv2d(x, torch.ones(1, 1, 2, 2))
    tensor([[[ 8., 12.],
             [20., 24.]]])
    """
    return convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@public(method=False)
def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Weighted sums of the values under a window that slides through a volume.

    input: (N, C, D, H, W) or (C, D, H, W); weight: (O, C/groups, kD, kH, kW); bias: (O).

    >>> import autodiff_kernel as torch
    >>> torch.conv3d(torch.ones(1, 2, 2, 2), torch.ones(1, 1, 2, 2, 2))
    tensor([[[[8.]]]])
    """
    return convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


@public(method=False)
def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Every value spreads the kernel, times itself, over its window: what a convolution's backward does to gradients.

    input: (N, C, L) or (C, L); weight: (C, O/groups, K); bias: (O).

    >>> import autodiff_kernel as torch
    >>> torch.conv_transpose1d(torch.tensor([[1., 2.]]), torch.tensor([[[1., 10.]]]), stride=2)
    tensor([[ 1., 10.,  2., 20.]])
    """
    return spread(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@public(method=False)
def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Every pixel spreads the kernel, times itself, over its window.

    input: (N, C, H, W) or (C, H, W); weight: (C, O/groups, kH, kW); bias: (O).

    >>> import autodiff_kernel as torch
    >>> torch.conv_transpose2d(torch.tensor([[[1., 2.]]]), torch.ones(1, 1, 1, 2))
    tensor([[[1., 3., 2.]]])
    """
    return spread(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@public(method=False)
def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Every voxel spreads the kernel, times itself, over its window.

    input: (N, C, D, H, W) or (C, D, H, W); weight: (C, O/groups, kD, kH, kW); bias: (O).

    >>> import autodiff_kernel as torch
    >>> torch.conv_transpose3d(torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1, 2))
    tensor([[[[1., 1.]]]])
    """
    return spread(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@public(method=False)
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d of an input (time, batch, channels) with a weight (K, C, O): the channels last.

    >>> import autodiff_kernel as torch
    >>> torch.conv_tbc(torch.ones(3, 1, 1), torch.ones(2, 1, 1), torch.zeros(1)).flatten()
    tensor([2., 2.])
    """
    x, w = input.raw.shape, weight.raw.shape
    if len(x) != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if len(w) != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.raw.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if x[2] != w[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if bias.raw.shape[0] != w[2]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    turned = TABLE["permute"](input, p=(1, 2, 0)), TABLE["permute"](weight, p=(2, 1, 0))
    y = convolve("conv1d", 1, *turned, bias, 1, pad, 1, 1)
    return TABLE["permute"](y, p=(2, 0, 1))  # type: ignore[no-any-return]


@public(method=False)
def convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Tensor:  # fmt: skip
    """A convolution, transposed or not, of as many dimensions as the weight has behind the first two.

    >>> import autodiff_kernel as torch
    >>> torch.convolution(torch.ones(1, 1, 3), torch.ones(1, 1, 2), None, [1], [0], [1], False, [0], 1)
    tensor([[[2., 2.]]])
    """
    n = weight.raw.ndim - 2
    if transposed:
        return spread(
            "convolution", n, input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return convolve("convolution", n, input, weight, bias, stride, padding, dilation, groups)
