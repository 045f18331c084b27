"""Reads a dataset by docs/FORMAT.md alone, with packages that any Python reader has."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path

import lmdb
import numpy as np
import pyarrow as pa
import xxhash
import zstandard


class Stored:
    """A dataset on disk."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        self.genes = self.table("graph/nodes/gene.arrow").column("id").to_pylist()
        self.phenotypes = [phenotype["name"] for phenotype in self.manifest["phenotypes"]]
        self.attributes = self.manifest["attributes"]
        self.size = sum(mask["size"] for mask in self.manifest["masks"])

    def table(self, name: str) -> pa.Table:
        return pa.ipc.open_file(self.folder / name).read_all()

    def samples(self) -> Iterator[dict]:
        """All samples in order, in the shape of oracle.expected."""
        rows = self.sample_table().to_pylist()
        removed = (
            self.removed_by_incidence(rows)
            if self.manifest["variant"] == "incidence"
            else self.removed_of_shards()
        )
        for number, (row, positions) in enumerate(zip(rows, removed, strict=True)):
            masks, start = {}, 0
            for mask in self.manifest["masks"]:
                end = start + mask["size"]
                masks[mask["name"]] = {
                    "size": mask["size"],
                    "removed": [
                        position - start for position in positions if start <= position < end
                    ],
                }
                start = end
            yield {
                "sample": number,
                "sample_id": row["sample_id"],
                "genes": [self.genes[gene] for gene in row["perturbation_indices"]],
                "perturbation_indices": row["perturbation_indices"],
                "phenotypes": {name: row[name] for name in self.phenotypes},
                "attributes": {entry["name"]: row[entry["name"]] for entry in self.attributes},
                "masks": masks,
            }

    def sample_table(self) -> pa.Table:
        """The sample table, its checksums tested."""
        sums = (self.folder / "samples/_checksums").read_bytes()
        assert sums[-64:].decode() == self.manifest["logical_content"]
        per_part, per_batch = (
            self.manifest["samples_per_part"],
            self.manifest["samples_per_batch"],
        )
        tables, words = [], struct.iter_unpack("<Q", sums[:-64])
        for first in range(0, self.manifest["samples"], per_part):
            path = self.folder / f"samples/part-{first // per_part:05}.arrow"
            data = path.read_bytes()
            assert next(words) == (len(data),)
            for start in range(0, len(data), 65536):
                assert next(words) == (xxhash.xxh64_intdigest(data[start : start + 65536]),)
            file = pa.ipc.open_file(data)
            left = min(per_part, self.manifest["samples"] - first)
            assert [file.get_batch(k).num_rows for k in range(file.num_record_batches)] == [
                min(per_batch, left - start) for start in range(0, left, per_batch)
            ]
            tables.append(file.read_all())
        assert next(words, None) is None
        types = [pa.string(), pa.list_(pa.int32()), *[pa.float64()] * len(self.phenotypes)]
        types += [
            pa.dictionary(pa.int32(), pa.string()) if entry["type"] == "text" else pa.float64()
            for entry in self.attributes
        ]
        names = ["sample_id", "perturbation_indices", *self.phenotypes]
        names += [entry["name"] for entry in self.attributes]
        assert [(field.name, field.type) for field in tables[0].schema] == list(zip(names, types))
        return pa.concat_tables(tables)

    def removed_of_shards(self) -> Iterator[list[int]]:
        decode = DECODERS[self.manifest["variant"], self.manifest["codec"]]
        for shard in self.manifest["shards"]:
            for payload in self.payloads(shard):
                yield decode(payload, self.size)

    def payloads(self, shard: dict) -> Iterator[bytes]:
        """The payloads of a shard in order, their checksums tested."""
        per_value, first, end = (
            self.manifest["samples_per_value"],
            shard["first"],
            shard["first"] + shard["samples"],
        )
        with (
            lmdb.open(str(self.folder / shard["name"]), readonly=True, lock=False) as env,
            env.begin() as txn,
        ):
            keys = [struct.unpack(">Q", key)[0] for key, _ in txn.cursor()]
            assert keys == list(range(first, end, per_value))
            for (number,), value in (
                (struct.unpack(">Q", key), value) for key, value in txn.cursor()
            ):
                count = struct.unpack_from("<I", value)[0]
                assert count == min(per_value, end - number)
                start, payloads = 0, value[4 + 8 * count :]
                for sample, (payload_end, checksum) in enumerate(
                    struct.iter_unpack("<II", value[4 : 4 + 8 * count]), number
                ):
                    payload = payloads[start:payload_end]
                    assert self.checksum(payload, sample) == checksum
                    yield payload
                    start = payload_end
                assert start == len(payloads)

    def checksum(self, part: bytes, sample: int) -> int:
        seed = int(self.manifest["identity"][:16], 16) + sample
        return xxhash.xxh64_intdigest(part, seed % 2**64) % 2**32

    def incidence(self) -> list[list[int]]:
        """The rows of the incidence files: of each gene, then of each reaction."""
        content = (self.folder / "incidence.positions").read_bytes()
        rows, start = [], 0
        for row in self.table("incidence.arrow").to_pylist():
            part = content[4 * start : 4 * row["end"]]
            assert xxhash.xxh64_intdigest(part) == row["checksum"]
            rows.append(np.frombuffer(part, "<i4").tolist())
            start = row["end"]
        assert len(content) == 4 * start
        return rows

    def removed_by_incidence(self, rows: list[dict]) -> Iterator[list[int]]:
        """The masks' removed positions follow from the incidence cache, under the reaction rule
        `all`.
        """
        assert self.manifest["options"]["reaction_rule"] == "all"
        starts, start = {}, 0
        for mask in self.manifest["masks"]:
            starts[mask["name"]] = start
            start += mask["size"]
        incidence = self.incidence()
        genes = self.manifest["masks"][0]["size"]
        gpr = starts.get("gene__gpr__reaction")
        if gpr is not None:
            reaction_of = self.table("graph/edges/gene__gpr__reaction.arrow")["dst_index"]
            reaction_of = reaction_of.to_pylist()
        for row in rows:
            removed = {
                position for gene in row["perturbation_indices"] for position in incidence[gene]
            }
            if gpr is not None:
                reactions = {
                    reaction_of[position - gpr]
                    for position in removed
                    if gpr <= position < gpr + len(reaction_of)
                }
                for reaction in reactions:
                    removed |= set(incidence[genes + reaction])
            yield sorted(removed)

    def logical_content(self, samples: list[dict]) -> str:
        """The manifest's digest of samples in the shape of oracle.expected."""
        content = bytearray()

        def text(value: str) -> None:
            data = value.encode()
            content.extend(struct.pack("<I", len(data)) + data)

        def number(value: float | None) -> None:
            content.extend(
                struct.pack("<Q", MISSING) if value is None else struct.pack("<d", value)
            )

        text("tcbuild logical content 3")
        text(self.manifest["structure_digest"])
        text(self.manifest["options"]["reaction_rule"])
        content.extend(struct.pack("<I", len(self.phenotypes)))
        for name in self.phenotypes:
            text(name)
        content.extend(struct.pack("<I", len(self.attributes)))
        for entry in self.attributes:
            text(entry["name"])
            text(entry["type"])
        digest = hashlib.sha256(content)
        size = self.manifest.get("samples_per_part", 1)
        for first in range(0, len(samples), size):
            content.clear()
            for sample in samples[first : first + size]:
                text(sample["sample_id"])
                deleted = sample["perturbation_indices"]
                content.extend(struct.pack(f"<I{len(deleted)}I", len(deleted), *deleted))
                for name in self.phenotypes:
                    number(sample["phenotypes"][name])
                for entry in self.attributes:
                    value = sample["attributes"][entry["name"]]
                    if entry["type"] == "number":
                        number(value)
                    elif value is None:
                        content.extend(struct.pack("<I", 2**32 - 1))
                    else:
                        text(value)
            digest.update(hashlib.sha256(content).digest())
        return digest.hexdigest()


