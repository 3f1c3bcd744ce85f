/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A child for stages under test, which delivers tuples from memory as an element does.
 *
 * Tuple number I of a source has the position I and the origin of the source.
 */
#ifndef ES_TEST_SOURCE_H
#define ES_TEST_SOURCE_H

#include "wrappers/stages/stage.h"

struct source {
    const struct es_tuple *tuples; /* borrowed */
    size_t count;                  /* tuples that are available so far */
    uint32_t origin;
    bool asks;    /* needs announcements, which are then checked */
    int failures; /* number of pulls that still fail */

    size_t taken; /* by pulls that succeeded: see source_commit() */
    size_t given;
    struct esi_read_state *place; /* advances with `given`; borrowed, may be NULL */
    unsigned pulls;
    unsigned announced;          /* number of announcements */
    struct es_pull announcement; /* the last one; max = 0 once it was followed */
    unsigned broken_promises;    /* pulls that differed from their announcement */
    unsigned *order;             /* counts events in the tree; may be NULL */
    unsigned asked_at;
    unsigned pulled_at;
};

/* Registers the types.  Call it once per program. */
void source_register(void);

/* Opens a stage that delivers the tuples of `source`, which is borrowed. */
struct es_stage *source_open(struct source *source);

/* Opens a stage over children, with properties as "name", "value", ..., NULL.  Ends
 * the test if that fails. */
struct es_stage *stage_over(const char *type,
                            struct es_stage **children,
                            size_t child_count,
                            const struct es_stage_context *context,
                            ...) __attribute__((sentinel));

/* Commits what was delivered after the root's pull has succeeded. */
void source_commit(struct source *sources, size_t count);
/* Goes back to the last commit after the tree has failed, so that the next tree
 * reads the tuples again. */
void source_rewind(struct source *sources, size_t count);

struct consumer {
    struct es_pull pull;
    struct es_batch batch;
};

void consumer_init(struct consumer *consumer, size_t max);
void consumer_fini(struct consumer *consumer);
/* Pulls once with the next serial. */
int consumer_pull(struct consumer *consumer, struct es_stage *stage);

#endif
