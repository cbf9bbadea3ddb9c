"""Convolution, pooling, borders and resampling: PyTorch's numbers, refusals and nodes, batching, half precision."""

import warnings

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.core.rules import convolution as rows
from autodiff_kernel.core.rules.convolution import Geometry

F = torch.nn.functional


def ramp(*shape, grad=False):
    """Numbers that differ and stay small."""
    n = int(np.prod(shape))
    return torch.tensor((np.arange(n) * 7 % 11 - 5.0).reshape(shape), requires_grad=grad)


# ------------------------------------------------------------------------------------------------ numbers of PyTorch's
def test_a_convolution_with_everything():
    x, w, b = ramp(1, 4, 5, 5, grad=True), ramp(2, 2, 2, 2, grad=True), ramp(2, grad=True)
    y = F.conv2d(x, w, b, stride=2, padding=1, dilation=2, groups=2)
    assert y.shape == (1, 2, 3, 3)
    slow = np.zeros((1, 2, 3, 3))
    padded = np.pad(x.detach().numpy(), ((0, 0), (0, 0), (1, 1), (1, 1)))
    for o, i, j in np.ndindex(2, 3, 3):
        part = padded[0, 2 * o : 2 * o + 2, 2 * i : 2 * i + 3 : 2, 2 * j : 2 * j + 3 : 2]
        slow[0, o, i, j] = (part * w.detach().numpy()[o]).sum() + b[o].item()
    assert y.tolist() == slow.tolist()
    y.sum().backward()
    assert b.grad.tolist() == [9, 9] and x.grad.shape == x.shape and w.grad.shape == w.shape


def test_same_padding_puts_the_odd_zero_behind():
    x, w = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([[[1.0, 10.0, 100.0, 1000.0]]])
    assert F.conv1d(x, w, padding="same").tolist() == [[3210, 4321, 432, 43]]
    assert F.conv1d(x, w, padding="valid").tolist() == [[4321]]


def test_a_transposed_convolution_is_the_gradient_of_a_convolution():
    x, w, g = ramp(2, 3, 7, 6, grad=True), ramp(4, 3, 3, 2), ramp(2, 4, 3, 5)
    F.conv2d(x, w, stride=(2, 1)).backward(g)
    assert F.conv_transpose2d(g, w, stride=(2, 1)).tolist() == x.grad.tolist()


def test_samples_in_turns_give_the_same_as_all_at_once(monkeypatch):
    x, w, g = ramp(5, 2, 6, 6).numpy(), ramp(3, 2, 3, 3).numpy(), ramp(5, 3, 4, 4).numpy()
    p = Geometry((1, 1), (0, 0), (1, 1), 1, (6, 6), (3, 3), (4, 4))
    runs = [(rows._forward, x, w), (rows._to_input, g, w), (rows._to_weight, x, g)]
    whole = [f(a, b, p) for f, a, b in runs]
    monkeypatch.setattr(rows, "MOST", 2 * 2 * 9 * 16)
    for expected, (f, a, b) in zip(whole, runs, strict=True):
        np.testing.assert_array_equal(f(a, b, p), expected)


def test_half_precision_sums_in_single():
    x, w = torch.full((1, 4096, 1), 0.1, dtype=torch.float16), torch.ones(1, 4096, 1, dtype=torch.float16)
    y = F.conv1d(x, w)
    assert y.dtype is torch.float16 and y.item() == 409.5


def test_whole_numbers():
    ones = torch.ones(1, 1, 3, 3, dtype=torch.int64)
    assert F.conv2d(ones, ones, padding=1)[0, 0].tolist() == [[4, 6, 4], [6, 9, 6], [4, 6, 4]]
    assert F.avg_pool2d(ones * -3, 2, divisor_override=8).tolist() == [[[[-1]]]]  # towards zero
    with pytest.raises(NotImplementedError, match="\"slow_conv2d_cpu\" not implemented for 'Bool'"):
        F.conv2d(ones.bool(), ones.bool())


def test_of_equal_elements_the_first_is_the_greatest_and_of_nan_the_last():
    x = torch.tensor([[2.0, 2.0, 1.0, 2.0]], requires_grad=True)
    y, at = F.max_pool1d(x, 2, return_indices=True)
    y.sum().backward()
    assert at.tolist() == [[0, 3]] and x.grad.tolist() == [[1, 0, 0, 1]]
    nan = float("nan")
    assert F.max_pool1d(torch.tensor([[nan, 1.0, nan]]), 3, return_indices=True)[1].tolist() == [[2]]
    low = torch.full((1, 2), -float("inf"))
    assert F.max_pool1d(low, 2, padding=1, return_indices=True)[1].tolist() == [[0, 1]]


