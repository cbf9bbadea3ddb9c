"""Saving and loading: both ways with PyTorch's files (recorded by record_archive.py), and nothing but data."""

import io
import os
import pickle
import tracemalloc
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import autodiff_kernel as torch

DATA = Path(__file__).parent / "data"


def through(x, **kwargs):
    """x, saved and loaded again."""
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, **kwargs)


def test_a_file_of_pytorch():
    r = torch.load(DATA / "pytorch.pt")
    assert list(r["state"]) == ["0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var",
                                "1.num_batches_tracked"]  # fmt: skip
    assert r["state"]["1.bias"].tolist() == [3.0, 3.0, 3.0] and r["state"]["0.weight"].shape == (3, 2)
    assert r["state"]["1.num_batches_tracked"].dtype is torch.int64
    assert r["optimizer"]["param_groups"][0]["lr"] == 0.5
    assert r["part"].tolist() == [[1.0, 2.0], [4.0, 5.0]] and r["part"].stride() == (3, 1)
    r["part"][0, 0] = 9.0
    assert r["whole"][0].tolist() == [0.0, 9.0, 2.0]  # they shared memory, so they do
    assert isinstance(r["parameter"], torch.nn.Parameter) and not r["parameter"].requires_grad
    assert [(t.item(), str(t.dtype)) for t in r["kinds"]] == [
        (3, "torch.int8"), (3, "torch.uint8"), (3, "torch.int64"), (3.0, "torch.float16"), (True, "torch.bool")]  # fmt: skip
    assert r["complex"].tolist() == [1 + 2j] and r["empty"].shape == (0, 3)
    nothing, truth, big, text, data, kind, size, place, numbers = r["other"]
    assert (nothing, truth, big, text, data, numbers) == (None, True, 2**40, "text", b"\xff", {1})
    assert kind is torch.float64 and size == torch.Size([2, 3]) and place == torch.device("cuda:1")


def test_what_is_saved_comes_back():
    x = torch.arange(12.0).reshape(3, 4)
    shared = [1, "two"]
    sent = {
        "x": x, "t": x.t(), "row": x[1], "0-d": torch.tensor(2.5), "leaf": torch.ones(2, requires_grad=True),
        "p": torch.nn.Parameter(x[0].clone()), "o": OrderedDict(b=1, a=2), "n": [-1, 255, 256, -(2**31) - 1, 2**200, 1.5, 2j],
        "again": [shared, shared], "s": {"é\udc80", ""}, "bool": torch.tensor([True, False]), "none": None,
        "strided": x[:, ::2], "expanded": torch.ones(1).expand(3), "numpy": np.float32(0.5), 3: (), "bytes": b"\x00\xff",
    }  # fmt: skip
    got = through(sent)
    assert list(got) == list(sent)
    for name in ("x", "t", "row", "0-d", "leaf", "bool", "strided", "expanded"):
        assert got[name].tolist() == sent[name].tolist() and got[name].dtype is sent[name].dtype, name
        assert got[name].stride() == sent[name].stride(), name
    assert (
        got["leaf"].requires_grad
        and got["p"].requires_grad
        and got["p"].is_leaf
        and not got["x"].requires_grad
    )
    assert isinstance(got["o"], OrderedDict) and list(got["o"]) == ["b", "a"]
    assert got["n"] == sent["n"] and got["again"][0] is got["again"][1] and got["s"] == sent["s"]
    got["x"][1, 2] = -1.0
    assert got["t"][2, 1] == -1 and got["row"][2] == -1
    assert got["numpy"] == 0.5 and got[3] == () and got["bytes"] == b"\x00\xff"


def test_a_result_is_saved_without_its_history():
    w = torch.ones(2, requires_grad=True)
    got = through(w * 2)
    assert got.requires_grad and got.is_leaf and got.grad_fn is None  # as in PyTorch


