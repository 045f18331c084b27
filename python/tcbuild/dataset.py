"""Datasets and their samples: the same for all three variants."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, SupportsIndex, TypeGuard, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild.errors import DamagedFileError
from tcbuild.graph import NODE_TYPES, CellGraph, load_graph
from tcbuild.incidence import CSR, build_incidence, read_incidence
from tcbuild.manifest import RESTORE, Manifest
from tcbuild.masks import Bytes
from tcbuild.records import Labels
from tcbuild.removal import Removal
from tcbuild.samples_file import IncidenceSamples
from tcbuild.shards import ShardSamples

T = TypeVar("T")


def open(path: str | os.PathLike[str], check: Literal["digest"] | None = None) -> Dataset:
    """Opens a dataset's folder. It reads only the manifest; other files are opened, and checked, at
    their first use.

    check="digest" first compares the SHA-256 of every file: 1 s per 1 to 2 GB and core.
    """
    if check not in ("digest", None):
        raise ValueError(f"open {path}: check {check!r}\nhint: use 'digest', or omit it")
    dataset = Dataset(path)
    if check:
        dataset.manifest.check_digests()
    return dataset


class _Samples(Protocol):
    """How a variant stores samples. For `out` see tcbuild.masks."""

    def labels(self, index: int) -> Labels: ...
    def removed(self, index: int) -> npt.NDArray[np.uint32]: ...
    def write_masks(self, index: int, out: Bytes) -> None: ...
    def write_packed(self, index: int, out: Bytes) -> None: ...


class Dataset:
    """A dataset on disk: a sequence of samples.

    All masks follow each other in canonical order; mask i has mask_sizes[i] positions, from
    mask_offsets[i] of all mask_offsets[-1]. 1 keeps, 0 removes.

    It may be used from any number of threads, and in forked processes; pickling stores only its
    path. Everything read from disk is checked: a damaged file or record is a DatasetError that
    names it.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path).absolute()
        self.manifest = Manifest(self.path)
        self.variant: str = self.manifest["variant"]
        self.codec: str | None = self.manifest.get("codec")
        self.phenotype_names: list[str] = self.manifest["phenotypes"]
        self.mask_names: list[str] = [mask["name"] for mask in self.manifest["masks"]]
        self.mask_sizes: list[int] = [mask["size"] for mask in self.manifest["masks"]]
        self.mask_offsets = np.cumsum([0, *self.mask_sizes], dtype=np.int64)
        self._samples: _Samples
        if self.variant == "incidence":
            self._samples = IncidenceSamples(self.manifest, lambda: self.removal)
        else:
            self._samples = ShardSamples(self.manifest)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.path,)

    def __repr__(self) -> str:
        codec = f", {self.codec}" if self.codec else ""
        return f"<tcbuild.Dataset {self.path}: {len(self):,} samples, {self.variant}{codec}>"

    def __len__(self) -> int:
        length: int = self.manifest["samples"]
        return length

    def __iter__(self) -> Iterator[Sample]:
        return (self[index] for index in range(len(self)))

    @overload
    def __getitem__(self, index: SupportsIndex) -> Sample: ...
    @overload
    def __getitem__(self, index: slice | Iterable[SupportsIndex]) -> list[Sample]: ...
    def __getitem__(
        self, index: SupportsIndex | slice | Iterable[SupportsIndex]
    ) -> Sample | list[Sample]:
        """A sample, or a list of samples for a slice or indices. Negative indices count from the
        end.
        """
        if isinstance(index, slice):
            return [self._sample(i) for i in range(len(self))[index]]
        if _lists_indices(index):
            return [self._sample(i) for i in map(self._index, index)]
        return self._sample(self._index(index))  # type: ignore[arg-type]

    def _sample(self, number: int) -> Sample:
        return Sample(self, number, self._samples.labels(number))

    @property
    def mask_basis(self) -> str:
        """What determines masks besides the deleted genes: the graph's digest and the reaction
        rule.

        In datasets where these are equal, the same genes have the same masks.
        """
        return f"{self.manifest['graph_digest']} {self.manifest['options']['reaction_rule']}"

    @cached_property
    def genes(self) -> list[str]:
        """Gene names, by gene index."""
        names: list[str] = self._read(
            lambda table: table.column("id").to_pylist(), "graph/nodes/gene.arrow"
        )
        return names

    @cached_property
    def graph(self) -> CellGraph:
        """The cell graph, read at its first use: 30 ms and 30 MB for a yeast graph."""

        def read(name: str) -> pa.Table:
            return self._read(
                lambda table: table,
                f"graph/{'nodes' if name in NODE_TYPES else 'edges'}/{name}.arrow",
            )

        try:
            graph = load_graph(self.mask_names, read)
        except (ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise DamagedFileError(f"read {self.path / 'graph'}: {error}", RESTORE) from error
        sizes = [len(ids) for ids in graph.nodes.values()] + [
            edges.shape[1] for edges in graph.edges.values()
        ]
        if sizes != self.mask_sizes:
            raise DamagedFileError(
                f"read {self.path / 'graph'}: its tables have {sizes} rows, expected "
                f"{self.mask_sizes}",
                RESTORE,
            )
        return graph

    @cached_property
    def incidence(self) -> dict[str, CSR]:
        """Per edge type, the edge positions at each gene (for reaction__rmr__metabolite: at each
        reaction).

        Read from incidence.arrow in the incidence variant, otherwise built from the graph.
        """
        return self._make_incidence()

    def _make_incidence(self) -> dict[str, CSR]:
        if self.variant == "incidence":
            return self._read(read_incidence, "incidence.arrow")
        return build_incidence(self.graph)

    @cached_property
    def removal(self) -> Removal:
        """What each gene and reaction removes under the dataset's reaction rule."""
        starts = dict(zip(self.mask_names, self.mask_offsets.tolist()))
        # Removal is as large as the incidence it is made from, so an incidence that nobody asked
        # for is not kept.
        incidence = vars(self).get("incidence") or self._make_incidence()
        return Removal(self.graph, incidence, starts, self.manifest["options"]["reaction_rule"])

    def read_removed(self, index: SupportsIndex) -> npt.NDArray[np.uint32]:
        """The removed positions of a sample, ascending, among all positions. The caller owns the
        array.
        """
        return self._samples.removed(self._index(index))

    def fill_masks(self, index: SupportsIndex, out: npt.NDArray[np.bool_ | np.uint8]) -> None:
        """Writes all masks of a sample to out: bool or uint8 [mask_offsets[-1]], contiguous."""
        self._samples.write_masks(self._index(index), _as_bytes(out, int(self.mask_offsets[-1])))

    def fill_packed(self, index: SupportsIndex, out: npt.NDArray[np.uint8]) -> None:
        """Writes all masks of a sample to out, uint8 [ceil(mask_offsets[-1] / 8)], packed like
        np.packbits(bitorder="little").
        """
        self._samples.write_packed(
            self._index(index), _as_bytes(out, -(-int(self.mask_offsets[-1]) // 8))
        )

    def perturbations(
        self, indices: Iterable[SupportsIndex]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The deleted genes and phenotypes of a batch of B samples, without reading masks.

        Returns perturbation indices, those of sample b at ptr[b]:ptr[b+1]; ptr [B + 1]; phenotypes
        [B, P], NaN if missing.
        """
        labels = [self._samples.labels(self._index(index)) for index in indices]
        ptr = np.zeros(len(labels) + 1, np.int64)
        np.cumsum([len(label.perturbation_indices) for label in labels], out=ptr[1:])
        perturbation_indices = np.empty(ptr[-1], np.int64)
        phenotypes = np.empty((len(labels), len(self.phenotype_names)), np.float64)
        if labels:
            np.concatenate(
                [label.perturbation_indices for label in labels], out=perturbation_indices
            )
            np.stack([label.phenotypes for label in labels], out=phenotypes)
        return perturbation_indices, ptr, phenotypes

    def _index(self, index: SupportsIndex) -> int:
        if _is_bool(index):
            raise TypeError(
                "found a boolean, expected a sample's index\n"
                "hint: to select samples with a boolean array, pass np.flatnonzero of it"
            )
        number, length = operator.index(index), len(self)
        if not -length <= number < length:
            raise IndexError(
                f"sample {number} of {self.path}, expected one of its {length:,} samples"
            )
        return number % length

    def _read(self, make: Callable[[pa.Table], T], name: str) -> T:
        """Returns make(table) for the table in an Arrow file."""
        content = self.manifest.read_file(name)
        try:
            return make(pa.ipc.open_file(pa.py_buffer(content)).read_all())
        except (ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise DamagedFileError(f"read {self.path / name}: {error}", RESTORE) from error


class Sample:
    """One genotype with its measurements. Masks are made at their first use, and kept.

    index: its index in the dataset. id: its name. perturbation_indices: int32 [g], the deleted
    genes, ascending. phenotypes: float64 [P], in the order of Dataset.phenotype_names, NaN if
    missing.
    """

    def __init__(self, dataset: Dataset, index: int, labels: Labels):
        self._dataset = dataset
        self.index = index
        self.id, self.perturbation_indices, self.phenotypes = labels

    def __repr__(self) -> str:
        return (
            f"<tcbuild.Sample {self.index} {self.id!r}: deletes "
            f"{', '.join(self.genes) or 'nothing'}>"
        )

    @property
    def genes(self) -> list[str]:
        """The names of the deleted genes."""
        names = self._dataset.genes
        return [names[gene] for gene in self.perturbation_indices]

    @cached_property
    def removed(self) -> npt.NDArray[np.uint32]:
        """The removed positions, ascending, among all positions."""
        return self._dataset.read_removed(self.index)

    @cached_property
    def all_masks(self) -> npt.NDArray[np.bool_]:
        """All masks in one array: bool [Dataset.mask_offsets[-1]], true where kept."""
        masks = np.empty(self._dataset.mask_offsets[-1], np.bool_)
        self._dataset.fill_masks(self.index, masks)
        return masks

    @cached_property
    def masks(self) -> dict[str, npt.NDArray[np.bool_]]:
        """The mask of each node and edge type, in canonical order: views of all_masks."""
        masks, starts = self.all_masks, self._dataset.mask_offsets.tolist()
        return {
            name: masks[start:end]
            for name, start, end in zip(self._dataset.mask_names, starts, starts[1:])
        }

    @cached_property
    def packed(self) -> Bytes:
        """all_masks with 8 positions per byte, in little bit order: an eighth of the memory."""
        packed = np.empty(-(-int(self._dataset.mask_offsets[-1]) // 8), np.uint8)
        self._dataset.fill_packed(self.index, packed)
        return packed


def _lists_indices(index: object) -> TypeGuard[Iterable[SupportsIndex]]:
    """Whether it is an ordered collection, such as a list, range, array or tensor; not a single
    index."""
    if _is_bool(index):
        return False
    if hasattr(index, "__array__"):
        return bool(np.ndim(index))
    return isinstance(index, Sequence) and not isinstance(index, (str, bytes))


def _is_bool(index: object) -> bool:
    """Whether it is a bool, NumPy's or torch's, or an array of them."""
    return isinstance(index, bool) or str(getattr(index, "dtype", "")).removeprefix("torch.") in (
        "bool",
        "boolean",
    )


def _as_bytes(out: npt.NDArray[Any], expected: int) -> Bytes:
    if (
        out.dtype not in (np.uint8, np.bool_)
        or out.shape != (expected,)
        or not out.flags.c_contiguous
    ):
        raise ValueError(
            f"fill an array of {out.dtype}, shape {out.shape}, strides {out.strides}, expected "
            f"contiguous uint8 or bool, shape ({expected},)"
        )
    return out.view(np.uint8)
