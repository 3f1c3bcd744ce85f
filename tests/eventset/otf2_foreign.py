#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""otf2_foreign.py - writes a trace like those of other tools, and checks its import.

usage: otf2_foreign.py write FOLDER
       otf2_foreign.py functions FOLDER
       otf2_foreign.py check SET.jsonl

Three ranks with properties of Score-P and EZTrace traces: functions of the program
around MPI calls, Fortran names, a clock in microseconds, locations that are not
threads, two threads of a rank, a communicator of two ranks, requests that complete out
of order, and an epoch of a window.
"""

import json
import sys

US = 10**6


def functions(folder):
    """A trace of two threads without MPI."""
    import otf2

    with otf2.writer.open(folder, timer_resolution=US) as trace:
        define = trace.definitions
        node = define.system_tree_node("host1", class_name="node")
        group = define.location_group("process", system_tree_parent=node)
        main = define.region("main")
        for name in ("a", "b"):
            writer = trace.event_writer_from_location(define.location(name, group=group))
            writer.enter(1000, main)
            writer.leave(2000, main)


def write(folder):
    import otf2
    from otf2.enums import GroupType, LocationType, Paradigm, RegionRole

    with otf2.writer.open(folder, timer_resolution=US) as trace:
        define = trace.definitions
        node = define.system_tree_node("host1", class_name="node")
        regions = {name: define.region(name, paradigm=Paradigm.MPI, region_role=RegionRole.FUNCTION)
                   for name in ("main", "mpi_send_", "MPI_Isend", "MPI_Irecv", "MPI_Recv",
                                "MPI_Waitall", "MPI_Allreduce", "MPI_Ibarrier",
                                "MPI_Sendrecv", "MPI_Bcast", "MPI_Win_post",
                                "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait")}
        writers, masters = [], []
        for rank in range(3):
            group = define.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            location = define.location("Master thread", group=group)
            masters.append(location)
            writers.append(trace.event_writer_from_location(location))
        define.location("GPU", type=LocationType.ACCELERATOR_STREAM, group=group)
        ranks = define.group("", group_type=GroupType.COMM_LOCATIONS,
                             paradigm=Paradigm.MPI, members=masters)
        world = define.comm("MPI_COMM_WORLD", define.group(
            "", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=[0, 1, 2]))
        pair = define.comm("pair", define.group(
            "", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=[2, 0]),
            parent=world)
        assert ranks
        window = define.rma_win("halo", pair)
        alone = [define.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI,
                              members=[rank]) for rank in range(3)]
        for rank, writer in enumerate(writers):
            writer.enter(1000, regions["main"])
            write_rank(writer, rank, regions, world, pair, otf2.CollectiveOp)
            write_epoch(writer, rank, regions, window, alone, otf2.RmaSyncLevel)
            writer.leave(2000, regions["main"])


def write_rank(writer, rank, regions, world, pair, op):
    none = 0xffffffff

    def call(name, begin, end, *records):
        writer.enter(begin, regions[name])
        for record, *arguments in records:
            getattr(writer, record)(*arguments)
        writer.leave(end, regions[name])

    if rank == 0:
        call("mpi_send_", 1010, 1012, ("mpi_send", 1011, 1, world, 7, 100))
        # Rank 2 is rank 0 of the pair.
        call("MPI_Isend", 1020, 1021, ("mpi_isend", 1020, 0, pair, 5, 8, 1))
        call("MPI_Isend", 1022, 1023, ("mpi_isend", 1022, 0, pair, 5, 8, 2))
        call("MPI_Waitall", 1030, 1040, ("mpi_isend_complete", 1031, 2),
             ("mpi_isend_complete", 1032, 1))
    elif rank == 1:
        call("MPI_Recv", 1005, 1050, ("mpi_recv", 1050, 0, world, 7, 100))
    else:
        call("MPI_Irecv", 1001, 1002, ("mpi_irecv_request", 1001, 10))
        call("MPI_Irecv", 1003, 1004, ("mpi_irecv_request", 1003, 11))
        call("MPI_Irecv", 1005, 1006, ("mpi_irecv_request", 1005, 12))
        # The second request completes first; the third is cancelled.
        call("MPI_Waitall", 1060, 1070, ("mpi_irecv", 1061, 1, pair, 5, 8, 11),
             ("mpi_irecv", 1062, 1, pair, 5, 8, 10), ("mpi_request_cancelled", 1063, 12))
    call("MPI_Ibarrier", 1100, 1101, ("non_blocking_collective_request", 1100, 50))
    call("MPI_Allreduce", 1200 + rank, 1250, ("mpi_collective_begin", 1200 + rank),
         ("mpi_collective_end", 1250, op.ALLREDUCE, world, none, 8, 8))
    call("MPI_Waitall", 1300, 1310, ("non_blocking_collective_complete", 1305, op.BARRIER,
                                     world, none, 0, 0, 50))
    left, right = (rank + 2) % 3, (rank + 1) % 3
    call("MPI_Sendrecv", 1400, 1420, ("mpi_send", 1400, right, world, 3, 4),
         ("mpi_recv", 1420, left, world, 3, 4))
    call("MPI_Bcast", 1500, 1510, ("mpi_collective_begin", 1500),
         ("mpi_collective_end", 1510, op.BCAST, world, 1, 4 if rank == 1 else 0,
          0 if rank == 1 else 4))


def write_epoch(writer, rank, regions, window, alone, level):
    """Rank 2 exposes its memory to rank 0. The levels are those that Score-P writes."""
    calls = {0: ("MPI_Win_start", "MPI_Win_complete"), 1: (),
             2: ("MPI_Win_post", "MPI_Win_wait")}[rank]
    for i, name in enumerate(calls):
        writer.enter(1600 + 10 * i, regions[name])
        writer.rma_group_sync(1605 + 10 * i, (level.PROCESS, level.MEMORY)[i], window,
                              alone[2 - rank])
        writer.leave(1605 + 10 * i, regions[name])


def check(path):
    lines = [json.loads(line) for line in open(path, encoding="utf-8")]
    names = lines[0]["traces"]
    events = {(names[e["trace"]], e["index"]): e for e in lines[1:]}

    def found(trace, text):
        return [e for (name, _), e in sorted(events.items())
                if name == trace and e["type"] == text]

    def names_send(event, trace, number, text):
        place, index = event["partners"][0]
        assert len(event["partners"]) == 1 and names[place] == trace, event
        assert events[trace, index] == found(trace, text)[number], event

    assert names[:3] == ["0.0", "1.0", "2.0"], names
    receive, = found("1.0", "MPI_Recv")
    names_send(receive, "0.0", 0, "MPI_Send")
    assert receive["attributes"]["tag"] == "7" and receive["attributes"]["bytes"] == "100"
    assert receive["attributes"]["host"] == "host1"
    start, stop = (int(receive["attributes"][name]) for name in ("start", "stop"))
    assert stop - start == 45000, receive
    # Receives are in the order of their posts, not of their completions; one was
    # cancelled.
    second, first, cancelled = found("2.0", "MPI_Irecv")
    names_send(first, "0.0", 0, "MPI_Isend")
    names_send(second, "0.0", 1, "MPI_Isend")
    assert first["attributes"]["communicator"] == "pair"
    assert "partners" not in cancelled, cancelled
    for rank in range(3):
        half, = found(f"{rank}.0", "MPI_Sendrecv receive")
        names_send(half, f"{(rank + 2) % 3}.0", 0, "MPI_Sendrecv")
        for text in ("MPI_Allreduce", "MPI_Ibarrier"):
            leave, = found(f"{rank}.0", text + " exit")
            place, index = leave["partners"][0]
            assert names[place] == "comm:MPI_COMM_WORLD", leave
            assert len(events[names[place], index - 1]["partners"]) == 3
        leave, = found(f"{rank}.0", "MPI_Bcast exit")
        assert len(leave.get("partners", [])) == (rank != 1), leave
    leave, = found("0.0", "MPI_Win_complete exit")
    names_send(leave, "2.0", 0, "MPI_Win_post")
    wait, = found("2.0", "MPI_Win_wait")
    names_send(wait, "0.0", 0, "MPI_Win_complete enter")
    assert wait["attributes"]["communicator"] == "pair"
    assert not any("main" in e["type"] for e in events.values())


{"write": write, "functions": functions, "check": check}[sys.argv[1]](sys.argv[2])
