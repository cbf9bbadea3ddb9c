"""What layers answer for inputs of their own making: the code that runs with PyTorch and with us alike."""

from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "data" / "nn_layers.json"


def waves(torch: Any, *shape: int) -> Any:
    """A tensor of numbers that follow no pattern, the same everywhere."""
    count = 1
    for n in shape:
        count *= n
    return (torch.arange(float(count)) * 0.37).sin().reshape(shape)


def rounded(*values: Any) -> list[float]:
    return [round(float(v), 4) + 0.0 for v in values]


def recurrent(torch: Any, kind: str, **options: Any) -> list[float]:
    torch.manual_seed(3)
    layer = getattr(torch.nn, kind)(2, 3, **options)
    x = waves(torch, 4, 3, 2).requires_grad_()
    y, state = layer(x)
    (y * waves(torch, *y.shape)).sum().backward()
    last = state[1] if isinstance(state, tuple) else state
    return rounded(y.sum(), last.sum(), x.grad.abs().sum(), layer.weight_hh_l0.grad.abs().sum())


def packed(torch: Any) -> list[Any]:
    rnn = torch.nn.utils.rnn
    torch.manual_seed(1)
    layer = torch.nn.GRU(2, 3, bidirectional=True)
    y, h = layer(rnn.pack_padded_sequence(waves(torch, 4, 3, 2), [2, 4, 1], enforce_sorted=False))
    padded, lengths = rnn.pad_packed_sequence(y)
    return [
        *rounded(padded.sum(), h.sum(), padded[1, 0, 4], h[1, 2, 0]),
        lengths.tolist(),
        y.batch_sizes.tolist(),
    ]


def cell(torch: Any) -> list[float]:
    torch.manual_seed(0)
    return rounded(*[t.sum() for t in torch.nn.LSTMCell(2, 3)(waves(torch, 2, 2))])


def losses(torch: Any) -> list[float]:
    F, x = torch.nn.functional, waves(torch, 3, 4)
    target, ones, positive = torch.tensor([1, 3, -100]), torch.ones(3, 4), (x > 0).float()
    return rounded(
        F.cross_entropy(x, target),
        F.cross_entropy(x, target, weight=torch.tensor([1.0, 2.0, 3.0, 4.0]), label_smoothing=0.1),
        F.cross_entropy(x, x.softmax(1), reduction="sum"),
        F.binary_cross_entropy(x.sigmoid(), positive),
        F.binary_cross_entropy_with_logits(x, positive, pos_weight=torch.tensor(2.0)),
        F.smooth_l1_loss(x, -x),
        F.huber_loss(x, -x, delta=0.5),
        F.kl_div(x.log_softmax(1), x.softmax(1) ** 2, reduction="batchmean"),
        F.gaussian_nll_loss(x, -x, x.abs()),
        F.triplet_margin_loss(x, -x, x + 1),
        F.multi_margin_loss(x, torch.tensor([0, 1, 2])),
        F.multilabel_margin_loss(x, torch.tensor([[1, -1, 0, 0], [0, 2, -1, 1], [3, 1, 2, -1]])),
        F.cosine_embedding_loss(x, x + 1, torch.tensor([1, -1, 1])),
        F.poisson_nll_loss(x, x.abs() * 3, full=True),
        F.margin_ranking_loss(x, -x, ones),
        F.hinge_embedding_loss(x, ones),
        F.soft_margin_loss(x, ones),
    )


def drops(torch: Any) -> list[list[float]]:
    F = torch.nn.functional
    torch.manual_seed(0)
    return [
        rounded(*F.dropout(torch.ones(8), 0.3)),
        rounded(*F.dropout2d(torch.ones(1, 4, 1, 1)).flatten()),
        rounded(*F.alpha_dropout(torch.ones(4), 0.5, True)),
    ]


