"""Single-cell screens: the expression of cells and of matched controls, with samples and masks
(extra `anndata`).
"""

from tcbuild.anndata._cells import Cells
from tcbuild.anndata._samples import CellSamples

__all__ = ["CellSamples", "Cells"]


def __dir__() -> list[str]:
    return __all__
