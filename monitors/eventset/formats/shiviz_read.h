/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads logs for ShiViz as an ordered stream of events (docs/exports.md). The vector
 * clocks determine the order.
 *
 *   struct esi_shiviz_config config = {.sink = esi_set_write_sink(write)};
 *   esi_shiviz_read_file("server.log", &config, &statistics, &error);
 *
 * A host is a trace.  The group "event" is the text of an event, "type" its type; other
 * named groups are attributes.  Messages are derived from the clocks, as few as give
 * the same order.  An event with immediate predecessors on other hosts becomes a
 * receive, one with immediate successors there a send.  An event with both becomes two
 * consecutive events, a receive and a send, which differ only in the attribute "half".
 * The relation of two events of the log is that of their receives, and that of their
 * sends.
 *
 * Lines that do not match the regular expression are skipped, as in ShiViz.  Events are
 * delivered in the order of the log if that is a valid order.  The log is kept in
 * memory.
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
    /* Separates executions.  The hosts of each execution are prefixed with its name and
     * a slash: the group "trace", or else a number.  NULL = one execution. */
    const char *delimiter;
    /* The first two lines of the log are the two expressions, as in files uploaded to
     * ShiViz; an empty line means NULL. */
    bool header;
};

struct esi_shiviz_statistics {
    uint32_t executions;
    uint32_t traces;
    uint64_t log_events;
    uint64_t split_events; /* log events that became two */
    uint64_t events;
};

/* Reads a file; "-" is the standard input.  `ret_statistics` and `error` may be NULL.
 * Returns 0; -EINVAL if it is not such a log (`error` says why and where); another
 * -errno if the file cannot be read; or the error of the sink. */
int esi_shiviz_read_file(const char *path,
                         const struct esi_shiviz_config *config,
                         struct esi_shiviz_statistics *ret_statistics,
                         struct es_error *error);

/* Does the same for a text in memory; errors refer to it as `name`. */
int esi_shiviz_read_text(const char *text,
                         size_t length,
                         const char *name,
                         const struct esi_shiviz_config *config,
                         struct esi_shiviz_statistics *ret_statistics,
                         struct es_error *error);

#endif
