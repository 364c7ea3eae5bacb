"""Whole review sessions in a real browser on the real service."""

from __future__ import annotations

import signal
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

MOST_PRESSES = 3


def test_thirty_concepts_by_keyboard_alone(serve: Any, visit: Any) -> None:
    service = serve(items=32)
    ada = visit(service)
    recipes = (["a"], ["2", "a"], ["1", "Shift+Digit2", "a"], ["r"], ["l"], ["t"], ["0", "a"], ["ArrowDown", "a"])
    used, items = [], []
    for number in range(30):
        recipe = recipes[number % len(recipes)]
        items.append(ada.item)
        before = ada.presses
        for key in recipe:
            ada.press(key)
        ada.until("before => document.querySelector('[data-item]')?.dataset.item !== before", items[-1])
        used.append(ada.presses - before)
    ada.saved()
    assert max(used) <= MOST_PRESSES
    made = service.decisions()
    assert Counter(decision["item"] for decision in made) == Counter(items)
    kinds = Counter(decision["kind"] for decision in made)
    assert kinds["later"] == 4
    assert kinds["top"] == 4
    assert kinds["reject"] == 7
    assert sum(len(decision["parents"]) == 2 for decision in made) == 4
    assert service.read("queue?limit=1")["counts"]["open"] == 2


def test_another_parent_by_search_and_a_note(serve: Any, visit: Any) -> None:
    service = serve(items=3)
    ada = visit(service)
    item = ada.item
    ada.press("n")
    ada.page.keyboard.type("it swims")
    ada.press("Escape")
    ada.press("m")
    ada.page.keyboard.type("royal fish")
    expect(ada.page.locator("[role=option]").first).to_contain_text("royal fish")
    ada.press("Enter")
    expect(ada.page.locator(".elsewhere")).to_contain_text("royal fish")
    expect(ada.page.locator(".node.ghost")).to_be_visible()
    ada.press("a")
    ada.saved()
    (decision,) = service.decisions(item=item)
    assert decision["kind"] == "move"
    assert [parent["name"] for parent in decision["parents"]] == ["royal fish"]
    assert decision["note"] == "it swims"


def test_broader_and_narrower_than_a_candidate(serve: Any, visit: Any) -> None:
    service = serve(items=3)
    ada = visit(service)
    chosen = ada.page.locator("button[aria-pressed=true] .name, .elsewhere b")
    first = chosen.inner_text()
    ada.press("ArrowLeft")
    expect(chosen).not_to_have_text(first)
    expect(chosen).to_have_text("thing")
    ada.press("ArrowRight")
    expect(chosen).not_to_have_text("thing")


def test_editing_a_concept(serve: Any, visit: Any) -> None:
    service = serve(items=2)
    ada = visit(service)
    item = ada.item
    ada.press("e")
    ada.page.get_by_label("Name", exact=True).fill("renamed by hand")
    ada.page.get_by_role("button", name="Save").click()
    expect(ada.page.locator("[data-item] h1")).to_have_text("renamed by hand")
    ada.saved()
    assert service.read(f"queue/{item}")["concept"]["name"] == "renamed by hand"
    ada.press("a")
    ada.saved()
    assert {decision["kind"] for decision in service.decisions(item=item)} == {"edit", "accept"}


def test_two_browsers_at_once(serve: Any, visit: Any) -> None:
    service = serve(items=4)
    ada, bob = visit(service, "ada"), visit(service, "bob")
    assert ada.item == bob.item
    item = ada.item
    ada.press("a")
    ada.saved()
    expect(bob.page.locator(f".row.accepted[href$='/{item}']")).to_be_visible()
    expect(bob.page.locator(".state")).to_contain_text("ada")
    expect(bob.page.locator("footer")).to_contain_text("ada accepted")


def test_a_decision_that_came_too_late_is_rolled_back(serve: Any, visit: Any) -> None:
    service = serve(items=4)
    bob = visit(service, "bob")
    item = bob.item
    bob.intercept("**/api/v1/decisions", lambda route: decide_first(service, item, route))
    bob.press("r")
    expect(bob.page.locator(".notice.bad")).to_contain_text("Your decision was not taken over")
    expect(bob.page.locator(f".row[href$='/{item}'] small")).to_contain_text("accepted by ada")
    assert [decision["kind"] for decision in service.decisions(item=item)] == ["accept"]


def decide_first(service: Any, item: str, route: Any) -> None:
    detail = service.read(f"queue/{item}")
    parents = detail["suggestions"]["parents"][:1]
    body = {"item": item, "kind": "accept", "parents": parents, "version": detail["version"]}
    service.send("decisions", body)
    route.continue_()


def test_undo_by_key_and_in_the_history(serve: Any, visit: Any) -> None:
    service = serve(items=5)
    ada = visit(service)
    first = ada.item
    ada.press("a")
    ada.press("u")
    ada.until("item => document.querySelector('[data-item]')?.dataset.item === item", first)
    ada.saved()
    assert service.read(f"queue/{first}")["state"] == "open"
    ada.press("r")
    ada.saved()
    ada.press("g")
    ada.press("h")
    ada.page.get_by_role("button", name="Take back").first.click()
    ada.until("() => document.querySelectorAll('tr.undone').length >= 1")
    ada.saved()
    assert service.read(f"queue/{first}")["state"] == "open"
    expect(ada.page.get_by_text("How much stayed", exact=False).or_(ada.page.locator(".live"))).to_be_visible()


