/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creates and reads ledgers.
 *
 * When reading, every offset, size and link is checked before use, and every loop is
 * bounded: the memory may be corrupt, and changes meanwhile.  A table whose place has
 * changed during the copy is copied again.
 */
#include "config.h"

#include "tuplespace/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/process.h"
#include "tuplespace/ledger_layout.h"
#include "tuplespace/arena_pool.h"
#include "tuplespace/segment_private.h"
#include "tuplespace/view_private.h"

enum {
    TRIES = 8,
    GREATEST_LOG2 = 24, /* log2 of the slots of a table */
    MAX_THREADS = 65536,
    MAX_OLDER = 32,    /* older maps of a map: each has half the size */
    MAX_LISTED = 1024, /* threads of a process; more count as threads that have never
                          called MPI */
};

/* Maximum number of items of each kind, so that a corrupt ledger does not exhaust
 * memory. */
#define MAX_ITEMS ((size_t)1 << 22)
/* Maximum number of slots examined in total, because a table may be referred to
 * repeatedly. */
#define MAX_SLOTS ((size_t)1 << 24)

/* --- Creating --------------------------------------------------------------------- */

int esi_segment_add_ledger(struct es_segment *segment,
                           struct esi_arena_pool *pool,
                           struct esi_ledger_layout **ret_ledger)
{
    uint64_t offset;
    struct esi_ledger_layout *ledger =
        esi_arena_pool_begin(pool, segment, sizeof *ledger, &offset);

    if (!ledger)
        return -ENOSPC;
    ledger->header_bytes = sizeof *ledger;
    ledger->slot_bytes = sizeof(struct esi_ledger_slot);
    ledger->communicator_bytes = sizeof(struct esi_ledger_communicator);
    ledger->thread_bytes = sizeof(struct esi_ledger_thread);
    *ret_ledger = ledger;
    /* Pairs with the acquire in find_ledger(): the header is complete. */
    atomic_store_explicit(&segment->layout->ledger_offset, offset,
                          memory_order_release);
    return 0;
}

/* --- Checks ----------------------------------------------------------------------- */

/* State of a read. */
struct reading {
    const struct es_segment_view *segment;
    struct esi_ledger_layout *from;
    struct esi_ledger *to;
    size_t slots;                  /* examined so far */
    const _Atomic uint64_t *sites; /* by number minus one; NULL if none */
    size_t site_count;
};

/* The table at a place, with `head_bytes` and slots; NULL if there is none. */
static void *table_at(struct reading *reading,
                      uint64_t place,
                      size_t head_bytes,
                      size_t slot_bytes,
                      size_t *ret_slots)
{
    uint64_t log2 = place & ESI_PLACE_LOG2_MASK;

    if (place == 0 || log2 > GREATEST_LOG2)
        return NULL;
    *ret_slots = (size_t)1 << log2;
    reading->slots += *ret_slots;
    if (reading->slots > MAX_SLOTS) {
        reading->to->partial = true;
        return NULL;
    }
    return esi_segment_view_bytes(reading->segment, place & ~ESI_PLACE_LOG2_MASK,
                                  head_bytes + slot_bytes * *ret_slots);
}

static uint64_t word_load(const _Atomic uint64_t *word)
{
    /* Pairs with the writers' releases: the data at the offset is complete. */
    return atomic_load_explicit(word, memory_order_acquire);
}

