"""Reading and writing in any format: recognise, read, write, and what stops a write. `catalogue` lists the formats."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from os import PathLike
from pathlib import Path

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.catalogue import FOLDER, FORMATS, TABLES, Format
from taxosphere.taxonomy.formats.io import kept_text, obsolete, suffixes
from taxosphere.taxonomy.formats.io.compression import single_member
from taxosphere.taxonomy.formats.io.draft import Draft, build
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions, option_name, option_names
from taxosphere.taxonomy.formats.io.streams import (
    STREAM,
    UTF8_BOM,
    bare_suffix,
    open_raw_bytes,
    open_to_write,
    read_as,
    reading,
    suffix_to_write,
    writing,
)
from taxosphere.taxonomy.graph import Taxonomy

__all__ = [
    "FORMATS",
    "Draft",
    "Format",
    "ReadOptions",
    "WriteOptions",
    "build",
    "check_target",
    "format_to_write",
    "read",
    "recognise",
    "unsupported_content",
    "write",
]

# How files begin whose content alone says what they are, by a suffix of the format.
_CONTENTS = {
    ".obo": re.compile(rb"\s*(?:format-version|data-version):|\s*\[Term\]"),
    ".ttl": re.compile(rb"(?:\s|#[^\n]*\n)*@prefix\s+[\w.-]*:\s*<"),
    ".nex": re.compile(rb"\s*#NEXUS\b", re.IGNORECASE),
    ".nwk": re.compile(rb"\s*\([\s(]*(?:'[^'\n]*'|[\w.|/-]+)[:,)]"),
    ".xml": re.compile(rb"\s*<(?:\?xml|!DOCTYPE|[A-Za-z_][\w.:-]*[\s/>])"),
    ".json": re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"])"),
}
HEAD = 1 << 16  # bytes that a recogniser is shown
# Kinds of tables; the key `META` of its reader says in `Taxonomy.meta` that a taxonomy came from one.
TABLE_FORMATS = ("concept table", "level table", "path list", "nested codes", "edges")


def read(path: str | PathLike[str], options: ReadOptions | None = None) -> Taxonomy:
    """Read any supported file or folder.

    Parameters
    ----------
    path : path-like
        The file or folder.
    options : ReadOptions, optional
        How to read it.

    Raises
    ------
    InputError
        Where the format is not recognised, an option is stated that it does not use, or the content is at fault.
    """
    if path == "":
        raise InputError("the path of the taxonomy is empty")
    path, options = Path(path), options or ReadOptions()
    suffix = _suffix_to_read(path, options)
    with read_as(path, suffix) if suffix else nullcontext(), _without_garbage_collection():
        form = recognise(path, options)
        _check_options(path, form, options)
        draft = form.read(path, options)
        if form.name != "native":
            obsolete.set_aside(draft)
        taxonomy = build(draft, options)
    return kept_text.keep(taxonomy, path, form.name) if form.keeps_text else taxonomy


def write(taxonomy: Taxonomy, path: str | PathLike[str], options: WriteOptions | None = None) -> None:
    """Write in the format the suffix names; no suffix means the native folder, and what came from a concept table goes
    back into one.

    Parameters
    ----------
    taxonomy : Taxonomy
        What to write, obsolete concepts that were set aside on reading included.
    path : path-like
        The file or folder; it appears whole or not at all.
    options : WriteOptions, optional
        How to write it.
    """
    path = Path(path)
    with writing(path):
        check_target(path)
        form = format_to_write(taxonomy, path, (options or WriteOptions()).as_)
        assert form.write is not None  # or it would have been refused
        text = kept_text.text_for(taxonomy, form.name, form.extend)
        if text is not None:
            with open_to_write(path) as handle:
                handle.write(text)
            return
        whole = taxonomy if form.name == "native" else obsolete.brought_back(taxonomy)
        form.write(whole, path, options or WriteOptions())


def check_target(path: str | PathLike[str]) -> None:
    """Raise what would stop `write` later, before any work is done."""
    path = Path(path)
    suffix = suffix_to_write(path) or path.suffix.lower()  # .gz alone names no format
    if path.is_dir() or not suffix:
        FORMATS["native"].reading.check_target(path)
        return
    forms = [form for form in FORMATS.values() if form.writer is not None]
    writable = dict.fromkeys(each for form in forms for each in form.suffixes if each != FOLDER)
    if suffix not in writable:
        message = f"the suffix '{suffix}' names no format to write ({', '.join(writable)}, or a folder)"
        raise InputError(message, path=path)
    atomic.refuse_file(path)


def unsupported_content(taxonomy: Taxonomy, path: str | PathLike[str], as_: str | None = None) -> list[str]:
    """What the source said beside its concepts and a file of this name could not hold, one line each; and what only
    `--columns` can tell whoever reads the file.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is to be written.
    path : path-like
        Where it is to go.
    as_ : str, optional
        See `WriteOptions`.
    """
    from taxosphere.taxonomy.formats import obo, rdf_writer  # as all formats only when needed
    from taxosphere.taxonomy.formats.io import table_writer

    path = Path(path)
    form = format_to_write(taxonomy, path, as_)
    lines = []
    if form.name == "edges" and form.reading.unstated_order(taxonomy, path):
        lines.append(
            "the child stands first and no header says so, as in the source; read it with --columns child,parent"
        )
    for name, other_content in (("obo", obo.other_content), ("rdf", rdf_writer.other_content)):
        as_owl = form.name == "rdf" and rdf_writer.vocabulary_of(path, WriteOptions(), taxonomy) == "owl"
        if form.name not in ("native", name) and not (name == "obo" and as_owl):
            lines += other_content(taxonomy)
    if form.unsupported is not None:
        lines += form.unsupported(taxonomy)
    if form.name in TABLE_FORMATS and (encoding := table_writer.lost_encoding(taxonomy, path)):
        lines.append(f"not every name can be written in {encoding}, the encoding of the source; UTF-8 is")
    if form.name not in ("native", "json", "yaml") and taxonomy.meta.get("json", {}).get("top"):
        lines.append("keys beside the children at the top of the JSON source left out")
    return lines


def recognise(path: Path, options: ReadOptions | None = None) -> Format:
    """The format of an existing file or folder: the first row of `FORMATS` with its suffix that takes its content.

    Parameters
    ----------
    path : Path
        The file or folder.
    options : ReadOptions, optional
        What is said about a table decides how it is understood.
    """
    if path == STREAM:
        raise InputError("standard input has no suffix to name its format; save it as a file that has one", path=path)
    with reading(path):
        exists, folder, regular = path.exists(), path.is_dir(), path.is_file()
    if not exists:
        raise InputError("no such file or folder", path=path)
    if not regular and not folder:
        raise InputError("is neither a file nor a folder; save its content as a file", path=path)
    suffix = FOLDER if folder else bare_suffix(path)
    rows = [form for form in FORMATS.values() if suffix in (*form.suffixes, *form.reads_also)]
    head = b"" if folder or suffix == ".zip" or not any(form.recognise for form in rows) else _head(path)
    for form in rows:
        if form.recognise is None and suffix in suffixes.TABLES:
            from taxosphere.taxonomy.formats import table_layouts

            return FORMATS[table_layouts.recognise(path, options or ReadOptions())]
        if form.recognise is None or form.recognise(path, head):
            return form
    if suffix == ".zip":
        single_member(path)  # says what it holds instead
    raise _unknown_suffix(path)


def _suffix_to_read(path: Path, options: ReadOptions) -> str:
    """The suffix that `--format` states, or that the content of a file names whose own names no format; else none."""
    suffixes_read = {
        suffix for form in FORMATS.values() for suffix in (*form.suffixes, *form.reads_also) if suffix != FOLDER
    }
    if options.format is not None:
        suffix = f".{options.format.lower().removeprefix('.')}"
        if suffix not in suffixes_read:
            raise InputError(f"--format names the suffix of a format, such as csv, json or obo, not '{options.format}'")
        return suffix
    with reading(path):
        if path == STREAM or not path.is_file() or bare_suffix(path) in suffixes_read:
            return ""
    start = _head(path)
    suffix = next((suffix for suffix, pattern in _CONTENTS.items() if pattern.match(start)), "")
    cut = len(start) == HEAD
    return suffix if suffix != ".nwk" or cut or start.rstrip().endswith(b";") else ""


def _head(path: Path) -> bytes:
    with open_raw_bytes(path) as handle:
        return handle.read(HEAD).removeprefix(UTF8_BOM)


def format_to_write(taxonomy: Taxonomy, path: Path, as_: str | None = None) -> Format:
    """The format in which `write` would write a taxonomy to a path."""
    if path.is_dir() or not bare_suffix(path):
        return FORMATS["native"]
    suffix = bare_suffix(path)
    if as_ is not None:
        return _named(path, as_)
    if suffix in (*TABLES, ".txt"):
        return _table_to_write(taxonomy, suffix)
    if suffix == ".json":
        return FORMATS["obographs" if FORMATS["obographs"].reading.META in taxonomy.meta else "json"]
    for form in FORMATS.values():
        if suffix in form.suffixes and form.writer is not None:
            return form
    raise _unknown_suffix(path)


def _named(path: Path, as_: str) -> Format:
    """The format that `WriteOptions.as_` names; SKOS and OWL are the two vocabularies of RDF."""
    fitting = [form for form in FORMATS.values() if form.writer is not None and bare_suffix(path) in form.suffixes]
    names = {name: form for form in fitting for name in (("skos", "owl") if form.name == "rdf" else (form.name,))}
    if as_ not in names:
        listed = ", ".join(names) or "nothing"
        raise InputError(f"as '{as_}' is nothing that {bare_suffix(path)} can hold; there is: {listed}", path=path)
    return names[as_]


def _table_to_write(taxonomy: Taxonomy, suffix: str) -> Format:
    """The kind of table that the taxonomy came from; else a path list, a concept table or an edge list."""
    usual = {".txt": "path list", ".xlsx": "concept table"}.get(suffix, "edges")
    name = next((name for name in TABLE_FORMATS if FORMATS[name].reading.META in taxonomy.meta), usual)
    return FORMATS[name if suffix in FORMATS[name].suffixes else usual]


def _unknown_suffix(path: Path) -> InputError:
    firsts = dict.fromkeys(suffix for form in FORMATS.values() for suffix in form.suffixes[:1] if suffix != FOLDER)
    text = f"the suffix '{bare_suffix(path)}' names no known format ({', '.join(firsts)} and others, or a folder)"
    text += "; --format csv, txt, json … says which one it has"
    return InputError(text, path=path)


def _check_options(path: Path, form: Format, options: ReadOptions) -> None:
    unused = [name for name in options.stated() if name not in form.options]
    if unused:
        usable = f"it has {option_names(sorted(form.options))}" if form.options else "it has no options"
        raise InputError(f"{option_name(unused[0])} says nothing about the format '{form.name}'; {usable}", path=path)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Reading makes millions of objects and no cycles among them; searching for cycles would take most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
