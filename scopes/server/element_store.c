/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The elements held by a tuple server itself. */
#include "config.h"

#include "scopes/server/element_store.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "eventspace/run.h"
#include "tuplespace/element_view.h"
#include "tuplespace/segment.h"
#include "tuplespace/segment_set.h"

/* --- The budget ---------------------------------------------------------------- */

static int check_numbers(const struct esi_element_budget *budget,
                         const struct esi_element_share *share,
                         struct es_error *error)
{
    if (share && share->elements >= ES_BUDGET_SHARE_ELEMENTS)
        return es_error_set(
            error, -EDQUOT,
            "this connection has made %d elements, more are not allowed",
            ES_BUDGET_SHARE_ELEMENTS);
    if (budget->elements >= ES_BUDGET_ELEMENTS)
        return es_error_set(error, -EDQUOT,
                            "the tuple server holds %d elements, more are not allowed",
                            ES_BUDGET_ELEMENTS);
    return 0;
}

/* A percentage of the shared memory, which has no limit if its size is not known. */
static uint64_t part_of(const struct esi_segment_room *room, unsigned percent)
{
    return room->total_bytes == 0 ? UINT64_MAX : room->total_bytes / 100 * percent;
}

/* Checks that `taken` plus `bytes` stay below a percentage of the shared memory. */
static int check_sum(const char *whose,
                     uint64_t taken,
                     uint64_t bytes,
                     const struct esi_segment_room *room,
                     unsigned percent,
                     struct es_error *error)
{
    uint64_t most = part_of(room, percent);

    if (taken <= most && bytes <= most - taken)
        return 0;
    return es_error_set(error, -EDQUOT,
                        "%" PRIu64
                        " bytes: elements %s take at most %u %% of the shared "
                        "memory, %" PRIu64 " bytes; %" PRIu64 " are taken",
                        bytes, whose, percent, most, taken);
}

static int check_bytes(const struct esi_element_budget *budget,
                       const struct esi_element_share *share,
                       uint64_t bytes,
                       struct es_error *error)
{
    struct esi_segment_room room;
    int result = esi_segment_find_room(&room);

    if (result < 0)
        return es_error_set(error, result, "shared memory: %s", strerror(-result));
    if (share)
        result = check_sum("made over one connection", share->bytes, bytes, &room,
                           ES_BUDGET_SHARE_PERCENT, error);
    if (result == 0)
        result = check_sum("of a tuple server", budget->bytes, bytes, &room,
                           ES_BUDGET_PERCENT, error);
    if (result < 0 ||
        esi_segment_room_keeps(&room, budget->promised + bytes, ES_BUDGET_FREE_PERCENT))
        return result;
    return es_error_set(
        error, -ENOSPC,
        "%" PRIu64 " bytes: %d %% of the shared memory stay free for the "
        "program; %" PRIu64 " of %" PRIu64 " bytes are free",
        bytes, ES_BUDGET_FREE_PERCENT, room.free_bytes, room.total_bytes);
}

/* The same for additional bytes of an existing element. */
static int element_budget_extend(struct esi_element_budget *budget,
                                 struct esi_element_share *share,
                                 uint64_t bytes,
                                 struct es_error *error)
{
    int result = check_bytes(budget, share, bytes, error);

    if (result < 0)
        return result;
    if (share)
        share->bytes += bytes;
    budget->bytes += bytes;
    budget->promised += bytes;
    return 0;
}

int esi_element_budget_add(struct esi_element_budget *budget,
                           struct esi_element_share *share,
                           uint64_t bytes,
                           struct es_error *error)
{
    int result = check_numbers(budget, share, error);

    if (result == 0 && bytes > ES_BUDGET_ELEMENT_BYTES)
        result =
            es_error_set(error, -EDQUOT,
                         "%" PRIu64 " bytes: an element of a tuple server has at "
                         "most %" PRIu64 " bytes (threshold, rounded up to a power "
                         "of two, times bytes of a tuple)",
                         bytes, ES_BUDGET_ELEMENT_BYTES);
    if (result == 0)
        result = element_budget_extend(budget, share, bytes, error);
    if (result < 0)
        return result;
    if (share)
        share->elements++;
    budget->elements++;
    return 0;
}

