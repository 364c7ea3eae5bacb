"""Why a parent is suggested, or why not, in sentences that name the evidence.

What is said is looked up, not guessed from numbers: which of the nearest concepts are below the parent, which words the
names share, what the definition begins with, whether the query resembles the parent's children as they resemble each
other. What the ranker's features contributed orders the sentences, the strongest kind of evidence first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.placing.inference import Fitted
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.ranking.features.catalogue import feature_of
from taxosphere.ranking.lexical.parse import STOP_WORDS, Name, definition_of, first_phrase_of, parse_name, stems
from taxosphere.taxonomy import Concept
from taxosphere.typing import Floats, Longs

NEIGHBOURS = 10
MOST_FOR, MOST_AGAINST = 3, 2  # sentences of one suggestion
_NAMED = 3  # examples in a sentence
_FEW = 4  # children below which they are no measure of how alike children are
_ALIKE, _UNLIKE = 25, 5  # percentiles of the children's similarity to each other
_RARE = 0.05  # share of the names below a parent up to which a word that they share says nothing
_PART, _INFLECTED = 4, 2  # letters of a part of a compound word at least, and at its end that may differ
_MANY = 10  # children from which on their number is worth a sentence, and tells what is unlike them
SENTENCES = {
    "neighbours": "{count} of the {total} concepts most like it are directly below '{parent}': {examples}",
    "neighbour": "{count} of the {total} concepts most like it is directly below '{parent}': {examples}",
    "neighbour_itself": "'{parent}' itself is among the {total} concepts most like it",
    "no_neighbour": "none of the {total} concepts most like it is directly below '{parent}'",
    "name_contains": "its name contains '{parent}'",
    "name_contains_synonym": "its name contains '{synonym}', a synonym of '{parent}'",
    "name_contains_part": "its name contains '{part}', like '{parent}'",
    "name_ends_as_only": "its name ends with '{word}', as the only name below '{parent}' does",
    "name_ends_as_all": "its name ends with '{word}', as all {total:,} names below '{parent}' do",
    "name_ends_as_one": "its name ends with '{word}', as {count:,} of {total:,} names below '{parent}' does",
    "name_ends_as_some": "its name ends with '{word}', as {count:,} of {total:,} names below '{parent}' do",
    "name_begins_as_only": "its name begins with '{word}', as the only name below '{parent}' does",
    "name_begins_as_all": "its name begins with '{word}', as all {total:,} names below '{parent}' do",
    "name_begins_as_one": "its name begins with '{word}', as {count:,} of {total:,} names below '{parent}' does",
    "name_begins_as_some": "its name begins with '{word}', as {count:,} of {total:,} names below '{parent}' do",
    "no_word": "its name shares no word with '{parent}'",
    "no_word_below": "its name shares no word with '{parent}' or the names below it",
    "definition_begins": "its definition begins with '{phrase} …'",
    "definition_mentions": "its definition mentions '{parent}'",
    "children_alike": "it is as close in meaning to what is below '{parent}' as those are to each other: {examples}",
    "children_unlike": "it is less like what is below '{parent}' than nearly all of those are like each other",
    "nothing_below": "nothing is below '{parent}' yet",
    "many_below": "many concepts ({total:,}) are directly below '{parent}'",
    "images_alike": "its images look like those of '{parent}' and what is below it",
    "images_unlike": "its images differ from those of '{parent}' and what is below it",
}
"""Every sentence by its code; the page has the same ones in other languages."""
_FAMILIES = {  # of features, by the kind of evidence that stands behind them
    "neighbours": ("votes",),
    "name": ("names",),
    "definition": ("descriptions",),
    "children": ("encoder", "sphere"),
    "place": ("structure",),
    "image": ("images",),
}


Values = dict[str, str | int | list[str]]


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence for or against a suggested parent.

    Attributes
    ----------
    text : str
        The sentence, without a full stop.
    supports : bool
        Whether it speaks for the parent.
    weight : float
        How much this kind of evidence contributed to that side, in the ranker's units; never negative.
    code : str
        Which of `SENTENCES` it is.
    values : dict
        What stands in it beside the name of the parent: texts, numbers, and lists of examples, the last of which is
        "…" where there are more.
    """

    text: str
    supports: bool
    weight: float
    code: str
    values: Values


