"""Batches as torchcell's LazyCollater makes them. Only what differs between samples is sent; the
rest is made on the model's device.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np
import torch
import torch_geometric.data
from torch import Tensor
from torch_geometric.data import HeteroData

from tcbuild.errors import unknown_name
from tcbuild.graph import is_node_type, split_edge_type
from tcbuild.pyg.dataset import Dataset, Sample
from tcbuild.pyg.deferred import Deferred, Values, is_same
from tcbuild.pyg.examples import Lengths, example
from tcbuild.pyg.perturbations import perturbation_batch
from tcbuild.pyg.shared import Keys, Kind, Shared, mask_name
from tcbuild.rows import is_bool, position, selected, selects_several
from tcbuild.torch.filtered import check_choice, kept_ends, kept_positions, relabelled
from tcbuild.torch.removed import Removed
from tcbuild.torch.threads import one_thread

_MANY = 10**7  # indices take torch's shuffle half a minute and 0.5 GB
_SHAPE = {"edge_index", "hyperedge_index", "num_nodes", "num_edges"}  # all samples have the same


class Batch(Deferred):
    """B samples as one graph, with the keys and values of torchcell's LazyCollater.

    edge types: edge_index or hyperedge_index of B unconnected copies of the graph, stoichiometry
        and mask, one sample after the other; num_edges, a list
    node types: mask, pert_mask, x, batch (the sample of each node), ptr; num_nodes of all samples;
        lists of what is not a tensor, such as node_ids
    gene: what each sample has of its own, one after the other
    data: num_graphs

    batch[0], batch[2:5], to_data_list() and iteration give the samples, as in PyG's Batch.

    What is the same in every batch is laid out once per device, for the largest batch, and shared:
    do not change it in place. It is there, and masks are written, as soon as anything is asked for,
    on the device on which the batch is by then. So move it first: `batch = batch.to(device)`. The
    first batch of a size waits for that, 23 ms per sample of a yeast graph on a CPU;
    Dataset.lay_out does it ahead.

    edge_index is that of the whole graph: layers that take no mask pass messages along removed
    edges, too, HeteroConv among them. Give them masked_edge_index_dict().
    """

    def _masks(self) -> dict[str, Tensor]:
        masks: dict[str, Tensor] = self._shared.masks(self._genes, self._ptr)
        return masks

    def _of_graph(self, kind: Kind, key: str) -> Any:
        return self._shared.of_batch(kind, key, self._size, self._genes.device)

    @property
    def sample_id(self) -> list[str]:
        """The samples' names."""
        ids: list[str] = self._ids
        return ids

    @property
    def mask_basis(self) -> str:
        """Graph and reaction rule of the masks (tcbuild.Dataset.mask_basis)."""
        basis: str = self._shared.stored.mask_basis
        return basis

    @property
    def phenotypes(self) -> Tensor:
        """The targets, float32 [B, P], NaN if missing; its columns are the dataset's phenotypes.
        Later changes to phenotype_values are not in it. It is an error if a sample has several
        values of a phenotype, which only the COO form can hold.
        """
        if self._dense is None:
            raise ValueError(
                "make targets [B, P]: a sample has several values of a phenotype\n"
                "hint: use phenotype_values with phenotype_type_indices, or build the dataset with "
                "one value per genotype and phenotype (--duplicates)"
            )
        dense: Tensor = self._dense
        return dense

    def deleted_genes(self) -> tuple[Tensor, Tensor]:
        """perturbation_indices and their ptr, for a MaskGenerator; nothing else is made."""
        return self.parts()[1]["gene"]["perturbation_indices"], self._ptr

    def __len__(self) -> int:
        return int(self._size)

    def __getitem__(self, *args: Any) -> Any:
        index = args[0]
        if isinstance(index, str) or (type(index) is tuple and isinstance(index[0], str)):
            return super().__getitem__(*args)
        if selects_several(index):
            return [example(self, i) for i in selected(range(self._size), index)]
        return example(self, position(index, self._size))

    def __iter__(self) -> Iterator[HeteroData]:
        return (example(self, index) for index in range(self._size))

    def get_example(self, index: int) -> HeteroData:
        """A sample of the batch."""
        return self[index]

    def to_data_list(self) -> list[HeteroData]:
        """The samples of the batch."""
        return list(self)

    def to_homogeneous(self, *_: Any, **__: Any) -> Any:
        raise ValueError(
            "make a batch homogeneous: its edge types have masks, which would be lost\n"
            "hint: take what is left of each edge type: batch.edge_index(NAME, filtered=True)"
        )

    def _make(self, kind: Kind, keys: Iterable[str], masks: dict[str, Tensor]) -> dict[str, Any]:
        if isinstance(kind, str):
            followed = [key for key in self._follow if key in keys]
            more = (f"{key}_{what}" for key in followed for what in ("batch", "ptr"))
            keys = dict.fromkeys([*keys, "batch", "ptr", *more])
        return super()._make(kind, keys, masks)

    def edge_index(
        self,
        name: str | tuple[str, str, str],
        filtered: bool = False,
        relabel: bool = False,
        edge_weight: bool = False,
    ) -> Any:
        """The edges of a type, as one graph: int64 [2, B * E], on the batch's device, hyperedges
        too. It is shared: do not change it.

        filtered: int64 [2, K], only the edges that are kept, in their order
        relabel: with filtered, nodes are numbered among those that are kept: node features are
            x[batch.kept("gene")]. An edge of gene__gpr__reaction goes with its reaction
        edge_weight: returns (edge_index, weight), all edges and their mask as numbers [B * E]

        A stock layer of PyG takes any of them. On a GPU nothing waits: the host knows the sizes.
        """
        check_choice(filtered, relabel, edge_weight)
        name, kind = _names(name)
        masks = self._masks_of_kinds(name)
        edge_index = self._shared.edge_index(kind, self._size, self._genes.device)
        if edge_weight:
            return edge_index, masks[name].to(torch.get_default_dtype())
        if not filtered:
            return edge_index
        with one_thread(edge_index.device):
            if not relabel:
                positions = kept_positions(masks[name], lambda: self._removed.kept(name))
                return edge_index.index_select(1, positions)
            edges = self._shared.edge_index(kind, 1, torch.device("cpu")).numpy()
            positions = kept_positions(
                kept_ends(name, edge_index, masks),
                lambda: self._removed.kept_between_kept(name, edges),
            )
            return relabelled(name, edge_index.index_select(1, positions), masks)

    def kept(self, name: str | tuple[str, str, str]) -> Tensor:
        """int64: which nodes or edges of a type are kept, counted in all samples; x[kept] are their
        features.
        """
        name, _ = _names(name)
        mask = self._masks_of_kinds(name)[name]
        with one_thread(mask.device):
            return kept_positions(mask, lambda: self._removed.kept(name))

    def masked_edge_index_dict(self) -> dict[tuple[str, str, str], Tensor]:
        """What is left of edge_index_dict, for layers without masks such as HeteroConv's. Edges are
        in no certain order: where attributes go with them, use edge_index and kept.

        Little is written: in a copy of the edges that the process keeps, the last edges take the
        places of those that are removed. The copy is this batch's until nothing refers to the
        tensors any more. Memory: that of edge_index_dict for each batch that has them at a time.
        """
        kinds = [kind for kind, keys in self._shared.keys.items() if "edge_index" in keys]
        removed, parts = self._removed, self._removed_parts
        positions = {kind: removed.addresses(mask_name(kind), parts) for kind in kinds}
        with one_thread(self._genes.device):
            patched = self._shared.patched(self._genes.device)
            edges: dict[tuple[str, str, str], Tensor] = patched.edges(positions, self._size)
        return edges

    @property
    def _removed_parts(self) -> list[Any]:
        """Per sample its removed positions, ascending."""
        if "_parts" not in self.__dict__:
            self.__dict__["_parts"] = self._shared.removed(self._deleted)
        parts: list[Any] = self.__dict__["_parts"]
        return parts

    @property
    def _removed(self) -> Removed:
        stored = self._shared.stored
        return Removed(stored.mask_names, stored.mask_sizes, self._removed_parts)

    def _masks_of_kinds(self, name: str) -> dict[str, Tensor]:
        """The masks by name."""
        made = {
            mask_name(kind): (self._store(kind)["mask"], self._made.get(kind, {}).get("mask"))
            for kind in (*self.node_types, *self.edge_types)
            if "mask" in self._store(kind)
        }
        if name not in made:
            raise unknown_name("mask", name, made)
        on_device = self._genes.device.type != "cpu"
        if changed := [of for of, each in made.items() if on_device and not is_same(*each)]:
            raise ValueError(
                f"filter edges: the mask of {changed[0]} was changed, so only the device knows how "
                "many are kept\nhint: edge_index[:, mask] waits for it"
            )
        return {of: mask for of, (mask, _) in made.items()}

    def to(self, device: Any, *keys: str, non_blocking: bool = False) -> Batch:
        """Moves it to a device. What is the same in every batch is there already, and masks that
        nobody changed are made there.
        """
        if keys:
            super().to(device, *keys, non_blocking=non_blocking)
        else:
            self._move(lambda tensor: tensor.to(device, non_blocking=non_blocking))
        return self

    def cpu(self, *keys: str) -> Batch:
        return self.to("cpu", *keys)

    def cuda(self, device: Any = None, *keys: str, non_blocking: bool = False) -> Batch:
        return self.to("cuda" if device is None else device, *keys, non_blocking=non_blocking)

    def pin_memory(self, *keys: str) -> Batch:
        """Moves what will be sent to a device to page-locked memory."""
        self._move(Tensor.pin_memory)
        return self

    def _move(self, move: Any) -> None:
        fields = self._unmade(move)
        self.__dict__.clear()
        self.__dict__.update(fields)


