/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The handshake of links: a peer that does not belong to the run is
 * refused and told why. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "link_fixture.h"
#include "tests/suites.h"
#include "tuplespace/transport/hello.h"
#include "tuplespace/transport/link_private.h"
#include "tests/await.h"

static enum esi_address_kind kinds[] = {
    [ES_ADDRESS_UNIX] = ES_ADDRESS_UNIX,
    [ES_ADDRESS_TCP] = ES_ADDRESS_TCP,
    [ES_ADDRESS_TLS] = ES_ADDRESS_TLS,
};

static void expect_words(const struct es_error *error, const char *words)
{
    if (!strstr(error->text, words))
        fail_msg("\"%s\": expected something with \"%s\"", error->text, words);
}

/* --- Clients that are links ------------------------------------------------------- */

static void another_key_is_refused(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_run_key other;
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer_start(&peer);
    assert_int_equal(esi_run_key_make(&other), 0);
    assert_int_equal(try_connect(&peer, &other, peer.greeting.run, &error), -EACCES);
    peer_join(&peer);
    assert_int_equal(peer.rc, -EACCES);
    expect_words(&error, "the run's key differs");
    expect_words(&peer.error, "the run's key differs");
    assert_non_null(strstr(peer.error.source, "127.0.0.1:"));
    peer_fini(&peer);
}

static void a_key_is_needed(void **state)
{
    struct es_error error = {.text = ""};
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    assert_int_equal(try_connect(&peer, NULL, peer.greeting.run, &error), -EINVAL);
    expect_words(&error, "needs the run's key");
    peer.has_no_key = true;
    peer_start(&peer);
    es_error_clear(&error);
    assert_int_equal(try_connect(&peer, &peer.key, peer.greeting.run, &error),
                     peer.kind == ES_ADDRESS_TLS ? -EPIPE : -EACCES);
    peer_join(&peer);
    assert_int_equal(peer.rc, -EACCES);
    expect_words(&peer.error, "no key");
    peer_fini(&peer);
}

static void another_run_is_refused(void **state)
{
    struct es_error error = {.text = ""};
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer_start(&peer);
    assert_int_equal(try_connect(&peer, &peer.key, "other", &error), -EACCES);
    peer_join(&peer);
    assert_int_equal(peer.rc, -EACCES);
    expect_words(&error, "run");
    expect_words(&peer.error, "run");
    peer_fini(&peer);
}

static void a_socket_that_nobody_serves_is_told(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_greeting greeting = {.run = "r"};
    struct es_link *link = NULL;
    char address[ES_ADDRESS_BYTES];
    struct peer peer;
    int rc;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    strcpy(address, peer.address);
    esi_listener_close(peer.listener);
    peer.listener = NULL;
    rc = esi_link_connect(address, &greeting, &peer.key, LIMIT_NS, &error, &link);
    assert_int_equal(rc, peer.kind == ES_ADDRESS_UNIX ? -ENOENT : -ECONNREFUSED);
    assert_string_equal(error.source, address);
    peer_fini(&peer);
}

/* Connects with the prefix of another kind of address than the server has. */
static void mix(enum esi_address_kind kind,
                const char *prefix,
                const char *words,
                const char *server_words)
{
    struct es_error error = {.text = ""};
    struct esi_greeting greeting = {.run = "r"};
    struct es_link *link = NULL;
    char address[ES_ADDRESS_BYTES];
    struct peer peer;
    int rc;

    peer_init(&peer, kind);
    peer_start(&peer);
    strcpy(address, peer.address);
    memcpy(address, prefix, 3);
    rc = esi_link_connect(address, &greeting, &peer.key, LIMIT_NS, &error, &link);
    assert_true(rc == -EACCES || rc == -EPROTO);
    peer_join(&peer);
    assert_true(peer.rc == -EACCES || peer.rc == -EPROTO);
    expect_words(&error, words);
    expect_words(&peer.error, server_words);
    peer_fini(&peer);
}

static void kinds_that_do_not_fit_are_told(void **state)
{
    (void)state;
    mix(ES_ADDRESS_TLS, "tcp", "refused: the data received is not TLS",
        "expected tls:");
    mix(ES_ADDRESS_TCP, "tls", "does not speak TLS here", "the peer speaks TLS");
}

