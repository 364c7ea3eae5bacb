"""The table of all features: name, family, help text, and how each is used.

Everything that names a feature looks it up here, and an unknown name raises. To add a feature, add a row, compute it in
`compute` (or `candidates`, if it does not depend on the query) and run ``scripts/draw_features.py``.

The order of the rows is the order of the relative columns that `shortlist.add_relative_columns` appends, so a new
relative feature goes to the end of its block.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from taxosphere.errors import TaxosphereError
from taxosphere.model.config import RankingConfig

FAMILIES: tuple[str, ...] = RankingConfig().families
"""Families that the setting ``ranking.families`` switches on and off; all of them are on by default."""
FIRST_STAGE, READER, IMAGES = "first stage", "reader", "images"
"""Families that are always on: the first-stage score, what a second reader says where there is one, and the features of
the image ranker."""

GAP, RANK = ", gap to the best", ", rank"
"""Suffixes of the columns that tell a relative feature's distance to the best of the list, and its rank there."""
POSITIVE = ", above zero"
"""Suffix of a first-stage column that is 1 where the feature is above zero and 0 elsewhere."""
_BY_ENCODER = re.compile(r", encoder \d+$")
BY_IMAGES = ", with images"
"""Suffix of a contribution of the image ranker, where a feature contributes to the ranking by text too."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One row of the table.

    Attributes
    ----------
    name
        Shown to users among the reasons of a suggestion.
    family
        One of `FAMILIES`, "first stage", "reader" or "images".
    help
        What a large value says of the candidate; completes the sentence "a candidate is likely because …".
    relative
        On a scale of its own, so that the ranker also reads its gap to the list's best value and its rank.
    weight
        Default weight in the first stage.
    weight_if_positive
        Default weight in the first stage of the column that is 1 where the feature is above zero.
    static
        Depends on the candidate alone, not on the query.
    needs
        Another family that has to be switched on too.
    """

    name: str
    family: str
    help: str
    relative: bool = False
    weight: float = 0.0
    weight_if_positive: float = 0.0
    static: bool = False
    needs: str | None = None

    def is_on(self, families: Sequence[str]) -> bool:
        """Whether the feature is computed when these families are switched on."""
        switched_on = self.family not in FAMILIES or self.family in families
        return switched_on and (self.needs is None or self.needs in families)


def _vote(kind: str, measure: str, help: str, *, weight: float = 0.0, relative: bool = True) -> Feature:
    needs = {"sphere": "sphere", "words": "descriptions", "spelling": "names"}.get(measure)
    return Feature(f"{kind}, by {measure}", "votes", help, relative=relative, weight=weight, needs=needs)


