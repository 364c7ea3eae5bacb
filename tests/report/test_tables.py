from __future__ import annotations

from typing import Any

from taxosphere.evaluation import significance
from taxosphere.report import bench_page, tables


def line(
    dataset: str, method: str, seed: int, ranks: list[float], split: str = "published", **more: Any
) -> dict[str, Any]:
    hit = 100 * sum(rank <= 1 for rank in ranks) / len(ranks)
    metrics = {f"{kind}@{k}": hit for kind in ("hit", "recall", "precision") for k in (1, 5, 10)}
    metrics |= {"mr": sum(ranks) / len(ranks), "mrr": 100 * sum(1 / r for r in ranks) / len(ranks), "wup": 50.0}
    return {
        "dataset": dataset,
        "method": method,
        "seed": seed,
        "split": split,
        "candidates": 100,
        "queries": len(ranks),
        "several_parents": False,
        "metrics": metrics,
        "seconds": {"fit": 1.0, "per_query": 0.002},
        "ranks": ranks,
        "repairs": [],
    } | more


def records() -> list[dict[str, Any]]:
    return [
        line("semeval_env", "tfidf", 0, [4.0, 2.0]),
        line("semeval_env", "polaris", 0, [1.0, 1.0]),
        line("semeval_env", "polaris", 1, [1.0, 2.0]),
        line("semeval_env", "steam", 0, [2.0, 2.0]),
        line("semeval_env", "box", 0, [300.0, 2.0]),
    ]


def test_the_papers_layout_beside_its_numbers() -> None:
    (table,) = tables.bench_tables(records())
    assert table.section == "Single-parent taxonomies"
    assert table.header[:8] == ("method", "R@1", "R@5", "Wu&P", "MR ↓", "MRR", "H@1 [95 %]", "R@1 (paper)")
    rows = {row[0].text: row for row in table.rows}
    assert list(rows) == ["polaris", "box", "steam", "tfidf"]
    # polaris: 100 and 50 → 75 ± 35.4; mean ranks 1 and 1.5; MRR 100 and 75
    # Wilson by hand: p = 3/4, n = 2, z² = 3.8415: centre (p + z²/2n) / (1 + z²/n) = 0.58557,
    # half z √(p(1−p)/n + z²/4n²) / (1 + z²/n) = 0.38844
    texts = "|".join(cell.text for cell in rows["polaris"][1:8])
    assert texts == "75.0 ± 35.4|75.0 ± 35.4|50.0|1.2 ± 0.4|87.5 ± 17.7|75.0 [19.8, 97.3]|47.6 ± 2.4"
    assert rows["tfidf"][7].text == ""
    assert [rows[name][4].place for name in ("polaris", "steam", "tfidf", "box")] == [1, 2, 3, 0]
    assert [rows[name][3].place for name in ("polaris", "steam", "tfidf", "box")] == [1, 1, 1, 1]
    assert rows["box"][4].text == "151"
    assert table.note == "published split, 2 queries, 100 candidates"


def test_markdown_marks_the_best_three() -> None:
    text = tables.markdown(tables.bench_tables(records()))
    assert "## Single-parent taxonomies\n\n### semeval_env\n" in text
    assert "**1.2 ± 0.4** ①" in text
    assert "| 2.0 ② |" in text
    assert len({row.count("|") for row in text.splitlines() if row.startswith("|")}) == 1


def test_ones_own_taxonomy_has_no_paper_columns() -> None:
    (table,) = tables.bench_tables([line("mine", "tfidf", 0, [1.0], several_parents=True, repairs=["a → b: gone"])])
    assert table.section == "Multi-parent taxonomies"
    assert table.header == ("method", "H@1", "H@5", "R@1", "R@5", "MR ↓", "MRR", "H@1 [95 %]", "runs")
    assert table.note.endswith("cycles repaired: a → b: gone")


def test_significance_pairs_queries() -> None:
    (table,) = tables.significance_tables(records())
    assert table.title == "semeval_env: polaris minus the others"
    against = {row[0].text: row for row in table.rows}
    # polaris: reciprocal ranks 1 and mean(1, 1/2) = 0.75; tfidf: 1/4 and 1/2; gaps 0.75 and 0.25
    assert against["tfidf"][1].text == "+50.0"
    found = significance.compare([1.0, 0.75], [0.25, 0.5])
    assert against["tfidf"][4].text == f"{found.z:.2f}"
    assert "z = 10.39" in table.note


def test_random_splits_pair_equal_seeds_only() -> None:
    ours = [line("d", "a", seed, [1.0, 2.0], "leaves") for seed in (0, 1, 2)]
    theirs = [line("d", "b", seed, [float(seed), 4.0], "leaves") for seed in (1, 2, 7)]
    pair = significance.paired(ours, theirs)
    assert pair is not None
    assert pair[0].tolist() == [1.0, 0.5, 1.0, 0.5]
    assert pair[1].tolist() == [1.0, 0.25, 0.5, 0.25]
    assert significance.paired(ours[:1], theirs) is None
    assert tables.significance_tables(ours[:1] + theirs, "a") == []


def test_the_page_holds_everything_and_needs_no_network() -> None:
    page = bench_page.bench_page(records(), {"command": "taxosphere bench <x>", "date": "2026-01-01"})
    assert page.count("<svg") == 1
    assert "taxosphere bench &lt;x&gt;" in page
    assert "printed in the paper: 60.44" in page
    assert "Significance" in page
    for forbidden in ("http", "src=", "@import", "url("):
        assert forbidden not in page


def test_amounts_are_as_precise_as_they_are_useful() -> None:
    assert tables.amount("mr", 1234.56, 20.2) == "1235 ± 20"
    assert tables.amount("mr", 12.34) == "12.3"
    assert tables.amount("mrr", 50.0, 0.04) == "50.0 ± 0.0"


def test_the_headline_stands_beside_the_paper() -> None:
    text = tables.headline(records())
    assert text.splitlines()[2] == (
        "| semeval_env | 75.0 ± 35.4 | 75.0 ± 35.4 | 1.2 ± 0.4 | 87.5 ± 17.7 | "
        "75.0 [19.8, 97.3] | 47.6 | 82.7 | 6.5 | 60.4 | 2 |"
    )


def test_rows_that_are_not_honest_say_so_and_win_no_place() -> None:
    peeked = line("semeval_env", "polaris-paper (not honest)", 0, [1.0, 1.0]) | {"protocol": "paper"}
    honest = line("semeval_env", "polaris-paper", 0, [1.0, 4.0]) | {"protocol": "honest", "collapsed": True}
    (table,) = tables.bench_tables([peeked, honest])
    rows = {row[0].text: row for row in table.rows}
    assert [cell.place for cell in rows["polaris-paper"][4:6]] == [1, 1]
    assert {cell.place for cell in rows["polaris-paper (not honest)"]} == {0}
    assert rows["polaris-paper (not honest)"][-2].text == "60.4 ± 1.0"  # what the paper prints stands beside it
    assert "(not honest) are not honest: the checkpoint was picked on the test queries" in table.note
    assert table.note.endswith("records of trainings that collapsed: 1")
