/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reduce.c - reduces what all children emit; each reduction is a row of a table.
 *
 * `latest` and `earliest` select tuples.  The others aggregate: they emit summaries
 * (eventspace/summary.h) of the tuples of this pull, never more than there were tuples.
 * Their groups are in an array, in order of appearance, and are found by a hash
 * table. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "eventspace/summary.h"
#include "tuplespace/operation_table.h"
#include "wrappers/stages/gather.h"
#include "wrappers/stages/stage.h"

/* --- Totals by group -------------------------------------------------------------- */

struct tuple_group {
    struct es_summary summary;
    struct es_mark mark; /* of its first tuple, by origin and position */
};

/* In caller's memory; unset members are 0. */
struct grouping {
    enum es_summary_kind kind;
    enum es_summary_field of;
    enum es_summary_group by;

    struct tuple_group *groups; /* owned; in order of appearance */
    size_t count;
    size_t capacity;
    struct esi_hash by_hash; /* indices of groups */
};

static void fini_grouping(struct grouping *grouping)
{
    free(grouping->groups);
    esi_hash_fini(&grouping->by_hash);
}

/* --- Finding groups --------------------------------------------------------------- */

static uint64_t hash_of(const struct tuple_group *group,
                        const struct es_origins *origins)
{
    const struct es_summary *summary = &group->summary;
    const struct es_origin *origin = &origins->items[group->mark.origin];
    uint64_t hash = esi_hash_mix((uint64_t)summary->kind, (uint64_t)summary->of);

    hash = esi_hash_mix(esi_hash_mix(hash, (uint64_t)summary->by), summary->bucket);
    switch (summary->by) {
    case ES_SUMMARY_BY_OPERATION:
        return esi_hash_mix(hash, summary->operation);
    case ES_SUMMARY_BY_ORIGIN:
        return esi_hash_mix(hash, group->mark.origin);
    case ES_SUMMARY_BY_THREAD:
        return esi_hash_mix(esi_hash_mix(hash, (uint64_t)origin->pid),
                            (uint64_t)origin->thread);
    case ES_SUMMARY_BY_RANK:
        return esi_hash_mix(hash, (uint64_t)origin->rank);
    case ES_SUMMARY_BY_HOST:
        return esi_hash_mix_text(hash, origin->host);
    case ES_SUMMARY_BY_SITE:
        return esi_hash_mix(esi_hash_mix(hash, (uint64_t)origin->pid),
                            group->mark.site);
    default:
        return hash;
    }
}

static bool same_origins(enum es_summary_group by,
                         const struct es_origin *a,
                         const struct es_origin *b)
{
    switch (by) {
    case ES_SUMMARY_BY_ORIGIN:
        return a == b;
    case ES_SUMMARY_BY_THREAD:
        return a->thread == b->thread && a->pid == b->pid &&
               strcmp(a->host, b->host) == 0;
    case ES_SUMMARY_BY_RANK:
        return a->rank == b->rank;
    case ES_SUMMARY_BY_HOST:
        return strcmp(a->host, b->host) == 0;
    case ES_SUMMARY_BY_SITE: /* addresses have another meaning in other processes */
        return a->pid == b->pid && strcmp(a->host, b->host) == 0;
    default:
        return true;
    }
}

static bool same_group(const struct tuple_group *a,
                       const struct tuple_group *b,
                       const struct es_origins *origins)
{
    const struct es_summary *one = &a->summary;
    const struct es_summary *other = &b->summary;

    if (one->kind != other->kind || one->of != other->of || one->by != other->by ||
        one->bucket != other->bucket)
        return false;
    if (one->by == ES_SUMMARY_BY_OPERATION)
        return one->operation == other->operation;
    if (one->by == ES_SUMMARY_BY_SITE && a->mark.site != b->mark.site)
        return false;
    return a->mark.origin == b->mark.origin ||
           same_origins(one->by, &origins->items[a->mark.origin],
                        &origins->items[b->mark.origin]);
}

/* Returns whether groups of one kind are parts of groups of the other. */
static bool is_wider(enum es_summary_group wide, enum es_summary_group narrow)
{
    if (wide == narrow || wide == ES_SUMMARY_BY_NONE)
        return true;
    if (wide == ES_SUMMARY_BY_SITE || narrow == ES_SUMMARY_BY_SITE)
        return false;
    return wide > narrow && narrow >= ES_SUMMARY_BY_ORIGIN;
}

