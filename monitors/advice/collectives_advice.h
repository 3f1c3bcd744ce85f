/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Advice on the trees of a run: what its messages cost, when its ranks enter their
 * operations and where they are, brought together for tree_advice.h.
 *
 *   esi_collectives_advice_create(&config, &advice);
 *   for each instance:             esi_collectives_advice_add(advice, instance);
 *   for each message's end:        esi_collectives_advice_add_end(advice, &activity,
 *                                                                rank, host);
 *   for each group i:              esi_collectives_advice_propose(advice, i, rule,
 *                                                                version, &proposal);
 *
 *   one set of advice is one thread's at a time.
 */
#ifndef ES_MONITORS_ADVICE_COLLECTIVES_ADVICE_H
#define ES_MONITORS_ADVICE_COLLECTIVES_ADVICE_H

#include <stdio.h>

#include "monitors/follow/thread_state.h"
#include "monitors/advice/tree_advice.h"

struct esi_collectives_advice_config {
    const struct esi_tree_plan *plan; /* its hosts: clusters and gateways; borrowed */
    struct esi_tree_advisor_config advisor;
};

struct esi_collectives_advice;

/* -ENOMEM. */
int esi_collectives_advice_create(const struct esi_collectives_advice_config *config,
                                  struct esi_collectives_advice **ret_advice);
/* Accepts NULL. */
void esi_collectives_advice_destroy(struct esi_collectives_advice *advice);

/* 0 or -ENOMEM; what says nothing is passed over. */
int esi_collectives_advice_add(struct esi_collectives_advice *advice,
                               const struct esi_collective_instance *instance);
/* One end of a message, or what a rank brings into a tree, of a world rank on a host;
 * its times as clocks show them.  0 or -ENOMEM; what is none is passed over. */
int esi_collectives_advice_add_end(struct esi_collectives_advice *advice,
                                   const struct esi_activity *activity,
                                   int world_rank,
                                   const char *host);
/* A small message went from one host to the other and back in `ns`. */
void esi_collectives_advice_add_round_trip(struct esi_collectives_advice *advice,
                                           const char *host,
                                           const char *other,
                                           uint64_t ns);

/* Borrowed; for groups and what was measured of them. */
const struct esi_tree_advisor *esi_collectives_advice_advisor(
    const struct esi_collectives_advice *advice);

/* For a group, with the rule in force there (NULL = the MPI library's own algorithm)
 * and the version of the rules.  As esi_tree_advisor_propose(). */
int esi_collectives_advice_propose(const struct esi_collectives_advice *advice,
                                   size_t index,
                                   const struct esi_tree_rule *in_force,
                                   uint32_t version,
                                   struct esi_tree_advice *ret_advice);

/* A proposal, as it is shown. */
struct esi_collectives_proposal {
    struct esi_advised_group group; /* what it borrows is the next, and no ranks */
    char communicator[64];
    struct esi_tree_advice advice;
    char in_force[96];   /* in short; "library" */
    char then[96];       /* the tree that is proposed; "" with ES_ADVICE_UNKNOWN */
    const char *command; /* that applies it; borrowed; NULL = none */
};

/* A few lines of text. */
void esi_collectives_advice_print_text(const struct esi_collectives_proposal *proposal,
                                       FILE *stream);
/* A line of JSON, an "advice". */
void esi_collectives_advice_print_json(const struct esi_collectives_proposal *proposal,
                                       FILE *stream);

#endif
