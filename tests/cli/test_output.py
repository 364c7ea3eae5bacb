"""Tables on the terminal and in pipes."""

from __future__ import annotations

import pytest

from taxosphere.cli import output


def test_a_table_that_fits_is_cut_at_its_widest_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    output.table(("name", "why", "n"), [("owl", "x" * 200, 3), ("a" * 90, "short", 4)], fit=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[1].startswith("owl")
    assert lines[1].split()[1].rstrip("…") == "x" * (len(lines[1].split()[1]) - 1)
    assert [line.split()[-1] for line in lines] == ["n", "3", "4"]


def test_a_narrow_table_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for fit in (False, True):
        output.table(("name", "n"), [("owl", 3)], fit=fit)
        shown.append(capsys.readouterr().out)
    assert shown == ["name  n\nowl   3\n"] * 2
