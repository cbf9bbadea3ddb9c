"""Calls of every public name that has a derivative, and the names that have none.

A line of CALLS holds items between semicolons:

    add: x, y                 the function torch.add(x, y), the method x.add(y) and the in-place form x.add_(y), as
                              far as they exist; `add subtract: x, y` says the same of two names
    where as method: x, b, y  only the method;   `as function`, `as property` likewise
    sort as new: x, 1         no in-place form: the result has another shape or dtype
    = x + y                   an expression

`record_forward.py` asks PyTorch for the derivative of each call, for real and for complex arguments.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

SHAPES = {
    "x": (2, 3), "y": (2, 3), "p": (2, 3), "q": (2, 3), "u": (2, 3), "c": (2, 1), "v": (3,), "w": (3,), "e": (4,),
    "s": (), "A": (3, 3), "B": (3, 3), "g": (3, 2), "t": (2, 3, 4), "f": (2, 4, 3), "h": (2, 2), "r": (4, 3),
}  # fmt: skip
CONSTANTS = {
    "b": np.array([[True, False, True], [False, True, True]]),
    "i": np.array([2, 0]),
    "j": np.array([1, 0]),
    "k": np.array([[2, 0], [1, 2]]),
    "n": np.array([2, 0, 1]),
    "third": np.array(1 / 3),
}


def variables(complex_too: bool = False) -> dict[str, Any]:
    """The arguments: no two elements equal, none near 0 or a half; p positive, q in (0, 1), u in (-1, 1)."""
    rng, out = np.random.default_rng(3), {}
    for name, shape in SHAPES.items():
        size = int(np.prod(shape))
        even = (rng.permutation(size) + rng.uniform(0.3, 0.7, size)) / size  # spread over (0, 1)
        x = {"p": 0.6 + 2 * even, "q": 0.1 + 0.8 * even, "u": 1.7 * even - 0.85, "s": 0.8 + 0.2 * even}.get(
            name, 4 * even - 2
        )
        near = np.abs(x * 2 - np.round(x * 2)) < 0.06
        x = np.where(near, x + 0.07, x).reshape(shape)
        if name in "AB":
            x = x * 0.4 + 2 * np.eye(3)
        if complex_too:
            x = x + 1j * rng.uniform(0.2, 0.5, shape) * (0.3 if name in "qu" else 1)
        out[name] = x
    return out


CALLS = """
# functions of one number
abs absolute sgn sign square exp exp2 expm1 sigmoid sin cos sinh cosh tanh asinh arcsinh sinc neg negative positive: x
sqrt rsqrt log log2 log10 log1p lgamma digamma: p
reciprocal deg2rad rad2deg erf erfc i0 floor ceil trunc fix round frac nan_to_num relu selu celu angle: x
tan asin arcsin acos arccos atan arctan atanh arctanh erfinv: u
acosh arccosh: p + 1; frexp as function: x; frexp as method: x
= torch.special.i0e(x); torch.special.i1(x); torch.special.i1e(x); torch.special.erfcx(x); torch.special.ndtr(x)
= torch.special.log_ndtr(x); torch.special.ndtri(q); torch.special.entr(p); torch.special.xlog1py(x, p)
igamma igammac as function: 2.0 + b, p; igamma igammac as method: 2.0 + b, p
= torch.special.zeta(3.0, p)
logit: q; logit: q, 0.05; round: x, decimals=1; celu: x, 0.7; threshold: x, 0.1, 7.0; hardshrink: x; hardshrink: x, 0.3
polygamma as function: 1, p; polygamma as method: p, 2; mvlgamma: p + 1, 2; prelu: x, v[:1]; prelu: x, v
softmax: x, 1; softmax: t, -1; log_softmax: x, 0
clone conj conj_physical resolve_conj resolve_neg adjoint float double half cpu: x; contiguous: x.t()
real as function: x; imag as function: x if x.is_complex() else torch.complex(x, y)
view_as_real as new: x if x.is_complex() else torch.complex(x, y)
complex as new: x.real, y.real; polar as new: p.real, y.real; view_as_complex: torch.stack([x.real, y.real], -1)
real H mT mH T as property: x; mT mH as property: t
type as method: x, torch.float32; to as method: x, torch.float64; to as method: x, 'cpu'; type_as: x, y
cfloat cdouble: x
fill as new: x, s; fill as new: x, 2.0; fill_ as method: x * 1, s; zero_ as method: x * 1
copy_ as method: x * 1, y; copy_ as method: x * 1, v

