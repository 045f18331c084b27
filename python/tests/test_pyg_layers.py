"""Layers on shared edges learn what torch_geometric's layers learn on filtered edges."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
nn = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed")

import tcbuild as reader
import tcbuild.torch as tt
from builds import build
from cases import CASES
from tcbuild import pyg

AWKWARD = [("everything", "all"), ("further types", "gpr"), ("wild types", "gpr")]
KINDS = [
    KIND := ("gene", "physical", "gene"),
    ("gene", "gpr", "reaction"),
    ("reaction", "rmr", "metabolite"),
    ("metabolite", "to", "gene"),
    ("reaction", "to", "reaction"),
]
HIDDEN = 4

LAYERS = {
    "GIN": lambda of: of.GINConv(update(), eps=0.1, train_eps=True),
    "GIN mean": lambda of: of.GINConv(update(), aggr="mean"),
    "SAGE": lambda of: of.SAGEConv(HIDDEN, HIDDEN),
    "SAGE project": lambda of: of.SAGEConv((HIDDEN, HIDDEN), HIDDEN, project=True, normalize=True),
    "SAGE sum": lambda of: of.SAGEConv(HIDDEN, HIDDEN, aggr="sum", root_weight=False),
    "GCN": lambda of: of.GCNConv(HIDDEN, HIDDEN),
    "GCN improved": lambda of: of.GCNConv(HIDDEN, HIDDEN, improved=True),
    "GCN without loops": lambda of: of.GCNConv(HIDDEN, HIDDEN, add_self_loops=False),
    "GCN as it is": lambda of: of.GCNConv(HIDDEN, HIDDEN, normalize=False),
}


def update():
    linear = torch.nn.Linear
    return torch.nn.Sequential(linear(HIDDEN, HIDDEN), torch.nn.ReLU(), linear(HIDDEN, HIDDEN))


@pytest.fixture(scope="module", params=AWKWARD, ids=" ".join)
def dataset(request, tcbuild, tmp_path_factory):
    case = next(case for case in CASES if case.name == request.param[0])
    folder = tmp_path_factory.mktemp("case")
    built = build(tcbuild, case, folder, request.param[1], ["incidence"])
    return reader.open(built.datasets["incidence"])


class Model(torch.nn.Module):
    """Two layers over all edge types, learned features, and, for GCN, learned weights of edges."""

    def __init__(self, graph, of, layer, weighted):
        super().__init__()
        self.shared, self.weighted = of is pyg, weighted
        kinds = [kind for kind in KINDS if kind in graph.edge_types]
        kinds = [kind for kind in kinds if kind[0] == kind[2] or "GCN" not in layer]
        self.features = torch.nn.ParameterDict(
            {name: torch.randn(store.num_nodes, HIDDEN) for name, store in graph.node_items()}
        )
        self.weights = torch.nn.ParameterDict(
            {"__".join(kind): torch.rand(graph[kind].num_edges) + 0.5 for kind in kinds}
        )
        # HeteroConv refuses GCNs with loops between two types, and there is none here.
        self.layers = torch.nn.ModuleList(
            nn.HeteroConv({kind: LAYERS[layer](of) for kind in kinds}) for _ in range(2)
        )
        self.kinds = kinds

    def forward(self, batch):
        size = len(batch)
        x = {name: rows.repeat(size, 1) for name, rows in self.features.items()}
        weights = {kind: self.weights["__".join(kind)] for kind in self.kinds}
        if self.shared:
            edges = {kind: batch.shared_edges()[kind] for kind in self.kinds}
        else:
            masks = {kind: batch[kind].mask for kind in self.kinds}
            edges = {kind: batch[kind].edge_index[:, mask] for kind, mask in masks.items()}
            weights = {kind: weights[kind].repeat(size)[mask] for kind, mask in masks.items()}
        more = {"edge_weight_dict": weights} if self.weighted else {}
        for layer in self.layers:
            x = x | {name: rows.tanh() for name, rows in layer(x, edges, **more).items()}
        return sum(rows.square().view(size, -1).mean(1) for rows in x.values())


def train(model, batches, steps, dtype):
    model = model.to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses, gradients = [], []
    for step in range(steps):
        batch = batches[step % len(batches)]
        loss = (model(batch) - torch.arange(len(batch), dtype=dtype)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        gradients.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    return losses, gradients


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_learns_as_on_filtered_edges(dataset, layer, dtype):
    graph = pyg.cell_graph(dataset)
    batches = list(pyg.DataLoader(pyg.Dataset(dataset, []), batch_size=7))[:4]
    for weighted in (False, True) if "GCN" in layer else (False,):
        stock, ours = (Model(graph, of, layer, weighted) for of in (nn, pyg))
        ours.load_state_dict(stock.state_dict())
        found, wanted = (train(model, batches, 4, dtype) for model in (ours, stock))
        limit = 1e-9 if dtype == torch.float64 else 1e-5
        torch.testing.assert_close(found, wanted, rtol=limit, atol=limit)


def a_batch(dataset):
    return tt.collate(dataset[:5], masks=None)


def test_takes_features_of_samples_too(dataset):
    batch = a_batch(dataset)
    x = torch.randn(len(batch), len(dataset.genes), HIDDEN)
    for layer in LAYERS.values():
        layer, edges = layer(pyg), batch.shared_edges()[KIND]
        torch.testing.assert_close(layer(x, edges).flatten(0, 1), layer(x.flatten(0, 1), edges))


def test_other_edges_are_torch_geometrics(dataset):
    x, edges = torch.randn(9, HIDDEN), torch.randint(9, (2, 20))
    for layer in LAYERS.values():
        ours, stock = layer(pyg), layer(nn)
        stock.load_state_dict(ours.state_dict())
        torch.testing.assert_close(ours(x, edges), stock(x, edges))


def test_no_host_needs_a_value(dataset):
    """Tensors of the device meta have none."""
    batch = a_batch(dataset).to("meta")
    x = torch.randn(5, len(dataset.genes), HIDDEN, device="meta", requires_grad=True)
    for layer in LAYERS.values():
        weight = torch.ones(dataset.graph.edges["__".join(KIND)].shape[1], device="meta")
        weights = {"edge_weight": weight.requires_grad_()} if "GCN" in str(layer(pyg)) else {}
        layer(pyg).to("meta")(x, batch.shared_edges()[KIND], **weights).sum().backward()


def test_refuses_what_a_sum_cannot_do(dataset):
    edges = a_batch(dataset).shared_edges()
    x = torch.randn(5, len(dataset.genes), HIDDEN)
    for layer in (
        pyg.SAGEConv(HIDDEN, HIDDEN, aggr="max"),
        pyg.GINConv(update(), flow="target_to_source"),
        pyg.GCNConv(HIDDEN, HIDDEN, aggr="mean"),
    ):
        with pytest.raises(ValueError, match="expected"):
            layer(x, edges[KIND])
    with pytest.raises(ValueError, match="GINConv or SAGEConv"):
        pyg.GCNConv(HIDDEN, HIDDEN)(x, edges["gene", "gpr", "reaction"])
