/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Advice: which tree would take less time than what runs now.
 *
 *   esi_tree_advisor_create(&config, &advisor);
 *   for each complete instance:  esi_tree_advisor_add(advisor, instance);
 *   for each group i:            esi_tree_advisor_propose(advisor, i, &situation,
 *                                                        &advice);
 *
 * A *group* is what one rule would be made for: a communicator, an operation, an order
 * of size.  Of each a sample of recent instances is kept, with when each rank entered.
 * Candidates are the usual trees; the model (tree_model.h) replays the sample over
 * each, and what it says is scaled by how wrong it is for the tree in force, whose
 * times were measured.  A better tree is proposed if it gains more than the thresholds,
 * and more than twice what chance and clocks may have made of the sample.
 *
 * There is no model of the MPI library's own algorithms.  While one of them runs, what
 * the model says of trees cannot be scaled, and the advice says so; while a tree runs,
 * the library is proposed only by what it took when it ran before.
 *
 * Bounded: groups, samples of each, ranks of each.
 *
 *   one advisor is one thread's at a time.
 */
#ifndef ES_MONITORS_ADVICE_TREE_ADVICE_H
#define ES_MONITORS_ADVICE_TREE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/collectives/collectives.h"
#include "monitors/advice/link_costs.h"
#include "tuplespace/plan/tree_rules.h"
#include "wrappers/shapes/shape.h"

enum esi_advice_goal {
    ES_ADVICE_TREE_TIME, /* from when the operation could go on to its end */
    ES_ADVICE_RANK_TIME, /* sum of the times that ranks are in it */
};

struct esi_tree_advisor_config {
    size_t max_groups;  /* 0 = 256; the one that was quiet the longest goes */
    size_t samples;     /* of each; 0 = 32 */
    size_t min_samples; /* 0 = 8; with fewer nothing is proposed */
    double min_gain_ns; /* 0 = 1000 */
    double min_gain;    /* part of the time now; 0 = 0.1 */
    enum esi_advice_goal goal;
};

struct esi_tree_advisor;

int esi_tree_advisor_create(const struct esi_tree_advisor_config *config,
                            struct esi_tree_advisor **ret_advisor);
/* Accepts NULL. */
void esi_tree_advisor_destroy(struct esi_tree_advisor *advisor);

/* Copies what is needed.  0; -EINVAL: not complete, its times are impossible, no trees
 * are built for the operation, or it does not block: how long that takes is the
 * caller's doing; -ENOMEM. */
int esi_tree_advisor_add(struct esi_tree_advisor *advisor,
                         const struct esi_collective_instance *instance);

struct esi_advised_group {
    uint64_t key[2];
    const char *communicator; /* name; borrowed until the next instance is added */
    uint32_t operation;       /* one bit, as in tree_rules.h */
    uint64_t min_bytes;       /* of the order of size; inclusive, as is the next */
    uint64_t max_bytes;
    int size;
    bool tree;              /* the newest instance went through one, */
    uint32_t version;       /* of this version of the rules */
    size_t samples;         /* that are kept */
    uint64_t instances;     /* ever */
    double mean_bytes;      /* of the samples */
    const int *world_ranks; /* of its ranks; borrowed until an instance is added */
};

size_t esi_tree_advisor_count(const struct esi_tree_advisor *advisor);
/* `index` below esi_tree_advisor_count(). */
void esi_tree_advisor_group(const struct esi_tree_advisor *advisor,
                            size_t index,
                            struct esi_advised_group *ret_group);

/* What a group's operations took with what was in force for a time. */
struct esi_advised_past {
    uint64_t count;   /* operations ever */
    double mean_ns;   /* of the newest of them, the fastest and slowest eighth left out
                       */
    double chance_ns; /* standard error of it */
    double clocks_ns; /* mean bound of the clocks */
};

/* Of a version of the rules, or of the MPI library's own algorithm (`tree` false).
 * -ENOENT: nothing is known; a few are kept, the one that was quiet the longest goes.
 */
int esi_tree_advisor_past(const struct esi_tree_advisor *advisor,
                          size_t index,
                          bool tree,
                          uint32_t version,
                          struct esi_advised_past *ret_past);

/* What tuples of trees carry of the version of their rules. */
#define ES_ADVICE_VERSION(version) ((version)&UINT32_C(0x7fff))

/* What advice depends on beside the sample. */
struct esi_advice_situation {
    const struct esi_location *places; /* of the communicator's ranks */
    const struct esi_link_costs *costs;
    const struct esi_tree_rule *in_force; /* NULL = the MPI library's own algorithm */
    uint32_t version; /* of the rules in force: samples of others do not count */
};

/* Edges of a tree, by the class of their links. */
struct esi_advice_edges {
    int count[ES_LINK_CLASSES];
    int depth;
    int most_children;
};

struct esi_advice_candidate {
    char name[64];  /* in short: "levels:host,cluster:2"; "library" */
    bool possible;  /* all links that it uses have known costs */
    double then_ns; /* predicted mean; of the library as it was measured */
    struct esi_advice_edges edges;
};

enum { ES_ADVICE_CANDIDATES = 16 };

enum esi_advice_verdict {
    ES_ADVICE_BETTER,  /* `rule` gains enough */
    ES_ADVICE_SETTLED, /* the best candidate gains too little, or is in force */
    ES_ADVICE_UNSURE,  /* it might gain, but the sample scatters too much */
    ES_ADVICE_UNKNOWN, /* too few samples of what is in force, or costs of links are not
                          known */
};

/* What the predicted time stands on. */
enum esi_advice_basis {
    ES_ADVICE_SCALED,   /* the model, scaled by the tree in force, which was measured */
    ES_ADVICE_UNSCALED, /* the model alone: the library runs, which it knows nothing of
                         */
    ES_ADVICE_MEASURED, /* what the library took before */
};

struct esi_tree_advice {
    enum esi_advice_verdict verdict;
    enum esi_advice_basis basis;
    struct esi_tree_rule rule; /* the best candidate, for this group only; owns nothing.
                                 Without meaning with ES_ADVICE_UNKNOWN */
    double now_ns;  /* measured mean of one operation, the fastest and slowest
                                 eighth left out */
    double then_ns; /* predicted mean */
    double gain_ns;
    double gain;     /* part of now_ns */
    double doubt_ns; /* twice the standard error of gain_ns, and what clocks do to it */
    double scale;    /* measured / modelled for the tree in force; 1 for the library */
    size_t samples;  /* that count */
    size_t best;     /* of the candidates */
    struct esi_advice_candidate candidates[ES_ADVICE_CANDIDATES];
    size_t candidate_count;
    char reason[256]; /* in words */
};

/* 0 with any verdict; -ENOENT: no such group; -EINVAL: the rule in force makes no tree
 * here; -ENOMEM.  O(candidates * samples * ranks). */
int esi_tree_advisor_propose(const struct esi_tree_advisor *advisor,
                             size_t index,
                             const struct esi_advice_situation *situation,
                             struct esi_tree_advice *ret_advice);

/* "scaled", "unscaled", "measured". */
const char *esi_advice_basis_name(enum esi_advice_basis basis);
/* "better", "settled", "unsure", "unknown". */
const char *esi_advice_verdict_name(enum esi_advice_verdict verdict);

#endif
