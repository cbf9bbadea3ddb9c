"""Write data/answers.json: PyTorch's answers to the expressions of answers.py.  Run it where torch is installed."""

import json
import warnings

import torch
from answers import CASES, FILE, evaluate, lines

warnings.simplefilter("ignore")
functional = {name: getattr(torch.nn.functional, name) for name in ("linear", "bilinear", "one_hot")}
answers = {
    family: {code: evaluate(torch, functional, family, code) for code in lines(family)} for family in CASES
}
FILE.write_text(json.dumps(answers, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
