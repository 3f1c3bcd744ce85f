/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The generic part of a tuple server.
 *
 * One thread accepts and greets.  It sleeps in poll(2) until a connection arrives or
 * sends data, a connection has ended, or the server stops.  Each greeted connection
 * gets its own thread, which serves it and is finally joined by the accepting thread.
 */
#include "config.h"

#include "tuplespace/transport/acceptor.h"

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

#include "base/list.h"
#include "base/now.h"
#include "tuplespace/transport/acceptor_pending.h"

enum {
    LISTENERS_MAX = 8,
    CONNECTIONS_MAX = 1000,
    /* Connections that a listener accepts before earlier ones are served. */
    ACCEPTED_AT_ONCE = 32,
    /* Stack pages are only used when needed.  The deepest recursion is the JSON parser
     * at its nesting limit. */
    STACK_BYTES = 1 << 20,
    PAUSE_MS = 100, /* when the system is out of some resource */
};

#define SECOND_NS UINT64_C(1000000000)
#define SENDING_NS (5 * SECOND_NS)
#define IDLE_NS (3600 * SECOND_NS) /* after which the wait is repeated */

/* --- The log ---------------------------------------------------------------------- */

/* Refusals are logged at most once per second; those in between are counted, so that
 * strangers can neither fill the disk nor hide anything.  Thread safe. */
enum { REFUSAL_BYTES = 512 };

struct server_log {
    void (*write)(void *data, const char *line); /* NULL if there is no log */
    void *data;
    pthread_mutex_t lock;     /* protects what follows; held while writing */
    uint64_t refusal_ns;      /* when a refusal was last logged */
    size_t unwritten;         /* number of refusals since then */
    char last[REFUSAL_BYTES]; /* the last of them */
};

enum { LINE_BYTES = 1024 };

#define MS_NS UINT64_C(1000000)

static void log_init(struct server_log *log,
                     void (*write)(void *data, const char *line),
                     void *data)
{
    *log = (struct server_log){.write = write, .data = data};
    pthread_mutex_init(&log->lock, NULL);
}

/* The caller holds the lock. */
static void write_line(struct server_log *log, const char *words)
{
    char line[LINE_BYTES];
    struct timespec now;
    struct tm parts;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    size_t length = strftime(line, sizeof line, "%Y-%m-%d %H:%M:%S", &parts);
    snprintf(line + length, sizeof line - length, ".%03ld %s", now.tv_nsec / 1000000,
             words);
    log->write(log->data, line);
}

/* Writes a line, preceded by the time. */
__attribute__((format(printf, 2, 0))) static void log_list(struct server_log *log,
                                                           const char *format,
                                                           va_list arguments)
{
    char words[LINE_BYTES - 64];

    if (!log->write)
        return;
    vsnprintf(words, sizeof words, format, arguments);
    pthread_mutex_lock(&log->lock);
    write_line(log, words);
    pthread_mutex_unlock(&log->lock);
}

/* The caller holds the lock. */
static void write_refusals(struct server_log *log)
{
    char words[REFUSAL_BYTES + 64];

    if (log->unwritten == 1)
        snprintf(words, sizeof words, "refused %s", log->last);
    else
        snprintf(words, sizeof words, "refused %zu connections, the last of them %s",
                 log->unwritten, log->last);
    log->unwritten = 0;
    log->refusal_ns = esi_now_ns(CLOCK_MONOTONIC);
    write_line(log, words);
}

/* The caller holds the lock. */
static int flush_refusals(struct server_log *log)
{
    if (log->unwritten == 0)
        return -1;
    uint64_t since_ns = esi_now_ns(CLOCK_MONOTONIC) - log->refusal_ns;
    if (log->refusal_ns != 0 && since_ns < SECOND_NS)
        return (int)((SECOND_NS - since_ns) / MS_NS) + 1;
    write_refusals(log);
    return -1;
}

