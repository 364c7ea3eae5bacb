"""Suggestions for a list of any length: read, placed and written in parts, with a memory that does not grow.

Finished parts lie in a folder beside the output until the last is done. After a kill the same request goes on behind
them and ends in the same bytes: parts are always cut at the same rows, and a concept that stood in an earlier part
takes its answer from there, so no row is ever ranked in other company.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO

from taxosphere import __version__, atomic
from taxosphere.errors import InputError
from taxosphere.placing.list_reader import ListedConcept
from taxosphere.scale.answer_files import Answered, AnswerFormat, make_format
from taxosphere.scale.answer_store import AnswerStore, key_of
from taxosphere.scale.executors import Executor
from taxosphere.scale.placer import Placer

PART = 1024  # rows that are placed together; part of what decides the bytes of an answer
_ANSWERS, _REQUEST = "answers.sqlite", "request.json"
_SEAL = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Work:
    """The folder of a request that is being worked on.

    Attributes
    ----------
    folder
        Where it keeps what is done.
    request
        Everything that decides the bytes of the output.
    """

    folder: Path
    request: Mapping[str, Any]

    @property
    def store_path(self) -> Path:
        """The file of answers."""
        return self.folder / _ANSWERS

    @property
    def begun(self) -> bool:
        """Whether a run that was stopped has left its answers here."""
        return (self.folder / _REQUEST).exists()

    def begin(self, *, resume: bool) -> int:
        """Make the folder, or with ``resume`` take it up; returns the number of finished parts.

        Raises
        ------
        InputError
            What lies there is of another request.
        """
        stated = self.folder / _REQUEST
        if resume and stated.exists():
            try:
                same = json.loads(stated.read_bytes()) == self.request
            except ValueError:
                raise InputError("is damaged; start without --resume", stated) from None
            if not same:
                message = "was begun with another list, model or option; start without --resume"
                raise InputError(message, self.folder)
            for unfinished in self.folder.glob(".*.part"):  # a kill in the middle of writing leaves one
                unfinished.unlink()
            return next(number for number in count() if self.read_part(number) is None)
        self.remove()
        self.folder.mkdir(parents=True)
        atomic.write_text(stated, json.dumps(self.request))
        return 0

    def remember(self, name: str, text: str) -> str:
        """The text that was first remembered under this name: ``text`` itself, or that of the run that is resumed."""
        place = self.folder / f"{name}.txt"
        remembered = _read_sealed(place)
        if remembered is not None:
            return remembered.decode()
        _write_sealed(place, text.encode())
        return text

    def _part(self, number: int) -> Path:
        return self.folder / f"{number:08}.part"

    def read_part(self, number: int) -> bytes | None:
        """A finished part; None where there is none, or a damaged one, which has to be made again."""
        return _read_sealed(self._part(number))

    def write_part(self, number: int, content: bytes) -> None:
        """Keep a part that is finished."""
        _write_sealed(self._part(number), content)

    def remove(self) -> None:
        """Forget everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _write_sealed(path: Path, content: bytes) -> None:
    """Write a file that begins with the SHA-256 of the rest."""
    with atomic.file(path) as temporary:
        temporary.write_bytes(hashlib.sha256(content).digest() + content)


def _read_sealed(path: Path) -> bytes | None:
    """What `_write_sealed` wrote; None where there is no such file or it was damaged."""
    try:
        whole = path.read_bytes()
    except FileNotFoundError:
        return None
    digest, content = whole[:_SEAL], whole[_SEAL:]
    return content if hashlib.sha256(content).digest() == digest else None


def work_beside(target: Path, request: Mapping[str, Any]) -> Work:
    """The work folder of an output file: hidden, beside it."""
    place = target.absolute()
    return Work(place.parent / f".{place.name}.parts", request)


def make_request(digest: str, model: Path, **options: Any) -> dict[str, Any]:
    """What decides the bytes of an output: the content of list and model, the options, the version.

    Parameters
    ----------
    digest : str
        Of the list, see `file_digest`.
    model : Path
        The model folder; its manifest holds the hashes of its files.
    **options
        Further values that JSON can hold.
    """
    return {
        "list": digest,
        "model": file_digest(model / "manifest.json"),
        "version": __version__,
        "part": PART,
        **options,
    }


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def in_parts(rows: Iterable[ListedConcept], size: int = PART) -> Iterator[list[ListedConcept]]:
    """The rows, ``size`` at a time."""
    remaining = iter(rows)
    while part := list(islice(remaining, size)):
        yield part


