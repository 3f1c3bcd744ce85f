/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The clocks of a run's hosts, as one tuple server or consumer knows them. */
#include "config.h"

#include "scopes/remote/clock_registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

struct entry {
    char host[64];
    struct es_host_clock *clock; /* what readers convert by */
    struct es_clock_estimate estimate;
};

struct es_clock_board {
    pthread_mutex_t lock;   /* of the list, and of writing clocks */
    struct entry **entries; /* owned, items too */
    size_t count;
    size_t capacity;
    struct esi_hash by_host;
};

int es_clock_board_create(struct es_clock_board **ret_board)
{
    struct es_clock_board *board = calloc(1, sizeof *board);

    if (!board)
        return -ENOMEM;
    pthread_mutex_init(&board->lock, NULL);
    *ret_board = board;
    return 0;
}

void es_clock_board_destroy(struct es_clock_board *board)
{
    int saved_errno = errno;

    if (!board)
        return;
    for (size_t i = 0; i < board->count; i++) {
        es_host_clock_destroy(board->entries[i]->clock);
        free(board->entries[i]);
    }
    free(board->entries);
    esi_hash_fini(&board->by_host);
    pthread_mutex_destroy(&board->lock);
    free(board);
    errno = saved_errno;
}

/* These are called with the lock held. */

static struct entry *find(struct es_clock_board *board, const char *host)
{
    ESI_HASH_FOREACH(slot, &board->by_host, esi_hash_mix_text(0, host)) {
        struct entry *entry = board->entries[esi_hash_index(&board->by_host, slot)];

        if (strcmp(entry->host, host) == 0)
            return entry;
    }
    return NULL;
}

/* NULL: no memory. */
static struct entry *find_or_add(struct es_clock_board *board, const char *host)
{
    struct entry *entry = find(board, host);

    if (entry)
        return entry;
    if (ESI_ARRAY_RESERVE(board->entries, board->capacity, board->count + 1) < 0 ||
        esi_hash_reserve(&board->by_host, board->count + 1) < 0)
        return NULL;
    entry = calloc(1, sizeof *entry);
    if (!entry || es_host_clock_create(&entry->clock) < 0) {
        free(entry);
        return NULL;
    }
    snprintf(entry->host, sizeof entry->host, "%s", host);
    esi_hash_insert(&board->by_host, esi_hash_mix_text(0, host), board->count);
    board->entries[board->count++] = entry;
    return entry;
}

const struct es_host_clock *es_clock_board_get(struct es_clock_board *board,
                                               const char *host)
{
    const struct entry *entry;

    if (!board)
        return NULL;
    pthread_mutex_lock(&board->lock);
    entry = find_or_add(board, host);
    pthread_mutex_unlock(&board->lock);
    return entry ? entry->clock : NULL;
}

int es_clock_board_set(struct es_clock_board *board,
                       const char *host,
                       const struct es_clock_estimate *estimate)
{
    struct entry *entry;

    pthread_mutex_lock(&board->lock);
    entry = find_or_add(board, host);
    if (entry) {
        entry->estimate = *estimate;
        es_host_clock_set(entry->clock, estimate);
    }
    pthread_mutex_unlock(&board->lock);
    return entry ? 0 : -ENOMEM;
}

bool es_clock_board_find(struct es_clock_board *board,
                         const char *host,
                         struct es_clock_estimate *ret_estimate)
{
    const struct entry *entry;
    bool is_known;

    pthread_mutex_lock(&board->lock);
    entry = find(board, host);
    is_known = entry && entry->estimate.count > 0;
    if (is_known)
        *ret_estimate = entry->estimate;
    pthread_mutex_unlock(&board->lock);
    return is_known;
}

bool esi_clock_board_newest(struct es_clock_board *board,
                            const char *host,
                            struct es_clock_knot *ret_knot,
                            struct es_clock_drift *ret_drift)
{
    const struct entry *entry;
    bool is_known;

    pthread_mutex_lock(&board->lock);
    entry = find(board, host);
    is_known = entry && entry->estimate.count > 0;
    if (is_known) {
        *ret_knot = entry->estimate.knots[entry->estimate.count - 1];
        *ret_drift = entry->estimate.drift;
    }
    pthread_mutex_unlock(&board->lock);
    return is_known;
}

int es_clock_board_foreach(struct es_clock_board *board,
                           int (*visit)(void *data,
                                        const char *host,
                                        const struct es_clock_estimate *estimate),
                           void *data)
{
    int result = 0;

    pthread_mutex_lock(&board->lock);
    for (size_t i = 0; i < board->count && result == 0; i++)
        result = visit(data, board->entries[i]->host, &board->entries[i]->estimate);
    pthread_mutex_unlock(&board->lock);
    return result;
}
