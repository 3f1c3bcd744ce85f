/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collective-operation monitor (paper, section 5.3): one thread that pulls the
 * contributions of all ranks and analyses them, for a front end that shows results.
 *
 *   esi_collectives_monitor_config_init(&config);
 *   esi_collectives_monitor_start(run, &config, &error, &monitor);
 *   while (!esi_collectives_monitor_wait(monitor, interval_ns)) {
 *       esi_collectives_monitor_report(monitor, &report);
 *       show(&report);
 *       esi_collectives_report_fini(&report);
 *   }
 *   esi_collectives_monitor_stop(monitor);
 *   ... a last report ...
 *   esi_collectives_monitor_destroy(monitor);
 *
 * The run belongs to the monitor while its thread is running.
 *
 * All functions may be called by one thread while the monitor's own thread is running.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVES_MONITOR_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVES_MONITOR_H

#include "eventspace/scope.h"
#include "monitors/causality/gaps.h"
#include "monitors/collectives/collective_statistics.h"
#include "monitors/collectives/collectives_scope.h"

/* Called for retained instances: see esi_collectives_monitor_take(). */
typedef void (*esi_collectives_take_fn)(void *data,
                                        const struct esi_collective_instance *instance);

struct esi_collectives_monitor_config {
    struct es_scope_config scope; /* from esi_collectives_scope_config_init();
                                     borrowed as there */
    const char *communicator; /* fnmatch(3) pattern of names; NULL = all; borrowed */
    const char *operations;   /* comma-separated names, with or without "MPI_"; NULL =
                               all; borrowed */
    uint64_t since_ns;        /* only operations that began at least so long after the
                            start of the run */
    uint64_t recent_ns;       /* only operations that began in the last so many ns; 0 =
                            all */
    bool by_size;             /* separate groups per size class (size_class.h) */
    bool keep_instances;      /* for esi_collectives_monitor_take() */
    bool once;                /* read what is present, and stop */
    uint64_t patience_ns;     /* see causality.h; 0 = 10 s */
    struct esi_collectives_listener listener; /* all zero = none; called by the
                                                 monitor's thread */
};

void esi_collectives_monitor_config_init(struct esi_collectives_monitor_config *config);

/* Checks the operations' names.  Returns 0, or -EINVAL with `error` filled. */
int esi_collectives_monitor_config_check(
    const struct esi_collectives_monitor_config *config,
    struct es_error *error);

struct esi_collectives_monitor;

/* Opens the scope and starts the thread.  Borrows the run until the monitor is stopped.
 * Returns 0 or -errno with `error` filled. */
int esi_collectives_monitor_start(struct es_run *run,
                                  const struct esi_collectives_monitor_config *config,
                                  struct es_error *error,
                                  struct esi_collectives_monitor **ret_monitor);

/* Waits for `timeout_ns`, or until the monitor's thread ends by itself because the run
 * is over and completely read, or cannot be read.  Returns whether it has ended. */
bool esi_collectives_monitor_wait(struct esi_collectives_monitor *monitor,
                                  uint64_t timeout_ns);

/* Ends the thread.  Returns 0, or the -errno for which it had stopped. */
int esi_collectives_monitor_stop(struct esi_collectives_monitor *monitor);
/* Stops the monitor first, if necessary.  Accepts NULL. */
void esi_collectives_monitor_destroy(struct esi_collectives_monitor *monitor);

/* A copy of the current results. */
struct esi_collectives_report {
    struct esi_collective_statistics *statistics; /* owned */
    char (*hosts)[64]; /* by world rank, "" = not known; owned */
    int ranks;         /* number of known world ranks */
    struct esi_causality_totals totals;
    uint64_t repaired, impossible; /* see esi_collective_instance */
    uint64_t lost;                 /* tuples overwritten before they were read */
    uint64_t missed;               /* tuples overwritten before reading began */
    uint64_t start_ns;             /* run time at which the run began */
    uint64_t first_ns;             /* first enter of the operations in the statistics */
    uint64_t last_ns;              /* and their last exit */
    struct esi_coverage seen;     /* from when operations were read, also those that are
                                     not selected */
    bool over;                    /* the run is over and was read completely */
    bool vanished;                /* nothing of the run exists any more */
    bool paced;                   /* see es_scope_is_paced() */
    struct es_notice notices[16]; /* parts that do not deliver data */
    size_t notice_count;
};

/* Returns 0 or -ENOMEM. */
int esi_collectives_monitor_report(struct esi_collectives_monitor *monitor,
                                   struct esi_collectives_report *ret_report);
void esi_collectives_report_fini(struct esi_collectives_report *report);

/* Host of a world rank, "" = not known. */
const char *esi_collectives_report_host(const struct esi_collectives_report *report,
                                        int world_rank);

/* Calls `use` and returns its result; meanwhile nothing is analysed, and the listener
 * is not called. */
int esi_collectives_monitor_call(struct esi_collectives_monitor *monitor,
                                 int (*use)(void *data),
                                 void *data);

/* Passes the retained instances to `take`, in the order in which they became complete
 * or were given up, and discards them.  The monitor pauses when 65,536 are retained. */
void esi_collectives_monitor_take(struct esi_collectives_monitor *monitor,
                                  esi_collectives_take_fn take,
                                  void *data);

#endif
