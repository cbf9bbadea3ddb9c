"""Saving and loading: `torch.save` writes the zip archives that PyTorch writes, `torch.load` reads them.

A file holds data only: tensors, containers, numbers and strings.  Loading never runs code, whoever made the file; what
is no data is refused by name.  The ending chooses another format for a dict of tensors: `.safetensors` or `.npz`.
"""

import hashlib
import io
import os
import pickle
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..core import device as devices
from . import flat
from .reader import Reader
from .writer import Writer

__all__ = ["load", "save"]
ALIGNMENT = 64  # of storages in the file, so that they can be mapped into memory
EXPANSION = 100  # how many times as large an archive of more than 256 MB may become by unpacking


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: Any = None,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write tensors, and containers of tensors, numbers and strings, to a file.

    obj: what to save; tensors that share memory share it in the file and after loading.  f: a path, or a file opened
    for writing bytes.  A path is written beside the old file and put in its place when it is complete, so that an
    interrupt loses nothing.  (pickle_module and pickle_protocol are accepted and not used: nothing is pickled.)

    The file is a zip archive as PyTorch's; a path ending in `.safetensors` or `.npz` takes a dict of tensors.
    Raises TypeError naming what can't be saved, such as a whole module.

    >>> import io, autodiff_kernel as torch
    >>> file = io.BytesIO()
    >>> torch.save({"w": torch.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0); torch.load(file)
    {'w': tensor([1., 1.]), 'epoch': 3}
    """
    if hasattr(f, "write"):
        _write_all(f, _archive(obj, "archive"))
        return
    if not isinstance(f, (str, os.PathLike)):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a 'write' attribute, but got {type(f).__name__}"
        )
    path = Path(f)
    if path.suffix == ".safetensors":
        data = flat.to_safetensors(obj)
    elif path.suffix == ".npz":
        data = flat.to_npz(obj)
    else:
        data = _archive(obj, path.stem or "archive")
    _write(path, data)


def _write(path: Path, data: bytes) -> None:
    """The whole file or nothing: write beside it, then take its place. (A link stays one: its target is replaced.)"""
    path = Path(os.path.realpath(path))
    if (
        path.exists() and not path.is_file() and not path.is_dir()
    ):  # a device or a pipe, which nothing may replace
        with open(path, "wb") as special:
            special.write(data)
        return
    if not path.parent.is_dir():
        raise RuntimeError(f"Parent directory {path.parent} does not exist.")
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        try:
            mode = path.stat().st_mode
        except OSError:
            mode = 0o666 & ~_umask()
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _write_all(f: Any, data: bytes) -> None:
    """Write to an open file, which may take less at once than it is given."""
    left = memoryview(data)
    while left:
        count = f.write(left)
        left = left[count if isinstance(count, int) else len(left) :]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _archive(obj: Any, name: str) -> bytes:
    writer = Writer()
    stream = writer.stream(obj)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:

        def put(record: str, data: Any) -> None:
            info = zipfile.ZipInfo(f"{name}/{record}")  # dated 1980: the same data give the same bytes
            start = buffer.tell() + 30 + len(info.filename.encode())
            room = -(start + 4) % ALIGNMENT
            info.extra = b"FB" + room.to_bytes(2, "little") + b"Z" * room
            archive.writestr(info, data)

        put("data.pkl", stream)
        put(".format_version", b"1")
        put(".storage_alignment", str(ALIGNMENT).encode())
        put("byteorder", b"little")
        for key, array in enumerate(writer.storages):
            put(f"data/{key}", array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
        put("version", b"3\n")
        put(".data/serialization_id", hashlib.sha1(stream).hexdigest().encode())
    return buffer.getvalue()


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: Any = None,
    mmap: Any = None,
    encoding: str = "utf-8",
) -> Any:
    """Read what `save`, PyTorch's `torch.save`, safetensors or `numpy.savez` wrote.

    f: a path, or a file opened for reading bytes.  map_location: the device for all tensors, a dict from saved to wanted
    devices, or a function of (storage on the CPU, saved location) that gives the storage to use, or None for the saved
    location; without it a tensor goes where it was, which must exist.  weights_only: only data is ever read, as with
    True; a file of data opens with False too.  mmap: accepted for paths; the file is read at once.  (pickle_module and
    encoding are not used.)

    Raises FileNotFoundError; RuntimeError for a file that was cut off or is no archive; pickle.UnpicklingError naming
    what the file holds besides data.

    >>> import autodiff_kernel as torch
    >>> torch.load("no_such_file.pt")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no_such_file.pt'
    """
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if hasattr(f, "read"):
        data, name = f.read(), getattr(f, "name", "the file")
        if not isinstance(data, bytes):
            raise TypeError("load(): the file must be opened for reading bytes: open(path, 'rb')")
    elif not isinstance(f, (str, os.PathLike)):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. load() takes a path, or a file opened for reading bytes."
        )
    else:
        data, name = Path(f).read_bytes(), Path(f).name
    place = _placing(map_location)
    if not data:
        raise EOFError(f"{name} is empty: nothing was ever written to it, or writing was interrupted")
    if data[:2] == b"PK":
        return _open_zip(data, name, place)
    if len(data) > 9 and data[8:9] == b"{" and not data.startswith(b"\x80"):
        return flat.from_safetensors(data, place)
    raise RuntimeError(_foreign(data, name))


def _open_zip(data: bytes, name: str, place: Callable[[Any, str], Any]) -> Any:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise RuntimeError(
            f"PytorchStreamReader failed reading zip archive: failed finding central directory. {name} was cut off: its "
            f"end, where the list of contents stands, is missing ({len(data):,} bytes are there)."
        ) from None
    with archive:
        check_expansion(archive, len(data), name)
        names = archive.namelist()
        if names and all(n.endswith(".npy") for n in names):
            return flat.from_npz(data, place)
        streams = [n for n in names if n.endswith("/data.pkl") and n.count("/") == 1]
        if any(n.endswith("/constants.pkl") for n in names):
            raise RuntimeError(
                f"{name} is a TorchScript archive: a program, not data. Save a state_dict() from PyTorch."
            )
        if not streams:
            raise RuntimeError(
                f"{name} is a zip archive, but no file of torch.save: it holds {', '.join(names[:5]) or 'nothing'}"
            )
        root = streams[0].removesuffix("data.pkl")

        def record(key: str, path: str = "") -> bytes:
            path = path or f"{root}data/{key}"
            try:
                return archive.read(path)
            except KeyError:
                raise RuntimeError(
                    f"PytorchStreamReader failed locating file {path}: file not found in {name}"
                ) from None
            except (
                zipfile.BadZipFile,
                EOFError,
                ValueError,
                OSError,
                zlib.error,
                NotImplementedError,
            ) as error:
                raise RuntimeError(
                    f"PytorchStreamReader failed reading file {path}: {name} was cut off or changed ({error})"
                ) from None

        order = record("", f"{root}byteorder") if f"{root}byteorder" in names else b"little"
        if order != b"little":
            raise RuntimeError(f"{name} was written on a big-endian machine, which is not supported")
        try:
            return Reader(record("", streams[0]), record, place).load()
        except _Users as error:
            raise error.__cause__ from None  # type: ignore[misc]
        except (RuntimeError, AssertionError, pickle.UnpicklingError):  # say what is wrong already
            raise
        except Exception as error:  # a stream that was changed can fail in any way
            raise pickle.UnpicklingError(
                f"{name} is damaged: its description of the data ends in {type(error).__name__}: {error}"
            ) from None


def check_expansion(archive: zipfile.ZipFile, size: int, name: str) -> None:
    """RuntimeError for an archive that would unpack to far more than it is: a zip bomb."""
    total = sum(info.file_size for info in archive.infolist())
    if total > max(EXPANSION * size, 2**28):
        raise RuntimeError(
            f"{name} says that its {size:,} bytes unpack to {total:,}, more than {EXPANSION} times as many: it is not "
            "loaded. A file that you trust can be unpacked and zipped again without compression."
        )


def _placing(map_location: Any) -> Callable[[Any, str], Any]:
    """(array, where it was) -> the array where it shall be."""

    def place(array: Any, location: str) -> Any:
        target: Any = location
        if isinstance(map_location, dict):
            target = map_location.get(location, location)
        elif isinstance(map_location, (str, devices.device)):
            target = map_location
        elif map_location is not None:
            answer = _asked(map_location, array.view(np.uint8), location)
            if answer is not None:
                return answer.raw.view(array.dtype)
        return _put(array, target, location, map_location is None)

    return place


def _asked(map_location: Any, memory: Any, location: str) -> Any:
    """What the user's function says of a storage. An error in it is the user's, not the file's."""
    from ..core.storages import UntypedStorage, is_storage

    try:
        answer = map_location(UntypedStorage(memory), location)
        if answer is not None and not is_storage(answer):
            raise TypeError(
                "map_location must give a storage (the one it gets, or storage.cuda(1)) or None, but gave "
                f"{type(answer).__name__}"
            )
    except Exception as error:
        raise _Users() from error
    return answer


class _Users(Exception):
    """An error in the user's map_location, its cause."""


def _put(array: Any, target: Any, location: str, by_itself: bool) -> Any:
    """The array on the device `target`; an error if there is none."""
    try:
        asked = target if isinstance(target, devices.device) else devices.device(str(target))
    except RuntimeError:
        raise RuntimeError(
            f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {target})"
        ) from None
    if asked.type == "cpu":
        return array
    if asked.type == "cuda" and not devices.cuda_count():
        cure = (
            "load them with map_location=torch.device('cpu')."
            if by_itself
            else "map them to torch.device('cpu'), or make simulated GPUs with torch.cuda.simulate(2)."
        )
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. The tensors were "
            f"saved on {location}; {cure}"
        )
    return devices.asarray(array, array.dtype, devices.parse(asked))


def _foreign(data: bytes, name: str) -> str:
    if data[:2] == b"\x80\x02" and b"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19" in data[:64]:
        return (
            f"{name} is in PyTorch's format from before version 1.6. Open it in PyTorch and save it again: "
            "torch.save(torch.load(file, weights_only=True), file)."
        )
    if data[:1] == b"\x80":
        return (
            f"{name} is a plain pickle, which can hold code and is not loaded. Save its data with torch.save."
        )
    start = data[:16]
    return f"{name} is no file of torch.save, safetensors or npz: it begins with {start!r}."
