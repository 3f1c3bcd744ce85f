# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Emits what is known of operations without any mpi.h: codes and tables of names."""

from operation_table import FACTS, all_operations

HEAD = """/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* %s  Generated from operations.tab: do not edit. */
"""


def recorded(chapters):
    return [operation for operation in all_operations(chapters) if operation.code]


def emit_list(chapters):
    rows = sorted(recorded(chapters), key=lambda operation: operation.code)
    return "".join("%d %s\n" % (row.code, row.name) for row in rows)


def emit_codes(chapters):
    lines = [
        HEAD % "The codes of operations.",
        "#ifndef ES_OPERATION_CODES_H",
        "#define ES_OPERATION_CODES_H",
        "",
        "enum es_op {",
    ]
    for operation in recorded(chapters):
        lines.append("    %s = %d," % (operation.constant, operation.code))
    lines += ["};", "", "#endif", ""]
    return "\n".join(lines)


def constant(prefix, word):
    return prefix + word.upper().replace("-", "_")


def emit_table(chapters):
    # In the order of strcmp(), for binary search.
    operations = sorted(recorded(chapters), key=lambda row: row.name.encode())
    routines = sorted(
        (row for row in all_operations(chapters) if not row.is_pseudo),
        key=lambda row: row.name.encode(),
    )
    positions = {row.code: position for position, row in enumerate(operations, 1)}
    lines = [HEAD % "What is known of operations.", '#include "config.h"', ""]
    lines += ['#include "tuplespace/operation_table.h"', ""]
    lines.append("const struct es_operation esi_operations[] = {")
    lines += [operation_row(operation) for operation in operations]
    lines += ["};", "", "const size_t esi_operation_count = %d;" % len(operations), ""]
    lines.append("const uint16_t esi_operation_positions[] = {")
    lines += ["    [%d] = %d," % pair for pair in sorted(positions.items())]
    lines += ["};", "", "const uint16_t esi_operation_last = %d;" % max(positions), ""]
    lines.append("const struct es_routine esi_routines[] = {")
    lines += [routine_row(routine) for routine in routines]
    lines += ["};", "", "const size_t esi_routine_count = %d;" % len(routines), ""]
    return "\n".join(lines)


def operation_row(operation):
    facts = "".join(", .%s = true" % fact for fact in FACTS if getattr(operation, fact))
    if operation.rma != "none":
        facts += ", .rma = " + constant("ES_RMA_", operation.rma)
    return (
        "    {.code = %d, .op_class = %s, .order = %s, .counts = %s,\n"
        '     .name = "%s"%s},'
    ) % (
        operation.code,
        constant("ES_CLASS_", operation.op_class),
        constant("ES_ORDER_", operation.order),
        constant("ES_COUNTS_", operation.counts),
        operation.name,
        facts,
    )


def routine_row(routine):
    why = "NULL" if routine.code else '"%s"' % routine.why
    return '    {"%s", %d, %s},' % (routine.name, routine.code, why)
