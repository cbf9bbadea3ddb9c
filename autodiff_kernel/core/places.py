"""Where in the user's code something happened: found cheaply, told only when asked.

A place is the code object and the instruction of the innermost frame outside this package; the line number and the
text of the line are looked up when somebody reads them.  A line of a notebook cell is told by its number and text,
a line of a file by the file's base name too: never by a path, an execution count or a process id, so that texts are
the same on every machine.  (In a terminal most cells have one line and no picture keeps them apart: there In[5] is told.)
"""

import linecache
import os
import re
import sys
from functools import lru_cache
from types import CodeType
from typing import Any

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
MARK = "__autodiff_kernel__"  # among the names of every module of ours
_CELL = re.compile(r"ipykernel_\d+|<ipython-input|<stdin>|<string>|<python-input")
_TERMINAL = re.compile(
    r"<ipython-input-(\d+)-[0-9a-f]{12}>"
)  # how IPython in a terminal calls the code of In[5]
_MAGIC = re.compile(r"(\s*)get_ipython\(\)\.run_(line|cell)_magic\('(\w+)', (['\"])(.*?)\4(?:, .*)?\)")


class Place:
    """One instruction of the user's code."""

    __slots__ = ("code", "instruction")

    def __init__(self, code: CodeType, instruction: int) -> None:
        self.code, self.instruction = code, instruction

    @property
    def filename(self) -> str:
        return self.code.co_filename

    @property
    def line(self) -> int:
        """The line number, counted from 1."""
        return _line(self.code, self.instruction)

    @property
    def text(self) -> str:
        """The source line without its indentation, or '' where the source is not at hand."""
        return typed(linecache.getline(self.filename, self.line)).strip()

    @property
    def number(self) -> str:
        """'line 3'; of a terminal's cell also which: 'In[5], line 3'."""
        cell = prompt(self.filename)
        return f"{cell}, line {self.line}" if cell else f"line {self.line}"

    @property
    def in_cell(self) -> bool:
        return is_cell(self.filename)

    def __str__(self) -> str:
        where = self.number if self.in_cell else f"{os.path.basename(self.filename)}, {self.number}"
        return f"{where}: {self.text}" if self.text else where

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.code, self.instruction) == (other.code, other.instruction)

    def __hash__(self) -> int:
        return hash((self.code, self.instruction))


@lru_cache(4096)  # diagnoses ask for the lines of a loop's events again and again
def _line(code: CodeType, instruction: int) -> int:
    for start, stop, line in code.co_lines():
        if start <= instruction < stop and line is not None:
            return line
    return code.co_firstlineno


def is_cell(filename: str) -> bool:
    """Is this the name under which a shell compiles a cell?"""
    return bool(_CELL.search(filename))


def prompt(filename: str) -> str:
    """'In[5]' for the name under which IPython in a terminal compiled that input, '' for any other.

    >>> prompt("<ipython-input-5-0123456789ab>"), prompt("lesson.py")
    ('In[5]', '')
    """
    found = _TERMINAL.fullmatch(filename)
    return f"In[{found[1]}]" if found else ""


def typed(line: str) -> str:
    """A line of a cell as the user typed it: IPython keeps what it has made of a magic.

    >>> typed("get_ipython().run_line_magic('graph', 'y')")
    '%graph y'
    >>> typed("get_ipython().run_cell_magic('graph', '--paths', 'x * x\\\\n')")
    '%%graph --paths'
    """
    found = _MAGIC.fullmatch(line.rstrip())
    if found is None:
        return line
    sign = "%" if found[2] == "line" else "%%"
    return f"{found[1]}{sign}{found[3]} {found[5]}".rstrip()


def here() -> Any:
    """The user's instruction that is being run, in the innermost frame outside this package: (code, instruction).

    A pair and not a Place, because every write asks for it and hardly anybody reads it.  Modules of the package are
    known by a mark among their names, which is found in a fifth of the time that comparing file names takes.
    """
    frame: Any = sys._getframe(2)  # the caller is ours
    while MARK in frame.f_globals:
        frame = frame.f_back
        if frame is None:
            return None
    return frame.f_code, frame.f_lasti


mine: list[Any] = [None]  # the code object of the user's that was found last: most often it is still the one


def user_frame(frame: Any) -> Any:
    """The innermost frame outside this package, from one on."""
    while MARK in frame.f_globals:
        if frame.f_back is None:
            return frame
        frame = frame.f_back
    mine[0] = frame.f_code
    return frame


def beyond(module: str) -> Any:
    """The same, but outside of that module of Python's too, which called us: `copy.deepcopy(x)` calls x.__deepcopy__."""
    frame: Any = sys._getframe(2)
    while frame is not None and (MARK in frame.f_globals or frame.f_globals.get("__name__") == module):
        frame = frame.f_back
    return None if frame is None else (frame.f_code, frame.f_lasti)


def claim() -> None:
    """Mark the modules of this package that are loaded now as ours."""
    for name, module in list(sys.modules.items()):
        if name.startswith("autodiff_kernel") and module is not None:
            module.__dict__[MARK] = True


def place_of(spot: Any) -> "Place | None":
    """What `here()` gave, or a record of journal.py, as a Place."""
    return None if spot is None or spot[0] is None else Place(spot[0], spot[1])
