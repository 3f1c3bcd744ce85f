#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""perturbation_table.py - what the runs of perturbation.sh say: a table and figures.

Reads the list of runs (tab-separated, with a heading), prints markdown, then lines
`figure: NAME VALUE UNIT`. A slowdown comes with NAME_low and NAME_high: the interval that
holds the true median with 95 % (order statistics), or all values if they are too few.
"""

import argparse
import csv
import math
import statistics
import sys

# Row: description, then the EventSpace paper's rate (pulls/s) and slowdowns (small,
# large).
ROWS = {
    "again": ("tunnel alone, once more: the noise", None, None, None),
    "collected": ("collection only", None, "1.03", "1.00"),
    "e1": ("1 element, full speed", "2,500", "1.03", "1.00"),
    "e1-paper": ("1 element, the paper's rate", "2,500", "1.03", "1.00"),
    "e14": ("14 elements, full speed", "1,500", "1.03", "1.00"),
    "e14-paper": ("14 elements, the paper's rate", "1,500", "1.03", "1.00"),
    "e266": ("266 elements, full speed", "200", "1.03", "1.00"),
    "e266-paper": ("266 elements, the paper's rate", "200", "1.03", "1.00"),
    "all-views": ("1,948, by views, 4 threads, full speed", "58", "1.36", "1.00"),
    "all-58": ("1,948, by views, 4 threads, the paper's rate", "58", "1.36", "1.00"),
    "all-flat": ("1,948, flat, 4 threads, full speed", "106", "1.50", None),
    "all-106": ("1,948, flat, 4 threads, the paper's rate", "106", "1.50", None),
    "all-few": ("1,948, by views, no threads, full speed", "25", "1.07", None),
    "all-25": ("1,948, by views, no threads, the paper's rate", "25", "1.07", None),
    "all-server": ("1,948, through the server, full speed", None, None, None),
    "all-100": ("1,948, flat, 100 a second (to reach: 1.02)", None, None, None),
    "host-100": ("a host's 162, through its server, 100 a second", None, None, None),
    "four": ("four monitors at once, full speed", None, "1.17", None),
    "four-100": ("four monitors at once, 100 a second each", None, None, None),
    "again-checks": ("tunnel with collective operations alone: the noise", None, None, None),
    "checks": ("collection only, with collective operations", None, None, None),
    "trees": ("collection only, and instrumented trees", None, None, None),
    "collectives": ("collective-operation monitor, node threads", None, "1.17", None),
    "collectives-few": ("the same, reconfigured: 4 looks a second, no threads", None, "1.08", None),
    "four-all": (
        "four monitors: collectives, heartbeat, events, all 1,948 at 100 a second",
        None,
        None,
        None,
    ),
}

# Their processor time includes more than pulls.
MONITORS = ("collectives", "collectives-few", "four-all")

SIDE = (
    "Wind tunnel: 2 ranks, 10 elements. The other 1,938 of 1,948 elements are written by "
    "a side load in place of the paper's other hosts, into the same run, at {} tuples a "
    "second each; it runs beside the tunnel alone, too. Observers, side load and tunnel "
    "share this machine's cores; the paper's consumers had a machine of their own."
)
EVENT_RATES = {"small": "200", "medium": "14", "large": "3.3"}


def median_interval(values):
    """The median, and its confidence interval (95 %)."""
    ordered = sorted(values)
    count = len(ordered)
    below = 0.0
    rank = 0
    while rank < count // 2:
        below += math.comb(count, rank) * 0.5**count
        if below > 0.025:
            break
        rank += 1
    rank = max(rank, 1)
    return statistics.median(ordered), ordered[rank - 1], ordered[count - rank]


def median_of(runs, column):
    """Of the runs that have this number; None if there are none."""
    values = [float(run[column]) for run in runs if run[column]]
    return statistics.median(values) if values else None


class Result:
    """All rounds of one row with one size."""

    def __init__(self, row, pairs):
        self.row = row
        runs = [run for _, run in pairs]
        ratios = [
            float(alone["iterations/s"]) / float(run["iterations/s"])
            for alone, run in pairs
        ]
        self.rounds = len(pairs)
        self.slowdown, self.low, self.high = median_interval(ratios)
        self.rate = median_of(runs, "pulls/s")
        self.cpu = median_of(runs, "cpu")
        # Microseconds out of percents of a core.
        pulls_only = self.rate and row not in MONITORS
        self.cost = self.cpu * 1e4 / self.rate if pulls_only else None
        self.server = median_of(runs, "server_cpu")
        self.iterations = median_of(runs, "iterations/s")
        self.lost = median_of(runs, "lost")


def read_results(path):
    """Size -> results, in the order of the list."""
    pairs = {}
    with open(path, newline="", encoding="utf-8") as file:
        for run in csv.DictReader(file, delimiter="\t"):
            side = "alone" if run["row"] == "none" else "run"
            pairs.setdefault((run["size"], run["pair"]), {})[side] = run
    grouped = {}
    for (size, _), pair in pairs.items():
        if len(pair) == 2:
            rows = grouped.setdefault(size, {})
            rows.setdefault(pair["run"]["row"], []).append((pair["alone"], pair["run"]))
    return {
        size: [Result(row, list_) for row, list_ in rows.items()]
        for size, rows in grouped.items()
    }


def show(value, digits=0):
    return "" if value is None else f"{value:,.{digits}f}"


def paper(row, size):
    _, rate, small, large = ROWS[row]
    slowdown = {"small": small, "large": large}.get(size)
    return ", ".join(filter(None, (rate and rate + " Hz", slowdown)))


def print_table(size, results, side):
    noise = next((result for result in results if result.row == "again"), None)
    print(f"### {size}\n")
    if side:
        print(SIDE.format(EVENT_RATES[size]) + "\n")
    if noise:
        print(
            f"Noise: the tunnel alone against itself comes to {noise.slowdown:.3f}, "
            f"{noise.low:.3f} to {noise.high:.3f}.\n"
        )
    print(
        "| what | rounds | slowdown | 95 % interval | pulls/s | CPU a pull, µs | "
        "observers' CPU, % | server's CPU, % | lost | paper |"
    )
    print("| --- " * 10 + "|")
    for result in results:
        print(
            f"| {ROWS[result.row][0]} | {result.rounds} | {result.slowdown:.3f} "
            f"| {result.low:.3f} to {result.high:.3f} | {show(result.rate)} "
            f"| {show(result.cost, 1)} | {show(result.cpu, 2)} "
            f"| {show(result.server, 3)} | {show(result.lost)} "
            f"| {paper(result.row, size)} |"
        )
    print()


def print_figures(size, results):
    for result in results:
        name = f"windtunnel_{size}_{result.row.replace('-', '_')}"
        print(f"figure: {name}_slowdown {result.slowdown:.4f} ratio")
        print(f"figure: {name}_slowdown_low {result.low:.4f} ratio")
        print(f"figure: {name}_slowdown_high {result.high:.4f} ratio")
        if result.rate is not None:
            print(f"figure: {name}_rate {result.rate:.1f} pulls/s")
        if result.row in MONITORS and result.cpu is not None:
            print(f"figure: {name}_cpu {result.cpu:.2f} %")
        if result.cost is not None:
            print(f"figure: {name}_cpu_per_pull {result.cost:.2f} us")
        if result.server is not None:
            print(f"figure: {name}_server_cpu {result.server:.3f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", choices=("yes", "no"), default="yes")
    parser.add_argument("runs", help="the list that perturbation.sh makes")
    arguments = parser.parse_args()
    results = read_results(arguments.runs)
    if not results:
        print(f"perturbation_table.py: {arguments.runs}: no runs", file=sys.stderr)
        return 2
    for size, rows in results.items():
        print_table(size, rows, arguments.side == "yes")
    for size, rows in results.items():
        print_figures(size, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
