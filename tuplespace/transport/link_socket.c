/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Bytes over a plain socket, with limits.
 *
 * A request and its reply are to cost two system calls on each side.  So the first wait
 * of a call is a blocking recv(2) under the socket's SO_RCVTIMEO; further waits use
 * poll(2) and what is left of the limit.  Who waits until a deadline has another limit
 * each time: SO_RCVTIMEO is set to less, and serves as long as it is no longer than the
 * limit and not much shorter.
 * Sending tries first and polls only where the socket is full.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "tuplespace/transport/link_private.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
/* Longer waits than this are cut into several. */
#define LONGEST_WAIT_NS (UINT64_C(3600) * NS_PER_S)

uint64_t esi_link_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t esi_link_deadline(uint64_t timeout_ns)
{
    uint64_t now = esi_link_now_ns();

    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

uint64_t esi_link_remaining(uint64_t deadline_ns)
{
    uint64_t now = esi_link_now_ns();

    return deadline_ns > now ? deadline_ns - now : 0;
}

int esi_socket_wait(int descriptor, short events, uint64_t deadline_ns)
{
    struct pollfd pollfd = {.fd = descriptor, .events = events};

    for (;;) {
        uint64_t left = esi_link_remaining(deadline_ns);
        int ready;

        if (left == 0)
            return -ETIMEDOUT;
        if (left > LONGEST_WAIT_NS)
            left = LONGEST_WAIT_NS;
        ready = poll(&pollfd, 1, (int)((left + NS_PER_MS - 1) / NS_PER_MS));
        if (ready > 0)
            return 0;
        if (ready < 0 && errno != EINTR)
            return -errno;
    }
}

/* Why the socket is of no more use.  ETIMEDOUT is the kernel's word for a peer that
 * does not answer any more. */
static int link_socket_lost(int code)
{
    return code == ENOMEM || code == ENOBUFS ? -code : -EPIPE;
}

static int limit_recv(struct es_link *link)
{
    uint64_t limit =
        link->timeout_ns < LONGEST_WAIT_NS ? link->timeout_ns : LONGEST_WAIT_NS;
    struct timeval span;

    if (link->socket_timeout_ns <= limit && link->socket_timeout_ns > limit / 2)
        return 0;
    limit -= limit / 4;
    span.tv_sec = (time_t)(limit / NS_PER_S);
    /* Rounded up: 0 would be no limit. */
    span.tv_usec = (suseconds_t)((limit % NS_PER_S + 999) / 1000);
    if (span.tv_usec == 1000000) {
        span.tv_sec++;
        span.tv_usec = 0;
    }
    if (setsockopt(link->descriptor, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span) != 0)
        return -errno;
    link->socket_timeout_ns = limit;
    return 0;
}

ssize_t esi_socket_receive(struct es_link *link, void *memory, size_t size)
{
    int flags = MSG_DONTWAIT;

    if (link->patient) {
        int rc = limit_recv(link);

        if (rc != 0)
            return rc;
        link->patient = false;
        flags = 0;
    }
    for (;;) {
        ssize_t got = recv(link->descriptor, memory, size, flags);
        int rc = 0;

        if (atomic_load_explicit(&link->shut, memory_order_relaxed) || got == 0)
            return -EPIPE;
        if (got > 0)
            return got;
        flags = MSG_DONTWAIT;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            rc = link->timeout_ns == 0
                     ? -ETIMEDOUT
                     : esi_socket_wait(link->descriptor, POLLIN, link->deadline_ns);
        else if (errno != EINTR)
            rc = link_socket_lost(errno);
        if (rc != 0)
            return rc;
    }
}

void esi_parts_advance(struct iovec **parts, int *count, size_t bytes)
{
    while (*count > 0 && bytes >= (*parts)->iov_len) {
        bytes -= (*parts)->iov_len;
        (*parts)++;
        (*count)--;
    }
    if (*count > 0) {
        (*parts)->iov_base = (char *)(*parts)->iov_base + bytes;
        (*parts)->iov_len -= bytes;
    }
}

int esi_socket_send(struct es_link *link, struct iovec *parts, int count)
{
    while (count > 0) {
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
        ssize_t sent = sendmsg(link->descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        int rc = 0;

        if (sent >= 0)
            esi_parts_advance(&parts, &count, (size_t)sent);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            rc = esi_socket_wait(link->descriptor, POLLOUT, link->deadline_ns);
        else if (errno != EINTR)
            rc = link_socket_lost(errno);
        if (rc != 0)
            return rc;
    }
    return 0;
}
