"""What `evaluate` and `bench` ask about a taxonomy with pictures, as their runs, cells and records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from taxosphere.evaluation import image_protocol, records
from taxosphere.evaluation.protocol import Plan, Progress, Result, Run

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder
    from taxosphere.evaluation.image_protocol import PictureSet

Task = Literal["pictures", "unseen"]
LABELS: Literal["pictures"] = "pictures"
UNSEEN: Literal["unseen"] = "unseen"


def evaluate(
    pictures: PictureSet,
    method: str = "polaris",
    *,
    task: Task = "pictures",
    classes: int | None = None,
    runs: int = 5,
    seed: int = 0,
    encoder: TextEncoder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Name pictures among all labels or samples of ``classes`` of them, or place leaves that were never seen."""
    names = [method] if task == LABELS or method == "sibling-vote" else [method, "sibling-vote"]
    if task == LABELS:
        image_protocol.create(method)  # an unknown name is better said before the work begins
    reader = _reader(pictures, encoder)
    found: dict[str, list[Run]] = {name: [] for name in names}
    for number in range(runs):
        for place, name in enumerate(names):
            if progress is not None:
                progress(number * len(names) + place, runs * len(names), f"{name}, run {number + 1} of {runs}")
            found[name].append(_run(pictures, name, task, classes, reader, seed + number))
    references = {name: tuple(lines) for name, lines in found.items() if name != method}
    plan = Plan(task, "leaves", runs, seed)
    return Result(dataset(pictures, task, classes), method, plan, tuple(found[method]), references)


def tasks(path: Path, chosen: Sequence[str]) -> list[tuple[str, str, str]]:
    """(data set, what is asked, method) of a bench: a sample of labels, all labels, unseen leaves."""
    pictures = _pictures(path)
    usual = [name for name in image_protocol.METHODS if name != "clip-zero-shot" or pictures.texts is not None]
    names = [name for name in image_protocol.METHODS if name in chosen] if chosen else usual
    found = [
        (dataset(pictures, LABELS, classes), "all" if classes is None else str(classes), name)
        for classes in (image_protocol.SAMPLE, None)
        if classes is None or classes < len(pictures.labels)
        for name in names
    ]
    unseen = [name for name in image_protocol.UNSEEN_METHODS if not chosen or name in chosen]
    if "polaris" in unseen and image_protocol.deep(pictures):
        unseen = [*dict.fromkeys([*unseen, *image_protocol.UNSEEN_METHODS])]
        found += [(dataset(pictures, UNSEEN), UNSEEN, name) for name in unseen]
    return found


def work(path: Path, asked: str, method: str, seed: int, encoder: str) -> records.Record:
    """One cell of a bench."""
    pictures = _pictures(path)
    task: Task = "unseen" if asked == UNSEEN else "pictures"
    classes = int(asked) if asked.isdigit() else None
    run = _run(pictures, method, task, classes, _text_encoder(path, encoder), seed)
    split = records.PICTURES if task == LABELS else image_protocol.UNSEEN
    line = records.record(dataset(pictures, task, classes), method, split, run)
    if task == UNSEEN:
        line["metrics"]["wup_mistakes"] = image_protocol.mistakes(run.outcome)
    return line


def dataset(pictures: PictureSet, task: Task, classes: int | None = None) -> str:
    return image_protocol.dataset_name(pictures, classes) if task == LABELS else f"{pictures.name}-{UNSEEN}"


def _run(
    pictures: PictureSet, method: str, task: Task, classes: int | None, encoder: TextEncoder, random_state: int
) -> Run:
    if task == UNSEEN:
        return image_protocol.unseen(pictures, method, encoder, random_state=random_state)
    return image_protocol.run(
        pictures, image_protocol.create(method), encoder, classes=classes, random_state=random_state
    )


@cache
def _pictures(path: Path) -> PictureSet:
    return image_protocol.read(path)


@cache
def _text_encoder(path: Path, name: str) -> TextEncoder:
    from taxosphere.encoders.text import registry as text_encoders

    return _pictures(path).texts or text_encoders.load(name)


def _reader(pictures: PictureSet, encoder: TextEncoder | None) -> TextEncoder:
    """Labels are read by the image encoder's own text tower where it has one."""
    from taxosphere.encoders.text import registry as text_encoders

    return encoder or pictures.texts or text_encoders.load()