void esi_element_budget_expire(struct esi_element_budget *budget, uint64_t bytes)
{
    budget->promised -= bytes;
}

void esi_element_budget_remove(struct esi_element_budget *budget,
                               struct esi_element_share *share,
                               uint64_t bytes)
{
    budget->elements--;
    budget->bytes -= bytes;
    if (share) {
        share->elements--;
        share->bytes -= bytes;
    }
}

/* The names of a process's segments contain the rank; no program has ranks this
 * large. */
#define FIRST_SERIAL (1 << 24)
#define OWN_ARENA_EXTRA (UINT64_C(1) << 16)

/* Longest wait for the reader of a blocking element that is placed here. */
#define ROOM_NS UINT64_C(1000000000)

/* A segment of the store: one element of a consumer, or all elements of one process. */
struct kept_segment {
    struct es_segment *segment;      /* owned; NULL while it is being created */
    uint64_t bytes;                  /* of the consumer's element */
    struct esi_element_share *share; /* of the creator; NULL once it has disconnected */
    char host[64];                   /* host of the process; "" for consumers */
    int pid;
    char name[64]; /* of the consumer's element */
};

struct esi_placed_element {
    struct kept_segment *home; /* borrowed */
    char name[64];
    struct esi_writer writer;
};

struct esi_element_store {
    char run[64];
    char host[64];
    pthread_mutex_t lock;
    int serial;
    struct kept_segment **segments; /* owned, with its items */
    size_t segment_count;
    size_t segment_capacity;
    struct esi_placed_element *
        *placed; /* owned, with its items; used by the placing thread */
    size_t placed_count;
    size_t placed_capacity;
    struct esi_element_budget budget;
    struct es_run *before; /* segments left by a previous server; may be NULL */
    atomic_bool stops;
};

int esi_element_store_create(struct esi_segment_set *segments,
                             const char *host,
                             struct esi_element_store **ret_store)
{
    struct esi_element_store *store = calloc(1, sizeof *store);
    int result;

    if (!store)
        return -ENOMEM;
    snprintf(store->run, sizeof store->run, "%s", esi_segment_set_run(segments));
    snprintf(store->host, sizeof store->host, "%s", host);
    store->serial = FIRST_SERIAL;
    result = esi_run_open_shared(segments, false, NULL, &store->before);
    if (result < 0) {
        free(store);
        return result;
    }
    pthread_mutex_init(&store->lock, NULL);
    *ret_store = store;
    return 0;
}

void esi_element_store_destroy(struct esi_element_store *store)
{
    int saved_errno = errno;

    if (!store)
        return;
    for (size_t i = 0; i < store->placed_count; i++)
        free(store->placed[i]);
    for (size_t i = 0; i < store->segment_count; i++) {
        esi_segment_destroy(store->segments[i]->segment);
        free(store->segments[i]);
    }
    free(store->placed);
    free(store->segments);
    es_run_close(store->before);
    pthread_mutex_destroy(&store->lock);
    free(store);
    errno = saved_errno;
}

void esi_element_store_stop(struct esi_element_store *store)
{
    if (store)
        atomic_store(&store->stops, true);
}

void esi_element_store_unlink(struct esi_element_store *store)
{
    for (size_t i = 0; store && i < store->segment_count; i++)
        esi_segment_remove(store->segments[i]->segment);
}

void esi_element_store_leave(struct esi_element_store *store,
                             const struct esi_element_share *share)
{
    if (!store)
        return;
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->segment_count; i++)
        if (store->segments[i]->share == share)
            store->segments[i]->share = NULL;
    pthread_mutex_unlock(&store->lock);
}

/* --- Segments --------------------------------------------------------------------- */

/* Adds an entry to the list, whose segment is not created yet.  Called with the lock
 * held. */
