"""Calls of torch.func, one a line, whose answers PyTorch gives (data/vmap.json, written by record_vmap.py).

A line is an expression of the names that `names(torch)` gives.  The answer is every tensor in the result in order (shape,
dtype, values), or the type and the beginning of the message of the error.
"""

from typing import Any

HELPERS = """
def inplace_steps(x):
    y = x.clone()
    y.mul_(2)
    y[0] = 7.
    y[1:] += x[:2]
    return y

def into_zeros(x):
    out = torch.zeros_like(x)
    out[0] = x[1] * 2
    out[1:].add_(x[1:])
    return out

def into_new(x):
    out = x.new_zeros(2, 3)
    out[:, 1] = x[:2]
    out[1] -= x
    return out

def view_steps(x):
    y = x.clone()
    y.view(3, 1)[1] = 5.
    y.unsqueeze_(0)
    return y.t_()

def loss(w, x):
    return (torch.tanh(x @ w) ** 2).sum()

def model(p, x):
    return torch.tanh(0.2 * (x @ p['w'].t() + p['b'][0])) @ p['b'][1]

def model_loss(p, x, y):
    return ((model(p, x) - y) ** 2).sum()

def masked(x):
    y = x.clone()
    y[M > 0] = 1.
    return y

def batched_mask(x):
    y = x.clone()
    y[x > 1] = 0.
    return y

def branch(x):
    if x.sum() > 0:
        return x
    return -x

def scan(x):
    h = torch.zeros(2)
    out = []
    for t in range(3):
        h = torch.tanh(h * 0.5 + x[t])
        out.append(h)
    return torch.stack(out)

def put_at(x, i):
    y = x.clone()
    y[i] = -1.
    return y

def add_at(x, i):
    return x.index_add(0, i, x)

def power(x, n):
    y = x
    for _ in range(n):
        y = y * x
    return y
"""

