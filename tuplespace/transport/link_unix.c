/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Unix-domain sockets: the kernel identifies the peer.
 *
 * A socket's name is limited to 107 bytes, but the path of a run directory may be
 * longer.  Then the socket is addressed through the descriptor of its directory,
 * /proc/self/fd/N/NAME.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tuplespace/transport/link_private.h"

#define BACKLOG 128

/* The location of a socket: its open directory, and its name. */
struct link_unix_location {
    int directory;
    char name[ES_ADDRESS_BYTES];
    struct sockaddr_un address;
};

static int link_unix_fail(struct es_error *error,
                          const struct esi_address *address,
                          int code)
{
    char text[ES_ADDRESS_BYTES];

    return es_error_set_at(error, code, esi_address_format(address, text), 0, 0, "%s",
                           code == -ETIMEDOUT ? "no connection within the limit"
                                              : strerror(-code));
}

static int find_place(const struct esi_address *address,
                      struct es_error *error,
                      struct link_unix_location *ret_place)
{
    struct link_unix_location place = {.address = {.sun_family = AF_UNIX}};
    size_t size = sizeof place.address.sun_path;
    char folder[ES_ADDRESS_BYTES], file[ES_ADDRESS_BYTES];
    int length;

    strcpy(folder, address->place);
    strcpy(file, address->place);
    strcpy(place.name, basename(file));
    place.directory = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place.directory < 0)
        return link_unix_fail(error, address, -errno);
    length = snprintf(place.address.sun_path, size, "%s", address->place);
    if (length >= (int)size)
        length = snprintf(place.address.sun_path, size, "/proc/self/fd/%d/%s",
                          place.directory, place.name);
    if (length >= (int)size) {
        close(place.directory);
        return link_unix_fail(error, address, -ENAMETOOLONG);
    }
    *ret_place = place;
    return 0;
}

/* --- Connecting ------------------------------------------------------------------ */

/* The only wait is for a place in the server's queue, limited by SO_SNDTIMEO. */
static int connect_within(int descriptor,
                          const struct sockaddr_un *address,
                          uint64_t deadline_ns)
{
    for (;;) {
        uint64_t left_us = esi_link_remaining(deadline_ns) / 1000;
        struct timeval span = {.tv_sec = (time_t)(left_us / 1000000),
                               .tv_usec = (suseconds_t)(left_us % 1000000)};

        if (left_us == 0)
            return -ETIMEDOUT;
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &span, sizeof span);
        if (connect(descriptor, (const struct sockaddr *)address, sizeof *address) == 0)
            return 0;
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
}

static int unix_connect(const struct esi_address *address,
                        uint64_t deadline_ns,
                        struct es_error *error,
                        int *ret_descriptor)
{
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct link_unix_location place;
    int rc;

    if (descriptor < 0)
        return link_unix_fail(error, address, -errno);
    rc = find_place(address, error, &place);
    if (rc == 0) {
        rc = connect_within(descriptor, &place.address, deadline_ns);
        close(place.directory);
        if (rc != 0)
            link_unix_fail(error, address, rc);
    }
    if (rc != 0) {
        close(descriptor);
        return rc;
    }
    *ret_descriptor = descriptor;
    return 0;
}

/* --- Listening ------------------------------------------------------------------- */

/* Returns whether the socket exists but nobody listens on it. */
static bool is_left_over(const struct link_unix_location *place)
{
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat status;
    bool left = false;

    if (descriptor < 0)
        return false;
    if (fstatat(place->directory, place->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISSOCK(status.st_mode))
        left = connect(descriptor, (const struct sockaddr *)&place->address,
                       sizeof place->address) != 0 &&
               errno == ECONNREFUSED;
    close(descriptor);
    return left;
}

static int bind_socket(int descriptor, const struct link_unix_location *place)
{
    /* The file is created with this mode, minus the umask. */
    if (fchmod(descriptor, 0600) != 0)
        return -errno;
    if (bind(descriptor, (const struct sockaddr *)&place->address,
             sizeof place->address) != 0)
        return -errno;
    /* The umask may have removed permissions. */
    (void)!fchmodat(place->directory, place->name, 0600, 0);
    return listen(descriptor, BACKLOG) == 0 ? 0 : -errno;
}

static int unix_listen(struct esi_address *address,
                       struct es_error *error,
                       int *ret_descriptor)
{
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct link_unix_location place;
    int rc;

    if (descriptor < 0)
        return link_unix_fail(error, address, -errno);
    rc = find_place(address, error, &place);
    if (rc != 0)
        goto close_descriptor;
    /* If two processes find the same dead socket, the second must not remove the first
     * one's new socket. */
    flock(place.directory, LOCK_EX);
    rc = bind_socket(descriptor, &place);
    if (rc == -EADDRINUSE && is_left_over(&place)) {
        unlinkat(place.directory, place.name, 0);
        rc = bind_socket(descriptor, &place);
    }
    close(place.directory);
    if (rc != 0) {
        link_unix_fail(error, address, rc);
        goto close_descriptor;
    }
    *ret_descriptor = descriptor;
    return 0;

close_descriptor:
    close(descriptor);
    return rc;
}

/* --- The peer's identity --------------------------------------------------------- */

static int unix_prepare(int descriptor, char *ret_name, size_t size)
{
    struct ucred peer;
    socklen_t length = sizeof peer;

    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return -errno;
    snprintf(ret_name, size, "uid %u pid %d", peer.uid, (int)peer.pid);
    return 0;
}

static int unix_secure(struct es_link *link,
                       const struct esi_party *party,
                       struct es_error *error)
{
    struct ucred peer;
    socklen_t length = sizeof peer;

    if (getsockopt(link->descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return -errno;
    if (peer.uid == geteuid())
        return 0;
    if (party->is_server)
        return es_error_set(error, -EACCES,
                            "this server belongs to user %u, you are user %u",
                            geteuid(), peer.uid);
    return es_error_set(error, -EACCES, "the server belongs to user %u, we are user %u",
                        peer.uid, geteuid());
}

const struct esi_link_ops esi_link_unix_ops = {
    .connect = unix_connect,
    .listen = unix_listen,
    .prepare = unix_prepare,
    .secure = unix_secure,
    .receive = esi_socket_receive,
    .send = esi_socket_send,
};
