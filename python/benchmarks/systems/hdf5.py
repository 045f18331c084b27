"""HDF5: the arrays of NumPy memmap; the positions are compressed by Blosc, in chunks."""

from __future__ import annotations

import h5py
import hdf5plugin

from systems import Positions, Record, Source, System
from systems.arrays import ARRAYS

CHUNK = 8192  # positions: 4 samples of yeast


class HDF5(System):
    def write(self, source: Source) -> None:
        with h5py.File(self.folder / "samples.h5", "w") as file:
            for name in ARRAYS:
                values, how = getattr(source, name), {}
                if name == "removed":
                    how["compression"] = hdf5plugin.Blosc(cname="zstd")
                    how["chunks"] = (min(len(values), CHUNK),)
                file.create_dataset(name, data=values, **how)

    def open(self) -> dict[str, h5py.Dataset]:
        file = h5py.File(self.folder / "samples.h5", "r")
        return {name: file[name] for name in ARRAYS}

    def __getitem__(self, index: int) -> Record:
        file = self.file
        first, end = file["gene_ends"][index : index + 2]
        start, stop = file["removed_ends"][index : index + 2]
        return Positions(
            file["genes"][first:end], file["phenotypes"][index], file["removed"][start:stop]
        )
