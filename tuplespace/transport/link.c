/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Frames over a link of any kind.
 *
 * Received data goes into one buffer, as much as is available at once; frames are
 * returned in place.  The buffer grows to the size of the longest frame and stays, so a
 * frame needs no allocation.
 */
#include "config.h"

#include "tuplespace/transport/link.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "tuplespace/transport/link_private.h"

#define FIRST_BUFFER_BYTES 16384
#define GROWTH_BYTES 16384
#define MOST_PARTS 8
/* Alignment of payloads. */
#define ALIGNMENT 8

_Static_assert(ES_FRAME_HEADER_BYTES % ALIGNMENT == 0,
               "a frame that is aligned has its payload aligned");

const struct esi_link_ops *esi_link_ops_of(enum esi_address_kind kind)
{
    static const struct esi_link_ops *const ops[] = {
        [ES_ADDRESS_UNIX] = &esi_link_unix_ops,
        [ES_ADDRESS_TCP] = &esi_link_tcp_ops,
        [ES_ADDRESS_TLS] = &esi_link_tls_ops,
    };

    return ops[kind];
}

int esi_link_make(const struct esi_link_ops *ops,
                  int descriptor,
                  struct es_link **ret_link)
{
    struct es_link *link = calloc(1, sizeof *link);
    int rc = -ENOMEM;

    if (!link)
        goto close_descriptor;
    link->buffer = malloc(FIRST_BUFFER_BYTES);
    if (!link->buffer)
        goto free_link;
    link->size = FIRST_BUFFER_BYTES;
    link->ops = ops;
    link->descriptor = descriptor;
    link->most = ESI_STRANGER_BYTES;
    rc = ops->prepare(descriptor, link->peer_address, sizeof link->peer_address);
    if (rc != 0)
        goto free_buffer;
    *ret_link = link;
    return 0;

free_buffer:
    free(link->buffer);
free_link:
    free(link);
close_descriptor:
    close(descriptor);
    return rc;
}

void esi_link_close(struct es_link *link)
{
    int saved = errno;

    if (!link)
        return;
    if (link->ops->close)
        link->ops->close(link);
    close(link->descriptor);
    free(link->buffer);
    free(link);
    errno = saved;
}

void esi_link_shut(struct es_link *link)
{
    /* The flag first: a thread that is woken up must see it. */
    atomic_store_explicit(&link->shut, true, memory_order_release);
    shutdown(link->descriptor, SHUT_RDWR);
}

int esi_link_descriptor(const struct es_link *link)
{
    return link->descriptor;
}

const struct esi_greeting *esi_link_peer(const struct es_link *link)
{
    return &link->peer;
}

bool esi_link_is_read_only(const struct es_link *link)
{
    return link->read_only;
}

const char *esi_link_peer_address(const struct es_link *link)
{
    return link->peer_address;
}

void esi_link_traffic(const struct es_link *link, struct esi_link_traffic *ret_traffic)
{
    *ret_traffic = link->traffic;
}

void esi_link_begin(struct es_link *link, uint64_t timeout_ns)
{
    link->timeout_ns = timeout_ns;
    link->deadline_ns = timeout_ns == 0 ? 0 : esi_link_deadline(timeout_ns);
    link->patient = timeout_ns != 0;
}

/* --- Sending ------------------------------------------------------------------ */

int esi_link_send(struct es_link *link,
                  uint16_t type,
                  uint64_t id,
                  const struct iovec *parts,
                  int count,
                  uint64_t timeout_ns)
{
    unsigned char header[ES_FRAME_HEADER_BYTES];
    struct iovec all[MOST_PARTS + 1] = {{header, sizeof header}};
    size_t length = 0;
    int rc;

    assert(count >= 0 && count <= MOST_PARTS);
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len > ES_FRAME_MAX_BYTES - length)
            return -EMSGSIZE;
        length += parts[i].iov_len;
        all[i + 1] = parts[i];
    }
    esi_frame_encode_header(
        &(struct esi_frame){.type = type, .id = id, .length = (uint32_t)length},
        header);
    if (atomic_load_explicit(&link->shut, memory_order_relaxed))
        return -EPIPE;
    esi_link_begin(link, timeout_ns);
    rc = link->ops->send(link, all, count + 1);
    if (rc != 0)
        return rc;
    link->traffic.sent_frames++;
    link->traffic.sent_bytes += sizeof header + length;
    return 0;
}

/* --- Receiving ---------------------------------------------------------------- */

