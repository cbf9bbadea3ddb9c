"""torch.linalg: norms, solvers, decompositions.

>>> import autodiff_kernel as torch
>>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 2.]))
tensor([1.0000, 0.5000])
"""

from inspect import signature as _signature
from typing import Any as _Any

from .core.api import numpy_words as _numpy_words
from .core.rules.cholesky import cholesky, cholesky_ex
from .core.rules.householder import householder_product
from .core.rules.ldl import ldl_factor, ldl_factor_ex, ldl_solve
from .core.rules.linalg import LinAlgError, det, inv, inv_ex, slogdet, solve, solve_ex, solve_triangular
from .core.rules.lu import lu, lu_factor, lu_factor_ex, lu_solve
from .core.rules.matrices import (
    cond,
    lstsq,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    norm,
    pinv,
    tensorinv,
    tensorsolve,
    vander,
    vecdot,
)
from .core.rules.matrices import linalg_diagonal as diagonal
from .core.rules.matrices import linalg_vector_norm as vector_norm
from .core.rules.products import matmul
from .core.rules.spectral import eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from .core.rules.tensor_products import linalg_cross as cross
from .core.rules.tensor_products import multi_dot


def _parameters(f: _Any) -> list[str]:
    return [] if isinstance(f, type) else list(_signature(f).parameters)


__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex",
    "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul",
    "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve",
    "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip

# PyTorch calls the first matrix A in its manual and takes it as `input` (of lstsq the second as `b`).
for _name in __all__:
    _f = globals()[_name]
    _first = _parameters(_f)[:1]
    if _first and _first[0] in ("A", "x"):
        _words = {"input": _first[0], "b": "B"} if _name == "lstsq" else {"input": _first[0], "x": _first[0]}
        globals()[_name] = _numpy_words(_f, _words)
