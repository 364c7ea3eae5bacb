"""How a folder of weights wants to be used: pooling, prompt, token limit.

Folders written by sentence-transformers say so in small JSON files; others get the mean of the token vectors.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError

# E5 models are trained with these words in front and lose accuracy without them; "query: " is the one for
# comparing like with like (their model cards).
_E5_PROMPT = "query: "
FLAG_OF_POOLING = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt": "pooling_mode_mean_sqrt_len_tokens",
    "last": "pooling_mode_lasttoken",
}


@dataclass(frozen=True)
class Recipe:
    """How the vectors of a folder of weights are made from its token vectors."""

    dim: int
    pooling: str
    prompt: str
    max_tokens: int
    lower_case: bool


def read(folder: Path, name: str) -> Recipe:
    """The recipe of a folder; `InputError` where its files are missing, damaged or ask for something else."""
    config = _json(folder / "config.json")
    dim = config.get("hidden_size", config.get("dim", config.get("d_model")))
    if not isinstance(dim, int):
        raise InputError(
            "no 'hidden_size' in it, so this is not a text encoder that can be used", folder / "config.json"
        )
    limit = _json(folder / "sentence_bert_config.json", optional=True)
    longest = limit.get("max_seq_length") or config.get("max_position_embeddings") or 512
    if not isinstance(longest, int):
        raise InputError("'max_seq_length' is no whole number", folder / "sentence_bert_config.json")
    return Recipe(
        dim=dim,
        pooling=_pooling(folder),
        prompt=_prompt(folder, name),
        max_tokens=longest,
        lower_case=bool(limit.get("do_lower_case", False)),
    )


def _pooling(folder: Path) -> str:
    modules = _json(folder / "modules.json", optional=True, kind=list)
    mode = "mean"
    for module in modules:
        if not isinstance(module, dict) or not {"type", "path"} <= set(module):
            raise InputError("each module has a 'type' and a 'path'", folder / "modules.json")
        kind = str(module["type"]).rsplit(".", 1)[-1]
        if kind == "Pooling":
            mode = _pooling_mode(folder / str(module["path"]) / "config.json")
        elif kind not in ("Transformer", "Normalize"):
            raise InputError(
                f"its '{kind}' module is not supported; encode with sentence-transformers and pass the vectors",
                folder / "modules.json",
            )
    return mode


def _pooling_mode(path: Path) -> str:
    stated = _json(path)
    if isinstance(stated.get("pooling_mode"), str):
        chosen = [stated["pooling_mode"].replace("mean_sqrt_len_tokens", "mean_sqrt").replace("lasttoken", "last")]
    else:
        chosen = [mode for mode, flag in FLAG_OF_POOLING.items() if stated.get(flag)]
    if len(chosen) != 1 or chosen[0] not in FLAG_OF_POOLING:
        raise InputError(f"one of the poolings {', '.join(FLAG_OF_POOLING)} is needed, found {chosen}", path)
    return str(chosen[0])


def _prompt(folder: Path, name: str) -> str:
    stated = _json(folder / "config_sentence_transformers.json", optional=True)
    default = stated.get("default_prompt_name")
    prompts = stated.get("prompts") or {}
    if default in prompts:
        return str(prompts[default])
    origin = f"{name} {_json(folder / 'config.json').get('_name_or_path', '')}".lower()
    is_e5 = any(part.startswith(("e5-", "multilingual-e5-")) for part in origin.replace("/", " ").split())
    return _E5_PROMPT if is_e5 else ""


def _json(path: Path, *, optional: bool = False, kind: type = dict) -> Any:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if optional:
            return kind()
        raise InputError("missing, so this is not a folder of encoder weights", path) from None
    except ValueError:
        raise InputError("not valid JSON", path) from None
    if not isinstance(content, kind):
        raise InputError(f"expected a JSON {'list' if kind is list else 'object'}", path)
    return content
