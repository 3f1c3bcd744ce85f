/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_server.c - tuple servers in the process of the test. */
#include "config.h"

#include "tests/scopes/made_server.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tuplespace/run_directory.h"

#define LIMIT_NS UINT64_C(20000000000)

void made_servers_begin(struct made_servers *servers, const char *run)
{
    *servers = (struct made_servers){.count = 0};
    snprintf(servers->run, sizeof servers->run, "%s", run);
    snprintf(servers->directory, sizeof servers->directory, "/tmp/made-XXXXXX");
    assert_non_null(mkdtemp(servers->directory));
    assert_int_equal(setenv("EVENTSPACE_DIR", servers->directory, 1), 0);
}

void made_servers_use_network(struct made_servers *servers, const char *scheme)
{
    char path[ES_RUN_PATH_BYTES];

    servers->scheme = scheme;
    assert_int_equal(esi_run_directory_create(servers->run, NULL, path), 0);
    assert_int_equal(esi_run_key_make(&servers->key), 0);
    assert_int_equal(esi_run_key_save(servers->run, &servers->key, NULL), 0);
}

void made_servers_end(struct made_servers *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        char path[128];

        made_server_stop(&servers->items[i]);
        snprintf(path, sizeof path, "%s/%s", servers->directory,
                 servers->items[i].host);
        unlink(path);
    }
    if (servers->scheme)
        assert_int_equal(esi_run_directory_remove(servers->run, NULL), 0);
    assert_int_equal(rmdir(servers->directory), 0);
}

static void be_quiet(void *data, const char *line)
{
    (void)data;
    if (getenv("MADE_SERVER_LOG"))
        fprintf(stderr, "# %s\n", line);
}

void made_server_start(struct made_servers *servers, struct made_server *server)
{
    struct es_error error = {.text = ""};
    struct esi_server_config config = {.run = servers->run,
                                       .host = server->host,
                                       .addresses = server->addresses,
                                       .key = servers->key,
                                       .log = be_quiet};

    assert_int_equal(
        esi_host_registry_create(servers->run, server->host, true, &server->registry),
        0);
    server->service = (struct esi_service){
        .run = servers->run, .host = server->host, .hosts = server->registry};
    assert_int_equal(esi_service_init(&server->service, &error), 0);
    esi_service_fill(&server->service, &config.service);
    if (esi_acceptor_start(&config, &error, &server->server) < 0)
        fail_msg("%s", error.text);
    server->service.server = server->server;
    /* The port that was chosen is used again by restarts. */
    snprintf(server->address, sizeof server->address, "%s",
             esi_server_address(server->server, 0));
}

struct made_server *made_server_name(struct made_servers *servers, const char *host)
{
    struct made_server *server = &servers->items[servers->count++];

    assert_true(servers->count <= MADE_SERVERS);
    snprintf(server->host, sizeof server->host, "%s", host);
    if (servers->scheme)
        snprintf(server->address, sizeof server->address, "%s:127.0.0.1:0",
                 servers->scheme);
    else
        snprintf(server->address, sizeof server->address, "unix:%s/%s",
                 servers->directory, host);
    server->addresses[0] = server->address;
    return server;
}

struct made_server *made_server_add(struct made_servers *servers, const char *host)
{
    struct made_server *server = made_server_name(servers, host);

    made_server_start(servers, server);
    return server;
}

void made_servers_fill(struct made_servers *servers,
                       struct made_run *run,
                       const char *const hosts[],
                       int host_count,
                       struct esi_writer *writers[],
                       int count)
{
    for (int host = 0; host < host_count; host++) {
        struct es_segment *segment =
            made_run_add_rank_on(run, hosts[host], host, host_count);

        for (int i = host; i < count; i += host_count)
            writers[i] =
                made_run_add_element(run, segment, host, i, "p2p", 1, MADE_THRESHOLD);
        made_server_add(servers, hosts[host]);
    }
}

void made_server_stop(struct made_server *server)
{
    if (!server->server)
        return;
    esi_server_stop(server->server);
    esi_service_fini(&server->service);
    esi_host_registry_destroy(server->registry);
    server->server = NULL;
}

/* --- Consumers --------------------------------------------------------------- */

static const struct made_server *find_server(const struct made_servers *servers,
                                             const char *host)
{
    for (size_t i = 0; i < servers->count; i++)
        if (strcmp(servers->items[i].host, host) == 0)
            return &servers->items[i];
    return NULL;
}

static int connect_to(void *data,
                      const char *host,
                      uint64_t timeout_ns,
                      struct es_error *error,
                      struct es_link **ret_link)
{
    struct made_consumer *consumer = data;
    const struct made_server *server = find_server(consumer->servers, host);
    struct esi_greeting greeting = {.host = "consumer", .program = "test", .pid = 1};

