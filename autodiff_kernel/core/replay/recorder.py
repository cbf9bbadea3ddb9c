"""Watching a call: what the engine tells while the function runs eagerly, as lines.

The engine shows every operation to `modes.watch`, and everything else (writes, new tensors, draws, gradients, values
that leave as Python numbers) to `modes.watchers`.  The recorder listens to both, on its own thread, and hands on to who
listened before.  What it cannot follow it notes as the reason; the call itself goes on undisturbed.
"""

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import device as devices
from .. import modes, places
from ..op import TABLE, Op
from ..sharing import View
from ..tensor import Tensor
from .lines import Line, RawOf, Symbol, row_line
from .state import State, Unseen

ndarray, generic = np.ndarray, np.generic
_active = threading.local()  # .recorder: that of this thread
VALUE_DEPENDENT = frozenset(
    "nonzero masked_select unique unique_consecutive unique_dim bincount multinomial argwhere".split()
)
CHANGING = {"item": "item", "tolist": "tolist", "numpy": "numpy", "bernoulli_": "bernoulli_"}
OUTPUT = ("print", "input", "open", "write")  # C functions whose effect no program of operations repeats
MODULES = ("time", "random", "_random", "numpy.random", "secrets", "_socket", "posix", "os")
RANDOM = ("Random", "RandomState", "Generator", "BitGenerator", "MT19937", "PCG64")


