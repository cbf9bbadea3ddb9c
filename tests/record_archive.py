"""Record what PyTorch writes: /path/to/python-with-torch tests/record_archive.py makes tests/data/pytorch*.pt."""

import pathlib
from collections import OrderedDict

HERE = pathlib.Path(__file__).parent / "data"

if __name__ == "__main__":
    import torch

    torch.manual_seed(0)
    x = torch.arange(6.0).reshape(2, 3)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    state = OrderedDict((k, torch.full_like(v, i)) for i, (k, v) in enumerate(model.state_dict().items()))
    torch.save(
        {
            "state": state,
            "optimizer": torch.optim.Adam(model.parameters(), lr=0.5).state_dict(),
            "whole": x,
            "part": x[:, 1:],
            "parameter": torch.nn.Parameter(torch.tensor([1.5, -2.0]), requires_grad=False),
            "kinds": [
                torch.tensor(3, dtype=d)
                for d in (torch.int8, torch.uint8, torch.int64, torch.float16, torch.bool)
            ],
            "complex": torch.tensor([1 + 2j]),
            "empty": torch.empty(0, 3),
            "other": (
                None,
                True,
                2**40,
                "text",
                b"\xff",
                torch.float64,
                torch.Size([2, 3]),
                torch.device("cuda:1"),
                {1},
            ),
        },
        HERE / "pytorch.pt",
    )
    torch.save(model, HERE / "pytorch_module.pt")
    torch.save(x, HERE / "pytorch_before_1_6.pt", _use_new_zipfile_serialization=False)
