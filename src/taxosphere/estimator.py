"""What every fitted model offers besides its own verbs: scikit-learn's manners, and a look inside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from taxosphere import memory
from taxosphere.errors import kind_of
from taxosphere.images.model import ImageModel
from taxosphere.model.config import PolarisConfig
from taxosphere.model.history import Epoch
from taxosphere.placing import inference, inspection
from taxosphere.placing.concept_list import New, as_concepts
from taxosphere.placing.inference import Fitted, RankedBatch
from taxosphere.placing.inspection import Embeddings
from taxosphere.ranking.out_of_fold import OutOfFold
from taxosphere.ranking.ranker import scores_of_all
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    import pandas as pd


class Estimator(ABC):
    """Parameters, predictions and inspection of a model whose trained parts are in `fitted`.

    Parameters
    ----------
    **params
        Constructor parameters of the model, as `get_params` returns them.

    Attributes
    ----------
    config : PolarisConfig or None
        The settings; after a fit, those it was fitted with.
    """

    def __init__(self, **params: Any) -> None:
        self._params = params
        self.config: PolarisConfig | None = params["config"]
        self._fitted: Fitted | None = None

    @property
    @abstractmethod
    def fitted(self) -> Fitted:
        """The trained parts and the taxonomy they answer for; `TaxosphereError` before a fit."""

    @property
    @abstractmethod
    def taxonomy(self) -> Taxonomy:
        """The taxonomy that suggestions refer to."""

    # -- scikit-learn -------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's signature
        """Constructor parameters, as scikit-learn's `clone` asks for them.

        Parameters
        ----------
        deep : bool
            Makes no difference: no parameter is an estimator itself.

        Returns
        -------
        dict
            Values by name.
        """
        return dict(self._params)

    def set_params(self, **params: Any) -> Self:
        """Change constructor parameters; the next `fit` uses them.

        Parameters
        ----------
        **params
            New values by name.

        Returns
        -------
        Self
            This model.

        Raises
        ------
        ValueError
            There is no such parameter.
        """
        unknown = sorted(set(params) - set(self._params))
        if unknown:
            raise ValueError(f"there is no parameter '{unknown[0]}'; there are {', '.join(self._params)}")
        type(self)(**self._params | params)  # refuses what the constructor refuses
        self._params |= params
        if "config" in params:
            self.config = params["config"]
        return self

    def predict(self, concepts: Iterable[New]) -> NDArray[np.object_]:
        """The best parent of each new concept.

        Parameters
        ----------
        concepts : iterable of str, (str, str) or Concept

        Returns
        -------
        array of shape (queries,)
            Ids.
        """
        queries = as_concepts(concepts, self.taxonomy)
        best = [suggestions[0].id for suggestions in inference.suggest_many(self.fitted, queries, k=1)]
        return np.array(best, dtype=object)

    def predict_proba(self, concepts: Iterable[New]) -> NDArray[np.float32]:
        """Probability of each concept of the taxonomy to be a parent of each new one.

        Parameters
        ----------
        concepts : iterable of str, (str, str) or Concept

        Returns
        -------
        array of shape (queries, concepts of the taxonomy)
            Columns as in `classes_`. A row adds up to one minus the probability that none of them is right; candidates
            outside the shortlist of a query have probability 0.
        """
        return self._rank(as_concepts(concepts, self.taxonomy), _probabilities)

    def score(self, queries: Iterable[Concept]) -> NDArray[np.float32]:
        """How good a parent each concept of the taxonomy is for each query.

        Parameters
        ----------
        queries : iterable of Concept
            New concepts.

        Returns
        -------
        array of shape (queries, concepts of the taxonomy)
            Higher is better; columns as in `classes_`.

        Raises
        ------
        TypeError
            A query is no `Concept`.
        """
        return self._rank(queries, lambda batch: scores_of_all(batch.ranking), all_scores=True)

    def _rank(
        self,
        queries: Iterable[Concept],
        take: Callable[[RankedBatch], NDArray[np.float32]],
        *,
        all_scores: bool = False,
    ) -> NDArray[np.float32]:
        if not isinstance(queries, Iterable):
            raise TypeError(f"a list of new concepts is expected, not {kind_of(queries)}")
        queries = list(queries)
        other = next((query for query in queries if not isinstance(query, Concept)), None)
        if other is not None:
            raise TypeError(f"a Concept is scored, not {kind_of(other)}; 'suggest' takes names")
        memory.require(
            4 * len(queries) * len(self.taxonomy),
            f"a table of {len(queries):,} × {len(self.taxonomy):,} numbers",
            "ask for fewer concepts at a time, or use 'suggest_many', which makes no table",
        )
        values = np.empty((len(queries), len(self.taxonomy)), np.float32)
        for batch in inference.rank_queries(self.fitted, queries, n_explained=0, all_scores=all_scores):
            values[batch.rows] = take(batch)
        return values

    @property
    def classes_(self) -> NDArray[np.object_]:
        """Ids of the taxonomy's concepts, the columns of `predict_proba` and `score`."""
        return np.array(self.taxonomy.ids, dtype=object)

    # -- looking inside -----------------------------------------------------------------------------------------------

    def embeddings(self) -> Embeddings:
        """Embeddings of the taxonomy's concepts.

        Returns
        -------
        Embeddings
            Points, directions, concentrations and orbital radii, by id.
        """
        return inspection.embeddings(self.fitted)

    def features(self, concept: New, description: str = "") -> pd.DataFrame:
        """The features that the ranker reads for one new concept.

        Parameters
        ----------
        concept : str, (str, str) or Concept
            A name, a (name, description) pair, or a `Concept`.
        description : str
            What it is, where `concept` is a name.

        Returns
        -------
        pandas.DataFrame
            A row per candidate of the shortlist, indexed by id, and a column per feature.

        Raises
        ------
        InputError
            The concept has no name: features of images are not tabulated.
        """
        query = (concept, description) if isinstance(concept, str) and description else concept
        return inspection.features(self.fitted, as_concepts([query], self.taxonomy)[0])

    def summary(self) -> list[str]:
        """What was learned.

        Returns
        -------
        list of str
            A few lines for a person.
        """
        return inspection.summary(self.fitted, fine_tuned=self.config is not None and self.config.training.fine_tune)

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

    def __repr__(self) -> str:
        stated = ", ".join(f"{name}={value!r}" for name, value in self._params.items() if value is not None)
        return f"{type(self).__name__}({stated})" + ("" if self._fitted is None else f"  # {self._state()}")

    def _repr_html_(self) -> str:
        """What notebooks show: the parameters that were stated, and what was learned."""
        stated = {name: value for name, value in self._params.items() if value is not None}
        rows = "".join(f"<tr><th>{escape(n)}</th><td>{escape(repr(value))}</td></tr>" for n, value in stated.items())
        learned = "not fitted" if self._fitted is None else "<br>".join(map(escape, [self._state(), *self.summary()]))
        return f"<table><caption>{type(self).__name__}</caption>{rows}<tr><td colspan=2>{learned}</td></tr></table>"

    def _state(self) -> str:
        return f"fitted on {len(self.taxonomy):,} concepts"


def _probabilities(batch: RankedBatch) -> NDArray[np.float32]:
    """(q, n): probabilities of the shortlist at their candidates' columns, 0 elsewhere."""
    values = np.zeros((len(batch.rows), len(batch.index.taxonomy)), np.float32)
    np.put_along_axis(values, batch.ranking.positions, batch.ranking.probabilities, 1)
    return values
