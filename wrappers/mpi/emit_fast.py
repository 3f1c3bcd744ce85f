# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Emits the attempt of an exported function to take the fast path (fast.h)."""

from emit_table import constant

# The recipes of collective operations, which enter the ledger with what must be alike.
COLLECTIVE = ("collective", "icollective", "collective_init")
TYPES = ("datatype", "sendtype")


def emit_alike(operation, thread):
    """What the standard wants to be alike at all members; "" for nothing."""
    if operation.op_class != "collective" or operation.before.name not in COLLECTIVE:
        return ""
    parts = []
    if "op" in operation.arguments:
        parts.append("esi_thread_find_operator(%s, op)" % thread)
    # A neighbour's block is like that of its neighbours only.
    if operation.counts == "alike" and operation.order != "neighbours":
        if any(name in operation.arguments for name in TYPES):
            parts.append("ESI_ALIKE_SIGNATURE")
    return " | ".join(parts)


# By recipe, or by name for routines written by hand: the functions esi_fast_begin_*()
# and esi_fast_end_*(), and their arguments after the call and after its result.
SEND = "comm, dest, tag, count, datatype"
RECEIVE = "comm, source, tag, count, datatype"
FAST_PATHS = {
    "send": ("send", SEND, ""),
    "isend": ("isend", SEND, ", request"),
    "MPI_Recv": ("recv", RECEIVE, ", status"),
    "MPI_Irecv": ("irecv", RECEIVE + ", request", ", request"),
    "MPI_Test": ("test", "request", ", request, flag, status"),
    "MPI_Iprobe": ("iprobe", "", ", source, tag, comm, flag, status"),
}


def fast_path_of(operation):
    """The row of FAST_PATHS; None if there is no fast path."""
    if operation.custom:
        name = operation.name
        return FAST_PATHS.get(name[:-2] if name.endswith("_c") else name)
    before = operation.before
    if before and before.name == "collective" and operation.op_class == "collective":
        return collective_path_of(operation)
    return FAST_PATHS.get(before.name) if before else None


def collective_path_of(operation):
    """Not if a sum over the ranks needs the state of a call."""
    arguments = operation.before.arguments
    if "&call" in arguments:
        return None
    alike = emit_alike(operation, "fast.thread") or "0"
    return ("collective", "%s, %s" % (alike, arguments), "")


def emit_fast(operation):
    """What an exported function tries first; "" if there is no fast path."""
    path = fast_path_of(operation)
    if path is None:
        return ""
    kind, begin, end = path
    return FAST % {
        "constant": operation.constant,
        "class": constant("ES_CLASS_", operation.op_class),
        "kind": kind,
        "begin": ", " + begin if begin else "",
        "status": STATUS if "status" in operation.arguments else "",
        "arguments": ", ".join(operation.arguments),
        "end": end,
    }


# MPI must store a status from which the bytes are taken.
STATUS = """        MPI_Status own;
        status = esi_status_or_own(status, &own);
"""

FAST = """    struct esi_fast fast;
    if (esi_fast_enter(&fast, %(constant)s, %(class)s, __builtin_return_address(0), __builtin_dwarf_cfa()) &&
        esi_fast_begin_%(kind)s(&fast%(begin)s)) {
%(status)s        int result = next(%(arguments)s);

        esi_fast_end_%(kind)s(&fast, result%(end)s);
        return result;
    }
"""
