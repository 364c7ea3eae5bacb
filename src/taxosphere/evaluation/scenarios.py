"""What really arrives in a curator's list: one taxonomy cut into six kinds of queries.

==========  ==================================================  =================================================
scenario    what is hidden                                      right answer
==========  ==================================================  =================================================
leaf        a leaf; its parents stay                            its parents
inner       an inner concept; its children move to its parents  its parents, and its children move below it
branch      an inner concept with all below it, 2–20 concepts   the hidden edges
missing     a leaf, its parent and everything below that        the nearest ancestor that is left
foreign     nothing; concepts of other taxonomies are asked     none of these
known       a synonym, or a respelling, of a concept that       "already there as …"
            stays
==========  ==================================================  =================================================

All hidden concepts are taken out at once, so that one model, fitted on what stays visible, answers every scenario.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import InputError
from taxosphere.placing.name_keys import fold
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.hiding import Hiding
from taxosphere.taxonomy.split import Split, hide
from taxosphere.typing import Longs

NAMES = ("leaf", "inner", "branch", "missing", "foreign", "known")
SHARES = {"leaf": 0.60, "inner": 0.10, "branch": 0.10, "missing": 0.10, "foreign": 0.05, "known": 0.05}
MOST = {"leaf": 300, "inner": 100, "branch": 100, "missing": 100, "foreign": 200, "known": 200}
_HIDDEN_SHARE = 0.05  # of the taxonomy, for inner, branch and missing each; leaves take up to twice as many


@dataclass(frozen=True)
class Branch:
    """An inner concept hidden with all below it.

    Attributes
    ----------
    concepts : tuple of Concept
        In random order.
    edges : tuple of (parent id, child id)
        The hidden edges among them, and from what stays visible to them.
    """

    concepts: tuple[Concept, ...]
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Scenarios:
    """Queries of every kind over one seed.

    Attributes
    ----------
    seed : Taxonomy
        What a method may be fitted on.
    queries : mapping of scenario name to Split
        For leaf, inner and missing: queries with their gold parents in the seed; branch queries one by one, with the
        gold parents that are in the seed (none where its parent is hidden too); foreign and known without gold parents.
    children : tuple of arrays
        For each inner query, the positions in the seed of the children that belong below it.
    branches : tuple of Branch
        The branches as they are asked through `expand`.
    same_as : array
        For each known query, the position in the seed of the concept it is.
    """

    seed: Taxonomy
    queries: dict[str, Split]
    children: tuple[Longs, ...]
    branches: tuple[Branch, ...]
    same_as: Longs


def build(taxonomy: Taxonomy, foreign: Sequence[Concept], *, random_state: int) -> Scenarios:
    """Cut a taxonomy into scenarios.

    Parameters
    ----------
    taxonomy : Taxonomy
        Without cycles (`protocol.prepare`).
    foreign : sequence of Concept
        Concepts of other taxonomies; those that are here too, by a name or synonym however spelled, are left out.
    random_state : int
        Which concepts are hidden.

    Raises
    ------
    InputError
        The taxonomy has no leaf with a parent.
    """
    rng = np.random.default_rng([random_state, 15])
    hiding, budget = Hiding(taxonomy, rng), max(1, round(_HIDDEN_SHARE * len(taxonomy)))
    subtrees = hiding.subtrees(min(budget, MOST["branch"]))
    missing = [int(rng.choice(parent.leaves)) for parent in hiding.missing_parents(budget, MOST["missing"])]
    inner = hiding.inner(min(budget, MOST["inner"]))
    free = np.flatnonzero(taxonomy.hideable & ~hiding.hidden & ~hiding.frozen)
    leaf = hiding.leaves(rng.permutation(free), min(MOST["leaf"], 2 * budget))
    if not len(leaf):
        raise InputError("the taxonomy has no leaf with a parent, so there is nothing to hide")
    asked = np.concatenate([leaf, inner, *subtrees, np.array(missing, np.int64)])
    whole = hide(taxonomy, hiding.hidden, np.unique(asked))
    answer = {query.id: gold for query, gold in zip(whole.queries, whole.gold, strict=True)}
    seed, renamed, same_as = _respelled(whole.seed, rng)

    def part(name: str, positions: Iterable[int]) -> Split:
        concepts = [replace(taxonomy.concept(int(i)), extras=(), images=()) for i in positions]
        answered = [concept for concept in concepts if concept.id in answer]
        return Split(name, seed, tuple(answered), tuple(answer[concept.id] for concept in answered))

    inner_part = part("inner", inner)
    order = {id: position for position, id in enumerate(seed.ids)}
    children = tuple(
        np.array(sorted(order[child] for child in taxonomy.children(query.id) if child in order), np.int64)
        for query in inner_part.queries
    )
    names_here = {name.casefold() for name in taxonomy.names}
    outside = [concept for concept in foreign if concept.name.casefold() not in names_here]
    known_here = {fold(name) for row in (taxonomy.names, *taxonomy.synonyms) for name in row}
    mixed = [outside[i] for i in rng.permutation(len(outside))]
    drawn = [concept for concept in mixed if fold(concept.name) not in known_here][: MOST["foreign"]]
    queries = {
        "leaf": part("leaf", leaf),
        "inner": inner_part,
        "branch": part("branch", [i for below in subtrees for i in below]),
        "missing": part("missing", missing),
        "foreign": _unanswered("foreign", seed, drawn),
        "known": _unanswered("known", seed, renamed),
    }
    branches = tuple(_branch(taxonomy, below, rng) for below in subtrees)
    return Scenarios(seed, queries, children, branches, same_as)


def _unanswered(name: str, seed: Taxonomy, concepts: Sequence[Concept]) -> Split:
    """Queries without a right parent, under ids that are not taken."""
    named = tuple(Concept(f"{name} {i}", c.name, c.description, c.synonyms) for i, c in enumerate(concepts))
    return Split(name, seed, named, tuple(np.zeros(0, np.int64) for _ in named))


def _branch(taxonomy: Taxonomy, below: Longs, rng: np.random.Generator) -> Branch:
    ids = {taxonomy.ids[i] for i in below}
    concepts = tuple(replace(taxonomy.concept(int(i)), extras=(), images=()) for i in rng.permutation(below))
    return Branch(concepts, tuple((parent, id) for id in sorted(ids) for parent in taxonomy.parents(id)))


def _respelled(seed: Taxonomy, rng: np.random.Generator) -> tuple[Taxonomy, list[Concept], Longs]:
    """The seed without the synonyms that are asked, the queries, and the concept each of them is.

    Half of the queries are hidden synonyms, where there are as many that name one concept alone; the others are
    respellings of names. What names another concept too, however spelled, is not asked: either would be right.
    """
    called = [{fold(s) for s in (name, *row)} for name, row in zip(seed.names, seed.synonyms, strict=True)]
    uses = Counter(name for names in called for name in names)
    taken = {s.casefold() for name, row in zip(seed.names, seed.synonyms, strict=True) for s in (name, *row)}
    synonyms = [list(row) for row in seed.synonyms]
    with_synonym = [i for i in rng.permutation(len(seed)) if synonyms[i]]
    queries, same_as = [], []
    for i in with_synonym[: MOST["known"] // 2]:
        name = synonyms[i].pop(int(rng.integers(len(synonyms[i]))))
        if uses[fold(name)] == 1:  # otherwise it is also what another concept is called
            queries.append(Concept("", name, ""))
            same_as.append(i)
    for i in rng.permutation(len(seed)):
        if len(queries) >= MOST["known"]:
            break
        spelled = [name for name in respellings(seed.names[i]) if name.casefold() not in taken]
        spelled = [name for name in spelled if uses[fold(name)] == (fold(name) in called[i])]
        if spelled:
            queries.append(Concept("", spelled[int(rng.integers(len(spelled)))], ""))
            same_as.append(i)
    return replace(seed, synonyms=tuple(map(tuple, synonyms))), queries, np.array(same_as, np.int64)


def respellings(name: str) -> list[str]:
    """Other ways to write a name: another number, hyphens, capitals, heading order.

    Examples
    --------
    >>> respellings("sea bird")
    ['sea birds', 'sea-bird', 'SEA BIRD', 'bird, sea']
    """
    words = name.split(" ")
    last = words[-1]
    spelled = []
    if re.fullmatch(r"[A-Za-z]{3,}", last):
        number = _singular(last) if last.endswith("s") else _plural(last)
        spelled += [" ".join([*words[:-1], number])] if number != last else []
    if len(words) > 1 and re.fullmatch(r"[A-Za-z ]+", name):
        spelled.append("-".join(words[:2]) + "".join(f" {word}" for word in words[2:]))
    if name.upper() != name and len(name) > 3:
        spelled.append(name.upper())
    if len(words) == 2 and re.fullmatch(r"[A-Za-z ]+", name):
        spelled.append(f"{last}, {words[0]}")
    return spelled


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _singular(word: str) -> str:
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zes")) else word[:-1]


def foreign_concepts(taxonomies: Iterable[Taxonomy], *, random_state: int, most: int) -> list[Concept]:
    """Concepts drawn evenly from other taxonomies, at most ``most`` of each, by ``random_state``."""
    rng = np.random.default_rng([random_state, 16])
    drawn: list[Concept] = []
    for taxonomy in taxonomies:
        chosen: NDArray[np.int64] = rng.permutation(len(taxonomy))[:most]
        drawn += [replace(taxonomy.concept(int(i)), extras=(), images=()) for i in chosen]
    return drawn
