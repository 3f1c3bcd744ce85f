/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* servers.c - the tuple servers of a run, from the client's side.
 *
 * Each host has one connection for control requests, which is reopened when it breaks.
 * Hosts are only added, never removed, so an entry is used without the set's lock,
 * under its own: a host that does not answer does not delay requests to others.
 *
 * The home server is found through the run's directory.  A server writes server.json
 * when it listens.  If hosts share the directory, server.json is the home server's, and
 * the file names of the other servers contain their host names. */
#include "config.h"

#include "scopes/remote/servers.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/host.h"
#include "base/now.h"
#include "eventspace/run.h"
#include "pathmap/message.h"
#include "scopes/remote/clock_registry.h"
#include "tuplespace/run_directory.h"

#define REQUEST_NS UINT64_C(5000000000)

/* One host. */
struct servers_host {
    char name[64];              /* never changes */
    struct es_server_info info; /* protected by the set's lock */
    pthread_mutex_t lock;       /* protects the connection */
    struct es_link *link;       /* NULL if there is none */
    uint64_t requests;
};

struct es_servers {
    char run[64];
    struct esi_run_key key;
    bool has_key;
    char here[ES_HOST_NAME_BYTES];
    char socket[ES_ADDRESS_BYTES]; /* of this host's server; "" if not known */
    struct servers_host *home;     /* the home server, by its address; NULL if the
                                      hosts are provided by the caller */
    pthread_mutex_t lock;
    struct servers_host **hosts; /* owned, with its items; in the order of arrival */
    size_t count;
    size_t capacity;
    struct esi_hash by_name;
    struct esi_clock_registry *clocks; /* of the hosts */
    /* The client's own clock relative to the home server's. */
    struct esi_clock_fit fit; /* protected by the lock, like the next */
    struct esi_clock_estimate estimate;
    struct es_host_clock *own;
};

/* --- Hosts ------------------------------------------------------------------- */

/* Called with the set's lock held.  Returns NULL if not found. */
static struct servers_host *find_host(struct es_servers *servers, const char *name)
{
    ESI_HASH_FOREACH(slot, &servers->by_name, esi_hash_mix_text(0, name)) {
        struct servers_host *host =
            servers->hosts[esi_hash_index(&servers->by_name, slot)];

        if (strcmp(host->name, name) == 0)
            return host;
    }
    return NULL;
}

static struct servers_host *new_host(const char *name)
{
    struct servers_host *host = calloc(1, sizeof *host);

    if (!host)
        return NULL;
    snprintf(host->name, sizeof host->name, "%s", name);
    snprintf(host->info.host, sizeof host->info.host, "%s", name);
    pthread_mutex_init(&host->lock, NULL);
    return host;
}

static void destroy_host(struct servers_host *host)
{
    if (!host)
        return;
    esi_link_close(host->link);
    pthread_mutex_destroy(&host->lock);
    free(host);
}

/* Called with the set's lock held.  Appends new hosts, so that the order is stable.
 * Returns NULL if out of memory. */
static struct servers_host *get_host(struct es_servers *servers, const char *name)
{
    struct servers_host *host = find_host(servers, name);

    if (host)
        return host;
    if (ESI_ARRAY_RESERVE(servers->hosts, servers->capacity, servers->count + 1) < 0 ||
        esi_hash_reserve(&servers->by_name, servers->count + 1) < 0)
        return NULL;
    host = new_host(name);
    if (!host)
        return NULL;
    esi_hash_insert(&servers->by_name, esi_hash_mix_text(0, host->name),
                    servers->count);
    servers->hosts[servers->count++] = host;
    return host;
}

/* The address at which a host's server can be reached from here. */
static int address_from_here(const struct es_servers *servers,
                             const struct servers_host *host,
                             char out[ES_ADDRESS_BYTES])
{
    const char *address = host->info.address;

    if (servers->socket[0] && strcmp(host->name, servers->here) == 0)
        address = servers->socket;
    snprintf(out, ES_ADDRESS_BYTES, "%s", address);
    return address[0] ? 0 : -ENOENT;
}

