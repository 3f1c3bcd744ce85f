/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster.c - the cluster store: Ward and Taylor's cluster timestamps, corrected
 * (docs/order.md).  Stamps and queries.
 */
#include "config.h"

#include "monitors/order/cluster/cluster_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/cluster/strategy.h"
#include "monitors/order/raise.h"

/* === Stamps ======================================================================= */

enum { UNIT = 8 };

/* Returns 0 or -ENOMEM; stamps_fini() may be called in both cases. */
static int stamps_init(struct esi_stamps *stamps, unsigned levels)
{
    stamps->levels = levels;
    esi_segmented_init(&stamps->arena, UNIT, 10);
    esi_segmented_init(&stamps->traces, sizeof(struct esi_segmented), 4);
    /* Number 0 is not used for a stamp. */
    return esi_segmented_extend(&stamps->arena, 1, NULL) ? 0 : -ENOMEM;
}

static void stamps_fini(struct esi_stamps *stamps)
{
    for (uint64_t i = esi_segmented_count(&stamps->traces); i > 0; i--)
        esi_segmented_fini(esi_segmented_at(&stamps->traces, i - 1));
    esi_segmented_fini(&stamps->traces);
    esi_segmented_fini(&stamps->arena);
}

static int stamps_add_trace(struct esi_stamps *stamps)
{
    struct esi_segmented events;

    esi_segmented_init(&events, sizeof(uint32_t), 4);
    return esi_segmented_push(&stamps->traces, &events);
}

struct esi_cluster_stamp *esi_stamps_make(struct esi_stamps *stamps,
                                          uint32_t length,
                                          uint32_t *ret_number)
{
    uint64_t bytes = sizeof(struct esi_cluster_stamp) +
                     ((uint64_t)stamps->levels + length) * sizeof(uint32_t);
    uint64_t at;
    struct esi_cluster_stamp *stamp =
        esi_segmented_extend(&stamps->arena, (bytes + UNIT - 1) / UNIT, &at);

    if (!stamp || at > UINT32_MAX)
        return NULL;
    stamp->length = length & 0xfffffff;
    stamp->other = ESI_NO_TRACE;
    *ret_number = (uint32_t)at;
    return stamp;
}

int esi_stamps_reserve(struct esi_stamps *stamps, struct es_event_id id)
{
    struct esi_segmented *trace = esi_segmented_at(&stamps->traces, id.trace);

    if (esi_segmented_count(trace) >= id.index)
        return 0;
    return esi_segmented_extend(trace, 1, NULL) ? 0 : -ENOMEM;
}

void esi_stamps_set(struct esi_stamps *stamps, struct es_event_id id, uint32_t number)
{
    const struct esi_segmented *trace = esi_segmented_at(&stamps->traces, id.trace);

    *(uint32_t *)esi_segmented_at(trace, id.index - 1) = number;
}

uint32_t esi_stamps_now(const struct esi_stamps *stamps)
{
    return (uint32_t)esi_segmented_count(&stamps->arena);
}

/* Returns the number of bytes held. */
static uint64_t stamps_bytes(const struct esi_stamps *stamps)
{
    uint64_t traces = esi_segmented_count(&stamps->traces);
    uint64_t bytes =
        esi_segmented_bytes(&stamps->arena) + esi_segmented_bytes(&stamps->traces);

    for (uint64_t i = 0; i < traces; i++)
        bytes += esi_segmented_bytes(esi_segmented_at(&stamps->traces, i));
    return bytes;
}

/* === The greatest predecessor ===================================================== */

/*
 * Finds the greatest predecessor of an event on a trace from stored stamps alone.
 *
 * Inside the event's cluster, its vector contains the answer.  Otherwise, wherever a
 * causal path last enters the cluster, there is a receive whose stamp has a higher
 * level (cluster_writer.c ensures that).  So the answer is the greatest of the answers
 * for the latest such receives that the event knows, one on each member's trace.
 * Levels increase with each step, and the top level covers all traces (Ward & Taylor,
 * figure 6, with errata 17).
 *
 * Receives whose vectors do not cover the trace wait until all lower levels are done.
 * Then those of one cluster are processed together.  Of the events that they know on a
 * member's trace, only the latest matters, because its latest receive knows everything
 * that the others' know.  So a member is queried once for each cluster that it was in,
 * not once for each path that leads to it; and most events are not queried at all,
 * because another one knows them.
 *
 * Nothing is allocated.  If more receives wait than there is room for, they are
 * processed before further ones are added.
 */

