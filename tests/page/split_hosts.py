#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""split_hosts.py - makes an archive in which the odd ranks of a run are on another
host, in another cluster.

usage: split_hosts.py ARCHIVE COPY
"""

import json
import os
import shutil
import sys

FAR, EAST, WEST = "far", "east", "west"


def move_streams(copy, near, names):
    """Move the streams of these elements to the folder of the other host."""
    os.mkdir(os.path.join(copy, FAR))
    shutil.copy(os.path.join(copy, near, "metadata"), os.path.join(copy, FAR))
    for name in names:
        os.rename(os.path.join(copy, near, name), os.path.join(copy, FAR, name))


def change_map(path):
    """Describe two hosts in two clusters; the archive says where ranks are."""
    with open(path, encoding="utf-8") as file:
        map_ = json.load(file)
    host = map_["cluster"]["hosts"][0]
    map_["cluster"] = {"clusters": [{"name": EAST}, {"name": WEST}], "hosts": [
        dict(host, cluster=EAST), dict(host, name=FAR, cluster=WEST)]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(map_, file)


def main():
    archive, copy = sys.argv[1:]
    shutil.copytree(archive, copy)
    side = os.path.join(copy, ".eventspace")
    with open(os.path.join(side, "archive.jsonl"), encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    host = next(record for record in records if record["type"] == "host")
    odd = {record["number"] for record in records
           if record["type"] == "process" and record["rank"] % 2}
    far = dict(host, number=1, name=FAR)
    records.insert(records.index(host) + 1, far)
    for record in records:
        if record["type"] == "process" and record["number"] in odd:
            record["host"] = 1
    with open(os.path.join(side, "archive.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, separators=(",", ":")) + "\n"
                        for record in records)
    move_streams(copy, host["name"], [
        f"{record['name'].replace('/', '-')}.{record['number']}" for record in records
        if record["type"] == "element" and record["process"] in odd])
    change_map(os.path.join(side, "map.json"))


main()
