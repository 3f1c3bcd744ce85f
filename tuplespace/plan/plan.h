/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collection plan: which elements an observed process creates, and their
 * properties.
 *
 * It is the part of a pathmap that the observed process needs: a text with one line for
 * each collector (tuplespace/plan/lines.h), which can be read without JSON.  An
 * operation is recorded by the first collector that matches it; if none does, it is not
 * recorded.
 *
 *   eventspace-plan 1
 *   collector NAME classes=send,receive ranks=0-3,7 communicator=* split=none
 *             threshold=4095 full=discard enabled=1 polls=0 host=*        (one line)
 *   end
 *
 * `sites=0` disables the recording of call sites.  Only `classes` is required.  The
 * line above shows the defaults of the other members, except that of ranks, which is
 * "*" (all).  `on_full`, as in pathmaps, is a synonym of `full`.
 */
#ifndef ES_TUPLESPACE_PLAN_PLAN_H
#define ES_TUPLESPACE_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fields.h"
#include "eventspace/error.h"
#include "tuplespace/layout.h"

/* For a ring of 4,096 slots, including that of the open tuple. */
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
    int last; /* INT32_MAX if unbounded */
};

struct esi_collector_plan {
    char name[32];
    uint32_t classes;              /* bits 1 << enum es_class */
    struct esi_rank_range *ranges; /* owned; NULL for all ranks */
    size_t range_count;
    char communicator[64]; /* name pattern (fnmatch); "*" for all */
    enum esi_split split;
    uint32_t threshold;
    enum esi_on_full on_full;
    bool enabled;
    bool polls;    /* record polls that found nothing */
    bool sites;    /* record call sites */
    char host[64]; /* host on which to place the element; "" for the rank's own host */
};

/* The fields of a collector, in lines, in pathmaps and in the stage "collector". */
extern const struct esi_fields esi_collector_fields;

struct es_plan {
    struct esi_collector_plan *collectors; /* owned, in order of precedence */
    size_t count;
    size_t capacity;
};

/* Creates the default plan: for each thread the collectors "point-to-point" (send,
 * receive, completion), "collective" (collective, communicator), "data" (one-sided, io)
 * and "other", each with ES_PLAN_THRESHOLD tuples and discarding.  Returns 0 or
 * -ENOMEM. */
int esi_plan_default(struct es_plan *ret_plan);

/* Adds the collectors "contribute", "arrival" and "departure" for the classes of those
 * names, for runs that may use instrumented collective trees.  Returns 0; or -ENOMEM,
 * and then adds nothing. */
int esi_plan_add_trees(struct es_plan *plan);

/* Parses a plan.  `source` names the text in errors.  Returns 0; -EINVAL, with the
 * location of the first error; or -ENOMEM. */
int esi_plan_parse(const char *text,
                   const char *source,
                   struct es_error *error,
                   struct es_plan *ret_plan);
/* Reads a plan from a regular file of this user, of at most 16 MiB.  Returns 0; -EPERM
 * if it is not such a file; -EFBIG; -errno of open(2); or an error of
 * esi_plan_parse(). */
int esi_plan_load(const char *path, struct es_error *error, struct es_plan *ret_plan);
/* Formats a plan for esi_plan_parse().  Returns 0 or -ENOMEM.  The caller frees
 * *ret_text. */
int esi_plan_format(const struct es_plan *plan, char **ret_text);
/* Makes the collectors that block wait for their first reader, too. */
void esi_plan_await_readers(struct es_plan *plan);

/* Sets whether all collectors record call sites. */
void esi_plan_set_sites(struct es_plan *plan, bool sites);

/* Frees the contents of the plan.  Accepts an empty plan. */
void esi_plan_fini(struct es_plan *plan);

/* Returns whether the collector applies to this rank. */
bool esi_collector_plan_has_rank(const struct esi_collector_plan *collector, int rank);

/* Parses "0-3,7,12-" into ranges.  "*" and "" yield none, which means all ranks.
 * Returns the number of ranges, or -EINVAL; the column of the error counts from the
 * start of the text.  The caller frees *ret_ranges. */
int esi_rank_ranges_parse(const char *text,
                          struct es_error *error,
                          struct esi_rank_range **ret_ranges);

/* Formats ranges for esi_rank_ranges_parse(); no ranges as "*". */
void esi_rank_ranges_format(const struct esi_rank_range *ranges,
                            size_t count,
                            FILE *out);

/* Returns whether one of the ranges contains the rank, or there are no ranges. */
bool esi_rank_ranges_have(const struct esi_rank_range *ranges, size_t count, int rank);

#endif
