"""torch.linalg: norms, solvers, decompositions.

>>> import autodiff_kernel as torch
>>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 2.]))
tensor([1.0000, 0.5000])
"""

from .core.rules.householder import householder_product as householder_product
from .core.rules.linalg import LinAlgError as LinAlgError
from .core.rules.linalg import (
    cholesky as cholesky,
)
from .core.rules.linalg import (
    cholesky_ex as cholesky_ex,
)
from .core.rules.linalg import (
    det as det,
)
from .core.rules.linalg import (
    inv as inv,
)
from .core.rules.linalg import (
    inv_ex as inv_ex,
)
from .core.rules.linalg import (
    slogdet as slogdet,
)
from .core.rules.linalg import (
    solve as solve,
)
from .core.rules.linalg import (
    solve_ex as solve_ex,
)
from .core.rules.linalg import (
    solve_triangular as solve_triangular,
)
from .core.rules.lu import lu as lu
from .core.rules.lu import lu_factor as lu_factor
from .core.rules.lu import lu_factor_ex as lu_factor_ex
from .core.rules.lu import lu_solve as lu_solve
from .core.rules.matrices import (
    cond as cond,
)
from .core.rules.matrices import linalg_diagonal as diagonal
from .core.rules.matrices import linalg_vector_norm as vector_norm
from .core.rules.matrices import (
    lstsq as lstsq,
)
from .core.rules.matrices import (
    matrix_exp as matrix_exp,
)
from .core.rules.matrices import (
    matrix_norm as matrix_norm,
)
from .core.rules.matrices import (
    matrix_power as matrix_power,
)
from .core.rules.matrices import (
    matrix_rank as matrix_rank,
)
from .core.rules.matrices import (
    norm as norm,
)
from .core.rules.matrices import (
    pinv as pinv,
)
from .core.rules.matrices import (
    tensorinv as tensorinv,
)
from .core.rules.matrices import (
    tensorsolve as tensorsolve,
)
from .core.rules.matrices import (
    vander as vander,
)
from .core.rules.matrices import (
    vecdot as vecdot,
)
from .core.rules.products import matmul as matmul
from .core.rules.spectral import (
    eig as eig,
)
from .core.rules.spectral import (
    eigh as eigh,
)
from .core.rules.spectral import (
    eigvals as eigvals,
)
from .core.rules.spectral import (
    eigvalsh as eigvalsh,
)
from .core.rules.spectral import (
    qr as qr,
)
from .core.rules.spectral import (
    svd as svd,
)
from .core.rules.spectral import (
    svdvals as svdvals,
)
from .core.rules.tensor_products import linalg_cross as cross
from .core.rules.tensor_products import multi_dot as multi_dot

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul",
    "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve",
    "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip
