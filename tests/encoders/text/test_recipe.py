from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxosphere.encoders import weights
from taxosphere.encoders.text import recipe
from taxosphere.errors import InputError


def folder(path: Path, **files: object) -> Path:
    named = {"config": {"hidden_size": 8, "max_position_embeddings": 512}, **files}
    for name, content in named.items():
        target = path / f"{name.replace('__', '/')}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(content))
    return path


def modules(*kinds: str) -> list[dict[str, str]]:
    return [{"type": f"sentence_transformers.models.{kind}", "path": f"{n}_{kind}"} for n, kind in enumerate(kinds)]


def test_the_packaged_encoder() -> None:
    found = recipe.read(weights.locate("minilm").folder, "minilm")
    assert (found.dim, found.pooling, found.prompt, found.max_tokens) == (384, "mean", "", 256)


def test_a_plain_folder_gets_the_mean(tmp_path: Path) -> None:
    assert recipe.read(folder(tmp_path), "x") == recipe.Recipe(8, "mean", "", 512, False)


@pytest.mark.parametrize(("mode", "flag"), recipe.FLAG_OF_POOLING.items())
def test_pooling_as_the_folder_states_it(tmp_path: Path, mode: str, flag: str) -> None:
    path = folder(tmp_path, modules=modules("Transformer", "Pooling"), **{"1_Pooling__config": {flag: True}})
    assert recipe.read(path, "x").pooling == mode


def test_two_poolings_at_once_are_refused(tmp_path: Path) -> None:
    both = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    path = folder(tmp_path, modules=modules("Transformer", "Pooling"), **{"1_Pooling__config": both})
    with pytest.raises(InputError, match="one of the poolings"):
        recipe.read(path, "x")


def test_a_module_that_would_be_skipped_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'Dense' module is not supported"):
        recipe.read(folder(tmp_path, modules=modules("Transformer", "Dense")), "x")


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("intfloat/e5-base-v2", "query: "),
        ("intfloat/multilingual-e5-small", "query: "),
        ("BAAI/bge-small-en-v1.5", ""),
        ("some/re5-net", ""),
    ],
)
def test_prompt_by_family(tmp_path: Path, name: str, prompt: str) -> None:
    assert recipe.read(folder(tmp_path), name).prompt == prompt


def test_a_stated_default_prompt_wins(tmp_path: Path) -> None:
    stated = {"prompts": {"document": "passage: "}, "default_prompt_name": "document"}
    path = folder(tmp_path, config_sentence_transformers=stated)
    assert recipe.read(path, "intfloat/e5-base-v2").prompt == "passage: "


@pytest.mark.parametrize("content", ["{", "[]", '{"no_size": 1}'])
def test_a_broken_config_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(InputError, match=r"config\.json"):
        recipe.read(tmp_path, "x")
    (tmp_path / "config.json").unlink()
    with pytest.raises(InputError, match="missing"):
        recipe.read(tmp_path, "x")


@pytest.mark.parametrize(
    ("file", "content"),
    [("sentence_bert_config", {"max_seq_length": "many"}), ("modules", [1]), ("modules", [{"path": ""}])],
)
def test_values_of_another_kind_are_refused(tmp_path: Path, file: str, content: object) -> None:
    with pytest.raises(InputError, match=rf"{file}\.json"):
        recipe.read(folder(tmp_path, **{file: content}), "x")
