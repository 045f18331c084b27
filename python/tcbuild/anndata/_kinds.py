"""Kinds of the perturbations of cells, as a perturbation set has them: one per deleted gene."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tcbuild.anndata._conditions import ConditionError, Conditions


def wrong_kind(kind: str) -> str:
    """Says what is wrong with the name of a kind; "" if nothing is. A + joins kinds of one gene."""
    if kind and kind.strip() == kind and not {*"=|"} & {*kind} and all(kind.split("+")):
        return ""
    return f"found the kind {kind!r}, expected a name without = and |, and without spaces around it"


def joined_kinds(condition: str, said: str, rule: Conditions) -> str:
    """The kinds of a condition's genes, joined by |.

    said: one kind for all names, or one for each, controls included, joined by the delimiter
    """
    names = [*rule.names(condition)]
    genes = [name not in rule.controls for name in names]
    kinds = [kind.strip() for kind in said.split(rule.delimiter)]
    if not any(genes):
        return ""
    if not said.strip():
        raise ConditionError(f"found no kind of {condition!r:.100}", "name the kind in obs")
    if len(kinds) == 1:
        kinds *= len(names)
    if len(kinds) != len(names):
        raise ConditionError(
            f"found {len(kinds)} kinds for {condition!r:.100}, expected one, or {len(names)}",
            f"name one kind for all, or one for each name, joined by {rule.delimiter!r}",
        )
    kept = [kind for kind, gene in zip(kinds, genes) if gene]
    for kind in kept:
        if wrong := wrong_kind(kind):
            raise ConditionError(wrong, "rename the kind")
    return "|".join(kept)


def kinds_of_cells(
    conditions: tuple[npt.NDArray[np.int32], list[str]],
    said: tuple[npt.NDArray[np.int32], list[str]],
    rows: npt.NDArray[np.int64],
    rule: Conditions,
) -> tuple[npt.NDArray[np.int32], list[str]]:
    """The kinds of each cell, as codes into texts.

    conditions, said: of each cell, as codes into texts; -1 stands for none
    rows: of the cells, for errors
    """
    codes, words = said
    pairs = np.stack([conditions[0], codes], 1)
    distinct, first, places = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    texts = []
    for (condition, code), cell in zip(distinct.tolist(), first.tolist()):
        try:
            text = words[code] if code >= 0 else ""
            texts.append(joined_kinds(conditions[1][condition], text, rule))
        except ConditionError as error:
            raise ConditionError(f"row {rows[cell]:,}: {error}", error.hint) from None
    return places.reshape(-1).astype(np.int32), texts
