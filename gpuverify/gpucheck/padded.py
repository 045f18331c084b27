"""For tcbuild.compare: the form `padded`, whose masks are made as torchcell's first generator made
them. Each gene's positions are padded to the longest row, a batch starts from repeated masks of the
whole graph, and the host waits for every type of mask.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import tcbuild
import tcbuild.torch as tt
from tcbuild.compare._train import Model as GIN


class Model(GIN):
    forms = (*GIN.forms, "padded")

    def __init__(self, dataset: tcbuild.Dataset, form: str, hidden: int, layers: int):
        super().__init__(dataset, form, hidden, layers)
        if form == "padded":
            self.generator = PaddedGenerator(dataset, self.names)


class PaddedGenerator(nn.Module):
    def __init__(self, dataset: tcbuild.Dataset, names: list[str]):
        super().__init__()
        genes = len(dataset.genes)
        rows = {"gene": torch.arange(genes)[:, None]}
        for name in names:
            csr = dataset.incidence[name]
            ends = torch.from_numpy(csr.offsets[: genes + 1]).long()
            lists = torch.from_numpy(csr.positions[: int(ends[-1])]).long().split([*ends.diff()])
            rows[name] = nn.utils.rnn.pad_sequence(lists, batch_first=True, padding_value=-1)
        self.sizes = {
            name: dict(zip(dataset.mask_names, dataset.mask_sizes))[name] for name in rows
        }
        for name, of in rows.items():
            self.register_buffer(f"rows of {name}", of)
            self.register_buffer(f"all of {name}", torch.ones(self.sizes[name], dtype=torch.bool))

    def forward(self, batch: tt.Batch) -> dict[str, Tensor]:
        masks = {}
        for name in self.sizes:
            masks[name] = self.get_buffer(f"all of {name}").repeat(len(batch), 1)
            positions = self.get_buffer(f"rows of {name}")[batch.deleted]
            samples = batch.deleted_batch[:, None].expand_as(positions)
            masks[name][samples[positions >= 0], positions[positions >= 0]] = False
        return masks
