/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_bound.c - limits the memory of the store to little more than vectors would take
 * (docs/epochs.md, "Never much more than vectors").
 *
 * Once the store is tight, each event adds at most one vector, plus a sixteenth of a
 * vector for open logs and a sixteenth for tables.  A log is packed as soon as it is
 * larger than that, at worst as vectors; a table that is too large for the events of
 * its trace is dropped and rebuilt from the log when needed.
 */
#include "config.h"

#include <errno.h>

#include "monitors/order/epoch/epoch_private.h"

/* Memory that the store and each trace may use in addition.  It matters only for few
 * events.  A log below SMALL_LOG is not packed, because a part has some bytes of
 * overhead. */
enum { STORE_BYTES = 64 << 10, TRACE_BYTES = 2 << 10, SMALL_LOG = 1 << 10 };

/* Divisors of the size of the vectors. */
enum { TIGHT_SHARE = 16, SMALL_SHARE = 16 };

/* Counts open logs twice, because their contents will be stored once more. */
bool esi_epoch_is_tight(const struct esi_epoch_store *store)
{
    struct esi_order_statistics statistics = {0};
    uint64_t least = STORE_BYTES + (uint64_t)store->trace_count * TRACE_BYTES;

    if (store->is_tight)
        return true;
    esi_epoch_statistics(store, &statistics);
    return statistics.stored_bytes + statistics.writer_bytes +
               esi_arena_bytes(&store->logs.arena) >
           store->dense_bytes - store->dense_bytes / TIGHT_SHARE + least;
}

/* Returns a small share of the size of the vectors of `events` events. */
static uint64_t small_share(const struct esi_epoch_store *store, uint32_t events)
{
    return (uint64_t)events * store->trace_count * sizeof(uint32_t) / SMALL_SHARE;
}

static bool is_log_large(const struct esi_epoch_store *store,
                         const struct esi_epoch_trace *trace)
{
    uint64_t bytes = esi_log_bytes(&trace->log);

    return bytes > small_share(store, trace->count - esi_trace_sealed(trace)) &&
           (bytes > SMALL_LOG || store->is_tight);
}

static void drop_table(struct esi_epoch_store *store, struct esi_epoch_trace *trace)
{
    uint64_t bytes = esi_table_bytes(&trace->known);
    uint32_t since = trace->known.since;

    esi_table_fini(&trace->known);
    trace->known.since = since;
    trace->is_table_gone = true;
    esi_store_add(&store->table_bytes, (uint64_t)0 - bytes);
}

void esi_epoch_squeeze(struct esi_epoch_store *store, uint32_t number)
{
    struct esi_epoch_trace *trace = esi_epoch_trace_at(store, number);

    if (!esi_epoch_is_tight(store))
        return;
    if (is_log_large(store, trace)) {
        esi_epoch_refer(store, number);
        if (esi_trace_seal_all(trace, &store->cuts, store->trace_count, &store->sorting,
                               &store->blocks) == 0)
            esi_log_fit(&trace->log, &store->logs, &trace->turn);
    }
    esi_epoch_note_room(store);
    if (esi_table_bytes(&trace->known) > small_share(store, trace->count) &&
        (esi_table_bytes(&trace->known) > SMALL_LOG / 4 || store->is_tight))
        drop_table(store, trace);
}

/* Returns everything that the trace's next event knows so far; after a sync, that is
 * more than its last event knows. */
static struct esi_epoch_source source_of(const struct esi_epoch_store *store,
                                         const struct esi_epoch_trace *trace)
{
    struct esi_epoch_source source;

    esi_source_init(&source, &store->cuts, trace, esi_trace_forgotten(trace),
                    trace->count + 1);
    return source;
}

void esi_epoch_recall(const struct esi_epoch_store *store,
                      struct esi_epoch_trace *trace)
{
    struct esi_epoch_source source = source_of(store, trace);
    struct esi_epoch_span span;

    while (esi_source_next(&source, &span))
        while (span.from < span.to) {
            uint64_t entry = esi_span_take(&span);

            esi_table_raise(&trace->known, (uint32_t)(entry >> 32), (uint32_t)entry);
        }
}

int esi_epoch_remember(struct esi_epoch_store *store, struct esi_epoch_trace *trace)
{
    uint64_t entries;
    int code;

    if (!trace->is_table_gone)
        return 0;
    entries = esi_source_entries(source_of(store, trace));
    entries = entries < store->trace_count ? entries : store->trace_count;
    code = esi_table_reserve(&trace->known, entries, store->trace_count);
    esi_store_add(&store->table_bytes, esi_table_bytes(&trace->known));
    if (code < 0)
        return code;
    esi_epoch_recall(store, trace);
    trace->is_table_gone = false;
    return 0;
}
