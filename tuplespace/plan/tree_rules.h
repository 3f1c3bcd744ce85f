/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tree rules: which collective operations go through instrumented trees, and what the
 * trees look like.
 *
 * They are what is left of a pathmap's `collectives` for the observed process: a text
 * of one line a rule, read without JSON.  It comes through the environment
 * (EVENTSPACE_TREES), alike in all ranks, and later through the tree control
 * (tuplespace/tree_control.h) as the operator changes his mind.
 *
 *   eventspace-trees 1
 *   tree NAME operations=barrier,iallreduce communicator=* bytes=0-4096 shape=kary
 *        fan-out=4 levels=host,cluster segment=65536 edges=0-1,0-2        (one line)
 *   end
 *
 * The line codec is tuplespace/plan/lines.h.  A semicolon is as good as the end of a
 * line: that is how the text stands in the environment, whose lines not all launchers
 * leave whole.
 *
 * The first rule that fits an operation decides; where none fits, the MPI library's own
 * algorithm runs.  No members but NAME and `shape` must be there.
 */
#ifndef ES_TUPLESPACE_PLAN_TREE_RULES_H
#define ES_TUPLESPACE_PLAN_TREE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fields.h"
#include "eventspace/error.h"

/* The operations that trees are built for; bits 1 << kind in rules.  The nonblocking
 * forms are named apart ("iallreduce"), since a user may want only the others. */
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

/* Bit of the nonblocking form of a kind. */
#define ES_TREE_NONBLOCKING(kind) (1u << (ES_TREE_KIND_COUNT + (kind)))
#define ES_TREE_ALL_BLOCKING ((1u << ES_TREE_KIND_COUNT) - 1u)
#define ES_TREE_FAN_OUT_MAX 1024
#define ES_TREE_RANKS_MAX (1 << 20)
#define ES_TREE_SEGMENT_BYTES 65536 /* when nobody says otherwise */
#define ES_TREE_ALL ((1u << 2 * ES_TREE_KIND_COUNT) - 1u)

enum esi_tree_shape {
    ES_TREE_LIBRARY,  /* no tree: the MPI library's own algorithm */
    ES_TREE_LINEAR,   /* all under the root */
    ES_TREE_KARY,     /* `fan_out` children each, by rank */
    ES_TREE_BINOMIAL, /* by rank */
    ES_TREE_EXCHANGE, /* the same; operations without a root are exchanged in pairs */
    ES_TREE_LEVELS, /* a leader for each core, socket, host, cluster, as `levels` says,
                       joined by trees of `fan_out` (0 = all under the leader) */
    ES_TREE_EXPLICIT, /* `edges` */
};

/* Bits of `levels`, the finest first. */
enum esi_tree_level {
    ES_TREE_LEVEL_CORE = 1,
    ES_TREE_LEVEL_SOCKET = 2,
    ES_TREE_LEVEL_HOST = 4,
    ES_TREE_LEVEL_CLUSTER = 8,
    ES_TREE_LEVEL_GATEWAY = 16, /* the cluster's leader is on its gateway, if it has a
                                   rank there */
};

/* Rank `child` hangs under rank `parent` (ranks of the communicator). */
struct esi_tree_edge {
    int parent;
    int child;
};

struct esi_tree_rule {
    char name[32];
    uint32_t operations;   /* bits; default ES_TREE_ALL_BLOCKING */
    char communicator[64]; /* name pattern (fnmatch); "*" = all */
    uint64_t min_bytes;    /* payload that the call names; inclusive */
    uint64_t max_bytes;    /* inclusive; UINT64_MAX = no end */
    enum esi_tree_shape shape;
    int fan_out;            /* 2 to 1024; LEVELS: or 0; default 2 (LEVELS: 0); in maps
                               0 = left out */
    uint32_t levels;        /* bits; default host, cluster, gateway; in maps 0 = left
                               out */
    uint64_t segment_bytes; /* of large messages; 0 = whole; default 65536 */
    struct esi_tree_edge
        *edges; /* EXPLICIT: owned; every rank but one is a child once */
    size_t edge_count;
};

/* The fields of a rule: of lines, of pathmaps and of rules in short. */
extern const struct esi_fields esi_tree_rule_fields;

struct esi_tree_rules {
    struct esi_tree_rule *rules; /* owned, in order of precedence */
    size_t count;
    size_t capacity;
};

