"""`python -m benchmarks`: run the workloads and print a table of each."""

from __future__ import annotations

import argparse
import json
import re
import sys
import traceback
from pathlib import Path
from typing import Any

from benchmarks.environment import describe, limit_threads, remarks


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed beside PyTorch and NumPy.")
    p.add_argument("--only", nargs="+", metavar="REGEX", help="run the cases whose name matches one of these")
    p.add_argument("--against", metavar="NAMES", help="compare with these of torch,numpy only")
    p.add_argument("--repeats", type=int, default=40, metavar="N", help="rounds per case (default 40)")
    p.add_argument("--json", type=Path, metavar="FILE", help="write all figures and samples to FILE")
    p.add_argument("--list", action="store_true", help="list the cases and stop")
    return p


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases. Exit code 1: a case failed, or none was chosen. A missed goal is no failure."""
    options = parser().parse_args(arguments)
    if options.repeats < 1:
        parser().error("--repeats must be at least 1")
    notes = remarks()
    limit_threads()
    from benchmarks.harness import measure
    from benchmarks.report import as_json, table
    from benchmarks.workloads import all_cases

    cases = [c for c in all_cases() if not options.only or any(re.search(r, c.name) for r in options.only)]
    if not cases:
        print("No case has a matching name; --list shows the names.", file=sys.stderr)
        return 1
    if options.list:
        print("\n".join(f"{case.name:24} {case.title}" for case in cases))
        return 0
    machine = describe()
    print(", ".join(f"{key} {value}" for key, value in machine.items() if value is not None))
    print("\n".join(f"note: {line}" for line in notes) + "\n" * bool(notes))
    left_out = set() if options.against is None else {"torch", "numpy"} - set(options.against.split(","))
    outcomes: list[dict[str, Any]] = []
    failed = []
    for case in cases:
        try:
            outcome = measure(case, options.repeats, only=lambda name: name not in left_out)
        except Exception:
            failed.append(case.name)
            print(f"{case.name}: FAILED\n{traceback.format_exc()}", flush=True)
            continue
        outcomes.append(as_json(outcome))
        print(table(outcome) + "\n", flush=True)
    if options.json:
        report = {"machine": machine, "notes": notes, "cases": outcomes, "failed": failed}
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if failed:
        print("failed: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