# functions of two and three numbers
add: x, y; add: x, v; add: x, s; add: x, 2.0; add: x, y, alpha=0.5; add as new: c, v
sub subtract: x, y; sub as new: c, v; sub: x, y, alpha=3; rsub as new: x, y; rsub as new: x, 2.0
mul multiply: x, y; mul: x, c; mul: x, 3; div divide true_divide: x, y; div: x, c; div: x, 3
div: x, y, rounding_mode='trunc'; div: x, y, rounding_mode='floor'; divide: x, 0.7, rounding_mode='floor'
pow: p, y; pow: p, 3; pow: x, 2; pow as function: 2.5, x; pow: p, s; pow: p, -1.5; float_power: p, y; float_power: p, 2
remainder fmod: x, y; remainder fmod: x, 0.7
maximum minimum fmax fmin: x, y; maximum minimum fmax fmin: x, v
clamp_min clamp_max: x, y; clamp_min clamp_max: x, 0.3
clamp clip: x, -0.9, 0.7; clamp: x, q - 1, q; clamp: x, min=q; clip: x, max=0.4
hypot atan2 arctan2 logaddexp logaddexp2 copysign nextafter: x, y; copysign: x, -2.0; ldexp: x, y; ldexp: x, j[:, None]
xlogy: x, p; xlogy: x, 2.0; xlogy as function: 2.0, p
lerp: x, y, 0.3; lerp: x, y, u; lerp: x, y, s
addcmul: x, y, u; addcmul: x, y, u, value=0.3; addcmul: x, c, v; addcdiv: x, y, p, value=0.3; addcdiv: x, c, p
where as function: b, x, y; where as function: b, x, 2.0; where as method: x, b, y
= x + y; x - 2; 2 - x; -x; +x; abs(x); x * y; 2 * x; x / y; 2 / x; p ** y; 2 ** x; x ** 3; x % y; x % 0.7; 0.7 % p
= x @ g; v @ A; x.__rdiv__(2.0); x.__rpow__(2.0); x.__rsub__(1.0); A.__rmatmul__(B); x.__rmul__(2.0)
= (x * 1).__iadd__(y); (x * 1).__isub__(y); (x * 1).__imul__(y); (x * 1).__itruediv__(y)
= (p * 1).__ipow__(2); (x * 1).__imod__(0.7)
dist: x, y; dist: x, y, 1; dist: x, y, 3; dist: x, y, float('inf')

# reductions
sum mean prod nansum nanmean max amax min amin median nanmedian aminmax norm var std: x
sum mean prod nansum nanmean max min amax amin median nanmedian mode var std var_mean std_mean: x, 1
sum mean amax logsumexp: x, (0, 1), keepdim=True; sum mean prod: x, -1, True; logsumexp: x, 1; var std: x, 0, correction=0
max min: x, y; aminmax: x, dim=1; norm: x, 1; norm: x, 2, 1; norm: x, 'fro'
renorm: x, 2, 0, 1.5; renorm: x, 1, 1, 1.0
cumsum cumprod cummax cummin logcumsumexp: x, 1; cumsum cumprod: t, 0
diff as new: x; diff as new: x, 1, 0; diff as new: x, prepend=c; trapezoid trapz cumulative_trapezoid as function: x
gradient as function: x; gradient as function: x, spacing=0.5, dim=1; quantile nanquantile as new: x, 0.3
quantile as function: x, q[0], 1; quantile as function: x, 0.4, 1, interpolation='nearest'
= x.__reversed__(); x.to_dense()
trapezoid trapz cumulative_trapezoid as function: x, y; trapz as function: x, dx=0.5; cov corrcoef: x; cov: x, correction=0
sort msort: x; sort: x, 0, descending=True; topk: x, 2, 1; kthvalue: x, 2, 1; sum_to_size: x, 1, 3; sum_to_size: x, 2, 1

