"""The workloads, one file per family; each file's `cases()` gives its tables in the order of the report."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from benchmarks.harness import Case

FAMILIES = ("chain", "mlp", "dfm", "linear", "functions", "deep", "import_time", "kernel_start", "graph_view")


def all_cases() -> Iterator[Case]:
    """Every case of every family. Contestants are made only when a case is measured."""
    for family in FAMILIES:
        yield from import_module(f"benchmarks.workloads.{family}").cases()
