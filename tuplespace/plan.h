/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collection plan: which elements an observed process makes, with which properties.
 *
 * It is what is left of a pathmap for the observed process: a text of one line a collector, read
 * without JSON.  The first collector that fits an operation takes it; an operation that
 * none takes is not recorded.
 *
 *   eventspace-plan 1
 *   collector NAME classes=send,receive ranks=0-3,7 communicator=* split=none
 *             threshold=4096 full=discard enabled=1 polls=0 host=*        (one line)
 *   end
 */
#ifndef ES_TUPLESPACE_PLAN_H
#define ES_TUPLESPACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

enum es_split {
    ES_SPLIT_NONE = 0,         /* one element per thread */
    ES_SPLIT_PEER = 1,         /* one per thread and peer */
    ES_SPLIT_COMMUNICATOR = 2, /* one per thread and communicator */
    ES_SPLIT_BOTH = 3,
};

/* Inclusive range of ranks. */
struct es_rank_range {
    int first;
    int last; /* INT32_MAX = no end */
};

struct es_collector_plan {
    char name[32];
    uint32_t classes;              /* bits 1 << enum es_class */
    struct es_rank_range *ranges;  /* owned; NULL = all ranks */
    size_t range_count;
    char communicator[64];         /* name pattern (fnmatch), "" = all */
    enum es_split split;
    uint32_t threshold;
    bool block;
    bool enabled;
    bool polls;                    /* also write polls that found nothing */
    char host[64];                 /* where the element shall lie, "" = the rank's own host */
};

struct es_plan {
    struct es_collector_plan *collectors; /* owned, in order of precedence */
    size_t count;
};

/* The plan when nobody says otherwise: per thread the collectors "point-to-point" (send, receive,
 * completion), "collective" (collective, communicator), "data" (one-sided, io) and
 * "other", each of 4,096 tuples, discarding. */
int es_plan_default(struct es_plan *ret_plan);

int es_plan_parse(const char *text, const char *source, struct es_error *error, struct es_plan *ret_plan);
/* Reads a file. */
int es_plan_load(const char *path, struct es_error *error, struct es_plan *ret_plan);
/* Caller frees *ret_text. */
int es_plan_format(const struct es_plan *plan, char **ret_text);
/* Frees what the plan owns; the struct is the caller's.  Accepts an empty plan. */
void es_plan_fini(struct es_plan *plan);

/* Whether the collector is meant for this rank. */
bool es_collector_plan_has_rank(const struct es_collector_plan *collector, int rank);

/* Parses "0-3,7,12-" into ranges (caller frees *ret_ranges).  "*" or "" give none = all.  Used wherever a
 * person names ranks.  Returns the number of ranges or -EINVAL. */
int es_rank_ranges_parse(const char *text, struct es_error *error, struct es_rank_range **ret_ranges);

#endif
