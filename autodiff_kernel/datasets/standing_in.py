"""Files in the place of well-known data sets, made from what this library draws: for lessons without a download."""

from pathlib import Path
from typing import Any

import numpy as np

from .drawn import digits, shapes
from .mnist import write_idx
from .words import names, sentences


def _bytes(images: Any) -> Any:
    return (images.numpy() * 255).round().astype(np.uint8)


def _mnist(root: Path, kind: str, split: str, n: int, seed: int) -> None:
    images, labels = digits(n, 28, seed) if kind == "MNIST" else shapes(n, 28, 1, seed)
    folder = root / kind / "raw"
    folder.mkdir(parents=True, exist_ok=True)
    start = "train" if split == "train" else "t10k"
    write_idx(folder / f"{start}-images-idx3-ubyte", _bytes(images)[:, 0])
    write_idx(folder / f"{start}-labels-idx1-ubyte", labels.numpy())


def _cifar(root: Path, split: str, n: int, seed: int) -> None:
    images, labels = shapes(n, 32, 3, seed)
    folder = root / "cifar-10-batches-bin"
    folder.mkdir(parents=True, exist_ok=True)
    records = np.concatenate([labels.numpy().astype(np.uint8)[:, None], _bytes(images).reshape(n, -1)], 1)
    parts = [f"data_batch_{i}.bin" for i in range(1, 6)] if split == "train" else ["test_batch.bin"]
    for name, part in zip(parts, np.array_split(records, len(parts))):
        part.tofile(folder / name)


def stand_in(kind: str, root: str | Path, train: int = 2000, test: int = 500, seed: int = 0) -> None:
    """Write drawn data where the reader of a well-known set looks for its files, so that its lessons run without it.

    kind: "MNIST" (digits), "FashionMNIST" (shapes in grey), "CIFAR10" (shapes in colour): `train` and `test` images;
    "names": a list of names for each language, `root/names/Italian.txt` and so on; "sentences": `root/train.txt` and
    `root/test.txt` with as many sentences.  The same seed gives the same files.  It never writes over data that is
    there: FileExistsError.

    >>> import tempfile, os
    >>> from autodiff_kernel import datasets
    >>> with tempfile.TemporaryDirectory() as root:
    ...     datasets.stand_in("FashionMNIST", root, train=20, test=10)
    ...     sorted(os.listdir(os.path.join(root, "FashionMNIST", "raw")))[:2]
    ['t10k-images-idx3-ubyte', 't10k-labels-idx1-ubyte']
    """
    root = Path(root).expanduser()
    folders = {
        "MNIST": "MNIST",
        "FashionMNIST": "FashionMNIST",
        "CIFAR10": "cifar-10-batches-bin",
        "names": "names",
        "sentences": "train.txt",
    }
    if kind not in folders:
        raise ValueError(f"stand_in(): no stand-in for {kind!r}, only for {', '.join(folders)}")
    if (root / folders[kind]).exists():
        raise FileExistsError(
            f"{root / folders[kind]} is there already; choose another folder, or delete it first"
        )
    root.mkdir(parents=True, exist_ok=True)
    for split, n, start in (("train", train, 2 * seed), ("test", test, 2 * seed + 1)):
        if kind == "CIFAR10":
            _cifar(root, split, n, start)
        elif kind == "sentences":
            _write(root / f"{split}.txt", sentences(n, start))
        elif kind != "names":
            _mnist(root, kind, split, n, start)
    if kind == "names":
        (root / "names").mkdir()
        for language, family in names().items():
            _write(root / "names" / f"{language}.txt", family)


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
