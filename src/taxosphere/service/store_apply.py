"""Decisions from a file into a store: recorded all together, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere.decisions.applying import Batch, carry_out
from taxosphere.decisions.events import Event
from taxosphere.decisions.fold import Conflict, Fold
from taxosphere.errors import InputError
from taxosphere.service import store_bases, store_events
from taxosphere.service.store import Store
from taxosphere.service.store_ledger import Ledger
from taxosphere.service.store_tables import EVENTS, ITEMS
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats.io.options import ReadOptions


def reserved_ids(store: Store) -> set[str]:
    """Ids that new concepts of the store have, decided or not."""
    with store.reading() as connection:
        return _ids(connection)


def _ids(connection: Connection) -> set[str]:
    return {*connection.scalars(sa.select(EVENTS.c.item).distinct()), *connection.scalars(sa.select(ITEMS.c.id))}


def replayed(store: Store, taxonomy: Taxonomy, base: str = "") -> Fold:
    """Everything that the store remembers, folded over a taxonomy."""
    folding = Fold(taxonomy, base)
    for event in store_events.all_events(store):
        folding.add(event)
    return folding


def record(
    store: Store,
    folding: Fold,
    events: Iterable[tuple[int, Event]],
    path: str | PathLike[str],
    *,
    rebase: bool = False,
    source: Path | None = None,
    options: ReadOptions | None = None,
) -> Batch:
    """Carry events out and record them.

    Parameters
    ----------
    store
        The open store.
    folding
        What `replayed` returned for the taxonomy that the events are about; it ends up as the store does.
    events
        With their rows, as `read_decisions` returns them.
    path
        The file they come from, for messages.
    rebase
        Whether events that do not fit are left out.
    source, options
        The file of the taxonomy, which becomes the base of the store, and how it was read.

    Raises
    ------
    InputError
        With file and row; nothing was recorded.
    """
    batch = carry_out(folding, events, path, rebase=rebase)
    store_bases.put(store, folding.base, source, options)
    try:
        Ledger(store).decide_all(list(batch.events))
    except Conflict as conflict:  # somebody else has decided since we read the store
        raise InputError(f"somebody decided meanwhile: {conflict}; apply it again", path) from None
    return batch
