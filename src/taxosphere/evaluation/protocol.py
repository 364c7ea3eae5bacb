"""The honest protocol: hide, fit on what is left, ask once, count.

A method receives the seed and, block by block, the texts of the queries. It never sees a gold parent, a hidden concept
or the whole taxonomy, so nothing it learns, tunes or stops on can come from the answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from taxosphere import artifact
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.errors import InputError
from taxosphere.evaluation import metrics, significance
from taxosphere.evaluation.metrics import Outcome
from taxosphere.methods import registry as methods
from taxosphere.methods.registry import Method
from taxosphere.taxonomy import Concept, CycleError, Taxonomy, checks, split
from taxosphere.taxonomy.split import Split
from taxosphere.typing import Progress

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder

SplitKind = Literal["published", "leaves", "scenarios", "images", "unseen"]
Queries = Literal["leaves", "all"]
ProtocolName = Literal["honest", "paper"]
Spread = dict[str, float]  # {"mean": …, "std": …}

NOT_HONEST = (
    "not honest: the checkpoint was picked on the test queries and the gate counted on the full graph, as in the paper"
)
_CELLS = 1 << 24  # scores held at once


@dataclass(frozen=True)
class Plan:
    """How a method is measured.

    Attributes
    ----------
    split : str
        "published" reads the split of the data set, "leaves" hides a random fifth of the leaves; "images" and "unseen"
        are those of `image_tasks`.
    queries : str
        With "published": "leaves" asks for hidden leaves only, "all" for inner concepts too.
    runs : int
        Repetitions with other random states.
    random_state : int
        Random state of the first run.
    settings : mapping
        Settings of the method.
    protocol : str
        "honest", or "paper" to measure as the paper does as well (`run_both`).
    """

    split: SplitKind = "published"
    queries: Queries = "leaves"
    runs: int = 5
    random_state: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    protocol: ProtocolName = "honest"

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise InputError(f"{self.runs} runs cannot be averaged; ask for at least one")
        if self.split == "leaves" and self.queries == "all":
            raise InputError("the split 'leaves' hides leaves only, so 'queries all' has nothing to add")


@dataclass(frozen=True)
class Run:
    """One fit and one pass over the queries.

    Attributes
    ----------
    random_state : int
    candidates : int
        Number of concepts that were ranked.
    outcome : Outcome
        Ranks and similarities of every query.
    fit_seconds, query_seconds : float
        Seconds of the fit, and of one query.
    seed_hash : str
        Hash of the seed taxonomy.
    config : mapping
        Settings of the method.
    history : mapping
        Loss and validation curves by name.
    collapsed : bool
        Whether the training ended with all concepts in one place.
    protocol : str
        "honest", or "paper": see `NOT_HONEST`.
    """

    random_state: int
    candidates: int
    outcome: Outcome
    fit_seconds: float
    query_seconds: float
    seed_hash: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    history: Mapping[str, Sequence[float]] = field(default_factory=dict)
    collapsed: bool = False
    protocol: ProtocolName = "honest"

    @property
    def metrics(self) -> dict[str, float]:
        """The paper's metrics of this run."""
        return metrics.summary(self.outcome)


@dataclass(frozen=True)
class Result:
    """All runs of one method on one taxonomy, beside the references that need no training.

    With the paper's protocol ``runs`` are measured by it and ``honest`` has the same trainings measured honestly.
    """

    dataset: str
    method: str
    plan: Plan
    runs: tuple[Run, ...]
    references: Mapping[str, tuple[Run, ...]] = field(default_factory=dict)
    honest: tuple[Run, ...] = ()

    @property
    def metrics(self) -> dict[str, Spread]:
        """Mean and deviation of every metric over the runs."""
        return mean_std([run.metrics for run in self.runs])

    def _beside(self) -> dict[str, Any]:
        """With the paper's protocol: that it is not honest, and the honest metrics."""
        if not self.honest:
            return {}
        return {"warning": NOT_HONEST, "honest": mean_std([run.metrics for run in self.honest])}

    @property
    def hit_interval(self) -> list[float]:
        """Wilson's 95 % interval of Hit@1 over the runs, as percentages."""
        ranks = [run.outcome.best for run in self.runs]
        _, low, high = significance.hit_interval(ranks, same_queries=self.plan.split == "published")
        return [100 * low, 100 * high]

    def document(self) -> dict[str, Any]:
        """The JSON document of `taxosphere evaluate --json`; a warning stands first where it is not honest."""
        figures = {
            "dataset": self.dataset,
            "method": self.method,
            "split": self.plan.split,
            "runs": len(self.runs),
            "candidates": self.runs[0].candidates,
            "queries": len(self.runs[0].outcome.sizes),
            "metrics": self.metrics,
            "seconds": {
                "fit": float(np.mean([run.fit_seconds for run in self.runs])),
                "per_query": float(np.mean([run.query_seconds for run in self.runs])),
            },
            "references": {name: mean_std([run.metrics for run in runs]) for name, runs in self.references.items()},
            "protocol": self.plan.protocol,
            "collapsed": sum(run.collapsed for run in self.runs),
            "hit@1_interval": self.hit_interval,
        }
        if not self.honest:
            return figures
        return {"warning": NOT_HONEST, **figures, "honest": mean_std([run.metrics for run in self.honest])}


