"""Files that the program does not read: the line of Python in its error reads them."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tcbuild as reader

FRAME = pd.DataFrame(
    {
        "sample_id": ["s1", "s2", "s3"],
        "genes": ["YAL001C", "YAL002W|YAL003W", "YAL003W"],
        "fitness": [0.5, 1.0, np.nan],
        "code": ["007", "x", "010"],
    }
)


def write_stream(frame: pd.DataFrame, path: Path) -> None:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def write_cells(frame: pd.DataFrame, path: Path) -> None:
    obs = frame.set_index("sample_id").rename_axis(None)
    anndata.AnnData(X=np.zeros((len(frame), 1)), obs=obs).write_h5ad(path)


WRITERS = {
    "s.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "s.parquet": lambda frame, path: frame.to_parquet(path),
    "s.feather": lambda frame, path: frame.to_feather(path),
    "s.arrows": write_stream,
    "s.h5ad": write_cells,
    "s.json": lambda frame, path: frame.to_json(path, orient="records"),
    "s.jsonl.gz": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "s.txt": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "s.tab.gz": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "s.tsv.bz2": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "s.csv.zip": lambda frame, path: frame.to_csv(path, index=False),
    "s.zip": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
}


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes/gene.tsv").write_text("id\nYAL001C\nYAL002W\nYAL003W\n")
    return tmp_path / "graph"


@pytest.fixture(autouse=True)
def program(tcbuild, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")


def hint_of(tcbuild, graph: Path, file: Path) -> str:
    words = ["--graph", graph, "--perturbations", file, "--out", graph.parent / "refused"]
    printed = tcbuild.run("incidence", *words, exit_code=3).stderr
    return printed.splitlines()[-1].removeprefix("hint: in Python")


def rows(dataset: reader.Dataset) -> list[list]:
    """The samples: id, genes, fitness as text and code."""
    return [
        [sample.id, sample.deleted_genes, str(sample.phenotypes[0]), sample.attributes["code"]]
        for sample in dataset
    ]


EXPECTED = [
    ["s1", ["YAL001C"], "0.5", "007"],
    ["s2", ["YAL002W", "YAL003W"], "1.0", "x"],
    ["s3", ["YAL003W"], "nan", "010"],
]


@pytest.mark.parametrize("name", WRITERS)
def test_the_line_of_python_reads_the_file(tcbuild, graph: Path, tmp_path: Path, name: str) -> None:
    WRITERS[name](FRAME, tmp_path / name)
    line = hint_of(tcbuild, graph, tmp_path / name).removeprefix(": ")
    packages = {"tcbuild": reader, "pandas": pd, "polars": pl, "anndata": anndata}
    code = line.replace("out=…", "out=out")
    dataset = eval(code, packages | {"graph": graph, "out": tmp_path / "out"})
    assert rows(dataset) == EXPECTED


def test_models_and_annotations(tcbuild, graph: Path, tmp_path: Path) -> None:
    for name, want in [("m.xml", "add_model"), ("go.obo", "add_ontology"), ("a.gaf.gz", "gaf")]:
        (tmp_path / name).write_bytes(gzip.compress(b"x") if name.endswith("gz") else b"x")
        hint = hint_of(tcbuild, graph, tmp_path / name)
        function = re.search(r"tcbuild\.sources\.(\w+)\(", hint)
        assert function is not None and function[1] == want
        assert callable(getattr(reader.sources, want))
