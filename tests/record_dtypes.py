"""Record PyTorch's dtype tables in data/dtypes.json; run it where torch is installed."""

import itertools
import json
import pathlib

import torch

NAMES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
NUMBERS = [True, 1, 1.5, 1j]
DEFAULTS = ["float32", "float64"]


def name(dtype):
    # NumPy has no complex of two float16, so the project answers complex64 where PyTorch says complex32.
    return "complex64" if dtype == torch.complex32 else str(dtype).removeprefix("torch.")


def index(dtype):
    return "0123456789ab"[NAMES.index(name(dtype))]


def operand(dtype, kind):
    return torch.ones((2,) if kind == "tensor" else (), dtype=getattr(torch, dtype))


def result_types():
    """One string of codes per default dtype and pair of kinds, over all NAMES or NUMBERS of each."""
    found = {}
    for default in DEFAULTS:
        torch.set_default_dtype(getattr(torch, default))
        for first, second in itertools.product(["tensor", "zerodim", "number"], repeat=2):
            rows = NUMBERS if first == "number" else [operand(n, first) for n in NAMES]
            columns = NUMBERS if second == "number" else [operand(n, second) for n in NAMES]
            codes = [[index(torch.result_type(a, b)) for b in columns] for a in rows]
            found[f"{default} {first} {second}"] = " ".join("".join(row) for row in codes)
    torch.set_default_dtype(torch.float32)
    return found


def limits():
    found = {}
    for n in NAMES:
        dtype = getattr(torch, n)
        if dtype.is_floating_point:
            f = torch.finfo(dtype)
            numbers = [f.eps, f.max, f.min, f.tiny, f.smallest_normal, f.resolution]
            found[n] = [repr(f), f.bits, f.dtype] + [float(v).hex() for v in numbers]
        elif not dtype.is_complex and n != "bool":
            i = torch.iinfo(dtype)
            found[n] = [repr(i), i.bits, i.dtype, i.max, i.min]
    return found


def main():
    every = [getattr(torch, n) for n in NAMES]
    data = {
        "torch": torch.__version__.split("+")[0],
        "names": NAMES,
        "itemsize": [d.itemsize for d in every],
        "signed": [d.is_signed for d in every],
        "real": "".join(index(d.to_real()) for d in every),
        "promote": " ".join("".join(index(torch.promote_types(a, b)) for b in every) for a in every),
        "can_cast": " ".join("".join("01"[torch.can_cast(a, b)] for b in every) for a in every),
        "result": result_types(),
        "limits": limits(),
    }
    path = pathlib.Path(__file__).parent / "data" / "dtypes.json"
    path.write_text(json.dumps(data, indent=0) + "\n")


if __name__ == "__main__":
    main()
