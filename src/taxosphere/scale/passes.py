"""The two passes over a list that `expand` makes, through an executor and with their answers on disk."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b

from taxosphere.placing.list_reader import ListedConcept
from taxosphere.placing.place_list import Group
from taxosphere.placing.suggestions import Suggestions
from taxosphere.scale import stream
from taxosphere.scale.answer_store import AnswerStore
from taxosphere.scale.executors import Executor
from taxosphere.scale.placer import Placer
from taxosphere.taxonomy import Concept, Taxonomy


class StoredPasses:
    """Ranks the concepts of a list; what is in the store already is not ranked again.

    Parameters
    ----------
    placer : Placer
        Its model answers for ``taxonomy``.
    executor : Executor
        Where it works.
    store : AnswerStore
        Gets every answer.
    taxonomy : Taxonomy
    """

    def __init__(self, placer: Placer, executor: Executor, store: AnswerStore, taxonomy: Taxonomy) -> None:
        self.placer, self.executor, self.store, self.taxonomy = placer, executor, store, taxonomy

    def alone(self, queries: Sequence[Concept]) -> Iterator[Suggestions]:
        """Suggestions of each of ``queries`` in the taxonomy alone; equal concepts are ranked once."""
        rows = (ListedConcept(number, query, {}) for number, query in enumerate(queries))
        for part in stream.answers(stream.in_parts(rows), self.placer, self.executor, self.store):
            for row, answer in part:
                yield Suggestions.from_dict(answer, row.concept, self.taxonomy)

    def among(self, groups: Sequence[Group]) -> Iterator[list[Suggestions]]:
        """For each of ``groups``, suggestions of its queries with its other new concepts among the candidates."""
        keys = [_key(group) for group in groups]
        absent = self.store.missing(keys)
        under_way: deque[bytes] = deque()

        def unranked() -> Iterator[Group]:
            for key, group in zip(keys, groups, strict=True):
                if key in absent:
                    under_way.append(key)
                    yield group

        fresh = self.executor.map(self.placer.among, unranked())
        for key, group in zip(keys, groups, strict=True):
            if key in absent:
                answers = next(fresh)
                self.store.put({under_way.popleft(): answers})
            else:
                answers = self.store.get([key])[key]
            yield [
                Suggestions.from_dict(answer, query, self.taxonomy)
                for answer, query in zip(answers, group.queries, strict=True)
            ]


def _key(group: Group) -> bytes:
    content = json.dumps(asdict(group), sort_keys=True).encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=16).digest()
