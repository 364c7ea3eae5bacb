"""Text encoders of a few kilobytes with random weights, in the layouts real ones have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer


_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789:-"
_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]


def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(_PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def build_static_encoder(folder: Path) -> Path:
    """A table of 8-dimensional vectors of letters, as model2vec saves one."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    _tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text('{"model_type": "model2vec", "normalize": true}', encoding="utf-8")
    table = np.random.default_rng(0).normal(size=(len(_PIECES), 8)).astype(np.float32)
    save_file({"embeddings": table}, folder / "model.safetensors")
    return folder


def build_tiny_encoder(folder: Path) -> Path:
    """A BERT of two layers."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokenizer = _tokenizer()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(_PIECES),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def build_tiny_language_model(folder: Path) -> Path:
    """A causal model of two layers with the same tokenizer, in the form of Qwen2."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    build_tiny_encoder(folder)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(_PIECES),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=32,
        max_position_embeddings=256,
        initializer_range=0.5,
        bos_token_id=2,
        eos_token_id=3,
        pad_token_id=0,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder
