/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_server.c - checks access and converts requests to replies. */
#include "config.h"

#include "cli/page/page_server.h"

#include <errno.h>

#ifndef HAVE_MICROHTTPD

int esi_page_server_start(const struct esi_page_server_config *config,
                          struct es_error *error,
                          struct esi_page_server **ret_server)
{
    (void)config;
    (void)ret_server;
    return es_error_set(error, -ENOSYS,
                        "this eventspace was built without libmicrohttpd");
}

void esi_page_server_stop(struct esi_page_server *server)
{
    (void)server;
}

const char *esi_page_server_address(const struct esi_page_server *server)
{
    (void)server;
    return "";
}

const char *esi_page_server_token(const struct esi_page_server *server)
{
    (void)server;
    return "";
}

#else

#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/now.h"
#include "cli/page/page_assets.h"
#include "tuplespace/transport/link.h"

enum {
    PLACES = 112,      /* for more connections than these, strangers are dropped */
    CONNECTIONS = 512, /* with those dropped whose threads have not closed them yet */
    STRANGER_S = 10,   /* until a stranger's request is complete */
    IDLE_S = 120,
    MEMORY_BYTES = 128 << 10, /* per connection, including its request */
    LOOK_MS = 25,             /* how often a stream checks for changes */
};
#define SECOND_NS UINT64_C(1000000000)
#define UPDATE_NS UINT64_C(250000000) /* interval between updates */
#define KEEP_NS (UINT64_C(10) * 1000000000)

/* A connection.  Its client is a stranger until a request with the token, or of the own
 * user, is complete. */
struct page_client {
    int descriptor;
    uint64_t begun_ns;
    bool is_used; /* this place in the table */
    bool is_stranger;
    bool is_dropped; /* libmicrohttpd has not closed it yet */
};

struct esi_page_server {
    struct esi_page_server_config config;
    struct esi_listener *listener;
    struct MHD_Daemon *daemon;
    bool is_local; /* a Unix socket */
    char token[ESI_PAGE_TOKEN_BYTES];
    atomic_bool is_ending;
    atomic_bool streams[ESI_PAGE_STREAMS]; /* numbers in use */
    pthread_mutex_t lock;                  /* protects the following */
    struct page_client clients[CONNECTIONS];
};

/* --- Answers ---------------------------------------------------------------------- */

static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
     "img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; "
     "form-action 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"X-Frame-Options", "DENY"},
};

/* Takes the response. */
static enum MHD_Result send_response(struct MHD_Connection *connection,
                                     unsigned status,
                                     const char *type,
                                     const char *caching,
                                     struct MHD_Response *response)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", caching);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Takes the bytes of the reply. */
static enum MHD_Result send_reply(struct MHD_Connection *connection,
                                  struct esi_page_reply *reply)
{
    struct MHD_Response *response;
    char disposition[128];

    if (!reply->bytes)
        return MHD_NO;
    response = MHD_create_response_from_buffer(reply->length, reply->bytes,
                                               MHD_RESPMEM_MUST_FREE);
    if (!response) {
        esi_page_reply_fini(reply);
        return MHD_NO;
    }
    if (reply->file) {
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"",
                 reply->file);
        MHD_add_response_header(response, "Content-Disposition", disposition);
    }
    return send_response(connection, (unsigned)reply->status, reply->type, "no-store",
                         response);
}

static enum MHD_Result send_failure(struct MHD_Connection *connection,
                                    int status,
                                    const char *text)
{
    struct esi_page_reply reply;

    esi_page_reply_fail(&reply, status, "%s", text);
    return send_reply(connection, &reply);
}

static enum MHD_Result send_asset(struct MHD_Connection *connection,
                                  const struct esi_page_asset *asset)
{
    return send_response(
        connection, MHD_HTTP_OK, asset->type, "no-cache",
        MHD_create_response_from_buffer(asset->length, (void *)(uintptr_t)asset->bytes,
                                        MHD_RESPMEM_PERSISTENT));
}

/* --- Access ----------------------------------------------------------------------- */

static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

static bool is_own_user(struct MHD_Connection *connection)
{
    struct ucred peer;
    socklen_t length = sizeof peer;

    return getsockopt(socket_of(connection), SOL_SOCKET, SO_PEERCRED, &peer, &length) ==
               0 &&
           peer.uid == geteuid();
}