CASES = """
# what is mapped
vmap(lambda x: x.sum())(X)
vmap(lambda x: x.sum(), 1)(X)
vmap(lambda x: x.sum(), -1)(X)
vmap(lambda x, y: x * y, (0, None))(X, V)
vmap(lambda x, y: x * y, (0, 1))(X, X.t())
vmap(lambda x: x * 2, out_dims=1)(X)
vmap(lambda x: x * 2, out_dims=-1)(T)
vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(X)
vmap(lambda x: {'a': x, 'b': [x.sum(), (x * 2,)]})(X)
vmap(lambda x: {'a': x, 'b': [x.sum(), (x * 2,)]}, out_dims={'a': 1, 'b': 0})(X)
vmap(lambda d: d['x'] * d['y'][0], in_dims=({'x': 0, 'y': [1]},))({'x': X, 'y': [X.t()]})
vmap(lambda t: t[0] + t[1], in_dims=((0, None),))((X, V))
vmap(lambda x: V)(X)
vmap(lambda x: V, out_dims=None)(X)
vmap(lambda x, k=1.: x * k)(X, k=3.)
vmap(lambda x, y: x + y)(X, y=V)
vmap(lambda x: x * 2, chunk_size=1)(X)
vmap(lambda x: (x * 2, x.sum()), out_dims=(1, 0), chunk_size=2)(T)
vmap(lambda x: x * 2)(torch.zeros(0, 3))
vmap(lambda x: x.shape[0] * x + x.dim() + x.numel() + len(x))(X)
vmap(lambda x: x + x.size(-1))(T)
vmap(lambda x: sum(r for r in x))(T)
# nested
vmap(vmap(lambda x: x * x))(X)
vmap(vmap(lambda x, y: x * y, (None, 0)), (0, None))(X, V)
vmap(vmap(torch.dot, (None, 0)), (0, None))(X, X)
vmap(vmap(lambda x, y: x @ y, (0, None)), (None, 0))(X, S)
vmap(vmap(lambda x: x.sum(0), 1), 0, out_dims=2)(T)
vmap(vmap(vmap(lambda x: x + 1)))(T)
vmap(lambda x: vmap(lambda y: (x * y).sum())(X))(X)
# shapes
vmap(lambda x: x.reshape(3, 1))(X)
vmap(lambda x: x.view(-1, 3).expand(2, 3))(X)
vmap(lambda x: x.t())(T)
vmap(lambda x: x.T, 2)(T)
vmap(lambda x: x.permute(1, 0).reshape(-1))(T)
vmap(lambda x: x.transpose(-1, 0).contiguous().view(6))(T)
vmap(lambda x: x.unsqueeze(0).unsqueeze(-1).squeeze(0))(X)
vmap(lambda x: x.squeeze())(X.unsqueeze(1))
vmap(lambda x: x.flatten())(T)
vmap(lambda x: x.flip(0))(T)
vmap(lambda x: x.roll(1))(X)
vmap(lambda x: x.roll(1, 1))(T)
vmap(lambda x: torch.rot90(x))(T)
vmap(lambda x: x.repeat(2, 1))(X)
vmap(lambda x: x.tile(2))(X)
vmap(lambda x: torch.cat([x, x * 2]))(X)
vmap(lambda x: torch.cat([x, V]))(X)
vmap(lambda x: torch.stack([x, V], 1))(X)
vmap(lambda x: x.split(2))(X)
vmap(lambda x: x.chunk(2, 1))(T)
vmap(lambda x: x.unbind())(X)
vmap(lambda x: x.diagonal())(S)
vmap(lambda x: torch.diag_embed(x))(X)
vmap(lambda x: torch.tril(x))(S)
vmap(lambda x: x.unfold(0, 2, 1))(X)
vmap(lambda x: torch.movedim(x, 0, 1))(T)
vmap(lambda x: torch.meshgrid(x, V, indexing='ij'))(X)
vmap(lambda x: x.broadcast_to((2, 3)))(X)
# reductions, along dimensions
vmap(lambda x: (x.sum(), x.mean(), x.prod(), x.std(), x.var()))(X)
vmap(lambda x: (x.sum(0), x.mean(1, keepdim=True), x.amax((0, 1))))(T)
vmap(lambda x: x.sum(0))(V)
vmap(lambda x: x.max())(X)
vmap(lambda x: x.max(0))(X)
vmap(lambda x: x.min(1, keepdim=True))(T)
vmap(lambda x: (x.argmax(), x.argmin(0)))(T)
vmap(lambda x: x.argmax())(V)
vmap(lambda x: x.softmax(0))(X)
vmap(lambda x: torch.log_softmax(x, -1))(T)
vmap(lambda x: x.logsumexp(0))(X)
vmap(lambda x: x.cumsum(0))(X)
vmap(lambda x: x.cumprod(-1))(T)
vmap(lambda x: x.sort(descending=True))(X)
vmap(lambda x: x.topk(2))(X)
vmap(lambda x: x.norm())(X)
vmap(lambda x: x.norm(dim=0))(T)
vmap(lambda x: (x > 1).any())(X)
vmap(lambda x: (x > 1).all(0))(T)
vmap(lambda x: x.count_nonzero())(X)
vmap(lambda x: x.median(0))(X)
vmap(lambda x: torch.linalg.vector_norm(x, 1))(X)
# products
vmap(torch.dot)(X, X)
vmap(torch.mv, (0, None))(S, V)
vmap(torch.mv, (None, 0))(S[0], X)
vmap(torch.mv)(S, X)
vmap(torch.mm)(S, S)
vmap(torch.mm, (None, 0))(S[1], S)
vmap(torch.matmul, (0, None))(X, S)
vmap(torch.matmul, (None, 0))(S, X)
vmap(torch.matmul, (0, None))(X, V)
vmap(torch.bmm, (None, 0))(S, S.unsqueeze(1).expand(2, 2, 3, 3))
vmap(torch.outer)(X, X)
vmap(lambda x, y: torch.einsum('i,ij->j', x, y))(X, S)
vmap(lambda x, y: torch.einsum('ij,jk->ik', x, y), (None, 0))(S[0], S)
vmap(lambda x: torch.addmm(V, S[0], x))(S)
vmap(lambda x: torch.addmm(x, S[0], S[1], beta=2, alpha=3))(X)
vmap(lambda x: F.linear(x, S[0], V))(X)
vmap(lambda w: F.linear(X, w, V))(S)
vmap(lambda x, w, b: F.linear(x, w, b))(X, S, X)
vmap(lambda x: torch.kron(x, V))(X)
vmap(lambda x: torch.linalg.cross(x, V))(X)
vmap(lambda x: torch.trace(x))(S)
vmap(lambda x: torch.tensordot(x, S[0], 1))(S)
# linear algebra
vmap(torch.linalg.inv)(S)
vmap(torch.linalg.det)(S)
vmap(torch.linalg.solve)(S, X)
vmap(torch.linalg.solve, (None, 0))(S[0], X)
vmap(lambda x: torch.linalg.cholesky(x @ x.t()))(S)
vmap(lambda x: torch.linalg.eigvalsh(x + x.t()))(S)
vmap(torch.linalg.slogdet)(S)
# indexing
vmap(lambda x: x[0])(X)
vmap(lambda x: x[1:, ::2])(T)
vmap(lambda x: x[..., None])(X)
vmap(lambda x: x[[2, 0]])(X)
vmap(lambda x: x[J])(X)
vmap(lambda x, i: x[i])(X, I)
vmap(lambda x, i: x[i], (None, 0))(V, I)
vmap(lambda x, i: x[i], (0, None))(X, J)
vmap(lambda x, i: x[:, i])(T.transpose(1, 2), I)
vmap(lambda x, i: x[i, i])(S, I)
vmap(lambda x, i: x[i, J])(S, I[:, :2])
vmap(lambda x, i: x[0, i])(S, I)
vmap(lambda x, i: x[i])(X, torch.tensor([0, 2]))
vmap(lambda i: X[:, i])(torch.tensor([0, 2]))
vmap(lambda x: x[M > 0])(X)
vmap(lambda x, i: torch.gather(x, 0, i))(X, I)
vmap(lambda x, i: torch.gather(x, 1, i), (0, None))(S, I)
vmap(lambda x, i: torch.index_select(x, 0, i))(S, I)
vmap(lambda x, i: torch.take(x, i))(S, I)
vmap(lambda x, i: torch.take_along_dim(x, i, 0))(X, I)
vmap(lambda x, i: x.scatter(0, i, x * 10))(X, I)
vmap(lambda x, i: x.scatter_add(0, i, x), (0, None))(X, J.repeat(2)[:3])
vmap(add_at)(X, I)
vmap(put_at)(X, I[:, :2])
vmap(put_at, (None, 0))(V, I[:, :2])
vmap(put_at)(X, torch.tensor([0, 2]))
vmap(lambda x: torch.where(x > 1, x, -x))(X)
vmap(lambda x: x.masked_fill(x > 1, 0.))(X)
vmap(lambda x: torch.where(M > 0, x, V))(X)
vmap(masked)(X)
vmap(lambda i: F.one_hot(i, 3))(I)
vmap(lambda x: torch.searchsorted(V, x))(X)
vmap(lambda x: torch.bucketize(x, V))(X)
# in place, new tensors
vmap(inplace_steps)(X)
vmap(into_zeros)(X)
vmap(into_new)(X)
vmap(view_steps)(X)
vmap(scan)(T)
vmap(lambda x: torch.zeros(2, 3) + x)(X)
vmap(lambda x: torch.arange(3) * x)(X)
vmap(lambda x: torch.ones_like(x) + torch.full_like(x, 2.))(X)
vmap(lambda x: torch.eye(3) @ x)(X)
vmap(lambda x: x.clone().zero_())(X)
vmap(lambda x: x.clone().fill_(3.))(X)
vmap(lambda x: torch.empty_like(x).copy_(x))(X)
vmap(lambda x: x.clone().clamp_(1., 3.).neg_())(X)
# dtypes
vmap(lambda x: x * I[0])(X)
vmap(lambda i: i / 2)(I)
vmap(lambda i, v: i.sum() * v, (0, None))(I, V)
vmap(lambda x, i: x.sum() + i)(X.double(), X)
vmap(lambda x, i: x.sum() + i)(X.double(), I)
vmap(lambda x: x.to(torch.float64))(X)
vmap(lambda x: x.long())(X)
# derivatives and vmap
vmap(grad(lambda x: (x ** 3).sum()))(X)
vmap(grad(loss), (None, 0))(V, X)
vmap(grad(loss, (0, 1)), (None, 0))(V, X)
vmap(grad_and_value(loss), (None, 0))(V, X)
vmap(grad(model_loss), (None, 0, 0))(P, X, Y)
vmap(grad(model_loss), ({'w': 0, 'b': (None, None)}, 0, 0))({'w': S, 'b': P['b']}, X, Y)
vmap(vmap(grad(loss), (None, 0)), (0, None))(X, X)
vmap(grad(lambda x: vmap(lambda y: y ** 2)(x).sum()))(X)
grad(lambda x: vmap(lambda y: (y ** 2).sum() * x.sum())(X).sum())(V)
grad(lambda x: vmap(torch.sin)(x).sum())(V)
vmap(grad(grad(lambda x: x ** 4)))(V)
vmap(lambda x: vjp(torch.sin, x)[1](x)[0])(X)
vmap(vjp(lambda x: x ** 2, V)[1])(torch.eye(3))
vmap(lambda x: jvp(torch.sin, (x,), (x,))[1])(X)
vmap(lambda t: jvp(torch.sin, (V,), (t,))[1])(torch.eye(3))
jvp(vmap(lambda x: x.prod()), (X,), (torch.ones(2, 3),))
vmap(jacrev(lambda x: x * x.sum()))(X)
vmap(jacfwd(lambda x: x * x.sum()))(X)
vmap(hessian(lambda x: x.prod() * x.sum()))(X)
hessian(lambda w: vmap(loss, (None, 0))(w, X).sum())(V)
jacrev(vmap(lambda x: x.sum() ** 2))(X)
jacfwd(vmap(lambda x: x.sum() ** 2))(X)
jacrev(jacrev(lambda x: x ** 3))(V)
jacfwd(jacfwd(lambda x: x ** 3))(V)
jacrev(jacfwd(lambda x: x ** 3))(V)
vmap(jacrev(grad(lambda x: (x ** 3).sum())))(X)
grad(lambda x: jacrev(lambda y: y ** 3)(x).sum())(V)
vmap(lambda x, y: grad(lambda a: (a * y).sum() ** 2)(x), (0, None))(X, V)
vmap(lambda v: jvp(grad(lambda x: x.prod()), (V,), (v,))[1])(torch.eye(3))
jacfwd(into_zeros)(V)
jacrev(into_zeros)(V)
jacrev(inplace_steps)(V)
vmap(jacrev(lambda x: x.sort()[0]))(X)
jacrev(lambda x: x[J] * x[0])(V)
jacfwd(lambda x: torch.cat([x, x ** 2]))(V)
hessian(lambda x: torch.logsumexp(x, 0))(V)
hessian(lambda x: x.prod())(torch.tensor([0., 2., 3.]))
hessian(lambda x: (torch.linalg.inv(torch.diag(x)) ** 2).sum())(V + 1)
# argnums, aux, nests
grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(V, V + 1)
grad(lambda x, y: (x * y).sum(), argnums=-1)(V, V + 1)
grad(lambda x: ((x ** 2).sum(), x + 1), has_aux=True)(V)
grad_and_value(lambda x: ((x ** 2).sum(), {'a': x + 1}), has_aux=True)(V)
grad(lambda d: (d['a'] * d['b'][0]).sum())({'a': V, 'b': [V + 1]})
grad(lambda x, k=1.: (x * k).sum())(V, k=2.)
jacrev(lambda x, y: (x * y, x.sum()), argnums=(0, 1))(V, V + 1)
jacrev(lambda x, y: {'s': x * y.sum()}, argnums=1)(V, V + 1)
jacrev(lambda d: d['a'] * d['b'])({'a': V, 'b': V + 1})
jacrev(lambda x: (x ** 2, x + 1), has_aux=True)(V)
jacrev(lambda x: x ** 2, chunk_size=1)(V)
jacrev(lambda x: (x ** 2, x.sum()), chunk_size=2)(V)
jacrev(lambda x: x.reshape(3, 1) * V)(V)
jacfwd(lambda x, y: (x * y, x.sum()), argnums=(0, 1))(V, V + 1)
jacfwd(lambda x, y: {'s': x * y.sum()}, argnums=1)(V, V + 1)
jacfwd(lambda d: d['a'] * d['b'])({'a': V, 'b': V + 1})
jacfwd(lambda x: (x ** 2, x + 1), has_aux=True)(V)
jacfwd(lambda x: V)(V)
jacrev(lambda x: V + 0 * x.detach())(V)
hessian(lambda x, y: (x * y ** 2).sum(), argnums=(0, 1))(V, V + 1)
hessian(lambda x, y: (x * y ** 2).sum(), argnums=1)(V, V + 1)
vjp(lambda x, y: (x * y, x.sum()), V, V + 1)[1]((V, torch.tensor(2.)))
vjp(lambda d: {'o': d['a'] * 2}, {'a': V})[1]({'o': V})
vjp(lambda x: (x * 2, x + 1), V, has_aux=True)[2]
jvp(lambda x, y: (x * y, x.sum()), (V, V + 1), (V, V))
jvp(lambda d: {'o': d['a'] * 2}, ({'a': V},), ({'a': V + 1},))
jvp(lambda x: (x * 2, x + 1), (V,), (V,), has_aux=True)
jvp(lambda x: V, (V,), (V,))
linearize(lambda x: x ** 2, V)[0]
linearize(lambda x: x ** 2, V)[1](V)
linearize(lambda x, y: {'a': x * y, 'b': x.sum()}, V, V + 1)[1](V, V)
vmap(linearize(lambda x: x ** 2, V)[1])(torch.eye(3))
# random numbers
seeded(lambda: vmap(lambda x: x + torch.randn(3), randomness='different')(X))
seeded(lambda: vmap(lambda x: x + torch.randn(3), randomness='same')(X))
seeded(lambda: vmap(vmap(lambda x: x + torch.rand(2), randomness='same'), randomness='different')(X))
seeded(lambda: vmap(lambda x: torch.rand_like(x), randomness='different')(X))
seeded(lambda: vmap(lambda x: torch.randint(0, 9, (4,)), randomness='different')(X))
seeded(lambda: vmap(lambda x: torch.randperm(5), randomness='different')(X))
seeded(lambda: vmap(lambda x: torch.bernoulli(x.abs() / 9), randomness='different')(X))
seeded(lambda: vmap(lambda x: torch.multinomial(x.abs() + 1, 2), randomness='different')(X))
seeded(lambda: vmap(lambda x: torch.normal(x, x.abs() + 1), randomness='different')(X))
seeded(lambda: vmap(lambda x: x.clone().normal_(), randomness='different')(X))
seeded(lambda: vmap(lambda x: x.clone().uniform_(), randomness='same')(X))
seeded(lambda: vmap(lambda x: torch.zeros(3).normal_() + x, randomness='same')(X))
seeded(lambda: vmap(lambda x: torch.randn(3), randomness='same', chunk_size=1)(X))
seeded(lambda: jacfwd(lambda x: x * torch.rand(3), randomness='same')(V))
vmap(lambda x: x + torch.randn(3))(X)
vmap(lambda x: x.clone().normal_())(X)
vmap(lambda x: torch.zeros(3).normal_(), randomness='different')(X)
vmap(lambda x: torch.bernoulli(x / 9), randomness='same')(X)
vmap(lambda x: x, randomness='other')(X)
# errors
vmap(lambda x: x, in_dims='0')(X)
vmap(lambda: 1)()
vmap(lambda x: x, in_dims=(0, 1))(X)
vmap(lambda x: x, in_dims=((0,),))(X)
vmap(lambda x: x, in_dims=(0.5,))(X)
vmap(lambda x: x)(3)
vmap(lambda x: x, in_dims=2)(X)
vmap(lambda x: x, in_dims=-3)(X)
vmap(lambda x: x, in_dims=None)(X)
vmap(lambda x: x, in_dims=(None,))(X)
vmap(lambda x, y: x)(X, V)
vmap(lambda x: 3)(X)
vmap(lambda x: (x, 'a'))(X)
vmap(lambda x: None)(X)
vmap(lambda x: x, out_dims=5)(X)
vmap(lambda x: x, out_dims=None)(X)
vmap(lambda x: x, out_dims=(0, 1))(X)
vmap(lambda x: (x, x), out_dims=(0,))(X)
vmap(lambda x: x, out_dims='a')(X)
vmap(lambda x: x, chunk_size=0)(X)
vmap(branch)(X)
vmap(lambda x: x * x.sum().item())(X)
vmap(lambda x: x * float(x.sum()))(X)
vmap(lambda x: torch.tensor(x.tolist()))(X)
vmap(lambda x: torch.tensor(x.numpy()))(X)
vmap(lambda x: x[x > 1])(X)
vmap(batched_mask)(X)
vmap(lambda x: x.nonzero())(X)
vmap(lambda x: torch.masked_select(x, x > 1))(X)
vmap(lambda x: torch.zeros(3).mul_(x))(X)
vmap(lambda x: torch.zeros(3).copy_(x))(X)
vmap(lambda x: torch.zeros(3).__setitem__(0, x[0]))(X)
vmap(lambda x: x.requires_grad_())(X)
vmap(lambda x: x.sum().backward())(X)
vmap(lambda x: x.data)(X)
vmap(lambda x: x + V[:2])(X)
grad(lambda x: x)(V)
grad(lambda x: 3.)(V)
grad(lambda x: x)(3.)
grad(lambda x: x.sum(), argnums=3)(V)
grad(lambda x: x.sum(), argnums=())(V)
grad(lambda x: x.sum(), argnums=(0, 0))(V)
grad(lambda x: x.sum(), argnums='a')(V)
grad(lambda x: x.sum(), has_aux=True)(V)
grad(lambda x: x.sum())(I)
jacrev(lambda x: x, chunk_size=0)(V)
jacrev(lambda x: x)(V + 0j)
jacrev(lambda x: torch.view_as_complex(x))(X[:, :2].contiguous())
jacrev(lambda x: x, argnums=2)(V)
jacfwd(lambda x: x)(V + 0j)
jacrev(lambda x: (x, 3))(V)
vjp(lambda x: x.long(), V)
vjp(lambda x: 3, V)
vjp(lambda x: (), V)
vjp(lambda x: x, V)[1]((V, V))
vjp(lambda x: x, V)[1](V[:2])
vjp(lambda x: x, V, has_aux=True)
jvp(lambda x: x, V, V)
jvp(lambda x: x, (V,), (V, V))
jvp(lambda x: x, (V,), V)
jvp(lambda x: x, (V,), (V[:2],))
jvp(lambda x: x, (3,), (V,))
jvp(lambda x: x, (V,), (3,))
jvp(lambda x: x, (), ())
jvp(lambda x: 3, (V,), (V,))
jvp(lambda x: V, (V,), (V,), strict=True)
jvp(lambda x: x, (V,), (V,), has_aux=True)
linearize(lambda x: x, V)[1](V, V)
linearize(lambda x: x, V)[1](V[:2])
linearize(lambda x: x, V)[1](V.double())
"""


