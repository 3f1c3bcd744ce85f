/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The frame of a tuple server.
 *
 * One thread accepts; it sleeps in poll(2) till somebody comes, a connection has ended,
 * or the server is to stop.  Every connection has a thread of its own, which greets,
 * serves, and leaves itself to be joined by the accepting thread.
 */
#include "config.h"

#include "tuplespace/server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    LISTENERS_MAX = 8,
    CONNECTIONS_MAX = 1000,
    /* Not greeted yet, for each listener; more of them wait in the kernel's queue, so
     * that strangers cannot make us start threads at will. */
    UNGREETED_MAX = 64,
    LINE_BYTES = 1024,
    /* Not touched as long as it is not needed.  The deepest that comes is the JSON
     * reader at its nesting limit. */
    STACK_BYTES = 1 << 20,
    PAUSE_MS = 100, /* when the system has run out of something */
};

#define SECOND_NS UINT64_C(1000000000)
#define GREETING_NS (5 * SECOND_NS)
#define SENDING_NS (5 * SECOND_NS)
#define IDLE_NS (3600 * SECOND_NS) /* after which we only wait again */

struct connection {
    struct connection *next, **place; /* in `live` or `ended` */
    struct es_server *server;
    struct es_link *link; /* owned */
    size_t listener;
    bool is_greeted;
    pthread_t thread;
};

struct listener {
    struct es_listener *listener; /* owned */
    size_t ungreeted;
};

struct es_server {
    struct es_server_config config;
    struct es_greeting greeting;
    struct listener listeners[LISTENERS_MAX];
    size_t listener_count;
    int wake; /* eventfd: the accepting thread has something to look at */
    pthread_t acceptor;
    pthread_mutex_t log_lock;
    pthread_mutex_t lock;     /* guards what follows, and ungreeted above */
    struct connection *live;  /* their threads run */
    struct connection *ended; /* their threads are to be joined */
    size_t greeted;
    bool is_stopping;
    pthread_cond_t has_left;
};

/* --- Log ---------------------------------------------------------------------- */

__attribute__((format(printf, 2, 0))) static void log_list(struct es_server *server,
                                                           const char *format,
                                                           va_list arguments)
{
    char line[LINE_BYTES], words[LINE_BYTES - 64];
    struct timespec now;
    struct tm parts;

    vsnprintf(words, sizeof words, format, arguments);
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    size_t length = strftime(line, sizeof line, "%Y-%m-%d %H:%M:%S", &parts);
    snprintf(line + length, sizeof line - length, ".%03ld %s", now.tv_nsec / 1000000,
             words);
    pthread_mutex_lock(&server->log_lock);
    server->config.log(server->config.log_data, line);
    pthread_mutex_unlock(&server->log_lock);
}

void es_server_log(struct es_server *server, const char *format, ...)
{
    va_list arguments;

    if (!server->config.log)
        return;
    va_start(arguments, format);
    log_list(server, format, arguments);
    va_end(arguments);
}

/* --- One connection ----------------------------------------------------------- */

static void wake_acceptor(struct es_server *server)
{
    const uint64_t one = 1;

    /* It can only fail when so many wake it that it wakes anyhow. */
    (void)!write(server->wake, &one, sizeof one);
}

static int await_frame(struct connection *connection,
                       struct es_error *error,
                       struct es_frame *ret_frame)
{
    int code;

    do
        code = es_link_receive(connection->link, IDLE_NS, error, ret_frame);
    while (code == -ETIMEDOUT);
    return code;
}

/* Who does not take an answer in time is given up: what came behind half an answer
 * could not be told from it. */
static void serve_frames(struct connection *connection, void *served)
{
    struct es_server *server = connection->server;
    struct es_error error = {.text = ""};
    struct es_frame frame;
    int code;

    do {
        code = await_frame(connection, &error, &frame);
        if (code == 0)
            code = server->config.service.serve(served, &frame);
    } while (code == 0);
    if (code != -EPIPE && code != -ECONNRESET)
        es_server_log(server, "closed %s (%s): %s",
                      es_link_peer_address(connection->link),
                      es_link_peer(connection->link)->program,
                      error.text[0] ? error.text : strerror(-code));
}

/* Whether there is room for one more; it is counted from then on. */
static bool enter(struct connection *connection)
{
    struct es_server *server = connection->server;

    pthread_mutex_lock(&server->lock);
    server->listeners[connection->listener].ungreeted--;
    connection->is_greeted = true;
    bool has_room = server->greeted++ < CONNECTIONS_MAX;
    pthread_mutex_unlock(&server->lock);
    /* It may be that the listener was left alone because of us. */
    wake_acceptor(server);
    return has_room;
}

