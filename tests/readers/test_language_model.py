"""Language models as readers: a tiny one by brute force, and the packaged one of 135 M for real."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from support.chat_server import Server
from support.packaged_models import smollm_file
from support.tiny_encoder import build_tiny_language_model
from taxosphere import Concept
from taxosphere.errors import InputError
from taxosphere.readers.endpoint import EndpointReader
from taxosphere.readers.language_model import LanguageModelReader, spoken_path
from taxosphere.readers.reader import Candidate

QUERY = Concept("q", "lime", "a small green sour citrus fruit that grows on a tree")
CANDIDATES = [
    Candidate("a", "vehicle", "", ("thing", "machine", "vehicle"), ("car", "lorry")),
    Candidate("b", "citrus fruit", "", ("food", "fruit", "citrus fruit"), ("lemon", "orange")),
    Candidate("c", "musical instrument", "", ("thing", "instrument", "musical instrument"), ("violin",)),
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A causal model of a few kilobytes with random weights, and the tokenizer of the tiny encoder."""
    return build_tiny_language_model(tmp_path_factory.mktemp("tiny-lm"))


def test_a_path_is_spoken_from_the_candidate_upwards() -> None:
    expected = " citrus fruit, which is a kind of fruit, which is a kind of food."
    assert spoken_path(CANDIDATES[1]) == expected


def test_scores_are_mean_log_probabilities_token_by_token(tiny: Path) -> None:
    reader = LanguageModelReader.load(str(tiny), contrast=False)
    scores = reader.score(QUERY, CANDIDATES)
    prompt = reader._prompt(QUERY.text, QUERY.name)
    for score, candidate in zip(scores, CANDIDATES, strict=True):
        tokens = reader.tokenizer(spoken_path(candidate), add_special_tokens=False)["input_ids"]
        logs = []
        for number, token in enumerate(tokens):  # one token after another, each from the whole text before it
            with torch.no_grad():
                logits = reader.model(torch.tensor([prompt + tokens[:number]])).logits[0, -1].double()
            logs.append(float(logits[token] - torch.logsumexp(logits, 0)))
        assert score == pytest.approx(np.mean(logs), abs=1e-4)


def test_contrast_subtracts_what_the_path_has_without_the_query(tiny: Path) -> None:
    plain, contrasted = (LanguageModelReader.load(str(tiny), contrast=on) for on in (False, True))
    neutral = plain._mean_log_probabilities(plain._prompt("", "Something"), [spoken_path(c) for c in CANDIDATES])
    expected = plain.score(QUERY, CANDIDATES) - neutral
    np.testing.assert_allclose(contrasted.score(QUERY, CANDIDATES), expected, atol=1e-5)
    np.testing.assert_allclose(contrasted.score(QUERY, CANDIDATES), expected, atol=1e-5)  # the second from memory


def test_what_is_no_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such GGUF file"):
        LanguageModelReader.load(str(tmp_path / "absent.gguf"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no causal language model"):
        LanguageModelReader.load(str(tmp_path / "empty"))


@pytest.fixture(scope="module")
def smollm() -> LanguageModelReader:
    return LanguageModelReader.load(str(smollm_file()))


def test_a_real_model_of_135_million_prefers_the_right_path(smollm: LanguageModelReader) -> None:
    scores = smollm.score(QUERY, CANDIDATES)
    assert scores.argmax() == 1
    car = Concept("r", "taxi", "a car with a driver that takes passengers for a fare")
    assert smollm.score(car, CANDIDATES).argmax() == 0
    assert all(math.isfinite(score) for score in scores)


def test_a_real_model_behind_an_endpoint_answers_within_the_list(smollm: LanguageModelReader, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str:
        """Chat with the model, its first token restricted to the schema's numbers, as servers with grammars do."""
        allowed = body["response_format"]["json_schema"]["schema"]["properties"]["parents"]["items"]["enum"]
        text = smollm.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
        ids = smollm.tokenizer(text + '{"parents": [', add_special_tokens=False, return_tensors="pt")["input_ids"]
        first = [smollm.tokenizer(str(number), add_special_tokens=False)["input_ids"][0] for number in allowed]
        with torch.inference_mode():
            logits = smollm.model(input_ids=ids).logits[0, -1][first]
        order = logits.argsort(descending=True).tolist()
        return json.dumps({"parents": [allowed[place] for place in order[:2]]})

    server = Server(reply)
    try:
        reader = EndpointReader(server.url, "smollm2:135m", cache=tmp_path)
        scores = reader.score(QUERY, CANDIDATES)
        assert sorted(scores.tolist()) == [0.0, 0.5, 1.0]
        assert reader.score(QUERY, CANDIDATES).tolist() == scores.tolist()
        assert len(server.requests) == 1
    finally:
        server.close()
