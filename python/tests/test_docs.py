"""Every code block of the README and of docs/*.md for users does what it says.

Blocks of a section run in order, in a folder with what its reader has already: ```sh blocks by
bash, ```python blocks in one interpreter, ```r and ```julia blocks where TCBUILD_PROGRAMS names
their programs; a ```text block shows what the block before it prints.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import test_torchcell
from conftest import NO_GARBAGE, PROGRAMS, REPOSITORY, Tcbuild
from served import served
from tcbuild.errors import InputError

COMPARISON = "docs/comparison.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


OTHERS = {"r": "Rscript", "julia": "julia"}


def sections(page: str) -> dict[str, list[tuple[str, str]]]:
    """The blocks of each section, by its heading: language and code."""
    parts = re.split("^## (.*)$", (REPOSITORY / page).read_text(encoding="utf-8"), flags=re.M)
    found = {title: BLOCK.findall(text) for title, text in zip(parts[1::2], parts[2::2])}
    return {title: blocks for title, blocks in found.items() if blocks}


def code(page: str, section: str, number: int = 0) -> str:
    return sections(page)[section][number][1]


def shell(tcbuild: Tcbuild, folder: Path, commands: str) -> str:
    """Runs commands with the program in PATH; what they print."""
    (bin := folder / ".bin").mkdir(exist_ok=True)
    if not (bin / "tcbuild").exists():
        (bin / "tcbuild").symlink_to(tcbuild.binary)
    path = f"{bin}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    package = {"PATH": path, "PYTHONPATH": str(REPOSITORY / "python")}
    environment = os.environ | NO_GARBAGE | package
    command = ["bash", "-euo", "pipefail", "-c", commands]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
    return done.stdout


def shape(text: str) -> list[list[str]]:
    """The words of each line, whatever the numbers, units and digests."""
    text = re.sub(r"\b[0-9a-f]{12}…|[0-9][0-9.,]*( (k?M?B|[mµn]?s)\b)?", "N", text)
    return [line.split() for line in text.strip().splitlines()]


def run(tcbuild: Tcbuild, folder: Path, page: str, section: str, **variables: object) -> dict:
    """Runs the blocks above all sections, then a section's, in the current folder; returns the
    variables of its Python.
    """
    variables |= {"__name__": "__main__"}
    above = (REPOSITORY / page).read_text(encoding="utf-8").partition("\n## ")[0]
    for language, text in BLOCK.findall(above) + sections(page)[section]:
        if language == "sh":
            shell(tcbuild, folder, text)
        elif language in OTHERS:
            if OTHERS[language] in PROGRAMS:
                (folder / "script").write_text(text)
                subprocess.run([OTHERS[language], "script"], cwd=folder, check=True)
        else:
            assert language == "python", language
            exec(text, variables)
    return variables


def want_mask(mask: dict) -> np.ndarray:
    kept = np.ones(mask["size"], bool)
    kept[mask["removed"]] = False
    return kept


def stays(mask: dict) -> str:
    """A mask as the pages write it."""
    return "".join("01"[keep] for keep in want_mask(mask).astype(int))


@pytest.fixture(scope="module")
def quickstart(tcbuild, tmp_path_factory):
    """The quickstart of the Makefile, with the smaller scale; and what it printed."""
    folder = tmp_path_factory.mktemp("quickstart")
    cell = folder / "data/synthetic"
    tcbuild.run("synth", "--samples", "100", "--out", cell)
    inputs = f"graph={cell}/graph", f"perturbations={cell}/perturbations.arrow"
    command = "rebuild", "--config", REPOSITORY / "conf/quickstart.yaml", f"root={folder}/data"
    (folder / "printed").write_text(tcbuild.run(*command, *inputs).stdout)
    return folder


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def dataset(tcbuild, work) -> Path:
    """`dataset`, of a synthetic perturbation set."""
    tcbuild.run("synth", "--out", work / "cell", "--samples", "100")
    source = ("--graph", work / "cell/graph", "--perturbations", work / "cell/perturbations.arrow")
    tcbuild.run("incidence", *source, "--out", work / "dataset")
    return work / "dataset"


# The README


def test_no_block_of_the_readme_is_left_out():
    """A new block needs a test below."""
    numbers = {title: len(blocks) for title, blocks in sections("README.md").items()}
    assert numbers == {
        "Install": 1,
        "In Python": 1,
        "Quickstart": 1,
        "Training": 1,
        "From a shell": 1,
    }


def test_in_python(tcbuild, work, monkeypatch, capsys):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    variables = run(tcbuild, work, "README.md", "In Python")
    assert variables["sick"].phenotype("fitness").tolist() == [0.4, 0.7, 0.6]
    assert [len(part) for part in variables["parts"].values()] == [3, 2]
    assert capsys.readouterr().out.startswith("[False False  True]\ntrain: 3 samples\ntest: 2")


def test_quickstart(quickstart):
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)`", readme):
        subprocess.run(["make", "-n", target], cwd=REPOSITORY, check=True, capture_output=True)
    assert "rebuild --config conf/quickstart.yaml\n" in (REPOSITORY / "Makefile").read_text()
    printed = code("README.md", "Quickstart")
    assert shape(printed) == shape((quickstart / "printed").read_text())


def test_install():
    """test-dist.sh installs ./python."""
    assert "sudo apt install git make gcc g++ python3-venv\n" in code("README.md", "Install")
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    project = (REPOSITORY / "python/pyproject.toml").read_text()
    (extras,) = re.findall(r"optional-dependencies\]\n(.*?)\n\n", project, re.DOTALL)
    named = re.findall(r"`(?:pip install './python)?\[(\w+)\]'?`", readme)
    assert named == re.findall(r"^\w+", extras, re.M)


def test_from_a_shell(tcbuild, work):
    tcbuild.run("synth", "--out", work / "cell", "--samples", "20")
    samples = pa.ipc.open_file(work / "cell/perturbations.arrow").read_pandas()
    samples["genes"] = samples["genes"].map("|".join)
    samples.to_csv(work / "screen.tsv", sep="\t", index=False)
    run(tcbuild, work, "README.md", "From a shell")


def test_training(tcbuild, quickstart, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(quickstart)
    variables = run(tcbuild, quickstart, "README.md", "Training")
    shown = tcbuild.samples(quickstart / "data/quickstart/current/full-masks", 100)
    last = shown[-len(variables["batch"]) :]
    kept = [want_mask(sample["masks"]["gene__physical__gene"]) for sample in last]
    assert np.array_equal(variables["masks"].cpu(), kept)
    assert variables["target"].tolist() == [sample["phenotypes"]["fitness"] for sample in last]


def test_in_place_of_torchcells_dataset(tcbuild, quickstart, monkeypatch):
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    monkeypatch.chdir(quickstart)
    variables = run(tcbuild, quickstart, COMPARISON, "In place of torchcell's dataset")
    batch = next(iter(variables["loader"])).to("cpu")
    first = tcbuild.samples(quickstart / "data/quickstart/current/full-masks", 28)
    kept = [keep for sample in first for keep in want_mask(sample["masks"]["gene"])]
    assert batch["gene"].mask.tolist() == kept
    fitness = np.float32([sample["phenotypes"]["fitness"] for sample in first])
    assert batch["gene"].phenotype_values.tolist() == fitness.tolist()


# Makefile


@pytest.mark.parametrize(
    "missing, target, message",
    [
        ("go", "quickstart", "make: no Go 1.26 or later: install it from https://go.dev/dl"),
        ("gcc", "quickstart", "make: no C compiler: apt install gcc libc6-dev"),
        ("g++", "test", "make: no C++ compiler, which tests need: apt install g++"),
        ("python3", "test", "make: no Python 3.10 or later with venv: apt install python3-venv"),
    ],
)
def test_make_names_what_is_missing(tmp_path, missing, target, message):
    """In one line, before it does anything."""
    needed = ["sh", "make", "git", "grep", "sed", "df", "tail", "go", "gcc", "g++", "python3"]
    for name in needed:
        if name == missing:
            continue
        if (found := shutil.which(name)) is None:
            pytest.skip(f"{name} is not installed")
        (tmp_path / name).symlink_to(found)
    environment = os.environ | {"PATH": str(tmp_path)}
    command = [shutil.which("make"), "-s", target]
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.splitlines()[0] == message and len(done.stderr.splitlines()) == 2


# docs/concepts.md


def test_concepts(tcbuild, work):
    """The worked example gives the masks of the table and of the figure."""
    page = (REPOSITORY / "docs/concepts.md").read_text(encoding="utf-8")
    for section in sections("docs/concepts.md"):
        run(tcbuild, work, "docs/concepts.md", section)
    table = re.findall(r"^\| `(\w+)` \| ([01]+) \| ([01]+) \|", page, re.M)
    (by_all,), (by_rule,) = (tcbuild.samples(work / name, 1) for name in ("all", "gpr"))
    assert [name for name, *_ in table] == list(by_all["masks"])
    for name, all_, gpr in table:
        assert (stays(by_all["masks"][name]), stays(by_rule["masks"][name])) == (all_, gpr)

    figure = (REPOSITORY / "docs/figures/deletion.svg").read_text(encoding="utf-8")
    drawn = re.findall(r'class="mono end">(\w+)<|class="mono middle[^"]*">([01])<', figure)
    assert "".join(name or bit for name, bit in drawn) == "".join(n + bits for n, bits, _ in table)
    variants = (REPOSITORY / "docs/figures/variants-of-a-sample.svg").read_text(encoding="utf-8")
    masks = "".join(bits for _, bits, _ in table)
    removed = " ".join(str(k) for k, bit in enumerate(masks) if bit == "0")
    assert f"[{removed}]" in variants
    assert [bits for _, bits, _ in table] == re.findall(r'class="mono">([01]+)<', variants)


# The guides. What a reader has already:


def small_graph(folder: Path, genes: str = "YAL001C YAL002W YBR010W") -> None:
    (folder / "cell/graph/nodes").mkdir(parents=True)
    (folder / "cell/graph/nodes/gene.tsv").write_text("\n".join(["id", *genes.split(), ""]))


def write(folder: Path, name: str, *rows: str, delimiter: str = "\t") -> None:
    lines = (delimiter.join(row.split()) for row in rows)
    (folder / name).write_text("".join(f"{line}\n" for line in lines))


def excel(folder: Path, tcbuild: Tcbuild) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    small_graph(folder)
    book = openpyxl.Workbook()
    book.active.append(["README: what the columns mean"])
    sheet = book.create_sheet("fitness")
    rows = [["Table S1"], [], ["Medium", "Strain", "ORFs", "Growth rate"]]
    rows += [["YPD", "007", "YAL001C; YAL002W", 0.5], [None, "008", "YBR010W", None]]
    rows += [["SC", "009", "YAL002W", "n.d."], ["* of two plates"]]
    for row in rows:
        sheet.append(row)
    sheet.merge_cells("A4:A5")
    book.save(folder / "screen.xlsx")


def check_excel(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    first, second, third = tcbuild.samples(folder / "excel", 3)
    assert (first["sample_id"], first["genes"]) == ("007", ["YAL001C", "YAL002W"])
    assert second["phenotypes"] == {"Growth rate": None}
    media = [sample["attributes"] for sample in (first, second, third)]
    assert media == [{"Medium": "YPD"}, {"Medium": "YPD"}, {"Medium": "SC"}]
    # the page's line for a nightly job
    variables["screen"].reset_index(drop=True).to_feather(folder / "screen.arrow")
    source = ("--graph", folder / "cell/graph", "--perturbations", folder / "screen.arrow")
    tcbuild.run("incidence", *source, "--id-column", "Strain", "--out", folder / "night")
    assert tcbuild.samples(folder / "night", 3) == tcbuild.samples(folder / "excel", 3)


def two_header_rows(folder: Path, tcbuild: Tcbuild) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    small_graph(folder)
    (book := openpyxl.Workbook()).active.append(["README: what the columns mean"])
    sheet = book.create_sheet("S2")
    rows = [["Table S2"], [], [None, None, "No", "YPD", None, "SC"]]
    rows += [["Query", "Array", None, 1, 2, "rep 1"], ["YAL001C", "YAL002W", 1, 0.1, "n.d.", 0.3]]
    rows += [[None, "YBR010W", 2, 0.4, 0.5, None]]
    for row in [*rows, [], ["* of two plates"]]:
        sheet.append(row)
    for cells in ("C3:C4", "D3:E3", "A5:A6"):
        sheet.merge_cells(cells)
    book.save(folder / "screen.xlsx")


def check_two_header_rows(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    found = [
        (row["genes"][1], row["phenotypes"]["fitness"], *row["attributes"].values())
        for row in tcbuild.samples(folder / "replicates", 4)
    ]
    assert found == [("YAL002W", 0.1, "YPD", "1"), ("YBR010W", 0.4, "YPD", "1"),
                     ("YBR010W", 0.5, "YPD", "2"), ("YAL002W", 0.3, "SC", "rep 1")]  # fmt: skip


@pytest.mark.parametrize(
    "cell, value, found",
    [
        ("B6", None, "deletes no gene"),
        ("B6", datetime(2024, 10, 1), "a date, as Excel makes of names such as SEP7"),
        ("A5", datetime(2024, 10, 1), "a date, as Excel makes of names such as SEP7"),
        ("E6", "ND", r"""'ND', expected numbers\nhint: .*na_values=\['ND'\]"""),
    ],
)
def test_two_header_rows_with_mistakes(tcbuild, work, cell, value, found):
    two_header_rows(work, tcbuild)
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(work / "screen.xlsx")
    book["S2"][cell] = value
    book.save(work / "screen.xlsx")
    with pytest.raises(InputError, match=found):
        run(tcbuild, work, "docs/tables.md", "Two header rows")


def replicates(folder: Path, tcbuild: Tcbuild) -> None:
    small_graph(folder)
    rows = ["genes,medium,fitness,fitness_std", "YAL001C|YAL002W,YPD,0.1,3"]
    rows += ["YAL002W|YAL001C,YPD,0.3,4", "YAL001C,SC,1,1", "YBR010W,,2,1", ""]
    (folder / "replicates.csv").write_text("\n".join(rows))


def check_replicates(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    alone, both, other = (row["phenotypes"] for row in tcbuild.samples(folder / "means", 3))
    assert other["fitness"] == 2  # of an unknown medium
    assert both["fitness"] == pytest.approx(0.2) and both["fitness_n"] == 2
    assert both["fitness_sd"] == pytest.approx(0.02**0.5)
    assert both["fitness_std"] == pytest.approx(12.5**0.5)
    assert alone == {"fitness": 1, "fitness_n": 1, "fitness_sd": None, "fitness_std": 1}


def depmap(folder: Path, tcbuild: Tcbuild) -> None:
    small_graph(folder, "A1BG NAT2")
    text = ",A1BG (1),NAT2 (10),ADA (100)\nACH-1,-0.12,0.01,1\nACH-2,,-0.05,-1.5\n"
    (folder / "CRISPRGeneEffect.csv").write_text(text)


def check_depmap(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    found = [
        (row["genes"], row["phenotypes"]["value"], row["attributes"]["condition"])
        for row in tcbuild.samples(folder / "depmap", 3)
    ]
    assert found == [(["A1BG"], -0.12, "ACH-1"), (["NAT2"], 0.01, "ACH-1"),
                     (["NAT2"], -0.05, "ACH-2")]  # fmt: skip


def costanzo(folder: Path, tcbuild: Tcbuild) -> None:
    small_graph(folder)
    columns = "Query Strain ID,Query allele name,Array Strain ID,Array allele name,score"
    rows = ["YAL001C_tsq5,tfc3-1,YAL002W_dma1,vps8,-0.1", "YDL227C_sn1,ho,YBR010W_dma2,hht1,0.2"]
    rows += ["YAL001C_damp1,tfc3-damp,YAL002W_dma1,vps8,1"]
    text = "\n".join([columns, *rows, ""])
    (folder / "SGA_NxN.txt").write_text(text.replace(",", "\t"))


def check_costanzo(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    found = [
        (row["genes"], row["phenotypes"]["score"]) for row in tcbuild.samples(folder / "sga", 2)
    ]
    assert found == [(["YAL001C", "YAL002W"], -0.1), (["YBR010W"], 0.2)]


def perturb_seq(folder: Path, tcbuild: Tcbuild) -> None:
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    small_graph(folder, "CEBPE KLF1")
    labels = pd.Categorical(["CEBPE+ctrl", "ctrl", "CEBPE+KLF1"])
    obs = pd.DataFrame({"condition": labels, "cell_type": "K562", "n_genes": [4, 5, 6]})
    obs.index = ["AAAC-1", "AAAG-1", "AAAT-1"]
    anndata.AnnData(np.ones((3, 1)), obs).write_h5ad(folder / "norman.h5ad")


def check_perturb_seq(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    rows = tcbuild.samples(folder / "norman", 3)
    assert [row["genes"] for row in rows] == [["CEBPE"], [], ["CEBPE", "KLF1"]]
    assert [row["sample_id"] for row in rows] == ["AAAC-1", "AAAG-1", "AAAT-1"]
    assert rows[0]["attributes"] == {"cell_type": "K562"} and rows[0]["phenotypes"] == {}


def pyg(folder: Path, tcbuild: Tcbuild) -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    chance, genes = np.random.default_rng(1), [f"G{k}" for k in range(30)]
    (folder / "genes.csv").write_text("\n".join(["id", *genes, ""]))
    kinds = [["physical", "regulatory"][k % 2] for k in range(90)]
    edges = [f"{a},{b},{kind}" for (a, b), kind in zip(chance.choice(genes, (90, 2)), kinds)]
    (folder / "edges.csv").write_text("\n".join(["src,dst,type", *edges, ""]))
    pairs = [f"{a}|{b},{len(a + b) / 6}" for a, b in itertools.combinations(genes[:12], 2)]
    rows = ["genes,fitness", *pairs, "G1|G20,", ""]
    (folder / "screen.csv").write_text("\n".join(rows))


def check_pyg(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    sizes = {name: len(part) for name, part in variables["parts"].items()}
    found, target = np.concatenate(variables["pairs"], axis=1)
    assert len(found) == sizes["test"] and sum(sizes.values()) == 66
    want = variables["test"].stored.phenotype("fitness").astype(np.float32)
    assert np.array_equal(target, want) and np.isfinite(found).all()


def another_organism(folder: Path, tcbuild: Tcbuild) -> None:
    pytest.importorskip("obonet", reason="obonet is not installed")
    proteins = [(gene, f"ENSP{k}") for k, gene in enumerate(("KRAS", "MYC", "TP53"))]
    write(folder, "hgnc.tsv", "symbol ensembl_protein", *map(" ".join, proteins))
    links = (
        "protein1 protein2 combined_score",
        "9606.ENSP0 9606.ENSP1 900",
        "9606.ENSP1 9606.ENSP2 300",
    )
    write(folder, "9606.protein.links.txt", *links, delimiter=" ")
    write(folder, "reactome.csv", "a b", "KRAS TP53", delimiter=",")


def conditions(folder: Path, tcbuild: Tcbuild) -> None:
    (folder / "human/graph/nodes").mkdir(parents=True)
    write(folder, "human/graph/nodes/gene.tsv", "id", "KRAS", "MYC")
    rows = "condition,n\nKRAS+ctrl,1\nctrl,2\nKRAS+MYC,3\n"
    (folder / "conditions.csv").write_text(rows)


def cells(folder: Path, tcbuild: Tcbuild) -> None:
    conditions(folder, tcbuild)
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    pd = pytest.importorskip("pandas")
    labels = ["KRAS+ctrl", "ctrl", "KRAS+MYC", "ctrl"]
    obs = pd.DataFrame({"condition": labels, "cell_type": ["K562", "K562", "RPE1", "RPE1"]})
    obs.index = obs.index.astype(str)
    pytest.importorskip("torch", reason="PyTorch is not installed")
    values, var = 10.0 ** np.arange(4)[:, None] * [1, 2], pd.DataFrame(index=["MYC", "KRAS"])
    anndata.AnnData(values, obs, var).write_h5ad(folder / "screen.h5ad")


def matched_controls(folder: Path, tcbuild: Tcbuild) -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    cells(folder, tcbuild)
    exec(code("docs/single-cells.md", "AnnData files"), {})


def torchcell_store(folder: Path, tcbuild: Tcbuild) -> None:
    test_torchcell.write_graph(folder / "cell/graph")
    records, _ = test_torchcell.make_records(20, gaps=False)
    texts = {str(number): json.dumps(record).encode() for number, record in records.items()}
    test_torchcell.write_store(folder / "build/processed/lmdb", texts)


def nothing(folder: Path, tcbuild: Tcbuild) -> None:
    pass


GUIDES = {
    section: f"docs/{name}.md"
    for name in ("pyg", "tables", "graphs", "splits", "single-cells", "training", "sharing")
    for section in sections(f"docs/{name}.md")
}
GIVEN: dict[str, Callable[[Path, Tcbuild], None]] = {
    "Excel": excel,
    "Replicates": replicates,
    "Two header rows": two_header_rows,
    "DepMap": depmap,
    "Costanzo": costanzo,
    "Perturb-seq": perturb_seq,
    "Your own tables": nothing,
    "From DataFrame to test score": pyg,
    "Another organism": another_organism,
    "Conditions in a table": conditions,
    "AnnData files": cells,
    "Cells and matched controls": matched_controls,
    "A torchcell store": torchcell_store,
}
OF_A_DATASET = [
    "Splits",
    "Publishing a dataset",
    "Shuffling computed sets",
    "Sums without masks",
    "Worker processes",
    "Filters",
    "Predicting over combinations",
    "Reading without tcbuild",
]
ELSEWHERE = [
    "Yeast",  # public downloads: TestExamples checks its commands
    "Compare on your data",  # test_compare.py
    "Several machines reading one dataset",  # below
    "Several processes, and resuming within an epoch",  # test_long_runs.py
]


def test_no_section_of_the_guides_is_left_out():
    assert sorted([*GIVEN, *OF_A_DATASET, *ELSEWHERE]) == sorted(GUIDES)


@pytest.mark.parametrize("section", GIVEN)
def test_guide(tcbuild, work, section, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    GIVEN[section](work, tcbuild)
    variables = run(tcbuild, work, GUIDES[section], section)
    check = globals().get(f"check_{GIVEN[section].__name__}")
    if check:
        check(work, tcbuild, variables)


@pytest.mark.parametrize("section", OF_A_DATASET)
def test_guide_for_a_dataset(tcbuild, dataset, section, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")
    if any("torch" in text for _, text in sections(GUIDES[section])[section]):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    variables = run(tcbuild, dataset.parent, GUIDES[section], section)
    check = globals().get("check_" + section.lower().replace(" ", "_"))
    if check:
        check(dataset, tcbuild, variables)
    languages = {language for language, _ in sections(GUIDES[section])[section]}
    if left_out := [
        OTHERS[name] for name in OTHERS if name in languages and OTHERS[name] not in PROGRAMS
    ]:
        pytest.skip(f"all but {' and '.join(left_out)}: TCBUILD_PROGRAMS does not name them")


def test_several_machines(tcbuild, dataset):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    blocks = sections("docs/sharing.md")["Several machines reading one dataset"]
    (_, stage), (_, remote) = blocks
    (dataset.parent / "memory").mkdir()
    shell(tcbuild, dataset.parent, stage.replace("/dev/shm", "memory"))
    with served(dataset.parent) as server:
        exec(remote, {"address": f"{server.url}/memory/dataset"})
    assert server.requests


# What the guides make:


def check_another_organism(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    tcbuild.run("incidence", "--graph", folder / "human/graph", "--out", folder / "checked")
    shown = tcbuild.run("inspect", folder / "checked").stdout
    assert re.findall(r"(gene__\w+__gene) +(\d+)", shown)[:2] == [
        ("gene__reactome__gene", "1"),
        ("gene__string__gene", "1"),
    ]


def check_conditions(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    rows = tcbuild.samples(folder / "conditions", 3)
    assert [row["genes"] for row in rows] == [["KRAS"], [], ["KRAS", "MYC"]]


def check_cells(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    genes = [["KRAS"], [], ["KRAS", "MYC"], []]
    assert [row["genes"] for row in tcbuild.samples(folder / "cells", 4)] == genes
    batch, change = variables["batch"], variables["change"]
    changes = dict(zip(batch.sample_ids, change[:, 0].tolist()))
    assert changes == {"2": -900, "3": 0}  # the part train
    kras, myc = variables["features"].T  # the file has MYC first
    assert (kras == 2 * myc).all()
    assert not any(sample.deleted_genes for sample in variables["activated"])


def check_matched_controls(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    (batch,) = variables["loader"]
    assert len(batch.expression) == len(batch.control) == 4


def check_shuffling_computed_sets(dataset: Path, tcbuild: Tcbuild, variables: dict) -> None:
    assert len(next(iter(variables["loader"]))) == 64


def check_torchcell_store(folder: Path, tcbuild: Tcbuild, variables: dict) -> None:
    assert len(tcbuild.samples(folder / "dataset", 20)) == 20


def check_filters(dataset: Path, tcbuild: Tcbuild, variables: dict) -> None:
    shown = tcbuild.samples(dataset, 100)
    fitness = np.array([sample["phenotypes"]["fitness"] for sample in shown])
    assert variables["fitness"].tolist() == fitness.tolist()
    ids = [sample["sample_id"] for sample in shown]
    kept = np.flatnonzero(fitness < np.quantile(fitness, 0.1))
    assert variables["lowest"].column("sample_id").to_pylist() == [ids[k] for k in kept]
    sick = [k for k, one in enumerate(shown) if fitness[k] < 0.8 and len(one["genes"]) == 2]
    assert variables["sick"].indices.tolist() == sick


def check_predicting_over_combinations(dataset: Path, tcbuild: Tcbuild, variables: dict) -> None:
    counts = [int(s.masks["gene__physical__gene"].sum()) for s in variables["triples"][:5000]]
    best = sorted(range(5000), key=lambda number: (-counts[number], number))[:100]
    found = pq.read_table(variables["best"])
    assert found["sample_index"].to_pylist() == best
    assert found["prediction"].to_pylist() == [counts[number] for number in best]
    every = pq.read_table(variables["every"], columns=["genes"])["genes"].to_pylist()
    assert every == [sample.deleted_genes for sample in variables["some"]]


def check_worker_processes(dataset: Path, tcbuild: Tcbuild, variables: dict) -> None:
    last = tcbuild.samples(dataset, 100)[-len(variables["batch"]) :]
    kept = [want_mask(sample["masks"]["gene__physical__gene"]) for sample in last]
    assert np.array_equal(variables["masks"].cpu(), kept)


def check_reading_without_tcbuild(dataset: Path, tcbuild: Tcbuild, variables: dict) -> None:
    (sample,) = tcbuild.samples(dataset, 1)
    assert np.array_equal(variables["kept"], want_mask(sample["masks"]["gene__physical__gene"]))


def test_worker_processes_of_a_script(dataset):
    """As a file that is run, with workers as Python 3.14 starts them: they import the file."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    start = "if __name__ == '__main__': multiprocessing.set_start_method('forkserver')"
    script = dataset.parent / "train.py"
    text = code("docs/training.md", "Worker processes")
    script.write_text(f"import multiprocessing\n{start}\n{text}")
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    command = [sys.executable, script]
    done = subprocess.run(
        command, cwd=dataset.parent, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
