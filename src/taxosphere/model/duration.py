"""Estimate of how long fine-tuning takes on this machine."""

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
    """Estimated seconds of one fine-tuning on this seed, for ``training.encoder_epochs`` epochs."""
    settings = tuning(config).training
    lineage, rng = Lineage(seed), np.random.default_rng(0)
    encoded = sum(len(distinct(group)) for group in batches.epoch(seed, lineage, settings, rng))
    return settings.encoder_epochs * encoded * _seconds_per_text(encoder, seed, config)


def _seconds_per_text(encoder: TransformerEncoder, seed: Taxonomy, config: PolarisConfig) -> float:
    by_length = sorted((concept.text for concept in seed.concepts()), key=len)
    sample = [by_length[i] for i in np.linspace(0, len(by_length) - 1, min(_SAMPLE, len(by_length))).astype(int)]
    network = new_network(encoder.dim, config, 0)
    learner = encoder.with_weights(encoder.tuned)
    inputs = TrainableEncoder(
        learner, sample, network, bf16=config.training.bf16, layers=config.training.encoder_layers
    )
    rows = np.arange(len(sample))
    began = time.perf_counter()
    inputs.begin_step(rows)
    torch.autograd.backward(network.points(inputs.lifted(rows)).sum())
    inputs.backward()
    return (time.perf_counter() - began) / len(sample)