def test_interpolation():
    x = torch.tensor([[[1.0, 2.0, 4.0]]])
    assert F.interpolate(x, 5).tolist() == [[[1, 1, 2, 2, 4]]]
    assert F.interpolate(x, 5, mode="nearest-exact").tolist() == [[[1, 1, 2, 4, 4]]]
    assert F.interpolate(x, 5, mode="linear", align_corners=True).tolist() == [[[1, 1.5, 2, 3, 4]]]
    y = F.interpolate(ramp(1, 1, 3, 3), (2, 2), mode="bicubic")
    np.testing.assert_allclose(
        y.flatten().numpy(),
        [-1.53729248046875, -1.126678466796875, 3.724884033203125, -3.0565643310546875],
        rtol=1e-12,
    )


# ------------------------------------------------------------------------------------------------ refusals
X, W = torch.zeros(2, 3, 8, 8), torch.zeros(4, 3, 3, 3)


@pytest.mark.parametrize(
    "kind, text, call",
    [
        (RuntimeError, "weight of size [4, 3, 3, 3], expected input[2, 1, 8, 8] to have 3 channels, but got 1 channels",
         lambda: F.conv2d(X[:, :1], W)),
        (RuntimeError, "expected input[1, 8, 3, 8] to have 3 channels", lambda: F.conv2d(X[0].permute(1, 0, 2), W)),
        (RuntimeError, "Calculated padded input size per channel: (2 x 8). Kernel size: (3 x 3). Kernel size can't be "
         "greater than actual input size", lambda: F.conv2d(X[:, :, :2], W)),
        (RuntimeError, "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [8, 8]",
         lambda: F.conv2d(X[0, 0], W)),
        (RuntimeError, "expected bias to be 1-dimensional with 4 elements, but got bias of size [3]",
         lambda: F.conv2d(X, W, torch.zeros(3))),
        (RuntimeError, "Input type (torch.FloatTensor) and weight type (torch.DoubleTensor) should be the same",
         lambda: F.conv2d(X, W.double())),
        (RuntimeError, "expected scalar type Byte but found Float", lambda: F.conv2d(X.byte(), W)),
        (RuntimeError, "padding='same' is not supported for strided", lambda: F.conv2d(X, W, stride=2, padding="same")),
        (RuntimeError, "Given groups=3, expected weight to be divisible by 3 at dimension 0",
         lambda: F.conv2d(X, W[:, :1], groups=3)),
        (TypeError, "conv2d() received an invalid combination of arguments", lambda: F.conv2d(X, None)),
        (RuntimeError, "Given transposed=1, weight of size [4, 3, 3, 3], expected input[2, 3, 8, 8] to have 4 channels",
         lambda: F.conv_transpose2d(X, W)),
        (RuntimeError, "output padding must be smaller than either stride or dilation",
         lambda: F.conv_transpose2d(X, torch.zeros(3, 1, 2, 2), output_padding=1)),
        (RuntimeError, "Given input size: (3x1x8). Calculated output size: (3x0x4). Output size is too small",
         lambda: F.max_pool2d(X[:, :, :1], 2)),
        (RuntimeError, "pad should be at most half of effective kernel size", lambda: F.avg_pool2d(X, 2, padding=2)),
        (RuntimeError, "Padding size should be less than the corresponding input dimension",
         lambda: F.pad(X, (8, 0, 0, 0), mode="reflect")),
        (ValueError, "either size or scale_factor should be defined", lambda: F.interpolate(X)),
        (NotImplementedError, "Got 4D input, but linear mode needs 3D input", lambda: F.interpolate(X, 2, mode="linear")),
        (NotImplementedError, "antialias=True is not available",
         lambda: F.interpolate(X, 4, mode="bilinear", antialias=True)),
        (RuntimeError, "Found an invalid max index: 9", lambda: F.max_unpool1d(torch.ones(1, 1), torch.tensor([[9]]), 2)),
    ],
)  # fmt: skip
def test_refusals_are_pytorchs(kind, text, call):
    with pytest.raises(kind) as error:
        call()
    assert text in str(error.value)


@pytest.mark.parametrize(
    "layer, x, text",
    [
        (torch.nn.Conv2d(3, 6, 5), torch.zeros(1, 1, 8, 8), "Conv2d(3, 6, kernel_size=(5, 5), stride=(1, 1))"),
        (torch.nn.ConvTranspose1d(3, 6, 5), torch.zeros(1, 1, 8), "ConvTranspose1d(3, 6, kernel_size=(5,), stride=(1,))"),
        (torch.nn.MaxPool1d(9), torch.zeros(1, 1, 8),
         "MaxPool1d(kernel_size=9, stride=9, padding=0, dilation=1, ceil_mode=False)"),
    ],
)  # fmt: skip
def test_errors_name_the_layer(layer, x, text):
    with pytest.raises(RuntimeError) as error:
        torch.nn.Sequential(layer)(x)
    assert str(error.value).endswith(f"The layer is {text}.") and str(error.value).count("The layer") == 1


