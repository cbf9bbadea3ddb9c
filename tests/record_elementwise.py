"""Write down PyTorch's answers to the expressions: python tests/record_elementwise.py (PyTorch installed)."""

import json
import math
import pathlib
import warnings
from typing import Any

import torch
import torch.nn.functional as F
from elementwise_cases import answers


def rounded(x: Any) -> Any:
    """Thirteen digits, on which all machines agree."""
    if isinstance(x, float):
        return float(f"{x:.13g}") if math.isfinite(x) else x
    if isinstance(x, dict):
        return {key: rounded(value) for key, value in x.items()}
    return [rounded(value) for value in x] if isinstance(x, list) else x


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    target = pathlib.Path(__file__).parent / "data" / "elementwise.json"
    sections = ((name, rounded(section)) for name, section in answers(torch, F).items())
    lines = (
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in section.items())
        + "\n}"
        for name, section in sections
    )
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")
