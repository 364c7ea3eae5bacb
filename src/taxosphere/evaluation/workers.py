"""One cell of a bench, run here or in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from taxosphere.evaluation import protocol, records
from taxosphere.evaluation.datasets import Dataset, foreign_to
from taxosphere.evaluation.records import Record
from taxosphere.methods import registry as methods
from taxosphere.scale.executors import Executor, InProcess

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder


@dataclass(frozen=True)
class Setup:
    """What all cells of a folder have in common; runs of different set-ups never share a table."""

    split: protocol.SplitKind = "published"
    queries: protocol.Queries = "leaves"
    encoder: str = "minilm"
    descriptions: bool = True


@dataclass(frozen=True)
class Cell:
    """One run of a bench. Studies vary a method's settings, remove edges of the seed, or probe the fitted method."""

    dataset: Dataset
    method: str
    random_state: int
    setup: Setup
    label: str = ""  # its row in the table; the method's name where it has none
    settings: tuple[tuple[str, str], ...] = ()
    removed: float = 0.0  # share of the seed's edges that is taken away before fitting
    images: str = ""  # asked about images: how many labels ("20", "all"), or "unseen"
    probe: str = ""  # "module:function", called with the fitted method and the split; its answer is kept
    data: str | None = None  # folder of the benchmarks whose concepts are foreign ones in scenarios

    @property
    def key(self) -> records.Key:
        return self.dataset.name, self.label or self.method, self.random_state


def run_cells(cells: Sequence[Cell], executor: Executor) -> Iterator[tuple[Cell, Record | Exception]]:
    """Each cell with its record, or with the exception it raised, in the order in which they finish.

    Parameters
    ----------
    cells : sequence of Cell
    executor : Executor
        Where they run.
    """
    if not isinstance(executor, InProcess):  # each text is encoded once, before cells race for it
        for _ in executor.unordered(_warm, list({cell.dataset: cell for cell in cells}.values())):
            continue
    yield from executor.unordered(_attempt, cells)


def _attempt(cell: Cell) -> Record | Exception:
    try:
        return work(cell)
    except Exception as error:
        return error


def _warm(cell: Cell) -> None:
    """`warm`; what goes wrong is told by the cell itself."""
    with suppress(Exception):
        warm(cell)


@cache
def _encoder(name: str) -> TextEncoder:
    from taxosphere.encoders.text import registry as text_encoders

    return text_encoders.load(name)


@cache
def _dataset(dataset: Dataset, descriptions: bool) -> tuple[Any, Any, tuple[str, ...]]:
    taxonomy, parts = dataset.read()
    taxonomy, repairs = protocol.prepare(taxonomy, repair=True, descriptions=descriptions)
    return taxonomy, parts, repairs


def warm(cell: Cell) -> None:
    """Encode the texts of a cell's data set, so that they are in the cache."""
    if cell.images:
        return
    taxonomy, _, _ = _dataset(cell.dataset, cell.setup.descriptions)
    _encoder(cell.setup.encoder).encode([concept.text for concept in taxonomy.concepts()])


def work(cell: Cell) -> Record:
    """Run a cell; returns its record."""
    if cell.images:
        from taxosphere.evaluation import image_tasks

        return image_tasks.work(cell.dataset.path, cell.images, cell.method, cell.random_state, cell.setup.encoder)
    if cell.setup.split == "scenarios":
        return _scenarios(cell)
    taxonomy, parts, repairs = _dataset(cell.dataset, cell.setup.descriptions)
    published = cell.setup.split == "published" and parts is not None  # only benchmarks have a published split
    plan = protocol.Plan("published", cell.setup.queries) if published else protocol.Plan("leaves")
    part = protocol.drop_edges(
        protocol.make_split(taxonomy, parts, plan, cell.random_state), cell.removed, cell.random_state
    )
    method = methods.create(cell.method, dict(cell.settings))
    run = protocol.run(method, part, _encoder(cell.setup.encoder), cell.random_state)
    name = cell.label or cell.method
    line = records.record(cell.dataset.name, name, plan.split, run, repairs)
    if cell.probe:
        module, _, function = cell.probe.partition(":")
        line["probe"] = getattr(import_module(module), function)(method, part)
    return line


def _scenarios(cell: Cell) -> Record:
    """Ask every scenario of the cell's data set; foreign concepts come from benchmarks beside it."""
    from taxosphere.evaluation import scenario_protocol

    taxonomy, _, repairs = _dataset(cell.dataset, cell.setup.descriptions)
    beside = foreign_to(cell.dataset.name, cell.data)
    run = scenario_protocol.run(
        taxonomy,
        [_dataset(other, cell.setup.descriptions)[0] for other in beside],
        methods.create(cell.method, dict(cell.settings)),
        encoder=_encoder(cell.setup.encoder),
        random_state=cell.random_state,
    )
    return scenario_protocol.record(cell.dataset.name, cell.label or cell.method, run, repairs)