class Recorder:
    """The lines of one call.  inputs: path -> symbol."""

    def __init__(self, state: State, names: dict[str, str]) -> None:
        self.reason = ""
        self.lines: list[Line] = []
        self.count = 0
        self.kept: list[Any] = []  # ids are only good while the things live
        self.symbols: dict[int, Symbol] = {}
        self.inputs: dict[str, Symbol] = {}
        self.tensors: dict[str, Tensor] = {}
        self.raws: dict[int, Symbol] = {}
        self.mark: tuple[Tensor, int] | None = None  # a write that is not explained yet, and where it began
        self.busy = False
        self.depositing = False
        self.grads = False  # did anybody look at a `.grad`?
        for path, t in state.tensors.items():
            s = self.inputs[path] = Symbol(names[path], path)
            self.know(t, s)

    # ---- values
    def know(self, t: Tensor, s: Symbol) -> Symbol:
        self.symbols[id(t)] = s
        self.kept += (t, t.raw)
        self.tensors[s.name] = t
        self.raws[id(t.raw)] = s
        return s

    def new(self, t: Tensor) -> Symbol:
        self.count += 1
        return self.know(t, Symbol(f"t{self.count}"))

    def add(self, line: Line) -> None:
        self.lines.append(line)

    def here(self) -> Any:
        """The user's instruction that is being followed."""
        return places.here()

    def fail(self, reason: str) -> None:
        if not self.reason:
            place = places.place_of(self.here())
            where = f" (line {place.line}: {place.text})" if place is not None else ""
            self.reason = reason + where

    def operand(self, x: Any, word: str, grad: bool) -> Any:
        """A symbol for a tensor, a number as it is."""
        if isinstance(x, Tensor):
            s = self.symbols.get(id(x))
            return s if s is not None else self.unknown(x, word, grad)
        if isinstance(x, ndarray):
            return self.array(x, word)
        return x

    def array(self, x: Any, word: str) -> Any:
        s = self.raws.get(id(x))
        if s is None:
            raise Unseen(f"{word} gets an array that was computed outside of the operations that are seen")
        return RawOf(s)

    def unknown(self, x: Tensor, word: str, grad: bool) -> Symbol:
        """A tensor that no seen operation made: a `.grad`, or the copy that an in-place operation works on."""
        for name, t in list(self.tensors.items()):
            if t._grad_or_none() is x:
                s = self.new(x)
                self.add(
                    Line("read_grad", [s], None, "", [self.symbols[id(t)]], grad=grad, spot=places.here())
                )
                return s
            if (
                x.node is not None
                and x.node.op is not None
                and t.node is x.node
                and t.raw.shape == x.raw.shape
            ):
                s = self.new(x)
                args = [self.symbols[id(t)]]
                self.add(row_line(TABLE["clone"], [s], args, None, grad=grad, spot=places.here()))
                return s
            _ = name
        raise Unseen(f"{word} gets a tensor that was made outside of the operations that are seen")

    def parameters(self, p: Any, word: str) -> Any:
        """The parameters of a row, with symbols in the place of tensors and arrays."""
        if p is None or isinstance(p, (int, float, str, bool, np.dtype)):
            return p
        if isinstance(p, (Tensor, ndarray)):
            return self.operand(p, word, False)
        if type(p) in (tuple, list):
            return type(p)([self.parameters(v, word) for v in p])
        if type(p) is slice:
            return slice(*[self.parameters(v, word) for v in (p.start, p.stop, p.step)])
        if callable(p) and not isinstance(p, (type, Op)):
            raise Unseen(f"{word} carries a function along")
        return p

    # ---- what the engine tells
    def operated(self, op: Op, p: Any, xs: Any, out: Any, happened: str = "operation") -> None:
        self.explained(out)
        if op.whole is not None:
            raise Unseen(f"it uses an autograd.Function of its own, {op.name}")
        if (
            op.name in VALUE_DEPENDENT
            or op.name == "index"
            and any(isinstance(x, Tensor) and x.raw.dtype.kind == "b" for x in xs[1:])
        ):
            raise Unseen(f"the shape of what {op.name} gives depends on values")
        grad, spot = modes.is_grad_enabled(), places.here()
        args = [self.operand(x, op.name, grad) for x in xs]
        p = self.parameters(p, op.name)
        if happened == "write" or any(out is x for x in xs):
            target = self.symbols[id(out)]
            self.check_write(out)
            self.count += 1
            s = Symbol(f"t{self.count}")
            self.add(row_line(op, [s], args, p, grad=grad, spot=spot))
            self.add(Line("write", [], None, "write", [target, s], grad=grad, spot=spot))
            self.raws[id(out.raw)] = target
            self.kept.append(out.raw)
            self.mark = None
            return
        outs = out if isinstance(out, tuple) else (out,)
        self.add(row_line(op, [self.new(t) for t in outs], args, p, grad=grad, spot=spot))

    def explained(self, about: Any = None) -> None:
        """A write that nobody has explained by now was one of raw memory."""
        if self.mark is not None and self.mark[0] is not about:
            self.mark = None
            raise Unseen("it writes into a tensor in a way that is not seen as an operation")

    def check_write(self, t: Tensor) -> None:
        self.operand(t, "a write", False)
        base = t.family.base if t.family.__class__ is View else t
        b = self.symbols.get(id(base))
        if modes.is_grad_enabled() and (b is None or b.path) and base.node is not None and not t.is_leaf:
            raise Unseen(
                "it changes an input that requires grad in place, and the graph of the input with it"
            )

    def wrote(self, t: Tensor) -> None:
        if self.depositing:
            return  # a backward adds to a `.grad` that was there
        self.explained(t)
        self.mark = (t, len(self.lines))

    def rewritten(self, t: Tensor, result: Tensor) -> None:
        self.check_write(t)
        self.mark = None
        target, s = self.symbols[id(t)], self.operand(result, "a write", False)
        line = Line("write", [], None, "write", [target, s], grad=modes.is_grad_enabled(), spot=places.here())
        self.add(line)
        self.raws[id(t.raw)] = target
        self.kept.append(t.raw)

    def assigned(self, t: Tensor, index: Any, value: Any, word: str = "setitem") -> None:
        self.check_write(t)
        if self.mark is not None:
            self.lines[self.mark[1] :] = [line for line in self.lines[self.mark[1] :] if line.pure]
        spot = places.here()
        self.lines[:] = [k for i, k in enumerate(self.lines) if not (
            k.kind == "write" and k.spot == spot and i >= len(self.lines) - 4)]  # fmt: skip
        self.mark = None
        grad, target = modes.is_grad_enabled(), self.symbols[id(t)]
        s = self.operand(value, word, grad)
        if isinstance(value, (list, tuple)):
            raise Unseen("it assigns a list to a part of a tensor")
        if word == "setitem":
            where = self.parameters(index, "an index")
            self.add(Line("setitem", [], None, "", [target, where, s], grad=grad, spot=spot))
        elif word == "copy":
            self.add(Line("copy", [], None, "copy_", [target, s], grad=grad, spot=spot))
        else:
            raise Unseen(f"it changes a tensor by {word}")
        self.raws[id(t.raw)] = target
        self.kept.append(t.raw)

    def created(self, word: str, t: Tensor, data: Any = None) -> None:
        self.explained()
        if word == "deepcopy":
            raise Unseen("it copies tensors with copy.deepcopy")
        if isinstance(data, (ndarray, generic)):
            raise Unseen("it makes a tensor of NumPy numbers, which may be others at the next call")
        waiting = [data]
        while waiting:
            x = waiting.pop()
            if isinstance(x, Tensor):
                raise Unseen("it makes a tensor of the values of another one")
            if isinstance(x, (list, tuple)):
                waiting += x
        value = t.raw if isinstance(t.raw, generic) else t.raw.copy(order="K")
        grad = modes.is_grad_enabled()
        self.add(
            Line("new", [self.new(t)], None, word or "new", [Constant(value)], grad=grad, spot=places.here())
        )

    def drawn(self, t: Tensor, again: Callable[[], Tensor]) -> None:
        s = self.symbols.get(id(t))
        if s is not None and self.lines and self.lines[-1].out == (s,):
            self.lines.pop()
        else:
            s = self.new(t)
        self.add(Line("draw", [s], again, "draw", [], grad=modes.is_grad_enabled(), spot=places.here()))

    def cleared(self, t: Tensor, g: Tensor | None) -> None:
        self.explained()
        s = self.operand(t, ".grad", False)
        value = None if g is None else self.operand(g, ".grad", False)
        self.add(Line("set_grad", [], None, "", [s, value], spot=places.here()))

    def left(self, word: str, t: Tensor, out: Tensor | None = None) -> None:
        self.explained()
        if word == "detach" and out is not None:
            s = self.operand(t, word, False)
            self.add(Line("detach", [self.new(out)], None, "detach", [s], spot=places.here()))
            return
        if out is not None:
            raise Unseen(
                f"it uses {word}, whose writes nobody counts" if word == "data" else f"it makes a {word}"
            )
        raise Unseen(f"it reads a tensor's value with {word}()")

    def noted(self, kind: str, word: str, t: Tensor, inputs: Any = (), p: Any = None, **_: Any) -> None:
        if kind == "asked":
            s = self.operand(t, "requires_grad_", False)
            if s.path:
                raise Unseen("it changes whether an input requires grad")
            self.add(Line("ask", [], None, "requires_grad_", [s, p], grad=True, spot=places.here()))
        elif word in ("data", "detach_"):
            raise Unseen(f"it uses {word}")

    def walked(self, tensors: Any, gradients: Any, retain: Any, create_graph: bool, inputs: Any) -> None:
        self.explained()
        if create_graph:
            raise Unseen("it calls backward(create_graph=True)")
        roots = [self.operand(t, "backward", True) for t in tensors]
        seeds = [self.operand(g, "backward", True) for g in gradients]
        only = None
        if inputs is not None:
            only = [
                self.operand(t, "backward", True)
                for t in ([inputs] if isinstance(inputs, Tensor) else inputs)
            ]
        self.depositing = True
        self.add(Line("backward", [], None, "", [roots, seeds, only], p=bool(retain), spot=places.here()))

    def deposited(self, *_: Any) -> None:
        self.depositing = False

    def derived(self, outputs: Any, inputs: Any, gradients: Any, create_graph: bool, out: Any) -> None:
        self.explained()
        if create_graph:
            raise Unseen("it calls autograd.grad(create_graph=True)")
        roots = [self.operand(t, "grad", True) for t in outputs]
        seeds = [self.operand(g, "grad", True) for g in gradients]
        goals = [self.operand(t, "grad", True) for t in inputs]
        found = [None if g is None else self.new(g) for g in out]
        line = Line("derive", [], None, "", [roots, seeds, goals, found], spot=places.here())
        self.add(line)

    def called(self, owner: Any, given: bool) -> None:
        """An optimizer's step: one line, whatever it does to its parameters."""
        self.explained()
        if given:
            raise Unseen("it gives an optimizer's step a closure")
        self.add(Line("call", [], None, "", [Constant(owner)], spot=places.here()))


