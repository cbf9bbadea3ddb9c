"""Write down PyTorch's answers to the expressions of exchange_cases.py: python -m tests.record_exchange (needs PyTorch)."""

import json
import pathlib

import torch

from .exchange_cases import answer, cases, keyword_cases

if __name__ == "__main__":
    lines = [
        f"{json.dumps(case)}: {json.dumps(answer(case, torch)[0])}" for case in cases() + keyword_cases()
    ]
    file = pathlib.Path(__file__).parent / "data" / "exchange.json"
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
