"""CIFAR-10 from its binary files, or from its Python pickles through an unpickler that knows numbers and text only.

A pickle is a program; Python's own unpickler runs whatever it names.  The one here makes arrays from stand-ins of its own,
so that no name in a file leads to any code but these few lines.
"""

import io
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np

from .files import ImageFiles

_NUMBER = re.compile(r"[<>|=]?[biuf][1248]")
_PIXELS = 3 * 32 * 32


class _Dtype:
    """Stands for `numpy.dtype` in a file: a number's type, and its byte order."""

    def __init__(self, kind: Any, *_: Any) -> None:
        kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
        if not _NUMBER.fullmatch(kind):
            raise pickle.UnpicklingError(f"an array of {kind!r} is no array of numbers")
        self.kind = np.dtype(kind)

    def __setstate__(self, state: Any) -> None:
        order = state[1].decode("ascii") if isinstance(state[1], bytes) else state[1]
        self.kind = self.kind.newbyteorder(">" if order == ">" else "<")


class _Array:
    """Stands for `numpy.ndarray` in a file: its state becomes an array."""

    array: Any = None

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, by_columns, data = state
        if not isinstance(kind, _Dtype) or not isinstance(data, bytes | str):
            raise pickle.UnpicklingError("an array of the file is not one of numbers")
        flat = np.frombuffer(data if isinstance(data, bytes) else data.encode("latin1"), kind.kind)
        self.array = flat.reshape(tuple(int(n) for n in shape), order="F" if by_columns else "C")


def _encode(text: Any, encoding: Any) -> bytes:
    """How Python 3 writes bytes in an old protocol."""
    return str(text).encode("latin1")


class _DataOnly(pickle.Unpickler):
    """Lists, tuples, dicts, strings, bytes, numbers and arrays of numbers; anything else is refused."""

    def find_class(self, module: str, name: str) -> Any:
        place = module.replace("numpy._core", "numpy.core")
        known = {
            ("numpy.core.multiarray", "_reconstruct"): lambda *_: _Array(),
            ("numpy", "ndarray"): None,
            ("numpy", "dtype"): _Dtype,
            ("_codecs", "encode"): _encode,
        }
        if (place, name) not in known:
            raise pickle.UnpicklingError(
                f"the file asks for {module}.{name}: files of data hold lists, dicts, strings, bytes, numbers and arrays, "
                "and nothing else is loaded"
            )
        return known[place, name]


def read_pickle(path: str | Path) -> Any:
    """The data of a pickle: dicts, lists, strings and numbers as they are, arrays as NumPy's; text of Python 2 as bytes.

    Raises `pickle.UnpicklingError` for a file that holds, or asks for, anything else.

    >>> import pickle, tempfile, pathlib
    >>> from autodiff_kernel.datasets.cifar import read_pickle
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "batch")
    ...     _ = file.write_bytes(pickle.dumps({"labels": [3, 1]}))
    ...     read_pickle(file)
    {'labels': [3, 1]}
    """
    try:
        return _plain(_DataOnly(io.BytesIO(Path(path).read_bytes()), encoding="bytes").load())
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # a broken file can break the unpickler anywhere
        raise pickle.UnpicklingError(f"{path} is broken: {type(error).__name__}: {error}") from error


def _plain(x: Any) -> Any:
    """The data without the stand-ins."""
    if isinstance(x, _Array):
        return x.array
    if isinstance(x, dict):
        return {_plain(key): _plain(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return type(x)(_plain(item) for item in x)
    if isinstance(x, _Dtype):
        return x.kind
    return x


class CIFAR10(ImageFiles):
    """Small photographs of ten kinds of things, 32×32 in colour, from files that are on disk already.

    Either the binary version, `root/cifar-10-batches-bin/data_batch_1.bin` to 5 and `test_batch.bin`, or the Python
    version, `root/cifar-10-batches-py/data_batch_1` to 5 and `test_batch`.  data: NumPy array (n, 32, 32, 3), uint8;
    targets: a list of ints.  Raises RuntimeError if the files are missing.

    >>> import tempfile
    >>> from autodiff_kernel import datasets
    >>> with tempfile.TemporaryDirectory() as root:
    ...     datasets.stand_in("CIFAR10", root, train=20, test=10)
    ...     test = datasets.CIFAR10(root, train=False)
    >>> test.data.shape, test.classes[test[0][1]] in test.classes
    ((10, 32, 32, 3), True)
    """

    name = "CIFAR-10"
    classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]

    def _read(self) -> tuple[Any, Any]:
        names = [f"data_batch_{i}" for i in range(1, 6)] if self.train else ["test_batch"]
        if (self.root / "cifar-10-batches-py" / names[0]).is_file():
            parts = [_python(path) for path in self._find(["cifar-10-batches-py"], names)]
        else:
            binary = [f"{name}.bin" for name in names]
            parts = [_binary(path) for path in self._find(["cifar-10-batches-bin", "."], binary)]
        images = np.concatenate([images for images, _ in parts]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return np.ascontiguousarray(images), [int(label) for _, labels in parts for label in labels]

    def _image(self, index: int) -> Any:
        return self.data[index]


def _binary(path: Path) -> tuple[Any, Any]:
    """Records of a byte for the label and 3072 for the pixels, colour after colour."""
    data = np.fromfile(path, np.uint8)
    if data.size == 0 or data.size % (1 + _PIXELS):
        raise ValueError(
            f"{path} was cut off or changed: {data.size} bytes are no whole number of images of {1 + _PIXELS}"
        )
    data = data.reshape(-1, 1 + _PIXELS)
    return data[:, 1:], data[:, 0]


def _python(path: Path) -> tuple[Any, Any]:
    """A dict with the pixels as `data` and the classes as `labels`."""
    batch = read_pickle(path)
    entries = {k.decode("latin1") if isinstance(k, bytes) else k: v for k, v in batch.items()}
    images, labels = np.asarray(entries["data"], np.uint8), entries["labels"]
    if images.ndim != 2 or images.shape[1] != _PIXELS or len(images) != len(labels):
        raise ValueError(f"{path} holds {len(labels)} labels and pixels of shape {list(images.shape)}")
    return images, labels
