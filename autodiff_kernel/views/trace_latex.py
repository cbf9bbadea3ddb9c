"""The evaluation trace as LaTeX: formulas, local derivatives and numbers in one array, for handouts and nbconvert's PDF."""

from __future__ import annotations

import re
from typing import Any

from .style import escape_latex

_FUNCTIONS = {"log", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min"}
_SIGNS = {
    "·": r" \cdot ", "−": "-", "Σ": r"\sum ", "√": r"\sqrt{}", "π": r"\pi ", "½": r"\tfrac12 ", "σ": r"\sigma ",
    "∂": r"\partial ", "≤": r"\le ", "≥": r"\ge ", "<": "< ", ">": ">", "=": "=", "+": "+", "-": "-", "/": "/",
    "(": "(", ")": ")", "[": "[", "]": "]", ",": ",", "|": "|", "*": "*", "@": r"\,", "ᵀ": "^{T}", "…": r"\ldots ",
}  # fmt: skip
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho tau upsilon phi chi psi omega"
_SIGNS |= {char: f"\\{name} " for char, name in zip("αβγδεζηθικλμνξρτυφχψω", _GREEK.split(), strict=True)}
_SIGNS |= {
    char: f"\\{name} " for char, name in zip("ΓΔΘΛΞΦΨΩ", "Gamma Delta Theta Lambda Xi Phi Psi Omega".split())
}
_RAISED = {c: str(k) for k, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")} | {"⁻": "-"}
_TOKEN = re.compile(
    r"(w̄\d+|ẇ)|([A-Za-z_][A-Za-z_]*\d*)|(\d+(?:\.\d+)?(?:e-?\d+)?)|([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)|(\^\()|(\s+)|(.)", re.S
)


def formula(text: str) -> str:
    """A formula in characters as LaTeX. What is no formula becomes text.

    >>> print(formula("w1·w2"), formula("2·w1"), formula("w̄3·w2"), formula("1 − w3²"))
    w_{1} \\cdot w_{2} 2 \\cdot w_{1} \\bar w_{3} \\cdot w_{2} 1-w_{3}^{2}
    >>> print(formula("w2ᵀ from the left"), formula("sum(θ)"))
    w_{2}^{T}\\text{ from the left} \\text{sum}(\\theta )
    """
    out = []
    for adjoint, word, number, raised, power, _, other in _TOKEN.findall(text):
        if adjoint:
            out.append(f"\\bar w_{{{adjoint[2:]}}}" if adjoint[2:] else r"\dot w")
        elif word:
            out.append(_word(word))
        elif number:
            digits, _, exponent = number.partition("e")
            out.append(digits + (f"\\cdot 10^{{{exponent}}}" if exponent else ""))
        elif raised:
            out.append("^{" + "".join(_RAISED[c] for c in raised) + "}")
        elif power:
            out.append("^(")
        elif other:
            out.append(_SIGNS.get(other) or f"\\text{{{escape_latex(other)}}}")
    whole = "".join(out).strip().replace(" }\\text{ ", " ")  # words that follow each other are one text
    return re.sub(r" \}(?=[(,]|$)", "}", re.sub(r"^\\text\{ ", r"\\text{", whole))


def _word(word: str) -> str:
    if word in _FUNCTIONS:
        return f"\\{word} "
    name, digits = re.fullmatch(r"(.*?)(\d*)", word).groups()  # type: ignore[union-attr]
    head = (
        name
        if len(name) == 1 and name.isalpha()
        else f"\\text{{{escape_latex(name)}}}"
        if len(name) < 2
        else ""
    )
    if not head:
        head = f"\\text{{ {escape_latex(word)} }}" if not digits else f"\\text{{{escape_latex(name)}}}"
    return f"{head}_{{{digits}}}" if digits else head


def latex(model: Any) -> str:
    """The whole trace as one array in a formula."""
    heads = [r"\text{step}", r"\text{value}"]
    heads += [rf"\dot w \text{{ {escape_latex(seed.removeprefix('ẇ '))}}}" for seed in model.seeds]
    heads += [r"\text{local derivatives}"]
    heads += [r"\text{adjoint from}", r"\bar w"] if model.reverse else []
    lines = [" & ".join(heads) + r" \\ \hline"]
    for row in model.rows:
        cells = [row.value, *row.tangents, ", ".join(map(local, row.partials))]
        cells += [row.adjoint_from, row.adjoint] if model.reverse else []
        filled = [r"\phantom{0000000}"] * len(cells) if model.blank else [_cell(cell) for cell in cells]
        lines.append(" & ".join([f"{formula(row.name)} = {formula(row.formula)}", *filled]) + r" \\")
    columns = "l" + "r" * (1 + len(model.seeds)) + "l" + ("lr" if model.reverse else "")
    title = escape_latex(model.title).replace("↓", "(down)").replace("↑", "(up)")
    return "\n".join(
        [
            f"{title}",
            "",
            rf"$\displaystyle\begin{{array}}{{{columns}}}",
            *lines,
            r"\end{array}$",
        ]
    )


def local(partial: tuple[str, str, str]) -> str:
    """'∂/∂w1 = w2 = 3'."""
    to, words, number = partial
    return f"∂/∂{to} = " + (
        f"{words} = {number}" if words and number and words != number else words or number
    )


def _cell(text: str) -> str:
    """Numbers and formulas; a summary or a matrix of several lines stays text."""
    if "\n" in text or re.search(r"\b(min|max) -?\d|\b(kept|seed|reached|True|nan)\b", text):
        return f"\\text{{{escape_latex(' '.join(text.split()))}}}"
    return formula(text)
