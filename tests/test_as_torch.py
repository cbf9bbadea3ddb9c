"""`as_torch`: `import torch` means this library, in one process, on demand, and no longer than that."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from kernels import complaint, kernel

PREPARED = "import sys, pickle\nimport autodiff_kernel as ours\nfrom autodiff_kernel import as_torch\n"


def run(code: str, *words: str, fails: bool = False) -> str:
    """What a fresh Python prints for the code."""
    done = subprocess.run(
        [sys.executable, *(words or ("-c", PREPARED + code))], capture_output=True, text=True, check=False
    )
    assert fails or (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stderr if fails else done.stdout.strip()


def test_neither_importing_nor_using_the_library_binds_torch() -> None:
    assert (
        run("ours.ones(2); print([n for n in sys.modules if n.split('.')[0] in ('torch', 'torchvision')])")
        == "[]"
    )


def test_modules_of_pytorch_are_ours() -> None:
    code = """
as_torch.install(); as_torch.install()
import torch, torch.nn as nn, torch.nn.functional as F, torch.autograd.forward_ad as fwAD, torch.cuda
import torch.fft, torch.linalg, torch.special, torch.testing, torch.func, torch.utils.checkpoint
from torch import autograd, distributions
from torch.autograd import Function, Variable, gradcheck
from torch.autograd.grad_mode import no_grad
from torch.distributions.normal import Normal
assert torch is ours and F is ours.nn.functional and fwAD is ours.autograd.forward_ad and torch.linalg is ours.linalg
assert Normal is ours.distributions.Normal and no_grad is ours.no_grad and Function is ours.autograd.Function
x = torch.tensor([-1., 2.], requires_grad=True); F.relu(x).sum().backward(); print(x.grad)
from torch import *
print(tensor([1]).dtype)
"""
    assert run(code) == "tensor([0., 1.])\ntorch.int64"


def test_classes_go_by_the_names_that_pytorch_prints() -> None:
    code = """
import autodiff_kernel.distributions
as_torch.install()
import torch
from torch.utils import checkpoint
print(type(torch.ones(2)), type(torch.ones(2).shape), type(torch.float32), type(torch.device('cpu')), torch.no_grad)
print(torch.Generator, torch.nn.Parameter, torch.autograd.Function, torch.enable_grad, torch.finfo)
print(torch.distributions.Normal, torch.distributions.AffineTransform, torch.autograd.graph.saved_tensors_hooks)
print(torch.distributions.Normal(torch.zeros(2), 1.).expand((3, 2)))
print(type(torch.ones(1, requires_grad=True).mul(2).untyped_storage()))
"""
    assert run(code).splitlines() == [
        "<class 'torch.Tensor'> <class 'torch.Size'> <class 'torch.dtype'> <class 'torch.device'> "
        "<class 'torch.autograd.grad_mode.no_grad'>",
        "<class 'torch._C.Generator'> <class 'torch.nn.parameter.Parameter'> <class 'torch.autograd.function.Function'> "
        "<class 'torch.autograd.grad_mode.enable_grad'> <class 'torch.finfo'>",
        "<class 'torch.distributions.normal.Normal'> <class 'torch.distributions.transforms.AffineTransform'> "
        "<class 'torch.autograd.graph.saved_tensors_hooks'>",
        "Normal(loc: torch.Size([3, 2]), scale: torch.Size([3, 2]))",
        "<class 'torch.storage.UntypedStorage'>",
    ]  # fmt: skip


def test_an_error_of_ours_has_the_name_of_pytorchs() -> None:
    code = "as_torch.install()\nimport torch\nraise torch.OutOfMemoryError('full')"
    assert run(code, fails=True).splitlines()[-1] == "torch.OutOfMemoryError: full"


@pytest.mark.parametrize(
    "line, kind, name",
    [
        ("import torch.nosuch", "ModuleNotFoundError", "torch.nosuch"),
        ("import torch.nn.nosuch.deeper", "ModuleNotFoundError", "torch.nn.nosuch"),
        ("import torch.jit", "ModuleNotFoundError", "torch.jit"),
        ("from torch import nosuch", "ImportError", "nosuch"),
        ("from torch.nn import Nosuch", "ImportError", "Nosuch"),
        ("from torch.autograd.grad_mode import Nosuch", "ImportError", "Nosuch"),
        ("import torch; torch.nosuch", "AttributeError", "nosuch"),
        ("import torch; torch.nn.functional.nosuch", "AttributeError", "nosuch"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_to_be_missing_here(line: str, kind: str, name: str) -> None:
    last = run("as_torch.install()\n" + line, fails=True).splitlines()[-1]
    assert last.startswith(kind) and name in last and "autodiff_kernel" in last


def test_uninstall_leaves_nothing() -> None:
    code = """
