"""Hugging Face's datasets loads what tcbuild.publish writes, and nothing private is in it."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

import tcbuild as package
from cases import SHARDS, Case
from conftest import REPOSITORY
from tcbuild import _publish
from tcbuild._files.scratch import scratch_beside
from test_parquet import rows

os.environ["HF_HUB_OFFLINE"] = "1"
datasets = pytest.importorskip("datasets", reason="datasets is not installed")

ODD = Case(
    "odd names",
    phenotypes=("fitness", "gene interaction", "a/../b", "<b>#?%20&", "日本", ".."),
    attributes=("medium",),
    wildtypes=2,
    relations=("p[1]", "a:b", "string__v12"),
)
BARE = Case("no phenotypes, no sample ids", phenotypes=(), sample_ids=False)
ABOUT = {"name": "A screen: 1/2", "license": "CC-BY-4.0", "creators": ["Jane Doe", "李"]}


@pytest.fixture(autouse=True)
def program(tcbuild, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")


@pytest.fixture
def load(tmp_path):
    def load(folder: Path, config: str | None = None) -> list[dict]:
        loaded = datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path / "cache"))
        return loaded["train"].to_list()

    return load


@pytest.fixture
def published(built_once, tmp_path):
    def publish(case: Case, build: str):
        built = built_once(case, "all")
        return package.publish(built.datasets[build], tmp_path / "published", **ABOUT), built

    return publish


@pytest.mark.parametrize(
    "case, build",
    [
        (SHARDS, "incidence"),
        (SHARDS, "indices-zstd"),
        (ODD, "full-masks-zstd"),
        (BARE, "incidence"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_libraries_load_it(published, load, case, build):
    folder, built = published(case, build)
    assert load(folder) == load(folder, "samples") == rows(built.want)
    configs = datasets.get_dataset_config_names(str(folder))
    edges = [name for name in configs if name.startswith("edges-")]
    for config, (_, ends) in zip(edges, sorted(built.cell.edges.items()), strict=True):
        got = [(row["src_index"], row["dst_index"]) for row in load(folder, config)]
        assert got == ends
    for node_type, ids in built.cell.nodes.items():
        assert [row["id"] for row in load(folder, f"nodes-{node_type}")] == ids


def test_it_says_where_it_is_from(published, tcbuild):
    folder, built = published(SHARDS, "incidence")
    card = (folder / "README.md").read_text("utf-8")
    manifest = tcbuild.manifest(built.datasets["incidence"])
    for file in [*manifest["inputs"]["graph"], *manifest["inputs"]["perturbations"]]:
        assert f"- {file['name']}, SHA-256 {file['sha256']}\n" in card
    assert json.dumps(manifest["options"]) in card and manifest["program"] in card
    assert all(f"- {entry['name']}" in card for entry in manifest["phenotypes"])
    about = json.loads(card.split("---")[1])
    assert about["pretty_name"] == ABOUT["name"] and about["license"] == "cc-by-4.0"
    assert "By Jane Doe, 李; licence CC-BY-4.0" in card and manifest["logical_content"] in card


def write_private(folder: Path) -> None:
    """Writes a graph and samples in a home folder; the graph's sources have secrets."""
    address = "https://alice:secret@example.org/alice/names.tsv?X-Amz-Signature=secret#x"
    for name, text in {
        "graph/nodes/gene.tsv": "id\tname\nA\tuno\nB\t\n",
        "graph/sources.json": json.dumps({"file": f"{folder}/names.tsv", "address": address}),
        "set.tsv": "genes\tfitness\tmedium\nuno\t1\tYPD\nB\t2\tSC\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_nothing_private_leaves(tcbuild, tmp_path, load):
    home = tmp_path / "home/alice/my study"
    write_private(home)
    source = ("--graph", home / "graph", "--perturbations", home / "set.tsv")
    tcbuild.run("incidence", *source, "--out", home / "dataset")
    manifest = tcbuild.manifest(home / "dataset")
    assert "secret" in json.dumps(manifest) and "alice" in json.dumps(manifest)
    folder = package.publish(home / "dataset", tmp_path / "published", **ABOUT)
    assert len(load(folder)) == 2
    for path in folder.rglob("*.*"):
        for word in (b"alice", b"secret", b"home", str(tmp_path).encode()):
            assert word not in path.read_bytes(), path


@pytest.mark.parametrize(
    "text",
    [
        "/home/alice/plate.tif",
        "seen in /gpfs/alice/plate.tif",
        "seen in /home/alice",
        "see file:///home/alice/plate.tif",
        "~alice/plate.tif",
        "C:\\Users\\alice\\plate.tif",
        "https://alice:pass@example.org/plate.tif",
        "https://example.org/plate.tif?a=1&X-Amz-Signature=0a1b",
        "https://example.org/plate.tif?access_token=0a1b",
    ],
)
def test_private_texts_are_refused(tcbuild, tmp_path, text):
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes/gene.tsv").write_text("id\nA\n")
    (tmp_path / "set.tsv").write_text(f"genes\tfitness\timage\nA\t1\t{text}\n")
    source = ("--graph", tmp_path / "graph", "--perturbations", tmp_path / "set.tsv")
    tcbuild.run("incidence", *source, "--out", tmp_path / "dataset")
    with pytest.raises(package.errors.InputError, match="in column 'image', expected neither"):
        package.publish(tmp_path / "dataset", tmp_path / "out", **ABOUT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset", "graph", "set.tsv"]


def test_public_texts_are_not(tcbuild, tmp_path):
    (tmp_path / "graph/nodes").mkdir(parents=True)
    (tmp_path / "graph/nodes/gene.tsv").write_text("id\tnote\nA\thttps://example.org/home/x?id=1\n")
    media = "SC -Ura/~30 C, key=2, A@B", "2 g /L/h glucose", "5 mg /kg/day"
    rows = "".join(f"A\t{medium}\n" for medium in media)
    (tmp_path / "set.tsv").write_text("genes\tmedium\n" + rows)
    source = ("--graph", tmp_path / "graph", "--perturbations", tmp_path / "set.tsv")
    tcbuild.run("incidence", *source, "--out", tmp_path / "dataset")
    package.publish(tmp_path / "dataset", tmp_path / "out", **ABOUT)


def test_refused(built_once, tmp_path):
    dataset = package.open(built_once(SHARDS, "all").datasets["incidence"])
    for part in (dataset[::-1], dataset[:5], dataset.combinations(dataset.genes, 1)):
        with pytest.raises(package.errors.SettingsError, match="expected a whole dataset"):
            package.publish(part, tmp_path / "out", **ABOUT)
    (tmp_path / "out").mkdir()
    with pytest.raises(package.errors.SettingsError, match="already exists"):
        package.publish(dataset, tmp_path / "out", **ABOUT)


def test_a_folder_that_cannot_be_written(built_once, tmp_path, monkeypatch):
    dataset = package.open(built_once(SHARDS, "all").datasets["incidence"])
    (tmp_path / "file").write_text("mine")
    refused = [("file/out", "file"), ("file", "it already exists")]
    (tmp_path / "link").symlink_to("nowhere")
    for name, said in [*refused, ("link", "it already exists"), ("/proc/new/out", "/proc")]:
        with pytest.raises(package.errors.DatasetError, match=f"publish .*{said}"):
            package.publish(dataset, tmp_path / name, **ABOUT)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as context, pytest.raises(package.errors.DatasetError) as caught:
        context.setattr(_publish, "_card", Mock(side_effect=full))
        package.publish(dataset, tmp_path / "later/../new", **ABOUT)
    assert f"publish {tmp_path}/new: No space left on device" in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]
    assert (tmp_path / "file").read_text() == "mine"


def test_two_at_once(built_once, tmp_path):
    dataset = package.open(built_once(SHARDS, "all").datasets["incidence"])

    def publish(_: int) -> str:
        try:
            return str(package.publish(dataset, tmp_path / "out", **ABOUT))
        except package.errors.SettingsError as error:
            return error.message

    with ThreadPoolExecutor(4) as pool:
        ended = sorted(pool.map(publish, range(4)))
    out = f"{tmp_path}/out"
    assert ended == [out] + 3 * [f"publish {out}: it already exists"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


KILLED = """
import os, signal, sys, tcbuild
from tcbuild import _publish
_publish._card = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
tcbuild.publish(sys.argv[1], sys.argv[2], name="n", license="MIT", creators="c")
"""


def test_what_a_killed_run_left_is_removed(built_once, tmp_path):
    path, out = built_once(SHARDS, "all").datasets["incidence"], tmp_path / "out"
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    killed = subprocess.run([sys.executable, "-c", KILLED, path, out], env=environment)
    assert killed.returncode == -signal.SIGKILL
    assert [name.name[:13] for name in tmp_path.iterdir()] == [".out.tcbuild-"]
    with scratch_beside(out), scratch_beside(tmp_path / "other"):  # as of processes that run
        package.publish(path, out, **ABOUT)
        names = sorted(name.name.partition("-")[0] for name in tmp_path.iterdir())
        assert names == [".other.tcbuild", ".out.tcbuild", "out"]
    assert [name.name for name in tmp_path.iterdir()] == ["out"]
