"""Parting a magic's line into options and a Python expression.

Options stand before the expression (`%graph -r x - y`) or after it (`%graph x - y -r`). Where the end of the line
is Python as well (`y -r`), it is a subtraction if there is a variable of that name, and an option if there is none.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError

_VALUE = r"""(?:'[^']*'|"[^"]*"|[^\s'"]\S*)"""


def _option_pattern(parser: Any) -> str:
    """A regular expression for one option of an argparse parser, with its value where it takes one."""
    options = parser._option_string_actions
    flags = [re.escape(name) for name, action in options.items() if action.nargs == 0]
    valued = [re.escape(name) for name, action in options.items() if action.nargs != 0]
    alternatives = [rf"(?:{'|'.join(flags)})"] if flags else []
    alternatives += [rf"(?:{'|'.join(valued)})(?:\s+|=){_VALUE}"] if valued else []
    return "|".join(alternatives) or r"(?!)"


def _bare_pattern(parser: Any) -> str:
    """A regular expression for an option that takes a value, without one."""
    valued = [re.escape(name) for name, action in parser._option_string_actions.items() if action.nargs != 0]
    return "|".join(valued) or r"(?!)"


def parses(text: str) -> bool:
    """Whether the text is a Python expression."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def split_options(line: str, parser: Any, names: Mapping[str, Any]) -> tuple[str, str]:
    """Part a magic's line into (options, expression); the expression stays as it was typed.

    `parser`: the magic's argparse parser. `names`: the user's variables. A `;` at the end is dropped: a magic
    shows what it is asked to show.

    >>> import argparse
    >>> parser = argparse.ArgumentParser(add_help=False)
    >>> _ = parser.add_argument("-r", action="store_true"), parser.add_argument("-o")
    >>> split_options("-o a.svg x - y", parser, {})
    ('-o a.svg', 'x - y')
    >>> split_options("f(2, 3) -r -o 'my file.svg';", parser, {})
    ("-r -o 'my file.svg'", 'f(2, 3)')
    >>> split_options("y -r", parser, {"r": 1})
    ('', 'y -r')
    >>> split_options("y -o", parser, {})
    ('-o', 'y')
    """
    option = _option_pattern(parser)
    bare = _bare_pattern(parser)
    rest = line.strip().removesuffix(";").rstrip()
    front: list[str] = []
    while found := re.match(rf"({option})(?:\s+|$)", rest):
        front.append(found[1])
        rest = rest[found.end() :]
    back: list[str] = []
    while found := re.search(rf"(?:^|\s)({option})$", rest):
        if parses(rest) and found[1].lstrip("-") in names:
            break
        back.insert(0, found[1])
        rest = rest[: found.start()].rstrip()
    found = re.search(rf"(?:^|\s)({bare})$", rest)
    if found and found[1].lstrip("-") not in names:  # `%graph y -o`: the parser tells that a value is missing
        back.append(found[1])
        rest = rest[: found.start()].rstrip()
    return " ".join(front + back), rest


def parse_expression(text: str, magic: str, example: str) -> ast.Expression:
    """The syntax tree of a magic's expression.

    Raises: UsageError where there is none or where it is not Python, with what would have been right.
    """
    if not text:
        raise UsageError(f"{magic} needs an expression, for example: {example}   ({magic}? shows its help)")
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        raise UsageError(
            f"{magic}: {text!r} is neither an option nor a Python expression. "
            f"An example: {example}   ({magic.split()[0]}? lists the options)"
        ) from None
