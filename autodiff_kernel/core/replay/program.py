"""The program of one form of inputs: recorded, expanded, written as a Python function, and tried."""

import sys
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from .. import backward as walks
from .. import hooks, modes, pytree
from ..graph import as_edge
from ..sharing import View, share
from ..storage import root_of
from ..tensor import Tensor, wrap
from .contents import Contents, same_values
from .expand import Expansion, new
from .lines import Line, Symbol, Unseen, Writer, live, names_for
from .recorder import Recorder, recording
from .state import PLAIN, State, difference, look

SUBSETS = 3  # results: the gradients of every choice among up to so many have a program each


class Backward:
    """The program that carries the cotangents of some of the results back; error: what eager says instead."""

    def __init__(self, run: Callable[..., Any] | None, error: str = "") -> None:
        self.run, self.error = run, error


class Program:
    """What runs in the place of the function for inputs of one form.

    source: its text.  step: the forward; it takes the tensors at `paths`, and gives the new results and what backward
    needs.  results: of each tensor of the result, its place among the new ones, or the path of the input that it is.
    """

    def __init__(self, state: State) -> None:
        self.state = state.notes
        self.paths = list(state.tensors)
        self.tensors = set(self.paths)
        self.grads = True  # does what it does depend on `.grad`?
        self.source = ""
        self.step: Callable[..., Any] = print
        self.results: list[Any] = []
        self.leaves: list[Any] = []
        self.spec: Any = None
        self.learns: list[int] = []  # which of the new results require grad
        self.sources: list[str] = []  # the paths of the inputs that get gradients
        self.backwards: dict[tuple[bool, ...], Backward] = {}
        self.zeros: list[Callable[[], Tensor]] = []
        self.constants: list[Any] = []  # of the tensors that it makes
        self.tried = 0
        self.pure = True  # it gives results and changes nothing: after an error the function itself may run

    def fits(self, state: State) -> bool:
        return self.state.keys() == state.notes.keys() and all(
            a is state.notes[k] or self.agree(k, a, state.notes[k]) for k, a in self.state.items()
        )

    def agree(self, path: str, a: Any, b: Any) -> bool:
        """Two notes of one path; where the function has looked at no `.grad`, any gradient will do."""
        if not self.grads and path in self.tensors and b[0].__class__ is tuple:
            return equal((a[0][:-1], a[1]), (b[0][:-1], b[1]))
        return equal(a, b)

    def inputs(self, state: State) -> list[Tensor]:
        return [state.tensors[path] for path in self.paths]

    def assembled(self, outs: Any, state: State) -> Any:
        """The function's result from the new tensors."""
        leaves = list(self.leaves)
        for i, place in self.results:
            leaves[i] = state.tensors[place] if isinstance(place, str) else outs[place]
        return pytree.unflatten(self.spec, leaves)

    def run(self, tensors: list[Tensor]) -> tuple[list[Tensor], tuple[Tensor, ...]]:
        """The new results, and what backward needs, without a graph."""
        grad = modes.is_grad_enabled()
        modes.put_grad(False)
        try:
            outs, saved = self.step(*tensors)
        finally:
            modes.put_grad(grad)
        return [wrap(share(t)) if t.family.__class__ is View else t for t in outs], saved

    def carry(self, gradients: Any, saved: Any) -> Any:
        """The gradients of the sources for those of the results that require grad (None: nothing came)."""
        pattern = tuple([g is not None for g in gradients])
        back = self.backwards.get(pattern)
        if back is None:  # many results: zeros for those that got nothing
            back = self.backwards[(True,) * len(pattern)]
            gradients = [self.zeros[i]() if g is None else g for i, g in enumerate(gradients)]
        if back.run is None:
            raise RuntimeError(back.error)
        return back.run(*saved, *[g for g in gradients if g is not None])

    def changed(self, other: "Program") -> str:
        """The first line that another recording has written otherwise; '' if none."""
        for a, b in zip(self.source.splitlines(), other.source.splitlines()):
            if a != b:
                return " ".join(b.split())
        if len(self.source) != len(other.source):
            return "it has more lines, or fewer"
        if len(self.constants) != len(other.constants) or not all(
            map(same_values, self.constants, other.constants)
        ):
            return "a tensor that it makes has other values"
        if [x for x in self.leaves if not isinstance(x, Tensor)] != [
            x for x in other.leaves if not isinstance(x, Tensor)
        ]:
            return "it returns another number"
        return ""


def equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # what cannot be compared is another one
        return False


# ------------------------------------------------------------------------------------------------ making it
class Attempt:
    """One recording of a call.  result: what the function gave; program, or the reason why there is none."""

    def __init__(self) -> None:
        self.result: Any = None
        self.program: Program | None = None
        self.reason = ""


def record(function: Any, args: Any, kwargs: Any, names: list[str], state: State) -> Attempt:
    """Call the function, watched, and make a program of what it did; whatever fails, its result and effects stand."""
    attempt = Attempt()
    symbols = dict(zip(state.tensors, names_for(list(state.tensors))))
    recorder = Recorder(state, symbols)
    owners = state.owners
    before = Contents(state, owners)
    numpy_state = hidden()
    grad = modes.is_grad_enabled()
    with recording(recorder):
        attempt.result = function(*args, **kwargs)
    try:
        with silence():
            if recorder.mark is not None:
                raise Unseen("it writes into a tensor in a way that is not seen as an operation")
            if any(hooked(t) for t in recorder.tensors.values()):
                raise Unseen("hooks hang on a result of its operations")
            if recorder.reason:
                raise Unseen(recorder.reason)
            if modes.is_grad_enabled() is not grad:
                raise Unseen("it changes the grad mode for what comes after it")
            if hidden() != numpy_state:
                raise Unseen("it draws random numbers from NumPy")
            changed = difference(state, look(function, args, kwargs, names))
            if changed:
                raise Unseen(f"it changes Python's state: {changed}")
            after = Contents(state, owners)
            try:
                attempt.program = make(recorder, state, symbols, before, after, attempt.result)
            finally:
                after.put_back()
    except Unseen as unseen:
        attempt.reason = str(unseen)
    except Exception as error:  # the trial must not break what worked
        attempt.reason = (
            f"its program cannot be made ({type(error).__name__}: {str(error).partition(chr(10))[0]})"
        )
    return attempt


def hooked(t: Tensor) -> bool:
    """Do hooks hang on the operation that gave t?"""
    n = as_edge(t.node)[0]
    return n is not None and n.op is not None and n.notes is not None


class silence:
    """Nothing of a trial stands in the journal."""

    def __enter__(self) -> None:
        self.keep, self.stepping = modes.of_thread.keep, modes.is_stepping()
        modes.of_thread.keep = False
        modes.put_stepping(True)

    def __exit__(self, *_: Any) -> None:
        modes.of_thread.keep = self.keep
        modes.put_stepping(self.stepping)


def hidden() -> Any:
    """The state of NumPy's own random numbers, if that module is loaded."""
    module = sys.modules.get("numpy.random")
    if module is None:
        return None
    kind, words, *rest = module.get_state()  # type: ignore[attr-defined]
    return (kind, words.tobytes(), *rest)


def make(
    recorder: Recorder, state: State, symbols: dict[str, str], before: Contents, after: Contents, result: Any
) -> Program:
    """Expand, write and try the program; Unseen if it does not do what the function did."""
    program = Program(state)
    program.grads = recorder.grads
    program.leaves, program.spec = pytree.flatten(result)
    found: list[tuple[int, Tensor, Symbol]] = []
    for i, x in enumerate(program.leaves):
        if isinstance(x, Tensor):
            found.append((i, x, recorder.operand(x, "the result", False)))
        elif not isinstance(x, PLAIN):
            raise Unseen(f"it returns an object of type {type(x).__name__}")
    check_memory(found, state)
    before.put_back()
    expansion = Expansion(state, symbols, recorder)
    expansion.run()
    made: list[Symbol] = []
    for i, x, s in found:
        program.leaves[i] = None
        if s.path:
            program.results.append((i, s.path))
            continue
        twin = expansion.values[s.name]
        if twin.requires_grad != x.requires_grad or twin.node is not None and twin.node.op is None:
            raise Unseen("it returns a leaf that it made, or one whose graph is not seen")
        if s not in made:
            made.append(s)
            if twin.node is not None:
                program.learns.append(len(made) - 1)
        program.results.append((i, made.index(s)))
    write(program, expansion, made)
    check(program, state, before, after, found)
    return program


