# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Emits what stands for a routine while nonblocking trees must move on.

A row with the flag `patient` has a function patient_NAME of the same type, generated
here; with `patient-by-hand` it is esi_patient_NAME in wrappers/trees.  Exported
functions go on with it instead of the next definition (wrappers/mpi/progress.h).
"""

from operation_table import TableError, all_operations

# Calls of one process, that others do not have to make alike.
OWN_CLASSES = ("send", "receive", "completion")
COMMUNICATORS = ("comm", "comm_old", "intercomm")


def patient_name(operation):
    prefix = "esi_patient_" if operation.patient == "by-hand" else "patient_"
    return prefix + operation.name


def communicator_of(operation):
    return next((name for name in COMMUNICATORS if name in operation.arguments), None)


def is_own(operation):
    return operation.op_class in OWN_CLASSES or communicator_of(operation) is None


def emit_choice(operation):
    """What an exported function says before it goes on; "" without the flag."""
    if not operation.patient:
        return ""
    condition = "esi_is_patient()"
    if not is_own(operation):
        condition = "esi_is_patient_together(%s)" % communicator_of(operation)
    return "    if (%s)\n        next = %s;\n" % (condition, patient_name(operation))


def emit_patient(operation, prototype, chapters):
    """The function patient_NAME; "" if it is written by hand, or there is none."""
    if operation.patient != "generated":
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
    if "flag" in operation.arguments:
        return POLLING
    if communicator_of(operation) is not None:
        return MEETING
    raise TableError("nothing patient is known for " + operation.name)


FUNCTION = """static __attribute__((noinline, cold)) int patient_%(name)s(%(parameters)s)
{
%(body)s}
"""

# The nonblocking form, and the wait for it.
IMMEDIATE = """    MPI_Request esi_request;
    int result = ESI_REAL(%(immediate)s)(%(arguments)s, &esi_request);

    return result == MPI_SUCCESS
               ? esi_patient_finish(&esi_request, MPI_STATUS_IGNORE)
               : result;
"""

# A call that does not block, but programs wait by it.
POLLING = """    esi_trees_progress();
    return ESI_REAL(%(name)s)(%(arguments)s);
"""

# A collective call that has no nonblocking form: all ranks come together first.
MEETING = """    int result = esi_patient_meet(%(comm)s);

    return result == MPI_SUCCESS ? ESI_REAL(%(name)s)(%(arguments)s) : result;
"""
