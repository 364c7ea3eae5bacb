"""Pictures of OpenRefine with our reconciliation service, for docs/openrefine.md.

    openrefine -i 127.0.0.1 -p 3333 -d EMPTY_FOLDER -x refine.headless=true     # Debian: apt-get install openrefine
    taxosphere serve --demo --port 8000 &
    python scripts/draw_openrefine.py LIST.csv

LIST.csv has the columns `name` and `definition`. OpenRefine is driven as a person would, in chromium.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

SERVICE = "http://127.0.0.1:8000/reconcile/parent-of"
PICTURES = Path(__file__).resolve().parents[1] / "docs" / "images" / "openrefine"


def new_project(path: Path) -> str:
    """Address of a project made of a file of comma-separated values."""
    connection = HTTPConnection("127.0.0.1", 3333, timeout=60)
    connection.request("GET", "/command/core/get-csrf-token")
    token = json.loads(connection.getresponse().read())["token"]
    boundary = "between-the-parts"
    options = {"separator": ",", "encoding": "UTF-8", "headerLines": 1}
    fields = {"project-name": path.stem, "format": "text/line-based/*sv", "options": json.dumps(options)}
    head = f"--{boundary}\r\nContent-Disposition: form-data; name="
    body = "".join(f'{head}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
    body += f'{head}"project-file"; filename="list.csv"\r\n\r\n{path.read_text("utf-8")}\r\n--{boundary}--\r\n'
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    connection.request("POST", f"/command/core/create-project-from-upload?csrf_token={token}", body.encode(), headers)
    return str(connection.getresponse().headers["Location"])


def item(page: Page, text: str) -> Any:
    """An entry of the menu that is open."""
    return page.locator(".menu-container .menu-item", has_text=re.compile(rf"^\s*{text}")).last


def reconcile(page: Page) -> None:
    """Add the service, use the definitions, and start."""
    page.locator("th.column-header", has_text="name").first.locator(".column-header-menu").click()
    item(page, "Reconcile").hover()
    item(page, "Start reconciling").click()
    page.get_by_text("Add Standard Service").click()
    page.locator(".dialog-frame input").last.fill(SERVICE)
    page.screenshot(path=PICTURES / "service.png")
    page.locator(".dialog-frame button", has_text="Add Service").last.click()
    page.locator(".recon-dialog-service-selector").last.click()
    page.wait_for_timeout(1500)
    if page.locator(".recon-dialog-service-list").is_visible():
        page.mouse.click(700, 400)
    dialog = page.locator(".dialog-frame").last
    dialog.locator("input[type=checkbox]").first.check()
    dialog.locator("input[name=property]").first.press_sequentially("description", delay=30)
    page.wait_for_timeout(1500)
    page.keyboard.press("Enter")
    dialog.get_by_text("Reconcile against no particular type").click(force=True)
    page.screenshot(path=PICTURES / "settings.png")
    dialog.get_by_text("Start reconciling...").click()


def main() -> None:
    """Draw the pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    address = new_project(Path(sys.argv[1]))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(address)
        reconcile(page)
        page.locator(".data-table-recon-candidate").first.wait_for(timeout=60_000)
        page.wait_for_timeout(1500)
        page.screenshot(path=PICTURES / "result.png")
        page.locator(".data-table-recon-candidate a").first.hover()
        page.wait_for_timeout(2500)
        page.screenshot(path=PICTURES / "preview.png")
        browser.close()


if __name__ == "__main__":
    main()
