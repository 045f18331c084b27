"""Builds, queries and reads datasets: samples, phenotypes, and masks of all three variants.

`tcbuild.sources`, `screens`, `torch`, `pyg`, `torchcell` and `anndata` are imported at their first
use.

Examples:
    >>> dataset = tcbuild.open("cell/dataset")
    >>> sick = dataset.where("fitness < 0.8")
    >>> dataset[0].deleted_genes, dataset[0].masks["gene__physical__gene"].shape
    (['YCR001W', 'YFL001W', 'YFR002C'], (210,))
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from tcbuild import _notebook as _notebook
from tcbuild import _program, errors
from tcbuild._build import build
from tcbuild._dataset import Dataset, Phenotype, open
from tcbuild._graph.graph import CellGraph
from tcbuild._publish import publish
from tcbuild._sample import Sample
from tcbuild.errors import DatasetError

_ROOMS = ["anndata", "pyg", "screens", "sources", "torch", "torchcell"]

__version__ = _program.VERSION

__all__ = [
    "CellGraph",
    "Dataset",
    "DatasetError",
    "Phenotype",
    "Sample",
    "build",
    "errors",
    "open",
    "publish",
]


def __getattr__(name: str) -> _Any:
    if name in _ROOMS:
        return _import_module(f"tcbuild.{name}")
    raise AttributeError(f"module 'tcbuild' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
