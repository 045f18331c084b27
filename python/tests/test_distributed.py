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

def train(path, kind, workers):
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
    return seen, torch.nn.utils.parameters_to_vector(model.parameters()).tolist()

if __name__ == "__main__":
    path, out, *runs = sys.argv[1:]
    dist.init_process_group("gloo")
    found = [train(path, *run.split("-")) for run in runs]
    with open(f"{out}/{dist.get_rank()}.json", "w") as file:
        json.dump(found, file)
    dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def path(tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    return built_case(tcbuild, "everything", "all", folder, ["indices"]).datasets["indices"]


def trained(path, folder, ranks, runs):
    """For each run, what each rank has seen and its weights."""
    folder.mkdir()
    script = folder / "training.py"
    script.write_text(TRAINING)
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc-per-node={ranks}", script, path, folder, *runs]
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return list(zip(*(json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks))))


@pytest.mark.parametrize(
    ("ranks", "runs"), [(3, ["torch-0", "feistel-0"]), (2, ["torch-0", "feistel-0", "feistel-2"])]
)
def test_ranks_see_each_sample_once(path, tmp_path, ranks, runs):
    """30 samples are shared by 2 and by 3 ranks without a rest."""
    found = trained(path, tmp_path / "run", ranks, runs)
    for of_ranks in found:
        for epoch in range(2):
            assert sorted(i for seen, _ in of_ranks for i in seen[epoch]) == list(range(30))
        assert of_ranks[0][0][0] != of_ranks[0][0][1]  # another order
        assert all(weights == of_ranks[0][1] for _, weights in of_ranks)
    if ranks == 2:
        assert found[1] == found[2]  # workers change nothing
