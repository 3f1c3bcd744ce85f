/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds bytes as those of a peer: of a client from the hello on, or of a server.
 *
 * Each link ends with frames that can be read or with an error; lengths are checked
 * before they are used.  The first byte chooses our side.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/fuzz/fuzz_target.h"
#include "tuplespace/transport/hello.h"
#include "tuplespace/transport/link.h"

#define LIMIT_NS UINT64_C(10000000000)
/* Bytes that a socket accepts without a reader. */
#define MOST_BYTES 65536

static const struct esi_greeting ours = {.run = "fuzz", .host = "h", .program = "p"};
static struct esi_listener *listener;
static char path[64];

struct input {
    const uint8_t *data;
    size_t size;
};

static void remove_folder(void)
{
    esi_listener_close(listener);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

static void listen_once(void)
{
    char folder[] = "/tmp/eventspace-fuzz-XXXXXX", address[ES_ADDRESS_BYTES];

    if (listener)
        return;
    require(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/socket", folder);
    snprintf(address, sizeof address, "unix:%s", path);
    require(esi_listener_open(address, NULL, &listener) == 0);
    atexit(remove_folder);
}

/* --- The bytes by themselves ------------------------------------------------------ */

static void decode(const struct input *input)
{
    struct es_error error = {.text = ""};
    struct esi_frame frame;
    struct esi_hello hello;
    uint32_t version = ES_PROTOCOL_VERSION;
    int rc;

    if (input->size >= ES_FRAME_HEADER_BYTES) {
        rc = esi_frame_decode_header(input->data, &error, &frame);
        require(rc == 0 ? frame.length <= ES_FRAME_MAX_BYTES
                        : rc == -EPROTO && error.text[0] != '\0');
    }
    es_error_clear(&error);
    rc = esi_hello_decode(input->data, input->size, &error, &version, &hello);
    require(rc == 0 || rc == -EPROTO || rc == -EPROTONOSUPPORT);
    require((rc == -EPROTONOSUPPORT) == (version != ES_PROTOCOL_VERSION));
    if (rc == 0)
        require(strlen(hello.greeting.host) < sizeof hello.greeting.host);
}

/* --- As the server ---------------------------------------------------------------- */

static int open_client(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int client = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, path);
    require(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    return client;
}

static void pour(int descriptor, const struct input *input)
{
    size_t size = input->size < MOST_BYTES ? input->size : MOST_BYTES;

    if (size > 0)
        (void)!send(descriptor, input->data, size, MSG_NOSIGNAL);
    shutdown(descriptor, SHUT_WR);
}

static void read_frames(struct es_link *link)
{
    struct es_error error = {.text = ""};
    struct esi_frame frame;
    int rc;

    while ((rc = esi_link_receive(link, LIMIT_NS, &error, &frame)) == 0) {
        unsigned sum = 0;

        require((uintptr_t)frame.payload % 8 == 0);
        for (uint32_t i = 0; i < frame.length; i++)
            sum += ((const unsigned char *)frame.payload)[i];
        require(sum <= 255u * (uint64_t)frame.length);
    }
    require((rc == -EPIPE || rc == -EPROTO) && error.text[0] != '\0');
}

static void be_server(const struct input *input)
{
    struct es_error error = {.text = ""};
    int client = open_client();
    struct es_link *link;
    int rc;

    pour(client, input);
    require(esi_listener_accept(listener, &link) == 0);
    rc = esi_link_greet(link, &ours, NULL, LIMIT_NS, &error);
    require(rc != -ETIMEDOUT);
    if (rc == 0)
        read_frames(link);
    else
        require(error.text[0] != '\0');
    esi_link_close(link);
    close(client);
}

/* --- As the client ---------------------------------------------------------------- */

static void *serve(void *data)
{
    struct es_link *link;
    char bytes[512];

    while (esi_listener_accept(listener, &link) == -EAGAIN)
        sched_yield();
    pour(esi_link_descriptor(link), data);
    while (recv(esi_link_descriptor(link), bytes, sizeof bytes, 0) > 0)
        ;
    esi_link_close(link);
    return NULL;
}

static void be_client(struct input *input)
{
    struct es_error error = {.text = ""};
    struct es_link *link = NULL;
    pthread_t thread;
    int rc;

    require(pthread_create(&thread, NULL, serve, input) == 0);
    rc = esi_link_connect(esi_listener_address(listener), &ours, NULL, LIMIT_NS, &error,
                          &link);
    require(rc == 0 ? link != NULL : rc != -ETIMEDOUT && error.text[0] != '\0');
    if (rc == 0)
        read_frames(link);
    esi_link_close(link);
    pthread_join(thread, NULL);
}

FUZZ_TARGET(fuzz_frame, data, size)
{
    struct input input = {data + 1, size - 1};

    if (size == 0)
        return 0;
    listen_once();
    decode(&input);
    if (data[0] == 'c')
        be_client(&input);
    else
        be_server(&input);
    return 0;
}
