"""A small torchcell build, and what torchcell itself (1.8.4) makes of it.

    PYTHONHASHSEED=0 python python/tests/torchcell_client.py python/tests/testdata/torchcell

records its batches, as test_pyg_torchcell.py compares them.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Batch, HeteroData

from test_torchcell import write_store

GENES = [f"YAL{number:03d}{strand}" for number in range(18) for strand in "CW"]
STATISTICS = {"fitness": "fitness_se", "gene_interaction": "gene_interaction_p_value"}
# Labels, and the most experiments of a record.
BUILDS = {"single": (["gene_interaction"], 1), "several": (["gene_interaction", "fitness"], 4)}
FOLLOWED = ["perturbation_indices", "x"]
FOLLOWED_EDGELESS = ["perturbation_indices", "go_gene_strata_state"]
BATCHES = [[0, 1, 2, 3], [5, 5, 7], [11], list(range(12, 26))]


def make_records(labels: list[str], most: int, count: int = 40) -> list[list[dict[str, Any]]]:
    """Records of up to so many experiments each, of labels in any order."""
    rng = random.Random(f"{labels} {most} {count}")
    environment = {
        "media": {"name": "YPD", "state": "solid", "is_synthetic": False},
        "temperature": {"value": 30.0},
    }
    records = []
    for _ in range(count):
        strain = rng.sample(GENES, 3)
        pairs = []
        for _ in range(rng.randint(1, most)):
            label = rng.choice(labels)
            phenotype = {label: rng.gauss(0.5, 1)}  # a fitness below 0 is 0 in torchcell
            if (spread := rng.choice([rng.random(), rng.random(), None])) is not None:
                phenotype[STATISTICS[label]] = spread
            phenotype |= {"label_name": label, "label_statistic_name": STATISTICS[label]}
            phenotype["graph_level"] = "global" if label == "fitness" else "hyperedge"
            told = {
                "experiment_type": label.replace("_", " "),
                "dataset_name": f"{label.title()}{rng.choice('AB')}Dataset",
                "genotype": {"perturbations": perturbations(rng, strain)},
                "environment": environment,
                "phenotype": phenotype,
            }
            genome = {"species": "Saccharomyces cerevisiae", "strain": "S288C"}
            genome |= {"assembly_set": "sgd_S288C_R64-4-1_20230830"}
            genome |= {"assembly_accession": "GCF_000146045.2"}
            reference = {
                "experiment_reference_type": told["experiment_type"],
                "dataset_name": told["dataset_name"],
                "genome_reference": genome,
                "environment_reference": environment,
                "phenotype_reference": phenotype,
            }
            pairs.append({"experiment": told, "experiment_reference": reference})
        records.append(pairs)
    return records


def ordered(records: list[list[dict[str, Any]]], rows: Iterable[int]) -> list[int]:
    """Rows with statistics first: torchcell's collate fails where the first sample has none and
    another has some.
    """
    return sorted(rows, key=lambda row: not has_statistics(records[row]))


def measured(records: list[list[dict[str, Any]]]) -> list[int]:
    """Rows that PyG can collate: all with statistics."""
    return [row for row, record in enumerate(records) if has_statistics(record)][:12]


def has_statistics(record: list[dict[str, Any]]) -> bool:
    return any(pair["experiment"]["phenotype"].keys() & set(STATISTICS.values()) for pair in record)


def perturbations(rng: random.Random, strain: list[str]) -> list[dict[str, Any]]:
    found = []
    for gene in sorted(rng.sample(strain, rng.randint(1, 3))):
        kind = rng.choice(["kanmx_deletion", "damp", "natmx_deletion"])
        told = {"systematic_gene_name": gene, "perturbed_gene_name": gene}
        told["perturbation_type"] = kind
        found.append(told | {"strain_id": "DAmP 1"} if kind == "damp" else told)
    return found


def make_graphs(rng: random.Random) -> tuple[Any, dict[str, Any]]:
    """Two gene-gene graphs and a metabolism, as torchcell takes them."""
    import networkx as nx
    from sortedcontainers import SortedDict
    from torchcell.graph import GeneGraph, GeneMultiGraph
    from torchcell.sequence import GeneSet

    genes = GeneSet(GENES)
    graphs = {}
    for name, kind in (("physical", nx.Graph), ("regulatory", nx.DiGraph), ("tflink", nx.DiGraph)):
        graph = kind()
        graph.add_edges_from((rng.choice(GENES), rng.choice(GENES)) for _ in range(40))
        graphs[name] = GeneGraph(name=name, graph=graph, max_gene_set=genes)
    metabolism = nx.DiGraph()
    for number in range(12):
        reaction = f"r_{number:04d}"
        members = set(rng.sample(GENES, number % 4)) | ({"YAL999C"} if number == 5 else set())
        system = "Growth" if number == 3 else "Transport"
        metabolism.add_node(reaction, node_type="reaction", genes=members, subsystem=system)
        for metabolite in rng.sample(range(8), 3):
            metabolism.add_node(f"s_{metabolite}", node_type="metabolite")
            side = rng.choice(["reactant", "product"])
            metabolism.add_edge(
                reaction,
                f"s_{metabolite}",
                edge_type=side,
                stoichiometry=rng.choice([1.0, 2.0, 0.5]),
            )
    return GeneMultiGraph(graphs=SortedDict(graphs)), {"metabolism_bipartite": metabolism}


def make_ontology(rng: random.Random) -> Any:
    """Terms with genes, of which one is not in the graph, and their hierarchy."""
    import networkx as nx

    graph = nx.DiGraph()
    for number in range(12):
        genes = {*rng.sample(GENES, rng.randrange(4)), *(["YAL999C"] if number == 3 else [])}
        graph.add_node(f"GO:{number:04d}", gene_set=genes)
    for child in range(1, 12):
        graph.add_edge(f"GO:{child:04d}", f"GO:{rng.randrange(child):04d}")
    return graph


def torchcell_dataset(
    root: Path,
    records: list[list[dict[str, Any]]],
    labels: list[str],
    processor: Any = None,
    ontology: Any = None,
) -> Any:
    """torchcell's own dataset of a processed build with these records."""
    from torchcell.data.graph_processor import LazySubgraphRepresentation
    from torchcell.data.neo4j_cell import Neo4jCellDataset
    from torchcell.sequence import GeneSet

    texts = {str(number): json.dumps(record).encode() for number, record in enumerate(records)}
    write_store(root / "processed/lmdb", texts)
    found = {pair["experiment"]["experiment_type"] for record in records for pair in record}
    (root / "processed/experiment_types.json").write_text(json.dumps(sorted(found)))
    graphs, incidence_graphs = make_graphs(random.Random("graphs"))
    if ontology is not None:
        incidence_graphs["gene_ontology"] = ontology
    return Neo4jCellDataset(
        str(root),
        gene_set=GeneSet(GENES),
        graphs=graphs,
        incidence_graphs=incidence_graphs,
        graph_processor=processor or LazySubgraphRepresentation(),
        phenotype_labels=labels,
    )


