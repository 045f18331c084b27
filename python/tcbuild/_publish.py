"""Dataset folders for Hugging Face and other catalogues."""

from __future__ import annotations

import datetime
import glob
import hashlib
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
from tcbuild.errors import InputError, SettingsError, missing_package

# A folder of a machine, or an address with a password or a token. After a space, /L/h is a unit.
_ROOTS = "home|Users|root|tmp|var|mnt|media|opt|srv|data|scratch|work"
_PRIVATE = (
    r"(^|[\"'(=:,;])/[\w.-]+/|\s/([\w.-]+/[^\s/]+/|(" + _ROOTS + r")/)"
    r"|(^|[\s\"'(=:,;])(~[\w.-]*/|\w:\\|file:/)|\w://[^/\s]*@"
    r"|(?i:\w://\S*[?&][^=&\s]*(token|sig|key|secret|password|credential)[^=&\s]*=)"
)
# Croissant's types by Arrow's, without the width. Others are TEXT.
_TYPES = {"int": "INTEGER", "uint": "INTEGER", "bool": "BOOL"}
_TYPES |= dict.fromkeys(("float", "double", "halffloat"), "FLOAT")
_CARD = """---
{about_card}
---
# {name}

{description}. By {creators}; licence {license}.

`samples` has a row per sample, and for each type of nodes and edges the list `removed_TYPE` of the
rows, from 0, of `nodes-TYPE` or `edges-TYPE` that it removes. `croissant.json` describes all.

    datasets.load_dataset(folder, "samples", split="train")

Built by tcbuild {program}, with the options `{options}`, from:

{inputs}
"""


def publish(
    dataset: Dataset | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    name: str,
    license: str,
    creators: str | Sequence[str],
) -> Path:
    """Writes a folder for Hugging Face and other catalogues (extra `publish`): the files of
    Dataset.to_parquet, a card for `datasets.load_dataset(folder)`, and croissant.json. Inputs are
    named with their digests, without folders.

    Args:
        dataset: a whole dataset on disk, or its folder
        folder: to create
        name: what catalogues show
        license: its SPDX identifier, or its address
        creators: a name, or several

    Returns:
        The path of the folder.

    Raises:
        InputError: a text of the samples or the graph has an absolute path, or an address with
            credentials. Nothing else private is looked for
        DatasetError: the folder exists, or cannot be written

    Examples:
        >>> folder = tcbuild.publish(
        ...     "cell/dataset", "out", name="A screen", license="CC-BY-4.0", creators="J. Doe"
        ... )
    """
    try:
        mlcroissant = import_module("mlcroissant")
    except ModuleNotFoundError as error:
        raise missing_package("publish", error) from error
    whole = as_dataset(dataset)
    is_part = whole.whole is not whole or whole._stored is not None
    if is_part or not isinstance(whole.path, Path):
        raise SettingsError(
            f"publish {whole.path}: found a view, combinations or a URL, expected a whole dataset",
            "publish a dataset's folder; to leave samples out, build it with where=…",
        )
    known = ("program", "options", "inputs", "phenotypes", "logical_content")
    about = {key: whole.manifest[key] for key in known}
    about["inputs"] = [file for files in about["inputs"].values() for file in files or []]
    _refuse_private("manifest.json", "its options", pa.array([json.dumps(about)]))
    about |= {"name": name, "license": license}
    about["creators"] = [creators] if isinstance(creators, str) else list(creators)
    about["description"] = (
        f"A cell graph under gene deletions: {len(whole):,} samples, each with the genes that it "
        "deletes, what was measured, and what it removes from the graph"
    )
    with new_folder(Path(folder), "publish") as (made, out):
        write_parquet(whole, made)
        files = sorted(path.relative_to(made).as_posix() for path in made.rglob("*.parquet"))
        files.sort(key=lambda file: file != "samples.parquet")  # the first table is the default
        tables = {_config(file): file for file in files}
        for file in files:
            for batch in import_module("pyarrow.parquet").ParquetFile(made / file).iter_batches():
                for column, texts in zip(batch.schema.names, batch.columns):
                    _refuse_private(file, f"column {column!r}", texts)
        (made / "README.md").write_text(_card(about, tables), encoding="utf-8")
        described = json.dumps(_croissant(mlcroissant, about, tables, made), indent=2)
        (made / "croissant.json").write_text(described + "\n", encoding="utf-8")
        mlcroissant.Dataset(made / "croissant.json")  # an error if it is not valid
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


