"""Single-cell screens: the expression of cells and of matched controls beside samples and masks.

    dataset = tcbuild.build("human/graph", "screen.h5ad", out="cells", genes_columns="condition",
                            gene_delimiter="+", controls=["ctrl"], allow_wildtype=True)
    cells = tcbuild.anndata.Cells(dataset, "screen.h5ad", controls_by=["cell_type", "batch"])
    for batch in tcbuild.torch.DataLoader(cells, 64, shuffle=True):
        batch.expression, batch.control, batch.masks

It needs anndata, with h5py for .h5ad files and zarr for .zarr folders (the extra anndata).
"""

from tcbuild.anndata._cells import Cells
from tcbuild.anndata._samples import CellSamples

__all__ = ["CellSamples", "Cells"]


def __dir__() -> list[str]:
    return __all__
