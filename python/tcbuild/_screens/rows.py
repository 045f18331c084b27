"""What all screens share: names as labels, and the account of what is dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._graph.names import MISSING
from tcbuild._screens.alleles import Mention
from tcbuild.errors import InputError

Account = dict[str, Any]
SEVERAL = "with several genes in place of one"
SELF = "of a gene with itself"
UNMEASURED = "without a phenotype"


class Genotypes:
    """What each of some names mentions: of strains, or of a matrix's rows or columns.

    chosen: kinds of alleles that count as deletions. doing: for messages
    genes: int [names, G], genes of the graph, and -1. labels: ids, and names that mean no gene,
    joined by |. reasons: why its samples are dropped, or ""
    """

    def __init__(self, mentions: Sequence[Sequence[Mention]], chosen: Collection[str], doing: str):
        self.mentions, self._doing = mentions, doing
        perturbed = [[one for one in each if not one.is_marker] for each in mentions]
        width = max(map(len, perturbed), default=0)
        genes = [[one.gene for one in each] + [-1] * (width - len(each)) for each in perturbed]
        self.genes = np.array(genes, np.int64).reshape(len(genes), width)
        labels = ["|".join(map(self._label, each)) for each in perturbed]
        self.labels = pa.array(labels, pa.string())
        reasons = [next(filter(None, (_reason(m, chosen) for m in each)), "") for each in mentions]
        self.reasons = np.array(reasons, object)

    def _label(self, mention: Mention) -> str:
        label = mention.label
        is_one_name = label.strip() == label and "|" not in label and label not in MISSING
        if mention.gene < 0 and not is_one_name:
            raise InputError(
                f"{self._doing}: found gene {label!r}, expected one name without spaces around it",
                "write the gene's name, or remove what is no part of the table",
            )
        return label


def refuse_several(mentions: Iterable[Mention], doing: str) -> None:
    for one in mentions:
        if one.several:
            raise InputError(
                f"{doing}: found {one.text!r}, which names several genes, "
                f"{' and '.join(map(repr, one.several))}, expected the name of one gene",
                "name each gene in a column of its own; to drop such samples, set "
                "drop_several=True",
            )


def _reason(mention: Mention, chosen: Collection[str]) -> str:
    if mention.several:
        return SEVERAL
    is_unknown = mention.gene < 0  # for `build` to refuse or to drop
    if is_unknown or mention.is_marker or mention.kind in chosen:
        return ""
    return f"of allele kind {mention.kind}, which is not among alleles"


def repeats(genes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which rows have a gene twice."""
    ordered = np.sort(genes, axis=1)
    found: npt.NDArray[np.bool_]
    found = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    return found


def refuse_synonyms(mentions: Sequence[Mention], doing: str) -> None:
    """Two names of one gene may be a double mutant whose aliases are wrong."""
    named: dict[int, Mention] = {}
    for one in mentions:
        first = named.setdefault(one.gene, one)
        if one.gene >= 0 and not one.is_marker and first.text.lower() != one.text.lower():
            raise InputError(
                f"{doing}: found {first.text!r} and {one.text!r}, which are both names of gene "
                f"{one.label!r}, expected each gene once",
                "correct the names, or the aliases of the graph, or drop the row, if a gene was "
                "crossed with itself",
            )


def account_of(
    dropped: Mapping[str, npt.NDArray[np.bool_]], count: int
) -> tuple[npt.NDArray[np.int64], Account]:
    """The numbers of what is kept, and the account; each is dropped for its first reason."""
    left, counts = np.ones(count, bool), {}
    for why, mask in dropped.items():
        if found := int(np.count_nonzero(left & mask)):
            counts[why] = found
        left &= ~mask
    kept = np.flatnonzero(left)
    return kept, {"rows": count, "kept": len(kept), "dropped": counts}


def summary(account: Account) -> str:
    reasons = ", ".join(f"{count:,} {why}" for why, count in account["dropped"].items())
    return f"kept {account['kept']:,} of {account['rows']:,}; dropped: {reasons or 'none'}"
