"""The functions of `torch` that distributions are written with."""

from ..core.api import FUNCTIONS
from ..core.late import function

arange, bernoulli, broadcast_shapes, broadcast_tensors = [
    FUNCTIONS[n] for n in ("arange", "bernoulli", "broadcast_shapes", "broadcast_tensors")
]
cat, diag_embed, empty, eye, full = [FUNCTIONS[n] for n in ("cat", "diag_embed", "empty", "eye", "full")]
full_like, isclose, multinomial, normal = [
    FUNCTIONS[n] for n in ("full_like", "isclose", "multinomial", "normal")
]
ones_like, rand, stack, tensor, where = [
    FUNCTIONS[n] for n in ("ones_like", "rand", "stack", "tensor", "where")
]
as_tensor, tril_indices, zeros_like = [FUNCTIONS[n] for n in ("as_tensor", "tril_indices", "zeros_like")]
binomial, poisson, cholesky_inverse = [function(n) for n in ("binomial", "poisson", "cholesky_inverse")]
sample_dirichlet, standard_gamma = [function(n) for n in ("_sample_dirichlet", "_standard_gamma")]
