"""masked_edge_index_dict has the kept edges of a batch, whatever else has memory of the same."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch_geometric.nn import HeteroConv, SAGEConv

from tcbuild import torchcell
from test_torch_filtered import oracle
from torch_cases import built_case


@pytest.fixture(scope="module", params=["everything", "dense", "further types", "wild types"])
def built(request, tcbuild, tmp_path_factory):
    return built_case(tcbuild, request.param, "all", tmp_path_factory.mktemp("case"))


@pytest.fixture
def dataset(built):
    return torchcell.Dataset(built.datasets["incidence"], [])


def check(built, rows, edges):
    for kind, edge_index in edges.items():
        _, kept, _, _, _ = oracle(built, rows, "__".join(kind))
        assert sorted(map(tuple, edge_index.T.tolist())) == sorted(kept), kind


def edges_of(dataset, rows):
    return torchcell.LazyCollater()([dataset[row] for row in rows]).masked_edge_index_dict()


def test_edges_of_batches_one_after_the_other(built, dataset):
    size = len(dataset)
    kinds = {
        kind
        for name in ("edge_index", "hyperedge_index")
        for kind in dataset[0].collect(name, allow_empty=True)
        if kind != ("metabolite", "reaction", "metabolite")
    }
    for rows in ([0, 1, 2], [3], [2, 2], range(3), [size - 1, 0, 4], [5, 6, 7]):
        edges = edges_of(dataset, rows)
        assert edges.keys() == kinds
        check(built, rows, edges)


def test_what_a_batch_has_never_changes(built, dataset):
    kept = {}
    for rows in ([0, 1], [2, 3], [4, 5], [6, 7, 8]):
        edges = edges_of(dataset, rows)
        kept[tuple(rows)] = {kind: edge_index[:, ::1] for kind, edge_index in edges.items()}
    for rows, edges in kept.items():
        check(built, rows, edges)


def test_what_autograd_has_never_changes(built, dataset):
    if not dataset.cell_graph.collect("edge_index", allow_empty=True):
        pytest.skip("no edges but hyperedges")
    graph = dataset.cell_graph
    kinds = [kind for kind in graph.collect("edge_index") if kind[0] == kind[2] == "gene"]
    model = HeteroConv({kind: SAGEConv(3, 3) for kind in kinds})
    torch.manual_seed(1)
    x = torch.rand(2 * graph["gene"].num_nodes, 3)
    gradients, losses = [], []
    for _ in range(2):
        for rows in ([0, 1], [2, 3]):
            out = model({"gene": x}, edges_of(dataset, rows))["gene"]
            losses.append(out.square().sum())
    for loss in losses:  # after other batches had theirs
        model.zero_grad()
        loss.backward()
        gradients.append(torch.nn.utils.parameters_to_vector([p.grad for p in model.parameters()]))
    torch.testing.assert_close(gradients[0], gradients[2])
    torch.testing.assert_close(gradients[1], gradients[3])


@pytest.mark.parametrize("workers", [0, 2])
def test_edges_of_batches_from_workers(built, dataset, workers):
    for place, batch in enumerate(torchcell.DataLoader(dataset, 7, num_workers=workers)):
        rows = range(7 * place, min(7 * place + 7, len(dataset)))
        check(built, rows, batch.masked_edge_index_dict())
