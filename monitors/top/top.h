/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top.h - looks at a run again and again: what each rank does, and how much.
 *
 * A look costs the same whatever the run does: states and verdicts come from the
 * heartbeat, shares of time from the processes' profiles.  Who made whom wait needs all
 * events; that is read only where it is asked for, and for no longer than is allowed.
 *
 *     esi_top_create(run, &config, &error, &top);
 *     while (...) {
 *         esi_top_read_waits(top, allowed_ns);
 *         esi_top_look(top, &look);
 *     }
 *     esi_top_destroy(top);
 *
 *   one thread at a time.
 */
#ifndef ES_MONITORS_TOP_TOP_H
#define ES_MONITORS_TOP_TOP_H

#include <stdio.h>

#include "monitors/causality/causality_scope.h"
#include "monitors/delay/delay.h"
#include "monitors/heartbeat/heartbeat.h"
#include "monitors/profile/profile_report.h"
#include "monitors/top/top_rows.h"

struct esi_top_config {
    uint64_t stalled_after_ns;
    struct es_servers *servers; /* all hosts of the run; NULL = this host only; borrowed
                                 */
};

/* What was found by reading all events. */
struct esi_top_waits {
    const struct esi_delay *delay; /* NULL = they are not read */
    uint64_t unmatched;            /* sends and receives without the other end */
    struct es_scope_cost cost;     /* of the scope that reads them */
};

/* Borrowed until the next look. */
struct esi_top_look {
    struct esi_heartbeat_report heartbeat;
    const struct esi_top_row *rows; /* by rank */
    size_t row_count;
    size_t host_count;
    size_t verdicts[ESI_TOP_VERDICTS]; /* ranks by verdict */
    double rate;                       /* events a second; negative = not known yet */
    uint64_t overwritten;              /* tuples that nobody can read any more, */
    bool overwritten_more;             /* and those of other hosts */
    uint64_t clock_error_ns; /* bound of all clocks' errors; UINT64_MAX = not known */
    double cost;             /* of this process: parts of a core; negative = not known
                                yet */
    const struct esi_profile_report *profile; /* NULL = is not wanted */
    struct esi_top_waits waits;
};

/* All but the delay. */
void esi_top_waits_sum(const struct esi_causality_scope *reading,
                       struct esi_top_waits *ret_waits);

struct esi_top;

/* Borrows the run.  -errno with words in `error`. */
int esi_top_create(struct es_run *run,
                   const struct esi_top_config *config,
                   struct es_error *error,
                   struct esi_top **ret_top);
/* Accepts NULL. */
void esi_top_destroy(struct esi_top *top);

/* From now on a look has the profiles of all processes, and rows no shares. */
void esi_top_want_profiles(struct esi_top *top);

/* 0 or -errno. */
int esi_top_look(struct esi_top *top, struct esi_top_look *ret_look);

/* Prints the newest events of a rank, and a strip of `span_ns` of its time: `count`
 * lines cut to `width`.  They are read from the first call for this rank on.  0 or
 * -errno. */
int esi_top_print_rank(struct esi_top *top,
                       int rank,
                       uint64_t span_ns,
                       size_t width,
                       size_t count,
                       FILE *stream);

/* Whether no rank goes on. */
bool esi_top_is_over(const struct esi_top_look *look);

/* Reads what has come, from the first call on: what the elements hold.  Ends after
 * `allowed_ns`; what is overwritten meanwhile is missing from the sums.  1 when there
 * is more to be had, else 0, or -errno. */
int esi_top_read_waits(struct esi_top *top, uint64_t allowed_ns);

#endif
