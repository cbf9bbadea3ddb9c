"""Snippets about hooks on tensors and nodes; PyTorch's answers stand in data/hooks.json (see record_walk.py).

Each runs as `answer` in walk_cases.py says.
"""

HOOKS = {
    "order of several": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say('a',g)); h.register_hook(lambda g: say('b',g)); (h*h).backward(); out=[log,x.grad]",
    "each sees what the one before returned": "x=leaf(2.); h=x*3; h.register_hook(lambda g: g*10); h.register_hook(lambda g: say('b',g)); h.register_hook(lambda g: g+1); (h*h).backward(); out=[log,x.grad]",
    "remove": "x=leaf(2.); h=x*3; r=h.register_hook(lambda g: g*10); r.remove(); r.remove(); (h*h).backward(); out=x.grad",
    "remove one of two": "x=leaf(2.); h=x*3; r=h.register_hook(lambda g: g*10); h.register_hook(lambda g: g+1); r.remove(); (h*h).backward(); out=x.grad",
    "same function twice, removed once": """
f=lambda g: g*10
x=leaf(2.); h=x*3; r=h.register_hook(f); h.register_hook(f); r.remove(); (h*h).backward(); out=x.grad
""",
    "removed in its own call": """
x=leaf(2.); h=x*3
def f(g): say('f',g); r.remove()
r=h.register_hook(f); h.register_hook(lambda g: say('g',g))
y=h*h; y.backward(retain_graph=True); y.backward(); out=[log,x.grad]
""",
    "removed by the hook before it": """
x=leaf(2.); h=x*3
def f(g): say('f',g); r.remove()
h.register_hook(f); r=h.register_hook(lambda g: say('g',g))
y=h*h; y.backward(retain_graph=True); y.backward(); out=[log,x.grad]
""",
    "registered by a hook during the call": """
x=leaf(2.); h=x*3
def f(g):
    say('f',g); h.register_hook(lambda g: say('new',g))
h.register_hook(f)
y=h*h; y.backward(retain_graph=True); say('--'); y.backward(); out=log
""",
    "with statement": """
x=leaf(2.); h=x*3
with h.register_hook(lambda g: g*10):
    (h*1).backward(retain_graph=True)
(h*1).backward(); out=x.grad
""",
    "on a leaf": "x=leaf(2.); x.register_hook(lambda g: say('x',g)); (x*x+x).backward(); out=[log,x.grad]",
    "on a leaf, replaced": "x=leaf(2.); x.register_hook(lambda g: g*10); (x*x+x).backward(); (x*1).backward(); out=[x.grad]",
    "on a leaf sees no grad yet": "x=leaf(2.); x.register_hook(lambda g: say(x.grad)); (x*x+x).backward(); out=[log,x.grad]",
    "leaf hook comes as soon as it is complete": "x=leaf(2.); w=leaf(3.); h=x*x; w.register_hook(lambda g: say('w',g)); h.register_hook(lambda g: say('h',g)); x.register_hook(lambda g: say('x',g)); (h*w).backward(); out=log",
    "leaf hook of two layers": """
w1=leaf(2.); w2=leaf(3.); x=torch.tensor(1.)
for n,t in (('w1',w1),('w2',w2)): t.register_hook(lambda g,n=n: say(n,g))
a=x*w1; b=a.exp(); c=b*w2; d=c.exp()
for n,t in (('a',a),('b',b),('c',c),('d',d)): t.register_hook(lambda g,n=n: say(n))
(d*2).backward(); out=log
""",
    "leaf used early and late": """
w=leaf(2.); w.register_hook(lambda g: say('w',g))
a=w*2; a.register_hook(lambda g: say('a'))
b=a*w; b.register_hook(lambda g: say('b'))
b.backward(); out=log
""",
    "grads of other leaves in a leaf hook": """
w1=leaf(2.); w2=leaf(3.)
w1.register_hook(lambda g: say('w1',w2.grad))
w2.register_hook(lambda g: say('w2',w1.grad))
(w1.exp()*w2).backward(); out=log
""",
    "grad mode in a hook": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say(torch.is_grad_enabled(), g.requires_grad)); (h*h).backward(); out=log",
    "grad mode in a hook, create_graph": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say(torch.is_grad_enabled(), g.requires_grad)); (h*h).backward(create_graph=True); out=[log, x.grad.requires_grad]",
    "grad mode in a leaf hook": "x=leaf(2.); x.register_hook(lambda g: say(torch.is_grad_enabled())); (x*x).backward(); out=log",
    "grad mode in a post accumulate hook": "x=leaf(2.); x.register_post_accumulate_grad_hook(lambda p: say(torch.is_grad_enabled())); (x*x).backward(); out=log",
    "grad mode stays": "x=leaf(2.); h=x*3; h.register_hook(lambda g: torch.set_grad_enabled(True)and None); (h*h).backward(); out=torch.is_grad_enabled()",
    "under no_grad grad mode": """
x=leaf(2.); h=x*3; h.register_hook(lambda g: say(torch.is_grad_enabled())); y=h*h
with torch.no_grad():
    y.backward(create_graph=True); say(torch.is_grad_enabled())
out=[log,x.grad.requires_grad]
""",
    "set_grad_enabled in a hook leaks": """
x=leaf(2.); h=x*3; k=h*2
k.register_hook(lambda g: torch.set_grad_enabled(True) and None)
h.register_hook(lambda g: say(torch.is_grad_enabled()))
k.backward(); out=[log, torch.is_grad_enabled()]
""",
    "hook records with w": "x=leaf(2.); w=leaf(5.); h=x*3; h.register_hook(lambda g: g*w); (h*h).backward(); out=[x.grad,x.grad.requires_grad,w.grad]",
    "hook records with w, create_graph": "x=leaf(2.); w=leaf(5.); h=x*3; h.register_hook(lambda g: g*w); g,=torch.autograd.grad(h*h,x,create_graph=True); g.backward(); out=[g,x.grad,w.grad]",
    "replaced second order": "x=leaf(2.); h=x*x; h.register_hook(lambda g: g*g); g,=torch.autograd.grad(h*h,x,create_graph=True); h2,=torch.autograd.grad(g,x); out=[g,h2]",
    "retain_grad before the hook": "x=leaf(2.); h=x*3; h.retain_grad(); h.register_hook(lambda g: g*10); (h*h).backward(); out=[h.grad,x.grad]",
    "retain_grad after the hook": "x=leaf(2.); h=x*3; h.register_hook(lambda g: g*10); h.retain_grad(); (h*h).backward(); out=[h.grad,x.grad]",
    "retain_grad twice": "x=leaf(2.); h=x*3; h.retain_grad(); h.retain_grad(); (h*h).backward(); out=[h.grad, h.retains_grad, x.retains_grad]",
    "retain_grad accumulates": "x=leaf(2.); h=x*3; h.retain_grad(); y=h*h; y.backward(retain_graph=True); a=h.grad; y.backward(); out=[a,h.grad,a is h.grad]",
    "retain_grad of a leaf": "x=leaf(2.); x.retain_grad(); (x*x).backward(); out=[x.grad,x.retains_grad]",
    "retain_grad of a constant": "torch.ones(2).retain_grad()",
    "retained grad is not shared": "x=leaf([2.,3.]); h=x*1; h.retain_grad(); (h+x).sum().backward(); h.grad.add_(100); out=[h.grad,x.grad]",
    "retained grad with autograd.grad": "x=leaf(2.); h=x*3; h.retain_grad(); y=h*h; g,=torch.autograd.grad(y,x); out=[g,h.grad,x.grad]",
    "retained grad is an input": "x=leaf(2.); h=x*3; h.retain_grad(); y=h*h; g,=torch.autograd.grad(y,h); out=[g,h.grad]",
    "retained grad is an input of backward": "x=leaf(2.); h=x*3; h.retain_grad(); y=h*h; y.backward(inputs=[h]); out=[h.grad,x.grad]",
    "retained grad create_graph": "x=leaf(2.); h=x*3; h.retain_grad(); (h*h).backward(create_graph=True); out=[h.grad, h.grad.requires_grad]",
    "hook before in-place": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: say('before',g)); h.mul_(2); h.sum().backward(); out=[log,x.grad]",
    "hook after in-place": "x=leaf([1.,2.]); h=x*3; h.mul_(2); h.register_hook(lambda g: say('after',g)); h.sum().backward(); out=[log,x.grad]",
    "hooks before and after in-place": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: say('before',g)); h.mul_(2); h.register_hook(lambda g: say('after',g)); h.sum().backward(); out=[log,x.grad]",
    "removed after in-place": "x=leaf([1.,2.]); h=x*3; r=h.register_hook(lambda g: say('before',g)); h.mul_(2); r.remove(); h.sum().backward(); out=[log,x.grad]",
    "retain_grad moves": "x=leaf([1.,2.]); h=x*3; h.retain_grad(); h.register_hook(lambda g: g*10); h.mul_(2); h.sum().backward(); out=[h.grad,x.grad]",
    "retain_grad and hook after in-place": "x=leaf([1.,2.]); h=x*3; h.retain_grad(); h.mul_(2); h.register_hook(lambda g: g*10); h.sum().backward(); out=[h.grad,x.grad]",
    "hook on a leaf made a result": """
x=leaf([1.,2.]); y=torch.zeros(2)
y.add_(x); y.register_hook(lambda g: say('y',g)); y.mul_(2); y.sum().backward(); out=[log,x.grad]
""",
    "hook on a view": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.register_hook(lambda g: say('v',g)); (h.sum()+v*2).backward(); out=[log,x.grad]",
    "hook on a view, base written": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.register_hook(lambda g: say('v',g)); h.mul_(2); (h.sum()+v*2).backward(); out=[log,x.grad]",
    "hook on a view, view written": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.register_hook(lambda g: say('v',g)); v.mul_(2); (h.sum()+v*2).backward(); out=[log,x.grad]",
    "hook on a view after view written": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.mul_(2); v.register_hook(lambda g: say('v',g)); (h.sum()+v*2).backward(); out=[log,x.grad]",
    "hook on the base, view written": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: say('h',g)); v=h[0]; v.mul_(2); (h.sum()+v*2).backward(); out=[log,x.grad]",
    "hook on the base after view written": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.mul_(2); h.register_hook(lambda g: say('h',g)); (h.sum()+v*2).backward(); out=[log,x.grad]",
    "retain_grad of the base, view written": "x=leaf([1.,2.]); h=x*3; h.retain_grad(); v=h[0]; v.mul_(2); (h.sum()+v*2).backward(); out=[h.grad,x.grad]",
    "retain_grad of the view, view written": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.retain_grad(); v.mul_(2); (h.sum()+v*2).backward(); out=[v.grad,x.grad]",
    "retain_grad of the view, base written": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.retain_grad(); h.mul_(2); (h.sum()+v*2).backward(); out=[v.grad,x.grad]",
    "hook on an input of grad": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say('h',g) or g*10); g,=torch.autograd.grad(h*h,h); out=[log,g]",
    "hook on inputs of grad, one before the other": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say('h',g) or g*10); x.register_hook(lambda g: say('x',g) or g+1); g=torch.autograd.grad(h*h,[h,x]); out=[log,list(g)]",
    "hook on a leaf input of grad": "x=leaf(2.); x.register_hook(lambda g: say('x',g) or g*10); g,=torch.autograd.grad(x*x,x); out=[log,g,x.grad]",
    "post hook of a leaf input of grad": "x=leaf(2.); x.register_post_accumulate_grad_hook(lambda p: say('x',p)); g,=torch.autograd.grad(x*x,x); out=[log,g,x.grad]",
    "hook on inputs of backward": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say('h',g) or g*10); x.register_hook(lambda g: say('x',g) or g+1); (h*h).backward(inputs=[h,x]); out=[log,h.grad,x.grad]",
    "hook on an inner input of backward": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say('h',g) or g*10); (h*h).backward(inputs=[h]); out=[log,h.grad,x.grad]",
    "hook on a leaf input of backward": "x=leaf(2.); x.register_hook(lambda g: say('x',g) or g*10); (x*x).backward(inputs=[x]); out=[log,x.grad]",
    "hook on a leaf that is no input": "x=leaf(2.); w=leaf(3.); x.register_hook(lambda g: say('x',g) or g*10); (x*w).backward(inputs=[w]); out=[log,x.grad,w.grad]",
    "hook on the root": "x=leaf(2.); y=x*3; y.register_hook(lambda g: say('y',g) or g*10); y.backward(); out=[log,x.grad]",
    "hook on the root that is a leaf": "x=leaf(2.); x.register_hook(lambda g: say('x',g) or g*10); x.backward(); out=[log,x.grad]",
    "hook returns a wrong shape": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: g.sum()); h.sum().backward()",
    "hook returns a wrong dtype": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: g.double()); h.sum().backward()",
    "hook returns a number": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: 3.); h.sum().backward()",
    "hook on a constant": "torch.ones(2).register_hook(print)",
    "hook on a detached": "leaf([1.,2.]).detach().register_hook(print)",
    "hook changes the gradient in place": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: g.mul_(10) and None if 0 else None or (g.mul_(10), None)[1]); h.sum().backward(); out=x.grad",
    "leaf hook keeps the gradient and changes it later": "x=leaf([1.,2.]); x.register_hook(lambda g: log.append(g)); (x*2).sum().backward(); log[0].add_(100); out=[x.grad]",
    "leaf hook returns a kept array": "k=torch.tensor([5.,6.]); x=leaf([1.,2.]); x.register_hook(lambda g: k); (x*2).sum().backward(); x.grad.add_(1); out=[k,x.grad]",
    "hook that raises": """
x=leaf(2.); h=x*3
def f(g): raise ValueError('mine')
h.register_hook(f); (h*h).backward()
""",
    "zero gradient": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say('h',g)); (h*0).backward(); out=[log,x.grad]",
    "unused branch": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say('h',g)); k=x*1; k.backward(); out=[log,x.grad]",
    "outputs of one operation": """
x=leaf([1.,2.]); a,b=x.unbind(0)
a.register_hook(lambda g: say('a',g)); b.register_hook(lambda g: say('b',g))
(a*b).backward(); out=[log,x.grad]
""",
    "outputs of one operation, other order": """
x=leaf([1.,2.]); a,b=x.unbind(0)
b.register_hook(lambda g: say('b',g)); a.register_hook(lambda g: say('a',g))
(a*b).backward(); out=[log,x.grad]
""",
    "outputs of one operation, one unused": """
x=leaf([1.,2.]); a,b=x.unbind(0)
a.register_hook(lambda g: say('a',g)); b.register_hook(lambda g: say('b',g))
(a*2).backward(); out=[log,x.grad]
""",
    "retain_grad of one of several, unused": """
x=leaf([1.,2.]); a,b=x.unbind(0)
a.retain_grad(); b.retain_grad()
(a*2).backward(); out=[a.grad,b.grad]
""",
    "max of dim": "x=leaf([[1.,5.],[3.,2.]]); v,i=x.max(1); v.register_hook(lambda g: say(g) or g*10); v.sum().backward(); out=[log,x.grad]",
    "post accumulate": "x=leaf(2.); x.register_post_accumulate_grad_hook(lambda p: say(p is x, p.grad)); (x*x).backward(); (x*x).backward(); out=log",
    "post accumulate of a result": "x=leaf(2.); (x*2).register_post_accumulate_grad_hook(print)",
    "post accumulate of a constant": "torch.ones(2).register_post_accumulate_grad_hook(print)",
    "post accumulate, several": "x=leaf(2.); x.register_post_accumulate_grad_hook(lambda p: say('a')); r=x.register_post_accumulate_grad_hook(lambda p: say('b')); x.register_post_accumulate_grad_hook(lambda p: say('c')); (x*x).backward(); r.remove(); (x*x).backward(); out=log",
    "post accumulate returns something": "x=leaf(2.); x.register_post_accumulate_grad_hook(lambda p: p.grad*2); (x*x).backward(); out=x.grad",
    "post accumulate returns a number": "x=leaf(2.); x.register_post_accumulate_grad_hook(lambda p: 1); (x*x).backward(); out=x.grad",
    "post accumulate sets grad None": """
x=leaf(2.)
def f(p): p.grad=None
x.register_post_accumulate_grad_hook(f); (x*x).backward(); out=x.grad
""",
    "post accumulate steps": """
w=leaf([1.,2.])
def f(p):
    p.data.add_(p.grad, alpha=-0.1); p.grad=None
w.register_post_accumulate_grad_hook(f)
for _ in range(2): (w*w).sum().backward()
out=[w,w.grad]
""",
    "post accumulate after the tensor hook": "x=leaf(2.); x.register_post_accumulate_grad_hook(lambda p: say('post',p.grad)); x.register_hook(lambda g: say('hook',g) or g*10); (x*x).backward(); out=log",
    "post accumulate with inputs": "x=leaf(2.); w=leaf(3.); x.register_post_accumulate_grad_hook(lambda p: say('x',p.grad)); w.register_post_accumulate_grad_hook(lambda p: say('w',p.grad)); (x*w).backward(inputs=[w]); out=log",
    "post accumulate as soon as complete": """
w1=leaf(2.); w2=leaf(3.); x=torch.tensor(1.)
for n,t in (('w1',w1),('w2',w2)): t.register_post_accumulate_grad_hook(lambda p,n=n: say(n, w1.grad is None, w2.grad is None))
h=x*w1; h.register_hook(lambda g: say('h', w2.grad is None)); (h.exp()*w2).backward(); out=log
""",
    "post accumulate that raises": """
w1=leaf(2.); w2=leaf(3.)
def f(p): raise ValueError('mine')
w2.register_post_accumulate_grad_hook(f)
try: (w1.exp()*w2).backward()
except ValueError as e: say(str(e))
out=[log,w1.grad,w2.grad]
""",
    "node prehook": "x=leaf(2.); y=x*3; y.grad_fn.register_prehook(lambda gs: say('pre',gs)); y.backward(); out=[log,x.grad]",
    "node prehook replaces": "x=leaf(2.); y=x*3; y.grad_fn.register_prehook(lambda gs: (gs[0]*10,)); y.backward(); out=[x.grad]",
    "node prehook replaces with a single tensor": "x=leaf(2.); y=x*3; y.grad_fn.register_prehook(lambda gs: gs[0]*10); y.backward(); out=[x.grad]",
    "node prehook returns None in a tuple": "x=leaf(2.); y=x*3; y.grad_fn.register_prehook(lambda gs: (None,)); y.backward(); out=[x.grad]",
    "node prehook returns too many": "x=leaf(2.); y=x*3; y.grad_fn.register_prehook(lambda gs: (gs[0],gs[0])); y.backward(); out=[x.grad]",
    "node prehook returns a number": "x=leaf(2.); y=x*3; y.grad_fn.register_prehook(lambda gs: 3); y.backward(); out=[x.grad]",
    "node prehook returns a list": "x=leaf(2.); y=x*3; y.grad_fn.register_prehook(lambda gs: [gs[0]*10]); y.backward(); out=[x.grad]",
    "node prehook wrong shape": "x=leaf(2.); y=x*3; y.grad_fn.register_prehook(lambda gs: (torch.ones(2),)); y.backward(); out=[x.grad]",
    "node hook": "x=leaf(2.); w=leaf(5.); y=x*w; y.grad_fn.register_hook(lambda gi,go: say('post',gi,go)); y.backward(); out=[log,x.grad,w.grad]",
    "node hook replaces": "x=leaf(2.); w=leaf(5.); y=x*w; y.grad_fn.register_hook(lambda gi,go: (gi[0]*10,gi[1]*100)); y.backward(); out=[x.grad,w.grad]",
    "node hook replaces by list": "x=leaf(2.); w=leaf(5.); y=x*w; y.grad_fn.register_hook(lambda gi,go: [gi[0]*10,gi[1]*100]); y.backward(); out=[x.grad,w.grad]",
    "node hook replaces by None": "x=leaf(2.); w=leaf(5.); y=x*w; y.grad_fn.register_hook(lambda gi,go: (None,gi[1]*100)); y.backward(); out=[x.grad,w.grad]",
    "node hook replaces by one": "x=leaf(2.); y=x*3; y.grad_fn.register_hook(lambda gi,go: gi[0]*10); y.backward(); out=[x.grad]",
    "node hook replaces by one tuple": "x=leaf(2.); y=x.exp(); y.grad_fn.register_hook(lambda gi,go: (gi[0]*0+10,)); y.backward(); out=[x.grad]",
    "node hook too few": "x=leaf(2.); w=leaf(5.); y=x*w; y.grad_fn.register_hook(lambda gi,go: (gi[0],)); y.backward(); out=[x.grad,w.grad]",
    "node hook wrong shape": "x=leaf(2.); w=leaf(5.); y=x*w; y.grad_fn.register_hook(lambda gi,go: (torch.ones(3),gi[1])); y.backward(); out=[x.grad,w.grad]",
    "node hook constant input": "x=leaf(2.); y=x*3; y.grad_fn.register_hook(lambda gi,go: say(gi,go)); y.backward(); out=[log]",
    "node hook constant tensor input": "x=leaf(2.); y=x*torch.tensor(3.); y.grad_fn.register_hook(lambda gi,go: say(gi,go)); y.backward(); out=[log]",
    "node hook of sum": "x=leaf([2.,3.]); y=x.sum(); y.grad_fn.register_hook(lambda gi,go: say(gi,go)); y.backward(); out=[log]",
    "node hook of broadcast": "x=leaf([2.,3.]); w=leaf(1.); y=x+w; y.grad_fn.register_hook(lambda gi,go: say(gi,go)); y.sum().backward(); out=[log]",
    "node hooks two chained": "x=leaf(2.); y=x.exp(); y.grad_fn.register_hook(lambda gi,go: say('a',gi) or (gi[0]*0+10,)); y.grad_fn.register_hook(lambda gi,go: say('b',gi)); y.backward(); out=[log,x.grad]",
    "order of all": """
x=leaf(2.); h=x*3
h.grad_fn.register_hook(lambda gi,go: say('post',go)); h.grad_fn.register_prehook(lambda go: say('pre',go)); h.retain_grad(); h.register_hook(lambda g: say('tensor',g) or g*10)
(h*h).backward(); out=[log,h.grad,x.grad]
""",
    "remove node hooks": "x=leaf(2.); y=x*3; r=y.grad_fn.register_prehook(lambda gs: (gs[0]*10,)); r.remove(); r=y.grad_fn.register_hook(lambda a,b: (a[0]*10,None)); r.remove(); y.backward(); out=[x.grad]",
    "node hooks several outputs": "x=leaf([1.,2.]); a,b=x.unbind(0); a.grad_fn.register_prehook(lambda gs: say('pre',gs)); a.grad_fn.register_hook(lambda gi,go: say('post',gi,go)); (a*2).backward(); out=[log,x.grad]",
    "node prehook several outputs replaces": "x=leaf([1.,2.]); a,b=x.unbind(0); a.grad_fn.register_prehook(lambda gs: (gs[0]*10,torch.tensor(7.))); (a*2).backward(); out=[log,x.grad]",
    "node hook on an input of grad": "x=leaf(2.); h=x*3; h.grad_fn.register_prehook(lambda gs: say('pre',gs)); h.grad_fn.register_hook(lambda a,b: say('post')); g,=torch.autograd.grad(h*h,h); out=[log,g]",
    "node hook on an input of grad that leads on": "x=leaf(2.); h=x*3; h.grad_fn.register_prehook(lambda gs: say('pre',gs) or (gs[0]*10,)); h.grad_fn.register_hook(lambda a,b: say('post')); g=torch.autograd.grad(h*h,[h,x]); out=[log,list(g)]",
    "node hook on an input of backward": "x=leaf(2.); h=x*3; h.grad_fn.register_prehook(lambda gs: say('pre',gs) or (gs[0]*10,)); h.grad_fn.register_hook(lambda a,b: say('post',a)); (h*h).backward(inputs=[h]); out=[log,h.grad,x.grad]",
    "accumulate node": "x=leaf(2.); y=x*3; n=y.grad_fn.next_functions[0][0]; out=[n.name(), n.variable is x, n is (x*2).grad_fn.next_functions[0][0], n==y.grad_fn.next_functions[0][0], hash(n)==hash(y.grad_fn.next_functions[0][0])]",
    "accumulate node prehook": "x=leaf(2.); y=x*x; n=y.grad_fn.next_functions[0][0]; n.register_prehook(lambda gs: say('pre',gs,x.grad) or (gs[0]*10,)); y.backward(); out=[log,x.grad]",
    "accumulate node hook": "x=leaf(2.); y=x*x; n=y.grad_fn.next_functions[0][0]; n.register_hook(lambda gi,go: say('post',gi,go,x.grad)); y.backward(); out=[log,x.grad]",
    "accumulate node all": """
x=leaf(2.); y=x*x; n=y.grad_fn.next_functions[0][0]
n.register_hook(lambda gi,go: say('post',go)); x.register_post_accumulate_grad_hook(lambda p: say('acc',p.grad)); n.register_prehook(lambda go: say('pre',go)); x.register_hook(lambda g: say('tensor',g) or g*10)
y.backward(); out=[log,x.grad]
""",
    "accumulate node and grad": """
x=leaf(2.); y=x*x; n=y.grad_fn.next_functions[0][0]
n.register_hook(lambda gi,go: say('post',go)); n.register_prehook(lambda go: say('pre',go)); x.register_hook(lambda g: say('tensor',g) or g*10)
g,=torch.autograd.grad(y,x); out=[log,g,x.grad]
""",
    "accumulate node and inputs": """
x=leaf(2.); y=x*x; n=y.grad_fn.next_functions[0][0]
n.register_hook(lambda gi,go: say('post',go)); n.register_prehook(lambda go: say('pre',go)); x.register_hook(lambda g: say('tensor',g) or g*10)
y.backward(inputs=[x]); out=[log,x.grad]
""",
    "node hook by view_as grad_fn trick": "x=leaf(2.); n=x.view_as(x).grad_fn.next_functions[0][0]; n.register_hook(lambda *a: say('acc',x.grad)); (x*x).backward(); out=[log,n.variable is x]",
    "metadata": "x=leaf(2.); y=x*3; y.grad_fn.metadata['k']=1; out=[y.grad_fn.metadata['k'], len((x*2).grad_fn.metadata), type(y.grad_fn.metadata).__name__]",
    "call a node": "x=leaf(2.); y=x*x; r=y.grad_fn(torch.tensor(1.)); out=[[t.item() for t in r], x.grad]",
    "call a node one input": "x=leaf(2.); y=x.exp(); r=y.grad_fn(torch.tensor(2.)); out=[type(r).__name__, r, r.requires_grad]",
    "call a node with a number factor": "x=leaf(2.); y=x*3; r=y.grad_fn(torch.tensor(2.)); out=[type(r).__name__, list(r) if isinstance(r,tuple) else r]",
    "call a node constant input": "x=leaf(2.); y=x*torch.tensor(3.); r=y.grad_fn(torch.tensor(2.)); out=[type(r).__name__, list(r)]",
    "call a node after backward": "x=leaf(2.); y=x*x; y.backward(); y.grad_fn(torch.tensor(1.))",
    "call a node twice": "x=leaf(2.); y=x*x; y.grad_fn(torch.tensor(1.)); r=y.grad_fn(torch.tensor(1.)); y.backward(); out=[list(r),x.grad]",
    "call a node runs hooks": "x=leaf(2.); y=x*3; y.register_hook(lambda g: say('t')); y.grad_fn.register_prehook(lambda g: say('pre')); y.grad_fn.register_hook(lambda a,b: say('post')); y.grad_fn(torch.tensor(2.)); out=log",
    "call a node with None": "x=leaf(2.); y=x*x; r=y.grad_fn(None); out=list(r)",
    "call a node with none": "x=leaf(2.); y=x*x; r=y.grad_fn(); out=list(r)",
    "call a node of several outputs": "x=leaf([1.,2.]); a,b=x.unbind(0); r=a.grad_fn(torch.tensor(1.),torch.tensor(5.)); out=r",
    "call a node of several outputs, None": "x=leaf([1.,2.]); a,b=x.unbind(0); r=a.grad_fn(torch.tensor(1.),None); out=r",
    "call accumulate": "x=leaf(2.); y=x*x; n=y.grad_fn.next_functions[0][0]; r=n(torch.tensor(5.)); n(torch.tensor(1.)); out=[r,x.grad,x.grad.requires_grad]",
    "call a node with a tracked": "x=leaf(2.); y=x.exp(); r=y.grad_fn(x); out=[r.requires_grad, torch.autograd.grad(r,x)[0]]",
    "call a node under no_grad": """
x=leaf(2.); y=x.exp()
with torch.no_grad(): r=y.grad_fn(x)
out=[r.requires_grad]
""",
    "sequence_nr": "x=leaf(2.); y=x*3; z=y*2; a=z.grad_fn._sequence_nr(); b=y.grad_fn._sequence_nr(); out=[a-b, y.grad_fn._sequence_nr()==b]",
    "input_metadata": "x=leaf([1.,2.]); y=x*3; m=y.grad_fn._input_metadata; out=[len(m), list(m[0].shape), str(m[0].dtype), str(m[0].device)]",
    "input_metadata of several": "x=leaf([1.,2.]); a,b=x.unbind(0); m=a.grad_fn._input_metadata; out=[len(m), [list(k.shape) for k in m]]",
    "isinstance Node": "x=leaf(2.); y=x*3; N=torch.autograd.graph.Node; out=[isinstance(y.grad_fn,N), isinstance(y.grad_fn.next_functions[0][0],N), isinstance(x,N)]",
    "grad_fn is the same": "x=leaf(2.); y=x*3; out=[y.grad_fn is y.grad_fn, y.grad_fn==y.grad_fn, y.grad_fn in {y.grad_fn}]",
    "graph.get_gradient_edge": "x=leaf(2.); y=x*3; e=torch.autograd.graph.get_gradient_edge(y); f=torch.autograd.graph.get_gradient_edge(x); out=[e.node is y.grad_fn, e.output_nr, f.node.name(), f.output_nr]",
    "backward hooks attribute": "x=leaf(2.); y=x*3; a=y._backward_hooks; f=lambda g: None; r=y.register_hook(f); b=list(y._backward_hooks.values())==[f]; r.remove(); out=[a is None,b,len(y._backward_hooks)]",
    "handle id": "x=leaf(2.); y=x*3; r=y.register_hook(lambda g: None); s=y.register_hook(lambda g: None); out=[type(r).__name__, s.id-r.id, r.id in y._backward_hooks]",
    "multi grad all": """
x=leaf([1.,2.]); a=x*2; b=x*3; c=x*4
torch.autograd.graph.register_multi_grad_hook([a,b,c], lambda gs: say(gs))
(a.sum()+b.sum()*2).backward(); out=[log,x.grad]
""",
    "multi grad all, all used": """
x=leaf([1.,2.]); a=x*2; b=x*3
a.register_hook(lambda g: say('a')); b.register_hook(lambda g: say('b'))
torch.autograd.graph.register_multi_grad_hook([a,b], lambda gs: say(gs))
(a.sum()+b.sum()*2).backward(retain_graph=True); (a.sum()).backward(); out=[log,x.grad]
""",
    "multi grad any": """
x=leaf([1.,2.]); a=x*2; b=x*3
torch.autograd.graph.register_multi_grad_hook([a,b], lambda g: say(g), mode='any')
(a.sum()+b.sum()*2).backward(retain_graph=True); say('--'); a.sum().backward(); out=[log,x.grad]
""",
    "multi grad removed": """
x=leaf([1.,2.]); a=x*2; b=x*3
r=torch.autograd.graph.register_multi_grad_hook([a,b], lambda g: say(g)); r.remove()
(a.sum()+b.sum()*2).backward(); out=[log,x.grad]
""",
    "multi grad leaves": """
x=leaf(1.); w=leaf(2.)
torch.autograd.graph.register_multi_grad_hook([x,w], lambda gs: say(gs))
(x*w).backward(); (x*2).backward(); out=[log]
""",
    "multi grad none used": """
x=leaf(1.); w=leaf(2.)
torch.autograd.graph.register_multi_grad_hook([x*1,w*1], lambda gs: say(gs))
(x*w).backward(); out=[log]
""",
    "multi grad wrong mode": "torch.autograd.graph.register_multi_grad_hook([leaf(1.)], print, mode='some')",
    "multi grad constant": "torch.autograd.graph.register_multi_grad_hook([torch.ones(1)], print)",
    "multi grad one of outputs": """
x=leaf([1.,2.]); a,b=x.unbind(0)
torch.autograd.graph.register_multi_grad_hook([a,b], lambda gs: say(gs))
(a*b).backward(); out=[log]
""",
    "multi grad with grad inputs": """
x=leaf(1.); a=x*2; b=x*3
torch.autograd.graph.register_multi_grad_hook([a,b], lambda gs: say(gs))
g=torch.autograd.grad(a*b,a); out=[log,list(g)]
""",
    "deepcopy keeps no hooks": """
import copy
x=leaf(2.); x.register_hook(lambda g: g*10); y=copy.deepcopy(x); (y*1).backward(); out=y.grad
""",
    "pickle warns about hooks": """
import pickle, warnings
x=leaf(2.); x.register_hook(lambda g: g*10)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter('always'); y=pickle.loads(pickle.dumps(x))
(y*1).backward(); out=[[str(v.message)[:30] for v in w], y.grad]
""",
    "hook on a parameter": "p=torch.nn.Parameter(torch.tensor([1.,2.])); p.register_hook(lambda g: g*10); (p*p).sum().backward(); out=p.grad",
    "clip by a hook": "x=leaf([3.,-4.]); x.register_hook(lambda g: g.clamp(-1,1)); (x*x).sum().backward(); out=x.grad",
    "gradient reversal": "x=leaf([3.,-4.]); h=x.view_as(x); h.register_hook(lambda g: -g); h.sum().backward(); out=x.grad",
    "hook sees a tensor not required": "x=leaf([3.]); x.register_hook(lambda g: say(g.requires_grad,g.is_leaf,g.grad_fn)); (x*x).sum().backward(); out=log",
    "dead tensor, live hook": "x=leaf(2.); h=x*3; h.register_hook(lambda g: say('h',g)); y=h*h; del h; y.backward(); out=log",
    "dead tensor, retain": "x=leaf(2.); h=x*3; h.retain_grad(); y=h*h; del h; y.backward(); out=x.grad",
    "hook on requires_grad_ changed": "x=torch.ones(2); x.requires_grad_(); x.register_hook(lambda g: say(g)); x.requires_grad_(False); x.requires_grad_(True); (x*2).sum().backward(); out=[log,x.grad]",
    "hook moved by detach_": "x=leaf(2.); y=x*2; y.register_hook(lambda g: say(g)); z=y*3; y.detach_(); z.backward(); out=[log,x.grad]",
    "reentrant in a hook": """
x=leaf(2.); w=leaf(3.); h=x*2
h.register_hook(lambda g: (w*w).backward() if 0 else None)
def f(g):
    with torch.enable_grad(): (w*w).backward()
h.register_hook(f)
(h*w).backward(); out=[x.grad,w.grad]
""",
    "reentrant on the same leaf": """
x=leaf(2.); h=x*2
def f(g):
    with torch.enable_grad(): (x*x).backward()
h.register_hook(f)
(h*h).backward(); out=[x.grad]
""",
    "reentrant on the same graph": """
x=leaf(2.); k=x*3; h=k*2
def f(g): k.backward(retain_graph=True)
h.register_hook(f)
h.backward(); out=[x.grad]
""",
    "reentrant in a leaf hook": """
x=leaf(2.); w=leaf(1.)
def f(g):
    with torch.enable_grad(): (w*5).backward()
x.register_hook(f)
(x*x).backward(); out=[x.grad,w.grad]
""",
    "hook with None gradient skipped upstream": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,a,b): return a+b
    @staticmethod
    def backward(ctx,g): return g,None