static int add_place(struct esi_element_store *store,
                     struct kept_segment **ret_kept,
                     int *ret_serial)
{
    struct kept_segment *kept;

    if (ESI_ARRAY_RESERVE(store->segments, store->segment_capacity,
                          store->segment_count + 1) < 0)
        return -ENOMEM;
    kept = calloc(1, sizeof *kept);
    if (!kept)
        return -ENOMEM;
    store->segments[store->segment_count++] = kept;
    *ret_kept = kept;
    *ret_serial = store->serial++;
    return 0;
}

static int make_segment(const struct esi_element_store *store,
                        int serial,
                        const struct esi_segment_config *wanted,
                        struct es_error *error,
                        struct es_segment **ret_segment)
{
    struct esi_segment_config config = *wanted;

    config.run = store->run;
    config.host = store->host;
    config.rank = serial;
    config.keep_free_percent = ES_BUDGET_FREE_PERCENT;
    return esi_segment_create(&config, error, ret_segment);
}

static struct kept_segment *find_own(const struct esi_element_store *store,
                                     const char *name)
{
    for (size_t i = 0; i < store->segment_count; i++)
        if (!store->segments[i]->host[0] && strcmp(store->segments[i]->name, name) == 0)
            return store->segments[i];
    return NULL;
}

/* Called with the lock held. */
static void drop_segment(struct esi_element_store *store, struct kept_segment *kept)
{
    for (size_t i = 0; i < store->segment_count; i++)
        if (store->segments[i] == kept) {
            store->segments[i] = store->segments[--store->segment_count];
            break;
        }
    esi_segment_destroy(kept->segment);
    free(kept);
}

/* --- Consumers' own data ---------------------------------------------------------- */

/* Creates the segment and the element in it, or nothing. */
static int make_own(const struct esi_element_store *store,
                    int serial,
                    const struct esi_element_config *element,
                    struct es_error *error,
                    struct es_segment **ret_segment)
{
    struct esi_segment_keeping nobody = {.rank = -1, .size = -1};
    struct esi_segment_config config;
    struct es_segment *segment;
    struct esi_writer writer;
    int result;

    esi_segment_config_init(&config);
    config.program = "eventspaced";
    config.max_elements = 1;
    config.max_communicators = 1;
    config.arena_bytes =
        esi_segment_ring_bytes(element->threshold, element->tuple_bytes) +
        OWN_ARENA_EXTRA;
    config.keeping = &nobody;
    result = make_segment(store, serial, &config, error, &segment);
    if (result < 0)
        return result;
    result = esi_segment_add_element(segment, element, &writer);
    /* A smaller element than requested is an error: the client needs that size. */
    if (result == 0 && writer.mask < element->threshold)
        result = -ENOSPC;
    if (result < 0) {
        esi_segment_destroy(segment);
        return es_error_set(error, result, "element '%s': %s", element->name,
                            strerror(-result));
    }
    *ret_segment = segment;
    return 0;
}

static int check_own(const struct esi_element_config *element, struct es_error *error)
{
    if (!*element->name || strlen(element->name) >= 64)
        return es_error_set(error, -EINVAL,
                            "an element's name has 1 to 63 characters: '%.80s'",
                            element->name);
    if (element->tuple_bytes < 4 || element->tuple_bytes > 65532 ||
        element->tuple_bytes % 4 != 0)
        return es_error_set(error, -EINVAL,
                            "tuples of %u bytes: expected a multiple of 4 up to 65532",
                            element->tuple_bytes);
    if (element->threshold < 1 || element->threshold > 1u << 24)
        return es_error_set(error, -EINVAL, "threshold %u: expected 1 to 16777216",
                            element->threshold);
    return 0;
}

/* Reserves the name.  Called with the lock held. */
static int begin_own(struct esi_element_store *store,
                     struct esi_element_share *share,
                     const struct esi_element_config *element,
                     struct es_error *error,
                     struct kept_segment **ret_kept,
                     int *ret_serial)
{
    uint64_t bytes = esi_segment_ring_bytes(element->threshold, element->tuple_bytes);
    struct kept_segment *kept;
    int result;

    if (find_own(store, element->name))
        return es_error_set(error, -EEXIST, "element '%s' already exists",
                            element->name);
    result = esi_element_budget_add(&store->budget, share, bytes, error);
    if (result < 0)
        return result;
    result = add_place(store, &kept, ret_serial);
    if (result < 0) {
        esi_element_budget_expire(&store->budget, bytes);
        esi_element_budget_remove(&store->budget, share, bytes);
        return result;
    }
    snprintf(kept->name, sizeof kept->name, "%s", element->name);
    kept->bytes = bytes;
    kept->share = share;
    *ret_kept = kept;
    return 0;
}

