/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_registry.c - the live scopes of a run, and the commands that are left for them. */
#include "config.h"

#include "scopes/server/scope_registry.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "base/now.h"

enum { SCOPES_MOST = 4096 };

/* What a consumer tells of its scope with each poll. */
struct stats {
    int64_t pulls;
    int64_t tuples;
    int64_t lost;
    int64_t failures;
    double rate; /* pulls a second of late */
    char shape[32];
};

struct es_scope_entry {
    struct esi_list_link link;
    char name[96];
    char host[64];
    char program[64];
    char view[256];
    int64_t pid;
    struct stats stats;
    uint64_t heard_ns;
    struct es_message *command; /* owned; NULL = none is left, or it was fetched */
    bool waited;                /* somebody waits for an answer */
    int64_t id;                 /* of the command */
    struct es_message *answer;  /* owned */
    bool gone;                  /* forgotten as soon as nobody waits any more */
};

struct es_scope_board {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct esi_list entries; /* in order of names */
    size_t count;
    bool closed; /* nobody is to wait any more */
};

int es_scope_board_create(struct es_scope_board **ret_board)
{
    struct es_scope_board *board = calloc(1, sizeof *board);
    pthread_condattr_t attributes;

    if (!board)
        return -ENOMEM;
    pthread_mutex_init(&board->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&board->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    *ret_board = board;
    return 0;
}

static void free_entry(struct es_scope_entry *entry)
{
    es_message_destroy(entry->command);
    es_message_destroy(entry->answer);
    free(entry);
}

void es_scope_board_close(struct es_scope_board *board)
{
    pthread_mutex_lock(&board->lock);
    board->closed = true;
    pthread_cond_broadcast(&board->changed);
    pthread_mutex_unlock(&board->lock);
}

void es_scope_board_destroy(struct es_scope_board *board)
{
    if (!board)
        return;
    ESI_LIST_FOREACH_SAFE(struct es_scope_entry, entry, &board->entries, link)
        free_entry(entry);
    pthread_cond_destroy(&board->changed);
    pthread_mutex_destroy(&board->lock);
    free(board);
}

/* --- The consumers' side -------------------------------------------------------- */

static struct es_scope_entry *find(const struct es_scope_board *board, const char *name)
{
    ESI_LIST_FOREACH(struct es_scope_entry, entry, &board->entries, link)
        if (!entry->gone && strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

static void insert(struct es_scope_board *board, struct es_scope_entry *entry)
{
    struct es_scope_entry *next =
        ESI_LIST_FIRST(struct es_scope_entry, &board->entries, link);

    while (next && strcmp(next->name, entry->name) <= 0)
        next = ESI_LIST_ITEM(struct es_scope_entry, next->link.next, link);
    esi_list_insert(&board->entries, &entry->link, next ? &next->link : NULL);
    board->count++;
}

/* Takes the entry off the board and frees it. */
static void drop(struct es_scope_board *board, struct es_scope_entry *entry)
{
    esi_list_remove(&board->entries, &entry->link);
    board->count--;
    free_entry(entry);
}

static void take_text(const struct es_member *request,
                      const char *name,
                      char *out,
                      size_t size)
{
    snprintf(out, size, "%s", es_member_text_or(request, name, ""));
}

/* A name that no other scope has. */
static void name_entry(const struct es_scope_board *board,
                       struct es_scope_entry *entry,
                       const char *wanted)
{
    snprintf(entry->name, sizeof entry->name, "%.80s", wanted);
    for (int i = 2; find(board, entry->name); i++)
        snprintf(entry->name, sizeof entry->name, "%.80s-%d", wanted, i);
}

int es_scope_board_announce(struct es_scope_board *board,
                            const struct es_member *request,
                            struct es_error *error,
                            struct es_scope_entry **ret_entry)
{
    struct es_scope_entry *entry;
    const char *name;
    int result = es_member_text(request, "name", error, &name);

    if (result < 0)
        return result;
    if (!*name)
        return es_error_set(error, -EINVAL, "a scope without a name");
    entry = calloc(1, sizeof *entry);
    if (!entry)
        return -ENOMEM;
    take_text(request, "host", entry->host, sizeof entry->host);
    take_text(request, "program", entry->program, sizeof entry->program);
    take_text(request, "view", entry->view, sizeof entry->view);
    entry->pid = es_member_integer_or(request, "pid", 0);
    entry->heard_ns = es_now_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&board->lock);
    if (board->count < SCOPES_MOST) {
        name_entry(board, entry, name);
        insert(board, entry);
    } else {
        result =
            es_error_set(error, -ENOSPC, "there are %d scopes already", SCOPES_MOST);
    }
    pthread_mutex_unlock(&board->lock);
    if (result < 0) {
        free_entry(entry);
        return result;
    }
    *ret_entry = entry;
    return 0;
}

const char *es_scope_entry_name(const struct es_scope_entry *entry)
{
    return entry->name;
}

void es_scope_board_leave(struct es_scope_board *board, struct es_scope_entry *entry)
{
    pthread_mutex_lock(&board->lock);
    entry->gone = true;
    if (entry->waited)
        pthread_cond_broadcast(&board->changed); /* who waits frees it */
    else
        drop(board, entry);
    pthread_mutex_unlock(&board->lock);
}

void es_scope_board_poll(struct es_scope_board *board,
                         struct es_scope_entry *entry,
                         const struct es_member *request,
                         struct es_json_out *reply)
{
    pthread_mutex_lock(&board->lock);
    entry->stats = (struct stats){
        .pulls = es_member_integer_or(request, "pulls", 0),
        .tuples = es_member_integer_or(request, "tuples", 0),
        .lost = es_member_integer_or(request, "lost", 0),
        .failures = es_member_integer_or(request, "failures", 0),
        .rate = es_member_real_or(request, "rate", 0),
    };
    take_text(request, "shape", entry->stats.shape, sizeof entry->stats.shape);
    entry->heard_ns = es_now_ns(CLOCK_MONOTONIC);
    if (entry->command) {
        esi_member_write(es_message_root(entry->command), reply, "command");
        es_json_out_signed(reply, "id", entry->id);
        es_message_destroy(entry->command);
        entry->command = NULL;
    }
    pthread_mutex_unlock(&board->lock);
}

int es_scope_board_answer(struct es_scope_board *board,
                          struct es_scope_entry *entry,
                          const struct es_member *request,
                          struct es_error *error)
{
    struct es_message *answer;
    int64_t id;
    int result = es_member_integer(request, "id", 1, INT64_MAX, error, &id);

    if (result == 0)
        result = esi_message_copy(es_member_find(request, "answer"), &answer);
    if (result < 0)
        return es_error_set(error, result, "an answer is an object");
    pthread_mutex_lock(&board->lock);
    if (entry->waited && entry->id == id && !entry->answer) {
        entry->answer = answer;
        answer = NULL;
        pthread_cond_broadcast(&board->changed);
    }
    pthread_mutex_unlock(&board->lock);
    es_message_destroy(answer); /* it came too late */
    return 0;
}

/* --- Those who want something ---------------------------------------------------- */

static void write_entry(const struct es_scope_entry *entry, struct es_json_out *reply)
{
    es_json_out_begin_object(reply, NULL);
    es_json_out_string(reply, "name", entry->name);
    es_json_out_string(reply, "host", entry->host);
    es_json_out_string(reply, "program", entry->program);
    es_json_out_signed(reply, "pid", entry->pid);
    es_json_out_string(reply, "view", entry->view);
    es_json_out_string(reply, "shape", entry->stats.shape);
    es_json_out_signed(reply, "pulls", entry->stats.pulls);
    es_json_out_real(reply, "rate", entry->stats.rate);
    es_json_out_signed(reply, "tuples", entry->stats.tuples);
    es_json_out_signed(reply, "lost", entry->stats.lost);
    es_json_out_signed(reply, "failures", entry->stats.failures);
    es_json_out_unsigned(reply, "silent_ns",
                         es_now_ns(CLOCK_MONOTONIC) - entry->heard_ns);
    es_json_out_end(reply);
}

void es_scope_board_list(struct es_scope_board *board, struct es_json_out *reply)
{
    pthread_mutex_lock(&board->lock);
    es_json_out_begin_array(reply, "scopes");
    ESI_LIST_FOREACH(const struct es_scope_entry, entry, &board->entries, link)
        if (!entry->gone)
            write_entry(entry, reply);
    es_json_out_end(reply);
    pthread_mutex_unlock(&board->lock);
}

/* Waits till there is an answer, the scope or the server is gone, or the time is over.
 */
static void await(struct es_scope_board *board,
                  const struct es_scope_entry *entry,
                  uint64_t timeout_ns)
{
    uint64_t end_ns = es_now_ns(CLOCK_MONOTONIC) + timeout_ns;
    struct timespec end = {.tv_sec = (time_t)(end_ns / UINT64_C(1000000000)),
                           .tv_nsec = (long)(end_ns % UINT64_C(1000000000))};

    while (!entry->answer && !entry->gone && !board->closed)
        if (pthread_cond_timedwait(&board->changed, &board->lock, &end) != 0)
            return;
}

/* Why there is no answer. */
static int fail(const struct es_scope_board *board,
                const struct es_scope_entry *entry,
                struct es_error *error)
{
    if (entry->gone)
        return es_error_set(error, -EPIPE, "the consumer of scope \"%s\" has ended",
                            entry->name);
    if (board->closed)
        return es_error_set(error, -ESHUTDOWN, "the tuple server ends");
    if (!entry->command)
        return es_error_set(error, -ETIMEDOUT,
                            "the consumer of scope \"%s\" was handed the command and "
                            "has not answered yet",
                            entry->name);
    return es_error_set(
        error, -ETIMEDOUT,
        "the consumer of scope \"%s\" has not pulled for %" PRIu64 " s", entry->name,
        (es_now_ns(CLOCK_MONOTONIC) - entry->heard_ns) / UINT64_C(1000000000));
}

/* With the lock held; `command` is taken.  Who has fetched it just in time is about to
 * answer. */
static int command_entry(struct es_scope_board *board,
                         struct es_scope_entry *entry,
                         struct es_message *command,
                         uint64_t timeout_ns,
                         struct es_error *error,
                         struct es_message **ret_answer)
{
    int result = 0;

    entry->command = command;
    entry->id++;
    entry->waited = true;
    await(board, entry, timeout_ns);
    if (!entry->command)
        await(board, entry, timeout_ns / 2);
    entry->waited = false;
    if (entry->answer)
        *ret_answer = entry->answer;
    else
        result = fail(board, entry, error);
    entry->answer = NULL;
    es_message_destroy(entry->command);
    entry->command = NULL;
    if (entry->gone)
        drop(board, entry);
    return result;
}

int es_scope_board_command(struct es_scope_board *board,
                           const char *name,
                           const struct es_member *command,
                           uint64_t timeout_ns,
                           struct es_error *error,
                           struct es_message **ret_answer)
{
    struct es_scope_entry *entry;
    struct es_message *copy;
    int result = esi_message_copy(command, &copy);

    if (result < 0)
        return es_error_set(error, result, "a command is an object");
    pthread_mutex_lock(&board->lock);
    entry = find(board, name);
    if (!entry) {
        result = es_error_set(error, -ENOENT, "there is no scope \"%.80s\"", name);
        es_message_destroy(copy);
    } else if (entry->waited) {
        result =
            es_error_set(error, -EBUSY, "scope \"%.80s\" is being asked already", name);
        es_message_destroy(copy);
    } else {
        result = command_entry(board, entry, copy, timeout_ns, error, ret_answer);
    }
    pthread_mutex_unlock(&board->lock);
    return result;
}
