"""taxosphere report: how well a model answers on one's own data, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from taxosphere import artifact, atomic
from taxosphere.cli import output
from taxosphere.cli.options import DEVICE, reads_taxonomy
from taxosphere.cli.progress import steps
from taxosphere.cli.provenance import about
from taxosphere.cli.seeds import LAST_SEED
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.registry import ReadOptions

if TYPE_CHECKING:
    from taxosphere.report.placement_report import PlacementReport
    from taxosphere.taxonomy import Taxonomy
    from taxosphere.taxonomy.split import Split

_SUFFIXES = (".html", ".htm")
_SHARE, _MOST = 0.1, 200  # of the leaves are hidden where nothing else is said


@reads_taxonomy
def report(
    source: Path = typer.Argument(..., metavar="MODEL|TAX", help="A folder written by 'fit', or a taxonomy."),
    out: Path = typer.Option(Path("report.html"), "-o", "--out", metavar="PAGE", help="The page to write."),
    hide: int | None = typer.Option(
        None, min=1, help="How many leaves of a taxonomy to hide; a tenth of them, at most 200, if not given."
    ),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Which leaves to hide, and random state of the fit."),
    encoder: str | None = typer.Option(None, help="Sentence encoder for a taxonomy, as for 'fit'."),
    set_: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Change one setting of the fit; repeatable."),
    device: str | None = DEVICE,
    repair: bool = typer.Option(False, "--repair", help="Break cycles by dropping their least supported edges."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Say nothing but errors."),
    *,
    reading: ReadOptions,
) -> None:
    """Write a page with charts, pictures and errors on how well new concepts would be placed.

    For a taxonomy some leaves are hidden, a model is trained on the rest, and each hidden leaf is put back: the page
    shows them, those that went wrong with the candidates that came near. For a model the page shows the same of the
    leaves that were hidden while it learned; nothing is trained.

    The page is one file without scripts that can be sent to anybody.

    Example: taxosphere report ontology.obo -o report.html

    Example: taxosphere report ontology-model -o report.html
    """
    atomic.refuse_file(out)
    if out.suffix.lower() not in _SUFFIXES:
        raise InputError(f"the page is a {' or '.join(_SUFFIXES)} file", out)
    if (source / artifact.MANIFEST).is_file():
        options = {"--hide": hide, "--encoder": encoder, "--set": set_, "--repair": repair}
        unused = next((option for option, value in options.items() if value), None)
        if unused is not None:
            raise InputError(f"{unused} is for a taxonomy; a model is reported on as it was fitted", source)
        result = _of_model(source, device)
    else:
        from taxosphere.model.config import literal

        taxonomy = _read(source, reading, repair=repair)
        changes = [*set_, *([f"encoder.name={literal(encoder)}"] if encoder else [])]
        title = f"Putting concepts back into {source.resolve().stem}"
        result = _of_taxonomy(taxonomy, title, _hide(taxonomy, hide, seed), changes, seed, device, quiet=quiet)
    from taxosphere.report import placement_page

    atomic.write_text(out, placement_page.write(result))
    if not quiet:
        answers = result.answers
        if len(answers.rank):
            first, ten = answers.share_within(1), answers.share_within(10)
            output.say(f"{len(answers.rank):,} hidden: right at first place {first:.0%}, among the first ten {ten:.0%}")
        output.say(f"wrote {out}")


def _of_model(source: Path, device: str | None) -> PlacementReport:
    from taxosphere.polaris import Polaris
    from taxosphere.report import placement_report

    model = Polaris.load(source, device=device)
    hidden = len(model.out_of_fold.n_gold)
    lead = (
        f"While the model learned from {len(model.taxonomy):,} concepts, {hidden:,} leaves were hidden in turn, and it "
        "was asked where each of them belongs. These are its answers, given by parts of it that had not seen them."
    )
    title = f"How the model '{source.resolve().name}' answers"
    return placement_report.of_model(model, title=title, lead=lead, command=_command())


def _read(source: Path, reading: ReadOptions, *, repair: bool) -> Taxonomy:
    """The taxonomy of a file; says which edges a repair dropped."""
    from taxosphere.evaluation import protocol
    from taxosphere.taxonomy.formats import registry

    taxonomy, dropped = protocol.prepare(registry.read(source, reading), repair=repair)
    for line in dropped:
        output.say(line)
    return taxonomy


def _hide(taxonomy: Taxonomy, count: int | None, seed: int) -> Split:
    """The taxonomy without ``count`` of its leaves, or the usual number of them."""
    from taxosphere.taxonomy.split import leaves

    leaf_count = int(taxonomy.hideable.sum())
    wanted = min(count or min(_MOST, max(1, round(_SHARE * leaf_count))), max(1, leaf_count - 1))
    return leaves(taxonomy, fraction=wanted / max(1, leaf_count), seed=seed)


def _of_taxonomy(
    taxonomy: Taxonomy, title: str, split: Split, changes: list[str], seed: int, device: str | None, *, quiet: bool
) -> PlacementReport:
    """Train on what is not hidden, with ``changes`` of the settings, and put back what is."""
    from taxosphere.model.presets import auto
    from taxosphere.polaris import Polaris
    from taxosphere.report import placement_report

    settings, leaf_count = auto(split.seed).with_overrides(changes), int(taxonomy.hideable.sum())
    if not quiet:
        output.say(f"{len(taxonomy):,} concepts; {len(split.queries):,} leaves are hidden from the model")
    with steps(quiet=quiet) as progress:
        model = Polaris(settings, device=device).fit(split.seed, random_state=seed, progress=progress)
    lead = (
        f"{len(split.queries):,} of {leaf_count:,} leaves were taken out of the taxonomy. A model was trained on the "
        f"{len(split.seed):,} concepts that were left, and asked where each of the hidden ones belongs."
    )
    return placement_report.of_hidden(model, split, title=title, lead=lead, command=_command())


def _command() -> str:
    return str(about("")["command"])
