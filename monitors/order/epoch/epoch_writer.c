/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_writer.c - appends events: passes cuts and merges what partners knew.
 *
 * Each event is first prepared, which may fail because there is no memory, and then
 * appended, which cannot fail.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/order/epoch/epoch_private.h"

/* A full log is packed if it has at least the given number of entries and a given
 * number per known trace; otherwise it grows.  Logs of traces with hubs are packed
 * before they are full: most queries are about traces that only the hubs know, and read
 * all of the open log before the hubs. */
enum {
    FEWEST_ENTRIES = 768,
    FEWEST_WITH_HUBS = 128,
    SMALLEST_FULL = 7,
    LEAST_SHARE = 3,
    GREATEST_SHARE = 7,
    MANY_PARTS = 16
};

/* A log is read if it has at most 1/READING_SHARE of a vector's entries.  A vector is
 * copied if 1/COPYING_SHARE of its entries or more are about to be learnt. */
enum { READING_SHARE = 5, COPYING_SHARE = 16 };

/* A hub is adopted if this saves copying more than this number of entries. */
enum { FEWEST_ADOPTED = 16 };

/* --- Passing a cut ---------------------------------------------------------------- */

/* What a partner knows that is new. */
struct news {
    struct es_event_id partner;
    bool is_known;    /* nothing is new */
    uint32_t cut;     /* last cut that the partner has passed */
    uint32_t known;   /* greatest known index of the partner's trace */
    uint64_t entries; /* entries of its log since then */
};

/* A trace on its way to a cut, which may be its present cut. */
struct passage {
    struct esi_epoch_trace *trace;
    uint32_t number; /* number of the trace */
    uint32_t cut;
    const unsigned char *block; /* of its log so far */
    uint32_t kept;              /* number of entries that the cut does not know */
    bool is_aside; /* the log has no room for everything that may be learnt */
    _Atomic uint64_t *learnt; /* destination of entries: the end of the log, or
                                 `aside` */
    uint32_t learnt_count;
    struct news news; /* the last result of news_of(); event 0 if none */
};

static bool is_passing(const struct passage *passage)
{
    return passage->cut != esi_trace_cut(passage->trace);
}

static int reserve_scratch(struct esi_epoch_store *store, size_t entries)
{
    int code;

    if (entries <= store->scratch_room)
        return 0;
    code = ESI_ARRAY_RESERVE(store->scratch, store->scratch_room, entries);
    esi_epoch_note_room(store);
    return code;
}

static int reserve_aside(struct esi_epoch_store *store, size_t entries)
{
    int code;

    if (entries <= store->aside_room)
        return 0;
    code = ESI_ARRAY_RESERVE(store->aside, store->aside_room, entries);
    esi_epoch_note_room(store);
    return code;
}

/* Collects the entries of the trace's table beyond the cut in `entries`, which has
 * room. */
static uint32_t collect_passages(const struct esi_epoch_store *store,
                                 const struct passage *passage,
                                 uint64_t *entries)
{
    const struct esi_epoch_table *known = &passage->trace->known;
    uint32_t place = 0, trace, value, count = 0;

    while (known->known > 0 && esi_table_next(known, &place, &trace, &value))
        if (value > esi_cut_base(&store->cuts, passage->cut, trace))
            entries[count++] = (uint64_t)trace << 32 | value;
    return count;
}

/* Prepares a trace that passes a cut: its log and its table will be empty. */
static int prepare_passing(struct esi_epoch_store *store, struct passage *passage)
{
    struct esi_epoch_trace *trace = passage->trace;
    int code = reserve_scratch(store, trace->known.known);

    if (code < 0)
        return code;
    passage->kept = collect_passages(store, passage, store->scratch);
    return esi_trace_prepare(trace, &store->cuts, &store->blocks, &passage->block);
}

/* Makes room for `entries` entries in the log, or aside: the number of entries that may
 * be learnt can be far greater than the actual number. */
