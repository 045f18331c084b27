"""Graphs of tcbuild.sources are those that the Go program made of the same files."""

from __future__ import annotations

import gzip
import hashlib
import inspect
import json
import math
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

pl = pytest.importorskip("polars", reason="polars is not installed")
pytest.importorskip("obonet", reason="obonet is not installed")
pytest.importorskip("pooch", reason="pooch is not installed")

pytest.importorskip("pandas", reason="pandas is not installed")

import tcbuild
from conftest import REPOSITORY
from served import served
from tcbuild import sources
from tcbuild.errors import InputError, SettingsError
from tcbuild.sources import _downloads

EXCERPTS = Path(__file__).parent / "testdata/sources"
SHARED = REPOSITORY.parent / "shared/data"
sys.path.insert(0, str(REPOSITORY / "python/examples"))

import public_sources


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
    """Tables in which NaN is a text, which equals itself."""
    return json.loads(re.sub(r"\b(NaN|Infinity)\b", r'"\1"', json.dumps(tables)))


def test_human(tmp_path):
    graph = sources.human(unpacked("human.txtar", tmp_path))
    assert plain(tables(graph, tmp_path)) == golden("human.json")
    assert graph.account["gene__trrust__gene"]["dropped"] == {"of ambiguous names": 1}
    assert [file["file"] for file in graph.downloads][0] == "hgnc_complete_set.txt"
    assert "gene__trrust__gene: kept 3 of 4 rows" in repr(graph.account)
    row = ("gene__trrust__gene", "4", "3", "1", "1 of ambiguous names")
    html = re.sub(r"\n *", "", graph.account._repr_html_())
    assert "".join(f"<td>{cell}</td>" for cell in row) in html


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


HUMAN = ("hgnc", "string_info", "trrust")
SCREENS = {  # the genes of each sample
    "costanzo2010": [["YAL002W", "YAL010C"]],
    "costanzo2016": [["YAL002W", "YAL010C"]],
    "emap": [["YAL011W", "YAL013W"]],
    "kuzmin2018_links": [["act1-129", "ost3"]],
    "matrix": [["YAL002W"], ["YAL002W"]],
}


TAB2 = "^Organism Interactor .*$"
RELEASES = {  # those that are not called as their functions
    "biogrid_physical": partial(public_sources.biogrid, relation="biogrid_physical"),
    "biogrid_genetic": partial(
        public_sources.biogrid, relation="biogrid_genetic", system="genetic"
    ),
    "biogrid_tab2_physical": partial(
        public_sources.biogrid, relation="biogrid_tab2_physical", organism=TAB2
    ),
    "biogrid_tab2_genetic": partial(
        public_sources.biogrid, relation="biogrid_tab2_genetic", system="genetic", organism=TAB2
    ),
    "binding_lee2002": partial(public_sources.binding, relation="binding_lee2002"),
    "binding_harbison2004": partial(public_sources.binding, relation="binding_harbison2004"),
    "gaf1": public_sources.gaf,
    "costanzo2010": public_sources.costanzo,
    "costanzo2016": public_sources.costanzo,
}
HELPERS = ("protein", "first_name", "biogrid", "binding", "costanzo")
FUNCTIONS = {
    name: function
    for name, function in vars(public_sources).items()
    if inspect.isfunction(function) and name not in HELPERS
} | RELEASES


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> Path:
    return unpacked("releases.txtar", tmp_path_factory.mktemp("releases"))


@pytest.fixture(scope="module")
def of_releases() -> dict:
    return golden("releases.json")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_source(name, releases, of_releases, tmp_path, monkeypatch):
    """Each function of the example makes of an excerpt what the program made of it."""
    monkeypatch.chdir(releases)
    monkeypatch.setattr(sources, "add_edges", partial(sources.add_edges, max_dropped=1))
    want = of_releases["human" if name in HUMAN else "yeast"]
    (file,) = (str(file) for file in releases.glob(f"{name}.*"))
    if name in ("hgnc", "sgd_features"):
        graph = FUNCTIONS[name](file)
    elif name in HUMAN:
        graph = public_sources.hgnc(releases / "hgnc.tsv")
        public_sources.string_info(graph, releases / "string_info.tsv")
    else:
        graph = public_sources.sgd_features(releases / "sgd_features.tsv")
    if name in SCREENS:
        table, account = FUNCTIONS[name](graph, file)
        assert [text.split("|") for text in table["genes"]] == SCREENS[name]
        assert account["kept"] == len(table)
        return
    if name not in ("hgnc", "sgd_features", "string_info"):
        FUNCTIONS[name](graph, file)
    made = plain(tables(graph, tmp_path))
    assert made.keys() - {"names"} >= {"gene"}
    for kind in made.keys() - ({"names", "gene"} if name == "hgnc" else set()):
        assert made[kind] == want[kind], kind


