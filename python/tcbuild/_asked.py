"""What is asked of a dataset: filters, splits, verification."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from tcbuild._files.manifest import Manifest
from tcbuild._files.remote import STAGE, Url
from tcbuild._parts import Parts, read_parts
from tcbuild._program import run
from tcbuild._split import Split
from tcbuild._where import keeps
from tcbuild.errors import SettingsError

D = TypeVar("D", bound="Asked")


class Asked:
    """A dataset, as far as filters, splits and the program answer for it."""

    path: Path | Url
    manifest: Manifest
    _whole: Any  # of a view
    _stored: Any  # of combinations: the dataset on disk

    def where(self: D, expression: str) -> D:
        """The view of the samples for which an expression is true.

        Args:
            expression: of pandas (pandas.eval) over phenotypes, attributes, sample_id and
                `deletions`, the number of deleted genes. Comparisons with missing values are false;
                `fitness.isna()` finds them

        Raises:
            SettingsError: a ValueError: the expression is wrong, or compares text with a number
            InputError: a ValueError: it is true for no sample

        Examples:
            >>> sick = dataset.where("fitness < 0.8 and deletions == 3")
        """
        dataset: Any = self
        self._check_stored("select samples")
        found: D = dataset[keeps(dataset, expression)]
        return found

    def split(
        self,
        *,
        by: str,
        seed: int = 0,
        stratify: str | None = None,
        straddling: Literal["drop", "parts"] = "drop",
        wildtypes: Literal["split", "whole"] = "split",
        hold_out: Any = None,
        pin: Mapping[str, str] | None = None,
        **fractions: float,
    ) -> Parts:
        """Splits the samples at random. Parts depend on the seed and the samples, not on their
        order, and are the same on every machine.

        Args:
            by: what parts do not share: sample (ids), genotype (sets of perturbed genes), gene
                (drops samples with genes of several parts), component (genes, without dropping),
                pair (pairs of genes), or a column (its values). By component and pair, samples that
                share one, directly or through others, stay together
            seed: chooses the parts
            stratify: a column, or perturbation-count: the fractions hold within each value
            straddling: by gene, `parts` keeps samples with genes of several parts: test_unseen1 has
                a gene of test and 1 gene that train lacks
            wildtypes: `split` splits samples without perturbations separately; `whole` keeps them
                together, by gene in the first part
            hold_out: samples for test: a boolean array [N], "column=value", or a list of these
                texts; or a mapping of parts to them
            pin: sample_id to part; the samples bring those that must stay with them
            **fractions: of the units, such as samples or genes, by part; they add up to 1. Without
                any, train gets what is not held out. print(parts) warns of parts that miss theirs
                by a tenth

        Raises:
            SettingsError: a ValueError: settings are wrong
            InputError: a ValueError: a part gets no samples, or a group does not fit into its part

        Examples:
            >>> parts = dataset.split(train=0.8, val=0.1, test=0.1, by="sample", seed=0)
            >>> train, found = parts["train"], parts.audit()
        """
        self._check_stored("split")
        found = Split(self, by, fractions or ({} if hold_out is None else {"train": 1}), seed)
        found.check(straddling, wildtypes, stratify, hold_out)
        if hold_out is not None:
            found.hold_out(hold_out)
        if pin:
            found.pin(pin)
        if stratify is not None:
            found.stratify(stratify)
        return found.draw(wildtypes == "whole", straddling == "parts")

    def parts(self, path: str | os.PathLike[str]) -> Parts:
        """The parts that parts.save wrote, for any variant of the same input. A view gets its
        samples of each part.

        Args:
            path: the file

        Raises:
            InputError: it has the parts of another dataset, or is damaged

        Examples:
            >>> train = dataset.parts("parts.tsv")["train"]
        """
        self._check_stored("read parts")
        return read_parts(self, path)

    def verify(self, **settings: Any) -> dict[str, Any]:
        """Runs `tcbuild verify`: proves that all masks follow from the graph and the deleted genes.

        Args:
            **settings: its flags, such as `device="cuda"`

        Returns:
            The program's report.

        Raises:
            DamagedError: a mask differs
            SettingsError: this is a view

        Examples:
            >>> report = dataset.verify()
        """
        if self._whole is not None:
            raise SettingsError(
                f"verify {self.path}: found a view, expected the whole dataset",
                "verify all of it: dataset.whole.verify()",
            )
        printed = run("verify", self._local("verify"), "--json=-", settings=settings)
        report: dict[str, Any] = json.loads("".join(printed))
        return report

    def _check_stored(self, doing: str) -> None:
        if self._stored is not None:
            raise SettingsError(
                f"{doing}: found combinations, expected a stored dataset",
                "choose combinations by number: dataset[first:end], or a list of numbers",
            )

    def _local(self, doing: str) -> str:
        """The dataset's folder, for the program."""
        self._check_stored(doing)
        if not isinstance(self.path, Path):
            raise SettingsError(f"{doing} of {self.path}: the program reads only folders", STAGE)
        return os.path.abspath(self.path)
