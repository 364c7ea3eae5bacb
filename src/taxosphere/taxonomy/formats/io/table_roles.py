"""Which column plays which role, by titles alone or as `--map` states it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import titles


def title_roles(header: Sequence[str], language: str | None = None) -> dict[str, int]:
    """The columns of a concept table or an edge list, by titles alone.

    Parameters
    ----------
    header : sequence of str
        Titles of all columns.
    language : str, optional
        Of the names, where several columns hold names.
    """
    meant = [(i, item) for i, name in enumerate(header) if (item := titles.meaning(name)) is not None]
    roles: dict[str, int] = {}
    for role in ("id", "name", "parent", "child", "description", "path"):
        items = [(i, item) for i, item in meant if item.role == role]
        if items:
            roles[role] = _best(items, language, by_id="id" in roles or role == "id")
    return roles


def _best(items: list[tuple[int, titles.Meaning]], language: str | None, by_id: bool) -> int:
    """The most usual title; in the language that is asked for, else in none, else in English."""

    def order(entry: tuple[int, titles.Meaning]) -> tuple[int, int, int, int]:
        i, item = entry
        tongue = 0 if item.language == (language or "") else 1 if item.language in ("", "en") else 2
        return tongue, int(item.role == "parent" and item.by_id != by_id), item.rank, i

    return min(items, key=order)[0]


def stated_roles(mapping: Mapping[str, str], header: Sequence[str], width: int, path: Path) -> dict[str, int]:
    """The columns that `--map` names, by title or by number.

    Parameters
    ----------
    mapping : mapping of str to str
        Role → title, or number of the column from 1.
    header : sequence of str
        Titles of all columns; empty where there are none.
    width : int
        How many columns there are.
    path : Path
        The file, for the message.

    Raises
    ------
    InputError
        Where there is no such column.
    """
    plain, roles = [titles.words(name) for name in header], dict[str, int]()
    for role, title in mapping.items():
        if title in header:
            roles[role] = list(header).index(title)
        elif titles.words(title) in plain and titles.words(title):
            roles[role] = plain.index(titles.words(title))
        elif title.isdecimal() and 1 <= int(title) <= width:
            roles[role] = int(title) - 1
        else:
            raise InputError(f"--map names the column '{title}', which the table has not", path=path)
    return roles