def test_all_public_sources_are_tried():
    assert len(FUNCTIONS) == 25


DISTILLED = ["small.xml", "old.sbml", "unquoted.yml", "go.obo", "pairs.tsv"]


@pytest.mark.parametrize("name", DISTILLED)
def test_distilled(name, tmp_path):
    folder = unpacked("distilled.txtar", tmp_path)
    known = sources.table(folder / "genes.tsv").filter(pl.col("id").is_not_null())
    orf = pl.col("kind") == "ORF"
    graph = sources.genes(known, "id", name="name", aliases=["ali"], where=orf, ignore_case=True)
    if name == "go.obo":
        sources.add_ontology(graph, folder / name, sources.gaf(folder / "go.gaf"))
    elif name == "pairs.tsv":
        pairs = sources.table(folder / name, numbers=["w"])
        for relation, undirected in (("r", True), ("top", False)):
            sources.add_edges(
                graph, relation, pairs, src="a", dst="b", weight="w", undirected=undirected
            )
        key = ("gene", "top", "gene")
        rank = pl.col("w").fill_nan(None).rank("ordinal", descending=True).over("dst")
        graph[key] = graph[key].filter(rank <= 1)
    else:
        combinations = name != "small.xml"
        sources.add_model(graph, folder / name, combinations=combinations, max_dropped=1)
    made, want = plain(tables(graph, tmp_path)), golden("distilled.json")[name]
    assert {kind: made[kind] for kind in made if kind in want or kind not in BOTH} == want


BOTH = ("gene", "names")  # which only one case has


def test_edges_are_a_plain_readers(seed, tmp_path):
    """Random edge lists, against a loop over rows."""
    random = Random(seed)
    known = {"A": "A", "a1": "A", "B": "B", "b1": "B", "C": "C", "x": None, "both": None}
    for _ in range(30):
        rows = [
            (random.choice([*known]), random.choice([*known]), random.choice([0.0, 1.0, 2.5, None]))
            for _ in range(random.randrange(1, 40))
        ]
        undirected = random.random() < 0.5
        graph = sources.genes(
            pl.DataFrame({"id": ["A", "B", "C"], "n": ["a1|both", "b1|both", None]}),
            "id",
            aliases=["n"],
        )
        want, met = [], set()
        for a, b, weight in rows:
            pair = (known[a], known[b])
            key = frozenset(pair) if undirected else object()
            if weight and None not in pair and key not in met:
                met.add(key)
                want.append((*pair, weight))
        table = pl.DataFrame(rows, ["a", "b", "w"], orient="row")
        options = {"src": "a", "dst": "b", "weight": "w", "where": pl.col("w") != 0}
        try:
            sources.add_edges(graph, "r", table, undirected=undirected, max_dropped=1, **options)
        except InputError:
            assert not want
            continue
        assert graph["gene", "r", "gene"].rows() == want
        account = graph.account["gene__r__gene"]
        assert account["rows"] == account["kept"] + sum(account["dropped"].values())


