"""Orders of any number of samples, without memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sized
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash
from torch.utils.data import DistributedSampler

import tcbuild
from tcbuild._dataset import opened
from tcbuild._table.columns import mixed
from tcbuild._table.combinations import Combinations

_AT_ONCE = 1 << 12  # numbers that are permuted at a time
_ROUNDS = 8  # of the Feistel network


class Order(DistributedSampler[Any]):
    """The order of the samples of an epoch: each once, or with weights drawn with replacement.

    Draws depend only on seed, epoch and position, and take no memory. The state fits any number of
    ranks. Accelerate reads a batch ahead: save state(steps, batch_size) there.

    Args:
        dataset: anything with a length, or a dataset's folder
        seed: chooses the orders
        num_replicas: ranks of a distributed run. All take equally many samples: the last ones
            repeat the first samples
        rank: of this process, from 0
        drop_last: drop samples in place of repeating some
        shuffle: False for the dataset's own order
        weights: [N], how often to draw each sample, relative to others

    Examples:
        >>> triples = dataset.combinations(dataset.genes, 3)
        >>> order = tcbuild.torch.Order(triples, seed=1)
        >>> loader = tcbuild.torch.DataLoader(triples, 64, sampler=order)
    """

    def __init__(
        self,
        dataset: Sized | str | Path,
        seed: int = 0,
        num_replicas: int = 1,
        rank: int = 0,
        drop_last: bool = False,
        shuffle: bool = True,
        weights: npt.ArrayLike | None = None,
    ):
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"sample at random: rank {rank} of {num_replicas} replicas\n"
                "hint: ranks count from 0; pass torch.distributed.get_rank() and get_world_size()"
            )
        self.dataset = opened(dataset)
        self.samples = len(self.dataset)  # type: ignore[arg-type]
        self.seed, self.epoch, self.position = seed, 0, 0  # where the next iteration begins
        self.num_replicas, self.rank, self.drop_last = num_replicas, rank, drop_last
        self.shuffle, self._given = shuffle, 0
        self._cumulated = None if weights is None else _cumulated(weights, self.samples)

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of the next epoch. A resumed epoch keeps its order.

        Args:
            epoch: its number
        """
        if epoch != self.epoch:
            self.epoch, self.position, self._given = epoch, 0, 0

    def __len__(self) -> int:
        """Draws of this rank from the position on."""
        left = self.samples - self.position
        rounded = left if self.drop_last else left + self.num_replicas - 1
        return max(rounded, 0) // self.num_replicas if self.samples else 0

    def __iter__(self) -> Iterator[int]:
        first, length, self._given = self.position, len(self), self.position
        self.position = 0
        _tell(self.dataset, self.epoch)
        return self._from(first, length)

    def _from(self, first: int, length: int) -> Iterator[int]:
        draws = self._draws()
        for start in range(0, length, _AT_ONCE):
            places = np.arange(start, min(start + _AT_ONCE, length), dtype=np.uint64)
            places = places * np.uint64(self.num_replicas) + np.uint64(first + self.rank)
            for number in draws(places % np.uint64(self.samples)).tolist():
                self._given = min(self._given + self.num_replicas, self.samples)
                yield number

    def _draws(self) -> Callable[[npt.NDArray[np.uint64]], npt.NDArray[Any]]:
        """The draws at positions."""
        if (cumulated := self._cumulated) is not None:
            random = np.random.default_rng([self.seed, self.epoch])
            key = random.integers(0, 1 << 64, 1, np.uint64, endpoint=False)

            def draw(places: npt.NDArray[np.uint64]) -> npt.NDArray[Any]:
                uniform = (mixed(mixed(places + key) + key) >> np.uint64(11)) * 2.0**-53
                return np.searchsorted(cumulated, uniform, side="right")

            return draw
        return _Permutation(self.samples, self.seed, self.epoch) if self.shuffle else lambda p: p

    def state(self, steps: int, batch_size: int) -> dict[str, Any]:
        """The state after so many batches of each rank in this epoch.

        Args:
            steps: batches
            batch_size: samples of each
        """
        position = min(steps * batch_size * self.num_replicas, self.samples)
        return self._state(position)

    def state_dict(self) -> dict[str, Any]:
        """What load_state_dict needs to go on after the last draw given."""
        return self._state(self.position or self._given)

    def _state(self, position: int) -> dict[str, Any]:
        of = samples_of(self.dataset)
        return {"seed": self.seed, "epoch": self.epoch, "position": position, "samples": of}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues where another order of the same samples was, on any number of ranks.

        Args:
            state: of state_dict; a ValueError if it belongs to other samples
        """
        if (found := state["samples"]) != (expected := samples_of(self.dataset)):
            raise ValueError(
                f"resume an order: found the state of other samples: {found}, expected {expected}\n"
                "hint: resume with the dataset, or the view of it, that the state was saved with; "
                "to train on others, begin an epoch"
            )
        self.seed, self.epoch = state["seed"], state["epoch"]
        self.position = self._given = state["position"]


def _tell(dataset: Any, epoch: int) -> None:
    """Sets the epoch of a dataset that has one, also within a Subset or ConcatDataset."""
    for inner in (*getattr(dataset, "datasets", ()), getattr(dataset, "dataset", None)):
        if inner is not None:
            _tell(inner, epoch)
    if callable(set_epoch := getattr(dataset, "set_epoch", None)):
        set_epoch(epoch)


def _cumulated(weights: npt.ArrayLike, samples: int) -> npt.NDArray[np.float64]:
    """Weights as the upper ends of their shares of 0 to 1."""
    values = np.asarray(weights, np.float64)
    fitting = values.shape == (samples,) and np.all(values >= 0) and np.isfinite(values.sum())
    if not fitting or not values.sum():
        raise ValueError(
            f"draw by weights: found weights {list(values.shape)}, expected {samples:,} numbers, "
            "not negative, not all 0\nhint: give each sample of the dataset a weight"
        )
    ends: npt.NDArray[np.float64] = np.cumsum(values) / values.sum()
    return ends


def samples_of(dataset: Any) -> str:
    """Which samples a dataset has, in which order, the same for all variants; of datasets of others
    only their number.
    """
    stored = dataset if isinstance(dataset, tcbuild.Dataset) else getattr(dataset, "stored", None)
    if not isinstance(stored, tcbuild.Dataset):
        return f"{len(dataset):,}"
    content, table, rows = stored.manifest["logical_content"], stored._table, stored._rows
    if isinstance(table, Combinations):
        classes = [(genes.tolist(), least, most) for genes, least, most in table.classes]
        content = f"{stored._mask_basis} {table.k} of {classes}"
    chosen = str(rows) if isinstance(rows, range) else xxhash.xxh3_128_hexdigest(rows.tobytes())
    return f"{len(stored):,} {xxhash.xxh3_128_hexdigest(f'{content} {chosen}'.encode())[:16]}"


class _Permutation:
    """A permutation of the numbers below a length, by a Feistel network: rounds that each add to
    one half of a number's bits a hash of the other half. It permutes 4^bits numbers; from one that
    is not below the length, it goes on until one is.
    """

    def __init__(self, length: int, seed: int, epoch: int):
        bits = max(1, -(-max(length - 1, 1).bit_length() // 2))
        self._length, self._bits = np.uint64(length), np.uint64(bits)
        self._half = np.uint64((1 << bits) - 1)
        random = np.random.default_rng([seed, epoch])
        self._keys = random.integers(0, 1 << 64, _ROUNDS, np.uint64, endpoint=False)

    def __call__(self, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        numbers = self._once(numbers)
        while len(outside := np.flatnonzero(numbers >= self._length)):
            numbers[outside] = self._once(numbers[outside])
        return numbers

    def _once(self, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        left, right = numbers >> self._bits, numbers & self._half
        for key in self._keys:
            left, right = right, (left + mixed(right + key)) & self._half
        return left << self._bits | right
