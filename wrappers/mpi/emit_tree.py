# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Emits the way into instrumented trees, for the operations that have the flag `tree`."""

from operation_table import TableError

# Arguments as the standard names them, and the members of struct esi_collective; `count`
# and `datatype` of a reduction or broadcast belong to the buffer that all ranks have.
MEMBERS = {
    "buffer": "receive",
    "sendbuf": "send",
    "sendcount": "send_count",
    "sendtype": "send_type",
    "recvbuf": "receive",
    "recvcount": "receive_count",
    "recvtype": "receive_type",
    "count": "receive_count",
    "datatype": "receive_type",
    "op": "op",
    "root": "root",
    "comm": "comm",
}


def kind_of(operation):
    """ES_TREE_BCAST of MPI_Bcast, MPI_Ibcast_c and the rest."""
    name = operation.name[len("MPI_") :]
    if operation.nonblocking:
        name = name[len("I") :]
    if name.endswith("_c"):
        name = name[: -len("_c")]
    return "ES_TREE_" + name.upper()


def members_of(operation):
    yield "kind", kind_of(operation)
    if operation.nonblocking:
        yield "is_nonblocking", "true"
    for argument in operation.arguments:
        if argument in MEMBERS:
            yield MEMBERS[argument], argument
        elif argument != "request":
            raise TableError("%s: no tree knows %s" % (operation.name, argument))


def emit_tree(operation, parameters, call):
    """A function out of line, so that wrappers are the same but for a branch."""
    return TREE % {
        "name": operation.name,
        "parameters": parameters,
        "members": "\n".join(
            "        .%s = %s," % member for member in members_of(operation)
        ),
        "try": "post" if operation.nonblocking else "run",
        "request": ", request" if operation.nonblocking else "",
        "call": call,
    }


TREE = """static __attribute__((noinline, cold)) int tree_%(name)s(
    struct esi_call *call, esi_%(name)s_fn *next, %(parameters)s)
{
    struct esi_collective collective = {
%(members)s
    };
    int result;

    if (esi_trees->%(try)s(call, &collective%(request)s, &result))
        return result;
    result = %(call)s;
    if (ESI_UNLIKELY(result != MPI_SUCCESS && collective.is_unjudged))
        esi_trees->on_failed(call, &collective);
    return result;
}
"""
