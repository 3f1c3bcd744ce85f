/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creates and reads profiles.
 *
 * When reading, every offset is checked before use, and every list is bounded, because
 * the memory may be corrupt.  Rows with impossible values are omitted.
 */
#include "config.h"

#include "tuplespace/profile.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "tuplespace/arena_pool.h"
#include "tuplespace/element_view.h"
#include "tuplespace/ledger_layout.h"
#include "tuplespace/segment_private.h"
#include "tuplespace/view_private.h"

/* Maximum number of items, so that cyclic lists end. */
enum { MAX_THREADS = 65536, MAX_PEERS = 1 << 22, MAX_ROWS = 1 << 20 };

/* --- Creating --------------------------------------------------------------------- */

int esi_segment_add_profile(struct es_segment *segment,
                            struct esi_ledger_layout *ledger,
                            struct esi_arena_pool *pool,
                            struct esi_profile_layout **ret_profile)
{
    uint64_t offset;
    struct esi_profile_layout *profile =
        esi_arena_pool_begin(pool, segment, sizeof *profile, &offset);

    if (!profile)
        return -ENOSPC;
    profile->header_bytes = sizeof *profile;
    profile->row_bytes = (uint32_t)esi_profile_row_bytes(true);
    profile->thread_bytes = sizeof(struct esi_profile_thread_layout);
    profile->peer_bytes = sizeof(struct esi_profile_peer_layout);
    *ret_profile = profile;
    /* Pairs with the acquire in find_profile(): the header is complete. */
    atomic_store_explicit(&ledger->profile, offset, memory_order_release);
    return 0;
}

/* --- Checks ----------------------------------------------------------------------- */

static uint64_t sum_load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static uint64_t link_load(const _Atomic uint64_t *word)
{
    /* Pairs with the writers' releases: the data at the offset is complete. */
    return atomic_load_explicit(word, memory_order_acquire);
}

/* The profile of a segment; NULL if there is none that can be read. */
static struct esi_profile_layout *find_profile(const struct es_segment_view *segment)
{
    struct esi_ledger_layout *ledger;
    struct esi_profile_layout *profile;

    if (!segment->may_have_ledger)
        return NULL;
    ledger = esi_segment_view_bytes(segment, link_load(&segment->layout->ledger_offset),
                                    sizeof *ledger);
    if (ledger == NULL || ledger->header_bytes < sizeof *ledger)
        return NULL;
    profile =
        esi_segment_view_bytes(segment, link_load(&ledger->profile), sizeof *profile);
    if (profile == NULL || profile->header_bytes < sizeof *profile ||
        profile->row_bytes != esi_profile_row_bytes(true) ||
        profile->thread_bytes != sizeof(struct esi_profile_thread_layout) ||
        profile->peer_bytes != sizeof(struct esi_profile_peer_layout))
        return NULL;
    return profile;
}

/* --- Rows ------------------------------------------------------------------------- */

/* State of a read. */
struct profile_reading {
    const struct es_segment_view *segment;
    struct esi_profile_layout *from;
    struct esi_profile *to;
    size_t seen; /* number of rows, of all threads */
};

/* Copies the number of calls by size, if the row has them.  Returns the total. */
static uint64_t copy_calls(const struct esi_profile_row_layout *from,
                           bool has_sizes,
                           uint64_t sizes[ESI_PROFILE_SIZES])
{
    uint64_t calls = link_load(&from->calls[0]);

    if (!has_sizes)
        return calls;
    sizes[0] = calls;
    for (int i = 1; i < ESI_PROFILE_SIZES; i++) {
        sizes[i] = link_load(&from->calls[i]);
        calls += sizes[i];
    }
    return calls;
}

/* Returns false if the row is invalid. */
static bool copy_row(const struct profile_reading *reading,
                     const struct esi_profile_row_layout *from,
                     int32_t thread,
                     struct esi_profile_row *ret_row)
{
    uint64_t offset = (uint64_t)((const char *)from - reading->segment->base);
    uint32_t has_sizes = from->has_sizes;
    uint32_t operation = from->operation;
    uint64_t span;

    if (operation == 0 || operation > UINT16_MAX || has_sizes > 1 ||
        esi_segment_view_bytes(reading->segment, offset,
                               esi_profile_row_bytes(has_sizes != 0)) == NULL)
        return false;
    *ret_row = (struct esi_profile_row){.site = from->site,
                                        .thread = thread,
                                        .operation = (uint16_t)operation,
                                        .has_sizes = has_sizes != 0};
    /* Calls first: the other totals then include them. */
    ret_row->calls = copy_calls(from, ret_row->has_sizes, ret_row->sizes);
    ret_row->ticks = sum_load(&from->ticks);
    ret_row->bytes = sum_load(&from->bytes);
    ret_row->shortest = sum_load(&from->shortest);
    span = sum_load(&from->span);
    ret_row->longest = ret_row->shortest + (span > 0 ? span - 1 : 0);
    return true;
}

