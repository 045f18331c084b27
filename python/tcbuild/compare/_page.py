"""A page with a plot of what was found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from statistics import median

from tcbuild.compare._report import Result

_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>tcbuild compare</title>
<meta name="viewport" content="width=device-width"><style>:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto }
svg { width: 100%; max-width: 34rem } text { font-size: 11px; fill: currentColor }</style>"""


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
