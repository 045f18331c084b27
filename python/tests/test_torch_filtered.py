"""Stock layers of PyG on what a batch keeps do what a plain loop over the kept edges does."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch.utils.data import DataLoader
from torch_geometric.nn import GCNConv, GINConv, SAGEConv

import tcbuild.torch as tt
from oracle import ends
from tcbuild import torchcell
from torch_cases import built_case, opened, want_mask

CASES = [("everything", "gpr"), ("everything", "all"), ("further types", "all"), ("dense", "gpr")]


@pytest.fixture(scope="module", params=CASES, ids=" ".join)
def built(request, tcbuild, tmp_path_factory):
    name, rule = request.param
    return built_case(tcbuild, name, rule, tmp_path_factory.mktemp("case"))


def batches(built, rows, variants=("incidence", "indices", "full-masks")):
    """The samples as batches of every kind."""
    for variant in variants:
        dataset = opened(built.datasets[variant])[rows]
        for masks in ("stacked", "concatenated"):
            yield tt.collate(dataset, masks)
        graphs = torchcell.Dataset(dataset, [])
        yield next(iter(torchcell.DataLoader(graphs, len(rows))))
    for workers in (1, 2):
        loader = DataLoader(dataset, len(rows), num_workers=workers, collate_fn=tt.collate)
        yield next(iter(loader))
        yield next(iter(torchcell.DataLoader(graphs, len(rows), num_workers=workers)))


def oracle(built, rows, name):
    """Edges of the samples by a loop over them: all, kept, kept with ends, weights, in numbers of
    nodes of the whole graphs; and the number that each kept node has among the kept ones.
    """
    source, target = ends(name)
    sizes = {node_type: len(ids) for node_type, ids in built.cell.nodes.items()}
    every, kept, with_ends, weights, numbers = [], [], [], [], {source: {}, target: {}}
    for place, row in enumerate(rows):
        masks = {end: want_mask(built.want[row], end) for end in (source, target, name)}
        for end in {source, target}:
            for node in range(sizes[end]):
                if masks[end][node]:
                    numbers[end][place * sizes[end] + node] = len(numbers[end])
        for edge, stays in zip(built.cell.edges[name], masks[name]):
            both = (place * sizes[source] + edge[0], place * sizes[target] + edge[1])
            every.append(both)
            weights.append(float(stays))
            if stays:
                kept.append(both)
            if stays and masks[source][edge[0]] and masks[target][edge[1]]:
                with_ends.append(both)
    relabelled = [(numbers[source][a], numbers[target][b]) for a, b in with_ends]
    return every, kept, relabelled, weights, numbers


def pairs(edge_index):
    assert edge_index.dtype == torch.int64 and edge_index.size(0) == 2
    return list(map(tuple, edge_index.T.tolist()))


@pytest.mark.parametrize("rows", [[0], [3, 0, 3, 7]], ids=str)
def test_edges_of_every_batch(built, rows):
    want = {name: oracle(built, rows, name) for name in built.cell.edges}
    for batch in batches(built, rows):
        for name, (every, kept, relabelled, weights, numbers) in want.items():
            assert pairs(batch.edge_index(name)) == every
            assert pairs(batch.edge_index(name, filtered=True)) == kept
            kind = tuple(name.split("__")) if name.count("__") == 2 else name
            assert pairs(batch.edge_index(kind, filtered=True, relabel=True)) == relabelled
            edges, weight = batch.edge_index(name, edge_weight=True)
            assert pairs(edges) == every and weight.tolist() == weights
            assert weight.dtype == torch.float32
            assert batch.kept(name).tolist() == [i for i, w in enumerate(weights) if w]
            for node_type, number in numbers.items():
                assert batch.kept(node_type).tolist() == list(number)


def plain_sums(features, kept, nodes):
    """What each node gets from its neighbours, edge by edge."""
    sums = [[0.0] * features.size(1) for _ in range(nodes)]
    counts = [0] * nodes
    rows = features.tolist()
    for source, target in kept:
        sums[target] = [a + b for a, b in zip(sums[target], rows[source])]
        counts[target] += 1
    return torch.tensor(sums), torch.tensor(counts)


def test_stock_layers_sum_the_kept_edges(built):
    rows, name = [1, 4, 2], next(n for n in built.cell.edges if ends(n) == ("gene", "gene"))
    nodes = len(rows) * len(built.cell.nodes["gene"])
    features = torch.rand(nodes, 3, generator=torch.Generator().manual_seed(1))
    _, kept, _, _, _ = oracle(built, rows, name)
    sums, counts = plain_sums(features, kept, nodes)
    gin, sage, gcn = (
        GINConv(torch.nn.Identity()),
        SAGEConv(3, 3),
        GCNConv(3, 3, add_self_loops=False),
    )
    want = sage.lin_l(sums / counts.clamp(min=1)[:, None]) + sage.lin_r(features)
    for batch in batches(built, rows, ["indices"]):
        edge_index = batch.edge_index(name, filtered=True)
        torch.testing.assert_close(gin(features, edge_index), features + sums)
        torch.testing.assert_close(sage(features, edge_index), want)
        every, weight = batch.edge_index(name, edge_weight=True)
        torch.testing.assert_close(gcn(features, every, weight), gcn(features, edge_index))
        among = batch.edge_index(name, filtered=True, relabel=True)
        chosen = batch.kept("gene")
        here = gin(features[chosen], among)
        torch.testing.assert_close(here, (features + sums)[chosen])


def test_options_that_contradict_each_other(built):
    for batch in batches(built, [0, 1], ["indices"]):
        name = next(iter(built.cell.edges))
        with pytest.raises(ValueError, match="filtered and edge_weight\nhint: "):
            batch.edge_index(name, filtered=True, edge_weight=True)
        with pytest.raises(ValueError, match="relabel without filtered\nhint: "):
            batch.edge_index(name, relabel=True)
        for wrong in ("gene__physicl__gene", "gene"):
            with pytest.raises(KeyError):
                batch.edge_index(wrong, filtered=True)
    unmasked = tt.collate(opened(built.datasets["indices"])[:2], masks=None)
    with pytest.raises(AttributeError, match="without masks\nhint: "):
        unmasked.edge_index(name, filtered=True)


def test_changed_masks_are_followed_on_the_cpu(built):
    name = next(iter(built.cell.edges))
    for batch in batches(built, [0, 1], ["indices"]):
        mask = batch.masks[name] if hasattr(batch, "masks") else batch[tuple(name.split("__"))].mask
        mask.zero_()
        assert batch.edge_index(name, filtered=True).shape == (2, 0)
    assert copy.copy(batch) is not batch


def on_fake_device(batch, mode):
    """A batch whose tensors are on a CUDA device that is not there."""
    return batch._map(lambda tensor: mode.from_tensor(tensor).to("cuda"))


def test_no_device_is_waited_for(built):
    """Fake tensors have no values, so anything that would have to read one fails."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    rows = [1, 4, 2]
    dataset = opened(built.datasets["indices"])[rows]
    for masks in ("stacked", "concatenated"):
        batch = tt.collate(dataset, masks)
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            try:
                torch.zeros(1, device="cuda")
            except RuntimeError as error:
                pytest.skip(f"this torch has no fake tensors of a missing device: {error}")
            fake = on_fake_device(batch, mode)
            for name in built.cell.edges:
                every, kept, relabelled, weights, _ = oracle(built, rows, name)
                assert fake.edge_index(name, filtered=True).shape == (2, len(kept))
                among = fake.edge_index(name, filtered=True, relabel=True)
                assert among.shape == (2, len(relabelled)) and among.device.type == "cuda"
                assert fake.edge_index(name, edge_weight=True)[1].shape == (len(every),)
                assert fake.kept(name).shape == (len(kept),)
                gone = fake.removed(name)
                assert gone.shape == (2, len(every) - len(kept)) and gone.device.type == "cuda"


