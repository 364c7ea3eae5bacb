"""What a compared system may look at: the seed's text vectors and its edges, with the query taken out."""

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
    """Candidates as they look while a query is being placed: ``hidden`` (or NOBODY) is left out of the graph."""

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

    def everyone(self) -> MaskedCandidates:
        """All candidates of a query that is not in the seed."""
        return MaskedCandidates(torch.arange(len(self)), torch.full((len(self),), NOBODY))

    def views(self, query: Tensor, candidate: Tensor) -> tuple[MaskedCandidates, Tensor]:
        """Distinct views needed to match ``query`` (b,) with ``candidate`` (b, k), and which one each pair uses.

        Only neighbours of the query look different without it, so all other pairs share one view per candidate.
        """
        size = len(self)
        left, right = candidate.numpy(), query.numpy()[:, None]
        keys, known = left * size + right, self._neighbour_keys
        place = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
        near = known[place] == keys if len(known) else np.zeros(keys.shape, bool)
        hidden = np.where(near, np.broadcast_to(right, keys.shape), NOBODY)
        found, index = np.unique(left * (size + 1) + hidden + 1, return_inverse=True)
        views = MaskedCandidates(torch.from_numpy(found // (size + 1)), torch.from_numpy(found % (size + 1) - 1))
        return views, torch.from_numpy(index.reshape(keys.shape))

    def ego_nets(self, views: MaskedCandidates) -> EgoNets:
        """Each candidate with its parents and children, the hidden query taken out."""
        centre, hidden = views.position.numpy(), views.hidden.numpy()
        members, roles, owners = [centre], [np.full(len(centre), SELF)], [np.arange(len(centre))]
        for role, rows in ((PARENT, self.taxonomy.parent_csr), (CHILD, self.taxonomy.child_csr)):
            owner, member = rows.expand(centre)
            seen = member != hidden[owner]
            members.append(member[seen].astype(np.int64))
            owners.append(owner[seen])
            roles.append(np.full(int(seen.sum()), role))
        member, role_, owner = (np.concatenate(parts) for parts in (members, roles, owners))
        everyone, rim = np.arange(len(member)), np.arange(len(centre), len(member))
        source = np.concatenate([everyone, rim, owner[rim]])
        target = np.concatenate([everyone, owner[rim], rim])
        return EgoNets(*(torch.from_numpy(part) for part in (member, role_, owner, source, target)))


def segment_sum(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """Sum the rows of ``values`` that share a segment."""
    return values.new_zeros((count, *values.shape[1:])).index_add(0, segment, values)


def segment_mean(values: Tensor, segment: Tensor, count: int) -> Tensor:
    size = torch.bincount(segment, minlength=count).clamp(min=1).to(values.dtype)
    return segment_sum(values, segment, count) / size.reshape(-1, *[1] * (values.dim() - 1))
