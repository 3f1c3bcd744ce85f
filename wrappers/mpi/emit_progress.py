# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Emits what stands for a routine while operations under way must advance.

A row with the flag `progress` has a function progress_NAME of the same type, generated
here; with `progress-by-hand` it is esi_progress_NAME in progress*.c.  Exported
functions call it instead of the next definition (wrappers/mpi/progress.h).
"""

from operation_table import TableError, all_operations

# Calls of one process, that others do not have to make alike.
OWN_CLASSES = ("send", "receive", "completion")
COMMUNICATORS = ("comm", "comm_old", "intercomm")


def progress_name(operation):
    prefix = "esi_progress_" if operation.progress == "by-hand" else "progress_"
    return prefix + operation.name


def communicator_of(operation):
    return next((name for name in COMMUNICATORS if name in operation.arguments), None)


def is_own(operation):
    return operation.op_class in OWN_CLASSES or communicator_of(operation) is None


def emit_choice(operation):
    """What an exported function says before it goes on; "" without the flag."""
    if not operation.progress:
        return ""
    condition = "esi_progress_is_due()"
    if not is_own(operation):
        condition = "esi_progress_is_due_at_all(%s)" % communicator_of(operation)
    return "    if (%s)\n        next = %s;\n" % (condition, progress_name(operation))


def emit_progress(operation, prototype, chapters):
    """The function progress_NAME; "" if it is written by hand, or there is none."""
    if operation.progress != "generated":
        return ""
    return FUNCTION % {
        "name": operation.name,
        "parameters": prototype.declare(operation.arguments),
        "body": body_of(operation, chapters) % {
            "name": operation.name,
            "arguments": ", ".join(operation.arguments),
            "immediate": immediate_name(operation),
            "comm": communicator_of(operation),
        },
    }


def immediate_name(operation):
    """MPI_Ialltoallv of MPI_Alltoallv."""
    name = operation.name[len("MPI_") :]
    return "MPI_I" + name[0].lower() + name[1:]


def body_of(operation, chapters):
    immediate = immediate_name(operation)
    for other in all_operations(chapters):
        if other.name == immediate:
            if other.arguments != operation.arguments + ["request"]:
                raise TableError("%s is not like %s" % (immediate, operation.name))
            return IMMEDIATE
    if "flag" in operation.arguments or "outcount" in operation.arguments:
        return POLLING
    if communicator_of(operation) is not None:
        return BARRIER
    raise TableError("no form that makes progress is known for " + operation.name)


FUNCTION = """static __attribute__((noinline, cold)) int progress_%(name)s(%(parameters)s)
{
%(body)s}
"""

# The nonblocking form, and the wait for it.
IMMEDIATE = """    MPI_Request esi_request;
    int result = ESI_REAL(%(immediate)s)(%(arguments)s, &esi_request);

    return result == MPI_SUCCESS
               ? esi_progress_wait(&esi_request, MPI_STATUS_IGNORE)
               : result;
"""

# A call that does not block, but programs poll it in a loop.
POLLING = """    esi_progress_advance();
    return ESI_REAL(%(name)s)(%(arguments)s);
"""

# A collective call that has no nonblocking form: all ranks come together first.
BARRIER = """    int result = esi_progress_barrier(%(comm)s);

    return result == MPI_SUCCESS ? ESI_REAL(%(name)s)(%(arguments)s) : result;
"""
