/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Greets connections without blocking on any of them. */
#include "config.h"

#include "tuplespace/transport/acceptor_pending.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/now.h"
#include "tuplespace/transport/link_private.h"

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)
#define GREETING_NS (5 * SECOND_NS)
/* Time limit if half of the places are taken. */
#define PRESSED_NS SECOND_NS

enum { ORIGIN_BYTES = 8 };

/* The origin of a peer: an IPv4 address, or the network of an IPv6 address. */
struct acceptor_pending_origin {
    bool is_network; /* false for this host */
    unsigned char bytes[ORIGIN_BYTES];
};

struct newcomer {
    struct es_link *link; /* owned, like the next */
    struct esi_handshake *handshake;
    struct acceptor_pending_origin origin;
    uint64_t came_ns;
    uint64_t refused_ns; /* 0 if not refused; then it lingers */
    bool has_spoken;
};

struct esi_pending {
    struct esi_pending_config config;
    struct newcomer newcomers[ESI_PENDING_MAX]; /* oldest first */
    size_t count;
};

int esi_pending_create(const struct esi_pending_config *config,
                       struct esi_pending **ret_pending)
{
    struct esi_pending *pending = calloc(1, sizeof *pending);

    if (!pending)
        return -ENOMEM;
    pending->config = *config;
    *ret_pending = pending;
    return 0;
}

/* Removes a newcomer, and closes its link unless `keeps_link`. */
static void remove_at(struct esi_pending *pending, size_t index, bool keeps_link)
{
    struct newcomer *newcomer = &pending->newcomers[index];

    esi_handshake_destroy(newcomer->handshake);
    if (!keeps_link)
        esi_link_close(newcomer->link);
    pending->count--;
    memmove(newcomer, newcomer + 1, (pending->count - index) * sizeof *newcomer);
}

void esi_pending_destroy(struct esi_pending *pending)
{
    if (!pending)
        return;
    while (pending->count > 0)
        remove_at(pending, pending->count - 1, false);
    free(pending);
}

/* --- Places ---- */

static struct acceptor_pending_origin origin_of(const struct es_link *link)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof address;
    struct acceptor_pending_origin origin = {.is_network = true};

    getpeername(esi_link_descriptor(link), (struct sockaddr *)&address, &length);
    if (address.ss_family == AF_INET) {
        memcpy(origin.bytes, &((const struct sockaddr_in *)&address)->sin_addr, 4);
    } else if (address.ss_family == AF_INET6) {
        const void *bytes = &((const struct sockaddr_in6 *)&address)->sin6_addr;
        bool is_mapped = memcmp(bytes, mapped, sizeof mapped) == 0;
        memcpy(origin.bytes, (const char *)bytes + (is_mapped ? 12 : 0),
               is_mapped ? 4 : ORIGIN_BYTES);
    } else {
        origin.is_network = false;
    }
    return origin;
}

static bool is_same_origin(const struct acceptor_pending_origin *a,
                           const struct acceptor_pending_origin *b)
{
    return a->is_network == b->is_network && memcmp(a->bytes, b->bytes, 8) == 0;
}

/* Number of newcomers from there; NULL for all. */
static size_t count_from(const struct esi_pending *pending,
                         const struct acceptor_pending_origin *origin)
{
    size_t count = 0;

    for (size_t i = 0; i < pending->count; i++)
        count += !origin || is_same_origin(&pending->newcomers[i].origin, origin);
    return count;
}

/* The lower the rank, the sooner it is dropped. */
static int rank_of(const struct newcomer *newcomer)
{
    if (newcomer->refused_ns != 0)
        return 0;
    return newcomer->has_spoken ? 2 : 1;
}

/* The newcomer from `origin` (NULL for any) to be dropped. */
static size_t find_victim(const struct esi_pending *pending,
                          const struct acceptor_pending_origin *origin)
{
    size_t victim = pending->count;

    for (size_t i = 0; i < pending->count; i++) {
        const struct newcomer *newcomer = &pending->newcomers[i];

        if (origin && !is_same_origin(&newcomer->origin, origin))
            continue;
        if (victim == pending->count ||
            rank_of(newcomer) < rank_of(&pending->newcomers[victim]))
            victim = i;
    }
    return victim;
}

static void acceptor_pending_drop(struct esi_pending *pending,
                                  const struct acceptor_pending_origin *origin,
                                  const char *reason)
{
    size_t victim = find_victim(pending, origin);

    if (victim == pending->count)
        return;
    if (pending->newcomers[victim].refused_ns == 0)
        pending->config.refused(pending->config.data, pending->newcomers[victim].link,
                                reason);
    remove_at(pending, victim, false);
}

void esi_pending_drop(struct esi_pending *pending)
{
    acceptor_pending_drop(pending, NULL,
                          "dropped without a hello: the server lacks descriptors");
}

