"""What teaching code takes from torchvision: data sets on disk, transforms, picture grids, and residual networks.

datasets    MNIST, FashionMNIST, CIFAR10 from files on disk
transforms  ToTensor, Normalize, Compose, Resize, crops, flips, …
utils       make_grid, save_image
models      resnet18, resnet34, resnet50 with random weights
"""

from importlib import import_module as _import_module
from typing import Any

from ..core.places import claim as _claim

_MODULES = ("datasets", "models", "transforms", "utils")


def __getattr__(name: str) -> Any:
    """A module of this package: loaded by the first question for it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _import_module(f"{__name__}.{name}")
    _claim()
    return module


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