static int unknown_host(const char *name, struct es_error *error)
{
    return es_error_set(error, -ENOENT, "no tuple server of host '%.64s' is known",
                        name);
}

/* Finds an entry and its address.  `name` NULL is the home server, which is reached at
 * the address where it was found. */
static int look_up(struct es_servers *servers,
                   const char *name,
                   struct es_error *error,
                   struct servers_host **ret_host,
                   char out[ES_ADDRESS_BYTES])
{
    struct servers_host *host;
    int result;

    pthread_mutex_lock(&servers->lock);
    host = name ? find_host(servers, name) : servers->home;
    result = host ? address_from_here(servers, host, out) : -ENOENT;
    pthread_mutex_unlock(&servers->lock);
    if (result < 0)
        return unknown_host(name ? name : "home", error);
    *ret_host = host;
    return 0;
}

/* --- Connections ------------------------------------------------------------- */

static int connect_to(struct es_servers *servers,
                      const char *address,
                      uint64_t timeout_ns,
                      struct es_error *error,
                      struct es_link **ret_link)
{
    struct esi_greeting greeting =
        esi_rpc_greeting(servers->run, servers->here, program_invocation_short_name);
    int result =
        esi_link_connect(address, &greeting, servers->has_key ? &servers->key : NULL,
                         timeout_ns, error, ret_link);

    /* A missing socket means that nobody listens, in contrast to unknown hosts. */
    return result == -ENOENT ? -ECONNREFUSED : result;
}

int esi_servers_connect(struct es_servers *servers,
                        const char *host,
                        uint64_t timeout_ns,
                        struct es_error *error,
                        struct es_link **ret_link)
{
    char address[ES_ADDRESS_BYTES];
    struct servers_host *entry;
    int result = look_up(servers, host, error, &entry, address);

    return result < 0 ? result
                      : connect_to(servers, address, timeout_ns, error, ret_link);
}

int esi_servers_address(struct es_servers *servers,
                        const char *host,
                        char *out,
                        size_t size)
{
    struct servers_host *entry;
    int result = -ENOENT;

    pthread_mutex_lock(&servers->lock);
    entry = find_host(servers, host);
    if (entry && entry->info.address[0]) {
        size_t length = strlen(entry->info.address);

        result = length < size ? 0 : -ENOSPC;
        if (result == 0)
            memcpy(out, entry->info.address, length + 1);
    }
    pthread_mutex_unlock(&servers->lock);
    return result;
}

/* --- Control requests --------------------------------------------------------- */

static int servers_fail(const struct servers_host *host,
                        int code,
                        struct es_error *error)
{
    return es_error_set(error, code, "the tuple server of host %s does not answer: %s",
                        host->name, strerror(-code));
}

/* Sends over the existing connection and waits.  Closes the connection if it is broken,
 * even if only part of the request was sent. */
static int servers_exchange(struct servers_host *host,
                            const struct esi_rpc_request *request,
                            uint64_t deadline_ns,
                            struct es_error *error,
                            struct es_message **ret_reply)
{
    uint64_t id = ++host->requests;
    struct esi_frame frame;
    int result = esi_rpc_send(host->link, id, request, esi_now_left_ns(deadline_ns));
    bool was_sent = result == 0;

    if (was_sent)
        result =
            esi_rpc_receive(host->link, id, esi_now_left_ns(deadline_ns), NULL, &frame);
    if (result == 0)
        return esi_rpc_read(&frame, error, ret_reply);
    if (!was_sent || result != -ETIMEDOUT) {
        esi_link_close(host->link);
        host->link = NULL;
    }
    return result;
}

