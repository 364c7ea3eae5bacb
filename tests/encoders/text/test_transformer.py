from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from taxosphere.encoders.text import bert, transformer
from taxosphere.encoders.text.recipe import FLAG_OF_POOLING
from taxosphere.encoders.text.transformer import TransformerEncoder, batches_by_length
from taxosphere.encoders.weights import locate
from taxosphere.errors import TaxosphereError

TEXTS = ["cat", "a dog: an animal that barks", "x", "cat", "the quick brown fox jumps over the lazy dog", "", "dog"]


def by_hand(encoder: TransformerEncoder, text: str, pooling: str) -> np.ndarray:
    """One text alone, without padding."""
    tokens = encoder.tokenizer(text, truncation=True, max_length=encoder.max_tokens, return_tensors="pt")
    with torch.no_grad():
        hidden = encoder.model(**tokens).last_hidden_state[0].numpy()
    pooled = {
        "cls": hidden[0],
        "last": hidden[-1],
        "max": hidden.max(0),
        "mean": hidden.mean(0),
        "mean_sqrt": hidden.sum(0) / np.sqrt(len(hidden)),
    }[pooling]
    return pooled / np.linalg.norm(pooled)


@pytest.mark.parametrize("pooling", list(FLAG_OF_POOLING))
def test_batches_equal_one_text_at_a_time(tiny_folder: Path, tmp_path: Path, pooling: str) -> None:
    shutil.copytree(tiny_folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "config.json").write_text(json.dumps({FLAG_OF_POOLING[pooling]: True}))
    (tmp_path / "modules.json").write_text(json.dumps([{"type": "Pooling", "path": "p"}]))
    encoder = TransformerEncoder(locate(str(tmp_path)), max_tokens=20)
    expected = np.stack([by_hand(encoder, text, pooling) for text in TEXTS])
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=2e-6)


def test_a_vector_has_the_same_bits_in_every_company() -> None:
    encoder = TransformerEncoder(locate("minilm"))
    words = [f"concept number {n} of {n % 13} kinds" + " and more" * (n % 7) for n in range(60)]
    together = encoder.encode(words)
    np.testing.assert_array_equal(encoder.encode(words[::-1])[::-1], together)
    np.testing.assert_array_equal(np.concatenate([encoder.encode([word]) for word in words[:5]]), together[:5])
    few = [words[start : start + 7] for start in range(0, 60, 7)]  # several lengths that share the weights
    np.testing.assert_array_equal(np.concatenate([encoder.encode(part) for part in few]), together)


def test_our_pass_through_the_weights_is_the_models_own(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"concept number {n} of {n % 13} kinds" + " and more" * (n % 17) for n in range(100)]
    found = TransformerEncoder(locate("minilm")).encode(texts)
    monkeypatch.setattr(bert, "_packs", lambda: False)  # a torch without oneDNN
    np.testing.assert_allclose(TransformerEncoder(locate("minilm")).encode(texts), found, atol=1e-6)
    monkeypatch.setattr(bert, "load", lambda folder: None)
    monkeypatch.setattr(bert, "of_model", lambda model: None)
    np.testing.assert_allclose(TransformerEncoder(locate("minilm")).encode(texts), found, atol=1e-6)


@pytest.mark.parametrize("name", ["minilm", "tiny"])
def test_weights_read_without_transformers_give_the_same_bits(tiny_folder: Path, name: str) -> None:
    where = locate(str(tiny_folder) if name == "tiny" else name)
    alone, loaded = TransformerEncoder(where), TransformerEncoder(where)
    assert loaded.model is not None  # from now on it computes with the model of transformers
    texts = [*TEXTS, *(f"concept number {n} of {n % 13} kinds" + " and more" * (n % 17) for n in range(50))]
    np.testing.assert_array_equal(alone.encode(texts), loaded.encode(texts))
    assert "model" not in vars(alone)


def test_fine_tuned_weights_are_read_without_transformers_too(tiny_folder: Path) -> None:
    where = locate(str(tiny_folder))
    names = ("encoder.layer.1.output.dense.weight", "embeddings.word_embeddings.weight", "pooler.dense.bias")
    before = dict(TransformerEncoder(where).model.named_parameters())
    tuned = {name: 2 * before[name].detach().numpy() for name in names}
    alone, loaded = TransformerEncoder(where, tuned=tuned), TransformerEncoder(where, tuned=tuned)
    assert loaded.model is not None
    np.testing.assert_array_equal(alone.encode(TEXTS), loaded.encode(TEXTS))
    wrong = TransformerEncoder(where, tuned={"encoder.layer.1.output.dense.weight": np.zeros((2, 2), np.float32)})
    with pytest.raises(TaxosphereError, match="another encoder than the one that was fine-tuned"):
        wrong.encode(TEXTS)


