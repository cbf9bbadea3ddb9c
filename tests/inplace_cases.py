"""Snippets about in-place operations, views and versions; PyTorch's answers stand in data/inplace.json.

Each snippet runs with `torch` bound to a library and leaves its answer in `out`: numbers, nested lists, strings.
`record_inplace.py` writes the answers down where PyTorch is installed.
"""

CASES = {
    "plain in-place on a result": "x=leaf([1.,2.]); y=x*3; y.mul_(2); y.sum().backward(); out=x.grad",
    "in-place twice": "x=leaf([1.,2.]); y=x*3; y.mul_(y.detach()).add_(x); y.sum().backward(); out=x.grad",
    "older consumer keeps the old history": "x=leaf([1.,2.]); y=x*3; z=y+1; y.mul_(10); (z+y).sum().backward(); out=x.grad",
    "sum does not guard its input": "x=leaf([1.,2.]); y=x*2; s=y.sum(); y.add_(1); s.backward(); out=x.grad",
    "exp guards its output": "x=leaf([1.,2.]); y=x.exp(); y.add_(1); y.sum().backward()",
    "exp_ then add_": "x=leaf([1.,2.]); y=(x*1).exp_(); y.add_(1); y.sum().backward()",
    "exp_ alone": "x=leaf([1.,2.]); y=(x*1).exp_(); y.sum().backward(); out=x.grad",
    "mul guards its inputs": "x=leaf([1.,2.]); a=x*1; y=a*a; a.add_(1); y.sum().backward()",
    "mul does not guard an input nobody needs": "x=leaf([1.,2.]); c=torch.ones(2); y=x*c; z=y*2; y.add_(1); z.sum().backward(); out=x.grad",
    "constant saved and changed": "x=leaf([1.,2.]); c=torch.ones(2); y=x*c; c.add_(1); y.sum().backward()",
    "constant changed through data": "x=leaf([1.,2.]); c=torch.ones(2); y=x*c; c.data.add_(1); y.sum().backward(); out=x.grad",
    "constant changed through detach": "x=leaf([1.,2.]); c=torch.ones(2); y=x*c; c.detach().add_(1); y.sum().backward()",
    "div guards": "x=leaf([1.,2.]); a=x+1; y=1/a; y.add_(1); y.sum().backward()",
    "tensor division result may change": "x=leaf([1.,2.]); a=x+1; y=x/a; y.add_(1); y.sum().backward(); out=x.grad",
    "pow guards base": "x=leaf([1.,2.]); a=x*1; y=a**3; a.add_(1); y.sum().backward()",
    "pow result may change": "x=leaf([1.,2.]); a=x*1; y=a**3; y.add_(1); y.sum().backward(); out=x.grad",
    "mul_ by itself": "x=leaf([1.,2.]); y=x*1; y.mul_(y); y.sum().backward()",
    "add_ itself": "x=leaf([1.,2.]); y=x*1; y.add_(y); y.sum().backward(); out=x.grad",
    "in-place of another tracked": "x=leaf([1.,2.]); w=leaf([3.,4.]); y=x*1; y.mul_(w); y.sum().backward(); out=[x.grad,w.grad]",
    "untracked takes tracked": "x=leaf([1.,2.]); y=torch.ones(2); y.mul_(x); y.sum().backward(); out=[x.grad, y.requires_grad, y.is_leaf]",
    "zero_ cuts the gradient": "x=leaf([1.,2.]); y=x*3; y.zero_(); (y+x).sum().backward(); out=[x.grad,y.requires_grad]",
    "fill_ of a part": "x=leaf([1.,2.,3.]); y=x*2; y[1].fill_(5.); y.sum().backward(); out=[x.grad,y]",
    "versions count": "x=torch.zeros(3); v=[x._version]; x.add_(1); v.append(x._version); y=x[0]; y.add_(1); v+= [x._version,y._version]; d=x.detach(); d.add_(1); v+=[x._version,d._version]; e=x.data; e.add_(1); v+=[x._version]; out=v",
    "leaf in place": "x=leaf([1.,2.]); x.add_(1)",
    "leaf in place under no_grad": "x=leaf([1.,2.])\nwith torch.no_grad(): x.add_(1)\n(x*x).sum().backward(); out=[x,x.grad,x.is_leaf]",
    "view of a leaf in place": "x=leaf([1.,2.]); x[0].add_(1)",
    "assignment to a leaf": "x=leaf([1.,2.]); x[0]=5.",
    "view of a leaf under no_grad": "x=leaf([1.,2.])\nwith torch.no_grad(): x[0]=5.\n(x*x).sum().backward(); out=[x,x.grad]",
    "view in place, read the base": "x=leaf([1.,2.,3.]); y=x*2; v=y[1:]; v.mul_(10); y.sum().backward(); out=[x.grad,y]",
    "view in place, read the view": "x=leaf([1.,2.,3.]); y=x*2; v=y[1:]; v.mul_(10); v.sum().backward(); out=[x.grad,v]",
    "view in place, read both": "x=leaf([1.,2.,3.]); y=x*2; v=y[1:]; v.mul_(10); (v.sum()+(y*y).sum()).backward(); out=x.grad",
    "base in place, read the view": "x=leaf([1.,2.,3.]); y=x*2; v=y[1:]; y.mul_(10); v.sum().backward(); out=[x.grad,v]",
    "base then view then base": "x=leaf([1.,2.,3.]); y=x*2; v=y[:2]; y.mul_(3); v.add_(x[1:]); y.mul_(y.detach()); y.sum().backward(); out=[x.grad,y]",
    "sibling views": "x=leaf([1.,2.,3.]); y=x*2; a=y[:2]; b=y[1:]; a.mul_(10); b.sum().backward(); out=[x.grad,b]",
    "sibling views, two writes": "x=leaf([1.,2.,3.]); y=x*2; a=y[:2]; b=y[1:]; a.mul_(10); b.mul_(x[:2]); (a.sum()*2+y.sum()).backward(); out=[x.grad,y]",
    "transpose then row": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; y.t()[0].mul_(2); y.sum().backward(); out=[x.grad,y]",
    "chain of three": "x=leaf([[[1.,2.],[3.,4.]],[[5.,6.],[7.,8.]]]); y=x*1; y.transpose(0,2)[1].t()[0].mul_(3); (y*y).sum().backward(); out=[x.grad,y]",
    "view of view, then base of it": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; r=y[0]; e=r[1]; r.mul_(2); e.add_(x[1,1]); (e*r.sum()+y.sum()).backward(); out=[x.grad,y]",
    "view(…) shares": "x=leaf([1.,2.,3.,4.]); y=x*1; m=y.view(2,2); m[0].mul_(5); y.sum().backward(); out=[x.grad,y]",
    "reshape that copies does not": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; m=y.t().reshape(4); m.mul_(5); y.sum().backward(); out=[x.grad,y]",
    "expanded target": "x=leaf([1.,2.]); y=(x*1).expand(3,2); y.mul_(2)",
    "expanded view alive while base changes": "x=leaf([1.,2.]); y=x*1; e=y.expand(3,2); y.mul_(2); (e*e).sum().backward(); out=x.grad",
    "diagonal": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; y.diagonal().mul_(7); (y*y).sum().backward(); out=[x.grad,y]",
    "narrow and select": "x=leaf([[1.,2.,3.],[4.,5.,6.]]); y=x*1; y.narrow(1,1,2).select(0,1).mul_(2); y.sum().backward(); out=[x.grad,y]",
    "unsqueeze and squeeze": "x=leaf([1.,2.]); y=x*1; y.unsqueeze(0).squeeze(0).mul_(4); y.sum().backward(); out=x.grad",
    "column write": "x=leaf([[1.,2.],[3.,4.]]); w=leaf([10.,20.]); y=x*1; y[:,1]=w; (y*y).sum().backward(); out=[x.grad,w.grad,y]",
    "number write": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; y[0,1]=9.; (y*y).sum().backward(); out=[x.grad,y]",
    "mask write": "x=leaf([1.,-2.,3.]); y=x*1; y[y<0]=0.; (y*y).sum().backward(); out=[x.grad,y]",
    "mask write with tensor": "x=leaf([1.,-2.,-3.]); w=leaf([5.,6.]); y=x*1; y[y<0]=w; (y*y).sum().backward(); out=[x.grad,w.grad,y]",
    "fancy write": "x=leaf([1.,2.,3.]); w=leaf([5.,6.]); y=x*1; y[torch.tensor([2,0])]=w; (y*y).sum().backward(); out=[x.grad,w.grad,y]",
    "fancy write to a view": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; y[1][torch.tensor([0])]=5.; (y*y).sum().backward(); out=[x.grad,y]",
    "rows of an untracked buffer": "x=leaf([1.,2.]); b=torch.zeros(3,2)\nfor i in range(3): b[i]=x*i\n(b*b).sum().backward(); out=[x.grad,b.requires_grad]",
    "buffer read while written": "x=leaf(2.); b=torch.zeros(4); b[0]=x\nfor i in range(1,4): b[i]=b[i-1]*x\nb.sum().backward()",
    "buffer read while written, cloned": "x=leaf(2.); b=torch.zeros(4); b[0]=x\nfor i in range(1,4): b[i]=b[i-1].clone()*x\nb.sum().backward(); out=x.grad",
    "saved view, other part changed": "x=leaf([1.,2.,3.]); y=x*1; s=(y[0]*y[1]); y[2]=0.; s.backward()",
    "saved base, view changed": "x=leaf([1.,2.,3.]); y=x*1; s=(y*y).sum(); y[0].add_(1); s.backward()",
    "view made under no_grad": "x=leaf([1.,2.]); y=x*1\nwith torch.no_grad(): v=y[0]\nv.mul_(2)",
    "view made under no_grad, changed under no_grad": "x=leaf([1.,2.]); y=x*1\nwith torch.no_grad():\n    v=y[0]; v.mul_(2)\ny.sum().backward(); out=[x.grad,y]",
    "view made under no_grad of an untracked base": "w=leaf([3.,4.]); y=torch.ones(2)\nwith torch.no_grad(): v=y[0]\nv.mul_(w[0])",
    "one of several outputs": "x=leaf([1.,2.]); a,b=(x*1).unbind(0); a.mul_(2)",
    "one of several outputs, untracked": "a,b=torch.tensor([1.,2.]).unbind(0); a.mul_(2); out=[a,b]",
    "split part in place": "x=leaf([1.,2.,3.]); p=(x*1).split(2); p[0].add_(1)",
    "several outputs, base changed": "x=leaf([1.,2.]); y=x*1; a,b=y.unbind(0); y.mul_(2); (a*1).backward()",
    "chunk read only": "x=leaf([1.,2.,3.,4.]); a,b=(x*x).chunk(2); (a*b).sum().backward(); out=x.grad",
    "detach in place": "x=leaf([1.,2.]); y=x*3; y.detach().zero_(); y.sum().backward(); out=[x.grad,y]",
    "detach in place guards": "x=leaf([1.,2.]); y=x.exp(); y.detach().zero_(); y.sum().backward()",
    "data lies": "x=leaf([1.,2.]); y=x.exp(); y.data.zero_(); y.sum().backward(); out=x.grad",
    "shape grows": "x=torch.zeros(1,3,1); x.add_(torch.zeros(3,1,7))",
    "dtype shrinks": "x=torch.zeros(2,dtype=torch.int64); x.add_(1.5)",
    "dtype narrows in kind": "x=torch.zeros(2); x.add_(torch.ones(2,dtype=torch.float64)); out=[x,str(x.dtype)]",
    "x += x.mul_(2)": "x=torch.tensor([1.,2.]); x+=x.mul_(2); out=x",
    "x + x.mul(2)": "x=torch.tensor([1.,2.]); out=x+x.mul(2)",
    "augmented assignment keeps the object": "x=torch.ones(2); y=x; y+=1; out=[x, y is x]",
    "0-d scalar in place": "x=leaf(2.); y=x*1; y.mul_(3); y.backward(); out=[x.grad,y]",
    "0-d view of 1-d": "w=torch.zeros(3); v=w[1]; v.add_(5); out=[w,v]",
    "0-d write seen by its view": "s=torch.tensor(1.); v=s.view(1); s.add_(1); out=[v,s]",
    "view of 0-d written": "s=torch.tensor(1.); v=s.view(1); v.add_(1); out=[s]",
    "numpy sees it": "s=torch.tensor(1.); n=s.numpy(); s.add_(1); out=float(n)",
    "0-d detach shares": "s=torch.tensor(1.); d=s.detach(); d.add_(1); out=s",
    "0-d saved and written": "x=leaf(2.); a=x*1; y=a*a; a.add_(1); y.backward()",
    "retain_grad before in-place": "x=leaf([1.,2.]); y=x*2; y.retain_grad(); y.mul_(3); (y*y).sum().backward(); out=[x.grad,y.grad]",
    "retain_grad after in-place": "x=leaf([1.,2.]); y=x*2; y.mul_(3); y.retain_grad(); (y*y).sum().backward(); out=[x.grad,y.grad]",
    "second order through in-place": "x=leaf([1.,2.]); y=x*x; y.mul_(x); g,=torch.autograd.grad(y.sum(),x,create_graph=True); g.sum().backward(); out=[g,x.grad]",
    "second order through a view write": "x=leaf([1.,2.]); y=x*x; y[0].mul_(x[1]); g,=torch.autograd.grad((y*y).sum(),x,create_graph=True); g.sum().backward(); out=[g,x.grad]",
    "grad_fn names": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; v=y[0]; a=type(v.grad_fn).__name__ if 0 else v.grad_fn.name(); v.mul_(2); out=[a,v.grad_fn.name(),y.grad_fn.name()]",
    "in-place relu_ then use": "x=leaf([-1.,2.]); y=(x*1).relu_(); y.sum().backward(); out=x.grad",
    "sigmoid_ and saved": "x=leaf([0.,0.]); y=(x*1).sigmoid_(); (y*y).sum().backward(); out=x.grad",
    "sqrt_ guards": "x=leaf([4.,9.]); y=x.sqrt(); y.mul_(2); y.sum().backward()",
    "sin may have its output changed": "x=leaf([0.,0.]); y=x.sin(); y.mul_(2); y.sum().backward(); out=x.grad",
    "sin_ keeps a copy of its input": "x=leaf([0.,1.]); y=x*1; y.sin_(); y.mul_(2); y.sum().backward(); out=x.grad",
    "clamp_": "x=leaf([-2.,.5,3.]); y=(x*1).clamp_(-1,1); (y*y).sum().backward(); out=x.grad",
    "copy_ from tracked": "x=leaf([1.,2.]); y=torch.zeros(2); y.copy_(x*2); (y*y).sum().backward(); out=x.grad",
    "masked_fill_": "x=leaf([1.,2.,3.]); y=x*1; y.masked_fill_(torch.tensor([True,False,True]),0.); (y*y).sum().backward(); out=[x.grad,y]",
    "t_ in place": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; y.t_(); (y[0]*y[1]).sum().backward(); out=[x.grad,y]",
    "backward twice through a kept graph after a write": "x=leaf([1.,2.]); y=x*2; z=y.sin(); z.sum().backward(retain_graph=True); y.add_(1); z.sum().backward()",
    "detach_ of a view": "x=leaf([1.,2.]); (x*1)[0].detach_()",
    "requires_grad_ of a result": "x=leaf([1.,2.]); (x*2).requires_grad_(False)",
    "saved weight updated under no_grad between": "w=leaf([1.,2.]); y=(w*w).sum()\nwith torch.no_grad(): w.sub_(0.1)\ny.backward()",
    "weight updated after backward": "w=leaf([1.,2.])\nfor _ in range(3):\n    (w*w).sum().backward()\n    with torch.no_grad():\n        w.sub_(0.1*w.grad); w.grad.zero_()\nout=w",
    "grad accumulates in place": "w=leaf([1.,2.]); (w*w).sum().backward(); g=w.grad; (w*w).sum().backward(); out=[g, w.grad is g]",
    "is_view and base": "x=torch.zeros(2,3); v=x[0][1:]; out=[v._is_view(), v._base is x, x._is_view(), x.detach()._base is None]",
    "index of an index": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; y[0][1]=7.; y.sum().backward(); out=[x.grad,y]",
    "swap rows": "x=leaf([[1.,2.],[3.,4.]]); y=x*1; t=y[0].clone(); y[0]=y[1]; y[1]=t; (y*torch.tensor([[1.,2.],[3.,4.]])).sum().backward(); out=[x.grad,y]",
    "strided step": "x=leaf([1.,2.,3.,4.]); y=x*1; y[::2].mul_(3); y[1::2].add_(y[::2]); y.sum().backward(); out=[x.grad,y]",
    "as_strided": "x=leaf([1.,2.,3.,4.]); y=x*1; y.as_strided((2,),(2,)).mul_(3); y.sum().backward(); out=[x.grad,y]",
    "view dies, base remembers": "x=leaf([1.,2.]); y=x*1\nfor _ in range(20): y[0].mul_(1.5)\ny.sum().backward(); out=x.grad",
    "many live views": "x=leaf([1.,2.,3.]); y=x*1; vs=[y[i] for i in range(3)]\nfor i,v in enumerate(vs): v.mul_(i+1)\n(vs[0]*vs[1]*vs[2]).backward(); out=x.grad",
    "set data then backward": "w=leaf([1.,2.]); x=leaf([3.,4.]); y=(w*x).sum(); w.data=torch.tensor([10.,20.]); y.backward(); out=[w.grad,x.grad,w]",
    "set data of a constant": "w=torch.tensor([1.,2.]); x=leaf([3.,4.]); y=(w*x).sum(); w.data=torch.tensor([10.,20.]); y.backward(); out=[x.grad,w]",
    "set data of a result": "v=leaf([1.,2.]); w=v*1; x=leaf([3.,4.]); y=(w*x).sum(); w.data=torch.tensor([10.,20.]); y.backward(); out=[v.grad,x.grad,w]",
    "set data of the output": "x=leaf([0.,0.]); y=x.exp(); y.data=torch.tensor([10.,20.]); y.sum().backward(); out=[x.grad,y]",
    "set data then write": """
w=leaf([1.,2.]); x=leaf([3.,4.]); y=(w*x).sum(); w.data=torch.tensor([10.,20.])
with torch.no_grad(): w.add_(1)
y.backward()
""",
    "write then set data": """
w=leaf([1.,2.]); x=leaf([3.,4.]); y=(w*x).sum()
with torch.no_grad(): w.add_(1)
w.data=torch.tensor([10.,20.]); y.backward()
""",
    "write old memory after set data": "w=leaf([1.,2.]); o=w.data; x=leaf([3.,4.]); y=(w*x).sum(); w.data=torch.tensor([10.,20.]); o.add_(1); y.backward(); out=[x.grad]",
    "set data version": "w=torch.tensor([1.,2.]); w.add_(1); a=w._version; w.data=torch.tensor([10.,20.]); out=[a,w._version]",
    "set data then detach shares": "w=torch.tensor([1.,2.]); d=w.detach(); w.data=torch.tensor([10.,20.]); w.add_(1); out=[d,w,d._version,w._version]",
    "set data of another shape": "w=torch.tensor([1.,2.]); w.data=torch.ones(2,3); out=[list(w.shape)]",
    "set data of another dtype": "w=torch.tensor([1.,2.]); w.data=torch.ones(2,dtype=torch.float64); out=[str(w.dtype)]",
    "set data shares": "w=torch.tensor([1.,2.]); k=torch.tensor([10.,20.]); w.data=k; k.add_(1); out=[w]",
    "set data of a leaf to int": "w=leaf([1.,2.]); w.data=torch.ones(2,dtype=torch.int64); out=[str(w.dtype)]",
    "set data twice": "w=leaf([1.,2.]); x=leaf([3.,4.]); y=(w*x).sum(); w.data=torch.tensor([10.,20.]); w.data=torch.tensor([5.,6.]); y.backward(); out=[x.grad]",
    "set data second order": "w=leaf([1.,2.]); x=leaf([3.,4.]); y=(w*w*x).sum(); w.data=torch.tensor([10.,20.]); g,=torch.autograd.grad(y,x,create_graph=True); r,=torch.autograd.grad(g.sum(),w); out=[g,r]",
    "partial overlap add_": "x=torch.arange(4.); x[1:].add_(x[:-1]); out=x",
    "partial overlap sub_": "x=torch.arange(4.); x[1:]-=x[:-1]; out=x",
    "partial overlap mul_ 2-D": "x=torch.ones(3,3); x.mul_(x.t()); out=x",
    "full overlap": "x=torch.arange(4.); x.add_(x); x[1:].mul_(x[1:]); out=x",
    "no overlap, interleaved": "x=torch.arange(6.); x[::2].add_(x[1::2]); out=x",
    "partial overlap copy_": "x=torch.arange(4.); x[1:].copy_(x[:-1]); out=x",
    "partial overlap setitem": "x=torch.arange(4.); x[1:]=x[:-1]; out=x",
    "partial overlap addcmul_": "x=torch.arange(4.); x[1:].addcmul_(x[:-1],torch.ones(3)); out=x",
    "partial overlap lerp_": "x=torch.arange(4.); x[1:].lerp_(x[:-1],.5); out=x",
    "partial overlap pow_": "x=torch.arange(4.); x[1:].pow_(x[:-1]); out=x",
    "partial overlap maximum out": "x=torch.arange(4.); torch.maximum(x[:-1],torch.ones(3),out=x[1:]); out=x",
    "partial overlap add out": "x=torch.arange(4.); torch.add(x[:-1],torch.ones(3),out=x[1:]); out=x",
    "partial overlap tracked": "x=leaf([1.,2.,3.]); y=x*1; y[1:].add_(y[:-1]); out=y",
    "partial overlap broadcast": "x=torch.ones(3,3); x.add_(x[0]); out=x",
    "partial overlap broadcast element": "x=torch.ones(3); x.add_(x[0]); out=x",
    "partial overlap relu_": "x=torch.arange(4.)-2; x[1:].relu_(); out=x",
    "partial overlap atan2_": "x=torch.ones(4); x[1:].atan2_(x[:-1]); out=x",
    "partial overlap clamp_": "x=torch.ones(4); x[1:].clamp_(x[:-1]); out=x",
    "partial overlap masked_fill_": "x=torch.ones(4); m=(x>0); m[1:].masked_fill_(m[:-1],False); out=m",
    "partial overlap reversed": "x=torch.arange(4.); x.add_(x.flip(0)); out=x",
    "partial overlap bitwise": "x=torch.arange(4); x[1:].bitwise_or_(x[:-1]); out=x",
    "partial overlap logical": "x=torch.arange(4)>1; x[1:].logical_or_(x[:-1]); out=x",
    "partial overlap eq_": "x=torch.arange(4); x[1:].eq_(x[:-1]); out=x",
    "partial overlap fmod_": "x=torch.arange(4.)+1; x[1:].fmod_(x[:-1]); out=x",
    "partial overlap zero_": "x=torch.arange(4.)+1; x[1:].zero_(); out=x",
    "partial overlap div_": "x=torch.arange(4.)+1; x[1:]/=x[:-1]; out=x",
    "expanded written": "x=torch.zeros(1).expand(3); x.add_(1)",
    "expanded copied": "x=torch.zeros(1).expand(3); x.copy_(torch.ones(3))",
    "expanded filled": "x=torch.zeros(1).expand(3); x.fill_(1.); out=x",
    "expanded zeroed": "x=torch.zeros(1).expand(3); x.zero_(); out=x",
    "expanded set": "x=torch.zeros(1).expand(3); x[0]=1.; out=x",
    "unfold filled": "x=torch.zeros(4).unfold(0,2,1); x.fill_(1); out=x",
    "split views after base changed, read values": "x=leaf([1.,2.,3.,4.]); y=x*1; a,b=y.split(2); y.mul_(2); out=[a,b]",
    "split views after base changed, read grad_fn": "x=leaf([1.,2.,3.,4.]); y=x*1; a,b=y.split(2); y.mul_(2); a.grad_fn",
    "split views after base changed, used under no_grad": """
x=leaf([1.,2.,3.,4.]); y=x*1; a,b=y.split(2); y.mul_(2)
with torch.no_grad(): out=a*2
""",
    "split views after base changed, printed": "x=leaf([1.,2.,3.,4.]); y=x*1; a,b=y.split(2); y.mul_(2); repr(a)",
    "split views after base changed, detached": "x=leaf([1.,2.,3.,4.]); y=x*1; a,b=y.split(2); y.mul_(2); out=a.detach()",
    "split views after base changed, requires_grad": "x=leaf([1.,2.,3.,4.]); y=x*1; a,b=y.split(2); y.mul_(2); out=a.requires_grad",
    "split views after base changed, size": "x=leaf([1.,2.,3.,4.]); y=x*1; a,b=y.split(2); y.mul_(2); out=[list(a.shape),a.tolist()]",
    "split views after base changed, item": "x=leaf([1.,2.]); y=x*1; a,b=y.unbind(0); y.mul_(2); out=a.item()",
    "split views after base changed, backward of older": "x=leaf([1.,2.]); y=x*1; a,b=y.unbind(0); z=a*3; y.mul_(2); z.backward(); out=x.grad",
    "split views after base changed, y used": "x=leaf([1.,2.]); y=x*1; a,b=y.unbind(0); y.mul_(2); y.sum().backward(); out=x.grad",
    "split views, a changed": "x=leaf([1.,2.]); y=x*1; a,b=y.unbind(0); a.mul_(2)",
    "split views, no grad needed": "y=torch.ones(4); a,b=y.split(2); y.mul_(2); a.add_(1); out=[a,b,y]",
    "no_grad view after base changed, grad_fn": """
x=leaf([1.,2.]); y=x*1
with torch.no_grad(): v=y[0]
y.mul_(2); v.grad_fn
""",
    "no_grad view after base changed, value": """
x=leaf([1.,2.]); y=x*1
with torch.no_grad(): v=y[0]
y.mul_(2); out=[v.item()]
""",
}  # fmt: skip


def answer(code, torch):
    """What the snippet leaves in `out`, or the exception's type and the first words of its text."""
    import warnings

    def leaf(values):
        return torch.tensor(values, requires_grad=True)

    space = {"torch": torch, "leaf": leaf, "out": None}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, space)
    except Exception as error:
        return {"raises": type(error).__name__, "text": str(error).split("\n")[0][:60]}
    return plain(space["out"])


def plain(x):
    """Tensors as lists, rounded to 5 digits."""
    if hasattr(x, "tolist"):
        x = x.detach().tolist()
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return float(f"{x:.5g}") if isinstance(x, float) else x
