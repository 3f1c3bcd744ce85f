/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* catalog.c - caches what tuple servers of other hosts report about their processes. */
#include "config.h"

#include "scopes/remote/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "base/wire.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/groups.h"
#include "scopes/remote/servers.h"
#include "tuplespace/layout.h"

/* A host that does not answer, or that the home server reports as silent, is asked
 * again after a pause: refreshes spend only a small part of their time on it. */
#define PAUSE_LEAST_NS UINT64_C(100000000)
#define PAUSE_MOST_NS UINT64_C(2000000000)
enum { SILENT_SHARE = 10, PAUSE_FACTOR = 4 };

/* The run is over when nobody has listened at the home server's address for this time;
 * until then the server may be restarted. */
#define GONE_NS UINT64_C(3000000000)

#define REQUEST_NS UINT64_C(2000000000)

struct catalog_communicator {
    uint16_t index;
    struct es_communicator_info info;
};

struct catalog_process {
    struct esi_catalog_process public; /* first: pointers are cast */
    char server[64];                   /* reported by this host */
    size_t element_count;
    struct catalog_communicator *communicators;
    size_t communicator_count;
    size_t communicator_capacity;
    char texts[]; /* host, program, job and launcher */
};

struct catalog_element {
    struct esi_catalog_element public;
    char texts[]; /* name and collector */
};

/* A host that does not answer, and the time of the next attempt. */
struct catalog_silence {
    char host[64];     /* "" for the home server */
    uint64_t pause_ns; /* between attempts; 0 if it answers */
    uint64_t since_ns;
    uint64_t next_ns;
    int code; /* the error */
};

struct esi_catalog {
    struct es_servers *servers; /* borrowed */
    struct catalog_process **processes;
    size_t process_count;
    size_t process_capacity;
    struct catalog_element **elements;
    size_t element_count;
    size_t element_capacity;
    struct es_batch silent; /* only its notices are used */
    struct catalog_silence *silences;
    size_t silence_count;
    size_t silence_capacity;
    struct esi_groups groups;
};

int esi_catalog_create(struct es_servers *servers, struct esi_catalog **ret_catalog)
{
    struct esi_catalog *catalog = calloc(1, sizeof *catalog);

    if (!catalog)
        return -ENOMEM;
    catalog->servers = catalog->groups.servers = servers;
    *ret_catalog = catalog;
    return 0;
}

void esi_catalog_destroy(struct esi_catalog *catalog)
{
    int saved_errno = errno;

    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->element_count; i++)
        free(catalog->elements[i]);
    for (size_t i = 0; i < catalog->process_count; i++) {
        free(catalog->processes[i]->communicators);
        free(catalog->processes[i]);
    }
    esi_groups_fini(&catalog->groups);
    es_batch_fini(&catalog->silent);
    free(catalog->silences);
    free(catalog->elements);
    free(catalog->processes);
    free(catalog);
    errno = saved_errno;
}

/* --- Entries ----------------------------------------------------------------- */

/* Distinguishes processes that had the same pid. */
static uint64_t made_of(const struct catalog_process *process)
{
    return process->public.clock.base_realtime_ns;
}

static struct catalog_process *find_process(const struct esi_catalog *catalog,
                                            const char *host,
                                            int pid,
                                            uint64_t made)
{
    for (size_t i = 0; i < catalog->process_count; i++) {
        struct catalog_process *process = catalog->processes[i];

        if (process->public.info.pid == pid && made_of(process) == made &&
            strcmp(process->public.info.host, host) == 0)
            return process;
    }
    return NULL;
}

/* Copies the text to `*at` and advances `*at` to its end. */
static const char *keep_text(char **at, const char *text)
{
    const char *kept = *at;

    *at = stpcpy(*at, text) + 1;
    return kept;
}