static void make_room(struct esi_pending *pending,
                      const struct acceptor_pending_origin *origin)
{
    if (origin->is_network && count_from(pending, origin) >= ESI_PENDING_ADDRESS_MAX)
        acceptor_pending_drop(
            pending, origin,
            "dropped without a hello: its address has too many such connections");
    else if (pending->count == ESI_PENDING_MAX)
        acceptor_pending_drop(pending, NULL,
                              "dropped without a hello: there are too many such");
}

void esi_pending_add(struct esi_pending *pending, struct es_link *link)
{
    const struct esi_pending_config *config = &pending->config;
    struct newcomer newcomer = {.link = link,
                                .origin = origin_of(link),
                                .came_ns = esi_now_ns(CLOCK_MONOTONIC)};

    int code =
        esi_handshake_create(link, config->greeting, config->key, &newcomer.handshake);
    if (code < 0) {
        config->refused(config->data, link, strerror(-code));
        esi_link_close(link);
        return;
    }
    make_room(pending, &newcomer.origin);
    pending->newcomers[pending->count++] = newcomer;
}

/* --- Time ---- */

/* When its time is up. */
static uint64_t deadline_of(const struct esi_pending *pending,
                            const struct newcomer *newcomer)
{
    const struct acceptor_pending_origin *origin = &newcomer->origin;

    if (newcomer->refused_ns != 0)
        return newcomer->refused_ns + ESI_LINGER_NS;
    bool is_pressed = pending->count > ESI_PENDING_MAX / 2 ||
                      (origin->is_network &&
                       count_from(pending, origin) > ESI_PENDING_ADDRESS_MAX / 2);
    return newcomer->came_ns + (is_pressed ? PRESSED_NS : GREETING_NS);
}

int esi_pending_timeout_ms(const struct esi_pending *pending)
{
    uint64_t next_ns = UINT64_MAX;

    for (size_t i = 0; i < pending->count; i++) {
        uint64_t deadline_ns = deadline_of(pending, &pending->newcomers[i]);
        if (deadline_ns < next_ns)
            next_ns = deadline_ns;
    }
    if (pending->count == 0)
        return -1;
    return (int)(esi_link_remaining(next_ns) / MS_NS) + 1;
}

size_t esi_pending_count(const struct esi_pending *pending)
{
    return pending->count;
}

size_t esi_pending_poll(const struct esi_pending *pending, struct pollfd *out)
{
    for (size_t i = 0; i < pending->count; i++)
        out[i] = (struct pollfd){.fd = esi_link_descriptor(pending->newcomers[i].link),
                                 .events = POLLIN};
    return pending->count;
}

/* --- Steps ---- */

/* Returns whether the newcomer stays; removes it otherwise. */
static bool acceptor_pending_refuse(struct esi_pending *pending,
                                    size_t index,
                                    int code,
                                    const struct es_error *error)
{
    struct newcomer *newcomer = &pending->newcomers[index];

    pending->config.refused(pending->config.data, newcomer->link,
                            error->text[0] ? error->text : strerror(-code));
    newcomer->refused_ns = esi_now_ns(CLOCK_MONOTONIC);
    if (esi_link_drain(newcomer->link))
        return true;
    remove_at(pending, index, false);
    return false;
}

static bool read_more(struct esi_pending *pending, size_t index)
{
    struct newcomer *newcomer = &pending->newcomers[index];
    struct es_error error = {.text = ""};

    if (newcomer->refused_ns != 0) {
        bool stays = esi_link_drain(newcomer->link);
        if (!stays)
            remove_at(pending, index, false);
        return stays;
    }
    newcomer->has_spoken = true;
    int code = esi_handshake_step(newcomer->handshake, &error);
    if (code == -EAGAIN)
        return true;
    if (code < 0)
        return acceptor_pending_refuse(pending, index, code, &error);
    struct es_link *link = newcomer->link;
    remove_at(pending, index, true);
    pending->config.greeted(pending->config.data, link);
    return false;
}

static void acceptor_pending_expire(struct esi_pending *pending, size_t index)
{
    struct newcomer *newcomer = &pending->newcomers[index];
    struct es_error error = {.text = ""};

    if (newcomer->refused_ns != 0) {
        remove_at(pending, index, false);
        return;
    }
    int code = esi_handshake_expire(newcomer->handshake, &error);
    acceptor_pending_refuse(pending, index, code, &error);
}

void esi_pending_advance(struct esi_pending *pending, const struct pollfd *polled)
{
    /* Backwards, so that removals do not move entries that are still to be visited. */
    for (size_t i = pending->count; i-- > 0;) {
        if (polled[i].revents != 0 && !read_more(pending, i))
            continue;
        if (deadline_of(pending, &pending->newcomers[i]) <= esi_now_ns(CLOCK_MONOTONIC))
            acceptor_pending_expire(pending, i);
    }
}