/* Whether the name is the loopback, with or without a port: another name was redirected
 * here by a foreign name server. */
static bool is_loopback(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        const char *rest = host + length;

        if (strncasecmp(host, names[i], length) != 0)
            continue;
        if (*rest == '\0' || (*rest == ':' && rest[1] &&
                              strspn(rest + 1, "0123456789") == strlen(rest + 1)))
            return true;
    }
    return false;
}

/* In constant time for tokens of the same length. */
static bool is_token(const char *token, const char *given)
{
    unsigned differs = 0;

    if (!given || strlen(given) != strlen(token))
        return false;
    for (size_t i = 0; token[i]; i++)
        differs |= (unsigned char)token[i] ^ (unsigned char)given[i];
    return differs == 0;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Closes the longest connected stranger if places are scarce, and those whose time is
 * over.  Called with the lock. */
static void drop_strangers(struct esi_page_server *server, uint64_t now_ns)
{
    struct page_client *oldest = NULL;
    size_t count = 0;

    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct page_client *client = &server->clients[i];

        if (!client->is_used || client->is_dropped)
            continue;
        count++;
        if (client->is_stranger && (!oldest || client->begun_ns < oldest->begun_ns))
            oldest = client;
    }
    if (!oldest ||
        (count <= PLACES && now_ns - oldest->begun_ns < STRANGER_S * SECOND_NS))
        return;
    shutdown(oldest->descriptor, SHUT_RDWR);
    oldest->is_dropped = true;
}

static void begin_client(struct esi_page_server *server, int descriptor, void **context)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct page_client *client = &server->clients[i];

        if (client->is_used)
            continue;
        *client = (struct page_client){.descriptor = descriptor,
                                       .begun_ns = now_ns,
                                       .is_used = true,
                                       .is_stranger = true};
        *context = client;
        break;
    }
    drop_strangers(server, now_ns);
}

/* Called by libmicrohttpd before a connection's first request, and before it closes the
 * descriptor. */
static void note_connection(void *data,
                            struct MHD_Connection *connection,
                            void **context,
                            enum MHD_ConnectionNotificationCode code)
{
    struct esi_page_server *server = data;
    struct page_client *client = *context;

    pthread_mutex_lock(&server->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        begin_client(server, socket_of(connection), context);
    else if (client)
        client->is_used = false;
    pthread_mutex_unlock(&server->lock);
}

/* The client is no stranger: its connection may stay idle for longer. */
static void trust_client(struct esi_page_server *server,
                         struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct page_client *client = info ? info->socket_context : NULL;

    if (!client)
        return;
    pthread_mutex_lock(&server->lock);
    client->is_stranger = false;
    pthread_mutex_unlock(&server->lock);
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)IDLE_S);
}

/* Browsers send the token in a custom header, other programs in the standard one. */
static bool has_token(const struct esi_page_server *server,
                      struct MHD_Connection *connection)
{
    static const char bearer[] = "Bearer ";
    const char *given = header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION);

    if (!given || strncasecmp(given, bearer, strlen(bearer)) != 0)
        return is_token(server->token, header_of(connection, "X-EventSpace-Token"));
    return is_token(server->token, given + strlen(bearer));
}

/* --- Streams ---------------------------------------------------------------------- */

struct page_stream {
    struct esi_page_server *server;
    int descriptor; /* of the connection */
    struct esi_page_update update;
    uint64_t sent_ns;
    uint64_t told_ns; /* time of the last update */
    uint64_t events;  /* number of events in the last update */
    char *text;       /* remaining output; owned */
    size_t length;
    size_t sent;
};

/* -1 if all are in use. */
static int take_stream(struct esi_page_server *server)
{
    for (int i = 0; i < ESI_PAGE_STREAMS; i++)
        if (!atomic_exchange(&server->streams[i], true))
            return i;
    return -1;
}

static void end_stream(void *data)
{
    struct page_stream *stream = data;

    atomic_store(&stream->server->streams[stream->update.stream], false);
    free(stream->text);
    free(stream);
}