class LazyCollater:
    """Joins samples of a tcbuild.pyg.Dataset into a Batch: a DataLoader's collate_fn.

    follow_batch: keys of node types, such as perturbation_indices, for which the batch has
        KEY_batch and KEY_ptr

    Samples may come from several datasets (ConcatDataset) with the same graph and reaction rule;
    otherwise it is a ValueError. Samples without the whole graph
    become a Batch of torch_geometric.
    """

    def __init__(self, follow_batch: Sequence[str] | None = None):
        self.follow_batch = list(follow_batch or ())

    def __call__(self, samples: Sequence[Any]) -> HeteroData:
        if isinstance(samples, Dataset):
            if samples.made_of_columns and len(samples):
                return perturbation_batch(samples, self.follow_batch)
            samples = list(samples)
        if samples and isinstance(samples[0], HeteroData) and not self._has_graph(samples[0]):
            return torch_geometric.data.Batch.from_data_list(list(samples), self.follow_batch)
        shared = _shared_by(samples)
        parts = [sample.parts() for sample in samples]
        if any(keys is not None for keys, _ in parts):  # a transform used or changed them
            keys, contents = _changed(samples)
        else:
            keys, contents = None, [values for _, values in parts]
        values, lengths = _joined(contents, self.follow_batch)
        values[None] = {"num_graphs": len(samples)}
        genes = [sample._genes for sample in samples]
        return Batch(
            shared,
            torch.cat(genes),
            keys,
            values,
            _ptr=_ends(genes),
            _size=len(samples),
            _follow=self.follow_batch,
            _deleted=tuple(sample._genes.numpy() for sample in samples),  # they stay on the host
            _ids=[sample._stored.id for sample in samples],
            _lengths=lengths,
            _dense=_dense(values["gene"], lengths["gene"], len(samples[0]._dataset.phenotypes)),
        )

    @staticmethod
    def _has_graph(sample: HeteroData) -> bool:
        if isinstance(sample, Sample) or not sample.node_types:
            return True
        return bool(sample.edge_types) and not any("x_pert" in of for of in sample.node_stores)


