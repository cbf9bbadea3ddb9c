"""MNIST and sets like it: images and labels in IDX files, plain or compressed.

An IDX file is two zero bytes, a byte for the type, a byte for the number of dimensions, each dimension as a big-endian
32-bit number, then the elements, the last dimension running fastest.
"""

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from .files import ImageFiles

_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path: str | Path) -> Tensor:
    """The array of an IDX file (compressed where the name ends in .gz) as a tensor.

    Raises ValueError if it is none, or was cut off.
    """
    path = Path(path)
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _TYPES or len(data) < 4 + 4 * data[3]:
        raise ValueError(f"{path} is no IDX file: it begins with {data[:4]!r}")
    kind, dims = np.dtype(_TYPES[data[2]]), data[3]
    shape = struct.unpack(f">{dims}I", data[4 : 4 + 4 * dims])
    body = data[4 + 4 * dims :]
    size = int(np.prod(shape, dtype=object)) * kind.itemsize
    if len(body) != size:
        raise ValueError(
            f"{path} was cut off or changed: shape {list(shape)} takes {size} bytes, it has {len(body)}"
        )
    return wrap(np.frombuffer(body, kind).reshape(shape).astype(kind.newbyteorder("=")))


def write_idx(path: str | Path, array: Any) -> None:
    """Write bytes (uint8) of any shape as an IDX file."""
    array = np.ascontiguousarray(array, np.uint8)
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    Path(path).write_bytes(head + array.tobytes())


class MNIST(ImageFiles):
    """Handwritten digits, 28×28, from IDX files that are on disk already.

    They lie in `root/MNIST/raw`, `root/MNIST` or `root` under their usual names, compressed (.gz) or not:
    train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte.
    data: (n, 28, 28), uint8; targets: (n,), int64.  Raises RuntimeError if they are missing.

    >>> import tempfile
    >>> from autodiff_kernel import datasets
    >>> with tempfile.TemporaryDirectory() as root:
    ...     datasets.stand_in("MNIST", root, train=20, test=10)
    ...     digits = datasets.MNIST(root)
    >>> digits.data.shape, len(digits), digits[0][0].size
    (torch.Size([20, 28, 28]), 20, (28, 28))
    """

    name = "the MNIST database"
    classes = (
        "0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight",
        "9 - nine",
    )  # fmt: skip

    def _read(self) -> tuple[Any, Any]:
        kind, start = type(self).__name__, "train" if self.train else "t10k"
        names = [f"{start}-images-idx3-ubyte", f"{start}-labels-idx1-ubyte"]
        images, labels = (read_idx(path) for path in self._find([f"{kind}/raw", kind, "."], names))
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
            raise ValueError(
                f"{names[0]} and {names[1]} don't belong together: shapes {list(images.shape)}, {list(labels.shape)}"
            )
        return images, labels.long()


class FashionMNIST(MNIST):
    """Clothes, 28×28 in grey: as MNIST, in `root/FashionMNIST/raw`."""

    name = "Fashion-MNIST"
    classes = (
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    )  # fmt: skip
