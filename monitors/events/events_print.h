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
    enum esi_rows_format format; /* ESI_ROWS_TABLE means lines of text */
    FILE *stream;                /* borrowed */
    size_t width;                /* of lines of text; 0 = unlimited */
    uint64_t start_ns;           /* times are shown relative to this; 0 = absolute */
    uint64_t realtime_ns;        /* now: to compute the duration of open operations */
    bool by_start;               /* text shows start times, otherwise stop times */
    bool sites;                  /* events contain source locations */
    bool summed_up;              /* there are summaries instead of events */
    uint64_t shown;              /* events or summaries so far; counted by the sink */
    const struct esi_time_repair_totals *repairs; /* for the last line of JSON; NULL
                                                     = no repair; borrowed */
};

/* Signed: the clock of another process may place an event before the start of the
 * run. */
static inline int64_t esi_events_shown_time(const struct esi_events_printer *printer,
                                            uint64_t time_ns)
{
    return (int64_t)(time_ns - printer->start_ns);
}

/* Prints the heading above the first event, if the format has one. */
void esi_events_print_header(const struct esi_events_printer *printer);

/* A sink that prints; borrows the printer. */
struct esi_event_sink esi_events_printer_sink(struct esi_events_printer *printer);

/* Prints the last line of JSON and CSV: the number of missing events. */
void esi_events_print_losses(const struct esi_events_printer *printer,
                             uint64_t lost,
                             uint64_t missed);

#endif
