/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Stages: the pieces gather trees are built of, and the registry of their types.
 *
 * A stage type is a table of operations.  A stage pulls from its children, works on
 * what they appended to the batch and returns; it does nothing until it is pulled.  One
 * tree is pulled by one thread at a time.
 *
 * What a stage has emitted is taken: no pull asks for it again.  If a pull fails, the
 * whole tree is closed, and another one reads again from where the last good pull
 * ended.  So a stage needs no way back.
 *
 * What the stages of a tree keep of one element is always a suffix of what they have
 * read of it.  A stage that keeps tuples between pulls therefore emits those of one
 * element in the order in which they came, and accounts for each: es_stage_keep(),
 * es_stage_release().
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
    uint64_t serial;      /* of this pull; counts up from 1 */
    size_t max;           /* tuples to append at most */
    uint64_t realtime_ns; /* run time when the consumer began the pull; 0 where no
                             stage of the tree is `timed` */
    uint64_t timeout_ns;  /* how long a stage that waits may wait for its children */
    bool drain;           /* emit also what is being kept back */
    bool careful;         /* the tree before this one failed: read no more than can be
                             emitted in any case */
    bool measure;         /* take the time of each stage in this pull */
};

/* What a stage has cost since it was opened.  Counts are exact; times are taken in some
 * of the pulls only, since reading a clock costs more than reading an element. */
struct es_stage_cost {
    uint64_t calls;
    uint64_t tuples; /* emitted upward */
    uint64_t failures;
    uint64_t bytes;    /* that crossed a process boundary to get here */
    uint64_t lost;     /* tuples lost at this stage */
    uint64_t late;     /* tuples emitted out of order (sort) */
    uint64_t left_out; /* tuples left out on purpose (sample) */
    uint64_t measured_calls;
    uint64_t measured_ns;     /* wall time of the measured calls, children included */
    uint64_t measured_cpu_ns; /* CPU time of the calling thread, likewise */
};

/* Estimates for all calls, from the measured ones. */
ES_API uint64_t es_stage_cost_time_ns(const struct es_stage_cost *cost);
ES_API uint64_t es_stage_cost_cpu_ns(const struct es_stage_cost *cost);

struct es_stage;
struct es_link;

/* What a stage may look at beside its children.  Borrowed by all stages of a tree. */
struct es_stage_context {
    const struct es_origins *origins;
    struct es_places *places; /* reading positions per origin; NULL = none move */
    /* Name of a communicator of an origin's process, "" when not known.  The text stays
     * valid until the next call.  NULL: names are not to be had. One thread at a time:
     * stages call es_stage_communicator_name(). */
    const char *(*communicator_name)(void *data,
                                     uint32_t origin,
                                     uint16_t communicator);
    /* A new connection to the tuple server of a host.  NULL: there is none to be had.
     * May be called by several threads. */
    int (*connect)(void *data,
                   const char *host,
                   uint64_t timeout_ns,
                   struct es_error *error,
                   struct es_link **ret_link);
    /* The address of a host's tuple server, for servers that are to connect to it.
     * -ENOENT.  NULL: none is known. */
    int (*address)(void *data, const char *host, char *out, size_t size);
    void *data;
    const char *run;   /* name of the run that is observed; NULL = not known */
    bool reads_placed; /* also elements whose tuples are found on another host: for the
                          tuple servers themselves */
};

/* Name of a communicator of an origin's process, "" when not known, copied.  Stages
 * name communicators by this and not by the context's function: it may be called by
 * several threads. */
ES_API const char *es_stage_communicator_name(const struct es_stage_context *context,
                                              uint32_t origin,
                                              uint16_t communicator,
                                              char ret_name[64]);

#define ES_STAGE_NO_ORIGIN UINT32_MAX

/* How to open a stage; all borrowed for the call, except the children. */
struct es_stage_spec {
    const char *type;
    const struct es_property *properties;
    size_t property_count;
    struct es_stage **children; /* the stages; taken on success */
    size_t child_count;
    uint32_t origin;   /* stages that stand for one element, else ES_STAGE_NO_ORIGIN */
    const char *label; /* for people: "host a", "thread 3.0" */
    const struct es_stage_context *context;
    const void *data; /* what else the type's open() needs; seen as stage->data there */
};

/* Announces a pull that will follow at once with the same serial and max, so that
 * stages that wait for others can send all requests before anybody waits for a reply.
 * A failure shows in the pull. */
typedef void (*es_stage_ask_fn)(struct es_stage *stage, const struct es_pull *pull);

/* Appends to the batch.  On failure what it appended is dropped by the caller. */
typedef int (*es_stage_pull_fn)(struct es_stage *stage,
                                const struct es_pull *pull,
                                struct es_batch *batch);

/* The same for all siblings below `parent`, which share this function, one after the
 * other. What it needs of them lies side by side in parent->siblings.  The limit leaves
 * room for one tuple of each.  The parent counts one call and one tuple of each (so
 * that accounts need not be touched); for a sibling that emitted none the function
 * takes one off its cost.tuples, and off those of the stages between it and `parent`.
 */
