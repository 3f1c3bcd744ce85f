/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Looks up operations, classes and routines in the generated tables. */
#include "config.h"

#include "eventspace/operation.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "eventspace/tuple.h"
#include "tuplespace/error_classes.h"
#include "tuplespace/operation_table.h"

const char *const esi_class_names[ES_CLASS_COUNT + 1] = {
    [ES_CLASS_NONE] = "none",
    [ES_CLASS_SEND] = "send",
    [ES_CLASS_RECEIVE] = "receive",
    [ES_CLASS_COMPLETION] = "completion",
    [ES_CLASS_COLLECTIVE] = "collective",
    [ES_CLASS_COMMUNICATOR] = "communicator",
    [ES_CLASS_ONE_SIDED] = "one-sided",
    [ES_CLASS_IO] = "io",
    [ES_CLASS_OTHER] = "other",
    [ES_CLASS_MONITOR] = "monitor",
    [ES_CLASS_CONTRIBUTE] = "contribute",
    [ES_CLASS_ARRIVAL] = "arrival",
    [ES_CLASS_DEPARTURE] = "departure",
};

static const struct es_operation *find_plain(uint16_t code)
{
    uint16_t position;

    if (code > esi_operation_last)
        return NULL;
    position = esi_operation_positions[code];
    return position == 0 ? NULL : &esi_operations[position - 1];
}

const struct es_operation *es_operation_find(uint16_t code)
{
    const struct es_operation *operation;

    code &= (uint16_t)~ES_OPERATION_FAILED;
    if (!(code & ES_OPERATION_ANY_SOURCE))
        return find_plain(code);
    operation = find_plain(code & (uint16_t)~ES_OPERATION_ANY_SOURCE);
    return operation && (operation->op_class == ES_CLASS_RECEIVE || operation->probe)
               ? operation
               : NULL;
}

static int compare_operation(const void *name, const void *operation)
{
    return strcmp(name, ((const struct es_operation *)operation)->name);
}

/* The name without "MPI_". */
static const char *skip_prefix(const char *name)
{
    return strncasecmp(name, "MPI_", 4) == 0 ? name + 4 : name;
}

const struct es_operation *es_operation_by_name(const char *name)
{
    const struct es_operation *found =
        bsearch(name, esi_operations, esi_operation_count, sizeof esi_operations[0],
                compare_operation);

    for (size_t i = 0; !found && i < esi_operation_count; i++)
        if (strcasecmp(skip_prefix(name), skip_prefix(esi_operations[i].name)) == 0)
            found = &esi_operations[i];
    return found;
}

const char *es_operation_name(uint16_t code)
{
    const struct es_operation *operation = es_operation_find(code);

    return operation == NULL ? "?" : operation->name;
}

const char *es_class_name(enum es_class op_class)
{
    return (unsigned)op_class < ES_CLASS_COUNT ? esi_class_names[op_class] : "?";
}

enum es_class es_class_by_name(const char *name)
{
    for (enum es_class op_class = ES_CLASS_SEND; op_class < ES_CLASS_COUNT; op_class++)
        if (strcmp(name, esi_class_names[op_class]) == 0)
            return op_class;
    return ES_CLASS_NONE;
}

const char *es_error_name(uint32_t number)
{
    static const char *const names[] = {
#define ESI_NAME(name) "MPI_ERR_" #name,
        ESI_ERROR_CLASSES(ESI_NAME)
#undef ESI_NAME
    };

    return number - 1 < sizeof names / sizeof names[0] ? names[number - 1]
                                                       : "unknown class";
}

static int compare_routine(const void *name, const void *routine)
{
    return strcmp(name, ((const struct es_routine *)routine)->name);
}

const struct es_routine *es_routine_find(const char *name)
{
    return bsearch(name, esi_routines, esi_routine_count, sizeof esi_routines[0],
                   compare_routine);
}
