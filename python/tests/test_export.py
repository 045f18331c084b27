"""Programs that do not know tcbuild read what `tcbuild export` writes, and find what the oracle
says.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from builds import BUILDS
from cases import CASES, CASES_AND_RULES, SHARDS, Case
from test_parquet import graph_of_types, rows

EVERYTHING = CASES[0]
MANY = Case("several row groups", samples=4097, most_deleted=3, edges=20)


def of_mask(want: list[dict], mask: str) -> list[list[int]]:
    return [sample["masks"][mask]["removed"] for sample in want]


@pytest.fixture
def exported(tcbuild, built_once, tmp_path):
    """Exports a build of a case, and returns the folder and the whole build."""

    def export(case: Case, build: str, to: str, rule: str = "all"):
        built = built_once(case, rule)
        tcbuild.run("export", built.datasets[build], "--to", to, "--out", tmp_path / to)
        return tmp_path / to, built

    return export


@pytest.mark.parametrize("case, rule", CASES_AND_RULES, ids=lambda v: getattr(v, "name", v))
def test_parquet(exported, case, rule):
    folder, built = exported(case, "incidence", "parquet", rule)
    path = str(folder / "samples.parquet")
    assert pl.read_parquet(path, glob=False).to_dicts() == rows(built.want)
    read = duckdb.from_parquet(path).fetchall()
    assert read == [tuple(row.values()) for row in rows(built.want)]
    for node_type, ids in built.cell.nodes.items():
        assert pq.read_table(folder / f"nodes/{node_type}.parquet")["id"].to_pylist() == ids
    for edge_type, ends in built.cell.edges.items():
        table = pl.read_parquet(folder / f"edges/{edge_type}.parquet")
        assert table.select("src_index", "dst_index").rows() == ends


@pytest.mark.parametrize("case, rule", CASES_AND_RULES, ids=lambda v: getattr(v, "name", v))
def test_npz(exported, case, rule):
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    folder, built = exported(case, "incidence", "npz", rule)
    masks = built.want[0]["masks"]
    assert {path.stem for path in (folder / "removed").iterdir()} == set(masks)
    for name, mask in masks.items():
        with np.load(folder / f"removed/{name}.npz") as arrays:
            split = np.split(arrays["indices"], arrays["indptr"][1:-1])
        assert [part.tolist() for part in split] == of_mask(built.want, name)
        matrix = sparse.load_npz(folder / f"removed/{name}.npz")
        assert matrix.shape == (len(built.want), mask["size"]) and matrix.dtype == bool
        assert matrix.nnz == len(matrix.indices) == matrix.sum()
        assert np.array_equal(matrix.indices, np.concatenate(split))
    with np.load(folder / "samples.npz") as arrays:
        assert arrays["sample_id"].tolist() == [sample["sample_id"] for sample in built.want]
        for kind in ("phenotypes", "attributes"):
            for name in built.want[0][kind]:
                want = [sample[kind][name] for sample in built.want]
                if arrays[name].dtype.kind == "f":
                    np.testing.assert_array_equal(arrays[name], np.array(want, float))
                else:
                    assert arrays[name].tolist() == [value or "" for value in want]
    with np.load(folder / "nodes.npz") as arrays:
        assert {name: arrays[name].tolist() for name in arrays} == built.cell.nodes
    with np.load(folder / "edges.npz") as arrays:
        got = {name: [*zip(*arrays[name].tolist())] for name in arrays}
        assert got == built.cell.edges


def files(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
    assert found
    return found


@pytest.mark.parametrize("to", ["parquet", "npz"])
def test_variants_give_the_same_bytes(tcbuild, built_once, tmp_path, to):
    datasets = built_once(EVERYTHING, "all").datasets
    for build in BUILDS:
        tcbuild.run("export", datasets[build], "--to", to, "--out", tmp_path / build)
        assert files(tmp_path / build) == files(tmp_path / "incidence")


def test_row_groups(exported):
    folder, built = exported(MANY, "indices-zstd", "parquet")
    file = pq.ParquetFile(folder / "samples.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(2)] == [4096, 1]
    assert file.read_row_group(1).to_pylist() == rows(built.want)[4096:]
    assert duckdb.from_parquet(str(folder / "samples.parquet")).fetchall() == [
        tuple(row.values()) for row in rows(built.want)
    ]
    folder, _ = exported(MANY, "indices-zstd", "npz")
    with np.load(folder / "removed/gene.npz") as arrays:
        split = np.split(arrays["indices"], arrays["indptr"][1:-1])
    assert [part.tolist() for part in split] == of_mask(built.want, "gene")


def test_graph_alone(tcbuild, built_once, tmp_path):
    """A dataset without samples has its graph, and no rows."""
    graph = built_once(SHARDS, "all").datasets["incidence"] / "graph"
    tcbuild.run("incidence", "--graph", graph, "--out", tmp_path / "dataset")
    for to in ("parquet", "npz"):
        tcbuild.run("export", tmp_path / "dataset", "--to", to, "--out", tmp_path / to)
    table = pl.read_parquet(tmp_path / "parquet/samples.parquet")
    assert table.shape[0] == 0 and "removed_gene" in table.columns
    assert duckdb.from_parquet(str(tmp_path / "parquet/samples.parquet")).fetchall() == []
    with np.load(tmp_path / "npz/removed/gene.npz") as arrays:
        assert arrays["indptr"].tolist() == [0] and arrays["shape"][0] == 0


def test_columns_of_the_graph(tcbuild, tmp_path):
    columns = graph_of_types(tmp_path / "graph")
    (tmp_path / "set.tsv").write_text("genes\tfitness\tkinds\nA|B\t1\tdeletion|damp\n")
    source = ("--graph", tmp_path / "graph", "--perturbations", tmp_path / "set.tsv")
    tcbuild.run("incidence", *source, "--out", tmp_path / "dataset")
    tcbuild.run("export", tmp_path / "dataset", "--out", tmp_path / "out")
    want = {name: column.to_pylist() for name, column in columns.items()}
    want |= {"with_null": ['["a",null]', '["b"]'], "uint64": [str(2**64 - 1), None]}
    want |= {"half": ["0.099975586", "2"], "day": ["2026-01-31", None]}
    got = pq.read_table(tmp_path / "out/nodes/gene.parquet").to_pydict()
    assert got == {"id": ["A", "B"], "name": ["one", "A"]} | want
    (row,) = pl.read_parquet(tmp_path / "out/samples.parquet").to_dicts()
    assert row["names"] == ["one", "B"]  # A is the id of another gene
    assert row["kinds"] == "deletion|damp"


def test_refused(tcbuild, built_once, tmp_path):
    """Nothing is left of an export that fails."""
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes/gene.tsv").write_text("id\nA\n")
    (tmp_path / "set.tsv").write_text("genes\tnames\nA\t1\n")
    source = ("--graph", tmp_path / "graph", "--perturbations", tmp_path / "set.tsv")
    tcbuild.run("incidence", *source, "--out", tmp_path / "dataset")
    out = tmp_path / "out"
    done = tcbuild.run("export", tmp_path / "dataset", "--out", out, exit_code=3)
    assert 'found a phenotype or attribute named "names"' in done.stderr
    tcbuild.run("export", tmp_path / "dataset", "--to", "npz", "--out", tmp_path / "npz")
    dataset = shutil.copytree(built_once(SHARDS, "all").datasets["indices-zstd"], tmp_path / "bad")
    (shard, *_) = sorted(dataset.glob("shard-*/data.mdb"))
    shard.write_bytes(bytes(byte ^ 1 for byte in shard.read_bytes()))
    for to in ("parquet", "npz"):
        done = tcbuild.run("export", dataset, "--to", to, "--out", out, exit_code=4)
        assert shard.parent.name in done.stderr
    tcbuild.run("export", dataset, "--to", "csv", "--out", out, exit_code=2)
    tcbuild.run("export", tmp_path / "graph", "--out", out, exit_code=3)
    assert not out.exists() and not list(tmp_path.glob(".*"))
    out.mkdir()
    assert "already exists" in tcbuild.run("export", dataset, "--out", out, exit_code=2).stderr
