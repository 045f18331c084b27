"""Random orders of any number of samples without memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from typing import Any

import numpy as np
import numpy.typing as npt
from torch.utils.data import Sampler

_AT_ONCE = 1 << 12  # numbers that are permuted at a time
_ROUNDS = 8  # of the Feistel network
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of splitmix64


class RandomSampler(Sampler[int]):
    """The indices of a dataset in random order, each once per epoch, for a DataLoader's `sampler`.

        sampler = tcbuild.torch.RandomSampler(triples, seed=1)
        loader = DataLoader(triples, batch_size=64, sampler=sampler)
        for epoch in range(10):
            sampler.set_epoch(epoch)

    The order is computed as it goes, in no memory and with nothing to wait for: torch's shuffle
    makes a list of all indices first, 5.7 GB and minutes for 10^8. It depends on seed, epoch and
    length alone.

    num_replicas, rank: in a distributed run, every num_replicas-th index from rank on. All ranks
        take equally many: the last ones of a length that does not divide repeat the first, or with
        drop_last are left out, as torch's DistributedSampler has it.

    state_dict and load_state_dict resume within an epoch; torchdata's StatefulDataLoader calls
    them.
    """

    def __init__(
        self,
        dataset: Sized,
        seed: int = 0,
        num_replicas: int = 1,
        rank: int = 0,
        drop_last: bool = False,
    ):
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"sample at random: rank {rank} of {num_replicas} replicas\n"
                "hint: ranks count from 0; pass torch.distributed.get_rank() and get_world_size()"
            )
        self.samples, self.seed, self.epoch = len(dataset), seed, 0
        self.num_replicas, self.rank = num_replicas, rank
        rounded = self.samples if drop_last else self.samples + num_replicas - 1
        self._length = rounded // num_replicas if self.samples else 0
        self._next = self._start = 0  # in the order; _start where the next iteration begins

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of the epoch that begins next."""
        self.epoch, self._next, self._start = epoch, 0, 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        self._next, self._start = self._start, 0
        return self._from(self._next)

    def _from(self, first: int) -> Iterator[int]:
        order = _Permutation(self.samples, self.seed, self.epoch)
        for start in range(first, self._length, _AT_ONCE):
            places = np.arange(start, min(start + _AT_ONCE, self._length), dtype=np.uint64)
            places = places * np.uint64(self.num_replicas) + np.uint64(self.rank)
            for number in order(places % np.uint64(self.samples)).tolist():
                self._next += 1
                yield number

    def state_dict(self) -> dict[str, Any]:
        """What load_state_dict needs to go on with the index after the last one given."""
        of = {"samples": self.samples, "ranks": self.num_replicas}
        return {"seed": self.seed, "epoch": self.epoch, "next": self._next, "of": of}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where another sampler of the same dataset and number of replicas was."""
        found, expected = state["of"], self.state_dict()["of"]
        if found != expected:
            raise ValueError(
                f"resume a sampler: found a state of {_counts(found)}, expected {_counts(expected)}"
                "\nhint: resume with the dataset, or the view of it, and with the number of ranks "
                "that the state was saved with"
            )
        self.seed, self.epoch = state["seed"], state["epoch"]
        self._next = self._start = state["next"]


def _counts(of: Mapping[str, int]) -> str:
    return f"{of['samples']:,} samples on {of['ranks']} ranks"


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
            left, right = right, (left + _hashed(right + key)) & self._half
        return left << self._bits | right


def _hashed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The values with their bits mixed, as splitmix64 does."""
    values = (values ^ values >> np.uint64(30)) * _MIX[0]
    values = (values ^ values >> np.uint64(27)) * _MIX[1]
    return values ^ values >> np.uint64(31)