enum { WAITING = 128, BATCH = 16 };

/* An event that was reached, and its stamp. */
struct reached {
    struct es_event_id id;
    uint32_t number;
};

struct stamp_search {
    const struct esi_cluster_store *store;
    uint32_t trace;
    uint32_t enough; /* the search may stop at this index */
    uint32_t found;
    struct waiting {
        uint32_t count;
        struct reached events[WAITING];
    } waiting[ES_ORDER_LEVELS]; /* by level; level 1 at index 0 */
};

static uint32_t precedes_locate(const struct stamp_search *search,
                                const struct esi_cluster_stamp *stamp)
{
    return esi_cluster_locate(search->store, stamp->level, stamp->cluster,
                              stamp->length, search->trace);
}

static void ask_level(struct stamp_search *search, unsigned level);

static void precedes_postpone(struct stamp_search *search,
                              const struct reached *event,
                              unsigned level)
{
    struct waiting *waiting = &search->waiting[level - 1];

    if (waiting->count == WAITING)
        ask_level(search, level);
    waiting->events[waiting->count++] = *event;
}

/* Raises the result to the greatest event on the trace that precedes a cluster receive
 * or is its other half.  Postpones the receive if its vector does not cover the
 * trace. */
static void precedes_reach(struct stamp_search *search, const struct reached *receive)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    const struct esi_cluster_stamp *stamp = esi_stamps_at(stamps, receive->number);
    uint32_t at = precedes_locate(search, stamp);
    uint32_t entry;

    if (at == ESI_NOWHERE) {
        if (stamp->level <= search->store->level_count)
            precedes_postpone(search, receive, stamp->level);
        return;
    }
    entry = esi_stamp_vector(stamps, stamp)[at];
    if (entry > 0 && search->trace != stamp->other)
        entry--;
    if (entry > search->found)
        search->found = entry;
}

/* --- Members ---------------------------------------------------------------------- */

/* Raises `entries` to those of the members from `begin` on in an event's vector.  The
 * entry of the event's own trace is adjusted to denote the event itself, as if the
 * vector belonged to another event. */
static void raise_entries(const struct stamp_search *search,
                          const struct reached *event,
                          const uint32_t *members,
                          uint32_t begin,
                          uint32_t *entries)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    const struct esi_cluster_stamp *stamp = esi_stamps_at(stamps, event->number);
    const uint32_t *vector = esi_stamp_vector(stamps, stamp);

    for (uint32_t i = begin; i < stamp->length && i < begin + BATCH; i++)
        esi_raise_entry(&entries[i - begin], members[i] == event->id.trace
                                                 ? event->id.index + 1
                                                 : vector[i]);
}

/* Finds the latest receives above a level before the events on members' traces that the
 * entries denote; returns their number.  Each step is done for all before the next, so
 * that cache misses overlap. */
static unsigned find_receives(const struct stamp_search *search,
                              unsigned level,
                              const uint32_t *members,
                              const uint32_t *entries,
                              struct reached *receives)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    unsigned count = 0;

    for (unsigned i = 0; i < BATCH; i++)
        if (entries[i] > 1)
            receives[count++].id =
                (struct es_event_id){.trace = members[i], .index = entries[i] - 1};
    for (unsigned i = 0; i < count; i++) {
        receives[i].number = esi_stamps_of(stamps, receives[i].id);
        __builtin_prefetch(esi_stamps_at(stamps, receives[i].number));
    }
    for (unsigned i = 0; i < count; i++) {
        const struct esi_cluster_stamp *receive;

        receives[i].number =
            esi_stamp_receive(esi_stamps_at(stamps, receives[i].number), level);
        receive = esi_stamps_at(stamps, receives[i].number);
        __builtin_prefetch(receive);
        __builtin_prefetch(&esi_stamp_vector(stamps, receive)[search->trace]);
    }
    return count;
}

/* Returns whether an event knows an earlier one of its cluster, and therefore
 * everything that the earlier one knows. */
