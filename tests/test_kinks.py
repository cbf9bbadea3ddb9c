"""Derivatives at kinks, poles and limits are PyTorch's (data/kinks.json)."""

import json
import pathlib
import warnings

import numpy as np
import pytest
from kink_cases import POINTS, derivatives, functions

import autodiff_kernel as torch

RECORDED = json.loads((pathlib.Path(__file__).parent / "data" / "kinks.json").read_text(encoding="utf-8"))


def test_every_function_was_recorded() -> None:
    assert list(RECORDED) == functions()


@pytest.mark.parametrize("text", functions())
def test_kinks(text: str) -> None:
    for point, expected in zip(POINTS, RECORDED[text], strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = derivatives(text, point, torch)
        np.testing.assert_allclose(got, expected, 1e-8, 1e-12, err_msg=f"{text} at {point}")