def lines() -> list[str]:
    return [line for line in CASES.strip().splitlines() if line and not line.startswith("#")]


def names(torch: Any) -> dict[str, Any]:
    """What the expressions may use."""
    func = torch.func
    v = torch.tensor([0.5, 1.25, 2.0])
    x = torch.tensor([[0.5, -1.0, 2.0], [1.5, 3.0, -0.25]])
    s = torch.tensor([[[2.0, 0.5, 0.0], [0.25, 1.5, -0.5], [1.0, 0.0, 3.0]],
                      [[1.0, -0.5, 0.25], [0.0, 2.0, 0.5], [0.5, 1.0, 2.5]]])  # fmt: skip

    def seeded(f: Any) -> Any:
        torch.manual_seed(0)
        return f()

    found = {
        **{name: getattr(func, name) for name in func.__all__ if not name.startswith("_")},
        "torch": torch, "F": torch.nn.functional, "seeded": seeded, "V": v, "X": x, "S": s,
        "T": torch.arange(12.0).reshape(2, 3, 2) / 4 - 1, "Y": torch.tensor([0.5, -0.5]),
        "I": torch.tensor([[0, 2, 1], [1, 0, 2]]), "J": torch.tensor([2, 0]), "M": torch.tensor([1, 0, 1]),
        "P": {"w": s[0], "b": (v, v + 1)},
    }  # fmt: skip
    exec(HELPERS, found)
    return found


def leaves(x: Any) -> list[Any]:
    """The tensors in a nested result, in order."""
    if isinstance(x, dict):
        x = tuple(x.values())
    if isinstance(x, (tuple, list)):
        return [t for v in x for t in leaves(v)]
    return [x]


def answer(text: str, torch: Any) -> Any:
    """The result of an expression: a list of [shape, dtype, values]; of an error {type, message}."""
    try:
        result = eval(text, names(torch))
        return [[list(t.shape), str(t.dtype), t.detach().reshape(-1).tolist()] for t in leaves(result)]
    except Exception as error:
        kind = next(
            k.__name__
            for k in (RuntimeError, ValueError, TypeError, IndexError, Exception)
            if isinstance(error, k)
        )
        return {"type": kind, "message": str(error)}
