"""A dataset can be read by its specification alone, and is what the oracle works out."""

from __future__ import annotations

import hashlib
import json

import pytest

from builds import BUILDS
from cases import CASES
from oracle import ends_that_count
from stored import DECODERS, Stored
from tcbuild._masks.codecs import CODECS


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def built(request, built_once):
    return built_once(request.param, "all")


@pytest.mark.parametrize("name", BUILDS)
def test_stored_masks_are_those_of_the_oracle(built, name):
    datasets, want, _ = built
    stored = Stored(datasets[name])
    for got, sample in zip(stored.samples(), want, strict=True):
        assert got == sample
    assert stored.logical_content(want) == stored.manifest["logical_content"]


def test_variants_have_the_same_samples_byte_for_byte(built):
    datasets, _, _ = built
    found = [
        {file.name: file.read_bytes() for file in (path / "samples").iterdir()}
        for path in datasets.values()
    ]
    assert len(found[0]) >= 2 and all(files == found[0] for files in found)


@pytest.mark.parametrize("name", BUILDS)
def test_stored_graph_is_the_input(built, name):
    datasets, _, cell = built
    stored = Stored(datasets[name])
    for node_type, ids in cell.nodes.items():
        assert stored.table(f"graph/nodes/{node_type}.arrow").column("id").to_pylist() == ids
    for edge_type, edges in cell.edges.items():
        table = stored.table(f"graph/edges/{edge_type}.arrow")
        assert (
            list(zip(table.column("src_index").to_pylist(), table.column("dst_index").to_pylist()))
            == edges
        )


def test_stored_incidence_lists_the_edges_of_each_node(built):
    datasets, _, cell = built
    stored = Stored(datasets["incidence"])
    starts, start = {}, 0
    for mask in stored.manifest["masks"]:
        starts[mask["name"]] = start
        start += mask["size"]
    want = []
    for node_type in ("gene", "reaction"):
        for node in range(len(cell.nodes.get(node_type, ()))):
            row = [starts[node_type] + node]
            for edge_type in cell.edge_types():
                row += [
                    starts[edge_type] + position
                    for position, edge in enumerate(cell.edges[edge_type])
                    if (node_type, node) in zip(ends_that_count(edge_type), edge)
                ]
            want.append(row)
    assert stored.incidence() == want


@pytest.mark.parametrize("name", BUILDS)
def test_manifest_lists_every_file(built, name):
    datasets, want, _ = built
    stored = Stored(datasets[name])
    found = {
        path.relative_to(stored.folder).as_posix(): path.read_bytes()
        for path in stored.folder.rglob("*")
        if path.is_file()
    }
    assert not [path for path in found if path.endswith("lock.mdb")]
    del found["manifest.json"], found["run.json"]
    listed = {file["name"]: (file["bytes"], file["sha256"]) for file in stored.manifest["files"]}
    assert listed == {
        path: (len(data), hashlib.sha256(data).hexdigest()) for path, data in found.items()
    }
    assert stored.manifest["samples"] == len(want)


def test_codecs_are_the_programs(tcbuild):
    """The package, its tests and the slow decoders know what the program writes."""
    listed = json.loads(tcbuild.run("version", "--json").stdout)["codecs"]
    want = {(mode, name) for mode, names in listed.items() for name in names}
    assert {*CODECS} == {*DECODERS} == want
    assert {*BUILDS} == {"incidence", *("-".join(pair) for pair in want)}
