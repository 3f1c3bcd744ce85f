/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Requests about the run's hosts and its files, and about its end.
 *
 *   {"request": "hosts"}                     which hosts there are
 *   {"request": "register", ...}             a server says that it is there
 *   {"request": "end", "keep": BOOL}         the run has ended; "unreached" are the
 * hosts that have not heard of it
 *   {"request": "file", "name": NAME}        a file of the run's directory
 *
 * A server registers again and again over one connection.  The answer comes at once, or
 * with "wait_ns" when that time is over or there is word of the run's end.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scopes/remote/clock_registry.h"
#include "scopes/remote/clock_wire.h"
#include "scopes/server/host_registry.h"
#include "scopes/server/service.h"
#include "tuplespace/run_file.h"

#define WAIT_MAX_NS INT64_C(10000000000)
/* How long the other hosts may take to hear of the run's end. */
#define END_NS UINT64_C(3000000000)

enum { FILE_BYTES_MAX = 16 << 20 };

static const char *const state_names[] = {
    [ES_SERVER_UP] = "up",
    [ES_SERVER_SILENT] = "silent",
    [ES_SERVER_ENDED] = "ended",
};

static const char *const end_names[] = {
    [ES_RUN_GOES_ON] = "no",
    [ES_RUN_ENDED_KEEP] = "keep",
    [ES_RUN_ENDED] = "yes",
};

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 0;
}

const char *esi_run_end_name(enum esi_run_end end)
{
    return end_names[end];
}

enum esi_run_end esi_run_end_find(const char *name)
{
    return (enum esi_run_end)find_name(end_names, 3, name);
}

/* --- Telling ------------------------------------------------------------------ */

void esi_host_write_lost(struct esi_json_out *out, const struct esi_host_entry *entry)
{
    esi_json_out_begin_array(out, "vanished");
    for (size_t i = 0; i < entry->lost_count; i++) {
        esi_json_out_begin_object(out, NULL);
        esi_json_out_signed(out, "rank", entry->lost[i].rank);
        esi_json_out_signed(out, "pid", entry->lost[i].pid);
        esi_json_out_string(out, "how", entry->lost[i].how);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

static uint64_t silence_of(const struct esi_host_entry *entry)
{
    struct timespec now;

    if (entry->state == ES_SERVER_UP)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - entry->heard_ns;
}

static int write_host(void *data, const struct esi_host_entry *entry)
{
    struct esi_json_out *out = data;

    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "host", entry->host);
    esi_json_out_string(out, "address", entry->address);
    esi_json_out_string(out, "state", state_names[entry->state]);
    esi_json_out_bool(out, "home", entry->home);
    esi_json_out_signed(out, "pid", entry->pid);
    esi_json_out_signed(out, "ranks", entry->ranks);
    esi_json_out_string(out, "cluster", entry->cluster);
    esi_json_out_string(out, "gateway", entry->gateway);
    esi_json_out_unsigned(out, "silent_ns", silence_of(entry));
    esi_host_write_lost(out, entry);
    esi_json_out_end(out);
    return 0;
}

static int serve_hosts(struct esi_service_connection *connection,
                       const struct es_member *request,
                       struct esi_json_out *reply,
                       struct es_error *error)
{
    (void)request;
    (void)error;
    esi_json_out_string(reply, "run", connection->service->run);
    esi_json_out_begin_array(reply, "hosts");
    esi_host_registry_foreach(connection->service->hosts, write_host, reply);
    esi_json_out_end(reply);
    return 0;
}

/* --- Registering -------------------------------------------------------------- */

/* An address without a host of its own ("tls:*:4711") is completed with the one that
 * the peer has for us ("10.77.0.3:40112"). */
static void complete_address(const char *given,
                             const char *peer,
                             char out[ES_ADDRESS_BYTES])
{
    const char *star = strstr(given, ":*:");
    const char *colon = strrchr(peer, ':');

    if (star && colon)
        snprintf(out, ES_ADDRESS_BYTES, "%.*s:%.*s%s", (int)(star - given), given,
                 (int)(colon - peer), peer, star + 2);
    else
        snprintf(out, ES_ADDRESS_BYTES, "%s", given);
}

static int read_lost(const struct es_member *list, struct esi_host_entry *entry)
{
    size_t count = esi_member_count(list);

    if (count == 0)
        return 0;
    if (count > ES_LOST_RANKS_MAX)
        count = ES_LOST_RANKS_MAX;
    entry->lost = calloc(count, sizeof *entry->lost);
    if (!entry->lost)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct es_member *one = esi_member_at(list, i);
        struct esi_lost_rank *lost = &entry->lost[entry->lost_count++];
        lost->rank = (int)esi_member_integer_or(one, "rank", -1);
        lost->pid = (int)esi_member_integer_or(one, "pid", 0);
        snprintf(lost->how, sizeof lost->how, "%s", esi_member_text_or(one, "how", ""));
    }
    return 0;
}

static int read_entry(const struct esi_service_connection *connection,
                      const struct es_member *request,
                      struct es_error *error,
                      struct esi_host_entry *entry)
{
    const char *host, *address;
    int64_t pid, ranks;

