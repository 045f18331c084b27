"""Columns of tables of Python by type: what is no number never becomes one, nor a name."""

from __future__ import annotations

import datetime
import logging
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import tcbuild as reader

pd = pytest.importorskip("pandas")

GENES = ["YAL001C", "YAL002W", "YAL003W"]
DAYS = [datetime.datetime(2024, month, 1) for month in (1, 2, 3)]
LENGTHS = [datetime.timedelta(days) for days in (1, 2, 3)]
PERIODS = pd.Series(pd.period_range("2024-01", periods=3, freq="M"))
INTERVALS = pd.Series(pd.interval_range(0, 3))


def opaque(stored: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(pa.opaque(stored.type, "own", "own"), stored)


# By name, of which none is a number or a text.
NEITHER = {
    "period": PERIODS,
    "period category": PERIODS.astype("category"),
    "interval": INTERVALS,
    "interval category": INTERVALS.astype("category"),
    "datetime": pd.Series(DAYS),
    "datetime category": pd.Series(DAYS).astype("category"),
    "time zone": pd.Series(DAYS).dt.tz_localize("UTC"),
    "dates": pd.Series([day.date() for day in DAYS], dtype=object),
    "duration": pd.Series(LENGTHS),
    "arrow datetime": pa.array(DAYS),
    "arrow date": pa.array(DAYS, pa.date32()),
    "arrow duration": pa.array(LENGTHS),
    "arrow time": pa.array([1, 2, 3], pa.time32("s")),
    "arrow words of datetimes": pa.array(DAYS).dictionary_encode(),
    "extension of numbers": opaque(pa.array([1, 2, 3])),
    "extension of texts": opaque(pa.array(GENES)),
    "list of extensions": pa.ListArray.from_arrays([0, 1, 2, 3], opaque(pa.array(GENES))),
    "struct": pa.array([{"gene": gene} for gene in GENES]),
}


@pytest.fixture(scope="module")
def graph(tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    (folder / "nodes").mkdir()
    (folder / "nodes/gene.tsv").write_text("\n".join(["id", *GENES, "1", "2", "3"]) + "\n")
    return folder


def table(**columns):
    """A frame, or of arrays of Arrow a table."""
    of_arrow = any(isinstance(column, pa.Array) for column in columns.values())
    return pa.table(columns) if of_arrow else pd.DataFrame(columns)


def test_as_values_they_are_left_out(graph, tmp_path, caplog):
    for form in (pd.Series, pa.Array):
        columns = {name: value for name, value in NEITHER.items() if isinstance(value, form)}
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="tcbuild"):
            samples = table(genes=GENES, fitness=[0.1, 0.2, 0.3], **columns)
            dataset = reader.build(graph, samples, tmp_path / form.__name__)
        assert (dataset.phenotype_names, dataset.attribute_names) == (["fitness"], [])
        said = "\n".join(record.getMessage() for record in caplog.records)
        assert not [name for name in columns if name not in said]


@pytest.mark.parametrize("role", ["genes", "kinds", "sample_id"])
@pytest.mark.parametrize("name", NEITHER)
def test_as_names_they_are_errors(graph, tmp_path, name, role):
    samples = table(**{"genes": GENES, "fitness": [0.1, 0.2, 0.3], role: NEITHER[name]})
    with pytest.raises(reader.errors.InputError, match=rf'"{role}".* type [a-z]'):
        reader.build(graph, samples, tmp_path / "dataset")
    assert not (tmp_path / "dataset").exists()


@pytest.mark.parametrize("kind", ["int64", "float32", "Int64", "category"])
def test_numbers_are_no_genes(graph, tmp_path, kind):
    genes = pd.Series([1, 2, 3]).astype(kind)
    with pytest.raises(reader.errors.InputError, match=r"type number\nhint: .*astype\(str\)"):
        reader.build(graph, pd.DataFrame({"genes": genes, "fitness": 0.5}), tmp_path / "dataset")
    frame = pd.DataFrame({"genes": genes.astype("Int64").astype(str), "fitness": 0.5})
    dataset = reader.build(graph, frame, tmp_path / "dataset")
    assert [sample.deleted_genes for sample in dataset] == [["1"], ["2"], ["3"]]


@pytest.mark.parametrize("bits", [32, 64, 128, 256])
def test_decimals_are_numbers(graph, tmp_path, bits):
    make = getattr(pa, f"decimal{bits}", None)
    if make is None:
        pytest.skip(f"pyarrow {pa.__version__} has no decimal{bits}")
    scores = pa.array([Decimal("1.25"), None, Decimal("-3")], make(5, 2))
    dataset = reader.build(graph, table(genes=GENES, score=scores), tmp_path / "dataset")
    np.testing.assert_array_equal(dataset.phenotype("score"), [1.25, np.nan, -3])


@pytest.mark.parametrize(
    "index",
    [
        ["x", "y", "z"],
        pd.Index(["x", "y", "z"], dtype="string"),
        pd.CategoricalIndex(["x", "y", "z"]),
        pd.DatetimeIndex(DAYS),
        pd.MultiIndex.from_product([["x", "y", "z"], [1]]),
        pd.MultiIndex.from_product([["x", "y", "z"], [1]], names=["strain", None]),
        ["x", 2, 3],
    ],
)
def test_names_in_an_index_without_a_name_are_an_error(graph, tmp_path, index):
    frame = pd.DataFrame({"genes": GENES, "fitness": [0.1, 0.2, 0.3]}).set_axis(index)
    with pytest.raises(reader.errors.InputError, match=r"index .*\nhint: .*reset_index.*id_column"):
        reader.build(graph, frame, tmp_path / "dataset")


@pytest.mark.parametrize("index", [[5, 3, 9], [0.5, 1.5, np.nan], [True, False, True]])
def test_numbers_in_an_index_without_a_name_are_left_out(graph, tmp_path, index):
    frame = pd.DataFrame({"genes": GENES, "fitness": [0.1, 0.2, 0.3]}).set_axis(index)
    dataset = reader.build(graph, frame, tmp_path / "dataset")
    assert [sample.id for sample in dataset] == ["0", "1", "2"]
    assert (dataset.phenotype_names, dataset.attribute_names) == (["fitness"], [])
    named = frame.set_axis(["x", "y", "z"]).reset_index()
    dataset = reader.build(graph, named, tmp_path / "named", id_column="index")
    assert [sample.id for sample in dataset] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("column", "values", "found"),
    [
        ("genes", [GENES[0], DAYS[1], GENES[2]], r'"2024-02-01 00:00:00" \(a date, as Excel'),
        ("other", [GENES[0], DAYS[1], None], r'"2024-02-01 00:00:00" \(a date, as Excel'),
        ("fitness", [1.5, "ND", 2], r"'ND', expected numbers\nhint: .*na_values=\['ND'\]"),
        ("fitness", [3, "ND", None], r"'ND', expected numbers\nhint: .*na_values=\['ND'\]"),
        ("strain", ["x1", 7, "x2"], r"7, expected texts\nhint: .*dtype={'strain': str}"),
        ("day", [DAYS[0], "?", DAYS[1]], r"'\?', expected times\nhint: correct"),
        ("day", pd.Series(["x", DAYS[1], "x"], dtype="category"), r'"2024-02-01 00:00:00"'),
    ],
)
@pytest.mark.parametrize("index", [[0, 1, 2], [4, 27, 5], [0, 0, 0]])
def test_columns_of_two_types_are_errors_of_a_row(tmp_path, graph, column, values, found, index):
    frame = pd.DataFrame({"genes": GENES, "fitness": [0.1, 0.2, 0.3]} | {column: values})
    where = "row 1" if index[1] == 1 else f"row 1 (index {index[1]})"
    with pytest.raises(reader.errors.InputError, match=f": column '{column}': found {found}") as e:
        reader.build(graph, frame.set_axis(index), tmp_path / "d", genes_columns=["genes"])
    assert e.value.message.startswith(f"read samples (DataFrame) {where}: column ")


