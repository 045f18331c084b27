"""Datasets at a URL are read as those on a disk: memory://, and HTTP from a local server."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
pytest.importorskip("aiohttp", reason="aiohttp, fsspec's HTTP, is not installed")

import tcbuild as reader
from builds import BUILDS
from cases import SHARDS
from served import served
from stored import Stored
from test_reader import as_inspected
from torch_cases import opened

SHARD = "shard-00001-of-00002/data.mdb"
IN_SHARD = 200  # a sample of the second shard


@pytest.fixture(scope="module")
def built(built_once):
    return built_once(SHARDS, "all")


@pytest.fixture(scope="module")
def server(built):
    with served(next(iter(built.datasets.values())).parent) as state:
        yield state


@pytest.fixture
def copied(built, tmp_path):
    """A server of a copy of the indices dataset, which may be damaged, and the copy."""
    shutil.copytree(built.datasets["indices-zstd"], tmp_path / "cell")
    with served(tmp_path) as state:
        yield state, tmp_path / "cell"


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("scheme", ["memory", "http", "file"])
def test_samples_are_those_of_the_oracle(built, server, scheme, name):
    path = built.datasets[name]
    url = {"http": f"{server.url}/{name}/", "file": path.as_uri()}.get(scheme, f"memory://x/{name}")
    if scheme == "memory":
        fsspec.filesystem("memory").put(str(path), f"/x/{name}", recursive=True)
    dataset = reader.open(url, check="digest")
    assert str(dataset.path) == url.rstrip("/") and url.rstrip("/") in repr(dataset)
    got = [as_inspected(dataset, sample) for sample in dataset[::7]]
    assert got == built.want[::7]
    local = reader.open(path)
    for column in ("fitness", "gene interaction"):
        np.testing.assert_array_equal(dataset.phenotype(column), local.phenotype(column))
    assert dataset.attribute("medium").tolist() == local.attribute("medium").tolist()
    assert dataset.graph.nodes == local.graph.nodes
    gene = local.genes[3]
    assert dataset.deletes(gene).tolist() == local.deletes(gene).tolist()
    pairs = dataset.combinations(dataset.genes, 2)
    assert pairs[7].deleted_genes == local.combinations(local.genes, 2)[7].deleted_genes


def test_only_what_is_needed_is_read(tcbuild, tmp_path):
    tcbuild.run("synth", "--scale", "tiny", "--samples", 20000, "--out", tmp_path / "synth")
    (table,) = (tmp_path / "synth").glob("perturbations.*")
    inputs = ["--graph", tmp_path / "synth/graph", "--perturbations", table]
    tcbuild.run(
        "dataset", "--mode", "full-masks", "--codec", "raw", *inputs, "--out", tmp_path / "cell"
    )
    (shard,) = (tmp_path / "cell").glob("shard-*/data.mdb")
    assert shard.stat().st_size > 16_000_000
    local = reader.open(tmp_path / "cell")
    with served(tmp_path) as server:
        dataset = reader.open(f"{server.url}/cell")
        assert [path for path, _, _ in server.requests] == ["/cell/manifest.json"]
        assert np.array_equal(dataset[19999].removed, local[19999].removed)
        assert server.bytes_of("data.mdb") < 40_000
        server.requests.clear()
        assert np.array_equal(dataset[70].all_masks, local[70].all_masks)
        header = 4 + 8 * local.manifest["samples_per_value"] + 16  # with that of the page
        assert server.bytes_of() <= header + local._mask_offsets[-1] and len(server.requests) == 2
        server.requests.clear()
        assert dataset[70].id == local[70].id
        assert {path for path, _, _ in server.requests} == {"/cell/samples/part-00000.arrow"}
        server.requests.clear()
        assert dataset[71].id == local[71].id and not server.requests  # decoded with the other
        everything = {f"/cell/{file['name']}" for file in local.manifest["files"]}
        dataset.manifest.check_digests()
        assert {path for path, _, _ in server.requests} == everything  # and no folder


def contents(dataset):
    return [(sample.id, sample.all_masks.tobytes()) for sample in dataset[::59]]


def send_contents(dataset, pipe):
    pipe.send(contents(dataset))


@pytest.mark.parametrize("used_before", [False, True])
@pytest.mark.parametrize(("method", "times"), [("fork", 2), ("spawn", 1)])
def test_in_another_process(built, server, method, times, used_before):
    dataset = reader.open(f"{server.url}/indices-zstd")
    want = contents(reader.open(built.datasets["indices-zstd"]))
    assert len(pickle.dumps(dataset)) < 300
    if used_before:
        assert contents(dataset) == want
    context = multiprocessing.get_context(method)
    for _ in range(times):
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=send_contents, args=(dataset, send))
        process.start()
        send.close()
        assert receive.poll(60) and receive.recv() == want
        process.join()
        assert contents(dataset) == want  # its connections are as they were


def test_in_many_threads(built, server):
    dataset = reader.open(f"{server.url}/incidence")
    want, got = contents(reader.open(built.datasets["incidence"])), []
    threads = [threading.Thread(target=lambda: got.append(contents(dataset))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [want] * 6


def test_parts_at_a_url(copied):
    state, path = copied
    parts = reader.open(path).split(train=0.5, test=0.5, by="sample")
    parts.save(path.parent / "parts.tsv")
    dataset = reader.open(f"{state.url}/cell")
    assert dataset.parts(f"{state.url}/parts.tsv").codes.tolist() == parts.codes.tolist()
    for name in ("none.tsv", "cell/manifest.json"):
        with pytest.raises(reader.errors.InputError, match="hint: "):
            dataset.parts(f"{state.url}/{name}")


def complaint(error, *parts):
    text = str(error.value)
    assert all(part in text for part in parts), text
    assert "\nhint: " in text


READS = {
    SHARD: lambda dataset: dataset._read_removed(IN_SHARD),
    "samples/part-00000.arrow": lambda dataset: dataset[IN_SHARD].id,
    "graph/nodes/gene.arrow": lambda dataset: dataset.genes,
}


@pytest.mark.parametrize("name", READS)
def test_damage_has_a_name(copied, name):
    state, path = copied
    url, file = f"{state.url}/cell", path / name
    want = READS[name](reader.open(path))
    data = file.read_bytes()

    def read():
        return READS[name](reader.open(url))

    named, needed = 0, len(data)
    if name == SHARD:  # bytes of the sample are few among those of all
        payload = Stored(path).payloads(Stored(path).manifest["shards"][1])
        needed = data.index(list(payload)[IN_SHARD - 150]) + 20
    for at in range(needed - 1, 0, -max(1, needed // 30)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        try:
            np.testing.assert_array_equal(read(), want)  # bytes that nothing needs
        except reader.errors.DamagedError as error:
            assert f"{url}/{name}" in str(error)
            named += 1
    assert named
    for cut in (0, len(data) // 3, len(data) - 1):
        file.write_bytes(data[:cut])
        if name == SHARD and cut > len(data) // 3:
            continue  # what a sample needs may end before
        with pytest.raises(reader.errors.DamagedError) as error:
            read()
        complaint(error, f"{url}/{name}", "expected")
    file.unlink()
    with pytest.raises(reader.errors.UnreadableFileError) as error:
        read()
    complaint(error, f"{url}/{name}", "missing")
    file.write_bytes(data)
    state.status = 403
    with pytest.raises(reader.errors.UnreadableFileError) as error:
        read()
    complaint(error, url, "403", "copy the dataset")
    state.status = None
    np.testing.assert_array_equal(read(), want)


def test_a_server_that_fails_later(copied):
    state, path = copied
    for name, read in READS.items():
        dataset = reader.open(f"{state.url}/cell")
        if name == SHARD:
            dataset._read_removed(IN_SHARD)
        state.status = 500
        with pytest.raises(reader.errors.UnreadableFileError) as error:
            read(dataset)
        complaint(error, "500", "copy the dataset")
        state.status = None
        np.testing.assert_array_equal(read(dataset), read(reader.open(path)))


def test_a_server_without_ranges(copied):
    state, _ = copied
    state.ranges = False
    dataset = reader.open(f"{state.url}/cell")
    with pytest.raises(reader.errors.UnreadableFileError) as error:
        dataset[IN_SHARD].removed
    complaint(error, SHARD, "ignores requests for a range", "copy the dataset")


def test_nothing_at_a_url(copied):
    state, path = copied
    for url in (f"{state.url}/nowhere", "memory://nowhere/cell"):
        with pytest.raises(reader.errors.UnreadableFileError) as error:
            reader.open(url)
        complaint(error, url, "no manifest.json")
    manifest = path / "manifest.json"
    manifest.write_text(manifest.read_text().replace("fitness", "fatness"))
    with pytest.raises(reader.errors.DamagedError) as error:
        reader.open(f"{state.url}/cell")
    complaint(error, f"{state.url}/cell/manifest.json", "checksum")
    with served(path) as gone:
        url = gone.url
    with pytest.raises(reader.errors.UnreadableFileError) as error:
        reader.open(url)
    complaint(error, url, "onnect", "copy the dataset")


def test_names_that_a_url_cannot_have(tcbuild, tmp_path):
    name = "gene__50%#?ü&+__gene"
    nodes, edges = tmp_path / "graph/nodes", tmp_path / "graph/edges"
    nodes.mkdir(parents=True)
    edges.mkdir()
    (nodes / "gene.tsv").write_text("id\na\nb\n")
    (edges / f"{name}.tsv").write_text("src\tdst\na\tb\n")
    (tmp_path / "p.tsv").write_text("genes\tfitness\na\t1\n")
    inputs = ["--graph", tmp_path / "graph", "--perturbations", tmp_path / "p.tsv"]
    tcbuild.run("incidence", *inputs, "--out", tmp_path / "cell")
    fsspec.filesystem("memory").put(str(tmp_path / "cell"), "/names", recursive=True)
    with served(tmp_path) as server:
        for url in (f"{server.url}/cell", "memory://names"):
            dataset = reader.open(url)
            assert dataset.graph.edges[name].tolist() == [[0], [1]]
            assert dataset[0].masks[name].tolist() == [False]


@pytest.mark.parametrize(
    ("blocked", "url", "needed"),
    [
        ("fsspec", "https://host/cell", "fsspec"),
        ("aiohttp", "https://host/cell", "aiohttp"),
        ("s3fs", "s3://bucket/cell", "s3fs"),
        ("none", "tcbuild://bucket/cell", "tcbuild"),
    ],
)
def test_a_missing_package_is_named_beside_stage(blocked, url, needed):
    code = (
        f"import sys; sys.modules[{blocked!r}] = None; import tcbuild\n"
        f"try: tcbuild.open({url!r})\n"
        "except tcbuild.errors.UnreadableFileError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=reader.__path__[0] + "/..", capture_output=True, text=True
    )
    message, hint = done.stdout.splitlines()
    assert url in message and needed in message
    assert hint.startswith("hint: ") and "copy the dataset" in hint


def test_a_local_path_needs_no_fsspec(built):
    path = built.datasets["indices-zstd"]
    code = (
        "import sys; sys.modules['fsspec'] = None; import tcbuild\n"
        f"print(len(tcbuild.open({str(path)!r})[3].removed))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=reader.__path__[0] + "/..", capture_output=True, text=True
    )
    assert done.returncode == 0 and int(done.stdout), done.stderr
    assert isinstance(reader.open(path).path, Path)


def test_a_loader_reads_a_url(built, server):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    import tcbuild.torch as tt

    remote = opened(f"{server.url}/indices-zstd")
    local = opened(built.datasets["indices-zstd"])
    for options in ({}, {"num_workers": 2, "multiprocessing_context": "fork"}):
        batches = tt.DataLoader(remote, batch_size=150, **options)
        for number, batch in enumerate(batches):
            want = tt.collate(local[150 * number : 150 * number + 150])
            assert batch.sample_ids == want.sample_ids
            assert all(torch.equal(mask, want.masks[name]) for name, mask in batch.masks.items())
    generator = tt.MaskGenerator(f"{server.url}/indices-zstd")
    made = generator(tt.collate(remote[:9], masks=None))
    want = tt.collate(local[:9]).masks
    assert all(torch.equal(mask, want[name]) for name, mask in made.items())


def test_a_manifest_travels_whole(copied):
    state, path = copied
    assert reader.open(f"{state.url}/cell").manifest == json.loads(
        (path / "manifest.json").read_text()
    )
