"""Training that lasts: it goes on where it was killed, and takes no more memory with time."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
pytest.importorskip("torchdata", reason="torchdata is not installed")

from torch.utils.data import DataLoader, DistributedSampler
from torchdata.stateful_dataloader import StatefulDataLoader

import tcbuild as package
import tcbuild.torch as tt
from conftest import REPOSITORY, SEED
from tcbuild import torchcell
from test_docs import code
from torch_cases import built_case, opened


@pytest.fixture(scope="module")
def path(tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    return built_case(tcbuild, "everything", "all", folder, ["incidence"]).datasets["incidence"]


# Of the first of two ranks, which has 15 of the 30 samples.
SAMPLERS = {
    "feistel": lambda dataset: tt.Order(dataset, SEED, 2, 0),
    "torch": lambda dataset: DistributedSampler(dataset, 2, 0, seed=SEED),
}


@pytest.mark.parametrize("kind", ["torch", "pyg"])
@pytest.mark.parametrize(("sampler", "workers"), [("feistel", 0), ("feistel", 2), ("torch", 2)])
def test_the_rest_of_an_epoch_is_exactly_the_rest(path, kind, sampler, workers, seed):
    """Resumed three times in one epoch, then at its end."""
    dataset = opened(path) if kind == "torch" else torchcell.Dataset(path, ["fitness"])
    collate = tt.collate if kind == "torch" else torchcell.LazyCollater()

    def loader(state=None):
        loader = StatefulDataLoader(
            dataset, 2, sampler=SAMPLERS[sampler](dataset), num_workers=workers, collate_fn=collate
        )
        loader.sampler.set_epoch(1)
        if state is not None:
            loader.load_state_dict(state)
        return loader

    def ids(batch):
        return batch.sample_ids if kind == "torch" else batch.sample_id

    want, seen, state = [ids(batch) for batch in loader()], [], None
    for stop in [*sorted(random.Random(seed).sample(range(1, len(want)), 3)), len(want)]:
        rest = iter(part := loader(state))
        seen += [ids(next(rest)) for _ in range(stop - len(seen))]
        state = part.state_dict()
    assert seen == want
    last = loader(state)
    assert list(last) == [] and [ids(batch) for batch in last] == want


@pytest.mark.parametrize("workers", [0, 1])
def test_other_samples_do_not_resume(path, workers):
    stored = package.open(path)
    same = stored[::-1][:20], stored[::-1][:20]
    triples = stored.combinations(stored.genes, 3)
    different = (stored[:20], stored[1:21]), (triples, triples[:20]), (stored[[2, 1]], stored[:2])

    def state_of(samples):
        order = tt.Order(samples, shuffle=False)
        options = {"num_workers": workers, "collate_fn": tt.collate}
        loader = StatefulDataLoader(samples, 4, sampler=order, **options)
        next(iter(loader))
        return loader.state_dict()

    def resumed(samples, state):
        order = tt.Order(samples, shuffle=False)
        options = {"num_workers": workers, "collate_fn": tt.collate}
        loader = StatefulDataLoader(samples, 4, sampler=order, **options)
        loader.load_state_dict(state)
        return next(iter(loader))

    saved, again = same
    assert resumed(again, state_of(saved)).sample_indices.tolist() == again.indices[4:8].tolist()
    for saved, other in different:
        with pytest.raises(ValueError, match="found the state of other samples.*\nhint: "):
            resumed(other, state_of(saved))


NOTES = """import itertools
import json
import os
import signal

numbers = itertools.count(1)


def noted(loader):
    with open(os.environ["NOTES"], "a") as file:
        for batch in loader:
            print(json.dumps(batch.sample_indices.tolist()), file=file, flush=True)
            if next(numbers) == int(os.environ["LAST"]):
                signal.pause()  # until it is killed
            yield batch