static bool precedes_knows(const struct stamp_search *search,
                           unsigned level,
                           const struct reached *event,
                           const struct reached *earlier)
{
    const struct esi_cluster_store *store = search->store;
    const struct esi_cluster_stamp *stamp =
        esi_stamps_at(&store->stamps, event->number);
    uint32_t trace = earlier->id.trace;
    uint32_t at;

    if (trace == event->id.trace)
        return event->id.index >= earlier->id.index;
    at = esi_levels_locate(&store->levels, level, stamp->cluster, stamp->length, trace);
    return at != ESI_NOWHERE &&
           esi_stamp_vector(&store->stamps, stamp)[at] > earlier->id.index;
}

/* Removes events of a cluster that a later one knows; returns how many remain. */
static uint32_t keep_latest(const struct stamp_search *search,
                            unsigned level,
                            struct reached *events,
                            uint32_t count)
{
    for (uint32_t kept = 0; kept < count; kept++) {
        uint32_t latest = kept;
        struct reached event;

        for (uint32_t i = kept + 1; i < count; i++)
            if (events[i].number > events[latest].number)
                latest = i;
        event = events[latest];
        events[latest] = events[kept];
        events[kept] = event;
        for (uint32_t i = kept + 1; i < count;)
            if (precedes_knows(search, level, &event, &events[i]))
                events[i] = events[--count];
            else
                i++;
    }
    return count;
}

/* Queries the members known to the given events of one cluster; `length` is the
 * greatest number of members that one of them knew. */
static void ask_members(struct stamp_search *search,
                        unsigned level,
                        const struct reached *events,
                        uint32_t count,
                        uint32_t length)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    const uint32_t *members =
        esi_levels_members(&search->store->levels, level,
                           esi_stamps_at(stamps, events[0].number)->cluster);

    for (uint32_t begin = 0; begin < length && search->found < search->enough;
         begin += BATCH) {
        uint32_t entries[BATCH] = {0};
        struct reached receives[BATCH];
        unsigned receive_count;

        for (uint32_t i = 0; i < count; i++)
            raise_entries(search, &events[i], members, begin, entries);
        receive_count =
            find_receives(search, level, &members[begin], entries, receives);
        for (unsigned i = 0; i < receive_count && search->found < search->enough; i++)
            if (receives[i].number != ESI_NO_STAMP) {
                receives[i].id.index = esi_stamps_at(stamps, receives[i].number)->index;
                precedes_reach(search, &receives[i]);
            }
    }
}

/* --- Levels ----------------------------------------------------------------------- */

/* Moves those in the cluster of the last one to the end; returns their number. */
static uint32_t gather_cluster(const struct stamp_search *search,
                               struct waiting *waiting,
                               uint32_t *ret_length)
{
    const struct esi_stamps *stamps = &search->store->stamps;
    uint32_t first = waiting->count - 1;
    const struct esi_cluster_stamp *last =
        esi_stamps_at(stamps, waiting->events[first].number);
    uint32_t cluster = last->cluster;

    *ret_length = last->length;
    for (uint32_t i = first; i-- > 0;) {
        struct reached event = waiting->events[i];
        const struct esi_cluster_stamp *stamp = esi_stamps_at(stamps, event.number);

        if (stamp->cluster != cluster)
            continue;
        esi_raise_entry(ret_length, stamp->length);
        waiting->events[i] = waiting->events[--first];
        waiting->events[first] = event;
    }
    return waiting->count - first;
}

/* Processes all that wait on a level.  What they lead to has higher levels. */
static void ask_level(struct stamp_search *search, unsigned level)
{
    struct waiting *waiting = &search->waiting[level - 1];

    while (waiting->count > 0 && search->found < search->enough) {
        uint32_t length;
        uint32_t count = gather_cluster(search, waiting, &length);
        struct reached *events = &waiting->events[waiting->count - count];

        waiting->count -= count;
        count = keep_latest(search, level, events, count);
        ask_members(search, level, events, count, length);
    }
    waiting->count = 0;
}

/* Returns the greatest predecessor on a trace, or one that is at least `enough`; 0:
 * none. */
static uint32_t search_before(const struct esi_cluster_store *store,
                              struct es_event_id id,
                              uint32_t trace,
                              uint32_t enough)
{
    struct reached event = {.id = id, .number = esi_stamps_of(&store->stamps, id)};
    const struct esi_cluster_stamp *stamp = esi_stamps_at(&store->stamps, event.number);
    struct stamp_search search;
    uint32_t at;

    search.store = store;
    search.trace = trace;
    search.enough = enough;
    search.found = 0;
    at = precedes_locate(&search, stamp);
    if (at != ESI_NOWHERE) {
        uint32_t entry = esi_stamp_vector(&store->stamps, stamp)[at];

        return entry > 0 ? entry - 1 : 0;
    }
    if (stamp->level > store->level_count)
        return 0;
    for (unsigned k = stamp->level; k <= store->level_count; k++)
        search.waiting[k - 1].count = 0;
    precedes_postpone(&search, &event, stamp->level);
    for (unsigned k = stamp->level; k <= store->level_count; k++)
        ask_level(&search, k);
    return search.found;
}

