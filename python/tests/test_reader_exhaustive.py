"""The promise of docs/FORMAT.md: whatever happens to a dataset's files, a reader gives the right
content or a DatasetError.

Tried for every variant and codec, on datasets as small as they can be: each bit that carries
meaning is flipped, each page of the shards stands in the place of each other one and is exchanged
with it, each file and each two are exchanged with those of like datasets.

What is sampled, by the tests' seed, unless TCBUILD_EXHAUSTIVE=all takes all of it (20 minutes of
CPU, in place of 1):
- Runs of 32 zeros and more are padding but for the 16 at either end: one random bit of every
  eighth byte.
- Of the other bits every seventh is flipped for incidence and indices-zstd, so each bit of a byte
  in turn. The manifest, the graph and the pages of a shard are read alike for all codecs, and a
  payload is compared with its checksum before it is decoded: for the others it is every 29th.
- The sample table is the same in all variants: for all but incidence, every ninth of those bits.
  One of the ways to read it is tried with each flip, in turn.
- Every third pair of pages.
Always: with pages in the place of others, every eleventh sample is read, some of each page; of all
files the pairs are exchanged, not more.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
import re
import shutil
import signal
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tcbuild as reader
from builds import BUILDS, INCIDENCE
from cases import Case, write_case, write_table
from conftest import SEED
from tcbuild._graph.cell import Cell
from tcbuild._masks.computed import ComputedMasks
from tcbuild._masks.incidence_file import IncidenceFile
from tcbuild._masks.shards import ShardMasks
from tcbuild._table.sample_table import SampleTable

ALL = os.environ.get("TCBUILD_EXHAUSTIVE") == "all"
PAGE = 4096
NOBODY = 65534
WHOLE = ("incidence", "indices-zstd")

SMALL = Case(
    "small",
    relations=("physical",),
    reactions=4,
    metabolites=2,
    stoichiometries=5,
    phenotypes=("fitness",),
    attributes=("medium", "temperature"),
    shards=2,
)
TINY = replace(SMALL, genes=5, edges=4, samples=4, most_deleted=2)
PAGES = replace(SMALL, genes=20, edges=300, samples=134, most_deleted=5)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("seed")]


@pytest.fixture(autouse=True)
def no_hang():
    """Ends a test that waits for a pipe or a device."""

    def end(*_):
        raise TimeoutError("it hangs")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(7200 if ALL else 1200)
    yield
    signal.alarm(0)


def build(
    tcbuild, inputs: tuple[Path, Path], out: Path, name: str, rule: str = "all", shards: int = 2
) -> Path:
    options = [] if BUILDS[name] == INCIDENCE else ["--shards", shards]
    graph, perturbations = inputs
    tcbuild.run(
        *BUILDS[name],
        "--graph",
        graph,
        "--perturbations",
        perturbations,
        "--reaction-rule",
        rule,
        "--attributes",
        "medium,temperature",
        "--out",
        out,
        *options,
    )
    return out


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return write_case(TINY, tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def tiny(tcbuild, inputs, tmp_path_factory):
    """A tiny dataset of every variant and codec."""
    folder = tmp_path_factory.mktemp("tiny")
    return {name: build(tcbuild, inputs, folder / name, name) for name in BUILDS}


def damaged_copy(intact: Path, folder: Path) -> Path:
    return Path(shutil.copytree(intact, folder / intact.name))


Content = list[tuple]


def parts(dataset: reader.Dataset, index: int) -> Iterator[Callable[[], object]]:
    """All that a dataset says of a sample, each by a way of its own."""

    def labels():
        sample = dataset[index]
        return sample.id, sample.deleted.tobytes(), sample.phenotypes.tobytes()

    yield labels
    yield lambda: sorted(dataset[index].attributes.items())
    yield lambda: dataset._read_removed(index).tobytes()
    yield lambda: dataset[index].all_masks.tobytes()


def columns(dataset: reader.Dataset) -> Iterator[Callable[[], object]]:
    """All that a dataset says of its samples together."""
    for name in dataset.phenotype_names:
        yield lambda name=name: dataset.phenotype(name).tobytes()
    for name in dataset.attribute_names:
        yield lambda name=name: repr(dataset.attribute(name).tolist())  # NaN is not NaN
    yield lambda: dataset.to_arrow().to_pylist()
    yield lambda: dataset.deletes(dataset.genes[0]).tolist()


def everything(path: Path, indices=None) -> Content:
    """What is read of a dataset; None stands for a DatasetError, and nothing for one at opening."""
    try:
        dataset = reader.open(path)
        found = [
            (
                len(dataset),
                dataset.genes,
                dataset.phenotype_names,
                dataset.mask_names,
                dataset.mask_sizes,
            )
        ]
    except reader.DatasetError as error:
        assert error.hint and len(str(error)) < 2000
        return []
    if indices is None:
        found += read_all(columns(dataset))
        indices = range(len(dataset))
    return found + samples_of(dataset, indices)


def samples_of(dataset: reader.Dataset, indices) -> Content:
    return read_all(part for index in indices for part in parts(dataset, index))


def read_all(reads: Iterable[Callable[[], object]]) -> Content:
    found = []
    for read in reads:
        try:
            found.append(read())
        except reader.DatasetError as error:
            assert error.hint and len(str(error)) < 2000
            found.append(None)
    return found


def right_or_error(path: Path, want: Content, fault: object, indices=None) -> bool:
    """Whether there was an error; what is not an error has to be right."""
    try:
        found = everything(path, indices)
    except Exception as error:
        raise AssertionError(
            f"{fault} of {path.name}: {error!r}, expected a DatasetError"
        ) from error
    assert all(got is None or got == expected for got, expected in zip(found, want)), (
        f"{fault} of {path.name}: wrong content"
    )
    return not found or None in found


def files_of(path: Path) -> list[str]:
    """The names of what a reader reads."""
    return sorted(
        str(file.relative_to(path))
        for file in path.rglob("*")
        if file.is_file() and file.name not in ("run.json", "_checksums")
    )


def flips(data: bytes) -> list[tuple[int, int]]:
    """Bytes and bits to flip: every bit, but of padding one of every eighth byte."""
    if ALL:
        return list(itertools.product(range(len(data)), range(8)))
    chance = random.Random(SEED)
    padding = {
        at
        for run in re.finditer(rb"\0{32,}", data)
        for at in range(run.start() + 16, run.end() - 16)
    }
    found = itertools.product(sorted(set(range(len(data))) - padding), range(8))
    return [*found, *((at, chance.randrange(8)) for at in sorted(padding)[::8])]


def flip_all(path: Path, name: str, chosen: list[tuple[int, int]]) -> int:
    """Flips bits of a file in its place, one after the other, and counts those that were found. The
    others read as before.
    """
    dataset, named = reader.open(path), 0
    shard = next(
        (shard for shard in dataset.manifest.get("shards", []) if name.startswith(shard["name"])),
        {"first": 0, "samples": len(dataset)},
    )
    indices = range(shard["first"], shard["first"] + shard["samples"])
    if name.startswith("samples/"):
        want = read_all([*columns(dataset), *parts(dataset, indices[0])])
    else:
        want = samples_of(dataset, indices)
    assert None not in want

    def rows() -> Content:
        """All that the incidence files have, and what follows from it."""
        file, fresh = IncidenceFile(dataset.manifest, nodes), object.__new__(reader.Dataset)
        vars(fresh).update(vars(dataset))
        cell = Cell(dataset.manifest)
        fresh._masks = ComputedMasks(dataset._table, cell)
        found = [lambda row=row: file.rows([row]).tobytes() for row in range(nodes)]
        return read_all(found) + samples_of(fresh, indices)

    nodes = sum(dataset.mask_sizes[: dataset.mask_names.index("metabolite")])
    want_rows = rows() if name == "incidence.positions" else []

    def notices_in_rows() -> bool:
        found = rows()
        assert all(got in (None, expected) for got, expected in zip(found, want_rows, strict=True))
        return None in found[:nodes]

    def notices(flip: int) -> bool:
        if name == "manifest.json":
            return not everything(path, [])
        if name == "incidence.positions":
            return notices_in_rows()
        if not name.endswith(".mdb") and not name.startswith("samples/"):
            # Its digest is compared before anything is made of it.
            try:
                return not dataset.manifest.read_file(name)
            except reader.DatasetError:
                return True
        fresh = object.__new__(reader.Dataset)  # opens the file anew, and only this one
        vars(fresh).update(vars(dataset))
        if name.startswith("samples/"):
            fresh._table = SampleTable(dataset.manifest)
            if dataset.codec is None:
                fresh._masks = ComputedMasks(fresh._table, dataset._cell)
            # One of the reads at each flip, in turn.
            rank = flip % len(want)
            (found,) = read_all([[*columns(fresh), *parts(fresh, indices[0])][rank]])
            masks_alone = rank >= len(want) - 2 and dataset.codec is not None
            assert masks_alone or found is None, f"read {rank} does not notice it"
            return True
        fresh._masks = ShardMasks(dataset.manifest)
        try:
            fresh._read_removed(indices[0])
        except reader.errors.DamagedError:
            return True  # of a file that cannot be opened no sample is read
        except reader.DatasetError:
            pass
        found = samples_of(fresh, indices)
        assert all(got in (None, expected) for got, expected in zip(found, want, strict=True)), (
            "wrong content"
        )
        return None in found

    with (path / name).open("r+b", buffering=0) as file:
        for at, bit in chosen:
            (byte,) = os.pread(file.fileno(), 1, at)
            os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), at)
            try:
                named += notices(at * 8 + bit)
            except Exception as error:
                raise AssertionError(
                    f"bit {bit} of byte {at} of {path.name}/{name}: {error!r}"
                ) from error
            os.pwrite(file.fileno(), bytes([byte]), at)
    return named


@pytest.mark.parametrize("name", BUILDS)
def test_every_flipped_bit(tiny, tmp_path, name):
    path = damaged_copy(tiny[name], tmp_path)
    for file in files_of(path):
        chosen = flips((path / file).read_bytes())
        step = 1 if ALL else 7 if name in WHOLE else 29
        if not ALL and name != "incidence" and file.startswith("samples/"):
            step = 9 * step
        chosen = chosen[SEED % step :: step]
        count = flip_all(path, file, chosen)
        assert count if file.endswith(".mdb") else count == len(chosen), (
            f"{file}: {len(chosen) - count} flips were not noticed"
        )


@pytest.mark.parametrize("name", [name for name in BUILDS if name != "incidence"])
def test_every_page_in_the_place_of_every_other(tcbuild, tmp_path, name):
    path = build(tcbuild, write_case(PAGES, tmp_path), tmp_path / "dataset", name, shards=3)
    manifest = reader.open(path).manifest
    samples = [
        index
        for shard in manifest["shards"]
        for index in range(shard["first"], shard["first"] + shard["samples"], 11)
    ]
    want = everything(path, samples)
    shards = [path / shard["name"] / "data.mdb" for shard in manifest["shards"]]
    pages = [(file, at) for file in shards for at in range(0, file.stat().st_size, PAGE)]
    named = 0
    assert len(pages) >= 10 and None not in want
    content = {file: file.read_bytes() for file in shards}
    pairs = list(itertools.permutations(pages, 2))
    for (file, at), (other, other_at) in pairs if ALL else pairs[SEED % 3 :: 3]:
        for swapped in (False, True):
            put(file, at, content[other][other_at : other_at + PAGE])
            if swapped:
                put(other, other_at, content[file][at : at + PAGE])
            named += right_or_error(
                path,
                want,
                f"page {other_at // PAGE} of {other} at page {at // PAGE} of {file}",
                indices=samples,
            )
            put(file, at, content[file][at : at + PAGE])
            put(other, other_at, content[other][other_at : other_at + PAGE])
    assert named


def put(file: Path, at: int, data: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(data)


@pytest.fixture(scope="module")
def namesakes(tcbuild, inputs, tmp_path_factory):
    """Datasets of as many samples: others, the same in another order, another rule, an edge
    elsewhere.
    """
    folder = tmp_path_factory.mktemp("namesakes")
    graph, perturbations = inputs
    header, *rows = [
        line.split("\t") for line in perturbations.read_text(encoding="utf-8").splitlines()
    ]
    write_table(folder / "order.tsv", header, rows[::-1])
    write_table(
        folder / "others.tsv",
        header,
        [[genes, f"{sample}*", "0.5", "SC", "30"] for genes, sample, *_ in rows[1:] + rows[:1]],
    )
    shutil.copytree(graph, folder / "graph")
    edges = folder / "graph/edges/gene__physical__gene.tsv"
    first, *lines = edges.read_text().splitlines(keepends=True)
    edges.write_text(first + "".join(lines[::-1]))
    variants = {
        "order": ((graph, folder / "order.tsv"), "all"),
        "others": ((graph, folder / "others.tsv"), "all"),
        "rule": (inputs, "gpr"),
        "edges": ((folder / "graph", perturbations), "all"),
    }
    return {
        (kind, name): build(tcbuild, source, folder / kind / name, name, rule)
        for kind, (source, rule) in variants.items()
        for name in BUILDS
    }


@pytest.mark.parametrize("kind", ["order", "others", "rule", "edges"])
@pytest.mark.parametrize("name", BUILDS)
def test_every_file_of_a_like_dataset(tiny, namesakes, tmp_path, name, kind):
    path, other = damaged_copy(tiny[name], tmp_path), namesakes[kind, name]
    want, files = everything(path), files_of(path)
    other_want = everything(other)
    assert files == files_of(other) and None not in want and want != other_want
    for count in (1, 2):
        for chosen in itertools.combinations(files, count):
            for file in chosen:
                shutil.copyfile(other / file, path / file)
            # The manifest says which dataset it is.
            right_or_error(
                path,
                other_want if "manifest.json" in chosen else want,
                f"{chosen} of a dataset of other {kind}",
            )
            for file in chosen:
                shutil.copyfile(tiny[name] / file, path / file)


@pytest.mark.parametrize("name", BUILDS)
def test_files_of_a_dataset_in_each_others_place(tiny, tmp_path, name):
    path = damaged_copy(tiny[name], tmp_path)
    want = everything(path)
    for file, other in itertools.combinations(files_of(path), 2):
        shutil.copyfile(tiny[name] / file, path / other)
        shutil.copyfile(tiny[name] / other, path / file)
        right_or_error(path, want, f"{file} and {other} exchanged")
        for restored in (file, other):
            shutil.copyfile(tiny[name] / restored, path / restored)
    for build_name, like in tiny.items():
        for file in set(files_of(like)) & set(files_of(path)) - {"manifest.json"}:
            shutil.copyfile(like / file, path / file)
            right_or_error(path, want, f"{file} of {build_name}")
            shutil.copyfile(tiny[name] / file, path / file)


def remove(file: Path) -> None:
    file.unlink()


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def link_to(target: str | None) -> Callable[[Path], None]:
    def link(file: Path) -> None:
        file.unlink()
        file.symlink_to(target or file.name)

    return link


def file_in_place_of_its_folder(file: Path) -> None:
    shutil.rmtree(file.parent)
    file.parent.touch()


def cut(share: float) -> Callable[[Path], None]:
    return lambda file: os.truncate(file, int(file.stat().st_size * share))


def unreadable(file: Path) -> None:
    file.chmod(0)


def random_bytes(file: Path) -> None:
    file.write_bytes(random.Random(SEED).randbytes(file.stat().st_size))


FAULTS = {
    "missing": remove,
    "folder": folder,
    "pipe": pipe,
    "device": link_to("/dev/zero"),
    "loop of links": link_to(None),
    "link to nothing": link_to("nowhere"),
    "empty": cut(0),
    "half": cut(0.5),
    "twice as long": cut(2),
    "random bytes": random_bytes,
    "unreadable": unreadable,
}


def as_nobody(request: pytest.FixtureRequest, folder: Path, readable: Path) -> None:
    """Goes on without the rights of root, who may read everything, until the test ends. A folder
    is writable then, and another readable.
    """
    os.chown(folder, NOBODY, NOBODY)
    for outer in {*folder.parents, *readable.parents}:
        mode = stat.S_IMODE(outer.stat().st_mode)
        if mode & 0o011 != 0o011:
            outer.chmod(mode | 0o011)
            request.addfinalizer(functools.partial(outer.chmod, mode))
    os.seteuid(NOBODY)
    request.addfinalizer(lambda: os.seteuid(0))  # before the modes are put back


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["incidence", "indices-zstd", "full-masks-raw"])
def test_every_kind_of_file(request, tiny, tmp_path, name, fault):
    want = everything(tiny[name])
    if fault == "unreadable" and os.geteuid() == 0:
        as_nobody(request, tmp_path, tiny[name])
    for number, file in enumerate(files_of(tiny[name])):
        path = damaged_copy(tiny[name], tmp_path / str(number))
        FAULTS[fault](path / file)
        named = right_or_error(path, want, f"{fault} in place of {file}")
        with pytest.raises(
            reader.DatasetError, match="(?s)" + re.escape(Path(file).name) + ".*\nhint: "
        ):
            reader.open(path, check="digest")
        of_masks = name == "incidence" and file == "graph/edges/gene__gpr__reaction.arrow"
        assert named or file.startswith("graph/") and not of_masks
        if file.startswith("graph/"):
            with pytest.raises(reader.DatasetError, match="(?s)" + re.escape(file) + ".*\nhint: "):
                reader.open(path).graph
    path = damaged_copy(tiny[name], tmp_path / "folder")
    file_in_place_of_its_folder(path / "graph/nodes/gene.arrow")
    assert right_or_error(path, want, "a file in place of a folder")


def test_links_to_files_are_followed(tiny, tmp_path):
    path = damaged_copy(tiny["indices-zstd"], tmp_path)
    for file in files_of(path):
        link_to(str(tiny["indices-zstd"] / file))(path / file)
    assert everything(path) == everything(tiny["indices-zstd"])


@pytest.mark.parametrize("name", BUILDS)
def test_a_file_that_becomes_shorter_under_a_reader(tiny, tmp_path, name):
    """No signal ends the process: what is read after that is right or an error."""
    for number, share in enumerate((0.9, 0.5, 0)):
        path = damaged_copy(tiny[name], tmp_path / str(number))
        want = everything(path)
        dataset = reader.open(path)
        assert dataset[0].all_masks.size
        for file in files_of(path):
            cut(share)(path / file)
        for index in range(len(dataset)):
            for part, expected in zip(parts(dataset, index), want[-4 * (len(dataset) - index) :]):
                try:
                    assert part() == expected
                except reader.DatasetError:
                    pass


@pytest.mark.parametrize("name", ["incidence", "indices-zstd"])
def test_digests_are_compared_first(tiny, tmp_path, name):
    assert everything(tiny[name]) and reader.open(tiny[name], check="digest")[0].all_masks.size
    path = damaged_copy(tiny[name], tmp_path)
    for file in files_of(path):
        data = (path / file).read_bytes()
        put(path / file, len(data) - 1, bytes([data[-1] ^ 1]))
        with pytest.raises(reader.DatasetError, match="hint: "):
            reader.open(path, check="digest")
        put(path / file, len(data) - 1, data[-1:])
    with pytest.raises(ValueError, match="hint: "):
        reader.open(path, check="digests")