static int prepare_log(struct esi_epoch_store *store,
                       struct passage *passage,
                       uint64_t entries,
                       uint64_t heads,
                       bool may_be_aside)
{
    struct esi_log *log = &passage->trace->log;
    uint32_t room = esi_log_room(&log->entries);

    passage->is_aside = may_be_aside && log->entry_count + entries > room;
    store->has_grown =
        store->has_grown || (!may_be_aside && log->entry_count + entries > room);
    if (!passage->is_aside)
        return esi_log_reserve(log, &store->logs, &passage->trace->turn, heads,
                               entries);
    if (reserve_aside(store, entries) < 0)
        return -ENOMEM;
    return esi_log_reserve(log, &store->logs, &passage->trace->turn, heads, 0);
}

/* Prepares a trace to learn up to `more` entries, at the given number of heads. */
static int prepare_trace(struct esi_epoch_store *store,
                         struct passage *passage,
                         uint64_t more,
                         uint64_t heads)
{
    struct esi_epoch_trace *trace = passage->trace;
    uint64_t table_bytes = esi_table_bytes(&trace->known), present = more, known = more;
    int code = 0;

    if (is_passing(passage)) {
        code = prepare_passing(store, passage);
        more += passage->kept;
        present = more > trace->log.entry_count ? more - trace->log.entry_count : 0;
        known = more > trace->known.known ? more - trace->known.known : 0;
    }
    if (code >= 0)
        code = prepare_log(store, passage, present, heads,
                           !is_passing(passage) && heads == 1);
    if (code >= 0)
        code = esi_table_reserve(&trace->known, known, store->trace_count);
    esi_store_add(&store->table_bytes, esi_table_bytes(&trace->known) - table_bytes);
    store->has_grown = store->has_grown || esi_table_bytes(&trace->known) > table_bytes;
    return code;
}

/* Begins learning on a prepared trace. */
static void begin_learning(const struct esi_epoch_store *store, struct passage *passage)
{
    passage->learnt =
        passage->is_aside ? store->aside : esi_log_next(&passage->trace->log);
    passage->learnt_count = 0;
}

static inline void push_passage(struct passage *passage, uint64_t entry)
{
    /* A late reader that sees the entry also sees that the log was changed before. */
    atomic_store_explicit(&passage->learnt[passage->learnt_count++], entry,
                          memory_order_release);
}

/* Passes the cut on a prepared trace; what the cut does not know is learnt again. */
static void pass_log(struct esi_epoch_store *store, struct passage *passage)
{
    struct esi_epoch_trace *trace = passage->trace;
    uint32_t kept;

    if (!is_passing(passage)) {
        begin_learning(store, passage);
        return;
    }
    kept = collect_passages(store, passage, store->scratch);
    esi_trace_seal(trace, passage->block, passage->cut);
    esi_table_clear(&trace->known);
    begin_learning(store, passage);
    for (uint32_t i = 0; i < kept; i++) {
        uint64_t entry = store->scratch[i];

        esi_table_raise(&trace->known, (uint32_t)(entry >> 32), (uint32_t)entry);
        push_passage(passage, entry);
    }
}

/* Frees memory of the table, which may be far too large for epochs like the last one,
 * in which `used` traces were known. */
static void trim_log(struct esi_epoch_store *store,
                     const struct passage *passage,
                     uint32_t used)
{
    struct esi_epoch_table *known = &passage->trace->known;
    uint64_t table_bytes = esi_table_bytes(known);

    esi_table_trim(known, used, store->trace_count);
    esi_store_add(&store->table_bytes, esi_table_bytes(known) - table_bytes);
}

/* --- Learning --------------------------------------------------------------------- */

static inline void learn_of(const struct esi_epoch_store *store,
                            struct passage *passage,
                            uint64_t entry)
{
    uint32_t trace = (uint32_t)(entry >> 32), value = (uint32_t)entry;

    if (trace == passage->number ||
        value <= esi_cut_base(&store->cuts, passage->cut, trace))
        return;
    if (value > esi_table_get(&passage->trace->known, trace) &&
        value > esi_hubs_know(store, passage->trace, trace) &&
        esi_table_raise(&passage->trace->known, trace, value))
        push_passage(passage, entry);
}

