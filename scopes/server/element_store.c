/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The elements that a tuple server holds itself. */
#include "config.h"

#include "scopes/server/element_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "eventspace/run.h"
#include "tuplespace/moving.h"
#include "tuplespace/segment_set.h"

/* Segments of one process are told apart by the rank in their names; no program has
 * ranks like these. */
#define FIRST_SERIAL (1 << 24)
#define OWN_ARENA_EXTRA (UINT64_C(1) << 16)

/* How long a client waits for the reader of a blocking element that was moved here. */
#define ROOM_NS UINT64_C(1000000000)

/* A segment of the store: one element of consumers, or all that one process has here.
 */
struct kept_segment {
    struct es_segment *segment;     /* owned; NULL while it is being made */
    uint64_t bytes;                 /* of the consumers' element */
    struct es_element_share *share; /* that made it; NULL = its connection has ended */
    char host[64];                  /* where its process ran; "" = of consumers */
    int pid;
    char name[64]; /* of the consumers' element */
};

struct moved_element {
    struct kept_segment *home; /* borrowed */
    char name[64];
    bool is_being_made;
    struct es_writer writer; /* element NULL: it could not be made */
    pthread_mutex_t lock;    /* connections may follow each other closely */
};

struct es_element_store {
    char run[64];
    char host[64];
    pthread_mutex_t lock;
    int serial;
    struct kept_segment **segments; /* owned, items too */
    size_t segment_count;
    struct moved_element **moved; /* owned, items too; by id */
    size_t moved_count;
    struct es_element_budget budget;
    struct es_run *before; /* what a server before this one has left; may be NULL */
    atomic_bool stops;
};

int es_element_store_create(struct esi_segment_set *segments,
                            const char *host,
                            struct es_element_store **ret_store)
{
    struct es_element_store *store = calloc(1, sizeof *store);
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

void es_element_store_destroy(struct es_element_store *store)
{
    int saved_errno = errno;

    if (!store)
        return;
    for (size_t i = 0; i < store->moved_count; i++) {
        pthread_mutex_destroy(&store->moved[i]->lock);
        free(store->moved[i]);
    }
    for (size_t i = 0; i < store->segment_count; i++) {
        es_segment_destroy(store->segments[i]->segment);
        free(store->segments[i]);
    }
    free(store->moved);
    free(store->segments);
    es_run_close(store->before);
    pthread_mutex_destroy(&store->lock);
    free(store);
    errno = saved_errno;
}

void es_element_store_stop(struct es_element_store *store)
{
    if (store)
        atomic_store(&store->stops, true);
}

void es_element_store_unlink(struct es_element_store *store)
{
    for (size_t i = 0; store && i < store->segment_count; i++)
        es_segment_remove(store->segments[i]->segment);
}

void es_element_store_leave(struct es_element_store *store,
                            const struct es_element_share *share)
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

/* Makes a place in the list; what is in it is not made yet.  Caller holds the lock. */
static int add_place(struct es_element_store *store,
                     struct kept_segment **ret_kept,
                     int *ret_serial)
{
    struct kept_segment **grown =
        reallocarray(store->segments, store->segment_count + 1, sizeof *grown);
    struct kept_segment *kept;

    if (!grown)
        return -ENOMEM;
    store->segments = grown;
    kept = calloc(1, sizeof *kept);
    if (!kept)
        return -ENOMEM;
    store->segments[store->segment_count++] = kept;
    *ret_kept = kept;
    *ret_serial = store->serial++;
    return 0;
}

static int make_segment(const struct es_element_store *store,
                        int serial,
                        const struct es_segment_config *wanted,
                        struct es_error *error,
                        struct es_segment **ret_segment)
{
    struct es_segment_config config = *wanted;

