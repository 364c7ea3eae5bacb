"""Fill the queue of a workbench with concepts that its model has placed."""

from __future__ import annotations

import os
from pathlib import Path

ITEMS = 12


def fill(model: Path, cache: Path, url: str = "") -> None:
    """Put `ITEMS` new concepts into the queue of ``model``; in a process of its own, as torch starts threads."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.environ["TAXOSPHERE_CACHE"] = str(cache)
            _fill(model, url)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if status:
        raise SystemExit("the queue could not be filled")


def _fill(model: Path, url: str) -> None:
    from taxosphere import Concept, Polaris
    from taxosphere.service.auth import local_token
    from taxosphere.service.jobs import add_to_queue
    from taxosphere.service.workbench import Setup, Workbench

    setup = Setup.beside(model, url)
    workbench = Workbench(setup, load_model=False)
    concepts = [Concept(f"new{number}", f"new thing {number}", "a thing that is new") for number in range(ITEMS)]
    add_to_queue(workbench, Polaris.load(model), concepts, lambda *_: None)
    workbench.close()
    local_token(setup.token)
