"""torch.nn.modules: the layers, one file for each family."""

from importlib import import_module as _import_module
from typing import Any as _Any

FAMILIES = {
    "module": "Module", "container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "linear": "Bilinear Identity Linear", "flatten": "Flatten Unflatten",
    "activation": "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU "
    "RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
    "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "loss": "BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss HuberLoss "
    "KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss "
    "MultiMarginLoss NLLLoss NLLLoss2d "
    "PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss",
    "rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "attention": "MultiheadAttention",
    "transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer",
    "lazy": "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d "
    "LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear",
    "sparse": "Embedding EmbeddingBag",
    "normalization": "BatchNorm1d BatchNorm2d BatchNorm3d CrossMapLRN2d GroupNorm InstanceNorm1d InstanceNorm2d "
    "InstanceNorm3d LayerNorm LocalResponseNorm RMSNorm SyncBatchNorm",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
    "AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d "
    "MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "fractional": "FractionalMaxPool2d FractionalMaxPool3d",
    "padding": " ".join(
        f"{kind}Pad{n}d" for kind in ("Circular", "Constant", "Reflection", "Replication", "Zero") for n in (1, 2, 3)
    ),
    "vision": "ChannelShuffle CosineSimilarity Fold PairwiseDistance PixelShuffle PixelUnshuffle Unfold Upsample "
    "UpsamplingBilinear2d UpsamplingNearest2d",
}  # fmt: skip
HOMES = {name: family for family, names in FAMILIES.items() for name in names.split()}
__all__ = sorted(HOMES)


def __getattr__(name: str) -> _Any:
    """A layer, or a file of them: loaded with the first question."""
    if name in FAMILIES:
        return _import_module(f"{__name__}.{name}")
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f"{__name__}.{HOMES[name]}"), name)
    from ...core.places import claim

    claim()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, *FAMILIES})
