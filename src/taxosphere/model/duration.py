"""How long fine-tuning will take on this machine, to be said before it begins."""

from __future__ import annotations

import time

import numpy as np
import torch

from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.model import batches
from taxosphere.model.config import PolarisConfig
from taxosphere.model.inputs import TrainableEncoder
from taxosphere.model.negatives import Lineage
from taxosphere.model.training import distinct, new_network, tuning
from taxosphere.taxonomy import Taxonomy

_SAMPLE = 32  # texts of all lengths that are timed


def fine_tuning_seconds(encoder: TransformerEncoder, seed: Taxonomy, config: PolarisConfig) -> float:
    """Of one training on this seed, of ``encoder_epochs`` epochs."""
    settings = tuning(config).training
    lineage, rng = Lineage(seed), np.random.default_rng(0)
    encoded = sum(len(distinct(group)) for group in batches.epoch(seed, lineage, settings, rng))
    return settings.encoder_epochs * encoded * _seconds_per_text(encoder, seed, config)


def _seconds_per_text(encoder: TransformerEncoder, seed: Taxonomy, config: PolarisConfig) -> float:
    by_length = sorted((concept.text for concept in seed.concepts()), key=len)
    sample = [by_length[i] for i in np.linspace(0, len(by_length) - 1, min(_SAMPLE, len(by_length))).astype(int)]
    network = new_network(encoder.dim, config, 0)
    learning = encoder.with_weights(encoder.tuned)
    source = TrainableEncoder(
        learning, sample, network, bf16=config.training.bf16, layers=config.training.encoder_layers
    )
    everyone = np.arange(len(sample))
    began = time.perf_counter()
    source.open(everyone)
    torch.autograd.backward(network.points(source.lifted(everyone)).sum())
    source.close()
    return (time.perf_counter() - began) / len(sample)
