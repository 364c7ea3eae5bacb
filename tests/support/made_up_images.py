"""Vectors of images and texts whose answers are known, because they were made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np


def clusters(labels: int = 6, each: int = 15, dim: int = 20, noise: float = 0.6, seed: int = 0):  # type: ignore[no-untyped-def]
    """Images around one direction per label, more scattered along the first axes than along the others."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(labels, dim))
    label = np.repeat(np.arange(labels), each)
    uneven = noise * np.linspace(3, 0.3, dim)
    vectors = (centres[label] + uneven * rng.normal(size=(len(label), dim))).astype(np.float32)
    texts = rng.normal(size=(labels, 9)).astype(np.float32)
    return vectors, label, texts


@dataclass(frozen=True)
class SharedSpace:
    """Two towers with a gap between them: an image is its label plus the images' offset plus much uneven scatter, a
    text is its label plus the texts' offset plus some noise. ``blind`` texts know nothing of their label."""

    vectors: np.ndarray
    label: np.ndarray
    texts: np.ndarray
    asked: np.ndarray
    gold: np.ndarray
    captions: np.ndarray  # other texts of the same labels

    @classmethod
    def make(
        cls,
        *,
        labels: int = 40,
        dim: int = 64,
        shots: int = 5,
        seed: int = 0,
        scatter: float = 1.0,
        blind: bool = False,
    ) -> Self:
        rng = np.random.default_rng(seed)
        centres = np.linspace(1.2, 0.5, dim) * rng.normal(size=(labels, dim))
        gap = 3 * rng.normal(size=(2, dim))
        uneven = scatter * np.linspace(3.5, 0.6, dim)
        label, gold = np.repeat(np.arange(labels), shots), np.repeat(np.arange(labels), 10)
        images = [centres[rows] + gap[0] + uneven * rng.normal(size=(len(rows), dim)) for rows in (label, gold)]
        said = rng.normal(size=centres.shape) if blind else centres
        texts = said + gap[1] + rng.normal(size=said.shape)
        captions = texts + 0.3 * rng.normal(size=said.shape)
        unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (texts, captions)]
        vectors, asked, texts, captions = (rows.astype(np.float32) for rows in (*images, *unit))
        return cls(vectors, label, texts, asked, gold, captions)


def right(scores: np.ndarray, gold: np.ndarray) -> float:
    """Share of rows whose best column is the gold one."""
    return float((scores.argmax(1) == gold).mean())
