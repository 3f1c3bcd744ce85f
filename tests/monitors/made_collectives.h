/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Parts of collective operations, made by hand, that pass through causality to the
 * analysis.
 *
 *     made_collectives_init(&made, &matching, on_instance, data);
 *     made_collectives_add(&made, &part);
 *     made_collectives_pass(&made, now_ns);
 *     made_collectives_fini(&made);
 */
#ifndef ES_TESTS_MONITORS_MADE_COLLECTIVES_H
#define ES_TESTS_MONITORS_MADE_COLLECTIVES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/causality/causality.h"
#include "monitors/collectives/collectives.h"
#include "tuplespace/operation_codes.h"

enum { MADE_RANKS = 8 };

struct made_part {
    uint16_t operation;
    uint32_t instance;
    int size, rank, root;
    uint32_t bytes, version;
    uint64_t enter_ns, exit_ns, error_ns;
    int clock; /* ranks with the same one are on one host; 0 = a host of its own */
    const char *site;
};

struct made_collectives {
    struct esi_causality *causality;
    struct esi_collectives *analysis;
    struct esi_run_process *processes[MADE_RANKS]; /* NULL = not added yet */
    uint32_t elements[MADE_RANKS];
};

/* Judges by size if asked, and matches with the bounds of `matching`. */
static inline void made_collectives_init(struct made_collectives *made,
                                         struct esi_causality_config matching,
                                         struct esi_collectives_config analysis)
{
    *made = (struct made_collectives){.causality = NULL};
    assert_int_equal(esi_collectives_create(&analysis, &made->analysis), 0);
    matching.only_instances = true;
    matching.listener = esi_collectives_listener(made->analysis);
    assert_int_equal(esi_causality_create(&matching, &made->causality), 0);
}

static inline void made_collectives_fini(struct made_collectives *made)
{
    esi_causality_destroy(made->causality);
    esi_collectives_destroy(made->analysis);
}

/* World ranks begin with 100. */
static inline void made_collectives_join(struct made_collectives *made,
                                         const struct made_part *part)
{
    struct esi_run_model *run = esi_causality_run(made->causality);
    const struct esi_run_reported world = {
        .key = {11, 22}, .name = "world", .rank = part->rank, .size = part->size};
    struct esi_run_process process = {.rank = 100 + part->rank};
    char host[16];

    snprintf(host, sizeof host, "%s%d", part->clock ? "shared" : "own",
             part->clock ? part->clock : part->rank);
    process.host = host;
    assert_int_equal(
        esi_run_model_add_process(run, &process, &made->processes[part->rank]), 0);
    assert_int_equal(esi_causality_add_element(made->causality,
                                               made->processes[part->rank], 0,
                                               &made->elements[part->rank]),
                     0);
    assert_int_equal(
        esi_run_model_set_communicator(run, made->processes[part->rank], 0, &world), 0);
}

static inline void made_collectives_add(struct made_collectives *made,
                                        const struct made_part *part)
{
    const struct esi_causal_tuple told = {
        .tuple = {.operation = part->operation,
                  .start = part->enter_ns,
                  .stop = part->exit_ns,
                  .peer = part->root,
                  .tag = (int32_t)(part->version << 16),
                  .sequence = part->instance,
                  .bytes = part->bytes},
        .start_ns = part->enter_ns,
        .stop_ns = part->exit_ns,
        .error_ns = part->error_ns,
        .site = part->site};

    assert_true(part->rank < MADE_RANKS);
    if (!made->processes[part->rank])
        made_collectives_join(made, part);
    assert_int_equal(
        esi_causality_add(made->causality, made->elements[part->rank], &told), 0);
}

/* Everything up to `now_ns`, when rank 0 ends a call of another kind, was read. */
static inline void made_collectives_pass(struct made_collectives *made, uint64_t now_ns)
{
    const struct made_part other = {
        .operation = ES_OP_MPI_Init, .size = 3, .enter_ns = 1, .exit_ns = now_ns};

    made_collectives_add(made, &other);
    assert_int_equal(esi_causality_advance(made->causality), 0);
}

static inline struct esi_causality_totals made_collectives_totals(
    const struct made_collectives *made)
{
    struct esi_causality_totals totals;

    esi_causality_totals(made->causality, &totals);
    return totals;
}

#endif
