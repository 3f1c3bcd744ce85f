/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay.h - where the time of a run goes: what each call waited for, which delay was
 * the root cause, and the critical path (docs/time.md).
 *
 *   esi_delay_create(&config, &delay);
 *   causality_config.listener = esi_delay_listener(delay);
 *   ...all events of an archive or a run...
 *   esi_delay_settle(delay);
 *   rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);
 *
 * Each wait of a call is charged to its causes: the excess of computing and waiting of
 * the awaited thread over the waiting one since both last met (Böhme, Geimer, Wolf:
 * "Identifying the root causes of wait states in large-scale parallel applications",
 * ICPP 2010, section III). Each wait stores its causes, so indirect causes need no
 * second pass.  The costs of all causes add up to the sum of all waits.
 *
 * Streaming: keeps the last calls of each thread, and nothing else that grows with the
 * run.  Pure logic; an object may be used by one thread at a time.
 */
#ifndef ES_MONITORS_DELAY_DELAY_H
#define ES_MONITORS_DELAY_DELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/causality/causality.h"

struct esi_delay_config {
    size_t window; /* calls kept per thread; 0 = 4,096 */
    size_t lag;    /* maximum number of waits not charged yet; 0 = 1,024. Late
                      receivers are recognised within it. */
    bool series;   /* rows also contain their times per block */
};

struct esi_delay;

/* Returns 0 or -ENOMEM. */
int esi_delay_create(const struct esi_delay_config *config,
                     struct esi_delay **ret_delay);
/* Accepts NULL. */
void esi_delay_destroy(struct esi_delay *delay);

/* The input: the events of one run. */
struct esi_causal_listener esi_delay_listener(struct esi_delay *delay);

/* Charges all known waits; more events may follow.  Returns 0 or -ENOMEM. */
int esi_delay_settle(struct esi_delay *delay);

/* --- Results ---------------------------------------------------------------------- */

/* What a call waited for. */
enum esi_delay_kind {
    ESI_DELAY_NONE = 0,
    ESI_DELAY_LATE_SENDER,
    ESI_DELAY_WRONG_ORDER, /* a receive, while the message of a later receive had
                              arrived */
    ESI_DELAY_LATE_RECEIVER,
    ESI_DELAY_BARRIER,
    ESI_DELAY_ALL_TO_ALL,
    ESI_DELAY_ROOT_TO_ALL, /* for the root */
    ESI_DELAY_ALL_TO_ROOT, /* of the root */
    ESI_DELAY_PARTIAL,     /* for lower ranks or neighbours */
    ESI_DELAY_LATE_POST,
    ESI_DELAY_LATE_COMPLETE,
    ESI_DELAY_LOCK,
    ESI_DELAY_OPEN, /* not known: the wait has not ended */
    ESI_DELAY_KINDS,
};

enum esi_delay_group {
    ESI_DELAY_BY_RANK,
    ESI_DELAY_BY_OPERATION,
    ESI_DELAY_BY_COMMUNICATOR,
    ESI_DELAY_BY_LINE, /* of a call, and of the computing before it */
    ESI_DELAY_BY_KIND,
    ESI_DELAY_GROUPS,
};

/* In nanoseconds; summed over all threads that a row represents.  The time in which
 * operations of some thread are missing is left out for all. */
struct esi_delay_times {
    uint64_t calls;
    double waited;      /* in its calls */
    double nonblocking; /* part of `waited`: for operations started by another call */
    double polling;     /* part of `waited`: in sequences of tests or probes */
    double pending;  /* part of `waited`: had not ended at the last look, and may turn
                           out to be less */
    double caused;   /* waits of all ranks that are charged to it */
    double direct;   /* part of `caused`: waits directly for it */
    double critical; /* time on the critical path */
    double computed; /* outside of calls, before its own */
    double called;   /* in calls, without waits */
    /* For lines: the parts of `caused` and `critical` spent computing before the
     * call. */
    double caused_computing;
    double critical_computing;
};

/* Times per block of successive calls of each thread. */
enum { ESI_DELAY_BLOCKS = 64 };
enum esi_delay_metric {
    ESI_DELAY_WAITED,
    ESI_DELAY_CAUSED,
    ESI_DELAY_COMPUTED,
    ESI_DELAY_CALLED,
    ESI_DELAY_CRITICAL,
    ESI_DELAY_CALLS, /* number of calls; for operations and lines */
    ESI_DELAY_METRICS,
};
struct esi_delay_series {
    double blocks[ESI_DELAY_BLOCKS][ESI_DELAY_METRICS];
};

