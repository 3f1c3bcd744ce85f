/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* events_print.h - writes events as text, JSON Lines or CSV. */
#ifndef ES_MONITORS_EVENTS_EVENTS_PRINT_H
#define ES_MONITORS_EVENTS_EVENTS_PRINT_H

#include <stdio.h>

#include "base/rows.h"
#include "monitors/events/events.h"

/* Caller's memory; filled by the caller. */
struct esi_events_printer {
    enum esi_rows_format format; /* a table stands for lines of text */
    FILE *stream;                /* borrowed */
    size_t width;                /* of lines of text; 0 = any */
    uint64_t start_ns;           /* times are shown relative to this; 0 = absolute */
    uint64_t realtime_ns;        /* now: how long open operations have lasted */
    bool by_start;  /* text shows when operations started, else when they stopped */
    bool sites;     /* events say where they were called */
    bool summed_up; /* there are summaries in the place of events */
    uint64_t shown; /* events or summaries so far; counted by the sink */
    const struct esi_time_repair_totals *repairs; /* for the last line of JSON; NULL =
                                                    nothing is repaired; borrowed */
};

/* Signed: a clock of another process may have seen the event before the run's first
 * pairing. */
static inline int64_t esi_events_shown_time(const struct esi_events_printer *printer,
                                            uint64_t time_ns)
{
    return (int64_t)(time_ns - printer->start_ns);
}

/* Prints what stands above the first event, if anything. */
void esi_events_print_header(const struct esi_events_printer *printer);

/* A sink that prints; borrows the printer. */
struct esi_event_sink esi_events_printer_sink(struct esi_events_printer *printer);

/* The last line of JSON and CSV: what is missing. */
void esi_events_print_losses(const struct esi_events_printer *printer,
                             uint64_t lost,
                             uint64_t missed);

#endif
