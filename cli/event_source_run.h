/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_source_run.h - reading the events of a run for a command. */
#ifndef ES_CLI_EVENT_SOURCE_RUN_H
#define ES_CLI_EVENT_SOURCE_RUN_H

#include <stdbool.h>

#include "cli/consumer.h"
#include "monitors/causality/set_source.h"

struct esi_run_reading {
    bool follow; /* until the run is over, or an interrupt */
    /* Ends following earlier; may be NULL. */
    bool (*is_enough)(void *data);
    void *enough_data;
    /* Called between readings; may be NULL. */
    void (*progress)(void *data);
    void *data;
    struct esi_consumer consumer;
};

/* Opens RUN.  0, or the exit status after the message.  The consumer is to be closed.
 */
int esi_run_reading_open(struct esi_run_reading *reading,
                         const char *run,
                         const struct esi_consumer_options *options);

/* As esi_set_source_config.read_run; `data` is a struct esi_run_reading *. */
int esi_run_reading_read(void *data,
                         const struct esi_set_source_config *config,
                         struct esi_set_source_facts *facts,
                         struct es_error *error);

#endif
