"""The reader of an endpoint, against a small server of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.chat_server import Server
from taxosphere import Concept
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.readers import endpoint
from taxosphere.readers.endpoint import EndpointReader, listed_numbers
from taxosphere.readers.reader import Candidate

QUERY = Concept("q", "lime", "a green citrus fruit")
CANDIDATES = [
    Candidate("a", "fruit", "", ("food", "fruit"), ("apple",)),
    Candidate("b", "citrus", "sour fruit", ("food", "fruit", "citrus"), ("lemon",)),
    Candidate("c", "tool", "", ("tool",), ()),
]


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server(lambda _: '{"parents": [2, 9, 1, 2]}')
    yield running
    running.close()


def test_named_candidates_in_their_order_and_no_others(server: Server, tmp_path: Path) -> None:
    reader = EndpointReader(server.url, "any", cache=tmp_path / "answers")
    assert reader.score(QUERY, CANDIDATES).tolist() == [0.5, 1.0, 0.0]  # 9 is not listed, 2 counts once
    (request,) = server.requests
    listed = request["messages"][1]["content"]
    assert "2. citrus: sour fruit; path: food > fruit > citrus; children: lemon" in listed
    schema = request["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["parents"]["items"]["enum"] == [1, 2, 3]


def test_what_was_asked_once_is_not_asked_again(server: Server, tmp_path: Path) -> None:
    first = EndpointReader(server.url, "any", cache=tmp_path).score(QUERY, CANDIDATES)
    again = EndpointReader(server.url, "any", cache=tmp_path)
    assert again.score(QUERY, CANDIDATES).tolist() == first.tolist()
    assert len(server.requests) == 1
    again.score(QUERY, CANDIDATES[:2])
    EndpointReader(server.url, "another", cache=tmp_path).score(QUERY, CANDIDATES)
    assert len(server.requests) == 3


def test_cost_and_time_are_known_before_it_begins(server: Server, tmp_path: Path) -> None:
    reader = EndpointReader(server.url, "any", cache=tmp_path, price_in=1e6, price_out=2e6)
    questions = [(QUERY, CANDIDATES), (Concept("r", "pear"), CANDIDATES)]
    before = reader.estimate(questions)
    assert (before.requests, before.cached) == (2, 0)
    assert before.seconds > 0
    assert len(server.requests) == 1  # one question is asked to learn how long an answer takes
    letters = sum(len(m["content"]) for q in questions for m in reader._request(*q)["messages"])
    assert before.tokens == letters // 4 + 2 * 32
    assert before.cost == pytest.approx(letters // 4 + 2 * 2 * 32)
    assert str(before).startswith(f"2 requests, about {before.tokens:,} tokens, about ")
    reader.score(*questions[0])
    reader.score(*questions[1])
    assert reader.estimate(questions).requests == 0
    assert reader.estimate(questions).cost == 0


def test_a_busy_endpoint_is_asked_again_and_a_broken_one_named(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint.time, "sleep", lambda _: None)
    reader = EndpointReader(server.url, "any", cache=tmp_path)
    server.faults = [503, 429]
    assert reader.score(QUERY, CANDIDATES).tolist() == [0.5, 1.0, 0.0]
    server.faults = [404]
    with pytest.raises(TaxosphereError, match="chat/completions answers 404"):
        reader.score(Concept("r", "pear"), CANDIDATES)
    server.faults = [500] * 3
    with pytest.raises(TaxosphereError, match="answers 500"):
        reader.score(Concept("r", "pear"), CANDIDATES)
    assert len(list(tmp_path.glob("*.json"))) == 1  # no fault is kept as an answer


def test_the_key_is_sent_and_never_written(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "very-secret")
    EndpointReader(server.url, "any", cache=tmp_path, key_variable="SOME_KEY").score(QUERY, CANDIDATES)
    assert server.headers[0]["Authorization"] == "Bearer very-secret"
    assert all("very-secret" not in file.read_text() for file in tmp_path.iterdir())
    with pytest.raises(InputError, match="OTHER_KEY is not set"):
        EndpointReader(server.url, "any", cache=tmp_path, key_variable="OTHER_KEY")
    with pytest.raises(InputError, match="http:// or https://"):
        EndpointReader("file:///etc/passwd", "any", cache=tmp_path)


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ('{"parents": [3, 1]}', [3, 1]),
        ("I think 2, because 1990 was early.", [2]),
        ("", []),
        ("none", []),
        ("0 4 00000000000000000000003", []),
    ],
)
def test_only_listed_numbers_count(answer: str, numbers: list[int]) -> None:
    assert listed_numbers(answer, 3) == numbers
