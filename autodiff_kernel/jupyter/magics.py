"""The magics: each reads its line and calls one public function of `autodiff_kernel.views` or of the engine."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from autodiff_kernel.core import modes

from . import cells, magics_compiled, magics_lessons, magics_runs, magics_tensors, magics_torch
from .asking import AskingMagics
from .base import ViewMagics, did_you_mean, unquote, view_options, visible
from .magics_steps import LISTING as STEPS
from .magics_steps import StepMagics
from .options import parse_expression

# What `%autodiff` lists: an example that runs, and what it does.
LISTING = (
    ("%graph y", "the graph that made y, with every value and gradient"),
    ("%graph model(x)", "a network as blocks: each layer with its shapes and parameters"),
    ("%%graph", "runs the cell, then draws the graph of its last value"),
    *STEPS,
    ("%trace f(2., 3.)", "a function's evaluation trace: values, tangents, adjoints"),
    ("%why", "what the last error means, or what is odd about the last cell's values"),
    ("%why w", "why w, its gradient or its graph is as it is: cause, line, cure"),
    ("%nan y", "where the first nan or inf came from, step by step"),
    ("%memory", "which tensors, gradients and graphs hold how much memory"),
    *magics_tensors.LISTING,
    *magics_runs.LISTING,
    *magics_lessons.LISTING,
    *magics_compiled.LISTING,
    ("%place", "where each tensor lives, and what was copied"),
    ("%simulate_gpu 2", "switches on two simulated GPUs"),
    ("%dialect 2017", "speaks PyTorch as it was in 2017; %dialect shows what differs"),
    *magics_torch.LISTING,
    ("%autodiff", "this list"),
    ("%autodiff doctor", "looks at the installation: versions, kernel, dot, GPU"),
)


def _graph_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How a graph is drawn: the keyword arguments of `views.graph.graph`."""
    for option in (
        argument(
            "--sense",
            choices=["forward", "backward"],
            default="forward",
            help="arrows as values or gradients flow",
        ),
        argument(
            "--direction",
            choices=["LR", "TB"],
            default="LR",
            help="from left to right, or from top to bottom",
        ),
        argument(
            "--numbers", action="store_true", help="call unnamed values w1, w2, … as in an evaluation trace"
        ),
        argument("--no-values", dest="values", action="store_false", help="leave the values out"),
        argument("--no-grads", dest="grads", action="store_false", help="leave the gradients out"),
        argument("--title", default="", help="a heading of your own"),
        argument("--saved", action="store_true", help="show what each operation keeps for backward"),
        argument("--depth", type=int, metavar="N", help="how many levels of scopes are open; 0 closes all"),
        argument("--fold", action="append", default=[], metavar="SCOPE", help="draw this scope as one box"),
        argument("--expand", action="append", default=[], metavar="SCOPE", help="open it all the same"),
        argument(
            "--blocks",
            action="store_true",
            help="draw each layer as one block with its shapes and parameters; %%graph model(x) does",
        ),
        argument("--repeats", action="store_true", help="draw equal blocks that follow each other once, ×n"),
        argument("--paths", action="store_true", help="count the paths and the edges"),
        argument("--diff", action="store_true", help="two pictures: before and after backward"),
        argument("--engine", choices=["own", "dot"], default="own", help="dot: let Graphviz lay it out"),
        argument("--limit", type=int, default=150, help="how many boxes are drawn before they are merged"),
    ):
        function = option(function)
    return view_options(function)


