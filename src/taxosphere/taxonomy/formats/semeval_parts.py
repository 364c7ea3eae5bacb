"""What stands beside SemEval files in benchmarks: who is held out, and definitions.

TaxoExpan, TMN and QEN put `.terms.train`, `.terms.validation` and `.terms.test` beside `x.terms`: one id a line, or the
line of the concept in `x.terms` counted from 0. TEMP, BoxTaxo and QuanTaxo put `x_eval.terms` (a held-out term a line)
and `x_eval.gt` (its parent) beside `x_raw_en.taxo` or `x_train.taxo`, and definitions into `dic.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.compression import WRITABLE, compression_suffix
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.streams import bare_suffix, numbered_lines, read_text
from taxosphere.taxonomy.formats.native import SPLIT_KEY

PARTS = {"train": "train", "validation": "val", "test": "test"}  # name of the file: name in split.tsv
DEFINITIONS = "dic.json"
_WHOLE = ("_raw_en", "_raw", "_train")


def companion(path: Path, suffix: str) -> Path | None:
    """The file itself or its neighbour with another suffix, packed or not."""
    return path if bare_suffix(path) == suffix else _present(path, _stem(path) + suffix)


def read_parts(draft: Draft, path: Path, listed: int, encoding: str | None) -> None:
    """The parts of `.terms.train` and the like; `listed` concepts came from `.terms`."""
    files = {part: file for part in PARTS if (file := companion(path, f".terms.{part}")) is not None}
    entries = [(part, file, line, text) for part, file in files.items() for line, text in _entries(file, encoding)]
    if not entries:
        return
    ways: list[Mapping[str, int]] = [
        {id: row for row, id in enumerate(draft.ids)},
        {name: row for row, name in reversed(list(enumerate(draft.names)))},
        {str(row): row for row in range(listed)},
    ]
    # The first reading that fits every line; where none does, the one that fits most names the line that is wrong.
    rows = max(ways, key=lambda way: sum(text in way for *_, text in entries))
    chosen: dict[int, str] = {}
    for part, file, line, text in entries:
        if text not in rows:
            raise InputError(f"'{text[:60]}' is no id, term or line of {path.name}", path=file, line=line)
        if chosen.setdefault(rows[text], PARTS[part]) != PARTS[part]:
            raise InputError(f"'{text[:60]}' is in the part '{chosen[rows[text]]}' too", path=file, line=line)
    _note_parts(draft, chosen)


def read_held_out(draft: Draft, path: Path, encoding: str | None) -> None:
    """Terms of `x_eval.terms` as test concepts below their parents in `x_eval.gt`; all others are for training."""
    stem = _stem(path)
    base = next((stem.removesuffix(end) for end in _WHOLE if stem.endswith(end)), None)
    terms = _present(path, f"{base}_eval.terms") if base else None
    if terms is None:
        return
    asked, gold = _entries(terms, encoding), _present(path, f"{base}_eval.gt")
    parents = _entries(gold, encoding) if gold is not None else []
    if gold is not None and len(parents) != len(asked):
        message = f"{len(parents)} lines where {terms.name} has {len(asked)}; line by line they belong together"
        raise InputError(message, path=gold, line=min(len(parents), len(asked)) + 1)
    rows = {name: row for row, name in reversed(list(enumerate(draft.names)))}

    def row(name: str) -> int:
        if name not in rows:
            rows[name] = len(draft.ids)
            draft.concept(name, name)
        return rows[name]

    chosen = {row(text): "test" for _, text in asked}
    edges = set(zip(draft.parents, draft.children, strict=True))
    for (_, term), (_, above) in zip(asked, parents, strict=False):
        for parent in above.split("\t"):
            edge = draft.ids[row(parent.strip())], draft.ids[rows[term]]
            if edge not in edges:
                draft.edge(*edge)
    _note_parts(draft, {place: chosen.get(place, "train") for place in range(len(draft.ids))})


def read_dictionary(draft: Draft, path: Path, encoding: str | None) -> None:
    """Definitions for concepts that have none; a dictionary serves several taxonomies, so much of it may be unused."""
    file = _present(path, DEFINITIONS)
    if file is None:
        return
    try:
        texts = json.loads(read_text(file, encoding))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", path=file, line=error.lineno) from None
    except (RecursionError, ValueError):
        raise InputError("is nested too deeply or holds a number too long", path=file) from None
    if not isinstance(texts, dict):
        raise InputError("an object of terms and their definitions is expected", path=file, line=1)
    small = {term.lower(): text for term, text in reversed(texts.items())}
    for place, name in enumerate(draft.names):
        text = texts.get(name, small.get(name.lower(), ""))
        text = text[0] if isinstance(text, list) and text else text
        if isinstance(text, str) and not draft.descriptions[place]:
            draft.descriptions[place] = " ".join(text.split())


def _note_parts(draft: Draft, parts: Mapping[int, str]) -> None:
    for place, part in parts.items():
        draft.extras[place] = (*draft.extras[place], (SPLIT_KEY, part))


def _stem(path: Path) -> str:
    return path.name[: -len("".join(path.suffixes[-2:] if compression_suffix(path) else path.suffixes[-1:]))]


def _present(path: Path, name: str) -> Path | None:
    return next((file for end in ("", *WRITABLE) if (file := path.with_name(name + end)).is_file()), None)


def _entries(path: Path, encoding: str | None) -> list[tuple[int, str]]:
    return [(number, text.strip()) for number, text in numbered_lines(path, encoding) if text.strip()]
