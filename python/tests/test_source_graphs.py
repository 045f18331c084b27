"""Graphs of tcbuild.sources are those that the Go program made of the same files."""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

pl = pytest.importorskip("polars", reason="polars is not installed")
pytest.importorskip("obonet", reason="obonet is not installed")
pytest.importorskip("pooch", reason="pooch is not installed")

import tcbuild
from conftest import REPOSITORY
from tcbuild import sources
from tcbuild.errors import InputError, SettingsError

EXCERPTS = Path(__file__).parent / "testdata/sources"
SHARED = REPOSITORY.parent / "shared/data"


def unpacked(name: str, folder: Path) -> Path:
    """Writes the excerpts of a file in testdata, compressed as their names say."""
    parts = re.split(r"(?m)^-- (.+) --\n", (EXCERPTS / name).read_text(encoding="utf-8"))
    for file, content in zip(parts[1::2], parts[2::2], strict=True):
        opened = gzip.open if file.endswith(".gz") else open
        with opened(folder / file, "wt", encoding="utf-8") as out:
            out.write(content)
    return folder


def tables(graph: sources.Graph, folder: Path) -> dict:
    """The tables of a graph that was written, with aliases as lists."""
    written = sources.write(graph, folder / "graph")
    found = {}
    for path in sorted(written.rglob("*.arrow")):
        table = pa.ipc.open_file(path).read_all().to_pydict()
        if "aliases" in table:
            table["aliases"] = [[x for x in text.split("|") if x] for text in table["aliases"]]
        found["names" if path.parent.name == "names" else path.stem] = table
    return found


def golden(name: str) -> dict:
    return json.loads((EXCERPTS / name).read_text(encoding="utf-8"))


def plain(tables: dict) -> dict:
    """Tables whose NaN are texts, which are equal."""
    return json.loads(re.sub(r"\bNaN\b", '"NaN"', json.dumps(tables)))


def test_human(tmp_path):
    graph = sources.human(unpacked("human.txtar", tmp_path))
    assert plain(tables(graph, tmp_path)) == golden("human.json")
    assert graph.account["gene__trrust__gene"]["dropped"] == {"of ambiguous names": 1}
    assert [file["file"] for file in graph.downloads][0] == "hgnc_complete_set.txt"
    assert "gene__trrust__gene: kept 3 of 4 rows" in repr(graph.account)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the public yeast data is not there")
def test_yeast_is_the_programs(tcbuild, tmp_path):
    made, want = tmp_path / "made", tmp_path / "want"
    command = [sys.executable, "-m", "tcbuild.sources", "yeast", "--data", SHARED, "--out", made]
    done = subprocess.run(command, cwd=REPOSITORY / "python", capture_output=True, text=True)
    assert done.returncode == 0 and "gene__yeastract__gene: kept 11,352" in done.stdout
    config = REPOSITORY / "conf/yeast.yaml"
    tcbuild.run("ingest", "graph", "--config", config, f"data={SHARED}", "--out", want)
    digests = set()
    for folder in (made, want):
        tcbuild.run("incidence", "--graph", folder, "--out", tmp_path / f"{folder.name}-dataset")
        digests.add(tcbuild.manifest(tmp_path / f"{folder.name}-dataset")["graph_digest"])
    assert len(digests) == 1


@pytest.fixture
def graph(tmp_path) -> sources.Graph:
    """A and B share a name; SEPT7 is out of the graph."""
    table = pl.DataFrame(
        {
            "id": ["B", "A", "C", "OUT"],
            "name": ["b1", "a1", None, "o1"],
            "aliases": ["both|b2", "both", "c2|NA|7-Sep", "a1|OUTER"],
            "kind": ["ORF", "ORF", "ORF", "other"],
        }
    )
    return sources.genes(
        table, "id", name="name", aliases=["aliases"], where=pl.col("kind") == "ORF"
    )


def pairs(graph: sources.Graph, relation: str) -> list[tuple[str, str]]:
    return graph["gene", relation, "gene"].select("src", "dst").rows()


def test_names(graph):
    rows = pl.DataFrame({"a": ["a1", "b2", "both", "OUTER", "x", "c2"], "b": ["B"] * 6})
    sources.add_edges(graph, "r", rows, src="a", dst="b", undirected=False, max_dropped=0.6)
    assert pairs(graph, "r") == [("A", "B"), ("B", "B"), ("C", "B")]
    account = graph.account["gene__r__gene"]
    assert account["dropped"] == {"of unknown genes": 2, "of ambiguous names": 1}
    assert account["unknown_names"] == {"OUTER": 1, "both": 1, "x": 1}
    assert graph.names["id"].to_list() == ["A", "B", "C", "OUT"]


def test_names_of_a_gene_that_is_filtered_out_mean_no_other(graph, tmp_path):
    graph["gene"] = graph["gene"].filter(pl.col("id") != "A")
    rows = pl.DataFrame({"a": ["both", "B", "B"], "b": ["C", "C", "a1"]})
    sources.add_edges(graph, "r", rows, src="a", dst="b", undirected=True, max_dropped=1)
    assert pairs(graph, "r") == [("B", "C")]
    assert tables(graph, tmp_path)["names"]["id"] == ["A", "OUT"]


