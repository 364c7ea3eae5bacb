"""The training loop, for fixed encoder vectors and for an encoder that is fine-tuned.

`train_head` and `fine_tune` prepare the inputs, `train` is the loop, `_train_epoch` one pass over the edges.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from taxosphere.encoders.device import CPU
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.model import batches, objectives
from taxosphere.model.checkpoint import NO_CHECKPOINTS, Checkpoint, Checkpoints, State, strip_prefix
from taxosphere.model.config import PolarisConfig, TrainingConfig
from taxosphere.model.history import Epoch, best_epoch, collapsed, finished, highest
from taxosphere.model.inputs import FixedVectors, Inputs, TrainableEncoder
from taxosphere.model.negatives import Lineage
from taxosphere.model.network import SphereNetwork
from taxosphere.model.riemannian import Group, RiemannianAdam, clip, rate
from taxosphere.model.threads import one_thread
from taxosphere.model.validation import Validation, mean_reciprocal_rank
from taxosphere.taxonomy import Taxonomy
from taxosphere.typing import Longs

logger = logging.getLogger(__name__)

EpochProgress = Callable[[Epoch, int], None]
"""Called after every epoch with what it did and the number of epochs there will be at most."""


@dataclass(frozen=True)
class TrainingRun:
    """What all trainings of one fit share.

    Attributes
    ----------
    random_state : int
        Decides every random draw: the same state gives the same weights, bit for bit.
    checkpoints : Checkpoints
        Where states are kept that a killed fit can resume from; by default nowhere.
    progress : callable, optional
        Called after every epoch as ``progress(epoch, epochs)``.
    device : str
        Where heads are trained on fixed vectors; fine-tuning happens where the encoder is.
    """

    random_state: int
    checkpoints: Checkpoints = NO_CHECKPOINTS
    progress: EpochProgress | None = None
    device: str = CPU


@dataclass(frozen=True)
class TrainedHead:
    """A trained network with the history of its training.

    Attributes
    ----------
    network : SphereNetwork
    history : tuple of Epoch
    encoder : TransformerEncoder, optional
        The fine-tuned one, if there is one.
    kept : TrainedHead, optional
        The same training after the epoch that was to be kept.
    """

    network: SphereNetwork
    history: tuple[Epoch, ...]
    encoder: TransformerEncoder | None = None
    kept: TrainedHead | None = None

    @property
    def best(self) -> int:
        """Number of epochs behind the weights: that of the highest validation MRR, or all without validation."""
        return best_epoch(self.history)

    @property
    def collapsed(self) -> bool:
        """Whether training ended with all concepts in one place, where nothing tells them apart."""
        return collapsed(self.history)


@dataclass(frozen=True)
class Task:
    """One training: what is learned from, with which settings, for how long."""

    seed: Taxonomy
    config: PolarisConfig
    random_state: int
    epochs: int
    validation: Validation | None = None
    keep: int = 0
    checkpoint: Checkpoint | None = None
    progress: EpochProgress | None = None


def train_head(
    vectors: Tensor,
    seed: Taxonomy,
    config: PolarisConfig,
    *,
    random_state: int,
    start: SphereNetwork | None = None,
    validation: Validation | None = None,
    epochs: int | None = None,
    keep: int = 0,
    checkpoint: Checkpoint | None = None,
    progress: EpochProgress | None = None,
    device: str = CPU,
) -> TrainedHead:
    """Train the sphere network on fixed encoder vectors.

    Parameters
    ----------
    vectors : Tensor of shape (n, m)
        Encoder vectors, one row per concept of the seed, whose edges are the training pairs.
    config : PolarisConfig
        Its sections ``network``, ``loss`` and ``training`` are read.
    random_state : int
        Initial weights and all draws follow from it.
    start : SphereNetwork, optional
        Weights to begin from in place of random ones.
    validation : Validation, optional
        Queries ranked after every epoch: the weights of the best epoch are returned, and training stops after
        ``training.patience`` epochs without a better one.
    epochs : int, optional
        Epochs at most; default: ``training.epochs``.
    keep : int
        Also return the weights after this epoch, as ``kept``; training goes on at least that long.
    checkpoint, progress : optional
        A file to resume from and to write to; called after every epoch as ``progress(epoch, epochs)``.
    device : str
        Where to train; the network that is returned is in the memory of the processor.

    Raises
    ------
    InputError
        The checkpoint cannot be read or belongs to another training.
    """
    network = new_network(vectors.shape[1], config, random_state, start).to(device)
    task = Task(
        seed=seed,
        config=config,
        random_state=random_state,
        epochs=epochs or config.training.epochs,
        validation=validation,
        keep=keep,
        checkpoint=checkpoint,
        progress=progress,
    )
    name = fingerprint(task, network, vectors.detach().numpy().data)
    queries = None if validation is None else FixedVectors(validation.require_vectors(), network)
    inputs = FixedVectors(vectors, network)
    del vectors  # a copy of the caller's, made for this training, would take as much memory as the lifted ones
    with one_thread():
        return train(task, network, inputs, queries, name)[0]


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
    keep: int = 0,
    checkpoint: Checkpoint | None = None,
    progress: EpochProgress | None = None,
) -> TrainedHead:
    """Train the sphere network and a copy of the encoder together.

    Parameters
    ----------
    encoder : TransformerEncoder
        Where fine-tuning begins; it is not changed itself.
    texts : sequence of str
        The text of every concept of the seed, in its order.
    seed, config, random_state, start, epochs, keep, checkpoint, progress
        As for `train_head`.
    validation : Validation, optional
        As for `train_head`, with the texts of the queries in place of their vectors.

    Returns
    -------
    TrainedHead
        With the fine-tuned encoder in ``encoder``.
    """
    learner = encoder.with_weights(encoder.tuned)
    network = new_network(encoder.dim, config, random_state, start).to(encoder.device)
    task = Task(
        seed=seed,
        config=tuning(config),
        random_state=random_state,
        epochs=epochs or config.training.epochs,
        validation=validation,
        keep=keep,
        checkpoint=checkpoint,
        progress=progress,
    )
    bf16, layers = config.training.bf16, config.training.encoder_layers
    encoded = partial(TrainableEncoder, learner, network=network, bf16=bf16, layers=layers)
    inputs, queries = encoded(texts), None if validation is None else encoded(validation.require_texts())
    name = fingerprint(task, network, json.dumps([encoder.identity, *texts]).encode())
    trained, kept = train(task, network, inputs, queries, name)
    trained = replace(trained, encoder=encoder.with_weights({**encoder.tuned, **inputs.state()}))
    if trained.kept is None:
        return trained
    tuned = {name: kept[f"encoder.{name}"].cpu().numpy() for name in inputs.learned}
    return replace(trained, kept=replace(trained.kept, encoder=encoder.with_weights({**encoder.tuned, **tuned})))


def tuning(config: PolarisConfig) -> PolarisConfig:
    """The settings with batch size and number of negatives as set for fine-tuning."""
    settings = config.training
    changed = {"batch": settings.tuned_batch, "negatives": settings.tuned_negatives}
    return config.model_copy(update={"training": settings.model_copy(update=changed)})


def train(
    task: Task, network: SphereNetwork, inputs: Inputs, queries: Inputs | None, name: str
) -> tuple[TrainedHead, dict[str, Tensor]]:
    """Train until the epochs are over or validation no longer improves; ``name`` is the `fingerprint` of checkpoints.

    Returns the head and all weights after the epoch ``task.keep``, by ``module.key``; none where it is 0.
    """
    if len(task.seed.edge_array) == 0:
        return TrainedHead(network.cpu().eval(), ()), {}
    optimiser = make_optimiser(network, inputs, task.config)
    state = State(modules_of(network, inputs), optimiser)
    if task.checkpoint is not None:
        task.checkpoint.load(state, name)
    lineage = Lineage(task.seed)

    while not is_over(task, state.history):
        began = time.perf_counter()
        number = len(state.history)
        terms, mean_cosine = _train_epoch(task, number, network, inputs, optimiser, lineage)
        mrr = None
        if task.validation is not None and queries is not None:
            mrr = mean_reciprocal_rank(network, inputs, queries, task.validation, task.config.loss)

        state.history.append(Epoch(number + 1, terms, mrr, time.perf_counter() - began, mean_cosine))
        if mrr is not None and best_epoch(state.history) == number + 1:
            state.best = state.copy_weights()
        if number + 1 == task.keep:
            state.kept = state.copy_weights()
        if task.checkpoint is not None:
            task.checkpoint.save(state, name, last=is_over(task, state.history))
        logger.debug("epoch %d of %d: %s", number + 1, task.epochs, state.history[-1])
        if task.progress is not None:
            task.progress(state.history[-1], task.epochs)

    if state.best:
        state.load_weights(state.best)
    log_result(task, state.history)
    kept = None
    if state.kept:
        copy = SphereNetwork(network.input_dim, task.config.network)
        copy.load_state_dict(strip_prefix("network.", state.kept))
        kept = TrainedHead(copy.eval(), tuple(state.history[: task.keep]))
    return TrainedHead(network.cpu().eval(), tuple(state.history), kept=kept), state.kept


def _train_epoch(
    task: Task, number: int, network: SphereNetwork, inputs: Inputs, optimiser: RiemannianAdam, lineage: Lineage
) -> tuple[dict[str, float], float]:
    """One pass over the edges of the seed; returns means over them: of every loss term, and of `mean_cosine`."""
    config, settings = task.config, task.config.training
    steps, device = steps_per_epoch(len(task.seed.edge_array), settings), network.device
    rng = np.random.default_rng([task.random_state, number])  # of the epoch alone, so that a resumed one is the same
    sums, cosines, edges = dict[str, float](), 0.0, 0
    for step, group in enumerate(batches.epoch(task.seed, lineage, settings, rng)):
        pairs = sum(len(batch.child) for batch in group)
        edges += pairs
        optimiser.zero_grad()
        inputs.begin_step(distinct(group))
        for batch in group:
            lifted = add_noise(inputs.lifted(batch.concepts), settings.noise, rng)  # (p, m)
            embedding = network.from_lifted(lifted)
            terms = objectives.terms(embedding, batch.to(device), config.loss)
            # A batch weighs by its pairs, so that a shorter last one counts for less.
            weight = len(batch.child) / pairs
            torch.autograd.backward(objectives.total(terms, config.loss) * weight)
            for term, value in terms.items():
                sums[term] = sums.get(term, 0.0) + value.item() * len(batch.child)
            cosines += mean_cosine(embedding.z.detach()) * len(batch.child)
        inputs.backward()
        clip(optimiser.parameters(), settings.clip)
        optimiser.step(rate(number * steps + step, task.epochs * steps, settings.warmup, settings.decay))
    return {term: value / edges for term, value in sums.items()}, cosines / edges


def log_result(task: Task, history: Sequence[Epoch]) -> None:
    """Say at INFO level how a training ended, and warn of one that collapsed."""
    mrr = f", validation MRR {highest(history):.3f} after {best_epoch(history)}" if task.validation is not None else ""
    logger.info("trained on %d edges for %d epochs%s", len(task.seed.edge_array), len(history), mrr)
    if collapsed(history):
        logger.warning(
            "training collapsed: after %d epochs the mean cosine between two concepts is %.3f, losses %s; "
            "all concepts lie in one place and their ranking means nothing",
            len(history),
            history[-1].mean_cosine,
            {term: round(value, 3) for term, value in history[-1].terms.items()},
        )


def new_network(
    input_dim: int, config: PolarisConfig, random_state: int, start: SphereNetwork | None = None
) -> SphereNetwork:
    """An untrained network for encoder vectors of this dimension, or a copy of the one to start from."""
    generator = torch.Generator().manual_seed(random_state)
    network = SphereNetwork(input_dim, config.network, generator=generator)
    if start is not None:
        weights = start.state_dict()
        network.load_state_dict({name: weights[name] for name in network.state_dict()})  # without heads of parts
    return network


def make_optimiser(network: SphereNetwork, inputs: Inputs, config: PolarisConfig) -> RiemannianAdam:
    """The optimiser of network and encoder, each with its learning rate."""
    settings, tuned = config.training, inputs.parameters()
    head = Group(list(network.parameters()), settings.tuned_learning_rate if tuned else settings.learning_rate)
    return RiemannianAdam([head, Group(tuned, settings.encoder_learning_rate)])


def modules_of(network: SphereNetwork, inputs: Inputs) -> dict[str, nn.Module]:
    """The modules that training changes, by the name under which a checkpoint keeps them."""
    encoder = {"encoder": inputs.encoder.model} if isinstance(inputs, TrainableEncoder) else {}
    return {"network": network, **encoder}


def steps_per_epoch(edges: int, settings: TrainingConfig) -> int:
    """Optimiser steps of one epoch."""
    return min(settings.epoch_steps, math.ceil(math.ceil(edges / settings.batch) / settings.accumulation))


def distinct(group: Sequence[batches.Batch]) -> Longs:
    """Positions of the concepts in a group of batches, each once, ascending."""
    return np.unique(np.concatenate([batch.concepts for batch in group]), return_counts=True)[0]


def add_noise(points: Tensor, noise: float, rng: np.random.Generator) -> Tensor:
    """Points (n, m) with Gaussian noise of about this length added; the next layer projects them to the sphere."""
    if noise == 0:
        return points
    generator = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
    return points + noise / math.sqrt(points.shape[1]) * torch.randn(points.shape, generator=generator).to(
        points.device
    )


def mean_cosine(points: Tensor) -> float:
    """Mean cosine between two different points (n, d) on the sphere; 0 where there is only one."""
    n = len(points)
    return float((points.sum(0).square().sum() - n) / (n * (n - 1))) if n > 1 else 0.0


def is_over(task: Task, history: Sequence[Epoch]) -> bool:
    """Whether a training is `finished` and has passed the epoch to keep."""
    return len(history) >= task.keep and finished(history, task.epochs, task.config.training.patience)


def fingerprint(task: Task, network: SphereNetwork, data: bytes | memoryview) -> str:
    """Digest of settings, initial weights and data, so that a checkpoint cannot continue another; "" without one."""
    if task.checkpoint is None:
        return ""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(task.config.model_dump_json(include={"network", "loss", "training"}).encode())
    digest.update(f"{task.random_state} {task.epochs} {task.keep} {len(task.seed)}".encode())
    digest.update(task.seed.edge_array.tobytes())
    digest.update(network.digest().encode())
    digest.update(data)
    digest.update(b"" if task.validation is None else task.validation.to_bytes())
    return digest.hexdigest()