/* Returns NULL if out of memory. */
static struct catalog_process *add_process(struct esi_catalog *catalog,
                                           const char *host,
                                           const struct es_member *member,
                                           const struct es_clock *clock,
                                           const char *server)
{
    const char *program = esi_member_text_or(member, "program", "");
    const char *job = esi_member_text_or(member, "job", "");
    const char *launcher = esi_member_text_or(member, "launcher", "");
    struct catalog_process *process;
    char *at;

    if (ESI_ARRAY_RESERVE(catalog->processes, catalog->process_capacity,
                          catalog->process_count + 1) < 0)
        return NULL;
    process = calloc(1, sizeof *process + strlen(host) + strlen(program) + strlen(job) +
                            strlen(launcher) + 4);
    if (!process)
        return NULL;
    at = process->texts;
    process->public.info.host = keep_text(&at, host);
    process->public.info.program = keep_text(&at, program);
    process->public.info.job = keep_text(&at, job);
    process->public.info.launcher = keep_text(&at, launcher);
    process->public.clock = *clock;
    snprintf(process->server, sizeof process->server, "%s", server);
    catalog->processes[catalog->process_count++] = process;
    return process;
}

static int read_int(const struct es_member *member, const char *name, int fallback)
{
    return (int)esi_member_integer_within(member, name, INT32_MIN, INT32_MAX, fallback);
}

/* Ranks and numbers of ranks are limited by what consumers can count. */
static int read_rank(const struct es_member *member, const char *name)
{
    return (int)esi_member_integer_within(member, name, 0, ES_GROUP_MAX, -1);
}

/* Reads the members that can change with each refresh. */
static void read_state(const struct es_member *member, struct catalog_process *process)
{
    process->public.info = (struct es_segment_info){
        .host = process->public.info.host,
        .program = process->public.info.program,
        .job = process->public.info.job,
        .launcher = process->public.info.launcher,
        .pid = read_int(member, "pid", 0),
        .rank = read_rank(member, "rank"),
        .size = read_rank(member, "size"),
        .alive = esi_member_boolean_or(member, "alive", false),
        .state = (enum es_process_state)esi_member_integer_within(
            member, "state", ES_PROCESS_RUNNING, ES_PROCESS_LOST, ES_PROCESS_LOST),
        .exit_code = read_int(member, "exit_code", -1),
        .signal = read_int(member, "signal", 0),
        .ended_realtime_ns = esi_member_counter(member, "ended"),
        .segment_bytes = esi_member_counter(member, "bytes"),
        .elements_refused = (uint32_t)esi_member_counter(member, "refused"),
        .elements_shrunk = (uint32_t)esi_member_counter(member, "shrunk"),
        .communicators_refused =
            (uint32_t)esi_member_counter(member, "communicators_refused"),
        .tuples_refused = esi_member_counter(member, "tuples_refused"),
    };
}

static void read_element(const struct es_member *member,
                         const struct catalog_process *process,
                         struct es_element_info *info)
{
    info->host = process->public.info.host;
    info->rank = read_rank(member, "rank");
    info->thread = read_int(member, "thread", 0);
    info->classes = (uint32_t)esi_member_counter(member, "classes");
    info->peer = read_int(member, "peer", ES_PEER_NONE);
    info->communicator =
        (uint16_t)read_int(member, "communicator", ES_COMMUNICATOR_NONE);
    info->threshold = (uint32_t)esi_member_counter(member, "threshold");
    info->capacity = (uint32_t)esi_member_counter(member, "capacity");
    info->tuple_bytes = (uint32_t)esi_member_counter(member, "tuple_bytes");
    info->shared = esi_member_boolean_or(member, "shared", false);
    info->enabled = esi_member_boolean_or(member, "enabled", false);
    info->block = esi_member_boolean_or(member, "block", false);
    info->moved = esi_member_boolean_or(member, "moved", false);
    info->head = esi_member_counter(member, "head");
    info->oldest = esi_member_counter(member, "oldest");
}