/* Discards the frame that was returned last. */
static void link_consume(struct es_link *link)
{
    link->begin += link->given;
    link->given = 0;
    if (link->begin == link->end) {
        link->begin = 0;
        link->end = 0;
    }
}

/* Returns 1 if the first frame is complete, with its header in `frame`; 0 if
 * `ret_wanted` bytes must be available after `begin`. */
static int link_look(struct es_link *link,
                     struct es_error *error,
                     struct esi_frame *frame,
                     size_t *ret_wanted)
{
    size_t there = link->end - link->begin;
    int rc;

    *ret_wanted = ES_FRAME_HEADER_BYTES;
    if (there < ES_FRAME_HEADER_BYTES)
        return 0;
    rc = esi_frame_decode_header(link->buffer + link->begin, error, frame);
    if (rc != 0)
        return rc;
    if (frame->length > link->most)
        return es_error_set(error, -EPROTO, "a frame of %u bytes before the hello",
                            frame->length);
    *ret_wanted += frame->length;
    return there >= *ret_wanted;
}

/* Makes room for `wanted` bytes after `begin`. */
static int make_room(struct es_link *link, size_t wanted)
{
    unsigned char *grown;

    if (link->begin + wanted <= link->size)
        return 0;
    if (wanted > link->size) {
        wanted = (wanted + GROWTH_BYTES - 1) / GROWTH_BYTES * GROWTH_BYTES;
        grown = malloc(wanted);
        if (!grown)
            return -ENOMEM;
        memcpy(grown, link->buffer + link->begin, link->end - link->begin);
        free(link->buffer);
        link->buffer = grown;
        link->size = wanted;
    } else {
        memmove(link->buffer, link->buffer + link->begin, link->end - link->begin);
    }
    link->end -= link->begin;
    link->begin = 0;
    return 0;
}

/* Returns the first frame.  After a frame of odd length it is moved down a little, over
 * consumed bytes. */
static void link_give(struct es_link *link, struct esi_frame *frame)
{
    size_t bytes = ES_FRAME_HEADER_BYTES + (size_t)frame->length;
    unsigned char *start = link->buffer + link->begin;
    size_t odd = link->begin % ALIGNMENT;

    if (odd != 0)
        memmove(start - odd, start, bytes);
    frame->payload = start - odd + ES_FRAME_HEADER_BYTES;
    link->given = bytes;
    link->traffic.received_frames++;
    link->traffic.received_bytes += bytes;
}

static int link_fail(const struct es_link *link, int code, struct es_error *error)
{
    if (code == -EPIPE)
        return es_error_set_at(error, code, link->peer_address, 0, 0,
                               "the connection was closed");
    if (code == -ETIMEDOUT)
        return code;
    return es_error_set_at(error, code, link->peer_address, 0, 0, "%s",
                           strerror(-code));
}

int esi_link_receive(struct es_link *link,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct esi_frame *ret_frame)
{
    struct esi_frame frame;
    size_t wanted;
    int rc;

    link_consume(link);
    if (atomic_load_explicit(&link->shut, memory_order_relaxed))
        return link_fail(link, -EPIPE, error);
    esi_link_begin(link, timeout_ns);
    while ((rc = link_look(link, error, &frame, &wanted)) == 0) {
        ssize_t got;

        rc = make_room(link, wanted);
        if (rc != 0)
            return link_fail(link, rc, error);
        got =
            link->ops->receive(link, link->buffer + link->end, link->size - link->end);
        if (got < 0)
            return link_fail(link, (int)got, error);
        link->end += (size_t)got;
    }
    if (rc < 0)
        return rc;
    link_give(link, &frame);
    *ret_frame = frame;
    return 0;
}

/* --- Bytes over a plain socket ---------------------------------------------------- */

/*
 * A request and its reply should cost two system calls on each side.  The first wait of
 * a call is therefore a blocking recv(2) under the socket's SO_RCVTIMEO; further waits
 * use poll(2) and the rest of the time limit.  A caller with a deadline has a different
 * limit each time: SO_RCVTIMEO is set to less, and kept while it is not longer than the
 * limit and not much shorter.  Sending tries first, and polls only if the socket is
 * full.
 */
#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
/* Longer waits are divided. */
#define LONGEST_WAIT_NS (UINT64_C(3600) * NS_PER_S)

uint64_t esi_link_deadline(uint64_t timeout_ns)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

uint64_t esi_link_remaining(uint64_t deadline_ns)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

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

/* Why the socket cannot be used any more.  The kernel reports ETIMEDOUT for a peer that
 * does not respond any more. */
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
    /* Rounded up, because 0 means no limit. */
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
