"""Record what PyTorch prints for many tensors in data/printing.json; run it where torch is installed.

A case is a NumPy expression, a dtype, and what differs from the defaults: `options` of set_printoptions,
`default` dtype, `grad` ("leaf" or "node").  The test evaluates the same expression.
"""

import itertools
import json
import pathlib
import warnings

import numpy as np
import torch

FLOATS = [
    "3.5",
    "-0.0",
    "[]",
    "[1, 2, 3]",
    "[-1.5, 2, 1e3]",
    "[1e-5, 1]",
    "[1e-4, 0.05]",
    "[1, 1000]",
    "[1, 1001]",
    "[0.5, 501]",
    "[1e8, 2e8]",
    "[60000, 1]",
    "[0, 0, -0.0]",
    "[np.nan, np.inf, -np.inf]",
    "[np.nan, 1, 0]",
    "[np.inf, 1.5, -np.inf]",
    "[np.nan, 1e-7, 0]",
    "np.arange(24).reshape(2, 3, 4)",
    "np.arange(24).reshape(2, 3, 4) / 7 - 1",
    "np.arange(30) / 8",
    "np.zeros((0, 3))",
    "np.zeros((2, 0, 3))",
    "np.ones((1, 1, 1, 1))",
    "np.arange(6).reshape(2, 3).T * 0.25",
    "np.arange(1001)",
    "np.arange(1000) / 16",
    "np.arange(3600).reshape(60, 60) / 64",
    "np.arange(2000).reshape(2, 1000)",
    "np.arange(2400).reshape(10, 3, 8, 10) * -0.5",
    "np.arange(1500).reshape(5, 300) * 1e-6",
]
INTS = [
    "7",
    "[]",
    "[1, -20, 100]",
    "np.arange(12).reshape(3, 4) - 6",
    "np.arange(40)",
    "np.arange(1200) % 100",
]
BOOLS = ["True", "[]", "[True, False]", "np.arange(1100).reshape(11, 100) % 3 == 0"]
COMPLEX = [
    "1 + 2j",
    "[1 - 2j, 0.5]",
    "[1j, 2, -0.0]",
    "[complex(np.nan, 1), complex(1, np.inf), -1e-7j]",
    "np.arange(12).reshape(3, 4) * (1 - 0.25j)",
    "np.arange(1030) * 1j",
    "np.zeros((0, 2))",
]
OPTIONS = [
    {"precision": 2},
    {"precision": 0},
    {"sci_mode": True},
    {"sci_mode": False},
    {"threshold": 5},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 5, "edgeitems": 0},
    {"linewidth": 30},
    {"linewidth": 30, "precision": 8},
    {"profile": "short"},
    {"profile": "full", "linewidth": 400},
]


def cases():
    for data, dtype in itertools.product(FLOATS, ["float32"]):
        yield {"data": data, "dtype": dtype}
    for data, dtype in itertools.product(FLOATS[::3], ["float16", "float64"]):
        yield {"data": data, "dtype": dtype}
    for data, dtype in itertools.product(INTS, ["int64", "int16"]):
        yield {"data": data, "dtype": dtype}
    yield from ({"data": data, "dtype": "bool"} for data in BOOLS)
    yield from ({"data": data, "dtype": "complex64"} for data in COMPLEX)
    yield {"data": COMPLEX[1], "dtype": "complex128"}
    yield {"data": "[255, 0]", "dtype": "uint8"}
    for default, dtype in itertools.product(
        ["float64", "float16"], ["float32", "float64", "float16", "complex128"]
    ):
        yield {"data": "[1, 0.5]", "dtype": dtype, "default": default}
    for grad, data in itertools.product(
        ["leaf", "node"], ["1.5", "[]", "[1, 2]", "np.zeros((0, 3))", FLOATS[18]]
    ):
        yield {"data": data, "dtype": "float32", "grad": grad}
    for count, grad in itertools.product(range(5, 9), ["leaf", "node"]):
        yield {"data": f"np.arange({count}) / 4", "dtype": "float64", "grad": grad}
    for options, data in itertools.product(
        OPTIONS, ["np.arange(8) / 4", "np.arange(12).reshape(2, 6) * 1.125", "[1, 5]"]
    ):
        yield {"data": data, "dtype": "float32", "options": options}
    yield {
        "data": "np.arange(12).reshape(3, 4)",
        "dtype": "int64",
        "options": {"threshold": 3, "edgeitems": 1},
    }
    yield {"data": COMPLEX[4], "dtype": "complex64", "options": {"precision": 1, "linewidth": 25}}


def printed(case):
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**case.get("options", {}))
    tensor = torch.from_numpy(np.asarray(eval(case["data"])).astype(case["dtype"]))
    if "grad" in case:
        tensor.requires_grad_()
    torch.set_default_dtype(getattr(torch, case.get("default", "float32")))
    return repr(tensor.clone() if case.get("grad") == "node" else tensor)


def main():
    warnings.simplefilter("ignore")
    lines = [json.dumps({**case, "text": printed(case)}) for case in cases()]
    path = pathlib.Path(__file__).parent / "data" / "printing.json"
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
