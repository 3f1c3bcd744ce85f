/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Summaries: tuples that stand for many others, as produced by reductions.
 *
 * Their marks have ES_MARK_SUMMARY set.  A summary counts the completed operations of
 * one group in one pull; merge the summaries of several pulls to cover a longer time.
 * Merging is associative and commutative, so reductions can be stacked: thread, host,
 * root.
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
    ES_SUMMARY_HISTOGRAM, /* one tuple for each non-empty bucket */
    ES_SUMMARY_KINDS,
};

/* The quantity that is summarized. */
enum es_summary_field {
    ES_SUMMARY_BYTES,
    ES_SUMMARY_DURATION, /* nanoseconds */
    ES_SUMMARY_FIELDS,
};

/* What the tuples of a group have in common. */
enum es_summary_group {
    ES_SUMMARY_BY_NONE, /* nothing: all tuples form one group */
    ES_SUMMARY_BY_OPERATION,
    ES_SUMMARY_BY_ORIGIN,
    ES_SUMMARY_BY_THREAD,
    ES_SUMMARY_BY_RANK,
    ES_SUMMARY_BY_HOST,
    ES_SUMMARY_BY_SITE, /* within one process: the mark contains the address */
    ES_SUMMARY_GROUPS,
};

/* Buckets are powers of two: bucket 0 holds the value 0, bucket B the values from
 * 2^(B-1) to 2^B - 1. */
#define ES_SUMMARY_BUCKETS 65

struct es_summary {
    enum es_summary_kind kind;
    enum es_summary_field of;
    enum es_summary_group by; /* of thread, rank or host: that of the mark's origin */
    unsigned bucket;          /* of a histogram, else 0 */
    uint16_t operation;       /* of the group; or the smallest code among its tuples */
    uint64_t count;           /* number of tuples summarized, at least 1 */
    uint64_t value;           /* minimum, maximum or sum of the field; saturates */
    uint64_t first_ns;        /* start of the first operation, ns since 1970 */
    uint64_t last_ns;         /* end of the last operation */
};

/* Returns whether the tuple of the mark is a summary. */
static inline bool es_mark_is_summary(const struct es_mark *mark)
{
    return (mark->flags & ES_MARK_SUMMARY) != 0;
}

/* Decodes a summary.  Returns 0, or -EINVAL if the mark or the tuple is not that of a
 * summary. */
ES_API int es_summary_decode(const struct es_tuple *tuple,
                             const struct es_mark *mark,
                             struct es_summary *ret_summary);
/* Encodes a summary as a tuple, the inverse of es_summary_decode(). */
ES_API void es_summary_encode(const struct es_summary *summary,
                              struct es_tuple *ret_tuple);

/* Merges `other` into `summary`.  Both must have the same kind, field and bucket. */
ES_API void es_summary_merge(struct es_summary *summary,
                             const struct es_summary *other);

/* Sum divided by count, for sums, means and histograms. */
ES_API double es_summary_mean(const struct es_summary *summary);

/* The bucket of a value, and the smallest and largest value of a bucket. */
ES_API unsigned es_summary_bucket(uint64_t value);
ES_API uint64_t es_summary_bucket_least(unsigned bucket);
ES_API uint64_t es_summary_bucket_most(unsigned bucket);

/* Names: "count", "sum", ...; "bytes", "duration"; "none", "operation", ...  Static. */
ES_API const char *es_summary_kind_name(enum es_summary_kind kind);
ES_API const char *es_summary_field_name(enum es_summary_field of);
ES_API const char *es_summary_group_name(enum es_summary_group by);

#endif