/* Returns whether summaries from `below` become part of the groups of `grouping`. */
static bool takes_summaries(const struct grouping *grouping,
                            const struct grouping *below)
{
    return grouping->kind == below->kind && grouping->of == below->of &&
           is_wider(grouping->by, below->by);
}

/* --- The table -------------------------------------------------------------------- */

/* The group for the tuples of `group`; NULL if there is none yet. */
static struct tuple_group *find_group(const struct grouping *grouping,
                                      const struct tuple_group *group,
                                      uint64_t hash,
                                      const struct es_origins *origins)
{
    ESI_HASH_FOREACH(slot, &grouping->by_hash, hash) {
        struct tuple_group *found =
            &grouping->groups[esi_hash_index(&grouping->by_hash, slot)];

        if (same_group(found, group, origins))
            return found;
    }
    return NULL;
}

static int append_group(struct grouping *grouping,
                        const struct tuple_group *group,
                        uint64_t hash)
{
    size_t count = grouping->count;

    if (ESI_ARRAY_RESERVE(grouping->groups, grouping->capacity, count + 1) < 0 ||
        esi_hash_reserve(&grouping->by_hash, count + 1) < 0)
        return -ENOMEM;
    grouping->groups[grouping->count++] = *group;
    esi_hash_insert(&grouping->by_hash, hash, count);
    return 0;
}

static bool is_before(const struct es_mark *a, const struct es_mark *b)
{
    return a->origin != b->origin ? a->origin < b->origin : a->position < b->position;
}

static int grouping_add(struct grouping *grouping,
                        const struct tuple_group *group,
                        const struct es_origins *origins)
{
    uint64_t hash = hash_of(group, origins);
    struct tuple_group *found = find_group(grouping, group, hash, origins);

    if (!found)
        return append_group(grouping, group, hash);
    es_summary_merge(&found->summary, &group->summary);
    if (is_before(&group->mark, &found->mark))
        found->mark = group->mark;
    return 0;
}

/* --- Tuples ----------------------------------------------------------------------- */

/* Returns whether the time of a tuple is also contained in others: a nonblocking
 * operation lasts until the call that completes it ends, and one call sends and
 * receives.  Totals count no time twice. */
static bool shares_time(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation &&
           (operation->nonblocking ||
            (operation->combined && operation->op_class == ES_CLASS_RECEIVE));
}

/* A summary of one tuple. */
static struct es_summary first_summary(const struct grouping *grouping,
                                       const struct es_tuple *tuple,
                                       const struct es_origin *origin)
{
    uint64_t value = es_tuple_bytes(tuple);

    if (grouping->of == ES_SUMMARY_DURATION)
        value = tuple->stop > tuple->start
                    ? es_clock_span_ns(origin->clock, tuple->stop - tuple->start)
                    : 0;
    if (grouping->of == ES_SUMMARY_DURATION && grouping->kind == ES_SUMMARY_SUM &&
        shares_time(tuple))
        value = 0;
    return (struct es_summary){
        .kind = grouping->kind,
        .of = grouping->of,
        .by = grouping->by,
        .bucket = grouping->kind == ES_SUMMARY_HISTOGRAM ? es_summary_bucket(value) : 0,
        .operation = es_tuple_operation(tuple),
        .count = 1,
        .value = grouping->kind == ES_SUMMARY_COUNT ? 0 : value,
        .first_ns = es_origin_run_ns(origin, tuple->start, NULL),
        .last_ns = es_origin_run_ns(origin, tuple->stop, NULL),
    };
}

/* Summaries from below join this stage's groups if these are as wide; otherwise they
 * are merged among themselves. */
static int add_summary(struct grouping *grouping,
                       struct tuple_group *group,
                       const struct es_origins *origins)
{
    struct es_summary *summary = &group->summary;

    if (summary->kind == grouping->kind && summary->of == grouping->of &&
        is_wider(grouping->by, summary->by))
        summary->by = grouping->by;
    return grouping_add(grouping, group, origins);
}