def test_numbers_that_do_not_fit_are_an_error(tmp_path, graph):
    frame = pd.DataFrame({"genes": GENES, "fitness": [2**80, 1, 2]})
    with pytest.raises(reader.errors.InputError, match="too large"):
        reader.build(graph, frame, tmp_path / "d")


@pytest.mark.parametrize("index", [[0, 1, 2], [4, 5, 27], ["x", "y", "z"]])
def test_errors_of_the_program_have_the_label_of_a_row(tmp_path, graph, index):
    frame = pd.DataFrame({"genes": [*GENES[:2], "YAL999C"], "fitness": [0.1, 0.2, 0.3]})
    frame.index = pd.Index(index, name="plate" if index[0] == "x" else None)
    where = "row 2" if index[2] == 2 else f"row 2 (index {index[2]})"
    with pytest.raises(reader.errors.InputError) as error:
        reader.build(graph, frame, tmp_path / "d", id_column="plate" if index[0] == "x" else None)
    assert f'samples (DataFrame) {where}: gene "YAL999C"' in str(error.value)
    rows = pa.table({"genes": frame["genes"].tolist(), "fitness": [0.1, 0.2, 0.3]})
    with pytest.raises(reader.errors.InputError, match=r"\(Table\) row 2: gene"):
        reader.build(graph, rows, tmp_path / "d")
