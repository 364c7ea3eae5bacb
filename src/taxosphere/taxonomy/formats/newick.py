"""Newick trees: `(sparrow,duck)bird;`, with quoted labels, comments in brackets and branch lengths.

An underscore in a label without quotes is a blank, as the format says. Inner nodes without a label, and those whose
labels are only the support of a branch, are called by the first and the last leaf below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.outline import Outline
from taxosphere.taxonomy.formats.io.streams import open_to_write, read_text
from taxosphere.taxonomy.graph import Taxonomy

LENGTH, SUPPORT, UNNAMED = "branch length", "support", "unnamed"
_TOKEN = re.compile(r"\s+|\[[^\]]*\]|'(?:[^']|'')*'|[(),:;]|[^\s()\[\],:;']+")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?(/[\d.]+)?")
_NEXUS = re.compile(r"\s*#NEXUS\b", re.IGNORECASE)
_TREE = re.compile(r"^\s*u?tree\s+[^=;]*=\s*", re.IGNORECASE | re.MULTILINE)
_TRANSLATE = re.compile(r"^\s*translate\s+(.*?);", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_PLAIN = re.compile(r"[^\s()\[\],:;'_]+(?: [^\s()\[\],:;'_]+)*")


class _Node:
    """A node of the tree; `children` are set for inner ones."""

    __slots__ = ("children", "label", "length", "line", "quoted")

    def __init__(self, line: int) -> None:
        self.children: list[_Node] | None = None
        self.label = ""
        self.quoted = False
        self.length = ""
        self.line = line


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the nodes of all trees in a Newick file as concepts.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        None is used.
    """
    draft = Draft(path=path, format="newick")
    text = read_text(path, options.encoding)
    trees, comments = _nexus_tree(draft, text) if _NEXUS.match(text) else _parse(text, path)
    nodes = [node for tree in trees for node in _walk(tree)]
    inner = [node for node in nodes if node.children is not None]
    labelled = [node for node in inner if node.label]
    supports = bool(labelled) and all(map(_is_support, labelled))
    ends = _ends(nodes)
    outline, unnamed = Outline(draft), 0
    waiting: list[tuple[_Node, str | None]] = [(tree, None) for tree in reversed(trees)]
    while waiting:
        node, parent = waiting.pop()
        extras = [(LENGTH, node.length)] if node.length else []
        name = node.label
        if node.children is not None and (supports or not name):
            extras += [(SUPPORT, name)] if name else []
            extras.append((UNNAMED, "true"))
            name = " … ".join(dict.fromkeys(leaf.label or "?" for leaf in ends[id(node)]))
            unnamed += 1
        elif not name:
            raise InputError("a leaf has no label", path, node.line)
        place = outline.add(name, parent, extras=extras, line=node.line)
        waiting += [(child, place) for child in reversed(node.children or ())]
    outline.close()
    if unnamed:
        draft.notes.append(f"{counted(unnamed, 'inner node')} without a name, called by the first and last leaf below")
    if comments:
        draft.left_out(f"{counted(comments, 'comment')} in brackets left out")
    return draft


def _nexus_tree(draft: Draft, text: str) -> tuple[list[_Node], int]:
    """The first tree of a NEXUS file, its labels translated where the file says how."""
    starts = list(_TREE.finditer(text))
    if not starts:
        raise InputError("is a NEXUS file without a tree", draft.path)
    end = _end_of_tree(text, starts[0].end())
    first = text.count("\n", 0, starts[0].end())
    trees, comments = _parse("\n" * first + text[starts[0].end() : end], draft.path)
    table = _TRANSLATE.search(text)
    names: dict[str, str] = {}
    for pair in table[1].split(",") if table else ():
        key, _, name = pair.strip().partition(" ")
        names[key] = name.strip().strip("'").replace("_", " ")
    for node in _walk(trees[0]):
        node.label = names.get(node.label, node.label)
    if len(starts) > 1:
        draft.left_out(f"{counted(len(starts) - 1, 'further tree')} of the NEXUS file left out")
    return trees, comments


def _end_of_tree(text: str, start: int) -> int:
    at = start
    while match := _TOKEN.match(text, at):
        at = match.end()
        if match[0] == ";":
            break
    return at


def _is_support(node: _Node) -> bool:
    """A number up to 100, or two with a slash; larger ones are ids."""
    match = _NUMBER.fullmatch(node.label) if not node.quoted else None
    return match is not None and (match[3] is not None or 0 <= float(node.label) <= 100)


def _walk(tree: _Node) -> Iterator[_Node]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children or ())


def _ends(nodes: list[_Node]) -> dict[int, tuple[_Node, _Node]]:
    """First and last leaf below each node; the nodes come parents first."""
    ends: dict[int, tuple[_Node, _Node]] = {}
    for node in reversed(nodes):
        children = node.children
        ends[id(node)] = (ends[id(children[0])][0], ends[id(children[-1])][1]) if children else (node, node)
    return ends


def _parse(text: str, path: Path) -> tuple[list[_Node], int]:
    """All trees, and the number of comments."""
    parser = _Parser(path)
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            what = {"[": "a comment", "'": "a quoted label"}.get(text[at], f"'{text[at]}'")
            raise InputError(f"{what} without an end", path, parser.line)
        token = match[0]
        parser.take(token)
        parser.line += token.count("\n")
        at = match.end()
    parser.finish()
    return parser.trees, parser.comments


