"""The cell graph: node ids, edges, stoichiometry, reaction rules."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tcbuild._graph.columns import GraphColumns
from tcbuild._table.columns import number_type, whole

NODE_TYPES = ("gene", "reaction", "metabolite")  # those with a meaning, in canonical order
_NODE_COLUMNS, _EDGE_COLUMNS = ("id",), ("src", "dst", "src_index", "dst_index")
_SHOWN = 20  # types in a repr
_WRONG = re.compile(r"[\x00-\x1f\x7f-\x9f|]")  # control characters, and what ids of genes lack
GPR = "gene__gpr__reaction"
RMR = "reaction__rmr__metabolite"
MRM = "metabolite__reaction__metabolite"  # a hyperedge table: a metabolite, and its reaction


@dataclass(frozen=True, repr=False)
class CellGraph:
    """The unperturbed graph, in canonical order: nodes gene, reaction, metabolite, then other node
    types by name, then edge types by name.

    nodes: node type -> ids, by node index
    edges: edge type -> int32 [2, E], source and target indices, by edge position
    stoichiometry: float64 [E of reaction__rmr__metabolite], or None if the graph has none
    rules: per reaction its boolean gpr rule as written, "" for none; empty without a gpr column
    w_growth: float64 [reactions], its column of the reactions; without one, 1 for reactions of the
        subsystem Growth and 0 for others; None without either column
    columns: node or edge type -> its columns beside ids and ends, such as scores and embeddings:
        `graph.columns["gene__physical__gene"]["score"]`
    """

    nodes: dict[str, list[str]]
    edges: dict[str, npt.NDArray[np.int32]]
    stoichiometry: npt.NDArray[np.float64] | None
    rules: list[str]
    w_growth: npt.NDArray[np.float64] | None = None
    columns: Mapping[str, GraphColumns] = field(default_factory=dict)

    def __repr__(self) -> str:
        types = [f"{len(ids):,} {name}" for name, ids in self.nodes.items()]
        types += [f"{edges.shape[1]:,} {name}" for name, edges in self.edges.items()]
        more = f", and {len(types) - _SHOWN} more types" if len(types) > _SHOWN else ""
        return f"<tcbuild.CellGraph: {', '.join(types[:_SHOWN])}{more}>"


def split_edge_type(name: str) -> tuple[str, str, str]:
    """Source, relation and target of source__relation__target. The relation may contain two
    underscores.
    """
    source, _, rest = name.partition("__")
    relation, _, target = rest.rpartition("__")
    return source, relation, target


def ends_of(edge_type: str) -> tuple[str, str]:
    """The node types of an edge type's sources and targets."""
    source, _, target = split_edge_type(edge_type)
    return (source, "reaction") if edge_type == MRM else (source, target)


def ends_that_count(edge_type: str) -> tuple[str, ...]:
    """The node types of the ends with which an edge goes: an edge of gene__gpr__reaction stays when
    its reaction goes.
    """
    return ("gene",) if edge_type == GPR else ends_of(edge_type)


def is_node_type(name: str) -> bool:
    """Whether a name is a node type's and not an edge type's."""
    return "__" not in name


def canonical_order(node_types: Iterable[str]) -> list[str]:
    """Node types in canonical order."""
    known = {name: rank for rank, name in enumerate(NODE_TYPES)}
    return sorted(node_types, key=lambda name: (known.get(name, len(known)), name.encode()))


def load_graph(names: Iterable[str], table: Callable[[str], pa.Table]) -> CellGraph:
    """Makes a graph from the tables of its node and edge types, whose names are in canonical order.

    An edge table has the columns src_index and dst_index, or src and dst with ids. A wrong table is
    a ValueError that names it.
    """
    nodes: dict[str, list[str]] = {}
    edges: dict[str, npt.NDArray[np.int32]] = {}
    rules: list[str] = []
    stoichiometry = w_growth = None
    further: dict[str, GraphColumns] = {}
    for name in names:
        content = table(name)
        columns = content.column_names
        if name in (RMR, MRM) and "stoichiometry" in columns:
            numbers = _finite_numbers(content, name, "stoichiometry")
            stoichiometry = numbers if name == RMR else stoichiometry
            place = columns.index("stoichiometry")
            content = content.set_column(place, "stoichiometry", pa.array(numbers))
        without = _NODE_COLUMNS if is_node_type(name) else _EDGE_COLUMNS
        further[name] = GraphColumns(content, without)
        if is_node_type(name):
            nodes[name] = _ids(content, name)
            if name == "reaction" and "gpr" in columns:
                rules = _texts(content, name, "gpr").to_pylist()
            if name == "reaction" and "w_growth" in columns:
                w_growth = _finite_numbers(content, name, "w_growth")
            elif name == "reaction" and "subsystem" in columns:
                subsystems = _texts(content, name, "subsystem").to_pylist()
                w_growth = np.array([text == "Growth" for text in subsystems], np.float64)
        else:
            source, target = ends_of(name)
            by_index = "src_index" in columns or "dst_index" in columns
            if by_index and ("src" in columns or "dst" in columns):
                raise ValueError(f"{name}: found columns of ids and of indices, expected one pair")
            sides = _nodes(nodes, name, source), _nodes(nodes, name, target)
            if by_index:
                edges[name] = edges_by_index(content, name, *map(len, sides))
            else:
                edges[name] = np.stack(
                    [_end_by_id(content, name, end, ids) for end, ids in zip(("src", "dst"), sides)]
                )
    return CellGraph(nodes, edges, stoichiometry, rules, w_growth, further)


