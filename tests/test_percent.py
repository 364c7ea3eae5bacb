from __future__ import annotations

import pytest

from taxosphere.percent import percent


@pytest.mark.parametrize(
    ("probability", "shown"),
    [
        (0.0, "0%"),
        (0.001, "<1%"),
        (0.01, "1%"),
        (0.29, "29%"),
        (0.57, "57%"),
        (0.896, "89%"),
        (0.9, "90%"),
        (0.999, "99%"),
        (1.0, "100%"),
    ],
)
def test_a_probability_is_rounded_down(probability: float, shown: str) -> None:
    assert percent(probability) == shown


def test_with_a_decimal_too() -> None:
    assert [percent(p, 1) for p in (0.0, 0.0004, 0.29, 0.79999, 0.8)] == ["0.0%", "<0.1%", "29.0%", "79.9%", "80.0%"]


@pytest.mark.parametrize("line", range(101))
def test_what_reaches_a_line_reads_so_and_what_does_not_reads_less(line: int) -> None:
    assert percent(line / 100) == f"{line}%"
    if line > 1:
        assert percent(line / 100 - 1e-6) == f"{line - 1}%"