/* A cached connection may have been closed by the peer: then it is reopened once. */
static int call_host(struct es_servers *servers,
                     struct servers_host *host,
                     const char *address,
                     const struct esi_rpc_request *request,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct es_message **ret_reply)
{
    uint64_t deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;
    int result = -EPIPE;

    if (host->link)
        result = servers_exchange(host, request, deadline_ns, error, ret_reply);
    if (result == -ETIMEDOUT)
        return servers_fail(host, result, error);
    if (host->link)
        return result;
    result = connect_to(servers, address, timeout_ns, error, &host->link);
    if (result < 0)
        return result;
    result = servers_exchange(host, request, deadline_ns, error, ret_reply);
    return !host->link || result == -ETIMEDOUT ? servers_fail(host, result, error)
                                               : result;
}

int esi_servers_call(struct es_servers *servers,
                     const char *host,
                     const struct esi_rpc_request *request,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct es_message **ret_reply)
{
    char address[ES_ADDRESS_BYTES];
    struct servers_host *entry;
    int result = look_up(servers, host, error, &entry, address);

    if (result < 0)
        return result;
    pthread_mutex_lock(&entry->lock);
    result = call_host(servers, entry, address, request, timeout_ns, error, ret_reply);
    pthread_mutex_unlock(&entry->lock);
    return result;
}

/* --- Which hosts there are ----------------------------------------------------- */

static enum es_server_state find_state(const char *name)
{
    if (strcmp(name, "up") == 0)
        return ES_SERVER_UP;
    return strcmp(name, "ended") == 0 ? ES_SERVER_ENDED : ES_SERVER_SILENT;
}

static void servers_copy(char *out,
                         size_t size,
                         const struct es_member *member,
                         const char *name)
{
    snprintf(out, size, "%s", esi_member_text_or(member, name, ""));
}

/* Adds or updates one host reported by the home server. */
static int take_host(struct es_servers *servers, const struct es_member *member)
{
    struct es_server_info info = {
        .state = find_state(esi_member_text_or(member, "state", "")),
        .home = esi_member_boolean_or(member, "home", false),
        .ranks = (int)esi_member_integer_or(member, "ranks", 0),
        .silent_ns = (uint64_t)esi_member_integer_or(member, "silent_ns", 0),
    };
    struct servers_host *host;

    servers_copy(info.host, sizeof info.host, member, "host");
    servers_copy(info.cluster, sizeof info.cluster, member, "cluster");
    servers_copy(info.gateway, sizeof info.gateway, member, "gateway");
    servers_copy(info.address, sizeof info.address, member, "address");
    info.here = strcmp(info.host, servers->here) == 0;
    if (!info.host[0])
        return 0;
    pthread_mutex_lock(&servers->lock);
    host = get_host(servers, info.host);
    if (host)
        host->info = info;
    pthread_mutex_unlock(&servers->lock);
    return host && esi_clock_registry_get(servers->clocks, info.host) ? 0 : -ENOMEM;
}

/* --- Clocks -------------------------------------------------------------------- */

static int write_known(void *data,
                       const char *host,
                       const struct esi_clock_estimate *estimate)
{
    esi_json_out_signed(data, host, esi_clock_estimate_newest(estimate));
    return 0;
}

static void write_clock_request(struct esi_json_out *out, void *data)
{
    struct es_servers *servers = data;

    esi_json_out_begin_object(out, "known");
    esi_clock_registry_foreach(servers->clocks, write_known, out);
    esi_json_out_end(out);
}

static int take_clock(void *data, const char *host, const struct es_member *member)
{
    struct es_servers *servers = data;
    struct esi_clock_estimate estimate;

    if (esi_clock_estimate_read(member, NULL, &estimate) == 0)
        (void)esi_clock_registry_set(servers->clocks, host, &estimate);
    return 0;
}

