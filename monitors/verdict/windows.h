/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* windows.h - one-sided communication: who holds which lock, and how many epochs each
 * pair of members has begun and ended, according to the ledgers.  Pure logic. */
#ifndef ES_MONITORS_VERDICT_WINDOWS_H
#define ES_MONITORS_VERDICT_WINDOWS_H

#include "monitors/verdict/facts.h"

#define ESI_WINDOW_LOCK_NONE UINT32_MAX
/* The target of MPI_Win_lock_all. */
#define ESI_WINDOW_ALL (-1)

/* A lock of one member on another. */
struct esi_window_lock {
    uint32_t group;
    int window;
    int target;    /* world rank, or ESI_WINDOW_ALL */
    size_t holder; /* process */
    uint8_t kind;  /* enum esi_ledger_epoch_kind */
    bool granted;
    uint32_t next; /* next lock of the same window and target */
};

/* Epochs of `owner` with the partner `peer`. */
struct esi_window_count {
    uint32_t group;
    int window;
    int owner;
    int peer;
    uint32_t posted;
    uint32_t completed;
};

struct esi_windows {
    struct esi_window_lock *locks; /* owned */
    size_t lock_count;
    size_t lock_capacity;
    struct esi_hash lock_numbers;    /* the first lock of each window and target */
    struct esi_window_count *counts; /* owned */
    size_t count_count;
    size_t count_capacity;
    struct esi_hash count_numbers;
};

/* Returns 0 or -ENOMEM; free with esi_windows_fini(). */
int esi_windows_init(struct esi_windows *windows, const struct esi_facts *facts);
void esi_windows_fini(struct esi_windows *windows);

/* The first lock on a target, or ESI_WINDOW_LOCK_NONE. */
uint32_t esi_windows_first_lock(const struct esi_windows *windows,
                                uint32_t group,
                                int window,
                                int target);

/* NULL if no epoch was begun. */
const struct esi_window_count *esi_windows_find_count(
    const struct esi_windows *windows,
    const struct esi_window_count *place);

#endif
