"""The committed type stubs say what the table says."""

from .make_stubs import TARGET, render


def test_stubs_are_those_of_the_table():
    assert TARGET.read_text(encoding="utf-8") == render(), (
        "run python tests/make_stubs.py and commit the result"
    )
