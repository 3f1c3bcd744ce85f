/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Listens for links of any kind. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuplespace/transport/link_private.h"

struct esi_listener {
    const struct esi_link_ops *ops;
    int descriptor;
    struct esi_address address;
    char text[ES_ADDRESS_BYTES];
    struct stat file; /* of a Unix socket: the file we created */
};

int esi_listener_open(const char *address,
                      struct es_error *error,
                      struct esi_listener **ret_listener)
{
    struct esi_listener *listener = calloc(1, sizeof *listener);
    int rc;

    if (!listener)
        return -ENOMEM;
    rc = esi_address_parse(address, error, &listener->address);
    if (rc != 0)
        goto fail;
    listener->ops = esi_link_ops_of(listener->address.kind);
    rc = listener->ops->listen(&listener->address, error, &listener->descriptor);
    if (rc != 0)
        goto fail;
    if (listener->address.kind == ES_ADDRESS_UNIX)
        lstat(listener->address.place, &listener->file);
    esi_address_format(&listener->address, listener->text);
    *ret_listener = listener;
    return 0;

fail:
    free(listener);
    return rc;
}

/* Removes the file of a Unix socket, unless it has been replaced by another. */
static void remove_file(const struct esi_listener *listener)
{
    const struct stat *ours = &listener->file;
    struct stat now;

    if (lstat(listener->address.place, &now) == 0 && now.st_dev == ours->st_dev &&
        now.st_ino == ours->st_ino)
        unlink(listener->address.place);
}

void esi_listener_close(struct esi_listener *listener)
{
    int saved = errno;

    if (!listener)
        return;
    if (listener->address.kind == ES_ADDRESS_UNIX)
        remove_file(listener);
    close(listener->descriptor);
    free(listener);
    errno = saved;
}

int esi_listener_descriptor(const struct esi_listener *listener)
{
    return listener->descriptor;
}

const char *esi_listener_address(const struct esi_listener *listener)
{
    return listener->text;
}

int esi_listener_accept(struct esi_listener *listener, struct es_link **ret_link)
{
    int descriptor = accept4(listener->descriptor, NULL, NULL, SOCK_CLOEXEC);

    if (descriptor >= 0) {
        int rc = esi_link_make(listener->ops, descriptor, ret_link);

        /* If a socket cannot be set up, its peer has gone. */
        return rc == 0 || rc == -ENOMEM ? rc : -EAGAIN;
    }
    switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EBADF:
    case EINVAL:
        return -errno;
    default: /* the peer has gone, or never came */
        return -EAGAIN;
    }
}