x=leaf(2.); w=leaf(3.); h=w*2; h.register_hook(lambda g: say('h',g)); w.register_hook(lambda g: say('w',g)); h.grad_fn.register_prehook(lambda g: say('pre',g))
w.register_post_accumulate_grad_hook(lambda p: say('acc',p.grad))
F.apply(x,h).backward(); out=[log,x.grad,w.grad]
""",
    "retains_grad after backward inputs": "x=leaf(2.); h=x*2; h.backward(inputs=[h]); out=[h.retains_grad,h.grad]",
    "retain_grad deepcopy": """
import copy
x=leaf(2.); h=x*2; copy.deepcopy(h)
""",
    "hook modifies in place": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: (g.mul_(10),None)[1]); (h*2).sum().backward(); out=x.grad",
    "hook modifies in place 0-d": "x=leaf(1.); h=x*3; h.register_hook(lambda g: (g.mul_(10),None)[1]); (h*2).backward(); out=x.grad",
    "leaf hook modifies in place": "x=leaf([1.,2.]); x.register_hook(lambda g: (g.mul_(10),None)[1]); (x*2).sum().backward(); out=x.grad",
    "hook returns the gradient itself": "x=leaf([1.,2.]); x.register_hook(lambda g: g); (x*2).sum().backward(); out=x.grad",
    "hook returns something that requires grad": "x=leaf([1.,2.]); x.register_hook(lambda g: torch.ones(2,requires_grad=True)); (x*2).sum().backward(); out=[x.grad,x.grad.requires_grad]",
    "hook returns requires grad, enable_grad": """