def test_encoding_imports_no_transformers() -> None:
    code = (
        "import sys\n"
        "from taxosphere.encoders.text.registry import load\n"
        "load(cache=None).encode(['a text'])\n"
        "heavy = {'transformers', 'torch._dynamo', 'sympy', 'scipy.optimize'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=8))
def test_tokens_are_those_of_transformers(texts: list[str]) -> None:
    encoder = _minilm()
    expected = encoder.tokenizer(texts, truncation=True, max_length=encoder.max_tokens)["input_ids"]
    assert encoder.tokenize(texts) == expected


@cache
def _minilm() -> TransformerEncoder:
    return TransformerEncoder(locate("minilm"), max_tokens=16)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer"}),
        ("tokenizer.json", {"normalizer": {"type": "Lowercase"}}),
    ],
)
def test_tokenizers_that_may_mean_something_else_are_left_to_transformers(
    tmp_path: Path, file: str, change: dict[str, object]
) -> None:
    folder = locate("minilm").folder
    for name in ("tokenizer.json", "tokenizer_config.json"):
        content = json.loads((folder / name).read_text(encoding="utf-8"))
        (tmp_path / name).write_text(json.dumps(content | (change if name == file else {})), encoding="utf-8")
    assert transformer.load_tokenizer(folder, 64) is not None
    assert transformer.load_tokenizer(tmp_path, 64) is None
    (tmp_path / file).write_text("{", encoding="utf-8")
    assert transformer.load_tokenizer(tmp_path, 64) is None


def test_weights_that_learned_meanwhile_are_read_again(tiny_folder: Path) -> None:
    encoder = TransformerEncoder(locate(str(tiny_folder)))
    before = encoder.encode(TEXTS)
    with torch.no_grad():
        encoder.model.encoder.layer[0].intermediate.dense.weight.mul_(2)
    expected = np.stack([by_hand(encoder, text, encoder.recipe.pooling) for text in TEXTS])
    assert np.abs(expected - before).max() > 1e-3
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=2e-6)


def test_a_copy_of_a_used_encoder_gives_the_same_vectors(tiny_folder: Path) -> None:
    encoder = TransformerEncoder(locate(str(tiny_folder)))
    expected = encoder.encode(TEXTS)
    np.testing.assert_array_equal(copy.deepcopy(encoder).encode(TEXTS), expected)


def test_each_distinct_text_is_encoded_once(tiny_folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    encoder = TransformerEncoder(locate(str(tiny_folder)))
    encoder.encode(["a", "b", "a", "a b c d e f g h i j", "b"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 3), (3, 3)]


def test_prefix_goes_in_front(tiny_folder: Path) -> None:
    plain, prefixed = (TransformerEncoder(locate(str(tiny_folder)), prefix=prefix) for prefix in (None, "query: "))
    np.testing.assert_array_equal(prefixed.encode(["cat"]), plain.encode(["query: cat"]))
    assert plain.identity != prefixed.identity


def test_a_text_may_fill_all_positions_the_model_has(tiny_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_folder, tmp_path, dirs_exist_ok=True)
    model = TransformerEncoder(locate(str(tiny_folder))).model
    model.config.max_position_embeddings = 13
    model.embeddings.position_embeddings.weight = torch.nn.Parameter(model.embeddings.position_embeddings.weight[:13])
    model.save_pretrained(tmp_path)
    encoder = TransformerEncoder(locate(str(tmp_path)))
    text = "a b c d e f g h i j k l m n o p"
    np.testing.assert_allclose(encoder.encode([text])[0], by_hand(encoder, text, encoder.recipe.pooling), atol=2e-6)


def test_batches_cover_every_row_once_and_hold_one_length() -> None:
    tokens = [[0] * n for n in (3, 9, 8, 1, 40, 17, 16, 2, 3, 4)]
    found = batches_by_length(tokens, size=3)
    assert sorted(np.concatenate(found).tolist()) == list(range(10))
    assert all(len({-(-len(tokens[row]) // 8) for row in rows}) == 1 and len(rows) <= 3 for rows in found)
    assert batches_by_length([]) == []