/* Logs a refusal, or counts it. */
static void log_refusal(struct server_log *log, const char *peer, const char *reason)
{
    if (!log->write)
        return;
    pthread_mutex_lock(&log->lock);
    log->unwritten++;
    snprintf(log->last, sizeof log->last, "%s: %s", peer, reason);
    flush_refusals(log);
    pthread_mutex_unlock(&log->lock);
}

/* Logs counted refusals if it is time.  Returns the milliseconds until then; -1 if
 * there are none. */
static int log_flush(struct server_log *log)
{
    pthread_mutex_lock(&log->lock);
    int left_ms = flush_refusals(log);
    pthread_mutex_unlock(&log->lock);
    return left_ms;
}

static void log_fini(struct server_log *log)
{
    if (log->unwritten > 0)
        write_refusals(log);
    pthread_mutex_destroy(&log->lock);
}

/* --- The server ------------------------------------------------------------------- */

struct connection {
    struct esi_list_link in_list; /* in `live` or `ended` */
    struct esi_server *server;
    struct es_link *link; /* owned */
    bool has_room;        /* false if it is to be refused because there are too many */
    pthread_t thread;
};

/* Owns both. */
struct listener {
    struct esi_listener *listener;
    struct esi_pending *pending; /* used by the accepting thread only */
};

struct esi_server {
    struct esi_server_config config;
    struct esi_greeting greeting;
    struct listener listeners[LISTENERS_MAX];
    size_t listener_count;
    int wake; /* eventfd: wakes the accepting thread */
    pthread_t acceptor;
    struct pollfd
        polled[1 + LISTENERS_MAX *
                       (1 + ESI_PENDING_MAX)]; /* used by the accepting thread */
    struct server_log log;
    pthread_mutex_t lock;  /* protects what follows */
    struct esi_list live;  /* their threads are running */
    struct esi_list ended; /* their threads are to be joined */
    size_t greeted;
    bool is_stopping;
    pthread_cond_t has_left;
};

void esi_acceptor_log(struct esi_server *server, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    log_list(&server->log, format, arguments);
    va_end(arguments);
}

/* --- One connection ----------------------------------------------------------- */

static void wake_acceptor(struct esi_server *server)
{
    const uint64_t one = 1;

    /* Fails only if the counter is full, and then the thread wakes up anyway. */
    (void)!write(server->wake, &one, sizeof one);
}

static int await_frame(struct connection *connection,
                       struct es_error *error,
                       struct esi_frame *ret_frame)
{
    int code;

    do
        code = esi_link_receive(connection->link, IDLE_NS, error, ret_frame);
    while (code == -ETIMEDOUT);
    return code;
}

/* A peer that does not receive a reply in time is dropped: it could not tell what
 * follows half a reply from that reply. */
static void serve_frames(struct connection *connection, void *served)
{
    struct esi_server *server = connection->server;
    struct es_error error = {.text = ""};
    struct esi_frame frame;
    int code;

    do {
        code = await_frame(connection, &error, &frame);
        if (code == 0)
            code = server->config.service.serve(served, &frame);
    } while (code == 0);
    if (code != -EPIPE && code != -ECONNRESET)
        esi_acceptor_log(server, "closed %s (%s): %s",
                         esi_link_peer_address(connection->link),
                         esi_link_peer(connection->link)->program,
                         error.text[0] ? error.text : strerror(-code));
}

static void refuse_for_room(struct connection *connection)
{
    static const char words[] = "the tuple server has reached its limit of connections";
    struct iovec part = {.iov_base = (void *)words, .iov_len = sizeof words - 1};

    log_refusal(&connection->server->log, esi_link_peer_address(connection->link),
                "the limit of connections is reached");
    esi_link_send(connection->link, ES_FRAME_REFUSAL, 0, &part, 1, SENDING_NS);
}

static void acceptor_serve(struct connection *connection)
{
    const struct esi_server_service *service = &connection->server->config.service;
    void *served;

    int code = service->open(service->data, connection->link, &served);
    if (code < 0) {
        esi_acceptor_log(connection->server, "closed %s: %s",
                         esi_link_peer_address(connection->link), strerror(-code));
        return;
    }
    serve_frames(connection, served);
    service->close(served);
}

