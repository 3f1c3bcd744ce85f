/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_closure_private.h - the plans of the engine "closure". */
#ifndef ES_MONITORS_SEARCH_THESIS_ENGINE_CLOSURE_PRIVATE_H
#define ES_MONITORS_SEARCH_THESIS_ENGINE_CLOSURE_PRIVATE_H

#include "monitors/search/thesis/closure.h"
#include "monitors/search/engine.h"

/* A conjunct of a condition, which must hold for all values of its universal variables;
 * universal variables without values are omitted (D8). */
struct esi_closure_part {
    const struct esi_formula *formula;
    uint64_t existential;
    uint64_t universal;
};

/* A test made once enough variables are bound: that a part of the disjunct's own
 * condition holds, or that some part of a lesser disjunct's condition does not. */
struct esi_closure_check {
    const struct esi_closure_part *parts;
    size_t part_count;
    uint32_t lesser; /* number of the lesser disjunct; ES_PATTERN_NONE for a part */
    uint64_t early;  /* for a part: only these of its variables are bound, and it may
                        already fail; 0: all are bound */
};

/* The plan of one disjunct: `order[0]` is bound first; when `level` variables are
 * bound, checks `begins[level]` to `begins[level + 1]` are made. */
struct esi_closure_plan {
    struct esi_closure_part *parts;
    size_t part_count;
    bool is_false; /* nothing can match */
    uint8_t order[ES_PROGRAM_VARIABLES];
    uint32_t level_count;
    struct esi_closure_check *checks;
    size_t check_count;
    size_t begins[ES_PROGRAM_VARIABLES + 2];
    /* From this level on no variable is returned: one assignment of the rest is
     * enough. */
    uint32_t hidden_from;
};

/* Variables whose values together are one side of a relation. */
struct esi_closure_operand {
    uint64_t variables;
    /* Operands to combine to this one; NULL: it is computed from events. */
    struct esi_closure_operand *parts[2];
    struct esi_closure closure;
    uint64_t stamp; /* of the latest binding in `closure`; 0 = none */
};

struct esi_closure_operands {
    struct esi_closure_operand *items;
    size_t count;
};

/* Prints the plans. */
void esi_closure_explain(const struct esi_engine_task *task,
                         const struct esi_closure_plan *plans,
                         const struct esi_closure_operands *operands,
                         FILE *out);

#endif
