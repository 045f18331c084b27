"""Sets of genes that have so many of each class are those that itertools finds, in its order."""

from __future__ import annotations

import pickle
import random
from itertools import chain, combinations
from math import comb

import numpy as np
import pytest

import tcbuild as reader
from cases import CASES


@pytest.fixture(scope="module")
def dataset(built_once):
    return reader.open(built_once(CASES[0], "all").datasets["incidence"])


def slow(classes, size):
    """Each set once, its genes ascending."""
    genes = dict.fromkeys(chain.from_iterable(listed for listed, _, _ in classes))
    return [
        sorted(chosen)
        for chosen in combinations(genes, size)
        if all(least <= len({*chosen} & {*listed}) <= most for listed, least, most in classes)
    ]


def sets(dataset):
    return dataset.perturbations(slice(None))[0].reshape(len(dataset), -1).tolist()


def drawn(chance):
    """Classes that overlap at random, and a size of which they have sets."""
    while True:
        size, classes = chance.randint(1, 5), []
        for _ in range(chance.randint(1, 4)):
            least = chance.choice([0, 0, 1, 2])
            genes = chance.sample(range(40), chance.randint(1, 11))
            classes.append((genes, least, least + chance.choice([0, 1, 2, 9])))
        if len({*chain(*(genes for genes, _, _ in classes))}) < 22 and slow(classes, size):
            return classes, size


def test_the_sets_are_those_of_a_loop(dataset, seed):
    chance = random.Random(seed)
    for _ in range(60):
        classes, size = drawn(chance)
        want = slow(classes, size)
        found = dataset.combinations(classes, size=size)
        assert sets(found) == want and len({*map(tuple, want)}) == len(found), (classes, size)
        some = chance.sample(range(len(want)), min(len(want), 5))
        assert [found[i].deleted.tolist() for i in some] == [want[i] for i in some]
        assert [found[i].id for i in some] == [str(i) for i in some]


def test_genes_of_two_classes_count_in_both(dataset):
    """Class 1 has genes 0 to 2, class 2 genes 2 to 4. With gene 2, a set has one of each."""
    classes = [([0, 1, 2], 1, 1), ([2, 3, 4], 1, 1)]
    assert sets(dataset.combinations(classes, size=1)) == [[2]]
    assert sets(dataset.combinations(classes, size=2)) == [[0, 3], [0, 4], [1, 3], [1, 4]]
    only = [([0, 1, 2], 3, 3), ([0, 1, 2, 3], 0, 4)]
    assert sets(dataset.combinations(only, size=3)) == [[0, 1, 2]]
    names = [([dataset.genes[gene] for gene in genes], *bounds) for genes, *bounds in classes]
    assert sets(dataset.combinations(names, size=2)) == sets(dataset.combinations(classes, size=2))


def test_one_class_has_all_combinations(dataset):
    genes = dataset.genes[:9][::-1]
    whole = dataset.combinations(genes, 3)
    found = dataset.combinations([(genes, 0, 3)], size=3)
    assert found.to_arrow() == whole.to_arrow() and len(found) == 84


def test_views_and_copies(dataset):
    classes = [(range(3, 25), 1, 2), (range(20, 38), 1, 2)]
    found = dataset.combinations(classes, size=3)
    want = slow(classes, 3)
    for view in (found[7:900:13], found[::-1], found[[5, 5, 1]]):
        again = pickle.loads(pickle.dumps(view))
        assert sets(again) == sets(view) == [want[i] for i in view.indices]
    sample = found[77]
    removed = dataset.combinations(want[77], 3)[0].removed
    assert np.array_equal(sample.removed, removed)


def test_millions(tcbuild, tmp_path):
    """The number of sets by the number of genes of each kind; beside sampled borders, sets ascend
    and have from one to two genes of each class.
    """
    graph = tmp_path / "graph" / "nodes"
    graph.mkdir(parents=True)
    (graph / "gene.tsv").write_text("id\n" + "".join(f"g{i}\n" for i in range(6607)))
    tcbuild.run("incidence", "--graph", tmp_path / "graph", "--out", tmp_path / "dataset")
    dataset = reader.open(tmp_path / "dataset")
    first, second = range(500), range(450, 900)
    found = dataset.combinations([(first, 1, 2), (second, 1, 2)], size=3)
    only, both, others = 450, 50, 400
    want = sum(
        comb(only, i) * comb(both, j) * comb(others, 3 - i - j)
        for i in range(4)
        for j in range(4 - i)
        if 1 <= i + j <= 2 and 1 <= 3 - i <= 2
    )
    assert len(found) == want > 8 * 10**7
    ranks = np.random.default_rng(3).integers(want - 1, size=2000)
    near = np.stack([ranks, ranks + 1], axis=1).ravel()
    genes = found.perturbations(near)[0].reshape(-1, 2, 3)
    of_each = (genes < 500).sum(2), (genes >= 450).sum(2)
    assert all(counts.min() == 1 and counts.max() == 2 for counts in of_each)
    assert all(a < b for a, b in genes.tolist())
    assert len({*map(tuple, genes[:, 0].tolist())}) == len({*ranks.tolist()})
    assert found[[0, -1]].perturbations(slice(None))[0].tolist() == [0, 1, 500, 449, 898, 899]
    with pytest.raises(ValueError, match=r"more than 2\^63 - 2 sets of 9"):
        dataset.combinations([(range(6607), 3, 9), (first, 1, 9)], size=9)


def test_refuses(dataset):
    genes = range(5)
    for classes, size, error, text in [
        ([genes], 3, TypeError, "expected a class"),
        ([(genes, 1)], 3, TypeError, "expected a class"),
        ([(genes, 1, 2.0)], 3, TypeError, "expected a class"),
        (dataset.genes, 3, TypeError, "expected a class"),
        ([([0, 1, 0], 1, 2)], 2, ValueError, "listed twice"),
        ([({0, 1}, 1, 2)], 2, TypeError, "expected a list"),
        ([(genes, 1, 2)], 3, ValueError, "no set of 3 of 5 genes"),
        ([(genes, 3, 2)], 3, ValueError, "no set of 3"),
        ([(genes, 0, 6)], 6, ValueError, "found k = 6, expected 1 to the 5 genes"),
        ([], 1, ValueError, "found k = 1, expected 1 to the 0 genes"),
    ]:
        with pytest.raises(error, match=text):
            dataset.combinations(classes, size=size)
    for options in ({}, {"k": 2, "size": 2}):
        with pytest.raises(TypeError, match="pass k, or size"):
            dataset.combinations(genes, **options)


def test_any_order(dataset):
    torch_room = pytest.importorskip("tcbuild.torch")
    found = dataset.combinations([(range(9), 1, 2), (range(7, 20), 1, 2)], size=3)
    order = [*torch_room.Order(found, seed=1)]
    assert sorted(order) == [*range(len(found))] != order
    state = torch_room.Order(found).state_dict()
    other = dataset.combinations([(range(9), 1, 2), (range(7, 20), 1, 3)], size=3)
    with pytest.raises(ValueError, match="found the state of other samples"):
        torch_room.Order(other).load_state_dict(state)
