#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""plot.py - draws figures as an SVG: one point a figure, one panel a group.

Reads lines `figure: NAME VALUE UNIT` (others are left out), or lines of NAME, VALUE and
UNIT with tabs between, from files or standard input; writes the SVG to standard output.

--match selects names by a pattern in which each * stands for any text: with one * that
text is the label, with two the first is the panel. NAME_low and NAME_high, where they
are there, become the point's whisker. --note names what is written beside each point.
"""

import argparse
import dataclasses
import html
import math
import re
import sys

LEFT, PLOT, RIGHT, LINE, HEAD = 190, 420, 220, 20, 34


@dataclasses.dataclass
class Point:
    """One figure, with its interval and note."""

    label: str
    value: float
    unit: str
    low: float
    high: float
    note: str


def read_figures(files):
    """Name -> value and unit, in the order of the lines."""
    figures = {}
    for file in files:
        for line in file:
            if line.startswith("figure:"):
                words = line.split(None, 3)[1:]
            else:
                words = line.rstrip("\n").split("\t")
            try:
                figures[words[0]] = (float(words[1]), words[2].strip())
            except (IndexError, ValueError):
                continue
    return figures


def show(value, unit):
    number = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return number if unit == "ratio" else f"{number} {unit}"


def compile_pattern(pattern):
    """The matching names. The text of the last * is as long as possible."""
    parts = [re.escape(part) for part in pattern.split("*")]
    if len(parts) not in (2, 3):
        raise ValueError(f"'{pattern}': expected one * or two")
    stars = ["(.+)"] if len(parts) == 2 else ["(.+?)", "(.+)"]
    return re.compile("".join(a + b for a, b in zip(parts, stars + [""])) + "$")


def fill_pattern(pattern, groups):
    for group in groups:
        pattern = pattern.replace("*", group, 1)
    return pattern


def group_points(figures, pattern, note):
    """Panel -> points."""
    names = compile_pattern(pattern)
    panels = {}
    for name, (value, unit) in figures.items():
        match = names.match(name)
        if not match:
            continue
        groups = match.groups()
        beside = figures.get(fill_pattern(note, groups)) if note else None
        panels.setdefault(groups[0] if len(groups) == 2 else "", []).append(
            Point(
                label=groups[-1].replace("_", " "),
                value=value,
                unit=unit,
                low=figures.get(name + "_low", (value,))[0],
                high=figures.get(name + "_high", (value,))[0],
                note=show(*beside) if beside else "",
            )
        )
    return panels


def tick_step(span):
    """A step of 1, 2 or 5 times a power of ten: about five steps per span."""
    power = 10 ** math.floor(math.log10(span / 5))
    return next(power * f for f in (1, 2, 5, 10) if power * f >= span / 5)


class Scale:
    """Maps values to x coordinates."""

    def __init__(self, points, reference, logarithmic):
        values = [v for p in points for v in (p.low, p.high, p.value)]
        if reference is not None:
            values.append(reference)
        self.logarithmic = logarithmic and min(values) > 0
        values = [self.bend(value) for value in values]
        self.low, self.high = min(values), max(values)
        edge = (self.high - self.low) * 0.05 or abs(self.high) * 0.05 or 1
        self.low, self.high = self.low - edge, self.high + edge

    def bend(self, value):
        return math.log10(value) if self.logarithmic else value

    def x(self, value):
        return LEFT + PLOT * (self.bend(value) - self.low) / (self.high - self.low)

    def ticks(self):
        if self.logarithmic:
            powers = range(math.ceil(self.low), math.floor(self.high) + 1)
            return [10.0**power for power in powers]
        step = tick_step(self.high - self.low)
        first = math.ceil(self.low / step)
        return [step * i for i in range(first, math.floor(self.high / step) + 1)]


def text(x, y, words, anchor="start", kind=""):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">'
        f"{html.escape(words)}</text>"
    )


def draw_axis(scale, top, bottom):
    for tick in scale.ticks():
        x = scale.x(tick)
        yield f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>'
        yield text(x, bottom + 13, f"{tick:.6g}", "middle", "small")


def draw_point(point, scale, y):
    x, low, high = scale.x(point.value), scale.x(point.low), scale.x(point.high)
    yield text(LEFT - 10, y + 4, point.label, "end")
    yield f'<line class="whisker" x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/>'
    yield f'<circle class="point" cx="{x:.1f}" cy="{y}" r="4"/>'
    words = ", ".join(filter(None, (show(point.value, point.unit), point.note)))
    yield text(LEFT + PLOT + 10, y + 4, words)


def draw_panel(name, points, top, arguments):
    """Yields the panel's elements, and finally its end."""
    scale = Scale(points, arguments.reference, arguments.log)
    bottom = top + HEAD + LINE * len(points)
    begin = top + HEAD - LINE / 2
    if name:
        yield text(LEFT, top + 14, name, "start", "panel")
    yield from draw_axis(scale, begin, bottom)
    for point in points:
        if point.label == arguments.noise:
            low, high = scale.x(point.low), scale.x(point.high)
            yield (
                f'<rect class="noise" x="{low:.1f}" y="{begin}" '
                f'width="{high - low:.1f}" height="{bottom - begin}"/>'
            )
    if arguments.reference is not None:
        x = scale.x(arguments.reference)
        yield (
            f'<line class="reference" x1="{x:.1f}" y1="{begin}" x2="{x:.1f}" '
            f'y2="{bottom}"/>'
        )
    for i, point in enumerate(points):
        yield from draw_point(point, scale, top + HEAD + LINE * i)


STYLE = """<style>
text { font: 12px sans-serif; fill: #222 } .small { font-size: 10px; fill: #666 }
.title { font-size: 16px; font-weight: bold } .panel { font-weight: bold }
.grid { stroke: #ddd } .reference { stroke: #a33; stroke-dasharray: 4 3 }
.noise { fill: #999; fill-opacity: 0.25 }
.whisker { stroke: #26547c; stroke-width: 2 } .point { fill: #26547c }
</style>"""


def document(title, width, height, parts):
    """The SVG of these parts, below its title."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">',
            f"<title>{html.escape(title)}</title>",
            STYLE,
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            text(12, 24, title, "start", "title"),
            *parts,
            "</svg>\n",
        ]
    )


def draw(panels, arguments):
    parts = []
    top = 36
    for name, points in panels.items():
        parts += draw_panel(name, points, top, arguments)
        top += HEAD + LINE * len(points) + 30
    return document(arguments.title, LEFT + PLOT + RIGHT, top, parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--title", default="Figures")
    parser.add_argument("--match", default="*", help="which names (all)")
    parser.add_argument("--note", help="pattern of the figures beside the points")
    parser.add_argument("--reference", type=float, help="draw a line at this value")
    parser.add_argument("--noise", help="label of the point that shows the noise")
    parser.add_argument("--log", action="store_true", help="logarithmic scale")
    parser.add_argument("files", nargs="*", type=argparse.FileType(encoding="utf-8"))
    arguments = parser.parse_args()
    figures = read_figures(arguments.files or [sys.stdin])
    try:
        panels = group_points(figures, arguments.match, arguments.note)
    except ValueError as error:
        parser.error(str(error))
    if not panels:
        print(f"plot.py: no figure fits '{arguments.match}'", file=sys.stderr)
        return 2
    sys.stdout.write(draw(panels, arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
