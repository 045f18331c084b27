"""Published screens as sample tables: crosses of strains, wide tables, and texts of several genes.

`sga` and `matrix` return a table for `tcbuild.build`, and an account of the rows or cells read,
kept and dropped by reason. Names that the graph lacks stay in the table (`unknown_genes`).

Examples:
    >>> wide = pd.DataFrame({"orf": ["YAL001C", "YBL001C"], "YPD": [0.9, 1]})
    >>> table, account = tcbuild.screens.matrix(wide, "cell/graph")
    >>> table["sample_id"].tolist()
    ['YAL001C: YPD', 'YBL001C: YPD']
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tcbuild._graph.folder import names_of
from tcbuild._screens.alleles import DELETION, KINDS, Alleles, Mention
from tcbuild._screens.halves import Halves
from tcbuild._screens.rows import (
    SELF,
    SEVERAL,
    UNMEASURED,
    Account,
    Genotypes,
    account_of,
    refuse_several,
    refuse_synonyms,
    repeats,
    summary,
)
from tcbuild._screens.wide import Wide
from tcbuild._tables import as_table
from tcbuild.errors import InputError, SettingsError

__all__ = ["MARKERS", "genes", "matrix", "sga"]

MARKERS = (
    *("HO", "CAN1", "LYP1", "HIS3", "LEU2", "URA3", "MET17", "MET15", "YDL227C", "YEL063C"),
    *("YNL268W", "YOR202W", "YCL018W", "YEL021W", "YLR303W"),
)
"""Genes that markers replace in synthetic genetic arrays: HO in control queries, the others in the
parents Y7092 and BY4741 (Tong and Boone 2006).
"""

# The strains of Costanzo et al.
_OF_2016 = (("Query Strain ID", "Query allele name"), ("Array Strain ID", "Array allele name"))
_OF_2010 = (("Query ORF",), ("Array ORF",))


def sga(
    table: Any,
    graph: Any,
    *,
    strains: Sequence[Sequence[str]] | None = None,
    allele_names: str | None = None,
    markers: Collection[str] = MARKERS,
    alleles: Collection[str] | None = None,
    drop_several: bool = False,
) -> tuple[pd.DataFrame, Account]:
    """Crosses of yeast strains, as Costanzo et al. 2010 and 2016 and Kuzmin et al. 2018 publish
    them. Rows of a gene with itself, or without any number, are dropped.

    Args:
        table: of pandas, polars or pyarrow, with a row per cross
        graph: a folder, or tables by type
        strains: for each strain the column of its id (YAL001C_tsq508) and, if there is one, of its
            alleles (default: those of Costanzo et al.)
        allele_names: in their place, a column of all alleles: act1-129_hoΔ_ost3Δ
        markers: genes replaced in every strain, which count as present
        alleles: kinds that count as deletions, of deletion, damp, ts and other (default: deletion,
            and an error if that drops more than half of the rows)
        drop_several: drop rows with a name of several genes, such as YAL001C_YAL002W

    Returns:
        A table with sample_id (the row's number, unless the table has it), genes, joined by |, and
        all columns that do not name strains; and the account.

    Raises:
        InputError: a strain or its columns are wrong, a row has two names of one gene, or no row is
            kept

    Examples:
        >>> crosses = pd.DataFrame({"Query ORF": ["YAL001C"], "Array ORF": ["YBL001C"], "ε": [0.1]})
        >>> tcbuild.screens.sga(crosses, "cell/graph")[0].values.tolist()
        [['0', 'YAL001C|YBL001C', 0.1]]
    """
    chosen = (DELETION,) if alleles is None else alleles
    _check("alleles", chosen, KINDS)
    frame, reader = _frame(table).reset_index(drop=True), Alleles(names_of(graph), markers)
    columns = [(allele_names,)] if allele_names else strains or _OF_2016
    if columns is _OF_2016 and {"Query ORF", "Array ORF"} <= {*frame.columns}:
        columns = _OF_2010
    used = {name for names in columns for name in names}
    if missing := used - {*frame.columns}:
        raise InputError(
            f"read screen: found columns {[*frame.columns]}, expected {sorted(missing)}",
            "name this table's columns, such as strains=[('query', 'query allele'), ('array',)]",
        )
    read = reader.of_alleles if allele_names else reader.of_strain
    codes, strains_read = [], []
    for names in columns:
        texts = frame[[*names]]
        codes.append(texts.groupby([*names], sort=False, dropna=False).ngroup().to_numpy())
        words = texts.drop_duplicates().astype(object)
        mentions: list[list[Mention]] = []
        for row, *each in words.where(words.notna(), "").astype(str).itertuples(name=None):
            try:
                mentions.append(read(*each))
            except InputError as error:
                raise InputError(f"read screen: row {row}: {error.message}", error.hint) from None
        strains_read.append(Genotypes(mentions, chosen, "read screen"))
    why: Any = ""  # the first reason of a row's strains
    for numbers, strain in zip(codes, strains_read):
        why = np.where(why == "", strain.reasons[numbers], why)

    def mentions_of(row: np.intp) -> list[Mention]:
        return [one for n, s in zip(codes, strains_read) for one in s.mentions[n[row]]]

    for row in () if drop_several else np.flatnonzero(why == SEVERAL):
        refuse_several(mentions_of(row), f"read screen: row {row}")
    of_itself = repeats(np.hstack([s.genes[n] for n, s in zip(codes, strains_read)])) & (why == "")
    for row in np.flatnonzero(of_itself):
        refuse_synonyms(mentions_of(row), f"read screen: row {row}")
    dropped = {reason: why == reason for reason in sorted({*why} - {""})} | {SELF: of_itself}
    measured = frame.select_dtypes("number")
    if measured.shape[1]:
        dropped[UNMEASURED] = measured.isna().all(axis=1).to_numpy()
    kept, account = account_of(dropped, len(frame))
    for_alleles = sum(count for reason, count in account["dropped"].items() if "allele" in reason)
    if not len(kept) or (alleles is None and 2 * for_alleles > len(frame)):
        raise InputError(
            f"read screen: {summary(account)}; expected to lose at most half of the rows",
            "check the columns of strains and alleles, or name the kinds that count as deletions, "
            "such as alleles=['deletion', 'ts']",
        )
    result = frame.iloc[kept].drop(columns=[*used])
    if "sample_id" not in result:
        numbers = pa.array(kept).cast(pa.string()).to_pandas()
        result.insert(0, "sample_id", numbers.set_axis(result.index))
    labels = [s.labels.take(pa.array(n[kept])) for n, s in zip(codes, strains_read)]
    result.insert(1, "genes", _joined(labels).set_axis(result.index))
    return result, account


def matrix(
    table: Any,
    graph: Any,
    *,
    columns_are: str | None = None,
    triangle: str | None = None,
    partial_loss: bool = False,
    alleles: Collection[str] | None = None,
    drop_several: bool = False,
) -> tuple[pd.DataFrame, Account]:
    """A sample for each value of a wide table, genes × conditions or genes × genes. Cells without a
    value, or of a gene with itself, are dropped.

    Args:
        table: of pandas, polars or pyarrow. Its first column, or index of texts, names rows; |
            joins several genes if columns are conditions
        graph: a folder, or tables by type
        columns_are: `genes` for double mutants, or `conditions` (default)
        triangle: the measured half, `upper` (right of the gene's own column) or `lower`; or `both`,
            to keep (a, b) and (b, a). By default, the first of two equal cells is kept, and a
            triangle of a single value is an error
        partial_loss: columns named heterozygous, HIP, DAmP or hypomorph count as deletions
        alleles: kinds of allele that count as deletions, of deletion, damp, ts and other; names may
            be of yeast's strains and alleles (YAL001C_tsq508, cdc28-4)
        drop_several: drop cells with a name of several genes, such as KLRC4-KLRK1

    Returns:
        A table with sample_id (`row: column`), genes, joined by |, value and, unless columns are
        genes, condition; and the account.

    Raises:
        InputError: the matrix may mean something else than it seems to, such as columns named like
            genes or heterozygous, and no argument says so

    Examples:
        >>> half = pd.DataFrame({"orf": ["YAL001C", "YBL001C"], "YAL001C": [None, 2.0]})
        >>> table, _ = tcbuild.screens.matrix(half, "cell/graph", columns_are="genes")
        >>> table.values.tolist()
        [['YBL001C: YAL001C', 'YBL001C|YAL001C', 2.0]]
    """
    of_pairs = columns_are == "genes"
    _check("columns_are", [columns_are], (None, "genes", "conditions"))
    _check("triangle", [triangle], (None, "upper", "lower", "both") if of_pairs else (None,))
    _check("alleles", alleles or (), KINDS)
    names, wide = names_of(graph), Wide(_frame(table))
    if columns_are is None:
        wide.check_conditions(Alleles(names))
    if not partial_loss:
        wide.check_losses(of_pairs)
    reader = Alleles(names, yeast=alleles is not None)
    parts = reader.parts(wide.rows, lists=not of_pairs)
    sides = [Genotypes(parts, alleles or KINDS, "read matrix")]
    of_itself = (repeats(sides[0].genes) & (sides[0].reasons == ""))[:, None]
    for row in np.flatnonzero(of_itself):
        refuse_synonyms(parts[row], f"read matrix: row {wide.rows[row]!r}")
    if of_pairs:
        sides.append(Genotypes(reader.parts(wide.columns), alleles or KINDS, "read matrix"))
        rows, columns = (side.genes[:, 0] for side in sides)
        of_itself = (rows[:, None] == columns) & (columns >= 0)
    dropped = {SELF: of_itself}
    for axis, side in enumerate(sides):
        if not drop_several:
            refuse_several((one for each in side.mentions for one in each), "read matrix")
        for reason in {*side.reasons} - {""}:
            found = np.expand_dims(side.reasons == reason, 1 - axis)
            dropped[reason] = dropped.get(reason, np.False_) | found
    dropped[UNMEASURED] = np.isnan(wide.values)
    if of_pairs:
        gone = np.logical_or.reduce(np.broadcast_arrays(*dropped.values()))
        left = np.where(gone, np.nan, wide.values)
        halves = Halves(wide.rows, wide.columns, rows, columns, left)
        halves.check(triangle)
        if triangle in ("upper", "lower"):
            dropped["in the other triangle"] = halves.outside(triangle)
        elif triangle is None:
            dropped["equal to the value of the same pair in the other half"] = halves.equal
    flat = {why: np.broadcast_to(m, wide.values.shape).ravel() for why, m in dropped.items()}
    kept, account = account_of(flat, wide.values.size)
    if not len(kept):
        raise InputError(f"read matrix: {summary(account)}", "check that it is the right table")
    places = [pa.array(place) for place in np.divmod(kept, len(wide.columns))]
    axes = [pa.array(each).take(place) for each, place in zip((wide.rows, wide.columns), places)]
    cells: dict[str, Any] = {"sample_id": pc.binary_join_element_wise(*axes, ": ").to_pandas()}
    cells["genes"] = _joined([side.labels.take(place) for side, place in zip(sides, places)])
    cells["value"] = wide.values.ravel()[kept]
    if not of_pairs:
        cells["condition"] = axes[1].dictionary_encode().to_pandas()
    return pd.DataFrame(cells), account


def genes(column: Any, separator: str = "|", controls: Collection[str] = ()) -> list[list[str]]:
    """Lists of genes from texts such as `ctrl+CEBPE`, for the column genes of a table.

    Args:
        column: a text per sample
        separator: between names
        controls: names that delete nothing, where * stands for any text without the separator.
            Controls may contain the separator

    Raises:
        InputError: a sample has no text, or an empty name

    Examples:
        >>> tcbuild.screens.genes(["ctrl+CEBPE", "ctrl"], "+", ["ctrl"])
        [['CEBPE'], []]
    """
    any_text = f"(?:(?!{re.escape(separator)}).)*"
    globs = [any_text.join(map(re.escape, name.split("*"))) for name in controls]
    control = "|".join(sorted(globs, key=len, reverse=True)) or "(?!)"
    name = re.compile(rf"\s*(?:({control})|({any_text}))\s*({re.escape(separator)}|\Z)", re.S)
    texts, found = list(column), dict[Any, list[str]]()
    for row, text in enumerate(texts):
        if text not in found:
            if pd.isna(text) or not str(text).strip():
                raise InputError(
                    f"read genes: row {row}: found {text!r}, expected names of genes or controls",
                    "name controls by a label that you pass in controls, or leave the row out",
                )
            found[text] = _names(str(text), name)
    return [found[text] for text in texts]


def _names(text: str, name: re.Pattern[str]) -> list[str]:
    """The names in a text that are no controls."""
    names, place, more = [], 0, True
    while more:
        found = name.match(text, place)
        assert found is not None  # the rest of the text is a name
        if found[1] is None:
            names.append(found[2].strip())
        place, more = found.end(), bool(found[3])
    if "" in names:
        raise InputError(
            f"read genes: found an empty name in {text!r}", "remove the extra separator"
        )
    return names


def _frame(table: Any) -> Any:
    if not isinstance(table, pd.DataFrame):
        return as_table(table, "screen").to_pandas()
    return table.reset_index() if any(name is not None for name in table.index.names) else table


def _joined(labels: Sequence[pa.Array]) -> Any:
    joined = pc.replace_substring_regex(pc.binary_join_element_wise(*labels, "|"), r"\|+", "|")
    return pc.utf8_trim(joined, "|").to_pandas()  # of samples without genes on a side


def _check(name: str, values: Collection[Any], allowed: Sequence[Any]) -> None:
    for value in values:
        if value not in allowed:
            choice = f"choose from {', '.join(map(str, allowed))}"
            hint = choice if len(allowed) > 1 else "set columns_are='genes'"
            raise SettingsError(f"read screen: found {name} {value!r}", hint)
