"""Transforms, pictures and residual networks against torchvision's answers (data/vision.json)."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vision_cases import CASES, SETUP, result

import autodiff_kernel as torch
from autodiff_kernel.vision import transforms, utils

ANSWERS = json.loads((Path(__file__).parent / "data" / "vision.json").read_text(encoding="utf-8"))
NAMES: dict[str, Any] = {"torch": torch, "transforms": transforms, "utils": utils}
exec(SETUP, NAMES)


def close(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(close, ours, theirs))
    if isinstance(theirs, float):
        return abs(ours - theirs) <= 2e-6 * max(1, abs(theirs))
    return bool(ours == theirs)


@pytest.mark.parametrize("case", CASES)
def test_as_torchvision(case: str) -> None:
    ours, theirs = result(case, NAMES), ANSWERS[case]
    if theirs[0] == "error":
        assert ours[:2] == theirs[:2], ours
        assert ours[2].split("(")[0][:30].lower() == theirs[2].split("(")[0][:30].lower()
    else:
        assert close(ours, theirs)


def test_save_image_writes_what_make_grid_makes(tmp_path: Path) -> None:
    from PIL import Image

    x = NAMES["X"]
    utils.save_image([x, x], tmp_path / "grid.png", nrow=1)
    read = np.array(Image.open(tmp_path / "grid.png"))
    grid = utils.make_grid([x, x], nrow=1)
    assert np.array_equal(read, (grid * 255 + 0.5).clamp(0, 255).byte().permute(1, 2, 0).numpy())
    file = io.BytesIO()
    utils.save_image(x[:1], file, format="bmp")
    assert file.getvalue()[:2] == b"BM"


def test_a_grid_takes_part_in_no_graph() -> None:
    x = NAMES["X"].clone().requires_grad_()
    assert not utils.make_grid([x, x]).requires_grad


def test_transforms_leave_their_input_alone_and_pass_gradients() -> None:
    x = NAMES["X"].clone()
    before = x.clone()
    flips = (transforms.RandomHorizontalFlip(1.0), transforms.RandomRotation(9))
    for t in (
        *flips,
        transforms.Normalize(0.5, 0.5),
        transforms.Resize(4),
        transforms.Pad(1),
        transforms.CenterCrop(9),
    ):
        t(x)
    assert torch.equal(x, before)
    x.requires_grad_()
    transforms.Resize((3, 4))(transforms.Normalize(0.5, 0.25)(x)).sum().backward()
    assert x.grad is not None and float(x.grad.sum()) == pytest.approx(4 * 3 * 3 * 4, rel=1e-5)
    transforms.Normalize(0.5, 0.5, inplace=True)(before)
    assert torch.allclose(before, (NAMES["X"] - 0.5) / 0.5)


def test_what_is_missing_is_an_attribute_error() -> None:
    import autodiff_kernel.vision as vision

    assert vision.datasets.MNIST is not None and "transforms" in dir(vision)
    with pytest.raises(AttributeError, match="autodiff_kernel.vision' has no attribute 'io'"):
        vision.io  # noqa: B018
