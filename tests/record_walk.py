"""Write down PyTorch's answers to the snippets about hooks and the walk: python -m tests.record_walk (PyTorch installed)."""

import json
import pathlib

import torch

from .hook_cases import HOOKS
from .walk_cases import WALK, answer

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "data"
    for name, cases in (("hooks", HOOKS), ("walk", WALK)):
        answers = {case: answer(code, torch) for case, code in cases.items()}
        (folder / f"{name}.json").write_text(json.dumps(answers, indent=0) + "\n")
