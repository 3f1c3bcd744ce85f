#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""after_death.py - checks that the verdict on a program that hangs is the same while it
lives, after its end by signals, and from its archive.

usage: after_death.py [CASE...]

A job ends in one of three ways: it gets SIGTERM, all ranks get SIGKILL, or all ranks
and `eventspace run` itself get SIGKILL.  In a fourth way only a recorder gets SIGKILL,
and the answer must say what its archive lacks.  With VERDICT_LONG, or if cases are
named, each case ends in all four ways.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys

import harness
from harness import Expected, Fault, Run
from verdicts import list_cases

SHORT = ("recv_cycle_3", "wrong_tag", "taken_by_wildcard", "waitall_one", "waitany_none",
         "barrier_missing", "iallreduce_unposted", "barrier_and_bcast", "inter_recv_cycle",
         "lock_cycle", "finalize_receive", "send_cycle", "stuck_alone")
# Calls of these cases wait for one of several reasons.  Only a live process shows that
# it has the processor and still waits, so after its end the verdict is only possible.
REASONED = ("send_cycle", "send_cycle_3", "waitall_send", "isend_cross", "scan_missing",
            "neighbours_missing", "inter_barrier_missing", "inter_bcast_missing",
            "lock_held", "lock_cycle", "fence_missing")
ENDS = ("term", "kill", "kill-all", "recorder")


def end_job(run, how):
    if how == "term":
        run.job.send_signal(signal.SIGTERM)
    else:
        pids = run.find_ranks()
        if how == "kill-all":
            run.job.kill()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    run.await_end()


def judge_archive(archive, expected, live):
    verdicts = harness.ask(archive)
    if not expected.is_met(verdicts):
        raise Fault("live %s, from the archive %s" % (harness.describe(live),
                                                     harness.describe(verdicts)))


def judge_cut_archive(archive):
    """Checks the answer about the archive of a killed recorder: nothing is certain, and
    `why` says what is missing."""
    why = subprocess.run([harness.EVENTSPACE, "why", archive], capture_output=True,
                         text=True, check=False, timeout=harness.LIMIT_S,
                         stdin=subprocess.DEVNULL)
    if why.returncode not in (0, 4) or "(certain)" in why.stdout:
        raise Fault("of a cut archive why ended with %d: %s" % (why.returncode, why.stdout))
    if "where the ranks were is not known" not in why.stderr:
        raise Fault("why does not say what a cut archive misses: %s" % why.stderr)


def has_elements(archive):
    try:
        with open(os.path.join(archive, ".eventspace", "archive.jsonl")) as tables:
            return '"element"' in tables.read()
    except FileNotFoundError:
        return False


def judge_recorder(case, archive):
    """Kills the recorder with SIGKILL while the program hangs."""
    run = Run(case.name, case.ranks, [case.program, case.name])
    try:
        run.await_reached()
        live = run.await_verdict(case.expected)
        recorder = subprocess.Popen([harness.EVENTSPACE, "record", run.name, "-o", archive],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        run.await_that("the archive has elements", lambda: has_elements(archive))
        recorder.kill()
        recorder.wait()
        judge_cut_archive(archive)
        return "%s; then nothing certain" % harness.describe(live)
    finally:
        run.stop()
        shutil.rmtree(archive, ignore_errors=True)


def judge(item):
    case, how = item
    archive = os.path.join(os.environ["VERDICT_FOLDER"], "%s.%s" % (case.name, how))
    if how == "recorder":
        return judge_recorder(case, archive)
    # It is also true that ranks were killed.
    text = case.expected.text
    if case.name in REASONED:
        text = text.replace("certain", "any")
    dead = Expected(text, ("DIED",))
    run = Run(case.name, case.ranks, [case.program, case.name], ["--record", archive])
    try:
        run.await_reached()
        live = run.await_verdict(case.expected)
        end_job(run, how)
        after = run.await_verdict(dead)
        if how != "kill-all":
            judge_archive(archive, dead, live)
        return "%s; then %s" % (harness.describe(live), harness.describe(after))
    finally:
        run.stop()
        shutil.rmtree(archive, ignore_errors=True)


def main():
    wanted = sys.argv[1:]
    cases = [case for case in list_cases() if case.end == "hangs" and
             case.expected.wanted[0][1] == "certain"]
    if not wanted and not os.environ.get("VERDICT_LONG"):
        wanted = SHORT
    if wanted:
        cases = [case for case in cases if case.name in wanted]
    # In the short form each case ends in only one way.
    items = [(case, how) for number, case in enumerate(cases)
             for index, how in enumerate(ENDS)
             if wanted is not SHORT or index == number % len(ENDS)]
    return min(harness.run_all(judge, items, lambda item: "%s %s" % (item[0].name, item[1])),
               1)


if __name__ == "__main__":
    sys.exit(main())
