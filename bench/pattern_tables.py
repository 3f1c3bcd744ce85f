#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""pattern_tables.py - Nichols' tables on searches and closures beside what is measured.

    bench/patterns_bench > cases.txt; bench/closures_bench > closures.txt; ...
    bench/pattern_tables.py [-o FOLDER] cases.txt closures.txt large.txt live.txt

Reads what the benchmarks print (bench/patterns.sh runs them all), writes the tables as
Markdown to standard output, and figures as SVG into FOLDER. In each cell the first
number is ours and the second, in brackets, the thesis'.
"""

import argparse
import os
import re
import sys

import pattern_plots
import pattern_thesis as thesis

WAYS = {
    "closure_existing": "closure, existing",
    "closure_binary": "closure, binary search",
    "closure_combining": "closure, combining",
    "rewrite_none": "rewrite",
    "rewrite_prune": "rewrite, pruned",
    "rewrite_brute": "rewrite, all permutations",
    "rewrite_success": "rewrite, success",
    "rewrite_cluster": "rewrite, clustered",
    "rewrite_failed": "rewrite, failed first",
    "rewrite_best": "rewrite, best",
    "indexed_1": "indexed",
    "indexed_2": "indexed, 2 threads",
}
REORDERINGS = ["rewrite_none", "rewrite_brute", "rewrite_success", "rewrite_cluster"]


# --- What the benchmarks print ---------------------------------------------------------

def read_figures(lines):
    """Name -> value."""
    figures = {}
    for line in lines:
        words = line.split()
        if line.startswith("figure:") and len(words) >= 3:
            figures[words[1]] = float(words[2])
    return figures


def read_closures(lines):
    """Set -> size -> [(minimum, mean, maximum, comparisons), ...]: of closures with each
    method, and of unions (computed anew, combined)."""
    made, united, name = {}, {}, None
    for line in lines:
        head = re.match(r"(\S+): \d+ events, \d+ traces; (\d+) closures", line)
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if head:
            name = head.group(1)
        elif name and cells[0] in thesis.SET_SIZES:
            values = [float(cell) for cell in cells[1:]]
            groups = [tuple(values[i:i + 4]) for i in range(0, len(values) - 3, 4)]
            table = made if len(groups) == len(thesis.METHODS) else united
            table.setdefault(name, {})[cells[0]] = groups
    return made, united


class Cases:
    """Measured cells by case and way."""

    def __init__(self, figures):
        self.figures = figures

    def get(self, case, way, what):
        return self.figures.get(f"patterns_{case.replace('.', '_')}_{way}_{what}")

    def has(self, way):
        return any(f"_{way}_" in name for name in self.figures)


# --- Cells -----------------------------------------------------------------------------

def show_ms(ms):
    if ms is None:
        return "-"
    if ms >= 1e4:
        return f"{ms / 1e3:,.1f} s" if ms < 1e5 else f"{ms / 1e3:,.0f} s"
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.3g} ms"


def show_count(count):
    if count is None:
        return "-"
    return f"{count:,.0f}" if count < 1e8 else f"{count / 1e9:.3g} * 10^9"


def time_cell(cases, case, way, theirs=None):
    ms, limit = cases.get(case, way, "ms"), cases.get(case, way, "limit")
    ours = f"> {limit:.0f} s" if limit and not ms else show_ms(ms)
    return ours if theirs is None else f"{ours} ({show_ms(theirs[0])})"


def count_cell(cases, case, way, theirs=None):
    ours = show_count(cases.get(case, way, "comparisons"))
    return ours if theirs is None else f"{ours} ({show_count(theirs[1])})"


def table(title, heading, rows):
    print(f"### {title}\n")
    print("| " + " | ".join(heading) + " |")
    print("|" + " --- |" * len(heading))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def both_tables(title, cases, names, ways, theirs):
    """Times, then comparisons; `theirs` of a case and a way, or None."""
    for words, cell in (("time", time_cell), ("comparisons of timestamps", count_cell)):
        table(f"{title}: {words}", ["case"] + [WAYS[way] for way in ways],
              ([case] + [cell(cases, case, way, theirs(case, way)) for way in ways]
               for case in names))


# --- Tables of searches ----------------------------------------------------------------

def all_theirs(case, way):
    return {**thesis.CLOSURE, **thesis.REWRITE}.get(way, {}).get(case)


def matches_table(cases):
    def found(case):
        values = {cases.get(case, way, "matches") for way in WAYS} - {None}
        return ", ".join(f"{value:.0f}" for value in sorted(values)) or "-"
    table("Matches, by all ways that were done", ["case", "matches", "thesis"],
          ([case, found(case), str(thesis.MATCHES[case])] for case in thesis.CASES))


def pruning_table(cases):
    heading = ["pattern", "without", "pruned", "comparisons without", "pruned",
               "relations without", "pruned"]
    rows = []
    for case, name, without, with_it in thesis.PRUNING:
        sizes = [show_count(cases.get(case, way, "size"))
                 for way in ("rewrite_none", "rewrite_prune")]
        rows.append([name, time_cell(cases, case, "rewrite_none", without),
                     time_cell(cases, case, "rewrite_prune", with_it),
                     count_cell(cases, case, "rewrite_none", without),
                     count_cell(cases, case, "rewrite_prune", with_it), *sizes])
    table("Table 6.1: pruning", heading, rows)


def reordering_theirs(case, way):
    return thesis.REORDERING[case][REORDERINGS.index(way)]


def failed_theirs(case, way):
    return thesis.FAILED_FIRST[case][way == "rewrite_failed"]


def full_table(cases):
    heading = ["case", "rewrite", "best", "indexed", "2 threads", "relations",
               "comparisons: rewrite", "best", "indexed"]
    rows = []
    for case in thesis.CASES:
        none, best = (thesis.REWRITE[way][case]
                      for way in ("rewrite_none", "rewrite_best"))
        size = show_count(cases.get(case, "rewrite_best", "size"))
        rows.append([
            case, time_cell(cases, case, "rewrite_none", none),
            time_cell(cases, case, "rewrite_best", best),
            time_cell(cases, case, "indexed_1"), time_cell(cases, case, "indexed_2"),
            f"{size} ({thesis.SIZES[case]})",
            count_cell(cases, case, "rewrite_none", none),
            count_cell(cases, case, "rewrite_best", best),
            count_cell(cases, case, "indexed_1")])
    table("Table 6.4: all, and by ranges", heading, rows)


def totals(cases):
    """What anchors ask of "indexed"."""
    times = [cases.get(case, "indexed_1", "ms") for case in thesis.CASES]
    counts = [cases.get(case, "indexed_1", "comparisons") for case in thesis.CASES]
    if None in times:
        return
    print(f"All eleven cases by `indexed` on one core: {show_ms(sum(times))}; the most "
          f"comparisons of one: {show_count(max(counts))}.\n")
    print(f"figure: patterns_indexed_eleven_ms {sum(times):.6g} ms", file=sys.stderr)


def search_tables(cases):
    matches_table(cases)
    both_tables("Tables 4.1 and 4.2: convex closures", cases,
                thesis.CASES + ["9.1", "9.2"], list(thesis.CLOSURE), all_theirs)
    both_tables("Table 5.1: closures with combining, and rewritten patterns", cases,
                thesis.CASES, ["closure_combining", "rewrite_none"], all_theirs)
    pruning_table(cases)
    both_tables("Table 6.2: reordering", cases, list(thesis.REORDERING), REORDERINGS,
                reordering_theirs)
    both_tables("Table 6.3: values that failed come first", cases,
                list(thesis.FAILED_FIRST), ["rewrite_none", "rewrite_failed"],
                failed_theirs)
    full_table(cases)
    totals(cases)


# --- Tables of closures ----------------------------------------------------------------

def closure_cells(ours, theirs):
    """Milliseconds and comparisons of one method."""
    return [f"{ours[1]:.1f} ({theirs[1]})", f"{ours[0]:.1f} to {ours[2]:.1f}",
            f"{ours[3]:,.0f} ({theirs[3]:,})"]


def closure_tables(measured, known, names, title):
    heading = ["events of a set"]
    for name in names:
        heading += [f"{name}: ms", "least, most", "comparisons"]
    for set_name in thesis.SETS:
        if set_name not in measured:
            continue
        rows = []
        for size in thesis.SET_SIZES:
            groups = zip(measured[set_name][size], known[set_name][size])
            rows.append([size] + [cell for ours, theirs in groups
                                  for cell in closure_cells(ours, theirs)])
        table(f"{title}: {set_name}", heading, rows)


# --- What is not in the thesis ---------------------------------------------------------

def large_table(figures):
    sizes = sorted({name.split("_")[2] for name in figures
                    if name.startswith("patterns_large_")}, key=lambda size: (len(size),
                                                                              size))
    for size in sizes:
        start = f"patterns_large_{size}_"
        names = [name[len(start):-len("_ms")] for name in figures
                 if name.startswith(start) and name.endswith("_ms")]
        print(f"{size}: {figures[start + 'load_rate']:,.0f} events/s ordered and "
              f"sorted, {figures[start + 'load_heap']:.0f} bytes of heap each.\n")
        table(f"Large event set of {size} events",
              ["pattern", "time", "comparisons", "matches", "bytes"],
              ([name, show_ms(figures[f"{start}{name}_ms"])]
               + [show_count(figures[f"{start}{name}_{what}"])
                  for what in ("comparisons", "matches", "bytes")] for name in names))


def live_table(lines):
    row = re.compile(r"(\S.*?) +(\d+) events +([\d.]+) s +(\d+) events/s +(\d+) matches"
                     r" +(\d+) kept +(\d+) candidates +([\d.]+) MB")
    rows = [match.groups() for match in map(row.match, lines) if match]
    if rows:
        table("While events arrive",
              ["patterns", "events", "seconds", "events/s", "matches", "events kept",
               "candidates", "MB"],
              ([name, *(f"{float(number):,.10g}" for number in numbers)]
               for name, *numbers in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where figures go")
    parser.add_argument("files", nargs="+", type=argparse.FileType(encoding="utf-8"))
    arguments = parser.parse_args()
    lines = [line for file in arguments.files for line in file]
    figures = read_figures(lines)
    made, united = read_closures(lines)
    cases = Cases(figures)
    search_tables(cases)
    closure_tables(made, thesis.RANDOM, thesis.METHODS,
                   "Tables 4.3 to 4.10: closures of random sets")
    closure_tables(united, thesis.COMBINING, ["made anew", "combined"],
                   "Tables 4.11 to 4.14: unions of two closures")
    large_table(figures)
    live_table(lines)
    if arguments.output:
        for name, text in pattern_plots.draw_all(cases, WAYS, made, united):
            with open(os.path.join(arguments.output, name), "w",
                      encoding="utf-8") as file:
                file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
