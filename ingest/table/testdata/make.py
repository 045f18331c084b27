"""Writes the files of one small table with every kind of column: python make.py (needs pyarrow)."""

import datetime
import pathlib
from decimal import Decimal

import pyarrow as pa
import pyarrow.feather as feather


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
                [Decimal("1.50"), None, Decimal("-0.07"), Decimal("12345.67")],
                pa.decimal128(7, 2),
            ),
            "large": pa.array(
                [
                    Decimal("9007199254740992"),
                    None,
                    Decimal("-9007199254740993"),
                    Decimal(0),
                ],
                pa.decimal128(38, 0),
            ),
            "wide": pa.array(
                [Decimal("0.1"), None, Decimal("-1e-20"), Decimal("3")],
                pa.decimal256(60, 30),
            ),
            "coded int": pa.array([7, None, -9, 7], pa.int32()).dictionary_encode(),
            "coded float": pa.array([0.5, None, float("nan"), 0.5]).dictionary_encode(),
        }
    )


def seeds():
    """Files of one column each, as seeds for the fuzzers: every type, page layout and codec."""
    arrow = pathlib.Path("../arrowfile/testdata/seeds")
    arrow.mkdir(parents=True, exist_ok=True)
    for name, column, layout in (
        ("zstd", "text", {"compression": "zstd"}),
        ("lz4", "dictionary", {"compression": "lz4"}),
        ("batches", "list", {"compression": "uncompressed", "chunksize": 3}),
        ("plain", "bool", {"compression": "uncompressed"}),
    ):
        feather.write_feather(
            table().select([column]), arrow / f"{name}.arrow", **layout
        )
    feather.write_feather(
        table(pa.string_view()).select(["text"]),
        arrow / "view.arrow",
        compression="uncompressed",
    )
    feather.write_feather(
        numbers().select(["price"]), arrow / "price.arrow", compression="uncompressed"
    )


seeds()
feather.write_feather(numbers(), "numbers.arrow", compression="uncompressed")
feather.write_feather(table(), "types-plain.arrow", compression="uncompressed")
feather.write_feather(
    table(), "types-batches.arrow", compression="uncompressed", chunksize=1
)
feather.write_feather(table(), "types-lz4.arrow", compression="lz4")
feather.write_feather(
    table(pa.large_string(), pa.large_string()),
    "types-zstd-large.arrow",
    compression="zstd",
)
feather.write_feather(
    table(pa.string_view()), "types-view.arrow", compression="uncompressed"
)
durations = pa.table(
    {
        unit: pa.array([n, None], pa.duration(unit))
        for n, unit in ((7, "s"), (0, "ms"), (1, "us"))
    }
    | {"ns": pa.array([-7, 7], pa.duration("ns")), "int": [1, 2]}
)
feather.write_feather(durations, "durations.arrow", compression="uncompressed")
