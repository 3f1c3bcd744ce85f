/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reading the events of a run for a command: what there is, or till its end. */
#include "config.h"

#include "cli/event_source_run.h"

#include <errno.h>
#include <time.h>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "monitors/causality/causality_scope.h"

/* Between readings that found nothing. */
#define PAUSE_NS 10000000

/* Whether neither this host nor a tuple server knows a run of this name. */
static bool is_nowhere(const char *name)
{
    struct es_servers *servers;
    struct es_run *run;
    int result = es_run_open(name, NULL, &run);

    if (result == 0)
        es_run_close(run);
    if (result != -ENOENT)
        return result == -EINVAL; /* no run can have such a name */
    result = es_servers_open(name, NULL, NULL, &servers);
    if (result == 0)
        es_servers_close(servers);
    return result == -ENOENT;
}

int esi_run_reading_open(struct esi_run_reading *reading,
                         const char *run,
                         const struct esi_consumer_options *options)
{
    if (!options->server && is_nowhere(run))
        return esi_command_fail(ES_EXIT_USAGE, "%s: no such file, archive or run", run);
    return esi_consumer_open(run, options, &reading->consumer);
}

static void show_notices(const struct esi_follower *follower,
                         struct esi_notices *notices)
{
    const struct es_notice *items = NULL;
    size_t count = esi_follower_notices(follower, &items);

    esi_notices_show(notices, items, count);
}

/* What is cleaned up when it ends vanishes: what we have attached can still be read. */
static bool is_at_end(const struct esi_run_reading *reading,
                      const struct esi_follower *follower)
{
    return esi_interrupt_came() || esi_follower_is_over(follower) ||
           es_scope_has_vanished(esi_follower_scope(follower)) ||
           (reading->is_enough && reading->is_enough(reading->enough_data));
}

/* Reads until nobody is left who could write; what is there then is still to be read.
 */
static int follow_run(struct esi_run_reading *reading,
                      struct esi_causality_scope *scope)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const struct esi_follower *follower = esi_causality_scope_follower(scope);
    struct esi_notices notices = {.count = 0};

    while (!is_at_end(reading, follower)) {
        int more = esi_causality_scope_read(scope, false);

        if (more < 0)
            return more;
        show_notices(follower, &notices);
        if (reading->progress)
            reading->progress(reading->data);
        if (more == 0 && !es_scope_is_paced(esi_follower_scope(follower)))
            nanosleep(&pause, NULL);
    }
    return 0;
}

int esi_run_reading_read(void *data,
                         const struct esi_set_source_config *config,
                         struct esi_set_source_facts *facts,
                         struct es_error *error)
{
    struct esi_run_reading *reading = data;
    struct esi_causality_scope_config scope_config;
    struct esi_causality_scope *scope;
    int result;

    esi_causality_scope_config_init(&scope_config);
    scope_config.causality.sink = config->sink;
    scope_config.causality.attributes = config->attributes;
    scope_config.servers = reading->consumer.servers;
    result =
        esi_causality_scope_open(reading->consumer.run, &scope_config, error, &scope);
    if (result < 0)
        return result;
    if (reading->follow) {
        esi_interrupt_catch(ES_INTERRUPT_FIRST);
        result = follow_run(reading, scope);
    }
    if (result >= 0)
        result = esi_causality_scope_finish(scope);
    esi_set_source_found(config, esi_causality_scope_causality(scope), facts);
    esi_causality_scope_close(scope);
    return result;
}
