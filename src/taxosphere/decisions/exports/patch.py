"""A unified patch between the source file of a taxonomy and the same file with what was decided.

Ontology files repeat many lines (``[Term]``, empty ones), which slows a usual difference down and leads it astray.
Lines that stand exactly once in both files (ids) are matched first; only what lies between them is compared in detail.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from taxosphere import atomic

_CONTEXT = 3  # unchanged lines around a change
_DETAILED = 2000  # lines that are compared in detail; longer stretches without a unique line are replaced whole

Block = tuple[int, int, int, int]  # of the old lines from, to; of the new ones from, to


def write(source: Path, write_new: Callable[[Path], None], path: Path) -> None:
    """Write a patch.

    Parameters
    ----------
    source
        The file or folder as it was.
    write_new
        Writes the changed taxonomy to a path of the same name.
    path
        The patch; empty where nothing has changed.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / source.name
        write_new(target)
        if source.is_file():
            pairs = [(source.name, source, target)]
        else:
            names = sorted(
                {part.relative_to(top) for top in (source, target) for part in top.rglob("*") if part.is_file()}
            )
            pairs = [(f"{source.name}/{name.as_posix()}", source / name, target / name) for name in names]
        lines = [line for name, old, new in pairs for line in unified(name, _lines(old), _lines(new))]
    with atomic.file(path) as temporary:
        temporary.write_bytes(b"".join(lines))


def _lines(path: Path) -> list[bytes]:
    if not path.is_file():
        return []
    parts = path.read_bytes().split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + [part for part in parts[-1:] if part]


def unified(name: str, old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[bytes]:
    """The lines of a unified patch for one file."""
    blocks = changed_blocks(old, new)
    if not blocks:
        return
    yield b"--- " + (f"a/{name}".encode() if old else b"/dev/null") + b"\n"
    yield b"+++ " + (f"b/{name}".encode() if new else b"/dev/null") + b"\n"
    for hunk in _hunks(blocks):
        yield from _hunk(old, new, hunk)


def _hunks(blocks: list[Block]) -> Iterator[list[Block]]:
    """Blocks that share their unchanged surroundings belong together."""
    hunk = [blocks[0]]
    for block in blocks[1:]:
        if block[0] - hunk[-1][1] > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(block)
    yield hunk


def _hunk(old: Sequence[bytes], new: Sequence[bytes], blocks: list[Block]) -> Iterator[bytes]:
    start = max(blocks[0][0] - _CONTEXT, 0)
    end = min(blocks[-1][1] + _CONTEXT, len(old))
    new_start = blocks[0][2] - (blocks[0][0] - start)
    new_end = blocks[-1][3] + (end - blocks[-1][1])
    yield f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n".encode()
    at = start
    for first, last, new_first, new_last in blocks:
        yield from (_line(b" ", line) for line in old[at:first])
        yield from (_line(b"-", line) for line in old[first:last])
        yield from (_line(b"+", line) for line in new[new_first:new_last])
        at = last
    yield from (_line(b" ", line) for line in old[at:end])


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start},{length}"


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"


# -- what differs -----------------------------------------------------------------------------------------------------


def changed_blocks(old: Sequence[bytes], new: Sequence[bytes]) -> list[Block]:
    """Stretches of lines that differ, in order."""
    blocks: list[Block] = []
    at, new_at = 0, 0
    for one, other in (*_anchors(old, new), (len(old), len(new))):
        blocks += _between(old, new, (at, one, new_at, other))
        at, new_at = one + 1, other + 1
    return blocks


def _anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Lines that are unique in both files: the longest sequence that has the same order in both."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    place = {line: i for i, line in enumerate(new) if line in once}
    pairs = [(i, place[line]) for i, line in enumerate(old) if line in once]
    ends: list[int] = []  # the smallest place at which a rising sequence of each length ends
    last: list[int] = []  # which pair that is
    before: list[int] = []
    for number, (_, at) in enumerate(pairs):
        length = bisect_left(ends, at)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [at]
        last[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _between(old: Sequence[bytes], new: Sequence[bytes], block: Block) -> list[Block]:
    start, end, new_start, new_end = block
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    if start == end and new_start == new_end:
        return []
    if max(end - start, new_end - new_start) > _DETAILED:
        return [(start, end, new_start, new_end)]
    matcher = SequenceMatcher(None, old[start:end], new[new_start:new_end], autojunk=False)
    return [
        (start + i, start + j, new_start + k, new_start + m)
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    ]
