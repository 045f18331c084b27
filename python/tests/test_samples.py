"""Samples as columns and as views are those of the oracle."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pytest

import tcbuild as reader
from builds import build
from cases import SHARDS, Case
from sample_tables import with_table

VARIANTS = ["incidence", "indices-zstd", "full-masks-zstd"]


@pytest.fixture(scope="module")
def built(built_once):
    return built_once(SHARDS, "all")


@pytest.fixture(scope="module", params=VARIANTS)
def dataset(built, request):
    return reader.open(built.datasets[request.param])


@pytest.fixture(scope="module")
def want(built):
    """Columns by name, as lists."""
    columns = {name: [] for name in ("sample_id", "perturbation_indices", "genes")}
    for sample in built.want:
        for name, column in columns.items():
            column.append(sample[name])
    for kind in ("phenotypes", "attributes"):
        for name in built.want[0][kind]:
            columns[name] = [sample[kind][name] for sample in built.want]
    return columns


@pytest.fixture(scope="module")
def parted(built, tmp_path_factory):
    """A dataset of three parts with two record batches each, and a dictionary for each part."""
    rows = [
        {
            "sample_id": f"strain {number}",
            "perturbation_indices": list(range(number % 4)),
            "fitness": None if number % 5 == 0 else number / 7,
            "medium": None if number % 11 == 0 else f"medium {number // 50}",
            "temperature": None if number % 3 == 0 else 30.0,
        }
        for number in range(290)
    ]
    folder = tmp_path_factory.mktemp("parted") / "dataset"
    return reader.open(with_table(built.datasets["incidence"], folder, rows, 128, 64)), rows


def same(found, values) -> bool:
    """Whether an array of float64 or object has these values, None where missing."""
    if found.dtype == object:
        return found.tolist() == values
    numbers = [math.nan if value is None else value for value in values]
    return found.dtype == np.float64 and np.array_equal(found, numbers, equal_nan=True)


def test_columns(dataset, want):
    assert dataset.attribute_names == ["temperature", "medium"]
    for name in dataset.phenotype_names:
        assert same(dataset.phenotype(name), want[name])
    for name in dataset.attribute_names:
        assert same(dataset.attribute(name), want[name])
    assert dataset.columns == [name for name in want if name != "genes"]
    assert dataset.column("sample_id").tolist() == want["sample_id"]
    assert [row.tolist() for row in dataset.column("perturbation_indices")] == want[
        "perturbation_indices"
    ]
    assert same(dataset.column("medium"), want["medium"])
    for column in (dataset.phenotype("fitness"), dataset.attribute("medium")):
        column[:] = column[0]  # the caller owns it
    assert same(dataset.phenotype("fitness"), want["fitness"])


def test_tables(dataset, want):
    expected = [dict(zip(want, row)) for row in zip(*want.values())]
    for row in expected:
        del row["genes"]
    assert dataset.to_arrow().to_pylist() == expected
    assert dataset.to_arrow(["medium", "sample_id"]).column_names == ["medium", "sample_id"]
    assert dataset.to_arrow([]).column_names == []
    frame = pytest.importorskip("pandas") and dataset.to_pandas()
    assert list(frame) == list(expected[0]) and frame["sample_id"].tolist() == want["sample_id"]
    assert same(frame["fitness"].to_numpy(), want["fitness"])
    assert [None if word != word else word for word in frame["medium"]] == want["medium"]
    view = dataset[[7, 3, 7, 290]]
    assert view.to_arrow().to_pylist() == [expected[i] for i in (7, 3, 7, 290)]


def test_parts(parted):
    dataset, rows = parted
    chance = np.random.default_rng(3)
    for view in (
        dataset,
        dataset[100:200],
        dataset[::-1],
        dataset[::7],
        dataset[chance.permutation(290)],
        dataset[chance.integers(290, size=500)],
        dataset[130:130],
        dataset[[]],
    ):
        expected = [rows[number] for number in view.indices]
        assert [sample.id for sample in view] == [row["sample_id"] for row in expected]
        assert view.to_arrow().to_pylist() == expected
        for name in ("fitness", "temperature", "medium"):
            assert same(view.column(name), [row[name] for row in expected])
        for sample, row in zip(view, expected):
            assert sample.attributes == {name: row[name] for name in ("medium", "temperature")}
            assert sample.deleted.tolist() == row["perturbation_indices"]
            assert same(sample.phenotypes, [row["fitness"]])
        assert view.deletes(dataset.genes[2]).tolist() == [row % 4 == 3 for row in view.indices]


def test_views(dataset, want):
    n = len(dataset)
    ids = np.array(want["sample_id"])
    chance = np.random.default_rng(1)
    for index in (
        slice(3, 90, 4),
        slice(None, None, -1),
        [5, -1, 5],
        range(10, 0, -3),
        np.arange(7),
        np.array([2, 0], np.uint8),
        chance.random(n) < 0.3,
        (chance.random(n) < 0.3).tolist(),
        [],
        np.zeros(n, bool),
    ):
        view = dataset[index]
        assert isinstance(view, reader.Dataset) and view.whole is dataset
        assert [sample.id for sample in view] == (ids[index].tolist() if len(view) else [])
        assert view.column("sample_id").tolist() == [sample.id for sample in view]
        assert [sample.index for sample in view] == view.indices.tolist()
        assert view.graph is dataset.graph and view.genes is dataset.genes
        inner = view[::2][-3:]
        assert inner.whole is dataset
        assert inner.indices.tolist() == view.indices[::2][-3:].tolist()
        assert [sample.id for sample in inner] == ids[inner.indices].tolist()
        again = pickle.loads(pickle.dumps(inner))
        assert again.indices.tolist() == inner.indices.tolist() and len(again.whole) == n
        assert [sample.id for sample in again] == [sample.id for sample in inner]
    view = dataset[[200, 100]]
    assert view[0].index == 200 and view[-1].index == 100 and len(view) == 2
    assert np.array_equal(view._read_removed(1), dataset._read_removed(100))
    assert view.perturbations([1])[0].tolist() == want["perturbation_indices"][100]
    assert "2 of 300 samples" in repr(view)
    with pytest.raises(IndexError, match="one of 2 samples"):
        view[2]


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        ("fitness", TypeError, "found str"),
        (None, TypeError, "found NoneType"),
        (1.0, TypeError, "found float"),
        ({1, 2}, TypeError, "found set"),
        (True, TypeError, "boolean"),
        (np.bool_(True), TypeError, "boolean"),
        ([True, 2], TypeError, "boolean"),
        ([0.5], TypeError, "found float"),
        (np.array([0.5]), TypeError, "array of float64"),
        (np.array(["a"]), TypeError, "array of <U1"),
        (np.ones((2, 2), int), TypeError, "2 dimensions"),
        (np.ones(299, bool), IndexError, "299 booleans, expected one for each of the 300"),
        ([True, False], IndexError, "2 booleans"),
        ([300], IndexError, "sample 300"),
        (range(290, 310), IndexError, "sample 309"),
        (np.array([-301]), IndexError, "sample -301"),
    ],
)
def test_what_selects_nothing(dataset, index, error, message):
    with pytest.raises(error, match=message):
        dataset[index]


def test_conditions_are_boolean_arrays(dataset, want):
    genes = want["genes"]
    for view in (dataset, dataset[::-3], dataset[[5, 5, 2]], dataset[:0]):
        for name in (genes[7][0], genes[100][-1]):
            found = view.deletes(name)
            assert found.dtype == bool
            assert found.tolist() == [name in genes[number] for number in view.indices]
    first, second, *_ = max(genes, key=len)
    both = dataset.deletes(first) & dataset.deletes(second)
    assert dataset[both].indices.tolist() == [
        number for number in range(300) if {first, second} <= {*genes[number]}
    ]
    found = dataset[(dataset.attribute("medium") == "YPD") & (dataset.phenotype("fitness") < 0.8)]
    assert found.indices.tolist() == [
        number
        for number in range(300)
        if want["medium"][number] == "YPD"
        and want["fitness"][number] is not None
        and want["fitness"][number] < 0.8
    ]


def test_unknown_names_and_wrong_types(dataset, want):
    unknown = [
        (lambda: dataset.phenotype("fitnes"), "no phenotype 'fitnes'.*'fitness'"),
        (lambda: dataset.phenotype("medium"), "no phenotype 'medium'"),
        (lambda: dataset.attribute("mediun"), "no attribute.*'medium'"),
        (lambda: dataset.column("fitnes"), "no column.*'fitness'"),
        (lambda: dataset.to_arrow(["sample id"]), "no column.*'sample_id'"),
        (lambda: dataset.deletes(want["genes"][0][0] + "x"), f"'{want['genes'][0][0]}'"),
        (lambda: dataset.index_of("strain x"), "none of 300 samples"),
    ]
    for read, message in unknown:
        with pytest.raises(reader.errors.UnknownNameError, match=f"(?s){message}") as error:
            read()
        assert isinstance(error.value, KeyError) and "\nhint: " in str(error.value)
    wrong = [
        (lambda: dataset.phenotype(0), "found int"),
        (lambda: dataset.attribute(["medium"]), "found list"),
        (lambda: dataset.column(["fitness"]), "found list"),
        (lambda: dataset.index_of(7), "found int"),
        (lambda: dataset.index_of(["7"]), "found list"),
        (lambda: dataset.deletes(7), "found int"),
    ]
    for read, message in wrong:
        with pytest.raises(TypeError, match=message):
            read()


def test_index_of(dataset, want):
    ids = want["sample_id"]
    for number in (0, 63, 64, 299):
        assert dataset.index_of(ids[number]) == number
    assert dataset._indices_of([ids[5], ids[250], ids[5]]) == [5, 250, 5]
    view = dataset[::-3]
    assert view[view.index_of(view[7].id)].id == view[7].id
    assert view._indices_of([view[3].id, view[2].id]) == [3, 2]
    with pytest.raises(reader.errors.UnknownNameError):
        dataset[:5].index_of(ids[5])


def test_ids_of_several_samples(built, tmp_path):
    rows = [
        {"sample_id": name, "perturbation_indices": [0], "fitness": 1.0, "medium": None}
        | {"temperature": None}
        for name in [*"abc", *map(str, range(200)), "b"]
    ]
    path = with_table(built.datasets["incidence"], tmp_path / "dataset", rows, 128, 64)
    dataset = reader.open(path)
    assert dataset.index_of("c") == 2
    with pytest.raises(
        ValueError, match=r"several samples have this id\nhint: .*'sample_id'\) == 'b'"
    ):
        dataset.index_of("b")
    assert dataset[dataset.column("sample_id") == "b"].indices.tolist() == [1, 203]
    with pytest.raises(ValueError, match="several samples"):
        dataset[[4, 1, 1]].index_of("b")


def test_a_phenotype_says_what_it_is(built, tmp_path):
    """Units, descriptions and statistics of the manifest."""
    described = [
        {"name": "fitness", "unit": "growth rate of the wild type", "description": "colony <size>"},
        {"name": "fitness_se", "statistic_of": "fitness"},
    ]
    rows = [
        {"sample_id": "a", "perturbation_indices": [0], "fitness": 0.5, "fitness_se": 0.1},
        {"sample_id": "b", "perturbation_indices": [1], "fitness": 0.7, "fitness_se": None},
    ]
    folder = tmp_path / "dataset"
    path = with_table(built.datasets["incidence"], folder, rows, 64, 64, described, [])
    dataset = reader.open(path)
    assert dataset.phenotypes["fitness"].unit == "growth rate of the wild type"
    assert dataset.phenotypes["fitness_se"].statistic_of == "fitness"
    assert dataset.phenotypes["fitness"].statistic_of == ""
    shown = dataset._repr_html_()
    assert "colony &lt;size&gt;" in shown and "statistic of fitness" in shown
    try:
        from tcbuild import torchcell
    except ImportError:
        return
    assert torchcell.Dataset(path).phenotypes == ["fitness"]  # the only one that is no statistic


def test_what_is_shown(dataset, want):
    assert all(len(repr(shown)) < 1000 for shown in (dataset, dataset[7], dataset.graph))
    for shown in (dataset, dataset[::2], dataset[7], dataset.graph):
        html = shown._repr_html_()
        assert html.count("<table ") == html.count("</table>") >= 1 and len(html) < 20000
    assert "medium" in dataset._repr_html_() and "300 samples" in dataset._repr_html_()
    assert want["genes"][7][0] in dataset[7]._repr_html_()
    assert "gene__physical__gene" in repr(dataset.graph) + dataset.graph._repr_html_()


def test_a_graph_of_yeasts_size_fits_on_a_screen():
    edges = {f"gene__relation{i}__gene": np.zeros((2, 10**5), np.int32) for i in range(100)}
    graph = reader.CellGraph({"gene": ["Y"] * 6607}, edges, None, [])
    assert len(repr(graph)) < 1500 and len(graph._repr_html_()) < 5000
    assert repr(graph).startswith("<tcbuild.CellGraph: 6,607 gene, ")


def test_long_names_are_cut(built, tmp_path):
    name = "<script>" + "x" * 10**5
    rows = [{"sample_id": name, "perturbation_indices": list(range(25)), "fitness": 1.0}]
    described = [{"name": "fitness"}]
    path = with_table(built.datasets["incidence"], tmp_path / "d", rows, 64, 64, described, [])
    sample = reader.open(path)[0]
    assert "15 more" in repr(sample) and len(repr(sample)) < 1000
    assert "<script>" not in sample._repr_html_() and len(sample._repr_html_()) < 5000


def test_reading_imports_no_pandas(built):
    """Which Arrow's own conversions do: 0.4 s and 60 MB for each worker."""
    code = (
        "import sys, tcbuild\n"
        f"dataset = tcbuild.open({str(built.datasets['incidence'])!r})\n"
        "dataset[3].id, dataset[3].attributes, dataset[3].all_masks\n"
        "dataset.phenotype('fitness'), dataset.attribute('medium')\n"
        "dataset.deletes(dataset.genes[0])\n"
        "assert 'pandas' not in sys.modules and 'polars' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=reader.__path__[0] + "/..", check=True)


def test_forked_processes_read_without_arrows_threads(built):
    """Which they do not have; the buffers of a batch are unpacked on one."""
    code = (
        "import os, tcbuild\n"
        f"dataset = tcbuild.open({str(built.datasets['incidence'])!r})\n"
        "whole = dataset.to_arrow()\n"
        "if (child := os.fork()) == 0:\n"
        "    same = dataset[3].id == whole['sample_id'][3].as_py()\n"
        "    os._exit(0 if same and dataset.to_arrow() == whole else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0"
    )
    subprocess.run(
        [sys.executable, "-c", code], cwd=reader.__path__[0] + "/..", check=True, timeout=1200
    )


@pytest.mark.parametrize("name", VARIANTS)
def test_other_libraries_read_the_same_rows(built, want, name):
    """Arrow's datasets, polars and DuckDB read the folder of files, without this package."""
    folder = built.datasets[name] / "samples"
    expected = [dict(zip(want, row)) for row in zip(*want.values())]
    for row in expected:
        del row["genes"]
    files = pa.dataset.dataset(folder, format="arrow")
    assert files.to_table().to_pylist() == expected
    polars = pytest.importorskip("polars")
    assert polars.read_ipc(folder / "part-*.arrow").to_dicts() == expected
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.from_arrow(files).fetchall()
    assert found == [tuple(row.values()) for row in expected]
    (counted,) = (
        duckdb.from_arrow(files)
        .query("files", "SELECT count(fitness), count(*) FROM files WHERE medium = 'YPD'")
        .fetchall()
    )
    assert counted == (
        sum(row["fitness"] is not None for row in expected if row["medium"] == "YPD"),
        sum(row["medium"] == "YPD" for row in expected),
    )


def test_other_libraries_read_parts_with_dictionaries_of_their_own(parted):
    dataset, rows = parted
    folder = dataset.path / "samples"
    files = pa.dataset.dataset(folder, format="arrow")
    assert files.to_table().to_pylist() == rows
    polars = pytest.importorskip("polars")
    assert polars.read_ipc(folder / "part-*.arrow").to_dicts() == rows
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.from_arrow(files).fetchall() == [tuple(row.values()) for row in rows]


@pytest.mark.parametrize("name", VARIANTS)
def test_single_samples_of_a_large_table(tcbuild, tmp_path, name):
    """Several record batches, as the program writes them."""
    case = Case(
        "large",
        genes=6,
        relations=("physical",),
        edges=4,
        metabolism=False,
        samples=9000,
        most_deleted=2,
        attributes=("medium",),
    )
    datasets, want, _ = build(tcbuild, case, tmp_path, builds=[name])
    dataset = reader.open(datasets[name])
    assert dataset.manifest["samples_per_batch"] == 4096
    for start, end in pairwise([0, 4090, 4102, 8190, 8195, 8995, 9000]):
        for number in {start, end - 1}:
            sample = dataset[number]
            assert sample.id == want[number]["sample_id"]
            assert sample.attributes == want[number]["attributes"]
            assert same(sample.phenotypes, list(want[number]["phenotypes"].values()))
    assert same(dataset.phenotype("fitness"), [sample["phenotypes"]["fitness"] for sample in want])
