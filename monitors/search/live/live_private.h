/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_private.h - what the parts of a live search share: live.c drives, live_part.c
 * has the search of one predicate, live_status.c decides, live_candidates.c keeps what
 * is not decided, live_drop.c and live_refuse.c what need not be kept. */
#ifndef ES_MONITORS_SEARCH_LIVE_LIVE_PRIVATE_H
#define ES_MONITORS_SEARCH_LIVE_LIVE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/truth/cnf.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/truth/event_list.h"
#include "monitors/search/truth/formula_check.h"
#include "monitors/search/indexed/indexed.h"
#include "monitors/search/live/live.h"
#include "monitors/search/live/live_seen.h"
#include "monitors/search/domains/precedence.h"
#include "monitors/search/language/program.h"

/* A clause whose truth values yet to come may change: it names a universal variable or
 * counts. */
struct esi_timed_clause {
    const struct esi_clause *clause;
    bool counts;
    bool is_safe;     /* no event yet to come can make it false */
    bool is_searched; /* and it holds of all that the search finds */
};

/* The condition of a support where these universal variables have no values: atoms that
 * name them hold (D8). */
struct esi_live_form {
    uint64_t empty;
    struct esi_cnf *cnf;
    struct esi_clause *certain; /* the clauses that are not timed */
    size_t certain_count;
    size_t more_count; /* of these, first: those that the weak form does not have */
    struct esi_timed_clause *timed;
    size_t timed_count;
};

/* As values come, the condition gets stronger: from `weak` to `strong`. */
struct esi_live_support {
    const struct esi_program_support *support;
    struct esi_live_form weak;   /* no universal variable has values */
    struct esi_live_form strong; /* all have */
    struct esi_live_form now;    /* some have; made when it is needed */
    struct esi_indexed *search;  /* by the certain ones of `weak`; NULL: it has no
                                    variables */
    bool is_lazy;                /* until the end values can only refuse a candidate */
    uint64_t never_last;         /* variables that an event cannot be as it comes */
};

/* A match that waits: what its variables have, and what is not decided. */
struct esi_candidate {
    uint32_t support;
    bool is_held;            /* its own condition is decided; lesser supports are not */
    bool *is_open;           /* of lesser supports: they may still come to hold */
    uint64_t *counts;        /* by atom: values that are counted so far, or
                                ES_FORMULA_UNCOUNTED; NULL: nothing is counted */
    struct es_event_id *ids; /* by variable; of a set: NONE and its number */
};

struct esi_live_part {
    struct esi_live *live;
    uint32_t predicate;
    struct esi_program *program;
    struct esi_live_support *supports;
    const struct esi_domain **domains; /* of variables */
    const struct esi_domain **counted; /* of atoms */
    bool is_value;                     /* its matches are values of others */
    struct esi_domain *sets;           /* they; NULL if not */
    uint32_t processed;                /* sets that were searched for */
    uint64_t universal;                /* variables */
    uint64_t empty;                    /* universal ones that have had no value */
    bool has_changed;                  /* `empty`, by the value that is searched for */
    bool has_counts;                   /* some atom counts */
    uint64_t needs_rows; /* variables whose values must be there to decide */
    struct esi_candidate *candidates;
    size_t candidate_count;
    size_t eager_count; /* of these, that values may decide before the end */
    size_t next_sweep;  /* so many candidates: what was refused is looked for */
    uint64_t next_room; /* of events: at the limit it is looked again */
    size_t candidate_capacity;
    struct esi_seen seen;
    const struct esi_match_sink *sink; /* NULL: not wanted */
    bool has_enough;
    uint64_t matches;
    uint64_t lost_candidates;
    struct esi_event_list events;   /* scratch: of a match */
    int failure;                    /* a negative errno: deciding ended with it */
    struct esi_formula_check check; /* scratch: what is bound */
};

/* A value that joined its domain and has not been searched for. */
struct esi_joined {
    uint32_t class_number; /* or NONE */
    uint32_t predicate;    /* or NONE */
    struct es_event_id id; /* of a class */
    uint32_t set;          /* of a predicate */
};

/* Whether it is a value of a variable, or of what an atom counts. */
static inline bool esi_joined_is_of(const struct esi_joined *joined,
                                    uint32_t class_number,
                                    uint32_t predicate)
{
    return joined->class_number != ES_PATTERN_NONE
               ? class_number == joined->class_number
               : predicate == joined->predicate;
}

/* What must be so that an event of a class can go. */
struct esi_drop_rule {
    bool is_kept;    /* never */
    bool is_awaited; /* it is kept until somebody receives it, who may be yet to come */
    bool is_settled;
    bool is_timed;
    bool is_refused;  /* once a value of `refuser` is between it and all that comes */
    uint32_t refuser; /* class */
    bool is_told;     /* once it was told: it is all of a match of `told_by` */
    const struct esi_live_part *told_by;
    uint64_t within_ns;
    uint32_t *gone;    /* owned, by trace: awaited ones up to here may be gone */
    uint32_t *refused; /* owned, by trace: those up to here are */
};

struct esi_live {
    const struct es_pattern_file *file; /* borrowed */
    struct es_order *order;             /* borrowed */
    struct esi_live_config config;
    struct esi_domains *domains;
    struct es_set_sink order_sink;
    struct es_set_sink domains_sink;
    struct esi_live_wanted *wanted;
    uint32_t wanted_count;
    struct esi_live_part **parts; /* by predicate; NULL: not searched by itself */
    uint32_t part_count;
    struct esi_joined *queue;
    size_t queue_from; /* the one that is searched for */
    size_t queue_count;
    size_t queue_capacity;
    struct esi_precedence precedence;
    bool has_begun;