def check_memory(found: list[tuple[int, Tensor, Symbol]], state: State) -> None:
    """A result that shares memory with an input, or with another result, is no new tensor."""
    roots = {id(root_of(t.raw)) for t in state.tensors.values() if isinstance(t.raw, np.ndarray)}
    own: dict[int, Symbol] = {}
    for _, x, s in found:
        if s.path:
            continue
        base = x.family.base if x.family.__class__ is View else x
        shared = isinstance(x.raw, np.ndarray) and id(root_of(x.raw)) in roots
        if shared or base is not x and any(base is t for t in state.tensors.values()):
            raise Unseen("it returns a view of one of its inputs")
        if isinstance(x.raw, np.ndarray) and own.setdefault(id(root_of(x.raw)), s) is not s:
            raise Unseen("it returns two tensors that share memory")


def write(program: Program, expansion: Expansion, made: list[Symbol]) -> None:
    """The text: the forward, and a backward for each choice among the results that require grad."""
    forward = list(expansion.lines)
    writer = Writer()
    for path in program.paths:  # no constant may take an input's name
        writer.space[expansion.inputs[path].name] = None
    inputs = [expansion.inputs[path] for path in program.paths]
    learns = [made[k] for k in program.learns]
    program.sources = [
        p for p in program.paths if expansion.values[expansion.inputs[p].name].node is not None
    ]
    parts: list[tuple[tuple[bool, ...], list[Symbol], list[Line], list[Any]]] = []
    seeds = [Symbol(f"g{i + 1}" if len(learns) > 1 else "g") for i in range(len(learns))]
    for pattern in patterns(len(learns)) if program.sources else []:
        asked = [(s, g) for s, g, p in zip(learns, seeds, pattern) if p]
        try:
            lines, grads = backward_lines(expansion, asked, [expansion.inputs[p] for p in program.sources])
        except RuntimeError as error:  # eager says so too
            program.backwards[pattern] = Backward(None, str(error))
            continue
        parts.append((pattern, [g for _, g in asked], lines, grads))
    program.zeros = [zero_maker(expansion.values[s.name]) for s in learns]
    saved = needed(parts)
    if not any(x for *_, grads in parts for x in grads) and not program.backwards:
        program.learns = []
    program.pure = all(line.pure for line in forward)
    number([*forward, *[line for _, _, lines, _ in parts for line in lines]])
    out = f"{tuple_of(made)}, {tuple_of(saved)}" if program.learns else f"{tuple_of(made)}, ()"
    texts = [writer.function("forward" if program.learns else "step", inputs, forward, out)]
    program.step = writer.compile(texts[0], "forward" if program.learns else "step")
    program.constants = [x for line in forward if line.function is new for x in line.args]
    for pattern, gs, lines, grads in parts:
        name = "backward" if len(parts) == 1 else f"backward_of_{'_'.join(map(str, gs))}"
        text = writer.function(name, [*saved, *gs], lines, tuple_of(grads))
        texts.append(text)
        program.backwards[pattern] = Backward(writer.compile(text, name))
    program.source = "\n".join(texts)


def number(lines: list[Line]) -> None:
    """Count the values in the order of the lines."""
    for k, s in enumerate([s for line in lines for s in line.out]):
        s.name = f"t{k + 1}"


def zero_maker(t: Tensor) -> Callable[[], Tensor]:
    shape, dtype = t.raw.shape, t.raw.dtype
    return lambda: wrap(np.zeros(shape, dtype)[()] if not shape else np.zeros(shape, dtype))


def tuple_of(symbols: Any) -> str:
    names = [str(s) for s in symbols]
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def patterns(count: int) -> list[tuple[bool, ...]]:
    """Which of the results a backward may start from: every choice of a few, else all together."""
    if not count:
        return []
    if count > SUBSETS:
        return [(True,) * count]
    chosen = [set(c) for n in range(count, 0, -1) for c in combinations(range(count), n)]
    return [tuple([i in c for i in range(count)]) for c in chosen]