static int add_tuple(struct grouping *grouping,
                     const struct es_tuple *tuple,
                     const struct es_mark *mark,
                     const struct es_origins *origins)
{
    struct tuple_group group = {.mark = *mark};

    if (es_mark_is_summary(mark))
        return es_summary_decode(tuple, mark, &group.summary) == 0
                   ? add_summary(grouping, &group, origins)
                   : 0;
    if (tuple->stop == 0)
        return 0;
    group.summary = first_summary(grouping, tuple, &origins->items[mark->origin]);
    group.mark.flags |= ES_MARK_SUMMARY;
    return grouping_add(grouping, &group, origins);
}

/* Replaces the tuples of the batch from `first` on by their summaries, which are never
 * more.  Operations under way are omitted.  Returns 0 or -ENOMEM. */
static int sum_up(struct grouping *grouping,
                  const struct es_origins *origins,
                  struct es_batch *batch,
                  size_t first)
{
    grouping->count = 0;
    esi_hash_clear(&grouping->by_hash);
    for (size_t i = first; i < batch->count; i++) {
        int result = add_tuple(grouping, &batch->tuples[i], &batch->marks[i], origins);

        if (result < 0)
            return result;
    }
    for (size_t i = 0; i < grouping->count; i++) {
        es_summary_encode(&grouping->groups[i].summary, &batch->tuples[first + i]);
        batch->marks[first + i] = grouping->groups[i].mark;
    }
    batch->count = first + grouping->count;
    return 0;
}

/* Maximum number of groups for tuples of these origins. */
static size_t bound_of(const struct grouping *grouping,
                       const struct es_origins *origins)
{
    size_t groups = origins->count;

    if (grouping->by == ES_SUMMARY_BY_NONE)
        groups = 1;
    else if (grouping->by == ES_SUMMARY_BY_OPERATION)
        groups = esi_operation_count;
    else if (grouping->by == ES_SUMMARY_BY_SITE)
        return SIZE_MAX;
    return grouping->kind == ES_SUMMARY_HISTOGRAM ? groups * ES_SUMMARY_BUCKETS
                                                  : groups;
}

/* --- Reductions ------------------------------------------------------------------- */

enum { MOST_PICKED = 2 };   /* maximum number of tuples emitted by selecting */
enum { MOST_READ = 65536 }; /* tuples aggregated per pull, if few result from them */

struct reduce;

/* Processes the tuples from `first` on in place, and shortens the batch. */
typedef int (*reduction_fn)(const struct es_stage *stage,
                            struct reduce *reduce,
                            struct es_batch *batch,
                            size_t first);

struct reduce {
    struct esi_fan fan;
    reduction_fn reduction;
    bool sums;                 /* it creates summaries */
    bool wary;                 /* there may be more groups than its properties allow */
    bool one_clock;            /* all tuples are from elements of one process */
    struct esi_newest *newest; /* owned; NULL unless it picks the latest of elements */
    struct grouping grouping;  /* if it aggregates */
};

/* Returns whether the time `a` of one tuple is later than `b` of another.  Ticks of one
 * process are compared directly. */
static bool is_later(const struct es_stage *stage,
                     const struct reduce *reduce,
                     const struct es_batch *batch,
                     size_t one,
                     uint64_t a,
                     size_t other,
                     uint64_t b)
{
    const struct es_origin *origins = stage->context->origins->items;
    uint32_t first = batch->marks[one].origin;
    uint32_t second = batch->marks[other].origin;

    if (reduce->one_clock || first == second ||
        origins[first].clock == origins[second].clock)
        return a > b;
    return esi_realtime_ns(stage, first, a) > esi_realtime_ns(stage, second, b);
}

/* Keeps the tuples at these two indices, the first of them in front; `none` stands for
 * no tuple. */
static void reduce_leave(struct es_batch *batch,
                         size_t first,
                         size_t one,
                         size_t other,
                         size_t none)
{
    batch->count = first;
    /* The two may be in either order: the one in front is moved first. */
    if (one != none && other != none && other < one) {
        struct es_tuple tuple = batch->tuples[other];
        struct es_mark mark = batch->marks[other];

        es_batch_move(batch, batch->count++, one);
        batch->tuples[batch->count] = tuple;
        batch->marks[batch->count++] = mark;
        return;
    }
    if (one != none)
        es_batch_move(batch, batch->count++, one);
    if (other != none)
        es_batch_move(batch, batch->count++, other);
}

