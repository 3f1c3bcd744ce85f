/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* summaries_print.h - writes summaries in the formats of events. */
#ifndef ES_MONITORS_EVENTS_SUMMARIES_PRINT_H
#define ES_MONITORS_EVENTS_SUMMARIES_PRINT_H

#include "monitors/events/events_print.h"
#include "monitors/events/summaries.h"

/* The header, a row, what was lost of an element, and the last line: as functions of
 * the same place for events.  CSV has columns of its own. */
void esi_summaries_print_header(const struct esi_events_printer *printer);
int esi_summaries_print_row(const struct esi_events_printer *printer,
                            const struct esi_summary_row *row);
void esi_summaries_print_csv_loss(const struct esi_events_printer *printer,
                                  const struct es_origin *origin,
                                  uint64_t lost);
void esi_summaries_print_csv_end(const struct esi_events_printer *printer,
                                 uint64_t lost);

#endif
