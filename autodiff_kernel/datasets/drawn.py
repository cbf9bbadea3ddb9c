"""Images drawn by a few lines of code: handwriting-like digits, and coloured shapes.

Each image is one of ten glyphs, turned, stretched and moved a little at random, drawn with soft edges.  A digit is a few
strokes: a pixel is as dark as it is near to the nearest one.
"""

from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap


def _arc(
    x: float, y: float, rx: float, ry: float, start: float, stop: float, points: int = 10
) -> list[tuple[float, float]]:
    """Points of an ellipse's arc; angles in turns, from the right by way of the top."""
    turns = 2 * np.pi * np.linspace(start, stop, points)
    return [(x + rx * float(np.cos(t)), y - ry * float(np.sin(t))) for t in turns]


# Strokes of each digit in a unit square with y downwards
_STROKES: list[list[list[tuple[float, float]]]] = [
    [_arc(0.5, 0.5, 0.26, 0.38, 0, 1, 18)],
    [[(0.36, 0.26), (0.54, 0.12), (0.54, 0.88)]],
    [_arc(0.5, 0.33, 0.24, 0.21, 0.48, -0.08) + [(0.28, 0.87), (0.76, 0.87)]],
    [_arc(0.48, 0.3, 0.22, 0.18, 0.42, -0.22), _arc(0.48, 0.67, 0.25, 0.2, 0.22, -0.44)],
    [[(0.62, 0.88), (0.62, 0.12), (0.24, 0.64), (0.8, 0.64)]],
    [[(0.73, 0.13), (0.34, 0.13), (0.3, 0.46)] + _arc(0.48, 0.64, 0.25, 0.23, 0.36, -0.4)],
    [[(0.66, 0.12), (0.4, 0.36)] + _arc(0.5, 0.66, 0.22, 0.22, 0.45, 1.45, 14)],
    [[(0.26, 0.13), (0.76, 0.13), (0.44, 0.88)]],
    [_arc(0.5, 0.31, 0.19, 0.19, -0.25, 0.75, 14), _arc(0.5, 0.69, 0.23, 0.2, 0.25, 1.25, 14)],
    [_arc(0.5, 0.34, 0.21, 0.21, 0, 1, 14) + [(0.71, 0.34), (0.62, 0.88)]],
]  # fmt: skip


def _segments(strokes: list[list[tuple[float, float]]]) -> Any:
    """The straight pieces of some strokes: (k, 2, 2), each from a point to a point."""
    return np.array([pair for stroke in strokes for pair in zip(stroke, stroke[1:])])


def _pixels(size: int) -> Any:
    """The centres of an image's pixels in the unit square: (size * size, 2)."""
    at = (np.arange(size) + 0.5) / size
    return np.stack(np.meshgrid(at, at), -1).reshape(-1, 2)


def _warp(
    rng: np.random.RandomState, turn: float, scale: float, shear: float, shift: float
) -> tuple[Any, Any]:
    """A random linear map near the identity, and a small shift."""
    t, k = rng.uniform(-turn, turn), rng.uniform(-shear, shear)
    sx, sy = rng.uniform(1 - scale, 1 + scale, 2)
    rotation = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    return rotation @ np.array([[sx, k], [0.0, sy]]), rng.uniform(-shift, shift, 2)


def _distance(points: Any, segments: Any) -> Any:
    """How far each point is from the nearest of the segments."""
    (x, y), (sx, sy) = points.T.astype(np.float32)[..., None], segments[:, 0].T.astype(np.float32)
    tx, ty = (segments[:, 1] - segments[:, 0]).T.astype(np.float32)
    dx, dy = x - sx, y - sy
    along = np.clip((dx * tx + dy * ty) / np.maximum(tx * tx + ty * ty, np.float32(1e-12)), 0, 1)
    dx, dy = dx - along * tx, dy - along * ty
    return np.sqrt((dx * dx + dy * dy).min(1))