static int cluster_precedes(const void *store,
                            struct es_event_id a,
                            struct es_event_id b)
{
    return search_before(store, b, a.trace, a.index) >= a.index;
}

static int64_t cluster_greatest_predecessor(const void *store,
                                            struct es_event_id event,
                                            uint32_t trace)
{
    return search_before(store, event, trace, UINT32_MAX);
}

/* === The store ==================================================================== */

/* --- Creation and destruction ---------------------------------------------------- */

static int check_levels(const struct esi_cluster_tuning *tuning, struct es_error *error)
{
    if (tuning->levels < 1 || tuning->levels > ES_ORDER_LEVELS)
        return es_error_set(error, -EINVAL, "%u levels of clusters; expected 1 to %d",
                            tuning->levels, ES_ORDER_LEVELS);
    for (unsigned i = 0; i < tuning->levels; i++) {
        uint32_t size = tuning->max_sizes[i];

        if (size < 1)
            return es_error_set(error, -EINVAL,
                                "clusters of level %u have a maximum size of 0; "
                                "expected at least 1",
                                i + 1);
        if (i > 0 && size < tuning->max_sizes[i - 1])
            return es_error_set(error, -EINVAL,
                                "clusters of level %u are smaller (%u) than those of "
                                "level %u (%u) that they consist of",
                                i + 1, size, i, tuning->max_sizes[i - 1]);
    }
    return 0;
}

struct seed {
    uint32_t seed;
    uint32_t trace;
};

static int compare_seeds(const void *left, const void *right)
{
    const struct seed *a = left;
    const struct seed *b = right;

    if (a->seed != b->seed)
        return a->seed < b->seed ? -1 : 1;
    return (a->trace > b->trace) - (a->trace < b->trace);
}

