#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""schedules.py - runs random programs with and without a planted fault, and checks that
the verdict equals the truth of schedule.py, or one of several truths.

usage: schedules.py [free|faulty|both|show-free|show-faulty] [FIRST-SEED [COUNT]]

Programs without a fault repeat their schedule until they have been looked at
VERDICT_LOOKS times.  Programs with one first execute the right schedule for some
rounds.
"""

import os
import sys

import harness
import schedule
from harness import Expected, Fault, Run

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
    # A program whose fault is harmless ends before it is asked about.
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
    """An expected mismatch.  Any pair of the differing ranks may be named, and any rank
    may hang because of it."""

    def is_met(self, verdicts):
        ranks = set(self.wanted[0][2][0])
        return any(verdict.kind == "MISMATCH" and verdict.certain and
                   set(verdict.ranks) & ranks for verdict in verdicts)

    def is_contradicted(self, verdicts):
        return any(verdict.certain and verdict.kind == "DIED" for verdict in verdicts)


class OneOf:
    """Accepts any one of several expectations."""

    def __init__(self, choices):
        self.choices = choices

    def __str__(self):
        return " or ".join(map(str, self.choices))

    def is_met(self, verdicts):
        return any(choice.is_met(verdicts) for choice in self.choices)

    def is_contradicted(self, verdicts):
        return all(choice.is_contradicted(verdicts) for choice in self.choices)


def expect(truth):
    text = "; ".join("%s certain %s" % (kind, ",".join(map(str, ranks)))
                     for kind, ranks in truth)
    return Mismatched(text) if truth[0][0] == "MISMATCH" else Expected(text)


def judge_harmless(run):
    run.await_end()
    if run.job.returncode:
        raise Fault("ended with %d: %s" % (run.job.returncode, run.output()))
    return "ends, as it has to"


def judge_harmful(run, truths):
    run.await_reached()
    return harness.describe(run.await_verdict(OneOf([expect(truth) for truth in truths])))


def judge_faulty(seed):
    bad, fault = schedule.generate_faulty(seed)
    truths = list(filter(None, schedule.simulate(bad)))
    run = start("faulty-%d" % seed, schedule.generate(seed), bad)
    try:
        said = judge_harmful(run, truths) if truths else judge_harmless(run)
    except Fault as failed:
        raise Fault("%s: %s" % (fault, failed)) from failed
    finally:
        run.stop()
    return "%s: %s" % (fault, said)


def judge(item):
    kind, seed = item
    if kind == "free":
        return judge_right("free-%d" % seed, schedule.generate(seed))
    return judge_faulty(seed)


def show(kind, seed):
    good = schedule.generate(seed)
    last, fault = schedule.generate_faulty(seed) if kind == "show-faulty" else (None, None)
    print("\n".join(lines_of(good, last)))
    truths = schedule.simulate(last or good)
    print("# fault: %s, truth: %s" % (fault or "none",
                                      " or ".join(str(truth or "ends") for truth in truths)))


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
