/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * scope_registry.c - the live scopes of a run, and the commands submitted to them.
 *
 *   {"request": "announce", "name": NAME, "host":, "program":, "pid":, "view":}
 *   {"request": "poll", "pulls":, "tuples":, "lost":, "failures":, "rate":, "shape":}
 *   {"request": "answer", "id": ID, "answer": {...}}     these three: consumers
 *   {"request": "scopes"}                                lists the scopes
 *   {"request": "scope.command", "name": NAME, "command": {...}}
 */
#include "config.h"

#include "scopes/server/scope_registry.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/condition.h"
#include "base/list.h"
#include "base/now.h"
#include "scopes/server/service.h"

/* Longest time that a consumer may take to pull and to answer. */
#define COMMAND_NS UINT64_C(10000000000)

enum { SCOPES_MOST = 4096 };

/* Figures that a consumer reports with each poll. */
struct stats {
    int64_t pulls;
    int64_t tuples;
    int64_t lost;
    int64_t failures;
    double rate; /* recent pulls per second */
    char shape[32];
};

struct esi_scope_entry {
    struct esi_list_link link;
    char name[96];
    char host[64];
    char program[64];
    char view[256];
    int64_t pid;
    struct stats stats;
    uint64_t heard_ns;
    struct es_message *command; /* owned; NULL if none is pending, or it was fetched */
    bool waited;                /* a client waits for an answer */
    int64_t id;                 /* of the command */
    struct es_message *answer;  /* owned */
    bool gone;                  /* freed as soon as nobody waits */
};

struct esi_scope_registry {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct esi_list entries; /* ordered by name */
    size_t count;
    bool closed; /* all waits must end */
};

int esi_scope_registry_create(struct esi_scope_registry **ret_registry)
{
    struct esi_scope_registry *registry = calloc(1, sizeof *registry);

    if (!registry)
        return -ENOMEM;
    pthread_mutex_init(&registry->lock, NULL);
    esi_condition_init(&registry->changed);
    *ret_registry = registry;
    return 0;
}

static void free_entry(struct esi_scope_entry *entry)
{
    esi_message_destroy(entry->command);
    esi_message_destroy(entry->answer);
    free(entry);
}

void esi_scope_registry_close(struct esi_scope_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    registry->closed = true;
    pthread_cond_broadcast(&registry->changed);
    pthread_mutex_unlock(&registry->lock);
}

void esi_scope_registry_destroy(struct esi_scope_registry *registry)
{
    if (!registry)
        return;
    ESI_LIST_FOREACH_SAFE(struct esi_scope_entry, entry, &registry->entries, link)
        free_entry(entry);
    pthread_cond_destroy(&registry->changed);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
}

/* --- The consumers' side -------------------------------------------------------- */