/* A server sends these bytes and hangs up.  Checks the client's error. */
static void server_says(enum esi_address_kind kind,
                        const void *bytes,
                        size_t length,
                        int expected,
                        const char *words)
{
    struct es_error error = {.text = ""};
    struct esi_greeting greeting = {.run = "r"};
    struct es_link *link = NULL;
    struct peer peer;
    pid_t child;
    int rc;

    peer_init(&peer, kind);
    child = fork();
    if (child == 0) {
        struct es_link *client = NULL;

        AWAIT(esi_listener_accept(peer.listener, &client) != -EAGAIN);
        (void)!write(esi_link_descriptor(client), bytes, length);
        shutdown(esi_link_descriptor(client), SHUT_WR);
        while (read(esi_link_descriptor(client), &(char[512]){0}, 512) > 0)
            ;
        _exit(0);
    }
    rc = esi_link_connect(peer.address, &greeting, &peer.key, LIMIT_NS, &error, &link);
    esi_link_close(link);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rc, expected);
    expect_words(&error, words);
    peer_fini(&peer);
}

static void servers_that_are_none_are_told(void **state)
{
    enum esi_address_kind kind = *(enum esi_address_kind *)*state;
    static const char http[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    static const unsigned char alert[] = {0x15, 3, 1, 0, 2, 2, 70};
    bool tls = kind == ES_ADDRESS_TLS;

    server_says(kind, http, sizeof http - 1, -EPROTO,
                tls ? "does not speak TLS" : "does not speak our protocol");
    server_says(kind, "", 0, -EPIPE, "closed");
    if (!tls)
        server_says(kind, alert, sizeof alert, -EPROTO, "speaks TLS");
}

static void a_server_of_another_version_is_told(void **state)
{
    enum esi_address_kind kind = *(enum esi_address_kind *)*state;
    unsigned char frame[ES_FRAME_HEADER_BYTES + ESI_HELLO_BYTES] = {0};
    struct esi_frame header = {.type = kind == ES_ADDRESS_UNIX ? ES_FRAME_WELCOME
                                                               : ES_FRAME_CHALLENGE,
                               .length = ESI_HELLO_BYTES};

    esi_frame_encode_header(&header, frame);
    frame[ES_FRAME_HEADER_BYTES] = 9;
    server_says(kind, frame, sizeof frame, -EACCES,
                "the server speaks version 9, we 3");
}

/* Over tcp, any server could send a welcome at once, so it must prove the key first. */
static void a_server_without_the_key_is_not_believed(void **state)
{
    unsigned char frame[ES_FRAME_HEADER_BYTES + ESI_HELLO_BYTES];
    struct esi_hello hello = {.greeting = {.run = "r"}};
    struct esi_frame header = {.type = ES_FRAME_WELCOME, .length = ESI_HELLO_BYTES};
    unsigned char both[2 * sizeof frame];

    (void)state;
    esi_frame_encode_header(&header, frame);
    esi_hello_encode(&hello, frame + ES_FRAME_HEADER_BYTES);
    server_says(ES_ADDRESS_TCP, frame, sizeof frame, -EPROTO, "is invalid");
    memcpy(both + sizeof frame, frame, sizeof frame);
    header.type = ES_FRAME_CHALLENGE;
    esi_frame_encode_header(&header, both);
    esi_hello_encode(&hello, both + ES_FRAME_HEADER_BYTES);
    server_says(ES_ADDRESS_TCP, both, sizeof both, -EACCES,
                "does not have the run's key");
}

/* --- Strangers -------------------------------------------------------------------- */

/* Sends the bytes to a peer, which must refuse them.  Returns the
 * length of its answer. */
static size_t stranger(enum esi_address_kind kind,
                       const void *bytes,
                       size_t length,
                       const char *words,
                       unsigned char answer[1024])
{
    struct peer peer;
    size_t got;
    int descriptor;

    peer_init(&peer, kind);
    peer_start(&peer);
    descriptor = raw_connect(peer.address);
    raw_write(descriptor, bytes, length);
    shutdown(descriptor, SHUT_WR);
    got = raw_read(descriptor, answer, 1024);
    close(descriptor);
    peer_join(&peer);
    assert_true(peer.rc < 0);
    expect_words(&peer.error, words);
    peer_fini(&peer);
    return got;
}

static void expect_refusal(const unsigned char *answer,
                           size_t length,
                           const char *words)
{
    struct es_error error = {.text = ""};
    struct esi_frame frame;

    assert_true(length > ES_FRAME_HEADER_BYTES);
    assert_int_equal(esi_frame_decode_header(answer, &error, &frame), 0);
    assert_int_equal(frame.type, ES_FRAME_REFUSAL);
    assert_int_equal(frame.length, length - ES_FRAME_HEADER_BYTES);
    esi_text_copy(answer + ES_FRAME_HEADER_BYTES, frame.length, error.text,
                  sizeof error.text);
    expect_words(&error, words);
}

static void strangers_are_refused(void **state)
{
    enum esi_address_kind kind = *(enum esi_address_kind *)*state;
    static const char http[] = "GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const unsigned char tls[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};
    unsigned char answer[1024], noise[500];

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)(i * 37 + 201);
    if (kind == ES_ADDRESS_TLS) {
        expect_refusal(answer, stranger(kind, http, sizeof http - 1, "not TLS", answer),
                       "not TLS");
        stranger(kind, noise, sizeof noise, "TLS", answer);
        return;
    }
    expect_refusal(answer, stranger(kind, http, sizeof http - 1, "protocol", answer),
                   "protocol");
    expect_refusal(answer, stranger(kind, noise, sizeof noise, "protocol", answer),
                   "not a frame");
    expect_refusal(answer, stranger(kind, tls, sizeof tls, "speaks TLS", answer),
                   "speaks TLS");
}

