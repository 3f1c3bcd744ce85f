#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""compare_saved.py - compares a saved page in a browser with the replies of the server
for the same archive (check_saved.sh writes the pages).

usage: compare_saved.py ARCHIVE WHOLE.html PART.html
"""

import base64
import json
import os
import re
import signal
import struct
import sys
import zlib

from browser import Browser
from page_client import View, check, finish

ARCHIVE, WHOLE, PART = sys.argv[1:]
V = "eventspaceView"
ITEMS = 100000
STEP = 7  # distance of the events that are compared


def data_of(path):
    """The data stored in a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    data = re.search(r'id="eventspace-data">(.*?)</script>', text, re.S)[1]
    return json.loads(zlib.decompress(base64.b64decode(data, validate=True)))


def open_page(browser, path):
    page = browser.open("file://" + path)
    page.wait(f"window.{V} && {V}.run.known && {V}.drawn > 0 && {V}.idle")
    return page


def ask(page, path, **parameters):
    """The answer of the page itself."""
    asked = f"await (await import('api.js')).request('{path}', {json.dumps(parameters)})"
    if path == "window":
        asked = (f"({asked}).map(({{ cells, spread }}) => "
                 "[Array.from(cells), Array.from(spread || [])])")
    return page.evaluate(f"(async () => {asked})()")


def named(reply):
    """Calls with their texts, which are numbered separately in each reply; messages
    sorted."""
    if reply.get("bucket"):
        return reply
    if "calls" not in reply:
        return sorted(reply["messages"])
    texts = [reply[name] for name in ("operations", "communicators", "sites")]
    return [[*call[:6], *(names[i] if i >= 0 else None for names, i in
                          zip(texts, call[6:9])), *call[9:]] for call in reply["calls"]]


def check_replies(view, page, data):
    """All answers equal those of the server."""
    whole = {"from": data["from"], "to": data["to"]}
    check(data["rows"] == [view.get("/api/rows")], "rows are not the server's")
    for name in ("calls", "messages"):
        reply = view.get("/api/" + name, limit=ITEMS, **whole)
        check(reply["complete"] and data[name] == reply, f"{name} are not the server's")
        check(ask(page, name, limit=ITEMS, **whole) == reply, f"{name} are answered else")
    middle = (data["from"] + data["to"]) // 2
    for axis, first, last in (("time", data["from"], middle), ("level", 3, 40)):
        for name in ("calls", "messages", "matrix"):
            asked = {"axis": axis, "from": first, "to": last}
            if name != "matrix":
                asked["limit"] = ITEMS
            got, wanted = ask(page, name, **asked), view.get("/api/" + name, **asked)
            check(named(got) == named(wanted), f"{name} of a part on {axis}")
    asked = {"from": 0, "to": data["to"], "limit": 3}
    got, wanted = ask(page, "messages", **asked), view.get("/api/messages", **asked)
    check(all(got[name] == wanted[name] for name in ("complete", "count")),
          f"the number of messages: {got['count']}, not {wanted}")
    check(sum(pair[2] for pair in wanted["pairs"]) == wanted["count"], f"sums: {wanted}")


# First row and number of rows of each line, of rows 0 to 2 on one host.
LINES = {"": [(0, 1), (1, 1), (2, 1)], "all": [(0, 3)], "host": [(0, 3)],
         "2": [(0, 2), (2, 1)]}


def lines_of(content, asked, group):
    """Of each line of a window its cells and spreads."""
    columns, lines = asked["columns"], LINES[group]
    head = (b"ESW1", columns, len(lines), group != "", asked["from"], asked["to"])
    got = struct.unpack_from("<4s3I2d", content)
    check(got == head, f"the head is {got}, not {head}")
    size = 8 + columns * (8 if group else 4)
    check(len(content) == 32 + len(lines) * size, f"{len(content)} bytes of {lines}")
    rows = [struct.unpack_from("<2I", content, at)
            for at in range(32, len(content), size)]
    check(rows == lines, f"the rows are {rows}, not {lines}")
    return [[struct.unpack_from(f"<{columns}I", content, at + 8),
             content[at + 8 + 4 * columns:at + size]]
            for at in range(32, len(content), size)]


def are_near(words, others):
    """Whether the parts of words, 4 bits each, differ by at most 1."""
    return all(abs((a >> 4 * i & 15) - (b >> 4 * i & 15)) <= 1
               for a, b in zip(words, others) for i in range(8))


def check_window(got, wanted, where):
    check(len(got) == len(wanted), f"{where}: {len(got)} lines, not {len(wanted)}")
    for number, (one, other) in enumerate(zip(got, wanted)):
        check([len(part) for part in one] == [len(part) for part in other] and
              are_near(one[0], other[0]), f"{where}: cells of line {number}")
        places = [i for i in range(len(one[1])) if i % 4 < 3]  # not the outlier
        check(all(abs(one[1][i] - other[1][i]) <= 1 for i in places),
              f"{where}: spreads of line {number}")


