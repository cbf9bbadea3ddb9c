"""The report: a table per case for a terminal, and the same figures with every sample as JSON."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Goal, Outcome, Stats

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def table(outcome: Outcome) -> str:
    """One case in plain text: a row per contestant, then notes and goals."""
    case, first = outcome.case, outcome.names[0]
    lines = [f"{case.name}: {case.title} ({outcome.repeats} rounds)"]
    header = ["", "CPU time per step", "wall time per step", f"{first} is faster by"]
    if case.operations:
        header.insert(3, "CPU per operation")
    rows = [header]
    for name in outcome.names:
        cpu = outcome.stats(name, "cpu")
        row = [name, seconds(cpu), seconds(outcome.stats(name, "wall")), ""]
        if name != first:
            row[3] = times(outcome.compare("faster", name, "cpu"))
        if case.operations:
            row.insert(3, duration(cpu.median / case.operations))
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines += ["  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += [f"  note: {note}" for note in outcome.notes]
    lines += [f"  goal: {verdict(goal, value, met)}" for goal, value, met in outcome.goals()]
    return "\n".join(lines)


def verdict(goal: Goal, value: float, met: bool) -> str:
    """A goal in words with the figure that was measured."""
    aim = ""
    if goal.measure == "faster":
        wanted, got = f"at least {goal.limit:g} times as fast as {goal.against}", f"{value:.2f}"
        aim = f" (aim {goal.aim:g})" if goal.aim else ""
    elif goal.measure == "cost":
        wanted, got = f"at most {goal.limit:g} times the time of {goal.against}", f"{value:.3f}"
    elif goal.measure == "extra":
        wanted, got = f"at most {duration(goal.limit)} more than {goal.against}", duration(value)
    else:
        wanted, got = f"at most {duration(goal.limit)}", duration(value)
    return f"{wanted}{aim}, {goal.clock} time: {got}, {'met' if met else 'MISSED'}"


def duration(value: float) -> str:
    """Seconds in the unit that suits them, four digits."""
    size, unit = next(((s, u) for s, u in UNITS if abs(value) >= s), UNITS[-1])
    return f"{value / size:.4g} {unit}"


def seconds(stats: Stats) -> str:
    """A median with its quartiles, all in the median's unit."""
    size, unit = next(((s, u) for s, u in UNITS if abs(stats.median) >= s), UNITS[-1])
    return f"{stats.median / size:.4g} {unit} [{stats.low / size:.4g}, {stats.high / size:.4g}]"


def times(stats: Stats) -> str:
    """A ratio with its quartiles."""
    return f"{stats.median:.3g} [{stats.low:.3g}, {stats.high:.3g}]"


def as_json(outcome: Outcome) -> dict[str, Any]:
    """One case as plain data: statistics, goals, and every sample in the order it was taken."""
    first = outcome.names[0]
    return {
        "name": outcome.case.name,
        "title": outcome.case.title,
        "operations": outcome.case.operations,
        "rounds": outcome.repeats,
        "contestants": {
            name: {
                "steps_per_sample": outcome.loops[name],
                "cpu": vars(outcome.stats(name, "cpu")),
                "wall": vars(outcome.stats(name, "wall")),
                "cpu_samples": outcome.times(name, "cpu"),
                "wall_samples": outcome.times(name, "wall"),
            }
            for name in outcome.names
        },
        "faster": {
            name: {clock: vars(outcome.compare("faster", name, clock)) for clock in ("cpu", "wall")}
            for name in outcome.names
            if name != first
        },
        "goals": [{**vars(goal), "value": value, "met": met} for goal, value, met in outcome.goals()],
        "notes": outcome.notes,
    }
