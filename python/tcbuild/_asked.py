"""What the program answers about a dataset: selections, splits, verification."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tcbuild._files.manifest import Manifest
from tcbuild._files.remote import STAGE, Url
from tcbuild._parts import Parts
from tcbuild._program import cells, run
from tcbuild._table.selection import read_selection
from tcbuild.errors import SelectionError, SettingsError

# The settings of a split that are no parts.
_SPLIT = ("seed", "straddling", "wildtypes", "hold_out", "stratify", "pin")

D = TypeVar("D", bound="Asked")


class Asked:
    """A dataset, as far as the program answers for it."""

    path: Path | Url
    manifest: Manifest
    _whole: Any  # of a view
    _stored: Any  # of combinations: the dataset on disk

    def select(self: D, path: str | os.PathLike[str]) -> D:
        """The view of the samples that a file of `tcbuild select` or `tcbuild split` names, in the
        dataset's order; a view returns the samples that it has. It fits every variant of one
        input.

        Args:
            path: the file, or its URL

        Raises:
            SelectionError: the file selects samples of another dataset, or is damaged

        Examples:
            >>> train = dataset.select("split/train.arrow")
        """
        if self._stored is not None:
            raise SelectionError(
                f"read {path}: found combinations, expected a stored dataset",
                "select combinations by number: dataset[first:end], or a list of numbers",
            )
        dataset: Any = self
        numbers = read_selection(path, self.manifest["logical_content"], len(dataset.whole))
        found: D = dataset[numbers if self._whole is None else np.isin(dataset.indices, numbers)]
        return found

    def where(self: D, expression: str) -> D:
        """The view of the samples for which an expression is true, which the program evaluates.

        Args:
            expression: `tcbuild docs input` describes expressions

        Examples:
            >>> sick = dataset.where("fitness < 0.8 and deletions() == 3")
        """
        with tempfile.TemporaryDirectory(prefix="tcbuild-") as folder:
            file = Path(folder) / "selection.arrow"
            command = ["select", self._local("select samples"), f"--out={file}"]
            run(*command, f"--where={expression}", names={str(file): "the selection"})
            return self.select(file)

    def split(self, *, by: str, **settings: Any) -> Parts:
        """Splits the samples at random by the program. The same settings always give the same
        parts.

        Args:
            by: sample, genotype, gene, component (parts share no gene), or a column
            **settings: the fraction of each part, or settings of `tcbuild split`: seed, straddling,
                wildtypes, hold_out (a list), stratify, pin

        Returns:
            Views by the names of their parts, and a method audit() that counts what they share.

        Examples:
            >>> parts = dataset.split(train=0.8, val=0.1, test=0.1, by="sample", seed=0)
            >>> train, found = parts["train"], parts.audit()
        """
        if self._whole is not None:
            raise SettingsError(
                f"split {self.path}: found a view, expected the whole dataset",
                'split dataset.whole, then ask its parts: parts["train"].where("…")',
            )
        fractions = {name: settings.pop(name) for name in [*settings] if name not in _SPLIT}
        for name, fraction in fractions.items():
            if isinstance(fraction, bool) or not isinstance(fraction, (int, float)):
                raise TypeError(
                    f"split: found {name}={fraction!r}, expected a fraction of the samples, or one "
                    f"of the settings {', '.join(_SPLIT)}"
                )
        words = [f"--fractions={name}={_decimal(part)}" for name, part in fractions.items()]
        held = settings.pop("hold_out", None) or []
        words += [f"--hold-out={text}" for text in ([held] if isinstance(held, str) else held)]
        with tempfile.TemporaryDirectory(prefix="tcbuild-") as folder:
            out = Path(folder) / "split"
            command = ["split", self._local("split"), f"--by={by}", f"--out={out}"]
            printed = run(*command, *words, settings=settings, names={f"{out}/": "", ".arrow": ""})
            names = [path.stem for path in out.iterdir()]
            order = {cells(line)[0]: place for place, line in enumerate(reversed(printed))}
            names.sort(key=lambda name: -order[name])
            return Parts({name: self.select(out / f"{name}.arrow") for name in names}, printed)

    def verify(self, **settings: Any) -> dict[str, Any]:
        """Proves by the program that all masks follow from the graph and the deleted genes.

        Args:
            **settings: as of `tcbuild verify`, such as `device="cuda"`

        Returns:
            The program's report.

        Raises:
            DifferenceError: a mask differs
            SelectionError: this is a view

        Examples:
            >>> report = dataset.verify()
        """
        if self._whole is not None:
            raise SelectionError(
                f"verify {self.path}: found a view, expected the whole dataset",
                "verify all of it: dataset.whole.verify()",
            )
        printed = run("verify", self._local("verify"), "--json=-", settings=settings)
        report: dict[str, Any] = json.loads("".join(printed))
        return report

    def _local(self, doing: str) -> str:
        """The dataset's folder, for the program."""
        if self._stored is not None:
            raise SelectionError(
                f"{doing}: found combinations, expected a stored dataset",
                "choose combinations by number: dataset[first:end], or a list of numbers",
            )
        if not isinstance(self.path, Path):
            raise SelectionError(f"{doing} of {self.path}: the program reads only folders", STAGE)
        return os.path.abspath(self.path)


def _decimal(fraction: float) -> str:
    """A fraction with at most nine digits, as the program takes it."""
    return f"{fraction:.9f}".rstrip("0").rstrip(".") or "0"