/* The answer also serves as a clock exchange. */
static void take_exchange(struct es_servers *servers,
                          const struct es_member *reply,
                          uint64_t sent_ns,
                          uint64_t received_ns)
{
    struct esi_clock_exchange exchange;
    uint64_t run_base_ns;

    if (esi_clock_exchange_read(reply, sent_ns, received_ns, NULL, &exchange,
                                &run_base_ns) < 0)
        return;
    pthread_mutex_lock(&servers->lock);
    servers->estimate.run_base_ns = run_base_ns;
    if (esi_clock_fit_add(&servers->fit, &exchange) &&
        esi_clock_fit_update(&servers->fit, &servers->estimate))
        esi_host_clock_set(servers->own, &servers->estimate);
    pthread_mutex_unlock(&servers->lock);
}

/* Home servers without support for clocks are not an error. */
static void refresh_clocks(struct es_servers *servers, uint64_t timeout_ns)
{
    const struct esi_rpc_request request = {"clock", write_clock_request, servers};
    uint64_t sent_ns = esi_now_ns(CLOCK_MONOTONIC);
    struct es_message *reply;

    if (esi_servers_call(servers, NULL, &request, timeout_ns, NULL, &reply) < 0)
        return;
    take_exchange(servers, esi_message_root(reply), sent_ns,
                  esi_now_ns(CLOCK_MONOTONIC));
    esi_member_foreach(esi_member_find(esi_message_root(reply), "clocks"), take_clock,
                       servers);
    esi_message_destroy(reply);
}

const struct es_host_clock *esi_servers_clock(struct es_servers *servers,
                                              const char *host)
{
    return esi_clock_registry_get(servers->clocks, host);
}

uint64_t es_servers_run_now_ns(struct es_servers *servers)
{
    return esi_host_clock_now_ns(servers->own);
}

/* --- All that is new ------------------------------------------------------------- */

static int servers_refresh(struct es_servers *servers,
                           uint64_t timeout_ns,
                           struct es_error *error)
{
    const struct esi_rpc_request request = {.name = "hosts"};
    const struct es_member *hosts;
    struct es_message *reply;
    int result;

    if (!servers->home)
        return (int)es_servers_count(servers);
    result = esi_servers_call(servers, NULL, &request, timeout_ns, error, &reply);
    if (result < 0)
        return result;
    hosts = esi_member_find(esi_message_root(reply), "hosts");
    for (size_t i = 0; i < esi_member_count(hosts) && result == 0; i++)
        result = take_host(servers, esi_member_at(hosts, i));
    esi_message_destroy(reply);
    if (result == 0)
        refresh_clocks(servers, timeout_ns);
    return result < 0 ? result : (int)es_servers_count(servers);
}

/* --- The set ----------------------------------------------------------------- */

int esi_servers_create(const char *run,
                       const struct esi_run_key *key,
                       struct es_servers **ret_servers)
{
    struct es_servers *servers = calloc(1, sizeof *servers);

    if (!servers)
        return -ENOMEM;
    snprintf(servers->run, sizeof servers->run, "%s", run);
    esi_host_name(servers->here);
    servers->has_key = key != NULL;
    if (key)
        servers->key = *key;
    pthread_mutex_init(&servers->lock, NULL);
    if (esi_clock_registry_create(&servers->clocks) < 0 ||
        esi_host_clock_create(&servers->own) < 0) {
        es_servers_close(servers);
        return -ENOMEM;
    }
    *ret_servers = servers;
    return 0;
}

int esi_servers_add(struct es_servers *servers, const char *host, const char *address)
{
    struct servers_host *entry;

    pthread_mutex_lock(&servers->lock);
    entry = get_host(servers, host);
    if (entry)
        snprintf(entry->info.address, sizeof entry->info.address, "%s", address);
    pthread_mutex_unlock(&servers->lock);
    return entry ? 0 : -ENOMEM;
}

void es_servers_close(struct es_servers *servers)
{
    int saved_errno = errno;

    if (!servers)
        return;
    for (size_t i = 0; i < servers->count; i++)
        destroy_host(servers->hosts[i]);
    free(servers->hosts);
    esi_hash_fini(&servers->by_name);
    destroy_host(servers->home);
    esi_clock_registry_destroy(servers->clocks);
    esi_host_clock_destroy(servers->own);
    pthread_mutex_destroy(&servers->lock);
    explicit_bzero(&servers->key, sizeof servers->key);
    free(servers);
    errno = saved_errno;
}

