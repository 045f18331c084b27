"""Text tables and matrices as polars tables."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Sequence
from typing import IO, Any, cast

import numpy as np
import polars as pl

from tcbuild.errors import InputError

Source = Any  # a path, an open file, or a table of polars, pandas or pyarrow

# Texts that mean a missing number or name, as in pandas.read_csv.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)


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
        message = " ".join(str(error).partition("\n\n")[0].split())
        hint = f"columns are {', '.join(table.columns)}; text becomes numbers with numbers=[...]"
        raise InputError(f"read {made}: {message:.300}", f"{hint:.500}") from error


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
    comment: str | None = None,
    skip: int = 0,
) -> pl.DataFrame:
    """Reads a text table, also compressed by gzip or Zstandard. Columns are text, as written.

    Args:
        file: a path, or a file opened in binary mode, such as a member of a zip file
        columns: the names of all columns, for a file without a header
        numbers: columns of numbers; what pandas takes for missing is null
        only: columns to read beside numbers, where a file has many
        separator: between fields; without one, a comma in .csv and a tab elsewhere
        quote: around fields; without one, none, or \" where commas separate
        comment: how lines begin that are no rows
        skip: lines before the header

    Raises:
        InputError: the file is no such table

    Examples:
        >>> links = tcbuild.sources.table("links.txt", separator=" ", numbers=["score"])
    """
    chosen = None if only is None else [*only, *numbers]
    found = read_csv(file, separator, quote, columns is None, skip, comment, chosen)
    if columns is not None:
        if found.width != len(columns):
            raise InputError(
                f"read {file}: found {found.width} columns, expected {len(columns)}",
                "name every column in columns; separator is what stands between fields",
            )
        found.columns = list(columns)
    return _with_numbers(found, numbers, str(file))


def matrix(
    file: str | os.PathLike[str],
    *,
    separator: str | None = None,
    quote: str | None = None,
    skip: int = 0,
    ignore: Sequence[str] = (),
) -> pl.DataFrame:
    """Reads a matrix of genes: a table of its cells, with the columns row, column and weight.

    Args:
        file: a path. The header may leave out the name of the first column
        separator: as of table
        quote: as of table
        skip: as of table
        ignore: columns that are no genes, such as descriptions; those without a name are ignored

    Examples:
        >>> cells = tcbuild.sources.matrix("regulation.tsv")
    """
    wide = read_csv(file, separator, quote, False, skip + 1)
    with open_text(file) as lines:
        head = [next(lines) for _ in range(skip + 1)][-1:]
    delimiter, quotes = _dialect(file, separator, quote)
    names = next(csv.reader(head, delimiter=delimiter, quotechar=quotes))
    if len(names) == wide.width - 1:
        names.insert(0, "")
    named = [name for name in names[1:] if name]
    if len(names) != wide.width or len({*named}) < len(named):
        raise InputError(
            f"read {file}: found {len(names)} names over {wide.width} columns, expected one of "
            "each, without repeats",
            "check separator and skip",
        )
    genes = [k for k, name in enumerate(names) if k and name and name not in ignore]
    cells = wide.select(pl.nth(k).alias(names[k]) for k in genes)
    listed, named = wide.to_series(0), cells.columns
    del wide  # such matrices are large
    weights = _with_numbers(cells, named, str(file)).to_numpy().reshape(-1)
    rows = np.repeat(np.arange(len(listed), dtype=np.uint32), len(named))
    columns = np.tile(np.arange(len(named), dtype=np.uint32), len(listed))
    del cells
    return pl.DataFrame(
        {
            "row": listed.gather(rows),
            "column": pl.Series(named, dtype=pl.String).gather(columns),
            "weight": pl.Series(weights, dtype=pl.Float64, nan_to_null=True),
        }
    )


def with_lines(
    table: pl.DataFrame, columns: Sequence[str], file: str | os.PathLike[str], first: int = 1
) -> pl.DataFrame:
    """Replaces the numbers of lines of a list by the lines.

    Args:
        table: of polars
        columns: those that have numbers
        file: the list, with a gene per line
        first: the number of its first line

    Examples:
        >>> pairs = pl.DataFrame({"a": [1, 2], "b": [2, 3]})
        >>> pairs = tcbuild.sources.with_lines(pairs, ["a", "b"], "list.txt")
    """
    lines = read_csv(file, header=False).to_series(0)
    for column in columns:
        rows = table[column].cast(pl.Int64, strict=False) - first
        wrong = rows.is_null() | ~rows.is_between(0, len(lines) - 1)
        if len(bad := wrong.arg_true()):
            raise InputError(
                f"read row {bad[0] + 1}, column {column}: found {table[column][bad[0]]!r}, "
                f"expected a line of {file}, {first} to {len(lines) - 1 + first}",
                "check that the list belongs to the table, and the number of its first line",
            )
        table = table.with_columns(lines.gather(rows).alias(column))
    return table


def read_csv(
    file: Any,
    separator: str | None = None,
    quote: str | None = None,
    header: bool = True,
    skip: int = 0,
    comment: str | None = None,
    only: Sequence[str] | None = None,
) -> pl.DataFrame:
    """A text table whose columns are all text."""
    separator, quote = _dialect(file, separator, quote)
    options: dict[str, Any] = {"comment_prefix": comment, "infer_schema": False}
    options |= {"quote_char": quote, "has_header": header, "skip_rows": skip}
    try:
        found = pl.read_csv(file, columns=only, separator=separator, **options)
        if quote is None and any(column.null_count() for column in found):
            _refuse_short_rows(file, separator, options)
        return found
    except (pl.exceptions.PolarsError, UnicodeDecodeError, OSError) as error:
        message = " ".join(str(error).partition("\n\n")[0].split())
        hint = "check the path, that it is a text table, and separator, comment, skip and columns"
        raise InputError(f"read {file}: {message:.300}", hint) from error


def _refuse_short_rows(file: Any, separator: str, options: dict[str, Any]) -> None:
    """An error for a row with fewer fields than others. polars fills it up with nulls, which would
    look like missing values in a file that was cut off.
    """
    if hasattr(file, "seek"):
        file.seek(0)
    lines = pl.read_csv(file, separator="\0", **options | {"has_header": False}).to_series(0)
    fields = lines.str.count_matches(separator, literal=True) + 1
    if len(short := (fields < fields.max()).arg_true()):
        raise InputError(
            f"read {file}: row {short[0] + (not options['has_header'])}: found {fields[short[0]]} "
            f"fields, expected {fields.max()!r}",
            "download or save the file again; rows count from 1, without header and comments",
        )


def _dialect(file: Any, separator: str | None, quote: str | None) -> tuple[str, str | None]:
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
