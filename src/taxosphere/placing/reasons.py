"""Why a parent is suggested, or why not, in sentences that name the evidence.

The ranker says how much each feature contributed. Here the contributions are added up by kind of evidence, and each
kind is put into one sentence with the words, names and counts that stand behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taxosphere.placing.inference import Fitted
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.ranking.features.catalogue import feature_of
from taxosphere.ranking.lexical.parse import parse_concept, stems
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Longs

NEIGHBOURS = 10
_NAMED = 3  # examples in a sentence
_LEAST = 0.05  # contribution below which what speaks against a parent is not worth a sentence
# Kinds of evidence, by the family of features they stand behind.
_KIND_OF_FAMILY = {
    "votes": "neighbours",
    "names": "name",
    "descriptions": "definition",
    "encoder": "meaning",
    "sphere": "meaning",
    "structure": "place",
    "images": "image",
}
_SHOWN_ANYWAY = ("neighbours", "name", "definition")  # where there is such evidence, whatever it contributed


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
        How much this kind of evidence contributed, in the ranker's units; never negative.
    """

    text: str
    supports: bool
    weight: float


def explain(fitted: Fitted, suggestions: Suggestions, *, most: int = 5) -> list[tuple[Reason, ...]]:
    """Reasons of the first ``most`` suggestions, those for the parent before those against it, strongest first.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    suggestions : Suggestions
        What it suggested for one query; ``fitted`` is not changed.
    most : int
        How many of the suggestions to explain.
    """
    query, taxonomy = suggestions.query, fitted.index.taxonomy
    shown = [s for s in suggestions[:most] if s.id in taxonomy]
    nearest = _nearest(fitted, query) if query.name else np.zeros(0, np.int64)
    evidence = _Evidence(taxonomy, query, nearest, [s.name for s in shown])
    return [_reasons(suggestion, evidence) for suggestion in shown]


def supporting(fitted: Fitted, suggestions: Suggestions) -> str:
    """What speaks for the best parent, in one line; nothing where that is a new concept itself.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    suggestions : Suggestions
        What it suggested for one query.
    """
    if not suggestions or suggestions[0].id not in fitted.index.taxonomy:
        return ""
    return "; ".join(reason.text for reason in explain(fitted, suggestions, most=1)[0] if reason.supports)


def _nearest(fitted: Fitted, query: Concept) -> Longs:
    """Positions of the concepts whose texts are most like the query's, the nearest first."""
    vector = fitted.untuned_encoder.encode([query.text])[0]
    similarity = fitted.untuned_vectors @ vector
    return np.asarray(np.argsort(-similarity, kind="stable")[:NEIGHBOURS], np.int64)


def _reasons(suggestion: Suggestion, evidence: _Evidence) -> tuple[Reason, ...]:
    weights = dict.fromkeys(_SHOWN_ANYWAY, 0.0)
    for column, contribution in suggestion.reasons.items():
        kind = _KIND_OF_FAMILY.get(feature_of(column).family, "")
        weights[kind] = weights.get(kind, 0.0) + contribution
    reasons = []
    for kind, weight in weights.items():
        supports = weight > 0 or (weight == 0 and kind in _SHOWN_ANYWAY)
        text = evidence.sentence(kind, suggestion, supports=supports)
        if text and (supports or abs(weight) >= _LEAST):
            reasons.append(Reason(text, supports, round(abs(weight), 4)))
    return tuple(sorted(reasons, key=lambda reason: (not reason.supports, -reason.weight)))


class _Evidence:
    """What can be said of one query and the parents suggested for it."""

    def __init__(self, taxonomy: Taxonomy, query: Concept, nearest: Longs, names: Sequence[str]) -> None:
        self.taxonomy, self.query, self.nearest = taxonomy, query, nearest
        self.parsed = parse_concept(query)
        self.names = names

    def sentence(self, kind: str, suggestion: Suggestion, *, supports: bool) -> str:
        """A sentence for a kind of evidence, or nothing where there is none to show."""
        position = self.taxonomy.position(suggestion.id)
        say = {
            "neighbours": self._neighbours,
            "name": self._name,
            "definition": self._definition,
            "meaning": self._similarity,
            "place": self._place,
            "image": self._image,
        }.get(kind)
        return say(position, suggestion.name, supports) if say is not None else ""

    def _neighbours(self, position: int, name: str, supports: bool) -> str:
        """How many of the most similar concepts are children of the parent."""
        children = self.taxonomy.child_csr.row(position)
        below = [int(i) for i in self.nearest if i in children]
        total = len(self.nearest)
        if below and supports:
            verb = "is" if len(below) == 1 else "are"
            examples = ", ".join(self.taxonomy.names[i] for i in below[:_NAMED])
            more = ", …" if len(below) > _NAMED else ""
            return f"{len(below)} of its {total} nearest neighbours {verb} below {name}: {examples}{more}"
        if not below and not supports:
            return f"none of its {total} nearest neighbours is below {name}"
        return ""

    def _name(self, position: int, name: str, supports: bool) -> str:
        """Whether the query's name contains the parent's, or ends as names below it do."""
        candidate = parse_concept(self.taxonomy.concept(position))
        words, inside = self.parsed.name, candidate.name
        contained = bool(inside) and any(words[i : i + len(inside)] == inside for i in range(len(words)))
        if contained and supports:
            return f"its name contains '{name}'"
        head = self.parsed.name_head
        children = self.taxonomy.child_csr.row(position)
        alike = sum(parse_concept(self.taxonomy.concept(int(i))).name_head == head for i in children) if head else 0
        if alike and supports:
            return f"its name ends with '{head}', as {_counted(alike, 'name')} below {name} {_do(alike)}"
        return "" if supports else f"its name shares nothing with '{name}' and the names below it"

    def _definition(self, position: int, name: str, supports: bool) -> str:
        """Whether the query's definition mentions the parent."""
        if not self.query.description:
            return ""
        inside = parse_concept(self.taxonomy.concept(position)).name
        body = stems(self.query.description.lower())
        mentioned = bool(inside) and any(body[i : i + len(inside)] == inside for i in range(len(body)))
        beginning = " ".join(self.query.description.split()[:6])
        if mentioned and supports:
            return f"its definition mentions {name}: '{beginning} …'"
        return "" if supports or mentioned else f"its definition does not mention {name}"

    def _similarity(self, _position: int, name: str, supports: bool) -> str:
        best = self.names[0] if self.names else name
        if supports:
            return f"its name and definition are close in meaning to {name}"
        return f"its name and definition are closer in meaning to {best}" if best != name else ""

    def _place(self, position: int, name: str, supports: bool) -> str:
        """What kind of place the parent is."""
        children = int(self.taxonomy.child_csr.counts[position])
        if children:
            return f"{name} has {_counted(children, 'child', 'children')} already" if supports else ""
        return "" if supports else f"nothing is below {name} yet"

    def _image(self, _position: int, name: str, supports: bool) -> str:
        return f"its images {'look like' if supports else 'differ from'} those of {name} and what is below it"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _do(number: int) -> str:
    return "does" if number == 1 else "do"
