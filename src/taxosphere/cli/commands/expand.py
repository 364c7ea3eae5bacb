"""taxosphere expand: attach a whole list of new concepts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from taxosphere import atomic
from taxosphere.cli import output
from taxosphere.cli.progress import steps
from taxosphere.errors import InputError

if TYPE_CHECKING:
    from taxosphere.placing.expansion import Expansion


def expand(
    model: Path = typer.Argument(..., metavar="MODEL", help="A folder written by 'taxosphere fit'."),
    new: Path = typer.Argument(..., metavar="NEW.tsv", help="New concepts: .tsv, .csv, .jsonl or .txt."),
    out: Path = typer.Option(
        ..., "-o", "--out", metavar="OUT", help="The expanded taxonomy; the suffix is its format."
    ),
    accept: float = typer.Option(0.8, min=0.0, max=1.0, metavar="P", help="Attach what is at least this sure."),
    insert: float | None = typer.Option(
        None, min=0.0, max=1.0, metavar="P", help="Also move existing children below a new concept when this sure."
    ),
    review: Path | None = typer.Option(None, metavar="REVIEW.tsv", help="Write what a person must decide here."),
    skip_broken: bool = typer.Option(False, "--skip-broken", help="Go on without images that cannot be used."),
    json: bool = typer.Option(False, "--json", help="Print every placement as one JSON document."),
) -> None:
    """Attach new concepts where the model is sure and list the rest for review.

    New concepts may be parents of one another, in any order. Where the list has a column 'image' and the model knows
    images, they are looked at too; a concept without a name is placed by them alone.

    The output has the format its suffix names and keeps everything the taxonomy carried.

    Example: taxosphere expand ontology-model new.tsv -o ontology.obo --accept 0.8 --review review.tsv
    """
    from taxosphere.cli.images import usable
    from taxosphere.images.model import title
    from taxosphere.placing.concept_list import read_concepts
    from taxosphere.placing.expansion import write_review
    from taxosphere.polaris import Polaris
    from taxosphere.taxonomy.formats import registry

    targets = [out] if review is None else [out, review]
    _refuse(targets, model, new)
    registry.check_target(out)
    if review is not None:
        atomic.refuse_file(review)
    fitted = Polaris.load(model)
    concepts = usable(fitted, read_concepts(new, fitted.taxonomy, output.warn), skip=skip_broken)
    with steps() as report:
        expansion = fitted.expand(concepts, accept=accept, insert=insert, progress=report)
    for line in registry.unsupported_content(expansion.taxonomy, out):
        output.warn(f"{out}: {line}")
    expansion.taxonomy.write(out)
    if review is not None:
        write_review(expansion, review)
    if json:
        output.document({"placements": [p.as_dict() for p in expansion.placements], "moved": expansion.moved})
    else:
        rows = [
            (title(p.concept), ", ".join(s.name for s in p.parents), p.state, p.surest) for p in expansion.placements
        ]
        output.table(("new concept", "attached to", "state", "probability"), rows)
        _show_insertions(expansion)
    output.say(f"attached {len(expansion.attached):,} of {len(concepts):,}, {len(expansion.review):,} for review")
    output.say(f"wrote {' and '.join(map(str, targets))}")


def _refuse(targets: list[Path], model: Path, new: Path) -> None:
    """Faults of the places to write to, before the work rather than after it."""
    places = [target.resolve() for target in targets]
    for target, place in zip(targets, places, strict=True):
        if places.count(place) > 1:
            raise InputError("is to hold both the taxonomy and the review table; name two files", target)
        if place == new.resolve():
            raise InputError("is the list of new concepts; write to another file", target)
        if model.resolve() in (place, *place.parents):
            raise InputError("belongs to the model; write to another place", target)


def _show_insertions(expansion: Expansion) -> None:
    from taxosphere.images.model import title

    taxonomy, moved = expansion.taxonomy, {(child, new) for child, _, new in expansion.moved}
    rows = [
        (
            taxonomy.names[taxonomy.position(child)],
            title(p.concept),
            "moved" if (child, p.concept.id) in moved else "proposed",
            probability,
        )
        for p in expansion.attached
        for child, probability in p.takes
    ]
    if rows:
        output.table(("existing concept", "may belong below", "state", "probability"), rows)
