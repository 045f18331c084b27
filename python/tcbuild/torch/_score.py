"""Predictions for all samples of a dataset, in blocks that any number of jobs share."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import torch
import xxhash
from torch import nn

import tcbuild
from tcbuild._dataset import as_dataset
from tcbuild.errors import InputError, SettingsError
from tcbuild.torch._loader import DataLoader
from tcbuild.torch._order import samples_of

_COLUMNS = {"sample_index": pa.int64(), "genes": pa.list_(pa.string()), "prediction": pa.float32()}


def score(
    model: nn.Module,
    samples: tcbuild.Dataset | str | Path,
    out: str | Path,
    *,
    shards: int = 1,
    shard: int | None = None,
    top: int | None = None,
    batch_size: int = 64,
    block: int = 256,
    **options: Any,
) -> Path | None:
    """Writes predictions to a Parquet file: sample_index in the whole dataset, the ids of the
    deleted genes, and prediction (float32).

    Any number of jobs share the blocks of samples, files in the folder OUT.blocks; the last one
    joins them. After a kill, call score again. Blocks of another graph, rule, samples, weights or
    batches are refused; changes of the model's code are not noticed.

    Args:
        model: from a Batch to predictions [B] or [B, 1]. It is set to eval()
        samples: a dataset, a view, combinations, or a folder
        out: the file
        shards: number of jobs
        shard: this job, from 0; None does all
        top: keep only this many samples, with the highest predictions, descending
        batch_size: samples of a batch
        block: batches of a block
        **options: of DataLoader, such as masks; device defaults to the model's

    Returns:
        The file, or None while blocks of other jobs are missing.

    Raises:
        InputError: a ValueError: existing blocks have another graph, model or samples

    Examples:
        >>> import torch
        >>> class Deletions(torch.nn.Module):
        ...     def forward(self, batch):
        ...         return batch.deleted_ptr.diff()
        >>> pairs = dataset.combinations(dataset.genes[:9], 2)
        >>> tcbuild.torch.score(Deletions(), pairs, "pairs.parquet", masks=None)
        PosixPath('pairs.parquet')
    """
    dataset, out = as_dataset(samples), Path(out)
    if min(shards, batch_size, block, top or 1) < 1 or not 0 <= (shard or 0) < shards:
        raise SettingsError(
            f"score samples: found {shard=}, {shards=}, {top=}, {batch_size=}, {block=}",
            "shards count from 0; the others are 1 or more",
        )
    fixed = {"batch_size": f"{batch_size}", "block": f"{block}", "top": f"{top}"}
    schema = pa.schema(_COLUMNS, _origin(dataset, model) | fixed)
    every, size = range(len(dataset)), batch_size * block
    folder, starts = out.with_name(f"{out.name}.blocks"), every[::size]
    blocks = {folder / f"{i // size:07}.parquet": every[i : i + size] for i in starts}
    if not _is_scored(out, schema):
        folder.mkdir(parents=True, exist_ok=True)
        shares = list(blocks)[shard or 0 :: 1 if shard is None else shards]
        paths = [path for path in shares if not _is_scored(path, schema)]
        tables = _tables(model, dataset, [blocks[path] for path in paths], batch_size, options)
        for path, table in zip(paths, tables):
            _write(path, [_best(table, top)], schema, folder)
        with suppress(FileNotFoundError):  # another job joined them meanwhile
            if all(_is_scored(path, schema) for path in blocks):
                _write(out, _joined(blocks, top), schema, folder)
        if not _is_scored(out, schema):
            return None
    shutil.rmtree(folder, ignore_errors=True)
    return out


def _tables(
    model: nn.Module, dataset: tcbuild.Dataset, blocks: Sequence[range], size: int, options: Any
) -> Iterator[pa.Table]:
    """The predictions for the samples of each block."""
    batches = (some[i : i + size] for some in blocks for i in range(0, len(some), size))
    device = next((weights.device for weights in model.parameters()), torch.device("cpu"))
    options.setdefault("device", device)
    loader, model = iter(DataLoader(dataset, batch_sampler=batches, **options)), model.eval()
    names = pa.array(dataset.genes, pa.string())
    for places in blocks:
        with torch.inference_mode():
            some = islice(loader, -(-len(places) // size))
            predictions = torch.cat([model(batch).reshape(-1) for batch in some])
        if len(predictions) != len(places):
            raise SettingsError(
                f"score samples: found {len(predictions)} predictions of {len(places)} samples",
                "let the model return one number per sample: [B] or [B, 1]",
            )
        view = dataset._view(dataset._rows[places.start : places.stop])
        deleted, ptr, _ = view.perturbations(slice(None))
        genes = pa.ListArray.from_arrays(pa.array(ptr, pa.int32()), names.take(pa.array(deleted)))
        columns = [pa.array(view.indices), genes, pa.array(predictions.float().cpu().numpy())]
        yield pa.table(columns, pa.schema(_COLUMNS))


def _best(table: pa.Table, top: int | None) -> pa.Table:
    """The rows with the highest predictions, or all."""
    by = [("prediction", "descending"), ("sample_index", "ascending")]
    return table if top is None else table.sort_by(by).slice(0, top)


def _joined(paths: Iterable[Path], top: int | None) -> Iterable[pa.Table]:
    tables = (pq.ParquetFile(path).read().replace_schema_metadata() for path in paths)
    if top is None:
        return tables
    none = pa.schema(_COLUMNS).empty_table()
    return [reduce(lambda best, more: _best(pa.concat_tables([best, more]), top), tables, none)]


def _origin(dataset: tcbuild.Dataset, model: nn.Module) -> dict[str, str]:
    """What predictions depend on."""
    weights = xxhash.xxh3_128()
    for name, value in model.state_dict().items():
        weights.update(f"{name} {value.dtype} {list(value.shape)}".encode())
        weights.update(value.detach().cpu().reshape(-1).view(torch.uint8).numpy())
    return {
        "structure_digest": dataset.manifest["structure_digest"],
        "reaction_rule": dataset.manifest["options"]["reaction_rule"],
        "samples": samples_of(dataset),
        "weights": weights.hexdigest(),
    }


def _is_scored(path: Path, schema: pa.Schema) -> bool:
    """Whether there is a file of the same origin; one of another origin is an InputError."""
    try:
        found = pq.read_schema(path).metadata or {}
    except FileNotFoundError:
        return False
    except pa.ArrowInvalid as error:
        raise InputError(f"score samples: read {path}: {error}", "remove it") from error
    for key, expected in schema.metadata.items():
        if (value := found.get(key)) != expected:
            raise InputError(
                f"score samples: {path} has predictions with {key.decode()} "
                f"{value and value.decode()}, expected {expected.decode()}",
                "give the new predictions another file, or remove it",
            )
    return True


def _write(path: Path, tables: Iterable[pa.Table], schema: pa.Schema, folder: Path) -> None:
    """Writes a file in a folder, then renames it to path."""
    made = folder / uuid4().hex
    with pq.ParquetWriter(made, schema, compression="zstd") as file:
        for table in tables:
            file.write_table(table)
    made.replace(path)
