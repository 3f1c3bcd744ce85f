#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""order_curves.py - the curves of the papers on cluster timestamps, over made loads.

For each load and strategy: the size of all timestamps as a part of Fidge/Mattern vectors,
against the greatest size of a cluster (Ward & Taylor, figure 7; Ward, Huang & Taylor,
figures 4 and 5). Runs bench/order_curve from the top of the build folder and writes
NAME.tsv (each point), NAME.md (tables, and what the papers claim beside what is found
here) and NAME.svg.
"""

import argparse
import concurrent.futures
import csv
import html
import math
import os
import subprocess
import sys

import plot

# Name: store as bench/order_stores takes it, colour.
STRATEGIES = {
    "fixed": ("cluster:strategy=fixed", "#999999"),
    "merge-first": ("cluster:strategy=merge-first", "#d1495b"),
    "merge-nth 5": ("cluster:strategy=merge-nth,threshold=5", "#edae49"),
    "merge-nth 10": ("cluster:strategy=merge-nth,threshold=10", "#b07d12"),
    "static": ("cluster:strategy=static", "#26547c"),
    "collect": ("cluster:strategy=collect,prefix={prefix}", "#3a8f5c"),
    "migrate": ("cluster:strategy=migrate", "#8f4fa8"),
}
# Name: pattern, steps between all-to-all operations.
LOADS = {
    "stencil": ("stencil", 0),
    "ring": ("ring", 0),
    "scatter-gather": ("scatter-gather", 0),
    "random": ("random", 0),
    "web": ("web", 0),
    "life": ("life", 0),
    "master-worker": ("master-worker", 0),
    "wavefront": ("wavefront", 0),
    "stencil+collectives": ("stencil", 5),
    "life+collectives": ("life", 5),
    "production": ("production", 0),
}
COLUMNS = ["load", "store", "size", "actual", "fixed", "communication_actual",
           "communication_fixed", "clusters", "cluster_receives", "events"]
NEAR_BEST = 1.2


# --- Points: (load, strategy) -> size -> row -------------------------------------------

def measure(arguments, load, strategy):
    """Runs all sizes of one curve."""
    pattern, every = LOADS[load]
    store = STRATEGIES[strategy][0].format(prefix=arguments.events // 5)
    if arguments.vector:
        store += f",vector={arguments.vector}"
    words = [arguments.program, "-p", pattern, "-n", str(arguments.ranks),
             "-e", str(arguments.events), "-k", str(every),
             "-f", str(arguments.first), "-t", str(arguments.last), store]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{words[0]} ended with "
                           f"{done.returncode}")
    rows = csv.DictReader(done.stdout.splitlines(), COLUMNS, delimiter="\t")
    return [dict(row, load=load, store=strategy) for row in rows]


def measure_all(arguments):
    pairs = [(load, strategy) for load in arguments.loads
             for strategy in arguments.strategies]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        curves = pool.map(lambda pair: measure(arguments, *pair), pairs)
        return [row for rows in curves for row in rows]


def group(rows, accounting):
    """(load, strategy) -> size -> ratio."""
    curves = {}
    for row in rows:
        curve = curves.setdefault((row["load"], row["store"]), {})
        curve[int(row["size"])] = float(row[accounting])
    return curves


# --- What the papers claim -------------------------------------------------------------

def near_best(curve):
    """Sizes that are within 20 % of the curve's best."""
    best = min(curve.values())
    return {size for size, ratio in curve.items() if ratio <= best * NEAR_BEST}


def of_strategy(curves, strategy):
    """Load -> curve."""
    return {load: curve for (load, name), curve in curves.items() if name == strategy}


def runs(sizes):
    """Sizes in words: 3-7, 9."""
    words, sizes = [], sorted(sizes)
    while sizes:
        end = 1
        while end < len(sizes) and sizes[end] == sizes[0] + end:
            end += 1
        words.append(str(sizes[0]) if end == 1 else f"{sizes[0]}-{sizes[end - 1]}")
        sizes = sizes[end:]
    return ", ".join(words) or "none"


def good_for(loads, sizes):
    """Loads for which all of these sizes are near the best."""
    return [load for load, curve in loads.items() if set(sizes) <= near_best(curve)]


def best_single(loads):
    """The sizes that are near the best for most loads, and the number of these loads."""
    counts = {}
    for curve in loads.values():
        for size in near_best(curve):
            counts[size] = counts.get(size, 0) + 1
    most = max(counts.values())
    return {size for size, count in counts.items() if count == most}, most


def span(curve, sizes):
    values = [100 * curve[size] for size in sizes if size in curve]
    return f"{min(values):.0f} to {max(values):.0f} %" if values else "-"