static void refuse_for_room(struct connection *connection)
{
    static const char words[] = "the tuple server has as many connections as it takes";
    struct iovec part = {.iov_base = (void *)words, .iov_len = sizeof words - 1};

    es_server_log(connection->server, "refused %s: there are %d connections",
                  es_link_peer_address(connection->link), CONNECTIONS_MAX);
    es_link_send(connection->link, ES_FRAME_REFUSAL, 0, &part, 1, SENDING_NS);
}

static void serve_greeted(struct connection *connection)
{
    const struct es_server_service *service = &connection->server->config.service;
    void *served;

    if (!enter(connection)) {
        refuse_for_room(connection);
        return;
    }
    int code = service->open(service->data, connection->link, &served);
    if (code < 0) {
        es_server_log(connection->server, "closed %s: %s",
                      es_link_peer_address(connection->link), strerror(-code));
        return;
    }
    serve_frames(connection, served);
    service->close(served);
}

static void unlink_connection(struct connection *connection)
{
    *connection->place = connection->next;
    if (connection->next)
        connection->next->place = connection->place;
}

static void link_connection(struct connection *connection, struct connection **list)
{
    connection->next = *list;
    connection->place = list;
    if (connection->next)
        connection->next->place = &connection->next;
    *list = connection;
}

/* From here on nobody shuts the link any more, and the thread may be joined. */
static void leave(struct connection *connection)
{
    struct es_server *server = connection->server;

    pthread_mutex_lock(&server->lock);
    unlink_connection(connection);
    link_connection(connection, &server->ended);
    if (connection->is_greeted)
        server->greeted--;
    else
        server->listeners[connection->listener].ungreeted--;
    pthread_cond_signal(&server->has_left);
    pthread_mutex_unlock(&server->lock);
}

static void *run_connection(void *data)
{
    struct connection *connection = data;
    struct es_server *server = connection->server;
    struct es_error error = {.text = ""};

    int code = es_link_greet(connection->link, &server->greeting, &server->config.key,
                             GREETING_NS, &error);
    if (code == 0)
        serve_greeted(connection);
    else
        es_server_log(server, "refused %s: %s", es_link_peer_address(connection->link),
                      error.text[0] ? error.text : strerror(-code));
    leave(connection);
    es_link_close(connection->link);
    wake_acceptor(server);
    return NULL;
}

/* --- Accepting ---------------------------------------------------------------- */

static int start_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
    pthread_attr_t attributes;

    int failure = pthread_attr_init(&attributes);
    if (failure)
        return -failure;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    failure = pthread_create(thread, &attributes, run, data);
    pthread_attr_destroy(&attributes);
    return -failure;
}

/* Takes the link. */
static int start_connection(struct es_server *server,
                            size_t listener,
                            struct es_link *link)
{
    struct connection *connection = calloc(1, sizeof *connection);
    int code = -ENOMEM;

    if (connection) {
        *connection =
            (struct connection){.server = server, .link = link, .listener = listener};
        /* Its thread must not leave before it is here, nor be joined before the
         * thread is known. */
        pthread_mutex_lock(&server->lock);
        code = start_thread(&connection->thread, run_connection, connection);
        if (code == 0) {
            link_connection(connection, &server->live);
            server->listeners[listener].ungreeted++;
        }
        pthread_mutex_unlock(&server->lock);
    }
    if (code < 0) {
        es_server_log(server, "refused %s: %s", es_link_peer_address(link),
                      strerror(-code));
        es_link_close(link);
        free(connection);
    }
    return code;
}

static bool has_room_for_strangers(struct es_server *server, size_t listener)
{
    pthread_mutex_lock(&server->lock);
    bool has_room = server->listeners[listener].ungreeted < UNGREETED_MAX;
    pthread_mutex_unlock(&server->lock);
    return has_room;
}

/* -EAGAIN: nobody waits any more. */
static int accept_all(struct es_server *server, size_t listener)
{
    struct es_link *link;
    int code = 0;

    while (code == 0 && has_room_for_strangers(server, listener)) {
        code = es_listener_accept(server->listeners[listener].listener, &link);
        if (code == 0)
            code = start_connection(server, listener, link);
    }
    return code;
}

static void join_ended(struct es_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct connection *list = server->ended;
    server->ended = NULL;
    pthread_mutex_unlock(&server->lock);
    while (list) {
        struct connection *next = list->next;
        pthread_join(list->thread, NULL);
        free(list);
        list = next;
    }
}

