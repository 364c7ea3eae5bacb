from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.methods import registry as methods
from taxosphere.methods.baselines import untrained


class Table:
    """An encoder that looks vectors up."""

    name, dim = "table", 2

    def __init__(self, **degrees: float) -> None:
        self.degrees = degrees

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        angles = np.deg2rad([self.degrees[text] for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)


def seed() -> Taxonomy:
    return Taxonomy.from_edges(
        [("root", "tree"), ("root", "stone"), ("tree", "oak"), ("tree", "elm"), ("stone", "opal")]
    )


def naive_tfidf(texts: list[str], queries: list[str]) -> np.ndarray:
    def grams(text: str) -> list[str]:
        text = f" {text.lower()} "
        return [text[i : i + n] for n in (3, 4, 5) for i in range(len(text) - n + 1)]

    vocabulary = sorted({g for t in texts for g in grams(t)})
    idf = [np.log((1 + len(texts)) / (1 + sum(g in grams(t) for t in texts))) + 1 for g in vocabulary]

    def rows(these: list[str]) -> np.ndarray:
        out = np.array([[grams(t).count(g) * w for g, w in zip(vocabulary, idf)] for t in these])
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)

    return rows(queries) @ rows(texts).T


def test_tfidf_equals_a_naive_one() -> None:
    pairs = [("Food", "fruit"), ("fruit", "Äpfel 🍏")]
    t = Taxonomy.from_edges(pairs, descriptions={"fruit": "sweet, grows on trees"})
    queries = [
        Concept("q", "fruit tree"),
        Concept("r", "apfel", "eine Frucht"),
        Concept("s", "🍏 Äpfel"),
        Concept("t", ""),
    ]
    method = untrained.Tfidf().fit(t, encoder=Table(), random_state=0)
    expected = naive_tfidf([c.text for c in t.concepts()], [c.text for c in queries])
    assert method.score(queries) == pytest.approx(expected, abs=1e-6)


def test_internal_puts_every_leaf_last_and_keeps_the_order() -> None:
    queries = [Concept("q", "oak tree")]
    plain = untrained.Tfidf().fit(seed(), encoder=Table(), random_state=0).score(queries)[0]
    internal = untrained.TfidfInternal().fit(seed(), encoder=Table(), random_state=0).score(queries)[0]
    has_children = seed().child_csr.counts > 0
    assert internal[has_children].min() > internal[~has_children].max()
    for group in (has_children, ~has_children):
        assert np.argsort(plain[group], kind="stable").tolist() == np.argsort(internal[group], kind="stable").tolist()


def test_encoder_cosine() -> None:
    encoder = Table(root=0, tree=60, stone=90, oak=61, elm=59, opal=91, ash=30)
    scores = untrained.EncoderCosine().fit(seed(), encoder=encoder, random_state=0).score([Concept("q", "ash")])
    assert scores[0] == pytest.approx(np.cos(np.deg2rad([30, 30, 60, 31, 29, 61])), abs=1e-6)


def test_sibling_vote_on_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two neighbours: oak at 0° and opal at 10° from the query. Weights 1 and exp(20 (cos 10° - 1)) = w, normalised.

    oak votes for tree with 1/(1+w), opal for stone with w/(1+w); the others follow by cosine, all of them below."""
    monkeypatch.setattr(untrained, "NEIGHBOURS", 2)
    encoder = Table(root=180, tree=100, stone=120, oak=0, elm=50, opal=10, ash=0)
    scores = untrained.SiblingVote().fit(seed(), encoder=encoder, random_state=0).score([Concept("q", "ash")])[0]
    w = np.exp(20 * (np.cos(np.deg2rad(10)) - 1))
    by_name = dict(zip(seed().names, scores))
    assert by_name["tree"] - 2 == pytest.approx(1 / (1 + w), abs=1e-6)
    assert by_name["stone"] - 2 == pytest.approx(w / (1 + w), abs=1e-6)
    assert by_name["elm"] == pytest.approx(np.cos(np.deg2rad(50)), abs=1e-6)


@pytest.mark.parametrize("name", methods.REFERENCES)
def test_a_method_without_settings_names_the_one_it_refuses(name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' has no settings; leave 'foo' out"):
        methods.create(name, {"foo": "1"})


@pytest.mark.parametrize("name", [name for name in methods.names() if "parents" not in methods.tasks(name)])
def test_image_methods_refuse_questions_in_words(name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' does not find parents by text; use --split"):
        methods.create(name)
