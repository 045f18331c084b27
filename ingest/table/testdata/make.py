"""Writes the files of one small table with every kind of column: python make.py (needs pyarrow and openpyxl)."""

import datetime
import itertools
import pathlib
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont


def table(text=pa.string(), item=pa.string()):
    return pa.table(
        {
            "int": pa.array([1, None, -3, 4], pa.int16()),
            "uint": pa.array([255, None, 0, 7], pa.uint8()),
            "float": pa.array([-1.5, None, float("nan"), 0], pa.float32()),
            "double": pa.array([0.25, None, float("inf"), 1e-300], pa.float64()),
            "bool": pa.array([True, None, False, True]),
            "text": pa.array(["é", None, "", "plain"], text),
            "binary": pa.array([b"a", None, b"bc", b""], pa.binary()),
            "dictionary": pa.array(["x", None, "y", "x"]).dictionary_encode(),
            "list": pa.array([["a", "b"], None, [], ["", "c", None]], pa.list_(item)),
            "date": pa.array([datetime.date(2026, 1, 1)] * 4),
            "null": pa.nulls(4),
        }
    )


def numbers():
    """Numbers in the types that few writers use."""
    return pa.table(
        {
            "half": pa.array([1.5, None, -0.25, 6e-8], pa.float16()),
            "price": pa.array(
                [Decimal("1.50"), None, Decimal("-0.07"), Decimal("12345.67")], pa.decimal128(7, 2)
            ),
            "large": pa.array(
                [Decimal("9007199254740992"), None, Decimal("-9007199254740993"), Decimal(0)],
                pa.decimal128(38, 0),
            ),
            "wide": pa.array(
                [Decimal("0.1"), None, Decimal("-1e-20"), Decimal("3")], pa.decimal256(60, 30)
            ),
            "coded int": pa.array([7, None, -9, 7], pa.int32()).dictionary_encode(),
            "coded float": pa.array([0.5, None, float("nan"), 0.5]).dictionary_encode(),
        }
    )


def seeds():
    """Files of one column each, as seeds for the fuzzers: every type, page layout and codec."""
    arrow, parquet = (
        pathlib.Path(f"../{name}/testdata/seeds") for name in ("arrowfile", "parquetfile")
    )
    for folder in (arrow, parquet):
        folder.mkdir(parents=True, exist_ok=True)
    layouts = itertools.cycle(
        [
            {"compression": "none", "use_dictionary": False},
            {"compression": "snappy"},
            {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 2},
            {"compression": "gzip", "use_dictionary": False},
        ]
    )
    for whole in (table(), numbers()):
        for name in whole.column_names:
            pq.write_table(
                whole.select([name]),
                parquet / f"{name.replace(' ', '-')}.parquet",
                write_statistics=False,
                **next(layouts),
            )
    for name, column, layout in (
        ("zstd", "text", {"compression": "zstd"}),
        ("lz4", "dictionary", {"compression": "lz4"}),
        ("batches", "list", {"compression": "uncompressed", "chunksize": 3}),
        ("plain", "bool", {"compression": "uncompressed"}),
    ):
        feather.write_feather(table().select([column]), arrow / f"{name}.arrow", **layout)
    feather.write_feather(
        table(pa.string_view()).select(["text"]), arrow / "view.arrow", compression="uncompressed"
    )
    feather.write_feather(
        numbers().select(["price"]), arrow / "price.arrow", compression="uncompressed"
    )


seeds()
pq.write_table(numbers(), "numbers.parquet")
pq.write_table(
    numbers(), "numbers-integers.parquet", use_dictionary=False, store_decimal_as_integer=True
)
feather.write_feather(numbers(), "numbers.arrow", compression="uncompressed")
pq.write_table(table(), "types-plain.parquet", use_dictionary=False, compression="none")
pq.write_table(table(), "types-snappy.parquet", compression="snappy")
pq.write_table(
    table(), "types-groups.parquet", compression="zstd", row_group_size=1, data_page_version="2.0"
)
pq.write_table(table(), "types-gzip.parquet", compression="gzip")
pq.write_table(
    table(), "delta.parquet", use_dictionary=False, column_encoding={"int": "DELTA_BINARY_PACKED"}
)
pq.write_table(
    table().select(["int", "text", "list"]),
    "checksums.parquet",
    compression={"int": "none", "text": "snappy", "list": "none"},
    use_dictionary=["text"],
    write_page_checksum=True,
)
pq.write_table(
    table().select(["int", "text", "list"]),
    "checksums-v2.parquet",
    compression={"int": "none", "text": "none", "list": "zstd"},
    data_page_version="2.0",
    write_page_checksum=True,
)
# Of a gzip page, the codec has a checksum; of version 2, not of its levels.
for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
    for version in ("1.0", "2.0"):
        pq.write_table(
            pa.concat_tables([table().select(["int", "uint", "double", "text", "list"])] * 12),
            f"codec-{codec}-v{version[0]}.parquet",
            compression=codec,
            use_dictionary=["text"],
            data_page_version=version,
            write_page_checksum=(codec, version) != ("gzip", "1.0"),
            store_schema=False,
            write_statistics=False,
        )
feather.write_feather(table(), "types-plain.arrow", compression="uncompressed")
feather.write_feather(table(), "types-batches.arrow", compression="uncompressed", chunksize=1)
feather.write_feather(table(), "types-lz4.arrow", compression="lz4")
feather.write_feather(
    table(pa.large_string(), pa.large_string()), "types-zstd-large.arrow", compression="zstd"
)
feather.write_feather(table(pa.string_view()), "types-view.arrow", compression="uncompressed")
durations = pa.table(
    {unit: pa.array([n, None], pa.duration(unit)) for n, unit in ((7, "s"), (0, "ms"), (1, "us"))}
    | {"ns": pa.array([-7, 7], pa.duration("ns")), "int": [1, 2]}
)
pq.write_table(durations, "durations.parquet")
feather.write_feather(durations, "durations.arrow", compression="uncompressed")
pq.write_table(pa.table({"s": [{"a": 1}] * 3}), "struct.parquet")


def workbook():
    """A workbook as people have it, written by openpyxl."""
    book = openpyxl.Workbook()
    book.active.title = "old"
    book.active.sheet_state = "hidden"
    book.active.append(["nothing"])
    sheet = book.create_sheet("SGA")
    sheet.append(["Query", "Array", "score", "date", "sick", None])
    italic = TextBlock(InlineFont(i=True), "YAL")
    sheet.append(["YAL001C", CellRichText(italic, "002W"), 0.1, datetime.date(2024, 9, 7), True])
    sheet.append(["MARCH1", 'say "a"\tb', 1e-300, datetime.datetime(2024, 9, 7, 13, 5, 1), False])
    sheet.append([datetime.date(1900, 2, 28), 8454, 123456789012, datetime.time(13, 5), None])
    sheet.append([" é_x000D_\n", "#N/A", -5, datetime.timedelta(hours=30), None])
    sheet["C3"].number_format = "0.00"
    sheet["C4"].number_format = '0.00 "days"'
    sheet["C5"].number_format = "[Red]0"
    sheet["D9"].number_format = "0"
    book.create_sheet("notes").append(["a", "b"])
    return book


workbook().save("workbook.xlsx")
