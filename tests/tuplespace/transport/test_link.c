/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Links transfer frames unchanged whatever the network does, and
 * waits end at their limit. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "link_fixture.h"
#include "tests/await.h"
#include "tests/suites.h"

static enum esi_address_kind kinds[] = {
    [ES_ADDRESS_UNIX] = ES_ADDRESS_UNIX,
    [ES_ADDRESS_TCP] = ES_ADDRESS_TCP,
    [ES_ADDRESS_TLS] = ES_ADDRESS_TLS,
};

/* Makes bytes that depend on their offset.  Caller frees them. */
static unsigned char *make_bytes(size_t length, unsigned seed)
{
    unsigned char *bytes = malloc(length + 1);

    assert_non_null(bytes);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)(seed + i * 2654435761u / 256);
    return bytes;
}

static void frames_come_back_as_sent(void **state)
{
    static const size_t sizes[] = {0,     1,     7,      64,        4096,
                                   16368, 16369, 100000, 10u << 20, 3};
    struct esi_link_traffic traffic;
    uint64_t total = 0;
    struct es_link *link;
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer_start(&peer);
    link = connect_to(&peer, peer.address);
    assert_string_equal(esi_link_peer(link)->program, "server");
    assert_int_equal(esi_link_peer(link)->pid, 4711);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = make_bytes(sizes[i], (unsigned)i);
        struct esi_frame frame;

        send_bytes(link, i, bytes, sizes[i]);
        frame = next_frame(link);
        assert_int_equal(frame.type, ES_FRAME_REQUEST);
        assert_int_equal(frame.id, i);
        assert_int_equal(frame.length, sizes[i]);
        assert_memory_equal(frame.payload, bytes, sizes[i]);
        free(bytes);
        total += sizes[i] + ES_FRAME_HEADER_BYTES;
    }
    esi_link_traffic(link, &traffic);
    assert_true(traffic.sent_bytes >= total && traffic.received_bytes >= total);
    assert_true(traffic.sent_bytes < total + 1000);
    esi_link_close(link);
    peer_join(&peer);
    assert_int_equal(peer.rc, 0);
    peer_fini(&peer);
}

/* --- Many frames ----------------------------------------------------------------- */

enum { FRAMES = 20000 };

static size_t length_of(uint64_t id)
{
    return (size_t)(id * 2654435761u >> 8) % 300;
}

/* Sends all frames without waiting for the client. */
static void pour(struct peer *peer, struct es_link *link)
{
    unsigned char *bytes = make_bytes(300, 1);

    (void)peer;
    for (uint64_t id = 0; id < FRAMES; id++) {
        size_t half = length_of(id) / 2;
        struct iovec parts[] = {{bytes, half}, {bytes + half, length_of(id) - half}};

        if (esi_link_send(link, ES_FRAME_BATCH, id, parts, 2, LIMIT_NS) != 0)
            break;
    }
    free(bytes);
}

static void many_frames_at_once_keep_their_order(void **state)
{
    unsigned char *bytes = make_bytes(300, 1);
    struct es_link *link;
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer.serve = pour;
    peer_start(&peer);
    link = connect_to(&peer, peer.address);
    for (uint64_t id = 0; id < FRAMES; id++) {
        struct esi_frame frame = next_frame(link);

        assert_int_equal(frame.id, id);
        assert_int_equal(frame.length, length_of(id));
        assert_int_equal((uintptr_t)frame.payload % 8, 0);
        assert_memory_equal(frame.payload, bytes, frame.length);
    }
    esi_link_close(link);
    peer_join(&peer);
    peer_fini(&peer);
    free(bytes);
}

/* --- Behaviour of the network ----------------------------------------------------- */

static void frames_may_come_byte_by_byte(void **state)
{
    struct proxy proxy = {.chunk = 1, .allowed = SIZE_MAX / 2};
    unsigned char *bytes = make_bytes(5000, 9);
    struct es_link *link;
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer_start(&peer);
    proxy_start(&proxy, &peer);
    link = connect_to(&peer, proxy.address);
    for (uint64_t id = 0; id < 3; id++) {
        struct esi_frame frame;

        send_bytes(link, id, bytes, 1000 * (size_t)id + 3);
        frame = next_frame(link);
        assert_int_equal(frame.id, id);
        assert_int_equal(frame.length, 1000 * id + 3);
        assert_memory_equal(frame.payload, bytes, frame.length);
    }
    esi_link_close(link);
    proxy_join(&proxy);
    peer_join(&peer);
    peer_fini(&peer);
    free(bytes);
}

