"""The training loop, for a frozen encoder and for one that learns along."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.model import batches, objectives
from taxosphere.model.checkpoint import Checkpoint, Epoch, State
from taxosphere.model.config import PolarisConfig
from taxosphere.model.inputs import FixedVectors, Source, TrainableEncoder
from taxosphere.model.negatives import Lineage
from taxosphere.model.network import SphereNetwork
from taxosphere.model.riemannian import Group, RiemannianAdam, clip
from taxosphere.model.threads import one_thread
from taxosphere.model.validation import Validation, mean_reciprocal_rank
from taxosphere.taxonomy import Taxonomy

Progress = Callable[[Epoch, int], None]


@dataclass(frozen=True)
class TrainedHead:
    """``best`` is the number of epochs behind the weights: all of them, unless validation stopped earlier.

    ``encoder`` is the one that learned along, if one did.
    """

    network: SphereNetwork
    history: tuple[Epoch, ...]
    encoder: TransformerEncoder | None = None

    @property
    def best(self) -> int:
        return best_epoch(self.history)


def train_head(
    vectors: Tensor,
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
    """Train the sphere network on fixed encoder vectors, one row per concept of the seed, perhaps from a ``start``."""
    network = new_network(vectors.shape[1], config, random_state)
    if start is not None:
        network.load_state_dict(start.state_dict())
    run = Run(seed, config, random_state, epochs or config.training.epochs, checkpoint, progress)
    queries = None if validation is None else FixedVectors(validation.require_vectors(), network)
    with one_thread():
        return train(
            run, network, FixedVectors(vectors, network), vectors.detach().numpy().tobytes(), queries, validation
        )


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
    """Train network and a copy of the encoder together, perhaps from the head ``start``."""
    own = encoder.with_weights(encoder.tuned)
    network = new_network(encoder.dim, config, random_state)
    if start is not None:
        network.load_state_dict(start.state_dict())
    run = Run(seed, tuning(config), random_state, epochs or config.training.epochs, checkpoint, progress)
    bf16, layers = config.training.bf16, config.training.encoder_layers
    source = TrainableEncoder(own, texts, network, bf16=bf16, layers=layers)
    queries = (
        None
        if validation is None
        else TrainableEncoder(own, validation.require_texts(), network, bf16=bf16, layers=layers)
    )
    data = json.dumps([encoder.identity, *texts]).encode()
    trained = train(run, network, source, data, queries, validation)
    return replace(trained, encoder=encoder.with_weights({**encoder.tuned, **source.state()}))


def tuning(config: PolarisConfig) -> PolarisConfig:
    """The settings with the batches of an encoder that learns along."""
    settings = config.training
    batches = {"batch": settings.tuned_batch, "negatives": settings.tuned_negatives}
    return config.model_copy(update={"training": settings.model_copy(update=batches)})


@dataclass(frozen=True)
class Run:
    """What a training is given besides the parts it trains."""

    seed: Taxonomy
    config: PolarisConfig
    random_state: int
    epochs: int
    checkpoint: Checkpoint | None
    progress: Progress | None


def train(
    run: Run,
    network: SphereNetwork,
    source: Source,
    data: bytes,
    queries: Source | None,
    validation: Validation | None,
) -> TrainedHead:
    seed, config, settings = run.seed, run.config, run.config.training
    if len(seed.edge_array) == 0:
        return TrainedHead(network.eval(), ())
    optimiser = make_optimiser(network, source, config)
    state = State(modules_of(network, source), optimiser)
    name = fingerprint(run, network, data + (b"" if validation is None else validation.to_bytes()))
    if run.checkpoint is not None:
        run.checkpoint.load(state, name)
    lineage = Lineage(seed)
    steps = math.ceil(math.ceil(len(seed.edge_array) / settings.batch) / settings.accumulation)

    while not finished(state.history, run.epochs, settings.patience):
        began = time.perf_counter()
        number = len(state.history)
        rng = np.random.default_rng([run.random_state, number])
        sums: dict[str, float] = {}
        for step, group in enumerate(batches.epoch(seed, lineage, settings, rng)):
            pairs = sum(len(batch.child) for batch in group)
            optimiser.zero_grad()
            source.open(distinct(group))
            for batch in group:
                embedding = network.from_lifted(blurred(source.lifted(batch.concepts), settings.noise, rng))
                found = objectives.terms(embedding, batch, config.loss)
                # A batch weighs by its pairs, so a short last one counts for what it holds.
                weight = len(batch.child) / pairs
                torch.autograd.backward(objectives.total(found, config.loss) * weight)
                for term, value in found.items():
                    sums[term] = sums.get(term, 0.0) + value.item() * len(batch.child)
            source.close()
            clip(optimiser.parameters(), settings.clip)
            optimiser.step(rate(number * steps + step, run.epochs * steps, settings.warmup, settings.decay))

        mrr = None
        if validation is not None and queries is not None:
            mrr = mean_reciprocal_rank(network, source, queries, validation.gold, config.loss)
        terms = {term: value / len(seed.edge_array) for term, value in sums.items()}
        state.history.append(Epoch(number + 1, terms, mrr, time.perf_counter() - began))
        if mrr is not None and best_epoch(state.history) == number + 1:
            state.keep_best()
        if run.checkpoint is not None:
            run.checkpoint.save(state, name, last=finished(state.history, run.epochs, settings.patience))
        if run.progress is not None:
            run.progress(state.history[-1], run.epochs)

    if state.best:
        state.load_weights(state.best)
    return TrainedHead(network.eval(), tuple(state.history))


def new_network(input_dim: int, config: PolarisConfig, random_state: int) -> SphereNetwork:
    generator = torch.Generator().manual_seed(random_state)
    return SphereNetwork(input_dim, config.network, generator=generator)


def make_optimiser(network: SphereNetwork, source: Source, config: PolarisConfig) -> RiemannianAdam:
    settings, tuned = config.training, source.parameters()
    head = Group(list(network.parameters()), settings.tuned_learning_rate if tuned else settings.learning_rate)
    return RiemannianAdam([head, Group(tuned, settings.encoder_learning_rate)])


def modules_of(network: SphereNetwork, source: Source) -> dict[str, nn.Module]:
    return (
        {"network": network, "encoder": source.encoder.model}
        if isinstance(source, TrainableEncoder)
        else {"network": network}
    )


def distinct(group: Sequence[batches.Batch]) -> batches.Longs:
    return np.unique(np.concatenate([batch.concepts for batch in group]), return_counts=True)[0]


def blurred(points: Tensor, noise: float, rng: np.random.Generator) -> Tensor:
    """Points with noise of this length added; the next layer brings them back to the sphere."""
    if noise == 0:
        return points
    generator = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
    return points + noise / math.sqrt(points.shape[1]) * torch.randn(points.shape, generator=generator)


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


def highest(history: Sequence[Epoch]) -> float:
    """The highest validation MRR; 0 when nothing was validated."""
    return max((entry.mrr or 0.0 for entry in history), default=0.0)


def finished(history: Sequence[Epoch], epochs: int, patience: int) -> bool:
    """All epochs are done, or none of the last ``patience`` answered the validation queries better."""
    if len(history) >= epochs:
        return True
    return bool(history) and history[-1].mrr is not None and len(history) - best_epoch(history) >= patience


def fingerprint(run: Run, network: SphereNetwork, data: bytes) -> str:
    """Settings, beginning and data of a training, so that a checkpoint cannot continue another one."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(run.config.model_dump_json(include={"network", "loss", "training"}).encode())
    digest.update(f"{run.random_state} {run.epochs} {len(run.seed)}".encode())
    digest.update(run.seed.edge_array.tobytes())
    digest.update(network.digest().encode())
    digest.update(data)
    return digest.hexdigest()