def test_state_dicts_keep_their_metadata():
    state = OrderedDict(w=torch.ones(1))
    state._metadata = OrderedDict({"": {"version": 1}})
    assert through(state)._metadata == {"": {"version": 1}}


def test_equal_objects_give_equal_bytes():
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        torch.save({"a": torch.ones(3)}, file)
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_plain_formats_for_a_dict_of_tensors(tmp_path, suffix):
    sent = {
        "w": torch.arange(6).reshape(2, 3).t(),
        "b": torch.tensor(0.5),
        "e": torch.empty(0, 2),
        "k": torch.tensor([True]),
    }
    torch.save(sent, tmp_path / f"m{suffix}")
    got = torch.load(tmp_path / f"m{suffix}")
    assert {k: (v.tolist(), v.dtype, v.shape) for k, v in got.items()} == {
        k: (v.tolist(), v.dtype, v.shape) for k, v in sent.items()
    }
    with pytest.raises(TypeError, match="one dict of tensors"):
        torch.save([torch.ones(1)], tmp_path / f"l{suffix}")
    whole = (tmp_path / f"m{suffix}").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RuntimeError, match="cut off"):
        torch.load(tmp_path / "cut")


def test_numpy_reads_our_npz_and_we_read_numpys(tmp_path):
    torch.save({"a": torch.ones(2)}, tmp_path / "a.npz")
    assert np.load(tmp_path / "a.npz")["a"].tolist() == [1.0, 1.0]
    np.savez_compressed(tmp_path / "b.npz", c=np.arange(3))
    assert torch.load(tmp_path / "b.npz")["c"].tolist() == [0, 1, 2]
    np.savez(tmp_path / "o.npz", o=np.array([object()]))
    with pytest.raises(RuntimeError, match="can't be read as an array"):
        torch.load(tmp_path / "o.npz")


class Runs:
    def __reduce__(self):
        return os.system, ("echo ran > ran.txt",)


def archive(stream: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("archive/data.pkl", stream)
        z.writestr("archive/version", "3\n")
    file.seek(0)
    return file


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_loading_never_runs_code(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    for x in (Runs(), {"a": [Runs()]}):
        with pytest.raises(pickle.UnpicklingError, match="asks for (posix|nt)[.]system"):
            torch.load(archive(pickle.dumps(x, protocol)))
    with pytest.raises(pickle.UnpicklingError, match="builtins.(eval|getattr)|__builtin__.(eval|getattr)"):
        torch.load(archive(pickle.dumps(eval, protocol)))
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(Runs(), protocol))
    with pytest.raises(RuntimeError, match="plain pickle"):
        torch.load(tmp_path / "plain.pkl")
    assert not (tmp_path / "ran.txt").exists()


def test_a_whole_module_is_refused_with_the_lines_to_write():
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(DATA / "pytorch_module.pt")
    text = str(caught.value)
    assert "torch.nn.modules.container.Sequential" in text
    assert (
        "torch.save(model.state_dict(), 'model.pt')" in text
        and "load_state_dict(torch.load('model.pt'))" in text
    )

    class Net:
        def state_dict(self):
            return {}

    with pytest.raises(TypeError, match="the object\\['net'\\] is a Net[^$]*state_dict"):
        torch.save({"net": Net()}, io.BytesIO())


@pytest.mark.parametrize(
    "bad, word",
    [(print, "builtin_function"), ({"a": [object()]}, r"\['a'\]\[0\]"), ({"a": np.ones(2)}, "from_numpy")],
)
def test_what_is_no_data_is_not_saved(bad, word):
    with pytest.raises(TypeError, match=word):
        torch.save(bad, io.BytesIO())


def test_old_and_foreign_files(tmp_path):
    with pytest.raises(RuntimeError, match="before version 1.6"):
        torch.load(DATA / "pytorch_before_1_6.pt")
    for content, word in (
        (b"", "empty"),
        (b"hello world, no archive", "begins with"),
        (b"PK\x03\x04 but no zip", "cut off"),
    ):
        (tmp_path / "f").write_bytes(content)
        with pytest.raises((RuntimeError, EOFError), match=word):
            torch.load(tmp_path / "f")
    with zipfile.ZipFile(tmp_path / "z", "w") as z:
        z.writestr("readme.txt", "hi")
    with pytest.raises(RuntimeError, match="no file of torch.save: it holds readme.txt"):
        torch.load(tmp_path / "z")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "missing.pt")
    with pytest.raises(pickle.UnpicklingError, match="nothing is run"):
        torch.load(DATA / "pytorch_module.pt", weights_only=False)


