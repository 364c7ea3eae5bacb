"""What a hierarchy is, how it is read, checked, split and written. No torch in here."""

from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.graph import CycleError, Taxonomy

__all__ = ["Concept", "CycleError", "Taxonomy"]