static uint32_t half_load(const _Atomic uint32_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Copies memory that the process writes with plain stores. */
static void words_copy(void *out, const void *from, size_t bytes)
{
    const uint64_t *words = from;

    for (size_t i = 0; i < bytes / sizeof *words; i++) {
        uint64_t word = __atomic_load_n(&words[i], __ATOMIC_RELAXED);

        memcpy((char *)out + i * sizeof word, &word, sizeof word);
    }
}

/* The ledger of a segment; NULL if there is none that can be read. */
static struct esi_ledger_layout *find_ledger(const struct es_segment_view *segment)
{
    struct esi_ledger_layout *ledger;

    if (!segment->may_have_ledger)
        return NULL;
    ledger = esi_segment_view_bytes(segment, word_load(&segment->layout->ledger_offset),
                                    sizeof *ledger);
    if (ledger == NULL || ledger->header_bytes < sizeof *ledger ||
        ledger->slot_bytes != sizeof(struct esi_ledger_slot) ||
        ledger->communicator_bytes != sizeof(struct esi_ledger_communicator) ||
        ledger->thread_bytes != sizeof(struct esi_ledger_thread))
        return NULL;
    return ledger;
}

/* Makes room for one more item; -ENOMEM also for an implausible number. */
#define ROOM(items, capacity, count)                                                   \
    ((count) < MAX_ITEMS ? ESI_ARRAY_RESERVE(items, capacity, (count) + 1) : -ENOMEM)

/* Copies the table at a place with `copy`, which appends to the array counted by
 * `count`.  Repeats this if the place has changed meanwhile. */
static int copy_steadily(struct reading *reading,
                         const _Atomic uint64_t *place,
                         int (*copy)(struct reading *reading,
                                     uint64_t place,
                                     const void *context),
                         const void *context,
                         size_t *count)
{
    size_t before = *count;

    for (int i = 0; i < TRIES; i++) {
        uint64_t found = word_load(place);
        int rc = copy(reading, found, context);

        if (rc != 0)
            return rc;
        /* Pairs with the writers' releases: the copied data was written before. */
        atomic_thread_fence(memory_order_acquire);
        if (word_load(place) == found)
            return 0;
        if (i + 1 < TRIES)
            *count = before;
    }
    reading->to->partial = true;
    return 0;
}

/* --- Requests --------------------------------------------------------------------- */

/* The table never moves. */
static void find_sites(struct reading *reading)
{
    reading->sites = table_at(reading, word_load(&reading->from->sites), 0,
                              sizeof *reading->sites, &reading->site_count);
}

static uint64_t site_of(const struct reading *reading, uint16_t number)
{
    return reading->sites != NULL && number > 0 && number <= reading->site_count
               ? word_load(&reading->sites[number - 1])
               : 0;
}

static struct esi_ledger_request request_of(const struct reading *reading,
                                            const struct esi_ledger_slot *slot)
{
    return (struct esi_ledger_request){
        .handle = slot->handle,
        .start = slot->cancelled ? UINT64_MAX : slot->tuple.start,
        .site = site_of(reading, slot->site),
        .operation = slot->tuple.operation,
        .communicator = slot->tuple.communicator,
        .sequence = slot->tuple.sequence,
        .peer = slot->tuple.peer,
        .tag = slot->kind == ESI_LEDGER_COLLECTIVE ? 0 : slot->tuple.tag,
        .bytes = slot->tuple.bytes,
        .kind = slot->kind,
        .persistent = slot->persistent,
        .active = slot->active,
        .partitioned = slot->partitioned,
    };
}

static int copy_requests(struct reading *reading, uint64_t place, const void *context)
{
    struct esi_ledger *to = reading->to;
    struct esi_ledger_slot slot;
    size_t slots;
    const struct esi_ledger_slot *from =
        table_at(reading, place, 0, sizeof *from, &slots);

    (void)context;
    for (size_t i = 0; from != NULL && i < slots; i++) {
        words_copy(&slot, &from[i], sizeof slot);
        if (slot.kind < ESI_LEDGER_SEND || slot.kind > ESI_LEDGER_PAIR)
            continue;
        if (ROOM(to->requests, to->request_capacity, to->request_count) < 0)
            return -ENOMEM;
        to->requests[to->request_count++] = request_of(reading, &slot);
    }
    return 0;
}

/* Read before everything else: later changes are visible in the next copy. */
static uint64_t sum_changes(const struct reading *reading)
{
    uint64_t changes = 0;

    for (int i = 0; i < ESI_LEDGER_SHARDS; i++)
        changes += word_load(&reading->from->shards[i].changes);
    return changes;
}

static int read_requests(struct reading *reading)
{
    int rc = 0;

    find_sites(reading);
    for (int i = 0; i < ESI_LEDGER_SHARDS && rc == 0; i++)
        rc = copy_steadily(reading, &reading->from->shards[i].requests, copy_requests,
                           NULL, &reading->to->request_count);
    return rc;
}

/* --- Communicators: channels and collective operations ---------------------------- */

/* The owner of the channels. */
struct direction {
    uint16_t communicator;
    bool received;
};

static int add_channel(struct esi_ledger *to,
                       const struct direction *direction,
                       uint64_t key,
                       uint32_t count)
{
    if (ROOM(to->channels, to->channel_capacity, to->channel_count) < 0)
        return -ENOMEM;
    key--;
    to->channels[to->channel_count++] = (struct esi_ledger_channel){
        .communicator = direction->communicator,
        .received = direction->received,
        .doubtful = count >= ESI_LEDGER_COUNT_DOUBTFUL,
        .peer = (int32_t)(uint32_t)(key >> 32),
        .tag = (int32_t)(uint32_t)key,
        .count = count,
    };
    return 0;
}

/* Copies a map and its older maps: each key is in one of them. */
static int copy_channels(struct reading *reading, uint64_t place, const void *context)
{
    for (int i = 0; i <= MAX_OLDER && place != 0; i++) {
        size_t slots;
        struct esi_ledger_channels *head =
            table_at(reading, place, sizeof *head,
                     sizeof(struct esi_ledger_channel_slot), &slots);
        const struct esi_ledger_channel_slot *channels;

        if (head == NULL)
            return 0;
        channels = (const void *)(head + 1);
        for (size_t j = 0; j < slots; j++) {
            uint64_t key = word_load(&channels[j].key);
            uint32_t count = half_load(&channels[j].count);

            if (key != 0 && count != 0 &&
                add_channel(reading->to, context, key, count) < 0)
                return -ENOMEM;
        }
        place = word_load(&head->older);
    }
    return 0;
}

static int add_held(struct esi_ledger *to, uint16_t index, uint32_t held)
{
    if (held == 0)
        return 0;
    if (ROOM(to->channels, to->channel_capacity, to->channel_count) < 0)
        return -ENOMEM;
    to->channels[to->channel_count++] =
        (struct esi_ledger_channel){.communicator = index,
                                    .received = true,
                                    .peer = ES_PEER_ANY,
                                    .tag = ES_TAG_ANY,
                                    .count = held};
    return 0;
}

static int read_recent(struct reading *reading,
                       struct esi_ledger_communicator *from,
                       uint16_t index)
{
    struct esi_ledger *to = reading->to;

    for (int i = 0; i < ESI_LEDGER_RECENT; i++) {
        uint64_t what = word_load(&from->recent[i].what);
        uint64_t how = word_load(&from->recent[i].how);

        /* An operation that is being entered is not included yet. */
        if (what >> 32 == 0 || what >> 32 > UINT16_MAX ||
            word_load(&from->recent[i].what) != what)
            continue;
        if (ROOM(to->instances, to->instance_capacity, to->instance_count) < 0)
            return -ENOMEM;
        to->instances[to->instance_count++] = (struct esi_ledger_instance){
            .communicator = index,
            .operation = (uint16_t)(what >> 32),
            .instance = (uint32_t)what,
            .root = (int32_t)(uint32_t)how,
            .hash = (uint32_t)(how >> 32),
        };
    }
    return 0;
}

static int read_communicator(struct reading *reading,
                             struct esi_ledger_communicator *from,
                             uint16_t index)
{
    struct direction sent = {.communicator = index};
    struct direction received = {.communicator = index, .received = true};
    size_t *count = &reading->to->channel_count;
    int rc = copy_steadily(reading, &from->sent, copy_channels, &sent, count);

    if (rc == 0)
        rc = copy_steadily(reading, &from->received, copy_channels, &received, count);
    if (rc == 0)
        rc = add_held(reading->to, index, half_load(&from->held));
    return rc == 0 ? read_recent(reading, from, index) : rc;
}

static int read_communicators(struct reading *reading)
{
    size_t slots;
    struct esi_ledger_communicator *from;
    const _Atomic uint64_t *offsets = table_at(
        reading, word_load(&reading->from->communicators), 0, sizeof *offsets, &slots);
    int rc = 0;

    for (size_t i = 0; offsets != NULL && i < slots && i < UINT16_MAX && rc == 0; i++) {
        uint64_t offset = word_load(&offsets[i]);

        if (offset == 0)
            continue;
        from = esi_segment_view_bytes(reading->segment, offset, sizeof *from);
        if (from != NULL && from->index == i)
            rc = read_communicator(reading, from, (uint16_t)i);
    }
    return rc;
}

/* --- Threads ---------------------------------------------------------------------- */

/* Removes null requests; a wait for none is not a wait. */
static void remove_null_requests(struct esi_ledger_wait *wait, uint64_t null_request)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < wait->known; i++)
        if (wait->handles[i] != null_request)
            wait->handles[kept++] = wait->handles[i];
    wait->count -= wait->known - kept;
    wait->known = kept;
}

