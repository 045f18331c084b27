"""Single-cell screens: the expression of cells and of matched controls beside samples and masks.

It needs anndata, with h5py for .h5ad files and zarr for .zarr folders (the extra anndata).
"""

from tcbuild.anndata._cells import Cells
from tcbuild.anndata._samples import CellSamples

__all__ = ["CellSamples", "Cells"]


def __dir__() -> list[str]:
    return __all__