/* Whether the client has disconnected or the server ends; waits a moment for that. */
static bool has_left(const struct page_stream *stream)
{
    struct pollfd peer = {.fd = stream->descriptor, .events = POLLRDHUP};

    if (atomic_load(&stream->server->is_ending))
        return true;
    return poll(&peer, 1, LOOK_MS) > 0 || atomic_load(&stream->server->is_ending);
}

/* Changes are sent at once if there was no update for a while; progress of time,
 * occasionally. */
static bool is_due(struct page_stream *stream, uint64_t now_ns)
{
    struct esi_diagram *diagram =
        esi_page_feed_diagram(stream->server->config.model.feed);
    struct esi_diagram_extent extent;

    esi_diagram_extent(diagram, &extent);
    if (extent.events == stream->events)
        return now_ns - stream->sent_ns >= UPDATE_NS;
    if (now_ns - stream->told_ns < UPDATE_NS)
        return false;
    stream->told_ns = now_ns;
    stream->events = extent.events;
    return true;
}

/* Waits for an update.  Returns false if the stream is over. */
static bool fill_stream(struct page_stream *stream)
{
    free(stream->text);
    stream->text = NULL;
    stream->sent = 0;
    while (!has_left(stream)) {
        uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
        char *object;
        int result, length;

        if (!is_due(stream, now_ns))
            continue;
        result = esi_page_reply_update(&stream->server->config.model, &stream->update,
                                       &object);
        if (result < 0)
            return false;
        if (result == 0 && now_ns - stream->sent_ns < KEEP_NS)
            continue;
        length = result == 0 ? asprintf(&stream->text, ": keep\n\n")
                             : asprintf(&stream->text, "data: %s\n", object);
        if (result > 0)
            free(object);
        stream->sent_ns = now_ns;
        stream->length = length < 0 ? 0 : (size_t)length;
        return length >= 0;
    }
    return false;
}

static ssize_t read_stream(void *data, uint64_t position, char *out, size_t room)
{
    struct page_stream *stream = data;
    size_t part;

    (void)position;
    if (stream->sent == stream->length && !fill_stream(stream))
        return MHD_CONTENT_READER_END_OF_STREAM;
    part = stream->length - stream->sent;
    if (part > room)
        part = room;
    memcpy(out, stream->text + stream->sent, part);
    stream->sent += part;
    return (ssize_t)part;
}

static enum MHD_Result send_stream(struct esi_page_server *server,
                                   struct MHD_Connection *connection)
{
    int number = take_stream(server);
    struct page_stream *stream = number < 0 ? NULL : calloc(1, sizeof *stream);
    struct MHD_Response *response;

    if (!stream) {
        if (number >= 0)
            atomic_store(&server->streams[number], false);
        return send_failure(connection, MHD_HTTP_TOO_MANY_REQUESTS,
                            "too many pages follow this run; close one of them");
    }
    stream->server = server;
    stream->descriptor = socket_of(connection);
    stream->update.stream = (size_t)number;
    stream->update.changes = UINT64_MAX; /* the first update is complete */
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream,
                                                 stream, end_stream);
    if (!response) {
        end_stream(stream);
        return MHD_NO;
    }
    return send_response(connection, MHD_HTTP_OK, "text/event-stream", "no-store",
                         response);
}

/* --- Requests --------------------------------------------------------------------- */

struct parameter_reading {
    struct esi_page_query *query;
    struct es_error *error;
};

static enum MHD_Result take_parameter(void *data,
                                      enum MHD_ValueKind kind,
                                      const char *key,
                                      size_t key_length,
                                      const char *value,
                                      size_t value_length)
{
    struct parameter_reading *reading = data;

    (void)kind;
    if (!value || strlen(key) != key_length || strlen(value) != value_length) {
        es_error_set(reading->error, -EINVAL, "%.64s: expected a text", key);
        return MHD_NO;
    }
    return esi_page_query_set(reading->query, key, value, reading->error) < 0 ? MHD_NO
                                                                              : MHD_YES;
}

static enum MHD_Result answer_query(struct esi_page_server *server,
                                    struct MHD_Connection *connection,
                                    struct esi_page_query *query,
                                    const char *path)
{
    struct es_error error = {.text = ""};
    struct parameter_reading reading = {query, &error};
    struct esi_page_reply reply;

    if (esi_page_query_begin(query, path) < 0)
        return send_failure(connection, MHD_HTTP_NOT_FOUND, "nothing has that name");
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, take_parameter,
                                &reading);
    if (error.text[0] || esi_page_query_check(query, &error) < 0)
        return send_failure(connection, MHD_HTTP_BAD_REQUEST, error.text);
    if (query->route == ESI_PAGE_STREAM)
        return send_stream(server, connection);
    esi_page_reply_make(&server->config.model, query, &reply);
    return send_reply(connection, &reply);
}

static enum MHD_Result answer_path(struct esi_page_server *server,
                                   struct MHD_Connection *connection,
                                   const char *path)
{
    struct esi_page_query *query;
    enum MHD_Result result;

    for (const struct esi_page_asset *asset = esi_page_assets; asset->path; asset++)
        if (strcmp(asset->path, path) == 0)
            return send_asset(connection, asset);
    if (server->token[0] && !has_token(server, connection))
        return send_failure(connection, MHD_HTTP_UNAUTHORIZED,
                            "the token is missing or wrong: open the URL that "
                            "'eventspace view' has printed");
    trust_client(server, connection);
    query = calloc(1, sizeof *query);
    if (!query)
        return MHD_NO;
    result = answer_query(server, connection, query, path);
    free(query);
    return result;
}

static enum MHD_Result answer_request(void *data,
                                      struct MHD_Connection *connection,
                                      const char *url,
                                      const char *method,
                                      const char *version,
                                      const char *upload,
                                      size_t *upload_bytes,
                                      void **request)
{
    static char has_begun;
    struct esi_page_server *server = data;

    (void)version;
    (void)upload;
    (void)upload_bytes;
    /* libmicrohttpd closes a connection that is answered before the request's end. */
    if (!*request) {
        *request = &has_begun;
        return MHD_YES;
    }
    if (server->is_local && !is_own_user(connection))
        return send_failure(connection, MHD_HTTP_FORBIDDEN,
                            "this page belongs to another user");
    if (!is_loopback(header_of(connection, MHD_HTTP_HEADER_HOST)))
        return send_failure(connection, MHD_HTTP_FORBIDDEN,
                            "expected localhost as the host");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        return send_failure(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                            "the page is read only: expected GET");
    return answer_path(server, connection, url);
}

/* --- Starting and stopping -------------------------------------------------------- */

static int make_token(char out[ESI_PAGE_TOKEN_BYTES])
{
    unsigned char bytes[(ESI_PAGE_TOKEN_BYTES - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return -EIO;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* The daemon closes its listening descriptor; the listener keeps its own. */
static int start_daemon(struct esi_page_server *server, struct es_error *error)
{
    int descriptor = dup(esi_listener_descriptor(server->listener));

    if (descriptor < 0)
        return es_error_set(error, -errno, "%s", strerror(errno));
    server->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL,
        0, NULL, NULL, answer_request, server, MHD_OPTION_LISTEN_SOCKET, descriptor,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)STRANGER_S,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES, MHD_OPTION_END);
    if (server->daemon)
        return 0;
    close(descriptor);
    return es_error_set(error, -EIO, "libmicrohttpd does not start");
}

int esi_page_server_start(const struct esi_page_server_config *config,
                          struct es_error *error,
                          struct esi_page_server **ret_server)
{
    struct esi_page_server *server = calloc(1, sizeof *server);
    int result;

    if (!server)
        return -ENOMEM;
    server->config = *config;
    pthread_mutex_init(&server->lock, NULL);
    server->is_local = strncmp(config->address, "unix:", 5) == 0;
    result = config->has_token ? make_token(server->token) : 0;
    if (result == 0)
        result = esi_listener_open(config->address, error, &server->listener);
    if (result == 0)
        result = start_daemon(server, error);
    if (result < 0)
        esi_page_server_stop(server);
    else
        *ret_server = server;
    return result;
}

void esi_page_server_stop(struct esi_page_server *server)
{
    if (!server)
        return;
    atomic_store(&server->is_ending, true);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    esi_listener_close(server->listener);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

const char *esi_page_server_address(const struct esi_page_server *server)
{
    return esi_listener_address(server->listener);
}

const char *esi_page_server_token(const struct esi_page_server *server)
{
    return server->token;
}

#endif
