"""Programs that do not know tcbuild read what Dataset.to_parquet writes, and find what the oracle
says.
"""

from __future__ import annotations

import datetime
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tcbuild as reader
from builds import BUILDS
from cases import CASES, CASES_AND_RULES, Case
from tcbuild.errors import DatasetError, InputError

MANY = Case("several row groups", samples=2049, most_deleted=3, edges=20)


def rows(want: list[dict]) -> list[dict]:
    """The rows of samples.parquet."""
    return [
        {
            "sample_id": sample["sample_id"],
            "genes": sample["genes"],
            "names": sample["genes"],
            **sample["phenotypes"],
            **sample["attributes"],
            **{f"removed_{name}": mask["removed"] for name, mask in sample["masks"].items()},
        }
        for sample in want
    ]


def graph_of_types(folder: Path) -> dict[str, pa.Array]:
    """Writes a graph of two genes with columns of many types, and returns these."""
    day = datetime.date(2026, 1, 31)
    columns = {
        "text": pa.array(["(x)", None]),
        "large": pa.array(["Δ", None], pa.large_string()),
        "entry": pa.array(["a", None]).dictionary_encode(),
        "lists": pa.array([["a", "b"], []], pa.list_(pa.string())),
        "with_null": pa.array([["a", None], ["b"]], pa.list_(pa.string())),
        "truth": pa.array([True, None]),
        "int8": pa.array([-128, None], pa.int8()),
        "uint32": pa.array([2**32 - 1, 0], pa.uint32()),
        "uint64": pa.array([2**64 - 1, None], pa.uint64()),
        "int64": pa.array([-(2**63), None], pa.int64()),
        "half": pa.array(np.float16([0.1, 2])),
        "single": pa.array([0.1, None], pa.float32()),
        "double": pa.array([0.1, None], pa.float64()),
        "day": pa.array([day, None]),
        "nothing": pa.nulls(2),
    }
    table = pa.table({"id": ["A", "B"], "name": ["one", "A"]} | columns)
    (folder / "nodes").mkdir(parents=True)
    with pa.ipc.new_file(folder / "nodes/gene.arrow", table.schema) as out:
        out.write_table(table)
    return columns


@pytest.mark.parametrize("case, rule", CASES_AND_RULES, ids=lambda v: getattr(v, "name", v))
def test_what_other_programs_read(built_once, tmp_path, case, rule):
    built = built_once(case, rule)
    folder = reader.open(built.datasets["incidence"]).to_parquet(tmp_path / "out")
    path = str(folder / "samples.parquet")
    assert pl.read_parquet(path, glob=False).to_dicts() == rows(built.want)
    read = duckdb.from_parquet(path).fetchall()
    assert read == [tuple(row.values()) for row in rows(built.want)]
    for node_type, ids in built.cell.nodes.items():
        assert pq.read_table(folder / f"nodes/{node_type}.parquet")["id"].to_pylist() == ids
    for edge_type, ends in built.cell.edges.items():
        table = pl.read_parquet(folder / f"edges/{edge_type}.parquet")
        assert table.select("src_index", "dst_index").rows() == ends


@pytest.mark.parametrize("case", [CASES[0], MANY], ids=lambda case: case.name)
def test_all_variants_give_the_same_files(built_once, tmp_path, case):
    datasets = built_once(case, "all").datasets
    first = None
    for build in ("incidence", "indices-delta", "full-masks-bits") if case is MANY else BUILDS:
        folder = reader.open(datasets[build]).to_parquet(tmp_path / build)
        tables = {
            path.relative_to(folder): pq.read_table(path) for path in folder.rglob("*.parquet")
        }
        first = first or tables
        assert tables == first and len(tables) > 3


def test_views(built_once, tmp_path):
    built = built_once(MANY, "all")
    dataset, chosen = reader.open(built.datasets["indices-zstd"]), [2048, 3, 3, 0]
    folder = dataset[chosen].to_parquet(tmp_path / "view")
    want = [rows(built.want)[sample] for sample in chosen]
    assert pl.read_parquet(folder / "samples.parquet").to_dicts() == want
    triples = dataset.combinations(dataset.genes, 3)[5000:7150]
    file = pq.ParquetFile(triples.to_parquet(tmp_path / "triples") / "samples.parquet")
    assert [file.metadata.row_group(group).num_rows for group in range(2)] == [2048, 102]
    last = triples[-1]
    assert file.read_row_group(1).to_pylist()[-1]["genes"] == last.deleted_genes
    assert dataset[:0].to_parquet(tmp_path / "none").exists()


def test_columns_of_the_graph(tcbuild, tmp_path):
    columns = graph_of_types(tmp_path / "graph")
    (tmp_path / "set.tsv").write_text("genes\tfitness\tkinds\nA|B\t1\tdeletion|damp\n")
    source = ("--graph", tmp_path / "graph", "--perturbations", tmp_path / "set.tsv")
    tcbuild.run("incidence", *source, "--out", tmp_path / "dataset")
    folder = reader.open(tmp_path / "dataset").to_parquet(tmp_path / "out")
    got = pq.read_table(folder / "nodes/gene.parquet").to_pydict()
    want = {name: column.to_pylist() for name, column in columns.items()}
    assert got == {"id": ["A", "B"], "name": ["one", "A"]} | want
    assert len(duckdb.from_parquet(str(folder / "nodes/gene.parquet")).fetchall()) == 2
    (row,) = pl.read_parquet(folder / "samples.parquet").to_dicts()
    assert row["names"] == ["one", "B"]  # A is the id of another gene
    assert row["kinds"] == "deletion|damp"


def test_refused(tcbuild, tmp_path):
    """Nothing is left of a folder that fails."""
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes/gene.tsv").write_text("id\nA\n")
    (tmp_path / "set.tsv").write_text("genes\tnames\nA\t1\n")
    source = ("--graph", tmp_path / "graph", "--perturbations", tmp_path / "set.tsv")
    tcbuild.run("incidence", *source, "--out", tmp_path / "dataset")
    dataset, out = reader.open(tmp_path / "dataset"), tmp_path / "out"
    with pytest.raises(InputError, match="found a phenotype or attribute named 'names'"):
        dataset.to_parquet(out)
    assert not out.exists() and not [*tmp_path.glob(".*")]
    out.mkdir()
    with pytest.raises(DatasetError, match=f"write {out}: it already exists"):
        dataset.to_parquet(out)
