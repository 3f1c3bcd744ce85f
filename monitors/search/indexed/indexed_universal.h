/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_universal.h - clauses with universal variables: whether they hold for the
 * bound variables, and which values of an unbound variable satisfy them. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_UNIVERSAL_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_UNIVERSAL_H

#include "monitors/search/indexed/indexed_bound.h"

/* The order in which the columns of a clause's universal variable are tested: those
 * that failed recently come first (Nichols, 6.3). */
struct esi_slot_order {
    uint32_t *slots; /* owned */
    size_t count;
    size_t capacity;
};

struct esi_universal {
    struct esi_bound *bound;       /* borrowed */
    struct esi_slot_order *orders; /* owned: [clause] */
    uint64_t tested;               /* universal values tested one by one */
    struct esi_intervals allowed;  /* for all universal values */
    struct esi_intervals kept;
    struct esi_intervals open; /* universal values not satisfied yet */
    struct esi_intervals satisfied;
    const struct esi_clause *past_of; /* the clause that `past` belongs to; NULL:
                                         none */
    struct esi_universal_past {
        uint32_t known;   /* events up to this index precede the pinned event */
        uint32_t refused; /* events up to this index precede some u that precedes the
                             pinned event */
    } * past;             /* owned: [trace] */
    size_t traces;        /* capacity of `past` */
};

/* Returns 0 or -ENOMEM.  Must be followed by esi_universal_fini() in both cases. */
int esi_universal_init(struct esi_universal *universal, struct esi_bound *bound);
void esi_universal_fini(struct esi_universal *universal);
uint64_t esi_universal_bytes(const struct esi_universal *universal);

/* Whether a clause holds.  Its existential variables must be bound; its universal
 * variables, if any, range over all their values. */
bool esi_universal_clause_holds(struct esi_universal *universal,
                                const struct esi_clause *clause);
/* Restricts the intervals of v in a column by a clause that is exact for v and has one
 * universal variable. */
void esi_universal_restrict(struct esi_universal *universal,
                            const struct esi_clause *clause,
                            unsigned v,
                            uint32_t slot,
                            struct esi_intervals *intervals);

/* While events arrive: whether a clause requires that no value of its universal
 * variable is between v and the pinned event. */
bool esi_universal_refuses(const struct esi_bound *bound,
                           const struct esi_clause *clause,
                           unsigned v);
/* For such a clause: the events on a trace that precede the pinned event, and those of
 * them that the clause refuses. */
struct esi_universal_past esi_universal_past_of(struct esi_universal *universal,
                                                const struct esi_clause *clause,
                                                uint32_t trace);

#endif
