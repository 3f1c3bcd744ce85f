#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_matched.py - checks that all messages in an event set are matched.

usage: check_matched.py SET MESSAGES

SET has the JSON Lines of a recorded run without losses, MESSAGES is the number of its
messages, or `any`.  Each send to a rank is named by one receive, and each receive names
one send of the same size.  Collective operations have as many exits as enters.
"""

import collections
import json
import sys

sizes, named, faults = {}, collections.Counter(), []
receives, sides = [], collections.Counter()
with open(sys.argv[1], encoding="utf-8") as file:
    next(file)
    for text in file:
        event = json.loads(text)
        attributes = event.get("attributes", {})
        place = event["trace"], event["index"]
        op_class = attributes.get("class")
        if "peer" in attributes and op_class == "send":
            sizes[place] = attributes["bytes"]
        elif "peer" in attributes and op_class == "receive":
            receives.append((place, event))
        if "instance" in attributes and event["type"].endswith((" enter", " exit")):
            sides[event["type"].rsplit(" ", 1)[1]] += 1
for place, event in receives:
    partners = [tuple(partner) for partner in event.get("partners", [])]
    named.update(partners)
    if len(partners) != 1:
        faults.append("%s names %d sends" % (event, len(partners)))
    elif sizes.get(partners[0]) != event["attributes"]["bytes"]:
        faults.append("%s has another size than its send" % event)
for place in sizes:
    if named[place] != 1:
        faults.append("the send %s is named by %d receives" % (place, named[place]))
if sides["enter"] != sides["exit"]:
    faults.append("%d enters and %d exits" % (sides["enter"], sides["exit"]))
if sys.argv[2] not in ("any", str(len(receives))):
    faults.append("there are %d messages, not %s" % (len(receives), sys.argv[2]))
if not sizes and not sides:
    faults.append("nothing was recorded")
print("%d messages, %d enters" % (len(receives), sides["enter"]))
for fault in faults[:10]:
    print("FAILED:", fault)
sys.exit(1 if faults else 0)
