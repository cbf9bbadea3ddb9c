"""The magics that go through backward step by step: `%step` and `%%backward`."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from autodiff_kernel.core import modes

from .base import ViewMagics, compiled, unquote, view_options
from .options import parse_expression

LISTING = (
    ("%step y", "backward from y as frames: node taken, rule, adjoints, who waits"),
    ("%step --live y", "the same one by one, by button or key (needs anywidget)"),
    ("%%backward", "runs the cell, and shows its backward as frames"),
)
_RECEIVER = " backward's tensor"  # no name that a user can have


def _step_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which frames are shown, and how: the keyword arguments of `views.steps`."""
    for option in (
        argument(
            "--live", action="store_true", help="also a stepper with buttons and keys (needs anywidget)"
        ),
        argument("--title", default="", help="a heading of your own"),
        argument("--strip", action="store_true", help="all frames open side by side, for a handout"),
        argument(
            "--from",
            "--first",
            dest="first",
            type=int,
            default=1,
            metavar="N",
            help="the first frame to show",
        ),
        argument("--to", "--last", dest="last", type=int, metavar="N", help="the last frame to show"),
        argument("--limit", type=int, default=40, help="how many frames are shown at most"),
    ):
        function = option(function)
    return view_options(function)


@magics_class
class StepMagics(ViewMagics):
    """Backward as frames."""

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @_step_options
    @argument("--gradient", metavar="EXPR", help="the seed, a tensor of the result's shape; else 1")
    @argument("expression", nargs="*", help="a tensor, or an expression that makes one")
    @line_magic
    def step(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Show backward as frames: the node taken, its rule, the adjoints so far, who still waits for whom.

        The numbers are those that `backward()` would add to `.grad`; nothing is changed or freed.

        Example::

            x = torch.tensor(2.0, requires_grad=True)
            y = x * x
            %step y
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, text = self._read(self.step, line, names)
        with modes.recording(True):
            value = self._evaluate(parse_expression(text, "%step", "%step y"), text, names)
        gradient = None
        if args.gradient:
            seed = unquote(args.gradient)
            tree = parse_expression(seed, "%step --gradient", "--gradient 'torch.ones(3)'")
            gradient = self._evaluate(tree, seed, names)
        return self._step(value, gradient, "%step", names, args)

    @no_var_expand
    @magic_arguments("%backward")
    @_step_options
    @argument("expression", nargs="*", help="where backward starts; else the value of the cell's last line")
    @cell_magic("backward")  # type: ignore[arg-type]
    def backward_cell(self, line: str, cell: str) -> Any:
        """Run the cell and show its backward as frames.

        Backward starts from the tensor on the magic's own line, from the one whose `.backward()` is the cell's last
        line (which then runs as well), or from the value of the last line.

        Example::

            %%backward
            x = torch.tensor(2.0, requires_grad=True)
            y = x * x
            y.backward()
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names: dict[str, Any] = self.shell.user_ns
        args, text = self._read(self.backward_cell, line, names)
        with modes.recording(True):
            if text:
                self._run(cell)
                start = parse_expression(text, "%%backward", "%%backward y")
                return self._step(self._evaluate(start, text, names), None, "%%backward", names, args)
            source, tree = self._parsed(cell)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compiled(tree, source, "exec"), names)
            if last is None:
                raise UsageError(
                    "%%backward: the cell's last line has no value; name where to start: %%backward y"
                )
            call = last.value
            if not (isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "backward"):
                value = eval(compiled(ast.Expression(call), source, "eval"), names)
                return self._step(value, None, "%%backward", names, args)
            return self._before_backward(call, source, names, args)

    def _before_backward(self, call: ast.Call, source: str, names: dict[str, Any], args: Any) -> Any:
        """The frames of the call `y.backward(gradient)`, taken before it runs and frees the graph; then run it."""
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        func: Any = call.func
        value = eval(compiled(ast.Expression(func.value), source, "eval"), names)
        func.value = ast.copy_location(ast.Name(_RECEIVER, ast.Load()), func.value)
        given = next((k.value for k in call.keywords if k.arg == "gradient"), None)
        given = call.args[0] if given is None and call.args else given
        gradient = None if given is None else eval(compiled(ast.Expression(given), source, "eval"), names)
        code = compiled(ast.Expression(call), source, "eval")
        result = self._frames(value, gradient, "%%backward", names, args)
        eval(code, names, {_RECEIVER: value})
        return self._shown(result, args)

    def _frames(self, value: Any, gradient: Any, magic: str, names: dict[str, Any], args: Any) -> Any:
        from autodiff_kernel.views.steps import steps

        try:
            return steps(
                value,
                gradient,
                namespace=names,
                first=args.first,
                last=args.last,
                limit=args.limit,
                strip=args.strip,
                title=unquote(args.title),
            )
        except (TypeError, ValueError) as error:  # no tensor, no such frame: the magic was misused
            raise UsageError(f"{magic}: {error}") from None

    def _step(self, value: Any, gradient: Any, magic: str, names: dict[str, Any], args: Any) -> Any:
        """The frames of a value's backward, as the options ask for them."""
        return self._shown(self._frames(value, gradient, magic, names, args), args)

    def _shown(self, result: Any, args: Any) -> Any:
        """The frames; with --live a stepper above them. They stay: a saved notebook has no kernel behind a widget."""
        if args.live:
            from . import stepper

            try:
                widget = stepper.live(result) if hasattr(self.shell, "kernel") else None
            except ImportError:
                print(stepper.MISSING)
            else:
                display(widget) if widget is not None else print(stepper.NO_NOTEBOOK)
        return self._give(result, args)
