"""The training loop, for a frozen encoder and for one that learns along."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from taxosphere.encoders.transformer import TransformerEncoder
from taxosphere.model import batches, objectives
from taxosphere.model.checkpoint import Checkpoint, Epoch, State
from taxosphere.model.config import PolarisConfig
from taxosphere.model.negatives import Lineage
from taxosphere.model.network import SphereNetwork
from taxosphere.model.riemannian import RiemannianAdam
from taxosphere.model.sources import Frozen, Source, Tuned
from taxosphere.model.validation import Validation, mean_reciprocal_rank
from taxosphere.taxonomy import Taxonomy

Progress = Callable[[Epoch, int], None]


@dataclass(frozen=True)
class TrainedHead:
    """``best`` is the number of epochs behind the weights: all of them, unless validation stopped earlier."""

    network: SphereNetwork
    history: tuple[Epoch, ...]

    @property
    def best(self) -> int:
        return best_epoch(self.history)


def train_head(
    vectors: Tensor,
    seed: Taxonomy,
    config: PolarisConfig,
    *,
    random_state: int,
    validation: Validation | None = None,
    epochs: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> TrainedHead:
    """Train the sphere network on fixed encoder vectors, one row per concept of the seed."""
    network = new_network(vectors.shape[1], config, random_state)
    queries = None
    if validation is not None:
        assert validation.vectors is not None
        queries = Frozen(validation.vectors, network)
    run = fingerprint(seed, config, random_state, epochs, vectors)
    source = Frozen(vectors, network)
    history = train(network, source, seed, config, random_state, queries, validation, epochs, checkpoint, progress, run)
    return TrainedHead(network.eval(), history)


def fine_tune(
    encoder: TransformerEncoder,
    texts: Sequence[str],
    seed: Taxonomy,
    config: PolarisConfig,
    *,
    random_state: int,
    start: SphereNetwork | None = None,
    validation: Validation | None = None,
    epochs: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> TrainedHead:
    """Train network and encoder together; the encoder's weights change in place. ``start`` is a head to begin from."""
    network = new_network(encoder.dim, config, random_state) if start is None else start
    bf16 = config.training.bf16
    queries = None
    if validation is not None:
        assert validation.texts is not None
        queries = Tuned(encoder, validation.texts, network, bf16=bf16)
    source = Tuned(encoder, texts, network, bf16=bf16)
    first = torch.cat([p.detach().flatten()[:64] for p in encoder.model.parameters()])
    run = fingerprint(seed, config, random_state, epochs, first)
    history = train(network, source, seed, config, random_state, queries, validation, epochs, checkpoint, progress, run)
    return TrainedHead(network.eval(), history)


def train(
    network: SphereNetwork,
    source: Source,
    seed: Taxonomy,
    config: PolarisConfig,
    random_state: int,
    queries: Source | None,
    validation: Validation | None,
    epochs: int | None,
    checkpoint: Checkpoint | None,
    progress: Progress | None,
    run: str,
) -> tuple[Epoch, ...]:
    settings = config.training
    epochs = settings.epochs if epochs is None else epochs
    if len(seed.edge_array) == 0:
        return ()
    lineage = Lineage(seed)
    optimiser = make_optimiser(network, source, config)
    state = State(modules_of(network, source), optimiser)
    if checkpoint is not None:
        checkpoint.load(state, run)
    pairs = math.ceil(len(seed.edge_array) / settings.batch)
    steps = math.ceil(pairs / settings.accumulation)
    peaks = [group["lr"] for group in optimiser.param_groups]

    while len(state.history) < epochs and not stopped(state.history, settings.patience):
        began = time.perf_counter()
        number = len(state.history)
        rng = np.random.default_rng([random_state, number])
        sums: dict[str, float] = {}
        for step, group in enumerate(batches.epoch(seed, lineage, settings, rng)):
            share = rate(number * steps + step, epochs * steps, settings.warmup, settings.decay)
            for peak, parameters in zip(peaks, optimiser.param_groups, strict=True):
                parameters["lr"] = peak * share
            size = sum(len(batch.child) for batch in group)
            optimiser.zero_grad()
            source.open(distinct(group))
            for batch in group:
                embedding = network.from_lifted(source.lifted(batch.concepts))
                found = objectives.terms(embedding, batch, config.loss)
                loss = objectives.total(found, config.loss)
                # A batch weighs by its pairs, so a short last one counts for what it holds.
                torch.autograd.backward(loss * (len(batch.child) / size))
                for name, value in found.items():
                    sums[name] = sums.get(name, 0.0) + value.item() * len(batch.child)
            source.close()
            nn.utils.clip_grad_norm_([*network.parameters(), *source.parameters()], settings.clip)
            optimiser.step()

        mrr = None
        if validation is not None and queries is not None:
            mrr = mean_reciprocal_rank(network, source, queries, validation.gold)
        terms = {name: value / len(seed.edge_array) for name, value in sums.items()}
        state.history.append(Epoch(number + 1, terms, mrr, time.perf_counter() - began))
        if mrr is not None and best_epoch(state.history) == number + 1:
            state.keep_best()
        if checkpoint is not None:
            done = len(state.history) == epochs or stopped(state.history, settings.patience)
            checkpoint.save(state, run, last=done)
        if progress is not None:
            progress(state.history[-1], epochs)

    if state.best:
        state.load_weights(state.best)
    return tuple(state.history)


def new_network(input_dim: int, config: PolarisConfig, random_state: int) -> SphereNetwork:
    generator = torch.Generator().manual_seed(random_state)
    return SphereNetwork(input_dim, config.network, generator=generator)


def make_optimiser(network: SphereNetwork, source: Source, config: PolarisConfig) -> RiemannianAdam:
    groups = [{"params": list(network.parameters()), "lr": config.training.learning_rate}]
    if source.parameters():
        groups.append({"params": source.parameters(), "lr": config.training.encoder_learning_rate})
    return RiemannianAdam(groups)


def modules_of(network: SphereNetwork, source: Source) -> dict[str, nn.Module]:
    return {"network": network, "encoder": source.encoder.model} if isinstance(source, Tuned) else {"network": network}


def distinct(group: Sequence[batches.Batch]) -> batches.Longs:
    return np.unique(np.concatenate([batch.concepts for batch in group]), return_counts=True)[0]


def rate(step: int, steps: int, warmup: float, decay: bool) -> float:
    """Share of the full learning rate: a linear rise over the ``warmup`` part, then level or half a cosine down."""
    rising = max(1, round(warmup * steps))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising))) if decay else 1.0


def best_epoch(history: Sequence[Epoch]) -> int:
    """The first epoch with the highest validation MRR; the last one when nothing was validated."""
    scored = [entry for entry in history if entry.mrr is not None]
    if not scored:
        return len(history)
    return max(scored, key=lambda entry: (entry.mrr or 0.0, -entry.number)).number


def stopped(history: Sequence[Epoch], patience: int) -> bool:
    return bool(history) and history[-1].mrr is not None and len(history) - best_epoch(history) >= patience


def fingerprint(seed: Taxonomy, config: PolarisConfig, random_state: int, epochs: int | None, start: Tensor) -> str:
    """Settings and data of a training, so that a checkpoint cannot continue another one."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(config.model_dump_json(include={"network", "loss", "training"}).encode())
    digest.update(f"{random_state} {epochs} {len(seed)}".encode())
    digest.update(seed.edge_array.tobytes())
    digest.update(start.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()
