"""Ranks that torchrun starts see each sample once per epoch, and learn the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from conftest import REPOSITORY
from torch_cases import built_case

TRAINING = """
import json, sys
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
import tcbuild.torch as tt

if __name__ == "__main__":
    path, out, kind, workers = sys.argv[1:]
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    dataset = tt.Dataset(path)
    sampler = DistributedSampler(dataset, seed=5)
    if kind == "feistel":
        sampler = tt.RandomSampler(dataset, 5, ranks, rank)
    loader = DataLoader(dataset, 2, sampler=sampler, num_workers=int(workers))
    model = DistributedDataParallel(torch.nn.Linear(len(dataset.stored.genes), 1))
    optimizer, seen = torch.optim.SGD(model.parameters(), 0.1), []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        seen.append([])
        for batch in loader:
            seen[-1] += batch.sample_indices.tolist()
            optimizer.zero_grad()
            model(batch.masks["gene"].float()).square().mean().backward()
            optimizer.step()
    weights = torch.nn.utils.parameters_to_vector(model.parameters()).tolist()
    with open(f"{out}/{rank}.json", "w") as file:
        json.dump([seen, weights], file)
    dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def path(tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    return built_case(tcbuild, "everything", "all", folder, ["indices"]).datasets["indices"]


def trained(path, folder, kind, ranks, workers):
    folder.mkdir()
    script = folder / "training.py"
    script.write_text(TRAINING)
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc-per-node={ranks}", script, path, folder, kind, workers]
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks)]


@pytest.mark.parametrize(("kind", "ranks"), [("torch", 2), ("torch", 3), ("feistel", 3)])
def test_ranks_see_each_sample_once(path, tmp_path, kind, ranks):
    """30 samples are shared by 2 and by 3 ranks without a rest."""
    found = trained(path, tmp_path / "0", kind, ranks, 0)
    for epoch in range(2):
        assert sorted(i for seen, _ in found for i in seen[epoch]) == list(range(30))
    assert found[0][0][0] != found[0][0][1]  # another order
    assert all(weights == found[0][1] for _, weights in found)


@pytest.mark.slow
def test_workers_change_nothing(path, tmp_path):
    results = [trained(path, tmp_path / str(n), "feistel", 2, n) for n in (1, 2, 4)]
    assert results[0] == results[1] == results[2]
