"""The magics in a real kernel: what each shows, writes and gives back, and what it says of bad input."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels import Answer, Kernel, kernel

SETUP = """
x1 = torch.tensor(2., requires_grad=True)
x2 = torch.tensor(3., requires_grad=True)
y = x1 * x2 + x1 ** 2
def f(a, b):
    return a * b + a ** 2
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        running.run(SETUP)
        yield running


def view(answer: Answer) -> dict[str, str]:
    assert answer.reply["status"] == "ok", answer.reply
    [shown] = answer.of("display_data")
    data: dict[str, str] = shown["data"]
    return data


def lines(answer: Answer) -> list[str]:
    return view(answer)["text/plain"].splitlines()


def complaint(answer: Answer, kind: str = "UsageError") -> str:
    [error] = answer.of("error")
    assert error["ename"] == answer.reply["ename"] == kind
    return str(error["evalue"])


def test_graph_shows_a_picture_with_a_text_and_an_alternative(shell: Kernel) -> None:
    answer = shell.run("%graph y")
    data = view(answer)
    assert sorted(data) == ["image/svg+xml", "text/html", "text/plain"]
    assert data["text/plain"].startswith("Graph of y\n")
    assert "x1" in data["text/plain"]
    assert "<img src='data:image/svg+xml;base64," in data["text/html"]
    assert "y is 10" in answer.of("display_data")[0]["metadata"]["text/html"]["alt"]


def test_graph_shows_the_gradients_after_backward(shell: Kernel) -> None:
    told = shell.run(SETUP + "y.backward()\n%graph y").of("display_data")[0]["data"]["text/plain"]
    assert "3 + 4 = 7" in told


def test_graph_of_an_expression_keeps_minus_signs_and_evaluates_once(shell: Kernel) -> None:
    shell.run("calls = []\ndef g(x):\n    calls.append(1)\n    return x")
    assert lines(shell.run("%graph g(x1) - x2"))[0] == "Graph of sub"
    assert shell.run("len(calls)").results == ["1"]


def test_what_recording_keeps_is_not_among_the_copies_between_devices() -> None:
    with kernel("autodiff") as running:
        running.run("%simulate_gpu 1")
        running.run("w = torch.ones(3, 4, requires_grad=True).cuda()\n(w * w).sum().backward()")
        told = lines(running.run("%place"))
    copies = [line.strip() for line in told[told.index("Copied between devices so far:") :] if "→" in line]
    assert copies == [
        "cpu → cuda:0: 1 copy, 48 B",
        "cuda:0 → cpu: 1 copy, 48 B",
    ]  # w there, its gradient back


@pytest.mark.parametrize("code", ["%graph nothere", "%trace nothere(2.)", "%%graph\nnothere"])
def test_an_error_in_the_expression_shows_the_users_lines_only(shell: Kernel, code: str) -> None:
    [error] = shell.run(code).of("error")
    assert error["ename"] == "NameError"
    told = "\n".join(error["traceback"])
    assert "nothere" in told and "magics.py" not in told


def test_graph_gives_the_result_back(shell: Kernel) -> None:
    answer = shell.run("shown = %graph -r y\ntype(shown).__name__, shown.model.title")
    assert answer.results == ["('GraphResult', 'Graph of y')"]
    assert answer.of("display_data") == []
    assert shell.run("shown = %graph y -r\ntype(shown).__name__").results == ["'GraphResult'"]


def test_a_minus_and_a_letter_is_a_subtraction_where_there_is_such_a_variable(shell: Kernel) -> None:
    told = lines(shell.run("r = torch.tensor(1., requires_grad=True)\n%graph y -r"))
    assert told[0] == "Graph of sub"
    shell.run("del r")


