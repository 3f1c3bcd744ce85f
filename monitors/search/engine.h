/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What an engine gets and gives: search.c calls it with a program, the values of its
 * variables and the order, and it adds each match to the matches.
 */
#ifndef ES_MONITORS_SEARCH_ENGINE_H
#define ES_MONITORS_SEARCH_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "monitors/order/order.h"
#include "monitors/search/domains/domain.h"
#include "monitors/search/matches.h"
#include "monitors/search/language/program.h"
#include "monitors/search/search.h"

struct esi_engine_task {
    const struct esi_program *program;
    const struct esi_domain *const
        *domains; /* of the program's variables, never NULL */
    const struct esi_domain *const *counted; /* of its atoms: of COUNT, else NULL */
    const struct es_order *order;
    const struct esi_search_config *config;
    struct esi_matches *matches;              /* to explain: NULL */
    struct esi_search_statistics *statistics; /* the engine adds to them */
};

struct esi_engine_ops {
    const char *name;
    const char *help;
    /* 0: all was searched; 1: enough (a limit, an interrupt, the time: matches told, or
     * esi_search_is_over()); -errno. */
    int (*search)(const struct esi_engine_task *task, struct es_error *error);
    /* Writes what the engine makes of the pattern and in which order it will search,
     * and why; searches nothing. */
    int (*explain)(const struct esi_engine_task *task,
                   FILE *out,
                   struct es_error *error);
};

/* Universal variables without values (D8). */
uint64_t esi_universal_empty(const struct esi_program *program,
                             const struct esi_domain *const *domains);

/* Whether a support may have matches of its own with these values. */
bool esi_support_may_match(const struct esi_engine_task *task, uint32_t support);

extern const struct esi_engine_ops esi_engine_closure;
extern const struct esi_engine_ops esi_engine_rewrite;
extern const struct esi_engine_ops esi_engine_indexed;

#endif