/* Does the same for an open log of the same epoch; most of the time is spent here. */
static void learn_log(struct passage *passage, const struct esi_epoch_span *span)
{
    struct esi_epoch_table *known = &passage->trace->known;
    const _Atomic uint64_t *entries = esi_log_words(&span->log->entries);
    _Atomic uint64_t *learnt = passage->learnt;
    uint32_t count = passage->learnt_count;

    for (uint32_t at = span->to; at > span->from; at--) {
        uint64_t entry = atomic_load_explicit(&entries[at], memory_order_relaxed);
        uint32_t of = (uint32_t)(entry >> 32), value = (uint32_t)entry;

        /* As in push_passage(). */
        if (of != passage->number && esi_table_raise(known, of, value))
            atomic_store_explicit(&learnt[count++], entry, memory_order_release);
    }
    passage->learnt_count = count;
}

/* Does the same if the table is a vector.  Whether an entry is new is unpredictable, so
 * there is no branch for it: each entry is written at the end, and kept or
 * overwritten. */
static void learn_log_dense(struct passage *passage, const struct esi_epoch_span *span)
{
    struct esi_epoch_table *table = &passage->trace->known;
    uint32_t *known = table->dense, count = passage->learnt_count, fresh = 0;
    const _Atomic uint64_t *entries = esi_log_words(&span->log->entries);
    _Atomic uint64_t *learnt = passage->learnt;

    known[passage->number] = UINT32_MAX; /* nothing to learn about itself */
    for (uint32_t at = span->to; at > span->from; at--) {
        uint64_t entry = atomic_load_explicit(&entries[at], memory_order_relaxed);
        uint32_t of = (uint32_t)(entry >> 32), value = (uint32_t)entry;
        uint32_t present = known[of];
        bool is_new = value > present;

        atomic_store_explicit(&learnt[count], entry, memory_order_release);
        known[of] = is_new ? value : present;
        fresh += present == 0;
        count += is_new;
    }
    known[passage->number] = 0;
    table->known += fresh;
    passage->learnt_count = count;
}

enum { NEWS_LINE = 16 }; /* in vector entries */

/* Prefetches the vector of a sender, if there is one, for a comparison. */
static void fetch_vector(const struct esi_epoch_table *known, uint32_t own)
{
    const uint32_t *vector = esi_table_at(known, own);

    for (uint32_t i = 0; vector && i < known->room; i += NEWS_LINE)
        __builtin_prefetch(&vector[i]);
}

/* Learns what a whole vector contains beyond what is known. */
static void learn_vector(struct passage *passage,
                         const uint32_t *vector,
                         uint32_t entries)
{
    struct esi_epoch_table *table = &passage->trace->known;
    uint32_t *known = table->dense, count = passage->learnt_count, fresh = 0, i = 0;
    _Atomic uint64_t *learnt = passage->learnt;

    known[passage->number] = UINT32_MAX; /* nothing to learn about itself */
    for (; i + ESI_NEWS_BLOCK <= entries; i += ESI_NEWS_BLOCK)
        for (uint64_t news = esi_table_news(&vector[i], &known[i]); news;
             news &= news - 1) {
            uint32_t of = i + (uint32_t)__builtin_ctzll(news), value = vector[of];

            fresh += known[of] == 0;
            known[of] = value;
            /* As in push_passage(). */
            atomic_store_explicit(&learnt[count++], (uint64_t)of << 32 | value,
                                  memory_order_release);
        }
    table->known += fresh;
    passage->learnt_count = count;
    for (; i < entries; i++)
        if (esi_table_raise(table, i, vector[i]))
            push_passage(passage, (uint64_t)i << 32 | vector[i]);
    known[passage->number] = 0;
}

/* Returns whether a trace may know more than its table contains. */
static bool has_hubs(const struct esi_epoch_trace *trace)
{
    return atomic_load_explicit(&trace->hubs[0], memory_order_relaxed) != 0;
}

/* Returns the cut that a trace had passed at an event. */
static uint32_t cut_at(const struct esi_epoch_trace *trace, uint32_t index)
{
    struct esi_run_place at;

    if (index > esi_trace_sealed(trace))
        return esi_trace_cut(trace);
    /* The cut of a forgotten event is not known. */
    if (index <= esi_trace_forgotten(trace))
        return 0;
    at = esi_trace_segment(trace, index);
    return esi_run_segment(&at)->cut;
}