/* Makes a frame with a payload of `length` bytes, all 0 but the
 * first.  Returns its size. */
static size_t make_frame(uint16_t type,
                         uint32_t length,
                         unsigned char first,
                         unsigned char out[512])
{
    struct esi_frame header = {.type = type, .length = length};

    memset(out, 0, 512);
    esi_frame_encode_header(&header, out);
    out[ES_FRAME_HEADER_BYTES] = first;
    return ES_FRAME_HEADER_BYTES + (length < 400 ? length : 400);
}

static void hellos_that_are_wrong_are_refused(void **state)
{
    enum esi_address_kind kind = *(enum esi_address_kind *)*state;
    unsigned char frame[512], answer[1024];
    struct {
        uint16_t type;
        uint32_t length;
        unsigned char first;
        const char *words;
    } rows[] = {
        {ES_FRAME_HELLO, ESI_HELLO_BYTES, 1, "this server speaks version 3, you 1"},
        {ES_FRAME_HELLO, 30, 7, "this server speaks version 3, you 7"},
        {ES_FRAME_HELLO, ESI_HELLO_BYTES, ES_PROTOCOL_VERSION, "byte order"},
        {ES_FRAME_HELLO, 30, ES_PROTOCOL_VERSION, "a hello of 30 bytes"},
        {ES_FRAME_HELLO, 0, 0, "a hello of 0 bytes"},
        {ES_FRAME_PULL, 30, 1, "not a hello"},
        {ES_FRAME_HELLO, ESI_STRANGER_BYTES + 1, 1, "before the hello"},
        {ES_FRAME_HELLO, ES_FRAME_MAX_BYTES + 1, 1, "at most"},
        {99, 3, 1, "type 99"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = make_frame(rows[i].type, rows[i].length, rows[i].first, frame);

        expect_refusal(answer, stranger(kind, frame, length, rows[i].words, answer),
                       rows[i].words);
    }
}

static void the_silent_are_not_waited_for_long(void **state)
{
    struct peer peer;
    int descriptor;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer.greet_ns = SHORT_NS;
    peer_start(&peer);
    descriptor = raw_connect(peer.address);
    shutdown(descriptor, SHUT_RD);
    peer_join(&peer);
    assert_int_equal(peer.rc, -ETIMEDOUT);
    expect_words(&peer.error, "within the limit");
    close(descriptor);
    peer_fini(&peer);
}

/* --- What is visible on the wire -------------------------------------------------- */

struct listened {
    struct esi_listener *listener;
    unsigned char bytes[2048];
    size_t length;
};

static void *listen_once(void *data)
{
    struct listened *listened = data;
    struct es_link *client = NULL;

    AWAIT(esi_listener_accept(listened->listener, &client) != -EAGAIN);
    ssize_t got =
        recv(esi_link_descriptor(client), listened->bytes, sizeof listened->bytes, 0);
    listened->length = got > 0 ? (size_t)got : 0;
    esi_link_close(client);
    return NULL;
}

/* Records the first bytes that a client of the run sends. */
static void listen_to(const struct peer *peer, struct listened *ret_listened)
{
    struct es_error error = {.text = ""};
    pthread_t thread;

    *ret_listened = (struct listened){.listener = peer->listener};
    assert_int_equal(pthread_create(&thread, NULL, listen_once, ret_listened), 0);
    assert_int_not_equal(try_connect(peer, &peer->key, peer->greeting.run, &error), 0);
    pthread_join(thread, NULL);
    assert_true(ret_listened->length > 100);
}

static void tls_does_not_show_the_run(void **state)
{
    struct listened listened;
    struct peer peer;

    (void)state;
    peer_init(&peer, ES_ADDRESS_TLS);
    listen_to(&peer, &listened);
    assert_null(memmem(listened.bytes, listened.length, peer.greeting.run,
                       strlen(peer.greeting.run)));
    peer_fini(&peer);
}

/* Sends the bytes to the peer.  Returns the length of its answer. */
static size_t answer_to(struct peer *peer,
                        const void *bytes,
                        size_t length,
                        unsigned char answer[1024])
{
    int descriptor;

    peer_start(peer);
    descriptor = raw_connect(peer->address);
    raw_write(descriptor, bytes, length);
    shutdown(descriptor, SHUT_WR);
    size_t got = raw_read(descriptor, answer, 1024);
    close(descriptor);
    peer_join(peer);
    assert_true(peer->rc < 0);
    return got;
}

/* The refusal is the same for a wrong key, an unknown identity and a
 * hello without a key. */
static void all_refusals_of_tls_look_the_same(void **state)
{
    char identity[ES_RUN_KEY_TEXT_BYTES];
    unsigned char wrong_key[1024], other[1024];
    struct listened listened;
    struct peer peer;

    (void)state;
    peer_init(&peer, ES_ADDRESS_TLS);
    listen_to(&peer, &listened);
    listened.bytes[listened.length - 1] ^= 1;
    size_t length = answer_to(&peer, listened.bytes, listened.length, wrong_key);
    assert_int_equal(length, 7);
    assert_int_equal(wrong_key[0], 0x15);
    listened.bytes[listened.length - 1] ^= 1;
    assert_int_equal(esi_run_key_identify(&peer.key, peer.greeting.run, identity), 0);
    unsigned char *at = memmem(listened.bytes, listened.length, identity, 64);
    assert_non_null(at);
    *at ^= 1;
    assert_int_equal(answer_to(&peer, listened.bytes, listened.length, other), length);
    assert_memory_equal(wrong_key, other, length);
    /* Changes the type of the extension that carries the key to an unknown one. */
    at[-8] ^= 0x55;
    assert_int_equal(answer_to(&peer, listened.bytes, listened.length, other), length);
    assert_memory_equal(wrong_key, other, length);
    peer_fini(&peer);
}

/* Over tcp, the server's answer to a stranger does not depend on the requested run,
 * except that it repeats the name. */
static void tcp_shows_nothing_before_the_proof(void **state)
{
    unsigned char frame[ES_FRAME_HEADER_BYTES + ESI_HELLO_BYTES], proof[512];
    struct esi_hello hello = {.greeting = {.run = "guessed"}};
    struct esi_frame header = {.type = ES_FRAME_HELLO, .length = ESI_HELLO_BYTES};
    unsigned char both[1024], answers[2][1024];
    struct peer peer;

    (void)state;
    peer_init(&peer, ES_ADDRESS_TCP);
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            strcpy(hello.greeting.run, peer.greeting.run);
        esi_frame_encode_header(&header, frame);
        esi_hello_encode(&hello, frame + ES_FRAME_HEADER_BYTES);
        memcpy(both, frame, sizeof frame);
        size_t length = make_frame(ES_FRAME_PROOF, ESI_TOKEN_BYTES, 1, proof);
        memcpy(both + sizeof frame, proof, length);
        size_t got = answer_to(&peer, both, sizeof frame + length, answers[i]);
        assert_true(got > sizeof frame);
        assert_null(memmem(answers[i], got, peer.greeting.host,
                           strlen(peer.greeting.host) + 1));
        if (i == 0)
            assert_null(
                memmem(answers[i], got, peer.greeting.run, strlen(peer.greeting.run)));
        expect_refusal(answers[i] + sizeof frame, got - sizeof frame,
                       "another run, or the run's key differs");
    }
    peer_fini(&peer);
}

