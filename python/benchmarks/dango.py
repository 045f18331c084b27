"""torchcell's GeneInteractionDango (torchcell 1.8.4), which takes masks, for tcbuild.compare:

PYTHONPATH=python/benchmarks python -m tcbuild.compare DATASETS --model dango
"""

from __future__ import annotations

from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from torch import Tensor, nn

import tcbuild
from tcbuild import torchcell


class Model(nn.Module):
    forms = ("masks",)

    def __init__(self, dataset: tcbuild.Dataset, form: str, hidden: int, layers: int):
        super().__init__()
        models = import_module("torchcell.models.hetero_cell_bipartite_dango_gi_lazy")
        self.criterion = import_module("torchcell.losses.logcosh").LogCoshLoss()
        self.graph = _samples(dataset).cell_graph.clone()
        names = [name for _, name, kind in self.graph.edge_types if kind == "gene"]
        graphs: dict[str, None] = dict.fromkeys(names)  # it takes their names alone
        gin = {"encoder_type": "gin"}
        with redirect_stdout(None):
            self.model = models.GeneInteractionDango(
                len(dataset.genes), hidden, layers, graphs, gene_encoder_config=gin
            )

    def loader(self, view: tcbuild.Dataset, batch_size: int, **options: Any) -> Any:
        follow = ["perturbation_indices"]
        return torchcell.DataLoader(_samples(view), batch_size, follow_batch=follow, **options)

    def loss(self, batch: Any) -> Tensor:
        self.graph = self.graph.to(next(self.parameters()).device)
        found, _ = self.model(self.graph, batch)
        loss: Tensor = self.criterion(found.view(-1), batch["gene"].phenotype_values)
        return loss


def _samples(dataset: tcbuild.Dataset) -> Any:
    return torchcell.Dataset(dataset, dataset.phenotype_names[:1])
