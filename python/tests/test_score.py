"""Predictions in a file are those of a loop, for any number of shards and after kills."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import tcbuild as package
import tcbuild.torch as tt
from cases import CASES
from conftest import REPOSITORY

SIZES = {"batch_size": 64, "block": 8}  # 20 blocks


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads that wait for each other take most of the time of models as small as these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Removed(torch.nn.Module):
    """The sum of the weights of the positions that a sample removes, in whole numbers."""

    def __init__(self, dataset, seed=0):
        super().__init__()
        chance = np.random.default_rng(seed)
        weights = chance.integers(-1000, 1000, int(dataset._mask_offsets[-1]))
        self.weights = torch.nn.Parameter(torch.from_numpy(weights).float())

    def forward(self, batch):
        removed = ~torch.cat(list(batch.masks.values()), 1)
        return (removed * self.weights).sum(1)


class Deletions(torch.nn.Module):
    def forward(self, batch):
        return batch.deleted_ptr.diff()


@pytest.fixture(scope="module")
def path(built_once):
    return built_once(CASES[0], "all").datasets["incidence"]


@pytest.fixture(scope="module")
def triples(path):
    dataset = package.open(path)
    return dataset.combinations(dataset.genes, 3)


@pytest.fixture(scope="module")
def looped(triples):
    """Number, genes and prediction of each sample, one by one."""
    weights = Removed(triples).weights.detach().numpy().astype(int)
    return [
        (sample.index, sample.deleted_genes, int(weights[sample.removed].sum()))
        for sample in triples
    ]


@pytest.fixture(scope="module")
def scored(triples, tmp_path_factory):
    """The file that one shard makes."""
    return tt.score(Removed(triples), triples, tmp_path_factory.mktemp("s") / "one", **SIZES)


def rows(path):
    table = pq.ParquetFile(path).read()
    return [tuple(row.values()) for row in table.to_pylist()]


def test_predictions_are_those_of_a_loop(triples, looped, scored):
    assert rows(scored) == looped and len(looped) == 9880
    assert pq.read_schema(scored).names == ["sample_index", "genes", "prediction"]
    found = pq.read_schema(scored).metadata
    assert found[b"structure_digest"].decode() == triples.manifest["structure_digest"]
    assert [path.name for path in scored.parent.iterdir()] == ["one"]


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_any_number_of_shards_gives_the_same_bytes(triples, tmp_path, device, seed):
    chance, model = random.Random(seed), Removed(triples).to(device)
    alone = tt.score(model, triples, tmp_path / "alone", **SIZES).read_bytes()
    for shards in range(1, 8):
        out, order = tmp_path / f"{shards}", chance.sample(range(shards), shards)
        for shard in order[:-1]:
            assert tt.score(model, triples, out, shards=shards, shard=shard, **SIZES) is None
            assert not out.exists()
        assert tt.score(model, triples, out, shards=shards, shard=order[-1], **SIZES) == out
        assert out.read_bytes() == alone
        assert tt.score(model, triples, out, shards=shards, shard=0, **SIZES) == out
    for shards, shard in ((5, 3), (2, 0), (7, 6)):  # another number of shards goes on
        assert tt.score(model, triples, tmp_path / "x", shards=shards, shard=shard, **SIZES) is None
    assert tt.score(model, triples, tmp_path / "x", shards=3, **SIZES).read_bytes() == alone


@pytest.mark.parametrize("top", [1, 100, 20_000])
def test_the_highest_ones(triples, looped, tmp_path, top):
    want = sorted(looped, key=lambda row: (-row[2], row[0]))[:top]
    for shard in (2, 0, 1):
        options = SIZES | {"shards": 3, "shard": shard, "top": top}
        found = tt.score(Removed(triples), triples, tmp_path / "x", **options)
    assert rows(found) == want


def test_missing_predictions_are_lowest(triples, tmp_path):
    class Odd(torch.nn.Module):
        def forward(self, batch):
            numbers = batch.sample_indices % 4
            return torch.where(numbers == 1, torch.nan, numbers.double())[:, None]

    some = triples[:99]
    found = rows(tt.score(Odd(), some, tmp_path / "x", top=80, masks=None, batch_size=10, block=2))
    ranked = {2: [], 3: [], 0: [], 1: []}
    for number in range(99):
        ranked[number % 4].append(number)
    assert [row[0] for row in found] == [*ranked[3], *ranked[2], *ranked[0], *ranked[1]][:80]


def test_views_and_stored_samples(path, tmp_path):
    dataset = package.open(path)
    for number, some in enumerate((dataset, dataset[::-2], dataset[[7, 3, 7]], dataset[:0])):
        out = tt.score(Deletions(), some, tmp_path / f"{number}", masks=None, batch_size=4, block=2)
        want = [(s.index, s.deleted_genes, float(len(s.deleted))) for s in some]
        assert rows(out) == want
    out = tt.score(Deletions(), path, tmp_path / "path", masks=None, num_workers=1, batch_size=4)
    assert len(rows(out)) == len(dataset)


def test_other_predictions_are_refused(built_once, triples, scored, tmp_path):
    """Both in blocks and in a file that is whole."""
    other, rule = (
        package.open(built_once(CASES[case], rule).datasets["incidence"])
        for case, rule in ((1, "all"), (0, "gpr"))
    )
    model = Removed(triples)
    tt.score(model, triples, tmp_path / "part", shards=2, shard=1, **SIZES)
    shutil.copy(scored, tmp_path / "whole")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for text, predict, samples, options in [
        ("structure_digest", model, other.combinations(other.genes, 3), {}),
        ("reaction_rule", model, rule.combinations(rule.genes, 3), {}),
        ("samples", model, triples[:9000], {}),
        ("samples", model, triples.combinations(triples.genes[::-1], 3), {}),
        ("weights", Removed(triples, 1), triples, {}),
        ("batch_size", model, triples, {"batch_size": 32, "block": 16}),
        ("top", model, triples, {"top": 5}),
    ]:
        for name in ("part", "whole"):
            with pytest.raises(
                package.errors.InputError, match=f"{name}.* predictions with {text}"
            ):
                tt.score(predict, samples, tmp_path / name, **(SIZES | options))
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert tt.score(model, triples, tmp_path / "part", **SIZES).read_bytes() == scored.read_bytes()


def test_a_damaged_block_is_an_error(triples, tmp_path):
    """Such as a machine that stops may leave."""
    some, options = triples[:100], {"masks": None, "batch_size": 5, "block": 2}
    tt.score(Deletions(), some, tmp_path / "x", shards=2, shard=0, **options)
    block = next((tmp_path / "x.blocks").iterdir())
    block.write_bytes(block.read_bytes()[:-9])
    with pytest.raises(package.errors.InputError, match=f"read .*{block.name}.*\nhint: remove it"):
        tt.score(Deletions(), some, tmp_path / "x", **options)
    block.unlink()
    assert len(rows(tt.score(Deletions(), some, tmp_path / "x", **options))) == 100


def test_wrong_arguments(triples, tmp_path):
    for options in ({"shards": 0}, {"shards": 2, "shard": 2}, {"shard": -1}, {"top": -1}):
        with pytest.raises(package.errors.SettingsError, match="shards count from 0"):
            tt.score(Deletions(), triples, tmp_path / "x", **options)
    wide = torch.nn.Module()
    wide.forward = lambda batch: torch.zeros(len(batch), 2)
    with pytest.raises(package.errors.SettingsError, match="128 predictions of 64 samples"):
        tt.score(wide, triples[:64], tmp_path / "x", masks=None)
    with pytest.raises(TypeError, match="expected a tcbuild.Dataset"):
        tt.score(Deletions(), [1, 2], tmp_path / "x")
    assert not (tmp_path / "x").exists()


KILLED = """
import json, os, random, signal, sys, time
import torch
import tcbuild, tcbuild.torch as tt
from test_score import Removed, SIZES

