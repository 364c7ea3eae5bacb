"""Readers by name, and models that were fitted with one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Concept, Polaris
from taxosphere.encoders.text.registry import load
from taxosphere.errors import InputError
from taxosphere.model.config import PolarisConfig
from taxosphere.readers.cross_encoder import CrossEncoder, CrossEncoderSettings
from taxosphere.readers.endpoint import EndpointReader
from taxosphere.readers.language_model import LanguageModelReader
from taxosphere.readers.reader import candidates_at
from taxosphere.readers.registry import load_reader, reader_for, restore_reader, transformer_of

QUICK = ("training.epochs=2", "ranking.folds=2", "ranking.examples=24", "ranking.nets=1", "ranking.epochs=2")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder"))


@pytest.fixture(scope="module")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = build_tiny_encoder(tmp_path_factory.mktemp("tiny-lm"))
    for file in ("config.json", "model.safetensors"):
        (folder / file).unlink(missing_ok=True)
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=80, n_positions=256, n_embd=16, n_layer=1, n_head=2, bos_token_id=2, eos_token_id=3)
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def _model(encoder: Path, reader: str, depth: int = 4) -> Polaris:
    settings = PolarisConfig().with_overrides((*QUICK, f"ranking.reader={reader}", f"ranking.reader_depth={depth}"))
    return Polaris(settings).fit(meadow(), encoder=str(encoder), random_state=0)


def test_an_endpoint_is_an_address_with_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path))
    monkeypatch.delenv("TAXOSPHERE_READER_KEY", raising=False)
    reader = load_reader("http://localhost:1/v1#tiny:1b")
    assert isinstance(reader, EndpointReader)
    assert (reader.url, reader.model, reader.key_variable) == ("http://localhost:1/v1", "tiny:1b", "")
    assert reader.cache.parent == tmp_path
    monkeypatch.setenv("TAXOSPHERE_READER_KEY", "secret")
    keyed = load_reader("http://localhost:1/v1#tiny:1b")
    assert isinstance(keyed, EndpointReader)
    assert keyed.key_variable == "TAXOSPHERE_READER_KEY"
    with pytest.raises(InputError, match="names no model"):
        load_reader("https://example.org/v1")


def test_a_language_model_is_the_same_for_every_seed(language_model: Path, encoder: Path) -> None:
    make = reader_for(str(language_model), load(str(encoder), cache=None))
    assert isinstance(make(meadow(), 0), LanguageModelReader)
    assert make(meadow(), 0) is make(meadow(), 1)


def test_a_cross_encoder_needs_a_transformer_to_begin_from() -> None:
    with pytest.raises(InputError, match="begins from a transformer, and 'gram'"):
        reader_for("cross-encoder", _Named())


class _Named(GramEncoder):
    name = "gram"


def test_a_cross_encoder_is_restored_from_its_arrays(encoder: Path) -> None:
    base = load(str(encoder), cache=None)
    seed, settings = meadow(), CrossEncoderSettings(epochs=1, negatives=3, learning_rate=1e-2)
    reader = CrossEncoder.fit(seed, transformer_of(base), random_state=0, settings=settings)
    again = restore_reader("cross-encoder", reader.to_arrays(), base)
    query, candidates = Concept("q", "green bird", ""), candidates_at(seed, list(range(9)))
    assert again.score(query, candidates).tobytes() == reader.score(query, candidates).tobytes()


@pytest.mark.parametrize("kind", ["cross-encoder", "language model"])
def test_a_model_with_a_reader_is_saved_and_loaded(
    kind: str, encoder: Path, language_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    model = _model(encoder, kind if kind == "cross-encoder" else str(language_model))
    model.save(tmp_path / "model")
    loaded = Polaris.load(tmp_path / "model")
    queries = [Concept("a", "green bird", "a bird that is called green"), Concept("b", "lemon cake", "")]
    assert np.array_equal(loaded.score(queries), model.score(queries))
    assert "reader score" in loaded.features("green bird").columns
    plain = Polaris(PolarisConfig().with_overrides(QUICK)).fit(meadow(), encoder=str(encoder), random_state=0)
    assert not np.array_equal(plain.score(queries), model.score(queries))
    assert "reader score" not in plain.features("green bird").columns
