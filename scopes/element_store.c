/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The elements that a tuple server holds itself. */
#include "config.h"

#include "scopes/element_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eventspace/run.h"
#include "tuplespace/moving.h"

/* Segments of one process are told apart by the rank in their names; no program has
 * ranks like these. */
#define FIRST_SERIAL (1 << 24)
#define OWN_ARENA_EXTRA (UINT64_C(1) << 16)

/* A segment of the store: one element of consumers, or all that one process has here.
 */
struct kept_segment {
    struct es_segment *segment; /* owned */
    char host[64];              /* where its process ran; "" = of consumers */
    int pid;
    char name[64]; /* of the consumers' element */
};

struct moved_element {
    struct kept_segment *home; /* borrowed */
    struct es_writer writer;
    pthread_mutex_t lock; /* connections may follow each other closely */
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
    struct es_run *before; /* what a server before this one has left; may be NULL */
};

int es_element_store_create(const char *run,
                            const char *host,
                            struct es_element_store **ret_store)
{
    struct es_element_store *store = calloc(1, sizeof *store);
    int result;

    if (!store)
        return -ENOMEM;
    snprintf(store->run, sizeof store->run, "%s", run);
    snprintf(store->host, sizeof store->host, "%s", host);
    store->serial = FIRST_SERIAL;
    result = es_run_open_empty(run, NULL, &store->before);
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

/* --- Segments
 * ------------------------------------------------------------------------ */

/* Caller holds the lock, here and below.  `kept` is taken on success. */
static int open_segment(struct es_element_store *store,
                        const struct es_segment_config *wanted,
                        struct kept_segment *kept,
                        struct es_error *error)
{
    struct es_segment_config config = *wanted;
    struct kept_segment **grown =
        reallocarray(store->segments, store->segment_count + 1, sizeof *grown);
    int result;

    if (!grown)
        return -ENOMEM;
    store->segments = grown;
    config.run = store->run;
    config.host = store->host;
    config.rank = store->serial;
    result = es_segment_create(&config, error, &kept->segment);
    if (result < 0)
        return result;
    store->serial++;
    store->segments[store->segment_count++] = kept;
    return 0;
}

static struct kept_segment *find_own(const struct es_element_store *store,
                                     const char *name)
{
    for (size_t i = 0; i < store->segment_count; i++)
        if (!store->segments[i]->host[0] && strcmp(store->segments[i]->name, name) == 0)
            return store->segments[i];
    return NULL;
}

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

/* --- Consumers' own data
 * ------------------------------------------------------------- */

static int add_own(struct es_element_store *store,
                   const struct es_element_config *element,
                   struct es_error *error)
{
    struct es_segment_keeping nobody = {.rank = -1, .size = -1};
    struct es_segment_config config;
    struct kept_segment *kept = calloc(1, sizeof *kept);
    int result;

    if (!kept)
        return -ENOMEM;
    snprintf(kept->name, sizeof kept->name, "%s", element->name);
    es_segment_config_init(&config);
    config.program = "eventspaced";
    config.max_elements = 1;
    config.max_communicators = 1;
    config.arena_bytes =
        2 * (uint64_t)(element->threshold + 1) * element->tuple_bytes + OWN_ARENA_EXTRA;
    config.keeping = &nobody;
    result = open_segment(store, &config, kept, error);
    if (result < 0) {
        free(kept);
        return result;
    }
    result = es_segment_add_element(kept->segment, element, NULL);
    if (result < 0) {
        drop_segment(store, kept);
        return es_error_set(error, result, "element \"%s\": %s", element->name,
                            strerror(-result));
    }
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

int es_element_store_add(struct es_element_store *store,
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

    if (result < 0)
        return result;
    pthread_mutex_lock(&store->lock);
    if (find_own(store, name))
        result = es_error_set(error, -EEXIST, "element \"%s\" is there already", name);
    else
        result = add_own(store, &element, error);
    pthread_mutex_unlock(&store->lock);
    return result;
}

int es_element_store_remove(struct es_element_store *store,
                            const char *name,
                            struct es_error *error)
{
    struct kept_segment *kept;

    pthread_mutex_lock(&store->lock);
    kept = find_own(store, name);
    if (kept)
        drop_segment(store, kept);
    pthread_mutex_unlock(&store->lock);
    if (!kept)
        return es_error_set(error, -ENOENT, "this host holds no element \"%.64s\"",
                            name);
    return 0;
}

/* --- Moved elements
 * ------------------------------------------------------------------ */

static struct kept_segment *find_process(const struct es_element_store *store,
                                         const struct es_moved_process *process)
{
    for (size_t i = 0; i < store->segment_count; i++)
        if (store->segments[i]->pid == process->facts.pid &&
            strcmp(store->segments[i]->host, process->host) == 0)
            return store->segments[i];
    return NULL;
}

static int open_process(struct es_element_store *store,
                        const struct es_moved_process *process,
                        struct es_error *error,
                        struct kept_segment **ret_kept)
{
    struct es_segment_config config;
    struct kept_segment *kept = find_process(store, process);
    int result;

