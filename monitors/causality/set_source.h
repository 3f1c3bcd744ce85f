/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets as ordered streams (eventspace/event.h), wherever they come from: a file
 * of JSON Lines, an archive, the standard input, or a live run.
 *
 *   struct esi_set_source_config config = {.path = "set.jsonl", .sink = sink};
 *   esi_set_source_read(&config, &facts, &error);
 *
 * A file comes in canonical order (eventset/delivery.h), an archive and a run as their
 * tuples are matched (causality/causality.h).
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
    ES_SET_SOURCE_INPUT, /* "-"; can be read once only */
    ES_SET_SOURCE_ARCHIVE,
    ES_SET_SOURCE_RUN, /* no such file: the name of a run */
};

/* What became known besides the events. */
struct esi_set_source_facts {
    enum esi_set_source_kind kind;
    bool is_matched;    /* of an archive or a run: `totals` say what was found */
    bool is_incomplete; /* the order is a lower bound only: see `totals` */
    bool is_under_way;  /* a run that goes on: more may come */
    struct esi_causality_totals totals;
};

struct esi_set_source_config {
    const char *path; /* NULL: a run, which `read_run` knows */
    struct es_set_sink sink;
    struct esi_causal_listener listener; /* of an archive or a run */
    bool attributes;                     /* events are to have their attributes */
    unsigned threads; /* 0: as many as there are processors; a run has none */
    /* Looks at a search that has ended, of an archive or a run; NULL: nobody does. */
    void (*found)(void *data, const struct esi_causality *causality);
    void *found_data;
    /* Reads a live run, and ends with esi_set_source_found(); NULL: runs are refused.
     */
    int (*read_run)(void *data,
                    const struct esi_set_source_config *config,
                    struct esi_set_source_facts *facts,
                    struct es_error *error);
    void *run_data;
};

/* What a path is; NULL is a run.  -ENOENT with words: nothing that can be read;
 * -errno. */
int esi_set_source_detect(const char *path,
                          enum esi_set_source_kind *ret_kind,
                          struct es_error *error);

/* 0; -EINVAL with words: no event set; another -errno: it cannot be read, or what the
 * sink gave.  What was given to the sink before an error is to be thrown away. */
int esi_set_source_read(const struct esi_set_source_config *config,
                        struct esi_set_source_facts *ret_facts,
                        struct es_error *error);

/* For `read_run`: a search has ended, and this is what it found. */
void esi_set_source_found(const struct esi_set_source_config *config,
                          const struct esi_causality *causality,
                          struct esi_set_source_facts *facts);

#endif
