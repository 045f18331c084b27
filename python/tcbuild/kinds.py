"""Of what kind the perturbations of samples are (store/FORMAT.md, Kinds)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tcbuild.errors import DamagedFileError
from tcbuild.manifest import RESTORE, Manifest

_MOST = 127  # of kinds that int8 can number

Perturbed = tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]


class Kinds:
    """The kinds of a dataset's perturbations: none in a set that does not say.

    names: of all kinds, sorted; their places are the codes. attribute: that has them, or ""
    """

    def __init__(self, manifest: Manifest, gene_indices: Callable[[], Mapping[str, int]]):
        kinds = manifest.get("kinds", {})
        self.names: list[str] = sorted(kinds.get("perturbations", ()))
        self.attribute: str = kinds.get("attribute", "")
        if len(self.names) > _MOST:
            raise ValueError(
                f"open dataset: found {len(self.names)} kinds of perturbations, expected at most "
                f"{_MOST}\nhint: give similar kinds one name in the perturbation set"
            )
        self._folder, self._gene_indices = manifest.folder, gene_indices
        self._codes = {name: code for code, name in enumerate(self.names)} | {"": -1}
        self._parsed = lru_cache(1 << 16)(self._parse)  # cells have few genotypes

    def of(self, deleted: npt.NDArray[np.integer], text: str | float | None) -> Perturbed:
        """All genes that a sample perturbs, int32 ascending, and the code of each one's kind, int8,
        -1 if it is not known. deleted: its perturbation indices. text: of its attribute.
        """
        if text is None:
            return deleted.astype(np.int32), np.full(len(deleted), -1, np.int8)
        codes, kept, kept_codes = self._parsed(str(text), len(deleted))
        if not len(kept):
            return deleted.astype(np.int32), codes.copy()
        genes = np.concatenate([deleted.astype(np.int32), kept])
        order = np.argsort(genes, kind="stable")
        return genes[order], np.concatenate([codes, kept_codes])[order]

    def _parse(
        self, text: str, deleted: int
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        """The codes of the deleted genes, and the other genes with theirs."""
        parts = text.split("|")
        kept = [part.rpartition("=") for part in parts[deleted:]]
        try:
            if len(parts) < deleted:
                raise ValueError(f"found {len(parts)} kinds, expected {deleted}")
            genes = [self._gene_indices()[gene] for gene, _, _ in kept]
            codes = [self._codes[kind] for kind in parts[:deleted]]
            kept_codes = [self._codes[kind] for _, _, kind in kept]
        except (KeyError, ValueError) as error:
            raise DamagedFileError(
                f"read {self._folder}: attribute {self.attribute!r}: {error}", RESTORE
            ) from error
        return (
            np.array(codes, np.int8),
            np.array(genes, np.int32),
            np.array(kept_codes, np.int8),
        )
