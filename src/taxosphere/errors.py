"""What goes wrong, said in one line to the person who can mend it."""

from __future__ import annotations

import importlib
import re
from os import PathLike, fspath
from types import ModuleType

EXTRAS: dict[str, tuple[str, ...]] = {
    "train": ("torch", "transformers", "safetensors", "pydantic"),
    "rdf": ("pyoxigraph",),
    "frames": ("networkx", "pandas"),
    "images": ("PIL",),
    "demo": ("edam_ontology",),
    "serve": ("fastapi", "uvicorn", "sqlalchemy", "alembic"),
    "sheets": ("python_calamine", "openpyxl"),
    "parquet": ("pyarrow",),
    "yaml": ("yaml",),
    "service": ("sqlalchemy", "alembic", "psycopg"),
    "mcp": ("mcp",),
    "dask": ("dask", "distributed"),
    "figures": ("matplotlib",),
    "tensorboard": ("tensorboard",),
}
"""Modules that each optional extra of the package brings."""


# How torch's allocators, its C++ library, graphics cards, mapped files and the loader of shared libraries say it.
_NO_MEMORY = re.compile(
    r"can't allocate memory|cannot allocate memory|not enough memory|out of memory|bad_alloc|failed to map segment",
    re.IGNORECASE,
)


class TaxosphereError(Exception):
    """Something failed; the message is the one line a user sees (exit code 1)."""


class InputError(TaxosphereError):
    """The input is at fault (exit code 2). Reads ``FILE:LINE: what is wrong, what to do``."""

    def __init__(self, message: str, path: str | PathLike[str] | None = None, line: int | None = None) -> None:
        self.message = message = " ".join(message.splitlines())  # what a parser says may have several lines
        self.path = None if path is None else fspath(path)
        self.line = line
        where = "" if self.path is None else f"{self.path}: " if line is None else f"{self.path}:{line}: "
        super().__init__(where + message)


class MissingExtra(TaxosphereError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs the package '{package}': pip install 'taxosphere[{extra}]'")


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it.

    Parameters
    ----------
    module : str
        Its full name.
    extra : str
        The extra of this package that installs it.

    Returns
    -------
    module
        Imported.

    Raises
    ------
    MissingExtra
        It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtra(module.split(".")[0], extra) from None


def is_out_of_memory(error: BaseException) -> bool:
    """Does an error say that memory has ended, whichever library raised it?

    Parameters
    ----------
    error : BaseException
        What was raised.

    Returns
    -------
    bool
        True for MemoryError, and for the errors that other libraries raise in its place.
    """
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, (RuntimeError, ImportError, OSError)) and bool(_NO_MEMORY.search(str(error)))


def kind_of(thing: object) -> str:
    """The type of a value ``thing``, for messages: ``a dict``.

    Parameters
    ----------
    thing : object
        Any value.

    Returns
    -------
    str
        With its article.
    """
    name = type(thing).__name__
    return "None" if thing is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
