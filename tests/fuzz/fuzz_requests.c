/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds frames of clients to a tuple server.  Each line is one frame of one connection:
 * a line that begins with '{' is a request; one that begins with P, R or W is the
 * payload of a PULL, READ or WRITE frame; "N" alone begins a new connection.  The link
 * is real; a thread at its other end discards the answers.  Waiting times are set to 0.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scopes/remote/clock_registry.h"
#include "scopes/server/host_registry.h"
#include "scopes/server/service.h"
#include "tests/fuzz/fuzz_target.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/segment.h"
#include "tuplespace/tree_control.h"

int __wrap_esi_link_connect(const char *address,
                            const struct esi_greeting *greeting,
                            const struct esi_run_key *key,
                            uint64_t timeout_ns,
                            struct es_error *error,
                            struct es_link **ret_link);
int __real_esi_link_connect(const char *address,
                            const struct esi_greeting *greeting,
                            const struct esi_run_key *key,
                            uint64_t timeout_ns,
                            struct es_error *error,
                            struct es_link **ret_link);

enum { FRAMES_MAX = 32 };

#define LIMIT_NS UINT64_C(20000000000)

static char run[64];
static char address[200];
static struct esi_listener *listener;
static struct es_link *server_end;
static struct es_segment *observed;

/* Requests contain hosts and addresses; no connection is made to them. If there is no
 * address of ours, another target of the program runs and may connect. */
int __wrap_esi_link_connect(const char *to,
                            const struct esi_greeting *greeting,
                            const struct esi_run_key *key,
                            uint64_t timeout_ns,
                            struct es_error *error,
                            struct es_link **ret_link)
{
    if (address[0] == '\0' || strcmp(to, address) == 0)
        return __real_esi_link_connect(to, greeting, key, timeout_ns, error, ret_link);
    return es_error_set(error, -ECONNREFUSED, "%.64s: nobody is called", to);
}

/* --- The link ------------------------------------------------------------------- */

static void fill_greeting(struct esi_greeting *greeting)
{
    *greeting = (struct esi_greeting){.host = "fuzz", .program = "fuzz"};
    snprintf(greeting->run, sizeof greeting->run, "%s", run);
    greeting->pid = (uint32_t)getpid();
}

static void *drop_answers(void *unused)
{
    struct esi_greeting greeting;
    struct esi_frame frame;
    struct es_link *link;
    int result;

    fill_greeting(&greeting);
    require(esi_link_connect(address, &greeting, NULL, LIMIT_NS, NULL, &link) == 0);
    do
        result = esi_link_receive(link, LIMIT_NS, NULL, &frame);
    while (result == 0 || result == -ETIMEDOUT);
    esi_link_close(link);
    return unused;
}

static void connect_ends(const char *directory)
{
    struct esi_greeting greeting;
    struct pollfd polled;
    pthread_t client;

    snprintf(address, sizeof address, "unix:%s/fuzz.sock", directory);
    require(esi_listener_open(address, NULL, &listener) == 0);
    require(pthread_create(&client, NULL, drop_answers, NULL) == 0);
    pthread_detach(client);
    polled = (struct pollfd){.fd = esi_listener_descriptor(listener), .events = POLLIN};
    require(poll(&polled, 1, 20000) == 1);
    require(esi_listener_accept(listener, &server_end) == 0);
    fill_greeting(&greeting);
    require(esi_link_greet(server_end, &greeting, NULL, LIMIT_NS, NULL) == 0);
}

/* --- The run -------------------------------------------------------------------- */

static void add_elements(void)
{
    struct esi_element_config element = {
        .kind = ES_ELEMENT_TRACE,
        .name = "0.0/trace",
        .collector = "trace",
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = 15,
        .enabled = true,
    };
    const struct es_tuple tuple = {.stop = 2, .operation = 1, .start = 1};
    struct esi_writer writer;

    require(esi_segment_add_element(observed, &element, &writer) == 0);
    esi_writer_write(&writer, &tuple);
    element.kind = ES_ELEMENT_SHARED;
    element.name = "notes";
    element.tuple_bytes = 8;
    require(esi_segment_add_element(observed, &element, NULL) == 0);
}