def digits(n: int = 1000, size: int = 28, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Images of the digits 0 to 9 as if written by hand, white on black.

    size: pixels along a side, at least 8.  Returns the images, (n, 1, size, size), float32 from 0 to 1, and the labels,
    (n,), int64; classes are equally frequent.  The same seed gives the same images.  ValueError for a smaller size.

    >>> from autodiff_kernel import datasets
    >>> images, labels = datasets.digits(100, size=8)
    >>> images.shape, labels.bincount()
    (torch.Size([100, 1, 8, 8]), tensor([10, 10, 10, 10, 10, 10, 10, 10, 10, 10]))
    """
    if size < 8:
        raise ValueError(f"digits(): a digit needs 8 pixels a side, got size={size}")
    rng = np.random.RandomState(seed)
    labels = rng.permutation(np.arange(n) % 10)
    glyphs, pixels = [_segments(strokes) for strokes in _STROKES], _pixels(size)
    images = np.empty((n, 1, size, size), np.float32)
    soft = 1.0 / size  # a stroke's edge is one pixel wide
    for image, label in zip(images, labels):
        matrix, shift = _warp(rng, 0.22, 0.12, 0.2, 0.04)
        segments = (
            (glyphs[label] - 0.5 + 0.012 * rng.normal(size=glyphs[label].shape)) @ matrix.T + 0.5 + shift
        )
        width = rng.uniform(0.025, 0.055)
        ink = np.clip((width + soft - _distance(pixels, segments)) / soft, 0, 1)
        image[0] = ink.reshape(size, size) * rng.uniform(0.85, 1)
    return wrap(images), wrap(labels.astype(np.int64))


SHAPES = ("disc", "square", "triangle", "cross", "ring", "stripes", "diamond", "bar", "moon", "checkers")


def _inside(kind: int, x: Any, y: Any) -> Any:
    """How far inside the shape the points are (negative: outside), in a square from -1 to 1."""
    radius = np.hypot(x, y)
    square = 0.75 - np.maximum(abs(x), abs(y))
    cells = np.sin(2.5 * np.pi * x) * np.sin(2.5 * np.pi * y) / 4
    return [
        0.8 - radius,
        square,
        np.minimum(0.7 - y, (y + 0.8) / 2 - abs(x)),
        np.minimum(np.maximum(0.25 - abs(x), 0.25 - abs(y)), square),
        0.22 - abs(radius - 0.6),
        np.minimum(np.sin(3 * np.pi * y) / 6, square),
        0.85 - abs(x) - abs(y),
        np.minimum(0.3 - abs(x), 0.85 - abs(y)),
        np.minimum(0.8 - radius, np.hypot(x - 0.35, y) - 0.6),
        np.minimum(cells, square),
    ][kind]  # fmt: skip


def shapes(n: int = 1000, size: int = 32, channels: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Images of ten shapes (`datasets.SHAPES`) in random colours before random grounds.

    channels: 3 for colours, 1 for grey.  Returns the images, (n, channels, size, size), float32 from 0 to 1, and the
    labels, (n,), int64; classes are equally frequent.

    >>> from autodiff_kernel import datasets
    >>> images, labels = datasets.shapes(20)
    >>> images.shape, datasets.SHAPES[0], 0 <= images.min() <= images.max() <= 1
    (torch.Size([20, 3, 32, 32]), 'disc', tensor(True))
    """
    rng = np.random.RandomState(seed)
    labels = rng.permutation(np.arange(n) % 10)
    pixels = 2 * _pixels(size) - 1
    images = np.empty((n, channels, size, size), np.float32)
    for image, label in zip(images, labels):
        matrix, shift = _warp(rng, 0.25, 0.15, 0.1, 0.15)
        x, y = ((pixels + shift) @ matrix.T).T
        cover = np.clip(0.5 + _inside(int(label), x, y) * size / 2, 0, 1).reshape(size, size)
        ground, colour = rng.uniform(0, 0.35, channels), rng.uniform(0.55, 1, channels)
        image[:] = ground[:, None, None] * (1 - cover) + colour[:, None, None] * cover
        image += 0.04 * rng.normal(size=image.shape)
    return wrap(np.clip(images, 0, 1)), wrap(labels.astype(np.int64))
