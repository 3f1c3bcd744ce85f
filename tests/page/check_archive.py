#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_archive.py - the page of an archive: which requests are refused, and whether
windows agree with the calls.

usage: check_archive.py ARCHIVE TREES

TREES is the archive of a run with instrumented trees.
"""

import json
import math
import os
import random
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from page_client import EVENTSPACE, PATIENCE_S, Connection, View, check, finish

ARCHIVE, TREES = sys.argv[1:]
STATES = 7
LOST = 6


# --- Windows ------------------------------------------------------------------------

def shares_of(calls, row, begin, end):
    """The time that a row spent in each state between two times."""
    first, last = max(begin, row["begin"]), min(end, row["end"])
    shares = [0] * STATES
    for call in calls:
        if call[0] != row["row"] or call[13]:
            continue
        shares[call[5]] += max(0, min(call[2], end) - max(call[1], begin))
    shares[0] = max(0, last - first) - sum(shares[1:])
    return shares


def unpack(content):
    """The head, and of each line its row, the number of its rows and its cells."""
    magic, columns, count, flags, first, last = struct.unpack_from("<4s3I2d", content)
    check(magic == b"ESW1", f"magic {magic}")
    lines, at = [], 32
    for _ in range(count):
        row, rows = struct.unpack_from("<2I", content, at)
        cells = struct.unpack_from(f"<{columns}I", content, at + 8)
        at += 8 + 4 * columns
        spreads = ()
        if flags & 1:
            spreads = struct.unpack_from(f"<{columns}I", content, at)
            at += 4 * columns
        lines.append((row, rows, cells, spreads))
    check(at == len(content), f"{len(content)} bytes, not {at}")
    return columns, first, last, lines


def check_cell(cell, shares, where):
    """Each fifteenth differs by less than one from the exact share."""
    nibbles = [cell >> 4 * state & 15 for state in range(STATES)]
    total = sum(shares)
    if total == 0:
        check(sum(nibbles) == 0, f"{where}: {nibbles} of nothing")
        return
    check(sum(nibbles) == 15, f"{where}: sum of {nibbles}")
    for state in range(STATES):
        check(abs(nibbles[state] - 15 * shares[state] / total) < 1.01,
              f"{where}: {nibbles} for {shares}")


def check_window(view, rows, calls, first, last, columns):
    content = view.get("/api/window", **{"from": first, "to": last, "columns": columns})
    got_columns, got_first, got_last, lines = unpack(content)
    check((got_columns, got_first, got_last) == (columns, first, last), "head")
    check([line[0] for line in lines] == [row["row"] for row in rows], "lines")
    edges = [first + math.floor((last - first) * i / columns) for i in range(columns + 1)]
    for row, _, cells, _ in lines:
        for i in range(columns):
            check_cell(cells[i], shares_of(calls, rows[row], edges[i], edges[i + 1]),
                       f"row {row}, column {i} of {first}..{last}")


def check_windows(view):
    run = view.get("/api/run")
    rows = view.get("/api/rows")["rows"]
    end = int(run["end"])
    reply = view.get("/api/calls", **{"from": 0, "to": end, "limit": 100000})
    check(reply["complete"] and len(reply["calls"]) == run["calls"], "not all calls")
    generator = random.Random(1)
    check_window(view, rows, reply["calls"], 0, end, 50)
    for _ in range(4):
        first = generator.randrange(end // 2)
        check_window(view, rows, reply["calls"], first,
                     first + generator.randrange(200, end // 2), 20)
    # There is nothing before and after the run, nor on negative levels.
    _, _, _, lines = unpack(view.get("/api/window", **{
        "from": -1000, "to": -500, "columns": 5}))
    check(not any(any(line[2]) for line in lines), "something before the run")
    _, _, _, lines = unpack(view.get("/api/window", axis="level", **{
        "from": -3, "to": 5, "columns": 80}))
    check(not any(any(line[2][:30]) for line in lines), "something below level 0")
    check(any(any(line[2][40:]) for line in lines), "no levels")
    return run, rows, reply


def check_groups(view, run, rows):
    end = int(run["end"])
    _, _, _, lines = unpack(view.get("/api/window", group="all", **{
        "from": 0, "to": end, "columns": 10}))
    check([line[:2] for line in lines] == [(0, len(rows))], "not one group")
    for spread in lines[0][3]:
        least, median, most, outlier = struct.unpack("4B", struct.pack("<I", spread))
        check(least <= median <= most and outlier < len(rows), f"spread {spread:08x}")
    _, _, _, lines = unpack(view.get("/api/window", group=2, rows="2,0-1", **{
        "from": 0, "to": end, "columns": 10}))
    check([line[:2] for line in lines] == [(2, 2), (1, 1)], "not two groups")
    for group, wanted in (("cluster", [(0, 3)]), ("host", [(0, 3)]),
                          ("rank", [(0, 1), (1, 1), (2, 1)])):
        _, _, _, lines = unpack(view.get("/api/window", group=group, **{
            "from": 0, "to": end, "columns": 10}))
        check([line[:2] for line in lines] == wanted, f"groups by {group}: {lines}")


def check_clusters():
    """Rows have the clusters that the path map gives their hosts."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "split")
        subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__),
                                                     "split_hosts.py"), ARCHIVE, copy],
                       check=True)
        view = View(copy)
        view.await_reply("/api/run", lambda run: run["reading"]["done"])
        rows = view.get("/api/rows")["rows"]
        for row in rows:
            wanted = "west" if row["rank"] % 2 else "east"
            check(row["cluster"] == wanted, f"{row} is not in {wanted}")
        wanted = [[row for row in rows if row["cluster"] == name]
                  for name in dict.fromkeys(row["cluster"] for row in rows)]
        for group in ("cluster", "host"):
            _, _, _, lines = unpack(view.get("/api/window", group=group, **{
                "from": 0, "to": 10**9, "columns": 4}))
            check([line[:2] for line in lines] ==
                  [(of[0]["row"], len(of)) for of in wanted], f"groups by {group}")
        check(view.stop(signal.SIGTERM) == 0, "SIGTERM")


