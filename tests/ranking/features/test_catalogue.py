"""The catalogue lists exactly the features that are computed, and everything that names one looks it up there."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.meadow import Fitted
from taxosphere import Concept
from taxosphere.errors import TaxosphereError
from taxosphere.ranking.features.catalogue import (
    BY_IMAGES,
    CATALOGUE,
    FAMILIES,
    GAP,
    IMAGES,
    POSITIVE,
    RANK,
    READER,
    feature_of,
)
from taxosphere.ranking.features.compute import compute_features
from taxosphere.ranking.features.shortlist import add_relative_columns, make_shortlist
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE

ROOT = Path(__file__).parents[3]
ELSEWHERE = (IMAGES, READER)  # computed by the image ranker, and where there is a second reader


def _computed(fitted: Fitted, concepts: list[Concept], families: tuple[str, ...]) -> set[str]:
    return set(make_shortlist(fitted.index, fitted.queries(concepts), families, DEFAULT_FIRST_STAGE).feature_names)


def test_every_feature_of_texts_is_computed_and_no_other(fitted: Fitted, strangers: list[Concept]) -> None:
    expected = {row.name for row in CATALOGUE if row.family not in ELSEWHERE}
    assert _computed(fitted, strangers, FAMILIES) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_switched_off_takes_along_what_needs_it(family: str, fitted: Fitted, strangers: list[Concept]) -> None:
    rest = tuple(other for other in FAMILIES if other != family)
    expected = {row.name for row in CATALOGUE if row.family not in ELSEWHERE and row.is_on(rest)}
    assert _computed(fitted, strangers, rest) == expected


def test_static_features_are_those_that_do_not_depend_on_the_query(fitted: Fitted) -> None:
    static = {row.name for row in CATALOGUE if row.static and row.family not in ELSEWHERE}
    assert static == set(fitted.index.static_features)
    assert all(row.family in (*FAMILIES, *ELSEWHERE, "first stage") for row in CATALOGUE)


def test_names_are_distinct_and_found_with_any_suffix() -> None:
    names = [row.name for row in CATALOGUE]
    assert len(set(names)) == len(names)
    for row in CATALOGUE:
        for suffix in ("", GAP, RANK, POSITIVE, BY_IMAGES):
            assert feature_of(row.name + suffix) is row


def test_an_unknown_name_is_refused_with_the_nearest_one(fitted: Fitted, strangers: list[Concept]) -> None:
    with pytest.raises(TaxosphereError, match="no feature 'dept'; the nearest is 'depth'"):
        feature_of("dept")
    with pytest.raises(TaxosphereError, match="no feature 'dept'"):
        add_relative_columns(("dept",), np.zeros((1, 2, 1), np.float32))
    with pytest.raises(TaxosphereError, match="no feature 'dept'"):
        replace(fitted.ranker, columns=(*fitted.ranker.columns[:-1], "dept, rank"))
    with pytest.raises(TaxosphereError, match="no feature family 'word'; there are sphere, encoder"):
        compute_features(fitted.index, fitted.queries(strangers), ("word",))


def test_the_ranker_misses_a_feature_that_is_switched_on(fitted: Fitted, strangers: list[Concept]) -> None:
    queries = fitted.queries(strangers)
    some = make_shortlist(fitted.index, queries, ("encoder",), fitted.ranker.first_stage)
    arguments = (some, queries.points.z, fitted.index.points.z, fitted.index.radius_gaps)
    with pytest.raises(TaxosphereError, match="the ranker needs the feature 'sphere similarity'"):
        fitted.ranker.rank_shortlist(*arguments)
    replace(fitted.ranker, families=("encoder",)).rank_shortlist(*arguments)  # the others are switched off


def test_the_page_of_features_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "draw_features.py"))
    assert (ROOT / "docs" / "method" / "features.md").read_text(encoding="utf-8") == script["page"](), (
        "run python scripts/draw_features.py"
    )
