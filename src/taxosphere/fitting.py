"""Fitting a model: encode the taxonomy, train the sphere, train the ranker, calibrate, add the image side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path

from taxosphere.encoders import weights
from taxosphere.encoders.image import efficientnet
from taxosphere.encoders.text import combined
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.errors import InputError
from taxosphere.images import collection
from taxosphere.images.model import ImageModel
from taxosphere.model import embedding, gamma
from taxosphere.model.checkpoint import Checkpoints
from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import TrainingRun
from taxosphere.placing.inference import Fitted, assemble
from taxosphere.placing.insertion import Insertion
from taxosphere.ranking.prior import load_prior
from taxosphere.ranking.ranker import Ranker
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats.io.streams import expand_home

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class FitRun:
    """What a fit needs besides the data and the settings.

    Attributes
    ----------
    random_state : int
        The same one gives the same model, bit for bit.
    checkpoints : Path or None
        Folder for what a resumed fit needs; None keeps nothing.
    resume : bool
        Continue from what `checkpoints` holds.
    start : SphereNetwork or None
        Weights of an earlier model to begin from.
    progress : callable
        Called as ``progress(done, total, what)``.
    """

    random_state: int
    checkpoints: Path | None
    resume: bool
    start: SphereNetwork | None
    progress: Progress


def fit_model(taxonomy: Taxonomy, config: PolarisConfig, encoder: TextEncoder | None, run: FitRun) -> Fitted:
    """Train every part of a model on a taxonomy.

    Parameters
    ----------
    taxonomy : Taxonomy
        Has concepts and no cycle (`check_fittable`).
    config : PolarisConfig
        All settings; paths of encoders are absolute (`with_absolute_paths`).
    encoder : TextEncoder or None
        None loads the one the settings name.
    run : FitRun
        Random state, checkpoints, starting weights and progress.

    Returns
    -------
    Fitted
        The trained parts together with the taxonomy they answer for.
    """
    prior = load_prior(config.ranking)
    taxonomy, image_encoder = collection.locate(taxonomy, config.images.encoder)
    encoder = load_encoder(config) if encoder is None else text_encoders.check_encoder(encoder)
    encoding = f"encoding {len(taxonomy):,} concepts"
    run.progress(0, 1, encoding)
    space = embedding.fit(
        encoder,
        taxonomy,
        config,
        TrainingRun(
            run.random_state,
            Checkpoints(run.checkpoints, run.resume),
            lambda epoch, total: run.progress(epoch.number, total, "training the embedding"),
        ),
        start=run.start,
        encoding=lambda done, total: run.progress(done, total, encoding),
    )
    ranker = Ranker.fit(
        taxonomy,
        space.refit,
        config,
        prior,
        gamma=gamma.gamma(space.head, taxonomy, config.orbit),
        random_state=run.random_state,
        progress=run.progress,
    )
    fitted = assemble(
        encoder=space.encoder,
        network=space.head.network,
        ranker=ranker,
        insertion=None,
        history=space.head.history,
        taxonomy=taxonomy,
        text_vectors=space.views,
    )
    images = None
    if image_encoder:
        run.progress(0, 1, f"encoding images of {sum(map(bool, taxonomy.images)):,} concepts")
        images = ImageModel.fit(taxonomy, image_encoder, fitted.untuned_vectors, config, run.random_state)
    insertion = Insertion.fit(taxonomy, fitted.untuned_vectors, run.random_state)
    start_digest = None if run.start is None else run.start.digest()
    return replace(fitted, insertion=insertion, image_model=images, start_digest=start_digest)


def check_fittable(taxonomy: Taxonomy) -> None:
    """Raise `InputError` for a taxonomy that nothing can be placed in: one without concepts, or with a cycle."""
    if len(taxonomy) == 0:
        raise InputError("the taxonomy holds no concepts: there is nothing to place others below")
    taxonomy.refuse_cycles()


def load_encoder(config: PolarisConfig) -> TextEncoder:
    """The text encoder that the settings name."""
    settings = config.encoder
    return text_encoders.load(settings.name, max_tokens=settings.max_tokens, prefix=settings.prefix)


def with_encoder(config: PolarisConfig, name: str | PathLike[str]) -> PolarisConfig:
    """The settings with another text encoder: a name, a folder or a file of vectors."""
    return config.model_copy(update={"encoder": config.encoder.model_copy(update={"name": fspath(name)})})


def with_absolute_paths(config: PolarisConfig) -> PolarisConfig:
    """The settings with absolute paths of encoders on this machine, so that a model can be used from any folder."""
    images = config.images.model_copy(update={"encoder": _absolute_path(config.images.encoder)})
    names = text_encoders.part_names(config.encoder.name)
    name = combined.BETWEEN.join(map(_absolute_path, names))
    return with_encoder(config, name).model_copy(update={"images": images})


def _absolute_path(encoder: str) -> str:
    place = expand_home(encoder)
    reserved = (*weights.PACKAGES, efficientnet.NAME, collection.AUTO, collection.NONE)
    return str(place.absolute()) if encoder not in reserved and place.exists() else encoder