class DataLoader(torch.utils.data.DataLoader[HeteroData]):
    """torch's DataLoader whose batches are Batch, with all of its options.

    shuffle=True makes a list of all indices first. Of many samples, such as computed sets, take
    sampler=tcbuild.torch.RandomSampler(dataset), which makes none.

    dataset: a tcbuild.pyg.Dataset, or a Subset of one
    follow_batch: see LazyCollater
    """

    def __init__(
        self,
        dataset: torch.utils.data.Dataset[HeteroData],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        follow_batch: Sequence[str] | None = None,
        **options: Any,
    ):
        _check_indices(dataset)
        if shuffle and isinstance(dataset, Sized) and len(dataset) >= _MANY:
            warnings.warn(
                f"shuffle {len(dataset):,} samples: torch lists all of them before the first "
                "batch\nhint: sampler=tcbuild.torch.RandomSampler(dataset) in place of "
                "shuffle=True needs neither time nor memory",
                stacklevel=2,
            )
        options.pop("collate_fn", None)  # Lightning passes on the one that it finds
        self.follow_batch = follow_batch  # where Lightning looks for it
        super().__init__(
            dataset, batch_size, shuffle, collate_fn=LazyCollater(follow_batch), **options
        )


def _names(name: str | tuple[str, str, str]) -> tuple[str, Kind]:
    """A type's name and its kind in PyG."""
    name = name if isinstance(name, str) else "__".join(name)
    return name, name if is_node_type(name) else split_edge_type(name)


def _check_indices(dataset: Any) -> None:
    """Refuses booleans as indices of a Subset, also of one within another or a ConcatDataset. The
    outer one takes them for 0 and 1, so a dataset never sees them.
    """
    if isinstance(dataset, torch.utils.data.ConcatDataset):
        for part in dataset.datasets:
            _check_indices(part)
    if not isinstance(dataset, torch.utils.data.Subset):
        return
    if any(type(index) is not int and is_bool(index) for index in dataset.indices):
        raise TypeError(
            "load samples: found booleans as the indices of a Subset, expected numbers\n"
            "hint: dataset[booleans] is a view of a dataset; Subset takes np.flatnonzero(booleans)"
        )
    _check_indices(dataset.dataset)


