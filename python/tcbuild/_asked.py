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
                `deletions`, the number of deleted genes. A comparison with a missing value is
                false; `fitness.isna()` finds missing values

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
        """Splits the samples of a dataset or view at random. The parts depend on the seed and on
        what the samples are, not on their order: they are the same for ever, on every machine.

        Args:
            by: what no two parts share: sample (its id), genotype (the genes that it perturbs),
                gene (samples with genes of several parts are left out), component (a gene; nothing
                is left out), pair (a pair of genes), or a column (a value). Within these, nothing
                is split: samples that share a gene or pair, directly or through others, stay
                together by component and pair
            seed: another one gives other parts
            stratify: a column, or perturbation-count, within each value of which the fractions hold
            straddling: by gene, `parts` puts samples with genes of several parts into parts of
                their own: test_unseen1 has a gene of test and 1 gene that no sample of train has
            wildtypes: samples without perturbations are split as samples, apart from the others;
                `whole` keeps them together, by gene in the first part
            hold_out: samples that go to test before the others are split: a boolean array [N] or
                "column=value", or a list of these texts; or a mapping of parts to them
            pin: the parts of samples, and with them their units, by sample_id
            **fractions: of samples, or units, by the names of parts; they add up to 1. Without any,
                what is not held out is train. print(parts) warns of a part whose share of the
                samples is more than a tenth of its fraction away from it

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
        """The parts of a split that parts.save wrote, for this variant or any other one of the same
        input. A view has of each part what is in it.

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
        """Proves by the program that all masks follow from the graph and the deleted genes.

        Args:
            **settings: as of `tcbuild verify`, such as `device="cuda"`

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
