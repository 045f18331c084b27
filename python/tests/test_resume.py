"""A loader's state is seed, epoch and position: runs go on with other ranks and other workers."""

from __future__ import annotations

import collections
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import tcbuild.torch as tt
from cases import SHARDS
from conftest import REPOSITORY
from torch_cases import built_case, opened

SAMPLES = 300


@pytest.fixture(scope="module")
def path(tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    return built_case(tcbuild, SHARDS.name, "all", folder, ["incidence"]).datasets["incidence"]


def loaders(path, ranks, workers, size, state=None, weights=None):
    dataset = opened(path)
    found = []
    for rank in range(ranks):
        order = tt.Order(dataset, 7, ranks, rank, weights=weights)
        found.append(tt.DataLoader(dataset, size, sampler=order, num_workers=workers, masks=None))
        if state is not None:
            found[-1].load_state_dict(state)
    return found


def seen_of(each, batches=None):
    """What loaders give, one batch of each after the other."""
    iterators, found = [iter(loader) for loader in each], []
    for _ in itertools.count() if batches is None else range(batches):
        together = [next(iterator, None) for iterator in iterators]
        if None in together:
            break
        found += [number for batch in together for number in batch.sample_indices.tolist()]
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((4, 2, 4), (2, 0, 4)),
        ((4, 2, 4), (2, 0, 9)),
        ((1, 0, 8), (4, 1, 8)),
        ((2, 0, 4), (3, 0, 5)),
    ],
)
def test_an_epoch_goes_on_with_other_ranks_and_workers(path, before, after, weighted):
    weights = np.random.default_rng(0).random(SAMPLES) if weighted else None
    first = loaders(path, *before, weights=weights)
    seen = seen_of(first, 9)
    states = [loader.state_dict() for loader in first]
    assert all(state == states[0] for state in states)
    assert states[0]["position"] == len(seen) == 9 * before[0] * before[2]
    state = json.loads(json.dumps(states[0]))
    second = loaders(path, *after, state, weights)
    rest = seen_of(second)
    (alone,) = loaders(path, 1, 0, SAMPLES, weights=weights)
    whole = collections.Counter(seen_of([alone]))
    difference = collections.Counter(seen + rest)
    difference.subtract(whole)
    assert min(difference.values()) >= 0  # nothing is missing
    assert sum(difference.values()) < after[0]  # repeated to fill the last step
    for loader in second:
        assert loader.state_dict()["epoch"] == 1 and loader.state_dict()["batches"] == 0
        assert len(loader) == -(-SAMPLES // after[0] // after[2])


def test_a_loop_that_is_left_begins_again(path):
    (loader,) = loaders(path, 1, 0, 8)
    want = seen_of([loader])
    loader.sampler.set_epoch(0)
    for batches in (3, 1, 3):
        assert seen_of([loader], batches) == want[: 8 * batches]
        assert loader.state_dict()["position"] == 8 * batches and len(loader) == 38
    assert seen_of([loader]) == want


def test_states_that_do_not_fit(path):
    (loader,) = loaders(path, 1, 0, 8)
    state = loader.state_dict()
    other = tt.DataLoader(opened(path)[:20], 8, sampler=tt.Order(opened(path)[:20]))
    with pytest.raises(ValueError, match="found the state of other samples.*\nhint: "):
        other.load_state_dict(state)
    plain = tt.DataLoader(opened(path), 8, shuffle=True)
    with pytest.warns(UserWarning, match="save .* no Order as its sampler.*\nhint: "):
        assert plain.state_dict() == {}
    with pytest.warns(UserWarning, match="resume .* no Order as its sampler.*\nhint: "):
        plain.load_state_dict(state)
    with pytest.warns(UserWarning, match="found the empty state of a loader without an Order"):
        loader.load_state_dict({})


KILLED = """
import json, os, signal, sys
import torch
import tcbuild, tcbuild.torch as tt

path, notes, kill_at, workers = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
dataset = tcbuild.open(path)
order = tt.Order(dataset, 5)
loader = tt.DataLoader(dataset, 10, sampler=order, num_workers=workers, masks=None)
model = torch.nn.Linear(1, 1)
numbers = iter(range(10**6))

def note(batch):
    with open(notes, "a") as file:
        print(json.dumps(batch.sample_indices.tolist()), file=file)
    if next(numbers) == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return model(batch.phenotype("fitness").float().nan_to_num()[:, None]).square().mean()
"""

TRAINERS = {
    "lightning": """
import pytorch_lightning as pl
import warnings; warnings.simplefilter("ignore")

class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = model
    def training_step(self, batch, _):
        return note(batch)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

options = {"every_n_train_steps": 1, "enable_version_counter": False}
kept = pl.callbacks.ModelCheckpoint(".", "kept", **options)
trainer = pl.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, callbacks=[kept], enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Module(), loader, ckpt_path="kept.ckpt" if os.path.exists("kept.ckpt") else None)
""",
    "accelerate": """
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
step = 0
if os.path.exists("kept.pt"):
    saved = torch.load("kept.pt")
    order.load_state_dict(saved["order"])
    step = saved["step"]
model, optimizer, prepared = accelerator.prepare(model, optimizer, loader)
for epoch in range(order.epoch, 2):
    prepared.set_epoch(epoch)
    for batch in prepared:
        accelerator.backward(note(batch))
        optimizer.step()
        step += 1
        torch.save({"order": order.state(step, 10), "step": step}, "kept.new")
        os.replace("kept.new", "kept.pt")
    step = 0
""",
    "a loop": """
if os.path.exists("kept.pt"):
    loader.load_state_dict(torch.load("kept.pt"))
while order.epoch < 2:
    for batch in loader:
        note(batch).backward()
        torch.save(loader.state_dict(), "kept.new")
        os.replace("kept.new", "kept.pt")
""",
}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_killed_run_goes_on(path, tmp_path, trainer):
    """SIGKILL within the first epoch and within the second; each sample is seen once per epoch."""
    if trainer == "lightning":
        pytest.importorskip("pytorch_lightning")
    if trainer == "accelerate":
        pytest.importorskip("accelerate")
    (tmp_path / "train.py").write_text(KILLED + TRAINERS[trainer])
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python"), "OMP_NUM_THREADS": "1"}
    seen = []
    for run, (kill_at, workers) in enumerate([(7, 0), (34, 0), (10**6, 0)]):
        notes = tmp_path / f"notes.{run}"
        command = [sys.executable, "train.py", str(path), str(notes), str(kill_at), str(workers)]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == (0 if kill_at == 10**6 else -9), done.stderr
        found = [json.loads(line) for line in notes.read_text().splitlines()]
        # The step that was killed is made again.
        seen += found if kill_at == 10**6 else found[:-1]
    flat = [number for batch in seen for number in batch]
    assert len(flat) == 2 * SAMPLES
    for epoch in (0, 1):
        order = tt.Order(opened(path), 5)
        order.set_epoch(epoch)
        assert flat[epoch * SAMPLES : (epoch + 1) * SAMPLES] == list(order)
