"""What was found: tables, and a recommendation with its reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

import pandas as pd

from tcbuild.compare._train import Row


class Result(NamedTuple):
    row: Row
    storage: dict[str, Any]
    rounds: list[dict[str, Any]]

    @property
    def name(self) -> str:
        dataset, form, batch, workers, device, folder = self.row
        return f"{form}, {dataset}, batch {batch}, {workers} workers, {device}, {folder}"

    def of(self, figure: str) -> list[Any]:  # ascending; a failure is a figure, too
        return sorted(each[figure] for each in self.rounds if each.get(figure) is not None)

    @property
    def rates(self) -> list[float]:  # samples per second
        return [rate * self.row.batch for rate in self.of("it_per_s")]

    def costs(self, cpu: bool) -> list[float]:  # seconds per sample: of CPU, or of time
        if cpu:
            return [seconds / self.row.batch for seconds in self.of("cpu_s")]
        return sorted(1 / rate for rate in self.rates)


def _shown(value: float | None, unit: str = "") -> str:
    if value is not None and unit:
        power = min(int(math.log10(max(value, 1))) // 3, 4)
        return f"{_shown(value / 1000**power)} {('', 'k', 'M', 'G', 'T')[power]}{unit}"
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def storage_table(stored: Sequence[dict[str, Any]]) -> list[str]:
    table = []
    for each in stored:
        whole = each["shared"] + each["per_sample"] * each["samples"]
        line = {"dataset": each["dataset"], "samples": f"{each['samples']:,}"}
        line |= {"on disk": _shown(whole, "B"), "graph etc.": _shown(each["shared"], "B")}
        line["per sample"] = _shown(each["per_sample"], "B")
        line |= {f"{what} s": _shown(each[f"{what}_s"]) for what in ("build", "prove")}
        table.append(line)
    return ["", pd.DataFrame(table).to_string(index=False), ""]


def training_table(results: Sequence[Result]) -> list[str]:
    columns = {"load ms": "load_ms", "open ms": "open_ms", "sent/sample": "sent_bytes"}
    columns |= {"host": "host_bytes", "card": "card_bytes"}
    table = []
    for each in results:
        line = {name: str(value) for name, value in each.row._asdict().items()}
        found = [*each.of("failure")[:1], "-", "-"]
        if rates := each.rates:
            found = [_shown(median(rates)), f"{_shown(rates[0])} to {_shown(rates[-1])}"]
            found.append(_shown(1e3 * median(each.costs(True))))
        line |= zip(("samples/s", "of rounds", "CPU ms/sample"), found)
        line["disk/sample"] = _shown(each.storage["per_sample"], "B")
        for column, figure in columns.items():
            middle = median(each.of(figure)) if each.of(figure) else None
            line[column] = _shown(middle, "B" * figure.endswith("_bytes"))
        table.append(line)
    return ["", pd.DataFrame(table).to_string(index=False), ""]


def recommendation(results: Sequence[Result], busy: bool) -> list[str]:
    """What to use and why, in lines. busy: by CPU time, as other programs took time."""
    done = [each for each in results if each.rounds and not each.of("failure")]
    if not done:
        return ["Recommendation: none, because no row had enough memory; try --batch 1."]
    workers, device = done[0].row[3:5]
    if busy and device != "cpu":
        return ["Recommendation: none, as the machine was busy; CPU times leave out the card's."]
    if busy:  # CPU times leave out those of workers
        done = [each for each in done if each.row[3:5] == (workers, device)]
    every = [each.costs(busy) for each in done]
    few = min(map(len, every)) < 3  # then ranges may be small by chance, but hardly those of all
    wide = max(costs[-1] / costs[0] for costs in every) if few else 1.0
    best, *others = _equal(done, busy, wide)
    costs = [1e3 * cost for cost in best.costs(True)] if busy else best.rates
    low, middle, high = map(_shown, (costs[0], median(costs), costs[-1]))
    had = f"{middle} {'CPU ms/sample' if busy else 'samples/s'} ({low} to {high})"
    why = f"it is the fastest: no other row reaches its {had}"
    if others:
        overlap = "overlap, or are of too few rounds (raise --seconds)" if few else "overlap"
        why = f"{len(others) + 1} rows may be the fastest, as their ranges {overlap}; of these it "
        why += f"takes the least disk, {_shown(best.storage['per_sample'], 'B')} a sample, at {had}"
    by = f", by CPU time as the machine was busy, of rows with {workers} workers" if busy else ""
    lines = [f"Recommendation{by}: {best.name}; {why}."]
    lines += [f"  not distinguishable: {each.name}" for each in others]
    for form in dict.fromkeys(each.row.form for each in done if each.row.form != best.row.form):
        it = _equal([each for each in done if each.row.form == form], busy, wide)[0]
        like = [each for each in done if each.row[1:] == (best.row.form, *it.row[2:])]
        lines.append(f"If your layers need {form}: {it.name}")
        for that in _equal(like, busy, wide)[:1]:
            ratio = _shown(median(it.costs(busy)) / median(that.costs(busy)))
            than = f"{ratio} times {'the CPU time of' if busy else 'as long as'}"
            apart = len(_equal([it, that], busy, wide)) == 1
            lines[-1] += f"; {than if apart else 'not distinguishable from'} {that.name}"
    return lines


def _equal(results: Sequence[Result], cpu: bool, wide: float) -> list[Result]:
    """The rows that may be the fastest, if theirs is wider by a factor; the least disk is first."""
    ranked = sorted(results, key=lambda each: median(each.costs(cpu)))
    equal = [e for e in ranked if e.costs(cpu)[0] <= ranked[0].costs(cpu)[-1] * wide]
    return sorted(equal, key=lambda each: float(each.storage["per_sample"]))
