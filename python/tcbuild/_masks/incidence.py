"""Which edges each node touches, in compressed sparse rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tcbuild._graph.graph import CellGraph


@dataclass(frozen=True)
class CSR:
    """Rows of ascending positions. Row i is positions[offsets[i]:offsets[i+1]].

    offsets: int32 [rows + 1], starting with 0. positions: int32 [offsets[-1]].
    """

    offsets: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int32]

    def rows(self, nodes: list[int]) -> npt.NDArray[np.int32]:
        """The positions of some rows, in the order of nodes."""
        indices = np.array(nodes, np.int64)
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
    """Per edge type, in canonical order, the positions of the edges that go with each gene, then
    with each reaction: those that touch it, a self loop once.

    Takes 60 ms and 100 MB of scratch memory for a yeast graph.
    """
    genes = len(graph.nodes["gene"])
    first = {"gene": 0, "reaction": genes}  # rows of the node types that can be removed
    count = genes + len(graph.nodes.get("reaction", ()))
    incidence = {}
    for edge_type, edges in graph.edges.items():
        # Both ends of an edge, one after the other, as rows; -1 for those that never go.
        ends = np.full((edges.shape[1], 2), -1, np.int32)
        for side, node_type in enumerate(graph.ends[edge_type]):
            if node_type in first:
                ends[:, side] = edges[side] + first[node_type]
        ends[ends[:, 0] == ends[:, 1], 1] = -1
        found = ends.ravel() >= 0
        positions = np.repeat(np.arange(len(ends), dtype=np.int32), 2)[found]
        incidence[edge_type] = CSR.of_pairs(ends.ravel()[found], positions, count)
    return incidence


def rows_of_nodes(starts: dict[str, int], incidence: dict[str, CSR], count: int) -> CSR:
    """What goes with each of count nodes, genes, then reactions, among the positions of all masks:
    its own, and its edges'. starts are the masks' first positions. Takes 0.1 s for a yeast graph.
    """
    own = CSR(np.arange(count + 1, dtype=np.int32), np.arange(count, dtype=np.int32))
    edges = [
        CSR(rows.offsets, rows.positions + np.int32(starts[name]))
        for name, rows in incidence.items()
    ]
    return _join_rows([own, *edges])


def _join_rows(parts: list[CSR]) -> CSR:
    """Row i of all parts, one after the other, as row i."""
    lengths = np.stack([np.diff(part.offsets) for part in parts])
    ends = np.cumsum(lengths.T).reshape(lengths.T.shape).T  # end of each part of each row
    positions = np.empty(sum(len(part.positions) for part in parts), np.int32)
    for part, length, end in zip(parts, lengths, ends):
        shift = end - part.offsets[1:]
        positions[np.repeat(shift, length) + np.arange(len(part.positions))] = part.positions
    return CSR(np.concatenate([[0], ends[-1]]).astype(np.int32), positions)
