/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The frame of a tuple server: greeting, serving many clients,
 * refusing, logging, stopping. */
#include "config.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "tuplespace/transport/acceptor.h"
#include "tests/await.h"

#define LIMIT_NS UINT64_C(20000000000)
#define LIMIT_MS 20000

enum { CLIENTS = 12, ROUNDS = 50 };

/* A service that echoes frames and counts calls. */
struct echo {
    atomic_int opened;
    atomic_int closed;
    atomic_int lines;
    atomic_int refused;
    pthread_mutex_t lock;
    char last_line[1024]; /* guarded */
};

struct fixture {
    char folder[64];
    char unix_address[128];
    const char *addresses[3];
    struct esi_server_config config;
    struct echo echo;
    struct esi_server *server;
};

static int open_echo(void *data, struct es_link *link, void **ret_connection)
{
    struct echo *echo = data;

    atomic_fetch_add(&echo->opened, 1);
    if (strcmp(esi_link_peer(link)->program, "unwanted") == 0)
        return -EPERM;
    *ret_connection = link;
    return 0;
}

/* Echoes the frame.  A PULL ends the connection, and a WRITE is
 * not answered in time. */
static int serve_echo(void *connection, const struct esi_frame *frame)
{
    struct iovec part = {.iov_base = (void *)frame->payload, .iov_len = frame->length};

    if (frame->type == ES_FRAME_PULL)
        return -EPROTO;
    if (frame->type == ES_FRAME_WRITE)
        return -ETIMEDOUT;
    return esi_link_send(connection, ES_FRAME_REPLY, frame->id, &part, 1, LIMIT_NS);
}

static struct echo *the_echo;

static void close_echo(void *connection)
{
    (void)connection;
    atomic_fetch_add(&the_echo->closed, 1);
}

/* Returns the number of refused connections that a line of the log reports. */
static int refused_by(const char *line)
{
    const char *word = strstr(line, " refused ");
    int count, end = 0;

    if (!word)
        return 0;
    sscanf(word, " refused %d connections,%n", &count, &end);
    return end > 0 ? count : 1;
}

