"""The cell graph: node ids, edges, stoichiometry, reaction rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

NODE_TYPES = ("gene", "reaction", "metabolite")
GPR = "gene__gpr__reaction"
RMR = "reaction__rmr__metabolite"


@dataclass(frozen=True)
class CellGraph:
    """The unperturbed graph, in canonical order: nodes gene, reaction, metabolite, then edge types sorted by name.

    nodes:         node type -> ids; a node's index is its place
    edges:         edge type -> int32 [2, E], source and target indices; an edge's position is its column
    stoichiometry: float64 [E of reaction__rmr__metabolite], or None where the graph has none
    rules:         per reaction its boolean gpr rule as it was written, "" for none; empty without a gpr column
    """

    nodes: dict[str, list[str]]
    edges: dict[str, npt.NDArray[np.int32]]
    stoichiometry: npt.NDArray[np.float64] | None
    rules: list[str]


def split_edge_type(name: str) -> tuple[str, str, str]:
    """Source, relation and target of source__relation__target; the relation may itself hold two underscores."""
    source, _, rest = name.partition("__")
    relation, _, target = rest.rpartition("__")
    return source, relation, target


def load_graph(names: Iterable[str], table: Callable[[str], pa.Table]) -> CellGraph:
    """Makes a graph of the tables of its node and edge types, which names lists in canonical order.

    An edge table has the columns src_index and dst_index, or src and dst with ids. ValueError says what is wrong in which table.
    """
    nodes: dict[str, list[str]] = {}
    edges: dict[str, npt.NDArray[np.int32]] = {}
    rules: list[str] = []
    stoichiometry = None
    for name in names:
        content = table(name)
        columns = content.column_names
        if name in NODE_TYPES:
            nodes[name] = _column(content, name, "id").to_pylist()
            if name == "reaction" and "gpr" in columns:
                rules = [rule or "" for rule in content.column("gpr").to_pylist()]
        else:
            source, _, target = split_edge_type(name)
            edges[name] = np.stack([_end(content, name, "src", nodes[source]), _end(content, name, "dst", nodes[target])])
            if name == RMR and "stoichiometry" in columns:
                stoichiometry = np.array(content.column("stoichiometry").cast(pa.float64()))
    return CellGraph(nodes, edges, stoichiometry, rules)


def _column(table: pa.Table, name: str, column: str) -> pa.ChunkedArray:
    if column not in table.column_names:
        raise ValueError(f"{name} has no column {column} (expected one beside {', '.join(table.column_names)})")
    return table.column(column)


def _end(table: pa.Table, name: str, end: str, ids: list[str]) -> npt.NDArray[np.int32]:
    """The node indices of one end of the edges."""
    if end in table.column_names:
        wanted = table.column(end).cast(pa.string())
        found = pc.index_in(wanted, value_set=pa.array(ids, pa.string()))
        if found.null_count:
            row = int(np.argmin(found.is_valid().to_numpy()))
            raise ValueError(f"{name}: {end} of edge {row} is {wanted[row]} (expected one of {len(ids):,} ids)")
    else:
        found = _column(table, name, f"{end}_index").cast(pa.int32())
    indices: npt.NDArray[np.int32] = found.to_numpy()
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(ids):
        raise ValueError(f"{name}: {end} indices from {indices.min()} to {indices.max()} (expected below {len(ids):,})")
    return indices
