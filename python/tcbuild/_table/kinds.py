"""Of what kind the perturbations of samples are (docs/FORMAT.md, Kinds)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tcbuild._files.manifest import RESTORE, Manifest
from tcbuild.errors import DamagedError

_MOST = 127  # of kinds that int8 can number
_MEMO = 1 << 16  # texts whose codes are kept

_Genes = npt.NDArray[np.int32]
_Codes = npt.NDArray[np.int8]
Perturbed = tuple[_Genes, _Codes]
_NO_GENES, _NO_CODES = np.empty(0, np.int32), np.empty(0, np.int8)


class Kinds:
    """The kinds of a dataset's perturbations: none in a set that does not say.

    names: of all kinds, sorted; their places are the codes. attribute: that has them, or ""
    """

    def __init__(self, manifest: Manifest, gene_indices: Callable[[], Mapping[str, int]]):
        kinds = manifest.get("kinds", {})
        self.names: list[str] = sorted(kinds.get("perturbations", ()), key=str.lower)
        self.attribute: str = kinds.get("attribute", "")
        if len(self.names) > _MOST:
            raise ValueError(
                f"open dataset: found {len(self.names)} kinds of perturbations, expected at most "
                f"{_MOST}\nhint: give similar kinds one name in the perturbation set"
            )
        self._folder, self._gene_indices = manifest.folder, gene_indices
        # kinds are the same in upper and lower case
        self._codes = {name.lower(): code for code, name in enumerate(self.names)} | {"": -1}
        # Cells have few genotypes. An lru_cache of a method would be a circle: files stay open.
        self._parsed: dict[tuple[str | None, int], tuple[_Codes, _Genes, _Codes]] = {}

    def of(self, deleted: npt.NDArray[np.integer], text: str | float | None) -> Perturbed:
        """All genes that a sample perturbs, int32 ascending, and the code of each one's kind, int8,
        -1 if it is not known. deleted: the indices of its deleted genes. text: of its attribute.
        """
        ptr = np.array([0, len(deleted)])
        genes, codes, _ = self.of_many(deleted, ptr, [None if text is None else str(text)])
        return genes.astype(np.int32), codes

    def of_many(
        self,
        deleted: npt.NDArray[np.integer],
        ptr: npt.NDArray[np.int64],
        texts: Sequence[str | None],
    ) -> tuple[npt.NDArray[np.int64], _Codes, npt.NDArray[np.int64]]:
        """Returns the same for B samples; sample b deletes deleted[ptr[b]:ptr[b + 1]]. Genes are
        int64; codes follow, then the index at which each sample's genes begin.
        """
        parts = [self._of_text(*each) for each in zip(texts, np.diff(ptr).tolist(), strict=True)]
        genes = deleted.astype(np.int64)
        codes = np.concatenate([np.empty(0, np.int8), *(own for own, _, _ in parts)])
        if not any(len(kept) for _, kept, _ in parts):
            return genes, codes, ptr.astype(np.int64)
        samples = np.arange(len(parts))
        kept = np.concatenate([kept for _, kept, _ in parts], dtype=np.int64)
        of_kept = np.repeat(samples, [len(kept) for _, kept, _ in parts])
        every = np.concatenate([genes, kept])
        sample = np.concatenate([np.repeat(samples, np.diff(ptr)), of_kept])
        codes = np.concatenate([codes, *(codes for _, _, codes in parts)])
        order = np.lexsort((every, sample))
        return every[order], codes[order], np.searchsorted(sample[order], np.arange(len(ptr)))

    def _of_text(self, text: str | None, deleted: int) -> tuple[_Codes, _Genes, _Codes]:
        """What _parse gives, kept for the next sample with the same text."""
        key = text, deleted
        parsed = self._parsed.get(key)
        if parsed is None:
            if len(self._parsed) >= _MEMO:
                self._parsed.clear()
            unknown = np.full(deleted, -1, np.int8), _NO_GENES, _NO_CODES
            parsed = self._parsed[key] = unknown if text is None else self._parse(text, deleted)
        return parsed

    def _parse(self, text: str, deleted: int) -> tuple[_Codes, _Genes, _Codes]:
        """The codes of the deleted genes, and the other genes with theirs."""
        parts = text.split("|")
        kept = [part.rpartition("=") for part in parts[deleted:]]
        try:
            if len(parts) < deleted:
                raise ValueError(f"found {len(parts)} kinds, expected {deleted}")
            genes = [self._gene_indices()[gene] for gene, _, _ in kept]
            codes = [self._codes[kind.lower()] for kind in parts[:deleted]]
            kept_codes = [self._codes[kind.lower()] for _, _, kind in kept]
        except (KeyError, ValueError) as error:
            raise DamagedError(
                f"read {self._folder}: attribute {self.attribute!r}: {error}", RESTORE
            ) from error
        return (
            np.array(codes, np.int8),
            np.array(genes, np.int32),
            np.array(kept_codes, np.int8),
        )
