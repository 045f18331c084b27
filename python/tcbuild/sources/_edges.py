"""Edges of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from tcbuild._graph.graph import ends_of
from tcbuild.errors import InputError
from tcbuild.sources._account import AMBIGUOUS, FILTERED, NO_NODE, PAIR_AGAIN, UNKNOWN
from tcbuild.sources._files import Source, columns_of, is_true, read
from tcbuild.sources._genes import Column, as_text, check_names
from tcbuild.sources._graph import Graph

Relation = str | tuple[str, str, str]


def add_edges(
    graph: Graph,
    relation: Relation,
    source: Source,
    *,
    src: Column,
    dst: Column,
    undirected: bool,
    weight: Column | None = None,
    keep: Sequence[Column] = (),
    where: pl.Expr | None = None,
    max_dropped: float = 0.5,
) -> None:
    """Adds the rows of a table as edges, in their order.

    Args:
        graph: with the nodes
        relation: between genes, or (source type, relation, target type)
        source: a path or a table
        src: the column of sources: any names of genes, ids of other nodes
        dst: the column of targets
        undirected: whether a-b and b-a are one edge; otherwise every row is an edge
        weight: a column of numbers
        keep: further columns
        where: which rows are edges; a missing value is not true
        max_dropped: the largest share of rows to drop for unknown or ambiguous names

    Examples:
        >>> tcbuild.sources.add_edges(
        ...     graph, "physical", "ends.csv", src="a", dst="b", undirected=True
        ... )
    """
    kind = ("gene", relation, "gene") if isinstance(relation, str) else relation
    made = "__".join(kind)
    if kind in graph:
        raise InputError(f"add edges {made}: the graph has them", "give them another relation")
    table = read(source)
    chosen = is_true(table, made, where)
    rows = table.filter(chosen)
    columns = columns_of(rows, made, *([] if weight is None else [weight]), *keep)
    if weight is not None:
        if not (numbers := columns.to_series(0)).dtype.is_numeric():
            raise InputError(
                f"read {made}: column {numbers.name} is {numbers.dtype}, expected numbers",
                "read the table with numbers=[...], or cast the column",
            )
        columns = columns.with_columns(numbers.cast(pl.Float64).fill_null(float("nan")))
    ends = as_text(src).alias("src"), as_text(dst).alias("dst")
    edges = columns_of(rows, made, *ends)
    for names in edges:
        check_names(names, f"read {made}, {names.name}", chosen)
    found, dropped, unknown = _resolved(graph, made, edges.hstack(columns))
    dropped[FILTERED] = len(table) - len(rows)
    if undirected:
        pairs = found.select(a=pl.min_horizontal("src", "dst"), b=pl.max_horizontal("src", "dst"))
        first = pairs.to_struct().is_first_distinct()
        dropped[PAIR_AGAIN] = int(len(found) - first.sum())
        found = found.filter(first)
    graph.account.add(made, len(table), dropped, unknown, max_dropped)
    graph[kind] = found.with_columns(
        graph[end]["id"].gather(found[column]).alias(column) for column, end in _ends(made)
    )


def _ends(made: str) -> list[tuple[str, str]]:
    return [*zip(("src", "dst"), ends_of(made), strict=True)]


def _resolved(
    graph: Graph, made: str, edges: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, int], Counter[str]]:
    """The edges between nodes of the graph, with the rows of these; how many others are dropped, by
    reason; and how often edges have each unknown name.
    """
    found, unknown = edges, Counter[str]()
    is_ambiguous = pl.repeat(False, len(edges), eager=True)
    for column, kind in _ends(made):
        names = edges[column]
        meant, ambiguous = graph._rows(kind, names.unique())
        rows = names.replace_strict(meant, default=None, return_dtype=pl.UInt32)
        found = found.with_columns(rows)
        is_ambiguous |= names.is_in(ambiguous)
        unknown.update(dict(names.filter(rows.is_null()).value_counts().iter_rows()))
    lost = found["src"].is_null() | found["dst"].is_null()
    why = UNKNOWN if ends_of(made) == ("gene", "gene") else NO_NODE
    several = int((lost & is_ambiguous).sum())
    return found.filter(~lost), {why: int(lost.sum()) - several, AMBIGUOUS: several}, unknown
