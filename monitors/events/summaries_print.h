/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* summaries_print.h - writes summaries in the formats of events. */
#ifndef ES_MONITORS_EVENTS_SUMMARIES_PRINT_H
#define ES_MONITORS_EVENTS_SUMMARIES_PRINT_H

#include "base/rows.h"
#include "monitors/events/events_print.h"
#include "monitors/events/summaries.h"

/* A line of JSON or CSV: an event, a summary, lost tuples, or the end.  The members
 * that do not apply are NULL. All are borrowed. */
struct esi_event_line {
    const struct esi_events_printer *printer;
    const char *type;
    const struct esi_event *event;
    const struct esi_summary_row *summary;
    const struct es_origin *origin;
    uint64_t lost;
    uint64_t missed; /* before the reading began */
};

/* Describes a summary, a struct esi_event_line; in CSV also lost tuples. */
void esi_summary_describe(struct esi_row *row, const void *record);
/* Prints a line of text. */
void esi_summary_print_text(const struct esi_events_printer *printer,
                            const struct esi_summary_row *row);

#endif
