#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""schedules.py - random programs, with and without a planted fault: the verdict has to
equal the truth of schedule.py.

usage: schedules.py [free|faulty|both|show-free|show-faulty] [FIRST-SEED [COUNT]]

Those without a fault repeat their schedule while they are looked at, VERDICT_LOOKS times
each; those with one execute the right schedule for some rounds before.
"""

import os
import sys

import harness
import schedule
from harness import Expected, Run

LOOKS = int(os.environ.get("VERDICT_LOOKS", "3"))
GOOD_ROUNDS = 20
PROGRAM = os.path.join(harness.BIN, "verdict_schedule")


def lines_of(good, last=None):
    yield "ranks %d" % good.ranks
    for colours in good.colours[1:]:
        yield "communicator %s" % " ".join(map(str, colours))
    yield "rounds %d" % (GOOD_ROUNDS if last else 0)
    for part in (good, last) if last else (good,):
        yield "part"
        yield from part.lines()


def start(name, good, last=None):
    path = os.path.join(os.environ["VERDICT_FOLDER"], "%s.schedule" % name)
    with open(path, "w") as file:
        file.write("".join(line + "\n" for line in lines_of(good, last)))
    # What does not hang ends before it is asked about.
    return Run(name, good.ranks, [PROGRAM, path], ["--keep"] if last else [])


def judge_right(name, good):
    run = start(name, good)
    try:
        run.await_reached()
        run.look_at_right(LOOKS)
    finally:
        run.stop()
    return "nothing certain in %d looks" % run.looks


class Mismatched(Expected):
    """Who is said to differ depends on which pair is compared."""

    def allows(self, verdict):
        return verdict.kind == self.kind and set(verdict.ranks) & set(self.sets[0]) != set()

    def is_met(self, verdicts):
        return any(self.allows(verdict) for verdict in verdicts)

    def is_contradicted(self, verdicts):
        return any(verdict.certain and verdict.kind == "DIED" for verdict in verdicts)


def judge_faulty(seed):
    bad, fault = schedule.generate_faulty(seed)
    good = schedule.generate(seed)
    kind, sets = schedule.simulate(bad)
    name = "faulty-%d" % seed
    if kind == "none":
        run = start(name, good, bad)
        try:
            run.await_that("the program ends", run.is_over)
            if run.job.returncode:
                raise harness.Fault("%s ended with %d: %s" % (fault, run.job.returncode,
                                                              run.output()))
        finally:
            run.stop()
        return "%s: ends, as it has to" % fault
    of = Mismatched if kind == "MISMATCH" else Expected
    expected = of("%s certain %s" % (kind, "+".join(
        ",".join(map(str, ranks)) for ranks in sets)))
    run = start(name, good, bad)
    try:
        run.await_reached()
        verdicts = run.await_verdict(expected)
    except harness.Fault as failed:
        raise harness.Fault("%s: %s" % (fault, failed)) from failed
    finally:
        run.stop()
    return "%s: %s" % (fault, harness.describe(verdicts))


def judge(item):
    kind, seed = item
    if kind == "free":
        return judge_right("free-%d" % seed, schedule.generate(seed))
    return judge_faulty(seed)


def show(kind, seed):
    good = schedule.generate(seed)
    last, fault = schedule.generate_faulty(seed) if kind == "show-faulty" else (None, None)
    print("\n".join(lines_of(good, last)))
    truth = schedule.simulate(last or good)
    print("# fault: %s, truth: %s %s" % (fault or "none", *truth))


def main():
    which = sys.argv[1] if len(sys.argv) > 1 else "both"
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    if which.startswith("show"):
        show(which, first)
        return 0
    kinds = ("free", "faulty") if which == "both" else (which,)
    items = [(kind, seed) for seed in range(first, first + count) for kind in kinds]
    return min(harness.run_all(judge, items, lambda item: "%s %d" % item), 1)


if __name__ == "__main__":
    sys.exit(main())
