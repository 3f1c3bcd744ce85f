/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collectives --advise`: joins what the monitor has measured with the trees
 * in force, and tells which would be better.
 *
 *   esi_adviser_open(&hosts, &options, &config, &error, &adviser);
 *   ... the monitor is started with this configuration ...
 *   at each look:  esi_adviser_look(adviser, monitor, over, last);
 *                  proposals = esi_adviser_proposals(adviser, &count);
 *   after the monitor is gone:  esi_adviser_close(adviser);
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

/* Borrows what the hosts are made of, and the options; sets what the monitor needs in
 * its configuration.  With `apply` -ENOTSUP where trees cannot be switched and -ESRCH
 * where the run has ended, both with words; -ENOMEM. */
int esi_adviser_open(const struct esi_tree_hosts *hosts,
                     const struct esi_collectives_advise *options,
                     struct esi_collectives_monitor_config *config,
                     struct es_error *error,
                     struct esi_adviser **ret_adviser);
/* Accepts NULL. */
void esi_adviser_close(struct esi_adviser *adviser);

/* Thinks it over, and with `apply` changes trees, which is noted.
 * `over`: the run has ended; `last`: this is the last look, nothing more is changed.
 * -ENOMEM and the like. */
int esi_adviser_look(struct esi_adviser *adviser,
                     struct esi_collectives_monitor *monitor,
                     bool over,
                     bool last);

/* The advice of the last look, which it borrows from. */
const struct esi_collectives_proposal *esi_adviser_proposals(
    const struct esi_adviser *adviser,
    size_t *ret_count);

/* What changes trees; NULL: nothing does. */
const struct esi_applier *esi_adviser_applier(const struct esi_adviser *adviser);

/* Whether there are processes that can change their trees. */
bool esi_adviser_is_switchable(const struct esi_adviser *adviser);

#endif