def mean_std(rows: Sequence[Mapping[str, float]]) -> dict[str, Spread]:
    """Mean and sample standard deviation (0 for a single run) of each metric."""
    spreads = {}
    for name in rows[0]:
        column = np.array([row[name] for row in rows])
        rest = column - column[0]  # equal runs then deviate by exactly 0
        deviation = float(rest.std(ddof=1)) if len(rows) > 1 else 0.0
        spreads[name] = {"mean": float(column[0] + rest.mean()), "std": deviation}
    return spreads


def prepare(taxonomy: Taxonomy, *, repair: bool = False, descriptions: bool = True) -> tuple[Taxonomy, tuple[str, ...]]:
    """The taxonomy as it is evaluated, and one line for every edge that was dropped.

    A cycle raises `CycleError` unless ``repair`` is set; ``descriptions=False`` removes all descriptions.

    Images are removed: methods are compared on texts (`image_tasks` asks about images).
    """
    taxonomy = replace(taxonomy, images=())
    if not descriptions:
        taxonomy = replace(taxonomy, descriptions=("",) * len(taxonomy))
    try:
        taxonomy.order  # noqa: B018 - raises where the graph is cyclic
    except CycleError:
        if not repair:
            raise
        taxonomy, repaired = checks.repair(taxonomy)
        # The file without its folder: records travel between machines.
        return taxonomy, tuple(f"{Path(problem.where).name}: {problem.text}" for problem in repaired)
    return taxonomy, ()


def make_split(taxonomy: Taxonomy, parts: Mapping[str, str] | None, plan: Plan, random_state: int) -> Split:
    """Split a taxonomy into seed and queries.

    Parameters
    ----------
    taxonomy : Taxonomy
    parts : mapping, optional
        Part of every concept by id, as `Dataset.read` returns it; needed for "published".
    plan : Plan
    random_state : int
        Chooses the leaves; a published split is the same for all.

    Raises
    ------
    InputError
        The published split is asked for and there is none.
    """
    if plan.split == "leaves":
        return split.leaves(taxonomy, seed=random_state)
    if parts is None:
        raise InputError("this taxonomy has no split.tsv beside it; hide random leaves instead (--split leaves)")
    return split.published(taxonomy, parts, plan.queries)


def drop_edges(part: Split, share: float, random_state: int) -> Split:
    """The split with a random share of the seed's edges removed; all concepts stay candidates."""
    edges = part.seed.edge_array
    if not share:
        return part
    kept = np.sort(np.random.default_rng(random_state).permutation(len(edges))[round(share * len(edges)) :])
    return replace(part, seed=part.seed.with_edges(edges[kept]))


