"""What is wrong with a dataset has a name, and masks are never wrong."""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import random
import shutil
import struct
import subprocess
import sys

import pytest

import tcbuild as reader
from builds import BUILDS
from cases import SHARDS
from stored import Stored

SHARD = "shard-00001-of-00002/data.mdb"
IN_SHARD = 200  # a sample of the second shard


@pytest.fixture(scope="module")
def intact(built_once):
    return built_once(SHARDS, "all").datasets


@pytest.fixture
def dataset(intact, tmp_path):
    """Copies a dataset, to be damaged."""

    def copy(name):
        shutil.copytree(intact[name], tmp_path / name)
        return tmp_path / name

    return copy


def complaint(error, *parts):
    """The error of a raises-block says where and what, and how to go on."""
    text = str(error.value)
    assert all(part in text for part in parts), text
    assert "\nhint: " in text and error.value.hint in text
    return text


@pytest.mark.parametrize("name", list(BUILDS)[1:])
def test_a_damaged_payload(dataset, name):
    path = dataset(name)
    sample = reader.open(path)[IN_SHARD]
    file = path / SHARD
    stored = Stored(path)
    shard = stored.manifest["shards"][1]
    payload = list(stored.payloads(shard))[IN_SHARD - shard["first"]]
    data = bytearray(file.read_bytes())
    data[data.index(payload) + len(payload) // 2] ^= 1
    file.write_bytes(data)

    damaged = reader.open(path)
    with pytest.raises(reader.errors.DamagedError) as error:
        damaged._read_removed(IN_SHARD)
    complaint(error, str(file), f"sample {IN_SHARD}", "checksum", "expected")
    # The labels and the other samples are as they were.
    assert damaged[IN_SHARD].id == sample.id
    assert damaged[IN_SHARD + 1].all_masks.size and damaged[0].all_masks.size


def test_a_value_whose_size_is_not_that_of_its_records(dataset):
    path = dataset("indices-zstd")
    file = path / SHARD
    data = bytearray(file.read_bytes())
    key = struct.pack(">Q", json.loads((path / "manifest.json").read_text())["shards"][1]["first"])
    node = data.index(struct.pack("<HH", 1, 8) + key) - 4  # size, flags, size of the key, key
    data[node : node + 4] = struct.pack("<I", struct.unpack_from("<I", data, node)[0] ^ 1)
    file.write_bytes(data)
    with pytest.raises(reader.errors.DamagedError) as error:
        [sample.all_masks for sample in reader.open(path)]
    complaint(error, str(file), "value")


READS = {
    "a sample": lambda dataset: dataset[IN_SHARD].id,
    "a batch": lambda dataset: dataset.perturbations([IN_SHARD]),
    "attributes": lambda dataset: dataset[IN_SHARD].attributes,
    "a phenotype": lambda dataset: dataset.phenotype("fitness"),
    "an attribute": lambda dataset: dataset.attribute("medium"),
    "samples of a gene": lambda dataset: dataset.deletes(dataset.genes[0]),
    "an id": lambda dataset: dataset.index_of("strain 1"),
    "a table": lambda dataset: dataset.to_arrow(),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", ["incidence", "indices-zstd", "full-masks-zstd"])
def test_damaged_samples(dataset, name, read):
    path = dataset(name)
    part = path / "samples/part-00000.arrow"
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    with pytest.raises(reader.errors.DamagedError) as error:
        READS[read](reader.open(path))
    complaint(error, str(part), "SHA-256", "expected")


TABLES = {
    "graph/nodes/gene.arrow": lambda dataset: dataset[0].deleted_genes,
    "graph/nodes/reaction.arrow": lambda dataset: dataset.graph,
    "graph/edges/gene__physical__gene.arrow": lambda dataset: dataset.graph,
    "graph/edges/gene__regulatory__gene.arrow": lambda dataset: dataset.incidence,
    "graph/edges/gene__gpr__reaction.arrow": lambda dataset: dataset[0].all_masks,
    "incidence.arrow": lambda dataset: dataset[0].all_masks,
}


@pytest.mark.parametrize("name", TABLES)
def test_a_damaged_table(dataset, name):
    path = dataset("incidence")
    want = [sample.all_masks.tobytes() for sample in reader.open(path)[:20]]
    data = bytearray((path / name).read_bytes())
    data[len(data) // 2] ^= 4
    (path / name).write_bytes(data)
    damaged = reader.open(path)
    with pytest.raises(reader.errors.DamagedError) as error:
        TABLES[name](damaged)
    complaint(error, str(path / name), "SHA-256", "expected")
    try:  # masks that do not need it are right
        assert [sample.all_masks.tobytes() for sample in damaged[:20]] == want
    except reader.errors.DamagedError as error:
        assert name in str(error)


def test_a_damaged_row_of_the_incidence(dataset):
    """It is an error in the samples that delete its gene, and in no other."""
    path = dataset("incidence")
    intact = reader.open(path)
    want = [sample.all_masks.tobytes() for sample in intact]
    file = path / "incidence.positions"
    gene = int(intact[IN_SHARD].deleted[-1])
    row = Stored(path).incidence()[gene]
    data = file.read_bytes()
    at = data.index(b"".join(position.to_bytes(4, "little") for position in row)) + 4
    assert len(row) > 1
    file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    damaged = reader.open(path)
    for sample, early, masks in zip(damaged, intact, want):
        if gene in sample.deleted:
            with pytest.raises(reader.errors.DamagedError) as error:
                sample.all_masks
            complaint(error, str(file), f"row {gene} ", "checksum", "expected")
        else:
            assert sample.all_masks.tobytes() == masks
        try:  # a reader that has read the row before
            assert early.all_masks.tobytes() == masks
        except reader.errors.DamagedError as error:
            assert gene in sample.deleted
    file.write_bytes(data)
    assert damaged[IN_SHARD].all_masks.tobytes() == want[IN_SHARD]


@pytest.mark.parametrize("name", [SHARD, "samples/part-00000.arrow"])
def test_a_missing_and_a_shortened_file(dataset, name):
    path = dataset("indices-zstd")
    file = path / name
    data = file.read_bytes()
    file.write_bytes(data[:-1])
    with pytest.raises(reader.errors.DamagedError) as error:
        assert reader.open(path)[IN_SHARD].id and reader.open(path)._read_removed(IN_SHARD)
    complaint(error, str(file), f"{len(data) - 1:,} bytes", f"{len(data):,}")
    file.unlink()
    with pytest.raises(reader.errors.UnreadableFileError) as error:
        assert reader.open(path)[IN_SHARD].id and reader.open(path)._read_removed(IN_SHARD)
    complaint(error, str(file), "missing")


def test_a_missing_shard_does_not_hide_the_others(dataset):
    path = dataset("full-masks-zstd")
    shutil.rmtree((path / SHARD).parent)
    damaged = reader.open(path)
    assert damaged[0].all_masks.size
    with pytest.raises(reader.errors.UnreadableFileError):
        damaged[IN_SHARD].removed


def test_another_format_version(dataset):
    path = dataset("indices-zstd")
    file = path / "manifest.json"
    file.write_text(file.read_text().replace('"format_version": 6', '"format_version": 3'))
    with pytest.raises(reader.errors.FormatVersionError) as error:
        reader.open(path)
    complaint(error, str(file), "version 3", "expected 6", "build it again")


def change_manifest(path, change):
    """Changes manifest.json, with a checksum that fits."""
    content = json.loads((path / "manifest.json").read_text())
    change(content)
    write_sealed(path, content)


def _edges(manifest):
    return next(mask for mask in manifest["masks"] if "__" in mask["name"])


UNKNOWN_RULES = {
    "reaction rule": (lambda manifest: manifest["options"].update(reaction_rule="most"), "most"),
    "both ends": (lambda manifest: _edges(manifest).update(ends=["both"]), "both"),
    "no ends": (lambda manifest: _edges(manifest).pop("ends"), "None"),
    "ends of nodes": (lambda manifest: manifest["masks"][0].update(ends=["source"]), "source"),
}


@pytest.mark.parametrize("change, found", UNKNOWN_RULES.values(), ids=UNKNOWN_RULES)
def test_a_rule_that_is_not_known(dataset, change, found):
    path = dataset("indices-zstd")
    change_manifest(path, change)
    with pytest.raises(reader.errors.FormatVersionError) as error:
        reader.open(path)
    complaint(error, "manifest.json", found, "does not know", "the tcbuild package of the program")


def test_masks_that_are_smaller_than_the_graph(dataset):
    path = dataset("incidence")
    change_manifest(path, lambda manifest: manifest["masks"][-1].update(size=0))
    with pytest.raises(reader.errors.DamagedError) as error:
        for sample in reader.open(path):
            assert sample.all_masks.size
    complaint(error, str(path), "expected")


@pytest.mark.parametrize("use", ["incidence", "removed"])
def test_a_rule_that_the_package_gets_wrong(dataset, use):
    """Edges of an end that counts for the program, but not for the package."""
    path = dataset("indices-zstd")
    opened = reader.open(path)
    opened.graph.ends["gene__gpr__reaction"] = ("gene", "reaction")
    with pytest.raises(reader.errors.FormatVersionError) as error:
        opened.incidence if use == "incidence" else opened.combinations([0, 1], 1)[0].removed
    complaint(error, "incidence", str(path), "SHA-256", "the tcbuild package of that program")


@pytest.mark.parametrize("damage", ["{", "[]", "{}", '{"format_version": 6}'])
def test_a_manifest_that_is_none(dataset, damage):
    path = dataset("indices-zstd")
    (path / "manifest.json").write_text(damage)
    with pytest.raises(reader.errors.DamagedError) as error:
        reader.open(path)
    complaint(error, str(path / "manifest.json"))


UNREADABLE = {
    "deep": '{"format_version": 6, "masks": ' + "[" * 10**5 + "]" * 10**5 + "}",
    "long number": '{"format_version": 6, "samples": ' + "9" * 10**5 + "}",
    "checksum": '{"format_version": 6, "checksum": 3}',
    "no text": "\udcff",
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_manifest_that_fits_nothing(dataset, kind):
    path = dataset("indices-zstd")
    file = path / "manifest.json"
    file.write_text(UNREADABLE[kind], encoding="utf-8", errors="surrogatepass")
    with pytest.raises(reader.errors.DamagedError) as error:
        reader.open(path)
    assert len(complaint(error, str(path))) < 1000


def write_sealed(path, content):
    """Writes a manifest with a checksum that fits."""
    content["checksum"] = ""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    content["checksum"] = hashlib.sha256(text.encode()).hexdigest()
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (path / "manifest.json").write_text(text)


@pytest.mark.parametrize(
    "name",
    ["samples/part-00000.arrow", "graph/nodes/gene.arrow", "graph/edges/gene__physical__gene.arrow"]
    + ["incidence.arrow"],
)
def test_lengths_that_no_buffer_has(dataset, name):
    """Absurd numbers in Arrow files whose checksums fit: pyarrow follows some of them."""
    path, chance = dataset("incidence"), random.Random(5)
    content = json.loads((path / "manifest.json").read_text())
    file, errors = path / name, 0
    whole = file.read_bytes()
    for _ in range(150):
        data, at = bytearray(whole), chance.randrange(0, len(whole) - 8, 4)
        absurd = chance.choice([-1, 2**31 - 1, 2**40, -(2**63), 10**8])
        data[at : at + 8] = absurd.to_bytes(8, "little", signed=True)
        file.write_bytes(data)
        for entry in content["files"]:
            if entry["name"] == name:
                entry["sha256"] = hashlib.sha256((path / entry["name"]).read_bytes()).hexdigest()
        write_sealed(path, content)
        try:
            damaged = reader.open(path)
            damaged[0].all_masks, damaged.graph.nodes, damaged.to_arrow().to_pylist()
        except reader.errors.DatasetError:
            errors += 1
    assert errors > 20


@pytest.mark.parametrize("count", [-1, 20_000_000_000_000, 2**63, 1e9, "3", None])
@pytest.mark.parametrize(
    "place",
    [["samples"], ["masks", 0, "size"], ["shards", 1, "samples"], ["shards", 0, "first"]]
    + [["samples_per_batch"], ["samples_per_value"], ["files", 3, "bytes"]],
    ids=str,
)
def test_counts_that_no_file_has(dataset, place, count):
    """With a checksum that fits: somebody wrote the manifest so."""
    path = dataset("indices-zstd")
    content = json.loads((path / "manifest.json").read_text())
    inside = functools.reduce(operator.getitem, place[:-1], content)
    inside[place[-1]] = count
    write_sealed(path, content)
    with pytest.raises(reader.errors.DatasetError) as error:
        damaged = reader.open(path)
        for sample in damaged:
            assert sample.all_masks.size
        damaged.graph, damaged.to_arrow()
        for name in damaged.manifest.parts:  # a file of another size than listed
            assert damaged.manifest.open_file(name)
        damaged.manifest.check_digests()
    complaint(error, str(path))


@pytest.mark.parametrize("variant", ["indices-zstd", "full-masks-raw", "incidence"])
def test_sizes_of_masks_that_no_graph_has(dataset, variant):
    """Nothing of 2 GB is made of a manifest that lies about both masks and the graph's files."""
    path = dataset(variant)
    content = json.loads((path / "manifest.json").read_text())
    content["masks"][0]["size"] = 2 * 10**9
    for file in content["files"]:
        file["bytes"] = 10**10 if file["name"].startswith("graph/") else file["bytes"]
    write_sealed(path, content)
    with pytest.raises(reader.errors.DamagedError) as error:
        reader.open(path)
    complaint(error, str(path / "graph"), "bytes, expected 10,000,000,000")


def test_a_manifest_with_any_byte_changed(dataset):
    path = dataset("indices-zstd")
    file, chance = path / "manifest.json", random.Random(2)
    text = file.read_bytes()
    for _ in range(200):
        at = chance.randrange(len(text))
        file.write_bytes(text[:at] + bytes([text[at] ^ 1 << chance.randrange(8)]) + text[at + 1 :])
        with pytest.raises(reader.errors.DamagedError):
            reader.open(path)


def test_no_manifest(tmp_path):
    (tmp_path / "yeast").mkdir()
    for name, found in {
        "yeast": ("no manifest.json", "an unfinished build has none"),
        "nowhere": ("there is no such folder", "a rebuild may have removed this version"),
        "yeats": ("there is no such folder", f"did you mean {tmp_path / 'yeast'}?"),
    }.items():
        with pytest.raises(reader.errors.UnreadableFileError) as error:
            reader.open(tmp_path / name)
        complaint(error, str(tmp_path / name), *found)


def test_a_folder_of_datasets_names_them(dataset, tmp_path):
    (tmp_path / "current").mkdir()
    (tmp_path / "current" / "indices").symlink_to(dataset(next(iter(BUILDS))))
    with pytest.raises(reader.errors.UnreadableFileError) as error:
        reader.open(tmp_path)
    complaint(error, f"hint: open a dataset in it: {tmp_path}/current/indices")


def test_a_misspelled_mask_is_named(dataset):
    masks = reader.open(dataset(next(iter(BUILDS))))[0].masks
    with pytest.raises(reader.errors.UnknownNameError, match="did you mean 'gene__physical__gene'"):
        masks["gene__phys__gene"]


@pytest.mark.parametrize("name", list(BUILDS)[1:])
def test_any_damaged_byte_of_a_shard_is_named_or_harmless(dataset, name):
    path = dataset(name)
    want = {
        index: (sample.id, sample.all_masks.tobytes())
        for index, sample in enumerate(reader.open(path)[:150:13])
    }
    file, chance = path / "shard-00000-of-00002" / "data.mdb", random.Random(name)
    data, named = file.read_bytes(), 0
    for _ in range(150):
        damaged = bytearray(data)
        at = chance.randrange(8192, len(data))
        damaged[at] ^= 1 << chance.randrange(8)
        file.unlink()
        file.write_bytes(damaged)
        try:
            got = {
                index: (sample.id, sample.all_masks.tobytes())
                for index, sample in enumerate(reader.open(path)[:150:13])
            }
            assert got == want, at
        except reader.DatasetError:
            named += 1
    assert named


def test_any_damaged_byte_of_the_tree_is_named_or_harmless(dataset):
    path = dataset("indices-zstd")
    want = [sample.removed.tobytes() for sample in reader.open(path)[:150:49]]
    file = path / "shard-00000-of-00002" / "data.mdb"
    data, named = file.read_bytes(), 0
    tree = [
        at
        for at in range(0, len(data), 4096)
        if at < 8192
        or data[at + 10] in (1, 2)
        and data[at : at + 8] == (at // 4096).to_bytes(8, "little")
    ]
    for at in (page + byte for page in tree for byte in (*range(160), *range(3900, 4096))):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        file.write_bytes(damaged)
        try:
            found = [sample.removed.tobytes() for sample in reader.open(path)[:150:49]]
            assert found == want, at
        except reader.DatasetError:
            named += 1
    assert len(tree) == 3 and named > 100


def test_it_needs_no_torch(dataset):
    code = (
        "import sys; sys.modules['torch'] = sys.modules['torch_geometric'] = None; import tcbuild;"
        f"print(tcbuild.open({str(dataset('indices-zstd'))!r})[3].all_masks.size)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=reader.__path__[0] + "/..", capture_output=True, text=True
    )
    assert done.returncode == 0 and int(done.stdout), done.stderr


def test_manifest_json_may_be_written_anew_with_its_checksum(dataset):
    """The checksum is of the text, so a copy that is only laid out anew is refused."""
    path = dataset("indices-zstd")
    file = path / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text())))
    with pytest.raises(reader.errors.DamagedError, match="checksum"):
        reader.open(path)