MISSING = 0x7FF8000000000001  # the one NaN that stands for every missing value


def decode_positions(payload: bytes, size: int) -> list[int]:
    return np.frombuffer(payload, "<u4").tolist()


def decode_bytes(payload: bytes, size: int) -> list[int]:
    masks = np.frombuffer(payload, np.uint8)
    assert len(masks) == size and set(masks.tolist()) <= {0, 1}
    return np.flatnonzero(masks == 0).tolist()


def decode_bits(payload: bytes, size: int) -> list[int]:
    masks = np.unpackbits(np.frombuffer(payload, np.uint8), bitorder="little")
    assert len(masks) - size in range(8) and not masks[size:].any()
    return np.flatnonzero(masks[:size] == 0).tolist()


def decode_bits_zstd(payload: bytes, size: int) -> list[int]:
    return decode_bits(zstandard.ZstdDecompressor().decompress(payload), size)


def decode_runs(payload: bytes, size: int) -> list[int]:
    count = struct.unpack_from("<I", payload)[0]
    marks_at = 4 + 2 * count
    lengths_at = marks_at + (count + 7) // 8
    gaps = np.frombuffer(payload[4:marks_at], "<u2")
    lengths = np.frombuffer(payload[lengths_at:], "<u2")
    return runs_to_positions(gaps, payload[marks_at:lengths_at], lengths)


def decode_runs_zstd(payload: bytes, size: int) -> list[int]:
    count = struct.unpack_from("<I", payload)[0]
    gaps_low = np.frombuffer(payload[4 : 4 + count], np.uint8).astype(int)
    plain = zstandard.ZstdDecompressor().decompress(payload[4 + count :])
    lengths_at = count + (count + 7) // 8
    listed = (len(plain) - lengths_at) // 2
    gaps_high = np.frombuffer(plain[:count], np.uint8).astype(int)
    low, high = np.frombuffer(plain[lengths_at:], np.uint8).astype(int).reshape(2, listed)
    return runs_to_positions(gaps_low + 256 * gaps_high, plain[count:lengths_at], low + 256 * high)


def runs_to_positions(gaps: np.ndarray, marks: bytes, lengths: np.ndarray) -> list[int]:
    removed, position, listed = [], 0, iter(lengths.tolist())
    for run, gap in enumerate(gaps.tolist()):
        position += gap
        length = next(listed) if marks[run // 8] >> (run % 8) & 1 else 1
        removed += range(position, position + length)
        position += length
    assert next(listed, None) is None
    return removed


DECODERS = {
    ("indices", "raw"): decode_positions,
    ("indices", "delta"): decode_runs,
    ("indices", "zstd"): decode_runs_zstd,
    ("full-masks", "raw"): decode_bytes,
    ("full-masks", "bits"): decode_bits,
    ("full-masks", "zstd"): decode_bits_zstd,
}
