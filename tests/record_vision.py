"""Record in data/vision.json what torchvision answers to vision_cases.py: run where PyTorch and torchvision are installed."""

import json
from pathlib import Path

import torch
from torchvision import transforms, utils
from vision_cases import CASES, SETUP, result

names = {"torch": torch, "transforms": transforms, "utils": utils}
exec(SETUP, names)
answers = {case: result(case, names) for case in CASES}
file = Path(__file__).parent / "data" / "vision.json"
lines = [
    f"{json.dumps(case)}: {json.dumps(answer, separators=(',', ':'))}" for case, answer in answers.items()
]
file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
