/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Trees of processes that pass raw bytes up. */
#include "config.h"

#include "bare_tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 64 };

/* A node's ends of the connections to its children. */
struct children {
    int sockets[NODES];
    int count;
};

/* All nodes of a tree, in shared memory. */
struct census {
    _Atomic int count;
    pid_t pids[NODES];
};

struct bare_tree {
    struct bare_shape shape;
    struct children children;
    struct census *census; /* owned */
    unsigned char *buffer;
};

static int write_all(int fd, const void *data, size_t size)
{
    const char *next = data;

    while (size > 0) {
        ssize_t done = write(fd, next, size);

        if (done <= 0)
            return -EPIPE;
        next += done;
        size -= (size_t)done;
    }
    return 0;
}

static int read_all(int fd, void *data, size_t size)
{
    char *next = data;

    while (size > 0) {
        ssize_t done = read(fd, next, size);

        if (done <= 0)
            return -EPIPE;
        next += done;
        size -= (size_t)done;
    }
    return 0;
}

/* Creates both ends of a TCP connection over the loopback. */
static int connect_pair(int pair[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    if (listener < 0 ||
        bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        return -errno;
    pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(pair[0], (struct sockaddr *)&address, sizeof address) != 0)
        return -errno;
    pair[1] = accept(listener, NULL, NULL);
    close(listener);
    if (pair[1] < 0)
        return -errno;
    setsockopt(pair[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(pair[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return 0;
}

/* Asks all children, then receives their replies in order; returns the number of
 * bytes. */
static long gather(const struct bare_shape *shape,
                   const struct children *children,
                   unsigned char *out,
                   size_t room)
{
    unsigned char request[BARE_REQUEST_BYTES] = {0};
    size_t used = 0;

    for (int i = 0; !shape->sequential && i < children->count; i++)
        if (write_all(children->sockets[i], request, sizeof request) != 0)
            return -EPIPE;
    for (int i = 0; i < children->count; i++) {
        uint64_t bytes;

        if (shape->sequential &&
            write_all(children->sockets[i], request, sizeof request) != 0)
            return -EPIPE;
        if (read_all(children->sockets[i], &bytes, sizeof bytes) != 0 ||
            bytes > room - used ||
            read_all(children->sockets[i], out + used, (size_t)bytes) != 0)
            return -EPIPE;
        used += (size_t)bytes;
    }
    return (long)used;
}

static int open_children(const struct bare_shape *shape,
                         int level,
                         int first_leaf,
                         struct census *census,
                         struct children *ret_children);

/* Number of leaves below a node of this level. */
static int leaves_below(const struct bare_shape *shape, int level)
{
    int leaves = 1;

    for (int i = level; i < BARE_LEVELS && shape->fan[i] > 0; i++)
        leaves *= shape->fan[i];
    return leaves;
}

static void serve(const struct bare_shape *shape,
                  struct census *census,
                  int level,
                  int leaf,
                  int up)
{
    unsigned char *buffer = malloc(sizeof(uint64_t) + shape->room);
    unsigned char request[BARE_REQUEST_BYTES];
    struct children children = {.count = 0};
    bool inner = level < BARE_LEVELS && shape->fan[level] > 0;

    if (!buffer || (inner && open_children(shape, level, leaf, census, &children) != 0))
        _exit(1);
    while (read_all(up, request, sizeof request) == 0) {
        unsigned char *out = buffer + sizeof(uint64_t);
        long bytes = inner ? gather(shape, &children, out, shape->room)
                           : (long)shape->fill(shape->data, leaf, out, shape->room);
        uint64_t header = (uint64_t)bytes;

        if (bytes < 0)
            break;
        memcpy(buffer, &header, sizeof header);
        if (write_all(up, buffer, sizeof header + (size_t)bytes) != 0)
            break;
    }
    for (int i = 0; i < children.count; i++)
        close(children.sockets[i]);
    while (wait(NULL) > 0)
        ;
    _exit(0);
}

static int open_children(const struct bare_shape *shape,
                         int level,
                         int first_leaf,
                         struct census *census,
                         struct children *ret_children)
{
    int each = leaves_below(shape, level + 1);

    for (int i = 0; i < shape->fan[level]; i++) {
        int pair[2] = {-1, -1};
        int result = connect_pair(pair);
        pid_t pid;

        if (result < 0)
            return result;
        pid = fork();
        if (pid < 0)
            return -errno;
        if (pid == 0) {
            close(pair[0]);
            for (int j = 0; j < ret_children->count; j++)
                close(ret_children->sockets[j]);
            serve(shape, census, level + 1, first_leaf + i * each, pair[1]);
        }
        close(pair[1]);
        census->pids[atomic_fetch_add(&census->count, 1) % NODES] = pid;
        ret_children->sockets[ret_children->count++] = pair[0];
    }
    return 0;
}

int bare_tree_start(const struct bare_shape *shape, struct bare_tree **ret_tree)
{
    struct bare_tree *tree = calloc(1, sizeof *tree);
    int result = -ENOMEM;

    if (!tree)
        return -ENOMEM;
    tree->shape = *shape;
    tree->census = mmap(NULL, sizeof *tree->census, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    tree->buffer = malloc(shape->room);
    if (tree->census != MAP_FAILED && tree->buffer)
        result = open_children(shape, 0, 0, tree->census, &tree->children);
    if (result < 0) {
        bare_tree_stop(tree);
        return result;
    }
    *ret_tree = tree;
    return 0;
}

long bare_tree_sweep(struct bare_tree *tree)
{
    return gather(&tree->shape, &tree->children, tree->buffer, tree->shape.room);
}

uint64_t bare_tree_cpu_ns(const struct bare_tree *tree)
{
    uint64_t sum = 0;

    for (int i = 0; i < tree->census->count && i < NODES; i++) {
        struct timespec used;
        clockid_t clock;

        if (clock_getcpuclockid(tree->census->pids[i], &clock) == 0 &&
            clock_gettime(clock, &used) == 0)
            sum +=
                (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
    }
    return sum;
}

void bare_tree_stop(struct bare_tree *tree)
{
    if (!tree)
        return;
    /* Closing a connection ends the node below it, which closes its own connections. */
    for (int i = 0; i < tree->children.count; i++)
        close(tree->children.sockets[i]);
    /* Waits for the children of this process; waitpid() fails for other nodes. */
    for (int i = 0; i < NODES && tree->census != MAP_FAILED; i++)
        if (tree->census->pids[i] > 0)
            waitpid(tree->census->pids[i], NULL, 0);
    if (tree->census != MAP_FAILED)
        munmap(tree->census, sizeof *tree->census);
    free(tree->buffer);
    free(tree);
}
