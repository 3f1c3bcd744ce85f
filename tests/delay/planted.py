#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Compares the output of `eventspace time --format json` with the planted delays.

    planted.py check TIME PROGRAM SHARE FACTOR...   PROGRAM is the output of planted.c:
        the planted delays, in the order of their costs, are the largest causes; they
        cause SHARE of all waiting together; each costs about FACTOR times its length
    planted.py rank TIME RANK SHARE    this rank causes most, more than SHARE of all
    planted.py polling TIME SHARE      rows of polls are more than SHARE of all waiting
    planted.py sums TIME               the costs and the waits have the same sum

All of them check the sums.
"""

import json
import re
import sys


def read_time(path):
    """Returns the lines of the last report, by type."""
    lines = {}
    with open(path, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if "totals" in lines:
                lines = {}
            lines.setdefault(line["type"], []).append(line)
    return lines


def read_planted(path):
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"^planted (\d+) (\d+) (\d+)$", file.read(), re.MULTILINE)
    return [(int(rank), int(line), int(ns)) for rank, line, ns in found]


def causes_of(lines):
    """Returns the cost of each line of each rank, the largest first."""
    sums = {}
    for cause in lines["cause"]:
        number = re.search(r":(\d+)", cause["line"])
        key = (cause["causing"], int(number[1]) if number else 0, cause["computing"])
        sums[key] = sums.get(key, 0) + cause["waited_ns"]
    return sorted(sums.items(), key=lambda item: -item[1])


def complaints(facts):
    """Prints the facts that do not hold, and returns their number."""
    wrong = [text for text, holds in facts if not holds]
    for text in wrong:
        print(f"  it does not hold that {text}")
    return len(wrong)


def check_sums(lines):
    totals = lines["totals"][-1]
    ranks = lines["rank"]
    waited = sum(rank["waited_ns"] for rank in ranks)
    caused = sum(rank["caused_ns"] for rank in ranks) + totals["elsewhere_ns"]
    causes = sum(cause["waited_ns"] for cause in lines.get("cause", []))
    slack = len(ranks) + len(lines.get("cause", [])) + 2
    return complaints((
        ("the waits of all ranks are all waits", abs(waited - totals["waited_ns"]) < slack),
        ("all costs are all waits", abs(caused - waited) < slack),
        ("so are all causes", abs(causes + totals["elsewhere_ns"] - waited) < slack),
        ("what is direct and handed on is all",
         abs(totals["direct_ns"] + totals["indirect_ns"] - waited) < slack),
        ("no rank is on the critical path longer than it is",
         all(rank["critical_ns"] <= totals["critical_ns"] + 1 for rank in ranks)),
        ("the critical path is not longer than the run",
         totals["critical_ns"] <= totals["end_ns"] - totals["begin_ns"] + 1),
    ))


def check_planted(lines, planted, share, factors):
    totals = lines["totals"][-1]
    causes = causes_of(lines)
    costs = dict(causes)
    expected = sorted(((factor * ns, rank, line) for (rank, line, ns), factor
                       in zip(sorted(planted), factors)), reverse=True)
    expected = [one for one in expected if one[0] > 0]
    facts = [("as much was planted as is known", len(planted) == len(factors))]
    whole = 0
    for (wanted, rank, line), (key, cost) in zip(expected, causes):
        whole += cost
        print(f"  rank {rank} at line {line}: {cost / 1e6:.1f} ms, planted "
              f"{wanted / 1e6:.1f} ms")
        facts.append((f"rank {rank} at line {line} comes next, not {key}",
                      key == (rank, line, True)))
        facts.append((f"rank {rank} at line {line} costs {wanted / 1e6:.1f} ms",
                      0.6 * wanted < costs.get((rank, line, True), 0) < 1.3 * wanted))
    facts.append((f"{share} of {totals['waited_ns'] / 1e6:.1f} ms are planted, not "
                  f"{whole / 1e6:.1f} ms: {causes[:4]}",
                  whole > share * totals["waited_ns"]))
    return complaints(facts)


def check_rank(lines, rank, share):
    totals = lines["totals"][-1]
    row = next(row for row in lines["rank"] if row["rank"] == rank)
    print(f"  rank {rank} causes {row['caused_ns'] / 1e6:.1f} of "
          f"{totals['waited_ns'] / 1e6:.1f} ms")
    return complaints((
        (f"rank {rank} causes most",
         all(row["caused_ns"] >= other["caused_ns"] for other in lines["rank"])),
        (f"it causes {share} of all waiting",
         row["caused_ns"] > share * totals["waited_ns"]),
        ("somebody waited", totals["waited_ns"] > 0),
    ))


def check_polling(lines, share):
    polled = sum(rank["waited_polling_ns"] for rank in lines["rank"])
    waited = lines["totals"][-1]["waited_ns"]
    return complaints(((f"{share} of {waited / 1e6:.1f} ms are polls, not "
                        f"{polled / 1e6:.1f} ms", polled > share * waited),))


def main(arguments):
    lines = read_time(arguments[1])
    wrong = check_sums(lines)
    if arguments[0] == "check":
        wrong += check_planted(lines, read_planted(arguments[2]), float(arguments[3]),
                               [float(factor) for factor in arguments[4:]])
    elif arguments[0] == "rank":
        wrong += check_rank(lines, int(arguments[2]), float(arguments[3]))
    elif arguments[0] == "polling":
        wrong += check_polling(lines, float(arguments[2]))
    elif arguments[0] != "sums":
        wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
