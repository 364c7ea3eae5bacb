"""Names and definitions as words: stems, the head of a name, the first phrase of a definition.

Rules for English, chosen to be harmless elsewhere: a language they do not know simply yields fewer matches.
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
    """Vowel signs of Indic scripts and accents that stand apart, as ranges: `\\w` takes them for the ends of words."""
    found = [code for code in range(0x300, 0x1F000) if unicodedata.category(chr(code))[0] == "M"]
    starts = [code for code in found if unicodedata.category(chr(code - 1))[0] != "M"]
    ends = [code for code in found if unicodedata.category(chr(code + 1))[0] != "M"]
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
_LONGEST_BODY = 80  # words of a definition that are read
_LONGEST_PHRASE = 8


@lru_cache(maxsize=1 << 16)  # a taxonomy repeats its words
def stem(word: str) -> str:
    """The singular of an English noun; other words stay as they are, give or take a final s."""
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
    return tuple(map(stem, _WORD.findall(text)))


def in_speaking_order(name: str) -> str:
    """Library headings turned round: ``abscess, liver`` is a liver abscess."""
    parts = [part.strip() for part in name.split(",")]
    return " ".join(reversed(parts)) if 1 < len(parts) <= 3 and all(parts) else name


def definition(name: str, description: str) -> str:
    """What follows ``NAME is``, or the description itself where it does not begin that way."""
    verb = _COPULA.search(description[:160])
    if verb:
        subject = description[: verb.start()]
        if description.startswith(name) or len(subject.split()) <= len(name.split()) + 5:
            return description[verb.end() :]
    return description.removeprefix(name)


def first_phrase(body: str) -> tuple[str, ...]:
    """Stems of the first noun phrase: ``a large bird of prey`` gives large, bird."""
    tokens = _TOKEN.findall(body[:200])
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
    """The words of a name, and how many there are up to and including its head: before the first preposition."""

    words: tuple[str, ...]
    head: int

    @property
    def key(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class ParsedConcept:
    """The words of one concept."""

    names: tuple[Name, ...]
    """Its name, then its synonyms."""
    body: tuple[str, ...]
    phrase: tuple[str, ...]

    @property
    def name(self) -> tuple[str, ...]:
        return self.names[0].words

    @property
    def called(self) -> tuple[str, ...]:
        """The words of everything it is called."""
        return tuple(chain.from_iterable(name.words for name in self.names))

    @property
    def key(self) -> str:
        return self.names[0].key

    @property
    def head_word(self) -> str:
        return self.name[self.names[0].head - 1] if self.name else ""

    @property
    def first_word(self) -> str:
        """Of a name with several."""
        return self.name[0] if len(self.name) > 1 else ""

    @property
    def phrase_head(self) -> str:
        return self.phrase[-1] if self.phrase else ""

    @property
    def phrase_start(self) -> str:
        """Of a verb's definition this is the verb."""
        return self.phrase[0] if self.phrase else ""


def parse_concept(concept: Concept) -> ParsedConcept:
    name, description = concept.name.lower(), concept.description.lower()
    names = [parse_name(name), *(parse_name(synonym.lower()) for synonym in concept.synonyms)]
    body = definition(name, description)
    return ParsedConcept(tuple(dict.fromkeys(names)), stems(body)[:_LONGEST_BODY], first_phrase(body))


def parse_name(name: str) -> Name:
    words = stems(in_speaking_order(name))
    return Name(words, next((i for i, word in enumerate(words) if i and word in _PREPOSITIONS), len(words)))
