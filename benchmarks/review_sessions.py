"""Three review sessions of thirty decisions each by keyboard alone, in a real browser: key presses and time.

    PYTHONPATH=src:tests python benchmarks/review_sessions.py MODEL [--out docs/results/workbench/sessions.json]

MODEL is the demonstration's, with its workbench beside it. Each session has a fresh copy. The time of a decision is
that from its first key until the next concept is drawn; nobody thinks in between. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from load_workbench import percentiles
from playwright.sync_api import Browser, sync_playwright

from support.browsing import Service, Visitor
from taxosphere import atomic

DECISIONS = 30
SESSIONS = {
    "accepts the best": [["a"]],
    "chooses among the candidates": [["2", "a"], ["3", "a"], ["1", "Shift+Digit2", "a"], ["ArrowDown", "a"]],
    "decides in every way": [["a"], ["r"], ["2", "a"], ["l"], ["t"], ["0", "a"], ["ArrowLeft", "a"]],
}
NEXT = "before => document.querySelector('[data-item]')?.dataset.item !== before"


def session(browser: Browser, model: Path, recipes: list[list[str]]) -> dict[str, Any]:
    """Figures of one session; every decision must have been recorded."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / model.name
        for name in (model.name, f"{model.name}.workbench"):
            shutil.copytree(model.with_name(name), folder.with_name(name))
        service = Service(folder)
        service.start()
        try:
            visitor = Visitor(browser.new_context(viewport={"width": 1440, "height": 900}), service, "ada")
            presses, times, began = [], [], time.monotonic()
            for number in range(DECISIONS):
                item, before, start = visitor.item, visitor.presses, time.perf_counter()
                for key in recipes[number % len(recipes)]:
                    visitor.press(key)
                visitor.until(NEXT, item)
                times.append(time.perf_counter() - start)
                presses.append(visitor.presses - before)
            visitor.saved()
            seconds = time.monotonic() - began
            recorded = len(service.decisions())
            if recorded != DECISIONS or visitor.problems:
                raise SystemExit(f"{recorded} decisions are recorded; {visitor.problems}")
        finally:
            service.stop()
    return {"presses": sum(presses), "most": max(presses), "seconds": round(seconds, 1), "ms": percentiles(times)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        figures = {name: session(browser, options.model, recipes) for name, recipes in SESSIONS.items()}
        browser.close()
    record = {"decisions": DECISIONS, "sessions": figures, "load_average": round(os.getloadavg()[0], 1)}
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    if options.out:
        atomic.write_text(options.out, text)


if __name__ == "__main__":
    main()
