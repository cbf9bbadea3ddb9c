"""The magics about tensors and derivatives: `%tensor`, `%grad`, `%jacobian`, `%gradcheck`."""

import ast
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from .base import ViewMagics, unquote, view_options, visible
from .options import parse_expression, parses

History = list[dict[str, float | None]]


def listed(text: str, magic: str, example: str) -> list[tuple[str, ast.Expression]]:
    """The expressions of a line, parted by spaces or commas: `a b`, `a, b`, or one expression with spaces in it.

    >>> [name for name, _ in listed("x x.t()", "%tensor", "")], [name for name, _ in listed("x + y", "%tensor", "")]
    (['x', 'x.t()'], ['x + y'])
    """
    if parses(text) or not text:
        tree = parse_expression(text, magic, example)
        if isinstance(tree.body, ast.Tuple) and tree.body.elts:
            return [(ast.unparse(part), ast.Expression(part)) for part in tree.body.elts]  # type: ignore[arg-type]
        return [(text, tree)]
    words: list[str] = []
    open_word = ""
    for word in text.split():
        open_word = f"{open_word} {word}".strip()
        if parses(open_word):
            words.append(open_word)
            open_word = ""
    if open_word:
        parse_expression(open_word, magic, example)  # tells what is wrong with it
    return [(word, ast.parse(word, mode="eval")) for word in words]


def own_names(names: Mapping[str, Any]) -> dict[str, Any]:
    """The names that the user gave: among those who share memory, `_3` is nobody."""
    return {name: value for name, value in visible(names).items() if not name.startswith("_")}


