/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Links: frames go through as they are, whatever happens below; waits end. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "link_fixture.h"

static enum es_address_kind kinds[] = {
    [ES_ADDRESS_UNIX] = ES_ADDRESS_UNIX,
    [ES_ADDRESS_TCP] = ES_ADDRESS_TCP,
    [ES_ADDRESS_TLS] = ES_ADDRESS_TLS,
};

/* Bytes that tell their place. */
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
    struct es_link_traffic traffic;
    uint64_t total = 0;
    struct es_link *link;
    struct peer peer;

    peer_init(&peer, *(enum es_address_kind *)*state);
    peer_start(&peer);
    link = connect_to(&peer, peer.address);
    assert_string_equal(es_link_peer(link)->program, "server");
    assert_int_equal(es_link_peer(link)->pid, 4711);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = make_bytes(sizes[i], (unsigned)i);
        struct es_frame frame;

        send_bytes(link, i, bytes, sizes[i]);
        frame = next_frame(link);
        assert_int_equal(frame.type, ES_FRAME_REQUEST);
        assert_int_equal(frame.id, i);
        assert_int_equal(frame.length, sizes[i]);
        assert_memory_equal(frame.payload, bytes, sizes[i]);
        free(bytes);
        total += sizes[i] + ES_FRAME_HEADER_BYTES;
    }
    es_link_traffic(link, &traffic);
    assert_true(traffic.sent_bytes >= total && traffic.received_bytes >= total);
    assert_true(traffic.sent_bytes < total + 1000);
    es_link_close(link);
    peer_join(&peer);
    assert_int_equal(peer.rc, 0);
    peer_fini(&peer);
}

#define ROW(kind, test)                                                                \
    {                                                                                  \
#kind ": " #test, test, NULL, NULL, &kinds[ES_ADDRESS_##kind]                  \
    }
#define FOR_EACH_KIND(test) ROW(UNIX, test), ROW(TCP, test), ROW(TLS, test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOR_EACH_KIND(frames_come_back_as_sent),
    };

    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
