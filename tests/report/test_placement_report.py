from __future__ import annotations

import re

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from taxosphere import Polaris, PolarisConfig
from taxosphere.report import placement_page, svg
from taxosphere.report.placement_report import Answers, PlacementReport, of_hidden, of_model
from taxosphere.taxonomy.split import leaves

QUICK = PolarisConfig().with_overrides(
    ("training.epochs=3", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=4", "ranking.prior=false")
)
NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def hidden() -> tuple[Polaris, PlacementReport]:
    split = leaves(meadow(), 0.3, seed=1)
    model = Polaris(QUICK).fit(split.seed, encoder=GramEncoder())
    return model, of_hidden(model, split, title=NASTY, lead=NASTY, command=NASTY)


def test_figures_count_the_hidden_concepts(hidden: tuple[Polaris, PlacementReport]) -> None:
    model, report = hidden
    split = leaves(meadow(), 0.3, seed=1)
    assert [case.suggestions.query.id for case in report.cases] == [query.id for query in split.queries]
    first = [
        model.suggest(query)[0].id in {split.seed.ids[g] for g in gold}
        for query, gold in zip(split.queries, split.gold, strict=True)
    ]
    assert report.answers.share_within(1) == pytest.approx(np.mean(first))
    assert sum(report.levels) == len(split.seed)


def test_shares_and_lines_are_those_of_a_count_by_hand() -> None:
    answers = Answers(np.array([0.95, 0.9, 0.6, 0.3]), np.array([1, 2, 1, 0]))
    assert [answers.share_within(k) for k in (1, 3, 10)] == [0.5, 0.75, 0.75]
    assert answers.at(0.9) == (0.5, 0.5)
    assert answers.at(0.99)[0] == 0
    assert np.isnan(answers.at(0.99)[1])


def test_the_page_shows_every_hidden_concept_after_the_charts_and_escapes_it(
    hidden: tuple[Polaris, PlacementReport],
) -> None:
    page = placement_page.write(hidden[1])
    assert "<script" not in page
    assert page.index("How good are the answers?") < page.index("Every hidden concept")
    table = page[page.index("Every hidden concept") :]
    assert all(case.suggestions.query.name in table for case in hidden[1].cases)
    wrong = sum(case.rank != 1 for case in hidden[1].cases)
    assert table.count("✗") == wrong
    assert page.count("<details") == wrong
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_a_model_is_reported_on_by_its_out_of_fold_answers(hidden: tuple[Polaris, PlacementReport]) -> None:
    model = hidden[0]
    report = of_model(model, title="t", lead="l", command="c")
    labels = model.out_of_fold.labels
    assert report.answers.share_within(1) == pytest.approx(labels[:, 0].mean())
    assert report.answers.share_within(10) == pytest.approx(labels.any(1).mean())
    page = placement_page.write(report)
    assert "Every hidden concept" not in page
    assert page.count("<svg") == 3


@pytest.mark.parametrize("spread", [0.0, 0.02, 1.0])
def test_labels_of_an_orbit_never_overlap_and_keep_the_order_of_their_circles(spread: float) -> None:
    rng = np.random.default_rng(3)
    satellites = [
        svg.Satellite(
            f"candidate {i}", 0.4 + spread * rng.random(), rng.random() * spread + 0.1, 0.1, i % 2 == 0, i == 3
        )
        for i in range(10)
    ]
    drawn = svg.orbit("query", satellites)
    labels = re.findall(r'<text x="262.0" y="([\d.]+)"[^>]*>(?:✓ |✗ )?(candidate \d)</text>', drawn)
    heights = [float(y) for y, _ in labels]
    assert len(labels) == 10
    assert min(np.diff(sorted(heights))) >= 20
    circles = {name: float(y) for y, name in re.findall(r'cy="([\d.]+)"[^>]*><title>(candidate \d)', drawn)}
    by_label = [circles[name] for _, name in sorted(labels, key=lambda label: float(label[0]))]
    assert by_label == sorted(by_label)
    total = float(re.search(r'viewBox="0 0 520 (\d+)"', drawn)[1])  # type: ignore[index]
    assert max(heights) < total
    assert "✓ candidate 3" in drawn
    assert "✗ candidate 0" in drawn
