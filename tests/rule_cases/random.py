"""Cases of the row behind random draws: its last input are the numbers, the others are forgotten."""

from rule_cases import Case, Draw, real


def draw_same_shape(d: Draw):
    shape = d.shape()
    return [d.array(shape, real) for _ in range(3)], "NormalBackward3"


CASES = [Case("redraw", draw_same_shape, lambda *xs_and_p: xs_and_p[-2])]
