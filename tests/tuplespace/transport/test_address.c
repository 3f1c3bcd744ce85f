/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The text form of addresses, and listening on them. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "tuplespace/transport/address.h"
#include "tuplespace/transport/link.h"

static void addresses_are_read(void **state)
{
    static const struct {
        const char *text;
        enum esi_address_kind kind;
        const char *place;
        uint16_t port;
    } rows[] = {
        {"unix:/run/x", ES_ADDRESS_UNIX, "/run/x", 0},
        {"unix:/a:b:1", ES_ADDRESS_UNIX, "/a:b:1", 0},
        {"tcp:node1:4000", ES_ADDRESS_TCP, "node1", 4000},
        {"tcp:*:0", ES_ADDRESS_TCP, "*", 0},
        {"tcp::65535", ES_ADDRESS_TCP, "", 65535},
        {"tls:[::1]:7", ES_ADDRESS_TLS, "::1", 7},
        {"tls:[fe80::1%eth0]:7", ES_ADDRESS_TLS, "fe80::1%eth0", 7},
        {"tls:10.0.0.1:22", ES_ADDRESS_TLS, "10.0.0.1", 22},
    };
    char again[ES_ADDRESS_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct esi_address address;

        assert_int_equal(esi_address_parse(rows[i].text, NULL, &address), 0);
        assert_int_equal(address.kind, rows[i].kind);
        assert_string_equal(address.place, rows[i].place);
        assert_int_equal(address.port, rows[i].port);
        assert_string_equal(esi_address_format(&address, again), rows[i].text);
    }
}

static void what_is_no_address_is_told(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", "expected unix:/PATH"},
        {"udp:x:1", "expected unix:/PATH"},
        {"TCP:x:1", "expected unix:/PATH"},
        {"unix:", "absolute path"},
        {"unix:run/x", "absolute path"},
        {"tcp:x", "HOST:PORT"},
        {"tls:[::1]", "[IPV6]:PORT"},
        {"tls:[::1", "[IPV6]:PORT"},
        {"tls:::1:7", "in brackets"},
        {"tcp:x:", "port"},
        {"tcp:x:65536", "port"},
        {"tcp:x:-1", "port"},
        {"tcp:x: 1", "port"},
        {"tcp:x:1x", "port"},
        {"tcp:x:000001", "port"},
    };
    char longest[400];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct es_error error = {.text = ""};
        struct esi_address address;

        assert_int_equal(esi_address_parse(rows[i].text, &error, &address), -EINVAL);
        if (!strstr(error.text, rows[i].words))
            fail_msg("%s: expected \"%s\"", error.text, rows[i].words);
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memcpy(longest, "unix:/", 6);
    assert_int_equal(esi_address_parse(longest, NULL, &(struct esi_address){.port = 0}),
                     -EINVAL);
}

/* --- Listening -------------------------------------------------------------------- */

static char top[200];

static int set_up(void **state)
{
    (void)state;
    strcpy(top, "/tmp/eventspace-test-XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %.27s", top);
    return system(command);
}

static struct esi_listener *listen_on(const char *address)
{
    struct es_error error = {.text = ""};
    struct esi_listener *listener = NULL;

    if (esi_listener_open(address, &error, &listener) != 0)
        fail_msg("%s: %s", error.source, error.text);
    return listener;
}

