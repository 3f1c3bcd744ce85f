# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""harness.py - starts programs under `eventspace run` and parses the answers of
`eventspace why`.

Ranks and harness synchronize by files: see programs/cases.h.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

TOP = os.environ["top_builddir"]
EVENTSPACE = os.path.join(TOP, "cli", "eventspace")
BIN = os.environ.get("VERDICT_BIN", os.path.join(TOP, "tests", "verdict", "programs"))
KINDS = ("DEADLOCK", "MISMATCH", "MISSING", "DIED")
LIMIT_S = 60  # for events that must happen, also on a loaded machine


class Fault(Exception):
    """The verdict or the program is not as expected."""


class Verdict:
    """A finding: its kind, whether it is certain, and its ranks."""

    def __init__(self, kind, certain, ranks):
        self.kind, self.certain, self.ranks = kind, certain, tuple(sorted(ranks))

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def __str__(self):
        return "%s %s %s" % (self.kind, "certain" if self.certain else "possible",
                             ",".join(map(str, self.ranks)))


class Expected:
    """The expectation of a table row: "none" or "KIND CERTAINTY RANKS[+RANKS...]; ...",
    all of which must be found, "RANKS/RANKS" as one or the other.  Findings of the kinds
    in `also` are true, too, but not required."""

    def __init__(self, text, also=()):
        self.text, self.also, self.wanted = text, also, []
        for part in text.split(";") if text != "none" else ():
            kind, certainty, sets = part.split()
            for ranks in sets.split("+"):
                self.wanted.append((kind, certainty, tuple(
                    tuple(map(int, choice.split(","))) for choice in ranks.split("/"))))

    def __str__(self):
        return self.text

    def find(self, verdict):
        """Returns the row that a finding belongs to, or None if the finding is not
        true."""
        for kind, certainty, ranks in self.wanted:
            if kind == verdict.kind and verdict.ranks in ranks and not (
                    verdict.certain and certainty == "possible"):
                return kind, certainty, ranks
        return None

    def is_met(self, verdicts):
        """Whether all rows are found and nothing untrue is called certain."""
        found = {self.find(verdict) for verdict in verdicts
                 if self.find(verdict) and (verdict.certain or
                                            self.find(verdict)[1] != "certain")}
        return found == set(self.wanted) and not self.is_contradicted(verdicts)

    def is_contradicted(self, verdicts):
        """Whether something is called certain that is never true."""
        return any(verdict.certain and verdict.kind not in self.also and
                   not self.find(verdict) for verdict in verdicts)


def describe(verdicts):
    return "; ".join(map(str, verdicts)) or "none"


def parse_why(text):
    """Returns the findings in an answer of `why --format json`, without hints and
    latent errors."""
    verdicts = []
    for line in text.splitlines():
        record = json.loads(line)
        for found in record.get("verdicts", []):
            if found["kind"].upper() in KINDS:
                verdicts.append(Verdict(found["kind"].upper(), found["certain"],
                                        found["ranks"]))
    return verdicts


def ask(what, run=None):
    """Returns the findings of `eventspace why` about a run or archive.  Adds the look
    and its duration to the totals of `run`."""
    begun = time.monotonic()
    why = subprocess.run([EVENTSPACE, "why", "--format", "json", what],
                         capture_output=True, text=True, timeout=LIMIT_S, check=False,
                         stdin=subprocess.DEVNULL)
    if why.returncode not in (0, 1, 4):
        raise Fault("why ended with %d: %s" % (why.returncode, why.stderr.strip()))
    verdicts = parse_why(why.stdout)
    if run:
        run.looks += 1
        run.look_seconds += time.monotonic() - begun
    return verdicts


