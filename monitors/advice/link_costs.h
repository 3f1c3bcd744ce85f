/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of a message by distance: latency, time per byte, and the overhead of both
 * ends, estimated from observed messages.
 *
 * The time of a message, from the start of its departure to the end of its arrival, is
 * an upper bound of the link's time, because the receiver may have been late.  If the
 * receiver is known to have waited, the time is that of the link plus the wake-up of
 * the receiver, and the median is used; otherwise low quantiles.  A robust line (Theil
 * 1950, Sen 1968) is fitted to these values over the message sizes.
 *
 * One thread at a time.
 */
#ifndef ES_MONITORS_ADVICE_LINK_COSTS_H
#define ES_MONITORS_ADVICE_LINK_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrappers/shapes/shape.h"

enum esi_link_class {
    ES_LINK_HOST,    /* within a host */
    ES_LINK_CLUSTER, /* between hosts of a cluster, or hosts in no cluster */
    ES_LINK_WIDE,    /* between clusters */
    ES_LINK_CLASSES,
};

/* Class of the link between two locations.  Unknown hosts count as different. */
enum esi_link_class esi_link_class_of(const struct esi_location *x,
                                      const struct esi_location *y);
/* "within hosts", "between hosts", "between clusters". */
const char *esi_link_class_name(enum esi_link_class link);

struct esi_link_cost {
    bool known; /* from measurements; otherwise the other members are not valid */
    double latency_ns;
    double ns_per_byte;
    double overhead_ns; /* per message and end */
    double error_ns;    /* of the clocks, in latency_ns */
    uint64_t samples;
};

struct esi_link_costs;

int esi_link_costs_create(struct esi_link_costs **ret_costs);
/* Accepts NULL. */
void esi_link_costs_destroy(struct esi_link_costs *costs);

/* Adds a message that took `ns`, which may be negative since clocks are wrong by up to
 * `error_ns`. */
void esi_link_costs_add(struct esi_link_costs *costs,
                        enum esi_link_class link,
                        uint64_t bytes,
                        int64_t ns,
                        uint64_t error_ns);
/* Like esi_link_costs_add(), for a message whose receiver waited before it was sent. */
void esi_link_costs_add_awaited(struct esi_link_costs *costs,
                                enum esi_link_class link,
                                uint64_t bytes,
                                int64_t ns,
                                uint64_t error_ns);
/* Adds the minimum round-trip time of a small message, by one clock.  Used if there are
 * no other messages of the class, and to refine their times within the clock errors. */
void esi_link_costs_add_round_trip(struct esi_link_costs *costs,
                                   enum esi_link_class link,
                                   uint64_t ns);
/* Adds the time for which one end was busy with a message. */
void esi_link_costs_add_overhead(struct esi_link_costs *costs,
                                 enum esi_link_class link,
                                 uint64_t ns);

/* The estimate for a class.  O(samples kept), at most some thousand. */
struct esi_link_cost esi_link_costs_get(const struct esi_link_costs *costs,
                                        enum esi_link_class link);

#endif