x=leaf([1.,2.]); w=leaf(2.)
def f(g):
    with torch.enable_grad(): return g*w
x.register_hook(f); (x*2).sum().backward(); out=[x.grad,x.grad.requires_grad]
""",
    "hook returns requires grad inner": """
x=leaf([1.,2.]); h=x*2; w=leaf(2.)
def f(g):
    with torch.enable_grad(): return g*w
h.register_hook(f); (h*2).sum().backward(); out=[x.grad,x.grad.requires_grad]
""",
    "hook returns requires grad retained": """
x=leaf([1.,2.]); h=x*2; w=leaf(2.)
def f(g):
    with torch.enable_grad(): return g*w
h.register_hook(f); h.retain_grad(); (h*2).sum().backward(); out=[h.grad,h.grad.requires_grad]
""",
    "backward hooks on a result after in-place": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: None); h.mul_(2); out=[h._backward_hooks is None]",
    "backward hooks of a constant": "out=[torch.ones(1)._backward_hooks]",
    "post hooks attribute": "x=leaf(1.); a=x._post_accumulate_grad_hooks; x.register_post_accumulate_grad_hook(lambda p: None); out=[a, len(x._post_accumulate_grad_hooks)]",
    "requires_grad off and hooks": "x=leaf(2.); x.register_hook(lambda g: say('x',g)); x.register_post_accumulate_grad_hook(lambda p: say('acc')); y=x*2; x.requires_grad_(False); y.backward(); out=[log,x.grad]",
    "grad of the retained": "x=leaf(2.); h=x*3; h.retain_grad(); (h*h).backward(create_graph=True); out=[h.grad.grad_fn is not None, torch.autograd.grad(h.grad,x)[0]]",
    "retain_grad of expanded gradient": "x=leaf([1.,2.]); h=x*3; h.retain_grad(); h.sum().backward(); out=[list(h.grad.stride())]",
    "retain_grad of transposed": "x=torch.ones(2,3,requires_grad=True); h=x*3; h.retain_grad(); (h.t()*torch.ones(3,2)).sum().backward(); out=[list(h.grad.stride())]",
    "all hooks of a node with create_graph": "x=leaf(2.); h=x*x; h.grad_fn.register_hook(lambda gi,go: (gi[0]*go[0],None)); g,=torch.autograd.grad(h*h,x,create_graph=True); out=[g, torch.autograd.grad(g,x)[0]]",
    "mul by itself post hook": "x=leaf(2.); h=x*x; h.grad_fn.register_hook(lambda gi,go: (gi[0],None)); h.backward(); out=x.grad",
    "prehook on the root": "x=leaf(2.); h=x*x; h.grad_fn.register_prehook(lambda go: say(go)); h.backward(); out=log",
    "prehook returns None": "x=leaf(2.); h=x*x; h.grad_fn.register_prehook(lambda go: None); h.backward(); out=x.grad",
    "prehook keeps the tuple": "x=leaf(2.); h=x*x; h.grad_fn.register_prehook(lambda go: say(type(go).__name__)); h.grad_fn.register_hook(lambda gi,go: say(type(gi).__name__,type(go).__name__)); h.backward(); out=log",
    "node hooks order": "x=leaf(2.); h=x*x; h.grad_fn.register_prehook(lambda go: say('a')); h.grad_fn.register_prehook(lambda go: say('b')); h.grad_fn.register_hook(lambda gi,go: say('c')); h.grad_fn.register_hook(lambda gi,go: say('d')); h.backward(); out=log",
    "removed node hook in its call": """
