"""Completion on the lines of our magics: their options and choices, and the user's tensors among the names."""

import re
from collections.abc import Callable
from typing import Any

from .magics import GROUPS

_LINE = re.compile(r"^\s*(?:[\w.\[\], ]+=\s*)?(%{1,2}[A-Za-z_]\w*)\s+(.*)$")
_WORD = re.compile(r"[^\s(,=]*$")
_TAKES_TENSORS = (
    "graph", "graph_cell", "step", "backward_cell", "trace", "place", "why", "nan", "memory", "tensor", "grad",
    "jacobian", "gradcheck", "shapes", "timegrad",
)  # fmt: skip


def candidates(line: str, names: dict[str, Any]) -> tuple[list[str], bool]:
    """What can end a magic's line, and whether nothing else can.

    `line`: the text up to the cursor. `names`: the user's variables.

    >>> candidates("%graph --res", {})
    (['--result'], True)
    >>> candidates("print(--res", {})
    ([], False)
    """
    found = _LINE.match(line)
    magic = _magic(found[1]) if found else None
    if found is None or magic is None:
        return [], False
    word = _WORD.search(found[2])[0]  # type: ignore[index]  # it matches the empty word too
    options = magic.parser._option_string_actions
    if word.startswith("-"):
        return [option for option in options if option.startswith(word)], True
    positional = [action for action in magic.parser._actions if not action.option_strings]
    choices = [str(choice) for action in positional for choice in action.choices or ()]
    if choices:
        return [choice for choice in choices if choice.startswith(word)], True
    if magic.__name__ in _TAKES_TENSORS:
        return [key for key, value in names.items() if key.startswith(word) and _is_tensor(key, value)], False
    return [], False


def _magic(word: str) -> Any:
    """The function behind `%name` or `%%name`, or None if it is none of ours."""
    kind = "cell" if word.startswith("%%") else "line"
    for group in GROUPS:
        name = group.magics[kind].get(word.lstrip("%"))
        if isinstance(name, str):
            return getattr(group, name)
    return None


def _is_tensor(name: str, value: Any) -> bool:
    from autodiff_kernel.core.tensor import Tensor

    return not name.startswith("_") and isinstance(value, Tensor)


def _matcher(completer: Any, shell: Any) -> Callable[[Any], Any]:
    """Our matcher in the form that this IPython knows."""
    try:
        from IPython.core.completer import SimpleCompletion, context_matcher
    except ImportError:  # before IPython 8.6 a matcher gives a list of words
        return lambda text: candidates(completer.text_until_cursor, shell.user_ns)[0]

    @context_matcher()
    def autodiff_matcher(context: Any) -> Any:
        line = context.line_with_cursor[: context.cursor_position]
        texts, only = candidates(line, shell.user_ns)
        shown = [
            SimpleCompletion(text=text, type="param" if text[0] == "-" else "instance") for text in texts
        ]
        return {
            "completions": shown,
            "matched_fragment": _WORD.search(line)[0],  # type: ignore[index]
            "suppress": only and bool(shown),
        }

    return autodiff_matcher


def load(shell: Any) -> Callable[[], None]:
    """Add the matcher to the shell's completer where it takes any; returns what takes it out."""
    completer = getattr(shell, "Completer", None)
    matchers = getattr(completer, "custom_matchers", None)
    if matchers is None:
        return lambda: None
    matcher = _matcher(completer, shell)
    matchers.append(matcher)
    return lambda: matchers.remove(matcher)
