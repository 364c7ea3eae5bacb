"""A BERT tokenizer from its ``tokenizer.json``, without importing transformers, which takes seconds."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CLASSES = ("BertTokenizer", "BertTokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend")


class FastTokenizer:
    """Token ids of texts, special tokens included, cut off after ``max_tokens``."""

    def __init__(self, tokenizer: Tokenizer, pad: int, max_tokens: int) -> None:
        self.pad = pad
        self._tokenizer = tokenizer
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]


def load(folder: Path, max_tokens: int) -> FastTokenizer | None:
    """The tokenizer of a folder; None where transformers might read its files in another way."""
    stated, settings = _json(folder / "tokenizer.json"), _json(folder / "tokenizer_config.json")
    if stated is None or settings is None or not _plain(stated, settings):
        return None
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else it warns after a fork
    from tokenizers import Tokenizer

    pad = next(token["id"] for token in stated["added_tokens"] if token["content"] == settings["pad_token"])
    return FastTokenizer(Tokenizer.from_file(str(folder / "tokenizer.json")), pad, max_tokens)


def _plain(stated: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Whether both files describe the same BERT tokenizer and nothing else."""
    normalizer = stated.get("normalizer") or {}
    normal = {
        "do_lower_case": normalizer.get("lowercase"),
        "strip_accents": normalizer.get("strip_accents"),
        "tokenize_chinese_chars": normalizer.get("handle_chinese_chars"),
    }
    tokens = {token["content"] for token in stated.get("added_tokens") or []}
    special = {value for key, value in settings.items() if key.endswith("_token") and isinstance(value, str)}
    decoder = settings.get("added_tokens_decoder") or {}
    return (
        settings.get("tokenizer_class") in _CLASSES
        and normalizer.get("type") == "BertNormalizer"
        and (stated.get("pre_tokenizer") or {}).get("type") == "BertPreTokenizer"
        and (stated.get("model") or {}).get("type") == "WordPiece"
        and all(settings.get(key, value) == value for key, value in normal.items())
        and settings.get("pad_token") in tokens
        and tokens == special
        and {token.get("content") for token in decoder.values()} <= tokens
    )


def _json(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