/* Creates a run with the pid and the clock that the corpus contains. */
static void make_run(void)
{
    const struct es_clock clock = {.kind = ES_CLOCK_MONOTONIC,
                                   .frequency_hz = 1000000000,
                                   .base_realtime_ns = 12345};
    const struct esi_segment_keeping keeping = {
        .pid = 4711, .rank = 0, .size = 3, .clock = &clock};
    const int32_t ranks[] = {0, 2, 1};
    struct esi_communicator_config world = {.key = {1, 2},
                                            .parent = ES_COMMUNICATOR_NONE,
                                            .name = "MPI_COMM_WORLD",
                                            .group = ranks,
                                            .group_size = 3,
                                            .keep_list = true};
    struct esi_segment_config config;
    uint16_t index;

    esi_segment_config_init(&config);
    config.run = run;
    config.host = "fuzz";
    config.keeping = &keeping;
    config.max_elements = 8;
    config.max_communicators = 8;
    config.arena_bytes = 1 << 20;
    require(esi_segment_create(&config, NULL, &observed) == 0);
    require(esi_segment_add_communicator(observed, &world, &index) == 0);
    require(esi_segment_add_tree_control(observed) == 0);
    add_elements();
}

static void remove_all(void)
{
    char path[ES_RUN_PATH_BYTES];

    esi_listener_close(listener);
    esi_segment_destroy(observed);
    esi_run_directory_remove(run, NULL);
    if (esi_run_directory_base(NULL, path) == 0)
        rmdir(path);
}

static void be_home(struct esi_clock_registry *clocks)
{
    struct esi_clock_estimate estimate;

    esi_clock_estimate_be_home(&estimate, 1000);
    require(esi_clock_registry_set(clocks, "fuzz", &estimate) == 0);
}

static void begin(void)
{
    char directory[] = "/tmp/fuzz-requests-XXXXXX";
    char path[ES_RUN_PATH_BYTES];

    require(mkdtemp(directory) != NULL);
    setenv("EVENTSPACE_DIR", directory, 1);
    snprintf(run, sizeof run, "fuzz-requests-%d", (int)getpid());
    require(esi_run_directory_create(run, NULL, path) == 0);
    connect_ends(directory);
    make_run();
    atexit(remove_all);
}

/* --- One input ------------------------------------------------------------------ */

/* Sets the waiting time of a READ to 0. */
static void shorten(unsigned type, uint8_t *payload, size_t length)
{
    if (type == ES_FRAME_READ && length >= 16)
        memset(payload + 8, 0, 8);
}

static unsigned type_of(uint8_t letter)
{
    switch (letter) {
    case 'P':
        return ES_FRAME_PULL;
    case 'R':
        return ES_FRAME_READ;
    case 'W':
        return ES_FRAME_WRITE;
    default:
        return ES_FRAME_REQUEST;
    }
}

/* Payloads of frames are aligned to 8 bytes, as malloc(3) does. */
static void serve_line(const struct esi_server_service *service,
                       void *connection,
                       const uint8_t *line,
                       size_t length)
{
    unsigned type = type_of(line[0]);
    size_t skipped = type == ES_FRAME_REQUEST ? 0 : 1;
    uint8_t *payload = malloc(length - skipped + 1);
    struct esi_frame frame;

    require(payload != NULL);
    memcpy(payload, line + skipped, length - skipped);
    shorten(type, payload, length - skipped);
    frame = (struct esi_frame){.type = (uint16_t)type,
                               .id = 7,
                               .payload = payload,
                               .length = (uint32_t)(length - skipped)};
    service->serve(connection, &frame);
    free(payload);
}

static void serve_lines(const struct esi_server_service *service,
                        const uint8_t *data,
                        size_t size)
{
    void *connection;

    require(service->open(service->data, server_end, &connection) == 0);
    for (int i = 0; size > 0 && i < FRAMES_MAX; i++) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end ? (size_t)(end - data) : size;

        if (length == 1 && data[0] == 'N') {
            service->close(connection);
            require(service->open(service->data, server_end, &connection) == 0);
        } else if (length > 0) {
            serve_line(service, connection, data, length);
        }
        data += length + (end != NULL);
        size -= length + (end != NULL);
    }
    service->close(connection);
}

FUZZ_TARGET(fuzz_requests, data, size)
{
    struct esi_service service = {.run = run, .host = "fuzz"};
    struct esi_server_service served;

    if (!server_end)
        begin();
    require(esi_host_registry_create(run, "fuzz", true, &service.hosts) == 0);
    require(esi_service_init(&service, NULL) == 0);
    be_home(service.clocks);
    esi_service_fill(&service, &served);
    served.stop(served.data);
    esi_host_registry_close(service.hosts);
    serve_lines(&served, data, size);
    require(!esi_service_is_read(&service));
    esi_service_fini(&service);
    esi_host_registry_destroy(service.hosts);
    return 0;
}
