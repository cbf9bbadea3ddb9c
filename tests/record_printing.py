"""Record what PyTorch prints for many tensors in data/printing.json; run it where torch is installed.

A case is a NumPy expression, a dtype, and what differs from the defaults: `options` of set_printoptions,
`default` dtype, `grad` ("leaf" or "node").  The test evaluates the same expression.
"""

import itertools
import json
import math
import pathlib
import random
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


DTYPES = ["float32"] * 4 + ["float64", "float16", "bfloat16", "complex64", "complex128", "int64", "int32", "int16", "int8",
          "uint8", "bool"]  # fmt: skip
SHAPES = [(), (1,), (7,), (13,), (40,), (3, 5), (8, 1), (1, 9), (2, 3, 4), (1, 1, 1, 1), (2, 2, 2, 2), (0,), (2, 0),
          (1, 0, 3), (150,), (1001,), (40, 30), (3, 400), (400, 4), (12, 9, 11), (2, 2, 300), (5, 1, 7, 33)]  # fmt: skip
# Exact formulas, so that every machine sees the same numbers: k runs through all residues of a prime.
KINDS = [
    "{k}", "{k} / 8", "{k} / 64 * 1e-3", "{k} * 1e-7", "{k} * 1e4", "{k} * 12345.678", "{k} * 1e9", "{k} % 2",
    "np.where({k} % 3 == 0, np.nan, {k} / 4)", "np.where({k} % 4 == 0, np.inf, {k})",
    "np.where({k} % 5 == 0, -np.inf, {k} * 0.001)", "{k} * 0", "{k} * -0.0",
    "np.where({k} % 2 == 0, 0, 1e-38 * {k})", "10.0 ** ({k} % 9 - 4)", "0.99999 + {k} * 1e-6", "{k} / 1000 + 0.00005",
]  # fmt: skip


def generated(count):
    """Cases by chance, the same ones every time."""
    rng = random.Random(0)
    for _ in range(count):
        shape, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
        k = f"(np.arange({math.prod(shape)}).reshape({shape}) * 7919 % 1009 - 504)"
        kind = rng.choice(KINDS)
        if dtype.startswith("complex"):
            data = f"({kind.format(k=k)}) + 1j * ({rng.choice(KINDS).format(k=k)})"
        elif dtype in DTYPES[9:]:
            data = f"{k} % {rng.choice([2, 10, 100, 128])}"
        else:
            data = kind.format(k=k)
        case = {"data": data, "dtype": dtype}
        if rng.random() < 0.4:
            options = {
                "precision": rng.choice([0, 1, 2, 3, 6, 8]), "threshold": rng.choice([0, 5, 20, 1001]),
                "edgeitems": rng.choice([0, 1, 2, 5]), "linewidth": rng.choice([20, 30, 60, 100, 200]),
                "profile": rng.choice(["default", "short", "full"]), "sci_mode": rng.choice([True, False]),
            }  # fmt: skip
            case["options"] = {
                name: options[name] for name in rng.sample(sorted(options), rng.choice([1, 1, 2, 3]))
            }
        if dtype.startswith(("float", "complex")) and rng.random() < 0.3:
            case["grad"] = rng.choice(["leaf", "node"])
        if rng.random() < 0.1:
            case["default"] = rng.choice(["float64", "float16"])
        yield case


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
    yield from generated(240)


def printed(case):
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**case.get("options", {}))
    array = np.asarray(eval(case["data"]))
    if case["dtype"] == "bfloat16":  # NumPy has none
        tensor = torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    else:
        tensor = torch.from_numpy(array.astype(case["dtype"]))
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
