"""Genes, and what their names mean."""

from __future__ import annotations

import os
from collections.abc import Sequence

import polars as pl

from tcbuild._graph.names import MISSING, is_date, owners_of_names
from tcbuild.errors import InputError
from tcbuild.sources._account import FILTERED
from tcbuild.sources._files import Source, columns_of, is_true, read, table
from tcbuild.sources._graph import Graph

Column = str | pl.Expr

_SGD = (
    "sgd_id feature_type qualifier feature_name standard_name aliases parent other_sgd_ids "
    "chromosome start stop strand position coordinate_version sequence_version description"
).split()


def sgd_features(file: str | os.PathLike[str]) -> pl.DataFrame:
    """Reads the features of the Saccharomyces Genome Database.

    Args:
        file: SGD_features.tab; also compressed

    Examples:
        >>> features = tcbuild.sources.sgd_features("features.tab")
    """
    return table(file, columns=_SGD)


def genes(
    source: Source,
    id: Column,
    *,
    name: Column | None = None,
    aliases: Sequence[Column] = (),
    where: pl.Expr | None = None,
    ignore_case: bool = False,
) -> Graph:
    """Starts a graph with the genes of a table, sorted by id.

    Args:
        source: a path or a table, with a row per gene
        id: the column of ids
        name: the column of the usual names
        aliases: columns of further names, in order of precedence; | joins several in a field
        where: which rows are in the graph; others only give names of genes outside it
        ignore_case: whether names that differ only in case mean one gene, as in yeast

    Examples:
        >>> graph = tcbuild.sources.genes("genes.tsv", "id", aliases=["symbol"])
    """
    found = read(source)
    chosen = is_true(found, "genes", where)
    ids = columns_of(found.filter(chosen), "genes", as_text(id)).to_series()
    check_names(ids, f"read genes, {ids.name}", chosen)
    if dates := [text for text in ids if is_date(text)]:
        raise InputError(
            f"read genes: found {dates[0]!r}, a date, as Excel makes of names such as SEP7",
            "write the gene's name again",
        )
    if len(again := ids.filter(ids.is_duplicated())):
        raise InputError(f"read genes: found {again[0]!r} twice", "remove one of the rows")
    graph = Graph(ids.sort(), ignore_case)
    graph.account.add("gene", len(found), {FILTERED: len(found) - len(ids)})
    if name is not None or aliases or len(ids) < len(found):
        add_names(graph, found, id, name=name, aliases=aliases)
    return graph


def add_names(
    graph: Graph,
    source: Source,
    id: Column,
    *,
    name: Column | None = None,
    aliases: Sequence[Column] = (),
) -> None:
    """Adds names of genes. Known names keep their meaning; new names of several genes match none.

    Args:
        graph: with the genes
        source: a path or a table
        id: the column of ids, or of other known names
        name: as of genes
        aliases: as of genes

    Examples:
        >>> tcbuild.sources.add_names(graph, "uniprot.tsv", "gene", aliases=["accession"])
    """
    given = [id, *([] if name is None else [name]), *aliases]
    exprs = (as_text(column).alias(str(k)) for k, column in enumerate(given))
    rows = columns_of(read(source), "names of genes", *exprs)
    ids, called, further = (graph.names[column].to_list() for column in graph.names.columns)
    known = owners_of_names([[[x] for x in ids], [[x] if x else [] for x in called], further])
    new = [dict[int, list[str]]() for _ in given[1:]]  # by column and gene
    inside, dropped = {*graph["gene"]["id"]}, {_WITHOUT: 0, _OUTSIDE: 0}
    for gene, *fields in rows.iter_rows():
        if gene is None or gene in MISSING:
            dropped[_WITHOUT] += 1
            continue
        if gene not in known:
            known[gene] = [len(ids)]
            for column, empty in ((ids, gene), (called, ""), (further, [])):
                column.append(empty)
        dropped[_OUTSIDE] += not any(ids[owner] in inside for owner in known[gene])
        for names, field in zip(new, fields, strict=True):
            for owner in known[gene]:
                names.setdefault(owner, []).extend(_names_in(field))
    owners = owners_of_names([[names.get(k, []) for k in range(len(ids))] for names in new])
    owners = {text: genes for text, genes in owners.items() if text not in known}
    if name is not None:
        first = {k: next((x for x in new[0][k] if k in owners.get(x, ())), "") for k in new[0]}
        for k, text in first.items():
            if text and not called[k] and all(first[other] == text for other in owners[text]):
                called[k] = text
    for names in new:
        for k, texts in names.items():
            own = [x for x in texts if k in owners.get(x, ())]
            further[k] = [x for x in dict.fromkeys(further[k] + own) if x != called[k]]
    graph.names = pl.DataFrame([ids, called, further], graph.names.schema)
    made = "names"
    while made in graph.account:
        made += "'"
    graph.account.add(made, len(rows), dropped)


_WITHOUT, _OUTSIDE = "without an id", "of genes outside the graph"


def as_text(column: Column) -> pl.Expr:
    """A column, or what is computed of columns, as text."""
    return (pl.col(column) if isinstance(column, str) else column).cast(pl.String)


def _names_in(field: str | None) -> list[str]:
    """The names in a field, but for dates that Excel made of names. HGNC quotes several names."""
    if field is None or field in MISSING:
        return []
    if len(field) > 1 and field[0] == field[-1] == '"' and "|" in field:
        field = field[1:-1]
    texts = [text.strip() for text in field.split("|")]
    return [text for text in texts if text and not is_date(text)]


def check_names(names: pl.Series, doing: str, chosen: pl.Series) -> None:
    """An error for a text that cannot be one name. chosen are the rows that have these names."""
    wrong = (names.is_null() | names.str.contains(_NO_NAME)).arg_true()
    if len(wrong):
        raise InputError(
            f"{doing}: row {chosen.arg_true()[wrong[0]] + 1}: found {names[wrong[0]]!r}, expected "
            "one name, without spaces or quotes around it",
            "drop the row with where, or clean the column: .str.strip_chars(), .str.split(...); "
            "of a quoted file, table(..., quote='\"')",
        )


_NO_NAME = r"""^$|^\s|\s$|^"|\||\p{Cc}"""