def answers(
    parts: Iterable[Sequence[ListedConcept]], placer: Placer, executor: Executor, store: AnswerStore
) -> Iterator[list[Answered]]:
    """Each part with its answers, in order; equal concepts are ranked once.

    Parameters
    ----------
    parts : iterable of sequences of ListedConcept
        Taken a few ahead of what is yielded.
    placer : Placer
        Answers what is not in the store.
    executor : Executor
        Where it does so.
    store : AnswerStore
        Gets every new answer.
    """
    under_way: deque[tuple[Sequence[ListedConcept], list[bytes], list[bytes]]] = deque()

    def unanswered() -> Iterator[list[Any]]:
        for part in parts:
            keys = [key_of(row.concept) for row in part]
            absent = store.missing(keys)
            absent.difference_update(*(new for _, _, new in under_way))
            first = {key: row.concept for key, row in zip(reversed(keys), reversed(part), strict=True) if key in absent}
            new = [key for key in dict.fromkeys(keys) if key in absent]
            under_way.append((part, keys, new))
            yield [first[key] for key in new]

    for documents in executor.map(placer.documents, unanswered()):
        part, keys, new = under_way[0]
        fresh = dict(zip(new, documents, strict=True))
        store.put(fresh)
        under_way.popleft()
        stored = {**store.get(key for key in keys if key not in fresh), **fresh}
        yield [(row, stored[key]) for row, key in zip(part, keys, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Stream:
    """A list to be answered.

    Attributes
    ----------
    rows
        The list, from its beginning.
    source
        Where it comes from.
    form
        Name of the output format.
    placer, executor
        What answers it, and where.
    report
        Called with the number of rows that are done.
    """

    rows: Iterator[ListedConcept]
    source: Path
    form: str
    placer: Placer
    executor: Executor
    report: Callable[[int], object]

    def _begin(self) -> tuple[Iterator[list[ListedConcept]], AnswerFormat]:
        """The parts, and the format for the columns of the first."""
        parts = in_parts(self.rows)
        head = list(islice(parts, 1))
        titles = dict.fromkeys(title for part in head for row in part for title in row.columns)
        return chain(head, parts), make_format(self.form, list(titles), self.source, self.placer.k)

    def to_file(self, target: Path, work: Work, *, resume: bool) -> int:
        """Write the answers to a file, which appears when all are there; returns the number of rows.

        Parameters
        ----------
        target : Path
        work : Work
            Where finished parts are kept until then.
        resume : bool
            Go on behind the parts that are finished.
        """
        with atomic.named(target):
            parts, form = self._begin()  # a list that cannot be read leaves no folder behind
            finished = work.begin(resume=resume)
            done = 0
            for part in islice(parts, finished):
                done += len(part)
                self.report(done)
            with AnswerStore(work.store_path) as store:
                for number, rows in enumerate(answers(parts, self.placer, self.executor, store), finished):
                    work.write_part(number, form.encode(rows))
                    done += len(rows)
                    self.report(done)
            files = (work.read_part(number) or b"" for number in range(-(-done // PART)))
            with atomic.file(target) as temporary, temporary.open("wb") as file:
                file.writelines(form.join(files))
        work.remove()
        return done

    def to_stream(self, target: BinaryIO) -> int:
        """Write the answers as they come; returns the number of rows."""
        parts, form = self._begin()
        done = 0

        def encoded(store: AnswerStore) -> Iterator[bytes]:
            nonlocal done
            for rows in answers(parts, self.placer, self.executor, store):
                yield form.encode(rows)
                done += len(rows)
                self.report(done)

        with temporary_store() as store:
            for piece in form.join(encoded(store)):
                target.write(piece)
                target.flush()
        return done


@contextmanager
def temporary_store() -> Iterator[AnswerStore]:
    """A store that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="taxosphere-") as folder, AnswerStore(Path(folder) / _ANSWERS) as store:
        yield store
