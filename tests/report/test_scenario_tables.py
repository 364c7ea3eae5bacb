from __future__ import annotations

from typing import Any

import pytest

from taxosphere.report import bench_page
from taxosphere.report.scenario_tables import TABLES, scenario_tables


def _record(method: str, seed: int, precision: float | None, foreign: float) -> dict[str, Any]:
    scenarios: dict[str, dict[str, float]] = {name: {} for name in ("leaf", "inner", "branch", "missing", "known")}
    return {
        "dataset": "animals",
        "method": method,
        "seed": seed,
        "figures": {
            "mixture": {
                "gaps": {"0.00": 0.03, "0.50": 0.05 - 0.08 * seed},
                "at_0.8": {"precision": precision, "coverage": 0.2},
                "at_0.9": {},
            },
            "scenarios": scenarios | {"foreign": {"none_auroc": foreign, "attached@0.8": 1.5}},
        },
    }


@pytest.fixture
def records() -> list[dict[str, Any]]:
    return [_record("polaris", 0, 0.8, 0.9), _record("polaris", 1, None, 0.96), _record("before", 0, 0.7, 0.6)]


def test_rows_are_means_over_the_runs_that_have_a_figure(records: list[dict[str, Any]]) -> None:
    tables = {table.title: table for table in scenario_tables(records)}
    assert list(tables) == list(TABLES)
    mixed = [[cell.text for cell in row] for row in tables["All scenarios mixed, as they arrive"].rows]
    assert mixed[0] == [
        "animals",
        "polaris",
        "0.040",
        "–",
        "0.800 (1 of 2)",
        "0.200",
        "–",
        "–",
        "2",
    ]  # 0.03 + |0.05 − 0.03| / 2
    assert mixed[1][:5] == ["animals", "before", "0.080", "–", "0.700"]
    none = [[cell.text for cell in row] for row in tables['"None of these"'].rows]
    assert none[0] == ["animals", "polaris", "–", "0.930 ± 0.030", "1.5", "–", "2"]


def test_the_page_draws_charts_and_tables(records: list[dict[str, Any]]) -> None:
    page = bench_page.bench_page(records, {"commands": ["taxosphere bench --split scenarios"]})
    assert page.count("<svg") == 4
    assert page.count("<table") >= len(TABLES)
    assert "animals, before" in page
