"""Models of torchcell learn the same from tcbuild.torchcell as from torchcell: the same losses, bit
by bit. Only the dataset and its collate function differ.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
pytest.importorskip("torchcell", reason="torchcell is not installed")

from torch.nn.functional import mse_loss
from torchcell.data.graph_processor import (
    DCellGraphProcessor,
    LazySubgraphRepresentation,
    Perturbation,
)
from torchcell.datamodules import CellDataModule
from torchcell.datamodules.lazy_collate import LazyCollater
from torchcell.datamodules.perturbation_subset import PerturbationSubsetDataModule
from torchcell.loader.dense_padding_data_loader import DensePaddingDataLoader
from torchcell.losses.dango import DangoLoss, LinearUntilUniform
from torchcell.losses.logcosh import LogCoshLoss
from torchcell.models.cell_graph_transformer import CellGraphTransformer
from torchcell.models.dango import Dango
from torchcell.models.dcell_opt import DCellOpt
from torchcell.models.hetero_cell_bipartite_dango_gi_lazy import GeneInteractionDango
from torchcell.transforms.hetero_to_dense_mask import HeteroToDenseMask

import torchcell_client as client
from tcbuild import torchcell
from test_pyg_torchcell import build

LABELS = ["gene_interaction"]
FOLLOWED = ["perturbation_indices", "go_gene_strata_state"]
STEPS = 50


@pytest.fixture(scope="module")
def datasets(tcbuild, tmp_path_factory):
    """torchcell's dataset and the folder of tcbuild's, of the same records. All have statistics:
    torchcell's collate fails where the first of a batch has none and another has some.
    """
    folder = tmp_path_factory.mktemp("losses")
    records = list(filter(client.has_statistics, client.make_records(LABELS, 1, 400)))
    ontology = client.make_ontology(random.Random("ontology"))
    theirs = client.torchcell_dataset(folder, records, LABELS, ontology=ontology)
    return theirs, build(tcbuild, folder, theirs.cell_graph, records)


class Training:
    """A model, its loss, and a graph of the dataset's."""

    processor = LazySubgraphRepresentation

    def __init__(self, cell_graph: Any):
        self.cell_graph = cell_graph
        self.names = [name for _, name, kind in cell_graph.edge_types if kind == "gene"]
        self.model = self.make()

    def make(self) -> Any:
        raise NotImplementedError

    def loss(self, batch: Any) -> Any:
        predictions, _ = self.model(self.cell_graph, batch)
        targets = batch["gene"].phenotype_values
        return LogCoshLoss()(predictions.view(-1), targets)


class OfGraphs(Training):
    """The model of torchcell's experiment 006: masked convolutions on each gene-gene graph."""

    def make(self) -> Any:
        # It takes the names alone, and passes over graphs that are not in the data.
        names = dict.fromkeys(self.names)
        encoder = {"encoder_type": "gin"}
        genes = len(client.GENES)
        return GeneInteractionDango(genes, 16, 2, names, gene_encoder_config=encoder)


class OfDango(Training):
    def make(self) -> Any:
        return Dango(len(client.GENES), self.names, hidden_channels=16)

    def loss(self, batch: Any) -> Any:
        predictions, outputs = self.model(self.cell_graph, batch)
        adjacency = {}
        for name in self.names:
            edges = self.cell_graph["gene", name, "gene"].edge_index
            adjacency[name] = torch.zeros(len(client.GENES), len(client.GENES))
            adjacency[name][edges[0], edges[1]] = 1
        loss = DangoLoss(self.names, dict.fromkeys(self.names, 0.1), LinearUntilUniform())
        targets = batch["gene"].phenotype_values
        return loss(predictions.view(-1), targets, outputs["reconstructions"], adjacency)[0]


