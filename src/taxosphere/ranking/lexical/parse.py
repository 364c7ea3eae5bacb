"""Parsing of names and definitions into words: stems, the head of a name, the first phrase of a definition.

The rules are for English and harmless elsewhere: in other languages they find fewer matches.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from taxosphere.taxonomy import Concept


def _marks() -> str:
    """Regex ranges of combining marks (vowels of Indic scripts, separate accents), at which `\\w` would end a word."""
    marks = [code for code in range(0x300, 0x1F000) if unicodedata.category(chr(code))[0] == "M"]
    starts = [code for code in marks if unicodedata.category(chr(code - 1))[0] != "M"]
    ends = [code for code in marks if unicodedata.category(chr(code + 1))[0] != "M"]
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(starts, ends, strict=True))


WORD = rf"[^\W_]+(?:[{_marks()}]+[^\W_]*)*"
_WORD = re.compile(WORD)
_TOKEN = re.compile(rf"{WORD}|[,;:().]")
_COPULA = re.compile(r"\b(?:is|are|was|were|refers to|means|may refer to|describes|denotes)\b")

_PREPOSITIONS = frozenset(
    "of in on for to with by from at into against between through over under about during after before within without "
    "among than as via".split()
)
_PHRASE_ENDS = _PREPOSITIONS | frozenset(
    "that which who whose where when used made having containing consisting being or and but , ; : ( ) . is are was "
    "were served based formed caused characterized produced usually often typically found given occurring prepared "
    "involving designed intended resembling concerned dealing".split()
)
_PHRASE_STARTS = frozenset(
    "a an the any some several various one two of to type types kind kinds form forms sort sorts variety varieties "
    "class term group branch subfield field style genus species family (".split()
)
STOP_WORDS = frozenset(
    "a an the of in on for to with by and or from that which who whose is are was were as at into its it be been being "
    "used any some several various many one two type kind form sort species variety class group set piece part member "
    "unit example other such etc especially usually often typically generally most more very having made consisting "
    "containing based also not may can has have".split()
)
_IRREGULAR = {
    "feet": "foot",
    "teeth": "tooth",
    "men": "man",
    "women": "woman",
    "children": "child",
    "mice": "mouse",
    "geese": "goose",
    "leaves": "leaf",
    "knives": "knife",
    "loaves": "loaf",
    "wolves": "wolf",
    "lives": "life",
}
_LONGEST_DEFINITION = 80  # words of a definition that are read
_LONGEST_PHRASE = 8


@lru_cache(maxsize=1 << 16)  # a taxonomy repeats its words
def stem(word: str) -> str:
    """The singular of an English noun; other words unchanged, except that some lose a final s."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def stems(text: str) -> tuple[str, ...]:
    """Stems of all words of a text in lower case."""
    return tuple(map(stem, _WORD.findall(text)))


def in_natural_order(name: str) -> str:
    """Inverted headings put in natural order: ``abscess, liver`` becomes ``liver abscess``."""
    parts = [part.strip() for part in name.split(",")]
    return " ".join(reversed(parts)) if 1 < len(parts) <= 3 and all(parts) else name


def definition_of(name: str, description: str) -> str:
    """The description without a leading ``NAME is``."""
    verb = _COPULA.search(description[:160])
    if verb:
        subject = description[: verb.start()]
        if description.startswith(name) or len(subject.split()) <= len(name.split()) + 5:
            return description[verb.end() :]
    return description.removeprefix(name)


def first_phrase_of(definition: str) -> tuple[str, ...]:
    """Stems of the first noun phrase of a definition: ``a large bird of prey`` gives large, bird."""
    tokens = _TOKEN.findall(definition[:200])
    start = 0
    while start < len(tokens) and tokens[start] in _PHRASE_STARTS:
        start += 1
    phrase: list[str] = []
    for token in tokens[start:]:
        if token in _PHRASE_ENDS:
            if phrase:
                break
            continue
        phrase.append(stem(token))
        if len(phrase) == _LONGEST_PHRASE:
            break
    return tuple(phrase)


class Name(NamedTuple):
    """Stems of a name, and how many of them come before the first preposition; the last of those is its head."""

    words: tuple[str, ...]
    head: int

    @property
    def key(self) -> str:
        """The stems in one string, by which equal names are found."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class ParsedConcept:
    """The words of one concept.

    Attributes
    ----------
    names
        Its name, then its synonyms, without repetitions.
    definition
        Stems of its definition.
    first_phrase
        Stems of the first noun phrase of the definition.
    """

    names: tuple[Name, ...]
    definition: tuple[str, ...]
    first_phrase: tuple[str, ...]

    @property
    def name(self) -> tuple[str, ...]:
        """Stems of its name proper."""
        return self.names[0].words

    @property
    def name_words(self) -> tuple[str, ...]:
        """Stems of its name and all synonyms."""
        return tuple(chain.from_iterable(name.words for name in self.names))

    @property
    def key(self) -> str:
        """Its name as one string of stems."""
        return self.names[0].key

    @property
    def name_head(self) -> str:
        """Last word of the name before a preposition; empty for an empty name."""
        return self.name[self.names[0].head - 1] if self.name else ""

    @property
    def name_start(self) -> str:
        """First word of a name with several words; empty for others."""
        return self.name[0] if len(self.name) > 1 else ""

    @property
    def phrase_head(self) -> str:
        """Last word of the first phrase, which for a noun says what the concept is."""
        return self.first_phrase[-1] if self.first_phrase else ""

    @property
    def phrase_start(self) -> str:
        """First word of the first phrase, which for a verb says what the concept is."""
        return self.first_phrase[0] if self.first_phrase else ""


def parse_concept(concept: Concept) -> ParsedConcept:
    """Parse the name, synonyms and description of a concept."""
    name, description = concept.name.lower(), concept.description.lower()
    names = [parse_name(name), *(parse_name(synonym.lower()) for synonym in concept.synonyms)]
    definition = definition_of(name, description)
    return ParsedConcept(
        names=tuple(dict.fromkeys(names)),
        definition=stems(definition)[:_LONGEST_DEFINITION],
        first_phrase=first_phrase_of(definition),
    )


def parse_name(name: str) -> Name:
    """Stems and head of a name in lower case."""
    words = stems(in_natural_order(name))
    return Name(words, next((i for i, word in enumerate(words) if i and word in _PREPOSITIONS), len(words)))
