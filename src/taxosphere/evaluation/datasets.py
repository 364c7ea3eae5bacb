"""Where benchmark taxonomies are: a name in a data folder, or the path of any taxonomy."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy, split
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.registry import ReadOptions

VARIABLE = "TAXOSPHERE_DATA"
EDAM = "edam"  # the ontology that the package edam-ontology carries; the shipped prior was trained on it
TEXT_BENCHMARKS = ("semeval_env", "semeval_sci", "wordnet_pooled", "semeval_food_temp", "mesh", "semeval_verb")


@dataclass(frozen=True)
class Dataset:
    """A benchmark or a user's taxonomy: its name in tables and where it is."""

    name: str
    path: Path

    @property
    def has_split(self) -> bool:
        return (self.path / "split.tsv").is_file()

    def read(self, options: ReadOptions | None = None) -> tuple[Taxonomy, Mapping[str, str] | None]:
        """The taxonomy and its published split, where it has one."""
        return registry.read(self.path, options), split.read_parts(self.path) if self.has_split else None


def folders(data: str | os.PathLike[str] | None = None) -> list[Path]:
    """Data folders that exist: the one that is named, else the environment's, else ``shared/data`` beside us."""
    named = data or os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_dir():
            raise InputError("this data folder does not exist", named)
        return [Path(named)]
    checkout = Path(__file__).resolve().parents[3]
    beside = (Path.cwd().parent, checkout.parent, Path.cwd())
    return [place for place in dict.fromkeys(near / "shared" / "data" for near in beside) if place.is_dir()]


def find(name: str, data: str | os.PathLike[str] | None = None) -> Dataset:
    """A benchmark by name, EDAM where its package is installed, or any taxonomy by path."""
    for folder in folders(data):
        if "/" not in name and (folder / name).is_dir():
            return Dataset(name, folder / name)
    if name == EDAM and (packaged := importlib.util.find_spec("edam_ontology")) and packaged.origin:
        return Dataset(EDAM, Path(packaged.origin).parent / "EDAM.tsv")
    path = Path(name)
    if path.exists():
        return Dataset(path.resolve().name, path)
    every = (item for folder in folders(data) for item in folder.iterdir())
    benchmarks = sorted({item.name for item in every if (item / "nodes.tsv").is_file()})
    listed = (
        f"known names: {', '.join(benchmarks)}"
        if benchmarks
        else f"set {VARIABLE} or --data to the folder of benchmarks"
    )
    raise InputError(f"there is no taxonomy '{name}'; {listed}")


# Concepts of these are asked of other taxonomies as queries that do not belong: everyday, medical and verbal concepts.
FOREIGN = ("semeval_food_temp", "mesh", "semeval_verb")
RELATIVES = {"semeval_food": "semeval_food_temp"}  # other releases of the same taxonomy


def foreign_to(name: str, data: str | os.PathLike[str] | None = None) -> list[Dataset]:
    """Benchmarks whose concepts do not belong into the taxonomy ``name``; ``data`` as in `folders`.

    Raises `InputError` where no benchmark is at hand.
    """
    same = RELATIVES.get(name, name)
    places = [folder / other for folder in folders(data) for other in FOREIGN if other != same]
    sources = [Dataset(place.name, place) for place in places if (place / "nodes.tsv").is_file()]
    if not sources:
        raise InputError("no other taxonomy is at hand to ask foreign concepts of; name one with --foreign")
    return sources
