"""Columns of graphs as a dataset has them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import tcbuild as reader


def test_text_stays_as_it_is_written(tcbuild, tmp_path):
    write_text = {
        "nodes/gene.tsv": "id\tnote\nNA\t007\n1e5\tNA\nnull\t x\n007\t\n",
        "nodes/reaction.tsv": "id\tgpr\n1\t1e5\n2\tnull\n3\t\n",
        "edges/gene__a__gene.tsv": "src\tdst\tweight\nNA\t1e5\t1.50\n007\tnull\t\n",
    }
    for name, text in write_text.items():
        (tmp_path / "graph" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "graph" / name).write_text(text)
    tcbuild.run("incidence", "--graph", tmp_path / "graph", "--out", tmp_path / "dataset")
    graph = reader.open(tmp_path / "dataset").graph
    assert graph.nodes["gene"] == ["NA", "1e5", "null", "007"] and graph.rules == [
        "1e5",
        "null",
        "",
    ]
    assert graph.edges["gene__a__gene"].tolist() == [[0, 3], [1, 2]]
    stored = pa.ipc.open_file(tmp_path / "dataset" / "graph" / "nodes" / "gene.arrow").read_all()
    assert stored.column("note").to_pylist() == ["007", "NA", " x", ""]
    weight = (
        pa.ipc.open_file(tmp_path / "dataset" / "graph" / "edges" / "gene__a__gene.arrow")
        .read_all()
        .column("weight")
    )
    assert weight.to_pylist() == ["1.50", ""]


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.null()])
def test_a_gpr_column_without_rules(tcbuild, tmp_path, kind):
    for name, table in {
        "nodes/gene": {"id": ["A"]},
        "nodes/reaction": {"id": ["r", "s"], "gpr": pa.array([None, None], kind)},
        "edges/gene__a__gene": {"src": ["A"], "dst": ["A"]},
    }.items():
        (tmp_path / "graph" / name).parent.mkdir(parents=True, exist_ok=True)
        with pa.ipc.new_file(tmp_path / "graph" / f"{name}.arrow", pa.table(table).schema) as out:
            out.write_table(pa.table(table))
    (tmp_path / "sets.tsv").write_text("genes\nA\n")
    tcbuild.run(
        "incidence",
        "--reaction-rule",
        "gpr",
        "--graph",
        tmp_path / "graph",
        "--perturbations",
        tmp_path / "sets.tsv",
        "--out",
        tmp_path / "dataset",
    )
    dataset = reader.open(tmp_path / "dataset")
    assert dataset.graph.rules == ["", ""] and dataset[0].masks["reaction"].all()