    config.run = store->run;
    config.host = store->host;
    config.rank = serial;
    config.keep_free_percent = ES_BUDGET_FREE_PERCENT;
    return es_segment_create(&config, error, ret_segment);
}

static struct kept_segment *find_own(const struct es_element_store *store,
                                     const char *name)
{
    for (size_t i = 0; i < store->segment_count; i++)
        if (!store->segments[i]->host[0] && strcmp(store->segments[i]->name, name) == 0)
            return store->segments[i];
    return NULL;
}

/* Caller holds the lock. */
static void drop_segment(struct es_element_store *store, struct kept_segment *kept)
{
    for (size_t i = 0; i < store->segment_count; i++)
        if (store->segments[i] == kept) {
            store->segments[i] = store->segments[--store->segment_count];
            break;
        }
    es_segment_destroy(kept->segment);
    free(kept);
}

/* --- Consumers' own data ---------------------------------------------------------- */

/* The segment and the element in it, whole or not at all. */
static int make_own(const struct es_element_store *store,
                    int serial,
                    const struct es_element_config *element,
                    struct es_error *error,
                    struct es_segment **ret_segment)
{
    struct es_segment_keeping nobody = {.rank = -1, .size = -1};
    struct es_segment_config config;
    struct es_segment *segment;
    struct es_writer writer;
    int result;

