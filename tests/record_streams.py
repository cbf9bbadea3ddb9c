"""Record what PyTorch draws after `torch.manual_seed(seed)` in data/streams.json; run it where torch is installed.

Each case is a call with `torch` in it, the values as hexadecimal floats, and the next `torch.rand(1)`, which tells
how far the call moved the stream.  Integer seeds outside 32 bits are among them on purpose.
"""

import hashlib
import json
import pathlib

import torch

CALLS = [
    "torch.rand(3)",
    "torch.rand(2, 2, dtype=torch.float64)",
    "torch.rand(5, dtype=torch.float16)",
    "torch.rand(2, dtype=torch.complex64)",
    "torch.rand(())",
    "torch.rand(0)",
    "torch.randn(3)",
    "torch.randn(())",
    "torch.randn(15)",
    "torch.randn(16)",
    "torch.randn(17)",
    "torch.randn(3, 11)",
    "torch.randn(20, dtype=torch.float64)",
    "torch.randn(18, dtype=torch.float16)",
    "torch.randn(3, dtype=torch.complex128)",
    "torch.randn(10, dtype=torch.complex64)",
    "torch.empty(4).uniform_(-0.3, 0.7)",
    "torch.empty(4, dtype=torch.float64).uniform_(1e-3, 1e3)",
    "torch.empty(4).normal_(0.1, 1e-3)",
    "torch.empty(19).normal_(-5, 0.37)",
    "torch.empty(17, dtype=torch.float64).normal_(3.3, 1e-4)",
    "torch.randint(10, (6,))",
    "torch.randint(-2**40, 2**40, (4,))",
    "torch.randint(3, 9, (2, 2), dtype=torch.float32)",
    "torch.randint(0, 2**28 - 1, (3,), dtype=torch.int32)",
    "torch.empty(3, dtype=torch.int64).random_(-2**63, None)",
    "torch.empty(5, dtype=torch.int8).random_()",
    "torch.empty(5, dtype=torch.bool).random_()",
    "torch.empty(3, dtype=torch.int64).random_()",
    "torch.empty(3).random_()",
    "torch.empty(3, dtype=torch.float64).random_()",
    "torch.randperm(9)",
    "torch.randperm(1)",
    "torch.empty(8).bernoulli_(0.3)",
    "torch.empty(8, dtype=torch.int64).bernoulli_(0.6)",
    "torch.bernoulli(torch.tensor([0.0, 0.2, 0.5, 0.9, 1.0]))",
    "torch.bernoulli(torch.tensor([0.2, 0.5, 0.9], dtype=torch.float64))",
    "torch.empty(4).exponential_(1.7)",
    "torch.empty(4, dtype=torch.float64).exponential_()",
    "torch.empty(6).geometric_(0.2)",
    "torch.empty(6, dtype=torch.int64).geometric_(0.1)",
    "torch.empty(4).cauchy_(1.5, 0.2)",
    "torch.empty(4, dtype=torch.float64).log_normal_(0.5, 0.3)",
    "torch.empty(17).log_normal_()",
    "torch.multinomial(torch.tensor([0.1, 0.2, 0.3, 0.4]), 3)",
    "torch.multinomial(torch.tensor([1.0, 2.0, 0.0, 4.0]), 7, replacement=True)",
    "torch.multinomial(torch.tensor([[1.0, 2.0], [5.0, 0.5]], dtype=torch.float64), 1)",
    "torch.normal(2.0, 3.0, (4,))",
    "torch.normal(torch.tensor([0.0, 10.0, 20.0]), torch.tensor([1.0, 0.1, 0.01]))",
    "torch.normal(torch.tensor([[0.5], [1.5]]), torch.tensor([1.0, 2.0, 3.0]))",
    "torch.normal(1.0, torch.tensor([0.5, 2.0], dtype=torch.float64))",
    "[torch.randn(3), torch.rand(1), torch.randn(1, dtype=torch.float64), torch.randn(16), torch.randn(2)]",
    "torch.empty(3, 4).t().uniform_()",
    "torch.empty(5, 4).t().normal_()",
    "torch.randn_like(torch.empty(4, 5).t())",
    "torch.randn_like(torch.empty(40)[::2])",
    "torch.randn_like(torch.empty(5).expand(4, 5))",
    "torch.rand_like(torch.empty(3, 1, 4).permute(2, 1, 0)[::2])",
    "torch.randint_like(torch.empty(2, 3), 2, 12)",
    "torch.normal(torch.tensor([0.1, 0.7, 1.3]), 2.7)",
    "torch.poisson(torch.tensor([0.0, 0.5, 3.0, 9.9, 10.0, 57.3, 1e4]))",
    "torch.poisson(torch.full((3, 20), 12.5, dtype=torch.float64).t())",
    "torch.poisson(torch.full((10,), 2.5, dtype=torch.float16))",
    "torch.binomial(torch.tensor([0.0, 1.0, 7.0, 40.0, 1e3, 5.0]), torch.tensor([0.5, 0.2, 0.9, 0.37, 0.99, 1.0]))",
    "torch.binomial(torch.full((40,), 60.0, dtype=torch.float64), torch.full((40,), 0.7, dtype=torch.float64))",
    "[torch._standard_gamma(torch.tensor([0.0, 1e-3, 0.3, 0.99, 1.0, 2.5, 80.0])), torch.randn(1)]",
    "torch._standard_gamma(torch.full((40,), 0.4, dtype=torch.float64))",
    "torch._sample_dirichlet(torch.tensor([[0.01, 0.02, 0.5], [1.0, 3.0, 20.0]]))",
    "torch._sample_dirichlet(torch.full((2, 23), 0.7, dtype=torch.float64))",
]
SEEDS = [0, 42, 1234567890123, -1, 2**64 - 2]
STATES = [
    "torch.rand(0)",
    "torch.rand(1)",
    "torch.rand(624)",
    "torch.rand(625)",
    "torch.randn(1)",
    "torch.randn(2)",
]


def hexadecimal(tensor):
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    flat = tensor.reshape(-1).tolist()
    return [v if isinstance(v, int) else v.hex() for v in flat]


def recorded(call, seed):
    torch.manual_seed(seed)
    out = eval(call)
    tensors = out if isinstance(out, list) else [out]
    found = [{"shape": list(t.shape), "dtype": str(t.dtype)[6:], "values": hexadecimal(t)} for t in tensors]
    return {"seed": seed, "call": call, "out": found, "next": torch.rand(1).item().hex()}


def state(call):
    torch.manual_seed(77)
    eval(call)
    return {"call": call, "sha256": hashlib.sha256(bytes(torch.get_rng_state().numpy())).hexdigest()}


def main():
    cases = [recorded(call, SEEDS[i % len(SEEDS)]) for i, call in enumerate(CALLS)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    states = ",\n".join(json.dumps(state(call)) for call in STATES)
    path = pathlib.Path(__file__).parent / "data" / "streams.json"
    path.write_text(f'{{"draws": [\n{lines}\n],\n"states": [\n{states}\n]}}\n')


if __name__ == "__main__":
    main()
