"""The model as its users meet it: fit, suggest, expand, save, load."""

from __future__ import annotations

import logging
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from taxosphere import persistence
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.encoders.text.vectors import encode_text_vectors
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.fitting import FitRun, Progress, check_fittable, fit_model, with_absolute_paths, with_encoder
from taxosphere.images.model import ImageModel
from taxosphere.model.checkpoint import Epoch
from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.model.presets import auto
from taxosphere.placing import inference, inspection, place_list
from taxosphere.placing.concept_list import New, as_concepts
from taxosphere.placing.expansion import Expansion
from taxosphere.placing.inference import Fitted, assemble
from taxosphere.placing.inspection import Embeddings
from taxosphere.placing.suggestions import Suggestions
from taxosphere.ranking.out_of_fold import OutOfFold
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import RANDOM_STATES

if TYPE_CHECKING:
    import pandas as pd

_LOG = logging.getLogger("taxosphere")


class Polaris:
    """Suggests parents for new concepts of a taxonomy.

    Concepts are directions on a hypersphere, their level is an orbital radius, and a ranker trained on hidden concepts
    of the taxonomy combines both with the words of names and definitions into calibrated probabilities.

    Parameters
    ----------
    config : PolarisConfig, optional
        All settings. Without it `fit` chooses them by the size of the taxonomy.
    encoder : TextEncoder, str or path, optional
        A text encoder of yours, or the name, folder or file of one, in place of that in the settings.
    random_state : int, optional
        The same one gives the same model, bit for bit; the settings have 0.

    Attributes
    ----------
    config : PolarisConfig or None
        After `fit`, the settings it was fitted with.

    Examples
    --------
    >>> from taxosphere import Polaris, Taxonomy
    >>> model = Polaris().fit(Taxonomy.read("edam.obo"))            # doctest: +SKIP
    >>> model.suggest("protein folding", k=1)[0].name               # doctest: +SKIP
    'Protein folding analysis'
    """

    def __init__(
        self,
        config: PolarisConfig | None = None,
        *,
        encoder: TextEncoder | str | PathLike[str] | None = None,
        random_state: int | None = None,
    ) -> None:
        if not isinstance(config, PolarisConfig | None):
            raise TypeError(f"settings are a PolarisConfig, not {_kind(config)}; PolarisConfig.from_mapping makes one")
        self.config = config
        self._params: dict[str, Any] = {"config": config, "encoder": encoder, "random_state": random_state}
        self._fitted: Fitted | None = None

    # -- training -----------------------------------------------------------------------------------------------------

    def fit(
        self,
        taxonomy: Taxonomy | str | PathLike[str],
        *,
        encoder: TextEncoder | str | PathLike[str] | None = None,
        random_state: int | None = None,
        checkpoints: str | PathLike[str] | None = None,
        resume: bool = False,
        start: Polaris | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Train on a taxonomy, and on the images of its concepts where it has any.

        Parameters
        ----------
        taxonomy : Taxonomy, str or path
            The taxonomy, or a file of one in any supported format.
        encoder, random_state
            As in the constructor, for this fit.
        checkpoints : str or path, optional
            Folder in which the fit keeps what it needs to be resumed after a kill.
        resume : bool
            Continue from what `checkpoints` holds, to the same result as an uninterrupted fit.
        start : Polaris, optional
            An earlier model with the same encoder and network, whose embedding to begin from.
        progress : callable, optional
            Called as ``progress(done, total, what)``. The logger "taxosphere" hears the same at level INFO.

        Returns
        -------
        Polaris
            This model.

        Raises
        ------
        InputError
            The file is no taxonomy, or the taxonomy has no concepts or a cycle.
        """
        taxonomy = _as_taxonomy(taxonomy)
        config = self._params["config"] or auto(taxonomy)
        encoder = self._params["encoder"] if encoder is None else encoder
        if isinstance(encoder, str | PathLike):
            config, encoder = with_encoder(config, encoder), None
        random_state = self._params["random_state"] if random_state is None else random_state
        state = config.seed if random_state is None else operator.index(random_state)
        if not 0 <= state < RANDOM_STATES:
            raise InputError(f"the random state is {state}; it lies between 0 and {RANDOM_STATES - 1:,}")
        config = with_absolute_paths(config).model_copy(update={"seed": state})
        check_fittable(taxonomy)
        run = FitRun(
            random_state=state,
            checkpoints=None if checkpoints is None else Path(checkpoints),
            resume=resume,
            start=None if start is None else start.network_for(config),
            progress=_Steps(progress),
        )
        self._fitted = fit_model(taxonomy, config, encoder, run)
        self.config = config
        return self

    def adopt(self, taxonomy: Taxonomy) -> Self:
        """Answer for a changed taxonomy from now on, with what was learned before; nothing is trained.

        Parameters
        ----------
        taxonomy : Taxonomy
            For example the taxonomy of an `Expansion`.
        """
        check_fittable(taxonomy)
        fitted = self.fitted
        vectors = encode_text_vectors(fitted.encoder, list(taxonomy.concepts()))
        moved = assemble(
            encoder=fitted.encoder,
            network=fitted.network,
            ranker=fitted.ranker,
            insertion=fitted.insertion,
            history=fitted.history,
            taxonomy=taxonomy,
            text_vectors=vectors,
        )
        images = None if fitted.image_model is None else fitted.image_model.adopt(taxonomy, moved.untuned_vectors)
        self._fitted = replace(moved, image_model=images, start_digest=fitted.start_digest)
        return self

    # -- asking -------------------------------------------------------------------------------------------------------

    def suggest(
        self, concept: New = "", description: str = "", *, images: Sequence[str | PathLike[str]] = (), k: int = 10
    ) -> Suggestions:
        """Ranked parents of one new concept.

        Parameters
        ----------
        concept : str, (str, str) or Concept
            A name, a (name, description) pair, or a `Concept`.
        description : str
            What it is, where `concept` is a name.
        images : sequence of str or path
            Image files of it; a concept may be known by images alone.
        k : int
            How many parents to suggest.

        Returns
        -------
        Suggestions
            Best first; ``to_frame()`` gives a table.
        """
        if description or images:
            if not isinstance(concept, str):
                raise TypeError("a pair or a Concept brings its own description and images")
            if images and self.image_model is None:
                raise InputError("this model was fitted without images: ask without 'images'")
            files = [images] if isinstance(images, str) else images
            concept = Concept("", concept, description, images=tuple(map(str, files)))
        if isinstance(concept, str) and not concept.strip():
            raise InputError("a new concept needs a name (or images, where the model was fitted with some)")
        return next(self.suggest_many([concept], k=k))

    def suggest_many(self, concepts: Iterable[New], *, k: int = 10) -> Iterator[Suggestions]:
        """Ranked parents of many new concepts, computed block by block as they are asked for.

        Parameters
        ----------
        concepts : iterable of str, (str, str) or Concept
        k : int
            How many parents to suggest for each.
        """
        if k < 1:
            raise ValueError(f"k is {k}: at least one parent is suggested")
        return inference.suggest_many(self.fitted, as_concepts(concepts, self.taxonomy), k=k)

    def expand(
        self,
        concepts: Iterable[New],
        *,
        accept: float = 0.8,
        insert: float | None = None,
        progress: Progress | None = None,
    ) -> Expansion:
        """Place a whole list: attach what is at least `accept` sure, leave the rest to a person.

        New concepts may be parents of one another. The model itself stays as it is; `adopt` the grown taxonomy to go on
        from there.

        Parameters
        ----------
        concepts : iterable of str, (str, str) or Concept
        accept : float
            Least probability with which a concept is attached to its best parent.
        insert : float, optional
            Least probability with which existing children are moved below a new concept. None moves none.
        progress : callable, optional
            Called as ``progress(done, total, what)``.
        """
        if not 0 <= accept <= 1 or not 0 <= (insert or 0) <= 1:
            raise ValueError(f"accept ({accept}) and insert ({insert}) are probabilities: from 0 to 1")
        queries = as_concepts(concepts, self.taxonomy)
        return place_list.place_list(self.fitted, queries, accept=accept, insert=insert, progress=_Steps(progress))

    def score(self, queries: Iterable[Concept]) -> NDArray[np.float32]:
        """(queries, concepts of the taxonomy): how good a parent each is for each of ``queries``; higher is better."""
        return self._rank(queries, lambda batch: batch.ranking.scores)

    def predict(self, concepts: Iterable[New]) -> NDArray[np.object_]:
        """(queries,): the id of the best parent of each of ``concepts``."""
        best = [suggestions[0].id for suggestions in self.suggest_many(concepts, k=1)]
        return np.array(best, dtype=object)

    def predict_proba(self, concepts: Iterable[New]) -> NDArray[np.float32]:
        """(queries, concepts of the taxonomy): probability of each parent of ``concepts``, columns as in `classes_`.

        A row adds up to one minus the probability that none of them is right. Candidates outside the shortlist of a
        query have probability 0.
        """
        return self._rank(as_concepts(concepts, self.taxonomy), _probabilities)

    @property
    def classes_(self) -> NDArray[np.object_]:
        """Ids of the taxonomy's concepts, the columns of `predict_proba` and `score`."""
        return np.array(self.taxonomy.ids, dtype=object)

    def _rank(self, queries: Iterable[Concept], take: Any) -> NDArray[np.float32]:
        queries = list(queries)
        other = next((query for query in queries if not isinstance(query, Concept)), None)
        if other is not None:
            raise TypeError(f"a Concept is scored, not {_kind(other)}; 'suggest' takes names")
        values = np.empty((len(queries), len(self.taxonomy)), np.float32)
        for batch in inference.rank_queries(self.fitted, self.fitted.index, queries, n_explained=0):
            values[batch.rows] = take(batch)
        return values

    # -- looking inside -----------------------------------------------------------------------------------------------

    def embeddings(self) -> Embeddings:
        """Points, directions, concentrations and orbital radii of the taxonomy's concepts, by id."""
        return inspection.embeddings(self.fitted)

    def features(self, concept: New, description: str = "") -> pd.DataFrame:
        """The features the ranker reads for one new ``concept``: a row per candidate of the shortlist, indexed by id.

        ``description`` says what it is, where ``concept`` is a name.
        """
        query = (concept, description) if isinstance(concept, str) and description else concept
        return inspection.features(self.fitted, as_concepts([query], self.taxonomy)[0])

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy that suggestions refer to."""
        return self.fitted.index.taxonomy

    @property
    def history(self) -> tuple[Epoch, ...]:
        """Losses and validation MRR of the embedding, epoch by epoch."""
        return self.fitted.history

    @property
    def out_of_fold(self) -> OutOfFold:
        """Rankings of concepts hidden while the ranker was trained, made by nets that had not seen them."""
        return self.fitted.ranker.out_of_fold

    @property
    def image_model(self) -> ImageModel | None:
        """The image side; None for a model that was fitted without images."""
        return self.fitted.image_model

    def summary(self) -> list[str]:
        """What was learned, in a few lines."""
        return inspection.summary(self.fitted, fine_tuned=self.config is not None and self.config.training.fine_tune)

    def network_for(self, config: PolarisConfig) -> SphereNetwork:
        """The sphere network, to begin a model with the settings ``config`` from; `InputError` where they differ."""
        if text_encoders.untuned(self.fitted.encoder) is not self.fitted.encoder:
            raise InputError("the model to begin from stands on an encoder of its own; begin from a frozen one")
        if self.config is None or self.config.network != config.network or self.config.encoder != config.encoder:
            raise InputError("the model to begin from has another encoder or network; use its settings")
        return self.fitted.network

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's signature
        """Constructor parameters, as scikit-learn's `clone` asks for them; ``deep`` makes no difference."""
        return dict(self._params)

    def set_params(self, **params: Any) -> Self:
        """Change constructor parameters, given as keywords (``params``); the next `fit` uses them."""
        unknown = sorted(set(params) - set(self._params))
        if unknown:
            raise ValueError(f"there is no parameter '{unknown[0]}'; there are {', '.join(self._params)}")
        self._params |= params
        if "config" in params:
            self.config = params["config"]
        return self

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self._params.items() if value is not None)
        state = "" if self._fitted is None else f"  # fitted on {len(self.taxonomy):,} concepts"
        return f"Polaris({settings}){state}"

    @property
    def fitted(self) -> Fitted:
        """The trained parts and the taxonomy they answer for; `TaxosphereError` before `fit`."""
        if self._fitted is None:
            raise TaxosphereError("this model is not fitted yet; call fit, or load one")
        return self._fitted

    # -- on disk ------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write a model folder to ``path``, whole or not at all; a folder there that is no model is refused."""
        fitted = self.fitted
        assert self.config is not None
        persistence.save(fitted, self.config, path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, encoder: TextEncoder | str | PathLike[str] | None = None) -> Self:
        """Read the model folder at ``path``; it scores exactly as the model that was saved.

        ``encoder`` is needed where the model was fitted with one of the caller's, or where its folder was moved.
        """
        config, fitted = persistence.load(path, encoder)
        model = cls(config, encoder=encoder)
        model._fitted = fitted
        return model


class _Steps:
    """Passes progress on to the caller, and each new step to the logger."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._step = ""

    def __call__(self, done: int, total: int, what: str) -> None:
        if what != self._step:
            self._step = what
            _LOG.info(what)
        if self._progress is not None:
            self._progress(done, total, what)


def _probabilities(batch: inference.RankedBatch) -> NDArray[np.float32]:
    """(q, n): probabilities of the shortlist at their candidates' columns, 0 elsewhere."""
    values = np.zeros(batch.ranking.scores.shape, np.float32)
    np.put_along_axis(values, batch.ranking.positions, batch.ranking.probabilities, 1)
    return values


def _as_taxonomy(source: Taxonomy | str | PathLike[str]) -> Taxonomy:
    if isinstance(source, str | PathLike):
        return Taxonomy.read(source)
    if not isinstance(source, Taxonomy):
        raise TypeError(f"a Taxonomy or the path of one is fitted, not {_kind(source)}")
    return source


def _kind(thing: object) -> str:
    return f"a {type(thing).__name__}"
