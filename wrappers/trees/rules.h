/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tree rules as the communicators of a process share them, and how all ranks follow
 * new ones from the same operation on.
 *
 * Rule synchronisation: all ranks of a communicator apply the same rules from the
 * same operation on, without a message for each operation.
 *
 * All ranks count the operations on a communicator alike.  They synchronise at the
 * first one, and then at the first *blocking* one whose number is not below the
 * number that the last synchronisation named: rank 0 broadcasts a small message over
 * the shadow communicator.  It has the version of the rules that holds from this
 * operation on, the name of the communicator (names are local in MPI), and the
 * number for the next time; the text of new rules follows.  Rank 0 chooses that
 * number so that there are about two synchronisations a second.
 *
 * Nonblocking operations need none: those between two synchronisations follow the
 * rules of the first.
 *
 *   may run at the same time: everything but what takes a struct esi_comm_trees, which
 *   is one thread's at a time.
 */
#ifndef ES_WRAPPERS_TREES_RULES_H
#define ES_WRAPPERS_TREES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"

/* --- Shared rules ----------------------------------------------------------------- */

/* Read once, kept as long as a communicator follows them. */
struct esi_shared_rules;

/* Those that the run began with: set before any communicator has trees. */
extern struct esi_shared_rules *esi_rules_initial;

/* The rules of a text, with a reference; those of the same text that were asked for
 * last are not read again.  -EINVAL with the fault, -ENOMEM. */
int esi_rules_get(const char *text,
                  struct es_error *error,
                  struct esi_shared_rules **ret_rules);

struct esi_shared_rules *esi_rules_ref(struct esi_shared_rules *rules);
/* Accepts NULL. */
void esi_rules_unref(struct esi_shared_rules *rules);

/* Borrowed as long as the reference. */
const struct esi_tree_plan *esi_rules_plan(const struct esi_shared_rules *rules);

/* --- Synchronisation -------------------------------------------------------------- */

struct esi_call;
struct esi_comm_trees;

/* What rank 0 broadcasts. */
struct esi_rule_sync {
    uint32_t version;    /* of the rules: that of the desired rules they came with; 0 =
                            those that the run began with */
    uint32_t next;       /* number of the operation at which the next synchronisation
                            takes place */
    uint32_t text_bytes; /* of new rules that follow, with the end mark; 0 = none */
    char name[64];       /* of the communicator */
};

/* When rank 0 synchronised last. */
struct esi_rule_sync_pace {
    bool began;      /* there was a synchronisation before */
    uint32_t number; /* of the operation at it */
    uint64_t time_ns;
};

enum {
    ESI_RULE_SYNC_FIRST_GAP = 8,
    /* A program that slows down must not be out of reach for long; and one broadcast in
     * a thousand operations is not felt. */
    ESI_RULE_SYNC_MAX_GAP = 1024,
};

/* How many operations there are to the next synchronisation, when `operations` have
 * taken `elapsed_ns` since the last: as many as half a second has, at least one. */
uint32_t esi_rule_sync_gap(uint32_t operations, uint64_t elapsed_ns);

/* Notes a synchronisation at operation `number` and returns the number of the next. */
uint32_t esi_rule_sync_next(struct esi_rule_sync_pace *pace,
                            uint32_t number,
                            uint64_t now_ns);

/* Takes part in a synchronisation at operation `number`.  Returns MPI's code. */
int esi_rule_sync_run(struct esi_comm_trees *trees,
                      const struct esi_call *call,
                      uint32_t number);

#endif