@magics_class
class AutodiffMagics(ViewMagics):
    """Pictures, devices, and the list of all magics."""

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @_graph_options
    @argument("expression", nargs="*", help="what to draw: a tensor, or an expression that makes one")
    @line_magic
    def graph(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Draw the graph that made a tensor: operations, values, and gradients once `backward()` has run.

        Example::

            x = torch.tensor(2.0, requires_grad=True)
            y = x * x
            %graph y
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, text = self._read(self.graph, line, names)
        with modes.recording(True):
            tree = parse_expression(text, "%graph", "%graph y")
            value = self._evaluate(tree, text, names)
        args.blocks = args.blocks or (self._plain(args) and _calls_model(tree.body, names))
        return self._draw(value, "%graph", names, args)

    @staticmethod
    def _plain(args: Any) -> bool:
        """Does no option ask for single operations?"""
        return (
            args.depth is None
            and args.sense == "forward"
            and not (args.fold or args.saved or args.numbers or args.diff or args.repeats)
        )

    @no_var_expand
    @magic_arguments("%graph")
    @_graph_options
    @argument(
        "expression", nargs="*", help="what to draw once the cell has run; else the value of its last line"
    )
    @cell_magic("graph")  # type: ignore[arg-type]
    def graph_cell(self, line: str, cell: str) -> Any:
        """Run the cell and draw the graph of its last value, or of the expression on the magic's own line.

        Example::

            %%graph
            x = torch.tensor(2.0, requires_grad=True)
            x * x
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names: dict[str, Any] = self.shell.user_ns
        args, text = self._read(self.graph_cell, line, names)
        with modes.recording(True):
            value = self._run(cell)
            if text:
                value = self._evaluate(parse_expression(text, "%%graph", "%%graph y"), text, names)
        if value is None:
            raise UsageError("%%graph: the cell's last line has no value; name what to draw: %%graph y")
        return self._draw(value, "%%graph", names, args)

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("--forward", action="store_true", help="values and tangents only, no adjoints")
    @argument("--blank", action="store_true", help="a worksheet: names and formulas, the numbers left out")
    @argument("--latex", action="store_true", help="as LaTeX, too, for PDF; -o trace.tex writes it")
    @argument("--partials", action="store_true", help="a column with each step's local derivatives")
    @argument(
        "--seed",
        action="append",
        default=[],
        metavar="VECTOR",
        help="a tangent to start from, one number per input: --seed '(0.6, 0.8)'; may stand several times",
    )
    @argument("--seeds", metavar="LIST", help="tangents to start from, for example --seeds '[(0.6, 0.8)]'")
    @argument("call", nargs="*", help="a call of a function of tensors")
    @line_magic
    def trace(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Show a function's evaluation trace at a point: each intermediate value, its tangents, its adjoints.

        Example::

            def f(x1, x2):
                return x1 * x2 + x1**2
            %trace f(2., 3.)
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, text = self._read(self.trace, line, names)
        _, function, values, options = self._call("%trace", "%trace f(2., 3.)", text, names)
        from autodiff_kernel.views.trace import SeedError, trace

        seeds = [
            self._evaluate(
                parse_expression(unquote(one), "%trace --seed", "--seed '(0.6, 0.8)'"), unquote(one), names
            )
            for one in args.seed
        ] or None
        if args.seeds:
            text = unquote(args.seeds)
            seeds = self._evaluate(
                parse_expression(text, "%trace --seeds", "--seeds '[(0.6, 0.8)]'"), text, names
            )
        try:
            result = trace(
                function,
                *values,
                seeds=seeds,
                reverse=not args.forward,
                blank=args.blank,
                partials=args.partials,
                latex=args.latex,
                **options,
            )
        except SeedError as error:
            raise UsageError(f"%trace: {error}") from None
        return self._give(result, args)

    @no_var_expand
    @magic_arguments()
    @view_options
    @argument("names", nargs="*", help="variables to show; all tensors of the notebook where there are none")
    @line_magic
    def place(self, line: str) -> Any:
        """Show where each tensor lives: CPU or which GPU, its bytes, and what was copied.

        Example::

            x = torch.ones(3)
            %place x
        """
        args = parse_argstring(self.place, line)
        space: dict[str, Any] = self.shell.user_ns
        for name in args.names:
            if name not in space:
                raise UsageError(f"%place: there is no variable {name!r}{did_you_mean(name, space)}")
        from autodiff_kernel.views.placement import place

        shown = {name: space[name] for name in args.names} if args.names else visible(space)
        return self._give(place(shown, since=cells.of(self.shell).copies_before()), args)

    @magic_arguments()
    @argument("count", type=int, help="how many; 0 switches them off")
    @line_magic
    def simulate_gpu(self, line: str) -> None:
        """Switch on simulated GPUs, for lessons on devices without one; whatever is on them says "simulated".

        Example::

            %simulate_gpu 2
            torch.ones(3).cuda()
        """
        import autodiff_kernel

        count = parse_argstring(self.simulate_gpu, line).count
        if count < 0:
            raise UsageError(
                f"%simulate_gpu: the number of GPUs can't be {count}; for example: %simulate_gpu 2"
            )
        autodiff_kernel.cuda.simulate(count)

    @magic_arguments()
    @argument("what", nargs="?", choices=["doctor"], help="doctor: look at the installation")
    @line_magic
    def autodiff(self, line: str) -> None:
        """List the magics, or look at the installation.

        Example::

            %autodiff doctor
        """
        if parse_argstring(self.autodiff, line).what == "doctor":
            from .doctor import report

            print(report())
            return
        width = max(len(example) for example, _ in LISTING)
        for example, meaning in LISTING:
            print(f"{example:{width}}  {meaning}")
        print("A ? behind a name shows its help and options: %graph?")

    def _draw(self, value: Any, magic: str, names: dict[str, Any], args: Any) -> Any:
        """The graph of a value, as the options ask for it."""
        from autodiff_kernel.views.graph import graph

        words = (
            "sense",
            "direction",
            "numbers",
            "values",
            "grads",
            "saved",
            "engine",
            "limit",
            "depth",
            "repeats",
            "blocks",
            "paths",
            "diff",
        )
        options: dict[str, Any] = {word: getattr(args, word) for word in words}
        for word in ("fold", "expand"):
            options[word] = [unquote(name) for name in getattr(args, word)]
        options["title"] = unquote(args.title)
        try:
            result = graph(value, namespace=names, **options)
        except (TypeError, ValueError) as error:  # not a tensor, an empty list: the magic was misused
            raise UsageError(f"{magic}: {error}") from None
        return self._give(result, args)


def _calls_model(call: ast.expr, names: Mapping[str, Any]) -> bool:
    """Is the expression `model(x)`: the call of a variable that has modules or parameters?"""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return False
    return callable(getattr(type(names.get(call.func.id)), "named_parameters", None))


# Every class of magics; `%autodiff` lists what they do, completion knows their options.
GROUPS: tuple[type[ViewMagics], ...] = (
    AutodiffMagics,
    AskingMagics,
    StepMagics,
    magics_tensors.TensorMagics,
    magics_runs.RunMagics,
    magics_lessons.LessonMagics,
    magics_compiled.CompiledMagics,
    magics_torch.TorchMagics,
)


def load(shell: Any) -> Callable[[], None]:
    """Register the magics; returns what takes them away again."""
    groups = [group(shell=shell) for group in GROUPS]
    shell.register_magics(*groups)
    table = shell.magics_manager

    def undo() -> None:
        for magics in groups:
            for kind, names in magics.magics.items():
                for name in names:
                    table.magics[kind].pop(name, None)
            table.registry.pop(type(magics).__name__, None)

    return undo
