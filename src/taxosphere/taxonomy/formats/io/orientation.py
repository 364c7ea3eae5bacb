"""Which end of the links of a graph is the parent, where the file does not say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

PARENT_FIRST, CHILD_FIRST = ("parent", "child"), ("child", "parent")
Pair = tuple[str, str, int]
# What a link may be called that runs from the narrower to the broader concept, and the other way round.
UPWARD = frozenset(
    {"isa", "subclassof", "subclass", "broader", "parent", "hasparent", "childof", "subtypeof", "kindof"}
)
DOWNWARD = frozenset(
    {"haschild", "parentof", "child", "narrower", "superclassof", "hassubclass", "contains", "includes", "hassubtype"}
)


def direction(called: Iterable[Any]) -> bool | None:
    """Return whether links run from child to parent by what they are called; None where they are not all called so.

    Parameters
    ----------
    called : iterable
        What each link is called, None where it is not.
    """
    names = {re.sub(r"[\W_]+", "", name).casefold() if isinstance(name, str) else "" for name in called}
    return True if names and names <= UPWARD else False if names and names <= DOWNWARD else None


def oriented(
    pairs: Sequence[Pair], columns: tuple[str, str] | None = None, upward: bool | None = None
) -> tuple[list[Pair], str]:
    """Return the links as (parent, child, line), and a sentence where their direction had to be decided.

    Stated directions come first, then the names of the links. Without either, links run from parent to child, unless
    only the opposite makes every node have one parent at most, or sources without a link to them are more than twice
    as many as targets without a link from them: a hierarchy has few roots and many leaves.

    Parameters
    ----------
    pairs : sequence of (str, str, int)
        Source, target and line of each link.
    columns : (str, str), optional
        ``("parent", "child")`` or ``("child", "parent")``, as the user stated it.
    upward : bool, optional
        Whether the links are called something that runs from child to parent.
    """
    turned = [(target, source, line) for source, target, line in pairs]
    if columns is not None:
        return (turned if tuple(columns) == CHILD_FIRST else list(pairs)), ""
    if upward is not None:
        return (turned, "") if upward else (list(pairs), "")
    sources, targets = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    distinct = {pair[:2] for pair in pairs}
    down = len(targets) == len(distinct)  # every target has one source
    up = len(sources) == len(distinct)
    roots, leaves = len(sources - targets), len(targets - sources)
    if (up and not down) or (not down and roots > 2 * leaves):
        return (
            turned,
            "links are read from child to parent, for only so has it few roots; --columns parent,child turns them",
        )
    return list(pairs), ""
