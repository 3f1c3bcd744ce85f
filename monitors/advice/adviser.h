/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collectives --advise`: compares the measurements of the monitor with the
 * current trees, and proposes better ones.
 *
 *   esi_adviser_open(&hosts, &options, &config, &error, &adviser);
 *   ... the monitor is started with this configuration ...
 *   periodically:  esi_adviser_look(adviser, monitor, over, last);
 *                  proposals = esi_adviser_proposals(adviser, &count);
 *   after the monitor was destroyed:  esi_adviser_close(adviser);
 */
#ifndef ES_MONITORS_ADVICE_ADVISER_H
#define ES_MONITORS_ADVICE_ADVISER_H

#include <stdbool.h>
#include <stddef.h>

#include "monitors/advice/applier.h"
#include "monitors/collectives/collectives_monitor.h"

struct esi_collectives_advise {
    bool wanted;
    bool apply;
    size_t after; /* operations that a change is based on, and judged by */
};

struct esi_adviser;

/* Borrows the contents of the hosts, and the options; sets what it needs in the
 * monitor's configuration.  Returns 0; -ENOMEM; and with `apply`, -ENOTSUP if trees
 * cannot be switched or -ESRCH if the run has ended, both with `error` filled. */
int esi_adviser_open(const struct esi_tree_hosts *hosts,
                     const struct esi_collectives_advise *options,
                     struct esi_collectives_monitor_config *config,
                     struct es_error *error,
                     struct esi_adviser **ret_adviser);
/* Accepts NULL. */
void esi_adviser_close(struct esi_adviser *adviser);

/* Updates the proposals, and with `apply` changes trees.  `over`: the run has ended;
 * `last`: this is the last call, so nothing is changed any more.  Returns 0, -ENOMEM or
 * the like. */
int esi_adviser_look(struct esi_adviser *adviser,
                     struct esi_collectives_monitor *monitor,
                     bool over,
                     bool last);

/* The proposals of the last update; borrowed until the next. */
const struct esi_collectives_proposal *esi_adviser_proposals(
    const struct esi_adviser *adviser,
    size_t *ret_count);

/* The applier that changes trees; NULL if nothing is applied. */
const struct esi_applier *esi_adviser_applier(const struct esi_adviser *adviser);

/* Whether there are processes that can switch their trees. */
bool esi_adviser_is_switchable(const struct esi_adviser *adviser);

#endif
