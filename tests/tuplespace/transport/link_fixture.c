/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Peers and proxies for the tests of links. */
#include "config.h"

#include "link_fixture.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

/* --- The peer -------------------------------------------------------------------- */

void peer_init(struct peer *peer, enum esi_address_kind kind)
{
    static const char *const places[] = {
        [ES_ADDRESS_TCP] = "tcp:127.0.0.1:0",
        [ES_ADDRESS_TLS] = "tls:127.0.0.1:0",
    };
    char address[ES_ADDRESS_BYTES];

    *peer = (struct peer){.kind = kind, .greet_ns = LIMIT_NS};
    strcpy(peer->folder, "/tmp/eventspace-test-XXXXXX");
    assert_non_null(mkdtemp(peer->folder));
    snprintf(address, sizeof address, "unix:%s/socket", peer->folder);
    assert_int_equal(esi_listener_open(kind == ES_ADDRESS_UNIX ? address : places[kind],
                                       &peer->error, &peer->listener),
                     0);
    peer->address = esi_listener_address(peer->listener);
    assert_int_equal(esi_run_key_make(&peer->key), 0);
    snprintf(peer->greeting.run, sizeof peer->greeting.run, "test-%d", (int)getpid());
    strcpy(peer->greeting.host, "here");
    strcpy(peer->greeting.program, "server");
    peer->greeting.pid = 4711;
}

static struct es_link *accept_one(struct esi_listener *listener)
{
    struct pollfd waiting = {.fd = esi_listener_descriptor(listener), .events = POLLIN};
    struct es_link *link = NULL;

    if (poll(&waiting, 1, (int)(LIMIT_NS / 1000000)) != 1 ||
        esi_listener_accept(listener, &link) != 0)
        return NULL;
    return link;
}

static void *peer_run(void *data)
{
    struct peer *peer = data;
    struct es_link *link = accept_one(peer->listener);

    if (!link) {
        peer->rc = -ENOTCONN;
        return NULL;
    }
    peer->rc =
        esi_link_greet(link, &peer->greeting, peer->has_no_key ? NULL : &peer->key,
                       peer->greet_ns, &peer->error);
    if (peer->rc == 0)
        (peer->serve ? peer->serve : echo)(peer, link);
    esi_link_close(link);
    return NULL;
}

void peer_start(struct peer *peer)
{
    assert_int_equal(pthread_create(&peer->thread, NULL, peer_run, peer), 0);
}

void peer_join(struct peer *peer)
{
    assert_int_equal(pthread_join(peer->thread, NULL), 0);
}

void peer_fini(struct peer *peer)
{
    esi_listener_close(peer->listener);
    rmdir(peer->folder);
}

int try_connect(const struct peer *peer,
                const struct esi_run_key *key,
                const char *run,
                struct es_error *error)
{
    struct esi_greeting greeting = {.host = "there", .program = "client", .pid = 4712};
    struct es_link *link = NULL;
    int rc;

    strcpy(greeting.run, run);
    rc = esi_link_connect(peer->address, &greeting, key, LIMIT_NS, error, &link);
    esi_link_close(link);
    return rc;
}

struct es_link *connect_to(const struct peer *peer, const char *address)
{
    struct esi_greeting greeting = {.host = "there", .program = "client", .pid = 4712};
    struct es_error error = {.text = ""};
    struct es_link *link = NULL;
    int rc;

    strcpy(greeting.run, peer->greeting.run);
    rc = esi_link_connect(address, &greeting, &peer->key, LIMIT_NS, &error, &link);
    if (rc != 0)
        fail_msg("%s: %s", error.source, error.text);
    return link;
}

/* --- Frames ---------------------------------------------------------------------- */

void echo(struct peer *peer, struct es_link *link)
{
    struct esi_frame frame;

    (void)peer;
    while (esi_link_receive(link, LIMIT_NS, NULL, &frame) == 0) {
        struct iovec part = {(void *)frame.payload, frame.length};

        if (esi_link_send(link, frame.type, frame.id, &part, 1, LIMIT_NS) != 0)
            break;
    }
}

void send_bytes(struct es_link *link, uint64_t id, const void *bytes, size_t length)
{
    struct iovec part = {(void *)bytes, length};

    assert_int_equal(esi_link_send(link, ES_FRAME_REQUEST, id, &part, 1, LIMIT_NS), 0);
}

