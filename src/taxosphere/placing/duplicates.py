"""Duplicates: is a new concept in the taxonomy already, under this or another name?"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass

from taxosphere.ranking.lexical.parse import WORD, stem
from taxosphere.taxonomy import Concept, Taxonomy

# C++ is not C, a cell with CD4+ is not one with CD4-, and 1.5 is not 5.1.
_WORDS = re.compile(rf"(?:{WORD}|[+#<>♯♭]|(?<=\d)[.,](?=\d)|(?<=\w)-(?!\w))+")
_ACCENT = re.compile(r"([a-z\u0370-\u03ff])[\u0300-\u036f]+")  # in other scripts an accent makes another letter: и, й
_SENSES = 0.1  # share of names that repeat from which on concepts are taken for senses of words


@dataclass(frozen=True, slots=True)
class Match:
    """An existing concept that the new one may be, and how it was recognised."""

    position: int
    how: str


def fold(name: str) -> str:
    """A key that is equal for spellings of one name: without case, accents, punctuation, word order and plural."""
    plain = name.casefold()
    if not plain.isascii():
        plain = _ACCENT.sub(r"\1", unicodedata.normalize("NFKD", plain))
    return " ".join(sorted(map(stem, _WORDS.findall(plain))))


class NameIndex:
    """Finds the concepts of a taxonomy by name and synonym, whatever the spelling.

    Attributes
    ----------
    names_repeat
        Many names repeat, as senses of words do. Then a shared name alone does not make a duplicate.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._exact: defaultdict[str, list[int]] = defaultdict(list)
        self._folded: defaultdict[str, list[int]] = defaultdict(list)
        self._synonym: defaultdict[str, list[int]] = defaultdict(list)
        for position, (name, synonyms) in enumerate(zip(taxonomy.names, taxonomy.synonyms)):
            self._exact[name.casefold()].append(position)
            self._folded[fold(name)].append(position)
            for synonym in synonyms:
                self._synonym[fold(synonym)].append(position)
        self._folded.pop("", None)  # names of punctuation alone have an empty key
        self._synonym.pop("", None)
        self.names_repeat = sum(len(rows) > 1 for rows in self._exact.values()) > _SENSES * len(self._exact)

    def is_common(self, name: str) -> bool:
        """Whether several concepts may have this name, like "other" in a catalogue."""
        return self.names_repeat or len(self._folded.get(fold(name), ())) > 1

    def find(self, concept: Concept) -> tuple[Match, ...]:
        """Existing concepts that the new one may be, the surest first, each once."""
        reasons: dict[int, str] = {}
        key = fold(concept.name)
        sources = [
            ("same name", self._exact.get(concept.name.casefold(), ())),
            ("same name, spelled differently", self._folded.get(key, ())),
            ("its name is a synonym there", self._synonym.get(key, ())),
        ]
        for synonym in concept.synonyms:
            sources.append(("its synonym is the name there", self._folded.get(fold(synonym), ())))
            sources.append(("they share a synonym", self._synonym.get(fold(synonym), ())))
        for how, positions in sources:
            for position in positions:
                reasons.setdefault(position, how)
        return tuple(Match(position, how) for position, how in reasons.items())