def zeros(want, rows, name):
    """Where the oracle's masks of samples are 0."""
    return [(b, p) for b, row in enumerate(rows) for p in want[row]["masks"][name]["removed"]]


def test_removed_positions_are_those_of_the_oracle(built):
    assert tt.collate(opened(built.datasets["indices"])[:0]).removed("gene").shape == (2, 0)
    for rows in ([0, 3, 3, 1], [2], list(range(len(built.want)))):
        for batch in batches(built, rows):
            if getattr(batch, "is_small", False):
                assert batch.removed("gene").dtype == torch.int64 and batch.is_small
            for name in built.want[0]["masks"]:
                gone = batch.removed(name)
                assert gone.shape[0] == 2 and gone.dtype == torch.int64
                assert list(map(tuple, gone.T.tolist())) == zeros(built.want, rows, name)
                assert torch.equal(batch.removed(tuple(name.split("__"))), gone)
            with pytest.raises(KeyError, match="hint: "):
                batch.removed("gene__physicl__gene")


def test_removed_positions_in_compiled_code(built):
    name = next(iter(built.cell.edges))
    torch._dynamo.reset()

    def penalty(batch, weights):
        return weights[batch.removed(name)[1]].sum()

    compiled = torch.compile(penalty, backend="eager")
    weights = torch.rand(len(built.cell.edges[name]))
    for rows in ([0, 1], [2, 3, 4], list(range(9)), [5]):
        for batch in batches(built, rows):
            assert compiled(batch, weights) == penalty(batch, weights)


@pytest.mark.cuda
def test_a_card_is_not_waited_for(built):
    name, rows = next(iter(built.cell.edges)), [1, 4, 2]
    for batch in batches(built, rows, ["incidence"]):
        batch = batch.to("cuda")
        batch.edge_index(name)  # makes the batch's tensors
        torch.cuda.set_sync_debug_mode("error")
        try:
            gone, kept = batch.removed(name), batch.edge_index(name, filtered=True)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        assert list(map(tuple, gone.T.tolist())) == zeros(built.want, rows, name)
        assert kept.T.cpu().tolist() == [*map(list, oracle(built, rows, name)[1])]


def test_a_compiled_layer_takes_filtered_edges_of_all_sizes(built):
    name = next(n for n in built.cell.edges if ends(n) == ("gene", "gene"))
    layer = SAGEConv(3, 3)
    compiled = torch.compile(layer, backend="eager", dynamic=True, fullgraph=True)
    for rows in ([0, 1], [2, 3, 4], list(range(9))):
        batch = tt.collate(opened(built.datasets["indices"])[rows])
        features = torch.rand(len(rows) * len(built.cell.nodes["gene"]), 3)
        edges = batch.edge_index(name, filtered=True)
        torch.testing.assert_close(compiled(features, edges), layer(features, edges))