    if (!server)
        return es_error_set(error, -ENOENT, "no such host");
    snprintf(greeting.run, sizeof greeting.run, "%s", consumer->servers->run);
    return esi_link_connect(server->address, &greeting,
                            consumer->servers->scheme ? &consumer->servers->key : NULL,
                            timeout_ns, error, ret_link);
}

static int address_of(void *data, const char *host, char *out, size_t size)
{
    struct made_consumer *consumer = data;
    const struct made_server *server = find_server(consumer->servers, host);

    if (!server)
        return -ENOENT;
    snprintf(out, size, "%s", server->address);
    return 0;
}

static void add_origin(struct made_consumer *consumer,
                       const struct es_element_view *element)
{
    const struct es_segment_view *segment = es_element_view_segment(element);
    struct es_segment_info process;
    struct es_element_info info;

    es_element_view_info(element, &info);
    es_segment_view_info(segment, &process);
    consumer->origins.items[consumer->origins.count++] =
        (struct es_origin){.name = info.name,
                           .collector = info.collector,
                           .host = info.host,
                           .pid = process.pid,
                           .rank = info.rank,
                           .thread = info.thread,
                           .classes = info.classes,
                           .peer = info.peer,
                           .communicator = info.communicator,
                           .clock = es_segment_view_clock(segment)};
    consumer->places.count++;
}

void made_consumer_begin(struct made_consumer *consumer, struct made_servers *servers)
{
    struct es_element_view **elements;
    struct es_selection all;
    int count;

    *consumer = (struct made_consumer){.servers = servers};
    assert_int_equal(es_run_open(servers->run, NULL, &consumer->run), 0);
    es_selection_init(&all);
    count = es_run_select(consumer->run, &all, &elements);
    assert_true(count >= 0);
    consumer->origins.items =
        calloc((size_t)count + 1, sizeof *consumer->origins.items);
    consumer->places.items = calloc((size_t)count + 1, sizeof *consumer->places.items);
    assert_true(consumer->origins.items && consumer->places.items);
    for (int i = 0; i < count; i++)
        add_origin(consumer, elements[i]);
    free(elements);
    consumer->context = (struct es_stage_context){.origins = &consumer->origins,
                                                  .places = &consumer->places,
                                                  .connect = connect_to,
                                                  .address = address_of,
                                                  .data = consumer};
}

void made_consumer_end(struct made_consumer *consumer)
{
    es_stage_close(consumer->root);
    es_batch_fini(&consumer->batch);
    free(consumer->origins.items);
    free(consumer->places.items);
    es_run_close(consumer->run);
}

struct esi_stage_node *made_consumer_node(const struct made_consumer *consumer,
                                          const char *type,
                                          const char *host,
                                          const char *of,
                                          const char *read)
{
    struct esi_stage_node *node = esi_stage_node_create(type, host);

    assert_non_null(node);
    snprintf(node->label, sizeof node->label, "%s", host ? host : "consumer");
    node->limit_ns = LIMIT_NS;
    for (size_t i = 0; i < consumer->origins.count; i++) {
        const struct es_origin *origin = &consumer->origins.items[i];
        struct esi_stage_node *element;

        if (of && strcmp(origin->host, of) != 0)
            continue;
        element = esi_stage_node_create("element", NULL);
        assert_non_null(element);
        element->origin = (uint32_t)i;
        assert_int_equal(esi_stage_node_set(element, "read", read), 0);
        assert_int_equal(esi_stage_node_add(node, element), 0);
    }
    return node;
}

void made_consumer_open(struct made_consumer *consumer, struct esi_stage_node *node)
{
    struct es_error error = {.text = ""};
    struct es_stage *root;

    if (esi_stage_node_open(node, "", &consumer->context, &error, &root) < 0)
        fail_msg("%s", error.text);
    esi_stage_node_destroy(node);
    es_stage_close(consumer->root);
    esi_places_rewind(&consumer->places);
    consumer->root = root;
}

int made_consumer_pull(struct made_consumer *consumer,
                       size_t max,
                       bool repeat,
                       bool drain)
{
    struct es_pull pull = {.max = max, .drain = drain};
    struct timespec now;
    int result;

    clock_gettime(CLOCK_REALTIME, &now);
    pull.serial = ++consumer->serial;
    if (!repeat)
        es_batch_clear(&consumer->batch);
    for (size_t i = 0; i < consumer->places.count && !repeat; i++)
        consumer->places.items[i].acknowledged = consumer->places.items[i].delivered;
    consumer->batch.notice_count = 0;
    if (consumer->batch.count >= max)
        return 0;
    pull.max = max - consumer->batch.count;
    consumer->batch.more = false;
    pull.realtime_ns =
        (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    es_stage_ask(consumer->root, &pull);
    result = es_stage_pull(consumer->root, &pull, &consumer->batch);
    if (result == 0)
        esi_places_commit(&consumer->places);
    return result;
}