@magics_class
class TensorMagics(ViewMagics):
    """What tensors are made of, and how large derivatives are."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._histories: dict[str, History] = {}

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("--broadcast", action="store_true", help="show how the shapes of two tensors go together")
    @argument("tensors", nargs="*", help="tensors, parted by spaces; or a sum a + b, to see its broadcast")
    @line_magic
    def tensor(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Show tensors: shape, dtype, strides, the memory with its bytes, the values, and who shares memory with whom.

        Examples::

            x = torch.arange(6.).reshape(2, 3)
            %tensor x x.t()
            %tensor x + torch.ones(3)
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, text = self._read(self.tensor, line, names)
        parts = listed(text, "%tensor", "%tensor x")
        if len(parts) == 1 and not args.broadcast and isinstance(parts[0][1].body, ast.BinOp):
            operation = parts[0][1].body
            sides = [(ast.unparse(side), ast.Expression(side)) for side in (operation.left, operation.right)]
            values = [self._evaluate(tree, name, names) for name, tree in sides]
            if all(_is_tensor(value) for value in values) and not isinstance(operation.op, ast.MatMult):
                return self._tensors(sides, values, names, args, broadcast=True)
        values = [self._evaluate(tree, name, names) for name, tree in parts]
        return self._tensors(parts, values, names, args, broadcast=args.broadcast)

    def _tensors(
        self, parts: Any, values: list[Any], names: dict[str, Any], args: Any, *, broadcast: bool
    ) -> Any:
        from autodiff_kernel.views.tensors import tensors

        given = [{name: value} for (name, _), value in zip(parts, values, strict=True)]
        for (name, _), value in zip(parts, values, strict=True):
            if not _is_tensor(value):
                raise UsageError(f"%tensor: {name} is {type(value).__name__}, not a tensor")
        try:
            result = tensors(*given, namespace=own_names(names), broadcast=broadcast)
        except (TypeError, ValueError) as error:
            raise UsageError(f"%tensor: {error}") from None
        return self._give(result, args)

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument(
        "--history", action="store_true", help="keep the sizes of each call, and show them over the steps"
    )
    @argument("--forget", action="store_true", help="begin the history anew")
    @argument(
        "what", nargs="*", help="a model, tensors, a dict or list of them; else all leaves of the notebook"
    )
    @line_magic
    def grad(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Show how large each parameter's gradient is, and which are missing, zero, nan or dead.

        Example::

            w = torch.tensor([3., 4.], requires_grad=True)
            (w * w).sum().backward()
            %grad w

        In a loop, `%grad --history -r w` keeps a step without showing it; `%grad --history w` shows all of them.
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, text = self._read(self.grad, line, names)
        what: Any = None
        if text:
            parts = listed(text, "%grad", "%grad w")
            values = [self._evaluate(tree, name, names) for name, tree in parts]
            several = {name: value for (name, _), value in zip(parts, values, strict=True)}
            what = several if len(parts) > 1 or _is_tensor(values[0]) else values[0]
        if args.forget:
            self._histories.pop(text, None)
        from autodiff_kernel.views.gradients import gradients

        history = self._histories.setdefault(text, []) if args.history else None
        try:
            result = gradients(what, namespace=own_names(names), history=history)
        except (TypeError, ValueError) as error:
            raise UsageError(f"%grad: {error}") from None
        return self._give(result, args)

    def _function(
        self, magic: Any, line: str, names: dict[str, Any], example: str
    ) -> tuple[Any, str, Any, Any]:
        """The options of `%magic f x`, the name of f, and the values of f and x."""
        __tracebackhide__ = True
        args, text = self._read(magic, line, names)
        name = f"%{magic.__name__}"
        parts = listed(text, name, example)
        if len(parts) != 2:
            raise UsageError(f"{name} needs a function and a tensor, for example: {example}")
        (title, tree), (_, where) = parts
        f = self._evaluate(tree, title, names)
        if not callable(f):
            raise UsageError(f"{name}: {title} is {type(f).__name__}, not a function; for example: {example}")
        x = self._evaluate(where, text, names)
        if not _is_tensor(x):
            raise UsageError(
                f"{name}: {parts[1][0]} is {type(x).__name__}, not a tensor; for example: {example}"
            )
        return args, "f" if isinstance(tree.body, ast.Lambda) else title, f, x

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("--v", metavar="V", help="show J·v for this direction, for example --v '[1., 0.]'")
    @argument("--u", metavar="U", help="show uᵀ·J for this direction, for example --u '[1., 0.]'")
    @argument("function", nargs="*", help="a function and the tensor at which it is differentiated")
    @line_magic
    def jacobian(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Show the Jacobian of a function as a coloured grid, and its product with v or u.

        Example::

            def f(x):
                return torch.stack([x[0] * x[1], x[0] ** 2])
            x = torch.tensor([2., 3.])
            %jacobian f x --v '[1., 0.]'
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, name, f, x = self._function(self.jacobian, line, names, "%jacobian f x")
        directions = {}
        for letter in ("u", "v"):
            text = getattr(args, letter)
            if text is not None:
                tree = parse_expression(unquote(text), f"%jacobian --{letter}", f"--{letter} '[1., 0.]'")
                directions[letter] = self._evaluate(tree, text, names)
        from autodiff_kernel.views.jacobian import jacobian

        try:
            result = jacobian(f, x, name=name, **directions)
        except (TypeError, ValueError) as error:
            if _from_inside(error, jacobian):
                raise UsageError(f"%jacobian: {error}") from None
            raise
        return self._give(result, args)

    @no_var_expand
    @needs_local_scope
    @magic_arguments()
    @view_options
    @argument("--plot", action="store_true", help="also the error of differences against the step h")
    @argument("--eps", type=float, metavar="H", help="the step of the differences; else one for the dtype")
    @argument("--rtol", type=float, help="how far they may differ, relative to the derivative")
    @argument("function", nargs="*", help="a function and the tensor at which it is differentiated")
    @line_magic
    def gradcheck(self, line: str, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Compute derivatives three ways and compare: central differences, reverse mode, forward mode.

        Example::

            x = torch.tensor(2., dtype=torch.float64)
            %gradcheck torch.exp x --plot
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names = self._names(local_ns)
        args, name, f, x = self._function(self.gradcheck, line, names, "%gradcheck f x --plot")
        from autodiff_kernel.views.gradcheck import gradcheck

        try:
            result = gradcheck(f, x, plot=args.plot, eps=args.eps, rtol=args.rtol, name=name)
        except (TypeError, ValueError) as error:
            if _from_inside(error, gradcheck):
                raise UsageError(f"%gradcheck: {error}") from None
            raise
        return self._give(result, args)


def _from_inside(error: BaseException, function: Any) -> bool:
    """Whether an exception was raised by the view itself, not by the user's function that it calls."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == function.__module__


def _is_tensor(value: Any) -> bool:
    from autodiff_kernel.core.tensor import Tensor

    return isinstance(value, Tensor)


LISTING = (
    ("%tensor x", "what x is made of: strides, memory, values, who shares its memory"),
    ("%grad", "how large each gradient is; which are missing, zero, nan or dead"),
    ("%jacobian f x", "the Jacobian as a coloured grid, with J·v or uᵀ·J"),
    ("%gradcheck f x", "derivatives three ways; --plot: the error against the step h"),
)
