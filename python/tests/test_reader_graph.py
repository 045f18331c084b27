"""Graph folders in every table format, and what is wrong with one."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import tcbuild as reader
from cases import CASES, write_case
from conftest import REPOSITORY
from oracle import read_graph


def rewrite(table, ending):
    """Writes a .tsv table in another format in its place."""
    path = table.with_suffix(ending)
    text = table.read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.removesuffix("\n").split("\n")]
    columns = {name: list(values) for name, *values in zip(*rows)}
    if ending == ".tsv.gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif ending == ".tsv.zst":
        with pa.CompressedOutputStream(str(path), "zstd") as out:
            out.write(text.encode())
    elif ending == ".csv":
        pa.csv.write_csv(pa.table(columns), path)
    elif ending == ".parquet":
        pa.parquet.write_table(pa.table(columns), path)
    elif ending == ".arrow":
        with pa.ipc.new_file(path, pa.table(columns).schema) as out:
            out.write_table(pa.table(columns))
    if path != table:
        table.unlink()


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".tsv.zst", ".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[3]], ids=lambda case: case.name)
def test_a_graph_folder_in_every_format(tmp_path, case, ending):
    folder, _ = write_case(case, tmp_path)
    want = read_graph(folder)
    for table in list(folder.rglob("*.tsv")):
        rewrite(table, ending)
    for path in (folder, str(tmp_path)):  # the folder, or the one around it
        graph = reader.read_graph_folder(path)
        assert (
            graph.nodes == want.nodes
            and list(graph.nodes) == list(want.nodes)
            and graph.rules == want.rules
        )
        assert list(graph.edges) == want.edge_types()
        for name, edges in want.edges.items():
            assert (
                graph.edges[name].dtype == np.int32
                and list(map(tuple, graph.edges[name].T.tolist())) == edges
            )


def test_a_dataset_is_a_graph_folder_too(built_once):
    datasets = built_once(CASES[0], "all").datasets
    of_dataset, of_folder = (
        reader.open(datasets["indices-zstd"]).graph,
        reader.read_graph_folder(datasets["indices-zstd"]),
    )
    assert of_dataset.nodes == of_folder.nodes and of_dataset.rules == of_folder.rules
    assert np.array_equal(of_dataset.stoichiometry, of_folder.stoichiometry)
    assert all(
        np.array_equal(edges, of_folder.edges[name]) for name, edges in of_dataset.edges.items()
    )


@pytest.mark.parametrize(
    ("table", "content", "complaint"),
    [
        (
            "edges/gene__physical__gene.tsv",
            "src\tdst\nNOWHERE\tNOWHERE\n",
            "src of edge 0 is NOWHERE, expected one of 40 ids",
        ),
        (
            "edges/gene__physical__gene.tsv",
            "src_index\tdst_index\n0\t40\n",
            "dst indices from 40 to 40, expected below 40",
        ),
        (
            "edges/gene__physical__gene.tsv",
            "src_index\n0\n",
            "found columns src_index, expected dst_index",
        ),
        ("nodes/gene.tsv", "name\nA\n", "gene: found columns name, expected id"),
    ],
)
def test_a_graph_that_cannot_be(tmp_path, table, content, complaint):
    folder, _ = write_case(CASES[0], tmp_path)
    (folder / table).write_text(content)
    with pytest.raises(reader.GraphError, match=complaint) as error:
        reader.read_graph_folder(folder)
    assert str(folder) in str(error.value) and error.value.hint
    with pytest.raises(reader.GraphError, match="no table nodes/gene"):
        reader.read_graph_folder(tmp_path / "elsewhere")


@pytest.mark.parametrize("ending", [".tsv", ".parquet", ".arrow"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_not_waited_for(tmp_path, kind, ending):
    folder, _ = write_case(CASES[0], tmp_path)
    (folder / "nodes/gene.tsv").unlink()
    table = folder / f"nodes/gene{ending}"
    os.mkfifo(table) if kind == "pipe" else table.symlink_to("/dev/zero")
    command = [
        sys.executable,
        "-c",
        "import sys, tcbuild; tcbuild.read_graph_folder(sys.argv[1])",
        str(folder),
    ]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY / "python")},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert f"GraphError: read graph {folder}: it is a {kind}, expected a file" in done.stderr


MAKERS = {
    "folder": os.mkdir,
    "pipe": os.mkfifo,
    "dangling link": lambda path: os.symlink("nowhere", path),
    "link loop": lambda path: os.symlink(os.path.basename(path), path),
    "device": lambda path: os.symlink("/dev/null", path),
}


@pytest.mark.parametrize(
    "place", ["edges/gene__more__gene.arrow", "edges/gene__more__gene.tsv.gz", "nodes/gene.tsv"]
)
@pytest.mark.parametrize("kind", MAKERS)
def test_no_table_is_passed_over(tmp_path, kind, place):
    folder, _ = write_case(CASES[0], tmp_path)
    (folder / place).unlink(missing_ok=True)
    MAKERS[kind](folder / place)
    with pytest.raises(reader.GraphError) as error:
        reader.read_graph_folder(folder)
    assert error.value.hint


@pytest.mark.parametrize("part", ["nodes", "edges"])
@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind != "folder"])
def test_what_is_no_folder_has_no_tables(tmp_path, kind, part):
    folder, _ = write_case(CASES[0], tmp_path)
    shutil.copytree(folder, folder / "graph")  # which would be read in place of the first
    shutil.rmtree(folder / part)
    MAKERS[kind](folder / part)
    with pytest.raises(reader.GraphError) as error:
        reader.read_graph_folder(folder)
    assert str(folder / part) in str(error.value) and error.value.hint


@pytest.mark.parametrize("name", ["tsv.bz2", "tsv.bak", ""])
def test_a_table_with_a_name_of_no_table(tmp_path, name):
    folder, _ = write_case(CASES[0], tmp_path)
    (folder / f"edges/gene__more__gene.{name}".rstrip(".")).write_text("src\tdst\n")
    with pytest.raises(reader.GraphError, match="gene__more__gene.*, expected a table"):
        reader.read_graph_folder(folder)


def test_copies_and_notes_are_passed_over(tmp_path):
    folder, _ = write_case(CASES[0], tmp_path)
    want = reader.read_graph_folder(folder)
    for name in ("nodes/gene.tsv~", "nodes/.gene.csv", "nodes/README.md"):
        (folder / name).write_text("not read")
    assert reader.read_graph_folder(folder).nodes == want.nodes