def contents(data: HeteroData) -> dict[str, Any]:
    """What a graph, sample or batch holds, by TYPE/KEY."""
    stores = [("", data._global_store), *data.node_items()]
    stores += [("__".join(kind), store) for kind, store in data.edge_items()]
    return {f"{kind}/{key}": value for kind, store in stores for key, value in store.items()}


def as_recorded(found: dict[str, Any]) -> dict[str, Any]:
    """Without what depends on a hash: torchcell's order of ids_pert."""
    return {
        key: [sorted(names) for names in value] if key == "gene/ids_pert" else value
        for key, value in found.items()
    }


def torchcell_batches(dataset: Any, numbers: list[list[int]]) -> Iterator[dict[str, Any]]:
    from torchcell.datamodules.lazy_collate import LazyCollater

    collate = LazyCollater(dataset, follow_batch=FOLLOWED)
    return (as_recorded(contents(collate([dataset[i] for i in rows]))) for rows in numbers)


def edgeless_batch(dataset: Any, rows: Iterable[int]) -> dict[str, Any]:
    """A batch of samples without edges, of torchcell's dataset."""
    samples = [dataset[row] for row in rows]
    return genes_sorted(contents(Batch.from_data_list(samples, follow_batch=FOLLOWED_EDGELESS)))


