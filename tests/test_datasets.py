"""Data that is made up, drawn, or read from files that are on disk."""

import gzip
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel import datasets
from autodiff_kernel.datasets.cifar import read_pickle
from autodiff_kernel.vision import transforms


# --------------------------------------------------------------------------------------------- made up and drawn
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: datasets.moons(50, seed=seed),
        lambda seed: datasets.circles(50, seed=seed),
        lambda seed: datasets.spirals(51, seed=seed),
        lambda seed: datasets.blobs(51, seed=seed),
        lambda seed: datasets.regression(50, features=2, seed=seed),
        lambda seed: datasets.digits(20, size=8, seed=seed),
        lambda seed: datasets.shapes(20, size=16, seed=seed),
    ],
)  # fmt: skip
def test_the_seed_alone_decides(make: Any) -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    np.random.seed(1)
    (x, y), (x2, y2), (x3, _) = make(0), make(0), make(1)
    assert torch.equal(x, x2) and torch.equal(y, y2) and not torch.equal(x, x3)
    assert torch.equal(torch.get_rng_state(), before) and np.random.rand() == pytest.approx(0.417022)
    assert x.dtype is torch.float32 and not x.requires_grad and len(x) == len(y)


def test_points_lie_where_their_class_says() -> None:
    x, y = datasets.moons(400, noise=0)
    upper, lower = x[y == 0], x[y == 1]
    assert torch.allclose(upper.norm(dim=1), torch.ones(200)) and bool((upper[:, 1] >= 0).all())
    assert torch.allclose((lower - torch.tensor([1.0, 0.5])).norm(dim=1), torch.ones(200)) and bool(
        (lower[:, 1] <= 0.5).all()
    )
    x, y = datasets.spirals(300, classes=3, noise=0)
    r = x.norm(dim=1)
    turns = torch.atan2(x[:, 1], x[:, 0]) / (2 * torch.pi) - 0.65 * r - y / 3
    assert bool((abs(turns - turns.round()) < 1e-4).all())
    x, y = datasets.regression(80, features=2, noise=0)
    solution = torch.linalg.lstsq(torch.cat([x, torch.ones(80, 1)], 1), y).solution
    assert torch.allclose(torch.cat([x, torch.ones(80, 1)], 1) @ solution, y, atol=1e-5)
    x, y = datasets.blobs(300, classes=3, spread=0.01)
    assert all(float(x[y == k].std(0).max()) < 0.02 for k in range(3))


@pytest.mark.parametrize("size", [8, 28])
def test_digits_can_be_told_apart_by_the_nearest_mean(size: int) -> None:
    x, y = datasets.digits(400, size=size)
    means = torch.stack([x[y == k].mean(0).flatten() for k in range(10)])
    new, labels = datasets.digits(100, size=size, seed=7)
    found = torch.cdist(new.flatten(1), means).argmin(1)
    assert (found == labels).float().mean() > 0.75
    assert new.min() == 0 and 0.8 < new.max() <= 1 and new.shape == (100, 1, size, size)


def test_digits_need_some_pixels() -> None:
    with pytest.raises(ValueError, match="8 pixels a side, got size=4"):
        datasets.digits(3, size=4)


def test_text_is_of_letters() -> None:
    words = datasets.words()
    assert words == sorted(set(words)) and all(w.isascii() and w.isalpha() and w.islower() for w in words)
    names = datasets.names()
    assert len(names) == 12 and min(map(len, names.values())) >= 20
    assert datasets.sentences(5) == datasets.sentences(5) != datasets.sentences(5, seed=1)


# ------------------------------------------------------------------------------------------------------ from files
def test_mnist_from_files_plain_and_compressed(tmp_path: Path) -> None:
    datasets.stand_in("MNIST", tmp_path, train=30, test=20)
    train, test = datasets.MNIST(tmp_path), datasets.MNIST(tmp_path, train=False, download=True)
    drawn, labels = datasets.digits(30)
    assert torch.equal(train.data, (drawn[:, 0] * 255).round().byte()) and torch.equal(train.targets, labels)
    assert (len(train), len(test), train.data.dtype, train.targets.dtype) == (
        30,
        20,
        torch.uint8,
        torch.int64,
    )
    image, label = train[3]
    assert image.mode == "L" and image.size == (28, 28) and label == int(labels[3]) and type(label) is int
    scaled = datasets.MNIST(str(tmp_path), transform=transforms.ToTensor(), target_transform=lambda y: -y)
    x, y = scaled[3]
    assert torch.allclose(x, drawn[3], atol=0.5 / 255 + 1e-6) and y == -label
    raw = tmp_path / "MNIST" / "raw"
    for file in raw.iterdir():
        (tmp_path / (file.name + ".gz")).write_bytes(gzip.compress(file.read_bytes()))
    shutil.rmtree(tmp_path / "MNIST")
    assert torch.equal(datasets.MNIST(tmp_path).data, train.data)
    assert train.class_to_idx["3 - three"] == 3
    assert repr(scaled).splitlines()[:5] == [
        "Dataset MNIST",
        "    Number of datapoints: 30",
        f"    Root location: {tmp_path}",
        "    Split: Train",
        "    StandardTransform",
    ]


def test_fashion_and_cifar_stand_ins(tmp_path: Path) -> None:
    for kind in ("FashionMNIST", "CIFAR10"):
        datasets.stand_in(kind, tmp_path, train=23, test=10)
    assert datasets.FashionMNIST(tmp_path).classes[9] == "Ankle boot"
    cifar = datasets.CIFAR10(tmp_path)
    drawn, labels = datasets.shapes(23)
    assert cifar.data.shape == (23, 32, 32, 3) and cifar.targets == labels.tolist()
    assert np.array_equal(cifar.data, (drawn.permute(0, 2, 3, 1).numpy() * 255).round().astype(np.uint8))
    assert cifar[0][0].mode == "RGB" and np.array_equal(np.array(cifar[0][0]), cifar.data[0])


