"""Write data/vmap.json: PyTorch's answers to the lines of vmap_cases.py (needs PyTorch)."""

import json
import pathlib
import warnings

import torch
import torch.func
import vmap_cases


def main() -> None:
    warnings.simplefilter("ignore")
    out = []
    for line in vmap_cases.lines():
        found = vmap_cases.answer(line, torch)
        if isinstance(found, dict):
            print(line, "->", found["type"], found["message"][:150].replace("\n", " "))
        else:
            found = [[shape, dtype, [rounded(v) for v in values]] for shape, dtype, values in found]
        out.append(f"{json.dumps(line)}: {json.dumps(found)}")
    target = pathlib.Path(__file__).parent / "data" / "vmap.json"
    target.write_text("{\n" + ",\n".join(out) + "\n}\n", encoding="utf-8")


def rounded(v: float | int | bool) -> float | int | bool:
    """Six digits, on which all machines agree."""
    return float(f"{v:.6g}") if isinstance(v, float) else v


if __name__ == "__main__":
    main()