/* From here on, nobody shuts the link any more, and the thread may be joined. */
static void acceptor_leave(struct connection *connection)
{
    struct esi_server *server = connection->server;

    pthread_mutex_lock(&server->lock);
    esi_list_remove(&server->live, &connection->in_list);
    esi_list_prepend(&server->ended, &connection->in_list);
    server->greeted--;
    pthread_cond_signal(&server->has_left);
    pthread_mutex_unlock(&server->lock);
}

static void *run_connection(void *data)
{
    struct connection *connection = data;
    struct esi_server *server = connection->server;

    if (connection->has_room)
        acceptor_serve(connection);
    else
        refuse_for_room(connection);
    acceptor_leave(connection);
    esi_link_close(connection->link);
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

/* Takes ownership of the link of a greeted peer. */
static void start_connection(void *data, struct es_link *link)
{
    struct esi_server *server = data;
    struct connection *connection = calloc(1, sizeof *connection);
    int code = -ENOMEM;

    if (connection) {
        *connection = (struct connection){.server = server, .link = link};
        /* The thread must neither leave before it is in the list, nor be joined before
         * its id is known. */
        pthread_mutex_lock(&server->lock);
        connection->has_room = server->greeted < CONNECTIONS_MAX;
        code = start_thread(&connection->thread, run_connection, connection);
        if (code == 0) {
            esi_list_prepend(&server->live, &connection->in_list);
            server->greeted++;
        }
        pthread_mutex_unlock(&server->lock);
    }
    if (code < 0) {
        log_refusal(&server->log, esi_link_peer_address(link), strerror(-code));
        esi_link_close(link);
        free(connection);
    }
}

static void note_refused(void *data, const struct es_link *link, const char *reason)
{
    struct esi_server *server = data;

    log_refusal(&server->log, esi_link_peer_address(link), reason);
}

/* Returns -EAGAIN if no more are pending; 0 if there may be more. */
static int accept_some(struct listener *listener)
{
    struct es_link *link;
    int code = 0;

    for (int i = 0; i < ACCEPTED_AT_ONCE && code == 0; i++) {
        code = esi_listener_accept(listener->listener, &link);
        if (code == 0)
            esi_pending_add(listener->pending, link);
    }
    return code;
}

static void join_ended(struct esi_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct esi_list ended = server->ended;
    server->ended = (struct esi_list){.first = NULL};
    pthread_mutex_unlock(&server->lock);
    ESI_LIST_FOREACH_SAFE(struct connection, connection, &ended, in_list) {
        pthread_join(connection->thread, NULL);
        free(connection);
    }
}

static bool is_stopping(struct esi_server *server)
{
    pthread_mutex_lock(&server->lock);
    bool stopping = server->is_stopping;
    pthread_mutex_unlock(&server->lock);
    return stopping;
}

static int acceptor_sooner(int a_ms, int b_ms)
{
    if (a_ms < 0 || b_ms < 0)
        return a_ms < 0 ? b_ms : a_ms;
    return a_ms < b_ms ? a_ms : b_ms;
}

/* Waits for work; `polled` then contains the events. */
static void await_work(struct esi_server *server, struct pollfd *polled)
{
    int timeout_ms = log_flush(&server->log);
    size_t count = 0;
    uint64_t woken;

    polled[count++] = (struct pollfd){.fd = server->wake, .events = POLLIN};
    for (size_t i = 0; i < server->listener_count; i++) {
        struct listener *listener = &server->listeners[i];
        polled[count++] = (struct pollfd){
            .fd = esi_listener_descriptor(listener->listener), .events = POLLIN};
        count += esi_pending_poll(listener->pending, polled + count);
        timeout_ms =
            acceptor_sooner(timeout_ms, esi_pending_timeout_ms(listener->pending));
    }
    /* Fails only if out of memory: avoid a busy loop. */
    if (poll(polled, count, timeout_ms) < 0) {
        for (size_t i = 0; i < count; i++)
            polled[i].revents = 0;
        poll(NULL, 0, PAUSE_MS);
    }
    if (polled[0].revents)
        (void)!read(server->wake, &woken, sizeof woken);
}

/* Pending connections first, so that those that have waited are served before new ones
 * are accepted.  Returns how many entries of `polled` belong to the listener. */
static size_t serve_listener(struct listener *listener, const struct pollfd *polled)
{
    size_t used = 1 + esi_pending_count(listener->pending);

    esi_pending_advance(listener->pending, polled + 1);
    if (polled[0].revents) {
        int code = accept_some(listener);
        /* Out of descriptors or memory: one connection must be dropped first. */
        if (code < 0 && code != -EAGAIN) {
            esi_pending_drop(listener->pending);
            poll(NULL, 0, PAUSE_MS);
        }
    }
    return used;
}

static void *accept_connections(void *data)
{
    struct esi_server *server = data;

    while (!is_stopping(server)) {
        const struct pollfd *next = server->polled + 1;

        await_work(server, server->polled);
        join_ended(server);
        for (size_t i = 0; i < server->listener_count && !is_stopping(server); i++)
            next += serve_listener(&server->listeners[i], next);
    }
    return NULL;
}

/* --- Start and stop ----------------------------------------------------------- */

static int listen_on(struct esi_server *server,
                     const char *address,
                     struct es_error *error)
{
    const struct esi_pending_config config = {.greeting = &server->greeting,
                                              .key = &server->config.key,
                                              .greeted = start_connection,
                                              .refused = note_refused,
                                              .data = server};
    struct listener *place = &server->listeners[server->listener_count];

    if (server->listener_count == LISTENERS_MAX)
        return es_error_set(error, -E2BIG, "more than %d addresses to listen on",
                            LISTENERS_MAX);
    int code = esi_listener_open(address, error, &place->listener);
    if (code < 0)
        return code;
    server->listener_count++;
    return esi_pending_create(&config, &place->pending);
}

static int listen_on_all(struct esi_server *server, struct es_error *error)
{
    const char *const *address = server->config.addresses;
    int code = *address ? 0 : es_error_set(error, -EINVAL, "no address to listen on");

    for (; *address && code == 0; address++)
        code = listen_on(server, *address, error);
    return code;
}

static void free_server(struct esi_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        esi_pending_destroy(server->listeners[i].pending);
        esi_listener_close(server->listeners[i].listener);
    }
    if (server->wake >= 0)
        close(server->wake);
    pthread_cond_destroy(&server->has_left);
    pthread_mutex_destroy(&server->lock);
    log_fini(&server->log);
    explicit_bzero(&server->config.key, sizeof server->config.key);
    free(server);
}

