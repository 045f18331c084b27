"""Which is faster, masked messages or filtered edges?

    python python/benchmarks/masked_or_filtered.py --out crossover
    python python/benchmarks/masked_or_filtered.py --out crossover --device cuda --edges 7

Forward and backward of a layer that sums the messages of edges, as GIN's does, over graphs of
random edges, hidden sizes, and shares of removed edges:

    masked    all messages, times the mask
    filtered  the kept edges, which are chosen first (included in the time), and their messages

Both are measured in alternating rounds; the figure is the median of the rounds' ratios, masked over
filtered: above 1, filtered edges are faster. Results that differ by more than rounding are an
error. It writes OUT.json and OUT.svg and prints the table.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from torch import Tensor

NODES = 6607  # yeast's genes
COLORS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951")


class Case:
    """A graph of random edges, of which those of some deleted genes are removed."""

    def __init__(self, edges: int, hidden: int, deleted: int, device: str):
        random = torch.Generator().manual_seed(edges + hidden + deleted)
        ends = torch.randint(NODES, (2, edges), generator=random)
        kept = torch.ones(NODES, dtype=torch.bool)
        kept[torch.randperm(NODES, generator=random)[:deleted]] = False
        mask = kept[ends[0]] & kept[ends[1]]
        self.count = int(mask.sum())  # the host knows it, as it does for batches
        self.edges, self.mask = ends.to(device), mask.to(device)
        self.x = torch.rand(NODES, hidden, generator=random).to(device).requires_grad_()

    def masked(self) -> Tensor:
        messages = self.x[self.edges[0]] * self.mask[:, None]
        return torch.zeros_like(self.x).index_add(0, self.edges[1], messages)

    def filtered(self) -> Tensor:
        from tcbuild.torch.filtered import kept_positions

        ends = self.edges.index_select(1, kept_positions(self.mask, lambda: self.count))
        return torch.zeros_like(self.x).index_add(0, ends[1], self.x[ends[0]])

    def seconds(self, form: Callable[[], Tensor]) -> float:
        """Of forward and backward."""
        self.x.grad = None
        began = self.now()
        form().sum().backward()
        return self.now() - began

    def now(self) -> float:
        if self.x.is_cuda:
            torch.cuda.synchronize()
        return perf_counter()

    def ratio(self, rounds: int) -> float:
        torch.testing.assert_close(self.masked(), self.filtered(), rtol=1e-4, atol=1e-4)
        ratios = [
            self.seconds(self.masked) / self.seconds(self.filtered) for _ in range(rounds + 1)
        ]
        return median(ratios[1:])


def plot(ratios: list[dict[str, float]], deleted: list[int], hidden: list[int]) -> str:
    """The ratios over edges as SVG: a panel per hidden size, a line per number of deletions."""
    width, height = 240, 200
    values = [each["ratio"] for each in ratios]
    low, high = min([0.5, *values]), max([2.0, *values])
    sizes = sorted({each["edges"] for each in ratios})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * len(hidden) + 40} '
        f'{height + 70}" font-family="sans-serif" font-size="11">',
        "<title>Masked messages or filtered edges</title>",
        "<desc>Time of masked messages over that of filtered edges, by edges, hidden size and "
        "deleted genes</desc>",
    ]

    def y(value: float) -> float:
        return 25 + (high - value) / (high - low) * (height - 20)

    for panel, size in enumerate(hidden):
        left = 40 + panel * width

        def x(edges: float, left: int = left) -> float:
            return left + 10 + sizes.index(edges) * (width - 50) / max(len(sizes) - 1, 1)

        parts.append(f'<text x="{left}" y="14">hidden {size}</text>')
        parts.append(
            f'<line x1="{left}" x2="{left + width - 30}" y1="{y(1):.1f}" y2="{y(1):.1f}" '
            'stroke="#888" stroke-dasharray="4 3"/>'
        )
        for edges in sizes:
            label = f"{edges:.0e}".replace("e+0", "e")
            parts.append(f'<text x="{x(edges) - 8:.1f}" y="{height + 25}">{label}</text>')
        for color, count in zip(COLORS, deleted):
            line = [e for e in ratios if e["hidden"] == size and e["deleted"] == count]
            points = " ".join(f"{x(e['edges']):.1f},{y(e['ratio']):.1f}" for e in line)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{color}"/>')
    for value in (low, 1.0, high):
        parts.append(f'<text x="4" y="{y(value) + 4:.1f}">{value:.2f}</text>')
    for place, (color, count) in enumerate(zip(COLORS, deleted)):
        left = 40 + 130 * place
        parts.append(
            f'<text x="{left}" y="{height + 50}" fill="{color}">{count:,} deleted genes</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("crossover"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--edges", type=int, default=6, help="up to 10^EDGES edges (default 6)")
    parser.add_argument("--hidden", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--deleted", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=1 << 27, help="edges times hidden size at most")
    options = parser.parse_args()
    ratios: list[dict[str, float]] = []
    print(f"{'edges':>10} {'hidden':>6} {'deleted':>7}  masked / filtered")
    for power in range(4, options.edges + 1):
        for hidden in options.hidden:
            for deleted in options.deleted:
                if 10**power * hidden > options.most:
                    continue
                ratio = Case(10**power, hidden, deleted, options.device).ratio(options.rounds)
                ratios.append(
                    {"edges": 10**power, "hidden": hidden, "deleted": deleted, "ratio": ratio}
                )
                print(f"{10**power:>10,} {hidden:>6} {deleted:>7,}  {ratio:.2f}", flush=True)
    device = torch.cuda.get_device_name() if options.device == "cuda" else platform.machine()
    found = {"device": device, "threads": torch.get_num_threads(), "torch": torch.__version__}
    options.out.with_suffix(".json").write_text(json.dumps(found | {"ratios": ratios}) + "\n")
    options.out.with_suffix(".svg").write_text(plot(ratios, options.deleted, options.hidden))


if __name__ == "__main__":
    main()
