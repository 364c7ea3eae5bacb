"""The model in a real browser: trained again, compared, switched to and back."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

PATIENCE = 180_000  # milliseconds; training on a busy machine is no reason to fail


def test_a_model_is_trained_again_compared_and_switched_to_and_back(serve: Any, visit: Any) -> None:
    service = serve(items=40)
    accepted = service.send("decisions/bulk", {"threshold": 0})["accepted"]
    concepts = service.read("taxonomy")["concepts"]
    ada = visit(service)
    ada.go("#/model")
    rows = ada.page.locator("table tbody tr")
    expect(rows).to_have_count(1)
    ada.page.get_by_role("button", name="Retrain", exact=True).click()
    ada.until("() => document.querySelector('.retrain .job') !== null")
    service.kill()  # the job is begun again by the next worker
    service.start()
    expect(rows).to_have_count(2, timeout=PATIENCE)
    hidden = accepted // 5
    expect(rows.nth(1)).to_contain_text(re.compile(rf"\d.* → \d.* on {hidden} hidden concepts"))
    for number, size in ((1, concepts), (0, concepts - accepted)):
        rows.nth(number).get_by_role("button", name="Use this one").click()
        expect(rows.nth(number)).to_contain_text("in use")
        expect(ada.page.locator(".sheet header")).to_contain_text(f"{size} concepts", timeout=PATIENCE)


def test_a_job_is_cancelled(serve: Any, visit: Any) -> None:
    service = serve(items=2)
    ada = visit(service)
    ada.go("#/model")
    ada.page.get_by_role("button", name="Retrain", exact=True).click()
    ada.page.locator(".retrain").get_by_role("button", name="Stop").click()
    expect(ada.page.get_by_role("button", name="Retrain", exact=True)).to_be_visible()
    (job,) = service.read("jobs")["jobs"]
    assert job["state"] == "cancelled"
    assert len(service.read("model")["versions"]) == 1
