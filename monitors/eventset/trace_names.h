/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Names of traces, found by name: for people's questions about events.  One thread at a
 * time.
 */
#ifndef ES_MONITORS_EVENTSET_TRACE_NAMES_H
#define ES_MONITORS_EVENTSET_TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "eventspace/event.h"

/* Caller's memory, all zeros at first. */
struct esi_trace_names {
    char **names; /* by number */
    uint32_t count;
    size_t capacity;
    struct esi_hash numbers; /* by name: of equal ones the first */
};

void esi_trace_names_fini(struct esi_trace_names *names);

/* The name of the next trace, which is copied.  0 or -ENOMEM. */
int esi_trace_names_add(struct esi_trace_names *names, const char *name);
/* Adds the names of a stream; wants no events (sinks.h). */
struct es_set_sink esi_trace_names_sink(struct esi_trace_names *names);

/* By its name, else by its number in decimal digits; the first `length` bytes of
 * `text`.  -1: there is none. */
int64_t esi_trace_names_find(const struct esi_trace_names *names,
                             const char *text,
                             size_t length);

#endif
