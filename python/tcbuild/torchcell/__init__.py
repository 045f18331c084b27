"""Samples and batches with torchcell's names (extra `pyg`). `tcbuild.build` takes torchcell's cell
graphs, and its stores as samples.

Examples:
    >>> samples = tcbuild.torchcell.Dataset("cell/dataset", phenotypes=["fitness"])
    >>> for batch in tcbuild.torchcell.DataLoader(samples, batch_size=25):
    ...     target = batch["gene"].phenotype_values
    >>> target.shape
    torch.Size([25])
"""

from tcbuild.errors import missing_package as _missing_package

try:
    from tcbuild.torchcell._cell_graph import cell_graph
    from tcbuild.torchcell._dataset import Dataset
    from tcbuild.torchcell._loader import DataLoader, LazyCollater
except ModuleNotFoundError as error:
    raise _missing_package("tcbuild.torchcell", error) from error

__all__ = [
    "DataLoader",
    "Dataset",
    "LazyCollater",
    "cell_graph",
]


def __dir__() -> list[str]:
    return __all__
