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
 * The run is the monitor's as long as its thread lives.
 *
 *   may run at the same time: the monitor's own thread and one thread that calls what
 *   is here.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVES_MONITOR_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVES_MONITOR_H

#include "eventspace/scope.h"
#include "monitors/collectives/collective_statistics.h"
#include "monitors/collectives/collectives_scope.h"

/* Called for instances that were kept: see esi_collectives_monitor_take(). */
typedef void (*esi_collectives_take_fn)(void *data,
                                        const struct esi_collective_instance *instance);

struct esi_collectives_monitor_config {
    struct es_scope_config scope; /* esi_collectives_scope_config_init(); borrowed as
                                     there */
    const char *communicator; /* fnmatch(3) pattern of names; NULL = all; borrowed */
    const char *operations; /* names with commas between, with or without "MPI_"; NULL =
                               all; borrowed */
    uint64_t since_ns;   /* only what began at this time after the run's start, or later
                          */
    uint64_t recent_ns;  /* only what began in the newest so many ns; 0 = all */
    bool by_size;        /* classes of sizes stand apart (size_class.h) */
    bool keep_instances; /* for esi_collectives_monitor_take() */
    bool once;           /* what is there now, not what comes */
    uint64_t patience_ns;                     /* see esi_collectives_config */
    struct esi_collectives_listener listener; /* all zero = none; called by the
                                                monitor's thread */
};

void esi_collectives_monitor_config_init(struct esi_collectives_monitor_config *config);

/* Checks the operations' names.  -EINVAL with words. */
int esi_collectives_monitor_config_check(
    const struct esi_collectives_monitor_config *config,
    struct es_error *error);

struct esi_collectives_monitor;

/* Opens the scope and starts the thread.  Borrows the run until the monitor is stopped.
 * -EINVAL and the like with words. */
int esi_collectives_monitor_start(struct es_run *run,
                                  const struct esi_collectives_monitor_config *config,
                                  struct es_error *error,
                                  struct esi_collectives_monitor **ret_monitor);

/* Waits so long, or until the monitor's thread has ended by itself: the run is over and
 * all of it was read, or it cannot be read.  Returns whether it has. */
bool esi_collectives_monitor_wait(struct esi_collectives_monitor *monitor,
                                  uint64_t timeout_ns);

/* Ends the thread.  Returns 0, or -errno why it could not go on. */
int esi_collectives_monitor_stop(struct esi_collectives_monitor *monitor);
/* Stops it, too.  Accepts NULL. */
void esi_collectives_monitor_destroy(struct esi_collectives_monitor *monitor);

/* How things stand, a copy. */
struct esi_collectives_report {
    struct esi_collective_statistics *statistics; /* owned */
    char (*hosts)[64]; /* by world rank, "" = not known; owned */
    int ranks;         /* world ranks that are known of */
    struct esi_collectives_counts counts;
    struct esi_collectives_losses losses;
    uint64_t start_ns;            /* run time at which the run began */
    uint64_t first_ns;            /* of the operations in the statistics: first enter */
    uint64_t last_ns;             /* and last exit */
    bool over;                    /* the run is, and all of it was read */
    bool vanished;                /* nothing of the run is left to be found */
    bool paced;                   /* see es_scope_is_paced() */
    struct es_notice notices[16]; /* parts that do not deliver */
    size_t notice_count;
};

/* -ENOMEM. */
int esi_collectives_monitor_report(struct esi_collectives_monitor *monitor,
                                   struct esi_collectives_report *ret_report);
void esi_collectives_report_fini(struct esi_collectives_report *report);

/* Host of a world rank, "" = not known. */
const char *esi_collectives_report_host(const struct esi_collectives_report *report,
                                        int world_rank);

/* Calls a function, whose result is returned: meanwhile nothing is analysed, and the
 * listener is not called. */
int esi_collectives_monitor_call(struct esi_collectives_monitor *monitor,
                                 int (*use)(void *data),
                                 void *data);

/* Gives the instances that were kept, in the order in which they became complete or
 * were given up, and forgets them.  The monitor waits when 65,536 are kept. */
void esi_collectives_monitor_take(struct esi_collectives_monitor *monitor,
                                  esi_collectives_take_fn take,
                                  void *data);

#endif
