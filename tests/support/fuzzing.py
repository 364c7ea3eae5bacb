"""Damaged and made-up inputs for everything that reads what others wrote, but for taxonomy files and review tables.

A target is a context manager that gives a function: it makes one input from a source of chance, offers it, and says
``accepted`` or ``refused``. Whatever else it raises is a fault. The same source of chance makes the same input.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from support.fuzzed_json import damaged_json, sampled
from support.mutations import TOKENS, mutated
from taxosphere.errors import TaxosphereError

Attempt = Callable[[random.Random], str]
Target = Callable[[], AbstractContextManager[Attempt]]
ACCEPTED, REFUSED = "accepted", "refused"
GOLDEN = Path(__file__).parents[1] / "golden"
_WORDS = ("", "a", "bird", "red bird", "ü", "\0", "\ud800", "x" * 3000, "=1+1", "../../etc/passwd", "<script>", "1e999")


def offered(action: Callable[[], object]) -> str:
    """Accepted, or refused in one line."""
    message = ""
    try:
        action()
    except TaxosphereError as error:
        message = str(error)
        assert message
    assert "\n" not in message, f"a message of several lines: {message}"
    return REFUSED if message else ACCEPTED


def damaged(files: dict[str, bytes], chance: random.Random) -> tuple[str, bytes]:
    """One of the files, with damage."""
    return mutated(files, chance.randrange(len(files)), chance.randrange(1 << 40))


# -- settings ---------------------------------------------------------------------------------------------------------


@contextmanager
def config() -> Iterator[Attempt]:
    """Files of settings, and single settings as `--set` takes them."""
    from taxosphere.model.config import PolarisConfig

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.toml"
        PolarisConfig().write(path)
        files = {"settings.toml": path.read_bytes(), "few.toml": b'seed = 3\n[encoder]\nname = "minilm"\n'}
        sections = PolarisConfig().model_dump()
        keys = [f"{section}.{key}" for section, of in sections.items() if isinstance(of, dict) for key in of]

        def attempt(chance: random.Random) -> str:
            if chance.random() < 0.5:
                path.write_bytes(damaged(files, chance)[1])
                return offered(lambda: PolarisConfig.read(path))
            values = (*_WORDS, "3", "-1", "0.5", "nan", "inf", "true", "[1, 2]", "{a = 1}", "'", '"x', "9" * 400)
            settings = [
                f"{chance.choice((*keys, *_WORDS))}{chance.choice(('=', '=', '=', ' = ', ''))}{chance.choice(values)}"
                for _ in range(chance.choice((1, 1, 3)))
            ]
            return offered(lambda: PolarisConfig().with_overrides(settings))

        yield attempt


# -- models -----------------------------------------------------------------------------------------------------------


@contextmanager
def model_folder() -> Iterator[Attempt]:
    """Model folders with a damaged file; of most, the manifest says that the file is meant to be so."""
    from support.gram_encoder import GramEncoder
    from taxosphere import Polaris

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        Polaris.load(max(GOLDEN.glob("model-*")), encoder=GramEncoder()).save(folder)
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        sound = {name: (folder / name).read_bytes() for name in names}
        manifest = json.loads(sound["manifest.json"])

        def attempt(chance: random.Random) -> str:
            name, content = damaged_model(sound, chance)
            try:
                (folder / name).write_bytes(content)
                if name != "manifest.json" and chance.random() < 0.8:  # what it answers then is anybody's guess
                    files = {**manifest["files"], name: hashlib.sha256(content).hexdigest()}
                    (folder / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
                    return offered(lambda: Polaris.load(folder, encoder=GramEncoder()))
                return offered(lambda: Polaris.load(folder, encoder=GramEncoder()).suggest("red bird", k=2))
            finally:
                for each in (name, "manifest.json"):
                    (folder / each).write_bytes(sound[each])

        yield attempt


def damaged_model(sound: dict[str, bytes], chance: random.Random) -> tuple[str, bytes]:
    """Name and content of a damaged file; in half of the tensor files it is the header that is damaged."""
    name, content = damaged(sound, chance)
    if name == "manifest.json" and chance.random() < 0.7:
        return name, json.dumps(damaged_json(json.loads(sound[name]), chance)).encode()
    if name.endswith(".safetensors") and chance.random() < 0.5:
        whole = sound[name]
        size = 8 + int.from_bytes(whole[:8], "little")
        header = json.dumps(damaged_json(json.loads(whole[8:size]), chance)).encode()
        content = len(header).to_bytes(8, "little") + header + whole[size:]
    return name, content


# -- lists of new concepts --------------------------------------------------------------------------------------------


def list_samples(folder: Path) -> dict[str, bytes]:
    """A small list of each kind."""
    from openpyxl import Workbook

    texts = {
        "new.csv": "name,description,SKU\nred bird,a bird,1\n\"a, b\",'x',2\n",
        "semicolons.csv": "\ufeffBezeichnung;Beschreibung\r\nroter Vogel;ein Vogel\r\n",
        "new.tsv": "id\tname\tsynonyms\timage\nn1\tred bird\tbirdie|b\t\n",
        "new.jsonl": '{"name": "red bird", "synonyms": ["b"], "price": 1.5}\n{"name": "x", "description": null}\n',
        "new.txt": "red bird\nblue bird\n",
    }
    files = {name: text.encode() for name, text in texts.items()}
    book = Workbook()
    for row in (("name", "description", "SKU"), ("red bird", "a bird", 1), ("blue bird", None, 2.5)):
        book.active.append(row)
    book.save(folder / "new.xlsx")
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"name": ["red bird", "x"], "synonyms": [["b"], []], "price": [1.0, None]}
    pq.write_table(pa.table(columns), folder / "new.parquet")
    return files | {name: (folder / name).read_bytes() for name in ("new.xlsx", "new.parquet")}


@contextmanager
def concept_lists() -> Iterator[Attempt]:
    """Lists of new concepts as `suggest --file` and `expand` take them."""
    from taxosphere import Taxonomy
    from taxosphere.placing.list_reader import read_concepts

    taxonomy = Taxonomy.from_edges([("animal", "bird"), ("bird", "red bird")])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files = list_samples(folder)

        def attempt(chance: random.Random) -> str:
            name, content = damaged(files, chance)
            (folder / name).write_bytes(content)
            return offered(lambda: read_concepts(folder / name, taxonomy))

        yield attempt


@contextmanager
def streams() -> Iterator[Attempt]:
    """Lists from standard input, whose kind is stated or recognised."""
    from taxosphere.placing.list_reader import KINDS, stream_list

    with tempfile.TemporaryDirectory() as place:
        files = list_samples(Path(place))

        def attempt(chance: random.Random) -> str:
            content = io.BytesIO(damaged(files, chance)[1])
            kind = chance.choice(("", "", "", *(kind for kind in KINDS if kind in ("jsonl", "csv", "tsv", "txt"))))
            standard = io.TextIOWrapper(io.BufferedReader(content))  # type: ignore[type-var]
            with patch.object(sys, "stdin", standard):
                return offered(lambda: list(stream_list("-", kind=kind)))

        yield attempt


# -- the command line -------------------------------------------------------------------------------------------------

_OPTIONS = (
    *("--map", "--columns", "--nested", "--sheet", "--encoding", "--merge", "--language", "--relations", "--dangling"),
    *("--json", "--equivalents", "--by", "--ids", "--rebase", "--new-rows", "-o", "--help", "--version", "--nonsense"),
)
_VALUES = (
    *(*_WORDS[:5], *_WORDS[8:], "t.csv", "out.obo", "out.csv", "missing.csv", ".", "name=x", "name=name,parent=parent"),
    *("child,parent", "utf-16", "latin-1", "names", "de", "keep", "drop", "refuse", "end", "GO:9{6}", "{", "-", "--"),
)
_VARIABLES = {
    "TAXOSPHERE_CACHE": ("", "/dev/null", "/nonexistent/x", "\udc80"),
    "COLUMNS": ("", "0", "-1", "x", "1", "99999"),
    "COMP_WORDS": ("", "taxosphere", "taxosphere\nsuggest\nm\n'", "\n" * 50, "'"),
    "COMP_CWORD": ("", "x", "-1", "3", "99999999999"),
    "PYTHONIOENCODING": ("", "ascii"),
    "LC_ALL": ("C", "x", ""),
    "NO_COLOR": ("1", ""),
}


@contextmanager
def command_line() -> Iterator[Attempt]:
    """Arguments and environment variables."""
    from taxosphere.cli import main

    with tempfile.TemporaryDirectory() as place:
        table = Path(place) / "t.csv"

        def attempt(chance: random.Random) -> str:
            for path in Path(place).iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            table.write_text("name,parent\nanimal,\nbird,animal\n", encoding="utf-8")
            command = chance.choice(("inspect", "convert", "convert", "apply", "export", "methods", "", "nonsense"))
            several = chance.choices((*_OPTIONS, *_VALUES), k=chance.randrange(6))
            arguments = [command, *chance.choice((["t.csv"], ["t.csv", "out.csv"], [])), *several]
            changed = {name: chance.choice(values) for name, values in _VARIABLES.items() if chance.random() < 0.2}
            said = io.StringIO()
            with (
                _working_in(Path(place)),
                patch.dict("os.environ", changed),
                redirect_stdout(io.StringIO()),
                redirect_stderr(said),
            ):
                code = main(arguments)
            lines = [line for line in said.getvalue().splitlines() if line.startswith("error: ")]
            assert "Traceback" not in said.getvalue(), said.getvalue()
            assert code in (0, 1, 2), f"code {code}"
            assert len(lines) == bool(code), (arguments, changed, lines, code)
            return REFUSED if code else ACCEPTED

        yield attempt


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    import os

    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


TARGETS: dict[str, Target] = {
    "settings": config,
    "model folders": model_folder,
    "lists of new concepts": concept_lists,
    "lists from standard input": streams,
    "arguments and variables": command_line,
}
"""What can be tried without a service; `fuzzed_service` has the others."""

__all__ = ["ACCEPTED", "REFUSED", "TARGETS", "TOKENS", "Attempt", "Target", "damaged_json", "sampled"]
