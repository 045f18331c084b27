"""Cells of single-cell screens: a perturbation set from the table obs of an AnnData file, and the
rows of a batch's cells in that file. Expression is never read, and stays where it is.

    tcbuild.anndata.perturbations(
        "norman.h5ad", delimiter="+", controls=["ctrl"], kind="CRISPRa", keep=["cell_type"]
    )

It writes norman.arrow. A build of these activated genes takes removing_kinds=none: they stay in the
graph, and a model sees them in perturbed.

It needs the package h5py for .h5ad files and zarr for .zarr folders (the extra anndata).
"""

from tcbuild.anndata._cells import Cells
from tcbuild.anndata._perturbations import PerturbationSet, perturbations

__all__ = ["Cells", "PerturbationSet", "perturbations"]


def __dir__() -> list[str]:
    return __all__