    if (!kept) {
        kept = calloc(1, sizeof *kept);
        if (!kept)
            return -ENOMEM;
        kept->pid = process->facts.pid;
        snprintf(kept->host, sizeof kept->host, "%s", process->host);
        es_segment_config_init(&config);
        config.program = process->program;
        config.keeping = &process->facts;
        result = open_segment(store, &config, kept, error);
        if (result < 0) {
            free(kept);
            return result;
        }
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
        if (store->moved[i]->home == home &&
            strcmp(store->moved[i]->writer.element->name, name) == 0) {
            *ret_id = (uint32_t)i;
            return store->moved[i];
        }
    return NULL;
}

static int add_moved(struct es_element_store *store,
                     struct kept_segment *home,
                     const struct es_element_config *wanted,
                     struct moved_element **ret_moved)
{
    struct moved_element **grown =
        reallocarray(store->moved, store->moved_count + 1, sizeof *grown);
    struct es_element_config config = *wanted;
    struct moved_element *moved;
    int result;

    if (!grown)
        return -ENOMEM;
    store->moved = grown;
    moved = calloc(1, sizeof *moved);
    if (!moved)
        return -ENOMEM;
    config.kind = ES_ELEMENT_TRACE;
    config.on_full = ES_ON_FULL_DISCARD;
    config.enabled = true;
    config.tuple_bytes = sizeof(struct es_tuple);
    moved->home = home;
    result = es_segment_add_element(home->segment, &config, &moved->writer);
    if (result < 0) {
        free(moved);
        return result;
    }
    pthread_mutex_init(&moved->lock, NULL);
    store->moved[store->moved_count++] = moved;
    *ret_moved = moved;
    return 0;
}

static int take(struct es_element_store *store,
                const struct es_moved_process *process,
                const struct es_element_config *config,
                struct es_error *error,
                uint32_t *ret_id,
                uint64_t *ret_position)
{
    struct moved_element *moved;
    struct kept_segment *home;
    int result = open_process(store, process, error, &home);

    if (result < 0)
        return result;
    moved = find_moved(store, home, config->name, ret_id);
    if (!moved) {
        result = add_moved(store, home, config, &moved);
        if (result < 0)
            return es_error_set(error, result, "element \"%s\": %s", config->name,
                                strerror(-result));
        *ret_id = (uint32_t)(store->moved_count - 1);
        /* Readers have no use for it. */
        moved->writer.element->moved_before =
            position_before(store, process, config->name);
    }
    pthread_mutex_lock(&moved->lock);
    *ret_position = next_position(moved);
    pthread_mutex_unlock(&moved->lock);
    return 0;
}

int es_element_store_take(struct es_element_store *store,
                          const struct es_moved_process *process,
                          const struct es_element_config *config,
                          struct es_error *error,
                          uint32_t *ret_id,
                          uint64_t *ret_position)
{
    int result;

    pthread_mutex_lock(&store->lock);
    result = take(store, process, config, error, ret_id, ret_position);
    pthread_mutex_unlock(&store->lock);
    return result;
}

/* Items are never freed before the store is. */
static struct moved_element *moved_of(struct es_element_store *store, uint32_t id)
{
    struct moved_element *moved;

    pthread_mutex_lock(&store->lock);
    moved = id < store->moved_count ? store->moved[id] : NULL;
    pthread_mutex_unlock(&store->lock);
    return moved;
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

    if (!moved)
        return -ENOENT;
    pthread_mutex_lock(&moved->lock);
    next = next_position(moved);
    if (position > next)
        skip_to(moved, position);
    for (size_t i = 0; i < count; i++)
        if (position + i >= next)
            es_writer_write(&moved->writer, &tuples[i]);
    *ret_position = next_position(moved);
    *ret_lost = lost_of(moved);
    pthread_mutex_unlock(&moved->lock);
    return 0;
}

/* --- Their processes
 * ----------------------------------------------------------------- */

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

int es_element_store_add_communicator(struct es_element_store *store,
                                      uint32_t id,
                                      uint16_t index,
                                      const struct es_communicator_config *config)
{
    struct moved_element *moved = moved_of(store, id);
    struct es_segment *segment;
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
        result = es_segment_add_communicator(segment, config, &made);
    pthread_mutex_unlock(&store->lock);
    return result;
}
