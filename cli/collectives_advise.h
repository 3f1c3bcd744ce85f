/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collectives --advise`: joins what the monitor has measured with the trees
 * in force, and tells which would be better.
 *
 *   esi_adviser_open(&consumer, &options, &config, &adviser);
 *   ... the monitor is started with this configuration ...
 *   at each look:  esi_adviser_look(adviser, monitor, over, last);
 *                  esi_adviser_print(adviser, ES_FORMAT_TEXT, top);
 *   after the monitor is gone:  esi_adviser_close(adviser);
 */
#ifndef ES_CLI_COLLECTIVES_ADVISE_H
#define ES_CLI_COLLECTIVES_ADVISE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"
#include "cli/consumer.h"
#include "monitors/collectives/collectives_monitor.h"

struct esi_collectives_advise {
    bool wanted;
    bool apply;
    size_t after; /* operations that a change is based on, and judged by */
};

struct esi_adviser;

/* Borrows the consumer and the options; sets what the monitor needs in its
 * configuration. 0, or the exit status after the message: with `apply`, 2 where trees
 * cannot be switched. */
int esi_adviser_open(const struct esi_consumer *consumer,
                     const struct esi_collectives_advise *options,
                     struct es_collectives_monitor_config *config,
                     struct esi_adviser **ret_adviser);
/* Accepts NULL. */
void esi_adviser_close(struct esi_adviser *adviser);

/* Thinks it over, and with `apply` changes trees, which is said on standard error.
 * `over`: the run has ended; `last`: this is the last look, nothing more is changed.
 * -ENOMEM and the like. */
int esi_adviser_look(struct esi_adviser *adviser,
                     struct es_collectives_monitor *monitor,
                     bool over,
                     bool last);

/* Prints the advice on at most `top` groups, and what became of changes. */
void esi_adviser_print(const struct esi_adviser *adviser,
                       enum es_format format,
                       size_t top);

#endif
