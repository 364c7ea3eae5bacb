"""The command reference as Markdown, made of the commands' own help."""

from __future__ import annotations

from typing import Any

import typer

from taxosphere.cli import COMMANDS, SUMMARY, load_command

_INTRODUCTION = """\
Every command has `--help`. `--json`, where a command has it, prints one JSON document on standard output and nothing
else there. Exit codes: 0 done, 1 failed, 2 the input or an option is at fault."""


def page() -> str:
    """The whole reference: one section per command with its usage, description and a table of its parameters."""
    lines = ["# Commands", "", SUMMARY, "", _INTRODUCTION, ""]
    for name in COMMANDS:
        lines += _section(name)
    return "\n".join(lines)


def _section(name: str) -> list[str]:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(load_command(name))
    command: Any = typer.main.get_command(app)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join(["taxosphere", name, *(_metavar(argument) for argument in arguments)])
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    lines = [f"## {name}", "", f"`{usage} [OPTIONS]`", ""]
    for paragraph in paragraphs:
        before, *examples = paragraph.split("Example: ")
        lines += [before.strip(), ""] if before.strip() else []
        lines += ["```", *(example.strip() for example in examples), "```", ""] if examples else []
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if rows:
        lines += ["| parameter | default | meaning |", "|---|---|---|", *rows, ""]
    return lines


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        title = f"`{_metavar(parameter)}`"
    else:
        title = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    default = parameter.default
    absent = default is None or default is False or default is ... or callable(default) or default in ("", (), [])
    shown = "" if absent else f"`{default}`"
    if parameter.required:
        shown = "required"
    meaning = " ".join((parameter.help or "").split()).replace("|", "\\|")
    return f"| {title} | {shown} | {meaning} |"