class Run:
    """A program under `eventspace run`."""

    numbers = iter(range(1 << 30))
    lock = threading.Lock()

    def __init__(self, name, ranks, command, options=()):
        with self.lock:
            number = next(self.numbers)
        self.name = "verdict-%d-%d" % (os.getpid(), number)
        self.folder = tempfile.mkdtemp(prefix=name + ".", dir=os.environ["VERDICT_FOLDER"])
        self.signs = os.path.join(self.folder, "signs")
        os.mkdir(self.signs)
        self.ranks, self.looks, self.look_seconds = ranks, 0, 0.0
        with open(os.path.join(self.folder, "out"), "wb") as out:
            self.job = subprocess.Popen(
                [EVENTSPACE, "run", "--name", self.name, "-n", str(ranks), *options, "--",
                 *command],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env=dict(os.environ, VERDICT_SIGNS=self.signs), start_new_session=True)

    def output(self):
        with open(os.path.join(self.folder, "out"), errors="replace") as out:
            return out.read().strip()

    def is_over(self):
        return self.job.poll() is not None

    def await_that(self, what, condition):
        end = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > end:
                raise Fault("in vain: %s" % what)
            time.sleep(0.02)

    def has_reached(self):
        return sum(name.startswith("reached.")
                   for name in os.listdir(self.signs)) >= self.ranks

    def await_reached(self):
        self.await_that("the ranks get where they are to wait",
                        lambda: self.has_reached() or self.is_over())
        if not self.has_reached():
            raise Fault("ended too early: %s" % self.output())

    def let_go(self):
        with open(os.path.join(self.signs, "go"), "w"):
            pass

    def await_end(self):
        self.await_that("the program ends", self.is_over)
        return self.job.returncode

    def find_ranks(self):
        """Returns the process ids of the ranks."""
        text = subprocess.run([EVENTSPACE, "heartbeat", "--once", "--format", "json",
                               self.name], capture_output=True, text=True, check=False,
                              timeout=LIMIT_S, stdin=subprocess.DEVNULL).stdout
        return {thread["pid"] for thread in json.loads(text)["threads"]}

    def kill_left_behind(self):
        """MPICH 4.2's launcher leaves ranks behind if one ends with an error."""
        mark = b"VERDICT_SIGNS=" + self.signs.encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass

    def stop(self):
        """Ends the run if it is still running, and removes what it has left."""
        if not self.is_over():
            self.job.send_signal(signal.SIGTERM)
            try:
                self.job.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(self.job.pid, signal.SIGKILL)
                self.job.wait()
        self.kill_left_behind()
        subprocess.run([EVENTSPACE, "clean", "--force", self.name], capture_output=True,
                       timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL)

    def await_verdict(self, expected, what=None, until=None):
        """Asks until all rows are found.  An untrue finding that is called certain is a
        fault at once."""
        end = time.monotonic() + (until or LIMIT_S / 4)
        while True:
            verdicts = ask(what or self.name, self)
            if expected.is_contradicted(verdicts):
                raise Fault("expected %s, got %s" % (expected, describe(verdicts)))
            if expected.is_met(verdicts):
                return verdicts
            if time.monotonic() > end:
                raise Fault("expected %s, got %s" % (expected, describe(verdicts)))

    def look_at_right(self, looks, while_going=0):
        """Looks at a right program: nothing may be certain, and it must end well."""
        left = looks + while_going
        while left > 0 and not self.is_over():
            if left == while_going:
                self.let_go()
            verdicts = ask(self.name, self) if left > while_going else self.ask_at_end()
            if any(verdict.certain for verdict in verdicts):
                raise Fault("false at look %d: %s: %s" % (self.looks, describe(verdicts),
                                                          self.output()))
            left -= 1
        if self.is_over() and looks > self.looks:
            raise Fault("ended before it might: %s" % self.output())
        self.let_go()
        if self.await_end() != 0:
            raise Fault("a right program ended with %d: %s" % (self.job.returncode,
                                                              self.output()))

    def ask_at_end(self):
        """Asks while the run may be ending and its data disappear."""
        try:
            return ask(self.name, self)
        except Fault:
            self.await_that("the run ends, for it cannot be looked at", self.is_over)
            return []


def workers():
    return int(os.environ.get("VERDICT_WORKERS", 2 * (os.cpu_count() or 1)))


def run_all(judge, items, name_of):
    """Judges all items, several at a time.  Returns the number of faults."""
    faults = []

    def judge_one(item):
        begun = time.monotonic()
        try:
            said = judge(item)
        except Fault as fault:
            said = "FAULT: %s" % fault
            faults.append((item, fault))
        except Exception as other:  # a fault of the harness
            said = "FAULT: %s: %s" % (type(other).__name__, other)
            faults.append((item, said))
        print("%-28s %5.1f s  %s" % (name_of(item), time.monotonic() - begun, said),
              flush=True)

    with ThreadPoolExecutor(workers()) as pool:
        list(pool.map(judge_one, items))
    print("%d judged, %d faults" % (len(items), len(faults)))
    for item, fault in faults:
        print("fault: %s: %s" % (name_of(item), fault))
    return len(faults)


def main():
    """harness.py met EXPECTED FILE - checks whether the answer in the file meets the
    expectation."""
    _, command, text, path = sys.argv
    assert command == "met"
    with open(path) as file:
        verdicts = parse_why(file.read())
    print("expected %s, got %s" % (text, describe(verdicts)))
    return not Expected(text).is_met(verdicts)


if __name__ == "__main__":
    sys.exit(main())
