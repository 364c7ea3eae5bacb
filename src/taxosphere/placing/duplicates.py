"""Duplicates: is a new concept in the taxonomy already, under this or another name?

Names are looked up by their keys (`name_keys`) in sorted arrays, so that a query takes hardly more time in a large
taxonomy than in a small one. How sure a match is depends on how it was found and on the taxonomy: where different
concepts often share synonyms, a shared synonym says little. So each kind of match is counted among the concepts that
are there, which are all different, and the count is turned into a probability.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taxosphere.placing.name_keys import aliases, fold, halves, letters, one_slip, spellings, without_obsolete_mark
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.checks import obsolete, replacements
from taxosphere.taxonomy.formats.io.obsolete import concepts as set_aside

SURE = 0.65  # probability from which on a new concept is taken for an existing one
_SENSES = 0.1  # share of names that repeat from which on concepts are taken for senses of words
THERE = 0.1  # share of a list that is in the taxonomy already, before its names are read
_FOUND = 0.3  # share of such concepts that are found in each of the ways below, but for those of `_RARELY`
_SAMPLE, _PSEUDO = 1000, 100  # concepts of the taxonomy that are looked up, and how many the shares below count for
_ELSEWHERE = 7.0  # factor of the odds of being the same where a match stands elsewhere than the query is placed
SAME, SPELLED = "same name", "same name, spelled differently"
BRACKETS, ORDER = "same name but for the brackets", "same words in another order"
LETTER = "same name but for a letter"
SYNONYM, ITS_SYNONYM, SHARED = "its name is a synonym there", "its synonym is the name there", "they share a synonym"
# Share of different concepts that are found so, where nothing is known of a taxonomy.
_USUAL = {SAME: 0.0005, SPELLED: 0.001, BRACKETS: 0.002, SYNONYM: 0.003, ITS_SYNONYM: 0.005, ORDER: 0.01, SHARED: 0.015}
_USUAL[LETTER] = 0.005
# Ways in which different concepts are found about as often as the same one is: repression and regression, or two
# concepts that have a synonym in common. They are worth a hint, and keep no concept from being placed.
_RARELY = dict.fromkeys((LETTER, SHARED), 0.05)


class Match(NamedTuple):
    """An existing concept that the new one may be.

    Attributes
    ----------
    id, name
        Of the existing concept; of an obsolete one only where nothing replaces it.
    how
        How it was recognised.
    probability
        That both are the same.
    """

    id: str
    name: str
    how: str
    probability: float


def weigh_place(matches: Iterable[Match], taxonomy: Taxonomy, listed: Container[str]) -> tuple[Match, ...]:
    """Matches with less probability for those that stand elsewhere, the surest first.

    The parents of an existing concept are right for a duplicate of it, too. Where neither they nor the concept itself
    are among the best candidates, it is rather another concept of the same name: data beside an operation.

    Parameters
    ----------
    matches
        What `NameIndex.find` returned for a query.
    taxonomy
        Where they were found.
    listed
        Ids of the query's best candidates.
    """
    weighed = []
    for match in matches:
        parents = taxonomy.parents(match.id) if match.id in taxonomy else ()
        if match.how in _USUAL and parents and not any(id in listed for id in (match.id, *parents)):
            odds = match.probability / (1 - match.probability) / _ELSEWHERE
            match = match._replace(probability=odds / (1 + odds))
        weighed.append(match)
    return tuple(sorted(weighed, key=lambda match: -match.probability))


VERSION = 3
"""Of the rules by which names become keys; tables written by others are computed anew."""
_STORED = ("exact", "name", "alias", "synonym", "order", "halves")


class NameIndex:
    """Finds the concepts of a taxonomy by name and synonym, whatever the spelling; built at the first question.

    Parameters
    ----------
    taxonomy
        Its obsolete concepts are found too, and lead to those that replace them.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What takes long to compute for a large taxonomy, for a model folder."""
        arrays: dict[str, NDArray[Any]] = {"probabilities": np.array([self._probabilities[how] for how in _USUAL])}
        for name in _STORED:
            table: _Table = getattr(self._tables, name)
            arrays |= {f"{name}.keys": table.keys.view(np.int64), f"{name}.owners": table.owners}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], taxonomy: Taxonomy) -> NameIndex:
        """The index that `to_arrays` wrote, of the same taxonomy."""
        index = cls(taxonomy)
        stored = {n: _Table(arrays[f"{n}.keys"].view(np.uint64), arrays[f"{n}.owners"]) for n in _STORED}
        vars(index).update(  # as if each had been asked for before
            _tables=_Tables(taxonomy, stored),
            _probabilities=dict(zip(_USUAL, arrays["probabilities"].tolist(), strict=True)),
        )
        return index

    @cached_property
    def names_repeat(self) -> bool:
        """Many names repeat, as senses of words do. Then a shared name alone does not make a duplicate."""
        return self._tables.repeats

    def is_common(self, name: str) -> bool:
        """Whether several concepts may have this name, like "other" in a catalogue."""
        return self.names_repeat or len(self._tables.order.find(fold(name))) > 1

    def find(self, concept: Concept) -> tuple[Match, ...]:
        """Existing concepts that the new one may be, the surest first, each once."""
        taxonomy = self._taxonomy
        ways: dict[int, str] = {}
        for how, position in self._find(concept):
            ways.setdefault(position, how)
        matches = [
            Match(taxonomy.ids[i], taxonomy.names[i], how, self._probabilities[how])
            for i, how in ways.items()
            if i not in self._tables.retired
        ]
        matches += [match for match in self._obsolete(concept, ways) if match.id not in {m.id for m in matches}]
        return tuple(sorted(matches, key=lambda match: -match.probability))

    def _find(self, concept: Concept) -> Iterator[tuple[str, int]]:
        """(how, position) of every match, the surest ways first."""
        tables, name = self._tables, concept.name
        yield from ((SAME, i) for i in tables.exact.find(name.casefold()))
        keys = list(spellings(name))
        yield from ((SPELLED, i) for i in tables.name.find(*keys))
        alias_keys = [key for alias in aliases(name) for key in spellings(alias)]
        yield from ((BRACKETS, i) for i in tables.alias.find(*keys, *alias_keys))
        yield from ((BRACKETS, i) for i in tables.name.find(*alias_keys))
        yield from ((SYNONYM, i) for i in tables.synonym.find(*keys, *alias_keys))
        yield from ((ORDER, i) for i in tables.order.find(fold(name)))
        near = tables.halves.find(*halves(letters(name), asked=True))
        yield from ((LETTER, i) for i in near if one_slip(name, self._taxonomy.names[i]))
        for synonym in concept.synonyms:
            keys = list(spellings(synonym))
            yield from ((ITS_SYNONYM, i) for i in tables.name.find(*keys))
            yield from ((SHARED, i) for i in tables.synonym.find(*keys))

    def _obsolete(self, concept: Concept, ways: dict[int, str]) -> Iterator[Match]:
        """What replaces obsolete concepts of this name; the obsolete concept itself where nothing does."""
        taxonomy, tables = self._taxonomy, self._tables
        former = [taxonomy.concept(i) for i in ways if i in tables.retired]
        former += [tables.set_aside[i] for i in tables.former.find(*spellings(concept.name), fold(concept.name))]
        for one in former:
            name = without_obsolete_mark(one.name)
            successors = [(id, kind) for id, kind in replacements(one.extras) if id in taxonomy]
            for id, kind in successors:
                how = f"{'replaces' if kind == 'replaced_by' else 'to be considered instead of'} the obsolete '{name}'"
                sure = 0.9 if kind == "replaced_by" else SURE
                yield Match(id, taxonomy.names[taxonomy.position(id)], how, sure)
            if not successors:
                yield Match(one.id, one.name, "obsolete, and nothing is said to replace it", SURE)

    @cached_property
    def _tables(self) -> _Tables:
        return _Tables(self._taxonomy)

    @cached_property
    def _probabilities(self) -> dict[str, float]:
        """By how a match was found: the probability that both are the same concept.

        Concepts of the taxonomy are looked up in it. Whatever they are found as, beside themselves, is another concept,
        which gives the share f of false matches; by Bayes' rule a match is right with π r / (π r + (1 − π) f).
        """
        size = len(self._taxonomy)
        sample = np.random.default_rng(0).permutation(size)[:_SAMPLE].tolist()
        false = dict.fromkeys(_USUAL, 0)
        for position in sample:
            best = next((how for how, i in self._find(self._taxonomy.concept(position)) if i != position), None)
            if best is not None:
                false[best] += 1
        share = {how: (false[how] + _PSEUDO * usual) / (len(sample) + _PSEUDO) for how, usual in _USUAL.items()}
        right = {how: THERE * _RARELY.get(how, _FOUND) for how in share}
        return {how: right[how] / (right[how] + (1 - THERE) * f) for how, f in share.items()}


class _Tables:
    """Keys of all names of a taxonomy; ``stored`` are tables that were computed before, by name."""

    exact: _Table
    name: _Table
    alias: _Table
    synonym: _Table
    order: _Table
    halves: _Table

    def __init__(self, taxonomy: Taxonomy, stored: Mapping[str, _Table] | None = None) -> None:
        vars(self).update(stored or self._tables(taxonomy))
        uses = _run_lengths(self.exact.keys)
        self.repeats = bool((uses > 1).sum() > _SENSES * len(uses))
        self.retired = set(obsolete(taxonomy))
        self.set_aside = list(set_aside(taxonomy))
        former = _Pairs()
        for number, concept in enumerate(self.set_aside):
            for title in (without_obsolete_mark(concept.name), *concept.synonyms):
                former.add(number, spellings(title))
        self.former = former.table()

    @staticmethod
    def _tables(taxonomy: Taxonomy) -> dict[str, _Table]:
        exact, name, alias, synonym, order, half = (_Pairs() for _ in range(6))
        for position, (title, synonyms) in enumerate(zip(taxonomy.names, taxonomy.synonyms, strict=True)):
            exact.add(position, [title.casefold()])
            name.add(position, spellings(title))
            order.add(position, filter(None, [fold(title)]))
            half.add(position, halves(letters(title)))
            for inner in aliases(title):
                alias.add(position, spellings(inner))
            for other in synonyms:
                synonym.add(position, spellings(other))
                synonym.add(position, filter(None, [fold(other)]))
                for inner in aliases(other):
                    synonym.add(position, spellings(inner))
        every = (exact, name, alias, synonym, order, half)
        return {n: pairs.table() for n, pairs in zip(_STORED, every, strict=True)}


class _Pairs:
    """(key, owner) pairs while they are collected: keys as 64 bits, so that a million names fit."""

    def __init__(self) -> None:
        self._keys, self._owners = array("Q"), array("q")

    def add(self, owner: int, keys: Iterable[str]) -> None:
        for key in keys:
            self._keys.append(_hash(key))
            self._owners.append(owner)

    def table(self) -> _Table:
        keys, owners = np.array(self._keys, np.uint64), np.array(self._owners, np.int64)
        order = np.argsort(keys, kind="stable")
        return _Table(keys[order], owners[order])


class _Table(NamedTuple):
    """Sorted keys with their owners."""

    keys: NDArray[np.uint64]
    owners: NDArray[np.int64]

    def find(self, *keys: str) -> list[int]:
        """Owners of any of the keys, each once."""
        owners: dict[int, None] = {}
        sorted_keys, size = self.keys.data, len(self.keys)  # a single search takes less time in plain Python
        for key in keys:
            hashed = _hash(key)
            start = bisect_left(sorted_keys, hashed)
            if start < size and sorted_keys[start] == hashed:
                stop = bisect_right(sorted_keys, hashed, start)
                owners.update(dict.fromkeys(self.owners[start:stop].tolist()))
        return list(owners)


@lru_cache(maxsize=1 << 12)  # a name's keys are looked up in several tables
def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _run_lengths(ordered: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How often each value occurs in a sorted array."""
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.diff(np.concatenate([[0], changes, [len(ordered)]]))
