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
EQUATIONS = ("ij,jk->ik", "ij,jk->ki", "i,j->ij", "ij,ij->", "bij,bjk->bik", "ij,k->i", "iij,jk->ik", "ii,i->",
             "i,i,i->i", "ij,jk,kl->il", "ij,kl,m->", ",i->i")  # fmt: skip


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


# ------------------------------------------------------------------------------------------------ decompositions
def batch(d: Draw) -> tuple[int, ...]:
    """The batch dimensions: none, some, or an empty one."""
    return {"empty": (0,), "0-d": (), "size 1": (1,)}.get(d.style) or d.choice([(), (), (2,)])


def regular(d: Draw, lead: tuple[int, ...], n: int) -> Any:
    """Square matrices that are far from singular."""
    return np.asarray(d.rng.normal(size=(*lead, n, n)) * 0.4 + np.eye(n) * d.choice([2.0, -1.5]))


def square(d: Draw) -> Any:
    return [regular(d, batch(d), d.integer(1, 4))], None


def symmetric(d: Draw) -> Any:
    """Symmetric matrices whose eigenvalues are at least 1 and well apart."""
    n = d.integer(1, 4)
    q = np.linalg.qr(d.rng.normal(size=(*batch(d), n, n)))[0]
    values = 1 + np.arange(n) + d.rng.uniform(0, 0.4, size=(*q.shape[:-2], n))
    a = (q * values[..., None, :]) @ q.swapaxes(-2, -1)
    return (a + a.swapaxes(-2, -1)) / 2


def spread(d: Draw, m: int, n: int) -> Any:
    """Matrices whose singular values are at least 1 and well apart."""
    lead, k = batch(d), min(m, n)
    u = np.linalg.qr(d.rng.normal(size=(*lead, m, k)))[0]
    v = np.linalg.qr(d.rng.normal(size=(*lead, n, k)))[0]
    values = 1 + np.arange(k) + d.rng.uniform(0, 0.4, size=(*lead, k))
    return (u * values[..., None, :]) @ v.swapaxes(-2, -1)


def draw_solve(d: Draw) -> Any:
    n = d.integer(1, 4)
    lead = batch(d)
    other = (1,) * len(lead) if d.style == "broadcast" else lead
    return [regular(d, lead, n), d.array((*other, n, d.integer(1, 3)))], None


def draw_triangular(d: Draw) -> Any:
    (a, b), _ = draw_solve(d)
    return [a, b], (d.flag(), d.flag())


def triangle(a: Any, p: Any) -> Any:
    upper, ones = p
    t = np.triu(a, int(ones)) if upper else np.tril(a, -int(ones))
    return t + np.eye(a.shape[-1]) if ones else t


def tall(d: Draw) -> Any:
    n = d.integer(1, 3)
    return [spread(d, n + d.integer(0, 2), n)]


def wide(d: Draw) -> Any:
    n = d.integer(1, 3)
    return [spread(d, n, n + d.integer(1, 2))]


def draw_lu(d: Draw) -> Any:
    """Matrices in which each pivot stands out, so that the exchanges stay the same nearby."""
    m, n = d.integer(1, 4), d.integer(1, 4)
    k = min(m, n)
    lower = np.tril(d.rng.uniform(-0.7, 0.7, size=(*batch(d), m, k)), -1) + np.eye(m, k)
    upper = np.triu(d.rng.uniform(0.5, 1.5, size=(*lower.shape[:-2], k, n)) * d.choice([1, -1]))
    return [d.rng.permutation(lower @ upper, axis=-2)], None


def ref_lu(a: Any) -> Any:
    """Gauss, matrix by matrix."""
    m, n = a.shape[-2:]
    both, pivots = a.reshape((-1, m, n)).copy(), []
    for x in both:
        for j in range(min(m, n)):
            best = j + int(np.argmax(np.abs(x[j:, j])))
            x[[j, best]] = x[[best, j]]
            x[j + 1 :, j] /= x[j, j]
            x[j + 1 :, j + 1 :] -= np.outer(x[j + 1 :, j], x[j, j + 1 :])
            pivots.append(best + 1)
    return both.reshape(a.shape), np.reshape(pivots, (*a.shape[:-2], min(m, n)))


def ref_exp(a: Any) -> Any:
    term, result = np.broadcast_to(np.eye(a.shape[-1]), a.shape), np.zeros(a.shape)
    for k in range(1, 60):
        result, term = result + term, term @ a / k
    return result


def draw_cdist(order: Any) -> Any:
    def draw(d: Draw) -> Any:
        n, m, size = d.integer(1, 3), d.integer(1, 3), d.integer(1, 3)
        lead = batch(d)
        values = d.distinct((*lead, n + m, size))  # no two rows have an equal element,
        far = 100.0 * d.rng.permutation(size)  # and of no two rows do two differences have one size
        return [values[..., :n, :] + far, values[..., n:, :]], order

    return draw


def ref_cdist(a: Any, b: Any, p: Any) -> Any:
    difference = a[..., :, None, :] - b[..., None, :, :]
    return np.linalg.norm(difference, ord=p, axis=-1) if a.size else np.zeros(difference.shape[:-1])


def pinv_of(a: Any, p: Any) -> Any:
    return np.linalg.pinv(a)


CASES += [
    Case("linalg_inv", square, ref=np.linalg.inv),
    Case("linalg_det", square, ref=np.linalg.det),
    Case(
        "cofactor",
        square,
        ref=lambda a: np.linalg.det(a)[..., None, None] * np.linalg.inv(a).swapaxes(-2, -1),
    ),
    Case("linalg_slogdet", square, ref=np.linalg.slogdet),
    Case("linalg_solve", draw_solve, ref=np.linalg.solve),
    Case("linalg_solve_triangular", draw_triangular, ref=lambda a, b, p: np.linalg.solve(triangle(a, p), b)),
    Case("linalg_cholesky", lambda d: ([symmetric(d)], None), ref=np.linalg.cholesky, symmetric=True),
    Case("linalg_lu_factor", draw_lu, ref=ref_lu),
    Case("linalg_qr", lambda d: (tall(d), "reduced"), ref=lambda a, p: np.linalg.qr(a)),
    Case("linalg_qr", lambda d: (wide(d), "reduced"), ref=lambda a, p: np.linalg.qr(a), name="wide"),
    Case("linalg_eigh", lambda d: ([symmetric(d)], "L"), ref=lambda a, p: np.linalg.eigh(a), symmetric=True),
    Case("linalg_svd", lambda d: (tall(d), False), ref=lambda a, p: np.linalg.svd(a, full_matrices=False)),
    Case(
        "linalg_svd",
        lambda d: (wide(d), False),
        ref=lambda a, p: np.linalg.svd(a, full_matrices=False),
        name="wide",
    ),
    Case("linalg_pinv", lambda d: (d.choice([tall, wide])(d), (0.0, 1e-15)), ref=pinv_of),
    # the number of halvings depends on the matrix's size, which is read on the CPU
    Case("linalg_matrix_exp", square, ref=ref_exp, syncs=True),
    Case("cdist", draw_cdist(2), ref=ref_cdist),
    Case("cdist", draw_cdist(1), ref=ref_cdist, name="1"),
    Case("cdist", draw_cdist(3.0), ref=ref_cdist, name="3"),
    Case("cdist", draw_cdist(float("inf")), ref=ref_cdist, name="inf"),
]