def test_text_stand_ins(tmp_path: Path) -> None:
    datasets.stand_in("names", tmp_path)
    datasets.stand_in("sentences", tmp_path, train=5, test=2)
    german = (tmp_path / "names" / "German.txt").read_text(encoding="utf-8").split()
    assert german == datasets.names()["German"]
    assert len((tmp_path / "train.txt").read_text(encoding="utf-8").splitlines()) == 5


def test_a_stand_in_never_writes_over_data(tmp_path: Path) -> None:
    (tmp_path / "MNIST").mkdir()
    with pytest.raises(FileExistsError, match="is there already"):
        datasets.stand_in("MNIST", tmp_path)
    with pytest.raises(ValueError, match="no stand-in for 'ImageNet', only for MNIST"):
        datasets.stand_in("ImageNet", tmp_path)


@pytest.mark.parametrize(
    "kind, place",
    [
        ("MNIST", os.path.join("MNIST", "raw")),
        ("FashionMNIST", os.path.join("FashionMNIST", "raw")),
        ("CIFAR10", "cifar-10-batches-bin"),
    ],
)
def test_missing_files_say_where_they_go(kind: str, place: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        getattr(datasets, kind)(tmp_path, download=True)
    told = str(caught.value)
    assert told.startswith("Dataset not found. ") and str(tmp_path / place) in told
    assert "Nothing is downloaded" in told and f"stand_in({kind!r}, {str(tmp_path)!r})" in told
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "no IDX file"),
        (b"\0\0\x08\x01\0\0\0\x05abc", "cut off or changed: shape .5. takes 5 bytes, it has 3"),
        (b"\0\0\x08\x01\0\0\0\x02abc", "cut off or changed"),
        (b"PK\x03\x04", "no IDX file"),
        (b"\0\0\x08\x03\0\0\0\x01", "no IDX file"),
    ],
)
def test_broken_idx_files(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        datasets.read_idx(tmp_path / "x")


def test_idx_types(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\0\0\x0b\x01\0\0\0\x02\x01\x00\xff\xff")
    assert datasets.read_idx(tmp_path / "x").tolist() == [256, -1]


# --------------------------------------------------------------------------------------------------- CIFAR's pickles
def python_version(root: Path, protocol: int) -> Any:
    """CIFAR's Python version: five batches of two images, and a test batch."""
    folder = root / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    pixels = np.random.RandomState(0).randint(0, 256, (12, 3072)).astype(np.uint8)
    for i, name in enumerate([*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"]):
        batch = {"data": pixels[2 * i : 2 * i + 2], "labels": [i, 9 - i], "filenames": ["a.png", "b.png"]}
        (folder / name).write_bytes(pickle.dumps(batch, protocol))
    return pixels


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_cifar_from_pickles(protocol: int, tmp_path: Path) -> None:
    pixels = python_version(tmp_path, protocol)
    train, test = datasets.CIFAR10(tmp_path), datasets.CIFAR10(tmp_path, train=False)
    assert train.targets == [0, 9, 1, 8, 2, 7, 3, 6, 4, 5] and test.targets == [5, 4]
    assert np.array_equal(train.data, pixels[:10].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
    assert np.array_equal(test.data[1], pixels[11].reshape(3, 32, 32).transpose(1, 2, 0))


def test_a_pickle_written_by_python_2(tmp_path: Path) -> None:
    """Text and arrays' bytes are `str` there: opcodes U and T."""
    stream = (
        b"\x80\x02}q\x01(U\x04dataq\x02cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\nq\x04K\x00\x85U\x01b\x87Rq\x05"
        b"(K\x01K\x02K\x03\x86cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87Rq\x07(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x06\x01\x02\x03\xfe\xff\x00tbU\x06labels]q\x08(K\x03K\x08eu."
    )
    (tmp_path / "x").write_bytes(stream)
    read = read_pickle(tmp_path / "x")
    assert read[b"labels"] == [3, 8] and read[b"data"].tolist() == [[1, 2, 3], [254, 255, 0]]


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, ("/tmp/autodiff_kernel_evil",)


@pytest.mark.parametrize(
    "x",
    [
        Evil(),
        {"data": Evil()},
        os.getcwd,
        Path("x"),
        np.array([None, 1], dtype=object),
        np.array([("a", 1)], dtype=[("n", "U3"), ("k", "i4")]),
        {1, 2, 3},
        complex(1, 2),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_pickle_with_anything_else_is_refused(x: Any, tmp_path: Path) -> None:
    for protocol in (0, 2, 4):
        (tmp_path / "x").write_bytes(pickle.dumps(x, protocol))
        if isinstance(x, set) and protocol == 4:
            continue  # it has an opcode of its own, and is data
        with pytest.raises(pickle.UnpicklingError):
            read_pickle(tmp_path / "x")
    assert not os.path.exists("/tmp/autodiff_kernel_evil")


def test_cut_off_pickles_and_binary_files(tmp_path: Path) -> None:
    whole = pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [1, 2]}, 2)
    for n in range(0, len(whole), 97):
        (tmp_path / "x").write_bytes(whole[:n])
        with pytest.raises(pickle.UnpicklingError):
            read_pickle(tmp_path / "x")
    datasets.stand_in("CIFAR10", tmp_path, train=5, test=5)
    file = tmp_path / "cifar-10-batches-bin" / "test_batch.bin"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="cut off or changed"):
        datasets.CIFAR10(tmp_path, train=False)
