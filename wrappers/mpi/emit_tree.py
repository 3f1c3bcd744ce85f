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


def bit_of(operation):
    """The operation's bit in rules."""
    kind = kind_of(operation)
    return "ES_TREE_NONBLOCKING(%s)" % kind if operation.nonblocking else "1u << %s" % kind


def refusable(operation):
    """What the MPI library judges of a collective: all but where its request goes."""
    return [name for name in operation.arguments if name != "request"]


def emit_tree(operation, prototype, call):
    """Functions out of line: by tree, and of one that the library has refused."""
    return TREE % {
        "name": operation.name,
        "parameters": prototype.declare(operation.arguments),
        "judged": prototype.declare(refusable(operation)),
        "members": "\n".join(
            "        .%s = %s," % member for member in members_of(operation)
        ),
        "try": "post" if operation.nonblocking else "run",
        "request": ", request" if operation.nonblocking else "",
        "call": call,
    }


TREE = """static __attribute__((noinline)) int tree_%(name)s(
    const struct esi_call *call, esi_%(name)s_fn *next, %(parameters)s)
{
    const struct esi_collective collective = {
%(members)s
    };
    int result;

    if (esi_trees->%(try)s(call, &collective%(request)s, &result))
        return result;
    return %(call)s;
}

static __attribute__((noinline, cold)) void refused_%(name)s(
    const struct esi_call *call, %(judged)s)
{
    const struct esi_collective collective = {
%(members)s
    };

    esi_trees->on_failed(call, &collective);
}
"""


def emit_way(operation, arguments):
    """The call of the routine, or of the tree's function."""
    return WAY % {
        "name": operation.name,
        "bit": bit_of(operation),
        "arguments": arguments,
        "judged": ", ".join(refusable(operation)),
    }


WAY = """    if (ESI_LIKELY(esi_trees == NULL || esi_tree_is_native(call.comm, %(bit)s))) {
        result = next(%(arguments)s);
        if (ESI_UNLIKELY(result != MPI_SUCCESS && esi_trees != NULL)) {
            struct esi_call refused = call;

            refused_%(name)s(&refused, %(judged)s);
        }
    } else {
        struct esi_call by_tree = call;

        result = tree_%(name)s(&by_tree, next, %(arguments)s);
    }"""
