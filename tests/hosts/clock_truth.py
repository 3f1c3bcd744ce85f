#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Compares estimates of clocks with the skew that was injected.

    clock_truth.py estimates FOLDER LIST    lines of `eventspace list --format json`
    clock_truth.py events EVENTS [repaired] lines of `eventspace events --format json`
    clock_truth.py delays TIMES RANK        lines of `eventspace time --format json`
"""

import json
import os
import sys
from collections import defaultdict
from fractions import Fraction

BILLION = 10**9


class Clock:
    """What a host shows: true + offset + drift * (true - epoch)."""

    def __init__(self, offset=0, drift=0, epoch=0):
        self.offset, self.drift, self.epoch = offset, Fraction(drift, BILLION), epoch

    def shown(self, true):
        return true + self.offset + self.drift * (true - self.epoch)

    def true(self, shown):
        return (shown - self.offset + self.drift * self.epoch) / (1 + self.drift)


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def check_estimates(folder, path):
    def clock_of(host):
        name = os.path.join(folder, host)
        if not os.path.exists(name):
            return Clock()
        with open(name, encoding="utf-8") as file:
            return Clock(*map(int, file.read().split()))

    home = clock_of("front")
    failures = known = 0
    for line in read_lines(path):
        if line["type"] != "host":
            continue
        clock = line["clock"]
        if clock is None:
            print(f"{line['host']}: no estimate")
            failures += 1
            continue
        if line["home"]:
            failures += clock["offset_ns"] != 0 or clock["error_ns"] != 0
            continue
        own = clock_of(line["host"])
        true = own.true(clock["monotonic_ns"])
        offset = home.shown(true) - clock["monotonic_ns"]
        drift = ((1 + home.drift) / (1 + own.drift) - 1) * BILLION
        off = float(abs(clock["offset_ns"] - offset))
        off_drift = float(clock["drift_ppb"] - drift)
        print(f"{line['host']}: offset {float(offset) / 1e9:+.9f} s, estimate off by "
              f"{off / 1e3:.1f} us, bound {clock['error_ns'] / 1e3:.1f} us; drift "
              f"{float(drift) / 1e3:+.3f} ppm, off by {off_drift / 1e3:+.3f} ppm")
        known += 1
        # The estimate must lie within its bound (plus 100 ns, since the kernel takes
        # some ns to read the clock), and the bound must be below 20 ms.
        if off > clock["error_ns"] + 100 or clock["error_ns"] > 20 * 10**6:
            failures += 1
            print("  the offset is wrong")
        # After the 12 s of clocks.sh, a drift is as uncertain as the offsets are.
        if abs(off_drift) > max(30000, clock["error_ns"] / 12):
            failures += 1
            print("  the drift is wrong")
    return failures + (known < 4)


def check_events(path, repaired):
    """No message ends before it begins by more than the bounds of both clocks. Without
    clock correction up to 1 % may do so within the bounds, with it none."""
    sent, received = defaultdict(list), defaultdict(list)
    events = [line for line in read_lines(path) if line["type"] == "event"]
    for event in events:
        if event["operation"] == "MPI_Send":
            sent[event["rank"], event["peer"]].append(event)
        elif event["operation"] == "MPI_Recv":
            received[event["peer"], event["rank"]].append(event)
    pairs = before = 0
    worst = 0
    for way, sends in sent.items():
        for send, receive in zip(sorted(sends, key=lambda e: e["position"]),
                                 sorted(received[way], key=lambda e: e["position"])):
            pairs += 1
            span = receive["stop_ns"] - send["start_ns"]
            before += span < 0
            bound = send.get("error_ns", 0) + receive.get("error_ns", 0)
            worst = min(worst, span + bound)
    largest = max((event.get("error_ns") or 0) for event in events)
    stops = [event["stop_ns"] for event in events]
    late = sum(b < a for a, b in zip(stops, stops[1:]))
    print(f"{pairs} messages, {before} received before they were sent; worst beyond the "
          f"bounds {worst} ns; largest bound {largest} ns; {late} of {len(stops)} late")
    return pairs < 1000 or worst < 0 or before > (0 if repaired else pairs // 100)


def check_delays(path, rank):
    """Whether the rank causes nearly all waiting, and the clock error is bounded."""
    lines = read_lines(path)
    caused = {line["rank"]: line["caused_ns"] for line in lines if line["type"] == "rank"}
    totals = next(line for line in lines if line["type"] == "totals")
    share = caused[rank] / max(1, totals["waited_ns"])
    print(f"rank {rank} causes {share:.3f} of {totals['waited_ns']} ns of waiting; the bound "
          f"is {totals['error_ns']} ns, {totals['doubtful']} waits are shorter")
    return (share < 0.7 or totals["waited_ns"] < 10**9 or not totals["error_ns"]
            or abs(sum(caused.values()) + totals["elsewhere_ns"] - totals["waited_ns"]) > 10**6)


def main():
    if sys.argv[1] == "delays":
        return check_delays(sys.argv[2], int(sys.argv[3]))
    if sys.argv[1] == "estimates":
        return check_estimates(*sys.argv[2:4]) > 0
    return check_events(sys.argv[2], sys.argv[3:] == ["repaired"])


if __name__ == "__main__":
    sys.exit(main())