def test_undo_before_the_next_concept_is_there(serve: Any, visit: Any) -> None:
    service = serve(items=5)
    ada = visit(service)
    first = ada.item
    ada.intercept("**/api/v1/queue/*", lambda route: route.continue_() if route.request.url.endswith(first) else None)
    ada.press("a")
    expect(ada.page.locator("[data-item]")).to_have_count(0)
    ada.press("u")
    expect(ada.page.locator(f"[data-item='{first}']")).to_be_visible()


def test_dragging_a_concept_to_its_place_in_the_tree(serve: Any, visit: Any) -> None:
    service = serve(items=4)
    ada = visit(service)
    ada.press("g")
    ada.press("t")
    item = ada.page.locator(".tray .item").first
    name = item.inner_text().strip()
    target = ada.page.locator(".node", has_text="boat").first
    target.wait_for()
    item.drag_to(target)
    expect(ada.page.locator(".notice")).to_contain_text(f"“{name}” placed below boat")
    ada.saved()
    (decision,) = service.decisions()
    assert (decision["name"], [parent["name"] for parent in decision["parents"]]) == (name, ["boat"])
    target.locator(".twist").click()
    expect(ada.page.locator(".node.fresh", has_text=name)).to_be_visible()


def test_reload_in_the_middle_loses_nothing(serve: Any, visit: Any) -> None:
    service = serve(items=6)
    ada = visit(service)
    ada.press("a")
    ada.press("j")
    item = ada.item
    ada.press("2")
    chosen = ada.page.locator("button[aria-pressed=true] .name").inner_text()
    ada.press("n")
    ada.page.keyboard.type("half a thought")
    ada.page.reload()
    ada.until("item => document.querySelector('[data-item]')?.dataset.item === item", item)
    assert ada.page.get_by_label("Note").input_value() == "half a thought"
    assert ada.page.locator("button[aria-pressed=true] .name").inner_text() == chosen
    ada.saved()
    assert len(service.decisions()) == 1


def test_the_service_ends_quietly_while_pages_are_open(serve: Any, visit: Any) -> None:
    service = serve(items=2)
    ada = visit(service)
    ada.press("a")
    ada.saved()
    service.stop()
    log = (service.model.parent / "log.txt").read_text(encoding="utf-8")
    assert service.process.returncode in (0, -signal.SIGTERM), log
    assert "Traceback" not in log
    assert "Cancel" not in log


def test_the_service_is_killed_and_started_again(serve: Any, visit: Any) -> None:
    service = serve(items=12)
    ada = visit(service)
    ada.press("a")
    ada.saved()
    ada.page.wait_for_timeout(400)
    service.kill()
    decided = []
    for key in ("a", "r", "l"):
        decided.append(ada.item)
        ada.press(key)
        ada.until("before => document.querySelector('[data-item]')?.dataset.item !== before", decided[-1])
    expect(ada.page.locator("footer")).to_contain_text("kept here and sent later")
    service.start()
    ada.saved()
    made = Counter(decision["item"] for decision in service.decisions())
    assert all(made[item] == 1 for item in decided)
    assert sum(made.values()) == 4
    expect(ada.page.locator("footer")).to_contain_text("All saved")


def test_many_at_once(serve: Any, visit: Any) -> None:
    service = serve(items=24)
    ada = visit(service)
    ada.page.locator("#bulk-slider").fill("0.5")
    expected = service.read("decisions/bulk?threshold=0.5")
    says = ada.page.locator(".bulk output")
    expect(says).to_have_text(
        f"accepts {expected['accepts']}, about {round(expected['expected_right'])} right"
        if expected["accepts"]
        else "accepts none"
    )
    if expected["accepts"] == 0:
        pytest.skip("this model is sure of nothing")
    ada.page.locator(".bulk button").click()
    ada.page.locator("dialog[open] .primary").click()
    expect(ada.page.locator(".notice")).to_contain_text("accepted")
    assert service.read("queue?limit=1")["counts"]["accepted"] == expected["accepts"]


def test_a_pasted_list_comes_into_the_queue(serve: Any, visit: Any) -> None:
    service = serve()
    ada = visit(service)
    ada.press("g")
    ada.press("i")
    ada.page.locator("#paste").fill(
        "Begriff\tErklärung\nsilver fish\ta fish that shines\nsilver boat\ta boat that shines"
    )
    ada.page.get_by_role("button", name="Read it").click()
    ada.page.get_by_label("What is in column Begriff?").select_option("name")
    ada.page.get_by_label("What is in column Erklärung?").select_option("description")
    ada.page.get_by_role("button", name="Add 2 concepts").click()
    expect(ada.page.get_by_text("Added. They are in the queue.")).to_be_visible(timeout=90_000)
    names = {item["name"] for item in service.read("queue")["items"]}
    assert names == {"silver fish", "silver boat"}


def test_who_may_only_look_sees_no_way_to_decide(serve: Any, visit: Any) -> None:
    service = serve(items=3)
    vic = visit(service, "vic")
    expect(vic.page.locator(".actions")).to_have_text("You may look, but not decide.")
    item = vic.item
    vic.press("a")
    vic.press("r")
    assert vic.item == item
    assert service.decisions() == []
