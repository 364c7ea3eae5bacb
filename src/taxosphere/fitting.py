"""Fitting a model: encode the taxonomy, train the sphere, train the ranker, calibrate, add the image side."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path

from taxosphere import memory
from taxosphere.encoders import weights
from taxosphere.encoders.device import CPU
from taxosphere.encoders.image import efficientnet
from taxosphere.encoders.text import combined
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.errors import InputError, kind_of
from taxosphere.images import collection
from taxosphere.images.model import ImageModel
from taxosphere.model import embedding, gamma
from taxosphere.model.checkpoint import Checkpoints
from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.model.presets import auto
from taxosphere.model.training import TrainingRun
from taxosphere.placing.inference import Fitted, assemble
from taxosphere.placing.insertion import Insertion
from taxosphere.placing.new_parents import NewParents
from taxosphere.ranking.foreign import foreign_concepts
from taxosphere.ranking.lexical.tokens import ConceptTokens
from taxosphere.ranking.prior import load_prior
from taxosphere.ranking.ranker_training import fit_ranker
from taxosphere.ranking.reading import MakeReader, ShortlistReader
from taxosphere.readers.reader import CROSS_ENCODER
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats.io.streams import expand_home
from taxosphere.typing import RANDOM_STATES, Progress

EncoderLike = TextEncoder | str | PathLike[str]
"""An encoder, or the name, folder or file of one."""

_LOG = logging.getLogger("taxosphere")


class LoggedProgress:
    """Passes progress on to a caller, and the name of each new step to the logger "taxosphere"."""

    def __init__(self, progress: Progress | None) -> None:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is called as progress(done, total, what), which {kind_of(progress)} cannot be")
        self._progress = progress
        self._step = ""

    def __call__(self, done: int, total: int, what: str) -> None:
        if what != self._step:
            self._step = what
            _LOG.info(what)
        if self._progress is not None:
            self._progress(done, total, what)


# At the peak of a fit. Of a concept: vectors that are held at once, those that several encoders add, and the rest.
_VECTORS, _VECTORS_OF_PARTS, _OTHER_BYTES = 4, 4, 2000
# Of the ranker, whose examples grow with the seed up to this many concepts.
_RANKER_BYTES, _RANKER_CONCEPTS = 1.3e9, 2000


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
    device : str
        Where concepts are encoded and heads are trained.
    """

    random_state: int
    checkpoints: Path | None
    resume: bool
    start: SphereNetwork | None
    progress: Progress
    device: str = CPU

    @property
    def start_digest(self) -> str | None:
        """Digest of the weights to begin from, where there are any."""
        return None if self.start is None else self.start.digest()

    def training(self) -> TrainingRun:
        """What the trainings of the embedding share."""
        return TrainingRun(
            self.random_state,
            Checkpoints(self.checkpoints, self.resume),
            lambda epoch, total: self.progress(epoch.number, total, "training the embedding"),
            self.device,
        )