def explain(fitted: Fitted, suggestions: Suggestions, *, most: int = 5, without: int = -1) -> list[tuple[Reason, ...]]:
    """Reasons of the first ``most`` suggestions, those for the parent before those against it, strongest first.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    suggestions : Suggestions
        What it suggested for one query; ``fitted`` is not changed.
    most : int
        How many of the suggestions to explain.
    without : int
        Position of a concept that is looked past everywhere: the query itself where the taxonomy holds it; -1 for none.

    Returns
    -------
    list of tuples of Reason
        One for each suggestion, at most `MOST_FOR` and `MOST_AGAINST` sentences; none for a parent that is new itself.
    """
    taxonomy = fitted.index.taxonomy
    evidence = _Evidence(fitted, suggestions.query, without)
    return [_reasons(s, evidence) if s.id in taxonomy else () for s in suggestions[:most]]


def supporting(fitted: Fitted, suggestions: Suggestions) -> str:
    """What speaks for the best parent, in one line; nothing where that is a new concept itself.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    suggestions : Suggestions
        What it suggested for one query.
    """
    best = explain(fitted, suggestions, most=1)
    return "; ".join(reason.text for reason in best[0] if reason.supports) if best else ""


def _reasons(suggestion: Suggestion, evidence: _Evidence) -> tuple[Reason, ...]:
    weights: dict[str, float] = {}
    for column, contribution in suggestion.reasons.items():
        family = feature_of(column).family
        weights[family] = weights.get(family, 0.0) + contribution
    reasons = []
    for kind, families in _FAMILIES.items():
        weight = sum(weights.get(family, 0.0) for family in families)
        sentence = evidence.sentence(kind, suggestion, weight)
        if sentence is not None:
            code, values, supports = sentence
            amount = round(max(0.0, weight if supports else -weight), 4)
            reasons.append(Reason(_text(code, values, suggestion.name), supports, amount, code, values))
    sides = ((True, MOST_FOR), (False, MOST_AGAINST))
    ordered = sorted(reasons, key=lambda reason: -reason.weight)
    return tuple(r for side, most in sides for r in [r for r in ordered if r.supports == side][:most])


def _text(code: str, values: Values, parent: str) -> str:
    """A sentence, with examples in quotes, so that commas in them do not confuse."""
    written = {name: _listed(value) if isinstance(value, list) else value for name, value in values.items()}
    return SENTENCES[code].format(parent=parent, **written)


_Sentence = tuple[str, Values, bool] | None  # code, values, whether it speaks for the parent; None for nothing to say


