#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""view.py - how long after an operation the page of `eventspace view` is told of it, and what
the page costs the program.

    bench/view.py [ROUNDS [OPERATIONS]]     from the top of the build folder

The delay is from the end of an operation that comes every 0.63 s until its update has come.
The wind tunnel runs with a page whose updates one client reads, and without, in turn: the
ratio is that of the least times of so many rounds each.  7 rounds and 40 operations, about
two minutes, unless told otherwise.  On a loaded machine that ratio says little; what the page
takes of a core says more.
"""

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time

os.environ.setdefault("top_builddir", os.getcwd())
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "page"))
from page_client import EVENTSPACE, View  # noqa: E402

ROUNDS, OPERATIONS = ([int(text) for text in sys.argv[1:]] + [7, 40][len(sys.argv) - 1:])
NAME = f"view-{os.getpid()}"
TOGETHER_NS = 10 ** 8  # operations that are nearer are one
TUNNEL = ["apps/windtunnel", "--rows", "400", "--iterations", "1000"]


def start(*program):
    """Starts a run of two ranks and waits until it is listed."""
    run = subprocess.Popen([EVENTSPACE, "run", "-n", "2", "--name", NAME, "--", *program],
                           stdout=subprocess.PIPE, text=True)
    while subprocess.run([EVENTSPACE, "list", NAME], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, check=False).returncode != 0:
        if run.poll() is not None:
            sys.exit("view.py: the program does not run")
        time.sleep(0.05)
    return run


def read_updates(view):
    """The times of OPERATIONS increases of the number of events."""
    connection, reply = view.open_stream()
    times, events = [], None
    while len(times) <= OPERATIONS:
        line = reply.readline()
        if not line:
            sys.exit("view.py: the stream has ended")
        if not line.startswith(b"data:"):
            continue
        update = json.loads(line[5:])
        if events is not None and update["events"] > events:
            times.append(time.time_ns())
        events = update["events"]
    connection.close()
    return times[1:]


def measure_delay():
    """The time from the end of operations until their updates, in milliseconds."""
    run = start("apps/imbalance", "--sleep", "--work-us", "630000", "--iterations",
                str(2 * OPERATIONS))
    view = View(NAME)
    times = read_updates(view)
    begin = int(view.get("/api/run")["begin_ns"])
    calls = view.get("/api/calls", **{"from": 0, "to": 10 ** 12})["calls"]
    run.send_signal(signal.SIGTERM)
    run.wait()
    view.stop(signal.SIGINT)
    subprocess.run([EVENTSPACE, "clean", NAME], stdout=subprocess.DEVNULL, check=False)
    ends = sorted(begin + int(call[2]) for call in calls if call[2] is not None)
    last = [end for end, after in zip(ends, ends[1:] + [2 ** 63])
            if after - end > TOGETHER_NS]
    delays = sorted((told - max(end for end in last if end <= told)) / 1e6
                    for told in times)
    print(f"figure: view_delay_median {statistics.median(delays):.0f} ms")
    print(f"figure: view_delay_most {delays[-1]:.0f} ms")


def processor_s(pid):
    """The processor time of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def run_tunnel(has_page, shares):
    """The time of the wind tunnel; appends the share of a core used by a page."""
    run = start(*TUNNEL)
    if has_page:
        view = View(NAME)
        reader = subprocess.Popen(["curl", "-sN", "--unix-socket", view.place,
                                   "http://localhost/api/stream"],
                                  stdout=subprocess.DEVNULL)
        begun = time.monotonic()
    said = run.communicate()[0]
    if has_page:
        shares.append(processor_s(view.process.pid) / (time.monotonic() - begun))
        reader.kill()
        reader.wait()
        view.stop(signal.SIGINT)
    return float(re.search(r"iterations: \d+ in ([\d.]+) s", said)[1])


def measure_cost():
    """The time of the wind tunnel with a page relative to that without."""
    taken = {False: [], True: []}
    shares = []
    for _ in range(ROUNDS):
        for has_page in taken:
            taken[has_page].append(run_tunnel(has_page, shares))
    print("seconds without:", *taken[False])
    print("seconds with:   ", *taken[True])
    print(f"figure: view_windtunnel_processor {100 * statistics.median(shares):.1f} %")
    print(f"figure: view_windtunnel {min(taken[True]) / min(taken[False]):.3f} ratio")


measure_delay()
measure_cost()