struct esi_delay_row {
    const char *name;      /* borrowed; NULL for a rank */
    const char *operation; /* for a line: its operation; otherwise NULL */
    int rank;              /* for a rank; otherwise -1 */
    struct esi_delay_times times;
    struct esi_delay_series *series; /* borrowed; NULL = not requested */
};

/* In order of appearance.  Valid until the next event. */
const struct esi_delay_row *esi_delay_rows(const struct esi_delay *delay,
                                           enum esi_delay_group group,
                                           size_t *ret_count);

/* Number of calls per thread in one block, a power of two. */
uint64_t esi_delay_block_calls(const struct esi_delay *delay);
/* Merges adjacent blocks until each has `calls` calls, for comparison with another run.
 * `calls` must not be lower than the current number. */
void esi_delay_widen_blocks(struct esi_delay *delay, uint64_t calls);

/* The waits of a rank with another rank as the root cause. */
struct esi_delay_pair {
    int waiting;           /* rank; -1 = several, if there are many pairs */
    int causing;           /* rank */
    const char *line;      /* source line where the time was spent; borrowed, like
                              `operation` */
    const char *operation; /* called at that line */
    bool computing;        /* before that call; otherwise in it */
    double waited;
};

size_t esi_delay_pair_count(const struct esi_delay *delay);
struct esi_delay_pair esi_delay_pair_at(const struct esi_delay *delay, size_t index);

/* The root causes of the others' waits for a rank in collective operations. */
struct esi_delay_blame {
    double waited;    /* for the rank */
    double own;       /* part of it caused by the rank itself */
    int causing;      /* the rank that caused most of it */
    double caused;    /* by that rank, at this line */
    const char *line; /* borrowed, like `operation` */
    const char *operation;
    bool computing; /* before that call; otherwise in it */
};

/* Returns false if nobody waited for the rank. */
bool esi_delay_find_blame(const struct esi_delay *delay,
                          int rank,
                          struct esi_delay_blame *ret_blame);

/* The main root cause of a call's wait. */
struct esi_delay_wait {
    double waited;
    double caused;    /* part of it due to this cause */
    int causing;      /* rank */
    const char *line; /* borrowed, like `operation` */
    const char *operation;
    bool computing; /* before that call; otherwise in it */
};

/* Finds the wait of the call in progress at a time, on the thread with this trace.
 * Returns false if it did not wait, its causes are not known, or it is no longer
 * kept. */
bool esi_delay_find_wait(const struct esi_delay *delay,
                         uint32_t trace,
                         uint64_t ns,
                         struct esi_delay_wait *ret_wait);

struct esi_delay_totals {
    uint64_t events;
    uint64_t calls;
    uint64_t waits;
    double waited;
    double direct;      /* charged to the awaited rank itself */
    double indirect;    /* the rest: charged to ranks that those waited for */
    size_t open;        /* waits that have not ended, of as many threads, or had not at
                           the last look; they count up to then, or to the end of the
                           process, and have no causes */
    uint64_t open_ns;   /* the longest of them */
    double open_waited; /* their sum, part of `waited` */
    double elsewhere;   /* waits whose causes are too many, or precede the window */
    uint64_t truncated; /* waits whose time since both met exceeds the window */
    uint64_t forgotten; /* waits found too late to be charged */
    uint64_t doubtful;  /* waits below the error bound of the clocks */
    uint64_t worst_error_ns;
    size_t threads;
    uint64_t begin_ns;        /* of the first call, run time */
    uint64_t end_ns;          /* of the last */
    struct esi_coverage seen; /* the part of the run that everything refers to */
    double critical;          /* length of the critical path */
    uint64_t detours;         /* waits that the critical path could not follow */
};

/* Selects the critical path: that of the thread that ends last.  Returns 0 or
 * -ENOMEM. */
int esi_delay_find_critical(struct esi_delay *delay);
void esi_delay_totals(const struct esi_delay *delay,
                      struct esi_delay_totals *ret_totals);

#endif
