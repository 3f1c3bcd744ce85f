/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What `eventspace run` lays out before the ranks start: name, pathmap, run directory
 * with map.json, collect.plan and run.json, and the ranks' environment.
 */
#ifndef ES_CLI_LAUNCH_RUN_SETUP_H
#define ES_CLI_LAUNCH_RUN_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/launch/job.h"

struct esi_tree_rule;

struct esi_run_request {
    int ranks;            /* 0 = as many as the map or the hosts say */
    const char *hostfile; /* NULL = this host */
    const char *map;      /* NULL = generate one */
    const char *name;     /* NULL = make one */
    uint32_t threshold;   /* 0 = as the map says */
    const char *on_full;  /* "discard" or "block"; NULL = as the map says */
    bool no_sites;        /* do not record where operations are called */
    bool is_recorded; /* elements of a generated map are as large as there is room */
    bool trees;       /* collective operations can go through trees, whatever the map
                         says */
    const struct esi_tree_rule *tree; /* all blocking ones through this; NULL = as the
                                        map says, else not for now */
    char **program; /* with its arguments, NULL at the end; borrowed */
};

struct esi_run_setup {
    char name[ES_RUN_NAME_BYTES]; /* "" when the program has to run uncollected */
    int ranks;
    int lock;             /* descriptor: as long as it is open the run counts as live */
    bool has_other_hosts; /* the map has other hosts than this one */
    char address[256];    /* by which they reach this one, as the map says, else as
                             the way to them says; or "" */
};

/* Lays all out.  What the user gave and cannot be used (map, hostfile, name) is an exit
 * status after its message; where the system refuses, a message says so and the name is
 * empty: the program then runs uncollected.  0 on success. */
int esi_run_setup(const struct esi_run_request *request,
                  struct esi_run_setup *ret_setup);

/* Changes the plan: elements that block await their first reader.  For ranks that are
 * not started yet; a message where it cannot be done. */
void esi_run_setup_await_readers(const struct esi_run_setup *setup);

/* Removes the run directory. */
void esi_run_setup_remove(const struct esi_run_setup *setup);

/* Whether the `eventspace run` that made this run is still there. */
bool esi_run_setup_is_live(const char *run);

/* Lets go of the lock.  The struct is the caller's. */
void esi_run_setup_fini(struct esi_run_setup *setup);

#endif
