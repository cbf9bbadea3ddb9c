"""Write down PyTorch's answers to the in-place snippets: python tests/record_inplace.py (PyTorch installed)."""

import json
import pathlib

import torch
from inplace_cases import CASES, answer

if __name__ == "__main__":
    target = pathlib.Path(__file__).parent / "data" / "inplace.json"
    answers = {name: answer(code, torch) for name, code in CASES.items()}
    target.write_text(json.dumps(answers, indent=0) + "\n")