/* Returns the news of a partner, cached from the last call if possible. */
static const struct news *news_of(const struct esi_epoch_store *store,
                                  struct passage *passage,
                                  struct es_event_id partner)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, partner.trace);
    struct news *news = &passage->news;
    struct esi_epoch_source source;

    if (news->partner.trace == partner.trace && news->partner.index == partner.index)
        return news;
    *news = (struct news){.partner = partner};
    news->known = esi_epoch_knows(store, passage->trace, passage->cut, partner.trace);
    news->is_known = partner.trace == passage->number || news->known >= partner.index;
    if (news->is_known)
        return news;
    news->cut = cut_at(trace, partner.index);
    esi_source_init(&source, &store->cuts, trace, news->known, partner.index);
    news->entries = esi_source_entries(source);
    return news;
}

/* Returns whether so many entries of a sender's log are new that comparing vectors is
 * an alternative. */
static bool is_long(const struct esi_epoch_table *known, uint64_t entries)
{
    return known->dense && entries * READING_SHARE >= known->room;
}

/* Returns what the partner knew as a vector if comparing it to the receiver's is faster
 * than reading the log; else NULL. */
static const uint32_t *vector_of(const struct esi_epoch_trace *trace,
                                 const struct passage *passage,
                                 const struct news *news)
{
    const struct esi_epoch_table *known = &passage->trace->known;

    if (!is_long(&trace->known, news->entries) || !known->dense ||
        has_hubs(passage->trace) || known->room < trace->known.room ||
        esi_trace_cut(trace) != passage->cut || news->cut != passage->cut)
        return NULL;
    return esi_table_at(&trace->known, news->partner.index);
}

/* Learns everything in the log of `partner`, and the partner itself. */
static void merge_log(const struct esi_epoch_store *store,
                      struct passage *passage,
                      struct es_event_id partner)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, partner.trace);
    const struct news *news = news_of(store, passage, partner);
    bool is_same_cut = news->cut == passage->cut && !has_hubs(passage->trace);
    struct esi_epoch_source source;
    struct esi_epoch_span span;
    const uint32_t *vector;

    if (news->is_known)
        return;
    esi_source_init(&source, &store->cuts, trace, news->known, partner.index);
    vector = vector_of(trace, passage, news);
    if (vector)
        learn_vector(passage, vector, trace->known.room);
    while (!vector && esi_source_next(&source, &span)) {
        if (is_same_cut && span.log && passage->trace->known.dense)
            learn_log_dense(passage, &span);
        else if (is_same_cut && span.log)
            learn_log(passage, &span);
        else
            while (span.from < span.to)
                learn_of(store, passage, esi_span_take(&span));
    }
    learn_of(store, passage, (uint64_t)partner.trace << 32 | partner.index);
}

/* Learns what those hubs of `partner` knew that the trace has not adopted.  For an
 * adopted hub, the entry for the hub is sufficient. */
static void merge_hubs(const struct esi_epoch_store *store,
                       struct passage *passage,
                       struct es_event_id partner)
{
    bool has_some = has_hubs(esi_epoch_trace_at(store, partner.trace));

    for (unsigned i = 0; has_some && i < ESI_HUBS; i++) {
        struct es_event_id hub = esi_hub_at(store, partner, i);

        if (hub.index > 0 && !esi_hub_is_adopted(passage->trace, hub.trace))
            merge_log(store, passage, hub);
    }
}

/* Learns everything that `partner` knew, and the partner itself. */
static void merge_logs(const struct esi_epoch_store *store,
                       struct passage *passage,
                       struct es_event_id partner)
{
    if (esi_hub_is_adopted(passage->trace, partner.trace)) {
        learn_of(store, passage, (uint64_t)partner.trace << 32 | partner.index);
        return;
    }
    merge_hubs(store, passage, partner);
    merge_log(store, passage, partner);
}

/* Returns an upper bound of the entries that will be learnt from a log: one per trace,
 * the newest.  A vector may contain some that the log has only in its forgotten
 * part. */
static uint64_t most_of_log(const struct esi_epoch_store *store,
                            struct passage *passage,
                            struct es_event_id partner)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, partner.trace);
    const struct news *news = news_of(store, passage, partner);

    if (news->is_known)
        return 0;
    if (is_long(&trace->known, news->entries))
        fetch_vector(&trace->known, partner.index);
    else if (news->entries < store->trace_count)
        return news->entries + 1;
    return store->trace_count + UINT64_C(1);
}

