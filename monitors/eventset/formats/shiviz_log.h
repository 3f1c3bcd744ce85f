/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One execution of a ShiViz log: its events as the regular expression
 * finds them, and their vector clocks.
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

/* The whole text; errors name its source and the lines of it. */
struct esi_shiviz_text {
    const char *text; /* ended by a byte 0, without another */
    size_t length;
    const char *source;
    int first_line; /* number of the line that the text begins with */
};

/* An entry of a clock: how many events of a host are known. */
struct esi_shiviz_entry {
    uint32_t host;
    uint32_t value; /* never 0 */
};

struct esi_shiviz_event {
    uint32_t host;
    uint32_t own;                         /* its own entry */
    const struct esi_shiviz_entry *clock; /* sorted by host */
    uint32_t entries;
    int line;                              /* of its clock */
    const struct esi_shiviz_piece *groups; /* of each name of the expression */
};

struct esi_shiviz_host {
    const char *name;
    uint32_t events;
    uint32_t trace; /* hosts with events are counted as their events come */
    int line;       /* of the first clock that names it */
};

struct esi_shiviz_log {
    const struct esi_shiviz_text *text; /* borrowed, as the next */
    struct esi_shiviz_pair *match;
    size_t host, clock;           /* numbers of groups */
    struct esi_segmented events;  /* struct esi_shiviz_event */
    struct esi_segmented hosts;   /* struct esi_shiviz_host */
    struct esi_segmented entries; /* private, as all below */
    struct esi_segmented groups;
    json_t *numbers; /* of hosts, by name */
    uint32_t traces;
    size_t line_at; /* where line `line` begins or goes on */
    int line;
};

/* `match` has the groups "host", "clock" and "event".  0 or -ENOMEM. */
int esi_shiviz_log_init(struct esi_shiviz_log *log,
                        const struct esi_shiviz_text *text,
                        struct esi_shiviz_pair *match);
void esi_shiviz_log_fini(struct esi_shiviz_log *log);

/* Takes the events between two places of the text.  0; -EINVAL: a clock that is none,
 * or a host that is named and has no events; -ENOMEM. */
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
 * Makes messages of the vector clocks of an execution.
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
    struct esi_segmented sends;
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