static void log_line(void *data, const char *line)
{
    struct echo *echo = data;

    atomic_fetch_add(&echo->refused, refused_by(line));
    pthread_mutex_lock(&echo->lock);
    snprintf(echo->last_line, sizeof echo->last_line, "%s", line);
    pthread_mutex_unlock(&echo->lock);
    atomic_fetch_add(&echo->lines, 1);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    strcpy(fixture->folder, "/tmp/es-server-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    snprintf(fixture->unix_address, sizeof fixture->unix_address, "unix:%s/sock",
             fixture->folder);
    fixture->addresses[0] = fixture->unix_address;
    fixture->addresses[1] = "tls:127.0.0.1:0";
    pthread_mutex_init(&fixture->echo.lock, NULL);
    the_echo = &fixture->echo;
    fixture->config = (struct esi_server_config){
        .run = "served",
        .host = "alpha",
        .addresses = fixture->addresses,
        .service = {.open = open_echo,
                    .serve = serve_echo,
                    .close = close_echo,
                    .data = &fixture->echo},
        .log = log_line,
        .log_data = &fixture->echo,
    };
    assert_int_equal(esi_run_key_make(&fixture->config.key), 0);
    assert_int_equal(esi_acceptor_start(&fixture->config, NULL, &fixture->server), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    char path[128];

    esi_server_stop(fixture->server);
    snprintf(path, sizeof path, "%s/sock", fixture->folder);
    unlink(path);
    rmdir(fixture->folder);
    pthread_mutex_destroy(&fixture->echo.lock);
    free(fixture);
    return 0;
}

static int connect_as(const struct fixture *fixture,
                      size_t address,
                      const char *run,
                      const char *program,
                      const struct esi_run_key *key,
                      struct es_error *error,
                      struct es_link **ret_link)
{
    struct esi_greeting greeting = {.host = "beta", .pid = (uint32_t)getpid()};

    snprintf(greeting.run, sizeof greeting.run, "%s", run);
    snprintf(greeting.program, sizeof greeting.program, "%s", program);
    return esi_link_connect(esi_server_address(fixture->server, address), &greeting,
                            key, LIMIT_NS, error, ret_link);
}

static struct es_link *connect_well(const struct fixture *fixture, size_t address)
{
    struct es_link *link;

    assert_int_equal(connect_as(fixture, address, "served", "test",
                                &fixture->config.key, NULL, &link),
                     0);
    return link;
}

static int echo_once(struct es_link *link, uint64_t id)
{
    char text[32];
    struct esi_frame frame;

    snprintf(text, sizeof text, "number %llu", (unsigned long long)id);
    struct iovec part = {.iov_base = text, .iov_len = strlen(text)};
    int code = esi_link_send(link, ES_FRAME_REQUEST, id, &part, 1, LIMIT_NS);
    if (code == 0)
        code = esi_link_receive(link, LIMIT_NS, NULL, &frame);
    if (code < 0)
        return code;
    bool is_same = frame.type == ES_FRAME_REPLY && frame.id == id &&
                   frame.length == strlen(text) &&
                   memcmp(frame.payload, text, frame.length) == 0;
    return is_same ? 0 : -EBADMSG;
}

static bool log_has(struct echo *echo, const char *text)
{
    pthread_mutex_lock(&echo->lock);
    bool has = strstr(echo->last_line, text) != NULL;
    pthread_mutex_unlock(&echo->lock);
    return has;
}

/* --- Cases -------------------------------------------------------------------- */

struct client {
    const struct fixture *fixture;
    size_t address;
    int result;
};

static void *run_client(void *data)
{
    struct client *client = data;
    struct es_link *link;

    client->result = connect_as(client->fixture, client->address, "served", "test",
                                &client->fixture->config.key, NULL, &link);
    if (client->result < 0)
        return NULL;
    for (uint64_t i = 1; i <= ROUNDS && client->result == 0; i++)
        client->result = echo_once(link, i);
    esi_link_close(link);
    return NULL;
}

static void many_clients_are_served_at_once(void **state)
{
    struct fixture *fixture = *state;
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];

    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.fixture = fixture, .address = i % 2};
        assert_int_equal(pthread_create(&threads[i], NULL, run_client, &clients[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(clients[i].result, 0);
    }
    AWAIT(atomic_load(&fixture->echo.closed) >= CLIENTS);
    assert_int_equal(atomic_load(&fixture->echo.opened), CLIENTS);
    assert_int_equal(atomic_load(&fixture->echo.lines), 0);
}

static void refusals_are_told_and_logged(void **state)
{
    struct fixture *fixture = *state;
    struct es_error error = {.text = ""};
    struct esi_run_key wrong;
    struct es_link *link;

    assert_int_equal(
        connect_as(fixture, 0, "another", "test", &fixture->config.key, &error, &link),
        -EACCES);
    assert_non_null(strstr(error.text, "another"));
    AWAIT(atomic_load(&fixture->echo.lines) >= 1);
    assert_true(log_has(&fixture->echo, "refused uid"));
    esi_run_key_make(&wrong);
    es_error_clear(&error);
    assert_true(connect_as(fixture, 1, "served", "test", &wrong, &error, &link) < 0);
    AWAIT(atomic_load(&fixture->echo.lines) >= 2);
    assert_true(log_has(&fixture->echo, "refused 127.0.0.1:"));
    assert_int_equal(atomic_load(&fixture->echo.opened), 0);
    /* Other clients are still served. */
    link = connect_well(fixture, 1);
    assert_int_equal(echo_once(link, 7), 0);
    esi_link_close(link);
}

/* --- Strangers ---------------------------------------------------------------- */

enum { STRANGERS = 400, FROM_ONE_ADDRESS = 64, IN_ALL = 256 };

/* Connects from 127.0.0.`last` and sends nothing, or the beginning of a TLS hello. */
static int be_stranger(const struct fixture *fixture, int last, bool speaks)
{
    static const unsigned char beginning[] = {0x16, 3, 1};
    const char *port = strrchr(esi_server_address(fixture->server, 1), ':') + 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u + (unsigned)last)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    assert_true(descriptor >= 0);
    assert_int_equal(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    address.sin_port = htons((uint16_t)atoi(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(descriptor, (struct sockaddr *)&address, sizeof address);
    struct pollfd polled = {.fd = descriptor, .events = POLLOUT};
    /* The server accepts strangers at once instead of leaving them in its queue. */
    assert_int_equal(poll(&polled, 1, LIMIT_MS), 1);
    if (speaks)
        (void)!send(descriptor, beginning, sizeof beginning, MSG_NOSIGNAL);
    return descriptor;
}

static size_t count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Opens 400 connections of strangers from `addresses` addresses.  The server drops
 * all but `places` of them at once, and serves its clients.  It refuses the rest when
 * they close or time out. */
static void expect_places(struct fixture *fixture, int addresses, size_t places)
{
    const size_t before = count_descriptors();
    int strangers[STRANGERS];

    for (int i = 0; i < STRANGERS; i++)
        strangers[i] = be_stranger(fixture, 1 + i % addresses, i % 2 == 0);
    struct es_link *link = connect_well(fixture, 1);
    assert_int_equal(echo_once(link, 1), 0);
    AWAIT(atomic_load(&fixture->echo.refused) >= STRANGERS - (int)places);
    assert_true(count_descriptors() <= before + STRANGERS + places + 2);
    /* The remaining strangers do not keep clients out either. */
    struct es_link *other = connect_well(fixture, 1);
    assert_int_equal(echo_once(other, 2), 0);
    esi_link_close(other);
    esi_link_close(link);
    for (int i = 0; i < STRANGERS; i++)
        close(strangers[i]);
    AWAIT(atomic_load(&fixture->echo.refused) >= STRANGERS);
}

static void idle_and_slow_strangers_keep_nobody_out(void **state)
{
    struct timespec began, ended;
    struct fixture *fixture = *state;

    clock_gettime(CLOCK_MONOTONIC, &began);
    expect_places(fixture, 1, FROM_ONE_ADDRESS);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    assert_int_equal(atomic_load(&fixture->echo.refused), STRANGERS);
    /* The log gets one line per second, and the first. */
    assert_true(atomic_load(&fixture->echo.lines) <= ended.tv_sec - began.tv_sec + 2);
}

static void strangers_of_many_addresses_keep_nobody_out(void **state)
{
    expect_places(*state, 100, IN_ALL);
}

/* An address that has used up its places loses its own connections, not another's. */
static void an_address_loses_its_own_places_first(void **state)
{
    struct fixture *fixture = *state;
    int first = be_stranger(fixture, 2, true), others[STRANGERS];
    char byte;

    for (int i = 0; i < STRANGERS; i++)
        others[i] = be_stranger(fixture, 3, true);
    AWAIT(atomic_load(&fixture->echo.refused) >= STRANGERS - FROM_ONE_ADDRESS);
    assert_int_equal(recv(first, &byte, 1, MSG_DONTWAIT), -1);
    assert_true(errno == EAGAIN);
    for (int i = 0; i < STRANGERS; i++)
        close(others[i]);
    close(first);
}

static void the_service_may_close_a_connection(void **state)
{
    struct fixture *fixture = *state;
    struct esi_frame frame;
    struct es_link *link = connect_well(fixture, 0);

    assert_int_equal(esi_link_send(link, ES_FRAME_PULL, 1, NULL, 0, LIMIT_NS), 0);
    assert_int_equal(esi_link_receive(link, LIMIT_NS, NULL, &frame), -EPIPE);
    esi_link_close(link);
    AWAIT(atomic_load(&fixture->echo.lines) >= 1);
    assert_true(log_has(&fixture->echo, "closed uid"));
    assert_int_equal(connect_as(fixture, 0, "served", "unwanted", NULL, NULL, &link),
                     0);
    assert_int_equal(esi_link_receive(link, LIMIT_NS, NULL, &frame), -EPIPE);
    esi_link_close(link);
    assert_int_equal(atomic_load(&fixture->echo.closed), 1);
}

/* Half an answer may have been sent, so the client could not find the next frame. */
static void who_does_not_take_an_answer_is_given_up(void **state)
{
    struct fixture *fixture = *state;
    struct esi_frame frame;
    struct es_link *link = connect_well(fixture, 0);

    assert_int_equal(esi_link_send(link, ES_FRAME_WRITE, 1, NULL, 0, LIMIT_NS), 0);
    assert_int_equal(esi_link_receive(link, LIMIT_NS / 4, NULL, &frame), -EPIPE);
    esi_link_close(link);
    AWAIT(atomic_load(&fixture->echo.closed) >= 1);
}

static void connections_are_counted(void **state)
{
    struct fixture *fixture = *state;
    struct es_link *links[3];

    assert_int_equal(esi_server_connection_count(fixture->server), 0);
    for (size_t i = 0; i < 3; i++) {
        links[i] = connect_well(fixture, 0);
        /* The connection is counted before it is served. */
        assert_int_equal(echo_once(links[i], 1), 0);
        assert_int_equal(esi_server_connection_count(fixture->server), i + 1);
    }
    for (size_t i = 0; i < 3; i++)
        esi_link_close(links[i]);
    AWAIT(esi_server_connection_count(fixture->server) == 0);
}

/* A client beyond the limit is told why.  Another one is accepted
 * once others are gone. */
static void too_many_are_refused_in_words(void **state)
{
    enum { MANY = 1000, DESCRIPTORS = 2 * MANY + 100 };
    struct fixture *fixture = *state;
    struct rlimit limit;
    static struct es_link *links[MANY];
    struct esi_frame frame;
    struct es_link *more;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < DESCRIPTORS)
        skip();
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (size_t i = 0; i < MANY; i++)
        links[i] = connect_well(fixture, 0);
    /* The server may not yet have counted clients that it has greeted. */
    AWAIT(esi_server_connection_count(fixture->server) == MANY);
    more = connect_well(fixture, 0);
    assert_int_equal(esi_link_receive(more, LIMIT_NS, NULL, &frame), 0);
    assert_int_equal(frame.type, ES_FRAME_REFUSAL);
    assert_non_null(memmem(frame.payload, frame.length, "limit of connections", 20));
    esi_link_close(more);
    for (size_t i = 0; i < MANY; i++)
        esi_link_close(links[i]);
    AWAIT(esi_server_connection_count(fixture->server) == 0);
    more = connect_well(fixture, 0);
    assert_int_equal(echo_once(more, 1), 0);
    esi_link_close(more);
}

/* Stopping also ends connections that have sent no frame yet. */
static void a_stop_ends_all_connections(void **state)
{
    struct fixture *fixture = *state;
    struct esi_frame frame;
    struct es_link *links[4];

    for (size_t i = 0; i < 4; i++)
        links[i] = connect_well(fixture, i % 2);
    AWAIT(atomic_load(&fixture->echo.opened) >= 4);
    esi_server_stop(fixture->server);
    fixture->server = NULL;
    assert_int_equal(atomic_load(&fixture->echo.closed), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(esi_link_receive(links[i], LIMIT_NS, NULL, &frame), -EPIPE);
        esi_link_close(links[i]);
    }
}

static void what_cannot_be_listened_on_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct esi_server_config config = fixture->config;
    const char *none[] = {NULL};
    const char *bad[] = {"tls:127.0.0.1:0", "nonsense", NULL};
    struct es_error error = {.text = ""};
    struct esi_server *server;

    config.addresses = none;
    assert_int_equal(esi_acceptor_start(&config, &error, &server), -EINVAL);
    es_error_clear(&error);
    config.addresses = bad;
    assert_int_equal(esi_acceptor_start(&config, &error, &server), -EINVAL);
    assert_string_not_equal(error.text, "");
}

SUITE(test_server)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(many_clients_are_served_at_once),
        cmocka_unit_test(refusals_are_told_and_logged),
        cmocka_unit_test(idle_and_slow_strangers_keep_nobody_out),
        cmocka_unit_test(strangers_of_many_addresses_keep_nobody_out),
        cmocka_unit_test(an_address_loses_its_own_places_first),
        cmocka_unit_test(the_service_may_close_a_connection),
        cmocka_unit_test(who_does_not_take_an_answer_is_given_up),
        cmocka_unit_test(connections_are_counted),
        cmocka_unit_test(too_many_are_refused_in_words),
        cmocka_unit_test(a_stop_ends_all_connections),
        cmocka_unit_test(what_cannot_be_listened_on_is_an_error),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
