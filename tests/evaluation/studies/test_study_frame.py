from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from taxosphere.errors import InputError
from taxosphere.evaluation import bench, studies
from taxosphere.evaluation.datasets import Dataset
from taxosphere.evaluation.studies import base
from taxosphere.evaluation.studies.base import Findings, Study, Variant
from taxosphere.report import study_page as report


def line(label: str, seed: int, ranks: list[float], dataset: str = "d", **metrics: float) -> dict[str, Any]:
    mrr = 100 * sum(1 / rank for rank in ranks) / len(ranks)
    return {
        "dataset": dataset,
        "method": label,
        "seed": seed,
        "split": "published",
        "ranks": ranks,
        "metrics": {"mrr": mrr, "hit@1": 50.0} | metrics,
        "seconds": {"fit": 2.0, "per_query": 0.001},
        "history": {},
    }


def study(*labels: str, **changes: Any) -> Study:
    plain = Study(
        "s", "Title", "a beats b", ("d",), tuple(Variant(label) for label in labels), base.winner(labels[0]), ("mrr",)
    )
    return replace(plain, **changes)


MADE = {"commands": ["taxosphere study s"], "encoder": "e", "machine": "m", "date": "d", "versions": "v"}
GOOD, BAD = [1.0] * 40, [4.0] * 40


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (GOOD, BAD, "The paper's claim that a beats b holds here on d (MRR +75.0,"),
        (BAD, GOOD, "The paper's claim that a beats b does not hold here on d (MRR -75.0,"),
        ([1.0, 2.0] * 20, [2.0, 1.0] * 20, "cannot be told from chance here on d (MRR +0.0,"),
    ],
)
def test_the_verdict_follows_the_evidence(a: list[float], b: list[float], said: str) -> None:
    findings = Findings(study("a", "b"), [line("a", 0, a), line("b", 0, b)])
    assert said in findings.study.verdict(findings)


def test_the_winner_must_beat_the_strongest_of_the_others() -> None:
    findings = Findings(study("a", "b", "c"), [line("a", 0, [2.0] * 9), line("b", 0, BAD[:9]), line("c", 0, GOOD[:9])])
    assert "does not hold here on d (MRR -50.0" in findings.study.verdict(findings)
    assert "against 'c'" in findings.study.verdict(findings)


def test_variants_the_claim_is_not_about_are_ignored() -> None:
    shape = study("a", "b", "c", verdict=base.winner("a", ignoring=("c",)))
    findings = Findings(shape, [line("a", 0, [2.0] * 9), line("b", 0, BAD[:9]), line("c", 0, GOOD[:9])])
    assert "holds here on d (MRR +25.0" in shape.verdict(findings)


def test_runs_are_averaged_per_query_and_paired_by_seed() -> None:
    """a: 1 and 1/2 over two runs; b has the first seed only, 1/4. A run without a partner is left out: 1 - 1/4."""
    findings = Findings(study("a", "b"), [line("a", 0, [1.0]), line("a", 1, [2.0]), line("b", 0, [4.0])])
    assert findings.compare("d", "a", "b").difference == pytest.approx(0.75)
    whole = Findings(study("a", "b"), [*findings.records, line("b", 1, [4.0])])
    assert whole.compare("d", "a", "b").difference == pytest.approx(0.5)


def test_a_peak_is_sought_inside_and_outside() -> None:
    variants = tuple(Variant(str(x), x=x) for x in (1, 2, 3))
    shape = study("1", variants=variants, verdict=base.peak(2, 2))
    findings = Findings(shape, [line("1", 0, BAD), line("2", 0, GOOD), line("3", 0, [2.0] * 40)])
    assert "holds here on d (MRR +50.0" in shape.verdict(findings)
    assert "2 against 3" in shape.verdict(findings)


def test_an_unfinished_study_says_so() -> None:
    empty = Findings(study("a", "b"), [])
    assert empty.study.verdict(empty) == "There are not enough runs for a verdict yet."
    assert report.study_tables(empty) == []


