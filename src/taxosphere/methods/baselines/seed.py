"""The seed as compared systems use it: its text vectors and its edges, without the query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from taxosphere.taxonomy import Taxonomy

PARENT, SELF, CHILD = 0, 1, 2  # roles in an ego-net

NOBODY = -1


class MaskedCandidates(NamedTuple):
    """Candidates (m,) in the graph without one concept each: ``hidden`` (m,) is removed, NOBODY removes none."""

    position: Tensor
    hidden: Tensor


class EgoNets(NamedTuple):
    """Stars of all candidates in one list: row i < m is candidate i, its parents and children follow.

    ``source`` → ``target`` are the edges messages run along: both directions of each spoke, and each member to itself.
    """

    member: Tensor
    role: Tensor
    owner: Tensor
    source: Tensor
    target: Tensor


@dataclass(frozen=True)
class Seed:
    """The seed taxonomy and one frozen text vector per concept."""

    taxonomy: Taxonomy
    vectors: Tensor

    def __len__(self) -> int:
        return len(self.taxonomy)

    @property
    def dim(self) -> int:
        return self.vectors.shape[1]

    @cached_property
    def _neighbour_keys(self) -> NDArray[np.int64]:
        parent, child = self.taxonomy.edge_array.astype(np.int64).T
        size = len(self)
        return np.sort(np.concatenate([parent * size + child, child * size + parent]))

    def all_candidates(self) -> MaskedCandidates:
        """All concepts as candidates, nothing removed."""
        return MaskedCandidates(torch.arange(len(self)), torch.full((len(self),), NOBODY))

    def mask(self, query: Tensor, candidate: Tensor) -> tuple[MaskedCandidates, Tensor]:
        """Masked candidates for ``query`` (b,) with ``candidate`` (b, k), each once, and the row (b, k) of each pair.

        Only neighbours of the query change when it is removed, so all other pairs share one row per candidate.
        """
        size = len(self)
        left, right = candidate.numpy(), query.numpy()[:, None]
        keys, edges = left * size + right, self._neighbour_keys
        place = np.minimum(np.searchsorted(edges, keys), max(0, len(edges) - 1))
        near = edges[place] == keys if len(edges) else np.zeros(keys.shape, bool)
        hidden = np.where(near, np.broadcast_to(right, keys.shape), NOBODY)
        distinct, index = np.unique(left * (size + 1) + hidden + 1, return_inverse=True)
        masked = MaskedCandidates(torch.from_numpy(distinct // (size + 1)), torch.from_numpy(distinct % (size + 1) - 1))
        return masked, torch.from_numpy(index.reshape(keys.shape))

    def ego_nets(self, views: MaskedCandidates) -> EgoNets:
        """Each candidate with its parents and children, without the concept that is hidden from it."""
        centre, hidden = views.position.numpy(), views.hidden.numpy()
        members, roles, owners = [centre], [np.full(len(centre), SELF)], [np.arange(len(centre))]
        for role, rows in ((PARENT, self.taxonomy.parent_csr), (CHILD, self.taxonomy.child_csr)):
            owner, member = rows.expand(centre)
            kept = member != hidden[owner]
            members.append(member[kept].astype(np.int64))
            owners.append(owner[kept])
            roles.append(np.full(int(kept.sum()), role))
        member, role_, owner = (np.concatenate(parts) for parts in (members, roles, owners))
        every, rim = np.arange(len(member)), np.arange(len(centre), len(member))
        source = np.concatenate([every, rim, owner[rim]])
        target = np.concatenate([every, owner[rim], rim])
        return EgoNets(*(torch.from_numpy(part) for part in (member, role_, owner, source, target)))


def segment_sum(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """Sum the rows of ``values`` that share a segment."""
    return values.new_zeros((count, *values.shape[1:])).index_add(0, segment, values)


def segment_mean(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """Mean of the rows of ``values`` that share a segment; 0 for an empty one."""
    size = torch.bincount(segment, minlength=count).clamp(min=1).to(values.dtype)
    return segment_sum(values, segment, count) / size.reshape(-1, *[1] * (values.dim() - 1))
