"""tcbuild.build and what else runs the program give what the command line gives, and its errors."""

from __future__ import annotations

import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tcbuild as reader
from cases import Case, write_case
from conftest import REPOSITORY
from tcbuild import _program

CASE = Case("of every form", attributes=("medium", "temperature"), shards=3)
SETTINGS = {"attributes": list(CASE.attributes), "reaction_rule": "gpr"}


@pytest.fixture(autouse=True)
def program(tcbuild, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> tuple[Path, Path]:
    """A graph's folder and a perturbation set."""
    return write_case(CASE, tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def frame(case) -> pd.DataFrame:
    """The perturbation set as pandas has it, with genes in two forms."""
    table = reader_table(case[1])
    return table.to_pandas()


def reader_table(path: Path) -> pa.Table:
    if path.suffix == ".arrow":
        return pa.ipc.open_file(path).read_all()
    return pa.Table.from_pandas(pd.read_csv(path, sep="\t"), preserve_index=False)


def data_files(dataset: Path) -> dict[str, bytes]:
    """The content of all files but those that name the program, the input and the run."""
    return {
        str(path.relative_to(dataset)): path.read_bytes()
        for path in dataset.rglob("*")
        if path.is_file() and path.name not in ("manifest.json", "run.json")
    }


def by_command(tcbuild, graph: Path, samples: Path, out: Path, *options: str) -> dict[str, bytes]:
    words = ["--attributes", ",".join(CASE.attributes), "--reaction-rule", "gpr", *options]
    tcbuild.run("incidence", "--graph", graph, "--perturbations", samples, "--out", out, *words)
    return data_files(out)


def arrow(table: pa.Table, path: Path) -> Path:
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    return path


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "index", "path"])
def test_samples_are_the_command_lines(tcbuild, case, frame, tmp_path, form):
    graph, path = case
    plain = pa.Table.from_pandas(frame, preserve_index=False)
    written = arrow(plain, tmp_path / "set.arrow")
    want = by_command(tcbuild, graph, path if form == "path" else written, tmp_path / "want")
    samples = {
        "pandas": lambda: frame[::-1][::-1].set_axis(np.arange(len(frame)) * 3),
        "polars": lambda: pytest.importorskip("polars").from_pandas(frame),
        "arrow": lambda: plain,
        "index": lambda: frame.set_index(frame.columns[0]),
        "path": lambda: path,
    }[form]()
    dataset = reader.build(graph, samples, out=tmp_path / "got", **SETTINGS)
    assert data_files(tmp_path / "got") == want
    assert len(dataset) == len(frame) and dataset.verify()["differences"] == 0
    assert sorted(os.listdir(tmp_path)) == ["got", "set.arrow", "want"]
    again = reader.build(graph, samples, out=tmp_path / "got", **SETTINGS)  # nothing to do
    assert len(again) == len(dataset)


def test_lists_of_genes(tcbuild, case, tmp_path):
    genes = [["G1", "G0"], ("G2",)]
    graph = {"gene": pd.DataFrame({"id": ["G0", "G1", "G2"]})}
    dataset = reader.build(graph, genes, out=tmp_path / "dataset")
    assert [sample.deleted.tolist() for sample in dataset] == [[0, 1], [2]]
    none = reader.build(graph, None, out=tmp_path / "none")
    assert len(none) == 0


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_graphs_are_the_command_lines(tcbuild, case, tmp_path, form):
    graph, samples = case
    want = by_command(tcbuild, graph, samples, tmp_path / "want")
    made = {}
    for path in (tmp_path / "want/graph").rglob("*.arrow"):  # with every column
        kind = tuple(path.stem.split("__")) if "__" in path.stem else path.stem
        made[kind] = reader_table(path).to_pandas()
        if form == "polars":
            made[kind] = pytest.importorskip("polars").from_pandas(made[kind])
    reader.build(made, samples, out=tmp_path / "got", **SETTINGS)
    assert data_files(tmp_path / "got") == want


