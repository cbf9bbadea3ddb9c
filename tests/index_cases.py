"""Random index expressions: reads and writes of every kind of index, with their gradients."""

import random
import warnings

import numpy as np

SHAPES = [(), (1,), (4,), (0,), (2, 3), (3, 1), (0, 3), (2, 3, 4), (1, 3, 2), (2, 2, 2, 3)]
VALUES = ["7.", "5", "True", "torch.tensor(7.)", "torch.arange(3.)", "torch.ones(2, 1)", "torch.tensor([[3.]])",
          "torch.tensor([1, 2])", "x[{index}] * 2", "'a'", "[1., 2., 3.]", "None"]  # fmt: skip


def one(draw, size):
    """What picks from a dimension of this size: a number, a slice, a list, an index tensor, a mask."""
    kind = draw.random()
    if kind < 0.25 and size:
        return str(draw.randint(-size, size - (kind > 0.02)))
    if kind < 0.6:
        ends = [draw.choice(["", str(draw.randint(-size - 1, size + 1))]) for _ in range(2)]
        return ":".join(ends) + draw.choice(["", "", ":1", ":2", ":3", ":-1" if kind < 0.3 else ""])
    if kind < 0.75 and size:
        shape = draw.choice([(), (1,), (2,), (3,), (2, 2), (1, 3), (0,)])
        values = [draw.randint(-size, size - 1) for _ in range(int(np.prod(shape)))]
        dtype = draw.choice(["int64", "int64", "int32", "int8"])
        if len(shape) == 1 and kind < 0.65:
            return str(values)
        return f"torch.tensor({values}, dtype=torch.{dtype}).reshape({shape})"
    mask = [draw.random() < 0.5 for _ in range(size)]
    return str(mask) if kind < 0.8 else f"torch.tensor({mask}, dtype=torch.bool)"


def index(draw, shape):
    parts, dim, dots = [], 0, False
    wanted = draw.randint(0, len(shape))
    while dim < wanted or draw.random() < 0.25 and len(parts) < 6:
        kind = draw.random()
        if kind < 0.12:
            parts.append("None")
        elif kind < 0.2 and not dots:
            parts.append("...")
            dots = True
            dim = draw.randint(dim, len(shape))
        elif kind < 0.23:
            parts.append(draw.choice(["True", "False"]))
        elif kind < 0.3 and dim + 1 < len(shape):
            mask = [draw.random() < 0.5 for _ in range(shape[dim] * shape[dim + 1])]
            parts.append(f"torch.tensor({mask}, dtype=torch.bool).reshape({shape[dim : dim + 2]})")
            dim += 2
        elif dim < len(shape):
            parts.append(one(draw, shape[dim]))
            dim += 1
    return ", ".join(parts) if parts else "..."


def cases(count, seed=20261201):
    """(shape, code) pairs; the code reads or changes x and leaves its result in y."""
    draw = random.Random(seed)
    for _ in range(count):
        shape = draw.choice(SHAPES)
        turned = len(shape) > 1 and draw.random() < 0.3
        i = index(draw, shape[::-1] if turned else shape)
        start = "x = x.permute(*range(x.dim() - 1, -1, -1)); " if turned else ""
        kind = draw.random()
        if kind < 0.5:
            yield shape, f"{start}y = x[{i}]"
        elif kind < 0.8:
            value = draw.choice(VALUES).format(index=i)
            yield shape, f"{start}y = x{draw.choice(['.clone()', '.detach().clone()'])}; y[{i}] = {value}"
        else:
            yield (
                shape,
                f"{start}y = x.clone(); v = torch.ones_like(y[{i}].detach()); y[{i}] = v.requires_grad_() * 3; y = y * y",
            )


def answer(shape, code, torch):
    """What comes out, in plain values; of an error its type and the beginning of its message."""
    count = int(np.prod(shape))
    leaf = torch.arange(1.0, count + 1).reshape(shape).requires_grad_()
    env = {"torch": torch, "x": leaf}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(code, env)
        except Exception as error:
            return {"raises": type(error).__name__, "text": str(error)[:30]}
        y = env["y"]
        out = {"shape": list(y.shape), "values": y.tolist(), "version": y._version, "view": y._is_view()}
        if y._is_view() and y.numel():
            out["offset"] = y.storage_offset()
        if y.requires_grad:
            out["node"] = y.grad_fn.name()
            (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
            out["grads"] = [
                t.grad.tolist() if t.grad is not None else None for t in (leaf, env.get("v", leaf))
            ]
    return out
