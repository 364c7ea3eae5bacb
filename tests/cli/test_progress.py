from __future__ import annotations

import pytest

from taxosphere.cli import progress


def test_a_step_is_told_when_it_begins_and_now_and_then_while_it_lasts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 3.0, 12.0, 13.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.steps() as report:
        report(0, 9, "encoding")
        report(3, 9, "encoding")
        report(6, 9, "encoding")
        report(0, 2, "training")
    assert capsys.readouterr().err.splitlines() == [
        "[0/9] encoding",
        "[6/9] encoding, 0.5/s, 0:06 left",  # six in twelve seconds
        "[0/2] training",
    ]


def test_nothing_is_told_where_quiet_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.steps(quiet=True) as report:
        report(0, 9, "encoding")
    assert capsys.readouterr().err == ""


def test_a_total_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.steps() as report:
        report(0, 0, "suggesting")
    assert capsys.readouterr().err == "[0/?] suggesting\n"
