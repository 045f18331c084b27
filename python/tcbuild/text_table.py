"""Text tables, by the program's rules: what Arrow's reader would skip or repair is an error."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.csv

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_FEED = b"\n"
_EMPTY_FIRST_LINE = re.compile(rb"\r?\n")
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_BEFORE_QUOTE = re.compile(rb"(\A|[,\n])\Z")
_AFTER_QUOTE = re.compile(rb"\r?\n|,|\Z")


def read_text_table(name: str, text: bytes, delimiter: str) -> pa.Table:
    """Makes a table from the text of a file, whose first line names the columns. Every field is
    text, as written.

    Quotes have a meaning if commas separate fields. ValueError names the wrong line.
    """
    text = text.removeprefix(_BYTE_ORDER_MARK)
    quoted = delimiter == ","
    _check(name, text, quoted)
    if not text.endswith(b"\n"):
        text += b"\n"
    parse = pa.csv.ParseOptions(
        delimiter=delimiter,
        quote_char='"' if quoted else False,
        newlines_in_values=quoted,
        ignore_empty_lines=False,
    )
    with pa.csv.open_csv(pa.BufferReader(text), parse_options=parse) as first:
        names = first.schema.names
    if "" in names or len(set(names)) < len(names):
        raise ValueError(
            f"{name}:1: found the columns {', '.join(map(repr, names))}, expected unique names, "
            "none empty"
        )
    types = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    return pa.csv.read_csv(pa.BufferReader(text), parse_options=parse, convert_options=types)


def _check(name: str, text: bytes, quoted: bool) -> None:
    """Refuses empty lines, carriage returns inside a line, and quotes in the middle of a field."""
    parts = text.split(b'"') if quoted else [text]  # every second one is within quotes
    line = 1
    for number, part in enumerate(parts):
        problem = None if number % 2 else _problem(part, number == 0, number == len(parts) - 1)
        if problem:
            raise ValueError(
                f"{name}:{line + part.count(_LINE_FEED, 0, problem[0])}: found {problem[1]}"
            )
        line += part.count(_LINE_FEED)
    if len(parts) % 2 == 0:
        raise ValueError(f"{name}: found an unclosed quote")


def _problem(part: bytes, first: bool, last: bool) -> tuple[int, str] | None:
    """Where text outside quotes is wrong, and how. It starts the file or follows a quote, and ends
    the file or precedes a quote.
    """
    if found := (_EMPTY_FIRST_LINE.match(part) if first else None) or _EMPTY_LINE.search(part):
        return found.end() - 1, "an empty line, expected a row"
    if found := _LONE_RETURN.search(part):
        return found.start(), "a carriage return within a line"
    doubled = not (part or first or last)
    if not doubled and not (
        (last or _BEFORE_QUOTE.search(part)) and (first or _AFTER_QUOTE.match(part))
    ):
        return len(
            part
        ), "a quote within a field, expected the field in quotes, and the quote inside it doubled"
    return None
