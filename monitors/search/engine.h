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

#include "base/fields.h"
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
    const void *tuning;          /* of the engine, never NULL if it has any */
    struct esi_matches *matches; /* NULL for explain() */
    struct esi_search_statistics *statistics; /* the engine adds to them */
};

struct esi_engine_ops {
    const char *name;
    const char *help;
    bool has_threads;                /* uses several, if told to */
    const char *counted;             /* what it alone counts; NULL = nothing */
    const void *defaults;            /* of its tuning; NULL = it has none */
    const struct esi_fields *fields; /* of its tuning, for people; NULL = none */
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

/* All engines, terminated by NULL.  The first one is the default. */
extern const struct esi_engine_ops *const esi_engines[];

/* Finds an engine; the name NULL means the default.  NULL if there is none of this
 * name. */
const struct esi_engine_ops *esi_engine_find(const char *name);

enum { ES_ENGINE_NAMES = 128 };

/* Writes "one DEFAULT, another or a third".  Returns `out`. */
const char *esi_engine_names(const char *after_default, char out[ES_ENGINE_NAMES]);

#endif
