/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets as ordered streams (eventspace/event.h) from any source: a file of JSON
 * Lines, an archive, the standard input, or a live run.
 *
 *   struct esi_set_source_config config = {.path = "set.jsonl", .sink = sink};
 *   esi_set_source_read(&config, &facts, &error);
 *
 * Files are read in canonical order (eventset/delivery.h), archives and runs in the
 * order in which their tuples are matched (causality/causality.h).
 */
#ifndef ES_MONITORS_CAUSALITY_SET_SOURCE_H
#define ES_MONITORS_CAUSALITY_SET_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/causality/causality.h"
#include "eventspace/event.h"

enum esi_set_source_kind {
    ES_SET_SOURCE_FILE,
    ES_SET_SOURCE_INPUT, /* "-"; can be read only once */
    ES_SET_SOURCE_ARCHIVE,
    ES_SET_SOURCE_RUN, /* the path is not a file but the name of a run */
};

/* Information about the event set other than its events. */
struct esi_set_source_facts {
    enum esi_set_source_kind kind;
    bool is_matched;    /* an archive or a run; `totals` is valid */
    bool is_incomplete; /* the order is only a lower bound; see `totals` */
    bool is_under_way;  /* the run has not ended: more events may follow */
    struct esi_causality_totals totals;
};

struct esi_set_source_config {
    const char *path;                   /* NULL: a run, which `read_run` knows */
    struct esi_archive_reader *archive; /* an open one, which is read instead of `path`;
                                           NULL = none; borrowed */
    struct es_set_sink sink;
    struct esi_causal_listener listener; /* for archives and runs */
    bool attributes;                     /* whether events have attributes */
    unsigned threads; /* 0: number of processors; not used for runs */
    /* Called at the end of matching, for archives and runs.  May be NULL. */
    void (*found)(void *data, const struct esi_causality *causality);
    void *found_data;
    /* Reads a live run and then calls esi_set_source_found().  If NULL, runs are
     * refused. */
    int (*read_run)(void *data,
                    const struct esi_set_source_config *config,
                    struct esi_set_source_facts *facts,
                    struct es_error *error);
    void *run_data;
};

/* Determines the kind of a path; NULL is a run.  Returns 0, -ENOENT with a message if
 * it cannot be read, or another negative errno. */
int esi_set_source_detect(const char *path,
                          enum esi_set_source_kind *ret_kind,
                          struct es_error *error);

/* Reads an event set.  Returns 0; -EINVAL with a message if it is not an event set;
 * another negative errno if it cannot be read; or the error of the sink.  After an
 * error, the caller must discard what the sink received. */
int esi_set_source_read(const struct esi_set_source_config *config,
                        struct esi_set_source_facts *ret_facts,
                        struct es_error *error);

/* For `read_run`: reports the results at the end of matching. */
void esi_set_source_found(const struct esi_set_source_config *config,
                          const struct esi_causality *causality,
                          struct esi_set_source_facts *facts);

#endif
