"""Parquet: a row per sample, positions as differences under Zstandard, 64 rows in a group."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from systems import Positions, Record, Source, System

ROWS = 64  # of a group, which is read for each of its samples; tcbuild's values have as many
DELTA = "DELTA_BINARY_PACKED"


class Parquet(System):
    def write(self, source: Source) -> None:
        pq.write_table(
            table(source),
            self.folder / "samples.parquet",
            row_group_size=ROWS,
            compression="zstd",
            use_dictionary=False,
            column_encoding={"genes.list.element": DELTA, "removed.list.element": DELTA},
        )

    def open(self) -> pq.ParquetFile:
        return pq.ParquetFile(self.folder / "samples.parquet")

    def __getitem__(self, index: int) -> Record:
        group, row = divmod(index, ROWS)
        found = self.file.read_row_group(group, use_threads=False)
        return Positions(*(column.chunk(0)[row].values.to_numpy() for column in found.columns))


def table(source: Source) -> pa.Table:
    """A row per sample."""
    count, width = source.phenotypes.shape
    ends = width * pa.array(range(count + 1)).to_numpy()
    values = {
        "genes": (source.gene_ends, source.genes),
        "phenotypes": (ends, source.phenotypes.ravel()),
        "removed": (source.removed_ends, source.removed),
    }
    return pa.table(
        {name: pa.LargeListArray.from_arrays(*arrays) for name, arrays in values.items()}
    )