def test_sorted_and_filtered_genes(graph, tcbuild, tmp_path, monkeypatch):
    """Edges name ids: a graph whose genes are sorted is the same graph, and one that lacks genes of
    edges is an error.
    """
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    rows = pl.DataFrame({"a": ["A", "B"], "b": ["B", "C"], "w": [1.5, None]})
    sources.add_edges(graph, "r", rows, src="a", dst="b", weight="w", undirected=True)
    graph["gene"] = graph["gene"].sort("id", descending=True)
    dataset = build(graph, tmp_path / "sorted")
    found = dataset.graph.edges["gene__r__gene"]
    ids = dataset.graph.nodes["gene"]
    assert [[ids[row] for row in end] for end in found] == [["A", "B"], ["B", "C"]]
    assert math.isnan(dataset.graph.columns["gene__r__gene"]["w"][1])
    graph["gene"] = graph["gene"].filter(pl.col("id") != "C")
    with pytest.raises(InputError, match=r'dst "C" is not in nodes/gene'):
        build(graph, tmp_path / "error")
    assert build(graph.prune(), tmp_path / "pruned").graph.edges["gene__r__gene"].shape == (2, 1)


def build(graph, out: Path):
    return tcbuild.build(graph, [["B"]], out=out)


def test_a_folder_and_a_dict_are_one_graph(graph, tcbuild, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    graph.ignore_case = True
    rows = pl.DataFrame({"a": ["A", "B"], "b": ["b1", "C"]})
    sources.add_edges(graph, "r", rows, src="a", dst="b", undirected=True)
    folder = sources.write(graph, tmp_path / "graph")
    one, two = build(graph, tmp_path / "one"), build(folder, tmp_path / "two")
    assert one.manifest["graph_digest"] == two.manifest["graph_digest"]
    assert one.manifest["inputs"]["graph"] == two.manifest["inputs"]["graph"]
    assert one.manifest["sources"] == two.manifest["sources"]
    assert one.manifest["sources"] == json.loads((folder / "sources.json").read_text())
    # what a graph is made of is no part of what it is
    (folder / "sources.json").write_text("{}")
    assert build(folder, tmp_path / "two").manifest["sources"] == two.manifest["sources"]


def test_write_leaves_equal_files_alone(graph, tmp_path):
    folder = tmp_path / "graph"
    sources.write(graph, folder)
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (1, 1))
    sources.write(graph, folder)
    assert {path.stat().st_mtime for path in (folder, *folder.rglob("*"))} == {1}
    rows = pl.DataFrame({"a": ["A"], "b": ["B"]})
    sources.add_edges(graph, "r", rows, src="a", dst="b", undirected=True)
    sources.write(graph, folder)
    assert (folder / "nodes/gene.arrow").stat().st_mtime == 1
    assert (folder / "edges/gene__r__gene.arrow").stat().st_mtime > 1
    assert os.listdir(tmp_path) == ["graph"]
    (tmp_path / "own").mkdir()
    (tmp_path / "own/thesis.txt").write_text("")
    with pytest.raises(SettingsError, match=r"found thesis.txt in it"):
        sources.write(graph, tmp_path / "own")


_, SECTION = (REPOSITORY / "docs/graphs.md").read_text("utf-8").split("## Public sources\n", 1)
PREAMBLE = re.findall(r"^```python\n(.*?)^```$", SECTION, re.S | re.M)[0]
LINES = {
    name: line
    for names, line in re.findall(r"^\| (\w+(?:, \w+)*) \| `(.*)` \|$", SECTION, re.M)
    for name in names.split(", ")
}
HUMAN = ("hgnc", "string_info", "trrust")
SCREENS = {  # the genes of each sample
    "costanzo2010": [["YAL002W", "YAL010C"]],
    "costanzo2016": [["YAL002W", "YAL010C"]],
    "emap": [["YAL011W", "YAL013W"]],
    "kuzmin2018_links": [["act1-129", "ost3"]],
    "matrix": [["YAL002W"], ["YAL002W"]],
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> Path:
    return unpacked("releases.txtar", tmp_path_factory.mktemp("releases"))


@pytest.fixture(scope="module")
def of_releases() -> dict:
    return golden("releases.json")


def run_line(name: str, releases: Path, variables: dict) -> dict:
    (file,) = releases.glob(f"{name}.*")
    exec(LINES[name], variables | (found := {"f": str(file)}), found)
    return variables | found


@pytest.mark.parametrize("name", LINES)
def test_public_source(name, releases, of_releases, tmp_path, monkeypatch):
    """Each line of docs/graphs.md makes of an excerpt what the program made of it."""
    pytest.importorskip("pandas", reason="pandas is not installed")
    monkeypatch.chdir(releases)
    monkeypatch.setattr(sources, "add_edges", partial(sources.add_edges, max_dropped=1))
    want = of_releases["human" if name in HUMAN else "yeast"]
    exec(PREAMBLE, variables := {})
    variables = run_line("hgnc" if name in HUMAN else "sgd_features", releases, variables)
    if name == "trrust":
        variables = run_line("string_info", releases, variables)
    variables = run_line(name, releases, variables)
    if name in SCREENS:
        genes = [text.split("|") for text in variables["table"]["genes"]]
        assert genes == SCREENS[name] and variables["account"]["kept"] == len(genes)
        return
    made = plain(tables(variables["graph"], tmp_path))
    assert made.keys() - {"names"} >= {"gene"}
    for kind in made.keys() - ({"names", "gene"} if name == "hgnc" else set()):
        assert made[kind] == want[kind], kind


def test_all_public_sources_have_a_line():
    assert len(LINES) == 25
