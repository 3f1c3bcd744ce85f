/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Switches the collectors of a run's other hosts, through their tuple servers. */
#ifndef ES_CLI_COLLECT_HOSTS_H
#define ES_CLI_COLLECT_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run.h"
#include "eventspace/servers.h"

/* What is to be changed. */
struct esi_collect_change {
    uint32_t threshold; /* 0 = switch on or off */
    bool on;
};

struct esi_collect_result {
    int fit;     /* elements that the selection has */
    int changed; /* of them */
    int silent;  /* hosts that could not be asked */
    /* What elements were made for that cannot keep as many tuples as asked for. */
    uint32_t least_limit; /* 0 = all can */
    uint32_t most_limit;
};

/* Notes that an element cannot keep more than `limit` tuples. */
void esi_collect_note_limit(struct esi_collect_result *result, uint32_t limit);

/* Asks all hosts but this one; says on standard error what could not be changed, but
 * for limits, which are noted. */
void esi_collect_hosts(struct es_servers *servers,
                       const struct es_selection *selection,
                       const struct esi_collect_change *change,
                       struct esi_collect_result *ret_result);

#endif