def test_names_of_the_root():
    x = ramp(1, 4, 4, 4)
    assert torch.max_pool2d(x, 2).tolist() == F.max_pool2d(x, 2).tolist()
    assert torch.pixel_shuffle(x, 2).shape == (1, 1, 8, 8) and torch.avg_pool1d(x[0], 2).shape == (4, 4, 2)


def test_the_size_asked_of_a_transposed_convolution():
    layer, x = torch.nn.ConvTranspose2d(3, 4, 3, stride=2), torch.zeros(2, 3, 4, 4)
    assert layer(x, output_size=(10, 9)).shape == (2, 4, 10, 9)
    with pytest.raises(
        ValueError, match="ConvTranspose2D: for 4D input, output_size must have 2 or 4 elements"
    ):
        layer(x, output_size=(9, 9, 9))
    with pytest.raises(ValueError, match="valid sizes range from"):
        layer(x, output_size=(11, 9))


# ------------------------------------------------------------------------------------------------ nodes and batching
def test_nodes_have_pytorchs_names():
    x = ramp(1, 2, 4, 4, grad=True)
    made = [
        F.conv2d(x, ramp(3, 2, 2, 2)), F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 3),
        F.adaptive_avg_pool2d(x, 1), F.interpolate(x, 3), F.interpolate(x, 3, mode="bilinear"), F.pad(x, (1, 1)),
        F.pad(x, (1, 1, 1, 1), mode="reflect"), F.unfold(x, 2),
    ]  # fmt: skip
    assert [y.grad_fn.name() for y in made] == [
        "ConvolutionBackward0", "MaxPool2DWithIndicesBackward0", "AvgPool2DBackward0", "AdaptiveAvgPool2DBackward0",
        "MeanBackward1", "UpsampleNearest2DBackward0", "UpsampleBilinear2DBackward0", "ConstantPadNdBackward0",
        "ReflectionPad2DBackward0", "Im2ColBackward0",
    ]  # fmt: skip
    assert all(y.is_contiguous() for y in made)


def close(a, b):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_gradients_for_each_sample():
    w, b, x = ramp(4, 3, 3, 3), ramp(4), ramp(5, 3, 6, 6)

    def loss(w, b, x):
        h = F.conv2d(x.unsqueeze(0), w, b, padding=1).tanh()
        return (F.avg_pool2d(F.max_pool2d(h, 2), 3) ** 2).sum()

    each = torch.func.vmap(torch.func.grad(loss, argnums=(0, 1)), in_dims=(None, None, 0))(w, b, x)
    for i in range(5):
        for all_samples, one in zip(each, torch.func.grad(loss, argnums=(0, 1))(w, b, x[i]), strict=True):
            close(all_samples[i], one)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "dims", [(0, 0, 0), (0, None, 0), (None, 0, 0), (None, 0, None), (0, None, None), (None, None, 0)]
)
@pytest.mark.parametrize(
    "name, w, bias", [("conv2d", (4, 2, 2, 2), 4), ("conv_transpose2d", (4, 3, 2, 2), 6)]
)
def test_batches_of_weights_and_biases(name, w, bias, dims):
    shapes = [(2, 4, 5, 4), w, (bias,)]
    xs = [ramp(*((3, *s) if d == 0 else s)) for s, d in zip(shapes, dims, strict=True)]
    f = getattr(F, name)
    together = torch.func.vmap(lambda x, w, b: f(x, w, b, stride=2, groups=2), in_dims=dims)(*xs)
    for i in range(3):
        one = [x[i] if d == 0 else x for x, d in zip(xs, dims, strict=True)]
        close(together[i], f(*one, stride=2, groups=2))


def test_looking_from_elsewhere():
    x = ramp(1, 1, 4, 4)
    theta = torch.tensor([[[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]], dtype=torch.float64)  # a quarter turn
    grid = F.affine_grid(theta, (1, 1, 4, 4), align_corners=False)
    close(F.grid_sample(x, grid, align_corners=False), torch.rot90(x, -1, (2, 3)))
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        F.grid_sample(x, grid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outside = torch.full((1, 1, 1, 2), 3.0, dtype=torch.float64)
        assert F.grid_sample(x, outside, align_corners=True).item() == 0
        assert F.grid_sample(x, outside, padding_mode="border", align_corners=True).item() == x[0, 0, 3, 3]
