#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""otf2_compare.py - compares OTF2 archives with the CSV export of the same run.

usage: otf2_compare.py archive TRACES.otf2 RUN.csv
       otf2_compare.py back RUN.csv BACK.csv
       otf2_compare.py matches RUN.csv OTHER.csv

`archive` reads the archive with OTF2's own Python module and compares event by event.
`back` compares the import of the archive: all columns of all events, except for the
differences that `allowed` lists.  `matches` compares another run of the program,
recorded by another tool: blocking messages and collective operations, and their
partners.
"""

import collections
import csv
import json
import sys

COLLECTIVES = {"MPI_Comm_dup": "CREATE_HANDLE", "MPI_Comm_idup": "CREATE_HANDLE",
               "MPI_Comm_split": "CREATE_HANDLE", "MPI_Cart_create": "CREATE_HANDLE",
               "MPI_Comm_free": "DESTROY_HANDLE", "MPI_Win_create": "CREATE_HANDLE",
               "MPI_Win_allocate": "CREATE_HANDLE_AND_ALLOCATE",
               "MPI_Win_free": "DESTROY_HANDLE", "MPI_Win_fence": "BARRIER"}
POSTED_SENDS = {"MPI_Isend", "MPI_Issend", "MPI_Isendrecv", "MPI_Start send"}
POSTED_RECEIVES = {"MPI_Irecv", "MPI_Imrecv", "MPI_Isendrecv receive", "MPI_Start receive"}
ACCESSES = {"MPI_Put": "RmaPut", "MPI_Rput": "RmaPut", "MPI_Get": "RmaGet",
            "MPI_Accumulate": "RmaAtomic", "MPI_Get_accumulate": "RmaAtomic",
            "MPI_Fetch_and_op": "RmaAtomic", "MPI_Compare_and_swap": "RmaAtomic"}
# Calls that complete accesses: (to all targets, also at the target).
COMPLETES = {"MPI_Win_fence": (True, True), "MPI_Win_complete": (True, False),
             "MPI_Win_flush": (False, True), "MPI_Win_flush_local": (False, False),
             "MPI_Win_flush_all": (True, True), "MPI_Win_unlock": (False, True),
             "MPI_Win_unlock_all": (True, True)}
# Tags of the receives that otf2_calls.c cancels.
CANCELLED = {"90", "91"}


def read_rows(path):
    """Returns the rows of each thread, with the window, if any."""
    threads = collections.defaultdict(list)
    for row in csv.DictReader(open(path, newline="", encoding="utf-8")):
        if row["operation"] == "" or row["name"].startswith("comm:"):
            continue
        row["window"] = json.loads(row["attributes"] or "{}").get("window", "")
        threads[row["name"]].append(row)
    return threads


# --- Expected events, computed from the CSV -----------------------------------------------

def is_persistent(operation):
    return operation.endswith("_init")


def is_posted_collective(row):
    operation = row["operation"]
    return operation == "MPI_Comm_idup" or is_persistent(operation) or \
        row["class"] == "collective" and operation.startswith("MPI_I")


def started(rows):
    """Returns the times when persistent requests were started."""
    return [int(row["start"]) for row in rows
            if row["operation"].startswith("MPI_Start ") or
            (is_persistent(row["operation"]) and row["type"].endswith(" exit"))]


def region_of(row, rows, ends):
    """Returns the region of a row, or None if it has none of its own."""
    operation, start, stop = row["operation"], int(row["start"]), int(row["stop"])
    is_enter = row["type"].endswith(" enter")
    if operation.endswith(" receive") or operation.startswith("MPI_Start "):
        return None
    if is_persistent(operation):
        return None if row["type"] != operation else (operation, start, stop)
    if is_posted_collective(row):
        return (operation, start, stop) if is_enter else None
    if is_enter:
        return None
    if operation in POSTED_RECEIVES:
        return operation, start, start  # the end of the call is not known
    if operation in ("MPI_Start", "MPI_Startall"):
        # The requests that it starts are recorded before the call begins.
        last = max(end for end in ends if end <= start)
        start = min([time for time in started(rows) if last <= time], default=start)
    return operation, start, stop


def message_of(row):
    message = (row["communicator"], row["peer"], row["tag"], row["bytes"])
    operation, start, stop = row["operation"], int(row["start"]), int(row["stop"])
    if row["kind"] in ("send", "sync") and row["class"] == "send":
        return ("MpiIsend" if operation in POSTED_SENDS else "MpiSend", start, *message)
    if row["kind"] in ("receive", "sync") and row["class"] == "receive":
        return ("MpiIrecv" if operation in POSTED_RECEIVES else "MpiRecv", stop, *message)
    if operation in POSTED_RECEIVES and row["tag"] in CANCELLED:
        return ("MpiRequestCancelled", stop)
    if operation.startswith("MPI_Test") and row["communicator"] != "":
        return ("MpiRequestTest", stop)  # unsuccessful: it has the data of the request
    return None


def collective_of(row):
    """Returns the end of a blocking, nonblocking or window collective operation."""
    operation = row["operation"]
    is_window = row["class"] == "one-sided" and operation in COLLECTIVES
    if not is_window and row["class"] not in ("collective", "communicator"):
        return None
    if row["type"] != operation + " exit" and operation != "MPI_Comm_free":
        return None
    kind = "RmaCollectiveEnd" if is_window else \
        "NonBlockingCollectiveComplete" if is_posted_collective(row) else "MpiCollectiveEnd"
    name = COLLECTIVES.get(operation) or \
        operation.replace("MPI_I", "MPI_").replace("_init", "")[4:].upper()
    return kind, name, row["communicator"], row["window"], row["peer"], int(row["stop"])


def completions_of(row, rows):
    """Yields the completions of an access, at the origin and at the target."""
    place = rows.index(row)
    is_request = row["operation"] == "MPI_Rput"
    done = {}
    for later in rows[place + 1:]:
        if is_request and later["operation"] == "MPI_Wait" and "origin" not in done:
            done["origin"] = int(later["stop"])
        all_targets, remote = COMPLETES.get(later["operation"], (None, None))
        if all_targets is None or later["type"].endswith(" enter") or \
                (later["window"], later["communicator"]) != (row["window"], row["communicator"]) \
                or not (all_targets or later["peer"] == row["peer"]):
            continue
        done.setdefault("origin", int(later["stop"]))
        if remote:
            done.setdefault("target", int(later["stop"]))
            break
    yield "RmaOpCompleteNonBlocking" if is_request else "RmaOpCompleteBlocking", done["origin"]
    if "target" in done:
        yield "RmaOpCompleteRemote", done["target"]


def accesses_of(row, rows):
    where = row["communicator"], row["window"]
    if row["operation"] in ACCESSES and row["peer"] != "":
        yield (ACCESSES[row["operation"]], *where, row["peer"], row["bytes"], int(row["start"]))
        for kind, time in completions_of(row, rows):
            yield (kind, *where, time)
    if row["operation"] in ("MPI_Win_create", "MPI_Win_allocate") and row["kind"] == "receive":
        yield ("RmaWinCreate", *where, int(row["stop"]))
    if row["operation"] == "MPI_Win_free" and row["kind"] == "receive":
        yield ("RmaWinDestroy", *where, int(row["stop"]))


def locks_of(rows):
    """Yields lock events; only the first lock of otf2_calls.c is exclusive."""
    held = None
    kinds = ["EXCLUSIVE"] + ["SHARED"] * len(rows)
    for row in rows:
        key = (row["communicator"], row["window"], row["peer"])
        if row["operation"] in ("MPI_Win_lock", "MPI_Win_lock_all"):
            held = kinds.pop(0)
            yield ("RmaRequestLock", *key, held, int(row["start"]))
        if row["operation"] in ("MPI_Win_flush", "MPI_Win_flush_all", "MPI_Win_unlock",
                                "MPI_Win_unlock_all") and held:
            yield ("RmaAcquireLock", *key, held, int(row["stop"]))
            held = None
        if row["operation"].startswith("MPI_Win_unlock"):
            yield ("RmaReleaseLock", *key, int(row["stop"]))


def epochs_of(rows, ranks):
    """Yields group events; the group consists of the partners of the call that ends."""
    ends = {"MPI_Win_complete": "MPI_Win_start", "MPI_Win_wait": "MPI_Win_post",
            "MPI_Win_test": "MPI_Win_post"}
    begun = {}
    for row in rows:
        where = row["communicator"], row["window"]
        if row["operation"] in ends.values():
            begun[where, row["operation"]] = row
        elif row["operation"] in ends and row["partners"]:
            group = sorted(ranks[partner.split(":")[0]] for partner in row["partners"].split())
            begin = begun.pop((where, ends[row["operation"]]))
            for level, call in (("NONE", begin), ("MEMORY", row)):
                yield ("RmaGroupSync", level, *where, tuple(group), int(call["stop"]))


def wanted_of(path):
    wanted = collections.Counter()
    threads = read_rows(path)
    ranks = {rows[0]["trace"]: int(rows[0]["rank"]) for rows in threads.values()}
    for name, rows in threads.items():
        rows_in_time = sorted(rows, key=lambda row: int(row["start"]))
        regions = [region_of(row, rows, [0]) for row in rows]
        ends = [0] + [region[2] for region in regions if region]
        for row in rows:
            keys = [("region", *region) for region in [region_of(row, rows, ends)] if region]
            keys += [key for key in (message_of(row), collective_of(row)) if key]
            keys += accesses_of(row, rows_in_time)
            wanted.update((name, *key) for key in keys)
        wanted.update((name, *key) for key in locks_of(rows_in_time))
        wanted.update((name, *key) for key in epochs_of(rows_in_time, ranks))
    return wanted


# --- Events of the archive ----------------------------------------------------------------

class Thread:
    """Open regions, requests and accesses of a location."""

    def __init__(self):
        self.regions = []
        self.requests = {}
        self.accesses = {}
        self.now = 0


def name_of(value):
    return str(value).split(".")[-1]


def window_of(event):
    return event.win.comm.name, event.win.name.replace("window ", "")


def peer_of(number):
    return "" if number == 0xffffffff else str(number)


def describe(kind, event, thread):
    """Returns the compared data of an event, or None if it is not compared."""
    if kind in ("MpiSend", "MpiIsend", "MpiRecv", "MpiIrecv"):
        peer = event.receiver if "end" in kind else event.sender
        return (kind, event.time, event.communicator.name, str(peer), str(event.msg_tag),
                str(event.msg_length))
    if kind in ("MpiRequestCancelled", "MpiRequestTest"):
        return kind, event.time
    if kind in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
        return (kind, name_of(event.collective_op), event.communicator.name, "",
                peer_of(event.root), event.time)
    if kind == "RmaCollectiveEnd":
        return (kind, name_of(event.collective_op), *window_of(event), peer_of(event.root),
                event.time)
    if kind in ("RmaPut", "RmaGet", "RmaAtomic"):
        size = event.bytes if kind != "RmaAtomic" else event.bytes_sent
        thread.accesses[event.matching_id] = window_of(event)
        return (kind, *window_of(event), str(event.remote), str(size), event.time)
    if kind.startswith("RmaOpComplete"):
        assert thread.accesses[event.matching_id] == window_of(event)
        return (kind, *window_of(event), event.time)
    if kind in ("RmaWinCreate", "RmaWinDestroy"):
        return (kind, *window_of(event), event.time)
    if kind in ("RmaRequestLock", "RmaAcquireLock"):
        return (kind, *window_of(event), peer_of(event.remote), name_of(event.lock_type),
                event.time)
    if kind == "RmaGroupSync":
        return (kind, name_of(event.sync_level), *window_of(event),
                tuple(sorted(int(member.name.split(".")[0]) for member in event.group.members)),
                event.time)
    if kind == "RmaReleaseLock":
        return (kind, *window_of(event), peer_of(event.remote), event.time)
    return None


def follow_requests(kind, event, thread):
    """Checks that a request is posted once and completed once, in a wait or test."""
    ends = {"MpiIrecv": "MpiIrecvRequest", "MpiRequestCancelled": "MpiIrecvRequest",
            "MpiIsendComplete": "MpiIsend",
            "NonBlockingCollectiveComplete": "NonBlockingCollectiveRequest"}
    if kind in ends.values():
        assert event.request_id not in thread.requests, "a request twice"
        thread.requests[event.request_id] = kind
    elif kind == "MpiRequestTest":
        assert event.request_id in thread.requests, "a test of no request"
    elif kind in ends:
        assert thread.requests.pop(event.request_id) == ends[kind]
        assert thread.regions[-1].region.name.startswith(("MPI_Wait", "MPI_Test"))


def take(found, thread, name, event):
    """Counts an event, and asserts that it follows the rules of OTF2."""
    kind = type(event).__name__
    assert event.time >= thread.now, (name, event)
    thread.now = event.time
    if kind == "Enter":
        thread.regions.append(event)
        return
    assert thread.regions, f"{kind} outside of a region"
    if kind == "Leave":
        enter = thread.regions.pop()
        assert enter.region == event.region, "regions do not nest"
        found[name, "region", event.region.name, enter.time, event.time] += 1
    follow_requests(kind, event, thread)
    described = describe(kind, event, thread)
    if described:
        found[(name, *described)] += 1


def found_in(path):
    import otf2

    found = collections.Counter()
    threads = collections.defaultdict(Thread)
    with otf2.reader.open(path) as trace:
        assert trace.timer_resolution == 10**9
        for location, event in trace.events:
            take(found, threads[location.name], location.name, event)
    for name, thread in threads.items():
        assert not thread.regions, name
        assert set(thread.requests.values()) <= {"MpiIsend"}, name
    return found


def compare_archive(traces, run):
    wanted, found = wanted_of(run), found_in(traces)
    missing, more = wanted - found, found - wanted
    for key in list(missing)[:5]:
        print("not in the archive:", key)
    for key in list(more)[:5]:
        print("only in the archive:", key)
    print(json.dumps(collections.Counter(key[1] for key in found.elements())))
    return not missing and not more


# --- Import -------------------------------------------------------------------------------

# OTF2 has no record with these columns for some calls, or none with MPI_PROC_NULL.
UNSAID = ("communicator", "peer", "tag", "bytes", "window")


def is_left_out(row):
    """Whether an event is not imported."""
    return row["operation"] in ("MPI_Start send", "MPI_Start receive") and \
        row["peer"] == "" and row["tag"] not in CANCELLED


def is_without_record(row):
    """Whether only the region of a call is imported."""
    operation = row["operation"]
    return row["class"] == "completion" or \
        operation in ("MPI_Start", "MPI_Startall") or operation.startswith("MPI_Win_flush") or \
        (operation == "MPI_Win_test" and not row["partners"]) or \
        (is_persistent(operation) and row["type"] == operation) or \
        (row["peer"] == "" and (row["class"] in ("send", "receive") or operation in ACCESSES))


def allowed(row):
    """Returns the columns of an event that may differ after the import."""
    columns = {"source"}  # whether a receive accepted any source
    if is_without_record(row):
        columns.update(UNSAID)
    if row["operation"] in ("MPI_Start", "MPI_Startall"):
        columns.add("start")  # its region begins with the first request that it starts
    if row["type"].endswith(" enter") and is_posted_collective(row):
        columns.add("stop")  # that of the request, as in the exit: one tuple for both
    if row["operation"] in POSTED_RECEIVES and row["peer"] == "":
        columns.add("stop")  # of a request that is not completed: that of its region
    return columns


def read_events(path, leave_out):
    """Returns events by thread and index, with their partners in the same form."""
    rows = list(csv.DictReader(open(path, newline="", encoding="utf-8")))
    names = {row["trace"]: row["name"] for row in rows}
    places, counts = {}, collections.Counter()
    for row in rows:
        if not leave_out(row):
            counts[row["name"]] += 1
            places[row["name"], row["index"]] = (row["name"], counts[row["name"]])
    events = {}
    for row in rows:
        place = places.get((row["name"], row["index"]))
        if place is None:
            continue
        attributes = json.loads(row.pop("attributes") or "{}")
        attributes.pop("site", None)  # source lines are not exported
        row.update(attributes)
        partners = (partner.split(":") for partner in row["partners"].split())
        row["partners"] = sorted(places[names[trace], index] for trace, index in partners)
        row["trace"] = row["index"] = ""
        events[place] = row
    return events


def compare_back(run, back):
    wanted, found = read_events(run, is_left_out), read_events(back, lambda row: False)
    faults = [f"not back: {place}" for place in wanted if place not in found]
    faults += [f"only back: {place}" for place in found if place not in wanted]
    for place in wanted.keys() & found.keys():
        columns = {name for name in wanted[place].keys() | found[place].keys()
                   if wanted[place].get(name) != found[place].get(name)}
        for name in columns - allowed(wanted[place]):
            faults.append(f"{place}, {wanted[place]['type']}: {name} is "
                          f"{found[place].get(name)!r}, not {wanted[place].get(name)!r}")
    print("\n".join(sorted(faults)[:8]))
    return not faults



# --- Another tool -------------------------------------------------------------------------

BLOCKING = {"MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Allreduce", "MPI_Reduce", "MPI_Gather",
            "MPI_Barrier"}


def matches_of(path):
    """Returns blocking events; only MPI_COMM_WORLD has the same name in all tools."""
    rows = list(csv.DictReader(open(path, newline="", encoding="utf-8")))
    kept = {f"{row['trace']}:{row['index']}" for row in rows if row["operation"] in BLOCKING}
    # Events of communicators' traces that belong to these calls.
    near = {partner for row in rows if row["operation"] in BLOCKING
            for partner in row["partners"].split()}

    def leave_out(row):
        return f"{row['trace']}:{row['index']}" not in kept | near and \
            not kept & set(row["partners"].split())

    def name_trace(name):
        is_known = not name.startswith("comm:") or name == "comm:MPI_COMM_WORLD"
        return name if is_known else "comm:other"

    events = read_events(path, leave_out)
    return {(name_trace(name), place):
            (event["kind"], event["type"], event["peer"], event["tag"],
             [(name_trace(partner), number) for partner, number in event["partners"]])
            for (name, place), event in events.items()}


def compare_matches(run, other):
    wanted, found = matches_of(run), matches_of(other)
    for place in sorted(wanted.keys() | found.keys()):
        if wanted.get(place) != found.get(place):
            print(f"{place}: {found.get(place)}, not {wanted.get(place)}")
    return wanted == found


compare = {"archive": compare_archive, "back": compare_back,
           "matches": compare_matches}[sys.argv[1]]
sys.exit(not compare(*sys.argv[2:]))
