/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay.h - where the time of a run goes: what each call waited for, whose delay that
 * was in the end, and the critical path (docs/time.md).
 *
 *   esi_delay_create(&config, &delay);
 *   causality_config.listener = esi_delay_listener(delay);
 *   ...all events of an archive or a run...
 *   esi_delay_settle(delay);
 *   rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);
 *
 * Each wait of a call is charged to its causes: what the thread that it waited for had
 * computed, and had itself waited, more than the waiting one since both last met
 * (Böhme, Geimer, Wolf: "Identifying the root causes of wait states in large-scale
 * parallel applications", ICPP 2010, section III).  Waits carry the causes that were
 * found for them, so causes behind causes need no second pass.  The costs of all causes
 * add up to all waits.
 *
 * Streaming: of each thread the last calls are kept, and nothing else that grows with
 * the run.  Pure logic; one object is one thread's at a time.
 */
#ifndef ES_MONITORS_DELAY_DELAY_H
#define ES_MONITORS_DELAY_DELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/causality/causality.h"

struct esi_delay_config {
    size_t window; /* calls of a thread that are kept; 0 = 4,096 */
    size_t lag;    /* waits that are not charged yet, at most; 0 = 1,024.  Late
                      receivers are recognised within it. */
    bool series;   /* rows have their times in blocks, too */
};

struct esi_delay;

/* 0 or -ENOMEM. */
int esi_delay_create(const struct esi_delay_config *config,
                     struct esi_delay **ret_delay);
/* Accepts NULL. */
void esi_delay_destroy(struct esi_delay *delay);

/* Takes the events of one run. */
struct esi_causal_listener esi_delay_listener(struct esi_delay *delay);

/* Charges all waits that are known, though more may come.  0 or -ENOMEM. */
int esi_delay_settle(struct esi_delay *delay);

/* --- What is found ---------------------------------------------------------------- */

/* What a call waited for. */
enum esi_delay_kind {
    ESI_DELAY_NONE = 0,
    ESI_DELAY_LATE_SENDER,
    ESI_DELAY_WRONG_ORDER, /* of a receive: a later one's message was there already */
    ESI_DELAY_LATE_RECEIVER,
    ESI_DELAY_BARRIER,
    ESI_DELAY_ALL_TO_ALL,
    ESI_DELAY_ROOT_TO_ALL, /* for the root */
    ESI_DELAY_ALL_TO_ROOT, /* of the root */
    ESI_DELAY_PARTIAL,     /* for lower ranks or neighbours */
    ESI_DELAY_LATE_POST,
    ESI_DELAY_LATE_COMPLETE,
    ESI_DELAY_LOCK,
    ESI_DELAY_KINDS,
};

enum esi_delay_group {
    ESI_DELAY_BY_RANK,
    ESI_DELAY_BY_OPERATION,
    ESI_DELAY_BY_COMMUNICATOR,
    ESI_DELAY_BY_LINE, /* of a call, and of what was computed ahead of it */
    ESI_DELAY_BY_KIND,
    ESI_DELAY_GROUPS,
};

/* Nanoseconds; those of all threads of what a row stands for. */
struct esi_delay_times {
    uint64_t calls;
    double waited;      /* in its calls */
    double nonblocking; /* of that: for operations that were begun by another call */
    double polling;     /* of that: in rows of tests or probes */
    double caused;      /* waits of all ranks that are charged to it */
    double direct;      /* of that: of those that waited for it itself */
    double critical;    /* that it is on the critical path */
    double computed;    /* outside of calls, ahead of its own */
    double called;      /* in calls, without waits */
    /* Of lines: the two parts of `caused` and `critical` that were computed ahead of
     * the call. */
    double caused_computing;
    double critical_computing;
};

/* The same by block: so many of each thread's successive calls. */
enum { ESI_DELAY_BLOCKS = 64 };
enum esi_delay_metric {
    ESI_DELAY_WAITED,
    ESI_DELAY_CAUSED,
    ESI_DELAY_COMPUTED,
    ESI_DELAY_CALLED,
    ESI_DELAY_CRITICAL,
    ESI_DELAY_CALLS, /* how many; of operations and lines */
    ESI_DELAY_METRICS,
};
struct esi_delay_series {
    double blocks[ESI_DELAY_BLOCKS][ESI_DELAY_METRICS];
};

struct esi_delay_row {
    const char *name;      /* borrowed; of a rank NULL */
    const char *operation; /* of a line: its operation; else NULL */
    int rank;              /* of a rank; else -1 */
    struct esi_delay_times times;
    struct esi_delay_series *series; /* borrowed; NULL = is not wanted */
};

/* In the order in which they appeared.  Valid until the next event. */
const struct esi_delay_row *esi_delay_rows(const struct esi_delay *delay,
                                           enum esi_delay_group group,
                                           size_t *ret_count);

/* Calls of a thread in one block, a power of two. */
uint64_t esi_delay_block_calls(const struct esi_delay *delay);
/* Joins neighbouring blocks, so that they have as many calls as another run's.  At
 * least as many as they have. */
void esi_delay_widen_blocks(struct esi_delay *delay, uint64_t calls);

/* What ranks waited because of other ranks, in the end. */
struct esi_delay_pair {
    int waiting;           /* rank; -1 = of many pairs several */
    int causing;           /* rank */
    const char *line;      /* where the time went; borrowed, as the next */
    const char *operation; /* that is called there */
    bool computing;        /* ahead of that call, else in it */
    double waited;
};

size_t esi_delay_pair_count(const struct esi_delay *delay);
struct esi_delay_pair esi_delay_pair_at(const struct esi_delay *delay, size_t index);

/* Whose delay it was that others waited for a rank in collective operations. */
struct esi_delay_blame {
    double waited;    /* for the rank */
    double own;       /* of that: because of what it did itself */
    int causing;      /* the rank that caused most of it */
    double caused;    /* by that one, at this line */
    const char *line; /* borrowed, as the next */
    const char *operation;
    bool computing; /* ahead of that call, else in it */
};

/* false: nobody waited for the rank. */
bool esi_delay_find_blame(const struct esi_delay *delay,
                          int rank,
                          struct esi_delay_blame *ret_blame);

/* What a call waited for in the end: the greatest cause of its wait. */
struct esi_delay_wait {
    double waited;
    double caused;    /* of that: by this cause */
    int causing;      /* rank */
    const char *line; /* borrowed, as the next */
    const char *operation;
    bool computing; /* ahead of that call, else in it */
};

/* Of the call of a thread, named by its trace, that goes on at a time.  false: it has
 * not waited, its causes are not known, or it is not kept any more. */
bool esi_delay_find_wait(const struct esi_delay *delay,
                         uint32_t trace,
                         uint64_t ns,
                         struct esi_delay_wait *ret_wait);

struct esi_delay_totals {
    uint64_t events;
    uint64_t calls;
    uint64_t waits;
    double waited;
    double direct;      /* charged to whom was waited for: the sum of all ranks' */
    double indirect;    /* all other: handed on to whom those waited for */
    double elsewhere;   /* waits whose causes are too many, or lie before the window */
    uint64_t truncated; /* waits whose time since both met is longer than the window */
    uint64_t forgotten; /* waits that were found too late to be charged */
    uint64_t doubtful;  /* waits below the bound of the clocks' error */
    uint64_t worst_error_ns;
    size_t threads;
    uint64_t begin_ns; /* of the first call, run time */
    uint64_t end_ns;   /* of the last */
    double critical;   /* length of the critical path */
    uint64_t detours;  /* waits that the critical path could not follow any more */
};

/* The critical path is that of the thread that has come furthest.  0 or -ENOMEM. */
int esi_delay_find_critical(struct esi_delay *delay);
void esi_delay_totals(const struct esi_delay *delay,
                      struct esi_delay_totals *ret_totals);

#endif
