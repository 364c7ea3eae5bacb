"""Write docs/method/features.md from the catalogue of features.

Usage: python scripts/draw_features.py
"""

from __future__ import annotations

from pathlib import Path

from taxosphere import atomic
from taxosphere.ranking.features.catalogue import CATALOGUE, FIRST_STAGE, IMAGES, READER, Feature

PAGE = Path(__file__).parents[1] / "docs" / "method" / "features.md"
INTRODUCTION = """\
# Features, and what reasons mean

A suggestion names the features that contributed most to it. The number is how much a feature moved the candidate's
score compared with the average of the list; before calibration, +0.7 makes it about twice as probable and −0.7 half as
much. Contributions of a feature's gap to the best of the list and of its rank there, which the ranker also reads of
*relative* features, are added to it.

Synonyms count as names: any name of a candidate may be mentioned, and any name of the query may mention it. The encoder
reads names and descriptions only.

This page is made from `ranking/features/catalogue.py` by `scripts/draw_features.py`. *Weight* is the default weight in
the first stage; "if > 0" weighs whether the feature is above zero.
"""
SECTIONS = {
    "sphere": ("The learned sphere", ""),
    "encoder": ("The encoder", "Similarities of vectors as the encoder gives them, before anything is trained."),
    "votes": (
        "Votes",
        "The ten concepts most similar to the query vote for their parents, the most similar ones most. Similarity is "
        "measured on the sphere, by text (name and description), by name, by shared words, or by spelling (runs of "
        "letters).",
    ),
    "names": (
        "Names",
        'The head of a name is its last word before a preposition: *bird* in "sea bird", *cost* in "cost of living".',
    ),
    "descriptions": (
        "Descriptions",
        "The first phrase of a definition says what the concept is: *large wading bird* in "
        '"a large wading bird that …".',
    ),
    "structure": (
        "Structure",
        "These do not depend on the query; they say what kind of concept has children at all.",
    ),
    FIRST_STAGE: ("First stage", ""),
    READER: ("Second reader", "Only where a model was fitted with `--reader`."),
    IMAGES: (
        "Images",
        "Read by the ranker for queries with images, which also reads the features of structure.",
    ),
}


def page() -> str:
    """The page as Markdown."""
    parts = [INTRODUCTION]
    for family, (title, text) in SECTIONS.items():
        rows = [feature for feature in CATALOGUE if feature.family == family]
        parts.append("\n".join([f"## {title}", "", *([text, ""] if text else []), *_table(rows)]) + "\n")
    return "\n".join(parts)


def _table(rows: list[Feature]) -> list[str]:
    head = ["| feature | a large value says of a candidate | relative | weight |", "|---|---|---|---|"]
    return head + [f"| {row.name} | {row.help} | {'yes' if row.relative else ''} | {_weight(row)} |" for row in rows]


def _weight(row: Feature) -> str:
    return f"{row.weight:g}" if row.weight else f"{row.weight_if_positive:g} if > 0" if row.weight_if_positive else ""


if __name__ == "__main__":
    atomic.write_text(PAGE, page())