def state():
    return {n: (dict(vars(m)), {k: v.__module__ for k, v in vars(m).items() if isinstance(v, type)})
            for n, m in sys.modules.items() if n.startswith('autodiff_kernel') and m is not None}
import autodiff_kernel.distributions, autodiff_kernel.fft, autodiff_kernel.utils.checkpoint
from autodiff_kernel.autograd import grad_mode, forward_ad, function
ours.core.late.load_all()
for lazy in ('save', 'vmap'): getattr(ours, lazy)
def use():
    as_torch.install()
    import torch.nn.functional, torch.autograd.grad_mode, torch.cuda.streams, torch.fft, torch._C, torch.storage
    import torch.utils.checkpoint
    from torch.distributions import Normal
    torch._C.Generator, torch.cuda.streams.Event
    as_torch.uninstall(); as_torch.uninstall()
use()  # what is loaded by its first use is there from now on
path, before = list(sys.meta_path), state()
use()
assert sys.meta_path == path and not as_torch.installed()
print([n for n in sys.modules if n.split('.')[0] in ('torch', 'torchvision')])
after = state()
print([n for n in before if n not in ('autodiff_kernel.as_torch',) and before[n] != after[n]], set(after) - set(before))
print(ours.Tensor)
"""
    assert run(code) == "[]\n[] set()\n<class 'autodiff_kernel.core.tensor.Tensor'>"


def test_after_uninstall_torch_is_what_it_was() -> None:
    code = (
        "as_torch.install(); as_torch.uninstall()\nsys.path.insert(0, {!r})\nimport torch; print(torch.real)"
    )
    assert run(code.format(str(Path(__file__).parent / "data" / "real"))) == "yes"


def test_the_real_torch_is_not_replaced() -> None:
    real = str(Path(__file__).parent / "data" / "real")
    code = f"sys.path.insert(0, {real!r})\nimport torch\ntry: as_torch.install()\nexcept RuntimeError as e: print(e)\n"
    told = run(
        code
        + "print(torch.real, as_torch.installed(), sys.modules['torch'] is torch, type(ours.ones(1)).__module__)"
    )
    first, cure, last = told.splitlines()
    assert (
        first.startswith("the real torch is already imported in this process (from ")
        and "restart the kernel" in cure
    )
    assert last == "yes False True autodiff_kernel.core.tensor"


def test_pickles_of_tensors_know_no_torch_and_other_classes_are_found() -> None:
    code = """
as_torch.install()
import torch, copy
data = pickle.dumps({'w': torch.ones(2), 's': [torch.arange(3), None]})
print(b'torch' in data)
rich = [torch.float64, torch.device('cpu'), torch.Size([2]), torch.nn.Parameter(torch.ones(1))]
rich += [torch.no_grad, torch.Generator]
again = pickle.loads(pickle.dumps(rich))
print(again[:3], type(again[3]), again[4] is torch.no_grad, again[5] is torch.Generator, type(copy.deepcopy(rich[3])))
as_torch.uninstall()
print(pickle.loads(data))
"""
    assert run(code).splitlines() == [
        "False",
        "[torch.float64, device(type='cpu'), torch.Size([2])] <class 'torch.nn.parameter.Parameter'> True True "
        "<class 'torch.nn.parameter.Parameter'>",
        "{'w': tensor([1., 1.]), 's': [tensor([0, 1, 2]), None]}",
    ]


def test_files_of_save_are_the_same_with_and_without(tmp_path: Path) -> None:
    code = f"""
ours.save({{'w': ours.ones(2), 'p': ours.nn.Parameter(ours.zeros(1))}}, {str(tmp_path / "a.pt")!r})
as_torch.install()
import torch
torch.save({{'w': torch.ones(2), 'p': torch.nn.Parameter(torch.zeros(1))}}, {str(tmp_path / "b.pt")!r})
import zipfile
one, two = (zipfile.ZipFile(f).read(next(n for n in zipfile.ZipFile(f).namelist() if n.endswith('data.pkl')))
            for f in ({str(tmp_path / "a.pt")!r}, {str(tmp_path / "b.pt")!r}))
