"""Datasets: sequences of samples, the same for all three variants."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from tcbuild._asked import Asked
from tcbuild._files.manifest import PERTURBATION_INDICES, Manifest
from tcbuild._files.remote import location
from tcbuild._files.scratch import new_folder
from tcbuild._graph.cell import Cell
from tcbuild._graph.graph import CellGraph
from tcbuild._masks.computed import ComputedMasks
from tcbuild._masks.incidence import CSR
from tcbuild._masks.masks import ascending, write_masks
from tcbuild._masks.shards import ShardMasks
from tcbuild._parquet import write_parquet
from tcbuild._sample import Sample
from tcbuild._table.columns import Rows, as_array, lists, take
from tcbuild._table.combinations import Combinations, Table, combined
from tcbuild._table.controls import match
from tcbuild._table.kinds import Kinds
from tcbuild._table.rows import position, positions, selected, selects_several
from tcbuild._table.sample_columns import SampleColumns, known
from tcbuild._table.sample_table import Perturbations, SampleTable


def open(path: str | os.PathLike[str], check: Literal["digest"] | None = None) -> Dataset:
    """Opens a dataset. Files are opened, and checked, at their first use.

    Args:
        path: a folder, or with the package fsspec a URL (s3://bucket/cell, https://host/cell), of
            which only the needed bytes are read
        check: `digest` first compares the SHA-256 of every file: 1 s per 1 to 2 GB and core

    Raises:
        DatasetError: it is no dataset, or damaged

    Examples:
        >>> tcbuild.open("cell/dataset", check="digest")
        <tcbuild.Dataset ...cell/dataset: 100 samples, incidence>
    """
    if check not in ("digest", None):
        raise ValueError(f"open {path}: check {check!r}\nhint: use 'digest', or omit it")
    dataset = Dataset(path)
    if check:
        dataset.manifest.check_digests()
    return dataset


def opened(given: Any) -> Any:
    """The dataset in a folder or at a URL; anything else as it is."""
    is_path = isinstance(given, (str, bytes, os.PathLike))  # bytes are no folder: a TypeError
    return open(given) if is_path else given


def as_dataset(given: Any) -> Dataset:
    """The dataset that a model or a loader is given: itself, a view, or its folder or URL."""
    if not isinstance(found := opened(given), Dataset):
        raise TypeError(
            f"open a dataset: found {type(given).__name__}, expected a tcbuild.Dataset, a view of "
            "one, or its folder"
        )
    return found


class Phenotype(NamedTuple):
    """What the manifest says of a phenotype; "" for what it does not say.

    Attributes:
        name: its column in the perturbation set
        unit: of its numbers
        description: what was measured
        statistic_of: the phenotype whose statistic it is, such as a standard error
    """

    name: str
    unit: str = ""
    description: str = ""
    statistic_of: str = ""


class Dataset(Asked, SampleColumns):
    """A dataset on disk, or a view of one: a sequence of samples. An index gives a Sample; a slice,
    a list of indices or a boolean array a view. Threads and forked processes may share it.

    Args:
        path: as of tcbuild.open

    Attributes:
        path: its folder or URL
        variant: incidence, indices, full-masks, or combinations
        codec: how the variant stores masks, or None
        phenotypes: what the manifest says of each, by name
        phenotype_names: their order in arrays
        attribute_names: such as medium
        kinds: of perturbations, such as deletion; Sample.perturbed_kinds are their indices
        mask_names: node and edge types, in canonical order
        mask_sizes: positions of each mask

    Examples:
        >>> dataset[:10], dataset[[5, 3]]
        (<tcbuild.Dataset ...cell/dataset: 10 of 100 samples, incidence>, ...)
        >>> dataset[dataset.phenotype("fitness") < 0.5].indices.tolist()
        [...]
    """

    _cell: Cell

    def __init__(self, path: str | os.PathLike[str]):
        self.path = location(path)
        self.manifest = Manifest(self.path)
        self.variant: str = self.manifest["variant"]
        self.codec: str | None = self.manifest.get("codec")
        self.phenotypes = {
            phenotype["name"]: Phenotype(**phenotype) for phenotype in self.manifest["phenotypes"]
        }
        self.phenotype_names = list(self.phenotypes)
        self._attributes = {entry["name"]: entry["type"] for entry in self.manifest["attributes"]}
        self.attribute_names = list(self._attributes)
        self.mask_names: list[str] = [mask["name"] for mask in self.manifest["masks"]]
        self.mask_sizes: list[int] = [mask["size"] for mask in self.manifest["masks"]]
        # where each mask begins, and after them the number of all positions
        self._mask_offsets = np.cumsum([0, *self.mask_sizes], dtype=np.int64)
        self._whole: Dataset | None = None  # of a view
        self._stored: Dataset | None = None  # of combinations: the dataset on disk
        self._rows: Rows = range(self.manifest["samples"])
        cell = self._cell = Cell(self.manifest)
        self._kinds = Kinds(self.manifest, lambda: cell.gene_indices)
        self.kinds = self._kinds.names
        self._table: Table = SampleTable(self.manifest)
        self._masks = (
            ComputedMasks(self._table, cell)
            if self.variant == "incidence"
            else ShardMasks(self.manifest)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """The path, and how a view or combinations were made."""
        if self._whole is not None:
            return Dataset._view, (self._whole, self._rows)
        if isinstance(self._table, Combinations):
            return _combinations, (self._stored, self._table.classes, self._table.k)
        return type(self), (self.path,)

    def __repr__(self) -> str:
        codec = f", {self.codec}" if self.codec else ""
        samples = f"{len(self):,} samples"
        if self._whole is not None:
            samples = f"{len(self):,} of {len(self.whole):,} samples"
        return f"<tcbuild.Dataset {self.path}: {samples}, {self.variant}{codec}>"

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Sample]:
        return (Sample(self.whole, int(row)) for row in self._rows)

    @overload
    def __getitem__(  # type: ignore[overload-overlap]
        self, index: slice | Iterable[SupportsIndex] | npt.NDArray[Any]
    ) -> Dataset: ...
    @overload
    def __getitem__(self, index: SupportsIndex) -> Sample: ...
    def __getitem__(self, index: Any) -> Sample | Dataset:
        """A sample, or for a slice, a list or array of indices, or a boolean array, a view."""
        if selects_several(index):
            return self._view(selected(self._rows, index))
        return Sample(self.whole, self._row(index))

    def _view(self, rows: Rows) -> Dataset:
        return self._with(_whole=self.whole, _rows=rows)

    def _with(self, **changes: Any) -> Dataset:
        """A dataset that differs from this one in some attributes, and shares all others."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), **changes)
        return other

    def __getitems__(self, indices: Iterable[SupportsIndex]) -> Dataset:
        """A batch's samples: a view, which collate reads at once. A torch DataLoader, and a Subset
        in it, calls it.
        """
        return self._view(take(self._rows, positions(indices, len(self))))

    @property
    def _has_plain_masks(self) -> bool:
        """Whether its files have masks as they are in memory, a byte per position."""
        return (self.variant, self.codec) == ("full-masks", "raw")

    @property
    def whole(self) -> Dataset:
        """The dataset that this is a view of, or itself."""
        return self if self._whole is None else self._whole

    def _row(self, index: object) -> int:
        """The index in the whole dataset."""
        return int(self._rows[position(index, len(self))])

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """The index of each sample in the whole dataset."""
        return as_array(self._rows).copy()

    def phenotype(self, name: str) -> npt.NDArray[np.float64]:
        """A phenotype of all samples: float64 [N], NaN if missing.

        Args:
            name: one of phenotype_names
        """
        return self.column(known("phenotype", name, self.phenotype_names))

    def attribute(self, name: str) -> npt.NDArray[Any]:
        """An attribute of all samples: texts as objects [N], None if missing, or float64 [N], NaN
        if missing.

        Args:
            name: one of attribute_names
        """
        return self.column(known("attribute", name, self.attribute_names))

    def categories(self, attribute: str) -> list[str]:
        """The different texts of an attribute, sorted; of a view, those of the whole dataset.

        Args:
            attribute: one of text

        Raises:
            ValueError: the attribute has numbers
        """
        if self._attributes[known("attribute", attribute, self.attribute_names)] != "text":
            raise ValueError(
                f"read categories: attribute {attribute!r} has numbers, expected text\n"
                f"hint: dataset.attribute({attribute!r}) has the numbers"
            )
        return self._table.words(attribute)

    def gene_index(self, gene: str) -> int:
        """The index of a gene in `genes`.

        Args:
            gene: its id, or another name that the graph has

        Raises:
            UnknownNameError: a KeyError: the name means no gene, or several
        """
        if not isinstance(gene, str):
            raise TypeError(f"find a gene: found {type(gene).__name__}, expected a gene's name")
        return self._cell.names.index(gene)

    def deletes(self, *genes: str) -> npt.NDArray[np.bool_]:
        """Which samples delete all of some genes, and maybe others: bool [N].

        Args:
            *genes: any of their names

        Examples:
            >>> sick = dataset[dataset.deletes("YCR001W") & (dataset.phenotype("fitness") < 0.8)]
        """
        hits, wanted = self._deletions(genes)
        found: npt.NDArray[np.bool_] = hits == wanted
        return found

    def deletes_any(self, *genes: str) -> npt.NDArray[np.bool_]:
        """Which samples delete at least one of some genes: bool [N].

        Args:
            *genes: any of their names
        """
        return self._deletions(genes)[0] > 0

    def _deletions(self, genes: Sequence[str]) -> tuple[npt.NDArray[np.int64], int]:
        """How many of some genes each sample deletes, and how many different genes they are."""
        if not genes:
            raise TypeError("find deleted genes: found no gene, expected names of genes")
        wanted = np.array([*{*map(self.gene_index, genes)}])
        deleted, bounds = lists(self.to_arrow([PERTURBATION_INDICES]).column(0))
        hits = np.concatenate([[0], np.cumsum(np.isin(deleted, wanted))])
        return np.diff(hits[bounds]), len(wanted)

    def controls(
        self,
        by: Sequence[str] = (),
        seed: int = 0,
        missing: Literal["error", "mark"] = "error",
    ) -> npt.NDArray[np.int64]:
        """For each sample the index of a random control: a sample here that perturbs no gene and
        agrees in some attributes.

        Args:
            by: these attributes. A missing value is a value of its own
            seed: chooses the controls, with the sample's index in the whole dataset
            missing: `mark` gives -1 to samples without a control

        Returns:
            int64 [N].

        Raises:
            ValueError: counts the samples without a control

        Examples:
            >>> control = screen.controls(by=["medium"])
            >>> effect = screen.phenotype("fitness") - screen.phenotype("fitness")[control]
        """
        if missing not in ("error", "mark"):
            raise ValueError(f"find controls: missing={missing!r}\nhint: use 'error' or 'mark'")
        groups, controls = match(self, self, by, missing == "mark")
        return controls.draw(groups, as_array(self._rows), operator.index(seed))

    def combinations(
        self, genes: Iterable[Any], k: int | None = None, *, size: int | None = None
    ) -> Dataset:
        """All combinations of k genes as a dataset, in the order of itertools.combinations. Samples
        are computed when they are asked for: 10 million per second in order, 4 million at random.
        Their index in the whole dataset is their number, and as text their id.

        With size in place of k, genes are classes (genes, least, most), which may overlap:
        combinations of all their genes have from least to most genes of each class.

        Args:
            genes: names or indices, each once; or a list of classes
            k: genes of each combination
            size: genes of each combination of classes

        Examples:
            >>> triples = dataset.combinations(dataset.genes, 3)[:10_000]
            >>> classes = [(dataset.genes[:9], 1, 2), (dataset.genes[5:20], 1, 2)]
            >>> len(dataset.combinations(classes, size=3))
            605
        """
        table = combined(genes, k, size, self._cell.names)
        return self._with(
            variant="combinations",
            codec=None,
            phenotypes={},
            phenotype_names=[],
            attribute_names=[],
            _attributes={},
            kinds=[],
            _whole=None,
            _stored=self.whole if self._stored is None else self._stored,
            _rows=range(table.samples),
            _table=table,
            _masks=ComputedMasks(table, self._cell),
        )

    def to_parquet(self, folder: str | os.PathLike[str]) -> Path:
        """Writes samples.parquet, nodes/TYPE.parquet and edges/TYPE.parquet. A sample has its id,
        the ids (genes) and names of its deleted genes, phenotypes, attributes, and per type of
        nodes and edges the rows that it removes, from 0: removed_TYPE. Takes 256 MB of memory for a
        yeast graph.

        Args:
            folder: to create

        Raises:
            InputError: a phenotype or attribute has the name of another column
            DatasetError: the folder exists, or cannot be written

        Examples:
            >>> folder = dataset[:10].to_parquet("ten")
            >>> pd.read_parquet(folder / "samples.parquet")["genes"].str.len().tolist()
            [...]
        """
        with new_folder(Path(folder), "write") as (made, out):
            write_parquet(self, made)
        return out

    @property
    def _mask_basis(self) -> str:
        """What determines masks besides the deleted genes: the digest of the graph's structure and
        the reaction rule.

        In datasets where these are equal, the same genes have the same masks.
        """
        return f"{self.manifest['structure_digest']} {self.manifest['options']['reaction_rule']}"

    @property
    def genes(self) -> list[str]:
        """Gene ids, by gene index."""
        return self._cell.genes

    @property
    def graph(self) -> CellGraph:
        """The cell graph, read at its first use: 30 ms and 30 MB for a yeast graph."""
        return self._cell.graph

    @property
    def incidence(self) -> dict[str, CSR]:
        """Per edge type, the positions of the edges that go with each gene, then with each
        reaction.
        """
        return self._cell.incidence

    def _read_removed(self, index: SupportsIndex) -> npt.NDArray[np.uint32]:
        """The removed positions of a sample, ascending."""
        return ascending(self._masks.unordered(self._row(index))).astype(np.uint32)

    def _fill_masks(self, index: SupportsIndex, out: npt.NDArray[np.bool_ | np.uint8]) -> None:
        """Writes all masks of a sample to out, [_mask_offsets[-1]] and contiguous."""
        row, into = self._row(index), out.view(np.uint8)
        if isinstance(self._masks, ShardMasks) and self._has_plain_masks:
            self._masks.read_into(row, [into])
        else:
            write_masks(self._masks.unordered(row), into)

    def perturbations(self, indices: slice | Iterable[SupportsIndex]) -> Perturbations:
        """The deleted genes and phenotypes of a batch of B samples, without reading masks.

        Args:
            indices: as for a view

        Returns:
            Perturbation indices, sample b's at `ptr[b]:ptr[b + 1]`; ptr [B + 1]; phenotypes [B, P],
            NaN if missing.

        Examples:
            >>> genes, ptr, phenotypes = dataset.perturbations(range(8))
        """
        return self._table.perturbations(selected(self._rows, indices))


def _combinations(stored: Dataset, classes: Any, size: int) -> Dataset:
    return stored.combinations(classes, size=size)
