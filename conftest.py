"""What holds for the doctests of the package, whichever part of them is run."""

import pytest

from autodiff_kernel.core import places


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if hasattr(item, "dtest"):  # a doctest has its module's names, but its lines are a user's
            item.dtest.globs.pop(places.MARK, None)