/* Called with the lock held. */
static void end_own(struct esi_element_store *store,
                    struct kept_segment *kept,
                    struct es_segment *segment)
{
    esi_element_budget_expire(&store->budget, kept->bytes);
    kept->segment = segment;
    if (segment)
        return;
    esi_element_budget_remove(&store->budget, kept->share, kept->bytes);
    drop_segment(store, kept);
}

static int add_own(struct esi_element_store *store,
                   struct esi_element_share *share,
                   const struct esi_element_config *element,
                   struct es_error *error)
{
    struct es_segment *segment = NULL;
    struct kept_segment *kept = NULL;
    int serial = 0, result;

    pthread_mutex_lock(&store->lock);
    result = begin_own(store, share, element, error, &kept, &serial);
    pthread_mutex_unlock(&store->lock);
    if (result < 0)
        return result;
    result = make_own(store, serial, element, error, &segment);
    pthread_mutex_lock(&store->lock);
    end_own(store, kept, segment);
    pthread_mutex_unlock(&store->lock);
    return result;
}

int esi_element_store_add(struct esi_element_store *store,
                          struct esi_element_share *share,
                          const char *name,
                          uint32_t tuple_bytes,
                          uint32_t threshold,
                          struct es_error *error)
{
    struct esi_element_config element = {
        .kind = ES_ELEMENT_SHARED,
        .name = name,
        .collector = "",
        .rank = -1,
        .thread = -1,
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = tuple_bytes,
        .threshold = threshold,
        .enabled = true,
    };
    int result = check_own(&element, error);

    return result < 0 ? result : add_own(store, share, &element, error);
}

int esi_element_store_remove(struct esi_element_store *store,
                             const char *name,
                             struct es_error *error)
{
    struct kept_segment *kept;
    bool is_made;

    pthread_mutex_lock(&store->lock);
    kept = find_own(store, name);
    is_made = kept && kept->segment;
    if (is_made) {
        esi_element_budget_remove(&store->budget, kept->share, kept->bytes);
        drop_segment(store, kept);
    }
    pthread_mutex_unlock(&store->lock);
    if (is_made)
        return 0;
    return kept ? es_error_set(error, -EBUSY, "element '%.64s' is being made", name)
                : es_error_set(error, -ENOENT, "this host holds no element '%.64s'",
                               name);
}

/* --- Placed elements -------------------------------------------------------------- */

static struct kept_segment *find_process(const struct esi_element_store *store,
                                         const struct esi_placed_process *process)
{
    for (size_t i = 0; i < store->segment_count; i++)
        if (store->segments[i]->pid == process->facts.pid &&
            strcmp(store->segments[i]->host, process->host) == 0)
            return store->segments[i];
    return NULL;
}

/* Finds or creates the segment of the process, which takes little memory while it is
 * empty.  Called with the lock held. */
static int open_process(struct esi_element_store *store,
                        const struct esi_placed_process *process,
                        struct es_error *error,
                        struct kept_segment **ret_kept)
{
    struct kept_segment *kept = find_process(store, process);
    struct esi_segment_config config;
    int serial, result;

    if (!kept) {
        result = add_place(store, &kept, &serial);
        if (result < 0)
            return result;
        esi_segment_config_init(&config);
        config.program = process->program;
        config.keeping = &process->facts;
        result = make_segment(store, serial, &config, error, &kept->segment);
        if (result < 0) {
            drop_segment(store, kept);
            return result;
        }
        kept->pid = process->facts.pid;
        snprintf(kept->host, sizeof kept->host, "%s", process->host);
    }
    *ret_kept = kept;
    return 0;
}

