"""What a batch removes, as the host knows it. So no device is asked how much is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tcbuild._graph.graph import GPR

Positions = npt.NDArray[np.integer[Any]]


class Removed:
    """The removed positions of B samples, counted by mask.

    names, sizes: the masks in canonical order and their numbers of positions
    parts: per sample its removed positions among those of all masks, ascending, each once
    """

    def __init__(self, names: Sequence[str], sizes: Sequence[int], parts: Sequence[Positions]):
        self.names, self.sizes, self.batch_size = list(names), list(sizes), len(parts)
        bounds = np.cumsum([0, *sizes])
        cuts = np.array([np.searchsorted(part, bounds) for part in parts], np.int64)
        self._cuts = cuts.reshape(len(parts), len(bounds))
        self._counts = np.diff(self._cuts, axis=1).sum(axis=0)
        # An edge of gpr stays without its reaction, so for numbers of what is kept both count.
        self._of_gpr = {
            name: self.addresses(name, parts) for name in (GPR, "reaction") if GPR in self.names
        }

    def kept(self, name: str) -> int:
        """How many positions of a mask all samples keep."""
        place = self.names.index(name)
        return self.batch_size * self.sizes[place] - int(self._counts[place])

    def kept_between_kept(self, name: str, edges: npt.NDArray[np.integer[Any]]) -> int:
        """How many edges all samples keep whose ends are kept, too. edges: int [2, E]"""
        if name != GPR:
            return self.kept(name)
        reactions = self.sizes[self.names.index("reaction")]
        order = np.argsort(edges[1], kind="stable")
        starts = np.searchsorted(edges[1][order], np.arange(reactions + 1))
        samples, rows = np.divmod(self._of_gpr["reaction"], reactions)
        lengths = starts[rows + 1] - starts[rows]
        ends = np.cumsum(lengths)
        entries = np.repeat(starts[rows] - (ends - lengths), lengths) + np.arange(lengths.sum())
        without = np.repeat(samples, lengths) * edges.shape[1] + order[entries]
        gone = np.union1d(without, self._of_gpr[GPR])
        return self.batch_size * int(edges.shape[1]) - len(gone)

    def addresses(self, name: str, parts: Sequence[Positions]) -> npt.NDArray[np.int64]:
        """Where a mask [B * E] is 0, ascending. parts: as those that this was made of"""
        place = self.names.index(name)
        first = int(sum(self.sizes[:place]))
        found = [
            part[begin:end].astype(np.int64) + (sample * self.sizes[place] - first)
            for sample, (part, begin, end) in enumerate(
                zip(parts, self._cuts[:, place].tolist(), self._cuts[:, place + 1].tolist())
            )
        ]
        return np.concatenate([*found, np.empty(0, np.int64)])