def _shared_by(samples: Sequence[Any]) -> Shared:
    """What the samples' datasets share, after checking that they can be in one batch."""
    if not samples:
        raise ValueError("collate: found no sample, expected at least one")
    for sample in samples:
        if not isinstance(sample, Sample) or "_shared" not in sample.__dict__:
            raise TypeError(
                f"collate: found a {type(sample).__name__}, expected samples of a "
                "tcbuild.pyg.Dataset\n"
                "hint: a transform may change a sample or copy.copy of it, but not make a new one"
            )
    first: Dataset = samples[0]._dataset
    for dataset in {id(sample._dataset): sample._dataset for sample in samples}.values():
        for what in ("mask_basis", "phenotypes", "statistics"):
            found, expected = getattr(dataset, what), getattr(first, what)
            if found != expected:
                raise ValueError(
                    f"collate: samples of {dataset.stored.path} and {first.stored.path}: {what} "
                    f"{found}, expected {expected}\n"
                    "hint: a batch has one graph, reaction rule and list of phenotypes; give each "
                    "dataset its own loader"
                )
    return first._shared


def _changed(samples: Sequence[Sample]) -> tuple[Keys, list[Values]]:
    """The keys that no sample has changed, and each sample's values of the others."""
    kinds = [(*sample.node_types, *sample.edge_types) for sample in samples]
    made = [sample.parts()[0] or {} for sample in samples]
    of_graph = samples[0]._shared.keys
    keys = {
        kind: [key for key in made[0][kind] if all(key in other.get(kind, ()) for other in made)]
        for kind in kinds[0]
        if kind in of_graph
    }
    contents: list[Values] = []
    for sample, its_kinds in zip(samples, kinds):
        contents.append({})
        for kind in its_kinds:
            store = sample._store(kind)
            changed = {key: store[key] for key in store.keys() if key not in keys.get(kind, ())}
            contents[-1][kind] = changed
            if wrong := _SHAPE & changed.keys() if kind in keys else {"type"}:
                raise ValueError(
                    f"collate: found a new or changed {min(wrong)} of {kind} in a sample, expected "
                    "that of the dataset's graph\n"
                    "hint: change dataset.cell_graph, which all samples have"
                )
    return keys, contents


def _joined(contents: list[Values], follow_batch: Sequence[str]) -> tuple[Values, Lengths]:
    """Values of samples joined as torchcell does: tensors one after the other, others in a list;
    and the lengths of what is joined.
    """
    joined: Values = {}
    lengths: Lengths = {}
    for kind in dict.fromkeys(kind for content in contents for kind in content):
        of_kind = [content.get(kind, {}) for content in contents]
        joined[kind], lengths[kind] = {}, {}
        for key in dict.fromkeys(key for content in of_kind for key in content):
            values = [content[key] for content in of_kind if key in content]
            tensors = all(isinstance(value, Tensor) for value in values)
            joined[kind][key] = torch.cat(values) if tensors else values
            lengths[kind][key] = [
                (len(content[key]) if tensors else 1) if key in content else -1
                for content in of_kind
            ]
            if key in follow_batch and isinstance(kind, str):
                ptr = _ends([content.get(key, ()) for content in of_kind])
                sample = np.repeat(np.arange(len(of_kind)), np.diff(ptr))
                joined[kind] |= {f"{key}_batch": torch.from_numpy(sample), f"{key}_ptr": ptr}
    return joined, lengths


def _dense(gene: dict[str, Any], lengths: dict[str, list[int]], count: int) -> Tensor | None:
    """Phenotypes in COO form as [B, count]; None if there are several of one."""
    values, ranks = gene["phenotype_values"], gene["phenotype_type_indices"]
    of_sample = np.repeat(np.arange(len(lengths["phenotype_values"])), lengths["phenotype_values"])
    dense = torch.full((len(lengths["phenotype_values"]), max(count, 1)), torch.nan)
    places = of_sample * dense.size(1) + ranks.numpy()
    if len(np.unique(places)) < len(places):
        return None
    dense.view(-1)[torch.from_numpy(places)] = values.to(dense.dtype)
    return dense[:, :count]


def _ends(parts: Sequence[Sized]) -> Tensor:
    """Where each part begins when they follow each other, and where the last one ends."""
    return torch.from_numpy(np.cumsum([0, *map(len, parts)]))
