#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_run.py - the page of a live run, or of one that hangs, and of both after their
ends.

usage: check_run.py live|hang|trees RUN PID
"""

import json
import os
import signal
import sys

from page_client import View, check, finish


def read_update(reply):
    """The next update of a stream."""
    while True:
        line = reply.readline()
        if not line:
            sys.exit("fault: the stream has ended")
        if line.startswith(b"data: "):
            return json.loads(line[6:])


def check_scope(view):
    """The scope that reads the run is shown, and its number of tuples grows."""
    first = view.await_reply("/api/scope", lambda reply: (
        reply["stages"] and reply["stages"][0]["tuples"]))["stages"]
    for number, stage in enumerate(first):
        check(stage["stage"] == number and stage["calls"], f"{stage}")
        check(stage["parent"] is None if number == 0 else stage["parent"] < number and
              stage["depth"] == first[stage["parent"]]["depth"] + 1, f"{stage}")
    elements = sum(stage["elements"] if stage["kind"] == "elements" else 1
                   for stage in first if stage["kind"].startswith("element"))
    check(elements >= 2, f"no elements of two ranks: {first}")
    check(first[0]["time_ns"] > first[0]["own_time_ns"], f"{first[0]}")
    view.await_reply("/api/scope", lambda reply: (
        reply["stages"][0]["tuples"] > first[0]["tuples"]))


def nodes_of(reply):
    """The results of nodes of instrumented trees, by rank."""
    return {line["rank"]: line for line in reply["lines"] if line["type"] == "node"}


def check_trees(view):
    """Nodes with children are shown: 1 and 2 are children of 0, 3 of 1."""
    nodes = nodes_of(view.await_reply("/api/trees", lambda reply: (
        0 in nodes_of(reply) and 1 in nodes_of(reply))))
    check(sorted(nodes) == [0, 1], f"{nodes}")
    check(nodes[0]["operation"] == "MPI_Allreduce" and nodes[0]["wait_ns"]["p50"] > 0,
          f"{nodes[0]}")
    view.await_reply("/api/trees", lambda reply: (
        nodes_of(reply)[1]["count"] > nodes[1]["count"]))


def check_cost(view):
    """The cost of the command is reported after one second."""
    run = view.await_reply("/api/run", lambda run: run["cost"])
    check(0 < run["cost"]["cores"] < 1000, f"{run['cost']}")


def check_cluster(view):
    """Rows have the cluster that the path map of the run names."""
    view.await_reply("/api/rows", lambda reply: reply["rows"] and all(
        row["cluster"] == "lab" for row in reply["rows"]))


def check_live(view):
    """The events of the program are shown while it runs."""
    view.await_reply("/api/run", lambda run: run["events"])
    connection, reply = view.open_stream()
    update = first = read_update(reply)
    while update["events"] < first["events"] + 20:
        before, update = update, read_update(reply)
        check(update["end"] >= before["end"], f"time goes back: {before} {update}")
        check(update["from"] <= update["end"], f"from behind the end: {update}")
    # The previous end is then in the past.
    begin = int(view.get("/api/run")["begin_ns"])
    now = int(first["begin_ns"]) + first["end"] - begin
    view.await_reply("/api/calls", lambda reply: any(
        call[1] > now for call in reply["calls"]), **{"from": now, "to": now + 10**12})
    reply.close()
    connection.close()


def check_hang(view):
    """The verdict and the operations under way are shown."""
    run = view.await_reply("/api/run", lambda run: run["verdict"])
    check(run["verdict"]["text"].startswith("DEADLOCK"), f"{run}")
    check(run["verdict"]["ranks"] == [0, 1], f"{run}")
    check(sorted(run["verdict"]["cycle"]) == [0, 1], f"{run}")
    rows = view.await_reply("/api/rows", lambda rows: all(
        row["open"] and row["events"] for row in rows["rows"]) and len(rows["rows"]) == 2)
    rows = rows["rows"]
    for row in rows:
        check(row["open"]["operation"] == "MPI_Recv", f"{row}")
        check(row["open"]["peer"] == 1 - row["rank"], f"{row}")
        check(row["begin"] < row["open"]["since"] < row["end"], f"{row}")
    lines = view.get("/api/verdict")["lines"]
    check("DEADLOCK" in json.dumps(lines), f"{lines}")
    # Time advances without new events, and the calls get longer.
    later = view.await_reply("/api/run", lambda now: now["end"] > run["end"])
    profile = view.get("/api/profile", columns=1, **{
        "from": later["end"] - 1000, "to": later["end"]})
    check(profile["states"][2][0] > 1.9, f"not two receivers: {profile}")


def main():
    kind, name, process = sys.argv[1:]
    view = View(name)
    run = view.get("/api/run")
    check(run["kind"] == "run" and run["live"] and not run["over"], f"{run}")
    try:
        {"live": check_live, "hang": check_hang, "trees": check_trees}[kind](view)
        if kind == "live":
            check_scope(view)
            check_cost(view)
            check_cluster(view)
    finally:
        os.kill(int(process), signal.SIGTERM)
    run = view.await_reply("/api/run", lambda run: run["over"])
    check(run["reading"]["done"] and not run["live"], f"{run}")
    check(bool(view.get("/api/scope")["stages"]) == (kind == "live"), "scope, looked at")
    check(bool(nodes_of(view.get("/api/trees"))) == (kind == "trees"), "trees, looked at")
    check(view.stop(signal.SIGINT) == 0, "SIGINT")
    check(not os.path.exists(view.place), "the socket is left")


main()
finish()
