"""The magics about what code does: `%shapes`, `%watch`, `%descent`, `%timegrad`."""

import ast
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from autodiff_kernel.core import modes
from autodiff_kernel.core.tensor import Tensor

from . import cells
from .base import ViewMagics, compiled, view_options, visible
from .magics_tensors import listed
from .options import parse_expression

_watched: "WeakKeyDictionary[Any, Any]" = (
    WeakKeyDictionary()
)  # the mark before the running cell, where watching is on


@magics_class
class RunMagics(ViewMagics):
    """What a line, a cell or a training does."""

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("expression", nargs="*", help="a tensor or an expression; else the last error's line")
    @line_magic
    def shapes(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Show the shapes on the way to a tensor. Where the expression fails, show which operand had which shape.

        Without an expression: the shapes in the line that raised the last cell's error.

        Example::

            x = torch.ones(2, 3)
            %shapes (x.t() @ x).sum(0)
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = visible(self._names(local_ns))
        args, text = self._read(self.shapes, line, names)
        from autodiff_kernel.explain.raised import Raised
        from autodiff_kernel.views.shapes import shapes

        if not text:
            error = cells.of(self.shell).error
            if error is None:
                raise UsageError(
                    "%shapes: the last cell raised no error; name a tensor, for example: %shapes y"
                )
            return self._give(shapes(error, namespace=names), args)
        tree = parse_expression(text, "%shapes", "%shapes y")
        try:
            with modes.recording(True):
                value = self._evaluate(tree, text, names)
        except Exception as error:
            raised = Raised(error, names)
            if not (raised.ours and raised.tensors):
                raise
            return self._give(shapes(error, namespace=names), args)
        if not isinstance(value, (Tensor, BaseException)):
            raise UsageError(
                f"%shapes: {text} is {type(value).__name__}, not a tensor; for example: %shapes y"
            )
        return self._give(shapes(value, namespace=names, name=text), args)

    @no_var_expand
    @magic_arguments("%shapes")
    @view_options
    @argument("nothing", nargs="*", help="the cell stands on the lines below")
    @cell_magic("shapes")  # type: ignore[arg-type]
    def shapes_cell(self, line: str, cell: str) -> Any:
        """Run the cell and show the shapes line by line.

        Example::

            %%shapes
            x = torch.ones(2, 3)
            y = x.t().sum(0)
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        args, text = self._read(self.shapes_cell, line, self.shell.user_ns)
        if text:
            raise UsageError(
                f"%%shapes takes a cell, and nothing on its own line; {text!r} goes with %shapes"
            )
        from autodiff_kernel.core import journal
        from autodiff_kernel.views.shapes import shapes
        from autodiff_kernel.views.watch import events_since

        last = journal.LOG[-1] if journal.LOG else None
        with modes.recording(True):
            value = self._run(cell)
        events, _ = events_since(last)
        given = self._give(shapes(events, namespace=visible(self.shell.user_ns)), args)
        return given if args.result else value

    @magic_arguments()
    @argument("switch", choices=["on", "off"], help="whether each cell is followed by what it has done")
    @line_magic
    def watch(self, line: str) -> None:
        """Switch on a panel after each cell: nodes made, memory kept, gradients changed, copies between devices.

        Example::

            %watch on
        """
        from autodiff_kernel.views.watch import mark

        if parse_argstring(self.watch, line).switch == "on":
            _watched[self.shell] = mark(visible(self.shell.user_ns))
        else:
            _watched.pop(self.shell, None)

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("--lr", type=float, default=0.1, help="the rate (0.1)")
    @argument("--steps", type=int, default=30, help="how many steps (30)")
    @argument("--methods", default="sgd,momentum,adam", help="which, parted by commas (sgd,momentum,adam)")
    @argument(
        "function", nargs="*", help="a function of a tensor with two numbers, and the point to start from"
    )
    @line_magic
    def descent(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Draw the paths of SGD, momentum and Adam on the contours of a function of two numbers.

        Example::

            def bowl(x):
                return x[0] ** 2 + 10 * x[1] ** 2
            %descent bowl [2.,1.] --lr 0.05
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, text = self._read(self.descent, line, names)
        example = "%descent f [2.,1.] --lr 0.05"
        parts = listed(text, "%descent", example)
        # `f [2., 1.]` with a space reads like an index, and is none
        if len(parts) == 1 and isinstance(parts[0][1].body, ast.Subscript):
            index = parts[0][1].body
            point = ast.fix_missing_locations(ast.Expression(ast.List([index.slice], ast.Load())))
            if isinstance(index.slice, ast.Tuple):
                point = ast.fix_missing_locations(ast.Expression(ast.List(index.slice.elts, ast.Load())))
            parts = [(ast.unparse(index.value), ast.Expression(index.value)), ("x0", point)]
        if len(parts) != 2:
            raise UsageError(f"%descent needs a function and a point, for example: {example}")
        f, start = (self._evaluate(tree, name, names) for name, tree in parts)
        if not callable(f):
            raise UsageError(f"%descent: {parts[0][0]} is {type(f).__name__}, not a function")
        from autodiff_kernel.views.descent import descent

        methods = [m.strip() for m in args.methods.strip("'\"").split(",") if m.strip()]
        name = "f" if isinstance(parts[0][1].body, ast.Lambda) else parts[0][0]
        try:
            result = descent(f, start, lr=args.lr, steps=args.steps, methods=methods, name=name)
        except (TypeError, ValueError) as error:
            if _is_ours(error):
                raise UsageError(f"%descent: {error}") from None
            raise
        return self._give(result, args)

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("--seconds", type=float, default=0.5, help="how long it measures (0.5)")
    @argument("expression", nargs="*", help="what to compute; its result requires grad")
    @line_magic
    def timegrad(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Time an expression and its backward pass: median and spread. Recording is off meanwhile.

        Times differ from run to run: don't keep them in a notebook whose outputs are compared.

        Example::

            x = torch.ones(1000, requires_grad=True)
            %timegrad (x * x).sum()
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, text = self._read(self.timegrad, line, names)
        tree = parse_expression(text, "%timegrad", "%timegrad (x * x).sum()")
        code = compiled(tree, self._cell_name(text), "eval")
        from autodiff_kernel.views.timegrad import timegrad

        try:
            with modes.recording(False):
                result = timegrad(lambda: eval(code, names), seconds=args.seconds, name=text)
        except (TypeError, ValueError) as error:
            if _is_ours(error):
                raise UsageError(f"%timegrad: {error}") from None
            raise
        return self._give(result, args)


def _is_ours(error: BaseException) -> bool:
    """Whether a view raised this itself, and not the user's function that it called."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith(
        "autodiff_kernel.views."
    )


def load(shell: Any) -> Callable[[], None]:
    """Watch each cell once `%watch on` has been said; returns what stops that."""

    def before(info: Any = None) -> None:
        if shell in _watched:
            from autodiff_kernel.views.watch import mark

            _watched[shell] = mark(visible(shell.user_ns))

    def after(result: Any = None) -> None:
        since = _watched.get(shell)
        if since is None:
            return
        from autodiff_kernel.views.watch import watch

        found = watch(since, namespace=visible(shell.user_ns))
        if not found.model.idle:
            display(found)

    shell.events.register("pre_run_cell", before)
    shell.events.register("post_run_cell", after)

    def undo() -> None:
        shell.events.unregister("pre_run_cell", before)
        shell.events.unregister("post_run_cell", after)
        _watched.pop(shell, None)

    return undo


LISTING = (
    ("%shapes y", "the shapes on the way to y; without a name: those in the line that failed"),
    ("%watch on", "after each cell: nodes made, memory kept, gradients changed, copies"),
    ("%descent f [2.,1.]", "the paths of SGD, momentum and Adam on the contours of f"),
    ("%timegrad f(x)", "how long forward and backward take"),
)
