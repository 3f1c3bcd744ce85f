#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""growth_plot.py - draws what bench/growth.sh has measured, with lines of theory.

Reads lines `figure: growth_PANEL_SERIES_SIZE VALUE UNIT` and writes NAME-live.svg and
NAME-events.svg: panels with logarithmic axes. A dashed line has the slope that theory
gives a series and goes through its middle point. Prints how often a value doubles when
its size does, from the last but one point to the last, as exponents.
"""

import argparse
import dataclasses
import math
import re
import sys

import plot

LEFT, TOP, WIDTH, HEIGHT, ACROSS_GAP, DOWN_GAP, ACROSS = 70, 74, 360, 210, 110, 78, 2
COLOURS = ("#26547c", "#d1495b", "#3a8f5c", "#b07d12")
TITLES = {
    "live": "Growth of what looks at a run",
    "events": "Growth with events",
}


@dataclasses.dataclass
class Panel:
    """A panel, with the exponent of its sizes according to theory."""

    title: str
    sizes: str  # what they count
    theory: str
    exponent: float
    figure: str  # the file that it is in


PANELS = {
    "elements": Panel("Processor time of a pull", "elements", "O(elements)", 1, "live"),
    "hosts": Panel("Processor time of a pull", "hosts of 280 elements", "O(hosts)", 1,
                   "live"),
    "time": Panel("Processor time of one look", "ranks", "O(ranks)", 1, "live"),
    "memory": Panel("Peak memory of one look", "ranks", "O(ranks)", 1, "live"),
    "order": Panel("Processor time to order all", "events", "O(events)", 1, "events"),
    "search": Panel("First match", "events", "O(1)", 0, "events"),
    "heap": Panel("Memory held", "events", "O(events)", 1, "events"),
    "archive": Panel("Archive, an event", "events", "O(1)", 0, "events"),
    "record": Panel("Processor time to record", "events", "O(events)", 1, "events"),
    "peak": Panel("Peak memory of recording", "events", "O(events)", 1, "events"),
}


def collect(figures):
    """Panel -> series -> points, by size."""
    names = re.compile(r"growth_([a-z]+)_(.+)_([0-9]+)$")
    series, units = {}, {}
    for name, (value, unit) in figures.items():
        match = names.match(name)
        if not match or match[1] not in PANELS or value <= 0:
            continue
        points = series.setdefault(match[1], {}).setdefault(match[2], {})
        points[int(match[3])] = value
        units[match[1]] = unit
    return series, units


def exponent(points):
    """The slope between the last two sizes; None if there is only one."""
    sizes = sorted(points)[-2:]
    if len(sizes) < 2:
        return None
    return math.log(points[sizes[1]] / points[sizes[0]]) / math.log(sizes[1] / sizes[0])


class Axis:
    """Maps values to coordinates, logarithmically."""

    def __init__(self, values, begin, length):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.begin, self.length = begin, length

    def at(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + self.length * part

    def ticks(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def short(number):
    """Formats 1,000,000 as 1M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:g}{letter}"
    return f"{number:g}"


def draw_axes(x, y):
    for tick in x.ticks():
        at = x.at(tick)
        yield (f'<line class="grid" x1="{at:.1f}" y1="{y.begin}" x2="{at:.1f}" '
               f'y2="{y.begin + y.length}"/>')
        yield plot.text(at, y.begin + 14, short(tick), "middle", "small")
    for tick in y.ticks():
        at = y.at(tick)
        yield (f'<line class="grid" x1="{x.begin}" y1="{at:.1f}" '
               f'x2="{x.begin + x.length}" y2="{at:.1f}"/>')
        yield plot.text(x.begin - 6, at + 4, short(tick), "end", "small")


def theory_line(points, slope, x, y):
    """From the first size to the last, within the panel."""
    sizes = sorted(points)
    middle = sizes[len(sizes) // 2]
    ends = [(size, points[middle] * (size / middle) ** slope)
            for size in (sizes[0], sizes[-1])]
    bottom, top = 10.0**y.low, 10.0**y.high
    if slope > 0:
        ends = [(size * (min(max(value, bottom), top) / value) ** (1 / slope),
                 min(max(value, bottom), top)) for size, value in ends]
    return ends


def polyline(points, x, y, style):
    at = " ".join(f"{x.at(size):.1f},{y.at(value):.1f}" for size, value in points)
    return f'<polyline points="{at}" fill="none" {style}/>'


def draw_series(number, name, points, panel, x, y):
    colour = COLOURS[number % len(COLOURS)]
    yield polyline(theory_line(points, panel.exponent, x, y), x, y,
                   f'stroke="{colour}" stroke-dasharray="3 4" stroke-opacity="0.6"')
    yield polyline(sorted(points.items()), x, y, f'stroke="{colour}" stroke-width="1.6"')
    for size, value in sorted(points.items()):
        yield (f'<circle cx="{x.at(size):.1f}" cy="{y.at(value):.1f}" r="3" '
               f'fill="{colour}"/>')
    place = y.begin + y.length + 14 + 15 * number
    yield (f'<line x1="{x.begin + 8}" y1="{place - 4}" x2="{x.begin + 24}" '
           f'y2="{place - 4}" stroke="{colour}" stroke-width="2"/>')
    yield plot.text(x.begin + 29, place, name.replace("_", " "))


def draw_panel(place, panel, series, unit):
    left = LEFT + place % ACROSS * (WIDTH + ACROSS_GAP)
    top = TOP + place // ACROSS * (HEIGHT + DOWN_GAP)
    x = Axis([size for points in series.values() for size in points], left, WIDTH)
    y = Axis([value for points in series.values() for value in points.values()],
             top + HEIGHT, -HEIGHT)
    yield plot.text(left, top - 10, f"{panel.title}, {unit}; dashed: {panel.theory}",
                    "start", "panel")
    yield from draw_axes(x, y)
    yield plot.text(left + WIDTH / 2, top + HEIGHT + 30, panel.sizes, "middle")
    for number, (name, points) in enumerate(series.items()):
        yield from draw_series(number, name, points, panel, x, y)


def draw(title, names, series, units):
    parts = []
    for place, name in enumerate(names):
        parts += draw_panel(place, PANELS[name], series[name], units[name])
    width = LEFT + ACROSS * (WIDTH + ACROSS_GAP) - ACROSS_GAP + 30
    height = TOP + math.ceil(len(names) / ACROSS) * (HEIGHT + DOWN_GAP) - 30
    return plot.document(title, width, height, parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="growth", metavar="NAME")
    parser.add_argument("files", nargs="*", type=argparse.FileType(encoding="utf-8"))
    arguments = parser.parse_args()
    series, units = collect(plot.read_figures(arguments.files or [sys.stdin]))
    if not series:
        print("growth_plot.py: no figure of growth", file=sys.stderr)
        return 2
    for figure, title in TITLES.items():
        names = [name for name, panel in PANELS.items()
                 if panel.figure == figure and name in series]
        if names:
            with open(f"{arguments.output}-{figure}.svg", "w", encoding="utf-8") as file:
                file.write(draw(title, names, series, units))
    for name, panel in PANELS.items():
        for one, points in series.get(name, {}).items():
            slope = exponent(points)
            if slope is not None:
                print(f"{name} {one.replace('_', ' ')}: {slope:.2f}, in theory "
                      f"{panel.exponent:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
