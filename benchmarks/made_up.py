"""Made-up taxonomies of any size: names of frequent and rare words, children near their parents."""

from __future__ import annotations

import zlib

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


class Known:
    """An encoder that looks vectors up: what is measured is everything but encoding.

    Texts that it does not know, such as concepts of other fields, get a random direction.
    """

    name = "known"
    dim = DIM

    def __init__(self, table: dict[str, np.ndarray]) -> None:
        self.table = table

    def encode(self, texts: list[str]) -> np.ndarray:
        for text in set(texts).difference(self.table):
            row = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIM).astype(np.float32)
            self.table[text] = row / np.linalg.norm(row)
        return np.stack([self.table[text] for text in texts])


def encoder(concepts: list[Concept], full: np.ndarray, name: np.ndarray) -> Known:
    """Knows the texts and names of these concepts."""
    table = {concept.name: row for concept, row in zip(concepts, name, strict=True)}
    return Known(table | {concept.text: row for concept, row in zip(concepts, full, strict=True)})
