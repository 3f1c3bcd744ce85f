/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The lowest possible cost of a gather tree: processes that send raw bytes up over TCP
 * with plain read and write.
 */
#ifndef ES_BENCH_BARE_TREE_H
#define ES_BENCH_BARE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BARE_LEVELS = 4, BARE_REQUEST_BYTES = 24 };

struct bare_shape {
    int fan[BARE_LEVELS]; /* children of the root, of each of them, ...; ends with 0 */
    bool sequential;      /* one child after the other */
    /* Fills in the data of leaf number `leaf`, at most `room` bytes; returns the
     * size. */
    size_t (*fill)(void *data, int leaf, unsigned char *out, size_t room);
    void *data;
    size_t room; /* most bytes of all leaves together */
};

struct bare_tree;

/* Starts the processes.  Returns 0 or -errno. */
int bare_tree_start(const struct bare_shape *shape, struct bare_tree **ret_tree);
/* Sends one request down and receives its reply; returns its size in bytes, or
 * -errno. */
long bare_tree_sweep(struct bare_tree *tree);
/* CPU time of the processes, excluding the caller. */
uint64_t bare_tree_cpu_ns(const struct bare_tree *tree);
/* Ends the processes.  Accepts NULL. */
void bare_tree_stop(struct bare_tree *tree);

#endif
