#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_kept.py - the sums that `view` saves beside an archive are shown before the
archive is read; sums of another archive, or damaged ones, are not used.

usage: check_kept.py ARCHIVE
"""

import fcntl
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from page_client import EVENTSPACE, PATIENCE_S, View, check, finish

ARCHIVE = sys.argv[1]
KEPT = os.path.join(ARCHIVE, ".eventspace", "diagram")
FOLDER = tempfile.mkdtemp()


def read_kept():
    with open(KEPT, "rb") as file:
        return bytearray(file.read())


def write_kept(content):
    with open(KEPT, "wb") as file:
        file.write(content)


class BlockedView(View):
    """A command that serves but does not read the archive: it blocks on its output,
    which it prints before it reads."""

    def __init__(self, *arguments):
        self.place, self.token = os.path.join(FOLDER, "socket"), None
        self.end, begin = os.pipe()
        fcntl.fcntl(begin, fcntl.F_SETFL, os.O_NONBLOCK)
        try:
            while os.write(begin, b"\0" * 4096):
                pass
        except BlockingIOError:
            fcntl.fcntl(begin, fcntl.F_SETFL, 0)
        self.process = subprocess.Popen(
            [EVENTSPACE, "view", "--socket", self.place, *arguments], stdout=begin,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        os.close(begin)
        end = time.monotonic() + PATIENCE_S
        while not self.listens() and time.monotonic() < end:
            time.sleep(0.01)

    def listens(self):
        """Whether the socket accepts connections; its file exists a little earlier."""
        with socket.socket(socket.AF_UNIX) as one:
            return one.connect_ex(self.place) == 0

    def go_on(self):
        said = b""
        while b"localhost" not in said:
            said += os.read(self.end, 65536)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        words = self.process.stderr.read().decode()
        check(self.process.wait() == 0, f"ended with {self.process.returncode}")
        os.close(self.end)
        return words


def await_done(view):
    end = time.monotonic() + PATIENCE_S
    while not (run := view.get("/api/run"))["reading"]["done"]:
        check(time.monotonic() < end, "the archive is not read to its end")
        select.select([], [], [], 0.01)
    return run


def shares_of(window):
    """The cells of a window of one column, by row."""
    count = struct.unpack_from("<I", window, 8)[0]
    words = [struct.unpack_from("<3I", window, 32 + 12 * i)[2] for i in range(count)]
    return [[word >> 4 * state & 15 for state in range(7)] for word in words]


def read_whole():
    """Read once, so that sums are saved; return the output, the run, windows and rows."""
    view = BlockedView(ARCHIVE)
    view.go_on()
    run = await_done(view)
    windows = [view.get("/api/window", axis="time", columns=columns, **{"from": 0, "to": run["end"]})
               for columns in (1, 50)]
    rows = view.get("/api/rows", first=0, count=100)
    return view.stop(), run, windows, rows


def check_shown_at_once():
    if os.path.exists(KEPT):
        os.remove(KEPT)
    words, run, windows, rows = read_whole()
    check(words == "", f"a first reading says {words}")
    streams = sum(os.path.getsize(os.path.join(folder, name))
                  for folder, _, names in os.walk(ARCHIVE) for name in names
                  if re.search(r"\.\d+(\.late-\d+)?$", name) and ".eventspace" not in folder)
    check(os.path.getsize(KEPT) <= streams * 15 / 100,
          f"{os.path.getsize(KEPT)} bytes beside {streams}")

    view = BlockedView(ARCHIVE)
    early = view.get("/api/run")
    check(not early["reading"]["done"] and early["reading"]["events"] == 0,
          f"{early['reading']} before it reads")
    check(all(early[key] == run[key] for key in ("rows", "begin_ns", "end", "lost")),
          f"{early} is not {run}")
    early_rows = view.get("/api/rows", first=0, count=100)
    check([row["name"] for row in early_rows["rows"]] == [row["name"] for row in rows["rows"]],
          f"{early_rows} is not {rows}")
    window = view.get("/api/window", axis="time", columns=1, **{"from": 0, "to": run["end"]})
    for row, (one, other) in enumerate(zip(shares_of(window), shares_of(windows[0]))):
        check(all(abs(a - b) <= 1 for a, b in zip(one, other)),
              f"row {row}: {one} is not {other}")
    check(len(shares_of(window)) == run["rows"], "not all rows")
    calls = view.get("/api/calls", axis="time", rows="0-1", **{"from": 0, "to": run["end"]})
    check(calls["calls"] == [], "calls before it reads")
    view.go_on()
    await_done(view)
    again = [view.get("/api/window", axis="time", columns=columns, **{"from": 0, "to": run["end"]})
             for columns in (1, 50)]
    check(again == windows, "not the whole, when all is read")
    check(view.stop() == "", "words")


def check_refused(change, wanted):
    """Changed sums are not used: at most one line is printed, and right sums are saved
    again."""
    right = read_kept()
    wrong = bytearray(right)
    change(wrong)
    write_kept(wrong)
    view = BlockedView(ARCHIVE)
    check(view.get("/api/run")["rows"] == 0, f"{wanted}: rows")
    view.go_on()
    await_done(view)
    words = view.stop()
    check(words.count("\n") == (1 if wanted else 0) and wanted in words,
          f"{words} is not {wanted}")
    check(read_kept() == right, f"{wanted}: not written anew")


def change_byte(content):
    content[len(content) // 2] ^= 1


def change_archive(content):
    content[8] ^= 1


def make_short(content):
    del content[10:]


check_shown_at_once()
check_refused(change_byte, "is not used: ")
check_refused(change_archive, "")
check_refused(make_short, "is not used: ")
os.rmdir(FOLDER)
finish()
