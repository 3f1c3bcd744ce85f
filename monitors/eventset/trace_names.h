/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Looks up traces by name, for events named by users.  One thread at a time.
 */
#ifndef ES_MONITORS_EVENTSET_TRACE_NAMES_H
#define ES_MONITORS_EVENTSET_TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "eventspace/event.h"

/* Caller's memory, initially all zero. */
struct esi_trace_names {
    char **names; /* by number */
    uint32_t count;
    size_t capacity;
    struct esi_hash numbers; /* by name; the first of equal ones */
};

void esi_trace_names_fini(struct esi_trace_names *names);

/* Adds the name (copied) of the next trace.  Returns 0 or -ENOMEM. */
int esi_trace_names_add(struct esi_trace_names *names, const char *name);
/* A sink that adds the traces of a stream and ignores events (sinks.h). */
struct es_set_sink esi_trace_names_sink(struct esi_trace_names *names);

/* Finds a trace by name, or else by number in decimal digits, from the first `length`
 * bytes of `text`. -1 if there is none. */
int64_t esi_trace_names_find(const struct esi_trace_names *names,
                             const char *text,
                             size_t length);

#endif