print(one == two, torch.load({str(tmp_path / "a.pt")!r})['w'])
"""
    assert run(code) == "True tensor([1., 1.])"


def test_matplotlib_draws_tensors() -> None:
    code = """
as_torch.install()
import torch, matplotlib; matplotlib.use('agg')
import matplotlib.pyplot as plt
x = torch.linspace(0, 1, 5)
line, = plt.plot(x, x ** 2, label=torch.Tensor.__name__)
plt.imshow(torch.ones(2, 2)); plt.hist(x); plt.scatter(x, x)
plt.gcf().canvas.draw()
print(line.get_ydata())
"""
    assert run(code) == "[0.     0.0625 0.25   0.5625 1.    ]"


@pytest.mark.skipif(find_spec("scipy") is None, reason="SciPy is not installed")
def test_scipy_computes_beside_it() -> None:
    code = """
as_torch.install()
import torch, numpy as np, scipy.stats, scipy.optimize
print(round(float(scipy.stats.norm.cdf(1.0)), 4), scipy.stats.pearsonr([1., 2., 3.], [2., 4., 6.1]).statistic > 0.99)
print(scipy.stats.ttest_1samp(np.arange(5.), 2.).pvalue, scipy.optimize.brentq(lambda t: t * t - 2, 0, 2) > 1.41)
print(scipy.stats.describe(torch.arange(5.).numpy()).mean)
"""
    assert run(code).splitlines() == ["0.8413 True", "1.0 True", "2.0"]


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
def test_pandas_takes_tensors_numbers() -> None:
    code = """
as_torch.install()
import torch, pandas
frame = pandas.DataFrame({'x': torch.arange(3).numpy()})
print(frame.x.sum(), pandas.Series(torch.ones(3).tolist()).mean())
"""
    assert run(code) == "3 1.0"


# ------------------------------------------------------------------------------------------------------- the command
SCRIPT = '''import sys
import torch
from torch import nn

class Kept:
    """A class of the script's own."""

if __name__ == "__main__":
    import pickle, helper
    print(type(torch.ones(1)), sys.argv[1:], helper.n, type(pickle.loads(pickle.dumps(Kept()))).__module__, __file__)
    if "fail" in sys.argv:
        torch.ones(2) @ torch.ones(3)
    sys.exit(3 if "three" in sys.argv else 0)
'''


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("import torch\nn = torch.ones(4).sum().item()\n", encoding="utf-8")
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    return tmp_path / "train.py"


def test_a_script_runs_unchanged(script: Path) -> None:
    told = run("", "-m", "autodiff_kernel.as_torch", str(script), "--lr", "1")
    assert told == f"<class 'torch.Tensor'> ['--lr', '1'] 4.0 __main__ {script}"


def test_a_scripts_exit_code_and_errors_are_its_own(script: Path) -> None:
    command = [sys.executable, "-m", "autodiff_kernel.as_torch", str(script)]
    assert subprocess.run([*command, "three"], capture_output=True, check=False).returncode == 3
    done = subprocess.run([*command, "fail"], capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and lines[0] == "Traceback (most recent call last):"
    assert (
        lines[1] == f'  File "{script}", line 12, in <module>'
        and lines[2].strip() == "torch.ones(2) @ torch.ones(3)"
    )


def test_misuse_of_the_command_is_told_in_a_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "autodiff_kernel.as_torch"]
    done = subprocess.run([*command, str(tmp_path / "none.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "can't open" in done.stderr and len(done.stderr.splitlines()) == 1
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("usage:")


def test_a_module_runs_too(script: Path) -> None:
    command = [sys.executable, "-m", "autodiff_kernel.as_torch", "-m", "helper"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=script.parent)
    assert (done.returncode, done.stderr) == (0, "")


# --------------------------------------------------------------------------------------------------------- the magic
def test_the_magic_in_a_kernel() -> None:
    with kernel("autodiff") as shell:
        assert shell.run("import sys; 'torch' in sys.modules").results == ["False"]
        shell.run("%as_torch")
        assert shell.run("import torch.nn.functional as F\ntype(torch.ones(1))").results == ["torch.Tensor"]
        assert "autodiff_kernel" in complaint(shell.run("import torch.nosuch"), "ModuleNotFoundError")
        shell.run("%as_torch off")
        assert shell.run("'torch' in sys.modules").results == ["False"]
        shell.run("import types; sys.modules['torch'] = types.ModuleType('torch')")
        assert "real torch is already imported" in complaint(shell.run("%as_torch"))
