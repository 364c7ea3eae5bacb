"""taxosphere mcp: the workbench as tools for language-model agents."""

from __future__ import annotations

from pathlib import Path

import typer

from taxosphere.cli.options import MODEL
from taxosphere.errors import InputError, require


def mcp(
    model: Path = MODEL,
    db: str = typer.Option("", "--db", metavar="URL", help="Database of a workbench, for the queue and decisions."),
    role: str = typer.Option("viewer", help="What the agent may do: 'viewer' looks, 'curator' decides too."),
    by: str = typer.Option("agent", "--by", metavar="NAME", help="Name that decisions of the agent carry."),
) -> None:
    """Offer the workbench to a language-model agent over stdin and stdout (Model Context Protocol).

    Example: taxosphere mcp ontology-model --db ontology-model.workbench/decisions.db --role curator
    """
    require("mcp", "mcp")
    require("fastapi", "serve")
    from taxosphere.polaris import Polaris
    from taxosphere.service.mcp import Desk, make_server
    from taxosphere.service.store_access import ROLES, Person
    from taxosphere.service.workbench import Setup, Workbench

    if role not in ROLES:
        raise InputError(f"no role is called '{role}'; there are {', '.join(ROLES)}")
    if not db:
        make_server(Desk.without_database(Polaris.load(model))).run("stdio")
        return
    workbench = Workbench(Setup.beside(model, db), load_model=False)
    try:
        active = Polaris.load(workbench.active_model().path)
        make_server(Desk(active, workbench.view, workbench, Person(by, role))).run("stdio")
    finally:
        workbench.close()