def test_cells_carry_what_a_variant_changes(tmp_path: Path) -> None:
    variant = Variant("names", (("loss.svgd", "0"),), removed=0.2, descriptions=False)
    cells = study("x", variants=(variant,), probe="m:f").cells([Dataset("d", tmp_path)], 2, 7, bench.Setup())
    assert [cell.key for cell in cells] == [("d", "names", 7), ("d", "names", 8)]
    assert dict(cells[0].settings) == dict(base.BASE) | {"loss.svgd": "0"}
    assert (cells[0].removed, cells[0].setup.descriptions, cells[0].probe) == (0.2, False, "m:f")


def test_tables_and_figures_stand_beside_the_papers_numbers() -> None:
    shape = study("a", "b", printed={("d", "a"): {"mrr": 38.61}})
    findings = Findings(shape, [line("a", 0, [1.0]), line("a", 1, [2.0]), line("b", 0, [4.0])])
    (table,) = report.study_tables(findings)
    assert table.header == ("variant", "MRR", "MRR (paper)", "runs")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a", "75.0 ± 35.4", "38.6", "2"],
        ["b", "25.0", "", "1"],
    ]
    page = report.study_page(findings, "So it is.", MADE)
    assert "So it is." in page
    assert "printed in the paper: 38.61" in page
    assert "| a | 75.0 ± 35.4 | 38.6 | 2 |" in report.study_markdown(findings, "So it is.", MADE)


def test_what_is_left_is_told_beside_each_value() -> None:
    shape = study("a", "b", whole=("a", "hit@1"))
    lines = [
        line("a", 0, [1.0], **{"hit@1": 40.0}),
        line("a", 1, [1.0], **{"hit@1": 60.0}),
        line("b", 0, [1.0], **{"hit@1": 30.0}),
    ]
    spread = Findings(shape, lines).mean_std("d", "b")
    assert (spread["retention"]["mean"], spread["lost"]["mean"]) == (60.0, 20.0)
    assert "retention" not in Findings(shape, lines[2:]).mean_std("d", "b")


def test_differences_too_small_to_print_have_no_sign_of_their_own() -> None:
    findings = Findings(study("a", "b"), [line("a", 0, [3.0, 2.00001] * 9), line("b", 0, [3.0, 2.0] * 9)])
    assert "MRR +0.0, 95 % interval +0.0 … +0.0" in findings.study.verdict(findings)
    assert "cannot be told from chance" in findings.study.verdict(findings)


def test_significance_has_a_table_of_its_own() -> None:
    findings = Findings(study("a", "b", tested="a"), [line("a", 0, GOOD), line("b", 0, BAD)])
    assert [table.section for table in report.study_tables(findings)] == ["Title", "Significance"]


@pytest.mark.parametrize("name", studies.MODULES)
def test_every_study_is_sound(name: str) -> None:
    found = studies.get(name)
    labels = [variant.label for variant in found.variants]
    assert found.name == name
    assert len(set(labels)) == len(labels)
    assert {label for _, label in found.printed} <= set(labels)
    assert {metric for row in found.printed.values() for metric in row} <= set(found.metrics)
    assert {dataset for dataset, _ in found.printed} <= set(found.datasets)
    if found.figure == "lines":
        assert all(variant.x is not None for variant in found.variants)
    empty = Findings(found, [])
    assert found.verdict(empty).endswith("yet.")


@pytest.mark.parametrize("name", ["edges", "gate", "dimension", "welsch", "kappa-align", "time", "vmf", "descriptions"])
def test_every_kind_of_verdict_reads_made_up_runs(name: str) -> None:
    found = studies.get(name)
    lines = [
        line(variant.label, 0, [1.0 + place] * 9, dataset, **{"hit@1": 50.0 - place})
        for dataset in found.datasets
        for place, variant in enumerate(found.variants)
    ]
    said = found.verdict(Findings(found, lines))
    assert all(dataset in said for dataset in found.datasets)
    assert said.startswith(("The paper's claim that", "Our expectation that"))


def test_an_unknown_study_lists_all() -> None:
    with pytest.raises(InputError, match="no study 'x'; choose one of: kernels"):
        studies.get("x")