    int code = esi_member_text(request, "host", error, &host);
    if (code == 0)
        code = esi_member_text(request, "address", error, &address);
    if (code == 0)
        code = esi_member_integer(request, "pid", 1, INT32_MAX, error, &pid);
    if (code == 0)
        code = esi_member_integer(request, "ranks", 0, INT32_MAX, error, &ranks);
    if (code < 0)
        return code;
    if (!*host || strlen(host) >= sizeof entry->host)
        return es_error_set(error, -EINVAL, "\"host\" is not a host's name");
    *entry = (struct esi_host_entry){.pid = (int)pid, .ranks = (int)ranks};
    snprintf(entry->host, sizeof entry->host, "%s", host);
    complete_address(address, esi_link_peer_address(connection->link), entry->address);
    snprintf(entry->cluster, sizeof entry->cluster, "%s",
             esi_member_text_or(request, "cluster", ""));
    snprintf(entry->gateway, sizeof entry->gateway, "%s",
             esi_member_text_or(request, "gateway", ""));
    entry->told = esi_run_end_find(esi_member_text_or(request, "told", "no"));
    entry->state =
        esi_member_boolean_or(request, "ends", false) ? ES_SERVER_ENDED : ES_SERVER_UP;
    return read_lost(esi_member_find(request, "vanished"), entry);
}

/* What the server knows of its clock by now, if there is news. */
static void take_clock(struct esi_service *service,
                       const struct es_member *request,
                       const char *host)
{
    const struct es_member *member = esi_member_find(request, "clock");
    struct esi_clock_estimate estimate;

    if (member && esi_clock_estimate_read(member, NULL, &estimate) == 0)
        (void)esi_clock_registry_set(service->clocks, host, &estimate);
}

static int serve_register(struct esi_service_connection *connection,
                          const struct es_member *request,
                          struct esi_json_out *reply,
                          struct es_error *error)
{
    struct esi_host_registry *registry = connection->service->hosts;
    int64_t wait_ns = esi_member_integer_or(request, "wait_ns", 0);
    struct esi_host_entry entry;

    int code = read_entry(connection, request, error, &entry);
    if (code < 0)
        return code;
    code = esi_host_registry_register(registry, &entry, connection);
    free(entry.lost);
    if (code == 0)
        take_clock(connection->service, request, entry.host);
    if (code == -EEXIST)
        return es_error_set(error, code, "\"%s\" is the home server's own host",
                            entry.host);
    if (code < 0)
        return code;
    /* How it has reached us is how others can. */
    const char *home = esi_member_text_or(request, "home", "");
    if (*home && strncmp(home, "unix:", 5) != 0)
        esi_host_registry_set_address(registry, home, false);
    enum esi_run_end end = esi_host_registry_ending(registry);
    if (end == entry.told && wait_ns > 0 && entry.state == ES_SERVER_UP)
        end = esi_host_registry_await_end(
            registry, end, (uint64_t)(wait_ns < WAIT_MAX_NS ? wait_ns : WAIT_MAX_NS));
    esi_json_out_string(reply, "end", esi_run_end_name(end));
    return 0;
}

/* --- The end ------------------------------------------------------------------ */

struct untold {
    struct esi_json_out *reply;
    enum esi_run_end end;
};

static int write_untold(void *data, const struct esi_host_entry *entry)
{
    const struct untold *untold = data;

    if (!entry->home && entry->told < untold->end)
        esi_json_out_string(untold->reply, NULL, entry->host);
    return 0;
}

static void write_unreached(struct esi_host_registry *registry,
                            struct esi_json_out *reply)
{
    struct untold untold = {.reply = reply, .end = esi_host_registry_ending(registry)};

    esi_json_out_begin_array(reply, "unreached");
    esi_host_registry_foreach(registry, write_untold, &untold);
    esi_json_out_end(reply);
}

static int serve_end(struct esi_service_connection *connection,
                     const struct es_member *request,
                     struct esi_json_out *reply,
                     struct es_error *error)
{
    struct esi_host_registry *registry = connection->service->hosts;
    bool keep;

    int code = esi_member_boolean(request, "keep", error, &keep);
    if (code < 0)
        return code;
    connection->owes_answer = true;
    esi_host_registry_owe_answer(registry);
    esi_host_registry_end(registry, keep ? ES_RUN_ENDED_KEEP : ES_RUN_ENDED);
    size_t told = esi_host_registry_await_others(registry, END_NS);
    esi_json_out_unsigned(reply, "hosts", told + 1);
    write_unreached(registry, reply);
    esi_json_out_bool(reply, "stays",
                      keep ? esi_host_registry_others(registry) > 0
                           : esi_service_is_read(connection->service));
    return 0;
}

/* --- Files -------------------------------------------------------------------- */

static int serve_file(struct esi_service_connection *connection,
                      const struct es_member *request,
                      struct esi_json_out *reply,
                      struct es_error *error)
{
    static const char *const allowed[] = {"", "collect.plan", "collect.trees",
                                          "map.json", "run.json"};
    struct es_error fault = {.text = ""};
    const char *name;
    size_t length;
    char *text;

    int code = esi_member_text(request, "name", error, &name);
    if (code < 0)
        return code;
    if (find_name(allowed, sizeof allowed / sizeof allowed[0], name) == 0)
        return es_error_set(error, -EINVAL, "\"%.64s\" is no file that is given out",
                            name);
    code = esi_run_file_read(connection->service->run, name, &fault, &text, &length);
    if (code == 0 && length > FILE_BYTES_MAX) {
        free(text);
        code = -EFBIG;
    }
    if (code < 0)
        return es_error_set(error, code, "%s: %s", name,
                            fault.text[0] ? fault.text : strerror(-code));
    esi_json_out_string(reply, "text", text);
    free(text);
    return 0;
}

const struct es_request esi_host_requests[] = {
    {"hosts", serve_hosts, false}, {"register", serve_register, true},
    {"end", serve_end, true},      {"file", serve_file, false},
    {NULL, NULL, false},
};