def norms(torch: Any) -> list[float]:
    nn, x = torch.nn, waves(torch, 2, 2, 2, 2)
    batch = nn.BatchNorm2d(2)
    y = batch(x)
    return rounded(
        y[0, 1, 1, 1], batch.running_mean[1], batch.running_var[1], batch.eval()(x).sum(), nn.LayerNorm(2)(x)[1, 1, 1, 0],
        nn.GroupNorm(1, 2)(x)[1, 0, 0, 1], nn.InstanceNorm2d(2)(x)[1, 0, 0, 1], nn.RMSNorm(2)(x)[0, 1, 0, 1],
        nn.LocalResponseNorm(2)(x).sum(),
    )  # fmt: skip


def convolutions(torch: Any) -> list[float]:
    nn = torch.nn
    torch.manual_seed(5)
    layer = nn.Conv2d(2, 4, 3, stride=2, padding=1, groups=2)
    x = waves(torch, 1, 2, 5, 5).requires_grad_()
    y = layer(x)
    (y * waves(torch, *y.shape)).sum().backward()
    wider = nn.ConvTranspose2d(2, 2, 3, stride=2, output_padding=1)
    return rounded(
        y.sum(), x.grad.abs().sum(), layer.weight.grad.abs().sum(), wider(x).sum(), nn.MaxPool2d(2)(x).sum(),
        nn.AvgPool2d(3, 2, 1)(x).sum(), nn.AdaptiveAvgPool2d((2, 3))(x).sum(), nn.ReflectionPad2d(2)(x).sum(),
        nn.Upsample(scale_factor=2, mode="bilinear")(x).sum(),
    )  # fmt: skip


def embeddings(torch: Any) -> list[Any]:
    nn = torch.nn
    torch.manual_seed(2)
    table = nn.Embedding(5, 2, padding_idx=0)
    table(torch.tensor([[0, 1], [1, 4]])).sum().backward()
    bag = nn.EmbeddingBag(5, 2)
    return [table.weight.grad.tolist(), *rounded(bag(torch.tensor([1, 2, 4]), torch.tensor([0, 2])).sum())]


def attention(torch: Any) -> list[float]:
    q = waves(torch, 2, 3, 4)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    return rounded(sdpa(q, q * 2, q + 1)[1, 2, 3], sdpa(q, q, q, is_causal=True).sum())


def transformer(torch: Any) -> list[float]:
    nn = torch.nn
    torch.manual_seed(4)
    model = nn.Transformer(4, 2, 1, 1, 8, dropout=0.1)
    src, tgt = waves(torch, 3, 2, 4).requires_grad_(), waves(torch, 2, 2, 4)
    mask = nn.Transformer.generate_square_subsequent_mask(2)
    hidden = torch.tensor([[False, False, True], [False, False, False]])
    y = model(src, tgt, tgt_mask=mask, src_key_padding_mask=hidden)
    (y * waves(torch, *y.shape)).sum().backward()
    look = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, batch_first=True)
    z, weights = look(waves(torch, 2, 3, 4), waves(torch, 2, 2, 3), waves(torch, 2, 2, 5))
    return rounded(*y.detach().flatten(), src.grad.abs().sum(), z.sum(), weights[1, 2, 2])


RECURRENT = {
    "tanh": ("RNN", {}), "relu": ("RNN", {"nonlinearity": "relu", "bias": False}),
    "gru": ("GRU", {"num_layers": 2, "bidirectional": True, "dropout": 0.5}),
    "lstm": ("LSTM", {"num_layers": 2, "bidirectional": True}),
    "projected": ("LSTM", {"proj_size": 2, "batch_first": True}),
}  # fmt: skip
CASES: dict[str, Any] = {
    **{
        name: lambda torch, k=kind, o=options: recurrent(torch, k, **o)
        for name, (kind, options) in RECURRENT.items()
    },
    **{
        f.__name__: f
        for f in (packed, cell, losses, drops, norms, convolutions, embeddings, attention, transformer)
    },
}
