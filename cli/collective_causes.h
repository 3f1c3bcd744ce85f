/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * collective_causes.h - why ranks are late in collective operations, from all events
 * that the elements of a run still contain.
 *
 * Reading these takes time, which is limited to a twentieth: until the next reading,
 * the last results are used.
 */
#ifndef ES_CLI_COLLECTIVE_CAUSES_H
#define ES_CLI_COLLECTIVE_CAUSES_H

#include "cli/consumer.h"
#include "monitors/collectives/collectives_print.h"
#include "monitors/delay/delay.h"

/* Caller's memory; its fields are private. */
struct esi_cause_finder {
    const struct esi_consumer *consumer; /* borrowed */
    struct esi_delay *delay;             /* NULL = not read yet */
    uint64_t next_ns;                    /* time of the next reading */
};

void esi_causes_init(struct esi_cause_finder *finder,
                     const struct esi_consumer *consumer);
void esi_causes_fini(struct esi_cause_finder *finder);
struct esi_collectives_causes esi_causes(struct esi_cause_finder *finder);
/* Prints JSON Lines: a "cause" for each rank of the report that others waited for, if
 * known.  Returns 0 or -EIO. */
int esi_causes_print_json(struct esi_cause_finder *finder,
                          const struct esi_collectives_report *report,
                          FILE *stream);

#endif
