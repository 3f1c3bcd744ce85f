/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_set.c - reads an event set from disk: its events, trace names and losses. */
#include "config.h"

#include "eventspace/event_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/causality/set_source.h"
#include "monitors/eventset/sinks.h"
#include "monitors/eventset/trace_names.h"

struct es_event_set {
    char *path;
    struct esi_trace_names names;
    struct esi_set_source_facts facts;
};

/* Live runs are refused here: they need scopes, which are in libeventspace. */
static int check_path(const char *path, struct es_error *error)
{
    enum esi_set_source_kind kind;
    int result = esi_set_source_detect(path, &kind, error);

    if (result == 0 && kind == ES_SET_SOURCE_RUN)
        return es_error_set_at(error, -ENOENT, path, 0, 0, "no such file or archive");
    return result;
}

int es_event_set_open(const char *path,
                      struct es_error *error,
                      struct es_event_set **ret_set)
{
    int result = check_path(path, error);
    struct es_event_set *set;

    if (result < 0)
        return result;
    set = calloc(1, sizeof *set);
    if (set)
        set->path = strdup(path);
    if (!set || !set->path) {
        free(set);
        return -ENOMEM;
    }
    *ret_set = set;
    return 0;
}

static void forget_names(struct es_event_set *set)
{
    esi_trace_names_fini(&set->names);
    set->names = (struct esi_trace_names){.count = 0};
}

void es_event_set_close(struct es_event_set *set)
{
    if (!set)
        return;
    forget_names(set);
    free(set->path);
    free(set);
}

/* --- Reading ---------------------------------------------------------------------- */

int es_event_set_read(struct es_event_set *set,
                      const struct es_set_sink *sinks,
                      size_t count,
                      bool attributes,
                      struct es_error *error)
{
    struct es_set_sink *items = calloc(count + 1, sizeof *items);
    struct esi_sinks all = {.items = items, .count = count + 1};
    const struct esi_set_source_config config = {
        .path = set->path, .sink = esi_sinks_sink(&all), .attributes = attributes};
    int result = -ENOMEM;

    forget_names(set);
    set->facts = (struct esi_set_source_facts){.is_matched = false};
    if (items) {
        items[0] = esi_trace_names_sink(&set->names);
        for (size_t i = 0; i < count; i++)
            items[i + 1] = sinks[i];
        result = esi_set_source_read(&config, &set->facts, error);
    }
    free(items);
    return result < 0 ? es_error_set(error, result, "%s", strerror(-result)) : 0;
}

/* --- After reading ---------------------------------------------------------------- */

uint32_t es_event_set_traces(const struct es_event_set *set)
{
    return set->names.count;
}

const char *es_event_set_trace_name(const struct es_event_set *set, uint32_t trace)
{
    return trace < set->names.count ? set->names.names[trace] : NULL;
}

int64_t es_event_set_find_trace(const struct es_event_set *set, const char *name)
{
    int64_t trace = esi_trace_names_find(&set->names, name, strlen(name));

    return trace < 0 ? -ENOENT : trace;
}

int es_event_set_losses(const struct es_event_set *set,
                        struct es_event_set_losses *ret_losses)
{
    const struct esi_causality_totals *totals = &set->facts.totals;

    if (ret_losses)
        *ret_losses = (struct es_event_set_losses){
            .tuples = totals->lost,
            .sends = totals->unmatched_sends,
            .receives = totals->unmatched_receives,
            .unnumbered = totals->unnumbered,
            .collectives = totals->incomplete,
        };
    return set->facts.is_incomplete;
}