def backward_lines(expansion: Expansion, asked: Any, inputs: list[Symbol]) -> tuple[list[Line], list[Any]]:
    """The lines from the cotangents of some results to the gradients of the inputs (None: no way leads there)."""
    expansion.lines = []
    roots = []
    grad = modes.is_grad_enabled()
    modes.put_grad(False)
    try:
        for s, g in asked:
            t = expansion.values[s.name]
            seed = wrap(t.raw.dtype.type(1) if isinstance(t.raw, np.generic) else np.ones_like(t.raw))
            expansion.know(seed, g)
            expansion.values[g.name] = seed
            roots.append((t.node, seed))
        sums = expansion.walk(roots, keep=True)
        grads: list[Any] = []
        for s in inputs:
            total = sums.get(expansion.values[s.name].node)  # type: ignore[arg-type]
            grads.append(None if total is None else expansion.operand(total, "a gradient", False))
    finally:
        modes.put_grad(grad)
    return live(expansion.lines, [g for g in grads if g is not None]), grads


def needed(parts: Any) -> list[Symbol]:
    """What backwards read of the forward."""
    found: dict[str, Symbol] = {}
    for _, gs, lines, grads in parts:
        own = {s.name for line in lines for s in line.out} | {g.name for g in gs}
        for s in [s for line in lines for s in line.symbols()] + [g for g in grads if g is not None]:
            if s.name not in own:
                found.setdefault(s.name, s)
    return list(found.values())


# ------------------------------------------------------------------------------------------------ trying it
def check(program: Program, state: State, before: Contents, after: Contents, found: Any) -> None:
    """Run the program on the inputs as they were, and compare with what the function gave and did."""
    before.put_back()
    tensors = program.inputs(state)
    outs, saved = program.run(tensors)
    for i, place in program.results:
        x = next(x for k, x, _ in found if k == i)
        if not isinstance(place, str) and not alike(outs[place], x):
            raise Unseen("its program gives another result than the function")
    now = Contents(state, [])
    names = {id(t): path for path, t in state.tensors.items()}
    changed = now.difference(after, names)
    if changed:
        raise Unseen(f"its program has another effect than the function, on {changed}")
    after.put_back()
    check_gradients(program, state, saved, found)


def alike(a: Tensor, b: Tensor) -> bool:
    x, y = a.raw, b.raw
    return same_values(x, y) and (not x.ndim or x.strides == y.strides)


def check_gradients(program: Program, state: State, saved: Any, found: Any) -> None:
    """The gradients of the result, by the program and by the engine."""
    sources = [state.tensors[p] for p in program.sources]
    pattern = (True,) * len(program.learns)
    if not program.learns or hooks.on_leaves[0] or not all(t.is_leaf for t in sources):
        return
    results: dict[int, Tensor] = {}
    for i, place in program.results:
        if place in program.learns:
            results.setdefault(place, next(x for k, x, _ in found if k == i))
    outs = [results[k] for k in program.learns]
    seeds = [wrap(trial_numbers(t)) for t in outs]
    try:
        modes.recorded[0], kept = False, modes.recorded[0]  # nothing of it stays in the graph's pictures
        try:
            wanted: Any = walks.grad(outs, sources, seeds, retain_graph=True, allow_unused=True)
        finally:
            modes.recorded[0] = kept
    except RuntimeError as error:
        if program.backwards[pattern].run is not None:
            raise Unseen(f"eager's backward raises {str(error).partition(chr(10))[0]}") from None
        return
    back = program.backwards[pattern]
    if back.run is None:
        raise Unseen(f"its backward cannot be recorded ({back.error.partition(chr(10))[0]})")
    grad = modes.is_grad_enabled()
    modes.put_grad(False)
    try:
        got = back.run(*saved, *seeds)
    finally:
        modes.put_grad(grad)
    for path, a, b in zip(program.sources, got, wanted):
        if (a is None) != (b is None) or a is not None and not same_values(a.raw, b.raw):
            raise Unseen(f"its program gives another gradient for {path} than eager's backward")


def trial_numbers(t: Tensor) -> Any:
    """Cotangents that are not all the same."""
    raw = t.raw
    numbers = (1.5 + np.cos(np.arange(raw.size))).astype(raw.dtype).reshape(raw.shape)
    return numbers if raw.ndim else numbers[()]