class _Evidence:
    """What can be said of one query and a parent suggested for it."""

    def __init__(self, fitted: Fitted, query: Concept, without: int) -> None:
        self.taxonomy, self.query, self.without = fitted.index.taxonomy, query, without
        self.vectors = fitted.untuned_vectors.full
        self.vector = fitted.untuned_encoder.encode([query.text])[0] if query.name else None
        self.nearest = _nearest(self.vectors, self.vector, without)
        self.name = parse_name(query.name.lower())

    def sentence(self, kind: str, suggestion: Suggestion, weight: float) -> _Sentence:
        """A sentence for a kind of evidence, or nothing where there is none to show."""
        position = self.taxonomy.position(suggestion.id)
        if kind == "image":
            return ("images_alike" if weight > 0 else "images_unlike", {}, weight > 0) if weight else None
        if self.vector is None:
            return None
        below = self.taxonomy.child_csr.row(position)
        children = below[below != self.without]
        if kind == "neighbours":
            return self._neighbours(position, children)
        if kind == "name":
            return self._name(position, children)
        if kind == "definition":
            return self._definition(position)
        return self._children(children) if kind == "children" else self._place(children, weight)

    def _neighbours(self, position: int, children: NDArray[np.integer]) -> _Sentence:
        """How many of the most similar concepts are children of the parent."""
        below = [int(i) for i in self.nearest if i in children]
        total: Values = {"total": len(self.nearest)}
        if below:
            values: Values = {**total, "count": len(below), "examples": self._examples(below)}
            return "neighbour" if len(below) == 1 else "neighbours", values, True
        return ("neighbour_itself", total, True) if position in self.nearest else ("no_neighbour", total, False)

    def _name(self, position: int, children: NDArray[np.integer]) -> _Sentence:
        """Which words the query's name shares with the parent's, or with names below it."""
        name, words = self.taxonomy.names[position], self.name.words
        for called in (name, *self.taxonomy.synonyms[position]):
            if _within(parse_name(called.lower()).words, words):
                return (
                    ("name_contains", {}, True)
                    if called == name
                    else ("name_contains_synonym", {"synonym": called}, True)
                )
        part = _part_of_compound(self.query.name, name)
        if part:
            return "name_contains_part", {"part": part}, True
        if not words:
            return None
        below = [parse_name(self.taxonomy.names[i].lower()) for i in children.tolist()]
        ends = sum(bool(other.words) and _head(other) == _head(self.name) for other in below)
        begins = sum(len(other.words) > 1 and other.words[0] == words[0] for other in below) if len(words) > 1 else 0
        if max(ends, begins) > _RARE * len(below):
            place, word, count = ("ends", _head(self.name), ends) if ends >= begins else ("begins", words[0], begins)
            values: Values = {"word": self._written(word), "count": count, "total": len(below)}
            return f"name_{place}_as_{_share(count, len(below))}", values, True
        others = {*parse_name(name.lower()).words, *(word for other in below for word in other.words)}
        if others & {*words} - STOP_WORDS or any(_part_of_compound(self.query.name, other) for other in others):
            return None
        return "no_word_below" if below else "no_word", {}, False

    def _definition(self, position: int) -> _Sentence:
        """Whether the query's definition begins with the parent's name, or mentions it."""
        if not self.query.description:
            return None
        words = parse_name(self.taxonomy.names[position].lower()).words
        definition = definition_of(self.query.name.lower(), self.query.description.lower())
        if words and first_phrase_of(definition)[-len(words) :] == words:
            return "definition_begins", {"phrase": " ".join(self.query.description.split()[:7])}, True
        return ("definition_mentions", {}, True) if _within(words, stems(definition)) else None

    def _children(self, children: NDArray[np.integer]) -> _Sentence:
        """Whether the query resembles the parent's children as they resemble each other."""
        if len(children) < _FEW or self.vector is None:
            return None
        vectors = self.vectors[children]
        total = vectors.sum(0)
        among = (vectors @ total - 1) / (len(children) - 1)  # of each child to the others
        similarity = float(self.vector @ total) / len(children)
        closest = [int(i) for i in children[np.argsort(-(vectors @ self.vector), kind="stable")]]
        if similarity >= np.percentile(among, _ALIKE):
            return "children_alike", {"examples": self._examples(closest)}, True
        if len(children) >= _MANY and similarity < np.percentile(among, _UNLIKE):
            return "children_unlike", {}, False
        return None

    def _place(self, children: NDArray[np.integer], weight: float) -> _Sentence:
        """What kind of place the parent is."""
        if not len(children):
            return "nothing_below", {}, False
        return ("many_below", {"total": len(children)}, True) if len(children) >= _MANY and weight > 0 else None

    def _examples(self, positions: Sequence[int]) -> list[str]:
        """The first names, and "…" where there are more."""
        return [*(self.taxonomy.names[i] for i in positions[:_NAMED]), *(["…"] if len(positions) > _NAMED else [])]

    def _written(self, stem: str) -> str:
        """A word of the query's name as it is written there, from its stem."""
        return next((word for word in self.query.name.split() if stems(word.lower())[:1] == (stem,)), stem)


def _nearest(vectors: Floats, vector: Floats | None, without: int) -> Longs:
    """Positions of the concepts whose texts are most like the query's, the nearest first; ``without`` is left out."""
    if vector is None:
        return np.zeros(0, np.int64)
    similarity = vectors @ vector
    nearest = np.argsort(-similarity, kind="stable")[: NEIGHBOURS + 1]
    return np.asarray(nearest[nearest != without][:NEIGHBOURS], np.int64)


def _head(name: Name) -> str:
    return name.words[name.head - 1]


def _part_of_compound(compound: str, name: str) -> str:
    """What the last word of ``compound`` has of the last word of ``name`` at its end, as it is written; "" for nothing.

    Compounds are written as one word in German, Dutch and the Nordic languages: 'Badteppich' is a kind of 'Teppiche'.
    Up to two letters at the end of each may differ, for the plural and other inflections.
    """
    longer, shorter = compound.split()[-1:], name.lower().split()[-1:]
    if not longer or not shorter:
        return ""
    for cut in range(_INFLECTED + 1):
        stem = shorter[0][: len(shorter[0]) - cut]
        start = longer[0].lower().rfind(stem) if len(stem) >= _PART else -1
        if start > 0 and len(longer[0]) - start - len(stem) <= _INFLECTED:
            return longer[0][start : start + len(stem)]
    return ""


def _within(phrase: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words contain the phrase; an empty phrase is nowhere."""
    return bool(phrase) and any(words[i : i + len(phrase)] == phrase for i in range(len(words)))


def _share(count: int, total: int) -> str:
    """How many of all names below a parent do something: "only", "all", "one" or "some" of them."""
    if count == total:
        return "only" if total == 1 else "all"
    return "one" if count == 1 else "some"


def _listed(examples: Sequence[str]) -> str:
    """Examples in quotes, so that commas in them do not confuse."""
    quoted = ", ".join(f"'{name}'" for name in examples if name != "…")
    return f"{quoted} …" if "…" in examples else quoted