@pytest.mark.parametrize("suffix", ["svg", "html", "txt", "dot"])
def test_graph_writes_a_file(shell: Kernel, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"the graph.{suffix}"
    answer = shell.run(f"%graph y -o '{file}'")
    assert answer.text() == f"wrote {file}\n"
    assert "x1" in file.read_text(encoding="utf-8")


def test_graph_refuses_a_suffix_it_cannot_write(shell: Kernel, tmp_path: Path) -> None:
    assert ".svg" in complaint(shell.run(f"%graph y -o '{tmp_path / 'graph.xyz'}'"))


def test_graph_inside_a_function_sees_its_names(shell: Kernel) -> None:
    told = lines(shell.run("def h():\n    inner = x1 * 5\n    %graph inner\nh()"))
    assert told[0] == "Graph of inner"


def test_graph_as_a_cell_runs_the_cell_and_draws_its_last_value(shell: Kernel) -> None:
    told = lines(shell.run("%%graph\nz = x1 * 3\nz.exp()"))
    assert "line 2" in next(line for line in told if "z = x1" in line)
    assert "line 3" in next(line for line in told if "exp(z)" in line)
    assert shell.run("z.item()").results == ["6.0"]


def test_graph_as_a_cell_draws_what_its_line_names(shell: Kernel) -> None:
    assert lines(shell.run("%%graph z\nz = x1 * 3\n'not this'"))[0] == "Graph of z"


def test_graph_as_a_cell_without_a_value_says_how_to_name_one(shell: Kernel) -> None:
    assert "name what to draw: %%graph y" in complaint(shell.run("%%graph\nz = x1 * 3"))


def test_an_error_in_a_graph_cell_is_the_cells_own(shell: Kernel) -> None:
    answer = shell.run("%%graph\nz = x1 * 3\n1 / 0")
    assert complaint(answer, "ZeroDivisionError") == "division by zero"
    assert "Cell" in answer.of("error")[0]["traceback"][-2]


def test_graph_of_what_has_no_graph(shell: Kernel) -> None:
    answer = shell.run("plain = torch.ones(2)\n%graph plain")
    told = complaint(answer, "RuntimeError")
    assert told.startswith("plain has no graph")
    assert "requires_grad=True" in told
    assert "What to do:" in answer.of("display_data")[0]["data"]["text/html"]


def test_graph_of_what_is_no_tensor(shell: Kernel) -> None:
    assert "got int" in complaint(shell.run("%graph 3"))
    assert complaint(shell.run("%graph nosuch"), "NameError") == "name 'nosuch' is not defined"


def test_trace_shows_the_table(shell: Kernel) -> None:
    told = lines(shell.run("%trace f(2., 3.)"))
    assert told[0].startswith("Evaluation trace of f(2, 3)")
    assert told[-1].split()[:6] == ["w5", "=", "w3", "+", "w4", "10"]


def test_trace_takes_seeds_and_leaves_adjoints_out(shell: Kernel) -> None:
    told = lines(shell.run("%trace --forward --seeds '[(.6, .8)]' f(2., 3.)"))
    assert told[-1].split() == ["w5", "=", "w3", "+", "w4", "10", "5.8"]


def test_trace_evaluates_arguments_as_python_does(shell: Kernel) -> None:
    told = lines(shell.run("point = (2., 3.)\n%trace f(*point)"))
    assert told[-1].split()[5] == "10"


def test_an_error_in_a_traced_function_is_its_own(shell: Kernel) -> None:
    shell.run("def wrong(a):\n    return a + undefined")
    assert complaint(shell.run("%trace wrong(2.)"), "NameError") == "name 'undefined' is not defined"


def test_place_shows_all_tensors_or_those_named(shell: Kernel) -> None:
    everything = view(shell.run("%place"))["text/plain"]
    assert "x1" in everything and "x2" in everything
    one = view(shell.run("%place x2"))["text/plain"]
    assert "x2" in one and "x1" not in one


def test_place_suggests_a_name(shell: Kernel) -> None:
    shell.run("weights = torch.ones(3)")
    assert complaint(shell.run("%place weihgts")).endswith("did you mean 'weights'?")


def test_place_lists_the_users_variables_not_what_the_notebook_remembers() -> None:
    with kernel("autodiff") as running:
        running.run("a = torch.ones(3)\na * 2")
        running.run("(a, a * 3)")
        running.run("a.sum()")
        running.run("_hidden = a + 1")
        told = view(running.run("%place"))["text/plain"].splitlines()
        assert told[0] == "Placement: 1 device, 2 tensors, 24 B"
        assert [line.split()[0] for line in told[3:]] == ["a", "_hidden"]
        assert "_3 " in view(running.run("%place _3"))["text/plain"]


def test_simulated_gpus_come_and_say_so(shell: Kernel) -> None:
    assert shell.run("%simulate_gpu 2\ntorch.cuda.device_count()").results == ["2"]
    assert (
        "cuda:1 (simulated)"
        in view(shell.run("far = torch.ones(3, device='cuda:1')\n%place far"))["text/plain"]
    )


def test_interrupting_a_long_backward_leaves_every_tensor_usable(shell: Kernel) -> None:
    shell.run(
        "def endless(g):\n    import time\n    print('backward runs', flush=True)\n    while True: time.sleep(.01)"
    )
    shell.run(
        "p = torch.ones(3, requires_grad=True)\nq = p * 2\n_ = q.register_hook(endless)\ns = (q * q).sum()"
    )
    request = shell.client.execute("s.backward()")
    while shell.client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
        pass
    shell.manager.interrupt_kernel()
    assert shell.collect(request).reply["ename"] == "KeyboardInterrupt"
    assert shell.run("t = (p * p).sum(); t.backward(); p.grad").results == ["tensor([2., 2., 2.])"]


def test_the_outputs_are_the_same_in_a_new_kernel(shell: Kernel) -> None:
    cell = SETUP + "y.backward()\n%graph y\n%trace f(2., 3.)"
    told = []
    for _ in range(2):
        with kernel("autodiff") as running:
            told.append([output["data"] for output in running.run(cell).of("display_data")])
    assert told[0] == told[1]


def test_step_shows_backward_as_frames_and_changes_nothing(shell: Kernel) -> None:
    answer = shell.run(SETUP + "%step y")
    assert lines(answer)[0] == "Backward from y: 3 operations"
    html = view(answer)["text/html"]
    assert html.count("<details") == 3 and "waits for w4, w3" in html
    assert shell.run("x1.grad is None").results == ["True"]
    assert shell.run("y.backward(); x1.grad.item()").results == ["7.0"]


def test_step_shows_some_frames_a_strip_and_another_seed(shell: Kernel) -> None:
    told = lines(shell.run(SETUP + "%step x1 * x2 + x1 --from 2 --to 2 --strip"))
    assert "2. MulBackward0 takes w3 = x1·x2" in "\n".join(told)
    assert told[-1].startswith("Of 2 frames these are frame 2;")
    seed = "%step torch.stack([x1, x2]) * x1 --gradient 'torch.tensor([1., 10.])'"
    assert "x1.grad gets 34, x2.grad gets 20" in "\n".join(lines(shell.run(seed)))


def test_step_gives_the_result_back_and_writes_it(shell: Kernel, tmp_path: Path) -> None:
    assert shell.run("shown = %step -r y\nlen(shown.model.frames)").results == ["3"]
    for suffix in ("html", "txt"):
        shell.run(f"%step y -o {tmp_path}/steps.{suffix}")
        assert "MulBackward0" in (tmp_path / f"steps.{suffix}").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line, told",
    [
        ("%step", "%step needs an expression, for example: %step y"),
        ("%step 3", "%step: steps() walks back from a tensor; got int"),
        ("%step y --from 9", "%step: first=9: this backward has 3 frames"),
        ("%step y --to zero", "invalid int value"),
        ("%step y -o steps.svg", ".html"),
        ("%%backward\nz = x1 * 2", "name where to start: %%backward y"),
        ("%%backward\n3", "%%backward: steps() walks back from a tensor; got int"),
    ],
)
def test_step_misused_says_what_to_do(shell: Kernel, line: str, told: str) -> None:
    assert told in complaint(shell.run(line))


