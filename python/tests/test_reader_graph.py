"""Graph folders of Arrow tables, and what is wrong with one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import tcbuild as reader
from cases import CASES, write_case
from conftest import REPOSITORY
from oracle import read_graph


def write_arrow(path, text):
    """Writes a table of text as Arrow."""
    rows = [line.split("\t") for line in text.removesuffix("\n").split("\n")]
    table = pa.table({name: list(values) for name, *values in zip(*rows)})
    with pa.ipc.new_file(path, table.schema) as out:
        out.write_table(table)


def arrow_case(case, folder):
    """A case's graph folder, of Arrow tables."""
    graph, _ = write_case(case, folder)
    for table in list(graph.rglob("*.tsv")):
        write_arrow(table.with_suffix(".arrow"), table.read_text(encoding="utf-8"))
        table.unlink()
    return graph


@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[3]], ids=lambda case: case.name)
def test_a_graph_folder(tmp_path, case):
    want = read_graph(write_case(case, tmp_path / "text")[0])
    folder = arrow_case(case, tmp_path)
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
            "edges/gene__physical__gene.arrow",
            "src\tdst\nNOWHERE\tNOWHERE\n",
            "src of edge 0 is NOWHERE, expected one of 40 ids",
        ),
        (
            "edges/gene__physical__gene.arrow",
            "src_index\tdst_index\n0\t40\n",
            "dst indices from 40 to 40, expected below 40",
        ),
        (
            "edges/gene__physical__gene.arrow",
            "src_index\n0\n",
            "found columns src_index, expected dst_index",
        ),
        (
            "edges/reaction__rmr__metabolite.arrow",
            "src_index\tdst_index\tstoichiometry\n0\t0\t1e-320\n0\t0\t-1e-400\n",
            "stoichiometry of row 1 is -1e-400, expected a finite number",
        ),
        ("nodes/gene.arrow", "name\nA\n", "gene: found columns name, expected id"),
    ],
)
def test_a_graph_that_cannot_be(tmp_path, table, content, complaint):
    folder = arrow_case(CASES[0], tmp_path)
    write_arrow(folder / table, content)
    with pytest.raises(reader.errors.GraphError, match=complaint) as error:
        reader.read_graph_folder(folder)
    assert str(folder) in str(error.value) and error.value.hint
    with pytest.raises(reader.errors.GraphError, match="no table nodes/gene"):
        reader.read_graph_folder(tmp_path / "elsewhere")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_not_waited_for(tmp_path, kind):
    folder = arrow_case(CASES[0], tmp_path)
    table = folder / "nodes/gene.arrow"
    table.unlink()
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
    "place", ["edges/gene__more__gene.arrow", "edges/gene__more__gene.tsv.gz", "nodes/gene.arrow"]
)
@pytest.mark.parametrize("kind", MAKERS)
def test_no_table_is_passed_over(tmp_path, kind, place):
    folder = arrow_case(CASES[0], tmp_path)
    (folder / place).unlink(missing_ok=True)
    MAKERS[kind](folder / place)
    with pytest.raises(reader.errors.GraphError) as error:
        reader.read_graph_folder(folder)
    assert error.value.hint


@pytest.mark.parametrize("part", ["nodes", "edges"])
@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind != "folder"])
def test_what_is_no_folder_has_no_tables(tmp_path, kind, part):
    folder = arrow_case(CASES[0], tmp_path)
    shutil.copytree(folder, folder / "graph")  # which would be read in place of the first
    shutil.rmtree(folder / part)
    MAKERS[kind](folder / part)
    with pytest.raises(reader.errors.GraphError) as error:
        reader.read_graph_folder(folder)
    assert str(folder / part) in str(error.value) and error.value.hint


@pytest.mark.parametrize("name", ["tsv", "csv.gz", "parquet", "tsv.bz2", "tsv.bak", ""])
def test_a_table_that_is_not_arrow(tmp_path, name):
    folder = arrow_case(CASES[0], tmp_path)
    (folder / f"edges/gene__more__gene.{name}".rstrip(".")).write_text("src\tdst\n")
    with pytest.raises(
        reader.errors.GraphError,
        match="gene__more__gene.*, expected Arrow tables.*\nhint: build a dataset",
    ):
        reader.read_graph_folder(folder)


def test_copies_and_notes_are_passed_over(tmp_path):
    folder = arrow_case(CASES[0], tmp_path)
    want = reader.read_graph_folder(folder)
    for name in ("nodes/gene.arrow~", "nodes/gene.tsv", "nodes/.gene.csv", "nodes/README.md"):
        (folder / name).write_text("not read")
    assert reader.read_graph_folder(folder).nodes == want.nodes