static bool is_placed_from(const struct es_element_view *element,
                           const struct esi_placed_process *process,
                           const char *name,
                           uint64_t *ret_next)
{
    struct es_segment_info segment;
    struct es_element_info info;

    es_segment_view_info(es_element_view_segment(element), &segment);
    if (!segment.kept || segment.pid != process->facts.pid ||
        segment.rank != process->facts.rank)
        return false;
    es_element_view_info(element, &info);
    *ret_next = esi_element_next_placed(element);
    return !info.shared && strcmp(info.name, name) == 0;
}

/* The position that a previous server reached in the element; 0 if it had none. */
static uint64_t position_before(const struct esi_element_store *store,
                                const struct esi_placed_process *process,
                                const char *name)
{
    uint64_t position = 0;

    for (size_t i = 0; i < es_run_segment_count(store->before); i++) {
        const struct es_segment_view *segment = es_run_segment(store->before, i);

        for (size_t j = 0; j < es_segment_view_element_count(segment); j++) {
            uint64_t next;

            if (is_placed_from(es_segment_view_element(segment, j), process, name,
                               &next) &&
                next > position)
                position = next;
        }
    }
    return position;
}

static struct esi_placed_element *find_placed(const struct esi_element_store *store,
                                              const struct esi_placed_process *process,
                                              const char *name)
{
    for (size_t i = 0; i < store->placed_count; i++) {
        struct esi_placed_element *placed = store->placed[i];

        if (placed->home->pid == process->facts.pid &&
            strcmp(placed->home->host, process->host) == 0 &&
            strcmp(placed->name, name) == 0)
            return placed;
    }
    return NULL;
}

/* Counts the element and finds a segment for it.  Called with the lock held. */
static int begin_placed(struct esi_element_store *store,
                        const struct esi_placed_process *process,
                        uint64_t bytes,
                        struct es_error *error,
                        struct kept_segment **ret_home)
{
    int result;

    if (ESI_ARRAY_RESERVE(store->placed, store->placed_capacity,
                          store->placed_count + 1) < 0)
        return -ENOMEM;
    result = esi_element_budget_add(&store->budget, NULL, bytes, error);
    if (result < 0)
        return result;
    result = open_process(store, process, error, ret_home);
    if (result < 0) {
        esi_element_budget_expire(&store->budget, bytes);
        esi_element_budget_remove(&store->budget, NULL, bytes);
    }
    return result;
}

/* Reserves the memory of the element, without the lock. */
static int make_placed(const struct esi_element_store *store,
                       const struct esi_placed_process *process,
                       const struct esi_element_config *config,
                       struct kept_segment *home,
                       struct es_error *error,
                       struct esi_placed_element **ret_placed)
{
    struct esi_placed_element *placed = calloc(1, sizeof *placed);
    int result;

    if (!placed)
        return -ENOMEM;
    result = esi_segment_add_element(home->segment, config, &placed->writer);
    if (result < 0) {
        free(placed);
        return es_error_set(error, result, "element '%s': %s", config->name,
                            strerror(-result));
    }
    /* Used only by the writer. */
    placed->writer.element->moved_before =
        position_before(store, process, config->name);
    placed->home = home;
    snprintf(placed->name, sizeof placed->name, "%s", config->name);
    *ret_placed = placed;
    return 0;
}

int esi_element_store_place(struct esi_element_store *store,
                            const struct esi_placed_process *process,
                            const struct esi_element_config *config,
                            struct es_error *error,
                            struct esi_placed_element **ret_placed)
{
    uint64_t bytes = esi_segment_ring_bytes(config->threshold, config->tuple_bytes);
    struct esi_placed_element *placed = find_placed(store, process, config->name);
    struct kept_segment *home;
    int result;

    if (placed) {
        *ret_placed = placed;
        return 0;
    }
    pthread_mutex_lock(&store->lock);
    result = begin_placed(store, process, bytes, error, &home);
    pthread_mutex_unlock(&store->lock);
    if (result < 0)
        return result;
    result = make_placed(store, process, config, home, error, &placed);
    pthread_mutex_lock(&store->lock);
    esi_element_budget_expire(&store->budget, bytes);
    if (result < 0)
        esi_element_budget_remove(&store->budget, NULL, bytes);
    else
        *ret_placed = store->placed[store->placed_count++] = placed;
    pthread_mutex_unlock(&store->lock);
    return result;
}

