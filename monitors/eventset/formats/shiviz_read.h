/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads logs for ShiViz, whose vector clocks become the order, as an ordered stream of
 * events (docs/exports.md).
 *
 *   struct esi_shiviz_config config = {.sink = esi_set_write_sink(write)};
 *   esi_shiviz_read_file("server.log", &config, &statistics, &error);
 *
 * A host is a trace.  The group "event" is an event's text, "type" its type; other
 * named groups are attributes.  Messages are made of the clocks, as few as give the
 * same order.  An event that follows others of other hosts at once is a receive, one
 * that is followed so is a send; one that is both becomes two events one after the
 * other, a receive and a send, alike but for the attribute "half".  What holds between
 * two events of the log then holds between the receives of both, and between their
 * sends.
 *
 * Lines that the regular expression does not take are skipped, as ShiViz does.  Events
 * come in the order of the log where that is one.  The log is kept in memory.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_READ_H
#define ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

/* ShiViz's own expression. */
#define ES_SHIVIZ_REGEX "(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})"

struct esi_shiviz_config {
    struct es_set_sink sink;
    const char *regex; /* with the groups host, clock and event; NULL = ShiViz's own */
    /* What stands between executions; each one's hosts have its name and a slash before
     * their own: what the group "trace" says, else a number.  NULL = one execution. */
    const char *delimiter;
    /* The log's first two lines are these two, as in files that are uploaded to ShiViz;
     * an empty line is NULL. */
    bool header;
};

struct esi_shiviz_statistics {
    uint32_t executions;
    uint32_t traces;
    uint64_t log_events;
    uint64_t split_events; /* that became two */
    uint64_t events;
};

/* Reads a file; "-" is the standard input.  `ret_statistics` and `error` may be NULL.
 * 0; -EINVAL: no such log, `error` says why and where; another -errno: the file cannot
 * be read, or what the sink gave. */
int esi_shiviz_read_file(const char *path,
                         const struct esi_shiviz_config *config,
                         struct esi_shiviz_statistics *ret_statistics,
                         struct es_error *error);

/* The same for a text in memory, which errors call `name`. */
int esi_shiviz_read_text(const char *text,
                         size_t length,
                         const char *name,
                         const struct esi_shiviz_config *config,
                         struct esi_shiviz_statistics *ret_statistics,
                         struct es_error *error);

#endif
