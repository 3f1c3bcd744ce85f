/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * shiviz_log.h - one execution of a ShiViz log: its events as the regular expression
 * finds them, and their vector clocks.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_LOG_H
#define ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_LOG_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/eventset/rows.h"
#include "monitors/eventset/formats/shiviz_match.h"

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
    int line;                       /* of its clock */
    const struct esi_piece *groups; /* of each name of the expression */
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
    size_t host, clock;     /* numbers of groups */
    struct es_rows events;  /* struct esi_shiviz_event */
    struct es_rows hosts;   /* struct esi_shiviz_host */
    struct es_rows entries; /* private, as all below */
    struct es_rows groups;
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
    return es_rows_at(&log->events, event);
}

static inline struct esi_shiviz_host *esi_shiviz_log_host(
    const struct esi_shiviz_log *log,
    uint32_t host)
{
    return es_rows_at(&log->hosts, host);
}

#endif
