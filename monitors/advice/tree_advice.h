/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Advice: which tree would take less time than the current one.
 *
 *   esi_tree_advisor_create(&config, &advisor);
 *   for each complete instance:  esi_tree_advisor_add(advisor, instance);
 *   for each group i:            esi_tree_advisor_propose(advisor, i, &situation,
 *                                                        &advice);
 *
 * A *group* is what one rule applies to: a communicator, an operation, an order of
 * magnitude of the size.  Each group keeps a sample of recent instances with the enter
 * times of all ranks.  Candidates are the usual trees.  The model (tree_model.h)
 * replays the sample over each of them, and its results are scaled by its error for the
 * current tree, whose times were measured.  A better tree is proposed if it gains more
 * than the thresholds, and more than twice the possible effect of chance and clocks on
 * the sample.
 *
 * There is no model of the MPI library's own algorithms.  While one of them is in use,
 * predictions for trees cannot be scaled, which the advice mentions; while a tree is in
 * use, the library is proposed only from earlier measurements of it.
 *
 * Memory is bounded: groups, samples per group, ranks per sample.
 *
 * One thread at a time.
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
    ES_ADVICE_TREE_TIME, /* from when the operation could proceed to its end */
    ES_ADVICE_RANK_TIME, /* sum of the times that ranks spend in it */
};

struct esi_tree_advisor_config {
    size_t max_groups;  /* 0 = 256; beyond it the least recently used is replaced */
    size_t samples;     /* per group; 0 = 32 */
    size_t min_samples; /* 0 = 8; nothing is proposed with fewer */
    double min_gain_ns; /* 0 = 1000 */
    double min_gain;    /* relative to the current time; 0 = 0.1 */
    enum esi_advice_goal goal;
};

struct esi_tree_advisor;

int esi_tree_advisor_create(const struct esi_tree_advisor_config *config,
                            struct esi_tree_advisor **ret_advisor);
/* Accepts NULL. */
void esi_tree_advisor_destroy(struct esi_tree_advisor *advisor);

/* Adds an instance; copies what it needs.  Returns 0; -EINVAL if it is incomplete, has
 * impossible times, is an operation without trees, or is nonblocking (its duration
 * depends on the caller); or -ENOMEM. */
int esi_tree_advisor_add(struct esi_tree_advisor *advisor,
                         const struct esi_collective_instance *instance);

struct esi_advised_group {
    uint64_t key[2];
    const char *communicator; /* name; borrowed until the next instance is added */
    uint32_t operation;       /* one bit, as in tree_rules.h */
    uint64_t min_bytes;       /* bounds of the size class; inclusive, like max_bytes */
    uint64_t max_bytes;
    int size;
    bool tree;              /* the newest instance used a tree */
    uint32_t version;       /* of this version of the rules */
    size_t samples;         /* number kept */
    uint64_t instances;     /* total number */
    double mean_bytes;      /* of the samples */
    const int *world_ranks; /* of its ranks; borrowed until an instance is added */
};

size_t esi_tree_advisor_count(const struct esi_tree_advisor *advisor);
/* `index` must be below esi_tree_advisor_count(). */
void esi_tree_advisor_group(const struct esi_tree_advisor *advisor,
                            size_t index,
                            struct esi_advised_group *ret_group);

/* Measurements of a group's operations with one tree or algorithm. */
struct esi_advised_past {
    uint64_t count;   /* total number of operations */
    double mean_ns;   /* of the newest, without the fastest and slowest eighth */
    double chance_ns; /* its standard error */
    double clocks_ns; /* mean error bound of the clocks */
};

/* Measurements with a version of the rules, or with the MPI library's own algorithm
 * (`tree` false). -ENOENT if there are none; only the most recently used are kept. */
int esi_tree_advisor_past(const struct esi_tree_advisor *advisor,
                          size_t index,
                          bool tree,
                          uint32_t version,
                          struct esi_advised_past *ret_past);

/* The part of a rules version that tree tuples contain. */
#define ES_ADVICE_VERSION(version) ((version)&UINT32_C(0x7fff))

/* The input of advice besides the sample. */
struct esi_advice_situation {
    const struct esi_location *places; /* of the communicator's ranks */
    const struct esi_link_costs *costs;
    const struct esi_tree_rule *in_force; /* NULL = the MPI library's own algorithm */
    uint32_t version; /* of the rules in force: samples with others do not count */
};

/* Edges of a tree, by link class. */
struct esi_advice_edges {
    int count[ES_LINK_CLASSES];
    int depth;
    int most_children;
};

struct esi_advice_candidate {
    char name[64];  /* short description: "levels:host,cluster:2"; "library" */
    bool possible;  /* the costs of all its links are known */
    double then_ns; /* predicted mean; for the library, as measured */
    struct esi_advice_edges edges;
};

enum { ES_ADVICE_CANDIDATES = 16 };

enum esi_advice_verdict {
    ES_ADVICE_BETTER,  /* `rule` gains enough */
    ES_ADVICE_SETTLED, /* the best candidate gains too little, or is in force */
    ES_ADVICE_UNSURE,  /* it may gain, but the sample varies too much */
    ES_ADVICE_UNKNOWN, /* too few samples with the current rules, or link costs not
                          known */
};

/* The basis of the predicted time. */
enum esi_advice_basis {
    ES_ADVICE_SCALED,   /* the model, scaled by the measurements of the current tree */
    ES_ADVICE_UNSCALED, /* the model alone: the library is in use, which it does not
                           cover */
    ES_ADVICE_MEASURED, /* earlier measurements of the library */
};

struct esi_tree_advice {
    enum esi_advice_verdict verdict;
    enum esi_advice_basis basis;
    struct esi_tree_rule rule; /* the best candidate, for this group only; owns
                                  nothing.  Not valid with ES_ADVICE_UNKNOWN */
    double now_ns;  /* measured mean of one operation, without the fastest and
                       slowest eighth */
    double then_ns; /* predicted mean */
    double gain_ns;
    double gain;     /* relative to now_ns */
    double doubt_ns; /* twice the standard error of gain_ns, plus the effect of clock
                        errors */
    double scale;    /* measured / modelled for the current tree; 1 for the library */
    size_t samples;  /* number used */
    size_t best;     /* index of the best candidate */
    struct esi_advice_candidate candidates[ES_ADVICE_CANDIDATES];
    size_t candidate_count;
    char reason[256]; /* in words */
};

/* Computes advice for a group.  Returns 0 with any verdict; -ENOENT if there is no such
 * group; -EINVAL if the rule in force builds no tree here; or -ENOMEM. O(candidates *
 * samples * ranks). */
int esi_tree_advisor_propose(const struct esi_tree_advisor *advisor,
                             size_t index,
                             const struct esi_advice_situation *situation,
                             struct esi_tree_advice *ret_advice);

/* "scaled", "unscaled", "measured". */
const char *esi_advice_basis_name(enum esi_advice_basis basis);
/* "better", "settled", "unsure", "unknown". */
const char *esi_advice_verdict_name(enum esi_advice_verdict verdict);

#endif
