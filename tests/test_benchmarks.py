"""The benchmark harness measures what it says: order, calibration, statistics. No test asserts a time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
# At the end of the path, so that the installed package is the one tested.
sys.path.append(str(ROOT))

from benchmarks import deep_function_machine, environment, harness, report  # noqa: E402
from benchmarks.harness import Case, Contestant, Goal, Outcome, Sample, Stats  # noqa: E402
from benchmarks.workloads import all_cases  # noqa: E402


def scripted(name: str, log: list[str], seconds: float, **more: object) -> Contestant:
    """A contestant that notes its turn and claims to have taken `seconds` per step."""

    def sample(loops: int) -> Sample:
        log.append(name)
        return Sample(seconds, 2 * seconds)

    return Contestant(name, sample, **more)  # type: ignore[arg-type]


def case(*contestants: Contestant, **more: object) -> Case:
    return Case("made/up", "a made-up case", lambda: contestants, **more)  # type: ignore[arg-type]


def outcome(ours: list[float], theirs: list[float], **more: object) -> Outcome:
    samples = {"ours": [Sample(t, 2 * t) for t in ours], "torch": [Sample(t, 2 * t) for t in theirs]}
    return Outcome(case(**more), samples, {"ours": 3, "torch": 4})


def test_statistics_are_medians_and_quartiles() -> None:
    assert Stats.of([5.0, 1.0, 4.0, 2.0, 3.0]) == Stats(median=3.0, low=2.0, high=4.0)
    values = list(np.random.default_rng(0).exponential(size=41))
    stats = Stats.of(values)
    assert [stats.low, stats.median, stats.high] == pytest.approx(np.percentile(values, [25, 50, 75]))
    assert Stats.of([7.0]) == Stats(7.0, 7.0, 7.0)


def test_ratios_are_taken_round_by_round() -> None:
    measured = outcome([1.0, 2.0, 4.0], [5.0, 4.0, 12.0])
    assert measured.compare("faster", "torch", "cpu") == Stats.of([5.0, 2.0, 3.0])
    assert measured.compare("cost", "torch", "wall") == Stats.of([0.2, 0.5, 4 / 12])
    assert measured.compare("extra", "torch", "cpu") == Stats.of([-4.0, -2.0, -8.0])
    assert measured.compare("extra", "torch", "wall") == Stats.of([-8.0, -4.0, -16.0])
    assert measured.compare("time", None, "cpu") == Stats.of([1.0, 2.0, 4.0])


def test_goals_are_judged_on_medians_of_those_present() -> None:
    goals = [
        Goal("faster", 3.0, "torch"),
        Goal("faster", 3.1, "torch"),
        Goal("cost", 0.3, "torch"),
        Goal("time", 2.0),
        Goal("faster", 1.0, "numpy"),
    ]
    judged = outcome([1.0, 2.0, 4.0], [5.0, 4.0, 12.0], goals=goals).goals()
    assert [(value, met) for _, value, met in judged] == [
        (3.0, True),
        (3.0, False),
        (pytest.approx(1 / 3), False),
        (2.0, True),
    ]


def test_contestants_take_turns() -> None:
    log: list[str] = []
    contestants = [scripted(name, log, 1e-3, loops=1) for name in ("ours", "torch", "numpy")]
    measured = harness.measure(case(*contestants), 4)
    assert log == ["ours", "torch", "numpy"] * 4
    assert measured.names == ["ours", "torch", "numpy"]
    assert measured.repeats == 4


def test_contestants_can_be_left_out_but_the_first() -> None:
    log: list[str] = []
    contestants = [scripted(name, log, 1e-3, loops=1) for name in ("ours", "torch", "numpy")]
    harness.measure(case(*contestants), 2, only=lambda name: name == "numpy")
    assert log == ["ours", "numpy"] * 2


@pytest.mark.parametrize(
    ("step", "loops"),
    [(1e-6, 10_000), (100e-6, 100), (3e-3, 3), (40e-3, 1), (0.5, 1)],
)
def test_calibration_fills_a_sample(step: float, loops: int) -> None:
    assert harness.calibrate(scripted("ours", [], step)) == loops


def test_calibration_lets_a_cold_first_step_pass() -> None:
    turns: list[int] = []

    def sample(loops: int) -> Sample:
        turns.append(loops)
        seconds = 1e-4 if len(turns) > 1 else 0.05
        return Sample(seconds, seconds)

    assert harness.calibrate(Contestant("ours", sample)) == 100


def test_slow_samples_mean_fewer_rounds_and_a_note() -> None:
    log: list[str] = []
    measured = harness.measure(case(scripted("ours", log, 1.5, loops=1)), 40)
    assert measured.repeats == harness.SLOW_REPEATS
    assert measured.notes == ["a sample takes 1.5 s, so 5 rounds instead of 40"]


def test_a_case_limits_its_rounds() -> None:
    assert harness.measure(case(scripted("ours", [], 1e-3, loops=1), repeats=2), 40).repeats == 2


def test_contestants_must_agree() -> None:
    def answer(value: float) -> Callable[[], dict[str, object]]:
        return lambda: {"y": np.float32(value)}

    def pair(value: float) -> Case:
        return case(
            scripted("ours", [], 1e-3, loops=1, result=answer(2.0)),
            scripted("numpy", [], 1e-3, loops=1, result=answer(value)),
        )

    harness.measure(pair(2.00001), 1)
    with pytest.raises(AssertionError, match="y of ours and of numpy differ"):
        harness.measure(pair(2.1), 1)
    with pytest.raises(AssertionError, match="differ"):
        harness.measure(pair(float("nan")), 1)


def test_a_check_stops_the_case() -> None:
    def check() -> None:
        raise AssertionError("three objects are still alive")

    log: list[str] = []
    with pytest.raises(AssertionError, match="three objects"):
        harness.measure(case(scripted("ours", log, 1e-3), check=check), 1)
    assert log == []


def test_looped_runs_the_steps_between_reset_and_clock() -> None:
    log: list[str] = []
    contestant = harness.looped(
        "ours", lambda: log.append("step"), reset=lambda: log.append("reset"), result=lambda: {"n": len(log)}
    )
    sample = contestant.sample(3)
    assert log == ["reset", "step", "step", "step"]
    assert sample.cpu >= 0 and sample.wall >= 0
    assert contestant.result is not None and contestant.result() == {"n": 5}


def test_durations_take_the_unit_that_suits() -> None:
    assert report.duration(0.0123456) == "12.35 ms"
    assert report.duration(-0.5) == "-500 ms"
    assert report.duration(3.2e-7) == "320 ns"
    assert report.seconds(Stats(2e-6, 9e-7, 1.1e-5)) == "2 µs [0.9, 11]"


def test_the_table_shows_every_contestant_and_goal() -> None:
    measured = outcome([1e-3] * 3, [5e-3] * 3, goals=[Goal("faster", 4.5, "torch", aim=5.5)], operations=50)
    assert report.table(measured).splitlines() == [
        "made/up: a made-up case (3 rounds)",
        "         CPU time per step  wall time per step  CPU per operation  ours is faster by",
        "  ours   1 ms [1, 1]        2 ms [2, 2]         20 µs",
        "  torch  5 ms [5, 5]        10 ms [10, 10]      100 µs             5 [5, 5]",
        "  goal: at least 4.5 times as fast as torch (aim 5.5), cpu time: 5.00, met",
    ]


def test_json_holds_samples_and_statistics() -> None:
    data = json.loads(json.dumps(report.as_json(outcome([1.0, 2.0, 4.0], [5.0, 4.0, 12.0]))))
    assert data["contestants"]["torch"]["cpu_samples"] == [5.0, 4.0, 12.0]
    assert data["contestants"]["torch"]["steps_per_sample"] == 4
    assert data["contestants"]["ours"]["wall"] == {"median": 4.0, "low": 3.0, "high": 6.0}
    assert data["faster"]["torch"]["cpu"]["median"] == 3.0


def test_a_blas_kernel_picked_by_hand_is_pointed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert any("OPENBLAS_CORETYPE=Haswell" in line for line in environment.remarks())
    monkeypatch.delenv("OPENBLAS_CORETYPE")
    assert not any("OPENBLAS_CORETYPE" in line for line in environment.remarks())


def test_case_names_are_unique() -> None:
    names = [c.name for c in all_cases()]
    assert len(names) == len(set(names))
    assert {"chain0d", "chain2d", "mlp", "dfm", "linear1024", "deep/1000000", "import", "kernel_start"} < set(
        names
    )


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=300)


def test_the_command_measures_and_writes_json(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    chosen = "^(chain0d|chain2d|mlp|mlp/classify|linear256)$"
    done = command("--only", chosen, "--repeats", "2", "--against", "numpy", "--json", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads(path.read_text(encoding="utf-8"))
    assert [c["name"] for c in data["cases"]] == ["chain0d", "chain2d", "mlp", "mlp/classify", "linear256"]
    for c in data["cases"]:
        assert list(c["contestants"]) == ["ours", "numpy"]
        assert c["rounds"] == len(c["contestants"]["ours"]["cpu_samples"]) == 2
        assert f"{c['name']}: {c['title']}" in done.stdout
    assert data["failed"] == []


def test_the_command_says_when_nothing_matches() -> None:
    done = command("--only", "no-such-case")
    assert done.returncode == 1
    assert "--list" in done.stderr


def test_the_command_lists_its_cases() -> None:
    done = command("--list", "--only", "^deep/")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "deep/100000",
        "deep/300000",
        "deep/1000000",
    ]


def test_the_deep_function_machine_runs_in_both_dialects(tmp_path, capsys):
    assert deep_function_machine.main(["--steps", "2", "--picture", str(tmp_path / "w.txt")]) == 0
    told = capsys.readouterr().out
    assert "for 2 steps" in told and "step     2  loss 8.479694  8.479694" in told
    assert "Surface of w(u, v) over 25 × 25 points" in (tmp_path / "w.txt").read_text(encoding="utf-8")