def test_every_cut_and_every_changed_byte_gives_a_clear_error_or_the_data():
    whole = (DATA / "pytorch.pt").read_bytes()
    for k in range(0, len(whole) - 1, 13):
        with pytest.raises((RuntimeError, EOFError)):
            torch.load(io.BytesIO(whole[:k]))
        changed = bytearray(whole)
        changed[k] ^= 0x5A
        try:
            torch.load(io.BytesIO(bytes(changed)))
        except (RuntimeError, pickle.UnpicklingError, AssertionError):
            pass


def test_writing_is_whole_or_nothing(tmp_path):
    path = tmp_path / "m.pt"
    torch.save({"w": torch.ones(2)}, path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        torch.save({"w": torch.zeros(2), "f": print}, path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["m.pt"]
    with pytest.raises(RuntimeError, match="Parent directory"):
        torch.save({}, tmp_path / "no" / "m.pt")
    torch.save({"w": torch.zeros(3)}, str(path))
    assert torch.load(str(path))["w"].tolist() == [0.0, 0.0, 0.0]


def test_devices(tmp_path):
    path = tmp_path / "g.pt"
    torch.cuda.simulate(2)
    try:
        torch.save({"a": torch.ones(2).cuda(1), "b": torch.ones(1)}, path)
        assert [str(t.device) for t in torch.load(path).values()] == ["cuda:1", "cpu"]
        assert str(torch.load(path, map_location="cpu")["a"].device) == "cpu"
        assert str(torch.load(path, map_location={"cuda:1": "cuda:0"})["a"].device) == "cuda:0"
        assert str(torch.load(path, map_location=lambda storage, where: storage)["a"].device) == "cpu"
        assert (
            str(torch.load(path, map_location=lambda storage, where: storage.cuda(0))["a"].device) == "cuda:0"
        )
        assert str(torch.load(path, map_location=lambda storage, where: None)["a"].device) == "cuda:1"
        assert str(torch.load(path, map_location="cuda:1")["b"].device) == "cuda:1"
        assert str(torch.load(path, map_location=torch.device("cuda", 0))["b"].device) == "cuda:0"
    finally:
        torch.cuda.simulate(0)
    for where in (None, "cuda", {"cuda:1": "cuda:0"}):
        with pytest.raises(RuntimeError, match="^Attempting to deserialize object on a CUDA device but"):
            torch.load(path, map_location=where)
    with pytest.raises(RuntimeError, match="^don't know how to restore data location"):
        torch.load(path, map_location="nowhere")
    with pytest.raises(TypeError, match="map_location must give a storage"):
        torch.load(path, map_location=lambda storage, where: "cpu")
    with pytest.raises(ZeroDivisionError):
        torch.load(path, map_location=lambda storage, where: 1 / 0)
    assert torch.load(path, map_location="cpu")["a"].tolist() == [1.0, 1.0]


# ------------------------------------------------------------------------------------------------ hostile files
def test_a_zip_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("bomb/data.pkl", b"\0" * 300_000_000)
    assert path.stat().st_size < 400_000
    tracemalloc.start()
    try:
        with pytest.raises(RuntimeError, match="unpack to 300,000,000, more than 100 times as many"):
            torch.load(path)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "stream",
    [
        b"\x80\x02cbuiltins\nbytearray\n\x8a\x05\x00\x00\x00\x00\x10\x85R.",  # 64 GB of zeros
        b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\x00\x00\x00.",  # bytes that are not there
        b"\x80\x02X\xff\xff\xff\x7fa.",
        b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.",
        b"\x80\x02c__builtin__\neval\nX\x01\x00\x00\x001\x85R.",
        b"\x80\x02cbuiltins\ngetattr\n.",
        b"\x80\x02ctorch\nload\n.",
        b"\x80\x02ctorch.serialization\nload\n.",
        b"\x80\x02cautodiff_kernel.core.tensor\nrebuild\n.",
        b"\x80\x02\x82\x01.",  # a number of copyreg's registry
        b"\x80\x02K\x01Q.",
        b"\x80\x02(ios\nsystem\n.",
    ],
)
def test_hostile_streams_take_no_memory_and_run_nothing(stream):
    tracemalloc.start()
    try:
        with pytest.raises((pickle.UnpicklingError, RuntimeError)):
            torch.load(archive(stream))
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_headers_that_lie(tmp_path):
    lies = io.BytesIO()
    np.lib.format.write_array_header_1_0(lies, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(tmp_path / "lie.npz", "w") as file:
        file.writestr("w.npy", lies.getvalue() + b"12345678")
    with pytest.raises(
        RuntimeError, match="w.npy in the npz file can't be read as an array: its header says"
    ):
        torch.load(tmp_path / "lie.npz")
    np.savez(tmp_path / "objects.npz", w=np.array([print], dtype=object))
    with pytest.raises(RuntimeError, match="Python objects"):
        torch.load(tmp_path / "objects.npz")
    for shape in ("[-1, -1]", "[4294967296, 4294967296, 4294967296]", "[1.0]", '"1"', "[" * 100_000):
        header = b'{"w":{"dtype":"F32","shape":' + shape.encode() + b',"data_offsets":[0,4]}}'
        with pytest.raises(RuntimeError, match="safetensors"):
            torch.load(io.BytesIO(len(header).to_bytes(8, "little") + header + b"1234"))


# ------------------------------------------------------------------------------------------------ files of all kinds
def test_a_link_stays_and_devices_are_written_into(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "m.pt", tmp_path / "m.pt"
    torch.save({"w": torch.zeros(1)}, target)
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("this system makes no links")
    torch.save({"w": torch.ones(1)}, link)
    assert link.is_symlink() and torch.load(target)["w"].item() == 1.0
    torch.save({"w": torch.ones(1)}, os.devnull)
    assert not Path(os.devnull).is_file()


def test_files_that_take_little_at_once():
    class Slow(io.BytesIO):
        def write(self, data):
            return super().write(bytes(data[:100]))

    file = Slow()
    torch.save({"w": torch.arange(100)}, file)
    file.seek(0)
    assert torch.load(file)["w"].tolist() == list(range(100))


def test_words_of_load_and_save(tmp_path):
    path = tmp_path / "m.pt"
    torch.save({"w": torch.ones(1)}, path)
    for words in ({"weights_only": True}, {"weights_only": False}, {"mmap": True}, {"encoding": "latin1"}):
        assert torch.load(path, **words)["w"].item() == 1.0
    assert torch.load(path, "cpu", pickle)["w"].item() == 1.0
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        torch.load(io.BytesIO(path.read_bytes()), mmap=True)
    for wrong in (3, None):
        with pytest.raises(AttributeError, match="has no attribute 'seek'"):
            torch.load(wrong)
        with pytest.raises(AttributeError, match="^expected 'f' to be string, path, or a file-like object"):
            torch.save({}, wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nope'"):
        torch.load(path, nope=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nope'"):
        torch.save({}, path, nope=1)
    with pytest.raises(OSError):
        torch.load(tmp_path)


def test_an_interrupt_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.pt"
    torch.save({"w": torch.ones(1)}, path)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        torch.save({"w": torch.zeros(1)}, path)
    assert torch.load(path)["w"].item() == 1.0 and [p.name for p in tmp_path.iterdir()] == ["m.pt"]
