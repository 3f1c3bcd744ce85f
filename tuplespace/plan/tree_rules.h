/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tree rules: which collective operations use instrumented trees, and the shapes of the
 * trees.
 *
 * They are the part of a pathmap's `collectives` that the observed process needs: a
 * text with one line for each rule, which can be read without JSON.  Initially it comes
 * from the environment (EVENTSPACE_TREES), which must be the same in all ranks; the
 * operator can change it through the tree control (tuplespace/tree_control.h).
 *
 *   eventspace-trees 1
 *   tree NAME operations=barrier,iallreduce communicator=* bytes=0-4096 shape=kary
 *        fan-out=4 levels=host,cluster segment=65536 edges=0-1,0-2        (one line)
 *   end
 *
 * Lines are read by tuplespace/plan/lines.h.  A semicolon also ends a line; in the
 * environment, the text is written this way because some launchers do not preserve line
 * breaks.
 *
 * The first rule that matches an operation applies; if none does, the algorithm of the
 * MPI library runs.  Only NAME and `shape` are required.
 */
#ifndef ES_TUPLESPACE_PLAN_TREE_RULES_H
#define ES_TUPLESPACE_PLAN_TREE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fields.h"
#include "eventspace/error.h"

/* The operations that can use trees, as bits 1 << kind in rules.  Nonblocking forms
 * have names of their own ("iallreduce"), because users may want trees for blocking
 * ones only. */
enum esi_tree_kind {
    ES_TREE_BARRIER,
    ES_TREE_BCAST,
    ES_TREE_REDUCE,
    ES_TREE_ALLREDUCE,
    ES_TREE_GATHER,
    ES_TREE_SCATTER,
    ES_TREE_ALLGATHER,
    ES_TREE_KIND_COUNT,
};

/* The bit of the nonblocking form of a kind. */
#define ES_TREE_NONBLOCKING(kind) (1u << (ES_TREE_KIND_COUNT + (kind)))
#define ES_TREE_ALL_BLOCKING ((1u << ES_TREE_KIND_COUNT) - 1u)
#define ES_TREE_FAN_OUT_MAX 1024
#define ES_TREE_RANKS_MAX (1 << 20)
#define ES_TREE_SEGMENT_BYTES 65536 /* default, in bytes */
#define ES_TREE_ALL ((1u << 2 * ES_TREE_KIND_COUNT) - 1u)

enum esi_tree_shape {
    ES_TREE_LIBRARY,  /* no tree: the algorithm of the MPI library */
    ES_TREE_LINEAR,   /* all ranks below the root */
    ES_TREE_KARY,     /* `fan_out` children per rank, in rank order */
    ES_TREE_BINOMIAL, /* in rank order */
    ES_TREE_EXCHANGE, /* binomial; operations without a root use pairwise exchange */
    ES_TREE_LEVELS,   /* a leader for each core, socket, host and cluster in `levels`,
                         connected by trees of `fan_out` (0: all below the leader) */
    ES_TREE_EXPLICIT, /* given by `edges` */
};

/* Bits of `levels`, the innermost first. */
enum esi_tree_level {
    ES_TREE_LEVEL_CORE = 1,
    ES_TREE_LEVEL_SOCKET = 2,
    ES_TREE_LEVEL_HOST = 4,
    ES_TREE_LEVEL_CLUSTER = 8,
    ES_TREE_LEVEL_GATEWAY = 16, /* the leader of a cluster is on its
                                   gateway, if that has a rank */
};

/* Rank `child` is a child of rank `parent` (ranks of the communicator). */
struct esi_tree_edge {
    int parent;
    int child;
};

struct esi_tree_rule {
    char name[32];
    uint32_t operations;   /* bits; default ES_TREE_ALL_BLOCKING */
    char communicator[64]; /* name pattern (fnmatch); "*" for all */
    uint64_t min_bytes;    /* minimum payload of the call */
    uint64_t max_bytes;    /* maximum payload; UINT64_MAX if unbounded */
    enum esi_tree_shape shape;
    int fan_out;            /* 2 to 1024; LEVELS: or 0; default 2
                               (LEVELS: 0); 0 in maps if not set */
    uint32_t levels;        /* bits; default host, cluster,
                               gateway; 0 in maps if not set */
    uint64_t segment_bytes; /* segments of large messages; 0 to
                               not divide them; default 65536 */
    struct esi_tree_edge
        *edges; /* EXPLICIT: owned; all ranks but one are a child once */
    size_t edge_count;
};

/* The fields of a rule, in lines, in pathmaps and in short form. */
extern const struct esi_fields esi_tree_rule_fields;