_SPHERE = (
    Feature("sphere similarity", "sphere", "its point on the learned sphere is near the query's", relative=True),
    Feature(
        "sphere direction similarity",
        "sphere",
        "the mean direction of its distribution on the sphere is near the query's point",
        relative=True,
        weight=1.0,
    ),
    Feature(
        "sphere likelihood",
        "sphere",
        "its distribution on the sphere makes the query's point probable; a wide one forgives distance",
        relative=True,
    ),
    Feature(
        "sphere similarity to children",
        "sphere",
        "the mean of its children's points is near the query's point",
        relative=True,
    ),
    Feature(
        "gate margin",
        "sphere",
        "it lies far inside the [gate](gate.md), which is wider the more concepts are below it",
    ),
)
_ENCODER = (
    Feature("text similarity", "encoder", "its name and description are like the query's", relative=True, weight=0.5),
    Feature("name similarity", "encoder", "its name is like the query's name", relative=True, weight=0.3),
    Feature("text to name similarity", "encoder", "its name is like the query's name and description", relative=True),
    Feature("name to text similarity", "encoder", "its name and description are like the query's name"),
    Feature(
        "text similarity to children",
        "encoder",
        "the names and descriptions of its children, averaged, are like the query's",
        relative=True,
    ),
    Feature(
        "name similarity to children",
        "encoder",
        "the names of its children, averaged, are like the query's name",
        relative=True,
    ),
)
_NAMES = (
    Feature("spelling similarity", "names", "its name is spelled like the query's", relative=True),
    Feature("contained in the query's name", "names", "the query's name contains its name"),
    Feature("at the end of the query's name", "names", "the query's name ends with its name", weight_if_positive=0.3),
    Feature("head of the query's name", "names", "its name is the head of the query's", weight_if_positive=0.4),
    Feature("same name", "names", "it has the query's name"),
)
_DESCRIPTIONS = (
    Feature("word similarity", "descriptions", "it shares words with the query, rare ones count more", relative=True),
    Feature(
        "word similarity to children",
        "descriptions",
        "its children, taken together, share words with the query",
        relative=True,
    ),
    Feature("early in the query's definition", "descriptions", "the query's definition names it, early", weight=0.3),
    Feature("words of it in the query's definition", "descriptions", "the query's definition names it, in many words"),
    Feature("in the definition's first phrase", "descriptions", "the first phrase of the query's definition names it"),
    Feature(
        "end of the definition's first phrase",
        "descriptions",
        "the first phrase of the query's definition ends with its name",
        weight_if_positive=0.4,
    ),
)
_MOST_SIMILAR, _PARENT, _GRANDPARENT = (
    "most similar child",
    "parent of similar concepts",
    "grandparent of similar concepts",
)
_VOTES = (
    _vote(_MOST_SIMILAR, "sphere", "one of its children is near the query on the sphere", weight=0.5),
    _vote(_MOST_SIMILAR, "text", "one of its children has a name and description like the query's", weight=0.5),
    _vote(_MOST_SIMILAR, "name", "one of its children has a name like the query's"),
    _vote(_MOST_SIMILAR, "words", "one of its children shares words with the query"),
    _vote(_MOST_SIMILAR, "spelling", "one of its children is spelled like the query", relative=False),
    _vote(_PARENT, "sphere", "concepts near the query on the sphere are its children", weight=1.0),
    _vote(_PARENT, "text", "concepts with a name and description like the query's are its children", weight=1.0),
    _vote(_PARENT, "name", "concepts with a name like the query's are its children", weight=0.5),
    _vote(_PARENT, "words", "concepts that share words with the query are its children", weight=0.5),
    _vote(_PARENT, "spelling", "concepts spelled like the query are its children", relative=False),
    Feature(
        "parent of the 30 most similar",
        "votes",
        "of the thirty concepts most like the query by text, name and sphere, some are its children",
        relative=True,
    ),
    _vote(_GRANDPARENT, "sphere", "concepts near the query on the sphere are its grandchildren", relative=False),
    _vote(_GRANDPARENT, "text", "concepts with a text like the query's are its grandchildren", relative=False),
    _vote(_GRANDPARENT, "name", "concepts with a name like the query's are its grandchildren", relative=False),
    _vote(_GRANDPARENT, "words", "concepts that share words with the query are its grandchildren", relative=False),
    _vote(_GRANDPARENT, "spelling", "concepts spelled like the query are its grandchildren", relative=False),
    Feature("ancestor of the 30 most similar", "votes", "some of those thirty concepts are below it, at any depth"),
)
# How often the query's words are used by a candidate's children. "Share" is the candidate's part of all uses.
_WORDS_BELOW = (
    Feature(
        "children with the same words, share",
        "descriptions",
        "of all concepts that use the query's words, many are its children",
        relative=True,
    ),
    Feature(
        "children with the same phrase words, share",
        "descriptions",
        "of all concepts whose first phrase uses words of the query's, many are its children",
        relative=True,
        weight=0.5,
    ),
    Feature(
        "children with the same phrase head, share",
        "descriptions",
        "of all concepts whose first phrase has the same last word, many are its children",
    ),
    Feature(
        "children with the same phrase head, count",
        "descriptions",
        "many of its children have a first phrase with the same last word",
    ),
    Feature(
        "children with the same phrase start, share",
        "descriptions",
        "of all concepts whose first phrase has the same first word, many are its children",
        weight=0.5,
    ),
    Feature(
        "children with the same phrase start, count",
        "descriptions",
        "many of its children have a first phrase with the same first word",
    ),
    Feature(
        "children with the same name words, share",
        "names",
        "of all concepts with words of the query's name in theirs, many are its children",
        relative=True,
    ),
    Feature(
        "children with the same name head, share",
        "names",
        "of all concepts whose name has the same head, many are its children",
        weight=0.5,
    ),
    Feature("children with the same name head, count", "names", "many of its children have a name with the same head"),
    Feature(
        "children with the same name start, share",
        "names",
        "of all concepts whose name has the same first word, many are its children",
    ),
    Feature(
        "children with the same name start, count",
        "names",
        "many of its children have a name with the same first word",
    ),
)
_STRUCTURE = (
    Feature("descendants", "structure", "many concepts are below it", weight=0.05, static=True),
    Feature("children", "structure", "it has many children", static=True),
    Feature("is leaf", "structure", "it has no children yet", static=True),
    Feature("depth", "structure", "it lies deep in the taxonomy", static=True),
    Feature("leaf children", "structure", "many of its children are leaves", static=True),
    Feature("share of leaf children", "structure", "a large share of its children are leaves", static=True),
    Feature("is root", "structure", "it has no parent", static=True),
    Feature("is isolated", "structure", "it has neither a parent nor children", static=True),
    Feature("siblings", "structure", "its parents have many children", static=True),
    Feature("concepts with its name", "structure", "several concepts have its name", static=True),
    Feature("words in name", "structure", "its name has many words", static=True),
)
_FIRST_STAGE = (
    Feature("first-stage score", FIRST_STAGE, "the weighted sum of all features that made the shortlist is high"),
)
_READER = (
    Feature(
        "reader score",
        READER,
        "a [second reader](readers.md) finds it more fitting than the others, path and children included",
        relative=True,
    ),
)
_IMAGES = (
    Feature("image similarity", IMAGES, "its images are like the query's", relative=True),
    Feature("text to image similarity", IMAGES, "its text is like the query's images", relative=True),
    Feature(
        "image similarity to descendants",
        IMAGES,
        "the images of it and all concepts below it, averaged, are like the query's",
        relative=True,
    ),
    Feature("most similar child, by image", IMAGES, "one of its children has images like the query's", relative=True),
    Feature(
        "most similar child, by text and image",
        IMAGES,
        "one of its children has a text like the query's images",
        relative=True,
    ),
    Feature(
        "parent of similar concepts, by image",
        IMAGES,
        "concepts with images like the query's are its children",
        relative=True,
    ),
    Feature(
        "parent of similar concepts, by text and image",
        IMAGES,
        "concepts with a text like the query's images are its children",
        relative=True,
    ),
    Feature(
        "grandparent of similar concepts, by image",
        IMAGES,
        "concepts with images like the query's are its grandchildren",
    ),
    Feature("votes at or below it, by image", IMAGES, "concepts with images like the query's are it or below it"),
    Feature("votes at or below its parent, by image", IMAGES, "such concepts are below its parent"),
    Feature("votes at or below its grandparent, by image", IMAGES, "such concepts are below its grandparent"),
    Feature("image similarity to its parent", IMAGES, "the images below its parent, averaged, are like the query's"),
    Feature("gate margin, by image", IMAGES, "it lies far inside the gate, measured by images"),
    Feature("text like that of similar images", IMAGES, "its text is like the texts of concepts with similar images"),
    Feature("has images", IMAGES, "it has images", static=True),
)

