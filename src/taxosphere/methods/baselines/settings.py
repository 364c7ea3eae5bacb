"""Settings that all compared systems share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """Subclasses add their own and set the defaults that were best on validation queries."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    learning_rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    batch_size: int = Field(64, ge=1)
    negatives: int = Field(31, ge=1)
    hard: float = Field(0.5, ge=0, le=1, description="share of negatives from the query's neighbourhood")
    above: float = Field(0.1, ge=0, le=1, description="share of negatives from the query's ancestors, parents excepted")
    steps: int = Field(300, ge=1, description="optimiser steps at most, unless the epochs are more")
    epochs: int = Field(30, ge=0, description="passes through all edges at most, unless the steps are more")
    evaluations: int = Field(15, ge=1, description="evaluations on the validation queries during all steps")
    patience: int = Field(5, ge=1, description="evaluations without improvement before stopping")
    validation: float = Field(0.2, ge=0, lt=1, description="share of the seed's leaves held out to choose the steps")
    clip: float = Field(5.0, gt=0)