def test_any_table(tmp_path):
    """The settings are those of the program, and its hints name them as Python does."""
    graph = {"gene": pd.DataFrame({"id": ["A", "B"]})}
    frame = pd.DataFrame({"a": ["A", "ctrl"], "b": ["B", "A"], "score": [0.5, 0.25]})
    columns = ["a", "b"]
    with pytest.raises(
        reader.errors.InputError,
        match=r'"ctrl" .*\nhint: .* pass controls="ctrl"; .* unknown_genes="drop-sample"$',
    ):
        reader.build(graph, frame, tmp_path / "dataset", genes_columns=columns)
    dataset = reader.build(
        graph, frame, tmp_path / "dataset", genes_columns=columns, controls=["ctrl"]
    )
    assert [sample.deleted.tolist() for sample in dataset] == [[0, 1], [0]]
    assert dataset.phenotype("score").tolist() == [0.5, 0.25]
    (tmp_path / "more.yaml").write_text("controls: [ctrl]\nattributes: [score]\n")
    config = {"config": tmp_path / "more.yaml", "genes_columns": columns}
    assert reader.build(graph, frame, tmp_path / "other", **config).phenotype_names == []
    data = pytest.importorskip("torch_geometric.data").HeteroData()
    data["gene"].node_ids, data["gene", "physical", "gene"].adj_t = ["A", "B"], None
    with pytest.raises(reader.errors.InputError, match="gene__physical__gene has no edge_index"):
        reader.build(data, frame, tmp_path / "third", **config)


def test_heterodata_is_the_command_lines(tcbuild, tmp_path):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").HeteroData()
    random = np.random.default_rng(0)
    ends = {name: random.integers(0, 4, (2, 9)) for name in ("physical", "gpr", "rmr")}
    weights = random.normal(size=(9, 2)).astype(np.float32)
    genes, reactions = ["A", "B", "C", "D"], ["r0", "r1", "r2", "r3"]
    rules = ["A and B", "", "C or D", "B"]
    data["gene"].node_ids, data["gene"].x = genes, torch.ones(4, 3)
    data["reaction"].node_ids, data["reaction"].gpr = reactions, rules
    data["metabolite"].num_nodes = 4
    data["gene", "physical", "gene"].edge_index = torch.from_numpy(ends["physical"])
    data["gene", "physical", "gene"].edge_attr = torch.from_numpy(weights)
    data["gene", "gpr", "reaction"].edge_index = torch.from_numpy(ends["gpr"])
    data["reaction", "rmr", "metabolite"].edge_index = torch.from_numpy(ends["rmr"])
    data["reaction", "rmr", "metabolite"].stoichiometry = torch.arange(9.0)
    data.notes = {"of": "all"}

    def index(name: str) -> dict:
        return {"src_index": ends[name][0], "dst_index": ends[name][1]}

    ones = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(12, np.float32)), 3)
    two = pa.FixedSizeListArray.from_arrays(pa.array(weights.ravel()), 2)
    tables = {
        "nodes/gene": {"id": genes, "x": ones},
        "nodes/reaction": {"id": reactions, "gpr": rules},
        "nodes/metabolite": {"id": [0, 1, 2, 3]},
        "edges/gene__physical__gene": index("physical") | {"edge_attr": two},
        "edges/gene__gpr__reaction": index("gpr"),
        "edges/reaction__rmr__metabolite": index("rmr")
        | {"stoichiometry": np.arange(9.0, dtype="f")},
    }
    for name, columns in tables.items():
        (tmp_path / "graph" / name).parent.mkdir(parents=True, exist_ok=True)
        arrow(pa.table(columns), tmp_path / "graph" / f"{name}.arrow")
    samples = [["A"], ["B", "C"], ["C", "D"]]
    got = reader.build(data, samples, tmp_path / "got", reaction_rule="gpr")
    reader.build(tmp_path / "graph", samples, tmp_path / "want", reaction_rule="gpr")
    assert data_files(tmp_path / "got") == data_files(tmp_path / "want")
    again = pytest.importorskip("tcbuild.pyg").cell_graph(got)
    reader.build(again, samples, tmp_path / "again", reaction_rule="gpr")
    assert data_files(tmp_path / "again") == data_files(tmp_path / "got")
    del data["gene"].node_ids
    with pytest.raises(reader.errors.InputError, match="its genes have no names\nhint: name them"):
        reader.build(data, samples, tmp_path / "other")


