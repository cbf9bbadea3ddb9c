"""`%compiled`: the program that torch.compile makes of a call, beside the call's graph."""

from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from .base import ViewMagics, unquote, view_options, visible

LISTING = (("%compiled f(x)", "the flat program that torch.compile makes of f, beside the graph"),)


@magics_class
class CompiledMagics(ViewMagics):
    """The static graph."""

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("--title", default="", help="a heading of your own")
    @argument("call", nargs="*", help="a call of a function or a model")
    @line_magic
    def compiled(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Show the program that `torch.compile` makes of a function, each line with yours, beside the call's graph.

        Example::

            def f(x):
                return (x * x).sum()
            %compiled f(torch.ones(2))
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, text = self._read(self.compiled, line, names)
        written, function, values, options = self._call("%compiled", "%compiled f(x)", text, names)
        if not callable(function):
            raise UsageError(f"%compiled: {written} is {type(function).__name__}, not a function")
        from autodiff_kernel.views.compiled import compiled

        result = compiled(function, *values, namespace=visible(names), title=unquote(args.title), **options)
        return self._give(result, args)
