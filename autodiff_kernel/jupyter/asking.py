"""The magics that ask: why something is as it is, where a nan came from, what holds memory, which dialect is spoken."""

import ast
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from autodiff_kernel.core import modes
from autodiff_kernel.core.tensor import Tensor

from . import cells
from .base import ViewMagics, did_you_mean, view_options, visible
from .options import parse_expression


@magics_class
class AskingMagics(ViewMagics):
    """Questions to what was recorded."""

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument(
        "--all",
        "--everything",
        action="store_true",
        help="all answers in full, not only the most important one",
    )
    @argument(
        "expression", nargs="*", help="a tensor, a list of tensors, a model, an exception; else the last cell"
    )
    @line_magic
    def why(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Explain a tensor, a gradient, a model or an error: the cause, the line, and what to write instead.

        Without an expression: the last cell's error, or what is odd about the values it worked with.

        Example::

            w = torch.tensor(2.0, requires_grad=True)
            h = (w * w).detach()
            %why h
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = visible(self._names(local_ns))
        args, text = self._read(self.why, line, names)
        from autodiff_kernel.views.why import why

        if not text:
            return self._give(self._last(names, args.all), args)
        with modes.recording(True):
            value = self._asked("%why", text, names)
        try:
            result = why(value, namespace=names, everything=args.all)
        except TypeError as error:
            raise UsageError(f"%why: {error}; for example: %why w") from None
        return self._give(result, args)

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("--all", "--everything", action="store_true", help="all answers in full, not only the first")
    @argument(
        "expression",
        nargs="*",
        help="a tensor, a list of tensors or a model; else all tensors of the notebook",
    )
    @line_magic
    def nan(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Follow the first nan or inf back to where it began, forward and backward, step by step.

        Example::

            z = torch.tensor([1000., 0.])
            p = z.exp() / z.exp().sum()
            %nan p
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = visible(self._names(local_ns))
        args, text = self._read(self.nan, line, names)
        from autodiff_kernel.views.nan import nan

        value = None
        if text:
            with modes.recording(True):
                value = self._asked("%nan", text, names)
            if value is None:
                raise UsageError(f"%nan: {text} is None; for example: %nan y")
        try:
            result = nan(value, namespace=names, everything=args.all)
        except TypeError as error:
            raise UsageError(f"%nan: {error}; for example: %nan y") from None
        return self._give(result, args)

    @no_var_expand
    @magic_arguments()
    @view_options
    @argument("names", nargs="*", help="variables to show; all of the notebook where there are none")
    @line_magic
    def memory(self, line: str) -> Any:
        """Show what holds memory: each tensor's values, its gradient, and the graph that it keeps alive.

        Example::

            w = torch.ones(1000, requires_grad=True)
            loss = (w.exp() * 2).sum()
            %memory
        """
        args = parse_argstring(self.memory, line)
        space: dict[str, Any] = visible(self.shell.user_ns)
        for name in args.names:
            if name not in space:
                raise UsageError(f"%memory: there is no variable {name!r}{did_you_mean(name, space)}")
        from autodiff_kernel.views.memory import memory

        return self._give(memory({name: space[name] for name in args.names} if args.names else space), args)

    @magic_arguments()
    @view_options
    @argument("year", nargs="?", choices=["2017", "modern"], help="the dialect to speak from now on")
    @line_magic
    def dialect(self, line: str) -> Any:
        """Speak PyTorch as it was in 2017, or as it is; alone, show which is spoken and what differs.

        Example::

            %dialect 2017
            x = torch.FloatTensor([[1, 2], [3, 4]])
            x.sum()
        """
        args = parse_argstring(self.dialect, line)
        if args.year:
            import autodiff_kernel

            autodiff_kernel.set_dialect(args.year)
            return None
        from autodiff_kernel.views.dialect import dialect

        return self._give(dialect(), args)

    # ------------------------------------------------------------------ what is asked about

    def _asked(self, magic: str, text: str, names: dict[str, Any]) -> Any:
        """The value of the expression; for `w.grad` where that is None, w itself: the question is why it is None."""
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        tree = parse_expression(text, magic, f"{magic} w")
        if isinstance(tree.body, ast.Attribute) and tree.body.attr == "grad":
            owner = self._evaluate(ast.Expression(tree.body.value), text, names)
            if isinstance(owner, Tensor):
                gradient = owner._grad_or_none()
                return owner if gradient is None else gradient
        return self._evaluate(tree, text, names)

    def _last(self, names: dict[str, Any], everything: bool) -> Any:
        """The answer to `%why` alone: the last cell's error, else what is odd about its values, else an older error."""
        from autodiff_kernel import explain
        from autodiff_kernel.explain import Answer
        from autodiff_kernel.views.why import shown, why

        last = cells.of(self.shell)
        if last.error is not None and not cells.own_code(last.running):
            return why(last.error, namespace=names, everything=everything)
        found = explain.answers_to(last.values(names), names)
        error = explain.newest_error()
        if not found and error is not None and explain.answers(error, names):
            return why(error, namespace=names, everything=everything)
        nothing = "Nothing unusual was recorded about the last cell. Ask about a tensor: %why w"
        return shown(found or [Answer("nothing", nothing)], names, everything=everything)
