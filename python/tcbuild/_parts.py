"""The parts of a split: views by name, and the file that keeps them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tcbuild._audit import Audit, audit
from tcbuild._perturbed import read_perturbed
from tcbuild.errors import InputError, SettingsError, unknown_name

UNPLACED = "unplaced"  # the part of samples that no part can have
Codes = npt.NDArray[np.int16]  # -1: in no part

_COLUMNS = ["logical_content", "row", "sample_id", "part"]


class Parts(Mapping[str, Any]):
    """The parts of a split by name, each a view of the dataset: parts["train"]. `unplaced` has the
    samples that fit no part.

    Attributes:
        codes: int16 [N], the number of each sample's part in names; -1 for none
        names: of the parts
        notes: warnings about parts that miss their fraction of the split samples by more than a
            tenth of it; empty for parts from a file
    """

    notes: Sequence[str] = ()

    def __init__(self, dataset: Any, codes: Codes, names: list[str]):
        self._dataset, self.codes, self.names = dataset, codes, names
        sizes = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
        self.sizes = {name: size for name, size in zip(names, sizes) if size}
        # models are fitted to train, or the first part
        self.first = "train" if "train" in self.sizes else next(iter(self.sizes), "")

    def __getitem__(self, name: str) -> Any:
        if name not in self.sizes:
            raise unknown_name("part", name, self.sizes)
        return self._dataset[np.flatnonzero(self.codes == self.names.index(name))]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    def seen(self) -> npt.NDArray[np.int64]:
        """How many of each sample's perturbed genes a sample of the first part perturbs, too.

        Returns:
            int64 [N], for all samples of what was split
        """
        genes = read_perturbed(self._dataset)
        fitted = self.codes == self.names.index(self.first)
        known = np.zeros(len(genes.ids), bool)
        known[genes.genes[fitted[genes.of]]] = True
        return np.bincount(genes.of, known[genes.genes], len(fitted)).astype(np.int64)

    def to_pandas(self) -> Any:
        """Numbers of samples by part, number of perturbed genes, and how many of these the first
        part has.
        """
        pandas = import_module("pandas")
        genes, seen = read_perturbed(self._dataset).sizes, f"seen in {self.first}"
        frame = pandas.DataFrame({"part": self.codes, "perturbed genes": genes, seen: self.seen()})
        frame = frame[frame.part >= 0].value_counts(sort=False).rename("samples").reset_index()
        return frame.assign(part=[self.names[code] for code in frame.part])

    def __repr__(self) -> str:
        sizes = (f"{name}: {size:,} samples" for name, size in self.sizes.items())
        return "\n".join([*sizes, *self.notes])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"{self.to_pandas().to_html(index=False)}{notes}"

    def audit(self) -> Audit:
        """Says what parts share with the first one, and how well simple baselines that are fitted
        to it predict them: a model that has learned something has a larger r than the best one
        (low, high: its 95 % interval by a bootstrap), and than chance has (its 97.5 % quantile for
        n samples: tanh(1.96 / √(n - 3))).
        """
        return audit(self._dataset, self.codes, self.names, self.first)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the part of every sample of the whole dataset, empty for none. dataset.parts reads
        it.

        Args:
            path: Parquet (.parquet), or text with tabs (.tsv), which R and pandas read
        """
        pandas, whole, path = import_module("pandas"), self._dataset.whole, Path(path)
        parts = np.full(len(whole), "", object)
        parts[self._dataset.indices] = np.array([*self.names, ""], object)[self.codes]
        ids = whole.to_arrow(["sample_id"]).column(0).to_pandas()
        content = whole.manifest["logical_content"]
        frame = pandas.DataFrame(dict(zip(_COLUMNS, (content, np.arange(len(ids)), ids, parts))))
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            if path.suffix == ".parquet":
                frame.to_parquet(part, index=False, engine="pyarrow")
            elif path.suffix == ".tsv":
                frame.to_csv(part, sep="\t", index=False, lineterminator="\n")
            else:
                raise SettingsError(f"save parts {path}: found another ending", "use .tsv")
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


def read_parts(dataset: Any, path: str | os.PathLike[str]) -> Parts:
    """The parts that a file of Parts.save names: views of the dataset, or of a view of it."""
    pandas, whole = import_module("pandas"), dataset.whole
    try:
        if Path(path).suffix == ".parquet":
            frame = pandas.read_parquet(path, engine="pyarrow")
        else:
            frame = pandas.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
        contents, rows, ids, parts = (frame[name] for name in _COLUMNS)
        rows, parts = rows.to_numpy(np.int64), parts.to_numpy(object)
    except FileNotFoundError:
        raise
    except (KeyError, ValueError, ArithmeticError, OSError) as error:
        raise _wrong(path, f"{error}"[:300], f"a table with the columns {_COLUMNS}") from error
    expected = whole.manifest["logical_content"]
    for found in contents[contents != expected].unique()[:1]:
        raise _wrong(path, f"logical content {found}", f"{expected}, as dataset {whole.path} has")
    times = np.bincount(rows[(rows >= 0) & (rows < len(whole))], minlength=len(whole))
    if len(rows) != len(whole) or np.any(times != 1):
        row = int(np.argmax(times != 1))
        why = f"{len(rows):,} rows, with row {row} {times[row] if len(times) else 0} times"
        raise _wrong(path, why, f"each of {len(whole):,} once")
    order = np.argsort(rows)
    own = whole.to_arrow(["sample_id"]).column(0).to_pandas().to_numpy(object)
    if np.any(differs := ids.to_numpy(object)[order] != own):
        row = int(np.argmax(differs))
        raise _wrong(path, f"sample {ids[order[row]]!r} in row {row}", f"{own[row]!r}")
    sizes = pandas.Series(parts[parts != ""]).value_counts()
    names = sorted(sizes.index, key=lambda n: (n == UNPLACED, n != "train", -sizes[n], n))
    codes = pandas.Categorical(parts[order], names).codes.astype(np.int16)
    return Parts(dataset, codes[dataset.indices], names)


def _wrong(path: str | os.PathLike[str], found: str, expected: str) -> InputError:
    return InputError(
        f"read parts {path}: found {found}, expected {expected}", "save the parts of this dataset"
    )
