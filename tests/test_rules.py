"""Every row of the table: value, reverse mode, forward mode, second order, dtypes, honesty, and a simulated GPU.

The cases are in `rule_cases/` (see the head of its `__init__.py` for their format); a differentiable row without a
case fails here by name.  Each case is tried in every style of shape and layout (`rule_cases.STYLES`), and then on
examples that hypothesis draws for it: shapes (0-d, empty, up to 4 dimensions), broadcasting, parameters, and layouts
of inputs, cotangents and directions.  The checks are in `rule_checks.py`.  A failure names the example,
`Draw(style, seed)` or `Scripted([...])`, which the checks take as it stands.

The examples are the same in every run.  A deep search draws others, as many for each case as it is told:

    AUTODIFF_RULE_EXAMPLES=1000 pytest tests/test_rules.py -k hypothesis
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from rule_cases import STYLES, Case, Draw, all_cases
from rule_cases.scripted import scripts
from rule_checks import (
    first_order,
    on_gpu,
    ownership,
    second_order,
    single_precision,
    undeclared,
    value,
)
from rule_trial import Trial, numpy

from autodiff_kernel.core import device, dual
from autodiff_kernel.core.op import TABLE

CASES = all_cases()
EXEMPT = {
    "linalg_eig": "the phase of its vectors is free; tested with what does not depend on it",
    "cholesky_solve": "its rule takes the factor as a full matrix, as PyTorch's; tested in test_linalg.py",
    "floor_divide": "its rule is PyTorch's refusal",
    "heaviside": "its rule is PyTorch's refusal",
    "binomial": "its rule is PyTorch's refusal",
    "standard_gamma": "the samples are an input; tested with what keeps them at their quantiles",
    "sample_dirichlet": "the same",
    "standard_gamma_grad": "its rule is PyTorch's refusal",
    "dirichlet_grad": "its rule is PyTorch's refusal",
    "pick": "takes one output of a node with several; every row with several outputs goes through it",
    "stale_view": "its rule is an error message",
    "copy_slices": "its parameters are views of a live tensor; tested with in-place operations",
}
# Inputs whose derivative is zero wherever it exists, or refused as in PyTorch; of the others some example must have
# another gradient.
FLAT = {
    "div_floor": {0, 1}, "div_trunc": {0, 1}, "copysign": {1}, "nextafter": {1}, "sign": {0}, "floor": {0}, "ceil": {0},
    "trunc": {0}, "round": {0}, "round_decimals": {0}, "zero": {0}, "copy": {0}, "fill": {0}, "fill_number": {0},
    "igamma": {0}, "igammac": {0}, "special_zeta": {0},
}  # fmt: skip
DEEP = int(os.environ.get("AUTODIFF_RULE_EXAMPLES", 0))


def everywhere(check: Callable[..., None], case: Case, *more: Any) -> None:
    """Run a check on an example of every style."""
    for style in STYLES:
        d = Draw(style, 0)
        try:
            check(case, d, *more)
        except Exception as error:
            error.add_note(f"The example was {d}.")
            raise


each_case = pytest.mark.parametrize("case", CASES, ids=str)


def searched(examples: int) -> Any:
    """How hypothesis looks for examples: the same ones in every run, unless a deep search is asked for."""
    return settings(
        max_examples=DEEP or examples,
        derandomize=not DEEP,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


def test_every_differentiable_row_has_a_case() -> None:
    have = {case.row for case in CASES} | EXEMPT.keys()
    assert sorted(name for name, op in TABLE.items() if op.differentiable and name not in have) == []


def test_every_case_names_a_row() -> None:
    assert sorted({case.row for case in CASES} - TABLE.keys()) == []


def test_every_rule_gives_something() -> None:
    """No case is vacuous: it has a gradient to check, and each rule one that is not zero, unless it is flat."""
    silent: dict[str, set[int]] = {}
    for name, op in TABLE.items():
        cases = [c for c in CASES if c.row == name]
        if not op.differentiable or not cases:
            continue
        trials = [Trial(case, Draw(style, 0)) for case in cases for style in STYLES]
        assert {t.case for t in trials if t.useful()} == set(cases), name
        gradients = [item for t in trials if t.useful() for item in t.gradients()[2].items()]
        rules = {0} if op.each else {i for i, rule in enumerate((op.a, op.b, op.c)) if rule}
        heard = {i for i, g in gradients if g is not None and np.any(np.abs(numpy(g)) > 1e-9)}
        if rules - heard and not op.each or op.each and not heard:
            silent[name] = rules - heard
    assert silent == FLAT


@each_case
def test_value(case: Case) -> None:
    everywhere(value, case)


@each_case
def test_vjp_and_jvp(case: Case) -> None:
    everywhere(first_order, case)


@pytest.mark.parametrize("case", [c for c in CASES if c.second], ids=str)
def test_second_order(case: Case) -> None:
    everywhere(second_order, case)


@pytest.mark.parametrize("case", [c for c in CASES if c.float32], ids=str)
def test_float32_stays_float32(case: Case) -> None:
    everywhere(single_precision, case)


@each_case
def test_gradients_belong_to_the_user(case: Case) -> None:
    everywhere(ownership, case)


@each_case
def test_what_is_not_declared_may_change(case: Case) -> None:
    everywhere(undeclared, case)


@each_case
@given(data=st.data())
@searched(20)
def test_hypothesis(case: Case, data: Any) -> None:
    d = data.draw(scripts(case, Trial))
    note(repr(Trial(case, d)))
    value(case, d)
    first_order(case, d)
    ownership(case, d)
    undeclared(case, d)
    if case.second:
        second_order(case, d)
    if case.float32:
        single_precision(case, d)


# ------------------------------------------------------------------------------------------------ honesty
class Probe:
    """Saved values that note who reads them. Shapes may be read freely."""

    def __init__(self, n: Any, read: set[str]) -> None:
        self._n, self._read = n, read

    def __getattr__(self, name: str) -> Any:
        if name in ("a", "b", "c", "y", "x", "p"):
            self._read.add(name)
        return getattr(self._n, name)


def holds_arrays(p: Any) -> bool:
    if isinstance(p, (tuple, list)):
        return any(holds_arrays(x) for x in p)
    return (
        isinstance(p, dict) and holds_arrays(list(p.values())) or hasattr(p, "dtype") and hasattr(p, "shape")
    )


@pytest.mark.parametrize("row", sorted({case.row for case in CASES}))
def test_rules_read_what_is_declared_and_touch_nothing(row: str) -> None:
    observed: dict[int, set[str]] = {}
    for case in (c for c in CASES if c.row == row):
        for style in STYLES:
            for seed in range(3):
                observe(Trial(case, Draw(style, seed)), observed)
    op = TABLE[row]
    for i, read in sorted(observed.items()):
        declared = set(op.reads[0 if op.each is not None else i])
        assert read == declared, (
            f"rule {'each' if op.each else 'abc'[i]} reads {read or {}} and declares {declared or {}}"
        )


def observe(t: Trial, observed: dict[int, set[str]]) -> None:
    """Apply each rule once to raw values, note what it reads, and look whether it left everything as it was."""
    op = t.op
    if not t.useful():
        return
    raws = [x[()] if isinstance(x, np.ndarray) and not x.ndim and not op.view else x for x in t.xs]
    y = op.run(raws, t.p)
    n = dual.values(op, raws, tuple(y) if op.outputs else y, t.p)
    for i in t.moving:
        gs = [w if w is None or w.ndim else w[()] for w in t.ws]
        g: Any = gs if op.outputs else gs[0]
        saved = [v for v in (*raws, *(y if op.outputs else (y,)), *t.ws) if isinstance(v, np.ndarray)]
        before = [v.copy() for v in saved]
        read = observed.setdefault(0 if op.each is not None else i, set())
        probe = Probe(n, seen := set())
        x = op.each(g, probe, i) if op.each is not None else (op.a, op.b, op.c)[i](g, probe)
        if not holds_arrays(t.p):
            seen.discard("p")
        read |= seen
        for v, b in zip(saved, before, strict=True):
            np.testing.assert_array_equal(v, b, "the rule changed a value")
        if isinstance(x, np.ndarray) and x.size:
            for v in saved[: len(saved) - sum(w is not None and w.ndim > 0 for w in t.ws)]:
                assert not np.shares_memory(x, v), "the rule gave a saved value away"


# ------------------------------------------------------------------------------------------------ on a simulated GPU
@pytest.fixture(scope="module")
def gpu() -> Iterator[Any]:
    device.simulate(1)
    yield device.device("cuda:0")
    device.simulate(0)


@pytest.mark.parametrize("case", [c for c in CASES if c.gpu], ids=str)
def test_simulated_gpu(case: Case, gpu: Any) -> None:
    everywhere(on_gpu, case, gpu)


@pytest.mark.parametrize("case", [c for c in CASES if c.gpu], ids=str)
@given(data=st.data())
@searched(5)
def test_hypothesis_on_a_simulated_gpu(case: Case, gpu: Any, data: Any) -> None:
    d = data.draw(scripts(case, Trial))
    note(repr(Trial(case, d)))
    on_gpu(case, d, gpu)
