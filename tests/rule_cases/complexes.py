"""Cases of complex numbers and their parts."""

from dataclasses import replace
from typing import Any

import numpy as np

from . import (
    Case,
    Draw,
    activations,
    arithmetic,
    casting,
    cumulative,
    elementwise,
    indexing,
    inputs,
    joining,
    linalg,
    nonzero,
    positive,
    real,
    reductions,
    scatter,
    selection,
    shapes,
)


def plane(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Complex numbers, none near 0."""
    return np.asarray(np.exp(rng.uniform(-1, 1, shape) + 1j * rng.uniform(-3, 3, shape)))


def one(d: Draw) -> Any:
    return [d.array(d.shape(), plane)], None


def pairs(d: Draw) -> Any:
    return [np.array(d.array((*d.shape(), 2)), order="C")], None


# float32=False: the test expects float64 to become float32, and complex128 to stay
CASES = [
    Case("complex", inputs(real, real), ref=lambda a, b: a + 1j * b, float32=False),
    Case("polar", inputs(real, real), ref=lambda a, b: a * np.exp(1j * b), float32=False),
    Case("real", one, ref=np.real, float32=False),
    Case("imag", one, ref=np.imag, float32=False),
    Case("conj", inputs(plane), ref=np.conj),
    Case("conj_physical", inputs(plane), ref=np.conj),
    Case("view_as_real", one, ref=lambda a: np.stack([a.real, a.imag], -1), float32=False),
    # only pairs that are neighbours in memory can be viewed
    Case("view_as_complex", pairs, ref=lambda a: a[..., 0] + 1j * a[..., 1], float32=False, storage=True),
    Case("angle", inputs(nonzero), ref=np.angle),
    Case("angle", inputs(plane), ref=np.angle, name="of complex numbers", float32=False),
]


# ------------------------------------------------------------------------------------------------ other rows
# The rows that PyTorch differentiates for complex values too: the cases of other families, with an imaginary part.
COMPLEX_TOO = """
    add sub rsub mul div neg pow_number pow pow_base addcmul addcdiv lerp lerp_tensor logaddexp ldexp
    square sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sigmoid sin cos tan asin acos atan sinc sinh cosh
    tanh asinh acosh atanh abs sgn
    sum mean prod var std var_mean std_mean linalg_vector_norm dist logsumexp cumsum cumprod logcumsumexp delay recurrence
    mm mm_nt mm_tn mv mv_t outer dot vdot matmul linear linear_no_bias addmm addmv addr baddbmm addbmm linalg_cross trace
    einsum linalg_inv linalg_det cofactor linalg_slogdet linalg_solve linalg_solve_triangular linalg_lu_factor linalg_qr
    linalg_pinv linalg_matrix_exp
    clone reshape contiguous unsqueeze squeeze expand permute transpose t diagonal diagonal_copy diagonal_backward
    diag_embed tril triu unfold unfold_backward as_strided as_strided_backward repeat repeat_interleave flip roll rot90
    cat stack block_diag split unbind
    getitem getitem_back slice_scatter diagonal_scatter index index_back index_put index_select index_add index_copy take
    put masked_fill masked_select masked_scatter masked_scatter_backward masked_scatter_of take_along add_along gather
    gather_backward scatter scatter_add scatter_reduce_sum scatter_reduce_mean where zero copy fill fill_number
""".split()
# Rows whose reference fills real arrays, or leaves out a conjugate.
REAL_REFERENCE = """
    getitem_back index_back masked_scatter_backward masked_scatter_of block_diag mm_nt mm_tn mv_t outer vdot diag_embed
    gather_backward logaddexp logcumsumexp scatter_reduce_sum scatter_reduce_mean as_strided
""".split()


def off_the_line(case: Case) -> Case:
    """The case with complex values in place of real ones."""

    def draw(d: Draw) -> Any:
        drawn = case.draw(d)
        xs, p = drawn if isinstance(drawn, tuple) else (drawn, None)
        return [off(d, x) for x in xs], p

    ref = None if case.row in REAL_REFERENCE else case.ref
    return replace(case, draw=draw, ref=ref, name=f"{case.name} complex".strip(), float32=False)


def off(d: Draw, x: Any) -> Any:
    if getattr(x, "dtype", None) != np.float64:
        return x
    return np.asarray(x + 1j * d.rng.uniform(0.1, 0.6, x.shape))


CASES += [
    off_the_line(case)
    for family in (activations, arithmetic, casting, cumulative, elementwise, indexing, joining, linalg, reductions,
                   scatter, selection, shapes)
    for case in family.CASES
    if case.row in COMPLEX_TOO
]  # fmt: skip
# a real input among complex ones has a real gradient
CASES += [
    Case(row, inputs(*domains), ref=ref, name="real and complex", float32=False)
    for row, ref in (("add", np.add), ("mul", np.multiply), ("div", np.divide), ("pow", np.power))
    for domains in ((positive, plane), (plane, positive))
]
