/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_closure_private.h - what the files of the engine "closure" share. */
#ifndef ES_MONITORS_SEARCH_THESIS_ENGINE_CLOSURE_PRIVATE_H
#define ES_MONITORS_SEARCH_THESIS_ENGINE_CLOSURE_PRIVATE_H

#include "monitors/search/thesis/closure.h"
#include "monitors/search/engine.h"
#include "monitors/search/truth/formula_check.h"

/* --- Plans ------------------------------------------------------------------------ */

/* A conjunct of a condition, which must hold for all values of its universal variables;
 * those without values are left out (D8). */
struct esi_closure_part {
    const struct esi_formula *formula;
    uint64_t existential;
    uint64_t universal;
};

/* What has to be tested once enough variables are bound: a part of the support's own
 * condition, or that not all of a lesser support's hold. */
struct esi_closure_check {
    const struct esi_closure_part *parts;
    size_t part_count;
    uint32_t lesser; /* number of the lesser support; ES_PATTERN_NONE: it is a part */
    uint64_t early;  /* of a part: the only variables of it that are bound, by which it
                        may already fail; 0: all are */
};

/* How one support is searched: `order[0]` is bound first, and when `level` variables
 * are bound, checks `begins[level]` to `begins[level + 1]` are made. */
struct esi_closure_plan {
    struct esi_closure_part *parts;
    size_t part_count;
    bool is_false; /* nothing can match */
    uint8_t order[ES_PROGRAM_VARIABLES];
    uint32_t level_count;
    struct esi_closure_check *checks;
    size_t check_count;
    size_t begins[ES_PROGRAM_VARIABLES + 2];
    /* From this level on no variable is returned: one way to bind them is enough. */
    uint32_t hidden_from;
};

/* Plans of all supports of the task's program.  0 or -ENOMEM. */
int esi_closure_plans_create(const struct esi_engine_task *task,
                             struct esi_closure_plan **ret_plans);
/* Accepts NULL. */
void esi_closure_plans_destroy(const struct esi_engine_task *task,
                               struct esi_closure_plan *plans);

/* --- Values that are bound -------------------------------------------------------- */

/* Variables whose values, all together, are one side of a relation. */
struct esi_closure_operand {
    uint64_t variables;
    /* Operands whose union it is, to be combined; NULL: it is made of events. */
    struct esi_closure_operand *parts[2];
    struct esi_closure closure;
    uint64_t stamp; /* the latest of the bindings that `closure` is of; 0 = none */
};

struct esi_closure_operands {
    struct esi_closure_operand *items;
    size_t count;
};

struct esi_closure_search {
    const struct esi_engine_task *task;
    struct esi_precedence precedence;
    struct esi_closure_maker *maker;
    struct esi_formula_check check; /* values that are bound, and what holds of them */
    uint64_t stamps[ES_PROGRAM_VARIABLES]; /* of these bindings; no two are the same */
    struct esi_domain_value values[ES_PROGRAM_VARIABLES]; /* for the matches */
    struct esi_closure_operands operands;
    struct esi_event_list events; /* of an operand, before its closure is made */
    uint64_t variables;           /* all but universal ones without values */
    uint64_t stamp;               /* the latest */
    int result; /* 0; 1: enough; -errno.  Once it is set, answers mean nothing */
};

/* Operands of all relations.  0 or -ENOMEM. */
int esi_closure_operands_init(const struct esi_engine_task *task,
                              struct esi_closure_operands *ret_operands);
void esi_closure_operands_fini(struct esi_closure_operands *operands);
/* As esi_formula_check.side, of an esi_closure_search: a single event, or the ends of a
 * convex closure.  Borrowed until a variable is bound. */
int esi_closure_side(void *data,
                     uint64_t variables,
                     const struct es_event_id **ret_events,
                     size_t *ret_count);

/* All values of a domain, one after the other. */
struct esi_closure_cursor {
    const struct esi_domain *domain;
    bool is_single;
    uint32_t slots;
    uint32_t count; /* of the values of the slot */
    struct esi_domain_column column;
    struct esi_domain_value next;
};

void esi_closure_cursor_init(const struct esi_domain *domain,
                             struct esi_closure_cursor *cursor);
/* Binds a variable to the next value; false: there is none, or the search is over. */
bool esi_closure_bind(struct esi_closure_search *search,
                      struct esi_closure_cursor *cursor,
                      unsigned variable);

/* --- Conditions ------------------------------------------------------------------- */

bool esi_closure_check_holds(struct esi_closure_search *search,
                             const struct esi_closure_check *check);

/* Writes the plans. */
void esi_closure_explain(const struct esi_engine_task *task,
                         const struct esi_closure_plan *plans,
                         const struct esi_closure_operands *operands,
                         FILE *out);

#endif
