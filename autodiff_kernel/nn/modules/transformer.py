"""The Transformer: layers of attention and small networks, for an encoder and a decoder."""

import copy
from typing import Any

from ...core.api import FUNCTIONS
from .. import functional as F
from . import filling
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip


def _activation(given: Any) -> Any:
    if isinstance(given, str):
        if given not in ("relu", "gelu"):
            raise RuntimeError(f"activation should be relu/gelu, not {given}")
        return F.relu if given == "relu" else F.gelu
    return given


class _Layer(Module):
    """What encoder and decoder layers share: the small network, and where the norms stand."""

    norm_first: bool

    def _network(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout: float,
        bias: bool,
        eps: float,
        norms: int,
        where: Any,
    ) -> None:
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **where)
        for k in range(1, norms + 1):
            setattr(self, f"norm{k}", LayerNorm(d_model, eps=eps, bias=bias, **where))
        for k in range(1, norms + 1):
            setattr(self, f"dropout{k}", Dropout(dropout))

    def _feed(self, x: Any, drop: Any) -> Any:
        return drop(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def _look(self, attention: Any, x: Any, at: Any, mask: Any, padding: Any, drop: Any) -> Any:
        return drop(attention(x, at, at, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0])


class TransformerEncoderLayer(_Layer):
    """Self-attention, then a network of two linear layers; each added to its input and normed.

    The input is (S, N, d_model), or (N, S, d_model) if batch_first. norm_first: the norms stand before, not behind.

    >>> import autodiff_kernel as torch
    >>> torch.nn.TransformerEncoderLayer(8, 2, 16)(torch.ones(5, 1, 8)).shape
    torch.Size([5, 1, 8])
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias=bias, batch_first=batch_first, **where
        )
        self._network(d_model, dim_feedforward, dropout, bias, layer_norm_eps, 2, where)
        self.norm_first, self.activation = norm_first, _activation(activation)

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Any:
        masks = src_mask, src_key_padding_mask
        if self.norm_first:
            y = self.norm1(src)
            src = src + self._look(self.self_attn, y, y, *masks, self.dropout1)
            return src + self._feed(self.norm2(src), self.dropout2)
        src = self.norm1(src + self._look(self.self_attn, src, src, *masks, self.dropout1))
        return self.norm2(src + self._feed(src, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to what the encoder gave, then a network; each added to its input and normed."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias=bias, batch_first=batch_first, **where
        )
        self.multihead_attn = MultiheadAttention(
            d_model, nhead, dropout, bias=bias, batch_first=batch_first, **where
        )
        self._network(d_model, dim_feedforward, dropout, bias, layer_norm_eps, 3, where)
        self.norm_first, self.activation = norm_first, _activation(activation)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        own, other = (tgt_mask, tgt_key_padding_mask), (memory_mask, memory_key_padding_mask)
        x = tgt
        if self.norm_first:
            y = self.norm1(x)
            x = x + self._look(self.self_attn, y, y, *own, self.dropout1)
            x = x + self._look(self.multihead_attn, self.norm2(x), memory, *other, self.dropout2)
            return x + self._feed(self.norm3(x), self.dropout3)
        x = self.norm1(x + self._look(self.self_attn, x, x, *own, self.dropout1))
        x = self.norm2(x + self._look(self.multihead_attn, x, memory, *other, self.dropout2))
        return self.norm3(x + self._feed(x, self.dropout3))


class _Stack(Module):
    def __init__(self, layer: Any, num_layers: int, norm: Any) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm


class TransformerEncoder(_Stack):
    """num_layers copies of an encoder layer over each other, and perhaps a norm behind."""

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Any = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(_Stack):
    """num_layers copies of a decoder layer over each other, and perhaps a norm behind."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """Encoder and decoder: src (S, N, d_model) and tgt (T, N, d_model) to (T, N, d_model).

    Raises RuntimeError for other sizes.

    >>> import autodiff_kernel as torch
    >>> model = torch.nn.Transformer(8, 2, 1, 1, 16)
    >>> model(torch.ones(5, 1, 8), torch.ones(3, 1, 8)).shape
    torch.Size([3, 1, 8])
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu, custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        sizes = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
        )
        where = {"device": device, "dtype": dtype}

        def norm() -> Any:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)

        if custom_encoder is None:
            layer = TransformerEncoderLayer(*sizes, **where)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(
                TransformerDecoderLayer(*sizes, **where), num_decoder_layers, norm()
            )
        self.decoder = custom_decoder
        for p in self.parameters():
            if p.dim() > 1:
                filling.xavier(p)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        if (
            src.dim() == 3
            and src.shape[0 if self.batch_first else 1] != tgt.shape[0 if self.batch_first else 1]
        ):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """The mask that hides later places: −inf above the diagonal, 0 elsewhere.

        >>> import autodiff_kernel as torch
        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return FUNCTIONS["full"]((sz, sz), float("-inf"), dtype=dtype, device=device).triu(1)
