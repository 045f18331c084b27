"""The genes that samples perturb, as arrays, and what groups of them share."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES
from tcbuild._table.columns import bounds_of, coded, lists, mixed, ragged
from tcbuild._table.controls import GOLDEN

Ints = npt.NDArray[np.integer[Any]]


class Perturbed(NamedTuple):
    """Every gene that N samples perturb, also those that stay in the graph.

    genes: int32, sample i's ascending at ptr[i]:ptr[i + 1], by their places in ids
    kinds: int8, the code of each one's kind, -1 if it is not known; None in a dataset without kinds
    ptr: int64 [N + 1]
    ids: of the graph's genes, sorted, so that nothing depends on their order in the graph
    """

    genes: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.int8] | None
    ptr: npt.NDArray[np.int64]
    ids: npt.NDArray[np.object_]

    @property
    def sizes(self) -> Ints:
        return np.diff(self.ptr)

    @property
    def of(self) -> Ints:
        """The sample of each gene in genes."""
        return np.repeat(np.arange(len(self.ptr) - 1, dtype=np.int32), self.sizes)

    def take(self, samples: Ints) -> Perturbed:
        sizes = self.sizes[samples]
        at = ragged(self.ptr[samples], sizes)
        kinds = None if self.kinds is None else self.kinds[at]
        return Perturbed(self.genes[at], kinds, bounds_of(sizes), self.ids)

    def genotypes(self) -> pa.Array:
        """The ids of each sample's genes, joined by |."""
        compute = import_module("pyarrow.compute")
        words = pa.array(self.ids, pa.string()).take(pa.array(self.genes))
        return compute.binary_join(
            pa.ListArray.from_arrays(pa.array(self.ptr, pa.int32()), words), "|"
        )

    def pairs(self) -> tuple[npt.NDArray[np.int64], Ints]:
        """Every pair of genes that a sample perturbs, as a number, and its sample."""
        keys, of = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        for size in np.unique(self.sizes[self.sizes > 1]).tolist():
            samples = np.flatnonzero(self.sizes == size).astype(np.int32)
            genes = self.genes[self.ptr[samples][:, None] + np.arange(size)].astype(np.int64)
            first, second = np.triu_indices(size, 1)
            keys.append((genes[:, first] * len(self.ids) + genes[:, second]).ravel())
            of.append(np.repeat(samples, len(first)))
        return np.concatenate(keys), np.concatenate(of)


def read_perturbed(dataset: Any) -> Perturbed:
    """What the samples of a dataset or view perturb."""
    genes, bounds = lists(dataset.to_arrow([PERTURBATION_INDICES]).column(0))
    codes, ptr, kinds = None, bounds.astype(np.int64), dataset._kinds
    if kinds.attribute:
        words, texts = coded(dataset.to_arrow([kinds.attribute]).column(0))
        genes, codes, ptr = kinds.of_many(genes, ptr, [*words.to_pylist(), None], texts)
    ids = np.array(dataset.genes, object)
    order = np.argsort(ids, kind="stable")
    ranks = np.empty(len(ids), np.int32)
    ranks[order] = np.arange(len(ids), dtype=np.int32)
    perturbed = Perturbed(ranks[genes], codes, ptr, ids[order])
    if np.all(order == np.arange(len(order))):
        return perturbed
    order = np.lexsort((perturbed.genes, perturbed.of))
    codes = None if codes is None else codes[order]
    return perturbed._replace(genes=perturbed.genes[order], kinds=codes)


def connected(keys: Ints, of: Ints, samples: int) -> tuple[Ints, Ints]:
    """Groups of samples linked by shared keys: of each sample, and the smallest key of each."""
    sparse = import_module("scipy.sparse")
    distinct, places = np.unique(keys, return_inverse=True)
    nodes = samples + len(distinct)
    ends = (np.ones(len(keys), bool), (of, samples + places))
    graph = sparse.coo_matrix(ends, (nodes, nodes))
    groups = import_module("scipy.sparse.csgraph").connected_components(graph, False)[1]
    smallest = np.full(nodes, len(distinct))
    np.minimum.at(smallest, groups[samples:], np.arange(len(distinct)))
    found, group_of = np.unique(groups[:samples], return_inverse=True)
    return group_of, distinct[smallest[found]]


def random_numbers(seed: int, texts: Iterable[str] | pa.Array) -> npt.NDArray[np.uint64]:
    """A random number for each text: SplitMix64 of the seed, then of each eight bytes of its UTF-8
    (little-endian, the last ones filled with 0) XOR the number so far, then so of its length.
    """
    array = pa.array(texts, pa.large_string()) if not isinstance(texts, pa.Array) else texts
    array = array.cast(pa.large_string())
    bounds = np.frombuffer(array.buffers()[1] or bytes(8), "<i8")
    bounds = bounds[array.offset : array.offset + len(array) + 1]
    data = bytes(array.buffers()[2] or b"") + bytes(8)
    eight = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))  # from each byte on
    sizes, golden = np.diff(bounds), np.uint64(GOLDEN)
    found = mixed(np.full(len(array), seed % 2**64, np.uint64) + golden)
    for at in range(0, int(sizes.max(initial=0)), 8):
        some = np.flatnonzero(sizes > at)
        unused = np.maximum(0, 8 - (sizes[some] - at)).astype(np.uint64) * np.uint64(8)
        words = eight[bounds[some] + at] << unused >> unused
        found[some] = mixed((found[some] ^ words) + golden)
    return mixed((found ^ sizes.astype(np.uint64)) + golden)
