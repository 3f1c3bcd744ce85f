/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One execution of a ShiViz log: its events, as matched by the regular expression, and
 * their vector clocks.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_LOG_H
#define ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/eventset/formats/shiviz_match.h"
#include "monitors/eventset/segmented.h"

/* The whole text; errors name its source and lines. */
struct esi_shiviz_text {
    const char *text; /* terminated by the only 0 byte */
    size_t length;
    const char *source;
    int first_line; /* line number of the start of the text */
};

/* An entry of a clock: the number of known events of a host. */
struct esi_shiviz_entry {
    uint32_t host;
    uint32_t value; /* never 0 */
};

struct esi_shiviz_event {
    uint32_t host;
    uint32_t own;                         /* its own entry */
    const struct esi_shiviz_entry *clock; /* sorted by host */
    uint32_t entries;
    int line;                              /* line of its clock */
    const struct esi_shiviz_piece *groups; /* per named group of the expression */
};

struct esi_shiviz_host {
    const char *name;
    uint32_t events;
    uint32_t trace; /* hosts are numbered as their first events are delivered */
    int line;       /* of the first clock that contains it */
};

struct esi_shiviz_log {
    const struct esi_shiviz_text *text; /* borrowed, like `match` */
    struct esi_shiviz_pair *match;
    size_t host, clock;           /* group numbers */
    struct esi_segmented events;  /* struct esi_shiviz_event */
    struct esi_segmented hosts;   /* struct esi_shiviz_host */
    struct esi_segmented entries; /* private, like all below */
    struct esi_segmented groups;
    json_t *numbers; /* of hosts, by name */
    uint32_t traces;
    size_t line_at; /* position in the text that `line` refers to */
    int line;
};

/* `match` must have the groups "host", "clock" and "event". Returns 0 or -ENOMEM. */
int esi_shiviz_log_init(struct esi_shiviz_log *log,
                        const struct esi_shiviz_text *text,
                        struct esi_shiviz_pair *match);
void esi_shiviz_log_fini(struct esi_shiviz_log *log);

/* Parses the events between two positions of the text.  Returns 0; -EINVAL for an
 * invalid clock, or a host that is named but has no events; or -ENOMEM. */
int esi_shiviz_log_parse(struct esi_shiviz_log *log,
                         size_t start,
                         size_t end,
                         struct es_error *error);

static inline struct esi_shiviz_event *esi_shiviz_log_event(
    const struct esi_shiviz_log *log,
    uint32_t event)
{
    return esi_segmented_at(&log->events, event);
}

static inline struct esi_shiviz_host *esi_shiviz_log_host(
    const struct esi_shiviz_log *log,
    uint32_t host)
{
    return esi_segmented_at(&log->hosts, host);
}

/*
 * Derives messages from the vector clocks of an execution.
 *
 * The immediate predecessors of an event on other hosts are the events that its clock
 * contains but that are unknown to the event before it on its host, without those that
 * are known to another of them.  These and the order on each host give exactly the
 * order of the clocks, provided that the clocks are valid:
 *
 *   - the own entries of each host are 1, 2, 3, ...;
 *   - no entry exceeds the number of events of its host;
 *   - an event's clock includes everything known to the events that it contains;
 *   - no two events know of each other.
 */

/* An event of the log in the order. */
struct esi_shiviz_place {
    const uint32_t *sends; /* its immediate predecessors, as events of the log */
    uint32_t count;
    bool is_named; /* is an immediate predecessor of others */
};

struct esi_shiviz_order {
    const struct esi_shiviz_log *log; /* borrowed */
    struct esi_shiviz_place *places;  /* per event */
    uint32_t *starts;                 /* private, like all below: index of each
                                         host's events in `at` */
    uint32_t *at;                     /* event numbers, by host and own entry */
    struct esi_segmented sends;
    uint32_t *clock;   /* of the current event, by host */
    uint32_t *knowing; /* by host: number of candidates that know an entry */
};

/* Returns 0; -EINVAL with text and line if a rule above is violated; or -ENOMEM. Call
 * _fini in all cases. */
int esi_shiviz_order_init(struct esi_shiviz_order *order,
                          const struct esi_shiviz_log *log,
                          struct es_error *error);
void esi_shiviz_order_fini(struct esi_shiviz_order *order);

/* The event with number `own` (from 1) of the host. */
uint32_t esi_shiviz_order_event(const struct esi_shiviz_order *order,
                                uint32_t host,
                                uint32_t own);

#endif
