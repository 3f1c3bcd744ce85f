/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What a message costs, by how far it goes: latency, time per byte and what both ends
 * have to do for it, estimated from messages that were seen.
 *
 * A message's time, from the start of its departure to the end of its arrival, is what
 * the link takes or more: the receiver may have come late.  Where the receiver is known
 * to have waited, the time is the link's and that of a processor to go on, and the
 * middle of many counts; else low quantiles do.  Through these, for each size of
 * messages, goes a robust line (Theil 1950, Sen 1968).
 *
 *   one set of costs is one thread's at a time.
 */
#ifndef ES_MONITORS_ADVICE_LINK_COSTS_H
#define ES_MONITORS_ADVICE_LINK_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrappers/shapes/shape.h"

enum esi_link_class {
    ES_LINK_HOST,    /* within a host */
    ES_LINK_CLUSTER, /* between hosts of a cluster, or of hosts in none */
    ES_LINK_WIDE,    /* between clusters */
    ES_LINK_CLASSES,
};

/* Of two ranks' places.  Hosts that are not known are different ones. */
enum esi_link_class esi_link_class_of(const struct esi_location *x,
                                      const struct esi_location *y);
/* "within hosts", "between hosts", "between clusters". */
const char *esi_link_class_name(enum esi_link_class link);

struct esi_link_cost {
    bool known; /* from measurements; else nothing in it counts */
    double latency_ns;
    double ns_per_byte;
    double overhead_ns; /* of each end, for each message */
    double error_ns;    /* of the clocks behind latency_ns */
    uint64_t samples;
};

struct esi_link_costs;

int esi_link_costs_create(struct esi_link_costs **ret_costs);
/* Accepts NULL. */
void esi_link_costs_destroy(struct esi_link_costs *costs);

/* A message took `ns`, by clocks that are wrong by up to `error_ns`, and so it may be
 * less than nothing. */
void esi_link_costs_add(struct esi_link_costs *costs,
                        enum esi_link_class link,
                        uint64_t bytes,
                        int64_t ns,
                        uint64_t error_ns);
/* The same of a message that its receiver waited for before it was sent. */
void esi_link_costs_add_awaited(struct esi_link_costs *costs,
                                enum esi_link_class link,
                                uint64_t bytes,
                                int64_t ns,
                                uint64_t error_ns);
/* A small message went there and back in `ns` at least, by one clock: counts where no
 * other message of the class was seen, and within what clocks leave open of those. */
void esi_link_costs_add_round_trip(struct esi_link_costs *costs,
                                   enum esi_link_class link,
                                   uint64_t ns);
/* One end was busy with a message for `ns`. */
void esi_link_costs_add_overhead(struct esi_link_costs *costs,
                                 enum esi_link_class link,
                                 uint64_t ns);

/* The estimate of a class.  O(samples kept), at most some thousand. */
struct esi_link_cost esi_link_costs_get(const struct esi_link_costs *costs,
                                        enum esi_link_class link);

#endif
