"""Attention: each query takes the values whose keys it resembles."""

import math
from typing import Any

from ...core.api import FUNCTIONS
from .activations import softmax
from .dropping import dropout

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """softmax(query keyᵀ / √E + mask) value.

    query: (…, L, E), key: (…, S, E), value: (…, S, V). attn_mask: True where a query may look, or numbers that are added.
    is_causal: no query looks at later keys. Returns (…, L, V). Raises RuntimeError for a mask together with is_causal.

    >>> import autodiff_kernel as torch
    >>> q = torch.ones(1, 2, 4)
    >>> torch.nn.functional.scaled_dot_product_attention(q, q, torch.tensor([[[1.], [3.]]]), is_causal=True)
    tensor([[[1.],
             [2.]]])
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * factor
    if is_causal:
        size = query.shape[-2], key.shape[-2]
        attn_mask = FUNCTIONS["ones"](size, dtype=FUNCTIONS["tensor"](True).dtype, device=query.device).tril()
    if attn_mask is not None:
        if attn_mask.raw.dtype.kind == "b":
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
    weights = softmax(scores, -1)
    if attn_mask is not None and attn_mask.raw.dtype.kind == "b":
        weights = weights.masked_fill(~attn_mask.any(-1, keepdim=True), 0)
    return dropout(weights, dropout_p) @ value


def additive(mask: Any, like: Any) -> Any:
    """A mask of booleans (True: don't look) as numbers that are added: 0 and −inf."""
    if mask is None or mask.raw.dtype.kind == "f":
        return mask
    return FUNCTIONS["zeros"](mask.shape, dtype=like.dtype, device=like.device).masked_fill(mask, -math.inf)


def heads(
    q: Any, k: Any, v: Any, count: int, mask: Any, key_padding: Any, drop: float, need_weights: bool
) -> tuple[Any, Any]:
    """Attention in several heads: q (L, N, E), k and v (S, N, E), each split into `count` parts that look by themselves.

    mask: (L, S) or (N · count, L, S); key_padding: (N, S). Gives (L, N, E), and the weights (N, count, L, S) if wanted.
    """
    length, n, size = q.shape
    source, each = k.shape[0], size // count
    q = q.reshape(length, n * count, each).transpose(0, 1).reshape(n, count, length, each)
    k = k.reshape(source, n * count, each).transpose(0, 1).reshape(n, count, source, each)
    v = v.reshape(source, n * count, each).transpose(0, 1).reshape(n, count, source, each)
    total = additive(mask, q)
    if total is not None and total.dim() == 3:
        total = total.reshape(n, count, length, source) if total.shape[0] != 1 else total.unsqueeze(0)
    if key_padding is not None:
        hidden = additive(key_padding, q).view(n, 1, 1, source)
        total = hidden if total is None else total + hidden
    scores = (q * math.sqrt(1.0 / each)) @ k.transpose(-2, -1)
    weights = softmax(scores if total is None else scores + total, -1)
    weights = dropout(weights, drop) if drop else weights
    y = (weights @ v).permute(2, 0, 1, 3).reshape(length, n, size)
    return y, weights if need_weights else None