class Constant:
    """A value that is no tensor of the program."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


# ------------------------------------------------------------------------------------------------ listening
def tell(word: str, *args: Any, **kwargs: Any) -> None:
    """Let this thread's recorder know, unless it is at work itself or has given up."""
    r: Recorder | None = getattr(_active, "recorder", None)
    if r is None or r.reason or r.busy:
        return
    r.busy = True
    try:
        getattr(r, word)(*args, **kwargs)
    except Unseen as unseen:
        r.fail(str(unseen))
    finally:
        r.busy = False


def stepped(op: Op, p: Any, xs: Any, out: Any, *happened: str) -> None:
    """`modes.watch` while some thread records a step."""
    tell("operated", op, p, xs, out, *happened)
    beneath = modes.beside[0]
    if beneath is not None and modes.of_thread.keep is not False:
        beneath(op, p, xs, out, *happened)


def listens(word: str, method: str) -> None:
    """Let the recorder hear what `modes.watchers[word]` is told, after who listened before."""
    before = modes.watchers[word]

    def heard(*args: Any, **kwargs: Any) -> Any:
        answer = before(*args, **kwargs)
        if modes._stepping:
            tell(method, *args, **kwargs)
        return answer

    modes.watchers[word] = heard


def called(step: Any, owner: Any, args: Any, kwargs: Any) -> Any:
    """An optimizer's step, of which the recorder sees nothing but that it is made."""
    tell("called", owner, bool(args or kwargs))
    r: Recorder | None = getattr(_active, "recorder", None)
    if r is None:
        return step(owner, *args, **kwargs)
    r.busy = True
    try:
        return step(owner, *args, **kwargs)
    finally:
        r.busy = False


