"""Reads tcbuild datasets for training code: samples, phenotypes, and masks of all three variants.

    import tcbuild

    dataset = tcbuild.open("cell/indices")
    sample = dataset[0]
    sample.genes, sample.phenotypes, sample.masks["gene__physical__gene"]

store/FORMAT.md specifies the files, docs/concepts.md the terms and the rules of masks.
"""

from tcbuild import notebook as notebook
from tcbuild.dataset import Dataset, Phenotype, open
from tcbuild.errors import (
    AnnDataError,
    DamagedFileError,
    DamagedRecordError,
    DatasetError,
    FormatVersionError,
    GraphError,
    ManifestError,
    MissingFileError,
    MissingShardError,
    SelectionError,
    UnknownNameError,
    UnreadableFileError,
)
from tcbuild.graph import CellGraph
from tcbuild.graph_columns import GraphColumns
from tcbuild.graph_folder import read_graph_folder
from tcbuild.incidence import CSR
from tcbuild.normalizer import Normalizer
from tcbuild.sample import Sample
from tcbuild.samples import Samples
from tcbuild.statistics import Statistics

__all__ = [
    "AnnDataError",
    "CSR",
    "CellGraph",
    "DamagedFileError",
    "DamagedRecordError",
    "Dataset",
    "DatasetError",
    "FormatVersionError",
    "GraphColumns",
    "GraphError",
    "ManifestError",
    "MissingFileError",
    "MissingShardError",
    "Normalizer",
    "Phenotype",
    "Sample",
    "SelectionError",
    "Samples",
    "Statistics",
    "UnknownNameError",
    "UnreadableFileError",
    "open",
    "read_graph_folder",
]