static int read_thread(struct reading *reading, struct esi_ledger_thread *from)
{
    struct esi_ledger *to = reading->to;
    uint64_t what = word_load(&from->what);
    struct esi_ledger_wait *wait;

    if (what >> 32 == ESI_LEDGER_WAIT_NONE || what >> 32 > ESI_LEDGER_WAIT_POLL)
        return 0;
    if (ROOM(to->waits, to->wait_capacity, to->wait_count) < 0)
        return -ENOMEM;
    wait = &to->waits[to->wait_count++];
    *wait = (struct esi_ledger_wait){
        .thread = from->thread,
        .kind = (uint32_t)(what >> 32),
        .count = (uint32_t)what,
        .known = (uint32_t)what < ESI_LEDGER_WAIT_HANDLES ? (uint32_t)what
                                                          : ESI_LEDGER_WAIT_HANDLES,
        .others = what >> 32 == ESI_LEDGER_WAIT_POLL && half_load(&from->others) != 0,
    };
    words_copy(wait->handles, from->handles, wait->known * sizeof wait->handles[0]);
    remove_null_requests(wait, reading->from->null_request);
    return 0;
}

static int read_threads(struct reading *reading)
{
    uint64_t offset = word_load(&reading->from->threads);
    int rc = 0;

    for (int i = 0; i < MAX_THREADS && offset != 0 && rc == 0; i++) {
        struct esi_ledger_thread *from =
            esi_segment_view_bytes(reading->segment, offset, sizeof *from);

        if (from == NULL)
            break;
        rc = read_thread(reading, from);
        offset = word_load(&from->next);
    }
    return rc;
}

