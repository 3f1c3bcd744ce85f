#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""verdicts.py - runs the cases of programs/, and compares each verdict with the table.

usage: verdicts.py [CASE...]

A wrong program is asked about until its verdict appears.  An untrue finding that is
called certain is a fault at once.  A right program is looked at VERDICT_LOOKS times at
full speed.  Nothing may be certain, and it must end well.
"""

import os
import subprocess
import sys

import harness
from harness import Expected, Fault, Run

LOOKS = int(os.environ.get("VERDICT_LOOKS", "2"))
FORTRAN = [("fortran_cycle", 2, "hangs", "DEADLOCK certain 0,1"),
           ("fortran_exchange", 2, "goes", "none")]


class Case:
    def __init__(self, program, name, ranks, end, expected):
        self.program, self.name, self.ranks = program, name, ranks
        self.end, self.expected = end, Expected(expected)


def list_cases():
    program = os.path.join(harness.BIN, "verdict_cases")
    lines = subprocess.run([program, "--list"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for line in lines:
        name, ranks, end, expected = line.split(None, 3)
        yield Case(program, name, int(ranks), end, expected)
    fortran = os.path.join(harness.BIN, "verdict_fortran")
    if os.path.exists(fortran):
        for row in FORTRAN:
            yield Case(fortran, *row)


def judge_wrong(run, case):
    run.await_reached()
    verdicts = run.await_verdict(case.expected)
    asked = run.looks
    again = harness.ask(run.name, run)
    if not case.expected.is_met(again):
        raise Fault("%s, then %s" % (harness.describe(verdicts), harness.describe(again)))
    if case.end == "goes":
        run.let_go()
        run.await_end()
    return "%s, at look %d of %d ms" % (harness.describe(verdicts), asked,
                                        1e3 * run.look_seconds / run.looks)


def judge_right(run, case):
    run.await_reached()
    run.look_at_right(LOOKS, max(1, LOOKS // 4))
    return "nothing certain in %d looks of %d ms" % (run.looks,
                                                     1e3 * run.look_seconds / run.looks)


def judge_dead(run, case):
    if run.await_end() == 0:
        raise Fault("a program that dies ended with 0")
    return harness.describe(run.await_verdict(case.expected))


def judge(case):
    run = Run(case.name, case.ranks, [case.program, case.name])
    try:
        if case.end == "dies":
            return judge_dead(run, case)
        if not case.expected.wanted:
            return judge_right(run, case)
        return judge_wrong(run, case)
    finally:
        run.stop()


def main():
    cases = list(list_cases())
    wanted = sys.argv[1:]
    unknown = set(wanted) - {case.name for case in cases}
    if unknown:
        sys.exit("no such case: %s" % ", ".join(sorted(unknown)))
    if wanted:
        cases = [case for case in cases if case.name in wanted]
    return min(harness.run_all(judge, cases, lambda case: case.name), 1)


if __name__ == "__main__":
    sys.exit(main())