struct esi_tree_rules {
    struct esi_tree_rule *rules; /* owned, in order of precedence */
    size_t count;
    size_t capacity;
};

/* All hosts must interpret the rules in the same way, so the rules contain what must be
 * known about places.  The cluster and gateway of each host are given in lines before
 * the first rule, and stored here:
 *
 *   host NAME cluster=NAME gateway=NAME */
struct esi_tree_host {
    char name[64];
    char cluster[64]; /* "" if none */
    char gateway[64]; /* "" if none */
};

struct esi_tree_plan {
    struct esi_tree_host *hosts; /* owned */
    size_t host_count;
    size_t host_capacity;
    struct esi_tree_rules rules;
};

/* Parses tree rules.  `source` names the text in errors.  Returns 0; -EINVAL, with the
 * location of the first error; or -ENOMEM.  On success the caller frees the plan with
 * esi_tree_plan_fini(). */
int esi_tree_plan_parse(const char *text,
                        const char *source,
                        struct es_error *error,
                        struct esi_tree_plan *ret_plan);
/* Formats a plan for esi_tree_plan_parse(), without defaults.  Returns 0 or -ENOMEM.
 * The caller frees *ret_text. */
int esi_tree_plan_format(const struct esi_tree_plan *plan, char **ret_text);
/* Converts the text to one line, as used in the environment. */
void esi_tree_text_flatten(char *text);
/* Frees the contents of the plan.  Accepts an empty plan. */
void esi_tree_plan_fini(struct esi_tree_plan *plan);

/* Parses a rule in short form, as used on the command line and in tables: "library",
 * "linear", "kary:4", "binomial", "levels:host,cluster", "levels:host,cluster:4" or
 * "explicit:0-1,0-2", each followed by "/SEGMENT" if that is not the default
 * ("kary:4/1048576").  Sets shape, fan_out, levels, segment_bytes and edges of the
 * rule; its name is that of the shape, and other members get their defaults.  Returns
 * 0, -EINVAL or -ENOMEM.  The column of the error counts from the start of the text. */
int esi_tree_rule_parse_short(const char *text,
                              struct es_error *error,
                              struct esi_tree_rule *ret_rule);
/* Formats a rule in short form, truncated to `size`.  Returns `out`. */
const char *esi_tree_rule_format_short(const struct esi_tree_rule *rule,
                                       char *out,
                                       size_t size);
/* Parse "allreduce,ibcast", "all", "blocking" or "nonblocking" into the rule's
 * operations, and "0-4096", "4096-", "64" or "*" into its bytes.  Return 0 or
 * -EINVAL. */
int esi_tree_rule_parse_operations(const char *text,
                                   struct es_error *error,
                                   struct esi_tree_rule *rule);
int esi_tree_rule_parse_bytes(const char *text,
                              struct es_error *error,
                              struct esi_tree_rule *rule);
void esi_tree_rule_fini(struct esi_tree_rule *rule);
/* Sets members that maps may omit to their defaults, which may depend on the shape. */
void esi_tree_rule_complete(struct esi_tree_rule *rule);
/* Copies a rule.  Returns 0 or -ENOMEM. */
int esi_tree_rule_copy(const struct esi_tree_rule *rule,
                       struct esi_tree_rule *ret_copy);
/* Initializes a rule of that shape with defaults and without a name. */
void esi_tree_rule_init(struct esi_tree_rule *rule, enum esi_tree_shape shape);

/* Checks whether the edges form a tree over the ranks 0 to `count`.  Returns 0;
 * -EINVAL, with the first wrong edge and what was expected (static text); or -ENOMEM.
 * O(count). */
int esi_tree_edges_check(const struct esi_tree_edge *edges,
                         size_t count,
                         size_t *ret_fault,
                         const char **ret_expected);

/* Finds the first rule for an operation (one bit of `operations`) of `bytes` on a
 * communicator of that name; NULL if none.  O(rules). */
const struct esi_tree_rule *esi_tree_rules_find(const struct esi_tree_rules *rules,
                                                uint32_t operation,
                                                const char *communicator,
                                                uint64_t bytes);

/* Name of a shape, "kary", ...; "?" for an invalid one. */
const char *esi_tree_shape_name(enum esi_tree_shape shape);
/* Finds a shape by name.  Returns 0 or -EINVAL. */
int esi_tree_shape_by_name(const char *name, enum esi_tree_shape *ret_shape);
/* Name of one operation bit, "barrier", "iallreduce", ...; "?" for an invalid one. */
const char *esi_tree_operation_name(uint32_t operation);
/* The bit for a code of the operation table, including large-count variants; 0 if it
 * cannot use trees. */
uint32_t esi_tree_operation_of_code(uint16_t operation);

#endif