    /* live_drop.c. */
    struct esi_drop_rule *rules; /* by class */
    uint32_t *settled; /* by trace: all that comes is after events up to here */
    uint32_t traces;
    uint32_t trace_capacity;
    int64_t newest_ns;
    bool knows_time;
    bool asks_time;
    bool asks_settled;
    bool has_partners;
    bool is_pressed;    /* short columns are not spared any more */
    uint64_t next_drop; /* of `events` */
    uint64_t events;
    uint64_t candidates;
    uint64_t dropped_events;
    uint64_t lost_events;
    uint64_t missed_sends; /* that had gone when they were received */
};

/* --- live.c ----------------------------------------------------------------------- */

int esi_live_push(struct esi_live *live, const struct esi_joined *joined);
/* Whether a value waits behind the one that is searched for. */
bool esi_live_is_pending(const struct esi_live *live,
                         uint32_t class_number,
                         struct es_event_id id);
/* The value in its domain. */
bool esi_joined_find(const struct esi_domain *domain,
                     const struct esi_joined *joined,
                     struct esi_domain_value *ret_value);

/* --- live_part.c ------------------------------------------------------------------ */

/* Of a predicate; the parts of its inner predicates are there. */
int esi_live_part_create(struct esi_live *live,
                         uint32_t predicate,
                         struct esi_program *program,
                         struct esi_live_part **ret_part,
                         struct es_error *error);
void esi_live_part_destroy(struct esi_live_part *part);
/* Searches for what a value that joined completes. */
int esi_live_part_joined(struct esi_live_part *part, const struct esi_joined *joined);
/* Supports without existential variables wait from the beginning. */
int esi_live_part_begin(struct esi_live_part *part);
/* A match whose variables are bound: it is told unless it was told before. */
int esi_live_part_tell(struct esi_live_part *part, uint64_t variables);

/* --- live_form.c, live_status.c --------------------------------------------------- */

enum esi_live_status {
    ESI_LIVE_FAILS, /* for ever, as the next */
    ESI_LIVE_HOLDS,
    ESI_LIVE_OPEN,
};

/* The condition as it is with these variables empty.  0 or -ENOMEM. */
int esi_live_form_create(struct esi_live_part *part,
                         const struct esi_live_support *support,
                         uint64_t empty,
                         struct esi_live_form *ret_form,
                         struct es_error *error);
void esi_live_form_fini(struct esi_live_form *form);

void esi_live_bind(struct esi_live_part *part,
                   uint32_t variable,
                   struct esi_domain_value value);

/* Of the variables that are bound; `is_end`: nothing comes any more, so it is not OPEN.
 * `was_found`: the certain clauses of the weak condition are known to hold. */
enum esi_live_status esi_live_support_status(struct esi_live_part *part,
                                             struct esi_live_support *support,
                                             bool was_found,
                                             bool is_end);
/* Of a support that was OPEN, after a value joined: what it changes; `is_counted`: some
 * count, too. */
enum esi_live_status esi_live_support_update(struct esi_live_part *part,
                                             struct esi_live_support *support,
                                             const struct esi_joined *joined,
                                             bool is_counted);

/* --- live_candidates.c ------------------------------------------------------------ */

/* An assignment for which the certain clauses hold, its variables bound: tells it,
 * keeps it, or not. */
int esi_live_found(struct esi_live_part *part, uint32_t support);
int esi_live_candidates_update(struct esi_live_part *part,
                               const struct esi_joined *joined);
/* Removes those that values refused meanwhile. */
void esi_live_candidates_sweep(struct esi_live_part *part);
/* At the end: all are decided. */
int esi_live_candidates_end(struct esi_live_part *part);
/* Those whose events were lost. */
void esi_live_candidates_prune(struct esi_live_part *part);
void esi_live_candidates_fini(struct esi_live_part *part);
uint64_t esi_live_candidates_bytes(const struct esi_live_part *part);

/* --- live_drop.c ------------------------------------------------------------------ */

int esi_live_drop_init(struct esi_live *live);
int esi_live_drop_trace(struct esi_live *live);
void esi_live_drop_event(struct esi_live *live, const struct es_set_event *event);
/* Now and then: drops what no match can take, and what is beyond the limit. */
void esi_live_drop(struct esi_live *live);
void esi_live_drop_fini(struct esi_live *live);
uint64_t esi_live_kept(const struct esi_live *live);

/* --- live_refuse.c ---------------------------------------------------------------- */

/* "No value of `between` is between `first` and `last`", as of `A -(C)-> B`; all of
 * them single events that join as they come. */
struct esi_limit {
    uint32_t first;
    uint32_t between; /* universal */
    uint32_t last;
};

/* Whether a clause of a condition, by which is searched, says that. */
bool esi_live_limit(const struct esi_live_part *part,
                    const struct esi_timed_clause *timed,
                    struct esi_limit *ret_limit);
/* Whether nothing else is said of a universal variable. */
bool esi_live_only_limits(const struct esi_live_part *part, uint32_t variable);
/* Events may go that are refused by settled values of a class. */
void esi_live_refuse_by(struct esi_drop_rule *rule, uint32_t refuser);
/* When all rules are known. */
void esi_live_refuse_init(struct esi_live *live);
/* What is settled was brought up to date: what it refuses. */
void esi_live_refuse(struct esi_live *live);

/* Whether an event may have been in a class, and have gone before it was received. */
bool esi_live_is_gone(const struct esi_live *live,
                      uint32_t class_number,
                      struct es_event_id id);

#endif