def blocks(queries: Sequence[Concept], candidates: int) -> Iterator[slice]:
    """Slices of the queries whose score matrices stay within a fixed amount of memory."""
    step = int(np.clip(_CELLS // max(1, candidates), 1, 512))
    return (slice(start, start + step) for start in range(0, len(queries), step))


def scores(method: methods.Scorer, part: Split) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    for block in blocks(part.queries, len(part.seed)):
        yield block, method.score(part.queries[block])


def run(method: Method, part: Split, encoder: TextEncoder, random_state: int) -> Run:
    """Fit on the seed, score every query once."""
    start = time.perf_counter()
    method.fit(part.seed, encoder=encoder, random_state=random_state)
    return ask(method, method, part, encoder, random_state, time.perf_counter() - start)


def run_both(
    method: Method, part: Split, taxonomy: Taxonomy, encoder: TextEncoder, random_state: int
) -> tuple[Run, Run]:
    """Measure a method by the paper's protocol and honestly, in this order.

    Parameters
    ----------
    method : Method
        One that is also `MeasuredTwice`.
    part : Split
        Of ``taxonomy``, which holds the queries at their true places.
    taxonomy : Taxonomy
    encoder : TextEncoder
    random_state : int

    Raises
    ------
    InputError
        The method has no checkpoint to pick: it learns nothing, or chooses nothing during training.
    """
    if not isinstance(method, methods.MeasuredTwice):
        raise InputError("this method picks no checkpoint and has no gate of its own; leave --protocol paper out")
    start = time.perf_counter()
    answers = methods.Answers(taxonomy, part.queries, part.gold)
    peeking = method.fit_both(part.seed, encoder=encoder, random_state=random_state, answers=answers)
    seconds = time.perf_counter() - start
    honest = ask(method, method, part, encoder, random_state, seconds)
    paper = ask(method, peeking, part, encoder, random_state, seconds)
    return replace(paper, protocol="paper"), honest


def ask(
    method: Method, scorer: methods.Scorer, part: Split, encoder: TextEncoder, random_state: int, fit_seconds: float
) -> Run:
    """Score every query once by ``scorer``, which ``method`` has fitted."""
    outcomes, spent = [], 0.0
    before = time.perf_counter()
    for block, rows in scores(scorer, part):
        spent += time.perf_counter() - before
        outcomes.append(metrics.judge(rows, part.gold[block], part.seed))
        before = time.perf_counter()
    return Run(
        random_state=random_state,
        candidates=len(part.seed),
        outcome=metrics.join(outcomes),
        fit_seconds=fit_seconds,
        query_seconds=spent / max(1, len(part.queries)),
        seed_hash=artifact.seed_hash(part.seed),
        config=configuration(method, encoder, random_state),
        history=getattr(method, "history", {}),
        collapsed=bool(getattr(method, "collapsed", False)),
    )


def configuration(method: Method, encoder: TextEncoder, random_state: int) -> dict[str, Any]:
    """Settings of a method, where it keeps them as a pydantic model, with its encoder and random state."""
    dumps = (getattr(getattr(method, name, None), "model_dump", None) for name in ("config", "settings"))
    dump = next(filter(None, dumps), None)
    settings: dict[str, Any] = {} if dump is None else dump(mode="json")
    return settings | {"encoder": text_encoders.description(encoder), "seed": random_state}


class _Counted:
    """Tells a caller which run begins, and how many there are."""

    def __init__(self, progress: Progress | None, runs: int, total: int) -> None:
        self._progress, self._runs, self._total, self._begun = progress, runs, total, 0

    def __call__(self, label: str, number: int) -> None:
        if self._progress:
            self._progress(self._begun, self._total, f"{label}, run {number + 1} of {self._runs}")
        self._begun += 1

    def done(self) -> None:
        if self._progress:
            self._progress(self._total, self._total, "done")


def evaluate(
    taxonomy: Taxonomy,
    method: str | Callable[[], Method],
    plan: Plan | None = None,
    *,
    encoder: TextEncoder,
    parts: Mapping[str, str] | None = None,
    dataset: str = "",
    references: Sequence[str] = methods.REFERENCES,
    progress: Progress | None = None,
) -> Result:
    """Measure a method on a taxonomy: hide concepts, fit on the rest, rank all candidates for each hidden one.

    Parameters
    ----------
    taxonomy : Taxonomy
        Without cycles; `prepare` removes them.
    method : str or callable
        A name of `taxosphere.methods.registry`, or a function that makes a new, unfitted method.
    plan : Plan, optional
        Split, number of runs, random state; default: five runs on the published split.
    encoder : TextEncoder
        Of the methods that encode texts; `taxosphere.encoders.text.registry.load` gives one by its name.
    parts : mapping, optional
        The published split, as `Dataset.read` returns it.
    dataset : str
        Name in the result.
    references : sequence of str
        Untrained methods to measure on the same splits.
    progress : callable, optional
        Called as ``progress(done, total, message)``.

    Returns
    -------
    Result
    """
    encoder = text_encoders.check_encoder(encoder)
    plan = plan or Plan()
    name = method if isinstance(method, str) else getattr(method, "__name__", "method")
    make: Callable[[], Method] = (lambda: methods.create(method, plan.settings)) if isinstance(method, str) else method
    # A fixed split and no randomness: one run of a reference says it all.
    repeated = plan.runs if plan.split == "leaves" else 1
    say = _Counted(progress, plan.runs, plan.runs + repeated * len(references))
    results, honest = list[Run](), list[Run]()
    others: dict[str, list[Run]] = {reference: [] for reference in references}
    for number in range(plan.runs):
        state = plan.random_state + number
        part = make_split(taxonomy, parts, plan, state)
        say(name, number)
        if plan.protocol == "paper":
            for runs, measured in zip((results, honest), run_both(make(), part, taxonomy, encoder, state), strict=True):
                runs.append(measured)
        else:
            results.append(run(make(), part, encoder, state))
        for reference in references if number < repeated else ():
            say(reference, number)
            others[reference].append(run(methods.create(reference), part, encoder, state))
    say.done()
    beside = {key: tuple(runs) for key, runs in others.items()}
    return Result(dataset, name, plan, tuple(results), beside, tuple(honest))
