"""Cell graphs, samples and batches for torch_geometric.

    graph = tcbuild.pyg.cell_graph("cell/indices")           # or a graph folder
    dataset = tcbuild.pyg.Dataset("cell/indices", phenotypes=["fitness"])
    loader = tcbuild.pyg.DataLoader(dataset, batch_size=28)
    for batch in loader:
        batch["gene"].mask, batch.masked_edge_index_dict(), batch.y

It needs the packages torch and torch_geometric (the extra pyg). PyG's own DataLoader
takes the samples too, but copies each edge list for each sample of a batch.
"""

from tcbuild.errors import missing_package as _missing_package

try:
    from tcbuild.pyg._batch import Batch
    from tcbuild.pyg._cell_graph import cell_graph
    from tcbuild.pyg._collate import Collater
    from tcbuild.pyg._dataset import Dataset, Sample
    from tcbuild.pyg._loader import DataLoader
except ModuleNotFoundError as error:
    raise _missing_package("tcbuild.pyg", error) from error

__all__ = ["Batch", "Collater", "DataLoader", "Dataset", "Sample", "cell_graph"]


def __dir__() -> list[str]:
    return __all__