const char *es_servers_run(const struct es_servers *servers)
{
    return servers->run;
}

/* --- The run ----------------------------------------------------------------- */

/* The only live run of this host; if there are no segments, the only run directory. */
static int find_run(struct es_error *error, char out[64])
{
    struct es_run *run;
    char(*names)[64];
    int result = es_run_open(NULL, error, &run);

    if (result == 0) {
        snprintf(out, 64, "%s", es_run_name(run));
        es_run_close(run);
        return 0;
    }
    if (result != -ENOENT)
        return result;
    es_error_clear(error);
    result = esi_run_directory_list(error, &names);
    if (result < 0)
        return result;
    if (result == 1) {
        snprintf(out, 64, "%s", names[0]);
    }
    free(names);
    return result == 1 ? 0
                       : es_error_set(error, -ENOENT, "there is no run on this host");
}

/* --- Its files --------------------------------------------------------------- */

/* Returns -ENOENT if there is no valid file, otherwise the error. */
static int read_facts(const char *run,
                      const char *file,
                      struct es_error *error,
                      struct es_message **ret_facts)
{
    struct es_error fault = {.text = ""};
    char *text;
    size_t length;
    int result = esi_run_file_read(run, file, &fault, &text, &length);

    if (result == -ENOENT)
        return result;
    if (result < 0)
        return es_error_set_at(error, result, fault.source, 0, 0, "%s", fault.text);
    result = esi_message_parse(text, length, file, NULL, ret_facts);
    free(text);
    return result < 0 ? -ENOENT : 0;
}

/* Finds the first address that is, or is not, a socket of this host; replaces "*" by
 * the name that the server uses for its host. */
static int choose_address(const struct es_member *facts,
                          bool is_socket,
                          char out[ES_ADDRESS_BYTES])
{
    const struct es_member *list = esi_member_find(facts, "addresses");
    const char *host =
        esi_member_text_or(facts, "advertise", esi_member_text_or(facts, "host", ""));

    for (size_t i = 0; i < esi_member_count(list); i++) {
        const char *address = esi_member_as_text(esi_member_at(list, i));
        const char *star;

        if (!address || (strncmp(address, "unix:", 5) == 0) != is_socket)
            continue;
        star = strstr(address, ":*:");
        if (star)
            snprintf(out, ES_ADDRESS_BYTES, "%.*s:%s%s", (int)(star - address), address,
                     host, star + 2);
        else
            snprintf(out, ES_ADDRESS_BYTES, "%s", address);
        return 0;
    }
    return -ENOENT;
}

/* Reads the file of this host's server, which exists only if the directory is
 * shared. */
static int find_socket(const char *here,
                       struct es_error *error,
                       struct esi_servers_found *found)
{
    char file[ES_HOST_NAME_BYTES + 16];
    struct es_message *facts;

    snprintf(file, sizeof file, "server.%s.json", here);
    int result = read_facts(found->run, file, error, &facts);
    if (result < 0)
        return result == -ENOENT ? 0 : result;
    (void)choose_address(esi_message_root(facts), true, found->socket);
    esi_message_destroy(facts);
    return 0;
}

/* Reads server.json, which describes this host's server, the home server, or both. */
static int find_home(const char *here,
                     struct es_error *error,
                     struct esi_servers_found *found)
{
    struct es_message *message;
    const struct es_member *facts;
    bool is_here;
    int result = read_facts(found->run, "server.json", error, &message);

    if (result < 0)
        return result;
    facts = esi_message_root(message);
    is_here = strcmp(esi_member_text_or(facts, "host", ""), here) == 0;
    if (is_here)
        (void)choose_address(facts, true, found->socket);
    if (!esi_member_boolean_or(facts, "home", true))
        snprintf(found->home, sizeof found->home, "%s",
                 esi_member_text_or(facts, "home_address", ""));
    else if (is_here && found->socket[0])
        memcpy(found->home, found->socket, sizeof found->home);
    else
        (void)choose_address(facts, false, found->home);
    esi_message_destroy(message);
    return found->home[0] ? 0 : -ENOENT;
}