/* Selects the completed operation that stopped last (or first), and the one under way
 * that started last (or first), the completed one first.  Inline, so that each caller
 * has its own loop. */
__attribute__((always_inline)) static inline int reduce_pick(
    const struct es_stage *stage,
    struct reduce *reduce,
    struct es_batch *batch,
    size_t first,
    bool last)
{
    const struct es_tuple *tuples = batch->tuples;
    size_t none = batch->count;
    size_t picked[2] = {none, none}; /* completed, under way */

    for (size_t i = first; i < none; i++) {
        bool is_open = es_batch_is_open(batch, i);
        size_t *pick = &picked[is_open];
        uint64_t time = is_open ? tuples[i].start : tuples[i].stop;
        uint64_t other;

        if (*pick == none) {
            *pick = i;
            continue;
        }
        other = is_open ? tuples[*pick].start : tuples[*pick].stop;
        if (last ? is_later(stage, reduce, batch, i, time, *pick, other)
                 : is_later(stage, reduce, batch, *pick, other, i, time))
            *pick = i;
    }
    reduce_leave(batch, first, picked[0], picked[1], none);
    return 0;
}

static int reduce_latest(const struct es_stage *stage,
                         struct reduce *reduce,
                         struct es_batch *batch,
                         size_t first)
{
    return reduce_pick(stage, reduce, batch, first, true);
}

/* The one that has been waiting longest. */
static int reduce_earliest(const struct es_stage *stage,
                           struct reduce *reduce,
                           struct es_batch *batch,
                           size_t first)
{
    return reduce_pick(stage, reduce, batch, first, false);
}

static int reduce_sum(const struct es_stage *stage,
                      struct reduce *reduce,
                      struct es_batch *batch,
                      size_t first)
{
    return sum_up(&reduce->grouping, stage->context->origins, batch, first);
}

/* Rows correspond to the choices. */
static const struct {
    reduction_fn reduction;
    bool sums;
    enum es_summary_kind kind;
} reductions[] = {
    {reduce_latest, false, 0},
    {reduce_earliest, false, 0},
    {reduce_sum, true, ES_SUMMARY_COUNT},
    {reduce_sum, true, ES_SUMMARY_SUM},
    {reduce_sum, true, ES_SUMMARY_MINIMUM},
    {reduce_sum, true, ES_SUMMARY_MAXIMUM},
    {reduce_sum, true, ES_SUMMARY_MEAN},
    {reduce_sum, true, ES_SUMMARY_HISTOGRAM},
};
static const char *const reduction_names[] = {
    "latest",  "earliest", "count",     "sum", "minimum",
    "maximum", "mean",     "histogram", NULL,
};
_Static_assert(sizeof reduction_names / sizeof *reduction_names ==
                   sizeof reductions / sizeof *reductions + 1,
               "each reduction has a name");

/* --- The stage -------------------------------------------------------------------- */

enum { PROPERTY_TO, PROPERTY_OF, PROPERTY_BY, PROPERTY_MODE };
static const struct es_property_schema properties[] = {
    [PROPERTY_TO] = {.name = "to",
                     .type = ES_PROPERTY_CHOICE,
                     .fallback = "latest",
                     .choices = reduction_names,
                     .help = "the tuple that remains, or the kind of summary"},
    [PROPERTY_OF] = {.name = "of",
                     .type = ES_PROPERTY_CHOICE,
                     .fallback = "bytes",
                     .choices = esi_summary_fields,
                     .help = "summaries: what is summed up"},
    [PROPERTY_BY] = {.name = "by",
                     .type = ES_PROPERTY_CHOICE,
                     .fallback = "operation",
                     .choices = esi_summary_groups,
                     .help = "summaries: what the tuples of a group have in common"},
    [PROPERTY_MODE] = ESI_FAN_MODE,
};

/* Returns whether stages below, in this process, create summaries that this one only
 * passes on. */