/* --- Windows ---------------------------------------------------------------------- */

static int read_epochs(struct reading *reading)
{
    struct esi_ledger *to = reading->to;

    for (int i = 0; i < ESI_LEDGER_MAX_EPOCHS; i++) {
        struct esi_ledger_epoch_slot *slot = &reading->from->epochs[i];
        uint64_t what = word_load(&slot->what);
        uint64_t whom = word_load(&slot->whom);
        uint8_t kind = (uint8_t)(what >> 16);

        if (kind < ESI_LEDGER_LOCK_SHARED || kind > ESI_LEDGER_POST)
            continue;
        if (ROOM(to->epochs, to->epoch_capacity, to->epoch_count) < 0)
            return -ENOMEM;
        to->epochs[to->epoch_count++] = (struct esi_ledger_epoch){
            .communicator = (uint16_t)what,
            .kind = kind,
            .granted = (what >> 24 & 1) != 0,
            .window = (int32_t)(uint32_t)(what >> 32),
            .peer = (int32_t)(uint32_t)whom,
            .number = (uint32_t)(whom >> 32),
        };
    }
    return 0;
}

static int add_epoch_count(struct esi_ledger *to,
                           const struct esi_ledger_epoch_count *count)
{
    if (ROOM(to->epoch_counts, to->epoch_count_capacity, to->epoch_count_count) < 0)
        return -ENOMEM;
    to->epoch_counts[to->epoch_count_count++] = *count;
    return 0;
}

