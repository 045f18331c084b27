"""The cell graph: node ids, edges, stoichiometry, reaction rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._graph.columns import GraphColumns
from tcbuild._table.columns import whole
from tcbuild.errors import ByName

_NODE_COLUMNS, _EDGE_COLUMNS = ("id",), ("src", "dst", "src_index", "dst_index")
_SHOWN = 20  # types in a repr
GPR = "gene__gpr__reaction"
RMR = "reaction__rmr__metabolite"
MRM = "metabolite__reaction__metabolite"  # a hyperedge table: a metabolite, and its reaction


@dataclass(frozen=True, repr=False)
class CellGraph:
    """The intact graph, in canonical order: nodes gene, reaction, metabolite, then other node types
    by name, then edge types by name.

    Attributes:
        nodes: node type -> ids, by node index
        edges: edge type -> int32 [2, E], source and target indices
        stoichiometry: float64 [E of reaction__rmr__metabolite], or None
        rules: per reaction its gpr rule as written, "" for none; empty without a gpr column
        w_growth: float64 [reactions], their column; without one, 1 for reactions of the subsystem
            Growth, 0 for others; None without either column
        columns: node or edge type -> its other columns, such as scores and embeddings
        ends: edge type -> the node types whose removal removes an edge, at source and target; None
            for an end that does not count

    Examples:
        >>> dataset.graph.columns["reaction__rmr__metabolite"]["stoichiometry"].shape
        (85,)
    """

    nodes: dict[str, list[str]]
    edges: dict[str, npt.NDArray[np.int32]]
    stoichiometry: npt.NDArray[np.float64] | None
    rules: list[str]
    w_growth: npt.NDArray[np.float64] | None = None
    columns: Mapping[str, GraphColumns] = field(default_factory=dict)
    ends: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)

    def __repr__(self) -> str:
        types = [f"{len(ids):,} {name}" for name, ids in self.nodes.items()]
        types += [f"{edges.shape[1]:,} {name}" for name, edges in self.edges.items()]
        more = f", and {len(types) - _SHOWN} more types" if len(types) > _SHOWN else ""
        return f"<tcbuild.CellGraph: {', '.join(types[:_SHOWN])}{more}>"


def split_edge_type(name: str) -> tuple[str, str, str]:
    """Source, relation (which may contain __) and target of source__relation__target."""
    source, _, rest = name.partition("__")
    relation, _, target = rest.rpartition("__")
    return source, relation, target


def ends_of(edge_type: str) -> tuple[str, str]:
    """The node types of an edge type's sources and targets."""
    source, _, target = split_edge_type(edge_type)
    return (source, "reaction") if edge_type == MRM else (source, target)


def is_node_type(name: str) -> bool:
    """Whether a name is a node type's and not an edge type's."""
    return "__" not in name


def load_graph(masks: Mapping[str, list[str]], table: Callable[[str], pa.Table]) -> CellGraph:
    """Makes a graph from the tables of types, in canonical order, each with the ends that count."""
    nodes: dict[str, list[str]] = {}
    edges: dict[str, npt.NDArray[np.int32]] = {}
    tables: dict[str, pa.Table] = {}
    for name in masks:
        tables[name] = content = table(name)
        if is_node_type(name):
            nodes[name] = _column(content, name, "id").to_pylist()
        else:
            edges[name] = edges_of(content, name, *(len(nodes[end]) for end in ends_of(name)))
    columns = {
        name: GraphColumns(content, _NODE_COLUMNS if name in nodes else _EDGE_COLUMNS)
        for name, content in tables.items()
    }
    none: Mapping[str, npt.NDArray[Any]] = {}
    reactions, metabolism = columns.get("reaction", none), columns.get(RMR, none)
    growth = reactions.get("w_growth")
    if growth is None and "subsystem" in reactions:
        growth = reactions["subsystem"] == "Growth"
    rules = [text or "" for text in reactions["gpr"]] if "gpr" in reactions else []
    growth = None if growth is None else np.asarray(growth, np.float64)
    edges = ByName("edge type", edges)
    ends = {name: _counting(name, masks[name]) for name in edges}
    return CellGraph(nodes, edges, metabolism.get("stoichiometry"), rules, growth, columns, ends)


def _counting(edge_type: str, ends: list[str]) -> tuple[str | None, str | None]:
    source, target = ends_of(edge_type)
    return source if "source" in ends else None, target if "target" in ends else None


def edges_of(table: pa.Table, name: str, sources: int, targets: int) -> npt.NDArray[np.int32]:
    """The node indices of both ends of the edges, below the numbers of nodes."""
    ends = [whole(_column(table, name, column), np.int32) for column in ("src_index", "dst_index")]
    for indices, nodes in zip(ends, (sources, targets)):
        if len(indices) and not 0 <= indices.min() <= indices.max() < nodes:
            raise ValueError(
                f"{name}: indices from {indices.min()} to {indices.max()}, expected below {nodes:,}"
            )
    return np.stack(ends)


def _column(table: pa.Table, name: str, column: str) -> pa.ChunkedArray:
    if column not in table.column_names:
        raise ValueError(
            f"{name}: found columns {', '.join(table.column_names)}, expected {column}"
        )
    return table.column(column)