def test_step_through_a_backward_that_cannot_start_is_its_own_error(shell: Kernel) -> None:
    told = complaint(shell.run("%step torch.stack([x1, x2])"), "RuntimeError")
    assert told.startswith("grad can be implicitly created only for scalar outputs")


@pytest.mark.parametrize("last", ["z.backward()", "z", "z.backward(gradient=torch.tensor(1.))"])
def test_backward_as_a_cell_shows_the_frames_and_runs_what_it_says(shell: Kernel, last: str) -> None:
    answer = shell.run(f"%%backward\nx1.grad = None\nz = x1 * x1\n{last}")
    told = lines(answer)
    assert told[0] == "Backward from z: 1 operation"
    assert "MulBackward0 takes z = x1·x1 (line 3)" in told[3]
    assert shell.run("x1.grad").results == (["tensor(4.)"] if "back" in last else [])


def test_backward_as_a_cell_starts_where_its_line_says(shell: Kernel) -> None:
    assert lines(shell.run("%%backward z\nz = x1 * 3\nNone"))[0] == "Backward from z: 1 operation"


def test_step_completes_its_options(shell: Kernel) -> None:
    assert "--strip" in shell.complete("%step --st") and "--from" in shell.complete("%%backward --f")


NET = """
with torch.scope("net"):
    with torch.scope("layer 1"):
        h1 = x1 * 2
    with torch.scope("layer 2"):
        h2 = (h1 * x2).tanh()
out = h2 ** 2
"""


