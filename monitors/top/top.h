/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top.h - observes a run repeatedly: what each rank does, and how much.
 *
 * An observation has a fixed cost: states and verdicts come from the observer, shares
 * of time from the processes' profiles.  Who made whom wait requires all events, which
 * are read only on request, and for a limited time.
 *
 *     esi_top_create(run, &config, &error, &top);
 *     while (...) {
 *         esi_top_read_waits(top, allowed_ns);
 *         esi_top_look(top, &look);
 *     }
 *     esi_top_destroy(top);
 *
 * One thread at a time.
 */
#ifndef ES_MONITORS_TOP_TOP_H
#define ES_MONITORS_TOP_TOP_H

#include <stdio.h>

#include "monitors/causality/causality_scope.h"
#include "monitors/delay/delay.h"
#include "monitors/verdict/observe.h"
#include "monitors/profile/profile_report.h"
#include "monitors/top/top_rows.h"

/* The results of reading all events. */
struct esi_top_waits {
    const struct esi_delay *delay; /* NULL = not read */
    struct esi_coverage seen;      /* the part of the run that `delay` covers */
    uint64_t unmatched;            /* sends and receives without a match */
    struct es_scope_cost cost;     /* of the scope that reads them */
};

/* The results of one observation.  Borrowed until the next one. */
struct esi_top_look {
    struct esi_observation observation;
    const struct esi_top_row *rows; /* by rank */
    size_t row_count;
    size_t host_count;
    size_t verdicts[ES_VERDICTS]; /* number of ranks by verdict */
    double rate;                  /* events per second; negative = not known yet */
    uint64_t overwritten;         /* tuples overwritten before reading, */
    bool overwritten_more;        /* and more on other hosts */
    uint64_t clock_error_ns; /* bound of all clocks' errors; UINT64_MAX = not known */
    double cost;             /* of this process, in cores; negative = not known yet */
    const struct esi_profile_report *profile; /* NULL = not requested */
    struct esi_top_waits waits;
};

/* Sets all members except `delay` and `seen`. */
void esi_top_waits_sum(const struct esi_causality_scope *reading,
                       struct esi_top_waits *ret_waits);

struct esi_top;

/* Borrows the run.  Returns 0 or -errno with `error` filled. */
int esi_top_create(struct es_run *run,
                   const struct esi_observer_config *config,
                   struct es_error *error,
                   struct esi_top **ret_top);
/* Accepts NULL. */
void esi_top_destroy(struct esi_top *top);

/* From now on, observations contain the profiles of all processes, and rows no
 * shares. */
void esi_top_want_profiles(struct esi_top *top);

/* Returns 0 or -errno. */
int esi_top_look(struct esi_top *top, struct esi_top_look *ret_look);

/* Prints the newest events of a rank and a strip of its last `span_ns`: `count` lines
 * cut to `width`. Reading starts with the first call for this rank.  Returns 0 or
 * -errno. */
int esi_top_print_rank(struct esi_top *top,
                       int rank,
                       uint64_t span_ns,
                       size_t width,
                       size_t count,
                       FILE *stream);

/* Whether all ranks have ended. */
bool esi_top_is_over(const struct esi_top_look *look);

/* Reads new events; the first call starts with those in the elements.  Ends after
 * `allowed_ns`; events overwritten meanwhile are missing from the sums.  Returns 1 if
 * more data is available, 0 if not, or -errno. */
int esi_top_read_waits(struct esi_top *top, uint64_t allowed_ns);

#endif