struct esi_frame next_frame(struct es_link *link)
{
    struct es_error error = {.text = ""};
    struct esi_frame frame = {.type = 0};
    int rc = esi_link_receive(link, LIMIT_NS, &error, &frame);

    if (rc != 0)
        fail_msg("no frame: %s (%d)", error.text, rc);
    return frame;
}

/* --- Bytes ----------------------------------------------------------------------- */

int raw_connect(const char *text)
{
    struct esi_address address;
    struct sockaddr_un near = {.sun_family = AF_UNIX};
    struct sockaddr_in far = {.sin_family = AF_INET};
    bool is_near;
    int descriptor;

    assert_int_equal(esi_address_parse(text, NULL, &address), 0);
    is_near = address.kind == ES_ADDRESS_UNIX;
    snprintf(near.sun_path, sizeof near.sun_path, "%.100s", address.place);
    far.sin_port = htons(address.port);
    far.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    descriptor = socket(is_near ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(descriptor >= 0);
    assert_int_equal(
        connect(descriptor,
                is_near ? (struct sockaddr *)&near : (struct sockaddr *)&far,
                is_near ? sizeof near : sizeof far),
        0);
    return descriptor;
}

size_t raw_read(int descriptor, void *memory, size_t size)
{
    size_t total = 0;
    ssize_t got;

    while (total < size &&
           (got = recv(descriptor, (char *)memory + total, size - total, 0)) > 0)
        total += (size_t)got;
    return total;
}

void raw_write(int descriptor, const void *bytes, size_t length)
{
    assert_int_equal(send(descriptor, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}

/* --- The proxy ------------------------------------------------------------------- */

static bool write_all(int descriptor, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(descriptor, bytes, length, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* Forwards up to `most` bytes that are ready at `from`.  Returns their number, or -1
 * when a side is closed. */
static ssize_t pass(const struct proxy *proxy, int from, int to, size_t most)
{
    char bytes[4096];
    size_t size = proxy->chunk > 0 ? proxy->chunk : sizeof bytes;
    ssize_t got = recv(from, bytes, size < most ? size : most, MSG_DONTWAIT);

    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got <= 0 || !write_all(to, bytes, (size_t)got))
        return -1;
    return got;
}

static void *proxy_run(void *data)
{
    struct proxy *proxy = data;
    struct es_link *client = accept_one(proxy->listener);
    int near = esi_link_descriptor(client), far = raw_connect(proxy->target);
    bool open = true;

    while (open && !atomic_load(&proxy->cut)) {
        size_t left = atomic_load(&proxy->allowed) - proxy->passed;
        struct pollfd ready[] = {{.fd = near, .events = POLLIN},
                                 {.fd = left > 0 ? far : -1, .events = POLLIN}};
        ssize_t got = 0;

        poll(ready, 2, 2);
        if (ready[0].revents != 0)
            open = pass(proxy, near, far, SIZE_MAX) >= 0;
        if (open && left > 0 && ready[1].revents != 0)
            got = pass(proxy, far, near, left);
        open = open && got >= 0;
        atomic_fetch_add(&proxy->passed, got > 0 ? (size_t)got : 0);
    }
    close(far);
    esi_link_close(client);
    return NULL;
}

void proxy_start(struct proxy *proxy, const struct peer *peer)
{
    char address[ES_ADDRESS_BYTES];

    snprintf(address, sizeof address, "unix:%s/proxy", peer->folder);
    proxy->target = peer->address;
    assert_int_equal(
        esi_listener_open(peer->kind == ES_ADDRESS_UNIX ? address : "tcp:127.0.0.1:0",
                          NULL, &proxy->listener),
        0);
    strcpy(proxy->address, esi_listener_address(proxy->listener));
    if (peer->kind == ES_ADDRESS_TLS)
        memcpy(proxy->address, "tls", 3);
    assert_int_equal(pthread_create(&proxy->thread, NULL, proxy_run, proxy), 0);
}

void proxy_allow(struct proxy *proxy, size_t bytes)
{
    atomic_store(&proxy->allowed, atomic_load(&proxy->passed) + bytes);
}

void proxy_allow_more(struct proxy *proxy, size_t bytes)
{
    atomic_fetch_add(&proxy->allowed, bytes);
}

void proxy_join(struct proxy *proxy)
{
    assert_int_equal(pthread_join(proxy->thread, NULL), 0);
    esi_listener_close(proxy->listener);
}
