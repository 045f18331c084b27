"""Splits a dataset from a shell: python -m tcbuild.split DATASET --by gene train=0.8 test=0.2 --out
parts.tsv. It prints what Parts and their audit show; --help lists the settings of Dataset.split.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction

import tcbuild
from tcbuild.errors import DatasetError, SettingsError


def main() -> None:
    parser = argparse.ArgumentParser("python -m tcbuild.split", description="Splits a dataset.")
    parser.add_argument("dataset", help="its folder")
    parser.add_argument("fractions", nargs="*", metavar="PART=FRACTION", help="such as train=0.8")
    parser.add_argument(
        "--by", required=True, help="sample, genotype, gene, component, pair, or a column"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stratify", help="a column, or perturbation-count")
    parser.add_argument("--straddling", choices=["drop", "parts"], default="drop")
    parser.add_argument("--wildtypes", choices=["split", "whole"], default="split")
    parser.add_argument("--hold-out", action="append", metavar="COLUMN=VALUE", help="into test")
    parser.add_argument("--audit", action="store_true", help="print the audit, too")
    parser.add_argument("--out", required=True, help="parts.tsv or parts.parquet")
    settings = vars(parser.parse_intermixed_args())
    path, out, audit = (settings.pop(name) for name in ("dataset", "out", "audit"))
    try:
        for word in settings.pop("fractions"):
            part, _, fraction = word.partition("=")
            try:
                settings[part] = Fraction(fraction)
            except (ValueError, ZeroDivisionError):
                why = f"split {path}: found {word!r}, expected PART=FRACTION"
                raise SettingsError(why, "write, for example, train=0.8 test=1/5") from None
        parts = tcbuild.open(path).split(**settings)
        parts.save(out)
        print(parts, *[parts.audit()] if audit else [], sep="\n\n")
    except (DatasetError, ValueError, LookupError, OSError) as error:
        sys.exit(f"tcbuild.split: {error}")


if __name__ == "__main__":
    main()
