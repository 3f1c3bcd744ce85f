/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Stages: the nodes of gather trees, and the registry of stage types.
 *
 * A stage type is a table of operations.  When a stage is pulled, it pulls its
 * children, processes what they appended to the batch, and returns; otherwise it is
 * idle.  One thread at a time pulls a tree.
 *
 * What a stage has emitted is final: no pull requests it again.  If a pull fails, the
 * whole tree is closed, and a new tree continues from the end of the last successful
 * pull.  Stages therefore need no rollback.
 *
 * The tuples of one element that the stages of a tree hold are always a suffix of those
 * read from it.  A stage that holds tuples between pulls must emit the tuples of each
 * element in their order, and account for each: es_stage_keep(), es_stage_release().
 */
#ifndef EVENTSPACE_STAGE_H
#define EVENTSPACE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"
#include "eventspace/stage_batch.h"
#include "eventspace/stage_property.h"

struct es_pull {
    uint64_t serial;      /* number of this pull, from 1 */
    size_t max;           /* maximum number of tuples to append */
    uint64_t realtime_ns; /* run time at which the consumer began the
                             pull; 0 if no stage of the tree is `timed` */
    uint64_t timeout_ns;  /* how long a stage may wait for its children */
    bool drain;           /* also emit tuples that are held back */
    bool careful;         /* the previous tree failed: read
                             only as much as can be emitted */
    bool measure;         /* measure the time of each stage in this pull */
};

/* What a stage has cost since it was opened.  Counts are exact.  Times are measured
 * only in some pulls, because reading a clock costs more than reading an element. */
struct es_stage_cost {
    uint64_t calls;
    uint64_t tuples; /* emitted upward */
    uint64_t failures;
    uint64_t bytes;    /* bytes that crossed a process boundary to reach this stage */
    uint64_t lost;     /* tuples lost at this stage */
    uint64_t late;     /* tuples emitted out of order (sort) */
    uint64_t left_out; /* tuples omitted on purpose (sample) */
    uint64_t measured_calls;
    uint64_t measured_ns;     /* wall time of the measured calls, including children */
    uint64_t measured_cpu_ns; /* CPU time of the calling thread, including children */
};

/* Estimates the time of all calls from the measured ones. */
ES_API uint64_t es_stage_cost_time_ns(const struct es_stage_cost *cost);
ES_API uint64_t es_stage_cost_cpu_ns(const struct es_stage_cost *cost);

struct es_stage;
struct es_link;

/* What the stages of a tree may use in addition to their children.  Borrowed by all of
 * them. */
struct es_stage_context {
    const struct es_origins *origins;
    struct es_places *places; /* read positions per origin; NULL
                                 if positions do not change */
    /* Name of a communicator of an origin's process, "" if not known.  Valid until the
     * next call.  NULL if names are not available.  Not thread safe: stages call
     * es_stage_communicator_name(). */
    const char *(*communicator_name)(void *data,
                                     uint32_t origin,
                                     uint16_t communicator);
    /* Opens a connection to the tuple server of a host.  NULL if not available.  Thread
     * safe. */
    int (*connect)(void *data,
                   const char *host,
                   uint64_t timeout_ns,
                   struct es_error *error,
                   struct es_link **ret_link);
    /* Address of a host's tuple server, for servers that connect to it.  Returns 0 or
     * -ENOENT.  NULL if no addresses are known. */
    int (*address)(void *data, const char *host, char *out, size_t size);
    void *data;
    const char *run;   /* name of the observed run; NULL if not known */
    bool reads_placed; /* also read elements whose tuples are on another
                          host; for the tuple servers themselves */
};

/* Copies the name of a communicator of an origin's process, "" if not known, to
 * `ret_name` and returns it.  Thread safe, unlike the context's function. */
ES_API const char *es_stage_communicator_name(const struct es_stage_context *context,
                                              uint32_t origin,
                                              uint16_t communicator,
                                              char ret_name[64]);

#define ES_STAGE_NO_ORIGIN UINT32_MAX

/* How to open a stage.  All pointers but the children are borrowed for the call. */
struct es_stage_spec {
    const char *type;
    const struct es_property *properties;
    size_t property_count;
    struct es_stage **children; /* owned by the new stage on success */
    size_t child_count;
    uint32_t origin;   /* for stages that stand for one
                          element; else ES_STAGE_NO_ORIGIN */
    const char *label; /* for messages: "host a", "thread 3.0" */
    const struct es_stage_context *context;
    const void *data; /* additional data for the type's open(),
                         which sees it as stage->data */
};

/* Announces a pull that follows immediately with the same serial and max.  Stages that
 * wait for others can thus send all requests before waiting for a reply.  Errors are
 * reported by the pull. */
typedef void (*es_stage_ask_fn)(struct es_stage *stage, const struct es_pull *pull);

/* Appends tuples to the batch.  Returns 0 or -errno; on failure the caller removes what
 * was appended. */
typedef int (*es_stage_pull_fn)(struct es_stage *stage,
                                const struct es_pull *pull,
                                struct es_batch *batch);

/* Pulls all siblings below `parent` in turn, which all have this function.  The data it
 * needs is in the array parent->siblings.  `pull->max` allows one tuple per sibling.
 * The parent counts one call and one tuple for each sibling, so the accounts of the
 * siblings are not touched; for a sibling without a tuple, the function subtracts one
 * from cost.tuples of the sibling and of the stages between it and `parent`. */
typedef int (*es_stage_pull_siblings_fn)(struct es_stage *parent,
                                         const struct es_pull *pull,
                                         struct es_batch *batch);