static void note_right(struct peer *peer, struct es_link *link)
{
    peer->greeting.pid = esi_link_is_read_only(link) ? 1 : 2;
    echo(peer, link);
}

static void the_read_only_key_is_known(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_run_key read_key, twice;
    struct peer peer;

    peer_init(&peer, *(enum esi_address_kind *)*state);
    peer.serve = note_right;
    assert_int_equal(esi_run_key_derive_read(&peer.key, &read_key), 0);
    assert_int_equal(esi_run_key_derive_read(&read_key, &twice), 0);
    peer_start(&peer);
    assert_int_equal(try_connect(&peer, &read_key, peer.greeting.run, &error), 0);
    peer_join(&peer);
    assert_int_equal(peer.greeting.pid, 1);
    peer_start(&peer);
    assert_int_equal(try_connect(&peer, &peer.key, peer.greeting.run, &error), 0);
    peer_join(&peer);
    assert_int_equal(peer.greeting.pid, 2);
    /* The read-only key cannot be used to derive another valid one. */
    peer_start(&peer);
    assert_int_equal(try_connect(&peer, &twice, peer.greeting.run, &error), -EACCES);
    peer_join(&peer);
    peer_fini(&peer);
}

/* --- The user behind a socket ----------------------------------------------------- */

static void another_user_is_refused(void **state)
{
    unsigned char answer[1024];
    struct peer peer;
    pid_t child;
    int descriptor, status;

    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can be another user\n");
        skip();
    }
    peer_init(&peer, ES_ADDRESS_UNIX);
    peer_start(&peer);
    /* User nobody is let through to the socket, so that the
     * server itself must refuse. */
    assert_int_equal(chmod(peer.folder, 0755), 0);
    assert_int_equal(chmod(strchr(peer.address, '/'), 0666), 0);
    child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(1);
        descriptor = raw_connect(peer.address);
        expect_refusal(answer, raw_read(descriptor, answer, sizeof answer),
                       "this server belongs to user 0, you are user 65534");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    peer_join(&peer);
    assert_int_equal(peer.rc, -EACCES);
    expect_words(&peer.error, "you are user 65534");
    peer_fini(&peer);
}

