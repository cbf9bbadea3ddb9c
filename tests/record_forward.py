"""Write data/forward.json: PyTorch's derivative of each call of forward_cases.py (needs PyTorch).

For each call, for real and for complex arguments: the derivative as one number, or the type of the error where
PyTorch does not differentiate it.
"""

import json
import pathlib
import warnings

import forward_cases
import torch


def main() -> None:
    warnings.simplefilter("ignore")
    lines = []
    for call in forward_cases.functions():
        real, complex_too = answer(call.text, False), answer(call.text, True)
        if not isinstance(real, float):
            print(call, real)
        lines.append(f"{json.dumps(call.text)}: {json.dumps([real, complex_too])}")
    target = pathlib.Path(__file__).parent / "data" / "forward.json"
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def answer(text: str, complex_too: bool) -> float | str | None:
    """The derivative in thirteen digits, on which all machines agree."""
    try:
        slope = forward_cases.slope(text, torch, complex_too)
    except Exception as error:
        return type(error).__name__
    return None if slope is None else float(f"{slope:.13g}")


if __name__ == "__main__":
    main()
