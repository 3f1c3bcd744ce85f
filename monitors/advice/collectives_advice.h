/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Advice on the trees of a run: what its messages cost, when its ranks enter their
 * operations and where they are, brought together for tree_advice.h.
 *
 *   es_collectives_advice_create(&config, &advice);
 *   for each instance:             es_collectives_advice_add(advice, instance);
 *   for each message's end:        es_collectives_advice_add_end(advice, &activity,
 *                                                                rank, host);
 *   for each group i:              es_collectives_advice_propose(advice, i, rule,
 *                                                                version, &proposal);
 *
 *   one set of advice is one thread's at a time.
 */
#ifndef ES_MONITORS_ADVICE_COLLECTIVES_ADVICE_H
#define ES_MONITORS_ADVICE_COLLECTIVES_ADVICE_H

#include <stdio.h>

#include "monitors/follow/thread_state.h"
#include "monitors/advice/tree_advice.h"

struct es_collectives_advice_config {
    const struct esi_tree_plan *plan; /* its hosts: clusters and gateways; borrowed */
    struct es_tree_advisor_config advisor;
};

struct es_collectives_advice;

/* -ENOMEM. */
int es_collectives_advice_create(const struct es_collectives_advice_config *config,
                                 struct es_collectives_advice **ret_advice);
/* Accepts NULL. */
void es_collectives_advice_destroy(struct es_collectives_advice *advice);

/* 0 or -ENOMEM; what says nothing is passed over. */
int es_collectives_advice_add(struct es_collectives_advice *advice,
                              const struct es_collective_instance *instance);
/* One end of a message, or what a rank brings into a tree, of a world rank on a host;
 * its times as clocks show them.  0 or -ENOMEM; what is none is passed over. */
int es_collectives_advice_add_end(struct es_collectives_advice *advice,
                                  const struct es_activity *activity,
                                  int world_rank,
                                  const char *host);
/* A small message went from one host to the other and back in `ns`. */
void es_collectives_advice_add_round_trip(struct es_collectives_advice *advice,
                                          const char *host,
                                          const char *other,
                                          uint64_t ns);

/* Borrowed; for groups and what was measured of them. */
const struct es_tree_advisor *es_collectives_advice_advisor(
    const struct es_collectives_advice *advice);

/* For a group, with the rule in force there (NULL = the MPI library's own algorithm)
 * and the version of the rules.  As es_tree_advisor_propose(). */
int es_collectives_advice_propose(const struct es_collectives_advice *advice,
                                  size_t index,
                                  const struct esi_tree_rule *in_force,
                                  uint32_t version,
                                  struct es_tree_advice *ret_advice);

/* A proposal, as it is shown. */
struct es_collectives_proposal {
    struct es_advice_group group; /* what it borrows is the next, and no ranks */
    char communicator[64];
    struct es_tree_advice advice;
    char in_force[96];   /* in short; "library" */
    char then[96];       /* the tree that is proposed; "" with ES_ADVICE_UNKNOWN */
    const char *command; /* that applies it; borrowed; NULL = none */
};

/* A few lines of text. */
void es_collectives_advice_print_text(const struct es_collectives_proposal *proposal,
                                      FILE *stream);
/* A line of JSON, an "advice". */
void es_collectives_advice_print_json(const struct es_collectives_proposal *proposal,
                                      FILE *stream);

#endif
