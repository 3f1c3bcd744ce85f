/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat_fold.h - groups the threads of a look that do the same: trouble first,
 * then by rank. */
#ifndef ES_MONITORS_VERDICT_HEARTBEAT_FOLD_H
#define ES_MONITORS_VERDICT_HEARTBEAT_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "monitors/verdict/verdict.h"

enum {
    ES_FOLD_WORDS = 400,
    ES_FOLD_GROUPS_MOST = 24, /* with more groups, threads are compared by their
                                 brief descriptions */
};

/* One thread, and the text by which it is grouped. */
struct esi_folded_thread {
    size_t index; /* in the facts */
    size_t group; /* index of the first equal thread */
    int order;    /* by its verdict: trouble first */
    char words[ES_FOLD_WORDS];
};

/* Threads sorted by group. */
struct esi_fold {
    struct esi_folded_thread *items; /* owned */
    size_t count;
    size_t groups;
    bool brief;
};

/* Selects threads and describes them for comparison, fully or `brief`ly. */
struct esi_fold_rule {
    bool (*is_meant)(const struct esi_thread_state *thread);
    void (*describe)(const struct esi_diagnosis *diagnosis,
                     size_t index,
                     bool brief,
                     char out[ES_FOLD_WORDS]);
};

/* Returns 0 or -ENOMEM; free with esi_fold_fini(). */
int esi_fold_init(const struct esi_diagnosis *diagnosis,
                  const struct esi_fold_rule *rule,
                  struct esi_fold *ret_fold);
void esi_fold_fini(struct esi_fold *fold);

/* Number of items, from `first` on, in the same group. */
size_t esi_fold_group_size(const struct esi_fold *fold, size_t first);

#endif
