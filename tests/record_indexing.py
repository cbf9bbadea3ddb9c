"""Records what PyTorch answers to random index expressions: run it where torch is installed."""

import json
import pathlib

import torch

from tests.index_cases import answer, cases

FILE = pathlib.Path(__file__).parent / "data" / "indexing.json"

if __name__ == "__main__":
    lines = [json.dumps([list(shape), code, answer(shape, code, torch)]) for shape, code in cases(600)]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")
