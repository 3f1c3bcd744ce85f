/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* summary.c - summaries as tuples, and merging them. */
#include "config.h"

#include "eventspace/summary.h"

#include <errno.h>

#include "wrappers/stages/stage.h"

/* The communicator's field contains the kind of summary, starting at the lowest bit. */
enum { KIND_BITS = 3, FIELD_BITS = 3, GROUP_BITS = 3, BUCKET_BITS = 7 };

_Static_assert(KIND_BITS + FIELD_BITS + GROUP_BITS + BUCKET_BITS == 16,
               "the description has 16 bits");
_Static_assert(ES_SUMMARY_KINDS <= 1 << KIND_BITS, "kinds fit");
_Static_assert(ES_SUMMARY_FIELDS <= 1 << FIELD_BITS, "fields fit");
_Static_assert(ES_SUMMARY_GROUPS <= 1 << GROUP_BITS, "groups fit");
_Static_assert(ES_SUMMARY_BUCKETS <= 1 << BUCKET_BITS, "buckets fit");

static const char *const kinds[ES_SUMMARY_KINDS] = {
    [ES_SUMMARY_COUNT] = "count",     [ES_SUMMARY_SUM] = "sum",
    [ES_SUMMARY_MINIMUM] = "minimum", [ES_SUMMARY_MAXIMUM] = "maximum",
    [ES_SUMMARY_MEAN] = "mean",       [ES_SUMMARY_HISTOGRAM] = "histogram",
};
const char *const esi_summary_fields[] = {
    [ES_SUMMARY_BYTES] = "bytes",
    [ES_SUMMARY_DURATION] = "duration",
    [ES_SUMMARY_FIELDS] = NULL,
};
const char *const esi_summary_groups[] = {
    [ES_SUMMARY_BY_NONE] = "none",     [ES_SUMMARY_BY_OPERATION] = "operation",
    [ES_SUMMARY_BY_ORIGIN] = "origin", [ES_SUMMARY_BY_THREAD] = "thread",
    [ES_SUMMARY_BY_RANK] = "rank",     [ES_SUMMARY_BY_HOST] = "host",
    [ES_SUMMARY_BY_SITE] = "site",     [ES_SUMMARY_GROUPS] = NULL,
};

static unsigned take_bits(unsigned *code, unsigned bits)
{
    unsigned value = *code & ((1u << bits) - 1);

    *code >>= bits;
    return value;
}

int es_summary_decode(const struct es_tuple *tuple,
                      const struct es_mark *mark,
                      struct es_summary *ret_summary)
{
    unsigned code = tuple->communicator;
    unsigned kind = take_bits(&code, KIND_BITS);
    unsigned of = take_bits(&code, FIELD_BITS);
    unsigned by = take_bits(&code, GROUP_BITS);

    if (!es_mark_is_summary(mark) || kind >= ES_SUMMARY_KINDS ||
        of >= ES_SUMMARY_FIELDS || by >= ES_SUMMARY_GROUPS ||
        code >= ES_SUMMARY_BUCKETS)
        return -EINVAL;
    *ret_summary = (struct es_summary){
        .kind = (enum es_summary_kind)kind,
        .of = (enum es_summary_field)of,
        .by = (enum es_summary_group)by,
        .bucket = code,
        .operation = tuple->operation,
        .count = (uint64_t)(uint32_t)tuple->peer << 32 | tuple->sequence,
        .value = (uint64_t)(uint32_t)tuple->tag << 32 | tuple->bytes,
        .first_ns = tuple->start,
        .last_ns = tuple->stop,
    };
    return 0;
}

void es_summary_encode(const struct es_summary *summary, struct es_tuple *ret_tuple)
{
    unsigned code = summary->bucket;

    code = code << GROUP_BITS | (unsigned)summary->by;
    code = code << FIELD_BITS | (unsigned)summary->of;
    code = code << KIND_BITS | (unsigned)summary->kind;
    *ret_tuple = (struct es_tuple){
        .stop = summary->last_ns,
        .operation = summary->operation,
        .communicator = (uint16_t)code,
        .start = summary->first_ns,
        .sequence = (uint32_t)summary->count,
        .peer = (int32_t)(summary->count >> 32),
        .tag = (int32_t)(summary->value >> 32),
        .bytes = (uint32_t)summary->value,
    };
}

static uint64_t summary_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t summary_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t summary_greatest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void es_summary_merge(struct es_summary *summary, const struct es_summary *other)
{
    if (summary->kind == ES_SUMMARY_MINIMUM)
        summary->value = summary_least(summary->value, other->value);
    else if (summary->kind == ES_SUMMARY_MAXIMUM)
        summary->value = summary_greatest(summary->value, other->value);
    else
        summary->value = summary_add(summary->value, other->value);
    summary->count = summary_add(summary->count, other->count);
    summary->first_ns = summary_least(summary->first_ns, other->first_ns);
    summary->last_ns = summary_greatest(summary->last_ns, other->last_ns);
    if (other->operation < summary->operation)
        summary->operation = other->operation;
}

double es_summary_mean(const struct es_summary *summary)
{
    return summary->count ? (double)summary->value / (double)summary->count : 0;
}

unsigned es_summary_bucket(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

uint64_t es_summary_bucket_least(unsigned bucket)
{
    return bucket ? UINT64_C(1) << (bucket - 1) : 0;
}

uint64_t es_summary_bucket_most(unsigned bucket)
{
    return bucket ? UINT64_MAX >> (64 - bucket) : 0;
}

const char *es_summary_kind_name(enum es_summary_kind kind)
{
    return (unsigned)kind < ES_SUMMARY_KINDS ? kinds[kind] : "?";
}

const char *es_summary_field_name(enum es_summary_field of)
{
    return (unsigned)of < ES_SUMMARY_FIELDS ? esi_summary_fields[of] : "?";
}

const char *es_summary_group_name(enum es_summary_group by)
{
    return (unsigned)by < ES_SUMMARY_GROUPS ? esi_summary_groups[by] : "?";
}
