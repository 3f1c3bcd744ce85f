#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Checks the page of `eventspace view` in a browser (check_browser.sh starts the
servers).

    browser_checks.py --ring URL ... --pictures FOLDER, a URL for each of ARCHIVES, RUNS

Checks use the page's own model, window.eventspaceView, and its table; each waits for a
state of the page.
"""

import argparse
import json
import sys
import traceback
import urllib.error
import urllib.request

from browser import Browser

V = "eventspaceView"
ARCHIVES = ("ring", "split", "late", "one", "empty", "cut", "lost")
RUNS = ("live", "hang")
TABS = 8
STREAMS = 8  # limit of a server
# Makes requests for calls take longer than the run takes to change.
SLOW_CALLS = """(() => {
    const ask = window.fetch;
    window.fetch = async (url, options) => {
        if (url.startsWith('/api/calls'))
            await new Promise((resolve) => setTimeout(resolve, 700));
        return ask(url, options);
    };
})()"""
LAST_SECOND = f"{V}.setWindow({V}.run.end - 1e9, {V}.run.end, {{ follow: true }})"
LOST_PIXELS = """(async () => {
    const { pixels, STATES } = await import('/palette.js');
    const canvas = document.getElementById('diagram');
    const drawn = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const lost = pixels.hatch[STATES.indexOf('lost')];
    return new Uint32Array(drawn.data.buffer).filter((pixel) => pixel === lost).length;
})()"""
DRAWN = f"window.{V} && {V}.run.known && {V}.drawn > 0"


class Checks:
    """The browser, the addresses, and the number of faults."""

    def __init__(self, browser, arguments):
        self.browser = browser
        self.urls = arguments
        self.faults = 0

    def open(self, name, state="", **more):
        """Open a tab that shows one of the runs; wait until the picture of an archive
        is complete."""
        url = getattr(self.urls, name)
        if state:
            url += "&" + state
        page = self.browser.open(url, **more)
        page.wait(DRAWN if name in RUNS else f"{DRAWN} && {V}.idle")
        return page

    def request(self, name, path):
        """Request a path from the server of a run, without the page."""
        base, token = getattr(self.urls, name).split("#token=")
        asked = urllib.request.Request(base + "api/" + path,
                                       headers={"X-EventSpace-Token": token})
        return urllib.request.urlopen(asked, timeout=20)

    def ask(self, name, path):
        """The JSON content of such a reply."""
        with self.request(name, path) as reply:
            return json.load(reply)

    def that(self, holds, what):
        """Count a fault if it does not hold."""
        print(("ok: " if holds else "FAILED: ") + what, flush=True)
        self.faults += not holds

    def end(self, page, what):
        """Close a page, which must have no console errors and no requests to other
        hosts."""
        self.that(not page.errors, f"{what}: no error on the console {page.errors[:2]}")
        self.that(not page.foreign, f"{what}: no request elsewhere {page.foreign[:2]}")
        page.close()


def idle(page, condition="true"):
    """Wait until the page has drawn a state in which the condition is true."""
    page.wait(f"({condition}) && {V}.idle")


def click_row(page, part=0.5, place=0):
    """Click on a row of the diagram and wait for the event."""
    box = page.evaluate(f"""(() => {{
        const around = document.getElementById('diagram').getBoundingClientRect();
        const line = {V}.items.filter((item) => item.kind === 'line')[{place}].box;
        return [around.x + line[0] + {part} * line[2], around.y + line[1] + line[3] / 2];
    }})()""")
    before = page.evaluate(f"JSON.stringify({V}.view.selection)")
    page.click(*box)
    idle(page, f"{V}.found.event && JSON.stringify({V}.view.selection) != '{before}'")


def place_of_selection(page):
    """Horizontal position of the selected event on the screen."""
    box = page.evaluate(f"{V}.items.find((item) => item.kind === 'selection').box")
    return box[0] + box[2] / 2


def check_archive(checks):
    """Rows, the text of an event, its cones, table, axis, address."""
    page = checks.open("ring")
    checks.that(page.evaluate(f"{V}.rows.length") == 4, "four rows of the ring")
    checks.that(page.evaluate(f"{V}.items.some((i) => i.kind === 'call')"), "calls drawn")
    checks.that(page.evaluate(f"{V}.items.some((i) => i.kind === 'message')"),
                "messages drawn as arrows")
    click_row(page, 0.4, 1)
    checks.that("MPI_" in page.evaluate("document.getElementById('panel').innerText"),
                "the event is told in words")
    checks.that("MPI_" in page.evaluate("document.getElementById('speech').textContent"),
                "and announced")
    page.evaluate(f"{V}.select([1, 20])")
    idle(page, f"{V}.found.event && {V}.found.event.event[1] == 20")
    check_cones(checks, page)
    check_axis(checks, page)
    check_table(checks, page)
    check_address(checks, page)
    checks.end(page, "archive")


def check_cones(checks, page):
    """The cones drawn are those computed by the server."""
    idle(page, f"{V}.found.cone")
    row, index = page.evaluate(f"{V}.view.selection")
    cone = checks.ask("ring", f"cone?event={row}:{index}")
    shown = page.evaluate(f"{V}.found.cone")
    checks.that(all(shown[k] == cone[k] for k in ("past", "future", "past_at")),
                "cones are the server's")
    for kind in ("past", "future"):
        drawn = page.evaluate(f"{V}.items.filter((i) => i.kind === '{kind}').length")
        there = sum(at is not None and page.evaluate(
            f"{at[0]} >= {V}.view.from && {at[0]} <= {V}.view.to")
            for at in cone[kind + "_at"])
        checks.that(drawn == there, f"{kind}: a mark on each row ({drawn} of {there})")


def check_axis(checks, page):
    """The selected event keeps its position when the axis or the zoom changes."""
    before = place_of_selection(page)
    for key, condition in (("a", f"{V}.view.axis == 'level'"), ("+", "true"),
                           ("a", f"{V}.view.axis == 'time'"), ("-", "true")):
        page.press(key)
        idle(page, condition + f" && {V}.items.some((i) => i.kind === 'selection')")
        after = place_of_selection(page)
        checks.that(abs(after - before) < 1.5, f"'{key}' keeps the event at its place")


def check_table(checks, page):
    """The table has the lines of the diagram and the same selection."""
    page.press("t")
    idle(page, f"{V}.view.table")
    keys = page.evaluate(f"{V}.items.filter((i) => i.kind === 'line').map((i) => i.key)")
    rows = page.evaluate("[...document.querySelectorAll('#rows tbody tr')]"
                         ".map((row) => row.dataset.key)")
    checks.that(keys == rows, f"the table has the lines of the diagram: {rows}")
    chosen = page.evaluate("[...document.querySelectorAll('#rows tr[aria-selected=true]')]"
                           ".map((row) => row.dataset.key)")
    row = page.evaluate(f"{V}.view.selection[0]")
    checks.that(chosen == [f"r{row}"], "and its selection")
    page.press("t")
    idle(page, f"!{V}.view.table")


def check_address(checks, page):
    """The address restores the view, without the token."""
    page.wait("location.hash.includes('event=')")
    state = f"[{V}.view.axis, {V}.view.selection, Math.round({V}.view.to)]"
    address, shown = page.evaluate("location.hash"), page.evaluate(state)
    checks.that("token" not in address, "no token in the address")
    other = checks.open("ring", address[1:])
    idle(other, f"{V}.found.event")
    checks.that(other.evaluate(state) == shown, f"the address restores the view {shown}")
    checks.end(other, "restored")


def check_export(checks):
    """A file for Perfetto has an arrow for each message between the rows of the window."""
    end = checks.ask("ring", "run")["end"] + 1
    for first, last, rows in ((0, end, "0-3"), (int(end * 0.6), end, "0-3"),
                              (int(end * 0.6), end, "0-1"), (0, int(end * 0.8), "0-2")):
        window = f"from={first}&to={last}&rows={rows}"
        events = checks.ask("ring", f"export?format=chrome&{window}")["traceEvents"]
        messages = checks.ask("ring", f"messages?{window}")["messages"]
        tails, heads = ([(event["id"], event["ts"]) for event in events
                         if event["ph"] == phase] for phase in ("s", "f"))
        inner = sum(first <= one[2] and one[6] < last for one in messages)
        checks.that(inner <= len(heads) <= len(messages) and
                    [one[0] for one in tails] == [one[0] for one in heads],
                    f"{len(heads)} arrows of {inner} to {len(messages)} messages")
    page = checks.open("ring")
    page.evaluate("""(() => {
        window.saved = [];
        HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
        const save = document.getElementById('save');
        save.value = 'chrome';
        save.dispatchEvent(new Event('change'));
    })()""")
    page.wait("saved.length === 1 && saved[0].endsWith('.json')")
    checks.end(page, "export")


def check_keys(checks):
    """Everything works by keys."""
    page = checks.open("ring")
    page.press("ArrowRight")
    idle(page, f"{V}.found.event")
    start = page.evaluate(f"{V}.view.selection")
    page.press("ArrowRight")
    idle(page, f"{V}.found.event && {V}.view.selection[1] == {start[1] + 1}")
    checks.that(True, "the right arrow goes along the thread")
    walk_to_message(page)
    row = page.evaluate(f"{V}.view.selection[0]")
    page.press("ArrowRight", shift=True)
    idle(page, f"{V}.found.event && {V}.view.selection[0] != {row}")
    checks.that(True, "Shift and the right arrow go along a message")
    page.press("ArrowLeft", shift=True)
    idle(page, f"{V}.found.event && {V}.view.selection[0] == {row}")
    page.press("m")
    idle(page, f"{V}.view.measure")
    page.press("ArrowDown")
    idle(page, f"{V}.found.measured && {V}.found.measured.relation")
    checks.that(page.evaluate("document.getElementById('panel').innerText")
                .find("Measured") >= 0, "a measurement is told")
    page.press("?")
    page.wait("document.getElementById('help').open")
    page.press("Escape")
    page.wait("!document.getElementById('help').open")
    search_by_keys(checks, page)
    page.press("0")
    idle(page, f"{V}.view.whole")
    checks.end(page, "keys")


def walk_to_message(page):
    """Walk to an event that causes an event on another row."""
    for _ in range(40):
        if page.evaluate(f"{V}.found.event.effects.some((id) => id[0] != "
                         f"{V}.view.selection[0])"):
            return
        index = page.evaluate(f"{V}.view.selection[1]")
        page.press("ArrowRight")
        idle(page, f"{V}.found.event && {V}.found.event.event[1] == {index + 1}")


def search_by_keys(checks, page):
    """Search by text, and walk through the matches."""
    page.press("/")
    page.wait("document.activeElement.id == 'search-text'")
    page.type("MPI_Recv")
    page.press("Enter")
    idle(page, f"{V}.found.matches.length > 10")
    page.press("Escape")
    page.press("n")
    idle(page, f"{V}.found.match == 0 && {V}.found.event")
    page.press("n")
    idle(page, f"{V}.found.match == 1 && {V}.found.event")
    checks.that("MPI_Recv" in page.evaluate(f"{V}.found.event.text"), "a match is selected")
    checks.that(page.evaluate(f"{V}.items.some((i) => i.kind === 'match')"),
                "matches are drawn")


def check_pattern(checks):
    """Matches of a pattern are those found by the server."""
    pattern = 'S := ["", "MPI_Send", ""]; R := ["", "MPI_Recv", ""]; Match := S --> R;'
    page = checks.open("ring", "panel=search&by=pattern&search=" +
                       urllib.request.quote(pattern))
    idle(page, f"{V}.found.matches.length > 0")
    answer = checks.ask("ring", "search?limit=1000&pattern=" + urllib.request.quote(pattern))
    shown = page.evaluate(f"{V}.found.matches.map((match) => match.events)")
    checks.that(shown == answer["matches"], f"{len(shown)} matches of a pattern")
    checks.end(page, "pattern")


def check_panels(checks):
    """Each panel shows some content and no error."""
    page = checks.open("ring")
    for name in ("waits", "collectives", "matrix", "profile", "trees", "scope"):
        page.evaluate(f"document.getElementById('tab-{name}').click()")
        idle(page, "document.getElementById('panel').innerText.trim().length > 10")
        error = page.evaluate("(document.querySelector('#panel .error') || {}).textContent")
        checks.that(not error, f"panel {name}: {error or 'shown'}")
        if name == "trees":
            checks.that("holds no operations of instrumented trees" in page.evaluate(
                "document.getElementById('panel').innerText"), "an archive without trees")
    checks.that("without a scope" in page.evaluate(
        "document.getElementById('panel').innerText"), "an archive has no scope")
    checks.end(page, "panels")


def check_mouse(checks):
    """Drag, wheel, and a measurement by Shift and drag."""
    page = checks.open("ring")
    box = page.evaluate("(({x, y, width}) => [x, y, width])"
                        "(document.getElementById('diagram').getBoundingClientRect())")
    middle, y = box[0] + 148 + (box[2] - 148) / 2, box[1] + 60
    at = f"({V}.view.from + {V}.view.to) / 2"
    before, width = page.evaluate(at), page.evaluate(f"{V}.view.to - {V}.view.from")
    page.wheel(middle, y, -100)
    idle(page, f"{V}.view.to - {V}.view.from < {width} * 0.9")
    checks.that(abs(page.evaluate(at) - before) < width * 0.01, "the wheel zooms there")
    start = page.evaluate(f"{V}.view.from")
    page.drag((middle, y), (middle - 120, y))
    idle(page, f"{V}.view.from > {start}")
    checks.that(True, "a drag moves the window")
    page.drag((middle - 200, y), (middle + 200, y + 40), shift=True)
    idle(page, f"{V}.found.measured && {V}.view.measure")
    checks.that(True, "Shift and a drag measure")
    checks.end(page, "mouse")


def check_live_trees(checks, page):
    """Children in collective trees and gather trees are indented below their parents."""
    for name, words in (("trees", "MPI_Allreduce on"), ("scope", "The scope that")):
        page.evaluate(f"document.getElementById('tab-{name}').click()")
        page.wait("document.querySelectorAll('#panel td[data-depth]').length > 0 && "
                  f"document.getElementById('panel').innerText.includes('{words}')")
        checks.that(True, f"panel {name}: what is below is indented")
        page.screenshot(f"{checks.urls.pictures}/{name}.png")


def check_live(checks):
    """A live run: it grows, is followed, is left, and is followed again."""
    page = checks.open("live")
    page.wait(f"{V}.run.live && {V}.run.events > 0 && {V}.rows.length == 4")
    events = page.evaluate(f"{V}.run.events")
    page.wait(f"{V}.run.events > {events}")
    checks.that(page.evaluate(f"{V}.view.follow"), "a live run is followed")
    end = page.evaluate(f"{V}.view.to")
    page.wait(f"{V}.view.to > {end}")
    checks.that(True, "the window keeps up")
    page.press("[")
    page.wait(f"!{V}.view.follow")
    to, events = page.evaluate(f"[{V}.view.to, {V}.run.events]")
    page.wait(f"{V}.run.events > {events}")
    checks.that(page.evaluate(f"{V}.view.follow") is False, "moving leaves follow mode")
    page.evaluate("document.getElementById('follow').click()")
    page.wait(f"{V}.view.follow && {V}.view.to > {to}")
    checks.that(True, "a button goes back")
    page.wait("/this costs [\\d.e-]+ % of a core/.test("
              "document.getElementById('status').textContent)")
    checks.that(True, "the header tells what the command costs")
    check_live_trees(checks, page)
    check_tabs(checks, page)
    checks.end(page, "live")


def check_live_matches(checks):
    """The matches grow during a live run and include new ones."""
    pattern = 'A := [operation = "MPI_Allreduce"]; M := A;'
    page = checks.open("live", "panel=search&by=pattern&search=" +
                       urllib.request.quote(pattern))
    page.wait(f"{V}.found.matches.length > 0")
    for _ in range(2):
        end = page.evaluate(f"{V}.run.end")
        page.wait(f"{V}.found.matches.some(({{ places }}) => places[0].t > {end})")
    words = page.evaluate("document.querySelector('#panel p[role=status]').textContent")
    checks.that("matches" in words, f"a pattern's matches come by themselves: {words}")
    index = page.evaluate(f"""(() => {{
        {V}.found.match = {V}.found.matches.length - 1;
        return JSON.stringify({V}.found.matches[{V}.found.match].events[0].slice(0, 2));
    }})()""")
    end = page.evaluate(f"{V}.run.end")
    page.wait(f"{V}.found.matches.some(({{ places }}) => places[0].t > {end})")
    checks.that(page.evaluate(f"{V}.found.match < 0 || JSON.stringify({V}.found.matches"
                              f"[{V}.found.match].events[0].slice(0, 2)) === '{index}'"),
                "the one that is selected stays so")
    checks.end(page, "live matches")


def check_tabs(checks, first):
    """Many tabs at once: each stays up to date, however slow its requests are."""
    first.evaluate(f"{V}.set({{ panel: 'event' }})")
    pages = [first] + [checks.open("live", width=700, height=400)
                       for _ in range(TABS - 1)]
    for page in pages:
        page.evaluate(SLOW_CALLS)
        page.evaluate(LAST_SECOND)
        page.wait(f"{V}.found.calls && {V}.view.follow")
    ends = [page.evaluate(f"[{V}.run.events, {V}.found.calls.to]") for page in pages]
    for page, (events, to) in zip(pages, ends):
        page.wait(f"{V}.run.events > {events} && {V}.found.calls.to > {to}")
    streams = [page.evaluate(f"{V}.found.stream") for page in pages]
    checks.that(not any(streams), f"{TABS} tabs have their live updates {streams}")
    for page in pages[1:]:
        checks.end(page, "one of several tabs")


def check_refused(checks):
    """A tab without a stream says so, and is still kept up to date."""
    streams = []
    while len(streams) <= STREAMS:
        try:
            streams.append(checks.request("live", "stream"))
        except urllib.error.HTTPError as error:
            checks.that(error.code == 429, f"too many streams: {error.code}")
            break
    checks.that(len(streams) == STREAMS, f"{len(streams)} streams")
    page = checks.open("live")
    for _ in range(2):
        events = page.evaluate(f"{V}.run.events")
        page.wait(f"{V}.run.events > {events}")
    words = page.evaluate("document.getElementById('error').textContent")
    checks.that("once a second: too many pages" in words, f"it is told: {words}")
    for stream in streams:
        stream.close()
    page.wait(f"{V}.found.stream === ''")
    checks.that(all("429" in error for error in page.errors), f"{page.errors}")
    page.errors.clear()
    checks.end(page, "without a stream")


def check_hang(checks):
    """The cycle of a deadlock is named and drawn."""
    page = checks.open("hang")
    page.wait(f"{V}.found.verdict && {V}.found.verdict.cycle.length > 1")
    page.wait(f"{V}.items.some((item) => item.kind === 'wait')")
    cycle = page.evaluate(f"{V}.found.verdict.cycle")
    drawn = page.evaluate(f"{V}.items.filter((i) => i.kind === 'wait')"
                          ".map((i) => [i.from, i.to])")
    wanted = [[rank, cycle[(i + 1) % len(cycle)]] for i, rank in enumerate(cycle)]
    checks.that(drawn == wanted, f"the circle is drawn: {drawn}")
    checks.that("DEADLOCK" in page.evaluate("document.getElementById('notice').innerText"),
                "and told")
    page.evaluate("document.getElementById('tab-waits').click()")
    page.wait("document.querySelectorAll('svg.graph .stuck circle').length > 1")
    checks.that(True, "the graph of waits has it")
    checks.end(page, "hang")


def check_clusters(checks):
    """Rows can be grouped by the clusters of their hosts if there are several."""
    page = checks.open("ring", "group=cluster")
    checks.that(page.evaluate("document.getElementById('by-cluster').hidden") and
                page.evaluate(f"{V}.lines.every((line) => !line.grouped)"),
                "in one cluster rows are not grouped by it")
    checks.end(page, "one cluster")
    page = checks.open("split")
    page.evaluate("""(() => {
        const choice = document.getElementById('group');
        choice.value = 'cluster';
        choice.dispatchEvent(new Event('change'));
    })()""")
    idle(page, f"{V}.lines.some((line) => line.grouped)")
    groups = page.evaluate(f"{V}.lines.filter((line) => line.grouped)"
                           ".map((line) => [line.title, line.rows.map((r) => r.rank)])")
    checks.that(groups == [["cluster east", [0, 2]], ["cluster west", [1, 3]]],
                f"groups by cluster: {groups}")
    checks.that(not page.evaluate(f"{V}.found.window"), "and their cells are had")
    checks.end(page, "clusters")


def check_collectives(checks):
    """Arrivals at collective operations are drawn, and a click in the list selects one."""
    page = checks.open("late")
    kinds = f"(kind) => {V}.items.filter((item) => item.kind === kind)"
    checks.that(page.evaluate(f"({kinds})('instance').length") == 0, "no bands unasked")
    page.press("k")
    idle(page, f"({kinds})('instance').length > 0")
    wanted = checks.ask("late", "collectives")["instances"]
    drawn = page.evaluate(f"({kinds})('late-rank').map((item) => item.instance)")
    checks.that(sorted(one["instance"] for one in drawn) == list(range(12)) and
                all(one in wanted for one in drawn),
                f"{len(drawn)} operations are drawn as the server tells them")
    page.screenshot(f"{checks.urls.pictures}/collectives.png")
    page.evaluate("document.getElementById('tab-collectives').click()")
    page.wait("document.querySelectorAll('#panel .instances button').length == 12")
    page.evaluate("document.querySelector('#panel .instances button').click()")
    first, last = wanted[0]["first"], wanted[0]["last"]
    idle(page, f"!{V}.view.whole && {V}.view.from < {first[2]} && "
               f"{V}.view.to > {wanted[0]['end']} && {V}.found.event")
    checks.that(page.evaluate(f"{V}.view.selection") == last[:2],
                "a click shows the most costly one and selects who came last")
    page.wait("location.hash.includes('collectives=1')")
    page.press("k")
    idle(page, f"({kinds})('instance').length == 0")
    checks.end(page, "collectives")


def check_preferences(checks):
    """Dark mode, reduced motion, and 200 % zoom."""
    page = checks.open("ring", dark=True, reduced_motion=True)
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.press("+")
    idle(page)
    picture = page.screenshot(f"{checks.urls.pictures}/dark.png")
    checks.that(len(picture) > 10000, "a picture of the dark page")
    page.emulate(dark=False)
    page.wait(f"{colour} != '{dark}'")
    checks.that(True, "dark and light differ")
    page.resize(1400, 900, zoom=2)
    idle(page, "innerWidth == 700")
    wide = page.evaluate("document.documentElement.scrollWidth")
    checks.that(wide <= 700, f"nothing is cut off at 200 % ({wide})")
    checks.end(page, "preferences")


def check_small(checks):
    """One rank that sends no messages."""
    page = checks.open("one")
    checks.that(page.evaluate(f"{V}.rows.length") == 1, "one row")
    page.press("ArrowRight")
    idle(page, f"{V}.found.event")
    checks.end(page, "one rank")


def check_incomplete(checks):
    """Runs that are empty, cut or have losses are shown as such."""
    for name, words in (("empty", "This run has no events."),
                        ("cut", "Cut: 4 of 4 ranks have no MPI_Finalize."),
                        ("lost", "tuples were lost; the gaps are hatched in grey.")):
        page = checks.open(name)
        page.wait(f"{V}.run.reading.done")
        notice = "document.getElementById('notice').textContent"
        page.wait(f"{notice}.includes('{words}')")
        checks.that(True, f"{name}: {page.evaluate(notice)}")
        for panel in ("event", "waits", "collectives", "matrix", "profile", "search"):
            page.evaluate(f"document.getElementById('tab-{panel}').click()")
            idle(page)
        page.press("t")
        page.press("a")
        page.press("+")
        page.press("ArrowRight")
        idle(page)
        error = page.evaluate("document.getElementById('error').textContent")
        checks.that(not error, f"{name}: {error or 'no error'}")
        checks.end(page, name)
    page = checks.open("lost")
    checks.that(page.evaluate(LOST_PIXELS) > 10, "lost: hatched in the diagram")
    checks.end(page, "lost, hatched")
    page = checks.open("ring")
    checks.that("Cut" not in page.evaluate("document.getElementById('notice').textContent"),
                "a whole run is not said to be cut")
    checks.end(page, "whole")


CHECKS = (check_archive, check_export, check_keys, check_mouse, check_pattern,
          check_panels, check_clusters, check_collectives, check_refused,
          check_live_matches, check_live, check_hang, check_incomplete,
          check_preferences, check_small)


def main():
    """Run all checks in one browser."""
    parser = argparse.ArgumentParser()
    for name in (*ARCHIVES, *RUNS, "pictures"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    with Browser() as browser:
        checks = Checks(browser, arguments)
        for check in CHECKS:
            if arguments.only and arguments.only not in check.__name__:
                continue
            try:
                check(checks)
            except Exception:  # the other checks still run
                traceback.print_exc(file=sys.stdout)
                checks.that(False, check.__name__)
    return checks.faults > 0


if __name__ == "__main__":
    sys.exit(main())