# shapes and parts
reshape: x, (3, 2); reshape: x.t(), (6,); reshape_as: x, g; view: x, 6; view_as: x, g; ravel flatten: x.t(); flatten: t, 1
unflatten: e, 0, (2, 2); squeeze: x.unsqueeze(1); squeeze: x[None], 0; unsqueeze: x, 1; expand: c, 2, 4; expand_as: c, x
broadcast_to: v, (2, 3); repeat: v, 2, 2; tile: x, (2,); permute: t, (2, 0, 1); t: x
transpose swapaxes swapdims movedim moveaxis: t, 0, 2
diagonal diag trace tril triu: A; diagonal: t, 1, 0, 2; diag: v; diag: A, 1; diag_embed: x; diagflat: v, 1
triu: A, 1; tril: t, -1; flip: x, (0, 1); fliplr flipud rot90: x; roll: x, 1; roll: x, (1, 2), (0, 1)
narrow narrow_copy: x, 1, 1, 2; select: x, 1, 2; unfold: e, 0, 2, 1; as_strided: x, (2, 2), (1, 2), 1
atleast_1d: s; atleast_2d: v; atleast_3d: x; repeat_interleave: x, 2; repeat_interleave: x, 2, 1
unbind: x, 1; split chunk: t, 2, 2; split split_with_sizes: e, (1, 3); tensor_split: e, 3; tensor_split: e, (1, 2)
hsplit: e, 2; vsplit: x, 2; dsplit: t, 2
= x[0]; x[:, 1:]; x[None, :, ::2]; x[..., 0]; x[b]; x[j]; x[:, i]; x[j, i]; x[[0, 0, 1]]; x[:, [2, 0]]; x[0, 1]
cat concat concatenate stack as function: [x, y]; cat concat concatenate stack as function: [x, y, x], 1
hstack vstack dstack row_stack column_stack as function: [x, y]; column_stack as function: [c, x]
block_diag as function: x, v, s; cartesian_prod as function: v, w; combinations: v; broadcast_tensors as function: x, v
meshgrid as function: v, e, indexing='ij'; vander as function: v

# parts chosen by index or mask
gather: x, 1, k; take: x, k; take_along_dim: x, k, 1; index_select: x, 1, i; masked_select: x, b
scatter: x, 1, k, y[:, :2]; scatter: x, 1, k, 2.0; scatter_add: x, 1, k, y[:, :2]
scatter_reduce: x, 1, k, y[:, :2], 'sum'; scatter_reduce: x, 1, k, y[:, :2], 'prod'; scatter_reduce: x, 1, k, y[:, :2], 'mean'
scatter_reduce: x, 1, k, y[:, :2], 'amax'; scatter_reduce: x, 1, k, y[:, :2], 'amin', include_self=False
index_add: x, 1, i, y[:, :2]; index_add: x, 1, i, y[:, :2], alpha=0.5; index_copy: x, 1, i, y[:, :2]
index_fill: x, 1, i, 2.0; index_fill: x, 1, i, s; index_put: x, (j, i), s; index_put: x, (j, j), v[:2], accumulate=True
put: x, i, v[:2]; put: x, i, v[:2], accumulate=True
index_reduce: x, 1, i, y[:, :2], 'prod'; index_reduce: x, 1, i, y[:, :2], 'mean'
index_reduce: x, 1, i, y[:, :2], 'amax'; index_reduce: x, 1, i, y[:, :2], 'amin', include_self=False
masked_fill: x, b, 2.0; masked_fill: x, b, s; masked_scatter: x, b, y
select_scatter: x, v, 0, 1; slice_scatter: x, y[:, :2], 1, 0, 2; diagonal_scatter: x, v[:2]

# products
mm: x, g; bmm: t, f; mv: x, v; dot vdot outer ger inner: v, w; inner: x, y; matmul: t, f; matmul: x, v; matmul: v, A
matmul: v, w; matmul: t, r; kron: x, h; tensordot as function: t, t, 3; tensordot as function: x, y, ([1], [1])
addmm: h, x, g; addmm: h, x, g, beta=0.5, alpha=2; addmv: v[:2], x, v; addr: A, v, w; baddbmm: t[..., :3], t, f
addbmm: A, t, f; addbmm: A, t, f, beta=0.5, alpha=2; chain_matmul as function: x, g, h; cross: A, B
einsum as function: 'ij,kj->ik', x, y; einsum as function: 'ij->j', x; einsum as function: 'i,j,ij', v, v, A
einsum as function: 'ii->i', A; einsum as function: 'ij,jk,k->i', x, A, v
linalg.multi_dot: [x, g, h]; linalg.matmul: x, g; linalg.cross: A, B; linalg.vecdot: x, y
cdist as function: x, r; cdist as function: x, r, 1.0; cdist as function: x, r, 3.0; cdist as function: x, r, float('inf')

