"""Points in the plane and on a line for first lessons: moons, circles, spirals, blobs, and numbers to regress on.

Each function gives `(x, y)`, drawn by a generator of its own from `seed` (the same on every machine), so that `torch`'s own
random numbers are not touched.
"""

from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap


def _pair(x: Any, y: Any, seed: np.random.RandomState) -> tuple[Tensor, Tensor]:
    """Points and labels in a random order, as tensors: float32 and int64."""
    order = seed.permutation(len(x))
    return wrap(x[order].astype(np.float32)), wrap(y[order].astype(np.int64))


def moons(n: int = 200, noise: float = 0.1, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Two half circles that reach into each other, one for each class.

    noise: standard deviation of what is added to each coordinate.  Returns x of shape (n, 2), float32, and y of shape
    (n,), int64, with 0 for the upper half circle.

    >>> from autodiff_kernel import datasets
    >>> x, y = datasets.moons(6, noise=0)
    >>> x.shape, y.bincount()
    (torch.Size([6, 2]), tensor([3, 3]))
    """
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    angle = np.pi * rng.uniform(size=n)
    x = np.stack([np.cos(angle), np.sin(angle)], 1)
    x[y == 1] = np.array([1.0, 0.5]) - x[y == 1]
    return _pair(x + noise * rng.normal(size=x.shape), y, rng)


def circles(n: int = 200, noise: float = 0.05, factor: float = 0.5, seed: int = 0) -> tuple[Tensor, Tensor]:
    """A circle (class 0) around a smaller one (class 1), which no line separates; factor: the inner radius.

    Returns x of shape (n, 2), float32, and y of shape (n,), int64.

    >>> from autodiff_kernel import datasets
    >>> x, y = datasets.circles(100, noise=0)
    >>> x.norm(dim=1)[y == 1].max()
    tensor(0.5000)
    """
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    angle = 2 * np.pi * rng.uniform(size=n)
    x = np.stack([np.cos(angle), np.sin(angle)], 1) * np.where(y == 1, factor, 1.0)[:, None]
    return _pair(x + noise * rng.normal(size=x.shape), y, rng)


def spirals(
    n: int = 300, classes: int = 3, turns: float = 0.65, noise: float = 0.02, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Arms of a spiral, one for each class.

    turns: how often an arm goes round.  Returns x of shape (n, 2), float32, and y of shape (n,), int64.

    >>> from autodiff_kernel import datasets
    >>> x, y = datasets.spirals(300)
    >>> x.shape, y.unique()
    (torch.Size([300, 2]), tensor([0, 1, 2]))
    """
    rng = np.random.RandomState(seed)
    y = np.arange(n) % classes
    radius = np.sqrt(rng.uniform(size=n))
    angle = 2 * np.pi * (turns * radius + y / classes)
    x = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    return _pair(x + noise * rng.normal(size=x.shape), y, rng)


def blobs(
    n: int = 300, classes: int = 3, features: int = 2, spread: float = 0.6, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Clouds of normally distributed points around random centres.

    spread: standard deviation of a cloud.  Returns x of shape (n, features), float32, and y of shape (n,), int64.

    >>> from autodiff_kernel import datasets
    >>> x, y = datasets.blobs(9, classes=3, features=4)
    >>> x.shape, y.bincount()
    (torch.Size([9, 4]), tensor([3, 3, 3]))
    """
    rng = np.random.RandomState(seed)
    centres = rng.uniform(-4, 4, size=(classes, features))
    y = np.arange(n) % classes
    return _pair(centres[y] + spread * rng.normal(size=(n, features)), y, rng)


def regression(n: int = 100, features: int = 1, noise: float = 0.1, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Points about a plane: y = x @ w + b + noise, with w and b between -2 and 2.

    Returns x of shape (n, features) with entries between -1 and 1, and y of shape (n, 1), both float32.

    >>> from autodiff_kernel import datasets
    >>> x, y = datasets.regression(50, features=3)
    >>> x.shape, y.shape
    (torch.Size([50, 3]), torch.Size([50, 1]))
    """
    rng = np.random.RandomState(seed)
    w, b = rng.uniform(-2, 2, size=(features, 1)), rng.uniform(-2, 2)
    x = rng.uniform(-1, 1, size=(n, features))
    y = x @ w + b + noise * rng.normal(size=(n, 1))
    return wrap(x.astype(np.float32)), wrap(y.astype(np.float32))