def claim_small(curves):
    for strategy, claim in (("merge-first", "12 to 15 %"), ("fixed", "15 to 40 %")):
        spans = [f"{load} {span(curve, range(5, 11))}"
                 for load, curve in of_strategy(curves, strategy).items()]
        if spans:
            yield (f"{strategy}: {claim} of Fidge/Mattern at sizes 5 to 10 (a Java "
                   "program)", "; ".join(spans))


def claim_range(curves, strategy, sizes, claim):
    loads = of_strategy(curves, strategy)
    sizes = [size for size in sizes if all(size in curve for curve in loads.values())]
    if not loads or not sizes:
        return
    good = good_for(loads, sizes)
    bad = [load for load in loads if load not in good]
    yield (f"{strategy}: {claim}", f"{len(good)} of {len(loads)}"
           + (f"; not {', '.join(bad)}" if bad else ""))


def claim_single(curves, strategy, claim):
    loads = of_strategy(curves, strategy)
    if loads:
        sizes, most = best_single(loads)
        yield (f"{strategy}: {claim}",
               f"{most} of {len(loads)} at {runs(sizes)}")


def claim_against_fixed(curves, strategy):
    fixed, loads = of_strategy(curves, "fixed"), of_strategy(curves, strategy)
    worse = [load for load, curve in loads.items()
             if load in fixed and min(curve.values()) > 1.001 * min(fixed[load].values())]
    if loads and fixed:
        yield (f"{strategy}: in no instance worse than fixed contiguous clusters",
               f"best of all sizes worse for {', '.join(worse) or 'none'}")


def claims(curves):
    """Pairs of a claim and a finding."""
    yield from claim_small(curves)
    yield from claim_against_fixed(curves, "merge-first")
    yield from claim_range(curves, "static", range(9, 18),
                           "9 to 17 within 20 % of the best for all but one")
    yield from claim_range(curves, "static", (13, 14),
                           "13 and 14 within 20 % of the best for all")
    yield from claim_single(curves, "static", "one size within 20 % for all")
    yield from claim_range(curves, "merge-nth 10", range(22, 25),
                           "22 to 24 within 20 % of the best for all but two")
    yield from claim_single(curves, "merge-nth 10", "no size within 20 % for all")
    yield from claim_single(curves, "merge-first",
                            "less than 80 % of the computations within 20 % at any size")
    yield from claim_single(curves, "fixed", "no size within 20 % for all")
    for strategy in ("collect", "migrate"):
        yield from claim_single(curves, strategy, "(future work; one size for all?)")


# --- Tables ----------------------------------------------------------------------------

def table(heading, rows):
    yield "| " + " | ".join(heading) + " |"
    yield "|" + " --- |" * len(heading)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def load_table(curves, load, strategies, shown):
    """Percentages by size, and the best of each strategy."""
    mine = [(name, curves[load, name]) for name in strategies if (load, name) in curves]
    heading = ["strategy"] + [str(size) for size in shown] + ["best", "within 20 %"]
    for name, curve in mine:
        best = min(curve, key=curve.get)
        yield heading if name == mine[0][0] else None
        yield [name] + [f"{100 * curve[size]:.1f}" for size in shown] + [
            f"{100 * curve[best]:.1f} at {best}", runs(near_best(curve))]


def write_tables(file, rows, arguments):
    for accounting, words in (
        ("fixed", "fixed: cluster vectors as long as the greatest size"),
        ("actual", "actual: vectors as long as they are"),
    ):
        curves = group(rows, accounting)
        sizes = sorted({size for curve in curves.values() for size in curve})
        shown = [size for size in (2, 5, 9, 13, 17, 22, 24, 32, 40, 50)
                 if size in sizes] or sizes
        print(f"## Percent of Fidge/Mattern, {words}\n", file=file)
        print(f"{arguments.ranks} ranks, {arguments.events} events (all of them "
              "counted).\n", file=file)
        print("\n".join(table(["claim", "found"], claims(curves))), file=file)
        for load in arguments.loads:
            lines = [row for row in load_table(curves, load, arguments.strategies, shown)
                     if row]
            print(f"### {load}\n", file=file)
            print("\n".join(table(lines[0], lines[1:])), file=file)


def print_figures(rows):
    for (load, strategy), curve in group(rows, "fixed").items():
        name = "order_curve_" + "_".join((load + " " + strategy).replace("+", " ")
                                         .replace("-", " ").split())
        best = min(curve, key=curve.get)
        print(f"figure: {name}_best {100 * curve[best]:.4g} %")
        print(f"figure: {name}_best_size {best} traces")
        if 13 in curve:
            print(f"figure: {name}_13_to_best {curve[13] / curve[best]:.4g} ratio")


