/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_universal.h - clauses with universal variables: whether they hold of what is
 * bound, and what they leave to a variable that is not. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_UNIVERSAL_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_UNIVERSAL_H

#include "monitors/search/indexed/indexed_bound.h"

/* The order in which the columns of a clause's universal variable are looked at: those
 * that failed lately first (Nichols, 6.3). */
struct esi_slot_order {
    uint32_t *slots; /* owned */
    size_t count;
    size_t capacity;
};

struct esi_universal {
    struct esi_bound *bound;       /* borrowed */
    struct esi_slot_order *orders; /* owned: [clause] */
    uint64_t tested;               /* universal values, one by one */
    struct esi_intervals allowed;  /* whatever the universal value is */
    struct esi_intervals kept;
    struct esi_intervals open; /* universal values that nothing satisfies yet */
    struct esi_intervals satisfied;
    const struct esi_clause *past_of; /* whose `past` is; NULL: of none */
    struct esi_universal_past {
        uint32_t known;   /* events up to this index precede the pinned event, */
        uint32_t refused; /* up to this a u, too, that precedes it */
    } * past;             /* owned: [trace] */
    size_t traces;        /* room in it */
};

/* 0 or -ENOMEM; it is to be ended in both cases. */
int esi_universal_init(struct esi_universal *universal, struct esi_bound *bound);
void esi_universal_fini(struct esi_universal *universal);
uint64_t esi_universal_bytes(const struct esi_universal *universal);

/* Of a clause all of whose existential variables are bound; universal ones, if it has
 * any, take all their values. */
bool esi_universal_clause_holds(struct esi_universal *universal,
                                const struct esi_clause *clause);
/* Restricts the intervals of v in a column by a clause that is exact for v and has one
 * universal variable. */
void esi_universal_restrict(struct esi_universal *universal,
                            const struct esi_clause *clause,
                            unsigned v,
                            uint32_t slot,
                            struct esi_intervals *intervals);

/* While events arrive: whether a clause says that no value of its universal variable is
 * between v and the pinned event. */
bool esi_universal_refuses(const struct esi_bound *bound,
                           const struct esi_clause *clause,
                           unsigned v);
/* Of such a clause: what precedes the pinned event on a trace, and what of that it
 * refuses. */
struct esi_universal_past esi_universal_past_of(struct esi_universal *universal,
                                                const struct esi_clause *clause,
                                                uint32_t trace);

#endif
