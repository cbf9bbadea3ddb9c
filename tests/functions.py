"""Functions that the tests of autograd.Function use."""

import autodiff_kernel as torch


class Power(torch.autograd.Function):
    """xᵏ, with everything written out."""

    @staticmethod
    def forward(ctx, x, k=2):
        ctx.save_for_backward(x)
        ctx.k = k
        return x**k

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.k * x ** (ctx.k - 1), None


class Exp(torch.autograd.Function):
    """eˣ, from its own result."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y

    @staticmethod
    def jvp(ctx, tangent):
        (y,) = ctx.saved_tensors
        return tangent * y


class Doubled(torch.autograd.Function):
    """x doubled in place."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def function(forward, backward=lambda ctx, *grads: grads[0], **others):
    """A Function of two lambdas."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    methods |= {name: staticmethod(f) if callable(f) else f for name, f in others.items()}
    return type("Q", (torch.autograd.Function,), methods)


def vector(*values):
    return torch.tensor([float(v) for v in values], requires_grad=True)