WRONG = {
    "a name of several": ({"a": ["A|B"]}, {}, r"row 1: found 'A\|B', expected one name"),
    "no name": ({"a": ["B", None]}, {}, r"row 2: found None"),
    "filtered": ({"a": ["", " A"]}, {"where": pl.col("a") != ""}, r"row 2: found ' A'"),
    "no column": ({"a": ["A"]}, {"src": "z"}, r'gene__r__gene: unable to find column "z"'),
    "text": ({"a": ["A"]}, {"weight": "a"}, r"column a is String, expected numbers"),
    "unknown": ({"a": ["x", "y", "A"]}, {}, r"2 of unknown genes; unknown names: x, y"),
    "nothing": ({"a": ["A"]}, {"where": pl.col("a") == "B"}, r"kept 0 of 1 rows"),
    "nodes": ({"a": ["A"]}, {"relation": ("gene", "r", "complex")}, r"has no nodes complex"),
    "relation": ({"a": ["A"]}, {"relation": "r/s"}, r"found relation 'r/s'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_edges(case, graph):
    columns, options, message = WRONG[case]
    given = {"relation": "r", "src": "a", "dst": "a", "undirected": False} | options
    relation = given.pop("relation")
    with pytest.raises(InputError, match=message) as error:
        sources.add_edges(graph, relation, pl.DataFrame(columns), **given)
    assert len(str(error.value).splitlines()) == 2


FILES = {
    "ragged": (b"a\tb\nA\tB\tC\n", r"found more fields"),
    "cut off": (b"a\tb\tw\nA\tB\t1\nA\tC", r"row 2: found 2 fields, expected 3"),
    "number": (b"a\tb\tw\nA\tB\t0,5\n", r"row 1, column w: found '0,5', expected a finite number"),
    "infinite": (b"a\tb\tw\nA\tB\tinf\n", r"row 1, column w: found 'inf'"),
    "no column": (b"a\tb\nA\tB\n", r"found columns a, b, expected w"),
    "latin": (b"a\tb\tw\nA\tcaf\xe9\t1\n", r"invalid utf-8"),
}


@pytest.mark.parametrize("case", FILES)
def test_wrong_files(case, tmp_path):
    content, message = FILES[case]
    (tmp_path / "pairs.tsv").write_bytes(content)
    with pytest.raises(InputError, match=rf"(?i)read .*pairs.tsv: {message}") as error:
        sources.table(tmp_path / "pairs.tsv", numbers=["w"])
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize("text", ["A;B\nC;1\n", "\tA\tA\nC\t1\t2\n", "A\nC\t1\t2\n"])
def test_wrong_matrices(text, tmp_path):
    """Another separator, a repeated name, and a name too few."""
    (tmp_path / "matrix.tsv").write_text(text)
    with pytest.raises(InputError, match=r"matrix.tsv: found \d names over \d columns"):
        sources.matrix(tmp_path / "matrix.tsv")


@pytest.mark.parametrize("number", ["0", "3", "-1", "1.0"])
def test_numbers_of_no_line(number, graph, tmp_path):
    (tmp_path / "list.txt").write_text("A\nB\n")
    (tmp_path / "pairs.tsv").write_text(f"1\t2\t1\n{number}\t2\t1\n")
    with pytest.raises(InputError, match="string9_1__gene: incomplete mapping"):
        public_sources.string_dango(graph, tmp_path / "pairs.tsv", tmp_path / "list.txt")


MODELS = {
    "found no section reactions": "metabolites: [{id: m}]\n",
    "found reaction 'r' 2 times": "reactions: [{id: r, metabolites: {m: 1}}, "
    "{id: r, metabolites: {m: 1}}]\nmetabolites: [{id: m}]\n",
    "expected keys, each once": "metabolites: [{id: m, id: n}]\nreactions: []\n",
    "metabolites lack 'n'": "metabolites: [{id: m}]\nreactions: [{id: r, metabolites: {n: 1}}]\n",
    "found the end, expected a gene": "metabolites: [{id: m}]\n"
    "reactions: [{id: r, metabolites: {m: 1}, gene_reaction_rule: A or}]\n",
}


@pytest.mark.parametrize("message", MODELS)
def test_wrong_models(message, graph, tmp_path):
    (tmp_path / "model.yml").write_text(MODELS[message])
    with pytest.raises(InputError, match=message):
        sources.add_model(graph, tmp_path / "model.yml")


def test_yaml_scalars_are_text(graph, tmp_path):
    (tmp_path / "model.yml").write_text(
        "metabolites: [{id: NO}, {id: 1e5}]\n"
        "reactions: [{id: on, metabolites: {NO: -1, 1e5: 1e-05}, gene_reaction_rule: null}]\n"
    )
    sources.add_model(graph, tmp_path / "model.yml")
    assert graph["metabolite"]["id"].to_list() == ["NO", "1e5"]
    sides = graph["reaction", "rmr", "metabolite"].rows()
    assert sides == [("on", "NO", -1.0), ("on", "1e5", 1e-05)]
    assert graph["reaction"]["gpr"].to_list() == [""]


def test_downloads(tmp_path, monkeypatch, caplog):
    (tmp_path / "web").mkdir()
    for name in ("plain.txt", "same.txt.gz", "changes.txt"):
        content = gzip.compress(b"content\n") if name.endswith(".gz") else b"content\n"
        (tmp_path / "web" / name).write_bytes(content)
    right, wrong = hashlib.sha256(b"content\n").hexdigest(), "0" * 64
    data = tmp_path / "data"
    with served(tmp_path / "web") as server:

        def fetch(*files: tuple[str, str, str, str]) -> list[dict]:
            lines = ["preset\tfile\taddress\tsha256\tchanges"]
            lines += ["\t".join(["p", f, f"{server.url}/{a}", s, c]) for f, a, s, c in files]
            (tmp_path / "listed.tsv").write_text("\n".join(lines) + "\n")
            monkeypatch.setattr(_downloads, "_LISTED", tmp_path / "listed.tsv")
            return _downloads.fetch("p", data)

        found = fetch(
            ("in/plain.txt.gz", "plain.txt", right, "no"),  # compressed here
            ("same.txt.gz", "same.txt.gz", right, "no"),
            ("changes.txt", "changes.txt", wrong, "yes"),
        )
        assert [file["sha256"] for file in found] == [right] * 3
        assert gzip.decompress((data / "in/plain.txt.gz").read_bytes()) == b"content\n"
        assert "changes.txt differs from the release of the recipe" in caplog.text
        assert server.requests and len(server.requests) == 3
        (data / "same.txt.gz").write_bytes(gzip.compress(b"my own\n"))
        caplog.clear()
        fetch(("same.txt.gz", "same.txt.gz", right, "no"))  # there: never replaced
        assert gzip.decompress((data / "same.txt.gz").read_bytes()) == b"my own\n"
        assert "same.txt.gz differs" in caplog.text and len(server.requests) == 3
        with pytest.raises(InputError, match=f"sha256 {right}, expected {wrong}"):
            fetch(("other.txt", "plain.txt", wrong, "no"))
        with pytest.raises(InputError, match="download .*absent.txt: 404"):
            fetch(("absent.txt", "absent.txt", "", "no"))
    assert sorted(os.listdir(data)) == ["changes.txt", "in", "same.txt.gz"]


NOTEBOOK = """
import sys, types, warnings
import IPython
from tcbuild import _program
from tcbuild.sources import _downloads
sys.modules |= {"ipykernel.zmqshell": types.ModuleType("ipykernel.zmqshell"), "ipywidgets": None}
warnings.simplefilter("always")
_downloads._downloader()
_program._Run([], {}, None)._show("build", 1, 2)
"""


def test_bars_need_no_widgets():
    """Importing tqdm.auto warns in notebooks without ipywidgets."""
    pytest.importorskip("IPython")
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], cwd=REPOSITORY / "python", capture_output=True, text=True
    )
    assert done.returncode == 0 and "TqdmWarning" not in done.stderr, done.stderr