class recording:
    """`with recording(recorder):` is where the function runs."""

    def __init__(self, recorder: Recorder, profile: bool = True) -> None:
        self.recorder, self.profiles = recorder, profile

    def __enter__(self) -> None:
        _active.recorder = self.recorder
        self.profile, self.before = sys.getprofile(), modes.is_stepping()
        self.collects = gc.isenabled()
        gc.disable()  # what finalizers of older garbage do (closing files, …) is not the function's doing
        modes.put_stepping(True)
        if self.profiles:
            FORWARDS.update([row.fwd.__code__ for row in TABLE.values() if hasattr(row.fwd, "__code__")])
            sys.setprofile(self.profiled)

    def __exit__(self, *_: Any) -> None:
        if self.profiles:
            sys.setprofile(self.profile)
        modes.put_stepping(self.before)
        if self.collects:
            gc.enable()
        _active.recorder = None

    def profiled(self, frame: Any, event: str, function: Any) -> None:
        """Python calls a function: one whose effect no program of operations repeats?"""
        if event != "c_call" and event != "call":
            return
        if places.MARK in frame.f_globals:
            if frame.f_code in GRADS and not self.recorder.busy:
                self.recorder.grads = True
            code = frame.f_code
            answers = ANSWERS.get(code.co_name)
            if answers is not None:
                answers = frame.f_globals["__name__"].endswith(answers)
            if event == "call" and (answers or code in READERS) and not in_a_row(frame):
                tell("unseen", "an operation reads a tensor's value")
            if event == "call" and frame.f_code.co_name in TOLD:
                caller = frame.f_back
                if caller is not None and places.MARK not in caller.f_globals:
                    tell_of_text(frame)
            return
        if event == "call":
            if frame.f_code.co_name == "write" and frame.f_back is not None:
                self.seen("it prints")
            return
        name, module = function.__name__, function.__module__
        owner = getattr(function, "__self__", None)
        kind = type(owner)
        if name in OUTPUT:
            self.seen("it prints" if name in ("print", "write") else f"it calls {name}()")
        elif module in MODULES or kind.__module__.startswith("numpy.random") or kind.__name__ in RANDOM:
            self.seen(f"it calls {name}(), whose answer differs from call to call")

    def seen(self, reason: str) -> None:
        if not self.recorder.reason:
            self.recorder.fail(reason)


GRADS = frozenset(
    f.__code__
    for f in (Tensor.grad.fget, Tensor.grad.fset, Tensor._grad_or_none)  # type: ignore[attr-defined]
)
# functions that give Python's True or a number for values, and where they live
ANSWERS = {
    "equal": ".comparison",
    "allclose": ".comparison",
    "data_ptr": ".tensor",
    "assert_close": "",
}
READERS = frozenset((devices.item.__code__, devices.to_numpy.__code__))


def in_a_row(frame: Any) -> bool:
    """Is a value read inside of a row's forward (which every run of the program repeats)?"""
    while frame is not None and places.MARK in frame.f_globals:
        if frame.f_code in FORWARDS or frame.f_code is Op.run.__code__:
            return True
        frame = frame.f_back
    return False


FORWARDS: set[Any] = set()
TOLD = frozenset(("__repr__", "__str__", "__format__", "tolist", "set_rng_state", "manual_seed", "seed"))


def tell_of_text(frame: Any) -> None:
    word = frame.f_code.co_name
    tell(
        "unseen",
        f"it calls {word}()" if "seed" in word or "rng" in word else "it reads a tensor's value (as text)",
    )


def _unseen(self: Recorder, reason: str) -> None:
    raise Unseen(reason)


Recorder.unseen = _unseen  # type: ignore[attr-defined]

modes.watchers["stepped"], modes.watchers["called"] = stepped, called
_HEARD = (
    "created",
    "cleared",
    "wrote",
    "rewritten",
    "assigned",
    "left",
    "drawn",
    "walked",
    "deposited",
    "derived",
)
for _word, _method in (*zip(_HEARD, _HEARD), ("note", "noted"), ("read", "left")):
    listens(_word, _method)