int esi_servers_find(const char *run,
                     const char *home,
                     struct es_error *error,
                     struct esi_servers_found *ret_found)
{
    struct esi_servers_found found = {.socket = ""};
    char here[ES_HOST_NAME_BYTES];
    int result = 0, local;

    esi_host_name(here);
    if (run)
        snprintf(found.run, sizeof found.run, "%s", run);
    else
        result = find_run(error, found.run);
    if (result < 0)
        return result;
    result = find_home(here, error, &found);
    local = find_socket(here, error, &found);
    /* A file that is not valid (-ENOENT) is ignored. */
    if (result < 0 && result != -ENOENT)
        return result;
    if (local < 0)
        return local;
    if (home)
        snprintf(found.home, sizeof found.home, "%s", home);
    else if (result < 0)
        return es_error_set(error, -ENOENT, "run '%s': no tuple server was found",
                            found.run);
    *ret_found = found;
    return 0;
}

/* --- The run's servers -------------------------------------------------------- */

int es_servers_open(const char *run,
                    const char *home,
                    struct es_error *error,
                    struct es_servers **ret_servers)
{
    struct esi_servers_found found;
    struct es_servers *servers;
    struct esi_run_key key;
    bool has_key;
    int result = esi_servers_find(run, home, error, &found);

    if (result < 0)
        return result;
    result = esi_run_key_find(found.run, error, &key);
    has_key = result == 0;
    if (result < 0 && result != -ENOENT)
        return result;
    es_error_clear(error);
    result = esi_servers_create(found.run, has_key ? &key : NULL, &servers);
    explicit_bzero(&key, sizeof key);
    if (result < 0)
        return result;
    snprintf(servers->socket, sizeof servers->socket, "%s", found.socket);
    servers->home = new_host("home");
    if (servers->home) {
        snprintf(servers->home->info.address, sizeof found.home, "%s", found.home);
        result = servers_refresh(servers, REQUEST_NS, error);
    } else {
        result = -ENOMEM;
    }
    if (result < 0) {
        es_servers_close(servers);
        return result == -ECONNREFUSED ? -ENOENT : result;
    }
    *ret_servers = servers;
    return 0;
}

int es_servers_refresh(struct es_servers *servers)
{
    return servers_refresh(servers, REQUEST_NS, NULL);
}

int esi_servers_refresh_within(struct es_servers *servers, uint64_t timeout_ns)
{
    return servers_refresh(servers, timeout_ns, NULL);
}

size_t es_servers_count(struct es_servers *servers)
{
    size_t count;

    pthread_mutex_lock(&servers->lock);
    count = servers->count;
    pthread_mutex_unlock(&servers->lock);
    return count;
}

static void fill_clock(struct es_servers *servers, struct es_server_info *info)
{
    struct esi_clock_knot last;
    struct esi_clock_drift drift;

    info->clock_known =
        esi_clock_registry_newest(servers->clocks, info->host, &last, &drift);
    if (!info->clock_known)
        return;
    info->clock_monotonic_ns = last.local_ns;
    info->clock_offset_ns = last.offset_ns;
    info->clock_drift_ppb = drift.ppb;
    info->clock_error_ns = last.error_ns;
}

int es_servers_at(struct es_servers *servers,
                  size_t index,
                  struct es_server_info *ret_info)
{
    bool is_there;

    pthread_mutex_lock(&servers->lock);
    is_there = index < servers->count;
    if (is_there)
        *ret_info = servers->hosts[index]->info;
    pthread_mutex_unlock(&servers->lock);
    if (is_there)
        fill_clock(servers, ret_info);
    return is_there ? 0 : -ENOENT;
}
