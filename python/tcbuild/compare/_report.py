"""What was found: tables, a recommendation with its reason, and a page with a plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from statistics import median
from typing import Any, NamedTuple

from tcbuild.compare._train import Row

_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>tcbuild compare</title>
<meta name="viewport" content="width=device-width"><style>:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto }
svg { width: 100%; max-width: 34rem } text { font-size: 11px; fill: currentColor }</style>"""


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


def _shown(value: float | None, unit: str = "") -> str:
    if value is not None and unit:
        power = min(int(math.log10(max(value, 1))) // 3, 4)
        return f"{_shown(value / 1000**power)} {('', 'k', 'M', 'G', 'T')[power]}{unit}"
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _aligned(table: Sequence[dict[str, str]]) -> list[str]:
    rows = [list(table[0]), *(list(line.values()) for line in table)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["", *("  ".join(map(str.rjust, row, widths)) for row in rows), ""]


def storage_table(stored: Sequence[dict[str, Any]], total: int) -> list[str]:
    """total: samples of the whole set, to which sizes are extrapolated"""
    table = []
    for each in stored:
        shared, per_sample, samples = each["shared"], each["per_sample"], each["samples"]
        here, whole = (_shown(shared + per_sample * n, "B") for n in (samples, total))
        line = {"dataset": each["dataset"], "samples": f"{samples:,}", "on disk": here}
        line |= {"graph etc.": _shown(shared, "B"), "per sample": _shown(per_sample, "B")}
        line[f"all {total:,}"] = whole if total == samples else f"~{whole}"
        line |= {f"{what} s": _shown(each[f"{what}_s"]) for what in ("build", "prove")}
        table.append(line)
    return _aligned(table)


def training_table(results: Sequence[Result]) -> list[str]:
    columns = {"CPU s/it": "cpu_s", "load ms": "load_ms", "open ms": "open_ms"}
    columns |= {"sent/sample": "sent_bytes", "host": "host_bytes", "card": "card_bytes"}
    table = []
    for each in results:
        line = {name: str(value) for name, value in each.row._asdict().items()}
        line |= {"it/s": "".join(each.of("failure")[:1]), "of rounds": "-", "samples/s": "-"}
        if its := each.of("it_per_s"):
            line["it/s"], line["samples/s"] = _shown(median(its)), _shown(median(each.rates))
            line["of rounds"] = f"{_shown(its[0])} to {_shown(its[-1])}"
        line["disk/sample"] = _shown(each.storage["per_sample"], "B")
        for column, figure in columns.items():
            middle = median(each.of(figure)) if each.of(figure) else None
            line[column] = _shown(middle, "B" * figure.endswith("_bytes"))
        table.append(line)
    return _aligned(table)


def recommendation(results: Sequence[Result]) -> list[str]:
    """What to use and why, in sentences."""
    done = [each for each in results if each.rounds and not each.of("failure")]
    if not done:
        return ["Recommendation: none, because no row had enough memory; try --batch 1."]
    same = [each for each in done if each.row.batch == done[0].row.batch]
    best, reason = _best(same)
    sentences = [f"Recommendation: {best.name}; {reason}."]
    for form in dict.fromkeys(each.row.form for each in same if each.row.form != best.row.form):
        other, _ = _best([each for each in same if each.row.form == form])
        ratio = _shown(median(best.rates) / median(other.rates))
        sentences.append(f"If your layers need {form}: {other.name}; {ratio} times as slow.")
    return sentences


def _best(results: list[Result]) -> tuple[Result, str]:
    """The fastest; of several that may be, the one with the least disk; and why."""
    fastest = max(results, key=lambda each: median(each.rates))
    equal = [each for each in results if each.rates[-1] >= fastest.rates[0]]
    best = min(equal, key=lambda each: each.storage["per_sample"])
    middle, low, high = map(_shown, (median(best.rates), best.rates[0], best.rates[-1]))
    rates = f"{middle} samples/s ({low} to {high})"
    if len(equal) == 1:
        return best, f"it is the fastest of this batch size: no other row reaches its {rates}"
    return best, (
        f"{len(equal)} rows may be the fastest, as their ranges overlap, and of these it takes the "
        f"least disk, {_shown(best.storage['per_sample'], 'B')} a sample; it had {rates}"
    )


def page(lines: Sequence[str], results: Sequence[Result]) -> str:
    """HTML: the samples per second of each row, median and range, and the tables."""
    powers = [math.log10(rate) for each in results for rate in each.rates] or [0]
    low, high = math.floor(min(powers)), math.floor(max(powers)) + 1
    bottom, scale = 36 * len(results), 340 / (high - low)

    def x(rate: float) -> float:
        return round(10 + scale * (math.log10(rate) - low), 1)

    parts = [f'<h1>Samples per second</h1><svg viewBox="0 0 360 {bottom + 20}" role="img">']
    for tick in (10.0**power for power in range(low, high + 1)):
        parts.append(f'<path d="M{x(tick)} 0V{bottom}" stroke="#8886"/>')
        parts.append(f'<text x="{x(tick)}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>')
    for y, each in zip(range(14, bottom, 36), results):
        parts.append(f'<text y="{y}">{escape(each.name)}</text>')
        if rates := each.rates:
            ends = f"M{x(rates[0])} {y + 10}H{x(rates[-1])}"
            parts.append(f'<path d="{ends}" stroke="#3d9bd0" stroke-width="4"/>')
            parts.append(f'<circle cx="{x(median(rates))}" cy="{y + 10}" r="4" fill="#0072b2"/>')
    text = escape("\n".join(lines))
    return f"{_HEAD}{''.join(parts)}</svg><pre>{text}</pre></html>\n"
