/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* latent_archive.c - reads an archive once for its facts, and once in the order of its
 * events for the replay and the races. */
#include "config.h"

#include "monitors/latent/latent.h"

#include "eventspace/order.h"
#include "monitors/archive/archive_read.h"
#include "monitors/causality/set_source.h"
#include "monitors/eventset/sinks.h"

static int add_item(void *data, const struct esi_archive_item *item)
{
    return esi_archived_facts_add(data, item);
}

static int read_facts(struct esi_latent *latent, struct es_error *error)
{
    int result = esi_archived_facts_create(latent->reader, error, &latent->archived);

    if (result == 0)
        result =
            esi_archive_foreach_item(latent->reader, add_item, latent->archived, error);
    if (result < 0)
        return result;
    esi_archived_facts_finish(latent->archived);
    return esi_leaks_find(esi_archived_facts_get(latent->archived), &latent->leaks);
}

/* While the run model exists. */
struct end_of_calls {
    struct esi_replay *replay;
    int result;
};

static void finish_replay(void *data, const struct esi_causality *causality)
{
    struct end_of_calls *end = data;
    struct esi_causality_totals totals;

    esi_causality_totals(causality, &totals);
    end->result = esi_replay_finish(end->replay, &totals);
}

/* Passes the operations to the replay, and their events to the races. */
static int read_calls(struct esi_latent *latent,
                      struct es_order *order,
                      struct es_error *error)
{
    const struct es_set_sink items[] = {es_order_sink(order),
                                        esi_races_sink(latent->races)};
    struct esi_sinks sinks = {.items = items, .count = 2};
    struct end_of_calls end = {.replay = latent->replay};
    const struct esi_set_source_config config = {
        .archive = latent->reader,
        .sink = esi_sinks_sink(&sinks),
        .listener = esi_replay_listener(latent->replay),
        .attributes = true,
        .found = finish_replay,
        .found_data = &end};
    int result = esi_set_source_read(&config, NULL, error);

    if (result == 0)
        result = end.result;
    return result < 0 ? result : esi_races_finish(latent->races, order);
}

static int read_archive(struct esi_latent *latent, struct es_error *error)
{
    struct es_order *order;
    int result = read_facts(latent, error);

    if (result == 0)
        result = esi_replay_create(&latent->replay);
    if (result == 0)
        result = esi_races_create(&latent->races);
    if (result == 0)
        result = es_order_open(NULL, 0, NULL, error, &order);
    if (result < 0)
        return result;
    result = read_calls(latent, order, error);
    es_order_destroy(order);
    return result;
}

int esi_latent_read(const char *directory,
                    struct es_error *error,
                    struct esi_latent *ret_latent)
{
    struct esi_latent latent = {.replay = NULL};
    int result = esi_archive_open(directory, error, &latent.reader);

    if (result == 0)
        result = read_archive(&latent, error);
    if (result < 0) {
        esi_latent_fini(&latent);
        return result;
    }
    *ret_latent = latent;
    return 0;
}

void esi_latent_fini(struct esi_latent *latent)
{
    esi_replay_destroy(latent->replay);
    esi_races_destroy(latent->races);
    esi_leaks_fini(&latent->leaks);
    esi_archived_facts_destroy(latent->archived);
    esi_archive_read_close(latent->reader);
    *latent = (struct esi_latent){.replay = NULL};
}
