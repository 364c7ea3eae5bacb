"""Numbers in the documents are those of the committed runs: every table can be drawn again from its records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taxosphere.evaluation import records, studies
from taxosphere.evaluation.studies.base import Findings
from taxosphere.report import bench_page, tables
from taxosphere.report import study_page as study_report

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"


def folders(pattern: str) -> list[Path]:
    return sorted(file.parent for file in RESULTS.glob(pattern))


@pytest.mark.slow
@pytest.mark.parametrize("folder", folders("bench*/runs.jsonl") + folders("scenarios/runs.jsonl"), ids=str)
def test_bench_tables_follow_from_their_runs(folder: Path) -> None:
    lines = sorted(records.read(folder / "runs.jsonl"), key=records.key)
    drawn = tables.markdown(bench_page.tables_of(lines))
    assert (folder / "tables.md").read_text(encoding="utf-8") == drawn
    about = records.read_about(folder)
    assert about["commands"]
    assert (folder / "report.html").read_text(encoding="utf-8") == bench_page.bench_page(lines, about)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bench", "bench-leaves"])
def test_every_row_of_the_tables_is_tested_against_ours(name: str) -> None:
    lines = records.read(RESULTS / name / "runs.jsonl")
    compared = {table.title.partition(":")[0]: table for table in tables.significance_tables(lines)}
    for table in tables.bench_tables(lines):
        rows = {row[0].text for row in table.rows} - {"polaris"}
        if rows:
            assert {row[0].text for row in compared[table.title].rows} == rows


@pytest.mark.parametrize("folder", folders("studies/*/runs.jsonl"), ids=lambda folder: folder.name)
def test_study_tables_follow_from_their_runs(folder: Path) -> None:
    study = studies.get(folder.name)
    findings = Findings(study, records.read(folder / "runs.jsonl"))
    drawn = study_report.study_markdown(findings, study.verdict(findings), records.read_about(folder))
    assert (folder / "study.md").read_text(encoding="utf-8") == drawn


def test_the_list_of_studies_follows_from_their_runs() -> None:
    assert (RESULTS / "studies" / "README.md").read_text(encoding="utf-8") == study_report.index(RESULTS / "studies")


HEADLINE = re.compile(r"<!-- headline (\S+) (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name
)
def test_headlines_quote_the_committed_runs(page: Path) -> None:
    """``<!-- headline docs/results/bench polaris -->``, the table, ``<!-- end -->``."""
    for folder, method, quoted in HEADLINE.findall(page.read_text(encoding="utf-8")):
        assert quoted.strip() == tables.headline(records.read(ROOT / folder / "runs.jsonl"), method).strip()


QUOTED = re.compile(r"<!-- table (\S+) (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)


@pytest.mark.parametrize("page", sorted(RESULTS.glob("*.md")), ids=lambda page: page.name)
def test_quoted_tables_are_those_of_the_committed_runs(page: Path) -> None:
    """``<!-- table docs/results/bench-images birds20 -->``, the table of that data set, ``<!-- end -->``."""
    for folder, dataset, quoted in QUOTED.findall(page.read_text(encoding="utf-8")):
        drawn = tables.bench_tables(records.read(ROOT / folder / "runs.jsonl"))
        table = next(table for table in drawn if table.title == dataset)
        assert quoted.strip() in tables.markdown([table])
