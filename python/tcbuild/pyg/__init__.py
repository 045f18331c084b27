"""Graphs, samples and batches for torch_geometric (extra `pyg`). PyG's own DataLoader takes the
samples too, but copies every edge list for every sample.

Examples:
    >>> samples = tcbuild.pyg.Dataset("cell/dataset", phenotypes=["fitness"])
    >>> for batch in tcbuild.pyg.DataLoader(samples, batch_size=25):
    ...     edges, target = batch.masked_edge_index_dict(), batch.y
    >>> batch["gene"].mask.shape, target.shape
    (torch.Size([1500]), torch.Size([25, 1]))
"""

from tcbuild.errors import missing_package as _missing_package

try:
    from tcbuild.pyg._batch import Batch
    from tcbuild.pyg._cell_graph import cell_graph
    from tcbuild.pyg._collate import Collater
    from tcbuild.pyg._dataset import Dataset, Sample
    from tcbuild.pyg._layers import GCNConv, GINConv, SAGEConv
    from tcbuild.pyg._loader import DataLoader
except ModuleNotFoundError as error:
    raise _missing_package("tcbuild.pyg", error) from error

__all__ = [
    "Batch",
    "Collater",
    "DataLoader",
    "Dataset",
    "GCNConv",
    "GINConv",
    "SAGEConv",
    "Sample",
    "cell_graph",
]


def __dir__() -> list[str]:
    return __all__