static int read_rows(struct profile_reading *reading, uint64_t offset, int32_t thread)
{
    struct esi_profile *to = reading->to;
    const struct esi_profile_row_layout *from;

    while ((from = esi_segment_view_bytes(reading->segment, offset,
                                          esi_profile_row_bytes(false))) != NULL) {
        if (++reading->seen > MAX_ROWS) {
            to->partial = true;
            return 0;
        }
        if (ESI_ARRAY_RESERVE(to->rows, to->row_capacity, to->row_count + 1) < 0)
            return -ENOMEM;
        to->row_count += copy_row(reading, from, thread, &to->rows[to->row_count]);
        offset = link_load(&from->next);
    }
    return 0;
}

static int read_threads(struct profile_reading *reading)
{
    uint64_t offset = link_load(&reading->from->threads);
    const struct esi_profile_thread_layout *thread;
    int rc = 0;

    for (int i = 0; i < MAX_THREADS && rc == 0; i++) {
        thread = esi_segment_view_bytes(reading->segment, offset, sizeof *thread);
        if (thread == NULL)
            return 0;
        rc = read_rows(reading, link_load(&thread->rows), thread->thread);
        offset = link_load(&thread->next);
    }
    return rc;
}

/* --- Peers ------------------------------------------------------------------------ */

static int read_peers(struct profile_reading *reading)
{
    struct esi_profile *to = reading->to;
    uint64_t offset = link_load(&reading->from->peers);
    const struct esi_profile_peer_layout *peer;

    for (int i = 0; i < MAX_PEERS; i++) {
        peer = esi_segment_view_bytes(reading->segment, offset, sizeof *peer);
        if (peer == NULL)
            return 0;
        if (ESI_ARRAY_RESERVE(to->peers, to->peer_capacity, to->peer_count + 1) < 0)
            return -ENOMEM;
        to->peers[to->peer_count++] = (struct esi_profile_peer){
            .world = peer->world >= 0 ? peer->world : -1,
            .messages = sum_load(&peer->messages),
            .bytes = sum_load(&peer->bytes),
        };
        offset = link_load(&peer->next);
    }
    return 0;
}

/* --- Time ------------------------------------------------------------------------- */

/* Finds the latest time in an element, for processes that are gone. */
static void find_latest(struct es_element_view *element, uint64_t *latest)
{
    struct es_tuple tuple;
    uint64_t position;

    if (es_element_latest(element, &tuple, &position) == 1 && tuple.stop > *latest)
        *latest = tuple.stop;
    if (es_element_open(element, &tuple) == 1 && tuple.start > *latest)
        *latest = tuple.start;
}

static int read_times(struct profile_reading *reading)
{
    const struct es_segment_view *segment = reading->segment;
    struct esi_profile *to = reading->to;
    uint64_t ended = sum_load(&reading->from->ended);

    to->began = sum_load(&reading->from->began);
    to->until = to->began;
    to->ended = ended != 0;
    if (to->ended)
        to->until = ended;
    else if (esi_segment_view_is_alive(segment))
        to->until = es_clock_ticks_of((enum es_clock_kind)segment->clock.kind);
    else
        for (uint32_t i = 0; i < esi_segment_view_count(segment); i++)
            find_latest(es_segment_view_element(segment, i), &to->until);
    return 0;
}

/* Reads the calls that threads are in, while MPI is initialized. */
static int read_open(struct profile_reading *reading)
{
    const struct es_segment_view *segment = reading->segment;
    struct esi_profile *to = reading->to;
    uint32_t count = to->began == 0 || to->ended ? 0 : esi_segment_view_count(segment);

    for (uint32_t i = 0; i < count; i++) {
        struct es_element_view *element = es_segment_view_element(segment, i);
        struct es_tuple tuple;
        uint64_t position, site;

        if (esi_element_view_open_site(element, &tuple, &position, &site) != 1 ||
            tuple.start < to->began || tuple.start >= to->until)
            continue;
        if (ESI_ARRAY_RESERVE(to->open, to->open_capacity, to->open_count + 1) < 0)
            return -ENOMEM;
        to->open[to->open_count++] = (struct esi_profile_call){
            .site = site,
            .ticks = to->until - tuple.start,
            .thread = element->thread,
            .operation = es_tuple_operation(&tuple),
        };
    }
    return 0;
}

int esi_profile_read(const struct es_segment_view *segment,
                     struct esi_profile *ret_profile)
{
    /* Rows before the time, so that none of their calls ends after it. */
    static int (*const parts[])(struct profile_reading *) = {read_threads, read_peers,
                                                             read_times, read_open};
    struct esi_profile profile = {.partial = false};
    struct profile_reading reading = {
        .segment = segment, .from = find_profile(segment), .to = &profile};
    int rc = 0;

    if (reading.from == NULL)
        return -ENOENT;
    profile.partial =
        atomic_load_explicit(&reading.from->partial, memory_order_relaxed) != 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && rc == 0; i++)
        rc = parts[i](&reading);
    if (rc != 0) {
        esi_profile_fini(&profile);
        return rc;
    }
    *ret_profile = profile;
    return 0;
}

void esi_profile_fini(struct esi_profile *profile)
{
    free(profile->rows);
    free(profile->peers);
    free(profile->open);
    *profile = (struct esi_profile){.partial = false};
}
