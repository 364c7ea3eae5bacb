"""The command line: one file per command, each thin – parse, call, print.

A command NAME lives in ``taxosphere/cli/commands/NAME.py`` as the function NAME. Only the module of the command
that was asked for is imported, so ``taxosphere --help`` and ``taxosphere inspect`` never wait for torch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import typer
from typer.models import ParameterInfo

from taxosphere import __version__
from taxosphere.cli.completion import words_typed
from taxosphere.cli.signals import Stopped, stoppable
from taxosphere.errors import EXTRAS, InputError, MissingExtra, TaxosphereError, is_out_of_memory

# Wrong options and arguments. Typer carries its own copy of click or uses the package, depending on its version, and
# exports only this descendant of the class.
UsageError: Any = typer.BadParameter.__bases__[0]
SUMMARY = "Tells where new concepts belong in your taxonomy, how sure it is, and why."
COMMANDS = {
    "demo": "Train on a built-in ontology, suggest parents, expand it and write a report.",
    "inspect": "Show size, shape and problems of a taxonomy.",
    "convert": "Rewrite a taxonomy in another format.",
    "fit": "Train a model on a taxonomy.",
    "suggest": "Rank parents for new concepts, with probabilities and reasons.",
    "expand": "Attach new concepts where the model is sure, list the rest for review.",
    "report": "Write a page on how well a model answers on your own data.",
    "apply": "Carry out what people decided in a review table.",
    "export": "Write what was decided, in the formats of other tools.",
    "serve": "Open the workbench: the review page and the REST API.",
    "mcp": "Offer the workbench to a language-model agent over stdio.",
    "evaluate": "Measure a method on a taxonomy with hidden concepts.",
    "bench": "Compare methods over benchmark taxonomies.",
    "study": "Regenerate one of the ablations or figures.",
    "methods": "List every scorer that evaluate and bench accept.",
    "doctor": "Check that everything is here that the other commands need.",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; every failure a user can cause ends in one line on stderr."""
    args = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    _fill_closed_streams()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name the terminal cannot show is no reason to fail
    try:
        with stoppable():
            code = _app(args)(args, prog_name="taxosphere", standalone_mode=False)
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (InputError, UsageError) as error:
        return _fail(error, 2)
    except (TaxosphereError, MemoryError) as error:
        return _fail(error, 1)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        extra = next((extra for extra, modules in EXTRAS.items() if missing in modules), None)
        if extra is None:
            raise
        return _fail(MissingExtra(missing, extra), 1)
    except (RuntimeError, ImportError) as error:
        if not is_out_of_memory(error):
            raise
        return _fail(MemoryError(), 1)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Stopped as error:
        return 128 + error.number
    except (BrokenPipeError, SystemExit) as error:  # what click makes of a broken pipe
        if not isinstance(error, BrokenPipeError) and not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader of our output has left, as `head` does
        return 141
    except OSError as error:
        return _fail(error, 1)


def _fill_closed_streams() -> None:
    """Python has None where the shell closed a stream, and the next file that is opened would take its number."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as we run


def _app(args: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        epilog="Example: taxosphere inspect ontology.obo",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(help=SUMMARY)(_options)
    words = words_typed(os.environ) or args  # while the shell completes, the line is not in the arguments
    wanted = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        app.command(name, short_help=summary)(load_command(name) if name == wanted else _not_loaded)
    return app


def load_command(name: str) -> Callable[..., None]:
    """The function of a command; imports its module."""
    function: Callable[..., None] = getattr(import_module(f"{__name__}.commands.{name}"), name)
    for parameter in signature(function).parameters.values():
        if isinstance(parameter.default, ParameterInfo):
            parameter.default.readable = False  # our readers say it themselves, the file first
    return function


def _not_loaded() -> None:
    """Stands in for the commands that were not asked for."""


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"taxosphere {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Carries the options in front of the command; `_show_version` acts on the only one."""


def _fail(error: BaseException, code: int) -> int:
    print(f"error: {_line(error)}", file=sys.stderr)
    return code


def _line(error: BaseException) -> str:
    if isinstance(error, UsageError):
        context = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "taxosphere"
        text = f"{error.format_message().rstrip('.')}. See '{where} --help'."
    elif isinstance(error, MemoryError):
        text = "not enough memory; 'taxosphere doctor' says how much is free, and other programs may hold it"
    elif isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    else:
        text = str(error)
    return " ".join(text.split())
