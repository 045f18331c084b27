"""Tables that pandas writes: their index, and their texts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import tcbuild as reader
from conftest import Tcbuild

pd = pytest.importorskip("pandas")

GENES = ["YAL001C", "YAL002W", "YAL003W"]
ENDINGS = [".arrow", ".csv", ".tsv", ".csv.gz"]


def write(table, path: Path, index: bool | None = None) -> Path:
    """Writes a frame with the index, without it, or as pandas does by default."""
    if path.suffix == ".arrow":
        import pyarrow as pa

        data = pa.Table.from_pandas(table, preserve_index=index)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, data.schema) as writer:
            writer.write_table(data)
    else:
        table.to_csv(path, sep="," if ".csv" in path.name else "\t", index=bool(index))
    return path


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    folder = tmp_path / "graph"
    (folder / "nodes").mkdir(parents=True)
    (folder / "nodes/gene.tsv").write_text("\n".join(["id", *GENES]) + "\n")
    return folder


def build(tcbuild: Tcbuild, graph: Path, table: Path, *given) -> tuple[str, object]:
    """The program's log and the samples of its dataset, None after an error."""
    out = table.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    command = [tcbuild.binary, "incidence", "--perturbations", table, "--graph", graph]
    done = subprocess.run(
        [*map(str, command), "--out", str(out), *map(str, given)], capture_output=True, text=True
    )
    assert done.returncode in (0, 3), done.stderr
    return done.stderr, None if done.returncode else reader.open(out).to_arrow().to_pandas()


@pytest.mark.parametrize("ending", [".arrow"])
@pytest.mark.parametrize("index", ["numbers", "name", "range"])
def test_an_index_without_a_name_is_left_out(tcbuild, tmp_path, graph, ending, index):
    table = pd.DataFrame({"genes": GENES, "fitness": [1.0, 0.5, 0.2]})
    left_out = False
    if index == "numbers":
        table.index, left_out = [5, 3, 9], True
    elif index == "name":
        table.index = pd.Index(["x", "y", "z"], name="sample_id")
    said, written = build(tcbuild, graph, write(table, tmp_path / f"set{ending}"))
    assert ("__index_level_0__" in said) == left_out
    assert written.columns.drop("sample_id").tolist() == ["perturbation_indices", "fitness"]
    ids = ["x", "y", "z"] if index == "name" else ["0", "1", "2"]
    assert written["sample_id"].tolist() == ids


@pytest.mark.parametrize("ending", [".arrow"])
@pytest.mark.parametrize("levels", [1, 2])
def test_an_index_of_texts_without_a_name_is_refused(tcbuild, tmp_path, graph, ending, levels):
    strains = ["x", "y", "z"]
    index = strains if levels == 1 else pd.MultiIndex.from_arrays([[1, 1, 2], strains])
    table = pd.DataFrame({"genes": GENES, "fitness": [1.0, 0.5, 0.2]}, index=index)
    path, column = write(table, tmp_path / f"set{ending}"), f"__index_level_{levels - 1}__"
    said, written = build(tcbuild, graph, path)
    assert written is None and f'column "{column}": found an unnamed index of texts' in said
    assert "reset_index" in said and f"id_column={column}" in said
    _, written = build(tcbuild, graph, path, f"id_column={column}")
    assert written["sample_id"].tolist() == strains


@pytest.mark.parametrize("ending", [".arrow"])
def test_an_index_is_no_column_of_a_graph(tcbuild, tmp_path, ending):
    nodes, edges = tmp_path / "graph/nodes", tmp_path / "graph/edges"
    nodes.mkdir(parents=True)
    edges.mkdir()
    table = pd.DataFrame({"id": GENES, "length": [1, 2, 3]}, index=[7, 8, 9])
    write(table, nodes / f"gene{ending}")
    table = pd.DataFrame({"src": GENES[:2], "dst": GENES[1:], "weight": [0.5, 1]}, index=[4, 2])
    write(table, edges / f"gene__physical__gene{ending}")
    command = [tcbuild.binary, "incidence", "--graph", tmp_path / "graph", "--out", tmp_path / "d"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    named = "edges/gene__physical__gene __index_level_0__"
    assert f'columns="nodes/gene __index_level_0__, {named}"' in done.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_spaces_around_texts_do_not_make_other_values(tcbuild, tmp_path, graph, ending):
    media = ["YPD", "YPD ", " YPD", "YPD\u00a0", "\u200bYPD", "YPD\u3000"]
    table = pd.DataFrame({"genes": GENES[0], "fitness": range(6), "medium": media})
    path = write(table, tmp_path / f"set{ending}", index=False)
    said, written = build(tcbuild, graph, path)
    assert "trimmed_text=5" in said
    assert written["medium"].tolist() == ["YPD"] * 6
