/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The hosts of a run, as the home server knows them, and whether the run has ended. */
#include "config.h"

#include "scopes/server/host_registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "pathmap/pathmap.h"
#include "scopes/remote/run_files.h"

/* Servers speak up every second: who did not for so long does not answer. */
#define SILENT_NS UINT64_C(5000000000)

struct host {
    struct es_host_entry entry;
    const void *connection; /* over which it registered; NULL = it has ended */
};

struct es_host_board {
    char run[64];
    int descriptor; /* eventfd */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct host *hosts; /* owned; [0] is the own */
    size_t count;
    bool is_settled; /* the own address */
    enum es_run_end end;
    size_t answers_owed;
    bool is_closed;
    pthread_mutex_t map_lock; /* of the next two, which take long to make */
    bool has_looked;
    struct es_pathmap *map; /* the run's; looked for once, NULL = none */
};

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

/* --- Making ------------------------------------------------------------------- */

static int init_locks(struct es_host_board *board)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int failure = pthread_cond_init(&board->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (failure)
        return -failure;
    pthread_mutex_init(&board->lock, NULL);
    pthread_mutex_init(&board->map_lock, NULL);
    return 0;
}

int es_host_board_create(const char *run,
                         const char *host,
                         bool home,
                         struct es_host_board **ret_board)
{
    struct es_host_board *board = calloc(1, sizeof *board);
    struct host *own = calloc(1, sizeof *own);
    int code = -ENOMEM;

    if (!board || !own)
        goto free_board;
    copy_text(board->run, sizeof board->run, run);
    copy_text(own->entry.host, sizeof own->entry.host, host);
    own->entry.home = home;
    own->entry.pid = getpid();
    own->connection = board;
    board->hosts = own;
    board->count = 1;
    board->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (board->descriptor < 0) {
        code = -errno;
        goto free_board;
    }
    code = init_locks(board);
    if (code < 0)
        goto close_descriptor;
    *ret_board = board;
    return 0;

close_descriptor:
    close(board->descriptor);
free_board:
    free(own);
    free(board);
    return code;
}

void es_host_board_destroy(struct es_host_board *board)
{
    if (!board)
        return;
    for (size_t i = 0; i < board->count; i++)
        free(board->hosts[i].entry.lost);
    free(board->hosts);
    es_pathmap_destroy(board->map);
    pthread_cond_destroy(&board->changed);
    pthread_mutex_destroy(&board->lock);
    pthread_mutex_destroy(&board->map_lock);
    close(board->descriptor);
    free(board);
}

/* --- The own host ------------------------------------------------------------- */

void es_host_board_set_address(struct es_host_board *board,
                               const char *address,
                               bool settled)
{
    struct es_host_entry *own;

    pthread_mutex_lock(&board->lock);
    own = &board->hosts[0].entry;
    if (settled || !board->is_settled)
        copy_text(own->address, sizeof own->address, address);
    board->is_settled |= settled;
    pthread_mutex_unlock(&board->lock);
}

void es_host_board_set_site(struct es_host_board *board,
                            const char *cluster,
                            const char *gateway)
{
    struct es_host_entry *own;

    pthread_mutex_lock(&board->lock);
    own = &board->hosts[0].entry;
    copy_text(own->cluster, sizeof own->cluster, cluster);
    copy_text(own->gateway, sizeof own->gateway, gateway);
    pthread_mutex_unlock(&board->lock);
}

void es_host_board_set_ranks(struct es_host_board *board, int ranks)
{
    pthread_mutex_lock(&board->lock);
    board->hosts[0].entry.ranks = ranks;
    pthread_mutex_unlock(&board->lock);
}

