"""Every setting of a model as one frozen object, one TOML file, one entry of the manifest."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.typing import RANDOM_STATES

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0)]


class Section(BaseModel):
    """Base of all sections: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What `repr` shows: the settings that are not the default ones, so that it can be read."""
        usual = type(self)()
        return ((name, value) for name, value in self if value != getattr(usual, name))


class EncoderConfig(Section):
    """The text encoder."""

    name: str = "minilm"
    max_tokens: Annotated[int, Field(ge=4)] = 64
    # None: what the encoder itself asks for ("query: " for E5); "" switches that off.
    prefix: str | None = None


class NetworkConfig(Section):
    """The head: text vector → sphere → ``layers`` spherical layers → z, from which μ and κ are read."""

    dim: Annotated[int, Field(ge=2)] = 128
    hidden: Annotated[int, Field(ge=2)] = 256
    layers: PositiveInt = 2
    lift: Literal["exp", "retraction"] = "exp"
    # tanh of a unit vector is close to linear; scaling by √hidden first gives coordinates of size one.
    tanh_gain: Literal["unit", "sqrt"] = "sqrt"
    mu: Literal["learned", "identity"] = "learned"
    kappa: Literal["softplus", "sigmoid", "constant"] = "softplus"
    kappa_min: PositiveFloat = 1.0
    kappa_max: PositiveFloat = 1000.0
    kappa_start: PositiveFloat = 50.0

    @model_validator(mode="after")
    def _ordered(self) -> NetworkConfig:
        if not self.kappa_min < self.kappa_start < self.kappa_max:
            raise ValueError("kappa_min < kappa_start < kappa_max is needed")
        return self


class LossConfig(Section):
    """Weights of the terms (0 leaves a term out) and the settings of each."""

    listwise: Weight = 1.0
    geometric: Weight = 0.0
    probabilistic: Weight = 0.0
    svgd: Weight = 0.0
    # What the listwise softmax compares: cosines over a temperature, or how probable the child's point is under each
    # candidate's von Mises–Fisher distribution, so that a concept is found as a child by z and as a parent by (μ, κ).
    logit: Literal["vmf", "cosine"] = "vmf"
    temperature: PositiveFloat = 0.05
    welsch: Literal["plain", "log"] = "plain"
    welsch_c: PositiveFloat = 0.4
    geometric_margin: Weight = 0.5
    probabilistic_margin: Weight = 0.3
    bessel: Literal["exact", "paper"] = "exact"
    svgd_variant: Literal["corrected", "paper"] = "corrected"
    kernel: Literal["vmf", "vmf+score", "rbf", "imq"] = "vmf+score"
    anchor: Literal["learned", "self"] = "learned"
    kappa_repel: Weight = 2.0
    kappa_align: Weight = 1.0

    @property
    def comparison(self) -> Literal["vmf", "cosine"]:
        """How a query is compared with candidates; the triplet losses teach cosines."""
        return self.logit if self.listwise else "cosine"

    @model_validator(mode="after")
    def _something_to_learn(self) -> LossConfig:
        if not self.listwise + self.geometric + self.probabilistic + self.svgd > 0:
            raise ValueError("at least one loss weight must be above 0")
        return self


class TrainingConfig(Section):
    """Training of the head and, with ``fine_tune``, of the encoder."""

    epochs: PositiveInt = 20
    batch: PositiveInt = 64
    accumulation: PositiveInt = 1
    # Optimiser steps of an epoch at most: of a larger seed every epoch sees other edges, chosen at random.
    epoch_steps: PositiveInt = 256
    negatives: NonNegativeInt = 10
    # Shares of the negatives: children of the parents, of the grandparents' children and of the grandparents; the rest
    # is drawn from the whole seed.
    siblings: Share = 0.25
    cousins: Share = 0.0
    uncles: Share = 0.25
    learning_rate: PositiveFloat = 1e-2
    encoder_learning_rate: PositiveFloat = 9e-5
    fine_tune: bool = False
    # Fine-tuning begins from a trained head, so a few epochs and small steps of the head are enough.
    encoder_epochs: PositiveInt = 3
    tuned_learning_rate: PositiveFloat = 1e-3
    # Every negative is one more text to encode, and the other concepts of a batch are negatives as well.
    tuned_batch: PositiveInt = 64
    tuned_negatives: NonNegativeInt = 1
    # Above 0: the pairs of an optimiser step take their negatives from the concepts of these pairs and at most so many
    # others, and pairs of one family share a step. 0: every pair draws its own from the whole seed.
    shared_negatives: NonNegativeInt = 0
    # How many of the encoder's last layers learn along; 0: all of it, down to the words.
    encoder_layers: NonNegativeInt = 0
    bf16: bool = False
    # Length of the noise added to the unit vectors of each step, so that small seeds are not learned by heart.
    noise: Weight = 0.6
    warmup: Share = 0.05
    decay: bool = True
    clip: PositiveFloat = 5.0
    # Share of the seed's leaves that are asked as validation queries, and how many epochs to go on without a better
    # answer. The final head is trained on all of the seed for the number of epochs found.
    validation: Share = 0.1
    patience: PositiveInt = 8

    @model_validator(mode="after")
    def _shares(self) -> TrainingConfig:
        if self.siblings + self.cousins + self.uncles > 1.0 + 1e-9:
            raise ValueError("the shares of siblings, cousins and uncles exceed 1")
        return self


class OrbitConfig(Section):
    """The gate that compares radii."""

    gate: Literal["hard", "hybrid", "off"] = "hybrid"
    # None: chosen on validation queries.
    gamma: Weight | None = None


class RankingConfig(Section):
    """The learned ranker: which families of features it reads, and how it is trained on hidden leaves of the seed."""

    families: Annotated[
        tuple[Literal["sphere", "encoder", "votes", "structure", "names", "descriptions"], ...], Field(min_length=1)
    ] = ("sphere", "encoder", "votes", "structure", "names", "descriptions")
    # Folds of leaves that are hidden in turn, and how many of the leaves are asked in all. None: 2,400, and with
    # fine-tuning at most a third of the leaves (`embedding.limit_examples`).
    folds: Annotated[int, Field(ge=2)] = 5
    examples: PositiveInt | None = None
    prior: bool = True
    # With this many examples the pull to the prior equals the usual decay to zero; it fades with their square.
    prior_pull: Weight = 1000.0
    nets: PositiveInt = 3
    hidden: PositiveInt = 32
    dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.3
    epochs: PositiveInt = 30
    batch: PositiveInt = 64
    learning_rate: PositiveFloat = 5e-3
    weight_decay: Weight = 0.3
    # A second reader of the shortlist: empty for none, 'cross-encoder', a causal language model (name, folder, GGUF
    # file), or a chat endpoint and its model as http://localhost:11434/v1#MODEL; and how many candidates it reads.
    reader: str = ""
    reader_depth: Annotated[int, Field(ge=2)] = 15
    # How common a concept is that belongs below none of the candidates.
    none_share: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.05

    @property
    def most_examples(self) -> int:
        """How many leaves are asked in all, at most."""
        return self.examples or 2400


class ImagesConfig(Section):
    """Images of concepts, where a taxonomy has any."""

    # 'auto': vectors beside the taxonomy, else the packaged network; 'none': ignore images.
    encoder: str = "auto"
    broken: Literal["refuse", "skip"] = "refuse"


class PolarisConfig(Section):
    """All settings of a model, in sections; ``seed`` is the random state.

    >>> PolarisConfig().with_overrides(["training.epochs=5"]).training.epochs
    5
    """

    encoder: EncoderConfig = EncoderConfig()
    network: NetworkConfig = NetworkConfig()
    loss: LossConfig = LossConfig()
    training: TrainingConfig = TrainingConfig()
    orbit: OrbitConfig = OrbitConfig()
    ranking: RankingConfig = RankingConfig()
    images: ImagesConfig = ImagesConfig()
    seed: Annotated[int, Field(ge=0, lt=RANDOM_STATES)] = 0

    @model_validator(mode="after")
    def _triplets(self) -> PolarisConfig:
        fewest = min(self.training.negatives, self.training.tuned_negatives)
        if self.loss.geometric + self.loss.probabilistic > 0 and not fewest:
            raise ValueError(
                "loss.geometric and loss.probabilistic compare with negatives; "
                "set training.negatives and training.tuned_negatives"
            )
        return self

    @classmethod
    def from_mapping(cls, values: dict[str, Any], path: str | PathLike[str] | None = None) -> PolarisConfig:
        """Settings from nested dictionaries ``values``; `InputError` names the first wrong one, and ``path``.

        Parameters
        ----------
        values : dict
            Sections of settings; what is left out has its default.
        path : str or path, optional
            The file they come from, for the message.

        Returns
        -------
        PolarisConfig
            Checked settings.

        Raises
        ------
        InputError
            A setting does not exist or its value is not allowed.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise InputError(_first_fault(error), path) from None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> PolarisConfig:
        """Settings from the TOML file at ``path``; `InputError` where it cannot be read or holds a wrong setting.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        PolarisConfig
            Checked settings.

        Raises
        ------
        InputError
            The file cannot be read or holds a wrong setting.
        """
        try:
            values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"not a readable TOML file: {error}", path) from None
        return cls.from_mapping(values, path)

    def write(self, path: str | PathLike[str]) -> None:
        """Write all settings as a TOML file to ``path``.

        Parameters
        ----------
        path : str or path
            The file; it appears whole or not at all.
        """
        atomic.write_text(path, self.to_toml())

    def to_toml(self) -> str:
        """All settings as TOML; those that are None, their default, are left out because TOML has no null.

        Returns
        -------
        str
            The text of a TOML file.
        """
        sections = self.model_dump(mode="json", exclude_none=True)
        lines = [f"{key} = {literal(value)}" for key, value in sections.items() if not isinstance(value, dict)]
        for name, section in sections.items():
            if isinstance(section, dict):
                lines += ["", f"[{name}]", *(f"{key} = {literal(value)}" for key, value in section.items())]
        return "\n".join(lines) + "\n"

    def with_overrides(self, assignments: Iterable[str]) -> PolarisConfig:
        """The settings with some of them changed.

        Parameters
        ----------
        assignments : iterable of str
            ``section.key=value``; values are written as in TOML, quotes around strings are optional.

        Returns
        -------
        PolarisConfig
            New settings; these stay as they are.

        Raises
        ------
        InputError
            A setting does not exist or its value is not allowed.
        """
        values = self.model_dump(mode="json", exclude_none=True)
        for assignment in assignments:
            key, equals, text = assignment.partition("=")
            *sections, last = key.strip().split(".")
            if not equals or not last:
                raise InputError(f"'{assignment}': expected section.key=value, for example loss.welsch_c=0.4")
            target = values
            for section in sections:
                nested = target.setdefault(section, {})
                if not isinstance(nested, dict):
                    raise InputError(f"'{assignment}': '{section}' is a value and has no keys of its own")
                target = nested
            target[last] = _parse(text.strip())
        return PolarisConfig.from_mapping(values)


def literal(value: Any) -> str:
    """A value as TOML writes it: for scalars and flat lists that is JSON, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parse(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _first_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    key = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        keys = _siblings(key)
        near = difflib.get_close_matches(key, keys, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(keys)}"
        return f"there is no setting '{key}'; {hint}"
    message = fault["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    if not key:  # of settings that do not go together
        return message
    return (
        f"setting '{key}': {message}, got {fault['input']!r}"
        if isinstance(fault["input"], str | int | float)
        else (f"setting '{key}': {message}")
    )


def _keys() -> list[str]:
    keys = []
    for name, field in PolarisConfig.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            keys += [f"{name}.{key}" for key in section.model_fields]
        keys.append(name)
    return keys


def _siblings(key: str) -> list[str]:
    section, dot, _ = key.rpartition(".")
    beside = [name for name in _keys() if name.startswith(section + dot) and name.count(".") == key.count(".")]
    return beside or [name for name in _keys() if "." not in name]
