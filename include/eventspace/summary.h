/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Summaries: tuples that stand for many, as reductions give them.
 *
 * Their marks have ES_MARK_SUMMARY set.  A summary counts the completed operations of
 * one group that came in one pull; who wants more than a pull merges the summaries of
 * several.  Merging is associative and commutative, so that reductions can stand above
 * reductions: thread, host, root.
 */
#ifndef EVENTSPACE_SUMMARY_H
#define EVENTSPACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/stage_batch.h"
#include "eventspace/tuple.h"

enum es_summary_kind {
    ES_SUMMARY_COUNT,
    ES_SUMMARY_SUM,
    ES_SUMMARY_MINIMUM,
    ES_SUMMARY_MAXIMUM,
    ES_SUMMARY_MEAN,
    ES_SUMMARY_HISTOGRAM, /* one tuple for each bucket that is not empty */
    ES_SUMMARY_KINDS,
};

/* What is summed up. */
enum es_summary_field {
    ES_SUMMARY_BYTES,
    ES_SUMMARY_DURATION, /* nanoseconds */
    ES_SUMMARY_FIELDS,
};

/* What the tuples of a group have in common. */
enum es_summary_group {
    ES_SUMMARY_BY_NONE, /* nothing: all tuples are one group */
    ES_SUMMARY_BY_OPERATION,
    ES_SUMMARY_BY_ORIGIN,
    ES_SUMMARY_BY_THREAD,
    ES_SUMMARY_BY_RANK,
    ES_SUMMARY_BY_HOST,
    ES_SUMMARY_BY_SITE, /* of one process: the mark has the address */
    ES_SUMMARY_GROUPS,
};

/* Buckets hold powers of two: 0 the value 0, bucket B the values from 2^(B-1) to
 * 2^B - 1. */
#define ES_SUMMARY_BUCKETS 65

struct es_summary {
    enum es_summary_kind kind;
    enum es_summary_field of;
    enum es_summary_group by; /* thread, rank, host: those of the mark's origin */
    unsigned bucket;          /* of a histogram, else 0 */
    uint16_t operation;       /* of the group; else the least code among its tuples */
    uint64_t count;           /* tuples summed up, at least 1 */
    uint64_t value;    /* the least, the greatest, or the sum of the field; saturates */
    uint64_t first_ns; /* when the first began, ns since 1970 */
    uint64_t last_ns;  /* when the last ended */
};

static inline bool es_mark_is_summary(const struct es_mark *mark)
{
    return (mark->flags & ES_MARK_SUMMARY) != 0;
}

/* Reads a summary.  -EINVAL: the mark says that it is none, or it is not
 * understood. */
ES_API int es_summary_decode(const struct es_tuple *tuple,
                             const struct es_mark *mark,
                             struct es_summary *ret_summary);
ES_API void es_summary_encode(const struct es_summary *summary,
                              struct es_tuple *ret_tuple);

/* Adds `other`, a summary of the same kind, field and bucket. */
ES_API void es_summary_merge(struct es_summary *summary,
                             const struct es_summary *other);

/* Sum divided by count, of sums, means and histograms. */
ES_API double es_summary_mean(const struct es_summary *summary);

ES_API unsigned es_summary_bucket(uint64_t value);
ES_API uint64_t es_summary_bucket_least(unsigned bucket);
ES_API uint64_t es_summary_bucket_most(unsigned bucket);

/* "count", "sum", ...; "bytes", "duration"; "none", "operation", ...  Static. */
ES_API const char *es_summary_kind_name(enum es_summary_kind kind);
ES_API const char *es_summary_field_name(enum es_summary_field of);
ES_API const char *es_summary_group_name(enum es_summary_group by);

#endif
