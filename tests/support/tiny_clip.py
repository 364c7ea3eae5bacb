"""A CLIP (or SigLIP) model of a few kilobytes with random weights, in the folder layout that real ones have."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

SIDE = 32


def build_tiny_clip(folder: Path, kind: str = "clip") -> Path:
    import torch
    from transformers import CLIPConfig, CLIPModel, SiglipConfig, SiglipModel

    folder.mkdir(parents=True, exist_ok=True)
    last = _write_tokenizer(folder)
    towers = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {**towers, "vocab_size": last + 1, "bos_token_id": last - 1, "eos_token_id": last, "pad_token_id": last}
    vision = {**towers, "image_size": SIDE, "patch_size": 16}
    torch.manual_seed(0)
    if kind == "clip":
        CLIPModel(CLIPConfig(projection_dim=24, text_config=text, vision_config=vision)).save_pretrained(folder)
    else:
        text |= {"max_position_embeddings": 64, "projection_size": 16}
        SiglipModel(SiglipConfig(text_config=text, vision_config=vision)).save_pretrained(folder)
    return folder


def teach(folder: Path, texts: list[str], colours: np.ndarray, *, steps: int = 200) -> Path:
    """Show it images of these colours (n, 3), each with its text, until text and image point the same way."""
    import torch
    from torch.nn.functional import cross_entropy
    from transformers import AutoTokenizer, CLIPModel

    model, tokenizer = CLIPModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    tokens = tokenizer(texts, padding=True, return_tensors="pt")
    rng, own = np.random.default_rng(0), torch.arange(len(texts))
    optimiser = torch.optim.Adam(model.parameters(), 5e-3)
    for _ in range(steps):
        noisy = colours[:, :, None, None] + rng.normal(0, 12, (len(texts), 3, SIDE, SIDE))
        pixels = torch.tensor(np.clip(noisy, 0, 255) / 127.5 - 1, dtype=torch.float32)
        scores = model(**tokens, pixel_values=pixels).logits_per_image
        optimiser.zero_grad()
        (cross_entropy(scores, own) + cross_entropy(scores.T, own)).backward()
        optimiser.step()
    model.save_pretrained(folder)
    return folder


def _write_tokenizer(folder: Path) -> int:
    """Single letters of CLIP's byte alphabet; returns the number of the last token."""
    letters = [chr(code) for code in (*range(33, 127), *range(161, 173), *range(174, 324))]
    vocabulary = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    end = "<|endoftext|>"
    processor = {
        "image_processor_type": "CLIPImageProcessor",
        "size": {"shortest_edge": SIDE},
        "crop_size": {"height": SIDE, "width": SIDE},
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    tokenizer = {
        "tokenizer_class": "CLIPTokenizer",
        "model_max_length": 77,
        "bos_token": "<|startoftext|>",
        **{f"{name}_token": end for name in ("unk", "eos", "pad")},
    }
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(vocabulary)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    return len(vocabulary) - 1
