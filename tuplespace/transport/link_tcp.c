/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * TCP: connecting, listening, options.
 *
 * Requests and replies are small and awaited, so nothing is delayed (TCP_NODELAY).  A
 * vanished peer is detected by keepalive probes, or by unacknowledged data.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tuplespace/transport/link_private.h"

#define BACKLOG 128
#define HOST_BYTES 100

enum {
    PROBE_AFTER_S = 20, /* of silence */
    PROBE_EVERY_S = 5,
    PROBES = 4,
    UNCONFIRMED_MS = 40000,
};

static int link_tcp_fail(struct es_error *error,
                         const struct esi_address *address,
                         int code,
                         const char *reason)
{
    char text[ES_ADDRESS_BYTES];

    return es_error_set_at(error, code, esi_address_format(address, text), 0, 0, "%s",
                           reason);
}

static int fail_with(struct es_error *error,
                     const struct esi_address *address,
                     int code)
{
    return link_tcp_fail(error, address, code,
                         code == -ETIMEDOUT ? "no connection within the limit"
                                            : strerror(-code));
}

/* The caller frees *ret_list with freeaddrinfo(). */
static int look_up(const struct esi_address *address,
                   bool to_listen,
                   struct es_error *error,
                   struct addrinfo **ret_list)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    bool all = address->place[0] == '\0' || strcmp(address->place, "*") == 0;
    char port[8];
    int rc;

    if (all && !to_listen)
        return link_tcp_fail(error, address, -EINVAL, "expected a host to connect to");
    if (to_listen)
        hints.ai_flags |= AI_PASSIVE;
    snprintf(port, sizeof port, "%u", address->port);
    rc = getaddrinfo(all ? NULL : address->place, port, &hints, ret_list);
    if (rc == 0)
        return 0;
    return link_tcp_fail(error, address, rc == EAI_MEMORY ? -ENOMEM : -EHOSTUNREACH,
                         rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
}

/* --- Connecting ------------------------------------------------------------------ */

static int finish_connect(int descriptor, uint64_t deadline_ns)
{
    int code = 0;
    socklen_t length = sizeof code;
    int rc = esi_socket_wait(descriptor, POLLOUT, deadline_ns);

    if (rc != 0)
        return rc;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) != 0)
        return -errno;
    return -code;
}

static int connect_one(const struct addrinfo *info,
                       uint64_t deadline_ns,
                       int *ret_descriptor)
{
    int descriptor =
        socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = 0;

    if (descriptor < 0)
        return -errno;
    if (connect(descriptor, info->ai_addr, info->ai_addrlen) != 0)
        rc = errno == EINPROGRESS || errno == EINTR
                 ? finish_connect(descriptor, deadline_ns)
                 : -errno;
    /* From here on reads may block: see link.c. */
    if (rc == 0 && fcntl(descriptor, F_SETFL, 0) != 0)
        rc = -errno;
    if (rc != 0) {
        close(descriptor);
        return rc;
    }
    *ret_descriptor = descriptor;
    return 0;
}

/* Each address gets its share of the time, so that a silent one leaves some for the
 * next. */
static uint64_t link_tcp_share(const struct addrinfo *list, uint64_t deadline_ns)
{
    uint64_t count = 0;

    for (; list; list = list->ai_next)
        count++;
    return esi_link_deadline(esi_link_remaining(deadline_ns) / count);
}

int esi_tcp_connect(const struct esi_address *address,
                    uint64_t deadline_ns,
                    struct es_error *error,
                    int *ret_descriptor)
{
    struct addrinfo *list = NULL;
    int rc = look_up(address, false, error, &list);
    bool connected = false;

    if (rc != 0)
        return rc;
    for (const struct addrinfo *info = list; info && !connected; info = info->ai_next) {
        rc = connect_one(info, link_tcp_share(info, deadline_ns), ret_descriptor);
        connected = rc == 0;
    }
    freeaddrinfo(list);
    return connected ? 0 : fail_with(error, address, rc);
}

/* --- Listening ------------------------------------------------------------------- */

static int listen_one(const struct addrinfo *info, int *ret_descriptor)
{
    int descriptor =
        socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1, off = 0;

    if (descriptor < 0)
        return -errno;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (info->ai_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(descriptor, info->ai_addr, info->ai_addrlen) != 0 ||
        listen(descriptor, BACKLOG) != 0) {
        int code = -errno;

        close(descriptor);
        return code;
    }
    *ret_descriptor = descriptor;
    return 0;
}

static uint16_t port_of(int descriptor)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof address;

    getsockname(descriptor, (struct sockaddr *)&address, &length);
    if (address.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((const struct sockaddr_in *)&address)->sin_port);
}

int esi_tcp_listen(struct esi_address *address,
                   struct es_error *error,
                   int *ret_descriptor)
{
    static const int families[] = {AF_INET6, AF_INET};
    struct addrinfo *list = NULL;
    int rc = look_up(address, true, error, &list);
    bool listening = false;

    if (rc != 0)
        return rc;
    /* IPv6 first: a socket for all addresses then accepts IPv4, too. */
    for (size_t i = 0; i < 2 && !listening; i++)
        for (struct addrinfo *info = list; info && !listening; info = info->ai_next)
            if (info->ai_family == families[i]) {
                rc = listen_one(info, ret_descriptor);
                listening = rc == 0;
            }
    freeaddrinfo(list);
    if (!listening)
        return fail_with(error, address, rc);
    address->port = port_of(*ret_descriptor);
    return 0;
}

/* --- Options --------------------------------------------------------------------- */

static void name_peer(int descriptor, char *ret_name, size_t size)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[HOST_BYTES], port[8];
    const char *shown = host;

    if (getpeername(descriptor, (struct sockaddr *)&address, &length) != 0 ||
        getnameinfo((const struct sockaddr *)&address, length, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(ret_name, size, "unknown");
        return;
    }
    if (strncmp(host, "::ffff:", 7) == 0 && strchr(host, '.'))
        shown += 7;
    if (strchr(shown, ':'))
        snprintf(ret_name, size, "[%s]:%s", shown, port);
    else
        snprintf(ret_name, size, "%s:%s", shown, port);
}

int esi_tcp_prepare(int descriptor, char *ret_name, size_t size)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, PROBE_AFTER_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, PROBE_EVERY_S},
        {IPPROTO_TCP, TCP_KEEPCNT, PROBES},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, UNCONFIRMED_MS},
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (setsockopt(descriptor, options[i].level, options[i].name, &options[i].value,
                       sizeof options[i].value) != 0)
            return -errno;
    name_peer(descriptor, ret_name, size);
    return 0;
}

const struct esi_link_ops esi_link_tcp_ops = {
    .needs_key = true,
    .needs_proof = true,
    .connect = esi_tcp_connect,
    .listen = esi_tcp_listen,
    .prepare = esi_tcp_prepare,
    .receive = esi_socket_receive,
    .send = esi_socket_send,
};
