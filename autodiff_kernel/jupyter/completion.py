"""Completion: the options and choices of our magics, the user's tensors and models behind them, and dimensions."""

import re
from collections.abc import Callable
from typing import Any

from .magics import GROUPS

_LINE = re.compile(r"^\s*(?:[\w.\[\], ]+=\s*)?(%{1,2}[A-Za-z_]\w*)\s+(.*)$")
_WORD = re.compile(r"[^\s(,=]*$")
# the end of `x.sum(dim=`, `x.mean(keepdim=True, dim=(0, ` and `torch.sum(x, dim=-`
_DIM = re.compile(
    r"(?P<owner>[\w.]+)\.\w+\((?P<given>[^()]*)\b(?:dim|dims|dim0|dim1|axis)\s*=\s*[\[(]?[-\d,\s]*$"
)
_FIRST = re.compile(r"\s*([A-Za-z_][\w.]*)\s*,")
_TAKES_TENSORS = (
    "graph", "graph_cell", "step", "backward_cell", "trace", "place", "why", "nan", "memory", "tensor", "grad",
    "jacobian", "gradcheck", "shapes", "timegrad",
)  # fmt: skip
_TAKES_MODELS = ("graph", "place", "why", "nan", "memory", "grad", "trace")
_TAKES_NAMES = ("place", "memory")  # and no expressions


def candidates(line: str, names: dict[str, Any]) -> tuple[list[str], bool]:
    """What can end a line, and whether nothing else can.

    `line`: the text up to the cursor. `names`: the user's variables.

    >>> candidates("%graph --res", {})
    (['--result'], True)
    >>> candidates("%graph y --sense ", {})
    (['forward', 'backward'], True)
    >>> import autodiff_kernel as torch
    >>> candidates("x.sum(dim=", {"x": torch.ones(2, 3)})
    (['0', '1', '-1', '-2'], True)
    >>> candidates("print(--res", {})
    ([], False)
    """
    found = _LINE.match(line)
    magic = _magic(found[1]) if found else None
    if found is None or magic is None:
        return _dimensions(line, names)
    word = _word(found[2])
    options = magic.parser._option_string_actions
    before = found[2].removesuffix(word).removesuffix("=").split()
    asked = options.get(before[-1]) if before else None
    if asked is not None and asked.nargs != 0:  # the value of an option
        return [str(choice) for choice in asked.choices or () if str(choice).startswith(word)], bool(
            asked.choices
        )
    dims, only = _dimensions(found[2], names)
    if only:
        return dims, only
    if word.startswith("-"):
        return [option for option in options if option.startswith(word)], True
    positional = [action for action in magic.parser._actions if not action.option_strings]
    choices = [str(choice) for action in positional for choice in action.choices or ()]
    if choices:
        return [choice for choice in choices if choice.startswith(word)], True
    name = magic.__name__
    if name == "check":
        exercises = [key.removeprefix("check_") for key in names if key.startswith("check_")]
        return [key for key in exercises if key.startswith(word)], not before
    found_names = [
        key
        for key, value in names.items()
        if key.startswith(word)
        and not key.startswith("_")
        and (_is_tensor(value) and name in _TAKES_TENSORS or name in _TAKES_MODELS and _is_model(value))
    ]
    return found_names, name in _TAKES_NAMES


def _word(line: str) -> str:
    """The unfinished word at a line's end; '' after a space or a bracket."""
    found = _WORD.search(line)
    assert found is not None  # it matches the empty word too
    return found[0]


def _dimensions(line: str, names: dict[str, Any]) -> tuple[list[str], bool]:
    """The dimensions of the tensor in whose call the cursor stands behind `dim=`: from the front, then from the back."""
    found = _DIM.search(line)
    if found is None:
        return [], False
    t = _held(found["owner"], names)
    if t is None:
        first = _FIRST.match(found["given"])  # `torch.sum(x, dim=`
        t = None if first is None else _held(first[1], names)
    if t is None:
        return [], False
    many = max(t.dim(), 1)
    dims = [str(k) for k in (*range(many), *range(-1, -many - 1, -1))]
    return [dim for dim in dims if dim.startswith(_word(line))], True


def _held(path: str, names: dict[str, Any]) -> Any:
    """The tensor behind `x` or `model.weight`, or None. Only our own objects and models are asked for attributes."""
    first, *rest = path.split(".")
    value = names.get(first)
    try:
        for attribute in rest:
            if not (_is_tensor(value) or _is_model(value)):
                return None
            value = getattr(value, attribute)
    except Exception:  # whatever a model's attributes do
        return None
    return value if _is_tensor(value) else None


def _magic(word: str) -> Any:
    """The function behind `%name` or `%%name`, or None if it is none of ours."""
    kind = "cell" if word.startswith("%%") else "line"
    for group in GROUPS:
        name = group.magics[kind].get(word.lstrip("%"))
        if isinstance(name, str):
            return getattr(group, name)
    return None


def _is_tensor(value: Any) -> bool:
    from autodiff_kernel.core.tensor import Tensor

    return isinstance(value, Tensor)


def _is_model(value: Any) -> bool:
    return not isinstance(value, type) and callable(getattr(type(value), "named_parameters", None))


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
            SimpleCompletion(text=text, type="param" if text[:2] == "--" else "instance") for text in texts
        ]
        return {
            "completions": shown,
            "matched_fragment": _word(line),
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
