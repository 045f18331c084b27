"""Graphs of folders are read by the program."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tcbuild as reader
from cases import CASES, write_case
from oracle import read_graph
from tcbuild._build import read_graph_folder


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
def test_a_graph_folder(tcbuild, tmp_path, case):
    want = read_graph(write_case(case, tmp_path / "text")[0])
    folder = arrow_case(case, tmp_path)
    for path in (folder, str(tmp_path)):  # the folder, or the one around it
        graph = read_graph_folder(path)
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


def test_a_graph_that_cannot_be(tcbuild, tmp_path):
    folder = arrow_case(CASES[0], tmp_path)
    write_arrow(folder / "edges/gene__physical__gene.arrow", "src\tdst\nNOWHERE\tNOWHERE\n")
    with pytest.raises(reader.errors.InputError, match="NOWHERE") as error:
        read_graph_folder(folder)
    assert str(folder) in str(error.value) and error.value.hint


def test_unknown_edge_types_name_the_nearest(tcbuild, tmp_path):
    graph = read_graph_folder(arrow_case(CASES[0], tmp_path))
    with pytest.raises(KeyError, match="(?s)no edge type .*did you mean 'gene__physical__gene'"):
        graph.edges["gene", "physical", "gene"]
