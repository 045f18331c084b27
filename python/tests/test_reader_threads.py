"""Threads read one dataset at once, and processes are forked meanwhile."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import tcbuild as reader
from cases import SHARDS
from sample_tables import with_table

VARIANTS = ["incidence", "indices-zstd", "full-masks-zstd", "parts"]
THREADS = 8

READS = {
    "id": lambda dataset: dataset[70].id,
    "attributes": lambda dataset: sorted(dataset[70].attributes.items()),
    "removed": lambda dataset: dataset[70].removed.tobytes(),
    "masks": lambda dataset: {name: mask.tobytes() for name, mask in dataset[70].masks.items()},
    "genes": lambda dataset: dataset[70].deleted_genes,
    "graph": lambda dataset: dataset.graph.nodes,
    "incidence": lambda dataset: [csr.positions.tobytes() for csr in dataset.incidence.values()],
    "removal": lambda dataset: dataset._cell.removal.removed_reactions([0, 1, 2]),
    "perturbations": lambda dataset: [
        array.tobytes() for array in dataset.perturbations(range(0, 290, 7))
    ],
    "numbers": lambda dataset: dataset.phenotype("fitness").tobytes(),
    "texts": lambda dataset: dataset.attribute("medium").tolist(),
    "table": lambda dataset: dataset.to_arrow().to_pylist(),
}


@pytest.fixture(scope="module")
def datasets(built_once, tmp_path_factory):
    """Of each variant; and one of three parts with two record batches and a dictionary each."""
    found = built_once(SHARDS, "all").datasets
    rows = [
        {
            "sample_id": f"strain {number}",
            "perturbation_indices": list(range(number % 4)),
            "fitness": None if number % 5 == 0 else number / 7,
            "medium": None if number % 11 == 0 else f"medium {number // 50} {number % 9}",
            "temperature": None if number % 3 == 0 else 30.0,
        }
        for number in range(290)
    ]
    folder = tmp_path_factory.mktemp("parts") / "dataset"
    return {**found, "parts": with_table(found["incidence"], folder, rows, 128, 64)}


def fork(work):
    """A forked process. It ends with 0 if work is true, without what pytest would do then."""
    child = os.fork()
    if child:
        return child
    try:
        os._exit(0 if work() else 1)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(2)


def ended(child, seconds=300):
    """What a process ended with; one that hangs is killed, and fails."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "it hangs"


@pytest.fixture
def stopped(monkeypatch):
    """Reads of files by this process wait: the first sets the first event, the second ends it."""
    entered, go_on, parent, pread = threading.Event(), threading.Event(), os.getpid(), os.pread

    def waiting(*arguments):
        if os.getpid() == parent and not go_on.is_set():
            entered.set()
            go_on.wait()
        return pread(*arguments)

    monkeypatch.setattr(os, "pread", waiting)
    yield entered, go_on
    go_on.set()


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", VARIANTS)
def test_a_child_of_a_process_that_reads(datasets, name, read, request):
    """Which a lock would stop that a thread of its parent held: nobody releases it in the child."""
    other, dataset = reader.open(datasets[name]), reader.open(datasets[name])
    want = READS[read](reader.open(datasets[name]))
    entered, go_on = request.getfixturevalue("stopped")
    got = []
    thread = threading.Thread(target=lambda: got.append(READS[read](dataset)))
    thread.start()
    assert entered.wait(300)
    children = [fork(lambda each=each: READS[read](each) == want) for each in (dataset, other)]
    results = [ended(child) for child in children]
    go_on.set()
    thread.join()
    assert results == [0, 0] and got == [want]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", VARIANTS)
def test_threads_that_read_at_once(datasets, name, read, monkeypatch):
    """Each read of a file lets the other threads go on, so that they meet everywhere."""
    want = READS[read](reader.open(datasets[name]))
    pread = os.pread

    def slow(*arguments):
        time.sleep(0.0005)
        return pread(*arguments)

    monkeypatch.setattr(os, "pread", slow)
    got, start = [], threading.Barrier(THREADS)

    def work(dataset):
        start.wait()
        try:
            got.append(READS[read](dataset))
        except reader.DatasetError as error:
            got.append(error)

    for _ in range(3):
        dataset = reader.open(datasets[name])
        threads = [threading.Thread(target=work, args=(dataset,)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == [want] * 3 * THREADS


@pytest.mark.parametrize("name", VARIANTS)
def test_only_who_asks_calls_python(datasets, name, monkeypatch):
    """One of Arrow's threads that calls Python while another thread forks can hang the child."""
    found, pread = set(), os.pread

    def noted(*arguments):
        found.add(threading.get_ident())
        return pread(*arguments)

    monkeypatch.setattr(os, "pread", noted)
    dataset = reader.open(datasets[name])
    for read in READS.values():
        read(dataset)
    assert found == {threading.get_ident()}


def test_no_property_holds_a_lock():
    """As those of functools do on Python 3.10 and 3.11."""
    for path in Path(reader.__file__).parent.rglob("*.py"):
        imports = [line for line in path.read_text().splitlines() if "import" in line]
        assert not any("cached_property" in line for line in imports), path


@pytest.mark.parametrize("name", VARIANTS)
def test_threads_and_forks_at_once(datasets, name):
    want = [read(reader.open(datasets[name])) for read in READS.values()]
    dataset, stop, got = reader.open(datasets[name]), threading.Event(), []

    def right():
        return [read(dataset) for read in READS.values()] == want

    def work():
        while not stop.is_set():
            got.append(right())

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    children = []
    for _ in range(8):
        time.sleep(0.01)
        children.append(fork(lambda: right() and reader.open(datasets[name])[3].id))
    results = [ended(child) for child in children]
    stop.set()
    for thread in threads:
        thread.join()
    assert results == [0] * 8 and got and all(got)
