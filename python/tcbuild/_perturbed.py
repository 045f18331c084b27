"""The genes that samples perturb, as arrays, and what groups of them share."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES
from tcbuild._table.columns import lists, mixed
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
        return Perturbed(self.genes[at], kinds, _ptr(sizes), self.ids)

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
    kinds = dataset._kinds
    found = [*lists(dataset.to_arrow([PERTURBATION_INDICES]).column(0))]
    sizes = np.concatenate([np.empty(0, np.int32), *(np.diff(bounds) for _, bounds in found)])
    genes = np.concatenate([np.empty(0, np.int32), *(items for items, _ in found)])
    codes, changed = None, False
    if kinds.attribute:
        codes, texts = import_module("pandas").factorize(dataset.column(kinds.attribute))
        most = int(sizes.max(initial=0)) + 1
        forms, form_of = np.unique(codes * most + sizes, return_inverse=True)
        words = [*map(str, texts), None]
        parsed = [kinds._of_text(words[form // most], form % most) for form in forms.tolist()]
        kept = np.array([len(genes) for _, genes, _ in parsed])[form_of]
        changed = bool(kept.any())
        codes = _ragged_values([own for own, _, _ in parsed], form_of)
        if changed:
            of = np.repeat(np.arange(len(sizes)), sizes), np.repeat(np.arange(len(sizes)), kept)
            more = _ragged_values([genes for _, genes, _ in parsed], form_of)
            genes = np.concatenate([genes, more.astype(np.int32)])
            codes = np.concatenate([codes, _ragged_values([c for _, _, c in parsed], form_of)])
            order = np.argsort(np.concatenate(of), kind="stable")
            genes, codes, sizes = genes[order], codes[order], sizes + kept
    ids = np.array(dataset.genes, object)
    order = np.argsort(ids, kind="stable")
    ranks = np.empty(len(ids), np.int32)
    ranks[order] = np.arange(len(ids), dtype=np.int32)
    perturbed = Perturbed(ranks[genes], codes, _ptr(sizes), ids[order])
    if not changed and np.all(order == np.arange(len(order))):
        return perturbed
    order = np.lexsort((perturbed.genes, perturbed.of))
    codes = None if codes is None else codes[order]
    return perturbed._replace(genes=perturbed.genes[order], kinds=codes)


def _ptr(sizes: Ints) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def ragged(starts: Ints, sizes: Ints) -> npt.NDArray[np.int64]:
    """The numbers start, start + 1, … of each group, one group after the other."""
    ptr = _ptr(sizes)
    return np.repeat(starts - ptr[:-1], sizes) + np.arange(ptr[-1])


def _ragged_values(arrays: list[npt.NDArray[Any]], which: Ints) -> npt.NDArray[Any]:
    """arrays[which[0]], arrays[which[1]], … as one array."""
    sizes = np.array([*map(len, arrays)], np.int64)
    return np.concatenate([np.empty(0, np.int8), *arrays])[
        ragged(_ptr(sizes)[:-1][which], sizes[which])
    ].astype(arrays[0].dtype if arrays else np.int8)


def connected(keys: Ints, of: Ints, samples: int) -> tuple[Ints, Ints]:
    """Groups of samples that share a key, directly or through others: the group of each sample, and
    the smallest key of each group.
    """
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
