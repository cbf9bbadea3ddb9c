"""Write data/kinks.json: PyTorch's derivatives at the points of kink_cases.py (needs PyTorch)."""

import json
import pathlib
import warnings

import torch
from kink_cases import POINTS, derivatives, functions


def main() -> None:
    warnings.simplefilter("ignore")
    lines = []
    for text in functions():
        answers = [
            [[float(f"{v:.10g}") for v in part] for part in derivatives(text, p, torch)] for p in POINTS
        ]
        lines.append(f"{json.dumps(text)}: {json.dumps(answers)}")
    target = pathlib.Path(__file__).parent / "data" / "kinks.json"
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