class OfTransformer(Training):
    """Takes samples without the graph."""

    processor = Perturbation

    def make(self) -> Any:
        return CellGraphTransformer(
            len(client.GENES), 16, 2, 4, self.cell_graph, graph_reg_scale=0.0
        )

    def loss(self, batch: Any) -> Any:
        predictions, _ = self.model(self.cell_graph, batch)
        return mse_loss(predictions.view(-1), batch["gene"].phenotype_values)


class OfDCell(Training):
    """Takes the gene ontology of each sample."""

    processor = DCellGraphProcessor

    def make(self) -> Any:
        # Training normalizes within a batch, and fails for the last one, of one sample.
        return DCellOpt(self.cell_graph, min_subsystem_size=2).eval()

    def loss(self, batch: Any) -> Any:
        predictions, _ = self.model(self.cell_graph, batch)
        return mse_loss(predictions.view(-1), batch["gene"].phenotype_values)


def trained(kind: type[Training], dataset: Any, collate: Any, folder: Path) -> tuple[Any, Any]:
    """The losses of AdamW's steps, and the model's parameters after them."""
    cells = CellDataModule(
        dataset, str(folder), 8, random_seed=3, num_workers=0, split_indices=client.INDEXES[:3]
    )
    module = PerturbationSubsetDataModule(
        cells, 200, 8, seed=5, follow_batch=FOLLOWED, collate_fn=collate
    )
    module.setup()
    torch.manual_seed(7)
    training = kind(dataset.cell_graph)
    optimizer = torch.optim.AdamW(training.model.parameters(), lr=3e-3)
    losses: list[float] = []
    while len(losses) < STEPS:
        for batch in module.train_dataloader():
            optimizer.zero_grad()
            loss = training.loss(batch)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses, torch.nn.utils.parameters_to_vector(training.model.parameters())


@pytest.mark.parametrize("kind", [OfGraphs, OfDango, OfTransformer, OfDCell])
def test_losses_are_equal_to_the_last_bit(datasets, tmp_path, kind):
    theirs, path = datasets
    theirs.process_graph = kind.processor()
    ours = torchcell.Dataset(path, LABELS, graph_processor=kind.processor.__name__)
    theirs_collate = LazyCollater(theirs, FOLLOWED)
    want, final = trained(kind, theirs, theirs_collate, tmp_path / "theirs")
    got, parameters = trained(kind, ours, torchcell.LazyCollater(FOLLOWED), tmp_path / "ours")
    assert got == want and torch.equal(parameters, final)
    assert len(set(want)) == len(want) and min(want) < want[0]  # it learns something


@pytest.mark.parametrize("sizes", [None, {"gene": 40, "reaction": 15, "metabolite": 10}])
def test_dense_forms_are_equal(datasets, sizes):
    """torchcell makes them with a transform and a loader, which take samples of both."""
    theirs, path = datasets
    theirs.process_graph = LazySubgraphRepresentation()
    ours = torchcell.Dataset(path, LABELS)
    batches = []
    for dataset in (theirs, ours):
        dataset.transform = HeteroToDenseMask(sizes)
        samples = [dataset[row] for row in range(8)]
        collate = (
            torchcell.LazyCollater(FOLLOWED) if dataset is ours else LazyCollater(dataset, FOLLOWED)
        )
        dense = DensePaddingDataLoader(samples, 4, follow_batch=FOLLOWED)
        batches.append([*samples, collate(samples), *dense])
        dataset.transform = None
    for want, got in zip(*batches):
        got = client.contents(got)
        for key, value in client.contents(want).items():
            assert key == "gene/ids_pert" or same(got[key], value), key


def same(got: Any, want: Any) -> bool:
    if isinstance(want, torch.Tensor):
        return got.dtype == want.dtype and torch.equal(got.nan_to_num(7), want.nan_to_num(7))
    if isinstance(want, dict):
        return got.keys() >= want.keys() and all(same(got[key], want[key]) for key in want)
    if isinstance(want, list):
        return len(got) == len(want) and all(map(same, got, want))
    return bool(got == want)