int esi_acceptor_start(const struct esi_server_config *config,
                       struct es_error *error,
                       struct esi_server **ret_server)
{
    struct esi_server *server = calloc(1, sizeof *server);

    if (!server)
        return -ENOMEM;
    server->config = *config;
    snprintf(server->greeting.run, sizeof server->greeting.run, "%s", config->run);
    snprintf(server->greeting.host, sizeof server->greeting.host, "%s", config->host);
    strcpy(server->greeting.program, "eventspaced");
    server->greeting.pid = (uint32_t)getpid();
    pthread_mutex_init(&server->lock, NULL);
    log_init(&server->log, config->log, config->log_data);
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

const char *esi_server_address(const struct esi_server *server, size_t index)
{
    return index < server->listener_count
               ? esi_listener_address(server->listeners[index].listener)
               : NULL;
}

size_t esi_server_connection_count(struct esi_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t count = server->greeted;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static void end_connections(struct esi_server *server)
{
    if (server->config.service.stop)
        server->config.service.stop(server->config.service.data);
    pthread_mutex_lock(&server->lock);
    ESI_LIST_FOREACH(struct connection, connection, &server->live, in_list)
        esi_link_shut(connection->link);
    while (server->live.first)
        pthread_cond_wait(&server->has_left, &server->lock);
    pthread_mutex_unlock(&server->lock);
    join_ended(server);
}

void esi_server_stop(struct esi_server *server)
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
