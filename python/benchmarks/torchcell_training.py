"""torchcell's GeneInteractionDango, and its own loader; it needs torchcell (1.8.4)."""

from __future__ import annotations

import json
import re
from contextlib import redirect_stdout
from typing import Any

import torch
from torch import Tensor
from torchcell.data.graph_processor import LazySubgraphRepresentation
from torchcell.datamodels.schema import (
    EXPERIMENT_REFERENCE_TYPE_MAP,
    EXPERIMENT_TYPE_MAP,
    GeneInteractionPhenotype,
)
from torchcell.losses.logcosh import LogCoshLoss
from torchcell.models.hetero_cell_bipartite_dango_gi_lazy import GeneInteractionDango

import tcbuild
from batches import use

GENE = re.compile(r"Y[A-P][LR]\d{3}[WC](-[A-Z])?").fullmatch  # torchcell refuses plasmids' genes
ENVIRONMENT = {
    "media": {"name": "YPD", "state": "solid", "is_synthetic": False},
    "temperature": {"value": 30.0},
}


class Dango(GeneInteractionDango):
    def __init__(self, cell_graph: Any, hidden: int, layers: int):
        names = [graph for _, graph, kind in cell_graph.edge_types if kind == "gene"]
        with redirect_stdout(None):
            super().__init__(
                cell_graph["gene"].num_nodes,
                hidden,
                layers,
                dict.fromkeys(names),  # it takes the names of the graphs alone
                gene_encoder_config={"encoder_type": "gin"},
            )
        self.cell_graph = cell_graph.clone()

    def _apply(self, *arguments: Any, **options: Any) -> Any:
        moved = super()._apply(*arguments, **options)
        self.cell_graph = self.cell_graph.to(next(self.parameters()).device)
        return moved

    def prepare(self, batch: Any) -> None:
        use(batch)

    def loss(self, batch: Any) -> Tensor:
        predictions, _ = self(self.cell_graph, batch)
        loss: Tensor = LogCoshLoss()(predictions.view(-1), batch["gene"].phenotype_values)
        return loss


class Samples(torch.utils.data.Dataset[Any]):
    """Samples as torchcell's Neo4jCellDataset makes them of records, which are in memory."""

    def __init__(self, stored: tcbuild.Dataset, phenotype: str, cell_graph: Any):
        self.cell_graph = cell_graph
        self.process = LazySubgraphRepresentation().process
        values = stored.phenotype(phenotype).tolist()
        self.records = [
            record(sample.deleted_genes, value) for sample, value in zip(stored, values)
        ]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: int) -> Any:
        pairs = [
            {
                "experiment": EXPERIMENT_TYPE_MAP[kind](**pair["experiment"]),
                "experiment_reference": EXPERIMENT_REFERENCE_TYPE_MAP[kind](
                    **pair["experiment_reference"]
                ),
            }
            for pair in json.loads(self.records[index])
            for kind in [pair["experiment"]["experiment_type"]]
        ]
        return self.process(self.cell_graph, [GeneInteractionPhenotype], pairs)


def record(genes: list[str], value: float) -> str:
    """The JSON of a record with one gene interaction."""
    kind, name = "gene interaction", "BenchmarkDataset"
    phenotype = {"gene_interaction": value, "gene_interaction_p_value": 0.05}
    reference = {
        "experiment_reference_type": kind,
        "dataset_name": name,
        "genome_reference": {
            "species": "Saccharomyces cerevisiae",
            "strain": "S288C",
            "assembly_set": "sgd_S288C_R64-4-1_20230830",
            "assembly_accession": "GCF_000146045.2",
        },
        "environment_reference": ENVIRONMENT,
        "phenotype_reference": phenotype,
    }
    deleted = [
        {
            "systematic_gene_name": gene,
            "perturbed_gene_name": gene,
            "perturbation_type": "kanmx_deletion",
        }
        for gene in genes
    ]
    experiment = {
        "experiment_type": kind,
        "dataset_name": name,
        "genotype": {"perturbations": deleted},
        "environment": ENVIRONMENT,
        "phenotype": phenotype,
    }
    return json.dumps([{"experiment": experiment, "experiment_reference": reference}])
