"""Perturbation sets from the conditions of cells."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tcbuild._files.publish import published
from tcbuild._table import columns
from tcbuild._table.cell_rows import FILE, FILE_ROWS, ROW
from tcbuild.anndata._conditions import ConditionError, Conditions
from tcbuild.anndata._kinds import kinds_of_cells, wrong_kind
from tcbuild.anndata._obs import Obs, open_obs
from tcbuild.errors import AnnDataError

_BATCH = 1 << 16  # rows of a record batch
_KINDS = "kinds"
_OWN = ("sample_id", "genes", "perturbation_indices", _KINDS, ROW, FILE, FILE_ROWS)
# Tells the program that a column is an attribute, even if it holds numbers.
_ATTRIBUTE = {"tcbuild": "attribute"}


class PerturbationSet(NamedTuple):
    """What perturbations wrote to path.

    cells: samples of the set
    wildtypes: those that delete nothing, as they have only controls
    genotypes: different sets of deleted genes, the empty one included
    dropped: cells of the file without a condition
    """

    path: Path
    cells: int
    wildtypes: int
    genotypes: int
    dropped: int


def perturbations(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    genes: Iterable[str] | None = None,
    condition: str = "condition",
    delimiter: str = "+",
    controls: Sequence[str] = (),
    kind: str | None = None,
    kinds: str | None = None,
    keep: Sequence[str] = (),
    missing: Literal["error", "drop"] = "error",
) -> PerturbationSet:
    """Writes a perturbation set with a sample per cell of an AnnData file. It reads only obs.

    file: an .h5ad file or a .zarr folder
    out: the set, an .arrow file; by default beside the file, with its name: cells.h5ad, cells.arrow
    genes: the graph's genes, such as dataset.genes. Other names are an error; without genes, the
        build decides about them by `--unknown-genes`
    condition: the column with the names of the perturbed genes, joined by the delimiter
    controls: names that stand where a gene's does and delete nothing: A+ctrl, ctrl+A and A are one
        genotype, and ctrl is a wild type. They mean what `--controls` of the program does
    kind: of all perturbations, such as "CRISPRi" or "CRISPRa". Without it, and without kinds, each
        deletes its gene. A build needs removing_kinds for kinds that are not losses
    kinds: the column with the kinds of a cell's perturbations: one for all, or one for each name of
        the condition, controls included, in the same order and joined by the delimiter
    keep: columns that become attributes: categories and texts as text, numbers as numbers
    missing: `drop` leaves out cells without a condition, which are an error otherwise

    The attributes row (of the cell in the file, from 0), file (its name) and file_rows (how many
    rows it has) say where a sample's cell is; see Cells. Samples have no ids, so the program names
    them by their row in the set. On failure nothing is written.
    """
    path = Path(file)
    out = path.with_suffix(".arrow") if out is None else Path(out)
    if out.suffix != ".arrow":
        raise ValueError(f"write perturbations {out}: found another ending\nhint: name it .arrow")
    if missing not in ("error", "drop"):
        raise ValueError(f"read conditions: missing={missing!r}\nhint: use 'error' or 'drop'")
    known = None if genes is None else frozenset(_texts(genes, "genes"))
    rule = Conditions(delimiter, _texts(controls, "controls"), known)
    keep = _texts(keep, "keep")
    if kind is not None and kinds is not None:
        raise ValueError("read kinds: found kind and kinds\nhint: pass one of them")
    if kind is not None and (wrong := wrong_kind(kind)):
        raise ValueError(f"read kinds: {wrong}")
    if taken := [name for name in keep if name in _OWN or keep.count(name) > 1]:
        raise ValueError(
            f"keep columns: found {taken[0]!r}, which is already a column of the set\n"
            "hint: name it once, or rename it in obs"
        )
    with open_obs(path) as obs:
        codes, words = _conditions(obs, condition, missing == "drop")
        attributes = {name: _attribute(obs, name) for name in keep}
        said = None if kinds is None else _codes(obs, kinds, "name the column of kinds: kinds=")
    rows = np.flatnonzero(codes >= 0)
    codes = codes[rows]
    try:
        genotypes = _genotypes(codes, rows, words, rule)
    except ConditionError as error:
        raise AnnDataError(
            f"read obs of {path}: column {condition!r}: {error}", error.hint
        ) from None
    counts = np.bincount(codes, minlength=len(words)).tolist()
    wildtypes = sum(n for word, n in zip(words, counts) if n and not genotypes[word])
    if wildtypes == len(rows):
        raise AnnDataError(
            f"read obs of {path}: column {condition!r}: all {len(rows):,} cells have only controls "
            f"({', '.join(sorted(rule.controls))}), expected some that delete a gene",
            "check controls, whose names delete nothing",
        )
    found: dict[str, pa.Array] = {
        "genes": _joined(codes, [genotypes.get(word, []) for word in words]),
        ROW: pa.array(rows),
        FILE: _dictionary(np.zeros(len(rows), np.int32), [path.name]),
        FILE_ROWS: pa.array(np.full(len(rows), obs.rows)),
    }
    if kind is not None:
        texts = ["|".join([kind] * len(genotypes.get(word, []))) for word in words]
        found[_KINDS] = _texts_of(codes, texts)
    if said is not None:
        try:
            cells_kinds = kinds_of_cells((codes, words), (said[0][rows], said[1]), rows, rule)
        except ConditionError as error:
            raise AnnDataError(
                f"read obs of {path}: column {kinds!r}: {error}", error.hint
            ) from None
        found[_KINDS] = _texts_of(*cells_kinds)
    for name, values in attributes.items():
        found[name] = values if len(rows) == obs.rows else values.take(pa.array(rows))
    _write(found, out)
    distinct = {frozenset(names) for names in genotypes.values()}
    return PerturbationSet(out, len(rows), wildtypes, len(distinct), obs.rows - len(rows))


def _texts(names: Iterable[str], what: str) -> list[str]:
    """The names that an argument lists; a text would be taken for its letters."""
    found = [names] if isinstance(names, str) else list(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise TypeError(f"{what}: found {type(names).__name__}, expected a list of texts")
    return found


def _conditions(obs: Obs, name: str, drop_missing: bool) -> tuple[npt.NDArray[np.int32], list[str]]:
    """The condition of each cell as its index in the list, -1 if it is missing."""
    codes, words = _codes(obs, name, "name the column of conditions: condition=")
    where = f"read obs of {obs.path}: column {name!r}"
    if not np.any(codes >= 0):
        raise AnnDataError(f"{where}: no cell has a condition", "name the column of conditions")
    if (lost := np.flatnonzero(codes < 0)).size and not drop_missing:
        raise AnnDataError(
            f"{where}: {len(lost):,} of {len(codes):,} cells have no condition, the first in row "
            f"{lost[0]:,}",
            "drop them with missing='drop', or name their condition in obs",
        )
    return codes, words


def _codes(obs: Obs, name: str, hint: str) -> tuple[npt.NDArray[np.int32], list[str]]:
    """The text of each cell in a column as its index in the list, -1 if it is missing or empty."""
    column = obs.column(name)
    if not pa.types.is_dictionary(column.type):
        raise AnnDataError(
            f"read obs of {obs.path}: column {name!r}: found {column.type}, expected texts or "
            "categories",
            hint,
        )
    words = ["" if word is None else word for word in column.dictionary.to_pylist()]
    codes = columns.view(column.indices, np.int32).copy()
    codes[columns.missing(column)] = -1
    empty = np.array([not word.strip() for word in words] + [True])
    codes[empty[codes]] = -1
    return codes, words


def _genotypes(
    codes: npt.NDArray[np.int32], rows: npt.NDArray[np.int64], words: list[str], rule: Conditions
) -> dict[str, list[str]]:
    """The deleted genes of each condition that a cell has."""
    first = np.full(len(words), -1, np.int64)
    first[codes[::-1]] = rows[::-1]
    genotypes = {}
    for word, row in zip(words, first.tolist()):
        if row < 0:
            continue
        try:
            genotypes[word] = rule.deleted(word)
        except ConditionError as error:
            raise ConditionError(f"row {row:,}: {word!r:.100}: {error}", error.hint) from None
    counts = np.bincount(codes, minlength=len(words)).tolist()
    rule.check_known(genotypes, dict(zip(words, counts)))
    return genotypes


def _attribute(obs: Obs, name: str) -> pa.Array:
    column = obs.column(name)
    if pa.types.is_floating(column.type):
        infinite = pc.index(pc.is_inf(column), True).as_py()
        if infinite >= 0:
            raise AnnDataError(
                f"read obs of {obs.path}: column {name!r}: row {infinite:,}: found an infinite "
                "value, expected a number",
                "correct the value, or remove the column from keep",
            )
    return column


def _joined(codes: npt.NDArray[np.int32], genotypes: list[list[str]]) -> pa.Array:
    """The genes of each cell's condition, as a text of a set."""
    return _texts_of(codes, ["|".join(names) for names in genotypes])


def _texts_of(codes: npt.NDArray[np.int32], texts: list[str]) -> pa.Array:
    """The text of each cell; each text once in the dictionary."""
    ranks: dict[str, int] = {}
    rank_of = [ranks.setdefault(text, len(ranks)) for text in texts]
    return _dictionary(np.array(rank_of, np.int32)[codes], list(ranks))


def _dictionary(codes: npt.NDArray[np.int32], words: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(words, pa.string()))


def _write(found: dict[str, pa.Array], out: Path) -> None:
    fields = [
        pa.field(name, values.type, metadata=None if name in ("genes", _KINDS) else _ATTRIBUTE)
        for name, values in found.items()
    ]
    table = pa.table(list(found.values()), pa.schema(fields))
    with published(out, "write perturbations") as building:
        with pa.OSFile(str(building), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=_BATCH)