/* What is needed to pull one of many siblings: copied from its stage. */
struct es_stage_sibling {
    struct es_stage *stage; /* borrowed */
    void *state;
    uint32_t origin;
};

/* For authors of stage types; consumers use es_scope.  Fields needed by a pull come
 * first. */
struct es_stage {
    es_stage_pull_fn pull; /* the type's function, or one chosen by its open() */
    void *state;           /* private to the type */
    uint32_t origin;
    struct es_stage_cost cost; /* without what the parent counts: see es_stage_cost() */
    uint64_t together;         /* number of pulls by pull_siblings */
    struct es_stage *parent;   /* borrowed; NULL for the root */
    const struct es_stage_ops *ops;
    const struct es_stage_context *context;
    /* Set by open() if pulling many siblings together is faster, else NULL.  For stages
     * that emit at most one tuple. */
    es_stage_pull_siblings_fn pull_siblings;
    struct es_stage **children;
    size_t child_count;
    /* The children, and the children of those that only gather, if all have the same
     * pull_siblings; else NULL. */
    struct es_stage_sibling *siblings;
    size_t sibling_count;
    bool asks;        /* the stage or one below it has to
                         announce pulls: see es_stage_ask() */
    bool timed;       /* the stage or one below it uses the time of the pull */
    const void *data; /* from the spec; valid during open() only */
    char *label;
};

struct es_stage_ops {
    const char *name;
    const char *help; /* one line */
    const struct es_property_schema *properties;
    size_t property_count;
    size_t min_children;
    size_t max_children; /* SIZE_MAX for any number */

    /* Creates stage->state from one value per schema row.  NULL if there is no state.
     * Must free everything on failure. */
    int (*open)(struct es_stage *stage,
                const struct es_property_value *values,
                struct es_error *error);
    /* Checks what the schema cannot express: an expression, or values that exclude each
     * other.  May be NULL.  Called before open(), and to check trees without opening
     * them. */
    int (*check)(const struct es_property_value *values, struct es_error *error);
    /* NULL if the type belongs to the writing side and cannot be pulled. */
    es_stage_pull_fn pull;
    /* Passes the announcement to the children, with the request that their pull will
     * have, or sends its own.  NULL if the type does not know beforehand what it will
     * request from them. */
    es_stage_ask_fn ask;
    bool keeps;   /* holds tuples between pulls: see es_stage_keep() */
    bool untimed; /* does not use the time of the pull, which is
                     more expensive than reading an element */
    /* Frees stage->state.  The caller then closes the children.  May be NULL. */
    void (*close)(struct es_stage *stage);
};

/* Registers a type.  The table is borrowed permanently.  Returns 0, -EEXIST, -EINVAL
 * (if incomplete) or -ENOSPC. */
ES_API int es_stage_register(const struct es_stage_ops *ops);
/* Finds a type by name; NULL if unknown. */
ES_API const struct es_stage_ops *es_stage_find(const char *name);
/* Returns a type by index in the order of registration; NULL beyond the last. */
ES_API const struct es_stage_ops *es_stage_at(size_t index);

/* Opens a stage, which owns the children on success.  Returns 0; -ENOENT for an unknown
 * type (`error` suggests the nearest name); or -EINVAL for wrong properties or a wrong
 * number of children. */
ES_API int es_stage_open(const struct es_stage_spec *spec,
                         struct es_error *error,
                         struct es_stage **ret_stage);
/* Checks whether a stage with these properties could be opened, as far as possible
 * without its children.  Returns 0, -ENOENT or -EINVAL, like es_stage_open(). */
ES_API int es_stage_check(const char *type,
                          const struct es_property *properties,
                          size_t count,
                          struct es_error *error);
/* Closes the stage and its children.  Accepts NULL. */
ES_API void es_stage_close(struct es_stage *stage);

/* Returns what the stage has cost so far. */
ES_API void es_stage_cost(const struct es_stage *stage, struct es_stage_cost *ret_cost);

/* Notes that the stage holds a tuple taken from a child.  Until the stage releases it,
 * reading of the tuple's element would resume at this tuple or before it.  Tuples of
 * one element must be held and released in order; those released within one pull may be
 * in any order.  Ignores tuples of operations under way and summaries, which have no
 * position.  Only for types with `keeps`. */
ES_API void es_stage_keep(const struct es_stage *stage,
                          const struct es_tuple *tuple,
                          const struct es_mark *mark);
/* Notes that the stage has emitted or dropped a tuple that it held. */
ES_API void es_stage_release(const struct es_stage *stage,
                             const struct es_tuple *tuple,
                             const struct es_mark *mark);

/* Announces a pull.  Costs nothing if no stage below needs announcements. */
static inline void es_stage_ask(struct es_stage *stage, const struct es_pull *pull)
{
    if (stage->asks)
        stage->ops->ask(stage, pull);
}

/* Like es_stage_pull(), and measures the time. */
ES_API int es_stage_pull_measured(struct es_stage *stage,
                                  const struct es_pull *pull,
                                  struct es_batch *batch);

/* Pulls a stage and updates its cost.  Returns 0; or -errno, and then the tuples of the
 * batch are unchanged. */
static inline int es_stage_pull(struct es_stage *stage,
                                const struct es_pull *pull,
                                struct es_batch *batch)
{
    size_t before = batch->count;
    int result;

    if (__builtin_expect(pull->measure, 0))
        return es_stage_pull_measured(stage, pull, batch);
    result = stage->pull(stage, pull, batch);
    stage->cost.calls++;
    if (__builtin_expect(result < 0, 0)) {
        stage->cost.failures++;
        batch->count = before;
        return result;
    }
    stage->cost.tuples += batch->count - before;
    return 0;
}

#endif
