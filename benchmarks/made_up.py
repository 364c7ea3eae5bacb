"""Made-up taxonomies of any size: names of frequent and rare words, children near their parents."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from taxosphere import Concept, Taxonomy

DIM = 384
FAN_OUT = 8
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def words(count: int, rng: np.random.Generator) -> list[str]:
    """Distinct made-up words of four to nine letters."""
    lengths = rng.integers(4, 10, count)
    return ["".join(rng.choice(_LETTERS, length)) + _LETTERS[i % 26] for i, length in enumerate(lengths)]


def taxonomy(size: int, random_state: int = 0) -> Taxonomy:
    """A tree of ``size`` concepts; words of names and definitions are as unevenly frequent as those of a language."""
    rng = np.random.default_rng(random_state)
    vocabulary = words(max(200, size // 4), rng)
    rank = np.arange(1, len(vocabulary) + 1)
    share = 1 / rank / (1 / rank).sum()
    drawn = rng.choice(len(vocabulary), (size, 6), p=share)
    parent = np.maximum(0, (np.arange(size) - 1) // FAN_OUT)
    concepts = []
    for i in range(size):
        head = vocabulary[drawn[parent[i], 0]]
        some = [vocabulary[j] for j in drawn[i]]
        concepts.append(Concept(f"c{i}", f"{some[0]} {some[1]}", f"a {some[2]} {head} with {some[3]} and {some[4]}"))
    return Taxonomy.from_concepts(concepts, [(f"c{parent[i]}", f"c{i}") for i in range(1, size)])


def vectors(size: int, random_state: int = 0) -> np.ndarray:
    """(size, DIM) unit rows: each near its parent's, level by level."""
    rng = np.random.default_rng([random_state, 1])
    rows = rng.standard_normal((size, DIM), np.float32) / np.float32(np.sqrt(DIM))
    start, stop = 1, 1 + FAN_OUT
    while start < size:
        level = np.arange(start, min(stop, size))
        rows[level] += rows[(level - 1) // FAN_OUT]
        rows[level] /= np.linalg.norm(rows[level], axis=1, keepdims=True)
        start, stop = stop, stop * FAN_OUT + 1
    return rows


def write_vectors(size: int, file: Path) -> None:
    """Vectors of texts, followed by those of names, as one numpy array (2 · size, DIM) in a file."""
    full = vectors(size)
    stored = np.lib.format.open_memmap(file, "w+", np.float32, (2 * size, DIM))
    stored[:size] = full
    full += np.float32(0.5) * vectors(size, 1)
    full /= np.linalg.norm(full, axis=1, keepdims=True)
    stored[size:] = full


class Known:
    """An encoder that looks vectors up: what is measured is everything but encoding.

    Texts that it does not know, such as concepts of other fields, get a random direction.

    Parameters
    ----------
    file : path, optional
        Vectors of texts and names, as `write_vectors` writes them. They are read anew by every call that needs them, so
        that they take no memory in between.
    concepts : iterable of Concept
        Whose vectors these are.
    """

    name = "known"
    dim = DIM

    def __init__(self, file: Path | None = None, concepts: Iterable[Concept] = ()) -> None:
        self.file = file
        self.table: dict[str, np.ndarray] = {}
        self.rows: dict[str, int] = {}
        texts = [(concept.text, concept.name) for concept in concepts]
        for place, (text, name) in enumerate(texts):
            self.rows.setdefault(name, len(texts) + place)
            self.rows[text] = place

    def encode(self, texts: list[str]) -> np.ndarray:
        vectors = np.empty((len(texts), DIM), np.float32)
        places = np.full(len(texts), -1)
        for number, text in enumerate(texts):
            if text in self.table:
                vectors[number] = self.table[text]
            elif text in self.rows:
                places[number] = self.rows[text]
            else:
                row = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIM).astype(np.float32)
                vectors[number] = row / np.linalg.norm(row)
        stored = np.flatnonzero(places >= 0)
        if len(stored) and self.file is not None:
            file = np.load(self.file, mmap_mode="r")
            for part in np.array_split(stored, 1 + len(stored) // 10_000):
                vectors[part] = file[places[part]]
        return vectors