def check_windows(view, page, data):
    """Cells may differ by a fifteenth, because positions are rounded differently."""
    levels = data["run"]["levels"]
    for axis, first, last in (("time", data["from"], data["to"]),
                              ("time", data["to"] // 2, data["to"] // 2 + 50000),
                              ("level", levels[0], levels[1] + 5), ("level", 7, 20)):
        for group in ("", "all", "host", "2"):
            asked = {"axis": axis, "from": first, "to": last, "rows": "0-2",
                     "columns": min(101, last - first)}
            if group:
                asked["group"] = group
            check_window(ask(page, "window", **asked),
                         lines_of(view.get("/api/window", **asked), asked, group),
                         f"window of {axis} {first}..{last}, group {group}")
        asked = {"axis": axis, "from": first, "to": last, "columns": 10}
        got, wanted = ask(page, "profile", **asked), view.get("/api/profile", **asked)
        check(all(abs(a - b) < 0.01 for one, other in zip(got["states"], wanted["states"])
                  for a, b in zip(one, other)), f"profile of {axis}: {got}, not {wanted}")


def check_order(view, page, data):
    """Events, their neighbours, cones and relations."""
    ids = [f"{event['event'][0]}:{event['event'][1]}" for event in data["events"]]
    there = sum(row["events"] for part in data["rows"] for row in part["rows"])
    check(len(ids) == there, f"{len(ids)} events of {there}")
    for place in range(0, len(ids), STEP):
        event, other = ids[place], ids[place * 5 % len(ids)]
        check(ask(page, "event", event=event) == view.get("/api/event", event=event),
              f"event {event}")
        got, wanted = ask(page, "cone", event=event), view.get("/api/cone", event=event)
        check(got == wanted, f"cone of {event}: {got}, not {wanted}")
        got, wanted = (ask(page, "relation", a=event, b=other),
                       view.get("/api/relation", a=event, b=other))
        check(got == wanted, f"{event} and {other}: {got}, not {wanted}")
        asked = {"axis": "level", "row": 1, "at": place}
        check(ask(page, "nearest", **asked) == view.get("/api/nearest", **asked),
              f"nearest to level {place}")


def check_use(page):
    """Actions of a user: a click selects, and panels say what a saved page lacks."""
    box = page.evaluate(f"""(() => {{
        const around = document.getElementById('diagram').getBoundingClientRect();
        const line = {V}.items.filter((item) => item.kind === 'line')[1].box;
        return [around.x + line[0] + line[2] / 2, around.y + line[1] + line[3] / 2];
    }})()""")
    page.click(*box)
    page.wait(f"{V}.found.event && {V}.found.cone && {V}.idle")
    panel = "document.getElementById('panel').innerText"
    check("MPI_" in page.evaluate(panel), "the event is not told in words")
    for name in ("waits", "collectives", "trees", "scope"):
        page.evaluate(f"{V}.set({{ panel: '{name}' }})")
        page.wait(f"{panel}.includes('not in a saved page')")
    for name in ("matrix", "profile"):
        page.evaluate(f"{V}.set({{ panel: '{name}' }})")
        page.wait(f"document.querySelector('#panel canvas') && {V}.idle")
    page.press("a")
    page.wait(f"{V}.view.axis === 'level' && {V}.idle")


def check_part(page, data):
    """The rows of a part are numbered as in the run, and its axis covers the part."""
    rows = [row for part in data["rows"] for row in part["rows"]]
    check(sorted(row["rank"] for row in rows) == [1, 2], "not ranks 1 and 2")
    check(page.evaluate(f"{V}.run.rows.map((row) => row.row)") ==
          [row["row"] for row in rows], "rows")
    check(page.evaluate(f"{V}.extent()") == [data["from"], data["to"]], "the extent")
    check(all(data["from"] <= event["t"] <= data["to"] for event in data["events"]),
          "events outside the part")
    check("Saved: " in page.evaluate("document.getElementById('notice').textContent"),
          "it is not said that this is a part")
    row, index = data["events"][-1]["event"][:2]
    check(row == rows[1]["row"], f"the last event is of row {row}")
    event = ask(page, "event", event=f"{row}:{index}")
    check(event["event"][:2] == [row, index], "its row")
    here = {one["row"] for one in rows}
    check({one[0] for one in event["causes"] + event["effects"]} <= here, "its causes")
    cone = ask(page, "cone", event=f"{row}:{index}")
    check(cone["past"][row] == index - 1, "its past")


def check_too_many(browser):
    """A page whose messages were too many to save says so."""
    data = data_of(WHOLE)
    data["messages"] = {"complete": False, "count": 1 << 21, "bucket": 1, "pairs": []}
    packed = base64.b64encode(zlib.compress(json.dumps(data).encode())).decode()
    with open(WHOLE) as file:
        text = file.read()
    path = PART + ".html"
    with open(path, "w") as file:
        file.write(re.sub(r'(id="eventspace-data">).*?(</script>)',
                          lambda found: found[1] + packed + found[2], text, flags=re.S))
    page = open_page(browser, path)
    words = page.evaluate("(async () => (await import('api.js')).request('matrix', "
                          "{ from: 0, to: 1 }).catch((error) => error.message))()")
    check(words == "messages are not in the saved page: too many", words)
    os.remove(path)


def end(page):
    check(not page.errors, f"errors on the console: {page.errors[:3]}")
    check(not page.foreign, f"requests elsewhere: {page.foreign[:3]}")
    page.close()


def main():
    view = View("--port", "0", ARCHIVE)
    view.await_reply("/api/run", lambda run: run["reading"]["done"])
    data = data_of(WHOLE)
    with Browser() as browser:
        page = open_page(browser, WHOLE)
        name = page.evaluate("document.getElementById('name').textContent")
        check(name == "<!--<script>", f"the name is {name}")
        check_replies(view, page, data)
        check_windows(view, page, data)
        check_order(view, page, data)
        check_use(page)
        end(page)
        page = open_page(browser, PART)
        check_part(page, data_of(PART))
        end(page)
        check_too_many(browser)
    check(view.stop(signal.SIGTERM) == 0, "SIGTERM")
    finish()


main()
