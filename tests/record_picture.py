"""Draw the README's picture from the README's own code: `python tests/record_picture.py`."""

import re
from pathlib import Path

from autodiff_kernel.core import modes
from autodiff_kernel.views.graph import graph

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "graph.svg"


def picture() -> str:
    """The SVG that the first code block of the README shows."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code, magic = re.findall(r"```python\n(.*?)(%graph y\n)```", readme, re.S)[0]
    assert magic
    space: dict[str, object] = {}
    with modes.recording(True):
        exec(compile(code, "<stdin>", "exec"), space)
    svg = graph(space["y"], namespace=space).svg
    assert svg is not None
    return svg + "\n"


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8", newline="\n")
    print(f"wrote {PICTURE}")
