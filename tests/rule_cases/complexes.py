"""Cases of complex numbers and their parts."""

from typing import Any

import numpy as np

from . import Case, Draw, inputs, nonzero, real


def plane(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Complex numbers, none near 0."""
    return np.asarray(np.exp(rng.uniform(-1, 1, shape) + 1j * rng.uniform(-3, 3, shape)))


def one(d: Draw) -> Any:
    return [d.array(d.shape(), plane)], None


def pairs(d: Draw) -> Any:
    return [np.array(d.array((*d.shape(), 2)), order="C")], None


# float32=False: the test expects float64 to become float32, and complex128 to stay
CASES = [
    Case("complex", inputs(real, real), ref=lambda a, b: a + 1j * b, float32=False),
    Case("polar", inputs(real, real), ref=lambda a, b: a * np.exp(1j * b), float32=False),
    Case("real", one, ref=np.real, float32=False),
    Case("imag", one, ref=np.imag, float32=False),
    Case("conj", inputs(plane), ref=np.conj),
    Case("conj_physical", inputs(plane), ref=np.conj),
    Case("view_as_real", one, ref=lambda a: np.stack([a.real, a.imag], -1), float32=False),
    # only pairs that are neighbours in memory can be viewed
    Case("view_as_complex", pairs, ref=lambda a: a[..., 0] + 1j * a[..., 1], float32=False, storage=True),
    Case("angle", inputs(nonzero), ref=np.angle),
    Case("angle", inputs(plane), ref=np.angle, name="of complex numbers", float32=False),
]
