"""Samples of torchcell, and of tcbuild's datasets of its stores, are exported as the store holds
them: one row per genotype, with a column for each of its measurements.
"""

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torchcell_client as client
from tcbuild import torchcell
from test_torchcell import write_store

LABELS = ["fitness", "gene_interaction"]


def write_graph(folder):
    (folder / "nodes").mkdir(parents=True)
    (folder / "nodes/gene.tsv").write_text("\n".join(["id", *client.GENES]) + "\n")
    return folder


def built(tcbuild, folder, records, samples_of):
    """The samples that tcbuild makes of a store, and of what is exported of it."""
    graph = write_graph(folder / "graph")
    texts = {str(number): json.dumps(record).encode() for number, record in enumerate(records)}
    write_store(folder / "processed/lmdb", texts)
    inputs = ["--graph", graph]
    tcbuild.run(
        "incidence", *inputs, "--perturbations", folder / "processed/lmdb", "--out", folder / "a"
    )
    torchcell.export_perturbations(samples_of(folder / "a"), folder / "p.arrow")
    tcbuild.run("incidence", *inputs, "--perturbations", folder / "p.arrow", "--out", folder / "b")
    found = [tcbuild.samples(folder / name, len(records)) for name in "ab"]
    for sample in found[0]:  # its tensors are float32, and have no attributes
        sample["attributes"] = {}
        for name, value in sample["phenotypes"].items():
            rounded = None if value is None else float(torch.tensor(value, dtype=torch.float32))
            sample["phenotypes"][name] = rounded
    return found


def make_records():
    records = client.make_records(LABELS, 4)
    for record in records:
        for pair in record:
            phenotype = pair["experiment"]["phenotype"]
            if "fitness" in phenotype:  # torchcell makes 0 of what is below
                phenotype["fitness"] = abs(phenotype["fitness"])
    return records


def test_samples_of_a_dataset_are_those_of_its_store(tcbuild, tmp_path):
    records = make_records()
    store, exported = built(
        tcbuild, tmp_path, records, lambda path: torchcell.Dataset(path, phenotypes=LABELS)
    )
    for got, want in zip(exported, store, strict=True):
        assert got == want


@pytest.mark.parametrize("processor", ["LazySubgraphRepresentation", "Perturbation"])
def test_samples_of_torchcell_are_those_of_its_store(tcbuild, tmp_path, processor):
    pytest.importorskip("torchcell", reason="torchcell is not installed")
    from torchcell.data import graph_processor

    records = make_records()
    theirs = client.torchcell_dataset(
        tmp_path / "theirs", records, LABELS, getattr(graph_processor, processor)()
    )
    store, exported = built(tcbuild, tmp_path, records, lambda _: [theirs[i] for i in range(40)])
    for got, want in zip(exported, store, strict=True):
        assert got == want
