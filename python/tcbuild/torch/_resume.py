"""What torchdata's StatefulDataLoader saves of a dataset: which samples it has."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import xxhash

import tcbuild
from tcbuild._table.combinations import Combinations

_digests: WeakKeyDictionary[tcbuild.Dataset, str] = WeakKeyDictionary()


class Resumable:
    """A dataset that refuses to go on with the state of other samples. How far an epoch is, only
    the sampler knows.
    """

    stored: tcbuild.Dataset

    def state_dict(self) -> dict[str, str]:
        """A digest of the samples and of their order, the same for all variants."""
        if self.stored not in _digests:
            _digests[self.stored] = _digest(self.stored)
        return {"samples": _digests[self.stored]}

    def load_state_dict(self, state: Mapping[str, str]) -> None:
        """Compares the digest."""
        if state != self.state_dict():
            raise ValueError(
                f"resume {self.stored.path}: found the state of other samples\n"
                "hint: resume with the dataset, or the view of it, that the state was saved with; "
                "to train on others, begin an epoch"
            )


def _digest(stored: tcbuild.Dataset) -> str:
    content, table, rows = stored.manifest["logical_content"], stored._table, stored._rows
    if isinstance(table, Combinations):
        content = f"{stored.mask_basis} {table.k} of {table.genes.tolist()}"
    chosen = str(rows) if isinstance(rows, range) else xxhash.xxh3_128_hexdigest(rows.tobytes())
    return xxhash.xxh3_128_hexdigest(f"{content} {chosen}".encode())
