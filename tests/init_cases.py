"""Calls of nn.init, each after manual_seed(3), and PyTorch's answers: python -m tests.init_cases records them."""

import json
import pathlib
from typing import Any

DATA = pathlib.Path(__file__).parent / "data" / "init.json"
CALLS = [
    "kaiming_uniform_(E(3, 5))",
    "kaiming_uniform_(E(6, 3, 3, 3), a=.2, mode='fan_out')",
    "kaiming_normal_(E(20, 5), nonlinearity='relu')",
    "xavier_uniform_(E(4, 4), gain=2.)",
    "xavier_normal_(E(7, 3, 2))",
    "uniform_(E(5), -1, 3)",
    "normal_(E(40), 1, 2)",
    "trunc_normal_(E(50))",
    "trunc_normal_(E(50), 0, 1, 1.5, 2.5)",
    "trunc_normal_(E(7), 0, 1, 3, 4)",
    "trunc_normal_(E(30).double(), 0.5, 1, 1., 2.)",
    "constant_(E(2, 2), .3)",
    "eye_(E(3, 5))",
    "dirac_(E(4, 2, 3, 3), 2)",
    "dirac_(E(2, 3, 4))",
    "dirac_(E(2, 3, 3, 3, 2))",
    "orthogonal_(E(3, 5))",
    "orthogonal_(E(5, 3), gain=2)",
    "orthogonal_(E(4, 3, 2))",
    "sparse_(E(6, 4), .4)",
    "ones_(E(3))",
    "zeros_(E(3))",
]


def answer(torch: Any, call: str) -> list[Any]:
    """The values, and the next number of the stream."""
    torch.manual_seed(3)
    values = eval(f"torch.nn.init.{call}", {"torch": torch, "E": torch.empty})
    return [values.tolist(), torch.rand(1).item()]


if __name__ == "__main__":
    import torch

    DATA.write_text(json.dumps([answer(torch, call) for call in CALLS]) + "\n")
