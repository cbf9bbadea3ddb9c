"""Transforms and pictures to be compared with torchvision's: expressions over a tensor, an image and their bytes."""

from typing import Any

SETUP = """
import numpy as np
from PIL import Image
U = (torch.arange(3 * 7 * 9).reshape(3, 7, 9) * 37 % 251).to(torch.uint8)
X = U.float() / 255
P = Image.fromarray(U.permute(1, 2, 0).numpy())
L = Image.fromarray(U[0].numpy())
F = transforms.functional
def seeded(t, x):
    torch.manual_seed(3)
    return [t(x) for _ in range(4)]
"""

CASES = [
    "transforms.ToTensor()(P)",
    "transforms.ToTensor()(L)",
    "transforms.ToTensor()(P.convert('1'))",
    "transforms.ToTensor()(X.permute(1, 2, 0).numpy())",
    "transforms.ToTensor()(np.arange(6, dtype=np.int64).reshape(2, 3))",
    "transforms.PILToTensor()(P)",
    "transforms.Normalize((0.5, 0.4, 0.3), (0.1, 0.2, 0.3))(X)",
    "transforms.Normalize(0.1307, 0.3081)(X[:1])",
    "transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])(L)",
    "transforms.ToPILImage()(X)",
    "transforms.ToPILImage()(U[0])",
    "transforms.ToPILImage('L')(X[:1])",
    "transforms.Grayscale()(X)",
    "transforms.Grayscale(3)(U)",
    "transforms.Grayscale()(P)",
    "transforms.Grayscale(3)(P)",
    "transforms.Resize(5)(P)",
    "transforms.Resize((3, 4))(P)",
    "transforms.Resize((14, 5))(L)",
    "transforms.Resize(5)(X)",
    "transforms.Resize((3, 4))(X)",
    "transforms.Resize((14, 20))(X)",
    "transforms.Resize((14, 20), antialias=False)(X)",
    "transforms.Resize((3, 4), antialias=False)(X)",
    "transforms.Resize(4, max_size=5)(X)",
    "transforms.Resize((3, 20), transforms.InterpolationMode.NEAREST)(U)",
    "transforms.Resize((3, 20), transforms.InterpolationMode.NEAREST)(P)",
    "transforms.Resize((3, 20), transforms.InterpolationMode.BICUBIC)(X)",
    "transforms.Resize((10, 4), transforms.InterpolationMode.BICUBIC, antialias=False)(X)",
    "transforms.CenterCrop(4)(X)",
    "transforms.CenterCrop((3, 6))(P)",
    "transforms.CenterCrop(10)(X)",
    "transforms.CenterCrop((8, 4))(P)",
    "transforms.Pad(2)(X)",
    "transforms.Pad((1, 2), fill=7)(U)",
    "transforms.Pad((1, 0, 2, 3), padding_mode='reflect')(X)",
    "transforms.Pad(2, padding_mode='edge')(P)",
    "transforms.Pad(2, padding_mode='symmetric')(X)",
    "transforms.Pad(1, fill=(1, 2, 3))(P)",
    "F.pad(X, [-1, 2, -2, 0])",
    "F.crop(X, -1, 6, 4, 6)",
    "F.crop(P, -1, 6, 4, 6)",
    "F.hflip(X), F.vflip(X)",
    "F.hflip(P), F.vflip(P)",
    "F.rotate(X, 30)",
    "F.rotate(X, -75.5, fill=0.5)",
    "F.rotate(X, 90)",
    "F.rotate(X, 20, center=[1, 2])",
    "F.rotate(P, 30)",
    "F.rotate(P, 30, expand=True)",
    "transforms.ConvertImageDtype(torch.float32)(U)",
    "transforms.ConvertImageDtype(torch.uint8)(X)",
    "transforms.ConvertImageDtype(torch.int16)(U)",
    "transforms.ConvertImageDtype(torch.int8)(U)",
    "transforms.ConvertImageDtype(torch.uint8)(torch.tensor([0, 300, 32767], dtype=torch.int16))",
    "transforms.ConvertImageDtype(torch.float64)(X)",
    "transforms.ConvertImageDtype(torch.int64)(X)",
    "seeded(transforms.RandomCrop(4), X)",
    "seeded(transforms.RandomCrop(7, padding=2), P)",
    "seeded(transforms.RandomCrop((9, 5), pad_if_needed=True, padding_mode='edge'), X)",
    "seeded(transforms.RandomHorizontalFlip(), X)",
    "seeded(transforms.RandomVerticalFlip(0.3), P)",
    "seeded(transforms.RandomRotation(40), X)",
    "seeded(transforms.RandomRotation((10, 20)), P)",
    "seeded(transforms.RandomResizedCrop(5), X)",
    "seeded(transforms.RandomResizedCrop((3, 4), scale=(0.5, 1)), P)",
    "seeded(transforms.RandomApply([transforms.Grayscale(3)], 0.4), X)",
    "transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])",
    "[transforms.ToTensor(), transforms.ToPILImage(), transforms.Normalize((0.5,), (0.5,)), transforms.Grayscale()]",
    "[transforms.Resize(5), transforms.CenterCrop(4), transforms.Pad(2), transforms.RandomCrop(3, padding=1)]",
    "[transforms.RandomHorizontalFlip(), transforms.RandomRotation(10), transforms.RandomResizedCrop(5)]",
    "utils.make_grid(X)",
    "utils.make_grid(X[0])",
    "utils.make_grid(X.unsqueeze(0).repeat(5, 1, 1, 1), nrow=2, padding=1, pad_value=0.5)",
    "utils.make_grid(X[:, None], nrow=2)",
    "utils.make_grid([X[:1], X[1:2]])",
    "utils.make_grid(torch.stack([X, 2 * X + 1]), normalize=True)",
    "utils.make_grid(torch.stack([X, 2 * X + 1]), normalize=True, scale_each=True)",
    "utils.make_grid(torch.stack([X, 2 * X + 1]), normalize=True, value_range=(0.2, 0.8))",
    # errors
    "transforms.ToTensor()(3)",
    "transforms.Normalize((0.5,), (0.5,))(U)",
    "transforms.Normalize((0.5,), (0.0,))(X)",
    "transforms.Normalize((0.5,), (0.5,))(P)",
    "transforms.RandomCrop(20)(X)",
    "transforms.Pad(1, padding_mode='nosuch')(X)",
    "transforms.Pad((1, 2, 3))(X)",
    "transforms.Lambda(3)",
    "transforms.RandomRotation(-3)",
    "utils.make_grid(3)",
]


def told(x: Any) -> Any:
    """A result as JSON holds it: tensors and images as kind, shape and numbers, anything else as its text."""
    if isinstance(x, list | tuple):
        return [told(item) for item in x]
    if type(x).__module__.startswith("PIL."):
        return ["image", x.mode, list(x.size), list(x.tobytes())]
    if hasattr(x, "requires_grad"):
        return [str(x.dtype), list(x.shape), [round(float(v), 6) for v in x.flatten().tolist()]]
    return repr(x)


def result(expression: str, names: dict[str, Any]) -> Any:
    """The value of a case, or the type and the first words of its error."""
    try:
        return told(eval(expression, names))
    except Exception as error:
        return ["error", type(error).__name__, str(error)]
