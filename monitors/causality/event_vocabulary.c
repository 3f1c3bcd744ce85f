/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_vocabulary.c - the attributes that causal_event.c fills in, and their texts. */
#include "config.h"

#include "monitors/causality/event_vocabulary.h"

#include "eventspace/operation.h"
#include "tuplespace/operation_table.h"

static const char *operation_at(size_t number)
{
    return number < esi_operation_count ? esi_operations[number].name : NULL;
}

/* Classes of operations that are not MPI operations make no events. */
static const char *class_at(size_t number)
{
    size_t op_class = number + ES_CLASS_NONE + 1;

    return op_class < ES_CLASS_MONITOR ? es_class_name((enum es_class)op_class) : NULL;
}

static const char *type_at(size_t number)
{
    static const char *const others[] = {"join", "release", "?", NULL};

    return number < esi_operation_count ? esi_operations[number].name
                                        : others[number - esi_operation_count];
}

static const char *source_at(size_t number)
{
    return number == 0 ? "any" : NULL;
}

static const char *state_at(size_t number)
{
    return number == 0 ? "open" : NULL;
}

static const char *synchronizing_at(size_t number)
{
    static const char *const texts[] = {"required", "assumed", NULL};

    return texts[number];
}

static const char *const type_endings[] = {" enter", " exit", " open", NULL};

static const struct esi_vocabulary_word words[] = {
    {.name = "type", .value = type_at, .endings = type_endings},
    {.name = "operation", .value = operation_at},
    {.name = "class", .value = class_at},
    {.name = "rank"},
    {.name = "host"},
    {.name = "communicator"},
    {.name = "peer"},
    {.name = "source", .value = source_at},
    {.name = "tag"},
    {.name = "window"},
    {.name = "bytes"},
    {.name = "instance"},
    {.name = "synchronizing", .value = synchronizing_at},
    {.name = "start"},
    {.name = "stop"},
    {.name = "duration"}, /* derived from start and stop on request */
    {.name = "state", .value = state_at},
    {.name = "site"},
};

const struct esi_vocabulary esi_event_vocabulary = {
    .words = words,
    .count = sizeof words / sizeof words[0],
    .mark = "operation",
    .prefix = "MPI_",
};