/* No two hosts must understand the rules differently, so they know of places only what
 * all ranks are told: the cluster and gateway of each host come in lines of their own:
 *
 *   host NAME cluster=NAME gateway=NAME
 *
 * before the first rule.  They are kept here. */
struct esi_tree_host {
    char name[64];
    char cluster[64]; /* "" = none */
    char gateway[64]; /* "" = none */
};

struct esi_tree_plan {
    struct esi_tree_host *hosts; /* owned */
    size_t host_count;
    size_t host_capacity;
    struct esi_tree_rules rules;
};

/* `source` names the text in errors.  -EINVAL with the place of the first fault,
 * -ENOMEM. On success the caller ends it with esi_tree_plan_fini(). */
int esi_tree_plan_parse(const char *text,
                        const char *source,
                        struct es_error *error,
                        struct esi_tree_plan *ret_plan);
/* Writes what esi_tree_plan_parse() reads, members with their default left out.  Caller
 * frees *ret_text.  -ENOMEM. */
int esi_tree_plan_format(const struct esi_tree_plan *plan, char **ret_text);
/* Makes one line of the text: what goes into the environment. */
void esi_tree_text_flatten(char *text);
/* Frees what the plan owns; the struct is the caller's.  Accepts an empty plan. */
void esi_tree_plan_fini(struct esi_tree_plan *plan);

/* A rule in short, as people give it on the command line and read it in tables:
 * "library", "linear", "kary:4", "binomial", "levels:host,cluster",
 * "levels:host,cluster:4", "explicit:0-1,0-2", each with "/SEGMENT" behind it where it
 * is not the default ("kary:4/1048576").  Fills shape, fan_out, levels, segment_bytes
 * and edges of the rule, whose other members get their defaults; its name is the
 * shape's.  The error's column
 * counts from the start of the text.  -EINVAL, -ENOMEM. */
int esi_tree_rule_parse_short(const char *text,
                              struct es_error *error,
                              struct esi_tree_rule *ret_rule);
/* The same the other way round, cut to `size`.  Returns `out`. */
const char *esi_tree_rule_format_short(const struct esi_tree_rule *rule,
                                       char *out,
                                       size_t size);
/* "allreduce,ibcast", "all", "blocking", "nonblocking" into the rule's operations, and
 * "0-4096", "4096-", "64", "*" into its bytes.  -EINVAL. */
int esi_tree_rule_parse_operations(const char *text,
                                   struct es_error *error,
                                   struct esi_tree_rule *rule);
int esi_tree_rule_parse_bytes(const char *text,
                              struct es_error *error,
                              struct esi_tree_rule *rule);
void esi_tree_rule_fini(struct esi_tree_rule *rule);
/* Sets what maps leave out to its default, which may depend on the shape. */
void esi_tree_rule_complete(struct esi_tree_rule *rule);
/* -ENOMEM: then there is no copy. */
int esi_tree_rule_copy(const struct esi_tree_rule *rule,
                       struct esi_tree_rule *ret_copy);
/* A rule of that shape that says nothing else; it has no name. */
void esi_tree_rule_init(struct esi_tree_rule *rule, enum esi_tree_shape shape);

/* Whether the edges are a tree over the ranks 0 to `count`.  -EINVAL, then with the
 * first edge that is wrong and what was expected (static text); -ENOMEM.  O(count). */
int esi_tree_edges_check(const struct esi_tree_edge *edges,
                         size_t count,
                         size_t *ret_fault,
                         const char **ret_expected);

/* The first rule for an operation (one bit of `operations`) of `bytes` on a
 * communicator of that name; NULL = none.  O(rules). */
const struct esi_tree_rule *esi_tree_rules_find(const struct esi_tree_rules *rules,
                                                uint32_t operation,
                                                const char *communicator,
                                                uint64_t bytes);

/* "kary", ...; "?" if it is none. */
const char *esi_tree_shape_name(enum esi_tree_shape shape);
/* -EINVAL: no such name. */
int esi_tree_shape_by_name(const char *name, enum esi_tree_shape *ret_shape);
/* "barrier", "iallreduce", ... of one bit; "?" if it is none. */
const char *esi_tree_operation_name(uint32_t operation);
/* The bit for a code of the operation table (large-count variants too); 0 = no trees
 * are built for it. */
uint32_t esi_tree_operation_of_code(uint16_t operation);

#endif
