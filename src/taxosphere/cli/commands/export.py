"""taxosphere export: what was decided, in the formats of others."""

from __future__ import annotations

from pathlib import Path

import typer

from taxosphere import atomic
from taxosphere.cli import output
from taxosphere.errors import require


def export(
    db: str = typer.Argument(..., metavar="DB", help="The database of decisions: a file, or postgresql://…"),
    out: Path = typer.Option(..., "-o", "--out", metavar="OUT", help="The file to write."),
    kind: str = typer.Option(
        "taxonomy", "--as", metavar="KIND", help="taxonomy, decisions, kgcl, sssom, robot or patch."
    ),
) -> None:
    """Write what was decided.

    As taxonomy: the grown taxonomy, in the format of the suffix. As decisions: the whole history, .jsonl or .csv. As
    kgcl: commands for 'runoak apply'. As sssom: mappings (.tsv). As robot: a template for ROBOT (.tsv, .csv). As patch:
    a unified patch against the file that the decisions were made on.

    Example: taxosphere export decisions.db -o changes.kgcl --as kgcl
    """
    require("sqlalchemy", "service")
    from taxosphere.decisions import exports
    from taxosphere.service import store_apply, store_bases, store_events
    from taxosphere.service.store import Store
    from taxosphere.taxonomy.formats import registry

    exports.check(kind, out)
    if kind == "taxonomy":
        registry.check_target(out)
    else:
        atomic.refuse_file(out)
    with Store(db, create=False) as store, store_bases.source(store) as (source, base):
        store_events.verify(store)
        folding = store_apply.replayed(store, base.taxonomy, base.digest)
        events = store_events.all_events(store)
        for line in exports.write(kind, exports.Content(folding, events, source), out):
            output.warn(f"{out}: {line}")
    there = len({event.item for event in folding.surviving if event.item in base.taxonomy})
    if there and kind not in ("taxonomy", "decisions"):
        are = "concept is" if there == 1 else "concepts are"
        output.warn(f"{there:,} decided {are} in {base.name} already and no part of the change")
    left_out = len(folding.refused)
    if left_out:
        output.warn(f"{left_out:,} decisions do not fit the present taxonomy, such as: {folding.refused[0].reason}")
    output.say(f"wrote {out} ({len(folding.surviving):,} of {len(events):,} decisions stand)")
