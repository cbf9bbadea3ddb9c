"""Measuring: contestants take turns A B C A B C … in one process, so a slow second hurts all of them alike.

A *step* is what a user would wait for (one training step, one forward and backward). A *sample* times a
number of steps that together take about 10 ms, with process CPU time and wall time. A *round* is one sample
of every contestant. Ratios are taken round by round and their median is reported, so that drift cancels out.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Literal

SAMPLE_SECONDS = 0.010  # long against the clock's own 0.5 µs, short against what disturbs a machine
SLOW_SECONDS = 1.0  # a sample that takes longer than this is taken only so many times:
SLOW_REPEATS = 5

Clock = Literal["cpu", "wall"]
Results = Mapping[str, Any]


@dataclass(frozen=True)
class Sample:
    """Seconds that one sample took, divided by its number of steps."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Contestant:
    """One way to do the work.

    `sample(loops)` times that many steps; `result()` does one and returns its numbers, for comparison.
    `loops` fixes the number of steps in a sample; None lets the harness find it.
    """

    name: str
    sample: Callable[[int], Sample]
    result: Callable[[], Results] | None = None
    loops: int | None = None


@dataclass(frozen=True)
class Goal:
    """What a case is meant to reach, on one clock, by one measure.

    faster: the other's time divided by ours; cost: ours divided by the other's;
    extra: ours minus the other's, in seconds; time: ours alone, in seconds.
    """

    measure: Literal["faster", "cost", "extra", "time"]
    limit: float
    against: str | None = None
    clock: Clock = "cpu"
    aim: float | None = None

    def met(self, value: float) -> bool:
        """Whether a value reaches the limit: `faster` must not fall below it, the others not exceed it."""
        return value >= self.limit if self.measure == "faster" else value <= self.limit


@dataclass(frozen=True)
class Case:
    """One table of the report. The first contestant is the one that the others are compared with.

    `operations` is the number of operations in a step (the report then shows time per operation as well).
    `check` runs once before the timing and raises where something other than the results is wrong.
    A sample of more than `slow` seconds of CPU time means fewer rounds.
    """

    name: str
    title: str
    contestants: Callable[[], Sequence[Contestant]]
    operations: int | None = None
    goals: Sequence[Goal] = ()
    check: Callable[[], None] | None = None
    repeats: int | None = None
    slow: float = SLOW_SECONDS
    rtol: float = 1e-4
    atol: float = 1e-5


@dataclass(frozen=True)
class Stats:
    """Median and quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Stats:
        """The median and the quartiles of at least one value, interpolated between the values themselves."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)


@dataclass(frozen=True)
class Outcome:
    """What a case measured: per contestant the samples in the order of the rounds."""

    case: Case
    samples: dict[str, list[Sample]]
    loops: dict[str, int]
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return list(self.samples)

    @property
    def repeats(self) -> int:
        return len(self.samples[self.names[0]])

    def times(self, name: str, clock: Clock) -> list[float]:
        """Seconds per step, round by round."""
        return [getattr(sample, clock) for sample in self.samples[name]]

    def stats(self, name: str, clock: Clock) -> Stats:
        """Seconds per step."""
        return Stats.of(self.times(name, clock))

    def compare(self, measure: str, against: str | None, clock: Clock) -> Stats:
        """A goal's measure (see Goal), taken round by round."""
        ours = self.times(self.names[0], clock)
        if against is None:
            return Stats.of(ours)
        pairs = list(zip(ours, self.times(against, clock), strict=True))
        if measure == "faster":
            return Stats.of([theirs / mine for mine, theirs in pairs])
        if measure == "cost":
            return Stats.of([mine / theirs for mine, theirs in pairs])
        return Stats.of([mine - theirs for mine, theirs in pairs])

    def goals(self) -> list[tuple[Goal, float, bool]]:
        """The goals whose contestant took part, each with the measured median and whether it is met."""
        values = [
            (goal, self.compare(goal.measure, goal.against, goal.clock).median)
            for goal in self.case.goals
            if goal.against is None or goal.against in self.samples
        ]
        return [(goal, value, goal.met(value)) for goal, value in values]


def looped(
    name: str,
    step: Callable[[], object],
    *,
    result: Callable[[], Results] | None = None,
    reset: Callable[[], object] | None = None,
    around: Callable[[], AbstractContextManager[Any]] = nullcontext,
    loops: int | None = None,
) -> Contestant:
    """A contestant that runs `step` in this process.

    `reset` puts the parameters back before each sample, and `around` holds while it runs; neither is timed.
    """

    def sample(loops: int) -> Sample:
        with around():
            if reset is not None:
                reset()
            turns = repeat(None, loops)
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in turns:
                step()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        return Sample(cpu / loops, wall / loops)

    def checked() -> Results:
        with around():
            if reset is not None:
                reset()
            return result() if result is not None else {}

    return Contestant(name, sample, checked if result is not None else None, loops)


def calibrate(contestant: Contestant, seconds: float = SAMPLE_SECONDS) -> int:
    """The number of steps that take about `seconds`. The first steps, which warm caches up, don't count."""
    if contestant.loops is not None:
        return contestant.loops
    loops = 1
    while True:
        # CPU time and the best of three: a busy machine must not shorten the samples of a whole run.
        step = min(contestant.sample(loops).cpu for _ in range(3 if loops > 1 else 1))
        if step * loops >= seconds / 4:
            # A single step may have been a cold one; only one that is long beyond doubt is believed.
            if loops > 1 or step > 10 * seconds:
                return max(1, round(seconds / step))
        loops *= 2


def verify(case: Case, contestants: Sequence[Contestant]) -> None:
    """Raise AssertionError where a contestant's numbers differ from the first one's."""
    import numpy as np

    results = [(c.name, c.result()) for c in contestants if c.result is not None]
    for name, numbers in results[1:]:
        first, expected = results[0]
        missing = set(expected) ^ set(numbers)
        assert not missing, f"{case.name}: only one of {first} and {name} returns {sorted(missing)}"
        for key, value in expected.items():
            np.testing.assert_allclose(
                np.asarray(value),
                np.asarray(numbers[key]),
                rtol=case.rtol,
                atol=case.atol,
                err_msg=f"{case.name}: {key} of {first} and of {name} differ",
            )
    if case.check is not None:
        case.check()


def measure(case: Case, repeats: int = 40, *, only: Callable[[str], bool] = lambda name: True) -> Outcome:
    """Verify a case, calibrate its contestants, and take `repeats` rounds.

    `only` chooses contestants by name; the first always takes part. The garbage collector runs as users have
    it, with a full collection between the samples, so that nobody pays for another one's garbage.
    """
    contestants = list(case.contestants())
    contestants = [c for i, c in enumerate(contestants) if i == 0 or only(c.name)]
    verify(case, contestants)
    loops = {c.name: calibrate(c) for c in contestants}
    rounds = repeats if case.repeats is None else min(repeats, case.repeats)
    notes: list[str] = []
    samples: dict[str, list[Sample]] = {c.name: [] for c in contestants}
    taken = 0
    while taken < rounds:
        for c in contestants:
            gc.collect()
            samples[c.name].append(c.sample(loops[c.name]))
        taken += 1
        slowest = max(samples[name][-1].cpu * loops[name] for name in samples)
        if taken == 1 and slowest > case.slow and rounds > SLOW_REPEATS:
            notes.append(f"a sample takes {slowest:.1f} s, so {SLOW_REPEATS} rounds instead of {rounds}")
            rounds = SLOW_REPEATS
    return Outcome(case, samples, loops, notes)
