from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

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
    assert [case.rank == 1 for case in report.cases] == labels[:, 0].tolist()
    for case in report.cases:
        id = case.suggestions.query.id
        assert set(case.gold) == set(model.taxonomy.parents(id))
        assert id not in {suggestion.id for suggestion in case.suggestions}, "it was hidden when it was asked"
    wrong = [case for case in report.cases if case.rank != 1]
    assert any(case.reasons for case in wrong)
    page = placement_page.write(report)
    assert page.count("<svg") == 3 + len(report.orbits) > 3
    assert page.count("<details") == page.count("for and against") - 1 == len(wrong), "the note says it once more"


def test_evidence_on_an_error_of_a_model_is_that_of_a_taxonomy_without_the_concept(
    hidden: tuple[Polaris, PlacementReport],
) -> None:
    model = hidden[0]
    report = of_model(model, title="t", lead="l", command="c")
    taxonomy, counted = model.taxonomy, 0
    for case in report.cases:
        id, name = case.suggestions.query.id, case.suggestions.query.name
        assert len(case.reasons) <= len(case.suggestions)
        for suggestion, reasons in zip(case.suggestions, case.reasons):
            below = [child for child in taxonomy.children(suggestion.id) if child != id]
            for reason in reasons:
                assert f"'{name}'" not in reason.text
                counted += "total" in reason.values and reason.code.startswith("name_")
                if reason.code.startswith("name_") and "total" in reason.values:
                    assert reason.values["total"] == len(below), "other concepts that are shown are there"
                if reason.code == "nothing_below":
                    assert not below
    assert counted
    drawn = dict(report.orbits)
    for case in report.cases:
        for satellite in drawn.get(case.suggestions.query.name, ()):
            listed = {s.name: s.probability for s in case.suggestions}
            assert listed[satellite.label] == satellite.probability, "probabilities stay those given out of fold"
            assert 0 <= satellite.angle <= np.pi


def test_what_a_model_was_asked_follows_it_into_its_folder_and_into_another_taxonomy(
    hidden: tuple[Polaris, PlacementReport], tmp_path: Path
) -> None:
    model = hidden[0]
    before = of_model(model, title="t", lead="l", command="c").cases
    model.save(tmp_path / "model")
    loaded = Polaris.load(tmp_path / "model", encoder=GramEncoder())
    seed = loaded.taxonomy
    lost = before[0].suggestions.query.id
    moved = loaded.adopt(seed.keep(np.array([i for i in range(len(seed))[::-1] if seed.ids[i] != lost])))
    after = of_model(moved, title="t", lead="l", command="c").cases
    shown = {case.suggestions.query.id: [s.id for s in case.suggestions if s.id != lost] for case in before}
    assert {case.suggestions.query.id: [s.id for s in case.suggestions] for case in after} == {
        id: ids for id, ids in shown.items() if id != lost
    }


def test_of_many_errors_the_surest_are_shown_and_the_page_says_so(hidden: tuple[Polaris, PlacementReport]) -> None:
    wrong = replace(hidden[1].cases[0], gold=("elsewhere",), gold_names=("Elsewhere",))
    many = replace(hidden[1], cases=(wrong,) * 250)
    page = placement_page.write(many)
    assert page.count("<details") == 200
    assert "The 200 that were given the highest probability are shown" in page
    assert "200 of 250 hidden concepts" in page


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
