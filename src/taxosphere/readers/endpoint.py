"""A language model behind an OpenAI-compatible endpoint as reader: ollama, vLLM, llama.cpp or a paid service."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taxosphere import atomic
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.readers.reader import Candidate
from taxosphere.taxonomy import Concept
from taxosphere.typing import Floats

Question = tuple[Concept, Sequence[Candidate]]

_TASK = (
    "You place a new concept in a taxonomy. Read the concept and the numbered candidate parents. Answer with the "
    'numbers of the candidates that could be its direct parent, best first, as JSON: {"parents": [numbers]}. '
    "Use no other numbers than those listed."
)
_LETTERS_PER_TOKEN = 4  # of English, for the estimate alone
_ANSWER_TOKENS = 32
_TRIES = 3
_BUSY = (429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Estimate:
    """What asking a list of questions will take.

    Attributes
    ----------
    requests : int
        Questions that are not answered in the cache.
    cached : int
        Questions that are.
    tokens : int
        Tokens sent and received, roughly.
    cost : float
        Their price, in the currency of the prices given.
    seconds : float
        By the mean time of the answers in the cache; one question is asked beforehand where there are none.
    """

    requests: int
    cached: int
    tokens: int
    cost: float
    seconds: float

    def __str__(self) -> str:
        kept = f" ({self.cached:,} more are cached)" if self.cached else ""
        tokens = f", about {self.tokens:,} tokens" if self.tokens else ""
        price = f", about {self.cost:.2f} to pay" if self.cost else ""
        return f"{self.requests:,} requests{kept}{tokens}, about {self.seconds / 60:,.0f} min{price}"


class EndpointReader:
    """Asks a chat model for the listed candidates that fit, best first; every prompt and answer is kept on disk.

    Parameters
    ----------
    url : str
        Base address, such as http://localhost:11434/v1.
    model : str
        The model's name there.
    cache : Path
        Folder of prompts and answers. The key is never written.
    key_variable : str
        Environment variable that holds the key; empty: none is sent.
    price_in, price_out : float
        Price of a million tokens sent and received.
    timeout : float
        Seconds to wait for an answer.

    Raises
    ------
    InputError
        The address is none of http or https, or the variable is not set.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        cache: Path,
        key_variable: str = "",
        price_in: float = 0.0,
        price_out: float = 0.0,
        timeout: float = 120.0,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError(f"'{url}' is no address of an endpoint; it begins with http:// or https://")
        if key_variable and not os.environ.get(key_variable):
            raise InputError(f"the environment variable {key_variable} is not set; put the key of the endpoint there")
        self.url, self.model, self.name = url.rstrip("/"), model, model
        self.cache, self.key_variable, self.timeout = cache, key_variable, timeout
        self.price_in, self.price_out = price_in, price_out

    def score(self, query: Concept, candidates: Sequence[Candidate]) -> Floats:
        """Scores (n,): 1 for the first named candidate, 1/2 for the second, …, 0 for those not named."""
        scores = np.zeros(len(candidates), np.float32)
        for place, number in enumerate(listed_numbers(self._answer(self._request(query, candidates)), len(candidates))):
            scores[number - 1] = 1.0 / (place + 1)
        return scores

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing: the model stays where it is."""
        return {}

    def estimate(self, questions: Sequence[Question]) -> Estimate:
        """What `score` of these questions will take, to be said before it begins."""
        requests = [self._request(*question) for question in questions]
        waiting = [request for request in requests if not self._file(request).exists()]
        sent = sum(len(message["content"]) for request in waiting for message in request["messages"])
        sent //= _LETTERS_PER_TOKEN
        received = _ANSWER_TOKENS * len(waiting)
        return Estimate(
            requests=len(waiting),
            cached=len(requests) - len(waiting),
            tokens=sent + received,
            cost=(sent * self.price_in + received * self.price_out) / 1e6,
            seconds=self._seconds(waiting) * len(waiting),
        )

    def _seconds(self, waiting: Sequence[dict[str, Any]]) -> float:
        """Mean seconds of an answer: by those in the cache, else by asking the first of the waiting ones."""
        if not waiting:
            return 0.0
        if not any(self.cache.glob("*.json")):
            self._answer(waiting[0])
        kept = [json.loads(file.read_bytes())["seconds"] for file in self.cache.glob("*.json")]
        return float(np.mean(kept))

    def _request(self, query: Concept, candidates: Sequence[Candidate]) -> dict[str, Any]:
        lines = [f"{number}. {candidate.text}" for number, candidate in enumerate(candidates, 1)]
        content = f"Concept: {query.text}\n\nCandidates:\n" + "\n".join(lines)
        numbers = {"type": "array", "items": {"type": "integer", "enum": list(range(1, len(candidates) + 1))}}
        schema = {"type": "object", "properties": {"parents": numbers}, "required": ["parents"]}
        return {
            "model": self.model,
            "messages": [{"role": "system", "content": _TASK}, {"role": "user", "content": content}],
            "temperature": 0,
            "max_tokens": _ANSWER_TOKENS,
            "response_format": {"type": "json_schema", "json_schema": {"name": "parents", "schema": schema}},
        }

    def _file(self, request: dict[str, Any]) -> Path:
        digest = hashlib.sha256(json.dumps([self.url, request], sort_keys=True).encode()).hexdigest()
        return self.cache / f"{digest}.json"

    def _answer(self, request: dict[str, Any]) -> str:
        """The text of the answer, from the cache where it is there."""
        file = self._file(request)
        if file.exists():
            return str(json.loads(file.read_bytes())["answer"])
        began = time.monotonic()
        reply = self._post(request)
        try:
            answer = str(reply["choices"][0]["message"]["content"])
        except (KeyError, IndexError, TypeError):
            raise TaxosphereError(f"{self.url}: the answer has no choices[0].message.content") from None
        self.cache.mkdir(parents=True, exist_ok=True)
        kept = {"url": self.url, "request": request, "answer": answer, "seconds": time.monotonic() - began}
        atomic.write_text(file, json.dumps(kept, ensure_ascii=False, indent=1) + "\n")
        return answer

    def _post(self, request: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.key_variable:
            headers["Authorization"] = f"Bearer {os.environ[self.key_variable]}"
        address = f"{self.url}/chat/completions"
        for attempt in range(1, _TRIES + 1):
            # The scheme is http or https: the constructor refuses others.
            message = urllib.request.Request(address, json.dumps(request).encode(), headers)  # noqa: S310
            try:
                with urllib.request.urlopen(message, timeout=self.timeout) as response:  # noqa: S310  # nosec B310
                    return json.loads(response.read())
            except urllib.error.HTTPError as error:
                if error.code not in _BUSY or attempt == _TRIES:
                    raise TaxosphereError(f"{address} answers {error.code} {error.reason}") from None
            except (OSError, ValueError) as error:
                if attempt == _TRIES:
                    raise TaxosphereError(f"{address} cannot be asked: {error}") from None
            time.sleep(2.0 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")


def listed_numbers(answer: str, count: int) -> list[int]:
    """Numbers from 1 to ``count`` in an answer, each once, in its order; whatever else it says is left out."""
    numbers = (int(digits) for digits in re.findall(r"(?<!\d)\d{1,6}(?!\d)", answer))
    return list(dict.fromkeys(number for number in numbers if 1 <= number <= count))