def genes_sorted(found: dict[str, Any]) -> dict[str, Any]:
    names = found["gene/perturbed_genes"]
    return found | {"gene/perturbed_genes": [sorted(some) for some in names]}


INDEXES = ["phenotype_label_index", "dataset_name_index", "perturbation_count_index"]
INDEXES += ["is_any_perturbed_gene_index"]


def indexes(dataset: Any, folder: str | Path) -> dict[str, Any]:
    """What torchcell's data modules make of a dataset, with the order of keys; needs torchcell."""
    from torchcell.datamodules import CellDataModule
    from torchcell.datamodules.perturbation_subset import PerturbationSubsetDataModule

    if hasattr(dataset, "close_lmdb"):  # torchcell opens its store for an index, too
        dataset.close_lmdb()
    found: dict[str, Any] = {name: list(getattr(dataset, name).items()) for name in INDEXES}
    found |= indexes_of_tables(dataset)
    for seed in range(3):
        cells = CellDataModule(
            dataset,
            cache_dir=str(Path(folder) / f"cache{seed}"),
            random_seed=seed,
            split_indices=INDEXES[:3],
        )
        found[f"split {seed}"] = cells.index.model_dump()
        found[f"details {seed}"] = json.loads(cells.index_details.model_dump_json())
        subset = PerturbationSubsetDataModule(cells, size=len(dataset) // 2, seed=seed)
        found[f"subset {seed}"] = subset.index.model_dump()
    return found


def indexes_of_tables(dataset: Any) -> dict[str, Any]:
    table = dataset.label_df
    return {
        "label_df": [
            table.columns.tolist(),
            json.loads(table.to_json(orient="values", double_precision=15)),
        ],
        "length": len(dataset),
    }


def save(path: Path, found: dict[str, Any]) -> None:
    """Writes tensors as path.npz and all else as path.json."""
    tensors = {key: value for key, value in found.items() if isinstance(value, torch.Tensor)}
    arrays = {key.replace("/", ":"): value.numpy() for key, value in tensors.items()}
    np.savez_compressed(path.with_suffix(".npz"), **arrays)
    others = {key: value for key, value in found.items() if key not in tensors}
    text = json.dumps(others, default=torch.Tensor.tolist)
    path.with_suffix(".json").write_text(text + "\n")


def load(path: Path) -> dict[str, Any]:
    found = json.loads(path.with_suffix(".json").read_text())
    with np.load(path.with_suffix(".npz")) as arrays:
        return found | {key.replace(":", "/"): torch.from_numpy(arrays[key]) for key in arrays}


def record(folder: Path) -> None:
    from torchcell.data.graph_processor import (
        DCellGraphProcessor,
        LazySubgraphRepresentation,
        Perturbation,
    )

    for name, (labels, most) in BUILDS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        records = make_records(labels, most)
        (folder / name / "records.json").write_text(json.dumps(records) + "\n")
        with tempfile.TemporaryDirectory() as root:
            dataset = torchcell_dataset(Path(root), records, labels)
            save(folder / name / "cell_graph", contents(dataset.cell_graph))
            (folder / name / "indexes.json").write_text(json.dumps(indexes(dataset, root)) + "\n")
            dataset.process_graph = Perturbation()
            save(folder / name / "perturbations", edgeless_batch(dataset, BATCHES[3]))
            dataset.process_graph = LazySubgraphRepresentation()
            rows = [ordered(records, rows) for rows in BATCHES]
            for number, batch in enumerate(torchcell_batches(dataset, rows)):
                save(folder / name / f"batch{number}", batch)
    (folder / "ontology").mkdir(exist_ok=True)
    records = json.loads((folder / "single/records.json").read_text())
    with tempfile.TemporaryDirectory() as root:
        ontology = make_ontology(random.Random("ontology"))
        labels = BUILDS["single"][0]
        dataset = torchcell_dataset(Path(root), records, labels, DCellGraphProcessor(), ontology)
        save(folder / "ontology/cell_graph", contents(dataset.cell_graph))
        rows = measured(records)
        save(folder / "ontology/batch", edgeless_batch(dataset, rows))


if __name__ == "__main__":
    record(Path(sys.argv[1]))
