/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What `eventspace run` prepares before the ranks start: name, path map, run directory
 * with map.json, collect.plan and run.json, and the ranks' environment.
 */
#ifndef ES_CLI_LAUNCH_RUN_SETUP_H
#define ES_CLI_LAUNCH_RUN_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/launch/job.h"

struct esi_tree_rule;

struct esi_run_request {
    int ranks;            /* 0 = from the map or the hosts */
    const char *hostfile; /* NULL = this host */
    const char *map;      /* NULL = generate one */
    const char *name;     /* NULL = generate one */
    uint32_t threshold;   /* 0 = from the map */
    const char *on_full;  /* "discard" or "block"; NULL = from the map */
    bool no_sites;        /* do not record call sites */
    bool is_recorded;     /* elements of a generated map use all available space */
    bool trees; /* collective operations can use trees, whatever the map says */
    const struct esi_tree_rule *tree; /* for all blocking ones; NULL = from the map,
                                         or else none for now */
    char **program; /* with its arguments, NULL at the end; borrowed */
};

struct esi_run_setup {
    char name[ES_RUN_NAME_BYTES]; /* "" if the program must run without collecting */
    int ranks;
    int lock;             /* descriptor: while it is open the run counts as live */
    bool has_other_hosts; /* the map has hosts other than this one */
    char address[256];    /* of this host for the others, from the map, or else from
                             the route to them; or "" */
};

/* Prepares everything.  Invalid input of the user (map, hostfile, name) gives an exit
 * status after a message.  If the system refuses, prints a message and leaves the name
 * empty: the program then runs without collecting.  Returns 0 on success. */
int esi_run_setup(const struct esi_run_request *request,
                  struct esi_run_setup *ret_setup);

/* Changes the plan so that blocking elements wait for their first reader.  For ranks
 * that have not started yet; prints a message on failure. */
void esi_run_setup_await_readers(const struct esi_run_setup *setup);

/* Removes the run directory. */
void esi_run_setup_remove(const struct esi_run_setup *setup);

/* Whether the `eventspace run` that created this run is still alive. */
bool esi_run_setup_is_live(const char *run);

/* Releases the lock.  The struct is the caller's. */
void esi_run_setup_fini(struct esi_run_setup *setup);

#endif