"""


class Trainer:
    """The recipe, on two ranks."""

    def __init__(self, folder, path):
        folder.mkdir()
        (folder / "dataset").symlink_to(path)
        recipe = code("docs/training.md", "Several processes, and resuming within an epoch")
        for old, new in (("EVERY = 100", "EVERY = 1"), ("in loader:", "in noted(loader):")):
            assert old in recipe
            recipe = recipe.replace(old, new)
        (folder / "train.py").write_text(NOTES + recipe)
        self.folder, self.runs = folder, 0

    def run(self, batches=None):
        """Until it ends, or until the first rank has begun so many batches; then SIGKILL ends both.
        What each rank has begun.
        """
        self.runs += 1
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
        environment |= {"OMP_NUM_THREADS": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost"}
        # As under torchrun, the ranks meet in a store that listens before they start.
        store = torch.distributed.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        environment |= {"MASTER_PORT": str(store.port), "LAST": str(batches or 0)}
        environment |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
        notes = [self.folder / f"notes.{self.runs}.{rank}" for rank in (0, 1)]
        ranks = [
            subprocess.Popen(
                [sys.executable, "train.py"],
                cwd=self.folder,
                env=environment | {"RANK": str(rank), "NOTES": str(notes[rank])},
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in (0, 1)
        ]
        if batches is not None:
            while ranks[0].poll() is None and len(begun(notes[0])) < batches:
                time.sleep(0.01)
            for rank in ranks:
                rank.kill()
        expected = 0 if batches is None else -signal.SIGKILL
        for rank in ranks:
            _, printed = rank.communicate(timeout=1200)
            assert rank.returncode == expected, printed
        return [list(map(json.loads, begun(file))) for file in notes]


def begun(notes):
    return notes.read_text().splitlines() if notes.exists() else []


@pytest.mark.slow
def test_a_killed_trainer_goes_on_as_if_nothing_had_happened(tcbuild, tmp_path, seed):
    case = "several values in each shard"
    path = built_case(tcbuild, case, "all", tmp_path, ["incidence"]).datasets["incidence"]
    killed = Trainer(tmp_path / "killed", path)
    runs = [killed.run(random.Random(seed).randrange(1, 70)), killed.run()]
    undisturbed = Trainer(tmp_path / "undisturbed", path)
    whole = undisturbed.run()
    for rank, batches in enumerate(whole):
        sampler, want = tt.Order(range(300), 1, 2, rank), []
        for epoch in range(2):
            sampler.set_epoch(epoch)
            order = list(sampler)
            want += (order[first : first + 4] for first in range(0, 150, 4))
        assert batches == want
    done = len(whole[0]) - len(runs[1][0])
    for rank in (0, 1):
        assert runs[0][rank] == whole[rank][: len(runs[0][rank])]
        assert runs[1][rank] == whole[rank][done:]
        # What came after the checkpoint: the step that was killed, and the one that was saved.
        assert 0 <= len(runs[0][rank]) - done <= 2
    ends = [torch.load(trainer.folder / "checkpoint.pt") for trainer in (killed, undisturbed)]
    assert ends[0]["step"] == ends[1]["step"] == len(whole[0])
    for name, weights in ends[1]["model"].items():
        assert torch.equal(ends[0]["model"][name], weights)


BATCHES, EVERY = 5000, 500


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("kind", ["torch", "pyg"])
def test_memory_and_files_stay_as_they_are(path, kind):
    """Over 5,000 batches of two workers, in this process and in them."""
    dataset = opened(path) if kind == "torch" else torchcell.Dataset(path, ["fitness"])
    order = torch.utils.data.RandomSampler(dataset, replacement=True, num_samples=4 * BATCHES)
    collate = tt.collate if kind == "torch" else torchcell.LazyCollater()
    earlier = multiprocessing.active_children()
    loader = DataLoader(dataset, 4, sampler=order, num_workers=2, collate_fn=collate)
    found = []
    for number, batch in enumerate(loader):
        kept = batch.masks["gene"] if kind == "torch" else batch["gene"].mask
        assert kept.any()
        if number % EVERY == EVERY - 1:
            children = [each for each in multiprocessing.active_children() if each not in earlier]
            assert len(children) == 2
            found.append([used(pid) for pid in ("self", *(each.pid for each in children))])
    assert len(found) == BATCHES // EVERY
    for first, last in zip(found[1], found[-1], strict=True):
        assert last["files"] <= first["files"] + 1  # one that a batch has on its way
        assert last["shared"] <= first["shared"]
        assert last["memory"] <= 1.05 * first["memory"]


def used(pid):
    """What a process holds: open files, bytes of /dev/shm that it maps, and its memory."""
    with open(f"/proc/{pid}/maps") as lines:
        mapped = [line.split()[0].split("-") for line in lines if " /dev/shm/" in line]
    with open(f"/proc/{pid}/status") as lines:
        (memory,) = (int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    files = len(os.listdir(f"/proc/{pid}/fd"))
    shared = sum(int(end, 16) - int(start, 16) for start, end in mapped)
    return {"files": files, "shared": shared, "memory": memory}
