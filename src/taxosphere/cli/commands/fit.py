"""taxosphere fit: train a model on a taxonomy."""

from __future__ import annotations

from pathlib import Path

import typer

from taxosphere.cli import completion, output
from taxosphere.cli.commands.convert import show_reading
from taxosphere.cli.costs import propose_fine_tuning, say_how_long, say_reading_cost
from taxosphere.cli.options import DEVICE, READER, reads_taxonomy
from taxosphere.cli.progress import steps
from taxosphere.cli.seeds import LAST_SEED
from taxosphere.cli.signals import Stopped
from taxosphere.errors import InputError, require
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.checks import repair as break_cycles
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.registry import ReadOptions


@reads_taxonomy
def fit(
    taxonomy: Path = typer.Argument(..., metavar="TAX", help="A taxonomy in any supported format."),
    model: Path = typer.Option(..., "-o", "--out", metavar="MODEL", help="Folder to write the model to."),
    preset: str = typer.Option(
        "auto", help="Settings to start from: 'auto' goes by size, 'paper-food' and others are columns of the paper."
    ),
    config: Path | None = typer.Option(None, help="A TOML file of settings instead of a preset."),
    set_: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Change one setting; repeatable."),
    encoder: str | None = typer.Option(
        None,
        help="Text encoder: minilm, mpnet, fast, qwen, a Hugging Face name, a folder, .gguf, .npy; or minilm+qwen.",
    ),
    image_encoder: str | None = typer.Option(
        None, help="Encoder of images: 'efficientnet-lite0', a CLIP or SigLIP name or folder, .npy, 'none'."
    ),
    skip_broken: bool = typer.Option(False, "--skip-broken", help="Go on without images that cannot be used."),
    fine_tune: bool = typer.Option(
        False, "--fine-tune", help="Let the encoder learn along; kept if it answers better."
    ),
    reader: str | None = READER,
    seed: int | None = typer.Option(
        None, min=0, max=LAST_SEED, help="Random state; the same one gives the same model."
    ),
    device: str | None = DEVICE,
    resume: bool = typer.Option(False, "--resume", help="Go on where a stopped fit left off."),
    start: Path | None = typer.Option(
        None,
        "--from",
        metavar="MODEL",
        help="Begin from the weights of this model.",
        shell_complete=completion.models,
    ),
    db: str = typer.Option(
        "", "--db", metavar="URL", help="Learn from what was decided, too: the taxonomy as these decisions made it."
    ),
    repair: bool = typer.Option(False, "--repair", help="Break cycles by dropping their least supported edges."),
    *,
    reading: ReadOptions,
) -> None:
    """Train a model on a taxonomy and write it to a folder.

    Where concepts have images, it learns from them too.

    Example: taxosphere fit ontology.obo -o ontology-model
    """
    from taxosphere import artifact, atomic
    from taxosphere.encoders.device import check_device
    from taxosphere.fitting import starting_network, with_absolute_paths
    from taxosphere.model import distributed, presets
    from taxosphere.model.config import PolarisConfig, literal
    from taxosphere.polaris import Polaris

    where = check_device(device)
    artifact.refuse_other_folders(model)
    atomic.refuse_place(model.absolute().parent, model)
    read = registry.read(taxonomy, reading)
    if not repair:
        read.refuse_cycles()
    show_reading(read)
    if repair:
        read, dropped = break_cycles(read)
        for problem in dropped:
            output.say(f"dropped {problem.where}: {problem.text}")
    if db:
        read = decided(read, db)
    settings = PolarisConfig.read(config) if config is not None else presets.preset(preset, read)
    flags: dict[str, str | int | None] = {
        "encoder.name": encoder and literal(encoder),  # a folder may be called 2024
        "images.encoder": image_encoder and literal(image_encoder),
        "images.broken": "skip" if skip_broken else None,
        "training.fine_tune": "true" if fine_tune else None,
        "ranking.reader": reader and literal(reader),
        "seed": seed,
    }
    changes = [*set_, *(f"{key}={value}" for key, value in flags.items() if value is not None)]
    settings = settings.with_overrides(changes)

    previous = Polaris.load(start) if start is not None else None
    if previous is not None and previous.config is not None and config is None and preset == "auto":
        settings = previous.config.with_overrides(changes)
    settings = with_absolute_paths(settings)
    began = None
    if previous is not None:
        began = starting_network(previous.fitted, previous.config, settings).digest()
    if resume and artifact.holds(model, settings.model_dump(mode="json"), read, began):
        output.say(f"{model} is finished already: same taxonomy, same settings")
        return
    if settings.training.fine_tune:
        say_how_long(read, settings)
    say_reading_cost(read, settings)
    if model.exists():
        output.say(f"{model} is a model already and is replaced when this one is done")
    try:
        with distributed.processes(where), steps(quiet=not distributed.is_first()) as report:
            fitted = Polaris(settings, device=device).fit(
                read, checkpoints=checkpoint_folder(model), resume=resume, start=previous, progress=report
            )
            if not distributed.is_first():
                return
            fitted.save(model)
    except (KeyboardInterrupt, Stopped):
        output.say("stopped; the same command with --resume goes on from here")
        raise
    remove_checkpoints(model)
    for fault in fitted.image_model.faults if fitted.image_model is not None else ():
        output.warn(f"passed over {fault}")
    for line in fitted.summary():
        output.say(line)
    if not settings.training.fine_tune and preset == "auto" and config is None:
        propose_fine_tuning(read, settings)
    output.say(f"wrote {model}; try: taxosphere suggest {model} 'a new concept'")


def decided(base: Taxonomy, db: str) -> Taxonomy:
    """The taxonomy with the decisions of a database carried out on it."""
    require("sqlalchemy", "service")
    from taxosphere.decisions.events import digest
    from taxosphere.service import store_apply
    from taxosphere.service.store import Store, exists

    if not exists(db):
        raise InputError(f"there is no database {db}; 'apply --db' and 'expand --db' make one")
    with Store(db) as store:
        folding = store_apply.replayed(store, base, digest(base))
    count = len(folding.attached())
    output.say(f"learns from {count:,} concept{'s that were' if count != 1 else ' that was'} decided on, too")
    return folding.taxonomy()


def checkpoint_folder(model: Path) -> Path:
    """Where a fit keeps what it needs to resume; beside the model, so that a half-done model never looks like one."""
    return model.absolute().parent / f".{model.name}.fit"


def remove_checkpoints(model: Path) -> None:
    import shutil

    shutil.rmtree(checkpoint_folder(model), ignore_errors=True)