def test_other_variants(tcbuild, case, frame, tmp_path):
    dataset = reader.build(
        case[0], frame, tmp_path / "indices", mode="indices", codec="delta", shards=3, **SETTINGS
    )
    assert (dataset.variant, dataset.codec) == ("indices", "delta")


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"samples": [["NOPE"]]}, "InputError", r'samples \(list\) row 0: gene "NOPE" is not in'),
        (
            {"samples": pd.DataFrame({"genes": ["NOPE"]})},
            "InputError",
            r"samples \(DataFrame\) row",
        ),
        ({"samples": pd.DataFrame({"genes": [1, "a"]})}, "InputError", r"read samples \(DataFrame"),
        ({"samples": ["G0"]}, "InputError", "found 'G0' in the list, expected a list of genes"),
        ({"samples": 3}, "InputError", "found int"),
        (
            {"graph": {"gene": pd.DataFrame({"name": ["a"]})}},
            "InputError",
            r"nodes graph \(gene\): found columns name",
        ),
        (
            {"graph": {("gene", "ppi", "gene"): pd.DataFrame({"src": ["a"], "dst": ["b"]})}},
            "InputError",
            r"graph \(gene\): found no table\nhint: set graph\['gene'\] = a table with a column id",
        ),
        (
            {"graph": {"gene": ["A", "B"]}},
            "InputError",
            r"graph \(gene\): found a list, expected a table\nhint: .* with a column id",
        ),
        (
            {"graph": {"gene": pd.DataFrame({"id": ["A"]}), ("gene", "p", "gene"): [("A", "A")]}},
            "InputError",
            r"gene__p__gene\): found a list, .*\nhint: .* with columns src and dst",
        ),
        ({"graph": "/no/such"}, "BuildError", "/no/such: found no such folder"),
        ({"sampels": 3}, "SettingsError", 'unknown setting "sampels"'),
        ({"reaction_rule": "any"}, "SettingsError", "expected all or gpr"),
        ({"max_dropped": [1]}, "SettingsError", "max_dropped"),
    ],
)
def test_errors(case, frame, tmp_path, change, kind, message):
    """Each is one line and a hint, names no temporary file, and leaves nothing."""
    settings = {} if "samples" in change else SETTINGS
    given = {"graph": case[0], "samples": frame, **settings} | change
    with pytest.raises(getattr(reader.errors, kind), match=message) as caught:
        reader.build(out=tmp_path / "dataset", **given)
    assert type(caught.value).__name__ == kind and caught.value.hint
    assert "\n" not in caught.value.message and str(tmp_path) not in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_existing_output_is_kept(case, frame, tmp_path):
    reader.build(case[0], frame, tmp_path / "dataset", **SETTINGS)
    before = data_files(tmp_path / "dataset")
    with pytest.raises(reader.errors.SettingsError, match="dataset"):
        reader.build(case[0], frame[:5], tmp_path / "dataset", **SETTINGS)
    assert data_files(tmp_path / "dataset") == before


def test_log_and_account(case, frame, tmp_path, caplog, monkeypatch):
    with caplog.at_level(logging.INFO, "tcbuild"):
        reader.build(case[0], frame, tmp_path / "dataset", **SETTINGS)
    assert any(record.getMessage().startswith("read graph  genes=") for record in caplog.records)
    assert f"{len(frame)} samples" in caplog.messages[-1]


def stand_in(folder: Path, text: str) -> None:
    """A program of that name which does something else."""
    (folder / "tcbuild").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "tcbuild").chmod(0o755)