def _nodes(nodes: dict[str, list[str]], name: str, node_type: str) -> list[str]:
    if node_type not in nodes:
        raise ValueError(f"{name} needs the node table {node_type}, which is missing")
    return nodes[node_type]


def _ids(table: pa.Table, name: str) -> list[str]:
    ids: list[str] = _texts(table, name, "id").to_pylist()
    if (
        len(set(ids)) == len(ids)
        and all(node and node == node.strip() for node in ids)
        and not _WRONG.search(" ".join(ids))
    ):
        return ids
    seen: set[str] = set()
    for row, node in enumerate(ids):
        wrong = ""
        if not node or node != node.strip():
            wrong = "is empty, or begins or ends with a blank"
        elif any(unicodedata.category(character) == "Cc" for character in node):
            wrong = "contains a control character"
        elif name == "gene" and "|" in node:
            wrong = "contains a |, which separates the genes of a perturbation set"
        elif node in seen:
            wrong = "occurs twice"
        if wrong:
            raise ValueError(f"{name}: id {node!r} of row {row} {wrong}")
        seen.add(node)
    return ids


def _column(table: pa.Table, name: str, column: str) -> pa.ChunkedArray:
    if column not in table.column_names:
        raise ValueError(
            f"{name}: found columns {', '.join(table.column_names)}, expected {column}"
        )
    return table.column(column)


def _texts(table: pa.Table, name: str, column: str) -> pa.ChunkedArray:
    """A column of text or integers as text. A missing value is empty."""
    values = _column(table, name, column)
    if not (
        _is_text(values.type) or pa.types.is_integer(values.type) or pa.types.is_null(values.type)
    ):
        raise ValueError(f"{name}: column {column}: found type {values.type}, expected text")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    texts = values.cast(pa.string())
    return pc.fill_null(texts, "") if texts.null_count else texts


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        is_kind(kind)
        for is_kind in (
            *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
            *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
        )
    )


def _finite_numbers(table: pa.Table, name: str, column: str) -> npt.NDArray[np.float64]:
    values = _column(table, name, column)
    if _is_text(values.type):
        numbers = [_number(text) for text in _texts(table, name, column).to_pylist()]
    elif pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        numbers = [float("nan") if value is None else float(value) for value in values.to_pylist()]
    else:
        raise ValueError(f"{name}: column {column}: found type {values.type}, expected numbers")
    for row, number in enumerate(numbers):
        if not math.isfinite(number):
            raise ValueError(
                f"{name}: {column} of row {row} is {values[row]}, expected a finite number"
            )
    return np.array(numbers, np.float64)


def _number(text: str) -> float:
    """A decimal number, by the program's rules; anything else is NaN, and so is 1e-400, whose
    nearest float is 0.
    """
    decimal = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text.strip(), re.ASCII)
    if decimal is None or (float(decimal[0]) == 0 and re.search("[1-9]", decimal[1])):
        return float("nan")
    return float(decimal[0])


def _end_by_id(table: pa.Table, name: str, end: str, ids: list[str]) -> npt.NDArray[np.int32]:
    """The node indices of one end of the edges, from ids."""
    wanted = _texts(table, name, end)
    found = pc.index_in(wanted, value_set=pa.array(ids, pa.string()))
    if found.null_count:
        row = int(np.argmin(found.is_valid().to_numpy()))
        raise ValueError(
            f"{name}: {end} of edge {row} is {wanted[row]}, expected one of {len(ids):,} ids"
        )
    indices: npt.NDArray[np.int32] = whole(found, np.int32)
    return indices


def edges_by_index(table: pa.Table, name: str, sources: int, targets: int) -> npt.NDArray[np.int32]:
    """The node indices of both ends of the edges, as stored, below the numbers of nodes."""
    ends = ("src", sources), ("dst", targets)
    return np.stack([_end_by_index(table, name, end, nodes) for end, nodes in ends])


def _end_by_index(table: pa.Table, name: str, end: str, nodes: int) -> npt.NDArray[np.int32]:
    values = _column(table, name, f"{end}_index")
    if _is_text(values.type):
        values = pc.utf8_trim_whitespace(_texts(table, name, f"{end}_index")).cast(pa.int64())
    elif not pa.types.is_integer(values.type):
        raise ValueError(f"{name}: column {end}_index: found type {values.type}, expected integers")
    if values.null_count:
        missing = int(np.argmin(values.is_valid().to_numpy()))
        raise ValueError(f"{name}: {end}_index of edge {missing} is missing, expected an integer")
    indices = whole(values, number_type(values.type))
    if len(indices) and not 0 <= indices.min() <= indices.max() < nodes:
        raise ValueError(
            f"{name}: {end} indices from {indices.min()} to {indices.max()}, expected below "
            f"{nodes:,}"
        )
    return indices.astype(np.int32)
