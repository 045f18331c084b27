"""Which edges each node touches, in compressed sparse rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tcbuild.graph import CellGraph, split_edge_type


@dataclass(frozen=True)
class CSR:
    """Rows of ascending positions. Row i is positions[offsets[i]:offsets[i+1]].

    offsets: int32 [rows + 1], starting with 0. positions: int32 [offsets[-1]].
    """

    offsets: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int32]

    def rows(self, indices: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """The positions of some rows, in the order of indices."""
        if len(indices) == 1:
            row = indices[0]
            return self.positions[self.offsets[row] : self.offsets[row + 1]]
        starts = self.offsets[indices]
        lengths = self.offsets[indices + 1] - starts
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        return self.positions[np.repeat(starts - (ends - lengths), lengths) + np.arange(total)]

    @classmethod
    def of_pairs(
        cls, rows: npt.NDArray[np.integer], positions: npt.NDArray[np.integer], count: int
    ) -> CSR:
        """Groups (row, position) pairs, sorted by position, into count rows. Time and memory are
        linear in the number of pairs.
        """
        narrow = (
            rows.astype(np.uint16) if count <= 1 << 16 else rows
        )  # NumPy sorts 16 bits by radix
        order = np.argsort(narrow, kind="stable")
        offsets = np.zeros(count + 1, np.int32)
        np.cumsum(np.bincount(rows, minlength=count), out=offsets[1:])
        return cls(offsets, positions[order].astype(np.int32, copy=False))


def build_incidence(graph: CellGraph) -> dict[str, CSR]:
    """Per edge type, in canonical order, the edge positions at each node of the rows' type.

    Rows are genes, or reactions for reaction__rmr__metabolite. A row of a gene-gene edge type lists
    the edges that touch the gene at either end, a self loop once. Takes 60 ms and 100 MB of scratch
    memory for a yeast graph.
    """
    incidence = {}
    for edge_type, (src, dst) in graph.edges.items():
        source, _, target = split_edge_type(edge_type)
        rows, positions = src, np.arange(len(src), dtype=np.int32)
        if source == target:
            ends = np.stack([src, dst], axis=1).ravel()
            first = np.ones(len(ends), bool)
            first[1::2] = src != dst
            rows, positions = ends[first], np.repeat(positions, 2)[first]
        incidence[edge_type] = CSR.of_pairs(rows, positions, len(graph.nodes[source]))
    return incidence


def rows_of_nodes(sizes: dict[str, int], starts: dict[str, int], incidence: dict[str, CSR]) -> CSR:
    """What goes with each gene, then with each reaction, among the positions of all masks: its own,
    and those of the edges at it. Takes 0.1 s for a yeast graph.
    """
    parts = []
    for node_type in ("gene", "reaction"):
        if node_type in sizes:
            at_nodes = [name for name in incidence if split_edge_type(name)[0] == node_type]
            own = CSR(
                np.arange(sizes[node_type] + 1, dtype=np.int32),
                np.arange(sizes[node_type], dtype=np.int32) + np.int32(starts[node_type]),
            )
            edges = [
                CSR(incidence[name].offsets, incidence[name].positions + np.int32(starts[name]))
                for name in at_nodes
            ]
            parts.append(_one_behind_the_other([own, *edges]))
    ends = np.cumsum([0, *(len(part.positions) for part in parts)])
    offsets = [part.offsets[1:] + np.int32(end) for part, end in zip(parts, ends)]
    return CSR(
        np.concatenate([np.zeros(1, np.int32), *offsets]),
        np.concatenate([part.positions for part in parts]),
    )


def _one_behind_the_other(parts: list[CSR]) -> CSR:
    """Joins parts row by row."""
    lengths = np.stack([np.diff(part.offsets) for part in parts])
    ends = np.cumsum(lengths.T).reshape(lengths.T.shape).T  # end of each part of each row
    positions = np.empty(sum(len(part.positions) for part in parts), np.int32)
    for part, length, end in zip(parts, lengths, ends):
        shift = end - part.offsets[1:]
        positions[np.repeat(shift, length) + np.arange(len(part.positions))] = part.positions
    return CSR(np.concatenate([[0], ends[-1]]).astype(np.int32), positions)
