"""Language models as encoders: a tiny one against its states taken by hand, and the packaged one of 135 M for real."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from support.packaged_models import smollm_file
from support.tiny_encoder import build_tiny_encoder, build_tiny_language_model
from taxosphere.encoders.loading import gguf_to_folder
from taxosphere.encoders.text import many_fields
from taxosphere.encoders.text.language_model import (
    ANSWER,
    QUESTION,
    ROLE,
    LanguageModelEncoder,
    frame,
    is_language_model,
)
from taxosphere.encoders.text.registry import CachedEncoder, has_weights, load, trainable
from taxosphere.errors import InputError

CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if not loop.last %}</>{% endif %}{% endfor %}"
TEXTS = ["a", "lime: a green citrus fruit", "b c d", "b c d", "a rather long text: " + "word " * 40]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_language_model(tmp_path_factory.mktemp("tiny-lm"))


def made(folder: Path, **options: object) -> LanguageModelEncoder:
    encoder = load(str(folder), cache=None, **options)  # type: ignore[arg-type]
    assert isinstance(encoder, LanguageModelEncoder)
    return encoder


def state(encoder: LanguageModelEncoder, text: str) -> np.ndarray:
    """The state after the last token of the question, one text alone and without padding."""
    tokenizer, model = encoder._loaded
    ids = tokenizer(f"{tokenizer.bos_token or ''}{QUESTION}{text}\n{ANSWER}", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        hidden: torch.Tensor = model(input_ids=torch.tensor([ids])).last_hidden_state
    return hidden[0, -1].float().numpy()


def test_a_vector_is_the_standardised_state_at_the_end_of_the_question(tiny: Path) -> None:
    encoder = made(tiny, max_tokens=400)  # its tokens are letters
    texts = {text for each in many_fields.concepts() for text in (each.text, each.name)}
    states = np.stack([state(encoder, text) for text in texts])
    expected = (state(encoder, "lime") - states.mean(0)) / states.std(0)
    (vector,) = encoder.encode(["lime"])
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-4)


def test_a_vector_has_the_same_bits_in_any_company_and_order(tiny: Path) -> None:
    encoder = made(tiny)
    together = encoder.encode(TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(encoder.encode(TEXTS[::-1]), together[::-1])
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_only_so_many_tokens_of_a_text_are_read_and_the_question_is_always_whole(tiny: Path) -> None:
    encoder = made(tiny, max_tokens=3)
    np.testing.assert_array_equal(encoder.encode(["a b c d e"]), encoder.encode(["a b c"]))
    assert not np.array_equal(encoder.encode(["a b d"]), encoder.encode(["a b c"]))


def test_a_model_of_chats_is_asked_in_a_chat_whose_answer_has_begun(tmp_path: Path) -> None:
    folder = build_tiny_language_model(tmp_path / "chat")
    (folder / "chat_template.jinja").write_text(CHAT, encoding="utf-8")
    before, after = frame(made(folder)._loaded[0])
    assert before == f"<system>{ROLE}</><user>{QUESTION}"
    assert after == f"</><assistant>{ANSWER}"


def test_states_of_many_fields_and_vectors_are_computed_once(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load(str(tiny), cache=tmp_path)
    vectors = first.encode(TEXTS * 20)
    monkeypatch.setattr(LanguageModelEncoder, "_loaded", None)
    again = load(str(tiny), cache=tmp_path)
    assert isinstance(again, CachedEncoder)
    assert isinstance(again.inner, LanguageModelEncoder)
    np.testing.assert_array_equal(again.inner.moments().mean, first.inner.moments().mean)  # type: ignore[union-attr]
    with pytest.raises(TypeError):  # no model is loaded, and five texts are too few to have been stored
        again.encode(TEXTS)
    assert vectors.shape == (100, 16)


@pytest.mark.parametrize("stored", [False, True])
def test_the_texts_of_many_fields_are_counted_too(tiny: Path, tmp_path: Path, stored: bool) -> None:
    told: list[tuple[int, int]] = []
    encoder = load(str(tiny), cache=tmp_path if stored else None)
    assert isinstance(encoder, CachedEncoder | LanguageModelEncoder)
    encoder.encode(TEXTS, progress=lambda done, total: told.append((done, total)))
    many = len({text for each in many_fields.concepts() for text in (each.text, each.name)})
    assert [pair for pair in told if pair[0] == pair[1]] == [(many, many), (4, 4)]


def test_it_is_not_fine_tuned_and_stands_beside_one_that_is(tiny: Path, tmp_path: Path) -> None:
    alone = load(str(tiny), cache=tmp_path)
    assert not has_weights(alone)
    with pytest.raises(InputError, match="no weights to fine-tune"):
        trainable(alone)
    transformer = build_tiny_encoder(tmp_path / "bert")
    both = load(f"{tiny}+{transformer}", cache=tmp_path)
    assert trainable(both).name == str(transformer)


def test_folders_of_sentence_encoders_and_damaged_ones_are_not_taken_for_language_models(tmp_path: Path) -> None:
    assert not is_language_model(tmp_path)
    assert not is_language_model(build_tiny_encoder(tmp_path / "bert"))
    folder = build_tiny_language_model(tmp_path / "lm")
    assert is_language_model(folder)
    (folder / "modules.json").write_text("[]", encoding="utf-8")
    assert not is_language_model(folder)
    (folder / "modules.json").unlink()
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(InputError, match="no causal language model"):
        made(folder).encode(["a"])


def test_a_gguf_file_becomes_a_folder_whose_vectors_know_a_lime_from_a_cello(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = smollm_file()
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path))
    encoder = load(str(file))
    assert capfd.readouterr().err == ""  # neither bars nor advice of the library that reads the file
    assert isinstance(encoder, CachedEncoder)
    few = many_fields.concepts()[::6]  # all of them take this model half a minute
    monkeypatch.setattr(many_fields, "concepts", lambda: few)
    texts = ["lime: a green citrus fruit", "lemon: a yellow citrus fruit"]
    texts += ["violin: a string instrument", "cello: a large string instrument"]
    vectors = encoder.encode(texts)
    cosine = vectors @ vectors.T
    np.fill_diagonal(cosine, -1)
    assert cosine.argmax(1).tolist() == [1, 0, 3, 2]
    (folder,) = (place for place in tmp_path.iterdir() if place.is_dir())
    assert json.loads((folder / "config.json").read_text(encoding="utf-8"))["architectures"] == ["LlamaForCausalLM"]
    assert load(str(file)).encode(texts[:1]).shape == (1, encoder.dim)  # from the folder, which is not made again
    with pytest.raises(InputError):
        gguf_to_folder(tmp_path / "absent.gguf", tmp_path)
