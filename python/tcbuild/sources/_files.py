"""Text tables and matrices as polars tables."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Sequence
from typing import IO, Any, cast

import polars as pl

from tcbuild._graph.names import MISSING
from tcbuild.errors import InputError

Source = Any  # a path, an open file, or a table of polars, pandas or pyarrow


def read(source: Source) -> pl.DataFrame:
    """A table of polars, pandas or pyarrow as one of polars, or the table in a file."""
    if isinstance(source, pl.DataFrame):
        return source
    if hasattr(source, "columns") or hasattr(source, "schema"):
        return pl.DataFrame(source.collect() if isinstance(source, pl.LazyFrame) else source)
    return table(source)


def columns_of(table: pl.DataFrame, made: str, *columns: pl.Expr | str) -> pl.DataFrame:
    """Columns of a table, and what is computed of them."""
    try:
        return table.select(*columns)
    except pl.exceptions.PolarsError as error:
        hint = f"columns are {', '.join(table.columns)}; text becomes numbers with numbers=[...]"
        raise InputError(f"read {made}: {first_lines(error)}", f"{hint:.500}") from error


def first_lines(error: Exception) -> str:
    """A library's message as one short line, without its advice."""
    return " ".join(str(error).partition("\n\n")[0].split())[:300]


def open_text(file: str | os.PathLike[str]) -> IO[str]:
    """Opens a text, which may be compressed by gzip."""
    opened = gzip.open if os.fspath(file).endswith(".gz") else open
    try:
        return cast(IO[str], opened(file, "rt", encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"read {file}: {error.strerror}", "check the path") from error


def is_true(table: pl.DataFrame, made: str, where: pl.Expr | None) -> pl.Series:
    """For which rows an expression is true. A missing value is not true."""
    if where is None:
        return pl.repeat(True, len(table), eager=True)
    return columns_of(table, made, where.fill_null(False)).to_series()


def table(
    file: str | os.PathLike[str] | IO[bytes],
    *,
    columns: Sequence[str] | None = None,
    numbers: Sequence[str] = (),
    only: Sequence[str] | None = None,
    separator: str | None = None,
    quote: str | None = None,
) -> pl.DataFrame:
    """Reads a text table, also compressed by gzip or Zstandard. Columns are text, as written. For
    other layouts, use polars' read_csv: all functions take its tables.

    Args:
        file: a path, or a file opened in binary mode
        columns: names of all columns, for a file without a header
        numbers: columns of numbers; what pandas reads as missing is null
        only: further columns to read (default: all)
        separator: between fields (default: a comma in .csv, otherwise a tab)
        quote: around fields (default: `"` where commas separate, otherwise none)

    Raises:
        InputError: the file is no such table

    Examples:
        >>> links = tcbuild.sources.table("links.txt", separator=" ", numbers=["score"])
    """
    chosen = None if only is None else [*only, *numbers]
    found = read_csv(file, separator, quote, has_header=columns is None, columns=chosen)
    if columns is not None:
        if found.width != len(columns):
            raise InputError(
                f"read {file}: found {found.width} columns, expected {len(columns)}",
                "name every column in columns; separator is what stands between fields",
            )
        found.columns = list(columns)
    return _with_numbers(found, numbers, str(file))


def matrix(
    file: str | os.PathLike[str], *, separator: str | None = None, skip: int = 0
) -> pl.DataFrame:
    """Reads a matrix of genes as a table with the columns row, column and weight.

    Args:
        file: a path. The header may omit the first column's name
        separator: as of table
        skip: lines before the header

    Examples:
        >>> cells = tcbuild.sources.matrix("regulation.tsv")
    """
    wide = read_csv(file, separator, has_header=False, skip_rows=skip + 1)
    with open_text(file) as lines:
        head = [next(lines) for _ in range(skip + 1)][-1:]
    names = next(csv.reader(head, delimiter=_dialect(file, separator)[0]))
    if len(names) == wide.width - 1:
        names.insert(0, "")
    genes = {name: k for k, name in enumerate(names) if k and name}
    repeats = len(genes) < sum(map(bool, names[1:]))
    if len(names) != wide.width or repeats or not genes:
        raise InputError(
            f"read {file}: found {len(names)} names over {wide.width} columns, expected one of "
            "each, without repeats",
            "check separator and skip",
        )
    cells = wide.select(pl.nth(k).alias(name) for name, k in genes.items())
    weights = pl.concat_list(pl.all()).alias("weight")
    rows = _with_numbers(cells, cells.columns, str(file)).select(weights)
    rows.insert_column(0, wide.to_series(0).alias("row"))
    rows.insert_column(1, pl.Series("column", [[*genes]]).new_from_index(0, len(rows)))
    return rows.explode("column", "weight")


def read_csv(
    file: Any, separator: str | None = None, quote: str | None = None, **options: Any
) -> pl.DataFrame:
    """A text table whose columns are all text. Options are those of polars.read_csv."""
    separator, quote = _dialect(file, separator, quote)
    options |= {"quote_char": quote, "infer_schema": False}
    try:
        found = pl.read_csv(file, separator=separator, **options)
        if quote is None and any(column.null_count() for column in found):
            _refuse_short_rows(file, separator, options)
        return found
    except (pl.exceptions.PolarsError, UnicodeDecodeError, OSError) as error:
        hint = "check the path, that it is a text table, its separator and its columns"
        raise InputError(f"read {file}: {first_lines(error)}", hint) from error


def _refuse_short_rows(file: Any, separator: str, options: dict[str, Any]) -> None:
    """An error for a row with fewer fields than others. polars fills it up with nulls, which would
    look like missing values in a file that was cut off.
    """
    if hasattr(file, "seek"):
        file.seek(0)
    lines = pl.read_csv(file, **options | {"has_header": False, "columns": None, "separator": "\0"})
    fields = lines.to_series(0).str.count_matches(separator, literal=True) + 1
    if len(short := (fields < fields.max()).arg_true()):
        raise InputError(
            f"read {file}: row {short[0] + (not options['has_header'])}: found {fields[short[0]]} "
            f"fields, expected {fields.max()!r}",
            "download or save the file again; rows count from 1, without header and comments",
        )


def _dialect(file: Any, separator: str | None, quote: str | None = None) -> tuple[str, str | None]:
    """What stands between and around fields."""
    separator = separator or ("," if ".csv" in os.path.basename(str(file)) else "\t")
    return separator, quote or ('"' if separator == "," else None)


def _with_numbers(table: pl.DataFrame, columns: Sequence[str], where: str) -> pl.DataFrame:
    """The table with finite numbers in place of the texts in these columns."""
    if absent := [column for column in columns if column not in table.columns]:
        raise InputError(
            f"read {where}: found columns {', '.join(table.columns)}, expected {absent[0]}",
            "columns names those of a file without a header",
        )
    for column in columns:
        text = table[column].str.strip_chars()
        number = text.cast(pl.Float64, strict=False).fill_nan(None)
        wrong = number.is_infinite() | number.is_null() & ~text.is_in(MISSING)
        if len(rows := wrong.fill_null(False).arg_true()):
            raise InputError(
                f"read {where}: row {rows[0] + 1}, column {column}: found {text[rows[0]]!r}, "
                "expected a finite number",
                "rows count from 1, without header and comments",
            )
        table = table.with_columns(number)
    return table
