"""Taxosphere: tells where new concepts belong in a hierarchy, how sure it is, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.model.config import PolarisConfig
    from taxosphere.polaris import Polaris

__all__ = ["Concept", "Polaris", "PolarisConfig", "Taxonomy", "__version__"]

__version__: str


def __getattr__(name: str) -> Any:
    """Load what needs torch, and the version, only when it is asked for."""
    if name == "Polaris":
        from taxosphere.polaris import Polaris

        return Polaris
    if name == "PolarisConfig":
        from taxosphere.model.config import PolarisConfig

        return PolarisConfig
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'taxosphere' has no attribute '{name}'")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("taxosphere")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"
