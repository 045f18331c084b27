"""Of what kind the perturbations of samples are (docs/FORMAT.md, Kinds)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tcbuild._files.manifest import RESTORE, Manifest
from tcbuild._table.columns import joined
from tcbuild.errors import DamagedError

_MOST = 127  # of kinds that int8 can number


class Kinds:
    """The kinds of a dataset's perturbations, sorted, and the attribute that has them, or ""."""

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

    def of(
        self, deleted: npt.NDArray[np.integer[Any]], text: str | None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        """As of_many, of one sample."""
        ptr, codes = np.array([0, len(deleted)]), np.zeros(1, np.int64)
        genes, kinds, _ = self.of_many(deleted, ptr, [text], codes)
        return genes.astype(np.int32), kinds

    def of_many(
        self,
        deleted: npt.NDArray[np.integer[Any]],
        ptr: npt.NDArray[np.integer[Any]],
        words: Sequence[str | None],
        codes: npt.NDArray[np.integer[Any]],
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8], npt.NDArray[np.int64]]:
        """All genes that B samples perturb, each sample's ascending; the code of each one's kind,
        -1 if it is not known; and where each sample's begin.

        Sample b deletes deleted[ptr[b]:ptr[b + 1]], and the text of its attribute is
        words[codes[b]].
        """
        sizes, samples = np.diff(ptr), np.arange(len(codes))
        most = int(sizes.max(initial=0)) + 1
        forms, form_of = np.unique(codes.astype(np.int64) * most + sizes, return_inverse=True)
        parsed = [self._parse(words[form // most], form % most) for form in forms.tolist()]
        genes, kinds = deleted.astype(np.int64), joined([own for own, _, _ in parsed], form_of)
        kept = np.array([len(others) for _, others, _ in parsed], np.int64)[form_of]
        if not kept.any():
            return genes, kinds, ptr.astype(np.int64)
        genes = np.concatenate([genes, joined([others for _, others, _ in parsed], form_of)])
        kinds = np.concatenate([kinds, joined([theirs for _, _, theirs in parsed], form_of)])
        of = np.concatenate([np.repeat(samples, sizes), np.repeat(samples, kept)])
        order = np.lexsort((genes, of))
        return genes[order], kinds[order], ptr + np.concatenate([[0], np.cumsum(kept)])

    def _parse(
        self, text: str | None, deleted: int
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64], npt.NDArray[np.int8]]:
        """The codes of the deleted genes, and the other genes with theirs."""
        if text is None:
            return np.full(deleted, -1, np.int8), np.empty(0, np.int64), np.empty(0, np.int8)
        parts = text.split("|")
        others = [part.rpartition("=") for part in parts[deleted:]]
        try:
            if len(parts) < deleted:
                raise ValueError(f"found {len(parts)} kinds, expected {deleted}")
            genes = [self._gene_indices()[gene] for gene, _, _ in others]
            codes = [self._codes[kind.lower()] for kind in parts[:deleted]]
            theirs = [self._codes[kind.lower()] for _, _, kind in others]
        except (KeyError, ValueError) as error:
            raise DamagedError(
                f"read {self._folder}: attribute {self.attribute!r}: {error}", RESTORE
            ) from error
        return np.array(codes, np.int8), np.array(genes, np.int64), np.array(theirs, np.int8)