static int add_element(struct esi_catalog *catalog,
                       const struct es_member *member,
                       struct catalog_process *process)
{
    const char *name = esi_member_text_or(member, "name", "");
    const char *collector = esi_member_text_or(member, "collector", "");
    size_t name_bytes = strlen(name) + 1;
    size_t collector_bytes = strlen(collector) + 1;
    struct catalog_element *element;

    if (ESI_ARRAY_RESERVE(catalog->elements, catalog->element_capacity,
                          catalog->element_count + 1) < 0)
        return -ENOMEM;
    element = calloc(1, sizeof *element + name_bytes + collector_bytes);
    if (!element)
        return -ENOMEM;
    memcpy(element->texts, name, name_bytes);
    memcpy(element->texts + name_bytes, collector, collector_bytes);
    element->public.process = &process->public;
    element->public.info.name = element->texts;
    element->public.info.collector = element->texts + name_bytes;
    read_element(member, process, &element->public.info);
    catalog->elements[catalog->element_count++] = element;
    process->element_count++;
    return 0;
}

/* --- Asking ------------------------------------------------------------------ */

/* Servers that share the memory of a machine see each other's processes; each reports
 * only those of its own host. */
static bool is_reported_elsewhere(const struct esi_catalog *catalog,
                                  const char *host,
                                  const char *server)
{
    struct es_server_info info;

    if (strcmp(host, server) == 0)
        return false;
    for (size_t i = 0; es_servers_at(catalog->servers, i, &info) == 0; i++)
        if (strcmp(info.host, host) == 0)
            return true;
    return false;
}

/* Adds a reported process; skips entries that are malformed. */
static int take_process(struct esi_catalog *catalog,
                        const struct es_member *member,
                        const char *server)
{
    const char *host = esi_member_text_or(member, "host", server);
    const struct es_member *elements = esi_member_find(member, "elements");
    struct catalog_process *process;
    struct es_clock clock;
    int result = 0;

    if (is_reported_elsewhere(catalog, host, server) ||
        esi_clock_member_read(esi_member_find(member, "clock"), NULL, &clock) < 0)
        return 0;
    process =
        find_process(catalog, host, read_int(member, "pid", 0), clock.base_realtime_ns);
    if (!process) {
        process = add_process(catalog, host, member, &clock, server);
        if (!process)
            return -ENOMEM;
    }
    read_state(member, process);
    for (size_t i = 0; i < esi_member_count(elements) && result == 0; i++)
        result = add_element(catalog, esi_member_at(elements, i), process);
    return result;
}

struct catalog_asking {
    const struct esi_catalog *catalog;
    const char *server;
};