/* Returns the same bound for hubs that the trace has not adopted. */
static uint64_t most_of_hubs(const struct esi_epoch_store *store,
                             struct passage *passage,
                             struct es_event_id partner)
{
    bool has_some = has_hubs(esi_epoch_trace_at(store, partner.trace));
    uint64_t entries = 0;

    for (unsigned i = 0; has_some && i < ESI_HUBS; i++) {
        struct es_event_id hub = esi_hub_at(store, partner, i);

        if (hub.index > 0 && !esi_hub_is_adopted(passage->trace, hub.trace))
            entries += most_of_log(store, passage, hub);
    }
    return entries;
}

/* Returns the same bound for everything that a partner knew. */
static uint64_t most_entries(const struct esi_epoch_store *store,
                             struct passage *passage,
                             struct es_event_id partner)
{
    uint64_t entries;

    if (esi_hub_is_adopted(passage->trace, partner.trace))
        return esi_epoch_knows(store, passage->trace, passage->cut, partner.trace) <
               partner.index;
    entries = most_of_log(store, passage, partner);
    return entries ? entries + most_of_hubs(store, passage, partner) : 0;
}

/* Adopts a partner's trace if that saves entries. */
static void adopt_log(const struct esi_epoch_store *store,
                      struct passage *passage,
                      struct es_event_id partner)
{
    uint32_t fewest = store->seal_entries ? 1 : FEWEST_ADOPTED;

    if (passage->trace->is_hub || !esi_epoch_trace_at(store, partner.trace)->is_hub ||
        partner.trace == passage->number ||
        esi_hub_is_adopted(passage->trace, partner.trace))
        return;
    if (most_of_log(store, passage, partner) > fewest)
        esi_hub_adopt(passage->trace, partner.trace);
}

/* --- Events ----------------------------------------------------------------------- */

/* Adds an event to the counts of its trace. */
static void count_event(struct esi_epoch_store *store, struct es_event_id id)
{
    struct esi_epoch_trace *trace = esi_epoch_trace_at(store, id.trace);

    trace->count = id.index;
    store->dense_bytes += (uint64_t)store->trace_count * sizeof(uint32_t);
    if (trace->is_live)
        return;
    trace->is_live = true;
    store->live[store->live_count++] = id.trace;
}

/* Keeps only the newest entry for each trace; several partners may have contributed
 * entries for the same trace. */
static void drop_outdated(struct passage *passage)
{
    uint32_t count = passage->learnt_count;

    passage->learnt_count = 0;
    for (uint32_t at = 0; at < count; at++) {
        uint64_t entry =
            atomic_load_explicit(&passage->learnt[at], memory_order_relaxed);

        if ((uint32_t)entry ==
            esi_table_get(&passage->trace->known, (uint32_t)(entry >> 32)))
            push_passage(passage, entry);
    }
}

/* Returns the number of entries from which on a log is packed.  Large parts use fewer
 * bytes per entry than small ones, but an open log uses many.  It may be large if many
 * parts are already packed other than as a continuation. */
static uint64_t long_log(const struct esi_epoch_store *store,
                         const struct esi_epoch_trace *trace)
{
    uint32_t share = trace->part_count < MANY_PARTS ? LEAST_SHARE : GREATEST_SHARE;
    uint64_t entries = (uint64_t)trace->known.known * share;
    uint32_t fewest = has_hubs(trace) ? FEWEST_WITH_HUBS : FEWEST_ENTRIES;

    if (store->seal_entries)
        return store->seal_entries;
    return entries > fewest ? entries : fewest;
}

/* Returns whether a log is packed although it is not full.  Every array has room for
 * SMALLEST_FULL entries. */
static bool is_packed_early(const struct esi_epoch_store *store,
                            const struct esi_epoch_trace *trace)
{
    return has_hubs(trace) || long_log(store, trace) < SMALLEST_FULL;
}