    es_segment_config_init(&config);
    config.program = "eventspaced";
    config.max_elements = 1;
    config.max_communicators = 1;
    config.arena_bytes =
        es_segment_ring_bytes(element->threshold, element->tuple_bytes) +
        OWN_ARENA_EXTRA;
    config.keeping = &nobody;
    result = make_segment(store, serial, &config, error, &segment);
    if (result < 0)
        return result;
    result = es_segment_add_element(segment, element, &writer);
    /* Half an element is none: who asked knows what he needs. */
    if (result == 0 && writer.mask < element->threshold)
        result = -ENOSPC;
    if (result < 0) {
        es_segment_destroy(segment);
        return es_error_set(error, result, "element \"%s\": %s", element->name,
                            strerror(-result));
    }
    *ret_segment = segment;
    return 0;
}

static int check_own(const struct es_element_config *element, struct es_error *error)
{
    if (!*element->name || strlen(element->name) >= 64)
        return es_error_set(error, -EINVAL,
                            "an element's name has 1 to 63 characters: \"%.80s\"",
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

/* The name is taken from here on.  Caller holds the lock. */
static int begin_own(struct es_element_store *store,
                     struct es_element_share *share,
                     const struct es_element_config *element,
                     struct es_error *error,
                     struct kept_segment **ret_kept,
                     int *ret_serial)
{
    uint64_t bytes = es_segment_ring_bytes(element->threshold, element->tuple_bytes);
    struct kept_segment *kept;
    int result;

    if (find_own(store, element->name))
        return es_error_set(error, -EEXIST, "element \"%s\" is there already",
                            element->name);
    result = es_element_budget_add(&store->budget, share, bytes, error);
    if (result < 0)
        return result;
    result = add_place(store, &kept, ret_serial);
    if (result < 0) {
        es_element_budget_settle(&store->budget, bytes);
        es_element_budget_remove(&store->budget, share, bytes);
        return result;
    }
    snprintf(kept->name, sizeof kept->name, "%s", element->name);
    kept->bytes = bytes;
    kept->share = share;
    *ret_kept = kept;
    return 0;
}

/* Caller holds the lock. */
static void end_own(struct es_element_store *store,
                    struct kept_segment *kept,
                    struct es_segment *segment)
{
    es_element_budget_settle(&store->budget, kept->bytes);
    kept->segment = segment;
    if (segment)
        return;
    es_element_budget_remove(&store->budget, kept->share, kept->bytes);
    drop_segment(store, kept);
}

static int add_own(struct es_element_store *store,
                   struct es_element_share *share,
                   const struct es_element_config *element,
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

int es_element_store_add(struct es_element_store *store,
                         struct es_element_share *share,
                         const char *name,
                         uint32_t tuple_bytes,
                         uint32_t threshold,
                         struct es_error *error)
{
    struct es_element_config element = {
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

int es_element_store_remove(struct es_element_store *store,
                            const char *name,
                            struct es_error *error)
{
    struct kept_segment *kept;
    bool is_made;

    pthread_mutex_lock(&store->lock);
    kept = find_own(store, name);
    is_made = kept && kept->segment;
    if (is_made) {
        es_element_budget_remove(&store->budget, kept->share, kept->bytes);
        drop_segment(store, kept);
    }
    pthread_mutex_unlock(&store->lock);
    if (is_made)
        return 0;
    return kept ? es_error_set(error, -EBUSY, "element \"%.64s\" is being made", name)
                : es_error_set(error, -ENOENT, "this host holds no element \"%.64s\"",
                               name);
}

/* --- Moved elements --------------------------------------------------------------- */

static struct kept_segment *find_process(const struct es_element_store *store,
                                         const struct es_moved_process *process)
{
    for (size_t i = 0; i < store->segment_count; i++)
        if (store->segments[i]->pid == process->facts.pid &&
            strcmp(store->segments[i]->host, process->host) == 0)
            return store->segments[i];
    return NULL;
}

/* The segment of the process: little memory as long as there is nothing in it.  Caller
 * holds the lock. */
static int open_process(struct es_element_store *store,
                        const struct es_moved_process *process,
                        struct es_error *error,
                        struct kept_segment **ret_kept)
{
    struct kept_segment *kept = find_process(store, process);
    struct es_segment_config config;
    int serial, result;

    if (!kept) {
        result = add_place(store, &kept, &serial);
        if (result < 0)
            return result;
        es_segment_config_init(&config);
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

static bool is_moved_from(const struct es_element_view *element,
                          const struct es_moved_process *process,
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
    *ret_next = es_element_next_moved(element);
    return !info.shared && strcmp(info.name, name) == 0;
}

/* Where a server before this one came to with the element; 0 = it had none. */
static uint64_t position_before(const struct es_element_store *store,
                                const struct es_moved_process *process,
                                const char *name)
{
    uint64_t position = 0;

    for (size_t i = 0; i < es_run_segment_count(store->before); i++) {
        const struct es_segment_view *segment = es_run_segment(store->before, i);

        for (size_t j = 0; j < es_segment_view_element_count(segment); j++) {
            uint64_t next;

            if (is_moved_from(es_segment_view_element(segment, j), process, name,
                              &next) &&
                next > position)
                position = next;
        }
    }
    return position;
}

static uint64_t lost_of(const struct moved_element *moved)
{
    return atomic_load_explicit(&moved->writer.element->lost_moving,
                                memory_order_relaxed);
}

/* The original's position of the next tuple. */
static uint64_t next_position(const struct moved_element *moved)
{
    return moved->writer.element->moved_before + lost_of(moved) + moved->writer.head;
}

/* What lies between is lost. */
static void skip_to(struct moved_element *moved, uint64_t position)
{
    atomic_store_explicit(&moved->writer.element->lost_moving,
                          lost_of(moved) + position - next_position(moved),
                          memory_order_relaxed);
}

static struct moved_element *find_moved(const struct es_element_store *store,
                                        const struct kept_segment *home,
                                        const char *name,
                                        uint32_t *ret_id)
{
    for (size_t i = 0; i < store->moved_count; i++)
        if (store->moved[i]->home == home && strcmp(store->moved[i]->name, name) == 0) {
            *ret_id = (uint32_t)i;
            return store->moved[i];
        }
    return NULL;
}

/* An element that is not made yet.  Caller holds the lock. */
static int add_moved(struct es_element_store *store,
                     struct kept_segment *home,
                     const char *name,
                     struct moved_element **ret_moved,
                     uint32_t *ret_id)
{
    struct moved_element **grown =
        reallocarray(store->moved, store->moved_count + 1, sizeof *grown);
    struct moved_element *moved;

    if (!grown)
        return -ENOMEM;
    store->moved = grown;
    moved = calloc(1, sizeof *moved);
    if (!moved)
        return -ENOMEM;
    moved->home = home;
    snprintf(moved->name, sizeof moved->name, "%s", name);
    pthread_mutex_init(&moved->lock, NULL);
    *ret_id = (uint32_t)store->moved_count;
    store->moved[store->moved_count++] = moved;
    *ret_moved = moved;
    return 0;
}

/* A moved element, and what is still to be done for it. */
struct taking {
    struct moved_element *moved;
    uint32_t id;
    bool is_new; /* the caller is to make it */
};

/* Caller holds the lock. */
static int begin_taking(struct es_element_store *store,
                        struct es_element_share *share,
                        const struct es_moved_process *process,
                        const struct es_element_config *config,
                        struct es_error *error,
                        struct taking *taking)
{
    uint64_t bytes = es_segment_ring_bytes(config->threshold, sizeof(struct es_tuple));
    struct kept_segment *home = find_process(store, process);
    int result;

    taking->moved = home ? find_moved(store, home, config->name, &taking->id) : NULL;
    if (taking->moved && taking->moved->is_being_made)
        return es_error_set(error, -EBUSY, "element \"%s\" is being made",
                            config->name);
    if (taking->moved && taking->moved->writer.element)
        return 0;
    result = es_element_budget_add(&store->budget, share, bytes, error);
    if (result < 0)
        return result;
    if (!taking->moved)
        result = open_process(store, process, error, &home);
    if (result == 0 && !taking->moved)
        result = add_moved(store, home, config->name, &taking->moved, &taking->id);
    if (result < 0) {
        es_element_budget_settle(&store->budget, bytes);
        es_element_budget_remove(&store->budget, share, bytes);
        return result;
    }
    taking->moved->is_being_made = taking->is_new = true;
    return 0;
}

/* Nobody else uses it as long as it is being made. */
static int make_moved(const struct es_element_store *store,
                      struct es_segment *segment,
                      const struct es_moved_process *process,
                      const struct es_element_config *wanted,
                      struct es_error *error,
                      struct es_writer *ret_writer)
{
    struct es_element_config config = *wanted;
    int result;

    config.kind = ES_ELEMENT_TRACE;
    config.on_full = ES_ON_FULL_DISCARD;
    config.enabled = true;
    config.tuple_bytes = sizeof(struct es_tuple);
    result = es_segment_add_element(segment, &config, ret_writer);
    if (result < 0)
        return es_error_set(error, result, "element \"%s\": %s", config.name,
                            strerror(-result));
    /* Readers have no use for it. */
    ret_writer->element->moved_before = position_before(store, process, config.name);
    return 0;
}

/* Caller holds the lock. */
static void end_taking(struct es_element_store *store,
                       struct es_element_share *share,
                       const struct es_element_config *config,
                       const struct taking *taking,
                       const struct es_writer *writer)
{
    uint64_t bytes = es_segment_ring_bytes(config->threshold, sizeof(struct es_tuple));

    es_element_budget_settle(&store->budget, bytes);
    taking->moved->is_being_made = false;
    if (writer)
        taking->moved->writer = *writer;
    else
        es_element_budget_remove(&store->budget, share, bytes);
}

int es_element_store_take(struct es_element_store *store,
                          struct es_element_share *share,
                          const struct es_moved_process *process,
                          const struct es_element_config *config,
                          struct es_error *error,
                          uint32_t *ret_id,
                          uint64_t *ret_position)
{
    struct taking taking = {.is_new = false};
    struct es_writer writer;
    int result;

    pthread_mutex_lock(&store->lock);
    result = begin_taking(store, share, process, config, error, &taking);
    pthread_mutex_unlock(&store->lock);
    if (result < 0)
        return result;
    if (taking.is_new) {
        result = make_moved(store, taking.moved->home->segment, process, config, error,
                            &writer);
        pthread_mutex_lock(&store->lock);
        end_taking(store, share, config, &taking, result == 0 ? &writer : NULL);
        pthread_mutex_unlock(&store->lock);
    }
    if (result < 0)
        return result;
    pthread_mutex_lock(&taking.moved->lock);
    *ret_id = taking.id;
    *ret_position = next_position(taking.moved);
    pthread_mutex_unlock(&taking.moved->lock);
    return 0;
}

/* Items are never freed before the store is. */
static struct moved_element *moved_of(struct es_element_store *store, uint32_t id)
{
    struct moved_element *moved;

    pthread_mutex_lock(&store->lock);
    moved = id < store->moved_count ? store->moved[id] : NULL;
    if (moved && (moved->is_being_made || !moved->writer.element))
        moved = NULL;
    pthread_mutex_unlock(&store->lock);
    return moved;
}

/* The element's switches lie in shared memory: a reader that takes nothing must not
 * hold the connection for ever. */
static int write_one(const struct es_element_store *store,
                     struct moved_element *moved,
                     const struct es_tuple *tuple)
{
    struct es_writer *writer = &moved->writer;
    uint64_t begin;

    if (!esi_writer_has_room(writer)) {
        begin = es_now_ns(CLOCK_MONOTONIC);
        do
            esi_writer_sleep_for_room(writer, begin);
        while (!esi_writer_has_room(writer) && !atomic_load(&store->stops) &&
               es_now_ns(CLOCK_MONOTONIC) - begin < ROOM_NS);
        if (!esi_writer_has_room(writer))
            return -ETIMEDOUT;
    }
    esi_writer_store(esi_writer_slot(writer), tuple);
    esi_writer_advance(writer);
    return 0;
}

int es_element_store_write(struct es_element_store *store,
                           uint32_t id,
                           uint64_t position,
                           const struct es_tuple *tuples,
                           size_t count,
                           uint64_t *ret_position,
                           uint64_t *ret_lost)
{
    struct moved_element *moved = moved_of(store, id);
    uint64_t next;
    int result = 0;

    if (!moved)
        return -ENOENT;
    pthread_mutex_lock(&moved->lock);
    next = next_position(moved);
    if (position > next)
        skip_to(moved, position);
    for (size_t i = 0; i < count && result == 0; i++)
        if (position + i >= next)
            result = write_one(store, moved, &tuples[i]);
    *ret_position = next_position(moved);
    *ret_lost = lost_of(moved);
    pthread_mutex_unlock(&moved->lock);
    return result;
}

/* --- Their processes -------------------------------------------------------------- */

static void note_end(struct es_segment_layout *layout, int status)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    atomic_store_explicit(&layout->exit_status, status, memory_order_relaxed);
    atomic_store_explicit(&layout->ended_realtime_ns,
                          (uint64_t)now.tv_sec * UINT64_C(1000000000) +
                              (uint64_t)now.tv_nsec,
                          memory_order_relaxed);
    /* Pairs with the readers' acquire: exit_status is valid. */
    atomic_store_explicit(&layout->ended, 1, memory_order_release);
}

int es_element_store_note(struct es_element_store *store,
                          uint32_t id,
                          enum es_segment_state state,
                          bool ended,
                          int status)
{
    struct moved_element *moved = moved_of(store, id);

    if (!moved)
        return -ENOENT;
    es_segment_set_state(moved->home->segment, state);
    if (ended)
        note_end(es_segment_layout(moved->home->segment), status);
    return 0;
}

/* What the communicator may take beside its row: lists of ranks. */
static uint64_t list_bytes(const struct es_communicator_config *config)
{
    return ((uint64_t)(config->group ? config->group_size : 0) +
            (uint64_t)(config->remote ? config->remote_size : 0)) *
           sizeof(int32_t);
}

int es_element_store_add_communicator(struct es_element_store *store,
                                      struct es_element_share *share,
                                      uint32_t id,
                                      uint16_t index,
                                      const struct es_communicator_config *config)
{
    struct moved_element *moved = moved_of(store, id);
    struct es_segment *segment;
    uint64_t bytes = list_bytes(config);
    uint32_t count;
    uint16_t made;
    int result = 0;

    if (!moved)
        return -ENOENT;
    segment = moved->home->segment;
    pthread_mutex_lock(&store->lock);
    count = atomic_load_explicit(&es_segment_layout(segment)->communicator_count,
                                 memory_order_relaxed);
    if (index == count)
        result = es_element_budget_extend(&store->budget, share, bytes, NULL);
    if (index == count && result == 0) {
        result = es_segment_add_communicator(segment, config, &made);
        es_element_budget_settle(&store->budget, bytes);
    }
    pthread_mutex_unlock(&store->lock);
    return result;
}