x=leaf(2.); h=x*x
def f(go): say('f'); r.remove()
r=h.grad_fn.register_prehook(f); h.grad_fn.register_prehook(lambda go: say('g')); h.backward(retain_graph=True); h.backward(); out=log
""",
    "node hook grad mode": "x=leaf(2.); h=x*x; h.grad_fn.register_prehook(lambda go: say(torch.is_grad_enabled())); h.grad_fn.register_hook(lambda gi,go: say(torch.is_grad_enabled())); h.backward(); out=log",
    "next_functions numbers": "x=leaf([1.,2.]); a,b=x.unbind(0); out=[k for _,k in (b*a).grad_fn.next_functions]",
    "grad_fn of the outputs": "x=leaf([1.,2.]); a,b=x.unbind(0); out=[a.grad_fn is b.grad_fn, a.output_nr, b.output_nr]",
    "call accumulate of a changed": "x=leaf([2.,3.]); n=(x*1).grad_fn.next_functions[0][0]; g=torch.tensor([1.,2.]); n(g); g.add_(10); out=[x.grad]",
    "call accumulate with a hook": "x=leaf(2.); x.register_hook(lambda g: say('h')); x.register_post_accumulate_grad_hook(lambda p: say('acc')); n=(x*1).grad_fn.next_functions[0][0]; n(torch.tensor(1.)); out=[log,x.grad]",
    "call a node broadcast": "x=leaf([2.,3.]); w=leaf(1.); y=x*w; r=y.grad_fn(torch.ones(2)); out=list(r)",
    "call a node wrong shape": "x=leaf([2.,3.]); y=x.exp(); r=y.grad_fn(torch.ones(3)); out=r",
    "call a node wrong type": "x=leaf([2.,3.]); y=x.exp(); r=y.grad_fn(3.); out=r",
    "call sum": "x=leaf([2.,3.]); r=x.sum().grad_fn(torch.tensor(2.)); out=r",
    "call after in-place": "x=leaf([2.,3.]); y=x.exp(); n=y.grad_fn; y.add_(1); n(torch.ones(2))",
    "call max one argument": "x=leaf([[1.,5.],[3.,2.]]); v,i=x.max(1); r=v.grad_fn(torch.ones(2)); out=r",
    "deep walk by hand": """
