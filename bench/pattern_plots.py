# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""pattern_plots.py - the figures of pattern_tables.py, as SVG.

Searches: a row for each case, a point for each way on a logarithmic axis; filled is what
was measured here, hollow what the thesis has. Closures: a panel for each event set, a
curve for each method with whiskers from the least to the greatest; the thesis' curves
are dashed.
"""

import html
import math

import pattern_thesis as thesis
import plot

COLOURS = {
    "closure_existing": "#999999", "closure_binary": "#edae49",
    "closure_combining": "#b07d12", "rewrite_none": "#d1495b",
    "rewrite_best": "#26547c", "indexed_1": "#3a8f5c",
    "existing": "#999999", "step": "#d1495b", "binary": "#26547c", "jump": "#3a8f5c",
    "made anew": "#d1495b", "combined": "#26547c",
}
LEFT, TOP, ROW, WIDTH = 60, 84, 26, 640
PANEL_WIDTH, PANEL_HEIGHT, GAP = 330, 220, 70


class Axis:
    """Maps values to coordinates, logarithmically."""

    def __init__(self, values, begin, end):
        logs = [math.log10(value) for value in values if value > 0]
        self.low = math.floor(min(logs))
        self.high = max(math.ceil(max(logs)), self.low + 1)
        self.begin, self.end = begin, end

    def at(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def powers(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def document(width, height, title, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f"<title>{html.escape(title)}</title>", plot.STYLE,
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        plot.text(12, 24, title, "start", "title"), *parts, "</svg>\n"])


def legend(names, labels, y):
    x = LEFT
    for name in names:
        yield (f'<circle cx="{x}" cy="{y - 4}" r="5" fill="{COLOURS[name]}"/>')
        yield plot.text(x + 10, y, labels[name])
        x += 30 + 7 * len(labels[name])


# --- Searches --------------------------------------------------------------------------

def case_points(cases, what):
    """Tuples (case, way, value, measured here)."""
    known = {**thesis.CLOSURE, **thesis.REWRITE}
    for case in thesis.CASES:
        for way in [*known, "indexed_1"]:
            ours = cases.get(case, way, what)
            if ours:
                yield case, way, ours, True
            if way in known:
                yield case, way, known[way][case][what == "comparisons"], False


def draw_cases(cases, labels, what, title, unit):
    points = list(case_points(cases, what))
    axis = Axis([value for _, _, value, _ in points], LEFT, LEFT + WIDTH)
    bottom = TOP + ROW * len(thesis.CASES)
    parts = [*legend(thesis.CLOSURE, labels, 48),
             *legend([*thesis.REWRITE, "indexed_1"], labels, 66),
             plot.text(LEFT + 520, 66, "filled: here; hollow: the thesis", "start",
                       "small")]
    for power in axis.powers():
        x = axis.at(power)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP - ROW / 2}" '
                     f'x2="{x:.1f}" y2="{bottom - ROW / 2}"/>')
        parts.append(plot.text(x, bottom + 4, f"{power:g}", "middle", "small"))
    for row, case in enumerate(thesis.CASES):
        parts.append(plot.text(LEFT - 14, TOP + ROW * row + 4, case, "end"))
    for case, way, value, is_ours in points:
        y = TOP + ROW * thesis.CASES.index(case) + (0 if is_ours else 7)
        fill = COLOURS[way] if is_ours else "none"
        parts.append(f'<circle cx="{axis.at(value):.1f}" cy="{y}" r="4.5" '
                     f'fill="{fill}" stroke="{COLOURS[way]}" stroke-width="1.5">'
                     f"<title>{html.escape(labels[way])}: {value:,.6g} {unit}</title>"
                     "</circle>")
    return document(LEFT + WIDTH + 40, bottom + 20, title, parts)


# --- Closures --------------------------------------------------------------------------

def curve(values, place, axis, colour, is_ours):
    """Through the means; with whiskers if these are known."""
    points = [(place(i), axis.at(max(group[1], 1e-3))) for i, group in enumerate(values)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = "" if is_ours else ' stroke-dasharray="5 4" stroke-opacity="0.6"'
    yield (f'<polyline points="{path}" fill="none" stroke="{colour}" '
           f'stroke-width="1.8"{dash}/>')
    for (x, _), group in zip(points, values):
        low, high = axis.at(max(group[0], 1e-3)), axis.at(max(group[2], 1e-3))
        yield (f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" '
               f'stroke="{colour}" stroke-width="3"{dash}/>')


def draw_panel(number, name, measured, known, methods):
    x0 = LEFT + number % 2 * (PANEL_WIDTH + GAP)
    y0 = TOP + number // 2 * (PANEL_HEIGHT + GAP)
    groups = [group for rows in (measured, known) for row in rows for group in row]
    axis = Axis([value for group in groups for value in group[:3]], y0 + PANEL_HEIGHT,
                y0)

    def place(i):
        return x0 + PANEL_WIDTH * (i + 0.5) / len(thesis.SET_SIZES)

    yield plot.text(x0, y0 - 8, f"{name}: ms", "start", "panel")
    for power in axis.powers():
        y = axis.at(power)
        yield (f'<line class="grid" x1="{x0}" y1="{y:.1f}" x2="{x0 + PANEL_WIDTH}" '
               f'y2="{y:.1f}"/>')
        yield plot.text(x0 - 5, y + 4, f"{power:g}", "end", "small")
    for i, size in enumerate(thesis.SET_SIZES):
        yield plot.text(place(i), y0 + PANEL_HEIGHT + 14, size, "middle", "small")
    for i, method in enumerate(methods):
        for rows, is_ours in ((known, False), (measured, True)):
            yield from curve([row[i] for row in rows], place, axis, COLOURS[method],
                             is_ours)


def draw_sets(measured, known, methods, title):
    parts = list(legend(methods, {name: name for name in methods}, 48))
    parts.append(plot.text(LEFT + 420, 48, "dashed: the thesis", "start", "small"))
    for number, name in enumerate(thesis.SETS):
        if name in measured:
            rows = [[table[name][size] for size in thesis.SET_SIZES]
                    for table in (measured, known)]
            parts += draw_panel(number, name, *rows, methods)
    return document(LEFT + 2 * (PANEL_WIDTH + GAP), TOP + 2 * (PANEL_HEIGHT + GAP),
                    title, parts)


def draw_all(cases, labels, made, united):
    """Pairs of a file name and its contents."""
    if cases.figures:
        yield "patterns-time.svg", draw_cases(
            cases, labels, "ms", "Searches of the eleven cases: milliseconds", "ms")
        yield "patterns-comparisons.svg", draw_cases(
            cases, labels, "comparisons",
            "Searches of the eleven cases: comparisons of timestamps", "comparisons")
    if made:
        yield "closures-random.svg", draw_sets(
            made, thesis.RANDOM, thesis.METHODS,
            "Convex closures of random sets (figures 4.7 to 4.10)")
    if united:
        yield "closures-combined.svg", draw_sets(
            united, thesis.COMBINING, ["made anew", "combined"],
            "Unions of two closures (figures 4.11 to 4.14)")
