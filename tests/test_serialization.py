"""Saving and loading: both ways with PyTorch's files (recorded by record_archive.py), and nothing but data."""

import io
import os
import pickle
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
    assert not through(w * 2).requires_grad


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
    with pytest.raises(RuntimeError, match="would run code"):
        torch.load(DATA / "pytorch.pt", weights_only=False)


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
        assert str(torch.load(path, map_location=lambda storage, where: storage)["a"].device) == "cuda:1"
        assert str(torch.load(path, map_location=torch.device("cuda", 0))["b"].device) == "cuda:0"
    finally:
        torch.cuda.simulate(0)
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        torch.load(path)
    assert torch.load(path, map_location="cpu")["a"].tolist() == [1.0, 1.0]