# linear algebra
inverse det logdet slogdet linalg.inv linalg.inv_ex linalg.det linalg.slogdet: A @ A.mH
inverse det slogdet linalg.inv linalg.det matrix_exp linalg.matrix_exp: A
linalg.solve: A, B; linalg.solve: A, v; linalg.solve_ex: A, B; linalg.solve_triangular: A, B, upper=True
triangular_solve: B, A; cholesky linalg.cholesky linalg.cholesky_ex: A @ A.mH
cholesky_inverse: torch.linalg.cholesky(A @ A.mH)
cholesky_solve: B, A.tril(); lu_solve: B, *torch.linalg.lu_factor(A); linalg.lu_solve: *torch.linalg.lu_factor(A), B
lu linalg.lu_factor linalg.lu_factor_ex linalg.lu: A; lu_unpack: *torch.linalg.lu_factor(A)
qr linalg.qr: A; linalg.eigvalsh: A @ A.mH; linalg.svdvals: x; linalg.eigvals: A @ A.mH
= torch.svd(x)[1]; torch.linalg.svd(x)[1]; torch.linalg.svd(x, full_matrices=False)[0].abs(); torch.svd(x)[2].abs()
= torch.linalg.eigh(A @ A.mH)[0]; torch.linalg.eigh(A @ A.mH)[1].abs(); torch.linalg.eig(A @ A.mH)[1].abs()
= torch.svd_lowrank(r, 3)[1]; torch.pca_lowrank(r, 3)[1]; torch.linalg.eig(A)[0].abs()
pinverse linalg.pinv: x; matrix_power linalg.matrix_power: A, 3; linalg.matrix_power: A, -2
linalg.norm linalg.vector_norm linalg.matrix_norm: x; linalg.norm: A, 'nuc'; linalg.norm: v, 3; linalg.vector_norm: x, 1, 0
linalg.vector_norm: x, float('inf'); linalg.matrix_norm: A, 2; linalg.matrix_norm: A, 1; linalg.matrix_norm: t
linalg.cond: A; linalg.cond: A, 1; linalg.tensorinv: A.reshape(3, 3, 1), 1; linalg.tensorsolve: A, v
linalg.diagonal: A; linalg.vander: v; linalg.householder_product orgqr: A[:, :2], v[:2] / 3; ormqr: A[:, :2], v[:2] / 3, B
= torch.linalg.lstsq(g, h[:, :1].repeat(2, 1)[:3])[0]

# Fourier transforms
= torch.stft(x.flatten(), 4, window=e, return_complex=True); torch.stft(x, 2, 1, window=e[:2], return_complex=True).abs()
= torch.istft(torch.stft(x.flatten(), 4, window=e, return_complex=True), 4, window=e)
fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.rfft2 fft.rfftn fft.ihfft fft.ihfft2 fft.ihfftn: x
fft.irfft fft.irfft2 fft.irfftn fft.hfft fft.hfft2 fft.hfftn fft.fftshift fft.ifftshift: x
fft.fft fft.rfft fft.irfft fft.hfft fft.ihfft: x, 5, 0, 'ortho'; fft.fft fft.ifft fft.rfft: x, 2, norm='forward'
fft.fftn fft.rfftn fft.irfftn: t, (3, 2), (0, 2), 'backward'; fft.fft2 fft.ifft2: t, dim=(0, 1)

# activations and layers
F.elu F.gelu F.hardsigmoid F.hardswish F.hardtanh F.logsigmoid F.mish F.relu6 F.silu F.softplus F.softshrink F.softsign: x
F.tanhshrink F.celu F.hardshrink F.relu F.selu F.sigmoid F.tanh: x; F.gelu: x, approximate='tanh'; F.leaky_relu: x, 0.2
F.softplus: x, 2, 1; F.log_softmax F.softmax: x, 1; F.prelu: x, v[:1]; F.threshold: x, 0.1, 7.0
F.linear: x, A, v; F.linear: x, A; F.linear: t, r.mT, v; F.bilinear: x, y, t[:, :, :3], v[:2]