static void a_unix_socket_is_ours_alone(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_listener *listener, *second = NULL;
    char address[ES_ADDRESS_BYTES];
    struct stat status;

    (void)state;
    snprintf(address, sizeof address, "unix:%s/s", top);
    listener = listen_on(address);
    assert_string_equal(esi_listener_address(listener), address);
    assert_int_equal(stat(address + 5, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(fcntl(esi_listener_descriptor(listener), F_GETFD), FD_CLOEXEC);
    assert_int_equal(esi_listener_accept(listener, &(struct es_link *){NULL}), -EAGAIN);
    assert_int_equal(esi_listener_open(address, &error, &second), -EADDRINUSE);
    assert_string_equal(error.source, address);
    esi_listener_close(listener);
    assert_int_equal(stat(address + 5, &status), -1);
}

static void the_umask_changes_no_socket(void **state)
{
    static const mode_t umasks[] = {0, 0777};
    char address[ES_ADDRESS_BYTES];
    struct stat status;

    (void)state;
    snprintf(address, sizeof address, "unix:%s/s", top);
    for (size_t i = 0; i < sizeof umasks / sizeof umasks[0]; i++) {
        mode_t before = umask(umasks[i]);
        struct esi_listener *listener = listen_on(address);

        umask(before);
        assert_int_equal(stat(address + 5, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
        esi_listener_close(listener);
    }
}

static void a_dead_socket_is_replaced(void **state)
{
    struct esi_listener *listener;
    char address[ES_ADDRESS_BYTES], kept[ES_ADDRESS_BYTES];
    struct stat status;

    (void)state;
    snprintf(address, sizeof address, "unix:%s/s", top);
    snprintf(kept, sizeof kept, "%s/kept", top);
    listener = listen_on(address);
    assert_int_equal(link(address + 5, kept), 0);
    esi_listener_close(listener);
    assert_int_equal(rename(kept, address + 5), 0);
    listener = listen_on(address);
    /* Closing the listener leaves what somebody else has put at its path. */
    assert_int_equal(rename(address + 5, kept), 0);
    assert_int_equal(mkdir(address + 5, 0700), 0);
    esi_listener_close(listener);
    assert_int_equal(stat(address + 5, &status), 0);
    assert_int_equal(esi_listener_open(address, NULL, &listener), -EADDRINUSE);
}

static void a_path_may_be_longer_than_sockets_names(void **state)
{
    char address[ES_ADDRESS_BYTES], folder[160];
    struct esi_greeting greeting = {.run = "r"};
    struct esi_listener *listener;
    struct es_link *link = NULL;

    (void)state;
    memset(folder, 'd', sizeof folder - 1);
    folder[sizeof folder - 1] = '\0';
    memcpy(folder, top, strlen(top));
    folder[strlen(top)] = '/';
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(address, sizeof address, "unix:%s/socket", folder);
    listener = listen_on(address);
    /* The connection is made, but nobody greets. */
    assert_int_equal(esi_link_connect(address, &greeting, NULL, 10000000, NULL, &link),
                     -ETIMEDOUT);
    esi_listener_close(listener);
    assert_int_equal(rmdir(folder), 0);
}

static void ports_are_found_and_told(void **state)
{
    static const char *const addresses[] = {"tcp:127.0.0.1:0", "tls:localhost:0",
                                            "tcp:*:0", "tcp::0"};

    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        struct esi_listener *listener = listen_on(addresses[i]), *second = NULL;
        struct esi_address address;

        assert_int_equal(
            esi_address_parse(esi_listener_address(listener), NULL, &address), 0);
        assert_int_not_equal(address.port, 0);
        assert_int_equal(
            esi_listener_open(esi_listener_address(listener), NULL, &second),
            -EADDRINUSE);
        esi_listener_close(listener);
    }
}

static void places_that_do_not_exist_are_told(void **state)
{
    static const struct {
        const char *address;
        int code;
    } rows[] = {
        {"unix:/nonexistent/x/socket", -ENOENT},
        {"tcp:192.0.2.1:0", -EADDRNOTAVAIL},
        {"tcp:no.such.host.invalid:0", -EHOSTUNREACH},
        {"udp:x:0", -EINVAL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct es_error error = {.text = ""};
        struct esi_listener *listener = NULL;

        assert_int_equal(esi_listener_open(rows[i].address, &error, &listener),
                         rows[i].code);
        assert_string_not_equal(error.text, "");
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

SUITE(test_address)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(what_is_no_address_is_told),
        TEST(a_unix_socket_is_ours_alone),
        TEST(the_umask_changes_no_socket),
        TEST(a_dead_socket_is_replaced),
        TEST(a_path_may_be_longer_than_sockets_names),
        cmocka_unit_test(ports_are_found_and_told),
        cmocka_unit_test(places_that_do_not_exist_are_told),
    };

    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