CATALOGUE: tuple[Feature, ...] = (
    *_SPHERE,
    *_ENCODER,
    *_NAMES,
    *_DESCRIPTIONS,
    *_VOTES,
    *_WORDS_BELOW,
    *_STRUCTURE,
    *_FIRST_STAGE,
    *_READER,
    *_IMAGES,
)
FIRST_STAGE_SCORE, READER_SCORE = _FIRST_STAGE[0].name, _READER[0].name
_BY_NAME = {row.name: row for row in CATALOGUE}


def of_encoder(feature: str, number: int) -> str:
    """The column of a feature by the vectors of one of several encoders side by side; they are counted from 1."""
    return f"{feature}, encoder {number}"


def encoder_of(column: str) -> tuple[str, int]:
    """The column without `of_encoder`, and the number of the encoder; 0 where it belongs to none alone."""
    suffix = next((end for end in (GAP, RANK) if column.endswith(end)), "")
    name = column.removesuffix(suffix)
    match = _BY_ENCODER.search(name)
    return (column, 0) if match is None else (name[: match.start()] + suffix, int(match.group().rsplit(" ", 1)[1]))


def feature_of(column: str) -> Feature:
    """The feature that a column comes from.

    Parameters
    ----------
    column
        The name of a feature, or one followed by the number of an encoder (`of_encoder`), `GAP`, `RANK`, `POSITIVE` or
        `BY_IMAGES`.

    Raises
    ------
    TaxosphereError
        There is no such feature.
    """
    row = _BY_NAME.get(column)
    if row is None:
        suffixes = (GAP, RANK, POSITIVE, BY_IMAGES)
        name = next((column.removesuffix(end) for end in suffixes if column.endswith(end)), column)
        name = _BY_ENCODER.sub("", name)
        row = _BY_NAME.get(name)
        if row is None:
            near = get_close_matches(name, _BY_NAME, 1)
            hint = f"; the nearest is '{near[0]}'" if near else ""
            raise TaxosphereError(f"there is no feature '{name}'{hint}")
    return row


def check_families(families: Sequence[str]) -> None:
    """Raise `TaxosphereError` for a family that is not one of `FAMILIES`."""
    unknown = [family for family in families if family not in FAMILIES]
    if unknown:
        raise TaxosphereError(f"there is no feature family '{unknown[0]}'; there are {', '.join(FAMILIES)}")
