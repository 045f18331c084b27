"""What is trained, and one round of a row, which runs in a process of its own."""

from __future__ import annotations

import pickle
import resource
import time
from argparse import Namespace
from collections import namedtuple
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

import tcbuild
import tcbuild.torch as tt
from tcbuild._graph.graph import ends_of
from tcbuild.errors import SettingsError

Row = namedtuple("Row", "dataset form batch workers device folder")


class Model(nn.Module):
    """A GIN that predicts a number per sample: learned gene features, layers that add neighbours'
    over all gene-gene edge types, and the mean of the genes left. Its forms learn the same.
    """

    forms = ("shared", "filtered", "masks")

    def __init__(self, dataset: tcbuild.Dataset, form: str, hidden: int, layers: int):
        super().__init__()
        self.form = form
        self.names = [name for name in dataset.graph.edges if ends_of(name) == ("gene", "gene")]
        if not self.names:
            raise SettingsError(
                f"train on {dataset.path}: found no edges between genes in its graph",
                "give the graph an edge type such as gene__physical__gene",
            )
        self.genes = nn.Embedding(len(dataset.genes), hidden)
        self.updates = nn.ModuleList(
            nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
            for _ in range(layers)
        )
        self.head = nn.Linear(hidden, 1)
        self.whole = form not in ("shared", "filtered")
        for number, name in enumerate(self.names if self.whole else ()):
            edges = torch.from_numpy(dataset.graph.edges[name]).long()
            self.register_buffer(f"edges{number}", edges, persistent=False)
        on_device = self.whole and dataset.variant == "incidence"
        self.generator: Any = tt.MaskGenerator(dataset) if on_device else None

    def loader(self, view: tcbuild.Dataset, batch_size: int, **options: Any) -> Any:
        masks: Any = None if self.form == "shared" or self.generator else "stacked"
        return tt.DataLoader(view, batch_size, masks=masks, **options)

    def graphs(self, batch: tt.Batch) -> tuple[Tensor, Callable[[Tensor, str], Tensor]]:
        """The genes kept, [B, N], and the sum over an edge type's kept edges, of [B, N, F]."""
        if self.form == "shared":
            return batch.keep["gene"], lambda x, name: tt.propagate(x, batch, name)
        masks = batch.masks if self.generator is None else self.generator(batch)
        ends = {
            name: self.get_buffer(f"edges{number}")
            if self.whole
            else batch.edge_index(name, filtered=True)
            for number, name in enumerate(self.names)
        }

        def neighbours(x: Tensor, name: str) -> Tensor:
            source, target = ends[name]
            if self.whole:
                messages = x[:, source] * masks[name][:, :, None]
                return torch.zeros_like(x).index_add(1, target, messages)
            nodes = x.flatten(0, 1)
            return torch.zeros_like(nodes).index_add(0, target, nodes[source]).view_as(x)

        return masks["gene"], neighbours

    def loss(self, batch: tt.Batch) -> Tensor:
        """Of the first phenotype, where a missing one counts as 0."""
        kept, neighbours = self.graphs(batch)
        mask = kept[:, :, None].to(self.genes.weight.dtype)
        x = self.genes.weight * mask
        for update in self.updates:
            x = update(sum((neighbours(x, name) for name in self.names), x)) * mask
        found = self.head(x.sum(1) / mask.sum(1).clamp(min=1))[:, 0]
        wanted = batch.phenotypes[:, 0] if batch.phenotype_names else torch.zeros_like(found)
        return nn.functional.mse_loss(found, wanted.nan_to_num().to(found.dtype))


def model_of(name: str) -> Any:
    """The class of --model."""
    return Model if name == "gin" else import_module(name).Model


def measure(row: Row, path: str, options: Namespace) -> dict[str, Any]:
    """Trains for options.slice seconds, after first steps; returns the figures."""
    torch.manual_seed(0)
    on_card = row.device != "cpu"
    began, dataset = time.perf_counter(), tcbuild.open(path)
    dataset._read_removed(0)
    opened = time.perf_counter() - began
    model = model_of(options.model)(dataset, row.form, options.hidden, options.layers)
    optimizer = torch.optim.Adam(model.to(row.device).parameters())
    view, random = dataset[: options.samples], torch.Generator().manual_seed(0)
    order = torch.utils.data.RandomSampler(view, True, 1 << 30, generator=random)
    loading = {"sampler": order, "num_workers": row.workers, "pin_memory": on_card}
    how = "fork" if row.workers else None
    batches = iter(model.loader(view, row.batch, **loading, multiprocessing_context=how))
    loads: list[float] = []

    def step() -> Tensor:
        start = time.perf_counter()
        batch = next(batches)
        if on_card:
            batch = batch.to(row.device, non_blocking=True)
        loads.append(time.perf_counter() - start)
        loss: Tensor = model.loss(batch)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        return loss

    first_loss, *_ = [step().item() for _ in range(1 + 2 * row.workers)]  # and what is ahead
    loads.clear()
    cpu, start = time.process_time(), time.perf_counter()
    while not loads or time.perf_counter() - start < options.slice:
        last = step()
    last.item()  # waits for a card
    wall, steps = time.perf_counter() - start, len(loads)
    return {
        "it_per_s": steps / wall,
        "cpu_s": (time.process_time() - cpu) / steps,
        "load_ms": 1e3 * sum(loads) / steps,
        "open_ms": 1e3 * opened,
        "first_loss": first_loss,
        "host_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "sent_bytes": len(pickle.dumps(next(iter(model.loader(view[:64], 64))))) / len(view[:64]),
        "card_bytes": torch.cuda.max_memory_allocated(row.device) if on_card else None,
    }