def test_graph_folds_and_expands_scopes(shell: Kernel) -> None:
    assert "net = " in "\n".join(lines(shell.run(SETUP + NET + "%graph out --depth 0")))
    told = "\n".join(lines(shell.run("%graph out --depth 0 --expand net --fold 'layer 1'")))
    assert "net.layer 1" in told and "net.layer 2" in told
    assert "did you mean 'layer 1'" in complaint(shell.run("%graph out --fold layer1"))


def test_graph_counts_paths_shows_what_is_kept_and_compares(shell: Kernel) -> None:
    assert "3 paths lead from the leaves to the result" in "\n".join(
        lines(shell.run(SETUP + "%graph y --paths"))
    )
    assert "4 bytes" in "\n".join(lines(shell.run("%graph y --saved")))
    told = lines(shell.run("%graph y --diff"))
    assert told[0] == "Now:" and "After backward (foreseen: it has not run):" in told
    assert "3 + 4 = 7" in "\n".join(told)


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png", "html", "txt", "dot"])
def test_graph_with_scopes_is_written_in_every_form(shell: Kernel, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"net.{suffix}"
    shell.run(SETUP + NET)
    assert shell.run(f"%graph out -o {file}").text() == f"wrote {file}\n"
    assert file.stat().st_size > 300


def test_trace_takes_any_seed_shows_partials_and_writes_latex(shell: Kernel, tmp_path: Path) -> None:
    told = lines(shell.run("%trace f(2., 3.) --seed '(0.6, 0.8)' --partials"))
    assert "ẇ (seed 0.6, 0.8)" in told[2] and "5.8" in told[-2]
    assert "∂/∂a = " not in told and any("∂/∂w1 = w2 = 3" in line for line in told)
    shell.run(f"%trace f(2., 3.) -o {tmp_path}/trace.tex")
    assert r"w_{1} \cdot w_{2}" in (tmp_path / "trace.tex").read_text(encoding="utf-8")
    assert "text/latex" in view(shell.run("%trace f(2., 3.) --latex"))


@pytest.mark.parametrize("seed", ["(1,)", "(1, 2, 3)"])
def test_trace_with_a_seed_of_another_length_says_so(shell: Kernel, seed: str) -> None:
    told = complaint(shell.run(f"%trace f(2., 3.) --seed '{seed}'"))
    assert "a seed needs one number per input: 2, not" in told


def test_place_draws_the_copies_of_the_last_cell_that_had_code() -> None:
    with kernel("autodiff") as running:
        running.run("%simulate_gpu 1\nw = torch.ones(3, 4)\na = w.cuda()")
        running.run("b = a.cpu()\nc = a.cpu()")
        for _ in range(2):
            told = lines(running.run("%place"))
            assert (
                told[told.index("Copied by the cell:") + 1]
                == "  cuda:0 → cpu: 2 copies, 96 B ([3, 4], [3, 4])"
            )
        told = lines(running.run("d = w.cuda()\n%place"))
        assert told[told.index("Copied by the cell:") + 1] == "  cpu → cuda:0: 1 copy, 48 B ([3, 4])"