static int append_lost(struct es_host_entry *entry, const struct es_lost_rank *lost)
{
    if (entry->lost_count == ES_LOST_RANKS_MAX)
        return 0;
    struct es_lost_rank *grown =
        reallocarray(entry->lost, entry->lost_count + 1, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    entry->lost = grown;
    grown[entry->lost_count++] = *lost;
    return 0;
}

int es_host_board_add_lost(struct es_host_board *board, const struct es_lost_rank *lost)
{
    pthread_mutex_lock(&board->lock);
    int code = append_lost(&board->hosts[0].entry, lost);
    pthread_mutex_unlock(&board->lock);
    return code;
}

/* --- All hosts ---------------------------------------------------------------- */

/* The run's map, which never changes once it is there; NULL = there is none.  The
 * board's lock is not held: others must not wait while the map is read. */
static const struct es_pathmap *find_map(struct es_host_board *board)
{
    pthread_mutex_lock(&board->map_lock);
    if (!board->has_looked) {
        board->has_looked = true;
        if (es_run_map_load(board->run, NULL, NULL, &board->map) < 0)
            board->map = NULL;
    }
    pthread_mutex_unlock(&board->map_lock);
    return board->map;
}

/* Where the run's map says that the host lies; the lock is held. */
static void fill_site(const struct es_pathmap *map, struct es_host_entry *entry)
{
    if (!map || entry->cluster[0] != '\0')
        return;
    const struct es_pathmap_host *host = es_pathmap_find_host(map, entry->host);
    if (!host || !host->cluster)
        return;
    copy_text(entry->cluster, sizeof entry->cluster, host->cluster);
    for (size_t i = 0; i < es_pathmap_cluster_count(map); i++) {
        const struct es_pathmap_cluster *one = es_pathmap_cluster(map, i);
        if (strcmp(one->name, host->cluster) == 0)
            copy_text(entry->gateway, sizeof entry->gateway, one->gateway);
    }
}

int es_host_board_foreach(struct es_host_board *board,
                          int (*visit)(void *data, const struct es_host_entry *entry),
                          void *data)
{
    const struct es_pathmap *map = find_map(board);
    int result = 0;

    pthread_mutex_lock(&board->lock);
    uint64_t now = es_now_ns(CLOCK_MONOTONIC);
    board->hosts[0].entry.heard_ns = now;
    for (size_t i = 0; i < board->count && result == 0; i++) {
        struct es_host_entry *entry = &board->hosts[i].entry;
        fill_site(map, entry);
        if (entry->state == ES_SERVER_UP && now - entry->heard_ns > SILENT_NS)
            entry->state = ES_SERVER_SILENT;
        result = visit(data, entry);
    }
    pthread_mutex_unlock(&board->lock);
    return result;
}

size_t es_host_board_others(struct es_host_board *board)
{
    size_t count = 0;

    pthread_mutex_lock(&board->lock);
    for (size_t i = 1; i < board->count; i++)
        count += board->hosts[i].entry.state == ES_SERVER_UP;
    pthread_mutex_unlock(&board->lock);
    return count;
}

static struct host *find_or_add(struct es_host_board *board, const char *host)
{
    for (size_t i = 0; i < board->count; i++)
        if (strcmp(board->hosts[i].entry.host, host) == 0)
            return &board->hosts[i];
    struct host *grown = reallocarray(board->hosts, board->count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    board->hosts = grown;
    grown[board->count] = (struct host){.connection = NULL};
    copy_text(grown[board->count].entry.host, sizeof grown->entry.host, host);
    return &grown[board->count++];
}

int es_host_board_register(struct es_host_board *board,
                           const struct es_host_entry *entry,
                           const void *connection)
{
    struct es_lost_rank *lost = NULL;
    int code = 0;

    if (entry->lost_count > 0) {
        lost = malloc(entry->lost_count * sizeof *lost);
        if (!lost)
            return -ENOMEM;
        memcpy(lost, entry->lost, entry->lost_count * sizeof *lost);
    }
    pthread_mutex_lock(&board->lock);
    struct host *host = find_or_add(board, entry->host);
    if (!host)
        code = -ENOMEM;
    else if (host == board->hosts)
        code = -EEXIST;
    if (code == 0) {
        free(host->entry.lost);
        host->entry = *entry;
        host->entry.lost = lost;
        host->entry.heard_ns = es_now_ns(CLOCK_MONOTONIC);
        host->connection = entry->state == ES_SERVER_UP ? connection : NULL;
        pthread_cond_broadcast(&board->changed);
    }
    pthread_mutex_unlock(&board->lock);
    if (code < 0)
        free(lost);
    return code;
}

void es_host_board_leave(struct es_host_board *board, const void *connection)
{
    pthread_mutex_lock(&board->lock);
    for (size_t i = 1; i < board->count; i++) {
        if (board->hosts[i].connection != connection)
            continue;
        board->hosts[i].connection = NULL;
        board->hosts[i].entry.state = ES_SERVER_SILENT;
        pthread_cond_broadcast(&board->changed);
    }
    pthread_mutex_unlock(&board->lock);
}

/* --- The run's end ------------------------------------------------------------ */

void es_host_board_end(struct es_host_board *board, enum es_run_end end)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&board->lock);
    if (end > board->end)
        board->end = end;
    pthread_cond_broadcast(&board->changed);
    pthread_mutex_unlock(&board->lock);
    (void)!write(board->descriptor, &one, sizeof one);
}