@memory.reused()
def fit_model(taxonomy: Taxonomy, config: PolarisConfig, encoder: EncoderLike | None, run: FitRun) -> Fitted:
    """Train every part of a model on a taxonomy.

    Parameters
    ----------
    taxonomy : Taxonomy
        One without concepts or with a cycle is refused (`check_fittable`).
    config : PolarisConfig
        All settings; paths of encoders are absolute (`with_absolute_paths`).
    encoder : TextEncoder, str, path or None
        All but an object load the one the settings name.
    run : FitRun
        Random state, checkpoints, starting weights, progress and device.

    Returns
    -------
    Fitted
        The trained parts together with the taxonomy they answer for.
    """
    check_fittable(taxonomy)
    config = embedding.limit_examples(taxonomy, config)
    prior = load_prior(config.ranking)
    taxonomy, image_encoder = collection.locate(taxonomy, config.images.encoder)
    encoder = _encoder_to_use(config, encoder, run.device)
    _require_memory(len(taxonomy), encoder)
    run.progress(0, 1, encoding := f"encoding {len(taxonomy):,} concepts")
    foreign = foreign_concepts(encoder)
    space = embedding.fit(
        encoder,
        taxonomy,
        config,
        run.training(),
        start=run.start,
        encoding=lambda done, total: run.progress(done, total, encoding),
        foreign=foreign,
    )
    tokens = ConceptTokens.parse(taxonomy.concepts())
    ranker = fit_ranker(
        taxonomy,
        space.refit,
        config,
        prior,
        vectors=space.with_foreign,
        foreign=foreign,
        make_reader=_make_reader(encoder, config, run) if config.ranking.reader else None,
        tokens=tokens,
        gamma=gamma.gamma(space.head, taxonomy, config.orbit),
        random_state=run.random_state,
        progress=run.progress,
    )
    fitted = assemble(
        encoder=space.encoder,
        network=space.head.network,
        ranker=ranker,
        history=space.head.history,
        taxonomy=taxonomy,
        text_vectors=space.views,
        tokens=tokens,
    )
    return _with_further_models(fitted, image_encoder, config, run)


def _with_further_models(fitted: Fitted, image_encoder: str, config: PolarisConfig, run: FitRun) -> Fitted:
    """With what is trained beside the ranker: on images, and for `expand` insertions and parents among new concepts."""
    data = fitted.index.taxonomy, fitted.untuned_vectors, run.random_state
    return replace(
        fitted,
        insertion=Insertion.fit(*data, fitted.ranker.out_of_fold.first_places),
        new_parents=NewParents.fit(*data),
        image_model=_fit_images(fitted, image_encoder, config, run) if image_encoder else None,
        start_digest=run.start_digest,
    )


def _encoder_to_use(config: PolarisConfig, encoder: EncoderLike | None, device: str) -> TextEncoder:
    """The caller's own encoder where it is an object, else the one that the settings name."""
    if encoder is None or isinstance(encoder, str | PathLike):
        return load_encoder(config, device)
    return text_encoders.check_encoder(encoder)


def _make_reader(encoder: TextEncoder, config: PolarisConfig, run: FitRun) -> MakeReader:
    """Second readers as the settings name them; a cross-encoder begins from the encoder before any fine-tuning."""
    from taxosphere.readers.registry import reader_for

    source, depth = config.ranking.reader, config.ranking.reader_depth
    make = reader_for(source, encoder, lambda done, total: run.progress(done, total, "training the second reader"))
    return lambda seed, random_state: ShortlistReader(make(seed, random_state), depth)


def _require_memory(n_concepts: int, encoder: TextEncoder) -> None:
    dim = encoder.dim
    n_vectors = _VECTORS + (_VECTORS_OF_PARTS if text_encoders.part_dims(encoder) else 0)
    memory.require(
        n_concepts * (n_vectors * 4 * dim + _OTHER_BYTES) + _RANKER_BYTES * min(1, n_concepts / _RANKER_CONCEPTS),
        f"fitting {n_concepts:,} concepts with vectors of {dim} numbers",
        "fit a part of the taxonomy, use an encoder with shorter vectors, or a machine with more memory",
    )


def _fit_images(fitted: Fitted, encoder_name: str, config: PolarisConfig, run: FitRun) -> ImageModel | None:
    taxonomy = fitted.index.taxonomy
    run.progress(0, 1, f"encoding images of {sum(map(bool, taxonomy.images)):,} concepts")
    return ImageModel.fit(taxonomy, encoder_name, fitted.untuned_vectors.full, config, run.random_state, run.device)


def check_fittable(taxonomy: Taxonomy) -> None:
    """Raise `InputError` for a taxonomy that nothing can be placed in: one without concepts, or with a cycle."""
    if not isinstance(taxonomy, Taxonomy):
        raise TypeError(f"a Taxonomy is expected, not {kind_of(taxonomy)}")
    if len(taxonomy) == 0:
        raise InputError("the taxonomy holds no concepts: there is nothing to place others below")
    taxonomy.refuse_cycles()


