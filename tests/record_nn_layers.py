"""Write data/nn_layers.json: what PyTorch's layers answer in nn_layer_cases.py.  Run it where torch is installed."""

import json

import torch
from nn_layer_cases import CASES, FILE

FILE.write_text(
    json.dumps({name: case(torch) for name, case in CASES.items()}, indent=0) + "\n", encoding="utf-8"
)
