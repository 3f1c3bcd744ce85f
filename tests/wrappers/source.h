/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A child for stages under test: gives tuples from memory, as an element does.
 *
 * Tuple number I of a source has the position I and the origin of the source.
 */
#ifndef ES_TEST_SOURCE_H
#define ES_TEST_SOURCE_H

#include "wrappers/stages/stage.h"

struct source {
    const struct es_tuple *tuples; /* borrowed */
    size_t count;                  /* tuples there are by now */
    uint32_t origin;
    bool asks;    /* it wants to be asked: what follows is checked then */
    int failures; /* pulls that fail from now on */

    size_t taken; /* of the pulls that succeeded: see source_commit() */
    size_t given;
    struct esi_read_state *place; /* moves with `given`; borrowed, may be NULL */
    unsigned pulls;
    unsigned announced;          /* times it was asked */
    struct es_pull announcement; /* the last; max = 0 when it was followed */
    unsigned broken_promises;    /* pulls that differed from the announcement */
    unsigned *order;             /* counts what happens in the tree; may be NULL */
    unsigned asked_at;
    unsigned pulled_at;
};

/* Registers the types; once per program. */
void source_register(void);

/* A stage that gives what `source` has; `source` is borrowed. */
struct es_stage *source_open(struct source *source);

/* A stage over children, with properties given as "name", "value", ..., NULL.  Fails
 * the test when it cannot be opened. */
struct es_stage *stage_over(const char *type,
                            struct es_stage **children,
                            size_t child_count,
                            const struct es_stage_context *context,
                            ...) __attribute__((sentinel));

/* The root's pull has succeeded. */
void source_commit(struct source *sources, size_t count);
/* The tree has failed and is closed: what it read is read again by the next. */
void source_rewind(struct source *sources, size_t count);

struct consumer {
    struct es_pull pull;
    struct es_batch batch;
};

void consumer_init(struct consumer *consumer, size_t max);
void consumer_fini(struct consumer *consumer);
/* Pulls once. */
int consumer_pull(struct consumer *consumer, struct es_stage *stage);

/* xorshift; `state` is not 0. */
uint64_t next_random(uint64_t *state);

#endif
