"""Images of new concepts, as several commands take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from taxosphere.cli import output

if TYPE_CHECKING:
    from taxosphere.polaris import Polaris
    from taxosphere.taxonomy import Concept


def usable(model: Polaris, concepts: Sequence[Concept], *, skip: bool) -> list[Concept]:
    """With ``skip``, the concepts without their broken images, each of which is named once."""
    if not any(concept.images for concept in concepts):
        return list(concepts)
    if model.image_model is None:
        output.warn("the model was fitted without images, so those of the new concepts are not looked at")
        return list(concepts)
    if not skip:
        return list(concepts)
    kept, faults = model.image_model.without_broken(concepts)
    for fault in faults:
        output.warn(f"passed over {fault}")
    return kept