class _Parser:
    """Takes tokens and keeps the open nodes; depth is no danger here."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 1
        self.trees: list[_Node] = []
        self.comments = 0
        self.open: list[_Node] = []
        self.node: _Node | None = None  # the one that a label or length belongs to
        self.after_colon = False

    def take(self, token: str) -> None:
        """Advance by one token."""
        if token[0].isspace():
            return
        if token[0] == "[":
            self.comments += token[:3].upper() not in ("[&R", "[&U")  # rooted or not is no remark
        elif token == "(":
            if self.node is not None:
                raise InputError("'(' after a label; is a comma missing?", self.path, self.line)
            node = _Node(self.line)
            node.children = []
            self._place(node)
            self.open.append(node)
        elif token in (",", ")"):
            self._leave(token)
        elif token == ":":
            self.node = self.node or self._new()
            self.after_colon = True
        elif token == ";":
            self.finish(last=False)
        else:
            self._word(token)

    def _word(self, token: str) -> None:
        if self.after_colon:
            if not _NUMBER.fullmatch(token):
                raise InputError(f"the branch length '{token[:40]}' is no number", self.path, self.line)
            assert self.node is not None  # set with the colon
            self.node.length, self.after_colon = token, False
            return
        node = self.node or self._new()
        if node.label:
            message = (
                f"two labels follow each other, '{node.label[:40]}' and '{token[:40]}'; is a comma or a quote missing?"
            )
            raise InputError(message, self.path, self.line)
        node.quoted = token[0] == "'"
        node.label = token[1:-1].replace("''", "'") if node.quoted else token.replace("_", " ")
        self.node = node

    def _new(self) -> _Node:
        node = _Node(self.line)
        self._place(node)
        return node

    def _place(self, node: _Node) -> None:
        if self.open:
            children = self.open[-1].children
            assert children is not None  # an open node is an inner one
            children.append(node)
        elif self.node is None and (not self.trees or self.closed):
            self.trees.append(node)
            self.closed = False
        else:
            raise InputError("a second tree begins before ';'", self.path, self.line)

    closed = True

    def _leave(self, token: str) -> None:
        if not self.open:
            raise InputError(f"'{token}' outside of all brackets", self.path, self.line)
        if self.node is None:
            raise InputError("a leaf has no label", self.path, self.line)
        self.node, self.after_colon = None, False
        if token == ")":
            self.node = self.open.pop()

    def finish(self, last: bool = True) -> None:
        """End a tree; at the end of the file, it may end without a semicolon."""
        if self.open:
            raise InputError("a '(' is never closed; is the file cut off?", self.path, self.open[-1].line)
        if not last and self.node is None and self.closed:
            raise InputError("';' without a tree", self.path, self.line)
        self.node, self.after_colon, self.closed = None, False, True
        if last and not self.trees:
            raise InputError("holds no tree", self.path, 1)


def unsupported(taxonomy: Taxonomy) -> list[str]:
    """Return what a Newick tree cannot hold of a taxonomy, one line each.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is to be written.
    """
    lines = []
    ids = sum(id != name for id, name in zip(taxonomy.ids, taxonomy.names, strict=True))
    others = sum(any(key not in (LENGTH, SUPPORT, UNNAMED) for key, _ in extras) for extras in taxonomy.extras)
    described = (
        sum(map(bool, taxonomy.descriptions)) + sum(map(bool, taxonomy.synonyms)) + sum(map(bool, taxonomy.images))
    )
    if ids or others or described:
        lines.append("ids, definitions, synonyms and other attributes left out: a Newick tree holds names alone")
    further = int((taxonomy.parent_csr.counts - 1).clip(0).sum())
    if further:
        lines.append(
            f"{counted(further, 'edge')} to second parents left out: a Newick tree has one parent for each name"
        )
    return lines


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write a tree per root, each concept below the first of its parents."""
    taxonomy.refuse_cycles()
    with open_to_write(path) as handle:
        for root in taxonomy.roots.tolist():
            handle.writelines(_spelled(taxonomy, root))
            handle.write(";\n")


def _spelled(taxonomy: Taxonomy, root: int) -> Iterator[str]:
    waiting: list[tuple[int, list[int]]] = [(root, _children(taxonomy, root))]
    if waiting[0][1]:
        yield "("
    while waiting:
        position, rest = waiting[-1]
        if rest:
            child = rest.pop()
            below = _children(taxonomy, child)
            waiting.append((child, below))
            if below:
                yield "("
            continue
        waiting.pop()
        inner = bool(_children(taxonomy, position))
        yield (")" if inner else "") + _label(taxonomy, position, inner)
        if waiting and waiting[-1][1]:
            yield ","


def _children(taxonomy: Taxonomy, position: int) -> list[int]:
    """Children whose first parent this is, last first."""
    children = taxonomy.child_csr.row(position).tolist()
    return [child for child in reversed(children) if int(taxonomy.parent_csr.row(child)[0]) == position]


def _label(taxonomy: Taxonomy, position: int, inner: bool) -> str:
    extras: dict[str, str] = dict(taxonomy.extras[position])
    name = taxonomy.names[position]
    if inner and UNNAMED in extras:
        label = extras.get(SUPPORT, "")
    elif _PLAIN.fullmatch(name) and not (inner and _NUMBER.fullmatch(name)):
        label = name.replace(" ", "_")
    else:
        label = "'" + name.replace("'", "''") + "'"
    return label + (f":{extras[LENGTH]}" if extras.get(LENGTH) else "")
