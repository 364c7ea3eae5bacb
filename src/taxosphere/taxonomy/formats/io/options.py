"""What a user may say about a file: how it is to be read, and how it is to be written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, get_args

from taxosphere.errors import InputError

Merge = Literal["names"]
Dangling = Literal["refuse", "keep", "drop"]
Placement = Literal["end", "siblings"]
ORDERS = (("parent", "child"), ("child", "parent"))
ROLES = ("id", "name", "parent", "child", "description", "synonyms", "image")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a taxonomy file is read. Every reader takes one; the registry refuses options that a format does not use.

    Parameters
    ----------
    format : str, optional
        The suffix that the file should have, with or without its dot: ``"csv"`` for a table without a suffix.
    columns : (str, str), optional
        Order of an edge list without a header: ``("parent", "child")`` or ``("child", "parent")``.
    mapping : mapping of str to str
        Which column plays which role, as role → title of the column. Roles are those in `ROLES`, and ``level 1``,
        ``level 2`` … or ``path``.
    nested : bool
        The codes in the id column nest: the parent of ``0101`` is the longest other code that it begins with.
    sheet : str, optional
        Title of the sheet of a workbook.
    encoding : str, optional
        Encoding of a text file, where it is not recognised.
    merge : {"names"}, optional
        In path lists and level columns, concepts of the same name are one.
    language : str, optional
        Language of the labels, such as ``"de"``.
    relations : tuple of str
        Names of relations other than is-a that are read as edges from parent to child too, such as ``"part_of"``.
    equivalents : bool
        The named classes of an intersection that a class is equivalent to are its parents.
    dangling : {"refuse", "keep", "drop"}
        What to do with an edge to a concept that the file does not hold: refuse the file, make it a concept that is
        called by its id, or leave the edge out.
    strict : bool
        Raise at the first fault; otherwise mend it the least harmful way and list it in ``Taxonomy.reading``.
    """

    format: str | None = None
    columns: tuple[str, str] | None = None
    mapping: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    nested: bool = False
    sheet: str | None = None
    encoding: str | None = None
    merge: Merge | None = None
    language: str | None = None
    relations: tuple[str, ...] = ()
    equivalents: bool = False
    dangling: Dangling = "refuse"
    strict: bool = True

    def __post_init__(self) -> None:
        if self.columns is not None and tuple(self.columns) not in ORDERS:
            raise InputError(f"--columns must be parent,child or child,parent, not {','.join(self.columns)}")
        if self.merge not in (None, *get_args(Merge)):
            raise InputError(f"--merge must be names, not '{self.merge}'")
        if self.dangling not in get_args(Dangling):
            raise InputError(f"--dangling must be refuse, keep or drop, not '{self.dangling}'")
        object.__setattr__(self, "mapping", MappingProxyType(dict(self.mapping)))
        object.__setattr__(self, "relations", tuple(self.relations))

    def stated(self) -> list[str]:
        """Names of the options that differ from their defaults, but for those that work for all."""
        usual: Any = ReadOptions()
        names = (item.name for item in fields(self) if item.name not in ("format", "strict", "dangling"))
        return [name for name in names if getattr(self, name) != getattr(usual, name)]


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """How a taxonomy file is written.

    Parameters
    ----------
    placement : {"end", "siblings"}
        Where new rows go in a file that is written back into the format it was read from: after all others, or after
        the last of their siblings.
    as_ : str, optional
        What to write where the suffix leaves that open: ``"skos"``, ``"owl"``, ``"obographs"``, ``"edges"``,
        ``"concept table"``, ``"level table"`` or ``"path list"``.
    """

    placement: Placement = "end"
    as_: str | None = None

    def __post_init__(self) -> None:
        if self.placement not in get_args(Placement):
            raise InputError(f"the placement must be end or siblings, not '{self.placement}'")


def option_name(field_name: str) -> str:
    """The command-line spelling of a field, ``--map`` for ``mapping``."""
    return "--" + {"mapping": "map"}.get(field_name, field_name)


def option_names(names: Iterable[str]) -> str:
    return ", ".join(map(option_name, names))