static void write_known(struct esi_json_out *out, void *data)
{
    const struct catalog_asking *asking = data;
    const struct esi_catalog *catalog = asking->catalog;

    esi_json_out_begin_array(out, "known");
    for (size_t i = 0; i < catalog->process_count; i++) {
        const struct catalog_process *process = catalog->processes[i];

        if (strcmp(process->server, asking->server) != 0)
            continue;
        esi_json_out_begin_array(out, NULL);
        esi_json_out_signed(out, NULL, process->public.info.pid);
        esi_json_out_unsigned(out, NULL, made_of(process));
        esi_json_out_unsigned(out, NULL, process->element_count);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

static int ask_host(struct esi_catalog *catalog,
                    const char *server,
                    uint64_t timeout_ns)
{
    struct catalog_asking asking = {.catalog = catalog, .server = server};
    const struct esi_rpc_request request = {"catalog", write_known, &asking};
    const struct es_member *processes;
    struct es_message *reply;
    int result =
        esi_servers_call(catalog->servers, server, &request, timeout_ns, NULL, &reply);

    if (result < 0)
        return result;
    processes = esi_member_find(esi_message_root(reply), "processes");
    for (size_t i = 0; i < esi_member_count(processes) && result == 0; i++)
        result = take_process(catalog, esi_member_at(processes, i), server);
    esi_message_destroy(reply);
    return result;
}

/* --- Hosts that do not answer --------------------------------------------------- */

/* Returns NULL if the host has always answered. */
static struct catalog_silence *find_silence(const struct esi_catalog *catalog,
                                            const char *host)
{
    for (size_t i = 0; i < catalog->silence_count; i++)
        if (strcmp(catalog->silences[i].host, host) == 0)
            return &catalog->silences[i];
    return NULL;
}

/* Returns NULL if out of memory. */
static struct catalog_silence *get_silence(struct esi_catalog *catalog,
                                           const char *host)
{
    struct catalog_silence *silence = find_silence(catalog, host);

    if (silence)
        return silence;
    if (ESI_ARRAY_RESERVE(catalog->silences, catalog->silence_capacity,
                          catalog->silence_count + 1) < 0)
        return NULL;
    silence = &catalog->silences[catalog->silence_count++];
    *silence = (struct catalog_silence){.pause_ns = 0};
    snprintf(silence->host, sizeof silence->host, "%s", host);
    return silence;
}

/* Records the result of an attempt that began at `begun_ns`. */
static void note_attempt(struct catalog_silence *silence, int code, uint64_t begun_ns)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t pause_ns = silence->pause_ns * 2;

    silence->code = code;
    if (code == 0) {
        silence->pause_ns = 0;
        return;
    }
    if (silence->pause_ns == 0)
        silence->since_ns = begun_ns;
    if (pause_ns < PAUSE_LEAST_NS)
        pause_ns = PAUSE_LEAST_NS;
    if (pause_ns > PAUSE_MOST_NS)
        pause_ns = PAUSE_MOST_NS;
    if (pause_ns < PAUSE_FACTOR * (now - begun_ns))
        pause_ns = PAUSE_FACTOR * (now - begun_ns);
    silence->pause_ns = pause_ns;
    silence->next_ns = now + pause_ns;
}

static int report_silence(struct esi_catalog *catalog,
                          const struct catalog_silence *silence,
                          uint64_t silent_ns)
{
    struct es_notice notice = {.code = silence->code,
                               .silent_ns =
                                   esi_now_ns(CLOCK_MONOTONIC) - silence->since_ns};

    if (silent_ns > notice.silent_ns)
        notice.silent_ns = silent_ns;
    snprintf(notice.part, sizeof notice.part, "%s%.50s",
             silence->host[0] ? "host " : "home server", silence->host);
    return es_batch_notice(&catalog->silent, &notice);
}

/* Refreshes the host (the home server if `info` is NULL) if an attempt is due. */
static int refresh_host(struct esi_catalog *catalog,
                        const struct es_server_info *info,
                        uint64_t timeout_ns)
{
    struct catalog_silence *silence = get_silence(catalog, info ? info->host : "");
    uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result;

    if (!silence)
        return -ENOMEM;
    if (silence->pause_ns == 0 || begun_ns >= silence->next_ns) {
        if (silence->pause_ns || (info && info->state == ES_SERVER_SILENT))
            timeout_ns /= SILENT_SHARE;
        if (info)
            result = ask_host(catalog, info->host, timeout_ns);
        else
            result = esi_servers_refresh_within(catalog->servers, timeout_ns);
        if (result == -ENOMEM)
            return result;
        note_attempt(silence, result < 0 ? result : 0, begun_ns);
    }
    return silence->pause_ns
               ? report_silence(catalog, silence, info ? info->silent_ns : 0)
               : 0;
}

/* --- The end of the run --------------------------------------------------------- */

/* When the home server was last found to be gone; 0 if it is not.  It is gone if its
 * address refuses connections; a server that cannot be reached may still run. */
static uint64_t home_gone_ns(const struct esi_catalog *catalog)
{
    const struct catalog_silence *home = find_silence(catalog, "");
    uint64_t asked_ns = home ? home->next_ns - home->pause_ns : 0;

    if (!home || home->pause_ns == 0 || home->code != -ECONNREFUSED ||
        asked_ns - home->since_ns < GONE_NS)
        return 0;
    return asked_ns;
}

/* The host's silence, if it began before the home server was last asked; else NULL. */
static const struct catalog_silence *find_silence_before(
    const struct esi_catalog *catalog,
    const char *host,
    uint64_t gone_ns)
{
    const struct catalog_silence *silence = find_silence(catalog, host);

    return silence && silence->pause_ns > 0 && silence->since_ns <= gone_ns ? silence
                                                                            : NULL;
}

/* Marks the processes as dead: no server is left that could report their end. */
static void end_processes(struct esi_catalog *catalog, const char *server)
{
    for (size_t i = 0; i < catalog->process_count; i++)
        if (strcmp(catalog->processes[i]->server, server) == 0)
            catalog->processes[i]->public.info.alive = false;
}

static void end_lost_processes(struct esi_catalog *catalog)
{
    const uint64_t gone_ns = home_gone_ns(catalog);
    struct es_server_info info;

    if (!gone_ns)
        return;
    for (size_t i = 0; es_servers_at(catalog->servers, i, &info) == 0; i++) {
        const struct catalog_silence *silence =
            find_silence_before(catalog, info.host, gone_ns);

        if (info.state == ES_SERVER_ENDED ||
            (silence && silence->code == -ECONNREFUSED))
            end_processes(catalog, info.host);
    }
}

bool esi_catalog_is_over(const struct esi_catalog *catalog)
{
    const uint64_t gone_ns = home_gone_ns(catalog);
    struct es_server_info info;

    if (!gone_ns)
        return false;
    for (size_t i = 0; es_servers_at(catalog->servers, i, &info) == 0; i++)
        if (!info.here && info.state != ES_SERVER_ENDED &&
            !find_silence_before(catalog, info.host, gone_ns))
            return false;
    return true;
}

/* --- Refreshing ------------------------------------------------------------------ */

int esi_catalog_refresh(struct esi_catalog *catalog, uint64_t timeout_ns)
{
    size_t known = catalog->element_count;
    struct es_server_info info;
    int result;

    es_batch_clear(&catalog->silent);
    result = refresh_host(catalog, NULL, timeout_ns);
    for (size_t i = 0; result == 0 && es_servers_at(catalog->servers, i, &info) == 0;
         i++)
        if (!info.here && info.state != ES_SERVER_ENDED)
            result = refresh_host(catalog, &info, timeout_ns);
    end_lost_processes(catalog);
    return result < 0 ? result : (int)(catalog->element_count - known);
}

/* --- Looking ----------------------------------------------------------------- */

size_t esi_catalog_silent_count(const struct esi_catalog *catalog)
{
    return catalog->silent.notice_count;
}

const struct es_notice *esi_catalog_silent(const struct esi_catalog *catalog,
                                           size_t index)
{
    return index < catalog->silent.notice_count ? &catalog->silent.notices[index]
                                                : NULL;
}

size_t esi_catalog_element_count(const struct esi_catalog *catalog)
{
    return catalog->element_count;
}

const struct esi_catalog_element *esi_catalog_element_at(
    const struct esi_catalog *catalog,
    size_t index)
{
    return index < catalog->element_count ? &catalog->elements[index]->public : NULL;
}

/* --- Communicators ------------------------------------------------------------ */

static void read_info(const struct es_member *member,
                      struct es_communicator_info *ret_info)
{
    const struct es_member *key = esi_member_find(member, "key");

    *ret_info = (struct es_communicator_info){
        .rank = (int)esi_member_integer_within(member, "rank", -1, INT32_MAX, -1),
        .size = (int)esi_member_integer_within(member, "size", 0, ES_GROUP_MAX, 0),
        .remote_size =
            (int)esi_member_integer_within(member, "remote_size", 0, ES_GROUP_MAX, 0),
        .first = (int)esi_member_integer_within(member, "first", -1, INT32_MAX, -1),
        .remote_first =
            (int)esi_member_integer_within(member, "remote_first", -1, INT32_MAX, -1),
        .parent =
            (uint16_t)esi_member_integer_or(member, "parent", ES_COMMUNICATOR_NONE),
        .freed = esi_member_boolean_or(member, "freed", false),
    };
    for (size_t i = 0; i < 2; i++) {
        const char *text = esi_member_as_text(esi_member_at(key, i));

        ret_info->key[i] = text ? strtoull(text, NULL, 16) : 0;
    }
    snprintf(ret_info->name, sizeof ret_info->name, "%s",
             esi_member_text_or(member, "name", ""));
}

/* The reply contains the members of the groups if the host knows them. */
static void take_groups(struct esi_catalog *catalog,
                        const struct es_member *member,
                        const struct es_communicator_info *info)
{
    if (info->size > 0)
        esi_groups_take(&catalog->groups, info, false,
                        esi_member_find(member, "ranks"));
    if (info->remote_size > 0)
        esi_groups_take(&catalog->groups, info, true,
                        esi_member_find(member, "remote_ranks"));
}

struct sought {
    const struct catalog_process *process;
    uint16_t index;
};

static void write_sought(struct esi_json_out *out, void *data)
{
    const struct sought *sought = data;

    esi_json_out_signed(out, "pid", sought->process->public.info.pid);
    esi_json_out_unsigned(out, "made", made_of(sought->process));
    esi_json_out_unsigned(out, "index", sought->index);
}

static int ask_for_communicator(struct esi_catalog *catalog,
                                const struct catalog_process *process,
                                uint16_t index,
                                struct es_communicator_info *ret_info)
{
    struct sought sought = {.process = process, .index = index};
    const struct esi_rpc_request request = {"communicator", write_sought, &sought};
    struct es_message *reply;
    int result = esi_servers_call(catalog->servers, process->server, &request,
                                  REQUEST_NS, NULL, &reply);

    if (result < 0)
        return result;
    read_info(esi_message_root(reply), ret_info);
    take_groups(catalog, esi_message_root(reply), ret_info);
    esi_message_destroy(reply);
    return 0;
}

int esi_catalog_communicator_find(struct esi_catalog *catalog,
                                  const struct esi_catalog_process *public,
                                  uint16_t communicator,
                                  struct es_communicator_info *ret_info)
{
    /* All entries are created here, and begin with the public part. */
    struct catalog_process *process = (struct catalog_process *)public;
    struct catalog_communicator *list = process->communicators;
    int result;

    for (size_t i = 0; i < process->communicator_count; i++)
        if (list[i].index == communicator) {
            *ret_info = list[i].info;
            return 0;
        }
    if (ESI_ARRAY_RESERVE(process->communicators, process->communicator_capacity,
                          process->communicator_count + 1) < 0)
        return -ENOMEM;
    list = &process->communicators[process->communicator_count];
    result = ask_for_communicator(catalog, process, communicator, &list->info);
    if (result < 0)
        return result;
    list->index = communicator;
    process->communicator_count++;
    *ret_info = list->info;
    return 0;
}

/* --- Ledgers and profiles ----------------------------------------------------- */

static void write_process_sought(struct esi_json_out *out, void *data)
{
    const struct catalog_process *process = data;

    esi_json_out_signed(out, "pid", process->public.info.pid);
    esi_json_out_unsigned(out, "made", made_of(process));
}

int esi_catalog_ask(struct esi_catalog *catalog,
                    const struct esi_catalog_process *public,
                    const char *what,
                    struct es_message **ret_reply)
{
    /* As above, entries begin with the public part. */
    struct catalog_process *process = (struct catalog_process *)public;
    const struct esi_rpc_request request = {what, write_process_sought, process};

    return esi_servers_call(catalog->servers, process->server, &request, REQUEST_NS,
                            NULL, ret_reply);
}

/* --- Modules ------------------------------------------------------------------ */

static uint64_t read_hex(const struct es_member *member, const char *name)
{
    return strtoull(esi_member_text_or(member, name, "0"), NULL, 16);
}

static void read_build_id(const char *text, struct es_module *module)
{
    for (uint32_t i = 0; i < ES_BUILD_ID_BYTES && text[0] && text[1]; i++, text += 2) {
        int high = esi_wire_hex_digit(text[0]), low = esi_wire_hex_digit(text[1]);

        if (high < 0 || low < 0)
            return;
        module->build_id[i] = (uint8_t)(high << 4 | low);
        module->build_id_bytes = i + 1;
    }
}

static void read_module(const struct es_member *member, struct es_module *ret_module)
{
    *ret_module = (struct es_module){.begin = read_hex(member, "begin"),
                                     .end = read_hex(member, "end"),
                                     .bias = read_hex(member, "bias")};
    read_build_id(esi_member_text_or(member, "build_id", ""), ret_module);
    snprintf(ret_module->path, sizeof ret_module->path, "%s",
             esi_member_text_or(member, "path", ""));
}

int esi_catalog_modules(struct esi_catalog *catalog,
                        const struct esi_catalog_process *public,
                        struct es_module **ret_modules)
{
    const struct catalog_process *process = (const struct catalog_process *)public;
    struct sought sought = {.process = process};
    const struct esi_rpc_request request = {"modules", write_sought, &sought};
    const struct es_member *list;
    struct es_module *modules;
    struct es_message *reply;
    size_t count;
    int result = esi_servers_call(catalog->servers, process->server, &request,
                                  REQUEST_NS, NULL, &reply);

    if (result < 0)
        return result;
    list = esi_member_find(esi_message_root(reply), "modules");
    count = esi_member_count(list);
    modules = calloc(count + 1, sizeof *modules);
    for (size_t i = 0; modules && i < count; i++)
        read_module(esi_member_at(list, i), &modules[i]);
    esi_message_destroy(reply);
    if (!modules)
        return -ENOMEM;
    *ret_modules = modules;
    return (int)count;
}

/* --- World ranks -------------------------------------------------------------- */

/* Searches for the group in a segment that is mapped here. */
static int rank_in_segment(const struct es_run *run,
                           const struct es_segment_view *segment,
                           const struct es_communicator_info *wanted,
                           bool remote,
                           int rank)
{
    size_t count = es_segment_view_communicator_count(segment);
    int size = remote ? wanted->remote_size : wanted->size;
    int first = remote ? wanted->remote_first : wanted->first;
    struct es_communicator_info info;

    for (size_t i = 0; i < count; i++) {
        if (es_segment_view_communicator(segment, (uint16_t)i, &info) < 0 ||
            memcmp(info.key, wanted->key, sizeof info.key) != 0)
            continue;
        if (info.size == size && info.first == first)
            return es_run_world_rank(run, segment, (uint16_t)i, false, rank);
        if (info.remote_size == size && info.remote_first == first)
            return es_run_world_rank(run, segment, (uint16_t)i, true, rank);
    }
    return -ENOENT;
}

int esi_catalog_world_rank(struct esi_catalog *catalog,
                           const struct es_run *local,
                           const struct esi_catalog_process *process,
                           uint16_t communicator,
                           bool remote,
                           int rank)
{
    struct es_communicator_info info;
    int world = -ENOENT;
    int result = esi_catalog_communicator_find(catalog, process, communicator, &info);

    if (result < 0)
        return result;
    if (rank < 0 || rank >= (remote ? info.remote_size : info.size))
        return -ENOENT;
    for (size_t i = 0; local && i < es_run_segment_count(local) && world < 0; i++)
        world = rank_in_segment(local, es_run_segment(local, i), &info, remote, rank);
    return world >= 0 ? world
                      : esi_groups_world_rank(&catalog->groups, &info, remote, rank);
}

int esi_catalog_world_rank_of(struct esi_catalog *catalog,
                              const struct es_segment_view *segment,
                              uint16_t communicator,
                              bool remote,
                              int rank)
{
    struct es_communicator_info info;
    int result = es_segment_view_communicator(segment, communicator, &info);

    return result < 0 ? result
                      : esi_groups_world_rank(&catalog->groups, &info, remote, rank);
}
