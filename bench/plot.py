#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Draws the slowdowns that bench/perturbation.sh prints as bars, in SVG.

    bench/perturbation.sh | tee table; bench/plot.py table >plot.svg

A bar goes from the least to the greatest slowdown of the pairs, its mark is the median.
"""

import sys
from xml.sax.saxutils import escape

LEFT, TOP, ROW, WIDTH = 260, 40, 18, 500


def read_rows(lines):
    """The table's lines: (label, median, least, greatest, observe rate)."""
    rows = []
    for line in lines:
        words = line.split()
        if len(words) == 9 and words[0] in ("small", "medium", "large"):
            slowdown = [float(word) for word in words[5:8]]
            rows.append((f"{words[0]} {words[1]}", *slowdown, words[8]))
    return rows


def draw(rows):
    low = min([0.95] + [row[2] for row in rows])
    high = max([1.1] + [row[3] for row in rows])

    def place(value):
        return LEFT + (value - low) / (high - low) * WIDTH

    height = TOP + ROW * len(rows) + 40
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 140}" '
        f'height="{height}" font-family="sans-serif" font-size="11">'
    )
    yield f'<text x="{LEFT}" y="16">slowdown of the wind tunnel; pulls a second</text>'
    for step in range(6):
        value = low + (high - low) * step / 5
        x = place(value)
        yield f'<path d="M{x:.1f} {TOP - 6}V{height - 30}" stroke="#ddd"/>'
        yield f'<text x="{x:.1f}" y="{height - 16}" text-anchor="middle">{value:.2f}</text>'
    for number, (label, median, least, greatest, rate) in enumerate(rows):
        y = TOP + ROW * number
        width = max(1.0, place(greatest) - place(least))
        yield f'<text x="{LEFT - 8}" y="{y + 10}" text-anchor="end">{escape(label)}</text>'
        yield (
            f'<rect x="{place(least):.1f}" y="{y + 2}" width="{width:.1f}" height="9" '
            f'fill="#9ecae1"/>'
        )
        yield f'<path d="M{place(median):.1f} {y}v13" stroke="#08519c" stroke-width="2"/>'
        yield f'<text x="{LEFT + WIDTH + 12}" y="{y + 10}">{escape(rate)}</text>'
    yield "</svg>"


def main():
    if len(sys.argv) > 2:
        sys.exit("usage: plot.py [TABLE]")
    if len(sys.argv) == 2:
        with open(sys.argv[1], encoding="utf-8") as file:
            rows = read_rows(file)
    else:
        rows = read_rows(sys.stdin)
    if not rows:
        sys.exit("plot.py: there is no line of a table of bench/perturbation.sh")
    print("\n".join(draw(rows)))


main()
