"""torchcell's two small stores, in LMDB: the records of its database, of which each sample's masks
are made when it is read, and removed positions, pickled type by type. What is torchcell's here is
how samples are stored; they are written and read without its classes, which cost far more.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import torch

import tcbuild
from systems import Positions, Record, Source, System
from tcbuild._graph.graph import GPR, is_node_type, split_edge_type


class Store(System):
    def write(self, source: Source) -> None:
        with (
            lmdb.open(str(self.folder / "lmdb"), map_size=1 << 40) as store,
            store.begin(write=True) as transaction,
        ):
            for index, record in enumerate(source):
                transaction.put(str(index).encode(), self.encode(record))

    def encode(self, record: Positions) -> bytes:
        raise NotImplementedError

    def open(self) -> Any:
        return lmdb.open(str(self.folder / "lmdb"), readonly=True, lock=False).begin(buffers=True)


class Records(Store):
    def __init__(self, folder: Path, source: Source):
        super().__init__(folder, source)
        self.rows = {name: row for row, name in enumerate(self.stored.genes)}
        self.processor = Processor(self.stored)

    def encode(self, record: Positions) -> bytes:
        return json.dumps(list(experiments(self.stored, record))).encode()

    def __getitem__(self, index: int) -> Record:
        pairs = json.loads(bytes(self.file.get(str(index).encode())))
        measured: dict[str, float] = {}
        for pair in pairs:
            measured |= pair["experiment"]["phenotype"]
        deleted = pairs[0]["experiment"]["genotype"]["perturbations"]
        genes = sorted(self.rows[each["systematic_gene_name"]] for each in deleted)
        return Positions(
            np.array(genes, np.int32),
            np.array([measured[name] for name in self.stored.phenotype_names], np.float64),
            self.processor.removed(genes),
        )


class Compact(Store):
    def encode(self, record: Positions) -> bytes:
        stored, starts = self.stored, self.stored._mask_offsets
        parts = np.split(record.removed, np.searchsorted(record.removed, starts[1:-1]))
        nodes: dict[str, Any] = {}
        edges: dict[tuple[str, str, str], Any] = {}
        for name, size, start, part in zip(
            stored.mask_names, stored.mask_sizes, starts.tolist(), parts
        ):
            removed = torch.from_numpy(part.astype(np.int64) - start)
            mask = {"false_indices": removed, "mask_size": size}
            if is_node_type(name):
                nodes[name] = mask
            else:
                edges[split_edge_type(name)] = mask
        gene = {
            "perturbation_indices": torch.from_numpy(record.genes.astype(np.int64)),
            "phenotype_values": torch.from_numpy(record.phenotypes.copy()),
            "phenotype_type_indices": torch.arange(len(record.phenotypes)),
            "phenotype_types": stored.phenotype_names,
        }
        return pickle.dumps({"gene": gene, "node_masks": nodes, "edge_masks": edges})

    def __getitem__(self, index: int) -> Record:
        found = pickle.loads(self.file.get(str(index).encode()))
        masks = [*found["node_masks"].values(), *found["edge_masks"].values()]
        starts = self.stored._mask_offsets.tolist()
        return Positions(
            found["gene"]["perturbation_indices"].numpy(),
            found["gene"]["phenotype_values"].numpy(),
            np.concatenate(
                [mask["false_indices"].numpy() + start for mask, start in zip(masks, starts)]
            ),
        )


def experiments(stored: tcbuild.Dataset, record: Positions) -> Iterator[dict[str, Any]]:
    """What torchcell's database tells of a genotype: an experiment per label."""
    names = [stored.genes[gene] for gene in record.genes]
    environment = {
        "media": {"name": "YPD", "state": "solid"},
        "temperature": {"value": 30.0, "unit": "Celsius"},
    }
    for label, value in zip(stored.phenotype_names, record.phenotypes.tolist()):
        about = {
            "graph_level": "global",
            "label_name": label,
            "label_statistic_name": f"{label}_se",
        }
        yield {
            "experiment": {
                "experiment_type": label.replace("_", " "),
                "dataset_name": "SyntheticDataset",
                "genotype": {
                    "perturbations": [
                        {
                            "systematic_gene_name": name,
                            "perturbed_gene_name": name,
                            "description": "Deletion via SGA.",
                            "perturbation_type": "sga_kanmx_deletion",
                        }
                        for name in names
                    ]
                },
                "environment": environment,
                "phenotype": {**about, label: value, f"{label}_se": None, "n_samples": None},
            },
            "experiment_reference": {
                "experiment_reference_type": label.replace("_", " "),
                "dataset_name": "SyntheticDataset",
                "genome_reference": {"species": "Saccharomyces cerevisiae", "strain": "S288C"},
                "environment_reference": environment,
                "phenotype_reference": {**about, label: 1.0, f"{label}_se": None},
            },
        }


class Processor:
    """What torchcell's LazySubgraphRepresentation removes for a genotype, type by type: the deleted
    genes and their edges, the reactions of which they are a gene, and the edges of these.
    """

    def __init__(self, stored: tcbuild.Dataset):
        graph = stored.graph
        self.starts = dict(zip(stored.mask_names, stored._mask_offsets.tolist()))
        self.edges = {  # the edges that touch each node, per edge type and end
            (name, end, node_type): grouped(ends[end], len(graph.nodes[node_type]))
            for name, ends in graph.edges.items()
            for end, node_type in enumerate(graph.ends[name])
            if node_type in ("gene", "reaction")
        }
        pairs = graph.edges.get(GPR, np.zeros((2, 0), np.int32))
        self.reactions = [
            set(pairs[1, edges].tolist()) for edges in grouped(pairs[0], len(graph.nodes["gene"]))
        ]

    def removed(self, genes: list[int]) -> np.ndarray[Any, Any]:
        reactions = set[int]().union(*(self.reactions[gene] for gene in genes))
        nodes = {"gene": genes, "reaction": sorted(reactions)}
        parts = [
            np.array(rows, np.int64) + self.starts[name] for name, rows in nodes.items() if rows
        ]
        for (name, _, node_type), edges in self.edges.items():
            parts += [edges[node] + self.starts[name] for node in nodes[node_type]]
        return np.concatenate(parts)


def grouped(ends: np.ndarray[Any, Any], nodes: int) -> list[np.ndarray[Any, Any]]:
    """Per node, the positions at which it stands."""
    order = np.argsort(ends, kind="stable")
    return np.split(order, np.searchsorted(ends[order], np.arange(1, nodes)))