typedef int (*es_stage_pull_siblings_fn)(struct es_stage *parent,
                                         const struct es_pull *pull,
                                         struct es_batch *batch);

/* What is needed to pull one of many siblings: copies of its stage's fields. */
struct es_stage_sibling {
    struct es_stage *stage; /* borrowed */
    void *state;
    uint32_t origin;
};

/* Open to authors of stage types; consumers use es_scope.  What a pull needs is first.
 */
struct es_stage {
    es_stage_pull_fn pull; /* the type's; its open() may choose another one */
    void *state;           /* the type's own */
    uint32_t origin;
    struct es_stage_cost cost; /* without what the parent counts: see es_stage_cost() */
    uint64_t together;         /* times the siblings were pulled by pull_siblings */
    struct es_stage *parent;   /* borrowed; NULL = the root */
    const struct es_stage_ops *ops;
    const struct es_stage_context *context;
    /* Set by open() where many siblings can be pulled faster together, else NULL.  For
     * stages that emit one tuple at most. */
    es_stage_pull_siblings_fn pull_siblings;
    struct es_stage **children;
    size_t child_count;
    /* Of the children, and of those of children that only gather, if all have the same
     * pull_siblings; else NULL. */
    struct es_stage_sibling *siblings;
    size_t sibling_count;
    bool asks;  /* it or a stage below has something to announce: see es_stage_ask() */
    bool timed; /* it or a stage below may look at the time of the pull */
    const void *data; /* the spec's, during open() only */
    char *label;
};

struct es_stage_ops {
    const char *name;
    const char *help; /* one line */
    const struct es_property_schema *properties;
    size_t property_count;
    size_t min_children;
    size_t max_children; /* SIZE_MAX = any number */

    /* Makes stage->state from one value per schema row.  NULL: there is nothing to
     * make.  On failure nothing may be left behind. */
    int (*open)(struct es_stage *stage,
                const struct es_property_value *values,
                struct es_error *error);
    /* Judges what the schema cannot: an expression, two values that exclude each other.
     * May be NULL.  Called before open(), and where trees are only checked. */
    int (*check)(const struct es_property_value *values, struct es_error *error);
    /* NULL: the type stands on the writing side and cannot be pulled. */
    es_stage_pull_fn pull;
    /* Passes the announcement to the children with the request they will get, or sends
     * its own.  NULL: this type's pull cannot tell before what it will ask of them. */
    es_stage_ask_fn ask;
    bool keeps;   /* it keeps tuples between pulls: see es_stage_keep() */
    bool untimed; /* it does not look at the time of the pull, which costs more than
                     reading an element */
    /* Frees stage->state.  Children are closed afterwards by the caller.  May be NULL.
     */
    void (*close)(struct es_stage *stage);
};

/* Adds a type; the table is borrowed for good.  -EEXIST, -EINVAL (incomplete) or
 * -ENOSPC. */
ES_API int es_stage_register(const struct es_stage_ops *ops);
/* NULL when unknown. */
ES_API const struct es_stage_ops *es_stage_find(const char *name);
/* All types in order of registration; NULL behind the last. */
ES_API const struct es_stage_ops *es_stage_at(size_t index);

/* Opens a stage.  Takes the children only on success.  -ENOENT: no such type (the
 * nearest name is given); -EINVAL: wrong properties or number of children. */
ES_API int es_stage_open(const struct es_stage_spec *spec,
                         struct es_error *error,
                         struct es_stage **ret_stage);
/* Whether a stage could be opened with these properties, as far as that can be told
 * without its children.  -ENOENT, -EINVAL as es_stage_open(). */
ES_API int es_stage_check(const char *type,
                          const struct es_property *properties,
                          size_t count,
                          struct es_error *error);
/* Closes the stage and its children.  Accepts NULL. */
ES_API void es_stage_close(struct es_stage *stage);

/* What the stage has cost up to now. */
ES_API void es_stage_cost(const struct es_stage *stage, struct es_stage_cost *ret_cost);

/* The stage has taken this tuple from a child and keeps it.  Until the same stage
 * releases it, reading of the tuple's element would begin anew at this tuple or before
 * it.  Of one element tuples are kept and released in order; those that leave in one
 * pull may be released in any order.  Tuples under way and summaries have no position
 * and are passed over.  Only for types with `keeps`. */
ES_API void es_stage_keep(const struct es_stage *stage,
                          const struct es_tuple *tuple,
                          const struct es_mark *mark);
/* The stage has emitted this tuple upward, or dropped it. */
ES_API void es_stage_release(const struct es_stage *stage,
                             const struct es_tuple *tuple,
                             const struct es_mark *mark);

/* Announces a pull; costs nothing where nobody below has anything to announce. */
static inline void es_stage_ask(struct es_stage *stage, const struct es_pull *pull)
{
    if (stage->asks)
        stage->ops->ask(stage, pull);
}

ES_API int es_stage_pull_measured(struct es_stage *stage,
                                  const struct es_pull *pull,
                                  struct es_batch *batch);

/* Pulls a stage, keeping its accounts.  0 or -errno; then the batch is as it was. */
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