static bool is_stopping(struct es_server *server)
{
    pthread_mutex_lock(&server->lock);
    bool stopping = server->is_stopping;
    pthread_mutex_unlock(&server->lock);
    return stopping;
}

/* Waits for what there is to do.  A listener that cannot be served now is left out. */
static void await_work(struct es_server *server, struct pollfd *polled)
{
    uint64_t count;

    for (size_t i = 0; i < server->listener_count; i++)
        polled[i] = (struct pollfd){
            .fd = has_room_for_strangers(server, i)
                      ? es_listener_descriptor(server->listeners[i].listener)
                      : -1,
            .events = POLLIN};
    polled[server->listener_count] =
        (struct pollfd){.fd = server->wake, .events = POLLIN};
    /* It fails for want of memory only: then we do not spin. */
    if (poll(polled, server->listener_count + 1, -1) < 0)
        poll(NULL, 0, PAUSE_MS);
    if (polled[server->listener_count].revents)
        (void)!read(server->wake, &count, sizeof count);
}

static void *accept_connections(void *data)
{
    struct es_server *server = data;
    struct pollfd polled[LISTENERS_MAX + 1];

    while (!is_stopping(server)) {
        await_work(server, polled);
        join_ended(server);
        for (size_t i = 0; i < server->listener_count && !is_stopping(server); i++) {
            if (!polled[i].revents)
                continue;
            int code = accept_all(server, i);
            /* Out of descriptors or threads: somebody has to go first. */
            if (code < 0 && code != -EAGAIN)
                poll(NULL, 0, PAUSE_MS);
        }
    }
    return NULL;
}

/* --- Start and stop ----------------------------------------------------------- */

static int listen_on_all(struct es_server *server, struct es_error *error)
{
    const char *const *address = server->config.addresses;

    for (; *address; address++) {
        struct listener *place = &server->listeners[server->listener_count];
        if (server->listener_count == LISTENERS_MAX)
            return es_error_set(error, -E2BIG, "more than %d addresses to listen on",
                                LISTENERS_MAX);
        int code = es_listener_open(*address, error, &place->listener);
        if (code < 0)
            return code;
        server->listener_count++;
    }
    return server->listener_count > 0
               ? 0
               : es_error_set(error, -EINVAL, "no address to listen on");
}

static void free_server(struct es_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++)
        es_listener_close(server->listeners[i].listener);
    if (server->wake >= 0)
        close(server->wake);
    pthread_cond_destroy(&server->has_left);
    pthread_mutex_destroy(&server->lock);
    pthread_mutex_destroy(&server->log_lock);
    explicit_bzero(&server->config.key, sizeof server->config.key);
    free(server);
}

int es_server_start(const struct es_server_config *config,
                    struct es_error *error,
                    struct es_server **ret_server)
{
    struct es_server *server = calloc(1, sizeof *server);

    if (!server)
        return -ENOMEM;
    server->config = *config;
    snprintf(server->greeting.run, sizeof server->greeting.run, "%s", config->run);
    snprintf(server->greeting.host, sizeof server->greeting.host, "%s", config->host);
    strcpy(server->greeting.program, "eventspaced");
    server->greeting.pid = (uint32_t)getpid();
    pthread_mutex_init(&server->lock, NULL);
    pthread_mutex_init(&server->log_lock, NULL);
    pthread_cond_init(&server->has_left, NULL);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int code = server->wake < 0 ? -errno : listen_on_all(server, error);
    if (code == 0)
        code = start_thread(&server->acceptor, accept_connections, server);
    if (code < 0) {
        free_server(server);
        return code;
    }
    *ret_server = server;
    return 0;
}

const char *es_server_address(const struct es_server *server, size_t index)
{
    return index < server->listener_count
               ? es_listener_address(server->listeners[index].listener)
               : NULL;
}

size_t es_server_connection_count(struct es_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t count = server->greeted;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static void end_connections(struct es_server *server)
{
    if (server->config.service.stop)
        server->config.service.stop(server->config.service.data);
    pthread_mutex_lock(&server->lock);
    for (struct connection *one = server->live; one; one = one->next)
        es_link_shut(one->link);
    while (server->live)
        pthread_cond_wait(&server->has_left, &server->lock);
    pthread_mutex_unlock(&server->lock);
    join_ended(server);
}

void es_server_stop(struct es_server *server)
{
    if (!server)
        return;
    int saved_errno = errno;
    pthread_mutex_lock(&server->lock);
    server->is_stopping = true;
    pthread_mutex_unlock(&server->lock);
    wake_acceptor(server);
    pthread_join(server->acceptor, NULL);
    end_connections(server);
    free_server(server);
    errno = saved_errno;
}
