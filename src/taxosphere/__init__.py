"""Taxosphere: tells where new concepts belong in a hierarchy, how sure it is, and why."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.model.config import PolarisConfig
    from taxosphere.polaris import Polaris

__all__ = ["Concept", "Polaris", "PolarisConfig", "Taxonomy", "__version__"]

try:
    __version__ = version("taxosphere")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> Any:
    """Load what needs torch only when it is asked for."""
    if name == "Polaris":
        from taxosphere.polaris import Polaris

        return Polaris
    if name == "PolarisConfig":
        from taxosphere.model.config import PolarisConfig

        return PolarisConfig
    raise AttributeError(f"module 'taxosphere' has no attribute '{name}'")
