/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * shiviz_order.h - makes messages of the vector clocks of an execution.
 *
 * An event's immediate predecessors on other hosts are the events that its clock names
 * and the clock of the event before it on its host does not know of, without those of
 * which another one of them knows.  These and the order on hosts give exactly the order
 * of the clocks, if the clocks are ones:
 *
 *   - the own entries of each host are 1, 2, 3, ...;
 *   - no entry is beyond the events of its host;
 *   - an event's clock knows all that the events that it names know of;
 *   - no two events know of each other.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_ORDER_H
#define ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/eventset/rows.h"
#include "monitors/eventset/formats/shiviz_log.h"

/* What the order says of an event of the log. */
struct esi_shiviz_place {
    const uint32_t *sends; /* events of the log that it follows at once */
    uint32_t count;
    bool is_named; /* as such a one by others */
};

struct esi_shiviz_order {
    const struct esi_shiviz_log *log; /* borrowed */
    struct esi_shiviz_place *places;  /* of each event */
    uint32_t *starts;                 /* private, as all below: of each host in `at` */
    uint32_t *at;                     /* numbers of events, by host and own entry */
    struct es_rows sends;
    uint32_t *clock;   /* of the event that is looked at, by host */
    uint32_t *knowing; /* of its candidates, how many know of an entry, by host */
};

/* 0; -EINVAL with words and line: what breaks the rules above; -ENOMEM.  To be ended
 * with _fini in each case. */
int esi_shiviz_order_init(struct esi_shiviz_order *order,
                          const struct esi_shiviz_log *log,
                          struct es_error *error);
void esi_shiviz_order_fini(struct esi_shiviz_order *order);

/* The event that is number `own` (from 1) of its host. */
uint32_t esi_shiviz_order_event(const struct esi_shiviz_order *order,
                                uint32_t host,
                                uint32_t own);

#endif
