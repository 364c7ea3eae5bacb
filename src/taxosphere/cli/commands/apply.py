"""taxosphere apply: what people decided, carried out on the taxonomy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from taxosphere.cli import output
from taxosphere.cli.options import BY, reads_taxonomy
from taxosphere.errors import InputError, require
from taxosphere.taxonomy.formats.io.options import ReadOptions

if TYPE_CHECKING:
    from taxosphere.decisions.applying import Batch
    from taxosphere.decisions.events import Event
    from taxosphere.decisions.fold import Fold
    from taxosphere.decisions.review_reader import Origin
    from taxosphere.taxonomy import Taxonomy

_SHOWN = 5  # notices


@reads_taxonomy
def apply(
    taxonomy: Path = typer.Argument(..., metavar="TAX", help="The taxonomy, in any supported format."),
    decisions: Path = typer.Argument(
        ..., metavar="DECISIONS", help="A review table that was filled in (.csv, .tsv, .xlsx), or exported decisions."
    ),
    out: Path = typer.Option(..., "-o", "--out", metavar="OUT", help="The grown taxonomy; the suffix is its format."),
    db: str = typer.Option("", "--db", metavar="URL", help="Remember the decisions here: a file, or postgresql://…"),
    by: str = BY,
    ids: str = typer.Option(
        "", "--ids", metavar="PATTERN", help="Ids of new concepts whose row has none: GO:9{6}, or as for 'expand'."
    ),
    rebase: bool = typer.Option(
        False, "--rebase", help="Take decisions that were made on another version; leave out what no longer fits."
    ),
    new_rows: str = typer.Option(
        "end", "--new-rows", metavar="WHERE", help="Where new concepts stand in the file: end, or siblings."
    ),
    json: bool = typer.Option(False, "--json", help="Print what was done as one JSON document."),
    *,
    reading: ReadOptions,
) -> None:
    """Read decisions and write the grown taxonomy.

    A review table comes from 'taxosphere expand --review'. Its column 'decision' holds accept, move, top, same, reject
    or later; rows without one are left for another time. What is wrong is said with its row, and then nothing is
    written. With --db a next list does not ask again what was decided.

    Example: taxosphere apply ontology.obo review.xlsx -o ontology-new.obo --db decisions.db --by "Anna Muster"
    """
    from taxosphere.decisions import provenance
    from taxosphere.decisions.events import digest, now
    from taxosphere.decisions.review_reader import Origin
    from taxosphere.taxonomy.formats import registry

    if out.resolve() == decisions.resolve():
        raise InputError("is the table of decisions; write to another file", out)
    registry.check_target(out)
    write_options = registry.WriteOptions(placement=new_rows)  # type: ignore[arg-type]
    base = registry.read(taxonomy, reading)
    base.refuse_cycles()
    origin = Origin(by=by, at=now(), base=digest(base))
    request = _Request(decisions, base, origin, ids, rebase)
    folding, batch = _remembered(request, db, taxonomy, reading) if db else _once(request)
    grown = provenance.add(folding.taxonomy(), folding.attached(), out, new_columns=bool(by))
    for line in registry.unsupported_content(grown, out):
        output.warn(f"{out}: {line}")
    registry.write(grown, out, write_options)
    _show(batch, json=json, out=out, concepts=len(grown))


@dataclass(frozen=True)
class _Request:
    decisions: Path
    base: Taxonomy
    origin: Origin
    ids: str
    rebase: bool

    def events(self, reserved: Iterable[str] = (), decided: Fold | None = None) -> list[tuple[int, Event]]:
        from taxosphere.decisions.applying import read_decisions

        return read_decisions(
            self.decisions,
            self.base,
            self.origin,
            ids=self.ids,
            reserved=reserved,
            decided=decided,
            rebase=self.rebase,
            warn=output.warn,
        )


def _once(request: _Request) -> tuple[Fold, Batch]:
    """Carry the decisions out on the taxonomy alone."""
    from taxosphere.decisions.applying import carry_out
    from taxosphere.decisions.fold import Fold

    folding = Fold(request.base, request.origin.base)
    return folding, carry_out(folding, request.events(), request.decisions, rebase=request.rebase)


def _remembered(request: _Request, db: str, source: Path, options: ReadOptions) -> tuple[Fold, Batch]:
    """Carry the decisions out after those in the database, and add them there."""
    require("sqlalchemy", "service")
    from taxosphere.service import store_apply
    from taxosphere.service.store import Store, exists

    if not exists(db):
        _once(request)  # what is wrong is said before a database is made
    with Store(db) as store:
        folding = store_apply.replayed(store, request.base, request.origin.base)
        events = request.events(store_apply.reserved_ids(store), folding)
        batch = store_apply.record(
            store, folding, events, request.decisions, rebase=request.rebase, source=source, options=options
        )
    return folding, batch


def _show(batch: Batch, *, json: bool, out: Path, concepts: int) -> None:
    kinds = Counter(event.kind for event in batch.events)
    for notice in batch.notices[:_SHOWN]:
        output.warn(notice)
    if len(batch.notices) > _SHOWN:
        output.warn(f"… and {len(batch.notices) - _SHOWN:,} more")
    if json:
        document = {"applied": dict(kinds), "decided_before": batch.repeated, "notices": list(batch.notices)}
        output.document({**document, "concepts": concepts, "out": str(out)})
    counted = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items()) or "nothing new"
    before = f"; {batch.repeated:,} had been decided before" if batch.repeated else ""
    output.say(f"decisions applied: {len(batch.events):,} ({counted}){before}")
    output.say(f"wrote {concepts:,} concepts to {out}")