static int copy_members(struct reading *reading, uint64_t place, const void *context)
{
    struct esi_ledger_epoch_count count =
        *(const struct esi_ledger_epoch_count *)context;
    size_t slots;
    const struct esi_ledger_member *members =
        table_at(reading, place, 0, sizeof *members, &slots);

    for (size_t i = 0; members != NULL && i < slots; i++) {
        count.peer = (int32_t)i;
        count.posted = half_load(&members[i].posted);
        count.started = half_load(&members[i].started);
        count.completed = half_load(&members[i].completed);
        if ((count.posted | count.started | count.completed) != 0 &&
            add_epoch_count(reading->to, &count) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int read_window(struct reading *reading, struct esi_ledger_window *from)
{
    struct esi_ledger_epoch_count count = {
        .communicator = (uint16_t)from->communicator,
        .window = from->number,
        .peer = ES_PEER_NONE,
        .started = half_load(&from->collectives),
    };

    if (add_epoch_count(reading->to, &count) < 0)
        return -ENOMEM;
    return copy_steadily(reading, &from->members, copy_members, &count,
                         &reading->to->epoch_count_count);
}

static int read_windows(struct reading *reading)
{
    int rc = 0;

    for (int i = 0; i < ESI_LEDGER_MAX_WINDOWS && rc == 0; i++) {
        uint64_t offset = word_load(&reading->from->windows[i]);
        struct esi_ledger_window *window =
            offset != 0
                ? esi_segment_view_bytes(reading->segment, offset, sizeof *window)
                : NULL;

        if (window != NULL)
            rc = read_window(reading, window);
    }
    return rc;
}

/* --- Others ----------------------------------------------------------------------- */

static void read_objects(const struct reading *reading)
{
    for (int i = 0; i < ESI_LEDGER_OBJECTS; i++) {
        int64_t unfreed = (int64_t)word_load(&reading->from->unfreed[i]);

        reading->to->unfreed[i] = unfreed > 0 ? (uint64_t)unfreed : 0;
    }
}

/* Omits an error that is being written. */
static void read_error(const struct reading *reading)
{
    struct esi_ledger_layout *from = reading->from;
    struct esi_ledger *to = reading->to;
    uint32_t version = atomic_load_explicit(&from->error_version, memory_order_acquire);
    uint32_t error_class = half_load(&from->error_class);
    uint32_t operation = half_load(&from->error_operation);
    uint32_t text[ESI_LEDGER_TEXT_WORDS];

    _Static_assert(sizeof text == sizeof to->error_text, "the text has its room");
    for (int i = 0; i < ESI_LEDGER_TEXT_WORDS; i++)
        text[i] = half_load(&from->error_text[i]);
    /* Pairs with the fence in esi_ledger_note_error(). */
    atomic_thread_fence(memory_order_acquire);
    if (version % 2 != 0 || half_load(&from->error_version) != version)
        return;
    to->error_class = error_class;
    to->error_operation = (uint16_t)operation;
    memcpy(to->error_text, text, sizeof text);
    to->error_text[sizeof to->error_text - 1] = '\0';
}

/* --- Threads that have never called MPI ------------------------------------------- */

static void remove_id(uint32_t *ids, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            ids[i] = 0;
}

/* Removes the ids of the threads that have called MPI. */
static void remove_callers(const struct reading *reading, uint32_t *ids, size_t count)
{
    uint64_t offset = word_load(&reading->from->threads);

    for (int i = 0; i < MAX_THREADS && offset != 0; i++) {
        const struct esi_ledger_thread *thread =
            esi_segment_view_bytes(reading->segment, offset, sizeof *thread);

        if (thread == NULL)
            break;
        remove_id(ids, count, half_load(&thread->thread_id));
        offset = word_load(&thread->next);
    }
}

/* Counts them now.  Returns -1 if they cannot be counted. */
static int count_others(const struct reading *reading)
{
    uint32_t ids[MAX_LISTED];
    int listed = esi_process_list_threads(reading->segment->pid, ids, MAX_LISTED);
    size_t known = listed < MAX_LISTED ? (size_t)listed : MAX_LISTED;
    int others = listed - (int)known; /* those that are not in the list */

    /* Checked afterwards: the pid was that of the process until now. */
    if (listed <= 0 || !esi_segment_view_is_alive(reading->segment))
        return -1;
    remove_callers(reading, ids, known);
    for (int i = 0; i < ESI_LEDGER_LIBRARY_THREADS; i++)
        remove_id(ids, known, reading->to->library_threads[i]);
    for (size_t i = 0; i < known; i++)
        others += ids[i] != 0;
    return others;
}

/* The number is kept in the segment: after the process has ended, nobody can count. */
static void read_others(struct reading *reading)
{
    struct esi_ledger_layout *from = reading->from;
    struct esi_ledger *to = reading->to;
    uint64_t now = es_clock_ticks_of((enum es_clock_kind)reading->segment->clock.kind);

    to->concurrent = half_load(&from->concurrent) != 0;
    for (int i = 0; i < ESI_LEDGER_LIBRARY_THREADS; i++)
        to->library_threads[i] = half_load(&from->library_threads[i]);
    to->others = to->concurrent ? count_others(reading) : 0;
    to->others_counted = now;
    if (to->others >= 0) {
        atomic_store_explicit(&from->others, (uint32_t)to->others,
                              memory_order_relaxed);
        atomic_store_explicit(&from->others_counted, now, memory_order_release);
        return;
    }
    to->others_counted = word_load(&from->others_counted);
    if (to->others_counted != 0)
        to->others = (int)(half_load(&from->others) & INT32_MAX);
}

int esi_ledger_read(const struct es_segment_view *segment,
                    struct esi_ledger *ret_ledger)
{
    static int (*const parts[])(struct reading *) = {
        read_threads, read_requests, read_communicators, read_epochs, read_windows};
    struct esi_ledger ledger = {.partial = false};
    struct reading reading = {
        .segment = segment, .from = find_ledger(segment), .to = &ledger};
    int rc = 0;

    if (reading.from == NULL)
        return -ENOENT;
    esi_segment_view_watch(segment); /* communicator indices are stored */
    ledger.partial = half_load(&reading.from->partial) != 0;
    ledger.changes = sum_changes(&reading);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && rc == 0; i++)
        rc = parts[i](&reading);
    if (rc != 0) {
        esi_ledger_fini(&ledger);
        return rc;
    }
    read_objects(&reading);
    read_error(&reading);
    read_others(&reading);
    *ret_ledger = ledger;
    return 0;
}

void esi_ledger_fini(struct esi_ledger *ledger)
{
    free(ledger->requests);
    free(ledger->channels);
    free(ledger->instances);
    free(ledger->waits);
    free(ledger->epochs);
    free(ledger->epoch_counts);
    *ledger = (struct esi_ledger){.partial = false};
}
