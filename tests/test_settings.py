"""Settings of the process, torch.backends and torch.accelerator: what is asked and told is what PyTorch says."""

import pytest

import autodiff_kernel as torch


def test_constants() -> None:
    assert (torch.pi, torch.e, torch.inf) == (3.141592653589793, 2.718281828459045, float("inf"))
    assert torch.nan != torch.nan and torch.ones(2)[torch.newaxis].shape == (1, 2)
    assert torch.version.cuda is None and torch.version.__version__ == torch.__version__


def test_threads() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    assert torch.get_num_threads() == 2 and torch.get_num_interop_threads() >= 1
    torch.set_num_threads(before)
    for wrong, text in (
        (0, "expects a positive integer"),
        ("a", "expects an int, but got str"),
        (True, "but got bool"),
    ):
        with pytest.raises(RuntimeError, match=text):
            torch.set_num_threads(wrong)
    with pytest.raises(RuntimeError, match="set_num_interop_threads expects a positive integer"):
        torch.set_num_interop_threads(0)


def test_determinism() -> None:
    assert not torch.are_deterministic_algorithms_enabled() and torch.get_deterministic_debug_mode() == 0
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.is_deterministic_algorithms_warn_only_enabled() and torch.get_deterministic_debug_mode() == 1
    torch.set_deterministic_debug_mode("error")
    assert (
        torch.are_deterministic_algorithms_enabled()
        and not torch.is_deterministic_algorithms_warn_only_enabled()
    )
    torch.use_deterministic_algorithms(False)
    with pytest.raises(TypeError, match="must be bool, not int"):
        torch.use_deterministic_algorithms(1)
    with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
        torch.set_deterministic_debug_mode("x")


def test_precision_of_products() -> None:
    assert torch.get_float32_matmul_precision() == "highest" and not torch.backends.cuda.matmul.allow_tf32
    torch.set_float32_matmul_precision("high")
    assert torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    with pytest.warns(UserWarning, match="nope is not one of 'highest', 'high', or 'medium'"):
        torch.set_float32_matmul_precision("nope")
    assert torch.get_float32_matmul_precision() == "highest"
    with pytest.raises(RuntimeError, match="expects a str, but got int"):
        torch.set_float32_matmul_precision(3)


def test_the_default_device() -> None:
    torch.cuda.simulate(2)
    try:
        assert torch.get_default_device() == torch.device("cpu")
        torch.set_default_device("cuda:1")
        assert (
            torch.zeros(2).get_device() == torch.tensor([1.0]).get_device() == torch.rand(2).get_device() == 1
        )
        assert torch.arange(3).device == torch.linspace(0, 1, 2).device == torch.get_default_device()
        assert (
            torch.zeros(2, device="cpu").get_device()
            == torch.from_numpy(torch.ones(1).cpu().numpy()).get_device()
            == -1
        )
        with torch.device("cuda:0"):
            assert torch.eye(2).get_device() == torch.get_default_device().index == 0
            with torch.device("cpu"):
                assert torch.full((2,), 1.0).get_device() == -1
        assert torch.randn(2).get_device() == 1
        torch.set_default_device(None)
        assert torch.zeros(2).get_device() == -1
        with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
            torch.set_default_device("nope")
    finally:
        torch.set_default_device(None)
        torch.cuda.simulate(0)


def test_backends_keep_what_they_are_told() -> None:
    cudnn = torch.backends.cudnn
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32) == (
        True,
        False,
        False,
        True,
    )
    cudnn.deterministic = True
    assert cudnn.deterministic is True
    with cudnn.flags(enabled=False, deterministic=False):
        assert (cudnn.enabled, cudnn.deterministic) == (False, False)
    assert (cudnn.enabled, cudnn.deterministic) == (True, True)
    cudnn.deterministic = False
    with pytest.raises(RuntimeError, match="set_benchmark_cudnn expects a bool, but got str"):
        cudnn.benchmark = "a"
    assert not cudnn.is_available() and cudnn.version() is None and not cudnn.is_acceptable(torch.ones(1))
    assert not torch.backends.mps.is_available() and not torch.backends.mps.is_built()
    for library in (
        torch.backends.mkl,
        torch.backends.mkldnn,
        torch.backends.openmp,
        torch.backends.opt_einsum,
    ):
        assert library.is_available() in (True, False)
    assert torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")


def test_the_usual_line_that_chooses_a_device() -> None:
    def chosen() -> str:
        if torch.accelerator.is_available():
            return torch.accelerator.current_accelerator().type
        return "mps" if torch.backends.mps.is_available() else "cpu"

    assert chosen() == "cpu" and torch.accelerator.current_accelerator() is None
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        torch.accelerator.synchronize()
    torch.cuda.simulate(2)
    try:
        assert chosen() == "cuda" and torch.accelerator.device_count() == 2 and torch.backends.cuda.is_built()
        with torch.accelerator.device_index(1):
            assert torch.accelerator.current_device_index() == 1
        torch.accelerator.set_device_index(1)
        x = torch.zeros(1000, device="cuda")
        assert x.get_device() == 1 and torch.accelerator.memory_allocated() >= 4000
        torch.accelerator.set_device_index(0)
        torch.accelerator.synchronize()
    finally:
        torch.cuda.simulate(0)