x=leaf(2.); y=(x*x).exp()
n=y.grad_fn; g=n(torch.tensor(1.)); m=n.next_functions[0][0]; a,b=m(g); out=[a+b]
""",
    "set sequence": "x=leaf(2.); y=x*x; n=y.grad_fn.next_functions[0][0]; out=[n._sequence_nr()]",
    "requires grad of the argument of a hook": "x=leaf([1.,2.]); x.register_hook(lambda g: say(type(g).__name__)); x.sum().backward(); out=log",
    "no double count in two backward with leaf hook": "x=leaf(2.); x.register_hook(lambda g: say(g)); y=x*x; y.backward(retain_graph=True); y.backward(); out=[log,x.grad]",
    "leaf hook two roots": "x=leaf(2.); x.register_hook(lambda g: say(g)); torch.autograd.backward([x*2,x*3,x]); out=[log,x.grad]",
    "leaf hook, part unreachable": "x=leaf(2.); x.register_hook(lambda g: say(g)); y=x*2; z=x*3; y.backward(); out=[log,x.grad]",
    "leaf hook with inputs": "x=leaf(2.); w=leaf(3.); x.register_hook(lambda g: say('x',g)); w.register_hook(lambda g: say('w',g)); y=x*w*x; y.backward(inputs=[x]); out=[log,x.grad,w.grad]",
    "leaf hook with grad": "x=leaf(2.); w=leaf(3.); x.register_hook(lambda g: say('x',g)); w.register_hook(lambda g: say('w',g)); y=x*w*x; g=torch.autograd.grad(y,[w]); out=[log,list(g)]",
    "leaf hook with grad order": "x=leaf(2.); w=leaf(3.); h=x.exp(); h.register_hook(lambda g: say('h')); x.register_hook(lambda g: say('x')); w.register_hook(lambda g: say('w')); y=h*w; g=torch.autograd.grad(y,[x,w]); out=[log]",
    "captured unhooked when it leads on, leaf too": "x=leaf(2.); a=x*2; b=a*3; a.register_hook(lambda g: g*10); b.register_hook(lambda g: g*100); g=torch.autograd.grad(b*1,[b,a,x]); out=list(g)",
    "retain and capture that leads on": "x=leaf(2.); a=x*2; a.register_hook(lambda g: g*10); a.retain_grad(); g=torch.autograd.grad(a*1,[a,x]); out=[list(g),a.grad]",
    "captured of several outputs, hook": "x=leaf([1.,2.]); a,b=x.unbind(0); a.register_hook(lambda g: say('a',g) or g*10); b.register_hook(lambda g: say('b',g)); g=torch.autograd.grad(a*3,[a]); out=[log,list(g)]",
    "captured at a node whose prehook replaces": "x=leaf(2.); h=x*3; h.grad_fn.register_prehook(lambda gs: (gs[0]*10,)); g=torch.autograd.grad(h*h,[h,x]); out=list(g)",
    "in-place drops the multi hook": "x=leaf([1.,2.]); h=x*3; torch.autograd.graph.register_multi_grad_hook([h],lambda gs: say(gs)); h.mul_(2); h.sum().backward(); out=log",
    "multi grad twice": "x=leaf(1.); a=x*2; b=x*3; torch.autograd.graph.register_multi_grad_hook([a,b],lambda gs: say(gs)); y=a*b; y.backward(retain_graph=True); y.backward(); out=log",
    "multi grad any twice": "x=leaf(1.); a=x*2; b=x*3; torch.autograd.graph.register_multi_grad_hook([a,b],lambda g: say(g),mode='any'); y=a*b; y.backward(retain_graph=True); y.backward(); out=log",
    "multi grad nested": """
