"""Dataset folders for Hugging Face and other catalogues."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from tcbuild._dataset import Dataset, as_dataset
from tcbuild._files.scratch import new_folder
from tcbuild._parquet import write_parquet
from tcbuild.errors import InputError, SettingsError

# A folder of a machine, or an address with a password or a token. After a space, /L/h is a unit.
_ROOTS = "home|Users|root|tmp|var|mnt|media|opt|srv|data|scratch|work"
_PRIVATE = (
    r"(^|[\"'(=:,;])/[\w.-]+/|\s/([\w.-]+/[^\s/]+/|(" + _ROOTS + r")/)"
    r"|(^|[\s\"'(=:,;])(~[\w.-]*/|\w:\\|file:/)|\w://[^/\s]*@"
    r"|(?i:\w://\S*[?&][^=&\s]*(token|sig|key|secret|password|credential)[^=&\s]*=)"
)
_CARD = """---
{about}
---
# {name}

A cell graph under gene deletions: {samples:,} samples, each with the genes that it deletes, what
was measured, and what it removes from the graph. By {creators}; licence {license}.

`samples` has a row per sample, and for each type of nodes and edges the list `removed_TYPE` of the
rows, from 0, of `nodes-TYPE` or `edges-TYPE` that it removes.

    datasets.load_dataset(folder, "samples", split="train")

Measured:

{phenotypes}

Built by tcbuild {program}, with the options `{options}`, from:

{inputs}

The SHA-256 of its content, in any variant, is {logical_content}.
"""


def publish(
    dataset: Dataset | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    name: str,
    license: str,
    creators: str | Sequence[str],
) -> Path:
    """Writes a dataset as a folder for Hugging Face and other catalogues.

    It has the files of Dataset.to_parquet; and a card, README.md, that names them and their origin,
    so that `datasets.load_dataset(folder)` gives the samples. Of inputs it has names and digests,
    never folders.

    Args:
        dataset: a whole dataset on disk, no view or combinations, or its folder
        folder: the folder to create
        name: what catalogues show
        license: its SPDX identifier, or its address
        creators: a name, or several

    Raises:
        InputError: a text of the samples or of the graph has an absolute path, or an address with
            credentials. Nothing else private is looked for
        DatasetError: the folder exists, or cannot be written

    Examples:
        >>> folder = tcbuild.publish(
        ...     "cell/dataset", "out", name="A screen", license="CC-BY-4.0", creators="J. Doe"
        ... )
    """
    whole = as_dataset(dataset)
    is_part = whole.whole is not whole or whole._stored is not None
    if is_part or not isinstance(whole.path, Path):
        raise SettingsError(
            f"publish {whole.path}: found a view, combinations or a URL, expected a whole dataset",
            "publish a dataset's folder; to leave samples out, build it with where=…",
        )
    known = ("program", "options", "inputs", "phenotypes", "logical_content")
    about = {key: whole.manifest[key] for key in known}
    _refuse_private("manifest.json", "its options", pa.array([json.dumps(about)]))
    by = creators if isinstance(creators, str) else ", ".join(creators)
    about |= {"name": name, "license": license, "creators": by, "samples": len(whole)}
    with new_folder(Path(folder), "publish") as (made, out):
        write_parquet(whole, made)
        files = sorted(path.relative_to(made).as_posix() for path in made.rglob("*.parquet"))
        files.sort(key=lambda file: file != "samples.parquet")  # the first table is the default
        for file in files:
            for batch in import_module("pyarrow.parquet").ParquetFile(made / file).iter_batches():
                for column, texts in zip(batch.schema.names, batch.columns):
                    _refuse_private(file, f"column {column!r}", texts)
        (made / "README.md").write_text(_card(about, files), encoding="utf-8")
    return out


def _refuse_private(file: str, where: str, texts: pa.Array) -> None:
    while pa.types.is_list(texts.type):
        texts = texts.flatten()
    if not pa.types.is_string(texts.type):
        return
    private = import_module("pyarrow.compute").match_substring_regex(texts, _PRIVATE)
    if found := texts.filter(private).to_pylist():
        raise InputError(
            f"publish {file}: found {found[0]!r} in {where}, expected neither absolute paths nor "
            "addresses with credentials",
            "build the dataset again without the column, or with other texts",
        )


def _card(about: dict[str, Any], files: Sequence[str]) -> str:
    """README.md. What catalogues read of it is JSON, which is YAML, too."""
    configs: list[dict[str, Any]] = [
        {"config_name": _config(file), "data_files": glob.escape(file)} for file in files
    ]
    configs[0]["default"] = True
    license = {"license": about["license"].lower()}
    if "://" in about["license"]:
        license = {"license": "other", "license_link": about["license"]}
    card = {"pretty_name": about["name"], "tags": ["biology", "graph", "tcbuild"]} | license
    lists = {"phenotypes": list[str](), "inputs": list[str]()}
    for entry in about["phenotypes"]:
        words = (entry.get(key) for key in ("name", "description", "unit"))
        lists["phenotypes"].append(", ".join(filter(None, words)))
    for file in (file for files in about["inputs"].values() for file in files or []):
        lists["inputs"].append(f"{file['name']}, SHA-256 {file['sha256']}")
    texts = {key: "\n".join(f"- {line}" for line in lines) for key, lines in lists.items()}
    texts["about"] = json.dumps(card | {"configs": configs}, indent=2, ensure_ascii=False)
    texts["options"] = json.dumps(about["options"])
    return _CARD.format(**(about | texts))


def _config(file: str) -> str:
    """The name of a table: samples, nodes-TYPE or edges-TYPE."""
    name = file.removesuffix(".parquet").replace("/", "-", 1)
    return re.sub(r'[<>:\\|?*"]', lambda refused: quote(refused[0]), name)
