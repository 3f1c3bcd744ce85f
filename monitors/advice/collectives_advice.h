/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Advice on the trees of a run: combines the costs of its messages, the enter times of
 * its ranks and their locations for tree_advice.h.
 *
 *   esi_collectives_advice_create(&config, &advice);
 *   for each instance:             esi_collectives_advice_add(advice, instance);
 *   for each message's end:        esi_collectives_advice_add_tuple(advice, process,
 *                                                                  element, &tuple);
 *   for each group i:              esi_collectives_advice_propose(advice, i, rule,
 *                                                                version, &proposal);
 *
 * One thread at a time.
 */
#ifndef ES_MONITORS_ADVICE_COLLECTIVES_ADVICE_H
#define ES_MONITORS_ADVICE_COLLECTIVES_ADVICE_H

#include <stdio.h>

#include "monitors/advice/tree_advice.h"
#include "monitors/causality/causality.h"

struct esi_collectives_advice_config {
    const struct esi_tree_plan *plan; /* its hosts: clusters and gateways; borrowed */
    struct esi_tree_advisor_config advisor;
};

struct esi_collectives_advice;

/* Returns 0 or -ENOMEM. */
int esi_collectives_advice_create(const struct esi_collectives_advice_config *config,
                                  struct esi_collectives_advice **ret_advice);
/* Accepts NULL. */
void esi_collectives_advice_destroy(struct esi_collectives_advice *advice);

/* Adds an instance; ignores unsuitable ones.  Returns 0 or -ENOMEM. */
int esi_collectives_advice_add(struct esi_collectives_advice *advice,
                               const struct esi_collective_instance *instance);
/* What matches the messages: the caller adds processes, communicators and elements to
 * it, and advances and finishes it.  Borrowed. */
struct esi_causality *esi_collectives_advice_messages(
    const struct esi_collectives_advice *advice);
/* Adds one end of a message, or a contribution to a tree, with times as recorded by the
 * clocks.  Ignores other operations.  Returns 0 or -ENOMEM. */
int esi_collectives_advice_add_tuple(struct esi_collectives_advice *advice,
                                     const struct esi_run_process *process,
                                     uint32_t element,
                                     const struct esi_causal_tuple *tuple);
/* Adds the round-trip time of a small message between two hosts. */
void esi_collectives_advice_add_round_trip(struct esi_collectives_advice *advice,
                                           const char *host,
                                           const char *other,
                                           uint64_t ns);

/* Borrowed; gives access to groups and their measurements. */
const struct esi_tree_advisor *esi_collectives_advice_advisor(
    const struct esi_collectives_advice *advice);

/* Computes advice for a group, with the rule in force there (NULL = the MPI library's
 * own algorithm) and the version of the rules.  Returns like
 * esi_tree_advisor_propose(). */
int esi_collectives_advice_propose(const struct esi_collectives_advice *advice,
                                   size_t index,
                                   const struct esi_tree_rule *in_force,
                                   uint32_t version,
                                   struct esi_tree_advice *ret_advice);

/* A proposal, as it is printed. */
struct esi_collectives_proposal {
    struct esi_advised_group group; /* borrows `communicator`, and has no ranks */
    char communicator[64];
    struct esi_tree_advice advice;
    char in_force[96];   /* short description, or "library" */
    char then[96];       /* the proposed tree; "" with ES_ADVICE_UNKNOWN */
    const char *command; /* command that applies it; borrowed; NULL = none */
};

/* Prints a few lines of text. */
void esi_collectives_advice_print_text(const struct esi_collectives_proposal *proposal,
                                       FILE *stream);
/* Prints a line of JSON, an "advice". */
void esi_collectives_advice_print_json(const struct esi_collectives_proposal *proposal,
                                       FILE *stream);

#endif