def _config(file: str) -> str:
    """The name of a table: samples, nodes-TYPE or edges-TYPE."""
    name = file.removesuffix(".parquet").replace("/", "-", 1)
    return re.sub(r'[<>:\\|?*"]', lambda refused: quote(refused[0]), name)


def _card(about: dict[str, Any], tables: dict[str, str]) -> str:
    """README.md; what catalogues read of it is JSON, which is YAML, too."""
    configs: list[dict[str, Any]] = [
        {"config_name": name, "data_files": glob.escape(file)} for name, file in tables.items()
    ]
    configs[0]["default"] = True
    license = {"license": about["license"].lower()}
    if "://" in about["license"]:
        license = {"license": "other", "license_link": about["license"]}
    card = {"pretty_name": about["name"], "tags": ["biology", "graph", "tcbuild"]} | license
    texts = {
        "about_card": json.dumps(card | {"configs": configs}, indent=2, ensure_ascii=False),
        "creators": ", ".join(about["creators"]),
        "options": json.dumps(about["options"]),
        "inputs": "\n".join(
            f"- {file['name']}, SHA-256 {file['sha256']}" for file in about["inputs"]
        ),
    }
    return _CARD.format(**(about | texts))


def _croissant(
    mlc: Any, about: dict[str, Any], tables: dict[str, str], folder: Path
) -> dict[str, Any]:
    ctx = mlc.Context(conforms_to="http://mlcommons.org/croissant/1.1")

    def file_object(file: str) -> Any:
        with pa.memory_map(str(folder / file)) as content:
            digest = hashlib.sha256(content.read_buffer()).hexdigest()
            size = f"{content.size()} B"
        about_file = {"id": quote(file), "name": file, "content_url": file}
        about_file |= {"content_size": size, "sha256": digest}
        return mlc.FileObject(ctx=ctx, encoding_formats=["application/x-parquet"], **about_file)

    def record_set(name: str, file: str) -> Any:
        schema = import_module("pyarrow.parquet").read_schema(folder / file)
        measured = about["phenotypes"] if name == "samples" else []
        said = {
            entry["name"]: ", ".join(filter(None, map(entry.get, ("description", "unit"))))
            for entry in measured
        }
        fields = [field(name, file, column, said.get(column.name) or None) for column in schema]
        return mlc.RecordSet(ctx=ctx, id=quote(name), name=name, fields=fields)

    def field(table: str, file: str, column: Any, description: str | None) -> Any:
        type_of_value, shape = column.type, list[str]()
        while pa.types.is_list(type_of_value):
            type_of_value, shape = type_of_value.value_type, [*shape, "-1"]
        kind = str(type_of_value).rstrip("0123456789")
        # in an address, . and .. would mean something else
        name = quote(column.name, safe="") if column.name.strip(".") else len(column.name) * "%2E"
        return mlc.Field(
            ctx=ctx,
            id=f"{quote(table)}/{name}",
            name=column.name,
            description=description,
            data_types=[getattr(mlc.DataType, _TYPES.get(kind, "TEXT"))],
            source=mlc.Source(
                ctx=ctx, file_object=quote(file), extract=mlc.Extract(column=column.name)
            ),
            is_array=bool(shape) or None,
            array_shape=",".join(shape) or None,
        )

    described: dict[str, Any] = mlc.Metadata(
        ctx=ctx,
        name=about["name"],
        description=about["description"],
        license=[about["license"]],
        creators=[mlc.Person(ctx=ctx, name=name) for name in about["creators"]],
        date_published=datetime.datetime.now(),
        version="1.0.0",
        distribution=[file_object(file) for file in tables.values()],
        record_sets=[record_set(name, file) for name, file in tables.items()],
    ).to_json()
    described["@context"]["prov"] = "http://www.w3.org/ns/prov#"
    entities = [
        {"@type": "prov:Entity", "prov:label": file["name"], "sha256": file["sha256"]}
        for file in about["inputs"]
    ]
    activity = {
        "@type": "prov:Activity",
        "prov:label": f"tcbuild {about['program']}",
        "description": json.dumps({"options": about["options"]}),
    }
    return described | {
        "identifier": f"sha256:{about['logical_content']}",
        "prov:wasDerivedFrom": entities,
        "prov:wasGeneratedBy": activity,
    }