/* Packs a long log if there is memory for that. */
static void seal_long(struct esi_epoch_store *store, uint32_t number)
{
    struct esi_epoch_trace *trace = esi_epoch_trace_at(store, number);

    if (trace->log.entry_count < long_log(store, trace))
        return;
    esi_epoch_refer(store, number);
    (void)esi_trace_seal_part(trace, &store->cuts, store->trace_count, &store->sorting,
                              &store->blocks);
    esi_epoch_note_room(store);
}

/* Moves what was learnt aside to the log.  Returns 0, or -ENOMEM, which leaves what the
 * trace knows unchanged. */
static int move_to_log(struct esi_epoch_store *store, struct passage *passage)
{
    struct esi_epoch_trace *trace = passage->trace;
    uint32_t room = esi_log_room(&trace->log.entries);
    _Atomic uint64_t *next;
    int code;

    if (trace->log.entry_count + passage->learnt_count > room) {
        seal_long(store, passage->number);
        esi_log_fit(&trace->log, &store->logs, &trace->turn);
    }
    code = esi_log_reserve(&trace->log, &store->logs, &trace->turn, 1,
                           passage->learnt_count);
    if (code < 0) {
        esi_table_clear(&trace->known);
        esi_epoch_recall(store, trace);
        return code;
    }
    store->has_grown = store->has_grown || esi_log_room(&trace->log.entries) > room;
    next = esi_log_next(&trace->log);
    for (uint32_t i = 0; i < passage->learnt_count; i++)
        atomic_store_explicit(
            &next[i], atomic_load_explicit(&store->aside[i], memory_order_relaxed),
            memory_order_release);
    return 0;
}

/* Publishes what was learnt as known from the event `own` on. */
static int publish_event(struct esi_epoch_store *store,
                         struct passage *passage,
                         uint32_t own)
{
    struct esi_log *log = &passage->trace->log;

    if (passage->learnt_count == 0)
        return 0;
    if (passage->is_aside && move_to_log(store, passage) < 0)
        return -ENOMEM;
    log->entry_count += passage->learnt_count;
    esi_store_add(&store->entries, passage->learnt_count);
    esi_log_publish(log, own);
    return 0;
}

/* Copies a table that is about to change by `more` entries: messages sent in the
 * present state may not have been received yet. */
static void keep_sent(struct esi_epoch_store *store,
                      struct esi_epoch_trace *trace,
                      uint64_t more)
{
    struct esi_epoch_table *known = &trace->known;
    uint64_t table_bytes = esi_table_bytes(known);

    if (!known->dense || trace->last_send < known->since ||
        more * COPYING_SHARE < known->room)
        return;
    if (!known->copy && esi_epoch_is_tight(store))
        return;
    esi_table_copy(known, trace->count);
    esi_store_add(&store->table_bytes, esi_table_bytes(known) - table_bytes);
}

static int append_receive(struct esi_epoch_store *store,
                          struct es_event_id id,
                          const struct es_event_id *partners,
                          size_t partner_count)
{
    struct esi_epoch_trace *trace = esi_epoch_trace_at(store, id.trace);
    struct passage passage = {
        .trace = trace, .number = id.trace, .cut = esi_trace_cut(trace)};
    uint32_t used;
    uint64_t more = 0;
    bool passes;
    int code = esi_epoch_remember(store, trace);

    if (code < 0)
        return code;
    used = trace->known.known;
    for (size_t i = 0; i < partner_count; i++) {
        uint32_t cut =
            cut_at(esi_epoch_trace_at(store, partners[i].trace), partners[i].index);

        passage.cut = cut > passage.cut ? cut : passage.cut;
    }
    if (is_packed_early(store, trace))
        seal_long(store, id.trace);
    code = esi_epoch_try_cut(store, id, partners, partner_count, passage.cut);
    if (code != 0)
        return code < 0 ? code : 0;
    for (size_t i = 0; i < partner_count; i++)
        adopt_log(store, &passage, partners[i]);
    for (size_t i = 0; i < partner_count; i++)
        more += most_entries(store, &passage, partners[i]);
    passes = is_passing(&passage);
    if (more == 0 && !passes)
        return 0;
    code = prepare_trace(store, &passage, more, 1);
    if (code < 0)
        return code;
    if (!passes)
        keep_sent(store, trace, more);
    pass_log(store, &passage);
    for (size_t i = 0; i < partner_count; i++)
        merge_logs(store, &passage, partners[i]);
    if (partner_count > 1)
        drop_outdated(&passage);
    code = publish_event(store, &passage, id.index);
    if (code < 0)
        return code;
    trace->known.since = id.index;
    if (passes)
        trim_log(store, &passage, used);
    return 0;
}

