"""The Autodiff kernel as a process of its own, over ZeroMQ: what only a kernel adds."""

import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import IPython
import nbformat
import pytest
from kernels import Kernel, kernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import autodiff_kernel


@pytest.fixture(scope="module")
def ours() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        yield running


@pytest.fixture(scope="module")
def plain() -> Iterator[Kernel]:
    with kernel("python3") as running:
        yield running


def test_it_says_what_it_is(ours: Kernel) -> None:
    request = ours.client.kernel_info()
    info: dict[str, Any] = ours.collect(request).reply
    assert info["implementation"] == "autodiff"
    assert info["implementation_version"] == autodiff_kernel.__version__
    assert info["language_info"]["name"] == "python"
    assert info["banner"].startswith(f"Autodiff {autodiff_kernel.__version__} ")
    assert "https://docs.pytorch.org/docs/stable/" in [link["url"] for link in info["help_links"]]


def test_it_starts_and_works_without_a_word_on_stderr() -> None:
    with tempfile.TemporaryFile() as stderr:
        with kernel("autodiff", stderr=stderr, stdout=subprocess.DEVNULL) as running:
            assert running.run("1 + 1").results == ["2"]
        stderr.seek(0)
        assert stderr.read() == b""


def test_torch_is_at_hand_and_nothing_else(ours: Kernel) -> None:
    assert ours.run("torch.__name__").results == ["'autodiff_kernel'"]
    assert ours.run("%who").text() == "Interactive namespace is empty.\n"
    assert ours.run("%reset -f\ntorch.__name__").results == ["'autodiff_kernel'"]


def test_libraries_recognise_the_shell(ours: Kernel) -> None:
    assert ours.run("type(get_ipython()).__name__").results == ["'ZMQInteractiveShell'"]


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("1 + 1", ["2"]),
        ("1 + 1;", []),
        ("1 + 1;  # two", []),
        ("1 + 1  # two;", ["2"]),
        ("'a;'", ["'a;'"]),
        ("x = 5; x", ["5"]),
        ("None", []),
    ],
)
def test_a_semicolon_silences_the_value_with_and_without_history(
    ours: Kernel, code: str, shown: list[str], history: bool
) -> None:
    ours.run("'what is remembered does not end in a semicolon'")
    answer = ours.run(code, history=history)
    assert answer.reply["status"] == "ok"
    assert answer.results == shown


def test_a_plain_kernel_shows_a_silenced_value_without_history(plain: Kernel) -> None:
    """The reason for our display hook; when this fails, IPython has mended it and the hook can go."""
    plain.run("'what is remembered does not end in a semicolon'")
    assert plain.run("1 + 1;", history=False).results == ["2"]


def test_input_is_asked_over_the_stdin_channel(ours: Kernel) -> None:
    assert ours.run("x = 1; x += int(input())\nx", typed="41").results == ["42"]


def test_an_interrupt_leaves_the_kernel_usable(ours: Kernel) -> None:
    ours.run("count = 0")
    request = ours.client.execute("while True:\n    count += 1\n    if count == 9: print('started')")
    while ours.client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
        pass
    ours.manager.interrupt_kernel()
    assert ours.collect(request).reply["ename"] == "KeyboardInterrupt"
    assert ours.run("count > 8").results == ["True"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%grahp y", "Line magic function `%grahp` not found."),
        ("%%grahp\ny", "Cell magic `%%grahp` not found."),
        ("%graph", "%graph needs an expression"),
        ("%graph y +", "'y +' is neither an option nor a Python expression"),
        ("%graph --big y", "'--big y' is neither an option nor a Python expression"),
        ("%trace f", "%trace needs a call"),
        ("%simulate_gpu many", "invalid int value: 'many'"),
        ("%simulate_gpu -1", "%simulate_gpu"),
        ("%autodiff docter", "invalid choice: 'docter'"),
        ("%place nosuch", "there is no variable 'nosuch'"),
    ],
)
def test_a_misused_magic_is_an_error(ours: Kernel, code: str, said: str) -> None:
    answer = ours.run(f"y = f = 1\n{code}" if not code.startswith("%%") else code)
    assert answer.reply["status"] == "error"
    [error] = answer.of("error")
    assert error["ename"] == answer.reply["ename"] == "UsageError"
    assert said in error["evalue"]
    assert answer.text("stderr") == ""


def test_a_mistyped_magic_is_told_its_name(ours: Kernel) -> None:
    assert ours.run("%grahp y").of("error")[0]["traceback"][-1] == "Did you mean %graph?"
    assert ours.run("%%grahp\ny").of("error")[0]["traceback"][-1] == "Did you mean %%graph?"


def test_an_unattended_run_stops_at_a_misused_magic() -> None:
    cells = [nbformat.v4.new_code_cell("%grahp y"), nbformat.v4.new_code_cell("1")]
    client = NotebookClient(nbformat.v4.new_notebook(cells=cells), kernel_name="autodiff")
    with pytest.raises(CellExecutionError, match="UsageError"):
        client.execute()


def test_the_list_of_magics_names_each_one(ours: Kernel) -> None:
    listed = ours.run("%autodiff").text()
    for name in ("%graph y", "%%graph", "%trace f(2., 3.)", "%place", "%simulate_gpu 2", "%autodiff doctor"):
        assert f"\n{name} " in f"\n{listed}"


@pytest.mark.parametrize("name", ["%graph", "%%graph", "%trace", "%place", "%simulate_gpu", "%autodiff"])
def test_every_magic_has_help_with_an_example(ours: Kernel, name: str) -> None:
    [page] = ours.run(f"{name}?").reply["payload"]
    assert "Example::\n\n    " in page["data"]["text/plain"]
    assert name.strip("%") in page["data"]["text/plain"]


def test_doctor_tells_versions_and_the_kernels_python(ours: Kernel) -> None:
    told = ours.run("%autodiff doctor").text()
    assert f"autodiff-kernel {autodiff_kernel.__version__}\n" in told
    assert "\nnumpy           " in told
    assert "\nkernel          " in told


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%graph --res", ["--result"]),
        ("%place -", ["--output", "--result", "-o", "-r"]),
        ("shown = %place -r -", ["--output", "--result", "-o", "-r"]),
        ("%autodiff d", ["doctor"]),
        ("%simul", ["%simulate_gpu"]),
    ],
)
def test_options_complete(ours: Kernel, code: str, expected: list[str]) -> None:
    found = ours.complete(code)
    assert set(expected) <= set(found)
    if IPython.version_info >= (8, 6):  # older ones mix in every Python name
        assert sorted(found) == expected


def test_other_lines_complete_as_ever(ours: Kernel, plain: Kernel) -> None:
    assert ours.complete("pri") == plain.complete("pri")
    assert ours.complete("'a'.joi") == plain.complete("'a'.joi")


def test_a_tensor_completes_on_a_magics_line(ours: Kernel) -> None:
    ours.run("weights = torch.ones(2); wealth = 3")
    assert "weights" in ours.complete("%graph wei")