x=leaf(1.); a=x*2; b=x*3
torch.autograd.graph.register_multi_grad_hook([a,b],lambda gs: say(gs))
def f(g):
    y2.backward(retain_graph=True)
y2=a*1
c=b*1; c.register_hook(f)
(a*c).backward(); out=log
""",
    "multi grad exception": """
x=leaf(1.); a=x*2; b=x*3
def f(gs): raise ValueError('mine')
torch.autograd.graph.register_multi_grad_hook([a,b],f)
try: (a*b).backward(retain_graph=True)
except ValueError as e: say(str(e))
out=[log,x.grad]
""",
    "multi grad returns": "x=leaf(1.); a=x*2; torch.autograd.graph.register_multi_grad_hook([a],lambda gs: gs[0]*10); a.backward(); out=x.grad",
    "in-place of base, hooks of a live view read between": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.register_hook(lambda g: say('v',g)); h.mul_(2); v.grad_fn; v.register_hook(lambda g: say('w',g)); (h.sum()+v*2).backward(); out=[log,x.grad]",
    "older consumer of a written view": "x=leaf([1.,2.]); h=x*3; v=h[0]; v.register_hook(lambda g: say('v',g)); z=v*1; v.mul_(2); (h.sum()+z*7).backward(); out=[log,x.grad]",
    "older consumer of a written base": "x=leaf([1.,2.]); h=x*3; h.register_hook(lambda g: say('h',g)); z=h*1; h[0].mul_(2); (h.sum()+z.sum()*7).backward(); out=[log,x.grad]",
    "retain of older consumer": "x=leaf([1.,2.]); h=x*3; h.retain_grad(); z=h*1; h.mul_(2); (h.sum()+z.sum()*7).backward(); out=[h.grad,x.grad]",
    "hook on x then leaf turned": """
x=leaf([1.,2.]); y=torch.ones(2,requires_grad=True)
with torch.no_grad(): y.mul_(2)
y.register_hook(lambda g: say(g)); (y*x).sum().backward(); out=[log,y.grad]
""",
    "in-place on the grad in a hook": "x=leaf([1.,2.]); (x*2).sum().backward(); x.register_hook(lambda g: say(x.grad)); (x*2).sum().backward(); out=[log,x.grad]",
    "zero grad in a post hook": "x=leaf([1.,2.]); x.register_post_accumulate_grad_hook(lambda p: (p.grad.zero_(),None)[1]); (x*2).sum().backward(); out=[x.grad]",
}  # fmt: skip
