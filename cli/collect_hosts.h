/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Switches the collectors on the other hosts of a run, through their tuple servers. */
#ifndef ES_CLI_COLLECT_HOSTS_H
#define ES_CLI_COLLECT_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run.h"
#include "eventspace/servers.h"

/* The change to make. */
struct esi_collect_change {
    uint32_t threshold; /* 0 = switch on or off */
    bool on;
};

struct esi_collect_result {
    int fit;     /* number of selected elements */
    int changed; /* number of these that were changed */
    int silent;  /* hosts that did not answer */
    /* Capacities of elements that cannot hold as many tuples as requested. */
    uint32_t least_limit; /* 0 = all can */
    uint32_t most_limit;
};

/* Records that an element can hold at most `limit` tuples. */
void esi_collect_note_limit(struct esi_collect_result *result, uint32_t limit);

/* Sends the change to all hosts but this one; prints failures on standard error, except
 * for limits, which are recorded. */
void esi_collect_hosts(struct es_servers *servers,
                       const struct es_selection *selection,
                       const struct esi_collect_change *change,
                       struct esi_collect_result *ret_result);

#endif
