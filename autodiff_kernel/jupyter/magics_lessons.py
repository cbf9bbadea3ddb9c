"""The magics of lessons: `%predict` (a guess before the run, compared after it) and `%check` (three outcomes)."""

import ast
import re
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from .base import ViewMagics, did_you_mean, view_options
from .cells import own_code
from .magics_tensors import listed
from .options import parse_expression

_PARTS = re.compile(r"^\s*(?P<name>[^=]*?)\s*=(?!=)\s*(?P<guess>.*)$", re.S)
_pending: "WeakKeyDictionary[Any, dict[str, Any]]" = WeakKeyDictionary()


class Judged(AssertionError):
    """A check that was not passed: an error, so that whoever runs a notebook unattended notices. One line, no code."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class Wrong(Judged):
    """The answer is wrong; the message has the hint."""


class NotAttempted(Judged):
    """The exercise has not been touched."""


@magics_class
class LessonMagics(ViewMagics):
    """Guesses and checks. Nothing here ever asks for input: a notebook that runs unattended uses what its cells say."""

    @no_var_expand
    @magic_arguments()
    @argument("guess", nargs="*", help="what will come out, and the guess: name = guess")
    @line_magic
    def predict(self, line: str) -> None:
        """Store a guess; once the code has run that gives the name a value, both are shown side by side.

        A guess is a number, a list of numbers, a shape, a dtype, the word error, or words. It stands in the cell:
        whoever runs the notebook unattended uses it too.

        Example::

            %predict slope = 12
            x = torch.tensor(2., requires_grad=True)
            (x ** 3).backward()
            slope = x.grad
        """
        name, guess = self._guess(line, "%predict")
        if not name:
            raise UsageError("%predict: say what you guess, for example: %predict slope = 12")
        _pending.setdefault(self.shell, {}).pop(name, None)
        if guess.blank:
            print(f"{name}: no guess yet. Write it after the = and run this cell again.")
            return
        _pending[self.shell][name] = guess

    @no_var_expand
    @magic_arguments("%predict")
    @argument(
        "guess", nargs="*", help="name = guess; without a name the value of the cell's last line is guessed"
    )
    @cell_magic("predict")  # type: ignore[arg-type]
    def predict_cell(self, line: str, cell: str) -> Any:
        """Run the cell and show the guess beside the result. Without a guess the cell is not run.

        Example::

            %%predict 12
            x = torch.tensor(2., requires_grad=True)
            (x ** 3).backward()
            x.grad.item()
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        name, guess = self._guess(line, "%%predict")
        if guess.blank:
            print("Guess first: write it on the first line and run the cell again. It has not been run yet.")
            return None
        try:
            value = self._run(cell)
        except Exception as error:
            self._show(name or "this cell", guess, error)
            raise
        if not name:
            self._show("this cell", guess, value)
            return None
        tree = parse_expression(name, "%%predict", "%%predict slope = 12")
        self._show(name, guess, self._evaluate(tree, name, self.shell.user_ns))
        return value

    def _guess(self, line: str, magic: str) -> tuple[str, Any]:
        """The name and the guess of a line: `slope = 12`, or `12` alone."""
        from autodiff_kernel.views.lessons import Guess

        found = _PARTS.match(line)
        name, text = (found["name"], found["guess"].strip()) if found else ("", line.strip())
        if found is None and magic == "%predict":
            raise UsageError("%predict: a guess looks like this: %predict slope = 12")
        if name and not isinstance(
            parse_expression(name, magic, f"{magic} slope = 12").body,
            (ast.Name, ast.Attribute, ast.Subscript, ast.Call),
        ):
            raise UsageError(f"{magic}: {name!r} is no name; for example: {magic} slope = 12")
        try:
            return name, Guess(text, ast.literal_eval(text), True)
        except (ValueError, SyntaxError):
            pass
        try:  # 1/3, torch.float32, torch.tensor([1., 2.])
            value = eval(compile(text, "<guess>", "eval"), self.shell.user_ns)
        except Exception:  # words
            return name, Guess(text)
        return name, Guess(text, value, not callable(value))

    def _show(self, name: str, guess: Any, result: Any) -> None:
        from autodiff_kernel.views.lessons import prediction

        display(prediction(name, guess, result))

    @no_var_expand
    @magic_arguments()
    @view_options
    @argument(
        "exercise", nargs="*", help="the name of a check, and the answers; else those its parameters name"
    )
    @line_magic
    def check(self, line: str) -> Any:
        """Check an exercise: right, wrong with a hint, or not attempted. The last two are errors.

        `%check e1` calls `check_e1` with the variables that its parameters name.

        Example::

            def check_e1(double):
                assert double(2) == 4, "twice as much"
            double = lambda x: x + x
            %check e1
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        names: dict[str, Any] = self.shell.user_ns
        args, text = self._read(self.check, line, names)
        word, _, rest = text.partition(" ")
        judge = names.get(f"check_{word}", names.get(word))
        if not word or not callable(judge):
            checks = {name.removeprefix("check_"): 0 for name in names if name.startswith("check_")}
            known = f"; there are: {', '.join(checks)}" if checks else ""
            raise UsageError(
                f"%check needs the name of a check, for example: %check e1 (it calls check_e1)"
                f"{known}{did_you_mean(word, checks)}"
            )
        from autodiff_kernel.views.lessons import NOT_ATTEMPTED, check, check_result, parameters_of

        title = word.removeprefix("check_")
        wanted = [] if rest.strip() else parameters_of(judge)
        missing = [name for name in wanted if name not in names]
        if missing:
            hint = f"there is no {missing[0]} yet: run the cell above"
            return self._told(check_result(title, NOT_ATTEMPTED, hint), args)
        if rest.strip():
            given = [
                self._evaluate(tree, name, names) for name, tree in listed(rest, "%check", "%check e1 answer")
            ]
        else:
            given = [names[name] for name in wanted]
        return self._told(check(judge, *given, name=title), args)

    @no_var_expand
    @magic_arguments("%check")
    @view_options
    @argument("exercise", nargs="*", help="the name of the exercise")
    @cell_magic("check")  # type: ignore[arg-type]
    def check_cell(self, line: str, cell: str) -> Any:
        """Run the assertions of a cell as a check. Names that it makes are its own.

        Example::

            %%check e1
            assert double(2) == 4, "twice as much"
        """
        __tracebackhide__ = True  # IPython leaves this frame out of the user's tracebacks
        args, title = self._read(self.check_cell, line, self.shell.user_ns)
        if not title:
            raise UsageError("%%check needs the name of the exercise, for example: %%check e1")
        source = "\n" + self.shell.transform_cell(cell)
        code = compile(source, self._cell_name(source), "exec")
        names = dict(self.shell.user_ns)
        from autodiff_kernel.views.lessons import check_result, outcome_of

        outcome, hint = outcome_of(lambda: exec(code, names), known=list(names))
        return self._told(check_result(title, outcome, hint), args)

    def _told(self, result: Any, args: Any) -> Any:
        """Show a check that was passed; any other is an error."""
        from autodiff_kernel.views.lessons import RIGHT, WRONG, sentence

        model = result.model
        if model.outcome == RIGHT or args.result or args.output:
            return self._give(result, args)
        raise (Wrong if model.outcome == WRONG else NotAttempted)(sentence(model)) from None


def settle(shell: Any, result: Any = None) -> None:
    """After a cell: show each guess whose name has a value now. A cell of magics alone settles nothing."""
    pending = _pending.get(shell)
    if not pending or not own_code(getattr(getattr(result, "info", None), "raw_cell", "") or ""):
        return
    from autodiff_kernel.views.lessons import prediction

    error = getattr(result, "error_in_exec", None)
    for name, guess in list(pending.items()):
        if error is not None:
            value: Any = error
        else:
            try:
                value = eval(compile(name, "<guess>", "eval"), shell.user_ns)
            except Exception:  # not there yet
                continue
        del pending[name]
        display(prediction(name, guess, value))


def load(shell: Any) -> Callable[[], None]:
    """Compare guesses after each cell; returns what stops that."""

    def after(result: Any = None) -> None:
        settle(shell, result)

    shell.events.register("post_run_cell", after)

    def undo() -> None:
        shell.events.unregister("post_run_cell", after)
        _pending.pop(shell, None)

    return undo


LISTING = (
    ("%predict y = 7", "stores a guess, and shows it beside the result once the cell has run"),
    ("%check e1", "checks an exercise: right, wrong with a hint, or not attempted"),
)