/* Sends nothing until asked, then one frame of 3,000 bytes. */
static void answer_once(struct peer *peer, struct es_link *link)
{
    unsigned char *bytes = make_bytes(3000, 5);
    struct iovec part = {bytes, 3000};
    struct esi_frame frame;

    (void)peer;
    if (esi_link_receive(link, LIMIT_NS, NULL, &frame) == 0 &&
        esi_link_send(link, ES_FRAME_REPLY, 77, &part, 1, LIMIT_NS) == 0)
        esi_link_receive(link, LIMIT_NS, NULL, &frame);
    free(bytes);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void a_frame_may_take_several_tries(void **state)
{
    struct proxy proxy = {.allowed = SIZE_MAX / 2};
    unsigned char *bytes = make_bytes(3000, 5);
    struct esi_frame frame;
    struct es_link *link;
    struct peer peer;
    int tries = 0, rc;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer.serve = answer_once;
    peer_start(&peer);
    proxy_start(&proxy, &peer);
    link = connect_to(&peer, proxy.address);
    assert_int_equal(esi_link_receive(link, 0, NULL, &frame), -ETIMEDOUT);
    assert_int_equal(esi_link_receive(link, 1, NULL, &frame), -ETIMEDOUT);
    /* Lets 500 more bytes through with every try.  TLS sends a few more on the wire. */
    proxy_allow(&proxy, 500);
    send_bytes(link, 1, "go", 2);
    while ((rc = esi_link_receive(link, SHORT_NS, NULL, &frame)) == -ETIMEDOUT) {
        tries++;
        proxy_allow_more(&proxy, 500);
    }
    assert_int_equal(rc, 0);
    assert_true(tries >= 5);
    assert_int_equal(frame.id, 77);
    assert_int_equal(frame.length, 3000);
    assert_memory_equal(frame.payload, bytes, 3000);
    esi_link_close(link);
    proxy_join(&proxy);
    peer_join(&peer);
    peer_fini(&peer);
    free(bytes);
}

static void waiting_ends_at_the_limit(void **state)
{
    static const uint64_t limits[] = {1000, 3000000, 30000000};
    struct esi_frame frame;
    struct es_link *link;
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer.serve = answer_once;
    peer_start(&peer);
    link = connect_to(&peer, peer.address);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        uint64_t begun = now_ns();

        assert_int_equal(esi_link_receive(link, limits[i], NULL, &frame), -ETIMEDOUT);
        assert_true(now_ns() - begun >= limits[i]);
    }
    esi_link_close(link);
    peer_join(&peer);
    peer_fini(&peer);
}

static void a_peer_that_leaves_amid_a_frame_is_gone(void **state)
{
    struct proxy proxy = {.allowed = SIZE_MAX / 2};
    struct es_error error = {.text = ""};
    struct esi_frame frame;
    struct es_link *link;
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer.serve = answer_once;
    peer_start(&peer);
    proxy_start(&proxy, &peer);
    link = connect_to(&peer, proxy.address);
    proxy_allow(&proxy, 1000);
    send_bytes(link, 1, "go", 2);
    assert_int_equal(esi_link_receive(link, SHORT_NS, &error, &frame), -ETIMEDOUT);
    assert_string_equal(error.text, "");
    atomic_store(&proxy.cut, true);
    assert_int_equal(esi_link_receive(link, LIMIT_NS, &error, &frame), -EPIPE);
    assert_non_null(strstr(error.text, "closed"));
    assert_int_equal(esi_link_receive(link, LIMIT_NS, NULL, &frame), -EPIPE);
    esi_link_close(link);
    proxy_join(&proxy);
    peer_join(&peer);
    peer_fini(&peer);
}

static void hang_up(struct peer *peer, struct es_link *link)
{
    (void)peer;
    (void)link;
}

