"""What `evaluate` and `bench` run on a taxonomy with images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from taxosphere.evaluation import image_protocol, records
from taxosphere.evaluation.protocol import Plan, ProtocolName, Result, Run
from taxosphere.methods import registry as methods
from taxosphere.typing import Progress

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder
    from taxosphere.evaluation.image_protocol import ImageSet

Task = Literal["images", "unseen"]
LABELS: Literal["images"] = "images"
UNSEEN: Literal["unseen"] = "unseen"


def evaluate(
    images: ImageSet,
    method: str = "polaris",
    *,
    task: Task = LABELS,
    classes: int | None = None,
    runs: int = 5,
    random_state: int = 0,
    encoder: TextEncoder | None = None,
    protocol: ProtocolName = "honest",
    progress: Progress | None = None,
) -> Result:
    """Measure a method on images; for unseen concepts `sibling-vote` is measured beside it.

    Parameters
    ----------
    images : ImageSet
    method : str
        A name for which `methods.tasks` lists "labels" or "unseen".
    task : str
        "images": name images among labels; "unseen": find parents of leaves that were hidden with their images.
    classes : int, optional
        With "images", labels drawn per run; None: all.
    runs, random_state : int
        Number of runs and random state of the first.
    encoder : TextEncoder, optional
        Reads labels and descriptions; default: the image encoder's text tower, else the packaged encoder.
    protocol : str
        "paper", with "images": measure by the paper's protocol as well, which is not honest.
    progress : callable, optional
        Called as ``progress(done, total, message)``.

    Raises
    ------
    InputError
        There is no such method for this task.
    """
    methods.get(method, _registry_task(task))  # an unknown name is better said before the work begins
    names = [method] if task == LABELS or method == "sibling-vote" else [method, "sibling-vote"]
    text_encoder = _choose_encoder(images, encoder)
    results: dict[str, list[tuple[Run, ...]]] = {name: [] for name in names}
    for number in range(runs):
        for place, name in enumerate(names):
            if progress is not None:
                progress(number * len(names) + place, runs * len(names), f"{name}, run {number + 1} of {runs}")
            results[name].append(_run(images, name, task, classes, text_encoder, random_state + number, protocol))
    asked, *honest = zip(*results[method], strict=True)
    return Result(
        dataset=dataset(images, task, classes),
        method=method,
        plan=Plan(task, "leaves", runs, random_state, protocol=protocol),
        runs=asked,
        references={name: tuple(run for (run,) in lines) for name, lines in results.items() if name != method},
        honest=honest[0] if honest else (),
    )


def tasks(path: Path, chosen: Sequence[str]) -> list[tuple[str, str, str]]:
    """(data set, what is asked, method) of a bench: a sample of labels, all labels, unseen leaves."""
    images = _images(path)
    labels = [name for name in methods.names("labels") if name != "clip-zero-shot" or images.texts is not None]
    names = [name for name in methods.names("labels") if name in chosen] if chosen else labels
    cells = [
        (dataset(images, LABELS, classes), "all" if classes is None else str(classes), name)
        for classes in (image_protocol.SAMPLE, None)
        if classes is None or classes < len(images.labels)
        for name in names
    ]
    # What an unseen concept's texts and images add to each other shows only when all of these are measured.
    unseen = [name for name in methods.names("unseen") if not chosen or "polaris" in chosen or name in chosen]
    if images.deep:
        cells += [(dataset(images, UNSEEN), UNSEEN, name) for name in unseen]
    return cells


def work(path: Path, asked: str, method: str, random_state: int, encoder: str) -> records.Record:
    """The record of one cell of a bench."""
    images = _images(path)
    task: Task = UNSEEN if asked == UNSEEN else LABELS
    classes = int(asked) if asked.isdigit() else None
    (run,) = _run(images, method, task, classes, _text_encoder(path, encoder), random_state)
    record = records.record(dataset(images, task, classes), method, records.IMAGES if task == LABELS else UNSEEN, run)
    if task == UNSEEN:
        record["metrics"]["wup_mistakes"] = image_protocol.wup_of_mistakes(run.outcome)
    return record


def dataset(images: ImageSet, task: Task, classes: int | None = None) -> str:
    """Name of the data set in records and tables."""
    return image_protocol.dataset_name(images, classes) if task == LABELS else f"{images.name}-{UNSEEN}"


def _registry_task(task: Task) -> methods.Task:
    return "labels" if task == LABELS else "unseen"


def _run(
    images: ImageSet,
    name: str,
    task: Task,
    classes: int | None,
    encoder: TextEncoder,
    random_state: int,
    protocol: ProtocolName = "honest",
) -> tuple[Run, ...]:
    """One run, or with the paper's protocol the one measured by it and the honest one."""
    if task == UNSEEN:
        method = methods.create_for_unseen(name)
        return (image_protocol.run_unseen(images, method, encoder, random_state=random_state),)
    label_method = methods.create_for_labels(name)
    if protocol == "paper":
        return image_protocol.run_labels_both(images, label_method, encoder, classes=classes, random_state=random_state)
    return (image_protocol.run_labels(images, label_method, encoder, classes=classes, random_state=random_state),)


@cache
def _images(path: Path) -> ImageSet:
    return image_protocol.read(path)


@cache
def _text_encoder(path: Path, name: str) -> TextEncoder:
    from taxosphere.encoders.text import registry as text_encoders

    return _images(path).texts or text_encoders.load(name)


def _choose_encoder(images: ImageSet, encoder: TextEncoder | None) -> TextEncoder:
    """The stated encoder, else the image encoder's text tower, else the packaged one."""
    from taxosphere.encoders.text import registry as text_encoders

    if encoder is None:
        return images.texts or text_encoders.load()
    return encoder if encoder is images.texts else text_encoders.check_encoder(encoder)
