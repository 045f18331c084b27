"""Wide tables: their values, and whether their names mean what they seem to."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from tcbuild._screens.alleles import Alleles
from tcbuild.errors import InputError

# Words of names that say that a strain keeps part of the gene's function, as in
# `het | growth (pooled culture) | glycerol`.
_PARTIAL = re.compile(
    r"(?i)(?<![^\W\d_])(hets?|hetero|heterozyg(ous|otes?|osity)|hip|haploinsufficien(cy|t)|damp"
    r"|hypomorph(s|ic)?)(?![^\W\d_])"
)


class Wide:
    """title: the name of the column with the rows' names. values: float [rows, columns]"""

    def __init__(self, frame: pd.DataFrame):
        if not pd.api.types.is_numeric_dtype(frame.index):
            frame = frame.reset_index()
        frame = _without_empty(frame)
        if len(frame.columns) < 2 or not len(frame):
            raise InputError(
                f"read matrix: found {len(frame)} rows of columns {[*frame.columns]}, expected "
                "names and values",
                "give a table with a column of names, then one for each condition or gene",
            )
        self.title, *self.columns = map(str, frame.columns)
        labels = frame.iloc[:, 0]
        self.rows = labels.astype(object).where(labels.notna(), "").astype(str).tolist()
        _check_names("row", self.rows)
        _check_names("column", self.columns)
        self.values = _numbers(frame.iloc[:, 1:], self.columns)

    def check_conditions(self, reader: Alleles) -> None:
        """InputError if columns may be genes."""
        genes = [name for name in self.columns if reader.is_like_a_gene(name)]
        both, found = sorted({*self.columns} & {*self.rows}), ""
        if 2 * len(genes) > len(self.columns):
            found = f"{len(genes):,} of its {len(self.columns):,} columns are named like genes, "
            found += f"such as {genes[0]!r}, expected conditions"
        elif both:
            found = f"found row {both[0]!r}, which is also a column, expected no genes in columns"
        if found:
            raise InputError(
                f"read matrix: {found}",
                "set columns_are='genes' if the values are of double mutants, or columns_are="
                "'conditions' if they are of the row's gene only",
            )

    def check_losses(self, are_genes: bool) -> None:
        """InputError for conditions of strains that keep part of the gene's function."""
        partial = [] if are_genes else [name for name in self.columns if _PARTIAL.search(name)]
        if _PARTIAL.search(self.title):
            partial = self.columns
        if partial:
            raise InputError(
                f"read matrix: found {len(partial):,} of {len(self.columns):,} columns whose names "
                f"say that the strains keep part of the gene's function, such as {partial[0]!r}, "
                "expected deletions",
                "drop these columns; if they count as deletions, set partial_loss=True",
            )


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without empty columns that have no name, as Excel writes them at its end."""
    unnamed = [k for k, name in enumerate(frame) if re.fullmatch(r"Unnamed: \d+|", str(name)) and k]
    for column in unnamed:
        if len(values := frame.iloc[:, column].dropna()):
            raise InputError(
                f"read matrix: found {str(values.iloc[0])!r} in column {column + 1}, which has no "
                "name",
                "name the column, or remove it",
            )
    return frame.drop(columns=frame.columns[unnamed])


def _check_names(what: str, names: Sequence[str]) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise InputError(
                f"read matrix: found a second {what} {name!r}, expected unique names",
                "rename or remove one: samples are named by row and column",
            )
        if name.strip() != name or not name:
            raise InputError(
                f"read matrix: {what} {len(seen)}: found the name {name!r}, expected one without "
                "spaces around it",
                "correct the name, or remove what is no part of the table",
            )
        seen.add(name)


def _numbers(cells: pd.DataFrame, columns: Sequence[str]) -> npt.NDArray[np.float64]:
    numbers = cells.apply(pd.to_numeric, errors="coerce")
    found: npt.NDArray[np.float64] = numbers.to_numpy(np.float64, na_value=np.nan)
    wrong = np.isinf(found) | (np.isnan(found) & cells.notna().to_numpy())
    if wrong.any():
        row, column = np.unravel_index(wrong.argmax(), wrong.shape)
        raise InputError(
            f"read matrix: row {row}, column {columns[column]!r}: found "
            f"{str(cells.iloc[row, column])!r}, expected a number",
            "correct the value, or empty the field if it is missing",
        )
    return found
