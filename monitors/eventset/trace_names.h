/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Names of traces, found by name: for people's questions about events.
 *
 * Fill it, then esi_trace_names_sort(), then find.  One thread at a time.
 */
#ifndef ES_MONITORS_EVENTSET_TRACE_NAMES_H
#define ES_MONITORS_EVENTSET_TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Caller's memory, all zeros at first; its fields are private. */
struct esi_trace_names {
    char **names;     /* by number */
    uint32_t *sorted; /* numbers, by name */
    uint32_t count;
    uint32_t capacity;
};

void esi_trace_names_fini(struct esi_trace_names *names);

/* The name of the next trace, which is copied.  0 or -ENOMEM. */
int esi_trace_names_add(struct esi_trace_names *names, const char *name);
/* 0 or -ENOMEM. */
int esi_trace_names_sort(struct esi_trace_names *names);

/* By its name, else by its number in decimal digits; the first `length` bytes of
 * `text`.  -1: there is none. */
int64_t esi_trace_names_find(const struct esi_trace_names *names,
                             const char *text,
                             size_t length);

#endif
