#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Takes the pictures of docs/pictures (tools/make-pictures starts the servers).

    take_pictures.py --tunnel URL --hang URL --race URL --late URL --load URL --folder DIR

Each picture is taken of a light and a dark page of 1400 x 900.
"""

import argparse

from browser import Browser

V = "eventspaceView"
LIVE = ("tunnel", "hang")
NAMES = ("race", "late", "load", "hang", "tunnel")


def idle(page, condition="true"):
    """Wait until the page has drawn a state in which the condition is true."""
    page.wait(f"({condition}) && window.{V} && {V}.idle && {V}.drawn > 0", 60)


def redrawn(page, condition):
    """Wait until a live run has been drawn several more times."""
    drawn = page.evaluate(f"{V}.drawn")
    page.wait(f"({condition}) && {V}.drawn > {drawn + 12}", 60)


def show_tunnel(page):
    """The running wind tunnel: the last moments, followed."""
    page.wait(f"window.{V} && {V}.rows.length > 1 && {V}.run.events > 2000", 60)
    page.evaluate(f"{V}.setWindow({V}.run.end - 8e8, {V}.run.end)")
    page.press("f")
    page.evaluate("document.getElementById('tab-profile').click()")
    redrawn(page, "document.querySelector('#panel canvas')")


def show_hang(page):
    """The cycle of a deadlock, and which rank waits for which."""
    page.wait(f"window.{V} && {V}.found.verdict && {V}.found.verdict.cycle.length > 1", 60)
    page.evaluate("document.getElementById('tab-waits').click()")
    redrawn(page, "document.querySelector('svg.graph')")


def show_race(page):
    """A message that could have arrived before or after another one: its cones."""
    idle(page)
    page.evaluate(f"{V}.select([{V}.run.rows.find((row) => row.rank === 0).row, 14])")
    idle(page, f"{V}.found.event && {V}.found.cone")
    page.evaluate(f"(() => {{ const t = {V}.found.event.t, w = {V}.run.end / 60;"
                  f"{V}.setWindow(t - w, t + w); }})()")
    idle(page, f"{V}.found.cone")


def show_late(page):
    """Collective operations that wait for one rank."""
    idle(page)
    page.evaluate("document.getElementById('tab-collectives').click()")
    page.evaluate(f"{V}.setWindow({V}.run.end * 0.5, {V}.run.end * 0.85)")
    idle(page, "document.querySelector('#panel table')")


def show_load(page):
    """A thousand threads by host."""
    idle(page, f"{V}.lines.length > 1")


SHOWS = {"tunnel": show_tunnel, "hang": show_hang, "race": show_race, "late": show_late,
         "load": show_load}


def main():
    """Take all pictures."""
    parser = argparse.ArgumentParser()
    for name in NAMES + ("folder",):
        parser.add_argument("--" + name, required=True)
    arguments = vars(parser.parse_args())
    with Browser() as browser:
        for name in NAMES:
            page = browser.open(arguments[name], reduced_motion=True)
            SHOWS[name](page)
            for dark in (False, True):
                page.emulate(dark=dark, reduced_motion=True)
                if name in LIVE:
                    redrawn(page, "true")
                else:
                    idle(page)
                ending = "-dark" if dark else ""
                page.screenshot(f"{arguments['folder']}/{name}{ending}.png")
            page.close()


if __name__ == "__main__":
    main()
