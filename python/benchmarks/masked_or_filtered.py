"""Which is faster, masked messages or filtered edges?

    python python/benchmarks/masked_or_filtered.py --out crossover
    python python/benchmarks/masked_or_filtered.py --out crossover --device cuda --edges 4 5 6 7

Forward and backward of a layer that sums the messages of edges, as GIN's does, over graphs of
random edges, hidden sizes, and shares of removed edges:

    masked    all messages, times the mask
    filtered  the kept edges, which are chosen first (included in the time), and their messages

Both are measured in alternating rounds; the figure is the median of the rounds' ratios, masked over
filtered: above 1, filtered edges are faster. Results that differ by more than rounding are an
error. It writes OUT.json and OUT.svg and prints the table. It needs matplotlib.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import platform
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import matplotlib
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from torch import Tensor

NODES = 6607  # yeast's genes
# of dark pages, in place of paper, ink and lines
DARK = {
    "#ffffff": "#14181d",
    "#000000": "#e6eaef",
    "#0072b2": "#58b0ea",
    "#d0530a": "#f58a4b",
    "#008060": "#35c492",
    "#b8860b": "#e3b341",
    "#a6509c": "#d98fd0",
    "#3d9bd0": "#9ad4f5",
    "#7d8590": "#8b949e",
}
COLORS = list(DARK)[2:]


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
        from tcbuild.torch._filtered import kept_positions

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


def plot(ratios: list[dict[str, float]], path: Path) -> None:
    """The ratios over edges: a panel per number of deletions, a line per hidden size."""
    panels = sorted({each["deleted"] for each in ratios})
    figure = Figure((9, 3.6), layout="constrained")
    row = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, deleted in zip(row, panels):
        axes.axhline(1, color=COLORS[-1], linestyle="--", label="equal; above, filtered is faster")
        hidden = sorted({each["hidden"] for each in ratios})
        for size, color, marker in zip(hidden, itertools.cycle(COLORS), itertools.cycle("os^Dv")):
            line = [each for each in ratios if (each["hidden"], each["deleted"]) == (size, deleted)]
            points = zip(*((each["edges"], each["ratio"]) for each in line))
            axes.plot(*points, color=color, marker=marker, label=f"hidden size {size:g}")
        genes = "gene" if deleted == 1 else "genes"
        axes.set(xscale="log", xlabel="edges", title=f"{deleted:,} deleted {genes}")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
    row[0].set(ylabel="time of masked / time of filtered", ylim=(0, None))
    lines = row[0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=5, frameon=False)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """As SVG with text, for light and dark pages; the same bytes for the same figures."""
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # inches
    svg = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tcbuild"}):
        figure.savefig(svg, format="svg", metadata={"Date": None})
    rules = [f"text {{ fill: {DARK['#000000']} }}"]  # matplotlib gives black text no style
    for (light, dark), of in itertools.product(DARK.items(), ("fill", "stroke")):
        rules.append(f'[style*="{of}: {light}"] {{ {of}: {dark} !important }}')
    style = "\n".join(["", "@media (prefers-color-scheme: dark) {", *rules, "}", "</style>"])
    path.write_text(svg.getvalue().replace("</style>", style, 1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("crossover"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--edges", type=int, nargs="+", default=[4, 5, 6], help="powers of 10 (default 4 5 6)"
    )
    parser.add_argument("--hidden", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--deleted", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=1 << 27, help="edges times hidden size at most")
    options = parser.parse_args()
    ratios: list[dict[str, float]] = []
    print(f"{'edges':>10} {'hidden':>6} {'deleted':>7}  masked / filtered")
    for power in options.edges:
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
    plot(ratios, options.out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
