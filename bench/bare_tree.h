/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What a gather tree costs at the least: processes that pass raw bytes up over TCP with
 * plain read and write, nothing else.
 */
#ifndef ES_BENCH_BARE_TREE_H
#define ES_BENCH_BARE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BARE_LEVELS = 4, BARE_REQUEST_BYTES = 24 };

struct bare_shape {
    int fan[BARE_LEVELS]; /* children of the root, of theirs, ...; 0 = the end */
    bool sequential;      /* one child after the other */
    /* What leaf number `leaf` has, at most `room` bytes; returns how many. */
    size_t (*fill)(void *data, int leaf, unsigned char *out, size_t room);
    void *data;
    size_t room; /* bytes that all leaves together have at most */
};

struct bare_tree;

/* Starts the processes.  -errno. */
int bare_tree_start(const struct bare_shape *shape, struct bare_tree **ret_tree);
/* One request down and its reply up; returns the bytes that came, or -errno. */
long bare_tree_sweep(struct bare_tree *tree);
/* CPU time of the processes, without the caller's. */
uint64_t bare_tree_cpu_ns(const struct bare_tree *tree);
/* Accepts NULL. */
void bare_tree_stop(struct bare_tree *tree);

#endif