static bool has_strange_summaries(const struct es_stage *stage,
                                  const struct reduce *reduce)
{
    for (size_t i = 0; i < stage->child_count; i++) {
        const struct es_stage *child = stage->children[i];
        const struct reduce *below = child->state;

        if (child->ops == &esi_stage_reduce && below->sums &&
            !takes_summaries(&reduce->grouping, &below->grouping))
            return true;
        if (has_strange_summaries(child, reduce))
            return true;
    }
    return false;
}

/* Returns whether the children are elements whose times can be compared directly;
 * determining this for each tuple would access memory for each. */
static bool has_one_clock(const struct es_stage *stage)
{
    const struct es_origins *origins = stage->context ? stage->context->origins : NULL;
    const struct es_clock *clock = NULL;

    for (size_t i = 0; i < stage->child_count; i++) {
        uint32_t origin = stage->children[i]->origin;

        if (!origins || origin >= origins->count ||
            (clock && clock != origins->items[origin].clock))
            return false;
        clock = origins->items[origin].clock;
    }
    return clock != NULL;
}

static int open_reduce(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct reduce *reduce = calloc(1, sizeof *reduce);
    size_t row = (size_t)values[PROPERTY_TO].integer;

    (void)error;
    if (!reduce)
        return -ENOMEM;
    reduce->fan.sequential = values[PROPERTY_MODE].integer != 0;
    reduce->reduction = reductions[row].reduction;
    reduce->sums = reductions[row].sums;
    reduce->grouping.kind = reductions[row].kind;
    reduce->grouping.of = (enum es_summary_field)values[PROPERTY_OF].integer;
    reduce->grouping.by = (enum es_summary_group)values[PROPERTY_BY].integer;
    reduce->wary = has_strange_summaries(stage, reduce);
    reduce->one_clock = has_one_clock(stage);
    if (reduce->reduction == reduce_latest && reduce->one_clock &&
        esi_newest_create(stage, &reduce->newest) < 0) {
        free(reduce);
        return -ENOMEM;
    }
    stage->state = reduce;
    return 0;
}

static void close_reduce(struct es_stage *stage)
{
    struct reduce *reduce = stage->state;

    fini_grouping(&reduce->grouping);
    free(reduce->newest);
    free(reduce);
}

/* The request to the children.  Selecting needs all of them, and emits little: there
 * must be room for a tuple of each, even if fewer may be emitted.  Aggregating emits at
 * most as many as it reads; if it must emit fewer, it may read more. */
static struct es_pull request_of(const struct es_stage *stage,
                                 const struct es_pull *pull)
{
    struct reduce *reduce = stage->state;
    struct es_pull part = *pull;
    size_t wanted = MOST_PICKED * stage->child_count;

    reduce->wary |= pull->careful;

    if (reduce->sums) {
        wanted = MOST_READ;
        if (reduce->wary ||
            part.max < bound_of(&reduce->grouping, stage->context->origins))
            return part;
    }
    if (part.max > 0 && part.max < wanted)
        part.max = wanted;
    return part;
}

static void ask_reduce(struct es_stage *stage, const struct es_pull *pull)
{
    struct reduce *reduce = stage->state;
    struct es_pull part = request_of(stage, pull);

    esi_fan_ask(stage, &reduce->fan, &part);
}

static int pull_reduce(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct reduce *reduce = stage->state;
    struct es_pull part = request_of(stage, pull);
    size_t first = batch->count;
    int result;

    if (reduce->newest && pull->max > 0 && !pull->measure) {
        result = esi_newest_pull(reduce->newest, stage, batch);
    } else {
        result = esi_fan_pull(stage, &reduce->fan, &part, batch);
        /* A single tuple needs no selection. */
        if (result == 0 && (reduce->sums || batch->count - first > 1))
            result = reduce->reduction(stage, reduce, batch, first);
    }
    if (result < 0 || batch->count - first <= pull->max)
        return result;
    /* Unknown codes, or summaries of other kinds from below: the tree fails, and the
     * next one is pulled carefully. */
    if (reduce->sums)
        return -EAGAIN;
    batch->count = first + pull->max;
    batch->more = true;
    return 0;
}

const struct es_stage_ops esi_stage_reduce = {
    .name = "reduce",
    .help = "reduces what all children emit",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .max_children = SIZE_MAX,
    .open = open_reduce,
    .pull = pull_reduce,
    .ask = ask_reduce,
    .untimed = true,
    .close = close_reduce,
};