# convolutions, pooling and the sizes of pictures
conv1d F.conv1d: t, f[:, :3], v[:2]; conv2d F.conv2d: t[None], f[None, :, :2, :2], s[None]; conv_tbc F.conv_tbc: t, f[:1], v
conv3d F.conv3d: t[None, None], f[None, None, :, :2, :2]; F.conv1d: t, v[:, None, None] * e[:2], None, 2, 1, 2, 3
conv_transpose1d F.conv_transpose1d: t, A[:, None]; conv_transpose2d F.conv_transpose2d: t[None], f[:, None, :2, :2]
conv_transpose3d F.conv_transpose3d: t[None, None], f[None, None, :, :2, :2], s[None], 2
convolution as function: t, f[:, :3], v[:2], [2], [1], [1], False, [0], 1
F.avg_pool1d F.max_pool1d F.max_pool1d_with_indices F.adaptive_avg_pool1d F.adaptive_max_pool1d: t, 2
F.avg_pool2d F.max_pool2d F.max_pool2d_with_indices F.adaptive_avg_pool2d F.adaptive_max_pool2d: t[None], 2
F.avg_pool3d F.max_pool3d F.max_pool3d_with_indices F.adaptive_avg_pool3d F.adaptive_max_pool3d: t[None, None], 2
F.adaptive_max_pool1d_with_indices: t, 2; F.adaptive_max_pool2d_with_indices: t[None], 2; F.avg_pool1d: t, 3, 1, 1
F.adaptive_max_pool3d_with_indices: t[None, None], 2; F.lp_pool1d: t.abs(), 3, 2; F.lp_pool2d: t[None].abs(), 3, 2
F.lp_pool3d: t[None, None].abs(), 3, 2; F.max_unpool1d: *F.max_pool1d(t, 2, return_indices=True), 2
F.max_unpool2d: *F.max_pool2d(t[None], 2, return_indices=True), 2
F.max_unpool3d: *F.max_pool3d(t[None, None], 2, return_indices=True), 2
F.fractional_max_pool2d F.fractional_max_pool2d_with_indices: t[None], 2, 2, _random_samples=third.expand(1, 2, 2)
F.fractional_max_pool3d F.fractional_max_pool3d_with_indices: t[None, None], 1, 1, _random_samples=third.expand(1, 1, 3)
F.unfold: t[None], 2; F.fold: f, (2, 4), (2, 2); F.pad: x, (1, 2), value=0.5; F.pad: t, (1, 2), 'reflect'
F.pad: t, (1, 2), 'replicate'; F.pad: t, (1, 2), 'circular'; F.pixel_shuffle: f[0, :, :, None], 2
F.pixel_unshuffle: t[:, :2][None], 2; F.channel_shuffle: f, 2; F.interpolate F.upsample: t, 7
F.interpolate: t, 7, mode='linear'; F.interpolate: t[None], 5, mode='bicubic'; F.interpolate: t[None], 2, mode='area'
F.upsample_bilinear F.upsample_nearest: t[None], 5; F.affine_grid: x[None], (1, 1, 2, 3)
F.grid_sample: t[None], q[None, :, :2, None].expand(1, 2, 2, 2) * 0.8, align_corners=False

# normalization, dropout that is off, attention, lookups
F.batch_norm: x, None, None, v, w, True; F.batch_norm: x, *third.repeat(2, 3), v, w; F.instance_norm: t
F.layer_norm: x, (3,), v, w; F.group_norm: f, 2, e, e; F.rms_norm: x, (3,), v; F.local_response_norm: t, 2
F.normalize: x; F.normalize: x, 1, 0; F.dropout F.dropout1d F.alpha_dropout F.feature_alpha_dropout: t, 0.5, False
F.dropout2d: t[None], 0.5, False; F.dropout3d: t[None, None], 0.5, False; F.rrelu: x; F.glu: t, 2; F.softmin: x, 1
F.scaled_dot_product_attention: t[None], t[None] + 1, f.mT[None]; F.embedding: k, r; F.embedding_bag: k, r
F.embedding_bag: k, r, mode='max'; F.embedding_bag: k, r, mode='sum', per_sample_weights=q[:, :2]