int esi_epoch_append(struct esi_epoch_store *store,
                     struct es_event_id id,
                     enum es_event_kind kind,
                     const struct es_event_id *partners,
                     size_t partner_count)
{
    int code = 0;

    if (kind == ES_EVENT_RECEIVE && partner_count > 0)
        code = append_receive(store, id, partners, partner_count);
    else if (kind == ES_EVENT_SEND)
        esi_epoch_trace_at(store, id.trace)->last_send = id.index;
    if (code < 0)
        return code;
    if (esi_epoch_trace_at(store, id.trace)->count < id.index)
        count_event(store, id);
    if (store->has_grown)
        esi_epoch_squeeze(store, id.trace);
    store->has_grown = false;
    return 0;
}

/* --- Syncs ------------------------------------------------------------------------ */

/* Both halves know what both traces knew, but not each other.  The next event of each
 * trace also knows the other half; that is written immediately. */

static int prepare_half(struct esi_epoch_store *store,
                        struct passage *half,
                        const struct passage *other,
                        struct es_event_id of_other)
{
    uint64_t more = (uint64_t)half->trace->known.known + other->trace->known.known + 2;
    int code = reserve_scratch(store, more);

    more += most_of_hubs(store, half, of_other);
    return code < 0 ? code : prepare_trace(store, half, more, 2);
}

/* Learns `entries`, which the other trace knew.  There must be room in the log. */
static void learn_half(struct esi_epoch_store *store,
                       struct passage *half,
                       struct es_event_id id,
                       struct es_event_id other,
                       const uint64_t *entries,
                       uint32_t count)
{
    uint64_t entry = (uint64_t)other.trace << 32 | other.index;

    merge_hubs(store, half, other);
    for (uint32_t i = 0; i < count; i++)
        learn_of(store, half, entries[i]);
    learn_of(store, half, entry - 1);
    (void)publish_event(store, half, id.index);
    begin_learning(store, half);
    learn_of(store, half, entry);
    half->trace->known.since = id.index + 1;
    (void)publish_event(store, half, id.index + 1);
}

static int prepare_sync(struct esi_epoch_store *store,
                        struct passage *a,
                        struct passage *b,
                        struct es_event_id id,
                        struct es_event_id other)
{
    int code = prepare_half(store, a, b, other);

    return code < 0 ? code : prepare_half(store, b, a, id);
}

int esi_epoch_append_sync(struct esi_epoch_store *store,
                          struct es_event_id id,
                          struct es_event_id other)
{
    struct passage a = {.trace = esi_epoch_trace_at(store, id.trace),
                        .number = id.trace};
    struct passage b = {.trace = esi_epoch_trace_at(store, other.trace),
                        .number = other.trace};
    uint32_t of_a = esi_trace_cut(a.trace), of_b = esi_trace_cut(b.trace);
    uint32_t count_a, count_b;
    int code = esi_epoch_remember(store, a.trace);

    if (code >= 0)
        code = esi_epoch_remember(store, b.trace);
    if (code < 0)
        return code;
    seal_long(store, id.trace);
    seal_long(store, other.trace);
    a.cut = b.cut = of_a > of_b ? of_a : of_b;
    code = prepare_sync(store, &a, &b, id, other);
    if (code < 0)
        return code;
    pass_log(store, &a);
    pass_log(store, &b);
    count_a = collect_passages(store, &a, store->scratch);
    count_b = collect_passages(store, &b, store->scratch + count_a);
    learn_half(store, &a, id, other, store->scratch + count_a, count_b);
    learn_half(store, &b, other, id, store->scratch, count_a);
    count_event(store, id);
    count_event(store, other);
    if (store->has_grown) {
        esi_epoch_squeeze(store, id.trace);
        esi_epoch_squeeze(store, other.trace);
    }
    store->has_grown = false;
    return 0;
}
