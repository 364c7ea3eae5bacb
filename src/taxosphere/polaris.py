"""The model as its users meet it: fit, suggest, expand, save, load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Self

from taxosphere import fitting, persistence
from taxosphere.encoders.device import check_device
from taxosphere.errors import InputError, TaxosphereError, kind_of
from taxosphere.estimator import Estimator
from taxosphere.fitting import EncoderLike, FitRun, LoggedProgress
from taxosphere.model.config import PolarisConfig
from taxosphere.placing import inference, place_list
from taxosphere.placing.concept_list import New, as_concepts, one_concept
from taxosphere.placing.expansion import Expansion
from taxosphere.placing.inference import Fitted
from taxosphere.placing.suggestions import Suggestions
from taxosphere.taxonomy import Taxonomy
from taxosphere.typing import Progress


class Polaris(Estimator):
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
    device : str, optional
        Where texts and images are encoded and the embedding is trained, as torch names it: "cpu" (default), "cuda",
        "cuda:1", "mps". The ranker's small nets stay on the processor, and so do the results.

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
        encoder: EncoderLike | None = None,
        random_state: int | None = None,
        device: str | None = None,
    ) -> None:
        if not isinstance(config, PolarisConfig | None):
            raise TypeError(
                f"settings are a PolarisConfig, not {kind_of(config)}; PolarisConfig.from_mapping makes one"
            )
        super().__init__(config=config, encoder=encoder, random_state=random_state, device=device)

    def fit(
        self,
        taxonomy: Taxonomy | str | PathLike[str],
        *,
        encoder: EncoderLike | None = None,
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
        encoder : TextEncoder, str or path, optional
            As in the constructor, for this fit.
        random_state : int, optional
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
            The file is no taxonomy, the taxonomy has no concepts or a cycle, or there is no such device.
        TypeError
            Something else than a taxonomy or a path was given, or an encoder without name, dim and encode.
        """
        if not isinstance(start, Polaris | None):
            raise TypeError(f"a fit starts from a fitted Polaris, not {kind_of(start)}")
        taxonomy = fitting.as_taxonomy(taxonomy)
        encoder = self._params["encoder"] if encoder is None else encoder
        state = self._params["random_state"] if random_state is None else random_state
        config = fitting.settings_for(taxonomy, self._params["config"], encoder, state)
        run = FitRun(
            random_state=config.seed,
            checkpoints=None if checkpoints is None else Path(checkpoints),
            resume=resume,
            start=None if start is None else fitting.starting_network(start.fitted, start.config, config),
            progress=LoggedProgress(progress),
            device=check_device(self._params["device"]),
        )
        self._fitted = fitting.fit_model(taxonomy, config, encoder, run)
        self.config = config
        return self

    def adopt(self, taxonomy: Taxonomy) -> Self:
        """Answer for a changed taxonomy from now on, with what was learned before; nothing is trained.

        Parameters
        ----------
        taxonomy : Taxonomy
            For example the taxonomy of an `Expansion`.

        Returns
        -------
        Polaris
            This model.
        """
        fitting.check_fittable(taxonomy)
        self._fitted = inference.adopt(self.fitted, taxonomy)
        return self

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

        Raises
        ------
        InputError
            The concept has neither a name nor images that the model can read.
        TypeError
            `concept` is something else.
        """
        if images and self.image_model is None:
            raise InputError("this model was fitted without images: ask without 'images'")
        return next(self.suggest_many([one_concept(concept, description, images)], k=k))

    def suggest_many(self, concepts: Iterable[New], *, k: int = 10) -> Iterator[Suggestions]:
        """Ranked parents of many new concepts, computed block by block as they are asked for.

        Parameters
        ----------
        concepts : iterable of str, (str, str) or Concept
        k : int
            How many parents to suggest for each.

        Returns
        -------
        iterator of Suggestions
            In the order of `concepts`.
        """
        if not isinstance(k, Integral):
            raise TypeError(f"k is a whole number, not {k!r}")
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

        Returns
        -------
        Expansion
            The grown taxonomy, and what became of every new concept.
        """
        shares = (accept, 0 if insert is None else insert)
        if not all(isinstance(share, Real) and 0 <= share <= 1 for share in shares):
            raise ValueError(f"accept ({accept}) and insert ({insert}) are probabilities: from 0 to 1")
        queries, report = as_concepts(concepts, self.taxonomy), LoggedProgress(progress)
        return place_list.place_list(self.fitted, queries, accept=accept, insert=insert, progress=report)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a model folder, whole or not at all, replacing a model that is there.

        Parameters
        ----------
        path : str or path
            The folder.

        Raises
        ------
        InputError
            There is a folder already that is no model.
        """
        fitted = self.fitted
        assert self.config is not None
        persistence.save(fitted, self.config, path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, encoder: EncoderLike | None = None, device: str | None = None) -> Self:
        """Read a model folder; the model scores exactly as the one that was saved.

        Parameters
        ----------
        path : str or path
            The folder.
        encoder : TextEncoder, str or path, optional
            Needed where the model was fitted with an encoder object of the caller's, or where its folder was moved.
        device : str, optional
            Where new concepts are encoded, as in the constructor.

        Returns
        -------
        Polaris
            A fitted model.

        Raises
        ------
        InputError
            The folder is no model, is damaged, was written by another version, or needs an encoder.
        """
        config, fitted = persistence.load(path, encoder, check_device(device))
        model = cls(config, encoder=encoder, device=device)
        model._fitted = fitted
        return model

    @property
    def fitted(self) -> Fitted:
        """The trained parts and the taxonomy they answer for; `TaxosphereError` before `fit`."""
        if self._fitted is None:
            raise TaxosphereError("this model is not fitted yet; call fit, or load one")
        return self._fitted

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy that suggestions refer to."""
        return self.fitted.index.taxonomy
