"""Static vectors, against means taken by hand and against sentence-transformers where that is installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from support.tiny_encoder import build_static_encoder
from taxosphere.encoders.text.registry import load
from taxosphere.encoders.text.static import StaticEncoder
from taxosphere.errors import InputError, TaxosphereError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build_static_encoder(tmp_path / "static")


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_a_text_is_the_mean_of_its_token_vectors(folder: Path) -> None:
    table = load_file(folder / "model.safetensors")["embeddings"]
    encoder = load(str(folder))
    assert isinstance(encoder, StaticEncoder)
    # "ab c" is cut into a, ##b, c; the first letter is piece 4, continuations begin 38 pieces later
    tokens = [4, 5 + 38, 6]
    np.testing.assert_allclose(encoder.encode(["ab c"])[0], _unit(table[tokens].mean(0)), atol=1e-6)


def test_unknown_words_count_only_where_nothing_else_is_known(folder: Path) -> None:
    encoder = load(str(folder))
    table = load_file(folder / "model.safetensors")["embeddings"]
    np.testing.assert_array_equal(encoder.encode(["a 日"]), encoder.encode(["a"]))
    np.testing.assert_allclose(encoder.encode(["日"])[0], _unit(table[1]), atol=1e-6)


def test_tokens_beyond_the_limit_are_left_out(folder: Path) -> None:
    encoder = load(str(folder), max_tokens=2)
    np.testing.assert_array_equal(encoder.encode(["a b c d"]), encoder.encode(["a b"]))


def test_a_prefix_stands_in_front(folder: Path) -> None:
    np.testing.assert_array_equal(load(str(folder), prefix="a ").encode(["b"]), load(str(folder)).encode(["a b"]))


def test_many_texts_give_the_rows_of_few(folder: Path) -> None:
    encoder = load(str(folder))
    texts = [f"text {number}" for number in range(5000)]
    np.testing.assert_array_equal(encoder.encode(texts)[4100:4110], encoder.encode(texts[4100:4110]))


def test_a_folder_without_the_table_is_refused(folder: Path) -> None:
    save_file({"other": np.zeros((2, 2), np.float32)}, folder / "model.safetensors")
    with pytest.raises(InputError, match="no table 'embeddings'"):
        load(str(folder))


def test_the_packaged_vectors_equal_those_of_sentence_transformers() -> None:
    library = pytest.importorskip("sentence_transformers", reason="compares with sentence-transformers")
    try:
        encoder = load("fast")
    except TaxosphereError as error:
        pytest.skip(str(error))
    texts = ["cat", "dog: it barks", "ünïcode – 日本", "protein folding, how a chain takes its shape"]
    theirs = library.SentenceTransformer(str(encoder.weights.folder), device="cpu").encode(texts)
    np.testing.assert_allclose(encoder.encode(texts), theirs, atol=1e-6)


def test_other_vectors_under_the_packaged_name_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = folder.parent / "archguard"
    shutil.copytree(folder, module / "models" / "potion-base-8M")
    (module / "__init__.py").touch()
    monkeypatch.syspath_prepend(folder.parent)
    with pytest.raises(TaxosphereError, match="not the weights of potion-base-8M"):
        load("fast").encode(["a"])
