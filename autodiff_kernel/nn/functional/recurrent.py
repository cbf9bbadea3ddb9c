"""Recurrent networks: one step, a whole sequence in one direction, and layers of both directions over each other."""

from typing import Any

from ...core.api import FUNCTIONS
from ...core.rules.layers import linear
from .dropping import dropout

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


# ------------------------------------------------------------------------------------------------ one step
def rnn_step(x: Any, h: Any, w: Any, b: Any, relu: bool) -> Any:
    """tanh(x + W h + b), where x has its own product already."""
    y = x + linear(h, w, b)
    return y.relu() if relu else y.tanh()


def lstm_step(x: Any, h: Any, c: Any, w: Any, b: Any, projection: Any = None) -> tuple[Any, Any]:
    """The gates (input, forget, cell, output) of x + W h + b; gives (h, c)."""
    gates = x + linear(h, w, b)
    size = gates.shape[-1] // 4
    i, f, _, o = gates.sigmoid().split(size, -1)  # one pass over all is faster than three over parts
    c = f * c + i * gates.narrow(-1, 2 * size, size).tanh()
    h = o * c.tanh()
    return (h if projection is None else linear(h, projection)), c


def gru_step(x: Any, h: Any, w: Any, b: Any) -> Any:
    """The gates (reset, update, new) of x and W h + b; the reset gate acts behind the product."""
    rx, zx, nx = x.chunk(3, -1)
    rh, zh, nh = linear(h, w, b).chunk(3, -1)
    new = (nx + (rx + rh).sigmoid() * nh).tanh()
    z = (zx + zh).sigmoid()
    return new + z * (h - new)


# ------------------------------------------------------------------------------------------------ one direction
def sequence(
    mode: str, steps: list[Any], state: tuple[Any, ...], weights: Any, reverse: bool
) -> tuple[list[Any], Any]:
    """All steps of one layer in one direction.

    steps: for each time the input of the samples that are still there, (n_t, in), most of them first. state: h, or (h, c),
    of all samples. Gives the outputs in order of time, and each sample's last state.
    """
    w_ih, w_hh, b_ih, b_hh, projection = weights
    sizes = [len(x) for x in steps]
    products = linear(FUNCTIONS["cat"](steps) if len(steps) > 1 else steps[0], w_ih, b_ih).split(sizes)
    order = range(len(steps))
    outputs: list[Any] = [None] * len(steps)
    done: list[tuple[Any, ...]] = []  # states of samples that have ended, the shortest first
    now = tuple([s[: sizes[-1]] for s in state]) if reverse else state
    for t in reversed(order) if reverse else order:
        here, before = sizes[t], len(now[0])
        if here > before:  # backward in time: longer samples begin
            now = tuple([FUNCTIONS["cat"]([s, first[before:here]]) for s, first in zip(now, state)])
        elif here < before:
            done.append(tuple([s[here:] for s in now]))
            now = tuple([s[:here] for s in now])
        if mode == "LSTM":
            now = lstm_step(products[t], now[0], now[1], w_hh, b_hh, projection)
        elif mode == "GRU":
            now = (gru_step(products[t], now[0], w_hh, b_hh),)
        else:
            now = (rnn_step(products[t], now[0], w_hh, b_hh, mode == "RNN_RELU"),)
        outputs[t] = now[0]
    if done:
        now = tuple([FUNCTIONS["cat"](list(parts)) for parts in zip(now, *reversed(done))])
    return outputs, now


# ------------------------------------------------------------------------------------------------ layers
def stack(
    mode: str, steps: list[Any], state: tuple[Any, ...], layers: list[list[Any]], drop: float, training: bool
) -> tuple[list[Any], tuple[Any, ...]]:
    """Layers over each other, each with one direction or two. layers: for each the weights of its directions.

    state: (layers · directions, n, hidden) each. Gives the last layer's outputs and all last states.
    """
    directions = len(layers[0])
    last: list[Any] = []
    for number, both in enumerate(layers):
        found = []
        for d, weights in enumerate(both):
            begin = tuple([s[number * directions + d] for s in state])
            outputs, end = sequence(mode, steps, begin, weights, d == 1)
            found.append(outputs)
            last.append(end)
        steps = found[0] if directions == 1 else [FUNCTIONS["cat"](pair, -1) for pair in zip(*found)]
        if drop and training and number < len(layers) - 1:
            sizes = [len(x) for x in steps]
            whole = FUNCTIONS["cat"](steps)
            steps = list(dropout(whole, drop, True).split(sizes))
    return steps, tuple([FUNCTIONS["stack"](list(each)) for each in zip(*last)])