enum es_run_end es_host_board_ending(struct es_host_board *board)
{
    pthread_mutex_lock(&board->lock);
    enum es_run_end end = board->end;
    pthread_mutex_unlock(&board->lock);
    return end;
}

int es_host_board_descriptor(const struct es_host_board *board)
{
    return board->descriptor;
}

static struct timespec deadline_in(uint64_t timeout_ns)
{
    uint64_t end = es_now_ns(CLOCK_MONOTONIC) + timeout_ns;

    return (struct timespec){.tv_sec = (time_t)(end / 1000000000),
                             .tv_nsec = (long)(end % 1000000000)};
}

enum es_run_end es_host_board_await_end(struct es_host_board *board,
                                        enum es_run_end known,
                                        uint64_t timeout_ns)
{
    const struct timespec deadline = deadline_in(timeout_ns);
    int failure = 0;

    pthread_mutex_lock(&board->lock);
    while (failure == 0 && board->end == known && !board->is_closed)
        failure = pthread_cond_timedwait(&board->changed, &board->lock, &deadline);
    enum es_run_end end = board->end;
    pthread_mutex_unlock(&board->lock);
    return end;
}

/* Whether there are hosts that are still to be told; the lock is held. */
static bool is_incomplete(const struct es_host_board *board, size_t *ret_told)
{
    size_t missing = 0, told = 0;

    for (size_t i = 1; i < board->count; i++) {
        const struct es_host_entry *entry = &board->hosts[i].entry;
        if (entry->told >= board->end)
            told++;
        else
            missing += entry->state == ES_SERVER_UP;
    }
    *ret_told = told;
    return missing > 0;
}

size_t es_host_board_await_others(struct es_host_board *board, uint64_t timeout_ns)
{
    const struct timespec deadline = deadline_in(timeout_ns);
    size_t told;
    int failure = 0;

    pthread_mutex_lock(&board->lock);
    while (is_incomplete(board, &told) && failure == 0 && !board->is_closed)
        failure = pthread_cond_timedwait(&board->changed, &board->lock, &deadline);
    pthread_mutex_unlock(&board->lock);
    return told;
}

void es_host_board_owe_answer(struct es_host_board *board)
{
    pthread_mutex_lock(&board->lock);
    board->answers_owed++;
    pthread_mutex_unlock(&board->lock);
}

void es_host_board_answered(struct es_host_board *board)
{
    pthread_mutex_lock(&board->lock);
    board->answers_owed--;
    pthread_cond_broadcast(&board->changed);
    pthread_mutex_unlock(&board->lock);
}

void es_host_board_await_answers(struct es_host_board *board, uint64_t timeout_ns)
{
    const struct timespec deadline = deadline_in(timeout_ns);
    int failure = 0;

    pthread_mutex_lock(&board->lock);
    while (board->answers_owed > 0 && failure == 0)
        failure = pthread_cond_timedwait(&board->changed, &board->lock, &deadline);
    pthread_mutex_unlock(&board->lock);
}

void es_host_board_close(struct es_host_board *board)
{
    pthread_mutex_lock(&board->lock);
    board->is_closed = true;
    pthread_cond_broadcast(&board->changed);
    pthread_mutex_unlock(&board->lock);
}
