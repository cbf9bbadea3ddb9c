"""Two plain formats for a dict of tensors: safetensors, and NumPy's npz (without pickle)."""

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import device as devices
from ..core.create import made
from ..core.tensor import Tensor
from .writer import numpy_dtype

# safetensors' names of dtypes
CODES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
         "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL", "complex64": "C64"}  # fmt: skip
KINDS = {code: name for name, code in CODES.items()}


def check_flat(x: Any, suffix: str) -> dict[str, Any]:
    """The raw arrays of a dict of tensors on the host; TypeError for anything else."""
    if not isinstance(x, dict) or not all(isinstance(k, str) and isinstance(v, Tensor) for k, v in x.items()):
        raise TypeError(
            f"save(): a {suffix} file holds one dict of tensors by name, such as a state_dict; save anything else as .pt"
        )
    return {name: devices.to_numpy(t.raw) for name, t in x.items()}


def to_safetensors(x: Any) -> bytes:
    header: dict[str, Any] = {}
    parts, end = [], 0
    for name, raw in check_flat(x, ".safetensors").items():
        if raw.dtype.name not in CODES:
            raise TypeError(f"save(): safetensors has no dtype for {name!r}, which is {raw.dtype.name}")
        data = np.ascontiguousarray(raw).tobytes()
        header[name] = {
            "dtype": CODES[raw.dtype.name],
            "shape": list(np.shape(raw)),
            "data_offsets": [end, end + len(data)],
        }
        parts.append(data)
        end += len(data)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def from_safetensors(data: bytes, place: Callable[[Any, str], Any]) -> dict[str, Tensor]:
    if len(data) < 8 or struct.unpack_from("<Q", data)[0] > len(data) - 8:
        raise RuntimeError("the safetensors file is cut off: its header is longer than the file")
    size = struct.unpack_from("<Q", data)[0]
    try:
        header = json.loads(data[8 : 8 + size])
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        found = {}
        for name, entry in entries.items():
            start, stop = entry["data_offsets"]
            shape, dtype = tuple(entry["shape"]), KINDS[entry["dtype"]]
            kind = numpy_dtype(dtype)
            sizes = all(isinstance(n, int) and n >= 0 for n in (*shape, start, stop))
            if (
                not sizes
                or not start <= stop <= len(data) - 8 - size
                or stop - start != kind.itemsize * math.prod(shape)
            ):
                raise RuntimeError(f"the safetensors file is cut off or changed at {name!r}")
            raw = np.frombuffer(bytearray(data[8 + size + start : 8 + size + stop]), kind).reshape(shape)
            found[name] = made(place(raw, "cpu"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RuntimeError(f"no valid safetensors header: {error}") from None
    return found


def to_npz(x: Any) -> bytes:
    arrays = check_flat(x, ".npz")
    for name, raw in arrays.items():
        if raw.dtype.kind == "V" or raw.dtype.name == "bfloat16":
            raise TypeError(f"save(): npz has no dtype for {name!r}, which is {raw.dtype.name}")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, raw in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(raw), allow_pickle=False)
    return buffer.getvalue()


def from_npz(data: bytes, place: Callable[[Any, str], Any]) -> dict[str, Tensor]:
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            try:
                with archive.open(info) as entry:
                    check_header(entry, info.file_size)
                with archive.open(info) as entry:
                    raw = np.lib.format.read_array(entry, allow_pickle=False)
            except (ValueError, zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError) as error:
                raise RuntimeError(
                    f"{info.filename} in the npz file can't be read as an array: {error}"
                ) from None
            found[info.filename.removesuffix(".npy")] = made(place(raw, "cpu"))
    return found


def check_header(entry: Any, size: int) -> None:
    """ValueError if an array's header asks for more memory than there are bytes: NumPy would take it before reading."""
    version = np.lib.format.read_magic(entry)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(entry)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are no data")
    if math.prod(shape) * dtype.itemsize != size - entry.tell():
        raise ValueError(f"its header says shape {shape}, which is not what follows")