BUILD = {"version": _program.VERSION, "format_version": _program.FORMAT_VERSION}
VERSION = f"[ \"$1\" = version ] && echo '{json.dumps(BUILD)}' && exit 0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('echo \'{"version": "0.0.9"}\'', "found version 0.0.9, expected"),
        (f"echo '{json.dumps(BUILD | {'format_version': 4})}'", "found format_version 4, expected"),
        ("printf 'tcbuild: no Go\\nhint: install it\\n' >&2; exit 1", "^no Go\nhint: install it$"),
        (f"{VERSION}\nkill -9 $$", "it ended with signal 9\nhint: "),
        (f"{VERSION}\nexit 7", "it ended with exit code 7\nhint: "),
    ],
)
def test_other_programs(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(_program.sysconfig, "get_path", lambda _: str(tmp_path))
    stand_in(tmp_path, text)
    with pytest.raises(reader.errors.BuildError, match=message):
        _program.run("diff", "a", "b")


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("choose --reaction-rule=all", 'choose reaction_rule="all"'),
        (
            "write --controls=ctrl,non-targeting; or not",
            'write controls="ctrl,non-targeting"; or not',
        ),
        ('with --attributes="a \\"b\\" c"', 'with attributes="a \\"b\\" c"'),
        ("with --phenotypes, or --attributes", "with phenotypes, or attributes"),
        ("set allow_wildtype=true to train", "set allow_wildtype=True to train"),
        ('add gene_delimiter=";"', 'add gene_delimiter=";"'),
        ("tcbuild dataset --help", "tcbuild dataset --help"),
    ],
)
def test_hints_are_python(hint, shown):
    assert _program._as_keywords(hint) == shown


def test_no_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_program.sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(reader.errors.BuildError, match="neither in this environment nor in PATH"):
        _program.run("diff", "a", "b")
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(reader.errors.BuildError, match="hint: build on Linux"):
        _program.run("diff", "a", "b")


def test_version(tcbuild):
    assert json.loads(tcbuild.run("version", "--json").stdout)["version"] == reader.__version__


