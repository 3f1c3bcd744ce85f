/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The interface of search engines: search.c calls an engine with a program, the domains
 * of its variables and the order.  The engine adds each match to `matches`.
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
        *domains; /* by variable of the program, never NULL */
    const struct esi_domain *const *counted; /* by atom: the domain of a COUNT,
                                                otherwise NULL */
    const struct es_order *order;
    const struct esi_search_config *config;
    struct esi_matches *matches;              /* NULL for explain() */
    struct esi_search_statistics *statistics; /* the engine adds to them */
};

struct esi_engine_ops {
    const char *name;
    const char *help;
    /* Returns 0 if everything was searched; 1 if the search ended early (matches
     * reached its limit, or esi_search_is_over()); or -errno. */
    int (*search)(const struct esi_engine_task *task, struct es_error *error);
    /* Prints the plan of the search, and the reasons for it, without searching. */
    int (*explain)(const struct esi_engine_task *task,
                   FILE *out,
                   struct es_error *error);
};

/* Returns the universal variables without values (D8). */
uint64_t esi_universal_empty(const struct esi_program *program,
                             const struct esi_domain *const *domains);

/* Whether a disjunct can have minimal assignments with these values. */
bool esi_disjunct_may_match(const struct esi_engine_task *task, uint32_t disjunct);

extern const struct esi_engine_ops esi_engine_closure;
extern const struct esi_engine_ops esi_engine_rewrite;
extern const struct esi_engine_ops esi_engine_indexed;

#endif