path, out, notes, kills = *sys.argv[1:4], json.loads(sys.argv[4])

class Noting(Removed):
    def forward(self, batch):
        with open(notes, "a") as file:
            print(int(batch.sample_indices[0]), file=file)
        return super().forward(batch)

def score():
    torch.set_num_threads(1)
    dataset = tcbuild.open(path)
    triples = dataset.combinations(dataset.genes, 3)
    tt.score(Noting(dataset), triples, out, **SIZES)

open(notes, "w").close()
for kill in [*kills, None]:
    before = len(open(notes).readlines())
    if (child := os.fork()) == 0:
        score()
        os._exit(0)
    while kill is not None and len(open(notes).readlines()) < before + kill:
        time.sleep(0.001)
    if kill is not None:
        time.sleep(random.random() / 50)  # within a batch, or while a block is written
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert status == (0 if kill is None else signal.SIGKILL), (kill, status)
"""


def test_a_kill_costs_a_block(path, scored, tmp_path, seed):
    """The batches that a killed run scored in vain are at most those of a block."""
    chance = random.Random(seed)
    kills = [chance.randint(1, 40) for _ in range(5)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, path, tmp_path / "out", tmp_path / "notes", f"{kills}"],
        env=os.environ | {"PYTHONPATH": f"{REPOSITORY / 'python'}:{REPOSITORY / 'python/tests'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_bytes() == scored.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["notes", "out"]
    begun = [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    assert {*begun} == {*range(0, 9880, 64)}
    assert len(begun) <= len({*begun}) + len(kills) * SIZES["block"]