def test_a_missing_library_is_named():
    command = "import sys; sys.modules['obonet'] = None; import tcbuild.sources"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=REPOSITORY / "python", capture_output=True, text=True
    )
    assert "tcbuild.sources needs the package obonet\nhint: pip install 'tcbuild[sources]'" in (
        done.stderr
    )


@pytest.mark.slow
def test_the_benchmark_runs(tmp_path):
    benchmark = REPOSITORY / "python/benchmarks/sources.py"
    command = [sys.executable, benchmark, "human", "--data", tmp_path / "made", "--links", "1000"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and " s of CPU" in done.stdout, done.stderr


def test_tables_of_other_libraries(graph, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    graph["gene__own__gene"] = pandas.DataFrame({"src": ["A"], "dst": ["B"], "w": [1.5]})
    graph["complex"] = pa.table({"id": ["c1"]})
    sources.add_edges(
        graph,
        ("gene", "part_of", "complex"),
        pandas.DataFrame({"a": ["a1"], "b": ["c1"]}),
        src="a",
        dst="b",
        undirected=False,
    )
    made = tables(graph, tmp_path)
    assert made["gene__own__gene"] == {"src": ["A"], "dst": ["B"], "w": [1.5]}
    assert made["gene__part_of__complex"] == {"src": ["A"], "dst": ["c1"]}
    assert len(graph.prune()["gene", "own", "gene"]) == 1


@pytest.mark.parametrize(
    "content", [None, gzip.compress(b"metabolites: []\n" * 99)[:-20]], ids=["absent", "cut off"]
)
def test_absent_and_cut_off_files(content, graph, tmp_path):
    for name in ("pairs.tsv.gz", "model.yml.gz", "go.obo.gz"):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=rf"{name}: \S"):
            if name == "pairs.tsv.gz":
                sources.table(tmp_path / name)
            elif name == "model.yml.gz":
                sources.add_model(graph, tmp_path / name)
            else:
                sources.add_ontology(graph, tmp_path / name, pl.DataFrame())
