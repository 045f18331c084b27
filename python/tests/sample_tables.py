"""Datasets with sample tables that the program does not write: of small parts, or with what its
input cannot say.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pyarrow as pa
import xxhash

BLOCK = 65536


def with_table(
    dataset: Path,
    folder: Path,
    rows: list[dict],
    per_part: int,
    per_batch: int,
    phenotypes: list[dict] = [{"name": "fitness"}],
    attributes: list[dict] = [
        {"name": "medium", "type": "text"},
        {"name": "temperature", "type": "number"},
    ],
) -> Path:
    """Copies a dataset of the incidence variant to a folder, with other samples."""
    shutil.copytree(dataset, folder)
    shutil.rmtree(folder / "samples")
    (folder / "samples").mkdir()
    manifest = json.loads((folder / "manifest.json").read_text())
    types = {"text": pa.dictionary(pa.int32(), pa.string()), "number": pa.float64()}
    schema = pa.schema(
        [
            pa.field("sample_id", pa.string(), nullable=False),
            pa.field("perturbation_indices", pa.list_(pa.int32()), nullable=False),
            *((phenotype["name"], pa.float64()) for phenotype in phenotypes),
            *((attribute["name"], types[attribute["type"]]) for attribute in attributes),
        ]
    )
    sums = b""
    for number, first in enumerate(range(0, len(rows), per_part)):
        part = rows[first : first + per_part]
        table = pa.table(
            {
                field.name: (
                    pa.array([row[field.name] for row in part], pa.string()).dictionary_encode()
                    if pa.types.is_dictionary(field.type)
                    else pa.array([row[field.name] for row in part], field.type)
                )
                for field in schema
            },
            schema,
        )
        path = folder / f"samples/part-{number:05}.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            writer.write_table(table, max_chunksize=per_batch)
        data = path.read_bytes()
        blocks = [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
        words = [len(data), *(xxhash.xxh64_intdigest(block) for block in blocks)]
        sums += b"".join(word.to_bytes(8, "little") for word in words)
    sums += manifest["logical_content"].encode()
    (folder / "samples/_checksums").write_bytes(sums)
    manifest |= {
        "samples": len(rows),
        "samples_per_part": per_part,
        "samples_per_batch": per_batch,
        "phenotypes": phenotypes,
        "attributes": attributes,
    }
    seal(folder, manifest)
    return folder


def seal(folder: Path, manifest: dict) -> None:
    """Writes a manifest with the digests of the folder's files, and its checksum."""
    manifest["files"] = [
        {
            "name": path.relative_to(folder).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("manifest.json", "run.json")
    ]
    text = json.dumps(manifest | {"checksum": ""})
    checksum = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(
        text.replace('"checksum": ""', f'"checksum": "{checksum}"')
    )