# losses
F.mse_loss F.l1_loss F.smooth_l1_loss F.huber_loss: x, y; F.huber_loss: x, y, 'none', 0.7; F.mse_loss: x, y, reduction='sum'
F.soft_margin_loss: x, 1 - 2.0 * b; F.kl_div: x, q, reduction='sum'; F.kl_div: x, y, reduction='batchmean', log_target=True
F.poisson_nll_loss: x, p; F.gaussian_nll_loss: x, y, p; F.binary_cross_entropy: q, (u + 1) / 2
F.binary_cross_entropy_with_logits: x, q; F.binary_cross_entropy_with_logits: x, q, third, pos_weight=third.expand(3)
F.cross_entropy F.nll_loss F.multi_margin_loss: x, j; F.cross_entropy: x, q; F.cross_entropy: x, j, label_smoothing=0.1
F.nll_loss: x, j, third.expand(3), reduction='none'; F.hinge_embedding_loss: x, 1 - 2.0 * b
F.multilabel_soft_margin_loss: x, q; F.multilabel_margin_loss: x, n.expand(2, 3)
F.margin_ranking_loss: x, y, 1 - 2.0 * b; F.cosine_embedding_loss: x, y, 1 - 2.0 * j
F.triplet_margin_loss F.triplet_margin_with_distance_loss: x, y, u; F.cosine_similarity F.pairwise_distance: x, y
"""

# Names without a derivative, and why.
WITHOUT = {
    "makes a tensor from no tensor's values": """arange as_tensor asarray bartlett_window blackman_window empty
        empty_like empty_permuted empty_strided eye frombuffer from_numpy full full_like hamming_window hann_window
        kaiser_window linspace logspace new new_empty new_empty_strided new_full new_ones new_tensor new_zeros ones
        ones_like range fft.fftfreq fft.rfftfreq scalar_tensor tensor tril_indices triu_indices zeros zeros_like""",
    "draws random numbers": """bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ multinomial normal
        normal_ rand rand_like randint randint_like randn randn_like random_ randperm uniform_ binomial poisson
        F.gumbel_softmax _dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad""",
    "asks a question": """all allclose any broadcast_shapes equal is_complex is_conj is_floating_point is_neg
        is_inference is_nonzero is_pinned is_same_size is_signed is_tensor isclose isfinite isin isinf isnan
        isneginf isposinf isreal numel typename
        result_type signbit""",
    "compares": """eq ne lt le gt ge greater greater_equal less less_equal not_equal logical_and logical_not
        logical_or logical_xor __eq__ __ne__ __lt__ __le__ __gt__ __ge__ eq_ ne_ lt_ le_ gt_ ge_ greater_
        greater_equal_ less_ less_equal_ not_equal_ logical_and_ logical_not_ logical_or_ logical_xor_""",
    "gives whole numbers": """argmax argmin argsort argwhere bincount bucketize count_nonzero gcd gcd_ lcm lcm_
        nonzero searchsorted unravel_index bool byte char int long short F.one_hot linalg.matrix_rank""",
    "works on the bits of whole numbers": """bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_
        bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor
        bitwise_xor_ __and__ __or__ __xor__ __invert__ __lshift__ __rshift__ __rand__ __ror__ __rxor__ __rlshift__
        __rrshift__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__""",
    "counts": "histc histogram histogramdd unique unique_consecutive",
    "PyTorch refuses to differentiate it": """floor_divide heaviside geqrf __floordiv__ __rfloordiv__ __ifloordiv__
        linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve F.native_channel_shuffle apply_ map_ map2_""",
    "changes the library or the shape of memory": """set_default_tensor_type resize_ resize_as_ resize set_
        get_default_device set_default_device are_deterministic_algorithms_enabled get_deterministic_debug_mode
        is_deterministic_algorithms_warn_only_enabled set_deterministic_debug_mode use_deterministic_algorithms
        get_float32_matmul_precision set_float32_matmul_precision get_num_threads set_num_threads
        get_num_interop_threads set_num_interop_threads""",
    "shares memory with other libraries": """__dlpack__ __dlpack_device__ from_dlpack to_dlpack is_set_to is_shared
        is_storage storage untyped_storage __array_wrap__""",
    "needs another package": "bfloat16",
    "says what happens to gradients": "register_hook register_post_accumulate_grad_hook retain_grad detach",
    "needs a GPU": "cuda pin_memory record_stream",
}


@dataclass(frozen=True)
class Call:
    """One call: an expression of the variables, and the public name that it is about."""

    text: str
    name: str = ""

    def __str__(self) -> str:
        return self.text


def items() -> list[tuple[list[str], str, str]]:
    """(names, form, arguments) of each item; names are empty for an expression."""
    out: list[tuple[list[str], str, str]] = []
    for line in CALLS.strip().splitlines():
        if not line or line.startswith("#"):
            continue
        plain = line.startswith("=")
        for item in line.lstrip("= ").split("; "):
            if plain:
                out.append(([], "", item))
                continue
            names, arguments = item.split(": ", 1)
            names, _, form = names.partition(" as ")
            out.append((names.split(), form, arguments))
    return out


def functions() -> list[Call]:
    """Each item once, in the form that PyTorch is asked for."""
    out = []
    for names, form, arguments in items():
        if not names:
            out.append(Call(arguments))
        for name in names:
            on_method = form in ("method", "property") or name in METHODS_ONLY
            out.append(
                Call(as_method(name, arguments, form) if on_method else as_function(name, arguments), name)
            )
    return list(dict.fromkeys(out))


METHODS_ONLY = set("""contiguous cpu double float half cfloat cdouble chalf bfloat16 type_as reshape_as view view_as expand
    expand_as repeat unfold sum_to_size real_ copy_ zero_""".split())  # fmt: skip


def as_function(name: str, arguments: str) -> str:
    return f"{name if name.startswith('F.') else 'torch.' + name}({arguments})"


def as_method(name: str, arguments: str, form: str = "", copy: str = "") -> str:
    first, rest = first_of(arguments)
    first = first + copy if re.fullmatch(r"\w+(\.\w+\(\))?", first + copy) else f"({first}{copy})"
    return f"{first}.{name}" + ("" if form == "property" else f"({rest})")


def as_in_place(name: str, arguments: str) -> str:
    return as_method(name + "_", arguments, copy=" * 1")


def first_of(arguments: str) -> tuple[str, str]:
    """The first argument, and the others: at the first comma outside brackets."""
    depth = 0
    for at, c in enumerate(arguments):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            return arguments[:at], arguments[at + 2 :]
    return arguments, ""


# ------------------------------------------------------------------------------------------------ evaluation
def evaluate(text: str, torch: Any, values: dict[str, Any]) -> list[Any]:
    """The tensors that a call gives and that can have a derivative; `values` are the variables as tensors."""
    names = {"torch": torch, "F": torch.nn.functional, **values}
    return differentiable(eval(text, names))


def differentiable(out: Any) -> list[Any]:
    if isinstance(out, (tuple, list)):
        return [t for part in out for t in differentiable(part)]
    return [out] if out.is_floating_point() or out.is_complex() else []


def constants(torch: Any) -> dict[str, Any]:
    return {name: torch.from_numpy(value) for name, value in CONSTANTS.items()}


def used(text: str) -> list[str]:
    """The variables in a call."""
    return [name for name in SHAPES if re.search(rf"(?<![\w.]){name}\b", text)]


def direction(name: str, value: Any) -> Any:
    """Where a variable moves."""
    return random_like(value, 100 + list(SHAPES).index(name))


def weights(outputs: list[Any]) -> list[Any]:
    """A cotangent for each output, given as arrays."""
    return [random_like(y, 200 + k) for k, y in enumerate(outputs)]


def random_like(value: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    r = rng.normal(size=value.shape)
    return r + 1j * rng.normal(size=value.shape) if value.dtype.kind == "c" else np.asarray(r)


def slope(text: str, torch: Any, complex_too: bool) -> float | None:
    """The derivative along the variables' directions of the weighted sum of all outputs, by reverse mode."""
    arrays = {k: v for k, v in variables(complex_too).items() if k in used(text)}
    leaves = {k: torch.tensor(v, requires_grad=True) for k, v in arrays.items()}
    outputs = evaluate(text, torch, {**constants(torch), **leaves})
    ws = weights([array(y) for y in outputs])
    pairs = [(y, torch.tensor(w, dtype=y.dtype)) for y, w in zip(outputs, ws, strict=True) if y.requires_grad]
    if not pairs:
        return None
    gs = torch.autograd.grad(
        [y for y, _ in pairs], list(leaves.values()), [w for _, w in pairs], allow_unused=True
    )
    return sum(
        inner(array(g), direction(k, arrays[k])) for k, g in zip(leaves, gs, strict=True) if g is not None
    )


def array(x: Any) -> Any:
    """The values of a tensor, in double precision."""
    x = x.detach() + x.new_zeros(x.shape)  # PyTorch's gradient of sgn has no memory to list
    return np.array(x.tolist(), dtype=np.complex128 if x.is_complex() else np.float64).reshape(x.shape)


def inner(a: Any, b: Any) -> float:
    """The real inner product."""
    return float(np.real(np.vdot(a, b)))