static void hellos_tell_the_byte_order(void **state)
{
    unsigned char bytes[ESI_HELLO_BYTES], mark[4];
    struct esi_hello hello = {.greeting = {.run = "r", .host = "h\033[31m", .pid = 5}};
    struct esi_hello read;
    uint32_t version;

    (void)state;
    esi_hello_encode(&hello, bytes);
    assert_int_equal(esi_hello_decode(bytes, sizeof bytes, NULL, &version, &read), 0);
    assert_int_equal(version, ES_PROTOCOL_VERSION);
    assert_false(read.greeting.swapped);
    assert_int_equal(read.greeting.pid, 5);
    assert_string_equal(read.greeting.host, "h?[31m");
    memcpy(mark, bytes + 4, 4);
    for (int i = 0; i < 4; i++)
        bytes[4 + i] = mark[3 - i];
    assert_int_equal(esi_hello_decode(bytes, sizeof bytes, NULL, &version, &read), 0);
    assert_true(read.greeting.swapped);
    assert_int_equal(read.greeting.pid, 5);
    memset(bytes + 16, 'a', 64);
    assert_int_equal(esi_hello_decode(bytes, sizeof bytes, NULL, &version, &read),
                     -EPROTO);
}

#define ROW(kind, test)                                                                \
    {                                                                                  \
#kind ": " #test, test, NULL, NULL, &kinds[ES_ADDRESS_##kind]                  \
    }
#define NETWORK(test) ROW(TCP, test), ROW(TLS, test)
#define PLAIN(test) ROW(UNIX, test), ROW(TCP, test)
#define EVERY(test) ROW(UNIX, test), ROW(TCP, test), ROW(TLS, test)

SUITE(test_link_hello)
{
    const struct CMUnitTest tests[] = {
        NETWORK(another_key_is_refused),
        NETWORK(a_key_is_needed),
        EVERY(another_run_is_refused),
        EVERY(a_socket_that_nobody_serves_is_told),
        cmocka_unit_test(kinds_that_do_not_fit_are_told),
        EVERY(servers_that_are_none_are_told),
        PLAIN(a_server_of_another_version_is_told),
        cmocka_unit_test(a_server_without_the_key_is_not_believed),
        EVERY(strangers_are_refused),
        PLAIN(hellos_that_are_wrong_are_refused),
        EVERY(the_silent_are_not_waited_for_long),
        cmocka_unit_test(tls_does_not_show_the_run),
        cmocka_unit_test(all_refusals_of_tls_look_the_same),
        cmocka_unit_test(tcp_shows_nothing_before_the_proof),
        NETWORK(the_read_only_key_is_known),
        cmocka_unit_test(another_user_is_refused),
        cmocka_unit_test(hellos_tell_the_byte_order),
    };

    return cmocka_run_group_tests_name("hello", tests, NULL, NULL);
}
