"""Ranks that torchrun starts see each sample once per epoch, and learn the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("accelerate", reason="accelerate is not installed")

from conftest import REPOSITORY
from torch_cases import built_case

TRAINING = """
import json, multiprocessing, os, sys
import torch, torch.distributed as dist
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler
import tcbuild
import tcbuild.torch as tt

def train(path, kind, workers):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    dataset = tcbuild.open(path)
    samplers = {
        "torch": lambda: DistributedSampler(dataset, seed=5),
        "feistel": lambda: tt.Order(dataset, 5, ranks, rank),
        "accelerate": lambda: tt.Order(dataset, 5),
        "shuffled": lambda: None,  # by Accelerate
    }
    sampler = samplers[kind]()
    # Forked workers might inherit a lock that a thread of gloo holds.
    options = {"multiprocessing_context": "forkserver"} if int(workers) else {}
    loader = tt.DataLoader(
        dataset, 5, sampler is None, sampler=sampler, num_workers=int(workers), **options
    )
    model = torch.nn.Linear(len(dataset.genes), 1)
    optimizer, seen = torch.optim.SGD(model.parameters(), 0.1), []
    if kind in ("accelerate", "shuffled"):
        model, optimizer, loader = Accelerator(cpu=True).prepare(model, optimizer, loader)
    else:
        model = DistributedDataParallel(model)
    for epoch in range(2):
        if kind in ("torch", "feistel"):  # Accelerate's loader does it
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
    multiprocessing.set_forkserver_preload(["tcbuild.torch"])
    dist.init_process_group("gloo")
    found = [train(path, *run.split("-")) for run in runs]
    with open(f"{out}/{dist.get_rank()}.json", "w") as file:
        json.dump(found, file)
    dist.destroy_process_group()
    # DistributedDataParallel keeps gloo's threads alive after that. One that lets go of a tensor
    # while the interpreter ends aborts the process (pytorch/pytorch#179291).
    os._exit(0)
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
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    return list(zip(*(json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks))))


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_see_each_sample_once(path, tmp_path, ranks):
    """30 samples, and 6 batches, are shared by 2 and by 3 ranks without a rest."""
    runs = ["torch-0", "feistel-0", "accelerate-0", "shuffled-0"]
    for run, of_ranks in zip(runs, trained(path, tmp_path / "run", ranks, runs), strict=True):
        for epoch in range(2):
            assert sorted(i for seen, _ in of_ranks for i in seen[epoch]) == list(range(30)), run
        assert of_ranks[0][0][0] != of_ranks[0][0][1], run  # another order
        assert all(weights == of_ranks[0][1] for _, weights in of_ranks), run


@pytest.mark.slow
def test_workers_change_nothing(path, tmp_path):
    runs = [f"{kind}-{workers}" for kind in ("feistel", "accelerate") for workers in (1, 2, 4)]
    found = trained(path, tmp_path / "run", 2, runs)
    assert found[0] == found[1] == found[2] and found[3] == found[4] == found[5]
