"""Write down PyTorch's answers to the expressions: python tests/record_expressions.py (PyTorch installed)."""

import json

import torch
from expression_cases import DATA, describe, families

if __name__ == "__main__":
    found = {e: describe(e, torch) for expressions in families().values() for e in expressions}
    (DATA / "expressions.json").write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