static void sending_to_nobody_fails_without_a_signal(void **state)
{
    unsigned char *bytes = make_bytes(100000, 0);
    struct iovec part = {bytes, 100000};
    struct es_link *link;
    struct peer peer;
    int rc = 0;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer.serve = hang_up;
    peer_start(&peer);
    link = connect_to(&peer, peer.address);
    peer_join(&peer);
    for (int i = 0; i < 100 && rc == 0; i++)
        rc = esi_link_send(link, ES_FRAME_REQUEST, 1, &part, 1, LIMIT_NS);
    assert_int_equal(rc, -EPIPE);
    esi_link_close(link);
    peer_fini(&peer);
    free(bytes);
}

/* Reads nothing until the client is gone. */
static void be_deaf(struct peer *peer, struct es_link *link)
{
    (void)link;
    AWAIT(atomic_load(&peer->may_go));
}

static void sending_to_the_deaf_ends_at_the_limit(void **state)
{
    size_t length = 10u << 20;
    unsigned char *bytes = make_bytes(length, 0);
    struct iovec part = {bytes, length};
    struct es_link *link;
    struct peer peer;
    int rc = 0;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer.serve = be_deaf;
    peer_start(&peer);
    link = connect_to(&peer, peer.address);
    for (int i = 0; i < 10 && rc == 0; i++)
        rc = esi_link_send(link, ES_FRAME_REQUEST, 1, &part, 1, SHORT_NS);
    assert_int_equal(rc, -ETIMEDOUT);
    esi_link_close(link);
    atomic_store(&peer.may_go, true);
    peer_join(&peer);
    peer_fini(&peer);
    free(bytes);
}

static void *shut_soon(void *link)
{
    struct timespec pause = {.tv_nsec = 20000000};

    nanosleep(&pause, NULL);
    esi_link_shut(link);
    return NULL;
}

static void shutting_wakes_who_waits(void **state)
{
    struct esi_frame frame;
    struct es_link *link;
    struct peer peer;
    pthread_t thread;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer_start(&peer);
    link = connect_to(&peer, peer.address);
    assert_int_equal(pthread_create(&thread, NULL, shut_soon, link), 0);
    assert_int_equal(esi_link_receive(link, LIMIT_NS, NULL, &frame), -EPIPE);
    assert_int_equal(esi_link_receive(link, LIMIT_NS, NULL, &frame), -EPIPE);
    assert_int_equal(esi_link_send(link, ES_FRAME_REPLY, 1, NULL, 0, LIMIT_NS), -EPIPE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    esi_link_close(link);
    peer_join(&peer);
    peer_fini(&peer);
}

static void frames_too_long_are_not_sent(void **state)
{
    struct iovec parts[] = {{NULL, ES_FRAME_MAX_BYTES}, {NULL, 1}};
    struct es_link *link;
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer_start(&peer);
    link = connect_to(&peer, peer.address);
    assert_int_equal(esi_link_send(link, ES_FRAME_REPLY, 1, parts, 2, LIMIT_NS),
                     -EMSGSIZE);
    esi_link_close(link);
    peer_join(&peer);
    peer_fini(&peer);
}

#define ROW(kind, test)                                                                \
    {                                                                                  \
#kind ": " #test, test, NULL, NULL, &kinds[ES_ADDRESS_##kind]                  \
    }
#define FOR_EACH_KIND(test) ROW(UNIX, test), ROW(TCP, test), ROW(TLS, test)

SUITE(test_link)
{
    const struct CMUnitTest tests[] = {
        FOR_EACH_KIND(frames_come_back_as_sent),
        FOR_EACH_KIND(many_frames_at_once_keep_their_order),
        FOR_EACH_KIND(frames_may_come_byte_by_byte),
        FOR_EACH_KIND(a_frame_may_take_several_tries),
        FOR_EACH_KIND(waiting_ends_at_the_limit),
        FOR_EACH_KIND(a_peer_that_leaves_amid_a_frame_is_gone),
        FOR_EACH_KIND(sending_to_nobody_fails_without_a_signal),
        FOR_EACH_KIND(sending_to_the_deaf_ends_at_the_limit),
        FOR_EACH_KIND(shutting_wakes_who_waits),
        FOR_EACH_KIND(frames_too_long_are_not_sent),
    };

    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
