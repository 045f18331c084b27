"""Peers: every installed system has a row, and a wrong mask ends the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

import peers
from systems.arrays import Memmap

# What is imported for what pip installs, where the names differ.
MODULES = {"mosaicml-streaming": "streaming"}


def installed(packages: str) -> bool:
    """Whether all packages are installed."""
    return all(find_spec(MODULES.get(package, package)) for package in packages.split())


@pytest.fixture
def compare(tcbuild, tmp_path) -> Callable[..., None]:
    tcbuild.run("synth", "--out", tmp_path / "synth", "--samples", 60)
    options = ["--tcbuild", tcbuild.binary, "--graph", tmp_path / "synth/graph"]
    options += ["--perturbations", tmp_path / "synth/perturbations.arrow", "--scratch", tmp_path]
    options += ["--rounds", 1, "--samples", 5, "--batches", 4, "--batch-size", 3]
    return lambda *more: peers.main([*map(str, options), *more])


def test_every_installed_system_has_a_row(compare, capsys):
    compare("--workers", "1")
    lines = capsys.readouterr().out.splitlines()
    _, _, *rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    there = [name for name, (_, packages) in peers.SYSTEMS.items() if installed(packages)]
    assert [row[0] for row in rows] == there and "NumPy memmap" in there
    assert {len(row) for row in rows} == {8}
    for name, (_, packages) in peers.SYSTEMS.items():
        missing = f"{name}: not installed: pip install {packages}"
        assert (missing in lines) == (name not in there)


@pytest.fixture
def one_peer(monkeypatch):
    both = {name: peers.SYSTEMS[name] for name in ("tcbuild indices", "NumPy memmap")}
    monkeypatch.setattr(peers, "SYSTEMS", both)


def test_a_wrong_mask_is_refused(compare, one_peer, monkeypatch, capsys):
    read = Memmap.__getitem__

    def planted(system: Memmap, index: int):
        record = read(system, index)
        return replace(record, removed=record.removed[1:]) if index == 41 else record

    monkeypatch.setattr(Memmap, "__getitem__", planted)
    with pytest.raises(SystemExit, match="compare NumPy memmap: sample 41: mask gene, position"):
        compare()
    assert "|" not in capsys.readouterr().out


@pytest.mark.parametrize("way", ["_whole_masks", "_positions"])
def test_a_wrong_mask_in_a_batch_is_refused(compare, one_peer, monkeypatch, way):
    collate = getattr(Memmap, way)

    def planted(system: Memmap, records):
        first = replace(records[0], removed=records[0].removed[1:])
        return collate(system, [first, *records[1:]])

    monkeypatch.setattr(Memmap, way, planted)
    with pytest.raises(SystemExit, match=r"compare NumPy memmap: sample \d+ in a batch: mask"):
        compare()


def test_too_few_samples_for_the_batches_are_refused(compare, one_peer, monkeypatch):
    monkeypatch.setattr(peers, "WARMING", 20)
    with pytest.raises(SystemExit, match="found 60 samples, expected 96"):
        compare()