def check_short_recording():
    """A recording that ended before the run says so; one that did not does not."""
    with tempfile.TemporaryDirectory() as folder:
        for name, error in ("whole", ""), ("short", "No space left on device"):
            copy = os.path.join(folder, name)
            shutil.copytree(ARCHIVE, copy)
            facts = os.path.join(copy, ".eventspace", "archive.jsonl")
            with open(facts, encoding="utf-8") as file:
                text = file.read()
            with open(facts, "w", encoding="utf-8") as file:
                file.write(text.replace('"error":""', f'"error":"{error}"'))
            view = View(copy)
            end = view.get("/api/run")["recording_end"]
            check(error in end if error else end is None, f"{name}: ended: {end}")
            check(view.stop(signal.SIGTERM) == 0, "SIGTERM")


# --- Events -------------------------------------------------------------------------

def check_events(view, run, rows, reply):
    end = int(run["end"])
    messages = view.get("/api/messages", **{"from": 0, "to": end})
    check(messages["complete"], "not all messages")
    for from_row, from_index, sent, level, row, index, received, later, _, _ in (
            messages["messages"]):
        check(level < later, "a message against the levels")
        event = view.get("/api/event", event=f"{row}:{index}")
        check(event["partner"][:2] == [from_row, from_index], f"{event} has no partner")
        check(event["text"].startswith("MPI_"), f"no words: {event}")
        relation = view.get("/api/relation", a=f"{from_row}:{from_index}",
                            b=f"{row}:{index}")
        check(relation["relation"] == "before" and
              relation["t_ns"] == received - sent, f"{relation}")
    middle = reply["calls"][len(reply["calls"]) // 2]
    event = f"{middle[0]}:{middle[12]}"
    cone = view.get("/api/cone", event=event)
    for row in rows:
        for index, wanted in ((cone["past"][row["row"]], "before"),
                              (cone["future"][row["row"]], "after")):
            if index == 0:
                continue
            relation = view.get("/api/relation", a=f"{row['row']}:{index}", b=event)
            check(relation["relation"] == wanted, f"{row['row']}:{index} {wanted}")
    nearest = view.get("/api/nearest", row=middle[0], at=middle[1])["event"]
    check(nearest[2] == middle[1], f"nearest {nearest} to {middle}")


def check_searches(view, reply):
    found = view.get("/api/search", name="allreduce", limit=100000)
    wanted = sum("Allreduce" in reply["operations"][call[6]] for call in reply["calls"])
    check(found["complete"] and len(found["matches"]) == wanted,
          f"{len(found['matches'])} of {wanted} by name")
    middle = found["matches"][wanted // 2][0][2]
    later = view.get("/api/search", name="allreduce", limit=100000, **{"from": middle})
    check(later["matches"] == [match for match in found["matches"]
                               if match[0][2] >= middle], f"matches from {middle} on")
    pattern = 'A := [operation = "MPI_Allreduce"]; A $a, $b; M := $a -> $b;'
    found = view.get("/api/search", pattern=pattern, limit=5)
    check(not found["complete"] and len(found["matches"]) == 5, "matches of a pattern")
    for a, b in (match for match in found["matches"]):
        relation = view.get("/api/relation", a=f"{a[0]}:{a[1]}", b=f"{b[0]}:{b[1]}")
        check(relation["relation"] in ("before", "after"), f"{a} {b} {relation}")
    found = view.get("/api/search", predicate="MessageRace")
    check(found == {"matches": [], "complete": True}, f"races {found}")
    view.refuses(400, "/api/search", pattern="A := ")
    view.refuses(400, "/api/search", predicate="Nowhere")


def check_instances(view, reply, end):
    """Collective operations agree with the calls of their members."""
    rows = {row["row"]: row["rank"] for row in view.get("/api/rows")["rows"]}
    calls = view.get("/api/calls", **{"from": 0, "to": end, "limit": 100000})
    by_event = {(call[0], call[12]): call for call in calls["calls"]}
    instances = reply["instances"]
    check(reply["complete"] and reply["count"] == len(instances) == 20, f"{reply}")
    lost = [one["lost_ns"] for one in instances]
    check(lost == sorted(lost, reverse=True), f"not the most costly first: {lost}")
    for one in instances:
        first, last = (by_event[tuple(one[end][:2])] for end in ("first", "last"))
        check(one["operation"] == "MPI_Allreduce" and one["known"] == one["size"] == 3,
              f"{one}")
        check([first[1], first[3], last[1], last[3]] == one["first"][2:] + one["last"][2:],
              f"{one}, not from {first} to {last}")
        check(one["spread_ns"] == last[1] - first[1], f"{one}: spread")
        members = [call for call in calls["calls"] if call[5] == 3 and
                   call[1] >= first[1] and call[1] <= last[1]]
        check(len(members) == 3 and one["late_rank"] == rows[last[0]], f"{one} {members}")
        check(abs(one["lost_ns"] - sum(last[1] - call[1] for call in members)) <= 300,
              f"{one}: lost")
    worst = instances[0]["cause"]
    check(worst and 0 < worst["caused_ns"] <= worst["waited_ns"] and
          worst["operation"].startswith("MPI_") and worst["rank"] in (0, 1, 2), f"{worst}")
    one = instances[3]
    some = view.get("/api/collectives", limit=5, **{
        "from": one["first"][2], "to": one["first"][2] + 1})
    check(one in some["instances"] and some["count"] <= 2, f"{some} without {one}")
    some = view.get("/api/collectives", limit=5, axis="level", **{
        "from": one["last"][3], "to": one["last"][3] + 1})
    check(some["instances"] == [one], f"{some}, not {one}")
    some = view.get("/api/collectives", limit=5, top=1)
    check(some["instances"] == instances[:5] and not some["complete"] and
          some["count"] == 20 and len(some["late"]) == 1, f"{some}")


def check_findings(view, run):
    end = int(run["end"])
    waits = view.get("/api/waits")
    check(waits["causes"][0]["ns"] > 0, f"{waits}")
    told = subprocess.run([EVENTSPACE, "time", "--by", "rank", "--format", "json", ARCHIVE],
                          capture_output=True, text=True, check=True).stdout
    wanted = {line["rank"]: line for line in map(json.loads, told.splitlines())
              if line["type"] == "rank"}
    check(len(wanted) == len(waits["ranks"]), f"{waits}")
    for rank in waits["ranks"]:
        for name in ("waited_ns", "caused_ns", "critical_ns", "computed_ns"):
            check(abs(rank[name] - wanted[rank["rank"]][name]) <= 1,
                  f"{rank}, not {wanted[rank['rank']]}")
    late = view.get("/api/collectives")
    check(late["operations"][0]["operation"].startswith("MPI_"), f"{late}")
    check(late["late"][0]["rank"] in (0, 1, 2), f"{late}")
    check_instances(view, late, end)
    view.await_reply("/api/verdict", lambda reply: reply["looked"])
    check(view.get("/api/scope") == {"stages": []}, "an archive has a scope")
    trees = view.await_reply("/api/trees", lambda reply: reply["looked"])
    check(trees["lines"] == [] and "holds no operations" in trees["text"], f"{trees}")
    profile = view.get("/api/profile", **{"from": 0, "to": end, "columns": 7})
    check(all(len(state) == 7 for state in profile["states"]), "columns of the profile")
    check(all(sum(column) < 3.01 for column in zip(*profile["states"])), "threads")
    matrix = view.get("/api/matrix", **{"from": 0, "to": end})
    check(matrix["size"] == 3 and matrix["bucket"] == 1, f"{matrix}")
    lines = view.get("/api/export", format="csv", **{
        "from": 0, "to": end}).decode().splitlines()
    check(len(lines) == run["calls"] + 1 and lines[0].startswith("thread,host,start_ns"),
          f"{len(lines)} lines of CSV")
    picture = view.get("/api/export", format="svg", event="0:3", **{"from": 0, "to": end})
    check(xml.etree.ElementTree.fromstring(picture).tag.endswith("svg"), "no picture")
    check_trace_events(view, run)


def slices_of(trace):
    """Operations in a file for Perfetto: process, name, begin and end in microseconds."""
    return sorted((event["pid"], event["name"], event["ts"], event["ts"] + event["dur"])
                  for event in trace["traceEvents"]
                  if event["ph"] == "X" and event["dur"] and event["pid"] > 1)


def check_trace_events(view, run):
    """The file equals that of the command; for a window it has the operations within."""
    end = int(run["end"]) + 1
    whole = view.get("/api/export", format="chrome", **{"from": 0, "to": end})
    wanted = json.loads(subprocess.check_output(
        [EVENTSPACE, "export", ARCHIVE, "--to", "chrome"]))
    slices = slices_of(whole)
    check(slices and slices == slices_of(wanted), f"slices {slices[:3]}")
    ranks = [row["rank"] for row in view.get("/api/rows")["rows"]]
    for first, last, rows in ((end // 3, end // 2, (0, 1, 2)), (0, end // 2, (1,)),
                              (end // 2, end, (0, 2)), (end // 2, end // 2 + 1, (0, 1))):
        part = view.get("/api/export", format="chrome", rows=",".join(map(str, rows)),
                        **{"from": first, "to": last})
        shown = [one for one in slices if one[0] - 2 in (ranks[row] for row in rows)
                 if one[2] * 1000 < last and one[3] * 1000 >= first]
        check(slices_of(part) == shown, f"slices from {first} to {last} of {rows}")
    levels = view.get("/api/export", format="chrome", axis="level",
                      **{"from": 1, "to": 5})
    check(0 < len(slices_of(levels)) < len(slices), "slices of levels")


def check_trees():
    """An archive has the results of tree nodes: 1 and 2 are children of 0, 3 of 1."""
    view = View(TREES)
    reply = view.await_reply("/api/trees", lambda reply: reply["looked"])
    nodes = [line for line in reply["lines"] if line["type"] == "node"]
    check(reply["text"] == "" and [node["rank"] for node in nodes] == [0, 1], f"{reply}")
    for node, children in zip(nodes, ([1, 2], [3])):
        check(node["operation"] == "MPI_Allreduce" and node["count"] == 20, f"{node}")
        check(node["wait_ns"]["count"] == 20 and node["down_ns"]["min"] > 0, f"{node}")
        check({child["member"] for child in node["children"]} <= set(children) and
              sum(child["last"] for child in node["children"]) == 20, f"{node}")
    check(reply["lines"][-1]["results"] == 40 and reply["lines"][-1]["incomplete"] == 0,
          f"{reply['lines'][-1]}")
    check(view.stop(signal.SIGTERM) == 0, "SIGTERM")


# --- Refusals -----------------------------------------------------------------------

def check_refusals(view):
    for host in ("localhost", "localhost:8080", "127.0.0.1:1", "[::1]:80"):
        check(view.request("/api/run", headers={"Host": host})[0] == 200, host)
    for host in ("example.org", "localhost.example.org", "localhost:x", "127.0.0.2", ""):
        view.refuses(403, "/api/run", headers={"Host": host})
        view.refuses(403, "/", headers={"Host": host})
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
        status, headers, _ = view.request("/api/run", method)
        check(status == 405 and headers["Allow"] == "GET", f"{method}: {status}")
    for path in ("/api", "/api/nowhere", "/../etc/passwd", "/index.html/", "/api/run/"):
        view.refuses(404, path)
    for path, parameters in (
            ("/api/run", {"x": 1}), ("/api/rows", {"first": -1}),
            ("/api/window", {"from": 0, "to": 1}), ("/api/event", {"event": "0:0"}),
            ("/api/window", {"from": 0, "to": 9, "columns": 1, "group": "clusters"}),
            ("/api/event", {"event": "0:4000000000"}), ("/api/event", {"event": "99:1"}),
            ("/api/calls", {"from": 0, "to": 1, "rows": "0-99"}),
            ("/api/export", {"from": 0, "to": 1, "format": "png"}),
            ("/api/window", {"from": 0, "to": 9, "columns": 4096,
                             "rows": ",".join(["0-2"] * 30)})):
        view.refuses(400, path, **parameters)
    status, headers, content = view.request("/")
    check(status == 200 and b"<html" in content, "no page")
    check("default-src 'none'" in headers["Content-Security-Policy"], "no CSP")
    check(headers["X-Content-Type-Options"] == "nosniff", "no nosniff")
    check(headers["Referrer-Policy"] == "no-referrer", "no Referrer-Policy")
    check(headers["Cache-Control"] == "no-cache", "no Cache-Control")


def check_streams(view):
    streams = [view.open_stream() for _ in range(8)]
    for _, reply in streams:
        check(reply.status == 200, f"stream {reply.status}")
        check(reply.readline().startswith(b"data: {"), "no update at the beginning")
    view.refuses(429, "/api/stream")
    for part in streams.pop():
        part.close()
    check(view.await_stream(), "no stream after one has left")


def check_other_user():
    """Other users are refused by the file mode, or else by their credentials from the
    kernel."""
    if os.geteuid() != 0:
        print("other users are not tried: not root")
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o777)
        view = View("--socket", os.path.join(folder, "socket"), ARCHIVE)
        script = ("import socket; s = socket.socket(socket.AF_UNIX); "
                  f"s.connect({view.place!r}); "
                  "s.sendall(b'GET /api/run HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'); "
                  "print(s.recv(4096).decode())")
        command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                   sys.executable, "-c", script]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        check("PermissionError" in said.stderr, f"another user connects: {said}")
        os.chmod(view.place, 0o777)
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        check(said.stdout.startswith("HTTP/1.1 403"), f"another user is told: {said}")
        check(view.stop(signal.SIGTERM) == 0, "SIGTERM")


def check_socket():
    view = View(ARCHIVE)
    mode = os.stat(view.place).st_mode
    check(stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, f"mode {mode:o}")
    check(f"ssh -L 8080:{view.place} " in view.said, f"no line for ssh: {view.said}")
    check(not listens_on_network(view), "it listens on a network")
    view.await_reply("/api/run", lambda run: run["reading"]["done"])
    run, rows, reply = check_windows(view)
    check(run["kind"] == "archive" and run["over"] and not run["live"], f"{run}")
    check_groups(view, run, rows)
    check_events(view, run, rows, reply)
    check_searches(view, reply)
    check_findings(view, run)
    check_refusals(view)
    check_streams(view)
    second = View(ARCHIVE)
    check(second.place != view.place, "two pages have one socket")
    check(second.stop(signal.SIGTERM) == 0, "SIGTERM")
    check(view.stop(signal.SIGTERM) == 0, "SIGTERM")
    check(not os.path.exists(view.place), "the socket is left")


def listens_on_network(view):
    """Whether the command has a listening TCP socket."""
    inodes = set()
    for number in os.listdir(f"/proc/{view.process.pid}/fd"):
        try:
            target = os.readlink(f"/proc/{view.process.pid}/fd/{number}")
        except FileNotFoundError:
            continue  # it was closed meanwhile
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = []
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[3] == "0A" and words[9] in inodes:
                    found.append(words[1])
    return found


def check_keep_alive(view):
    """A connection serves several requests."""
    connection = Connection(view.place)
    for path in ("/", "/api/run", "/api/nowhere", "/api/rows"):
        connection.request("GET", path, headers={"X-EventSpace-Token": view.token})
        reply = connection.getresponse()
        check(not reply.will_close, f"{path} closes the connection")
        reply.read()
    connection.close()


def is_closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def check_strangers(view):
    """More half requests than the server has places shut nobody out, and those with the
    token keep their connections."""
    ours, stream = view.open_stream()
    strangers = []
    for _ in range(300):
        strangers.append(socket.create_connection(("127.0.0.1", view.place), PATIENCE_S))
        strangers[-1].sendall(b"GET /api/run HTTP/1.1\r\nHost: localhost\r\n")
    check(view.request("/api/run")[0] == 200, "half requests shut the owner out")
    check(is_closed(strangers[0]), "the oldest half request is not dropped")
    check(stream.readline().startswith(b"data: {"), "the stream was dropped")
    for stranger in strangers:
        stranger.close()
    stream.close()
    ours.close()


def check_port():
    view = View("--port", "0", ARCHIVE)
    check(len(view.token) == 32, f"token {view.token}")
    found = listens_on_network(view)
    check(len(found) == 1 and found[0].startswith("0100007F:"), f"listens on {found}")
    check(view.request("/", headers={"X-EventSpace-Token": None})[0] == 200, "the page")
    check(view.request("/api/run")[0] == 200, "with the token")
    other = view.token[:-1] + ("0" if view.token[-1] != "0" else "1")
    for token in (None, "", other, view.token[:-1], view.token + "0"):
        view.refuses(401, "/api/run", headers={"X-EventSpace-Token": token})
        view.refuses(401, "/api/nowhere", headers={"X-EventSpace-Token": token})
    check_keep_alive(view)
    check_strangers(view)
    check(view.stop(signal.SIGINT) == 0, "SIGINT")


check_socket()
check_clusters()
check_short_recording()
check_trees()
check_port()
check_other_user()
finish()
