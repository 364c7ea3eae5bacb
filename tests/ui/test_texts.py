"""Every sentence that the service sends to the page is there in German too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import taxosphere
from taxosphere.placing import duplicates, near_duplicates
from taxosphere.placing.reasons import SENTENCES

SOURCE = Path(taxosphere.__file__).parent
GERMAN = (Path(__file__).resolve().parents[2] / "web" / "src" / "texts" / "service-de.ts").read_text(encoding="utf-8")
PROGRESS = ("fitting.py", "ranking/ranker_training.py", "ranking/crossfit.py", "placing/place_list.py")
SAID = {  # name of what is called: which argument is the sentence, and in which files
    "Problem": (
        1,
        ("service/deciding.py", "service/guard.py", "service/problems.py", "service/cursors.py", "service/api/*"),
    ),
    "busy": (0, ("service/api/*",)),
    "InputError": (0, ("service/uploads.py", "service/jobs.py", "service/model_answers.py")),
    "report": (2, ("service/jobs.py",)),
    "progress": (2, PROGRESS),
}
WITH_NAMES = {  # texts stand in these, not numbers: they stay as they are
    "this needs the role '{}'",
    "a list is one of {}",
    "the database cannot be used now ({}); nothing was recorded, try again later",
    "there is no column for '{}' under this title",
    "the properties are {}, of at most {} concepts",
}


def table(name: str) -> str:
    """One of the tables of the German texts."""
    found = re.search(rf"export const {name}.*? = \{{\n(.*?)\n\}};", GERMAN, re.DOTALL)
    assert found is not None
    return found[1]


def keys(name: str) -> set[str]:
    """Keys of a table; quoted ones without their quotes."""
    return {a or b or c for a, b, c in re.findall(r"^  (?:'([^']+)'|\"([^\"]+)\"|(\w+)):", table(name), re.MULTILINE)}


def written(node: ast.expr, constants: dict[str, ast.expr]) -> str | None:
    """A string in the source, with {} for what is put into it."""
    if isinstance(node, ast.Name):
        return written(constants[node.id], constants) if node.id in constants else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def sentences() -> Iterator[str]:
    """Everything that the service says to the page."""
    for called, (place, patterns) in SAID.items():
        for path in sorted(path for pattern in patterns for path in SOURCE.glob(pattern) if path.suffix == ".py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            strings = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
            constants = {t.id: node.value for node in strings for t in node.targets if isinstance(t, ast.Name)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and len(node.args) > place:
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    text = written(node.args[place], constants) if name == called else None
                    if text is not None:
                        yield text


def notes() -> Iterator[str]:
    """What stands as a note in decisions that nobody wrote one for."""
    for name in ("deciding.py", "jobs.py"):
        for node in ast.walk(ast.parse((SOURCE / "service" / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "note" and (text := written(node.value, {})):
                yield text


def test_every_sentence_of_the_service_is_there_in_german() -> None:
    said = {*sentences(), *(note.replace("{} or", "{}% or") for note in notes())} - WITH_NAMES
    assert len(said) > 50
    recognised = {*duplicates._USUAL, near_duplicates.HOW}
    assert {text for text in said | recognised if text.replace("{}", "") and text not in keys("sentences")} - {
        "there is no such {}"  # of an item or a job, which are there one by one
    } == set()


def test_every_reason_is_there_in_german_with_what_stands_in_it() -> None:
    assert keys("reasons") == set(SENTENCES)
    lines = dict(re.findall(r"^  (\w+): \(v\) => (.*),$", table("reasons"), re.MULTILINE))
    for code, english in SENTENCES.items():
        wanted = {name for _, name, _, _ in Formatter().parse(english) if name}
        used = set(re.findall(r"v\.(\w+)", lines[code].replace("share(v)", "v.count v.total v.parent")))
        assert used <= wanted, code
        assert wanted - used <= {"count"}, code


def test_every_conflict_is_there_in_german() -> None:
    calls = [
        node
        for path in (SOURCE / "decisions").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Conflict"
    ]
    codes = {node.args[0].value for node in calls if node.args and isinstance(node.args[0], ast.Constant)}
    assert len(codes) > 8
    assert codes == keys("conflicts")