static int cluster_sow(struct esi_cluster_store *store,
                       const struct esi_cluster_tuning *tuning)
{
    size_t count = tuning->seeds ? tuning->seed_count : 0;
    struct seed *seeds;

    if (!store->strategy->takes_seeds || count == 0)
        return 0;
    seeds = malloc(count * sizeof *seeds);
    store->sown = malloc(count * sizeof *store->sown);
    if (!seeds || !store->sown) {
        free(seeds);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        seeds[i] = (struct seed){.seed = tuning->seeds[i], .trace = (uint32_t)i};
    qsort(seeds, count, sizeof *seeds, compare_seeds);
    for (size_t i = 0; i < count; i++)
        store->sown[seeds[i].trace] = i > 0 && seeds[i - 1].seed == seeds[i].seed
                                          ? seeds[i - 1].trace
                                          : ESI_NO_TRACE;
    store->sown_count = count;
    free(seeds);
    return 0;
}

static void cluster_fini(void *data)
{
    struct esi_cluster_store *store = data;

    if (store->clustering && store->strategy->fini)
        store->strategy->fini(store->clustering);
    free(store->clustering);
    esi_gather_fini(&store->gather);
    stamps_fini(&store->stamps);
    esi_levels_fini(&store->levels);
    free(store->sown);
}

static int cluster_init(void *data,
                        const struct esi_order_config *config,
                        struct es_error *error)
{
    const struct esi_cluster_tuning *tuning = config->tuning;
    struct esi_cluster_store *store = data;
    const struct esi_clustering_ops *strategy;
    int code = check_levels(tuning, error);

    if (code < 0)
        return code;
    strategy = esi_strategy_find(tuning->strategy, error);
    if (!strategy)
        return -EINVAL;
    store->strategy = strategy;
    store->level_count = tuning->levels;
    memcpy(store->max_sizes, tuning->max_sizes, sizeof store->max_sizes);
    esi_levels_init(&store->levels, tuning->levels, tuning->max_sizes);
    code = stamps_init(&store->stamps, tuning->levels);
    if (code >= 0)
        code = cluster_sow(store, tuning);
    store->clustering = code >= 0 ? calloc(1, strategy->state_bytes) : NULL;
    if (!store->clustering)
        return -ENOMEM;
    return strategy->init ? strategy->init(store->clustering, tuning, error) : 0;
}

/* Puts a trace into the cluster of the previous trace with its seed, on the levels on
 * which it fits. */
static int cluster_plant(struct esi_cluster_store *store, uint32_t trace)
{
    uint32_t other = trace < store->sown_count ? store->sown[trace] : ESI_NO_TRACE;

    for (unsigned k = 1; other != ESI_NO_TRACE && k <= store->level_count; k++)
        if (esi_levels_can_merge(&store->levels, k, other, trace))
            return esi_levels_merge(&store->levels, k, other, trace);
    return 0;
}

void esi_cluster_note_bytes(struct esi_cluster_store *store)
{
    uint64_t bytes = sizeof *store + store->sown_count * sizeof *store->sown +
                     esi_gather_bytes(&store->gather, store->level_count) +
                     store->strategy->state_bytes;

    if (store->strategy->bytes)
        bytes += store->strategy->bytes(store->clustering);
    atomic_store_explicit(&store->writer_bytes, bytes, memory_order_relaxed);
}

static int cluster_add_trace(void *data)
{
    struct esi_cluster_store *store = data;
    uint32_t trace = store->trace_count;
    int code;

    if (esi_gather_reserve(&store->gather, trace + 1, store->level_count) < 0 ||
        (esi_segmented_count(&store->stamps.traces) == trace &&
         stamps_add_trace(&store->stamps) < 0) ||
        esi_levels_add_trace(&store->levels) < 0)
        return -ENOMEM;
    code = cluster_plant(store, trace);
    if (code >= 0 && store->strategy->add_trace)
        code = store->strategy->add_trace(store->clustering, &store->levels, trace);
    if (code < 0)
        return code;
    store->trace_count++;
    esi_cluster_note_bytes(store);
    return 0;
}

/* --- Statistics ------------------------------------------------------------------ */

static uint64_t get_relaxed(const _Atomic uint64_t *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

/* Returns the number of entries if each vector is as long as its level's largest
 * cluster. */
static uint64_t fixed_elements(const struct esi_cluster_store *store,
                               const struct esi_cluster_sums *sums,
                               uint64_t vector_elements)
{
    uint64_t top = get_relaxed(&sums->events[store->level_count]);
    uint64_t elements = top * vector_elements;

    for (unsigned i = 0; i < store->level_count; i++)
        elements += get_relaxed(&sums->events[i]) * store->max_sizes[i];
    return elements;
}

static void cluster_statistics(const void *data,
                               struct esi_order_statistics *statistics)
{
    const struct esi_cluster_store *store = data;
    uint64_t vector = statistics->vector_elements;
    uint64_t receives = 0;

    memcpy(statistics->max_sizes, store->max_sizes, sizeof store->max_sizes);
    for (unsigned k = store->level_count; k >= 1; k--) {
        receives += get_relaxed(&store->sums.events[k]);
        statistics->cluster_receives[k - 1] = receives;
        statistics->clusters[k - 1] = get_relaxed(&store->levels.level[k - 1].count);
    }
    statistics->actual_elements = get_relaxed(&store->sums.elements);
    statistics->fixed_elements = fixed_elements(store, &store->sums, vector);
    statistics->communication_actual_elements =
        get_relaxed(&store->communication_sums.elements);
    statistics->communication_fixed_elements =
        fixed_elements(store, &store->communication_sums, vector);
    statistics->stored_bytes =
        stamps_bytes(&store->stamps) + esi_levels_bytes(&store->levels);
    statistics->writer_bytes += get_relaxed(&store->writer_bytes);
}

const struct esi_cluster_tuning esi_cluster_defaults = {.strategy = "merge-nth",
                                                        .levels = 1,
                                                        .max_sizes = {13},
                                                        .threshold = 10.0};

const struct esi_store_ops esi_store_cluster = {
    .name = "cluster",
    .defaults = &esi_cluster_defaults,
    .store_bytes = sizeof(struct esi_cluster_store),
    .init = cluster_init,
    .fini = cluster_fini,
    .add_trace = cluster_add_trace,
    .append = esi_cluster_append,
    .append_sync = esi_cluster_append_sync,
    .precedes = cluster_precedes,
    .greatest_predecessor = cluster_greatest_predecessor,
    .statistics = cluster_statistics,
};