def as_taxonomy(source: Taxonomy | str | PathLike[str]) -> Taxonomy:
    """The taxonomy itself, or the one in the file of that path; `TypeError` for anything else."""
    if isinstance(source, str | PathLike):
        return Taxonomy.read(source)
    if not isinstance(source, Taxonomy):
        raise TypeError(f"a Taxonomy or the path of one is fitted, not {kind_of(source)}")
    return source


def settings_for(
    taxonomy: Taxonomy, config: PolarisConfig | None, encoder: EncoderLike | None, random_state: int | None
) -> PolarisConfig:
    """All settings of a fit.

    Parameters
    ----------
    taxonomy : Taxonomy
        Its size chooses the settings where there are none.
    config : PolarisConfig or None
        Settings to start from.
    encoder : TextEncoder, str, path or None
        A name or path replaces the encoder of the settings.
    random_state : int or None
        Replaces the one of the settings.

    Returns
    -------
    PolarisConfig
        With absolute paths (`with_absolute_paths`).

    Raises
    ------
    InputError
        The random state is out of range.
    TypeError
        It is no whole number.
    """
    config = config or auto(taxonomy)
    if isinstance(encoder, str | PathLike):
        config = with_encoder(config, encoder)
    if not isinstance(random_state, Integral | None):
        raise TypeError(f"a random state is a whole number, not {random_state!r}")
    state = config.seed if random_state is None else int(random_state)
    if not 0 <= state < RANDOM_STATES:
        raise InputError(f"the random state is {state}; it lies between 0 and {RANDOM_STATES - 1:,}")
    return with_absolute_paths(config).model_copy(update={"seed": state})


def starting_network(fitted: Fitted, fitted_with: PolarisConfig | None, config: PolarisConfig) -> SphereNetwork:
    """The sphere network of a fitted model, to begin another one from.

    Parameters
    ----------
    fitted : Fitted
        The earlier model.
    fitted_with : PolarisConfig or None
        Its settings.
    config : PolarisConfig
        Those of the model to be fitted.

    Returns
    -------
    SphereNetwork
        Of the earlier model.

    Raises
    ------
    InputError
        The two have another encoder or network, or the earlier one fine-tuned its encoder.
    """
    if text_encoders.untuned(fitted.encoder) is not fitted.encoder:
        raise InputError("the model to begin from stands on an encoder of its own; begin from a frozen one")
    if fitted_with is None or fitted_with.network != config.network or fitted_with.encoder != config.encoder:
        raise InputError("the model to begin from has another encoder or network; use its settings")
    return fitted.network


def load_encoder(config: PolarisConfig, device: str = CPU) -> TextEncoder:
    """The text encoder that the settings name, on a device."""
    settings = config.encoder
    return text_encoders.load(settings.name, max_tokens=settings.max_tokens, prefix=settings.prefix, device=device)


def with_encoder(config: PolarisConfig, name: str | PathLike[str]) -> PolarisConfig:
    """The settings with another text encoder: a name, a folder or a file of vectors."""
    return config.model_copy(update={"encoder": config.encoder.model_copy(update={"name": fspath(name)})})


def with_absolute_paths(config: PolarisConfig) -> PolarisConfig:
    """The settings with absolute paths of encoders on this machine, so that a model can be used from any folder."""
    images = config.images.model_copy(update={"encoder": _absolute_path(config.images.encoder)})
    names = text_encoders.part_names(config.encoder.name)
    name = combined.BETWEEN.join(map(_absolute_path, names))
    ranking = config.ranking.model_copy(update={"reader": _absolute_path(config.ranking.reader)})
    return with_encoder(config, name).model_copy(update={"images": images, "ranking": ranking})


def _absolute_path(encoder: str) -> str:
    place = expand_home(encoder)
    reserved = ("", CROSS_ENCODER, *weights.PACKAGES, efficientnet.NAME, collection.AUTO, collection.NONE)
    return str(place.absolute()) if encoder not in reserved and place.exists() else encoder
