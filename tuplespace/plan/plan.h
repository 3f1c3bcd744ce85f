/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collection plan: which elements an observed process makes, with which properties.
 *
 * It is what is left of a pathmap for the observed process: a text of one line a
 * collector (tuplespace/plan/lines.h), read without JSON.  The first collector that
 * fits an operation takes it; an operation that none takes is not recorded.
 *
 *   eventspace-plan 1
 *   collector NAME classes=send,receive ranks=0-3,7 communicator=* split=none
 *             threshold=4095 full=discard enabled=1 polls=0 host=*        (one line)
 *   end
 *
 * `sites=0` is written where operations are not to say where they are called.
 * Only `classes` must be there; the line above shows the other members' values when
 * they are left out, but for ranks (all: "*").  `on_full`, as pathmaps say it, is as
 * good as `full`.
 */
#ifndef ES_TUPLESPACE_PLAN_PLAN_H
#define ES_TUPLESPACE_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fields.h"
#include "eventspace/error.h"
#include "tuplespace/layout.h"

/* A ring of 4,096 slots, one of which is the open tuple's. */
#define ES_PLAN_THRESHOLD 4095u
#define ES_PLAN_THRESHOLD_MAX (1u << 24)

enum esi_split {
    ES_SPLIT_NONE = 0,         /* one element per thread */
    ES_SPLIT_PEER = 1,         /* one per thread and peer */
    ES_SPLIT_COMMUNICATOR = 2, /* one per thread and communicator */
    ES_SPLIT_BOTH = 3,
};

/* Inclusive range of ranks. */
struct esi_rank_range {
    int first;
    int last; /* INT32_MAX = no end */
};

struct esi_collector_plan {
    char name[32];
    uint32_t classes;              /* bits 1 << enum es_class */
    struct esi_rank_range *ranges; /* owned; NULL = all ranks */
    size_t range_count;
    char communicator[64]; /* name pattern (fnmatch), "*" = all */
    enum esi_split split;
    uint32_t threshold;
    enum esi_on_full on_full;
    bool enabled;
    bool polls;    /* also write polls that found nothing */
    bool sites;    /* also write where operations are called from */
    char host[64]; /* where the element shall lie, "" = the rank's own host */
};

/* The fields of a collector: of lines, of pathmaps and of the stage "collector". */
extern const struct esi_fields esi_collector_fields;

struct es_plan {
    struct esi_collector_plan *collectors; /* owned, in order of precedence */
    size_t count;
    size_t capacity;
};

/* The plan when nobody says otherwise: per thread the collectors "point-to-point"
 * (send, receive, completion), "collective" (collective, communicator), "data"
 * (one-sided, io) and "other", each of ES_PLAN_THRESHOLD tuples, discarding.  -ENOMEM.
 */
int esi_plan_default(struct es_plan *ret_plan);

/* Adds the collectors "contribute", "arrival" and "departure", each of the class of
 * that name: for runs whose collective operations may go through instrumented trees.
 * -ENOMEM; then nothing is added. */
int esi_plan_add_trees(struct es_plan *plan);

/* `source` names the text in errors.  -EINVAL with the place of the first fault,
 * -ENOMEM. */
int esi_plan_parse(const char *text,
                   const char *source,
                   struct es_error *error,
                   struct es_plan *ret_plan);
/* Reads a regular file of this user, of at most 16 MiB.  -EPERM: it is none, -EFBIG,
 * -errno as open(2) gives it. */
int esi_plan_load(const char *path, struct es_error *error, struct es_plan *ret_plan);
/* Writes what esi_plan_parse() reads.  Caller frees *ret_text.  -ENOMEM. */
int esi_plan_format(const struct es_plan *plan, char **ret_text);
/* Collectors that block await their readers. */
void esi_plan_await_readers(struct es_plan *plan);

/* Whether all its collectors record where operations are called. */
void esi_plan_set_sites(struct es_plan *plan, bool sites);

/* Frees what the plan owns; the struct is the caller's.  Accepts an empty plan. */
void esi_plan_fini(struct es_plan *plan);

/* Whether the collector is meant for this rank. */
bool esi_collector_plan_has_rank(const struct esi_collector_plan *collector, int rank);

/* Parses "0-3,7,12-" into ranges (caller frees *ret_ranges).  "*" or "" give none =
 * all.  Used wherever a person names ranks.  Returns the number of ranges or -EINVAL;
 * the error's column counts from the start of the text. */
int esi_rank_ranges_parse(const char *text,
                          struct es_error *error,
                          struct esi_rank_range **ret_ranges);

/* Writes what esi_rank_ranges_parse() reads, no ranges as "*". */
void esi_rank_ranges_format(const struct esi_rank_range *ranges,
                            size_t count,
                            FILE *out);

/* Whether one of the ranges holds the rank; no ranges hold every rank. */
bool esi_rank_ranges_have(const struct esi_rank_range *ranges, size_t count, int rank);

#endif
