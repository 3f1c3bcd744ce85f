/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tree rules, shared by the communicators of a process, and how all ranks switch to new
 * rules at the same operation.
 *
 * Rule synchronization: all ranks of a communicator apply the same rules from the same
 * operation on, without a message for each operation.
 *
 * All ranks count the operations on a communicator in the same way.  They synchronize
 * at the first one, and then at the first *blocking* one whose number is not below the
 * number set by the last synchronization.  Rank 0 broadcasts a small message over the
 * shadow communicator, with the version of the rules that applies from this operation
 * on, the name of the communicator (names are local in MPI) and the number for the next
 * time; the text of new rules follows.  Rank 0 chooses that number so that there are
 * about two synchronizations per second.
 *
 * Nonblocking operations are not synchronized: between two synchronizations they follow
 * the rules of the first.
 *
 *   may run at the same time: everything but functions with a struct esi_comm_trees,
 *   which one thread at a time uses.
 */
#ifndef ES_WRAPPERS_TREES_RULES_H
#define ES_WRAPPERS_TREES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"

/* --- Shared rules ----------------------------------------------------------------- */

/* Parsed once, and kept as long as a communicator uses them. */
struct esi_shared_rules;

/* The initial rules of the run; set before any communicator has trees. */
extern struct esi_shared_rules *esi_rules_initial;

/* Parses rules and takes a reference.  The rules of the last text are reused.  Returns
 * 0; -EINVAL with `error` filled; or -ENOMEM. */
int esi_rules_get(const char *text,
                  struct es_error *error,
                  struct esi_shared_rules **ret_rules);

struct esi_shared_rules *esi_rules_ref(struct esi_shared_rules *rules);
/* Releases a reference.  Accepts NULL. */
void esi_rules_unref(struct esi_shared_rules *rules);

/* The parsed rules.  Borrowed as long as the reference is held. */
const struct esi_tree_plan *esi_rules_plan(const struct esi_shared_rules *rules);

/* --- Synchronisation -------------------------------------------------------------- */

struct esi_call;
struct esi_comm_trees;

/* The message broadcast by rank 0. */
struct esi_rule_sync {
    uint32_t version;    /* of the rules: the version of the desired
                            rules; 0 for the initial rules */
    uint32_t next;       /* number of the operation of the next synchronization */
    uint32_t text_bytes; /* of new rules that follow, including
                            the terminator; 0 if none */
    char name[64];       /* of the communicator */
};

/* Time of rank 0's last synchronization. */
struct esi_rule_sync_pace {
    bool began;      /* there was a synchronization before */
    uint32_t number; /* number of the operation */
    uint64_t time_ns;
};

enum {
    ESI_RULE_SYNC_FIRST_GAP = 8,
    /* A program that slows down must remain responsive; and one broadcast in a thousand
     * operations is negligible. */
    ESI_RULE_SYNC_MAX_GAP = 1024,
};

/* Records a synchronization at operation `number` and returns the number of the next:
 * as many operations later as took half a second since the last synchronization. */
uint32_t esi_rule_sync_next(struct esi_rule_sync_pace *pace,
                            uint32_t number,
                            uint64_t now_ns);

/* Performs a synchronization at operation `number`.  Collective.  Returns MPI's
 * code. */
int esi_rule_sync_run(struct esi_comm_trees *trees,
                      const struct esi_call *call,
                      uint32_t number);

#endif
