"""A sample's record: its labels and their checksum, without masks."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

COUNTS = struct.Struct("<II")  # genes, bytes of the id


class Labels(NamedTuple):
    """The labels of a sample: everything except its masks.

    perturbation_indices: int32 [g], ascending. phenotypes: float64 [P], NaN if missing. The caller
    owns both.
    """

    sample_id: str
    perturbation_indices: npt.NDArray[np.int32]
    phenotypes: npt.NDArray[np.float64]


def checksum(part: bytes | memoryview, seed: int) -> int:
    """The checksum of a record's head or payload. The seed is the dataset's plus the sample's
    index.
    """
    return xxhash.xxh64_intdigest(part, seed & 0xFFFFFFFFFFFFFFFF) & 0xFFFFFFFF


def payload_start(record: bytes, phenotypes: int) -> int:
    """Where the payload begins in a record, which the counts determine."""
    genes, id_length = COUNTS.unpack_from(record)
    start: int = COUNTS.size + 8 * phenotypes + 4 * genes + id_length
    return start


def parse_labels(record: bytes, phenotypes: int) -> Labels:
    """Reads the part of a record before its payload; ValueError if the record is shorter."""
    genes, id_length = COUNTS.unpack_from(record)
    end = payload_start(record, phenotypes)
    head = bytearray(record[:end])  # writable
    if len(head) != end:
        raise ValueError(f"labels of {end} bytes in a record of {len(head)}")
    return Labels(
        head[end - id_length :].decode(),
        np.frombuffer(head, "<i4", genes, COUNTS.size + 8 * phenotypes),
        np.frombuffer(head, "<f8", phenotypes, COUNTS.size),
    )


def labels_checksum(
    sample_id: bytes,
    perturbation_indices: npt.NDArray[np.int32],
    phenotypes: npt.NDArray[np.float64],
    seed: int,
) -> int:
    """The checksum of the head of a record with these labels, as in samples.arrow."""
    counts = COUNTS.pack(len(perturbation_indices), len(sample_id))
    return checksum(
        counts + phenotypes.tobytes() + perturbation_indices.tobytes() + sample_id, seed
    )