def test_progress(tmp_path, monkeypatch, capsys):
    """A bar shows the program's numbers, also of a stage of unknown length."""
    monkeypatch.setattr(_program.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(_program, "_shell", lambda: True)  # a bar, though this is no terminal
    bars = pytest.importorskip("tqdm")
    seen = []
    monkeypatch.setattr(bars, "tqdm", lambda **options: Bar(seen, **options))
    lines = [("survey", 5, 0), ("build", 10, 40), ("build", 40, 40)]
    records = [
        json.dumps({"level": "INFO", "msg": stage, "done": done, "total": total, "bytes": 1})
        for stage, done, total in lines
    ]
    stand_in(tmp_path, VERSION + "".join(f"\necho '{record}' >&2" for record in records))
    assert _program.run("diff", "a", "b") == []
    assert seen == [("survey", None, 5), ("build", 40, 10), ("build", 40, 40)]


class Bar:
    def __init__(self, seen: list, total: int | None, **_: object):
        self.seen, self.total, self.n, self.desc = seen, total, 0, ""

    def update(self, more: int) -> None:
        self.n += more
        self.seen.append((self.desc, self.total, self.n))

    def close(self) -> None: ...


LONG = """
import itertools, sys, tcbuild
genes = [f"G{number}" for number in range(60)]
graph = {"gene": __import__("pandas").DataFrame({"id": genes})}
samples = list(itertools.combinations(genes, 4))
settings = dict(mode="full-masks", codec="raw", workers=1, shards=40)
tcbuild.build(graph, samples, sys.argv[1], **settings)
"""


def processes_of(out: Path) -> list[int]:
    """The program's processes that build there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended
            continue
        if f"--out={out}" in words:
            found.append(int(path.parent.name))
    return found


def wait_for(condition) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_build(tmp_path, number):
    """Ctrl-C in a terminal or notebook ends the program, and the tables written for it."""
    out = tmp_path / "dataset"
    code = LONG
    if number == signal.SIGTERM:  # which Python turns into an exception only if it is told so
        code = "import signal; signal.signal(15, lambda *_: sys.exit(9)); " + LONG.lstrip()
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(out)], env=environment, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: processes_of(out) and any(tmp_path.glob("*.building*")))
    child.send_signal(number)
    _, said = child.communicate(timeout=60)
    assert child.returncode == (9 if number == signal.SIGTERM else -signal.SIGINT), said
    assert processes_of(out) == []
    assert not out.exists() and not [*tmp_path.glob(".dataset.tcbuild-*")]


def test_a_killed_process_leaves_what_the_next_build_removes(tmp_path):
    out = tmp_path / "dataset"
    command = [sys.executable, "-c", LONG, str(out)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    child = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    wait_for(lambda: processes_of(out) and any(tmp_path.glob("*.building*")))
    child.kill()
    child.wait()
    assert len(left := [*tmp_path.glob(".dataset.tcbuild-*/samples.arrow")]) == 1
    for program in processes_of(out):
        os.kill(program, signal.SIGKILL)
    wait_for(lambda: not processes_of(out))
    reader.build({"gene": pd.DataFrame({"id": ["A"]})}, [["A"]], out)
    assert not left[0].parent.exists()


def test_timeout(tmp_path):
    genes = [f"G{number}" for number in range(60)]
    samples = list(itertools.combinations(genes, 4))
    with pytest.raises(reader.errors.BuildError, match="SIGTERM\nhint: run the same") as caught:
        reader.build(
            {"gene": pd.DataFrame({"id": genes})},
            samples,
            tmp_path / "dataset",
            mode="full-masks",
            codec="raw",
            workers=1,
            shards=40,
            timeout=0.2,
        )
    assert caught.value.code == 75
    assert not [*tmp_path.glob(".dataset.tcbuild-*")]


@pytest.mark.parametrize("form", ["memory", "h5ad", "zarr", "backed"])
def test_cells_are_the_command_lines(tcbuild, tmp_path, form):
    anndata = pytest.importorskip("anndata")
    random = np.random.default_rng(2)
    obs = pd.DataFrame(
        {
            "genes": random.choice(["A", "B|A", "C"], 50),
            "cell_type": pd.Categorical(random.choice(["T", "NK"], 50)),
            "dose": random.random(50),
        },
        index=[f"cell{number}" for number in range(50)],
    )
    cells = anndata.AnnData(np.zeros((50, 3), np.float32), obs=obs)
    samples = path = tmp_path / f"screen.{'zarr' if form == 'zarr' else 'h5ad'}"
    if form == "zarr":
        cells.write_zarr(path)
    else:
        cells.write_h5ad(path)
    if form == "memory":
        samples = cells
    elif form == "backed":
        samples = anndata.read_h5ad(path, backed="r")
    graph = {"gene": pd.DataFrame({"id": ["A", "B", "C"]})}
    dataset = reader.build(graph, samples, tmp_path / "got", attributes=["cell_type"])
    assert dataset.column("sample_id").tolist() == obs.index.tolist()
    table = pa.Table.from_pandas(obs.reset_index(names="sample_id"), preserve_index=False)
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes/gene.tsv").write_text("id\nA\nB\nC\n")
    file = arrow(table, tmp_path / "set.arrow")
    words = ["--attributes", "cell_type"]
    command = ["incidence", "--graph", tmp_path / "graph", "--perturbations", file]
    tcbuild.run(*command, "--out", tmp_path / "want", *words)
    assert data_files(tmp_path / "got") == data_files(tmp_path / "want")


def test_a_folder_that_cannot_be_written():
    with pytest.raises(reader.errors.BuildError, match="write /proc/new/out: No such file"):
        reader.build({"gene": pd.DataFrame({"id": ["A"]})}, [["A"]], "/proc/new/out")
