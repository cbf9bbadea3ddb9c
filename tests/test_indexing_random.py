"""Six hundred random index expressions, reads and writes, give what PyTorch gives (recorded)."""

import json
import pathlib

import pytest

import autodiff_kernel as torch

from .index_cases import answer

CASES = json.loads((pathlib.Path(__file__).parent / "data" / "indexing.json").read_text())
CHUNK = 50


@pytest.mark.parametrize("start", range(0, len(CASES), CHUNK))
def test_as_pytorch(start: int) -> None:
    wrong = []
    for shape, code, want in CASES[start : start + CHUNK]:
        got = answer(tuple(shape), code, torch)
        if json.loads(json.dumps(got)) != want:
            wrong.append(f"{shape}: {code}\n  {got}\n  {want}")
    assert not wrong, "\n".join(wrong)
