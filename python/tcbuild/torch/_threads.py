"""The number of threads that write masks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread(device: torch.device) -> Iterator[None]:
    """Limits torch to one thread for work on the CPU.

    Writing masks is many short steps at the speed of memory. With several threads, each step ends
    with a wait for the slowest, and next to the workers of a DataLoader that is a wait for a core:
    ten times the work itself.
    """
    if device.type != "cpu":
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
