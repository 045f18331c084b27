"""Hugging Face datasets: Arrow files, memory-mapped."""

from __future__ import annotations

import tempfile

import datasets

from systems import Positions, Record, Source, System

FEATURES = {
    "genes": datasets.List(datasets.Value("int32")),
    "phenotypes": datasets.List(datasets.Value("float64")),
    "removed": datasets.List(datasets.Value("int32")),
}


class HuggingFace(System):
    def write(self, source: Source) -> None:
        datasets.disable_progress_bars()
        with tempfile.TemporaryDirectory(dir=self.folder) as cache:
            made = datasets.Dataset.from_generator(
                lambda: (vars(record) for record in source),
                features=datasets.Features(FEATURES),
                cache_dir=cache,
            )
            made.save_to_disk(self.folder / "samples")

    def open(self) -> datasets.Dataset:
        return datasets.load_from_disk(self.folder / "samples").with_format("arrow")

    def __getitem__(self, index: int) -> Record:
        found = self.file[index]  # Arrow, as in NumPy's format numbers are rounded to 32 bits
        return Positions(**{name: found[name][0].values.to_numpy() for name in FEATURES})
