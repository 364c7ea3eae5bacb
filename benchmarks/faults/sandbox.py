"""A small taxonomy, a model of it and everything else that the commands need, in a folder to be copied for each fault.

in/       tax.csv, new.csv, decided.csv
model/    a fitted model
cache/    vectors of all texts
db/       decisions.db with a few decisions
work/     model/ and model.workbench/ with a queue, for `serve`
out/      what an earlier run has written, to be replaced
tmp/      temporary files
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import running

QUICK = ("training.epochs=2", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=3")
DATABASE = "db/decisions.db"
WITH_DATABASE = "expand --db"
_KINDS = {
    "fruit": ("apple", "pear", "plum", "cherry"),
    "tool": ("hammer", "saw", "drill", "file"),
    "vehicle": ("car", "bicycle", "boat", "train"),
}
_WORDS = ("red", "small", "wild", "sweet", "dry", "coastal", "alpine", "early", "late", "dark")
_NEW = ("giant", "ancient")


def write_inputs(folder: Path) -> None:
    """A taxonomy of 64 concepts, 24 new ones, and a table of decisions about some of these."""
    chance = random.Random(0)
    rows = [("thing", "", "anything at all")]
    for kind, members in _KINDS.items():
        rows.append((kind, "thing", f"a kind of thing that people call {kind}"))
        for member in members:
            rows.append((member, kind, f"a {kind} known as {member}"))
            rows += [(f"{word} {member}", member, f"{member} that is {word}") for word in chance.sample(_WORDS, 4)]
    _table(folder / "tax.csv", ("name", "parent", "description"), rows)
    members = [member for some in _KINDS.values() for member in some]
    new = [(f"{word} {member}", f"{member} that is {word}") for word in _NEW for member in members]
    _table(folder / "new.csv", ("name", "description"), new)
    decided = [("accept" if n % 3 else "reject", member, f"odd {member}") for n, member in enumerate(members)]
    _table(folder / "decided.csv", ("decision", "parent", "name"), decided)
    earlier = [("accept", member, f"former {member}") for member in members[:4]]
    _table(folder / "earlier.csv", ("decision", "parent", "name"), earlier)


def _table(path: Path, titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    path.write_text("".join(",".join(row) + "\n" for row in (titles, *rows)), encoding="utf-8")


def environment(place: Path) -> dict[str, str]:
    """Variables of a command that runs in a sandbox."""
    return {"TAXOSPHERE_CACHE": str(place / "cache"), "TMPDIR": str(place / "tmp"), "OMP_NUM_THREADS": "1"}


def run(place: Path, *arguments: str, name: str = "run") -> running.Running:
    """An undisturbed run, which must succeed."""
    command = running.start(arguments, place, environment(place), name=name)
    command.wait()
    if command.code != 0:
        raise SystemExit(f"{' '.join(arguments)} ended with {command.code}: {command.said()[-2000:]}")
    return command


def make_template(place: Path) -> None:
    """Everything in one folder, made by the commands themselves."""
    for name in ("in", "cache", "db", "work", "out", "tmp"):
        (place / name).mkdir(parents=True)
    write_inputs(place / "in")
    settings = [word for setting in QUICK for word in ("--set", setting)]
    run(place, "fit", "in/tax.csv", "-o", "model", *settings)
    run(place, "apply", "in/tax.csv", "in/earlier.csv", "-o", "out/grown.csv", "--db", DATABASE)
    (place / "out" / "grown.csv").unlink()
    run(place, *COMMANDS["suggest"].arguments)  # the cache gets the vectors of the new concepts
    (place / "out" / "answers.jsonl").unlink()
    shutil.copytree(place / "model", place / "work" / "model")
    from filling import fill

    fill(place / "work" / "model", place / "cache")


@dataclass(frozen=True)
class Command:
    """One of the commands under test.

    Parameters
    ----------
    name : str
    key : str
        Tells two ways of calling it apart.
    arguments : tuple of str
        Relative to the sandbox.
    writes : tuple of str
        Folders of the sandbox that it writes to.
    outputs : tuple of str
        What it leaves.
    resumable : bool
        Whether it has the option ``--resume``.
    """

    name: str
    key: str
    arguments: tuple[str, ...]
    writes: tuple[str, ...]
    outputs: tuple[str, ...]
    resumable: bool = False


_SETTINGS = tuple(word for setting in QUICK for word in ("--set", setting))
_EXPAND = tuple("expand model in/new.csv -o out/grown.csv --review out/review.csv --accept 0.95".split())
_BENCH = tuple(
    "bench --datasets in/tax.csv --methods tfidf,polaris-cosine --runs 2 --workers 1 --out out/bench".split()
)
COMMANDS = {
    command.key: command
    for command in (
        Command(
            "fit",
            "fit",
            ("fit", "in/tax.csv", "-o", "out/model", "--from", "model", "--db", DATABASE, *_SETTINGS),
            ("out", "cache"),
            ("out/model",),
            True,
        ),
        Command(
            "suggest",
            "suggest",
            ("suggest", "model", "--file", "in/new.csv", "-o", "out/answers.jsonl"),
            ("out", "cache"),
            ("out/answers.jsonl",),
            True,
        ),
        Command(
            "expand",
            "expand",
            _EXPAND,
            ("out", "cache"),
            ("out/grown.csv", "out/review.csv"),
            True,
        ),
        Command(
            "expand",
            WITH_DATABASE,
            (*_EXPAND, "--db", DATABASE),
            ("out", "cache", "db"),
            ("out/grown.csv", "out/review.csv"),
        ),
        Command(
            "apply",
            "apply",
            ("apply", "in/tax.csv", "in/decided.csv", "-o", "out/grown.csv", "--db", DATABASE),
            ("out", "db"),
            ("out/grown.csv",),
        ),
        Command(
            "bench",
            "bench",
            _BENCH,
            ("out", "cache"),
            ("out/bench",),
        ),
    )
}


def put_old_outputs(place: Path) -> None:
    """What an earlier run has written: a file of text for each file, a model for a model."""
    (place / "out" / "grown.csv").write_text("name,parent\nold,\n", encoding="utf-8")
    for name in ("review.csv", "answers.jsonl"):
        (place / "out" / name).write_text("old\n", encoding="utf-8")
    shutil.copytree(place / "model", place / "out" / "model")


def digest_of(place: Path, output: str) -> str | None:
    """Identifies what is there: None where nothing is, ``unreadable …`` where it is no whole output."""
    path = place / output
    if not path.exists():
        return None
    try:
        content = _READERS.get(Path(output).name, Path.read_bytes)(path)
    except Exception as error:  # whatever a reader of it says: it is not whole
        return f"unreadable: {type(error).__name__}: {error}"[:300]
    return hashlib.sha256(content).hexdigest()[:16]


def _model(path: Path) -> bytes:
    from taxosphere import artifact

    manifest = artifact.load(path, "polaris").manifest
    return json.dumps([manifest["files"], manifest["config"]], sort_keys=True).encode()


def _bench(path: Path) -> bytes:
    """What was measured, without the seconds it took."""
    from taxosphere.evaluation import records

    lines = records.read(path / "runs.jsonl")
    kept = [{key: line[key] for key in ("dataset", "method", "seed", "metrics", "ranks")} for line in lines]
    return json.dumps(sorted(kept, key=lambda line: (line["method"], line["seed"])), sort_keys=True).encode()


_READERS: dict[str, Callable[[Path], bytes]] = {"model": _model, "bench": _bench}


def history(place: Path, url: str = "") -> list[str]:
    """Decisions that a database holds, in order; raises where the chain of hashes is broken."""
    from taxosphere.service import store_events
    from taxosphere.service.store import Store

    with Store(url or str(place / "db" / "decisions.db"), create=False) as store:
        store_events.verify(store)
        return [f"{event.kind} {event.item}" for event in store_events.all_events(store)]


def forget_vectors(place: Path, count: int, chance: random.Random) -> None:
    """Remove some vectors from the cache, so that a command must add them."""
    with closing(sqlite3.connect(place / "cache" / "vectors.sqlite")) as connection, connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM vectors ORDER BY key")]
        connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in chance.sample(keys, count)])