# --- The plot --------------------------------------------------------------------------

LEFT, TOP, WIDTH, HEIGHT, GAP, ACROSS = 50, 70, 330, 200, 60, 3


class Panel:
    """The panel of one load's curves."""

    def __init__(self, number, curves):
        self.x0 = LEFT + number % ACROSS * (WIDTH + GAP)
        self.y0 = TOP + number // ACROSS * (HEIGHT + GAP)
        sizes = [size for curve in curves.values() for size in curve]
        self.first, self.last = min(sizes), max(max(sizes), min(sizes) + 1)
        self.most = max(100 * ratio for curve in curves.values()
                        for ratio in curve.values())

    def x(self, size):
        return self.x0 + WIDTH * (size - self.first) / (self.last - self.first)

    def y(self, percent):
        return self.y0 + HEIGHT * (1 - percent / self.most)


def draw_grid(panel):
    for percent in frange(plot.tick_step(panel.most), panel.most):
        y = panel.y(percent)
        yield (f'<line class="grid" x1="{panel.x0}" y1="{y:.1f}" '
               f'x2="{panel.x0 + WIDTH}" y2="{y:.1f}"/>')
        yield plot.text(panel.x0 - 5, y + 4, f"{percent:g} %", "end", "small")
    for size in range(math.ceil(panel.first / 10) * 10, panel.last + 1, 10):
        yield plot.text(panel.x(size), panel.y0 + HEIGHT + 14, str(size), "middle",
                        "small")


def frange(step, end):
    return [step * i for i in range(int(end / step) + 1)]


def draw_panel(panel, load, curves):
    yield plot.text(panel.x0, panel.y0 - 8, load, "start", "panel")
    yield from draw_grid(panel)
    for strategy, curve in curves.items():
        points = " ".join(f"{panel.x(size):.1f},{panel.y(100 * ratio):.1f}"
                          for size, ratio in sorted(curve.items()))
        yield (f'<polyline points="{points}" fill="none" stroke-width="1.6" '
               f'stroke="{STRATEGIES[strategy][1]}"><title>{html.escape(strategy)}'
               "</title></polyline>")


def draw(curves, arguments):
    parts = []
    for number, load in enumerate(arguments.loads):
        mine = {name: curves[load, name] for name in arguments.strategies}
        parts += draw_panel(Panel(number, mine), load, mine)
    for number, strategy in enumerate(arguments.strategies):
        x = LEFT + 150 * number
        parts.append(f'<line x1="{x}" y1="44" x2="{x + 24}" y2="44" stroke-width="3" '
                     f'stroke="{STRATEGIES[strategy][1]}"/>')
        parts.append(plot.text(x + 30, 48, strategy))
    down = math.ceil(len(arguments.loads) / ACROSS)
    width = max(LEFT + ACROSS * (WIDTH + GAP), LEFT + 150 * len(arguments.strategies))
    height = TOP + down * (HEIGHT + GAP)
    title = ("Cluster timestamps: percent of Fidge/Mattern against the greatest size of "
             "a cluster")
    return plot.document(title, width, height, parts)


# --- The command line ------------------------------------------------------------------

def names_of(known):
    """For argparse: names separated by commas."""
    def split(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(
                    f"'{name}': expected some of {', '.join(known)}")
        return names
    return split


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="order_curves", metavar="NAME")
    parser.add_argument("--program", default="bench/order_curve")
    parser.add_argument("--ranks", type=int, default=300)
    parser.add_argument("--events", type=int, default=30000)
    parser.add_argument("--first", type=int, default=2, help="least size (2)")
    parser.add_argument("--last", type=int, default=50, help="greatest size (50)")
    parser.add_argument("--vector", type=int, default=0,
                        help="entries of a fixed Fidge/Mattern vector (the traces)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--loads", type=names_of(LOADS), default=list(LOADS))
    parser.add_argument("--strategies", type=names_of(STRATEGIES),
                        default=list(STRATEGIES))
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        rows = measure_all(arguments)
    except (OSError, RuntimeError) as error:
        print(f"order_curves.py: {error}", file=sys.stderr)
        return 2
    with open(arguments.output + ".tsv", "w", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with open(arguments.output + ".md", "w", encoding="utf-8") as file:
        write_tables(file, rows, arguments)
    with open(arguments.output + ".svg", "w", encoding="utf-8") as file:
        file.write(draw(group(rows, "fixed"), arguments))
    print_figures(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
