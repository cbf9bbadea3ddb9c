"""Record what PyTorch's optimizers and schedules give: python -m tests.record_optim (PyTorch installed)."""

import json
import warnings
from pathlib import Path

import torch

from . import optim_cases as cases

warnings.simplefilter("ignore")
torch.set_num_threads(1)
found = {
    "trained": [
        [name, i, dtype, cases.trained(torch, name, settings, dtype)]
        for name, several in cases.OPTIMIZERS.items()
        for i, settings in enumerate(several)
        for dtype in ("float32", "float64")
    ],
    "made orthogonal": [cases.made_orthogonal(torch, settings) for settings in cases.MUON],
    "minimized": [cases.minimized(torch, settings) for settings in cases.LBFGS],
    "rates": [cases.rates(torch, name, settings) for name, settings in cases.SCHEDULES],
    "jumped": {
        name: cases.jumped(torch, name, settings)
        for name, settings in cases.SCHEDULES
        if name in cases.CLOSED
    },
    "combined": cases.combined(torch),
    "averaged": [cases.averaged(torch, settings) for settings in cases.AVERAGES],
}
target = Path(__file__).parent / "data" / "optim.json"
target.write_text(json.dumps(found) + "\n")
