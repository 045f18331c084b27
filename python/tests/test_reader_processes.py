"""A dataset works in other processes and threads, however it got there."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import shutil
import sys
import threading
from pathlib import Path

import pytest

import tcbuild as reader
from cases import SHARDS, Case

OTHER = Case("another", samples=3)
BUILT = ["incidence", "indices-zstd", "full-masks-zstd"]


@pytest.fixture(scope="module")
def datasets(built_once):
    return built_once(SHARDS, "all").datasets


def contents(dataset):
    return [(sample.id, sample.all_masks.tobytes()) for sample in dataset[::29]]


def send_contents(datasets, pipe):
    pipe.send([contents(dataset) for dataset in datasets])


def in_process(method, *datasets):
    """What a process that was started by method reads of each dataset."""
    context = multiprocessing.get_context(method)
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=send_contents, args=(datasets, send))
    process.start()
    send.close()
    try:
        return receive.recv()
    finally:
        process.join()


@pytest.mark.parametrize(("method", "times"), [("fork", 2), ("spawn", 1)])
@pytest.mark.parametrize("name", BUILT)
def test_in_another_process(datasets, name, method, times):
    fresh, used = reader.open(datasets[name]), reader.open(datasets[name])
    want = contents(used)
    for _ in range(times):
        assert in_process(method, fresh, used) == [want, want]
    assert contents(fresh) == contents(used) == want


@pytest.mark.parametrize("name", BUILT)
def test_in_the_child_of_a_child(datasets, name):
    dataset, other = reader.open(datasets[name]), reader.open(datasets[name])
    want = contents(dataset)

    def forked(work):
        """Whether work is true in a forked process, which ends without what pytest would do at its
        end.
        """
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if work() else 1)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(2)
        return os.waitpid(child, 0)[1] == 0

    assert forked(
        lambda: (
            contents(dataset) == want
            and forked(lambda: contents(other) == contents(dataset) == want)
        )
    )
    assert contents(other) == want


@pytest.mark.parametrize("name", BUILT)
def test_pickled_it_carries_its_path_alone(datasets, name):
    dataset = reader.open(datasets[name])
    contents(dataset)
    data = pickle.dumps(dataset)
    assert len(data) < 200 + len(str(dataset.path))
    assert contents(pickle.loads(data)) == contents(dataset)
    sample = pickle.loads(pickle.dumps(dataset[70]))
    assert (
        sample.all_masks.tobytes() == dataset[70].all_masks.tobytes()
        and sample.deleted_genes == dataset[70].deleted_genes
    )


@pytest.mark.parametrize("name", BUILT)
def test_a_relative_path_outlives_a_change_of_folder(datasets, name, monkeypatch):
    monkeypatch.chdir(datasets[name].parent)
    dataset = reader.open(name)
    monkeypatch.chdir("/")
    assert contents(dataset) == contents(reader.open(datasets[name]))


@pytest.mark.parametrize("name", BUILT)
def test_in_many_threads(datasets, name):
    dataset = reader.open(datasets[name])
    want = contents(reader.open(datasets[name]))
    got = []
    threads = [
        threading.Thread(target=lambda: got.extend(contents(dataset) == want for _ in range(5)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 30


def test_the_same_files_open_twice_and_again(datasets, tmp_path):
    path = datasets["indices-zstd"]
    first, second = reader.open(path), reader.open(path)
    (tmp_path / "link").symlink_to(path)
    linked = reader.open(tmp_path / "link")
    assert contents(first) == contents(second) == contents(linked)
    want = contents(first)
    del first, second, linked
    gc.collect()
    assert contents(reader.open(path)) == want


def assert_closed(folder):
    opened = [str(link.resolve()) for link in Path("/proc/self/fd").iterdir()]
    assert not [name for name in opened if str(folder) in name]


@pytest.mark.parametrize("kind", BUILT)
def test_files_are_closed_with_their_dataset(datasets, kind):
    """At once, and not when Python looks for cycles, which it does ever more rarely."""

    def read_all():
        dataset = reader.open(datasets[kind])
        assert contents(dataset)
        dataset.phenotype("fitness")
        dataset.graph, dataset.to_arrow()

    gc.disable()
    try:
        read_all()
        assert_closed(datasets[kind])
    finally:
        gc.enable()


def test_a_dataset_that_another_replaces_stays_what_it_was(datasets, tmp_path):
    path = tmp_path / "dataset"
    shutil.copytree(datasets["indices-zstd"], path)
    old = reader.open(path)
    want = contents(old)
    shutil.rmtree(path)
    shutil.copytree(datasets["full-masks-zstd"], path)
    assert contents(reader.open(path)) == contents(old) == want


def test_reading_maps_no_file(datasets):
    """What is read of a shard is no memory of the process."""
    dataset = reader.open(datasets["full-masks-zstd"])
    contents(dataset)
    assert "data.mdb" not in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("kind", BUILT)
def test_damaged_files_are_closed_with_their_dataset(datasets, tmp_path, kind):
    """An error and its file that lead to each other would keep it open."""
    path = Path(shutil.copytree(datasets[kind], tmp_path / "dataset"))

    def read_all():
        dataset = reader.open(path)
        reads = [lambda: dataset[0].phenotypes, lambda: dataset[0].all_masks, dataset.to_arrow]
        for read in [*reads, lambda: dataset.phenotype("fitness"), lambda: dataset.graph]:
            with contextlib.suppress(reader.DatasetError):
                read()

    gc.disable()
    try:
        for file in [file for file in path.rglob("*") if file.is_file()]:
            if file.name in ("manifest.json", "run.json"):
                continue
            content = file.read_bytes()
            file.write_bytes(bytes(byte ^ 1 for byte in content))
            read_all()
            assert_closed(path)
            file.write_bytes(content)
    finally:
        gc.enable()


@pytest.mark.parametrize("name", BUILT)
def test_a_link_is_resolved_once(datasets, built_once, name, tmp_path):
    """As current is, which a rebuild switches while somebody trains."""
    version, current = tmp_path / "1", tmp_path / "current"
    shutil.copytree(datasets[name], version)
    current.symlink_to(version)
    opened = [reader.open(current) for _ in range(3)]
    want = contents(reader.open(version))
    current.unlink()
    current.symlink_to(built_once(OTHER, "all").datasets[name])
    assert contents(opened[0]) == in_process("spawn", opened[1])[0] == want
    shutil.rmtree(version)
    assert contents(opened[0]) == want  # its files are open
    with pytest.raises(reader.errors.UnreadableFileError, match="was removed after it was opened"):
        contents(opened[1])
    with pytest.raises(reader.errors.DatasetError, match="was removed after|no such folder"):
        pickle.loads(pickle.dumps(opened[2]))[0].all_masks
