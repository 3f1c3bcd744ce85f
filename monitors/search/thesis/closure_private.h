/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* closure_private.h - what the files of convex closures share. */
#ifndef ES_MONITORS_SEARCH_THESIS_CLOSURE_PRIVATE_H
#define ES_MONITORS_SEARCH_THESIS_CLOSURE_PRIVATE_H

#include "monitors/search/thesis/closure.h"

struct esi_closure_maker {
    const struct es_order *order;
    enum esi_closure_method method;
    const struct esi_successors *successors;
    uint32_t traces;
    struct esi_event_list last;   /* of the set, on each of its traces */
    struct esi_event_list united; /* ends of two closures */

    /* Of the existing algorithm; the dense ones are 0 between closures. */
    struct esi_event_list minima;
    struct esi_event_list maxima;
    struct esi_event_list waiting; /* events to walk on from */
    uint32_t *back;                /* index by trace; 0 = none */
    uint32_t *front;               /* least that was reached */
    uint32_t *done;                /* walked from here to the back */
};

void esi_closure_clear(struct esi_closure *closure);
int esi_closure_add_ends(struct esi_closure *closure,
                         uint32_t trace,
                         uint32_t front,
                         uint32_t back);

/* An entry of a timestamp, which is not compared with another here; 0 = none. */
uint32_t esi_closure_entry(struct esi_precedence *precedence,
                           struct es_event_id event,
                           uint32_t trace);
/* a --> b or a = b. */
bool esi_closure_reaches(struct esi_precedence *precedence,
                         struct es_event_id a,
                         struct es_event_id b);

/* Algorithms 4.6 and 4.7: fills ends from first and the maker's last. */
int esi_closure_existing(struct esi_closure_maker *maker,
                         struct esi_precedence *precedence,
                         struct esi_closure *closure);

/* Events of one trace of which it is searched which are in a closure: from `inside` (0
 * = it is not known whether `back` is) to `back` all are; up to `outside` none is. */
struct esi_closure_range {
    uint32_t trace;
    uint32_t outside;
    uint32_t inside;
    uint32_t back;
};

/* Algorithm 4.9 on one trace: the front, which is the least event that is one of
 * `first` or succeeds one; 0 = none is. */
uint32_t esi_closure_find_front(enum esi_closure_method method,
                                struct esi_precedence *precedence,
                                const struct esi_event_list *first,
                                const struct esi_closure_range *range);

#endif