static struct esi_scope_entry *scope_registry_find(
    const struct esi_scope_registry *registry,
    const char *name)
{
    ESI_LIST_FOREACH(struct esi_scope_entry, entry, &registry->entries, link)
        if (!entry->gone && strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

static void scope_registry_insert(struct esi_scope_registry *registry,
                                  struct esi_scope_entry *entry)
{
    struct esi_scope_entry *next =
        ESI_LIST_FIRST(struct esi_scope_entry, &registry->entries, link);

    while (next && strcmp(next->name, entry->name) <= 0)
        next = ESI_LIST_ITEM(struct esi_scope_entry, next->link.next, link);
    esi_list_insert(&registry->entries, &entry->link, next ? &next->link : NULL);
    registry->count++;
}

/* Removes the entry from the registry and frees it. */
static void scope_registry_drop(struct esi_scope_registry *registry,
                                struct esi_scope_entry *entry)
{
    esi_list_remove(&registry->entries, &entry->link);
    registry->count--;
    free_entry(entry);
}

static void take_text(const struct es_member *request,
                      const char *name,
                      char *out,
                      size_t size)
{
    snprintf(out, size, "%s", esi_member_text_or(request, name, ""));
}

/* Makes the name unique. */
static void name_entry(const struct esi_scope_registry *registry,
                       struct esi_scope_entry *entry,
                       const char *wanted)
{
    snprintf(entry->name, sizeof entry->name, "%.80s", wanted);
    for (int i = 2; scope_registry_find(registry, entry->name); i++)
        snprintf(entry->name, sizeof entry->name, "%.80s-%d", wanted, i);
}

int esi_scope_registry_register(struct esi_scope_registry *registry,
                                const struct es_member *request,
                                struct es_error *error,
                                struct esi_scope_entry **ret_entry)
{
    struct esi_scope_entry *entry;
    const char *name;
    int result = esi_member_text(request, "name", error, &name);

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
    entry->pid = esi_member_integer_or(request, "pid", 0);
    entry->heard_ns = esi_now_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&registry->lock);
    if (registry->count < SCOPES_MOST) {
        name_entry(registry, entry, name);
        scope_registry_insert(registry, entry);
    } else {
        result =
            es_error_set(error, -ENOSPC, "there are %d scopes already", SCOPES_MOST);
    }
    pthread_mutex_unlock(&registry->lock);
    if (result < 0) {
        free_entry(entry);
        return result;
    }
    *ret_entry = entry;
    return 0;
}

void esi_scope_registry_deregister(struct esi_scope_registry *registry,
                                   struct esi_scope_entry *entry)
{
    pthread_mutex_lock(&registry->lock);
    entry->gone = true;
    if (entry->waited)
        pthread_cond_broadcast(&registry->changed); /* freed by the waiting thread */
    else
        scope_registry_drop(registry, entry);
    pthread_mutex_unlock(&registry->lock);
}

void esi_scope_registry_poll(struct esi_scope_registry *registry,
                             struct esi_scope_entry *entry,
                             const struct es_member *request,
                             struct esi_json_out *reply)
{
    pthread_mutex_lock(&registry->lock);
    entry->stats = (struct stats){
        .pulls = esi_member_integer_or(request, "pulls", 0),
        .tuples = esi_member_integer_or(request, "tuples", 0),
        .lost = esi_member_integer_or(request, "lost", 0),
        .failures = esi_member_integer_or(request, "failures", 0),
        .rate = esi_member_real_or(request, "rate", 0),
    };
    take_text(request, "shape", entry->stats.shape, sizeof entry->stats.shape);
    entry->heard_ns = esi_now_ns(CLOCK_MONOTONIC);
    if (entry->command) {
        esi_member_write(esi_message_root(entry->command), reply, "command");
        esi_json_out_signed(reply, "id", entry->id);
        esi_message_destroy(entry->command);
        entry->command = NULL;
    }
    pthread_mutex_unlock(&registry->lock);
}

int esi_scope_registry_answer(struct esi_scope_registry *registry,
                              struct esi_scope_entry *entry,
                              const struct es_member *request,
                              struct es_error *error)
{
    struct es_message *answer;
    int64_t id;
    int result = esi_member_integer(request, "id", 1, INT64_MAX, error, &id);

    if (result == 0)
        result = esi_message_copy(esi_member_find(request, "answer"), &answer);
    if (result < 0)
        return es_error_set(error, result, "an answer must be an object");
    pthread_mutex_lock(&registry->lock);
    if (entry->waited && entry->id == id && !entry->answer) {
        entry->answer = answer;
        answer = NULL;
        pthread_cond_broadcast(&registry->changed);
    }
    pthread_mutex_unlock(&registry->lock);
    esi_message_destroy(answer); /* too late */
    return 0;
}

/* --- The commands' side ---------------------------------------------------------- */

static void write_entry(const struct esi_scope_entry *entry, struct esi_json_out *reply)
{
    esi_json_out_begin_object(reply, NULL);
    esi_json_out_string(reply, "name", entry->name);
    esi_json_out_string(reply, "host", entry->host);
    esi_json_out_string(reply, "program", entry->program);
    esi_json_out_signed(reply, "pid", entry->pid);
    esi_json_out_string(reply, "view", entry->view);
    esi_json_out_string(reply, "shape", entry->stats.shape);
    esi_json_out_signed(reply, "pulls", entry->stats.pulls);
    esi_json_out_real(reply, "rate", entry->stats.rate);
    esi_json_out_signed(reply, "tuples", entry->stats.tuples);
    esi_json_out_signed(reply, "lost", entry->stats.lost);
    esi_json_out_signed(reply, "failures", entry->stats.failures);
    esi_json_out_unsigned(reply, "silent_ns",
                          esi_now_ns(CLOCK_MONOTONIC) - entry->heard_ns);
    esi_json_out_end(reply);
}

/* Writes an object for each scope, ordered by name. */
static void scope_registry_list(struct esi_scope_registry *registry,
                                struct esi_json_out *reply)
{
    pthread_mutex_lock(&registry->lock);
    esi_json_out_begin_array(reply, "scopes");
    ESI_LIST_FOREACH(const struct esi_scope_entry, entry, &registry->entries, link)
        if (!entry->gone)
            write_entry(entry, reply);
    esi_json_out_end(reply);
    pthread_mutex_unlock(&registry->lock);
}

/* Waits until there is an answer, the scope or the server is gone, or the timeout. */
static void scope_registry_await(struct esi_scope_registry *registry,
                                 const struct esi_scope_entry *entry,
                                 uint64_t timeout_ns)
{
    uint64_t end_ns = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;
    bool has_time = true;

    while (has_time && !entry->answer && !entry->gone && !registry->closed)
        has_time = esi_condition_wait(&registry->changed, &registry->lock, end_ns);
}

/* The reason why there is no answer. */
static int scope_registry_fail(const struct esi_scope_registry *registry,
                               const struct esi_scope_entry *entry,
                               struct es_error *error)
{
    if (entry->gone)
        return es_error_set(error, -EPIPE, "the consumer of scope '%s' has ended",
                            entry->name);
    if (registry->closed)
        return es_error_set(error, -ESHUTDOWN, "the tuple server ends");
    if (!entry->command)
        return es_error_set(error, -ETIMEDOUT,
                            "the consumer of scope '%s' has fetched the command and "
                            "has not answered yet",
                            entry->name);
    return es_error_set(
        error, -ETIMEDOUT,
        "the consumer of scope '%s' has not pulled for %" PRIu64 " s", entry->name,
        (esi_now_ns(CLOCK_MONOTONIC) - entry->heard_ns) / UINT64_C(1000000000));
}

/* Called with the lock held; takes ownership of `command`.  A consumer that has fetched
 * it by the timeout is about to answer, and gets more time. */
static int command_entry(struct esi_scope_registry *registry,
                         struct esi_scope_entry *entry,
                         struct es_message *command,
                         uint64_t timeout_ns,
                         struct es_error *error,
                         struct es_message **ret_answer)
{
    int result = 0;

    entry->command = command;
    entry->id++;
    entry->waited = true;
    scope_registry_await(registry, entry, timeout_ns);
    if (!entry->command)
        scope_registry_await(registry, entry, timeout_ns / 2);
    entry->waited = false;
    if (entry->answer)
        *ret_answer = entry->answer;
    else
        result = scope_registry_fail(registry, entry, error);
    entry->answer = NULL;
    esi_message_destroy(entry->command);
    entry->command = NULL;
    if (entry->gone)
        scope_registry_drop(registry, entry);
    return result;
}

int esi_scope_registry_command(struct esi_scope_registry *registry,
                               const char *name,
                               const struct es_member *command,
                               uint64_t timeout_ns,
                               struct es_error *error,
                               struct es_message **ret_answer)
{
    struct esi_scope_entry *entry;
    struct es_message *copy;
    int result = esi_message_copy(command, &copy);

    if (result < 0)
        return es_error_set(error, result, "a command must be an object");
    pthread_mutex_lock(&registry->lock);
    entry = scope_registry_find(registry, name);
    if (!entry) {
        result = es_error_set(error, -ENOENT, "there is no scope '%.80s'", name);
        esi_message_destroy(copy);
    } else if (entry->waited) {
        result = es_error_set(error, -EBUSY,
                              "scope '%.80s' is already executing a command", name);
        esi_message_destroy(copy);
    } else {
        result = command_entry(registry, entry, copy, timeout_ns, error, ret_answer);
    }
    pthread_mutex_unlock(&registry->lock);
    return result;
}

/* --- Requests ------------------------------------------------------------------ */

static int serve_register(struct esi_service_call *call)
{
    struct esi_service_connection *connection = call->connection;
    struct esi_scope_entry *entry;
    int result;

    if (connection->scope)
        return es_error_set(call->error, -EBUSY,
                            "this connection has registered a scope");
    result = esi_scope_registry_register(connection->service->scopes, call->body,
                                         call->error, &entry);
    if (result < 0)
        return result;
    connection->scope = entry;
    esi_json_out_string(call->reply, "name", entry->name);
    return 0;
}

static int check_registered(const struct esi_service_call *call)
{
    return call->connection->scope
               ? 0
               : es_error_set(call->error, -EINVAL,
                              "this connection has registered no scope");
}

static int serve_poll(struct esi_service_call *call)
{
    const struct esi_service_connection *connection = call->connection;
    int result = check_registered(call);

    if (result == 0)
        esi_scope_registry_poll(connection->service->scopes, connection->scope,
                                call->body, call->reply);
    return result;
}

static int serve_answer(struct esi_service_call *call)
{
    const struct esi_service_connection *connection = call->connection;
    int result = check_registered(call);

    return result < 0
               ? result
               : esi_scope_registry_answer(connection->service->scopes,
                                           connection->scope, call->body, call->error);
}

static int serve_scopes(struct esi_service_call *call)
{
    scope_registry_list(call->connection->service->scopes, call->reply);
    return 0;
}

static int serve_command(struct esi_service_call *call)
{
    const char *name = esi_service_text(call, "name");
    struct es_message *answer;

    if (!name)
        return call->code;
    int result = esi_scope_registry_command(call->connection->service->scopes, name,
                                            esi_member_find(call->body, "command"),
                                            COMMAND_NS, call->error, &answer);
    if (result < 0)
        return result;
    esi_member_write(esi_message_root(answer), call->reply, "answer");
    esi_message_destroy(answer);
    return 0;
}

const struct esi_request_row esi_scope_requests[] = {
    {"announce", serve_register, false},    {"poll", serve_poll, false},
    {"answer", serve_answer, false},        {"scopes", serve_scopes, false},
    {"scope.command", serve_command, true}, {NULL, NULL, false},
};
