"""What the magics share: how a line is read, an expression evaluated, and a view shown, written or handed back."""

import ast
import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics
from IPython.core.magic_arguments import argument, parse_argstring
from IPython.display import display

from .options import parse_expression, split_options

_HISTORY = re.compile(r"In|Out|_{1,3}|_i{0,3}|_i?\d+|_[dio]h")  # IPython's inputs, outputs and folders so far


def view_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every magic with a view has."""
    wrapped: Callable[..., Any] = argument(
        "-r", "--result", action="store_true", help="give the result object back instead of showing it"
    )(function)
    wrapped = argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write it to FILE; the suffix says how (.svg .html .txt .dot .pdf .png)",
    )(wrapped)
    return wrapped


class ViewMagics(Magics):
    """The ways from a magic's line to a view, for every group of magics."""

    shell: Any

    def _names(self, local_ns: Mapping[str, Any] | None) -> dict[str, Any]:
        """The names an expression sees: the notebook's, and those of the function the magic is called from."""
        space: dict[str, Any] = self.shell.user_ns
        return space if local_ns is None or local_ns is space else {**space, **local_ns}

    def _read(self, magic: Any, line: str, names: Mapping[str, Any]) -> tuple[Any, str]:
        """The parsed options of a magic's line, and its expression."""
        options, text = split_options(line, magic.parser, names)
        return parse_argstring(magic, options), text

    def _cell_name(self, text: str) -> str:
        """A file name for the compiler under which tracebacks and pictures find the source, like a cell's own."""
        name: str = self.shell.compile.cache(text, self.shell.execution_count, raw_code=text)
        return name

    def _evaluate(self, tree: ast.Expression, text: str, names: dict[str, Any]) -> Any:
        """The value of an expression in the user's namespace."""
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        return eval(compiled(tree, self._cell_name(text), "eval"), names)

    def _call(self, magic: str, example: str, text: str, names: dict[str, Any]) -> tuple[str, Any, Any, Any]:
        """A call taken apart, not made: the function as it is written, the function, its arguments, the named ones.

        Raises UsageError for any other expression.
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        call = parse_expression(text, magic, example).body
        if not isinstance(call, ast.Call):
            raise UsageError(f"{magic} needs a call, for example: {example}; {text!r} is none")
        # A list and a dict of the arguments, as Python itself would have passed them.
        given = ast.parse("(lambda *a, **k: (a, k))()", mode="eval")
        gather = given.body
        assert isinstance(gather, ast.Call)
        gather.args, gather.keywords = call.args, call.keywords
        function = self._evaluate(ast.Expression(call.func), text, names)
        values, options = self._evaluate(ast.fix_missing_locations(given), text, names)
        return ast.unparse(call.func), function, values, options

    def _run(self, cell: str) -> Any:
        """Run a cell's code in the user's namespace; the value of its last line, or None where it has none."""
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        name, tree = self._parsed(cell)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compiled(tree, name, "exec"), self.shell.user_ns)
        if last is None:
            return None
        return eval(compiled(ast.Expression(last.value), name, "eval"), self.shell.user_ns)

    def _parsed(self, cell: str) -> tuple[str, Any]:
        """A cell's name for tracebacks, and its syntax tree.

        An empty line stands for the magic's own, so that line numbers are those that the editor shows.
        """
        source = "\n" + self.shell.transform_cell(cell)
        name = self._cell_name(source)
        return name, self.shell.compile.ast_parse(source, name)

    def _give(self, result: Any, args: Any) -> Any:
        """Show a view, or write it, or hand it back, as the options say."""
        if args.output:
            try:
                written = result.save(unquote(args.output))
            except ValueError as error:
                raise UsageError(str(error)) from None
            except OSError as error:  # no such folder, no right to write there, no space left
                raise UsageError(f"can't write {args.output}: {error.strerror or error}") from None
            print(f"wrote {written}")
        if args.result:
            return result
        if not args.output:
            display(result)
        return None


def compiled(tree: Any, name: str, mode: str) -> Any:
    """Code to run. A magic runs it at once, so it can't wait for anything: UsageError where the code has an `await`."""
    __tracebackhide__ = True
    try:
        return compile(tree, name, mode)
    except SyntaxError as error:
        if any(word in str(error) for word in ("'await'", "asynchronous", "'async")):
            raise UsageError(
                "a magic can't await: give the result a name in a plain cell, y = await …, then ask about y"
            ) from None
        raise


def visible(names: Mapping[str, Any]) -> dict[str, Any]:
    """The names without IPython's own: a tensor is not called `Out[3]` or `_3`, which the next run would call otherwise.

    >>> sorted(visible({"x": 1, "_": 1, "__": 1, "_3": 1, "_i3": 1, "_oh": 1, "Out": 1, "_mine": 1, "__4a": 1}))
    ['__4a', '_mine', 'x']
    """
    return {name: value for name, value in names.items() if not _HISTORY.fullmatch(str(name))}


def unquote(text: str) -> str:
    """A file name without the quotes that were needed for its spaces."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def did_you_mean(name: str, names: Mapping[str, Any]) -> str:
    """What to add to a complaint about an unknown name."""
    close = difflib.get_close_matches(name, [n for n in names if not n.startswith("_")], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