/* The switches of the element are in shared memory: a reader that does not read must
 * not block the caller forever. */
static bool await_room(const struct esi_element_store *store, struct esi_writer *writer)
{
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC);

    while (!esi_writer_has_room(writer) && !atomic_load(&store->stops) &&
           esi_now_ns(CLOCK_MONOTONIC) - begin < ROOM_NS)
        esi_writer_sleep_for_room(writer, begin);
    return esi_writer_has_room(writer);
}

int esi_element_store_write(const struct esi_element_store *store,
                            struct esi_placed_element *placed,
                            uint64_t position,
                            const struct es_tuple *tuple)
{
    struct esi_writer *writer = &placed->writer;
    _Atomic uint64_t *lost = &writer->element->lost_moving;
    uint64_t next = writer->element->moved_before +
                    atomic_load_explicit(lost, memory_order_relaxed) + writer->head;

    if (position < next)
        return 0;
    if (!esi_writer_has_room(writer) && !await_room(store, writer))
        return -ETIMEDOUT;
    /* The tuples in between are lost. */
    atomic_fetch_add_explicit(lost, position - next, memory_order_relaxed);
    esi_writer_store(writer, tuple, 0);
    esi_writer_advance(writer);
    return 0;
}

/* --- Their processes -------------------------------------------------------------- */

/* As returned by waitpid(2); -1 if not known. */
static int exit_status_of(const struct es_segment_info *process)
{
    if (process->signal != 0)
        return process->signal;
    return process->exit_code >= 0 ? process->exit_code << 8 : -1;
}

static void note_end(struct esi_segment_layout *layout,
                     const struct es_segment_info *process)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    atomic_store_explicit(&layout->exit_status, exit_status_of(process),
                          memory_order_relaxed);
    atomic_store_explicit(&layout->ended_realtime_ns,
                          (uint64_t)now.tv_sec * UINT64_C(1000000000) +
                              (uint64_t)now.tv_nsec,
                          memory_order_relaxed);
    /* Pairs with the readers' acquire: exit_status is valid. */
    atomic_store_explicit(&layout->ended, 1, memory_order_release);
}

void esi_element_store_note(const struct esi_placed_element *placed,
                            const struct es_segment_info *process)
{
    struct es_segment *segment = placed->home->segment;
    struct esi_segment_layout *layout = esi_segment_layout(segment);
    enum esi_segment_state state = ES_SEGMENT_RUNNING;

    if (process->state == ES_PROCESS_FINALIZED)
        state = ES_SEGMENT_FINALIZED;
    if (process->state == ES_PROCESS_ABORTED)
        state = ES_SEGMENT_ABORTED;
    esi_segment_set_state(segment, state);
    if (!process->alive &&
        atomic_load_explicit(&layout->ended, memory_order_relaxed) == 0)
        note_end(layout, process);
}

/* Bytes of a communicator in addition to its row: lists of ranks. */
static uint64_t list_bytes(const struct esi_communicator_config *config)
{
    return ((uint64_t)(config->group ? config->group_size : 0) +
            (uint64_t)(config->remote ? config->remote_size : 0)) *
           sizeof(int32_t);
}

uint32_t esi_element_store_communicator_count(const struct esi_placed_element *placed)
{
    return atomic_load_explicit(
        &esi_segment_layout(placed->home->segment)->communicator_count,
        memory_order_relaxed);
}

int esi_element_store_add_communicator(struct esi_element_store *store,
                                       const struct esi_placed_element *placed,
                                       const struct esi_communicator_config *config)
{
    uint64_t bytes = list_bytes(config);
    uint16_t index;
    int result;

    pthread_mutex_lock(&store->lock);
    result = element_budget_extend(&store->budget, NULL, bytes, NULL);
    if (result == 0) {
        result = esi_segment_add_communicator(placed->home->segment, config, &index);
        esi_element_budget_expire(&store->budget, bytes);
    }
    pthread_mutex_unlock(&store->lock);
    return result;
}
