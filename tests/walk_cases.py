"""Snippets about the walk: roots, inputs, what is freed, whose memory a gradient is; PyTorch's answers stand in
data/walk.json (see record_walk.py).

Each runs with `torch` bound to a library, `leaf(values)` to make a tensor that requires grad, and `say(...)` to append
to `log`, and leaves its answer in `out`.
"""

import warnings

from .inplace_cases import plain

WALK = {
    "grad version": "x=leaf([1.,2.]); (x*2).sum().backward(); g=x.grad; v=[g._version]; (x*2).sum().backward(); v.append(g._version); out=v",
    "accumulate dtype": "x=leaf([1.,2.]); x.grad=torch.ones(2); (x.double()*2).sum().backward(); out=[str(x.grad.dtype),x.grad]",
    "backward in no_grad": """
x=leaf([1.,2.]); y=(x*x).sum()
with torch.no_grad(): y.backward()
out=x.grad
""",
    "int leaf": "torch.ones(2,dtype=torch.int64).requires_grad_()",
    "backward returns": "x=leaf(1.); out=[(x*1).backward()]",
    "backward of a view root": "x=leaf([1.,2.]); (x*x)[0].backward(); out=x.grad",
    "root written in place": "x=leaf([1.,2.]); y=x*x; s=y.sum(); y.zero_(); s.backward(); out=x.grad",
    "backward through a mutated graph": "x=leaf(2.); y=x*x; z=y*y; y.backward(); z.backward()",
    "grad of freed": "x=leaf(2.); y=x.exp(); y.backward(); torch.autograd.grad(y,x)",
    "same root twice": "x=leaf(2.); y=x*x; torch.autograd.backward([y,y]); out=x.grad",
    "same root twice with gradients": "x=leaf([2.,3.]); y=x*x; torch.autograd.backward([y,y],[torch.tensor([1.,2.]),torch.tensor([10.,20.])]); out=x.grad",
    "roots that are ancestors": "x=leaf(2.); a=x*x; b=a*a; torch.autograd.backward([a,b]); out=x.grad",
    "roots that are ancestors, other order": "x=leaf(2.); a=x*x; b=a*a; torch.autograd.backward([b,a]); out=x.grad",
    "leaf among the roots": "x=leaf(2.); b=x*x; torch.autograd.backward([x,b]); out=x.grad",
    "leaf root twice": "x=leaf(2.); torch.autograd.backward([x,x]); out=x.grad",
    "hook on root that is ancestor": "x=leaf(2.); a=x*x; b=a*a; a.register_hook(lambda g: say(g)); torch.autograd.backward([a,b]); out=[log,x.grad]",
    "roots of one operation": "x=leaf([2.,3.]); a,b=x.unbind(0); torch.autograd.backward([a,b],[torch.tensor(1.),torch.tensor(5.)]); out=x.grad",
    "root and wanted": "x=leaf(2.); y=x*x; g=torch.autograd.grad(y,[y,x]); out=list(g)",
    "grad of itself": "x=leaf(2.); g=torch.autograd.grad(x,x); out=list(g)",
    "grad of a root given": "x=leaf([2.,3.]); y=x*x; g,=torch.autograd.grad(y,y,torch.tensor([5.,6.])); out=g",
    "grad of two roots for one of them": "x=leaf(2.); a=x*x; b=a*3; g=torch.autograd.grad([a,b],a); out=list(g)",
    "duplicate inputs of grad": "x=leaf(2.); y=x*x; a,b=torch.autograd.grad(y,[x,x]); out=[a,b,a is b]",
    "duplicate inputs of grad, arrays changed": "x=leaf([2.,3.]); y=(x*x).sum(); a,b=torch.autograd.grad(y,[x,x]); a.add_(1); out=[a,b]",
    "duplicate inner inputs of grad": "x=leaf(2.); h=x*1; y=h*h; a,b=torch.autograd.grad(y,[h,h]); out=[a,b,a is b]",
    "duplicate leaf inputs of backward": "x=leaf(2.); y=x*x; y.backward(inputs=[x,x]); out=x.grad",
    "duplicate inner inputs of backward": "x=leaf(2.); h=x*1; y=h*h; y.backward(inputs=[h,h]); out=[h.grad,x.grad]",
    "inputs=None": "x=leaf(2.); y=x*x; y.backward(inputs=None); out=x.grad",
    "inputs empty": "x=leaf(2.); y=x*x; y.backward(inputs=[])",
    "inputs a tensor": "x=leaf(2.); y=x*x; y.backward(inputs=x); out=x.grad",
    "inputs a constant": "x=leaf(2.); y=x*x; y.backward(inputs=[torch.ones(())])",
    "inputs unused": "x=leaf(2.); w=leaf(1.); y=x*x; y.backward(inputs=[w]); out=[x.grad,w.grad]",
    "inner input unused": "x=leaf(2.); w=x*1; y=x*x; y.backward(inputs=[w]); out=[x.grad,w.grad]",
    "inner input retains after": "x=leaf(2.); h=x*1; y=h*h; a=h.retains_grad; y.backward(inputs=[h],retain_graph=True); b=h.retains_grad; y.backward(); out=[a,b,h.grad,x.grad]",
    "inner and leaf inputs": "x=leaf(2.); w=leaf(3.); h=x*w; y=h*h; y.backward(inputs=[h,x]); out=[h.grad,x.grad,w.grad]",
    "freed inner then again": "x=leaf(2.); h=x.exp(); y=h*h; y.backward(inputs=[h]); h.backward(); out=[x.grad]",
    "freed inner then again 2": "x=leaf(2.); h=x.exp(); y=h*h; torch.autograd.grad(y,h); h.backward(); out=[x.grad]",
    "freed outer": "x=leaf(2.); h=x.exp(); y=h*h; torch.autograd.grad(y,h); y.backward()",
    "freed by the other root": "x=leaf(2.); h=x.exp(); a=h*2; b=h*3; a.backward(); b.backward()",
    "create_graph keeps": "x=leaf(2.); y=x.exp(); y.backward(create_graph=True); y.backward(); out=x.grad",
    "create_graph but not retain": "x=leaf(2.); y=x.exp(); y.backward(create_graph=True,retain_graph=False); y.backward()",
    "retain then not": "x=leaf(2.); y=x.exp(); y.backward(retain_graph=True); y.backward(); y.backward()",
    "linear twice": "x=leaf(2.); y=x*1+3; y.backward(); y.backward(); out=x.grad",
    "mul number twice": "x=leaf(2.); y=x*3; y.backward(); y.backward(); out=x.grad",
    "sum twice": "x=leaf([2.,3.]); y=x.sum(); y.backward(); y.backward(); out=x.grad",
    "gradient argument changed later": "g=torch.tensor([1.,2.]); x=leaf([2.,3.]); (x+0).backward(g); g.add_(10); out=x.grad",
    "gradient argument to a leaf": "g=torch.tensor([1.,2.]); x=leaf([2.,3.]); x.backward(g); x.grad.add_(10); out=[g,x.grad]",
    "two leaves of add": "x=leaf([2.,3.]); w=leaf([2.,3.]); g=torch.tensor([1.,2.]); (x+w).backward(g); x.grad.add_(1); out=[x.grad,w.grad,g]",
    "two results of grad of add": "x=leaf([2.,3.]); w=leaf([2.,3.]); a,b=torch.autograd.grad((x+w).sum(),[x,w]); a=a.clone(); a.add_(1); out=[a,b]",
    "retained and leaf share nothing": "x=leaf([2.,3.]); h=x+0; h.retain_grad(); (h+0).sum().backward(); h.grad.add_(1); out=[x.grad,h.grad]",
    "grad accumulates with create_graph": "x=leaf([2.,3.]); (x*x).sum().backward(); a=x.grad; (x*x).sum().backward(create_graph=True); out=[x.grad is a, a, x.grad, x.grad.requires_grad]",
    "grad that requires grad, then plain": "x=leaf([2.,3.]); (x*x).sum().backward(create_graph=True); a=x.grad; (x*x).sum().backward(); out=[x.grad is a, a, x.grad.requires_grad]",
    "grad fn with create_graph": "x=leaf([2.,3.]); (x*x).sum().backward(create_graph=True); out=[x.grad.grad_fn.name()]",
    "grad fn with create_graph twice": "x=leaf([2.,3.]); y=(x*x).sum(); y.backward(create_graph=True); y.backward(create_graph=True); out=[x.grad.grad_fn.name()]",
    "grad set by hand": "x=leaf([2.,3.]); k=torch.tensor([1.,1.]); x.grad=k; (x*x).sum().backward(); out=[k,x.grad is k]",
    "grad set by hand, expanded": "x=leaf([2.,3.]); x.grad=torch.ones(1).expand(2); (x*x).sum().backward(); out=[x.grad]",
    "grad set by hand requires grad": "x=leaf([2.,3.]); k=leaf([1.,1.]); x.grad=k; (x*x).sum().backward(); out=[k,x.grad is k]",
    "grad set by hand requires grad, create_graph": "x=leaf([2.,3.]); k=leaf([1.,1.]); x.grad=k; (x*x).sum().backward(create_graph=True); out=[k,x.grad is k,x.grad,x.grad.requires_grad]",
    "grad saved for later and accumulated": "x=leaf([2.,3.]); (x*x).sum().backward(); w=leaf([1.,1.]); y=(x.grad*w).sum(); (x*x).sum().backward(); y.backward()",
    "view of a grad is updated": "x=leaf([2.,3.]); (x*x).sum().backward(); v=x.grad[0]; (x*x).sum().backward(); out=[v]",
    "strides of a contiguous": "x=torch.ones(2,3,requires_grad=True); (x.t()*torch.ones(3,2)).sum().backward(); out=[list(x.grad.stride())]",
    "strides of a transposed leaf": "x=torch.ones(3,2).t().requires_grad_(); (x*torch.ones(2,3)).sum().backward(); out=[list(x.stride()),list(x.grad.stride())]",
    "strides of an expanded leaf": "x=torch.ones(3,1).expand(3,4).requires_grad_(); (x*2).sum().backward(); out=[list(x.stride()),list(x.grad.stride()),x.grad]",
    "strides of a sliced leaf": "x=torch.ones(6)[::2].requires_grad_(); (x*2).sum().backward(); out=[list(x.grad.stride())]",
    "strides of a row slice leaf": "x=torch.ones(4,6)[:,:3].requires_grad_(); (x*2).sum().backward(); out=[list(x.stride()),list(x.grad.stride())]",
    "strides of a permuted leaf": "x=torch.ones(2,3,4).permute(2,0,1).requires_grad_(); (x*torch.ones(4,2,3)).sum().backward(); out=[list(x.stride()),list(x.grad.stride())]",
    "strides of sum": "x=torch.ones(2,3,requires_grad=True); x.sum().backward(); out=[list(x.grad.stride())]",
    "strides of mm": "x=torch.ones(2,3,requires_grad=True); w=torch.ones(3,4,requires_grad=True); (x@w).sum().backward(); out=[list(x.grad.stride()),list(w.grad.stride())]",
    "strides of a transposed weight": "x=torch.ones(5,3); w=torch.ones(4,3,requires_grad=True); (x@w.t()).sum().backward(); out=[list(w.grad.stride())]",
    "strides with create_graph": "x=torch.ones(2,3,requires_grad=True); x.sum().backward(create_graph=True); out=[list(x.grad.stride())]",
    "strides of the second": "x=torch.ones(2,3,requires_grad=True); (x.t()*1).sum().backward(); (x*1).sum().backward(); out=[list(x.grad.stride())]",
    "None not zeros": "x=leaf(2.); w=leaf(3.); (x*1).backward(); out=[x.grad,w.grad]",
    "zeros not None": "x=leaf([2.,3.]); x[0].backward(); out=x.grad",
    "times zero": "x=leaf(2.); w=leaf(3.); (x*w*0).backward(); out=[x.grad,w.grad]",
    "where gives zeros": "x=leaf([2.,3.]); w=leaf([1.,1.]); torch.where(torch.tensor([True,True]),x,w).sum().backward(); out=[x.grad,w.grad]",
    "detach gives None": "x=leaf(2.); w=leaf(3.); (x.detach()*w).backward(); out=[x.grad,w.grad]",
    "requires_grad off before backward": "x=leaf(2.); w=leaf(3.); y=x*w; x.requires_grad_(False); y.backward(); out=[x.grad,w.grad]",
    "grad for requires_grad off": "x=leaf(2.); w=leaf(3.); y=x*w; x.requires_grad_(False); torch.autograd.grad(y,x)",
    "wrong gradient shape": "x=leaf([2.,3.]); (x*1).backward(torch.ones(3))",
    "wrong gradient shape 0-d": "x=leaf([2.,3.]); (x*1).backward(torch.ones(()))",
    "gradient for one element": "x=leaf([2.]); (x*1).backward(torch.ones(1)); out=x.grad",
    "gradient double for float": "x=leaf([2.,3.]); (x*1).backward(torch.ones(2,dtype=torch.float64)); out=[x.grad,str(x.grad.dtype)]",
    "gradient int for float": "x=leaf([2.,3.]); (x*1).backward(torch.ones(2,dtype=torch.int64)); out=[x.grad,str(x.grad.dtype)]",
    "gradient complex for float": "x=leaf([2.,3.]); (x*1).backward(torch.ones(2,dtype=torch.complex64)); out=[x.grad,str(x.grad.dtype)]",
    "gradient float for complex": "x=torch.ones(2,dtype=torch.complex64,requires_grad=True); (x*1).backward(torch.ones(2)); out=[str(x.grad.dtype)]",
    "gradient that requires grad": "x=leaf([2.,3.]); g=leaf([1.,1.]); (x*x).backward(g); out=[x.grad,x.grad.requires_grad,g.grad]",
    "gradient that requires grad, create_graph": "x=leaf([2.,3.]); g=leaf([1.,1.]); (x*x).backward(g,create_graph=True); x.grad.sum().backward(); out=[g.grad]",
    "gradient that requires grad, grad, create_graph": "x=leaf([2.,3.]); v=leaf([1.,1.]); g,=torch.autograd.grad(x*x,x,v,create_graph=True); r=torch.autograd.grad(g.sum(),[v,x]); out=[g,list(r)]",
    "gradient for a scalar": "x=leaf(2.); (x*x).backward(torch.tensor(5.)); out=x.grad",
    "number of gradients": "x=leaf(2.); torch.autograd.backward([x*1,x*2],[torch.tensor(1.)])",
    "no grad at all": "torch.ones(()).backward()",
    "second root without grad": "x=leaf(2.); torch.autograd.backward([x*1,torch.ones(())])",
    "not a scalar": "x=leaf([2.,3.]); (x*1).backward()",
    "backward of an int": "torch.autograd.backward(3)",
    "empty backward": "torch.autograd.backward([]); out=1",
    "empty grad outputs": "x=leaf(2.); torch.autograd.grad([],x)",
    "empty grad inputs": "x=leaf(2.); torch.autograd.grad(x*1,[])",
    "one element not 0-d": "x=leaf([[2.]]); (x*x).backward(); out=x.grad",
    "empty tensor": "x=torch.ones(0,requires_grad=True); (x*x).sum().backward(); out=[x.grad, list(x.grad.shape)]",
    "empty gradient": "x=torch.ones(0,requires_grad=True); (x*x).backward(torch.ones(0)); out=[list(x.grad.shape)]",
    "grad for an index": "x=leaf([2.,3.]); v=x[0]; y=(x*x).sum(); torch.autograd.grad(y,v)",
    "unused": "x=leaf(2.); w=leaf(2.); torch.autograd.grad(x*1,w)",
    "unused allowed": "x=leaf(2.); w=leaf(2.); out=torch.autograd.grad(x*1,w,allow_unused=True)[0]",
    "one of several outputs wanted": "x=leaf([2.,3.]); a,b=x.unbind(0); y=a*a*b; g=torch.autograd.grad(y,[a,b]); out=list(g)",
    "one of several outputs wanted and beyond": "x=leaf([2.,3.]); a,b=x.unbind(0); y=a*a*b; g=torch.autograd.grad(y,[a,x]); out=list(g)",
    "unused of several outputs": "x=leaf([2.,3.]); a,b=x.unbind(0); y=a*a; g=torch.autograd.grad(y,[a,b],allow_unused=True); out=list(g)",
    "unused of several outputs refused": "x=leaf([2.,3.]); a,b=x.unbind(0); y=a*a; g=torch.autograd.grad(y,[a,b]); out=list(g)",
    "unused of several outputs, backward inputs": "x=leaf([2.,3.]); a,b=x.unbind(0); y=a*a; y.backward(inputs=[a,b]); out=[a.grad,b.grad]",
    "values of max, second order": "x=leaf([[1.,5.],[3.,2.]]); v,i=x.max(1); y=(v**3).sum(); g,=torch.autograd.grad(y,x,create_graph=True); r=torch.autograd.grad((g**2).sum(),[v,x]); out=list(r)",
}  # fmt: skip


def answer(code, torch):
    """What the snippet leaves in `out`, or the exception's type and the first words of its text."""
    log = []

    def leaf(values):
        return torch.tensor(values, requires_grad=True)

    def say(*what):
        log.append(plain(what if len(what) != 1 else what[0]))

    space = {"torch": torch, "leaf": leaf, "say": say, "log": log, "out": None}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, space)
    except Exception as error:
        return {"raises": type(error).__name__, "text": str(error).split("\n")[0][:60]}
    return plain(space["out"])
