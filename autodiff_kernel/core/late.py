"""Families of rows that few lessons use, loaded by the first question for one of their names.

Importing the library costs a student's first cell some time, a third of it for the table of rules.  `FAMILIES` lists
the modules of `rules/` that can wait, and the public names that each of them makes.  A function waits for the
namespace's `__getattr__` (`torch.det`), a method for the descriptor that stands in its place (`x.det()`); after that
nothing shows that they came late.
"""

from importlib import import_module
from typing import Any

from .api import FUNCTIONS
from .places import claim
from .tensor import Tensor

# module of rules/ (with a dot: of core), after those that it needs: (functions and methods, functions only, methods only)
FAMILIES: dict[str, tuple[str, str, str]] = {
    "linalg": ("det inverse logdet slogdet triangular_solve", "", ""),
    "lu": ("lu lu_solve", "lu_unpack", ""),
    "spectral": ("qr svd", "", ""),
    "cholesky": ("cholesky cholesky_inverse cholesky_solve", "", ""),
    "ldl": ("", "", ""),
    "matrices": ("matrix_exp matrix_power pinverse", "", ""),
    "householder": ("geqrf orgqr ormqr", "", ""),
    "lowrank": ("", "pca_lowrank svd_lowrank", ""),
    "fourier": ("", "", ""),
    "distances": ("corrcoef cov renorm renorm_", "cdist", ""),
    "counting": ("bincount histc", "vander", ""),
    "patches": ("diagonal_scatter select_scatter slice_scatter", "", ""),
    "ranks": ("median mode nanmedian", "", ""),
    "searching": ("bucketize unique unique_consecutive", "isin searchsorted", ""),
    "samples": (
        "",
        "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad binomial poisson",
        "",
    ),
    "bessel": ("i0 i0_", "", ""),
    "normals": ("", "", ""),
    "incomplete": ("igamma igammac", "", "igamma_ igammac_"),
    "polynomials": ("", "", ""),
    ".dlpack": ("", "from_dlpack to_dlpack", "__dlpack__ __dlpack_device__"),
    ".storages": ("", "is_storage", "is_set_to set_ storage untyped_storage"),
    "quantiles": ("nanquantile quantile", "", ""),
    "histograms": ("histogram", "histogramdd", ""),
    "differences": ("frexp", "gradient", ""),
    "spectrograms": ("istft stft", "", ""),
    "losses": ("", "", ""),
    "embeddings": ("", "", ""),
    "image_columns": ("", "", ""),
    "resampling": ("", "", ""),
    "padding": ("", "", ""),
    "pooling": ("", "", ""),
    "fractional": ("", "", ""),
    "standardization": ("", "", ""),
    "trapezoids": ("", "cumulative_trapezoid trapezoid trapz", ""),
    "convolution": ("", "", ""),
    "convolutions": (
        "",
        "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution",
        "",
    ),
}
HOMES: dict[str, str] = {}  # a function's name: its module


class Late:
    """A method of a family that is not loaded yet; loading puts the method itself in this place."""

    def __init__(self, family: str, name: str) -> None:
        self.family, self.name = family, name

    def __get__(self, x: Any, owner: type) -> Any:
        load(self.family)
        return getattr(owner if x is None else x, self.name)


def load(family: str) -> None:
    """Load a module of rules: its rows, functions and methods are there from now on."""
    import_module(path(family))
    claim()


def path(family: str) -> str:
    return __package__ + (family if family.startswith(".") else f".rules.{family}")


def load_all() -> None:
    """Load every family: for whoever walks the table."""
    for family in FAMILIES:
        import_module(path(family))
    claim()


def function(name: str) -> Any:
    """The public function of this name, or None if no family makes one."""
    if name not in FUNCTIONS and name in HOMES:
        load(HOMES[name])
    return FUNCTIONS.get(name)


for _family, (_both, _functions, _methods) in FAMILIES.items():
    HOMES.update(dict.fromkeys(_both.split() + _functions.split(), _family))
    for _name in _both.split() + _methods.split():
        if _name not in Tensor.__dict__:  # an import of the module itself may have been earlier
            setattr(Tensor, _name, Late(_family, _name))
