"""MiniLM through onnxruntime beside our own forward pass: largest difference, texts a processor second, one text.

pip install onnx onnxruntime && OMP_NUM_THREADS=1 python benchmarks/bench_onnx.py
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime
import torch

from taxosphere.encoders.text.registry import load
from taxosphere.encoders.text.transformer import TransformerEncoder, batches_by_length
from taxosphere.typing import Floats

WORDS = "acute chronic renal viral cell protein surgical nursing digital rural".split()


class TokenVectors(torch.nn.Module):
    """The last layer of a model."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return hidden


def session(folder: Path) -> Any:
    """The exported model on one thread."""
    encoder = load("minilm", cache=None)
    assert isinstance(encoder, TransformerEncoder)
    ids = torch.ones(2, 16, dtype=torch.long)
    sizes = {name: {0: "texts", 1: "tokens"} for name in ("ids", "mask", "hidden")}
    path = str(folder / "model.onnx")
    names = {"input_names": ["ids", "mask"], "output_names": ["hidden"], "dynamic_axes": sizes}
    torch.onnx.export(TokenVectors(encoder.model), (ids, torch.ones_like(ids)), path, dynamo=False, **names)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main() -> None:
    encoder = load("minilm", cache=None)
    assert isinstance(encoder, TransformerEncoder)
    with TemporaryDirectory() as folder:
        made = session(Path(folder))

    def through_onnx(texts: Sequence[str]) -> Floats:
        tokens = encoder.tokenize(texts)
        vectors = np.zeros((len(texts), encoder.dim), np.float32)
        for rows in batches_by_length(tokens):
            ids, mask = encoder._pad([tokens[row] for row in rows])
            hidden = made.run(None, {"ids": ids.numpy(), "mask": mask.numpy()})[0]
            vectors[rows] = encoder._unit(torch.from_numpy(hidden), mask).numpy()
        return vectors

    chance = np.random.default_rng(0)
    texts = [f"{n} " + " ".join(chance.choice(WORDS, chance.integers(2, 20))) for n in range(640)]
    print(f"largest difference {np.abs(encoder.encode(texts[:64]) - through_onnx(texts[:64])).max():.1e}")
    for _ in range(3):
        for name, encode in (("ours", encoder.encode), ("onnxruntime", through_onnx)):
            began = time.process_time()
            encode(texts)
            bulk = time.process_time() - began
            began = time.process_time()
            for text in texts[:60]:
                encode([text])
            single = (time.process_time() - began) / 60
            print(f"{name}: {len(texts) / bulk:.0f} texts a CPU second, one text {1e3 * single:.2f} ms", flush=True)


if __name__ == "__main__":
    main()
