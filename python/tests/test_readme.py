"""Every code block of the README does what it says."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from conftest import NO_GARBAGE, REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
DOWNLOADS = REPOSITORY.parent / "shared/data"


def blocks(section: str) -> list[str]:
    """The code of a section: fenced, or lines indented by four that only empty ones separate."""
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)
    parts = re.split(r"```\w*\n", text)
    found = []
    for k, part in enumerate(parts):
        if k % 2 == 1:
            found.append(part)
            continue
        for run in re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", part, re.MULTILINE):
            found.append(textwrap.dedent(run))
    return found


@pytest.fixture(scope="module")
def quickstart(tcbuild, tmp_path_factory):
    """The quickstart of the Makefile, with the smaller scale; and what it printed."""
    folder = tmp_path_factory.mktemp("quickstart")
    command = "rebuild", "--config", "quickstart", "scale=tiny", "samples=100"
    (folder / "printed").write_text(tcbuild.run(*command, f"root={folder}/data").stdout)
    return folder


def run_example(section: str, number: int = 0) -> dict:
    """The variables that the Python of a section leaves."""
    example = [block for block in blocks(section) if block.startswith("import ")][number]
    variables: dict = {"__name__": "__main__"}
    exec(example, variables)
    return variables


def run_lines(tcbuild, folder: Path, block: str) -> None:
    """Runs each line of a block in a folder, with the program in place of its name."""
    for line in block.strip().splitlines():
        name, *arguments = shlex.split(line, comments=True)
        assert name == "tcbuild", line
        command = [str(tcbuild.binary), *arguments]
        environment = os.environ | NO_GARBAGE
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def want_mask(mask: dict) -> np.ndarray:
    kept = np.ones(mask["size"], bool)
    kept[mask["removed"]] = False
    return kept


def test_no_block_is_left_out():
    """A new block needs a test below."""
    sections = re.findall("^## (.*)$", README, re.MULTILINE)
    numbers = {section: len(blocks(section)) for section in sections}
    tested = {"Install": 1, "Two commands": 2, "Your data": 2, "Training": 4, "From source": 1}
    tested |= {
        "In place of torchcell's dataset": 1,
        "Samples as a table": 1,
        "Combinations": 1,
        "Reading the bytes": 1,
    }
    assert {section: number for section, number in numbers.items() if number} == tested


def test_install():
    """make test-dist installs it; here, that its name is that of this version."""
    wheel = "tcbuild-VERSION-py3-none-manylinux_2_17_x86_64.whl"
    version = (REPOSITORY / "cmd/tcbuild/version.go").read_text()
    (number,) = re.findall('^const version = "(.+)"$', version, re.M)
    for block in (blocks("Install")[0], blocks("Training")[0]):
        assert wheel.replace("VERSION", number) in block.splitlines()[0]


def test_from_source():
    (commands,) = blocks("From source")
    for line in commands.strip().splitlines():
        subprocess.run(["make", "-n", *line.split("#")[0].split()[1:]], cwd=REPOSITORY, check=True)
    assert "rebuild --config conf/quickstart.yaml\n" in (REPOSITORY / "Makefile").read_text()


def test_two_commands(tcbuild, quickstart):
    commands, printed = blocks("Two commands")
    first, second = commands.strip().splitlines()
    assert first.split("#")[0].split() == ["tcbuild", "rebuild", "--config", "quickstart"]
    run_lines(tcbuild, quickstart, second)

    def shape(text: str) -> list[list[str]]:
        """The words of each line, whatever the numbers, units and digests."""
        text = re.sub(r"\b[0-9a-f]{12}…|[0-9][0-9.,]*( k?M?B\b)?", "N", text)
        return [line.split() for line in text.strip().splitlines()]

    assert shape(printed) == shape((quickstart / "printed").read_text())


def test_own_tables(tcbuild, tmp_path):
    tcbuild.run("synth", "--out", tmp_path / "cell", "--samples", "20")
    table = tmp_path / "screen.tsv"
    tcbuild.run(
        *("ingest", "perturbations", tmp_path / "cell/perturbations.arrow"),
        *("--graph", tmp_path / "cell", "--out", table),
    )
    run_lines(tcbuild, tmp_path, blocks("Your data")[0])


def test_public_sources(tcbuild, tmp_path):
    if not DOWNLOADS.exists():
        pytest.skip("the public yeast data is not there")
    features = gzip.decompress((DOWNLOADS / "genes_sgd/SGD_features.tab.gz").read_bytes())
    (tmp_path / "SGD_features.tab").write_bytes(features)
    (tmp_path / "DOWNLOADS").symlink_to(DOWNLOADS)
    (tmp_path / "kuzmin.tsv").write_text(
        "Query Strain ID\tQuery allele name\tArray Strain ID\tArray allele name\tfitness\n"
        "YAL002W_sn1\tvps8Δ\tYAL005C_dma2\tssa1Δ\t0.9\n"
    )
    run_lines(tcbuild, tmp_path, blocks("Your data")[1])


def test_the_bytes_of_the_first_sample(tcbuild, quickstart, monkeypatch):
    monkeypatch.chdir(quickstart)
    variables = run_example("Reading the bytes")
    masks, (row, *_) = variables["masks"], variables["samples"].to_pylist()
    (sample,) = tcbuild.samples(quickstart / "data/quickstart/current/full-masks", 1)
    assert np.array_equal(
        masks, np.concatenate([want_mask(mask) for mask in sample["masks"].values()])
    )
    assert 0 in masks
    assert (
        row
        == {name: sample[name] for name in ("sample_id", "perturbation_indices")}
        | (sample["phenotypes"])
    )


def test_samples_as_a_table(tcbuild, quickstart, monkeypatch):
    monkeypatch.chdir(quickstart)
    variables = run_example("Samples as a table")
    shown = tcbuild.samples(quickstart / "data/quickstart/current/indices", 100)
    fitness = [sample["phenotypes"]["fitness"] for sample in shown]
    assert variables["fitness"].tolist() == fitness
    lowest = [
        sample["sample_id"]
        for sample, value in zip(shown, fitness)
        if value < np.quantile(fitness, 0.1)
    ]
    assert variables["table"].column("sample_id").to_pylist() == lowest
    train, test = (variables[name].indices for name in ("train", "test"))
    assert sorted([*train, *test]) == [
        number for number, sample in enumerate(shown) if len(sample["genes"]) == 2
    ]
    values = np.array(fitness)
    target = (values[test] - values[train].mean()) / values[train].std(ddof=1)
    np.testing.assert_allclose(variables["target"], target)


def test_combinations(quickstart, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(quickstart)
    variables = run_example("Combinations")
    assert variables["first"] == 252 and len(variables["ptr"]) == 29
    for row, sample in zip(variables["masks"]["gene"], variables["triples"][252:]):
        assert np.flatnonzero(~row.numpy()).tolist() == sample.perturbation_indices.tolist()


def test_extras():
    project = (REPOSITORY / "python/pyproject.toml").read_text()
    (extras,) = re.findall(r"optional-dependencies\]\n(.*?)\n\n", project, re.DOTALL)
    assert re.findall(r"\[(\w+)\]", blocks("Training")[0]) == re.findall(r"^\w+", extras, re.M)


def test_training(tcbuild, quickstart, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(quickstart)
    six_lines, variables = run_example("Training"), run_example("Training", 1)
    assert six_lines["masks"].equal(variables["masks"])
    assert six_lines["target"].equal(variables["target"])
    shown = tcbuild.samples(quickstart / "data/quickstart/current/full-masks", 100)
    sample, last = variables["sample"], shown[-len(variables["batch"]) :]
    assert sample.genes == shown[0]["genes"] and sample.phenotypes.tolist() == list(
        shown[0]["phenotypes"].values()
    )
    assert np.array_equal(
        variables["masks"].cpu(),
        [want_mask(sample["masks"]["gene__physical__gene"]) for sample in last],
    )
    assert variables["target"].tolist() == [sample["phenotypes"]["fitness"] for sample in last]


def test_in_place_of_torchcells_dataset(tcbuild, quickstart, monkeypatch):
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    monkeypatch.chdir(quickstart)
    batch = run_example("In place of torchcell's dataset")["batch"]
    last = tcbuild.samples(quickstart / "data/quickstart/current/full-masks", 100)[
        -batch.num_graphs :
    ]
    kept = [keep for sample in last for keep in want_mask(sample["masks"]["gene"])]
    assert batch["gene"].mask.tolist() == kept
    fitness = np.float32([sample["phenotypes"]["fitness"] for sample in last])
    assert batch["gene"].phenotype_values.tolist() == fitness.tolist()


def test_training_script(quickstart):
    """As a file that is run, with workers as Python 3.14 starts them: they import the file."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    start = "if __name__ == '__main__': multiprocessing.set_start_method('forkserver')"
    script = quickstart / "train.py"
    script.write_text(f"import multiprocessing\n{start}\n{blocks('Training')[2]}")
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    command = [sys.executable, script]
    done = subprocess.run(command, cwd=quickstart, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_training_example(quickstart):
    """test_torch_example.py runs the example."""
    program, path, folder = blocks("Training")[3].split()
    assert program == "python" and (REPOSITORY / path).exists() and (quickstart / folder).exists()
