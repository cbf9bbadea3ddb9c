"""torch.backends: what the libraries under PyTorch are asked and told. The one under this library is NumPy (and CuPy).

Settings are kept, so that code which sets them runs and reads them back; results do not depend on them, since no
operation here has a faster variant that is less exact or less deterministic.

>>> import autodiff_kernel as torch
>>> torch.backends.cudnn.benchmark = True
>>> torch.backends.mps.is_available(), torch.backends.cudnn.is_available()
(False, False)
>>> torch.backends.cudnn.benchmark = False
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core import device as _devices
from ..core import settings as _settings

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]


class _Switch:
    """A setting that is a bool."""

    def __init__(self, default: bool) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner.__name__.lower(), name

    def __get__(self, where: Any, owner: type) -> Any:
        return self if where is None else vars(where).get(self.name, self.default)

    def __set__(self, where: Any, value: Any) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"set_{self.name}_{self.owner} expects a bool, but got {type(value).__name__}")
        vars(where)[self.name] = value


class Cudnn:
    """NVIDIA's library of layers. It is not used: convolutions go through matrix products."""

    enabled = _Switch(True)
    benchmark = _Switch(False)
    deterministic = _Switch(False)
    allow_tf32 = _Switch(True)

    def is_available(self) -> bool:
        """Whether cuDNN is used: it never is."""
        return False

    def version(self) -> None:
        """The version of cuDNN: there is none."""

    def is_acceptable(self, tensor: Any) -> bool:
        """Whether cuDNN could work on the tensor: there is none."""
        return False

    @contextmanager
    def flags(self, **values: bool) -> Iterator[None]:
        """Set switches (enabled, benchmark, deterministic, allow_tf32) for the time of a `with`."""
        before = {name: getattr(self, name) for name in values}
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


class _Matmul:
    """Products on GPUs: `allow_tf32` is another name for the precision of float32 products."""

    allow_fp16_reduced_precision_reduction = _Switch(True)
    allow_bf16_reduced_precision_reduction = _Switch(True)

    @property
    def allow_tf32(self) -> bool:
        return _settings.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        _settings.set_float32_matmul_precision("high" if value else "highest")


class Cuda:
    """GPUs: real ones through CuPy, or simulated ones."""

    def __init__(self) -> None:
        self.matmul = _Matmul()

    def is_built(self) -> bool:
        """Whether GPUs can be used: here as soon as there are any."""
        return _devices.cuda_count() > 0


class Mps:
    """Apple's GPUs, for which there is no NumPy."""

    def is_available(self) -> bool:
        """Whether tensors can live on 'mps': never."""
        return False

    def is_built(self) -> bool:
        """Whether the library could use them: no."""
        return False


class _Library:
    """A library that NumPy may or may not have been built with."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def is_available(self) -> bool:
        """Whether NumPy's linear algebra uses it."""
        import numpy

        found: Any = numpy.show_config(mode="dicts")
        name = str(found.get("Build Dependencies", {}).get("blas", {})).lower()
        return any(word in name for word in self._words)


class Cpu:
    """The processor."""

    def get_cpu_capability(self) -> str:
        """The widest vector instructions that NumPy uses: 'AVX512', 'AVX2' or 'DEFAULT'."""
        import numpy

        found: Any = numpy.show_config(mode="dicts")
        names = " ".join(found.get("SIMD Extensions", {}).get("found", []))
        return "AVX512" if "AVX512" in names else "AVX2" if "AVX2" in names else "DEFAULT"


class OptEinsum:
    """The order of an einsum's contractions, which is chosen without the package opt_einsum here."""

    enabled = _Switch(False)
    strategy = None

    def is_available(self) -> bool:
        """Whether opt_einsum is used: it never is."""
        return False


cudnn, cuda, mps, cpu, opt_einsum = Cudnn(), Cuda(), Mps(), Cpu(), OptEinsum()
mkl, openmp = _Library("mkl"), _Library("openmp")
mkldnn = _Library("mkldnn", "onednn")
