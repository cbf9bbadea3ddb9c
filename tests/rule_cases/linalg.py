"""Cases of products."""

from typing import Any

import numpy as np

from . import Case, Draw


# ------------------------------------------------------------------------------------------------ products
def sides(d: Draw, count: int) -> list[int]:
    """Sizes of matrices: in the style 'empty' one of them is 0."""
    out = [d.integer(1, 4) for _ in range(count)]
    if d.style == "empty":
        out[d.integer(0, count - 1)] = 0
    if d.style == "size 1":
        out[d.integer(0, count - 1)] = 1
    return out


def arrays(*places: str) -> Any:
    """Arrays whose sizes are named by letters: arrays('nm', 'mp')."""

    def draw(d: Draw) -> Any:
        letters = sorted(set("".join(places)))
        size = dict(zip(letters, sides(d, len(letters)), strict=True))
        return [d.array(tuple(size[c] for c in place)) for place in places]

    return draw


def draw_matmul(d: Draw) -> Any:
    n, m, p = sides(d, 3)
    batch = d.shapes(2)
    kind = d.integer(0, 5)
    a, b = (
        ((*batch[0], n, m), (*batch[1], m, p)), ((2, 3, n, m), (m, p)), ((2, n, m), (m,)), ((m,), (3, m, p)),
        ((m,), (m, p)), ((n, m), (2, m, p)),
    )[kind]  # fmt: skip
    return [d.array(a), d.array(b)], "UnsafeViewBackward0"


def factors(d: Draw) -> Any:
    return d.choice([1, 0.5]), d.choice([1, 2.5])


def draw_sum(*places: str) -> Any:
    """input, first, second for addmm and its kin; the input may broadcast."""

    def draw(d: Draw) -> Any:
        whole, first, second = arrays(*places)(d)
        if d.style == "broadcast" and whole.ndim:
            whole = d.array(whole.shape[d.integer(0, whole.ndim) :])
        return [whole, first, second], factors(d)

    return draw


def ref_sum(product: Any) -> Any:
    return lambda a, b, c, p: p[0] * a + p[1] * product(b, c)


def draw_linear(d: Draw) -> Any:
    n, i, o = sides(d, 3)
    lead = d.choice([(), (n,), (2, n)])
    return [d.array((*lead, i)), d.array((o, i)), d.array((o,))], "AddmmBackward0"


def draw_linear_plain(d: Draw) -> Any:
    xs, p = draw_linear(d)
    return xs[:2], p


def draw_cross(d: Draw) -> Any:
    dim = d.integer(1, 2)
    shape = [d.integer(1, 3), d.integer(1, 3)]
    shape[-dim] = 3
    other = [1 if n != 3 and d.flag() else n for n in shape]
    return [d.array(tuple(shape)), d.array(tuple(other))], -dim


# ------------------------------------------------------------------------------------------------ einsum
EQUATIONS = ("ij,jk->ik", "ij,jk->ki", "i,j->ij", "ij,ij->", "bij,bjk->bik", "ij,k->i", "iij,jk->ik", "ii,i->", "i,i,i->i",
             "ij,jk,kl->il", "ij,kl,m->", ",i->i")  # fmt: skip


def draw_einsum(d: Draw) -> Any:
    equation = d.choice(EQUATIONS)
    return arrays(*equation.split("->")[0].split(","))(d), equation


def draw_large(d: Draw) -> Any:
    """Enough work that an order of multiplication is chosen."""
    return [d.array((30, 40)), d.array((40, 20)), d.array((20,))], "ij,jk,k->i"


def ref_einsum(*args: Any) -> Any:
    return np.einsum(args[-1], *args[:-1])


def bmm_sum(b: Any, c: Any) -> Any:
    return np.einsum("bij,bjk->ik", b, c)


CASES = [
    Case("mm", arrays("nm", "mp"), ref=np.matmul),
    Case("mm_nt", arrays("nm", "pm"), ref=lambda a, b: a @ b.T),
    Case("mm_tn", arrays("mn", "mp"), ref=lambda a, b: a.T @ b),
    Case("mv", arrays("nm", "m"), ref=np.matmul),
    Case("mv_t", arrays("mn", "m"), ref=lambda a, b: a.T @ b),
    Case("outer", arrays("n", "m"), ref=np.outer),
    Case("dot", arrays("n", "n"), ref=np.dot),
    Case("vdot", arrays("n", "n"), ref=np.dot),
    Case("matmul", draw_matmul, ref=lambda a, b, p: np.matmul(a, b)),
    Case("linear", draw_linear, ref=lambda x, w, b, p: x @ w.T + b),
    Case("linear_no_bias", draw_linear_plain, ref=lambda x, w, p: x @ w.T),
    Case("addmm", draw_sum("np", "nm", "mp"), ref=ref_sum(np.matmul)),
    Case("addmv", draw_sum("n", "nm", "m"), ref=ref_sum(np.matmul)),
    Case("addr", draw_sum("nm", "n", "m"), ref=ref_sum(np.outer)),
    Case("baddbmm", draw_sum("bnp", "bnm", "bmp"), ref=ref_sum(np.matmul)),
    Case("addbmm", draw_sum("np", "bnm", "bmp"), ref=ref_sum(bmm_sum)),
    Case("linalg_cross", draw_cross, ref=lambda a, b, p: np.cross(*np.broadcast_arrays(a, b), axis=p)),
    Case("trace", lambda d: (arrays("nm")(d), None), ref=np.trace),
    Case("einsum", draw_einsum, ref=ref_einsum),
    Case("einsum", draw_large, ref=ref_einsum, name="with a plan", second=False),  # quick enough once
]
