"""The words that the glossary forbids stay out of the code."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "taxosphere"
NOT_AS_RESULTS = {"found", "own", "known", "given", "told"}


def forbidden() -> set[str]:
    """Words in the last column of the glossary's tables."""
    rows = re.findall(r"^\|.*\|([^|]*)\|$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.M)
    return {word for row in rows for word in re.findall(r"`(\w+)`", row)}


def names(path: Path) -> Iterator[tuple[int, str]]:
    """(line, name) of every identifier of a module that the module itself chooses.

    What stands behind a dot is looked at where it is defined; the field of a document (a name before a colon at the
    beginning of a line) is called what others call it.
    """
    tokens = list(tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline))
    for before, token, after in zip([tokens[0], *tokens], tokens, [*tokens[1:], tokens[-1]]):
        field = after.string == ":" and not token.line[: token.start[1]].strip()
        if token.type == tokenize.NAME and before.string != "." and not field:
            yield token.start[0], token.string


def words(name: str) -> set[str]:
    """The words of an identifier, and the identifier itself without leading underscores."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)} | {name.strip("_").lower()}


def test_the_glossary_has_words_to_forbid() -> None:
    assert {"picture", "signs", "guesses", "loose"} <= forbidden()
    assert words("PictureSet") >= {"picture"}
    assert "signs" not in words("designs")


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_forbidden_word_is_a_name(path: Path) -> None:
    banned = forbidden()
    offenders = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for line, name in names(path)
        if words(name) & banned or name in NOT_AS_RESULTS
    ]
    assert not offenders, "\n".join(offenders)
