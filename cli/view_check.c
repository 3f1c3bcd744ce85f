/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Checks that a run has the parts that a view selects. */
#include "config.h"

#include "cli/view_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/command.h"
#include "tuplespace/plan/plan.h"

enum { NAMES = 8, NAME_BYTES = 64 };

/* The names of one kind in a run, limited to those shown in a message. */
struct known_names {
    const char *wanted; /* NULL = not selected */
    bool is_there;
    char items[NAMES][NAME_BYTES];
    size_t count;
    bool more;
    struct esi_nearest nearest;
    char near[NAME_BYTES]; /* the most similar name */
};

/* The parts of a run. */
struct known_run {
    int world;  /* number of ranks; 0 = not known */
    int thread; /* the highest */
    bool lives;
    struct known_names hosts;
    struct known_names communicators;
};

static void want_name(struct known_names *names, const char *wanted)
{
    if (!wanted)
        return;
    names->wanted = wanted;
    esi_nearest_init(&names->nearest, wanted);
}

static void note_name(struct known_names *names, const char *name)
{
    if (!names->wanted)
        return;
    names->is_there |= strcmp(name, names->wanted) == 0;
    if (!*name)
        return;
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    esi_nearest_try(&names->nearest, name);
    if (names->nearest.name == name) {
        snprintf(names->near, sizeof names->near, "%s", name);
        names->nearest.name = names->near;
    }
    if (names->count == NAMES)
        names->more = true;
    else
        snprintf(names->items[names->count++], NAME_BYTES, "%s", name);
}

static void note_process(struct known_run *known, const struct es_segment_info *info)
{
    int world = info->size > info->rank + 1 ? info->size : info->rank + 1;

    if (info->rank < 0)
        return; /* a monitor */
    if (world > known->world)
        known->world = world;
    known->lives |= info->alive;
    note_name(&known->hosts, info->host);
}

static void note_communicators(struct known_run *known,
                               const struct es_scope *scope,
                               uint32_t origin)
{
    struct es_communicator_info info;

    for (uint16_t i = 0; i < ES_COMMUNICATOR_NONE &&
                         es_scope_communicator(scope, origin, i, &info) == 0;
         i++)
        note_name(&known->communicators, info.name);
}

static void note_origins(struct known_run *known, const struct es_scope *scope)
{
    for (uint32_t i = 0; i < es_scope_origin_count(scope); i++) {
        const struct es_origin *origin = es_scope_origin(scope, i);
        struct es_segment_info info;

        if (origin->thread > known->thread)
            known->thread = origin->thread;
        if (es_scope_process(scope, i, &info) == 0)
            note_process(known, &info);
        if (known->communicators.wanted)
            note_communicators(known, scope, i);
    }
}

/* Returns 0 or -errno. */
static int look_at_run(const struct esi_consumer *consumer, struct known_run *known)
{
    struct es_server_info server;
    struct es_scope_config config;
    struct es_segment_info info;
    struct es_scope *scope;
    int result;

    for (size_t i = 0; i < es_run_segment_count(consumer->run); i++) {
        es_segment_view_info(es_run_segment(consumer->run, i), &info);
        note_process(known, &info);
    }
    for (size_t i = 0;
         consumer->servers && es_servers_at(consumer->servers, i, &server) == 0; i++)
        note_name(&known->hosts, server.host);
    es_scope_config_init(&config);
    config.servers = consumer->servers;
    result = es_scope_open(consumer->run, &config, NULL, &scope);
    if (result < 0)
        return result;
    result = es_scope_refresh(scope);
    if (result >= 0)
        note_origins(known, scope);
    es_scope_close(scope);
    return result < 0 ? result : 0;
}

/* --- Missing parts ---------------------------------------------------------------- */

int esi_view_check_ranks(const char *text, int world, const char *owner)
{
    struct esi_rank_range *ranges;
    int count = text ? esi_rank_ranges_parse(text, NULL, &ranges) : 0;
    int missing = -1;

    if (count <= 0)
        return ES_EXIT_SUCCESS; /* errors are reported by the parser of ranks */
    for (int i = 0; i < count && missing < 0; i++)
        if (ranges[i].first >= world)
            missing = ranges[i].first;
    free(ranges);
    if (missing < 0)
        return ES_EXIT_SUCCESS;
    if (world == 1)
        return esi_command_fail(ES_EXIT_USAGE,
                                "--rank: there is no rank %d; %s has rank 0 only",
                                missing, owner);
    return esi_command_fail(ES_EXIT_USAGE,
                            "--rank: there is no rank %d; %s has ranks 0 to %d",
                            missing, owner, world - 1);
}

static int check_thread(const struct known_run *known, int thread)
{
    if (thread <= known->thread)
        return ES_EXIT_SUCCESS;
    if (known->thread == 0)
        return esi_command_fail(
            ES_EXIT_USAGE,
            "--thread: there is no thread %d; the run's ranks have thread 0 only",
            thread);
    return esi_command_fail(
        ES_EXIT_USAGE,
        "--thread: there is no thread %d; the run's ranks have threads 0 to %d", thread,
        known->thread);
}

static int check_name(const struct known_names *names,
                      const char *option,
                      const char *what)
{
    char list[NAMES * (NAME_BYTES + 4)];
    size_t length = 0;

    if (!names->wanted || names->is_there)
        return ES_EXIT_SUCCESS;
    if (names->nearest.name)
        return esi_command_fail(ES_EXIT_USAGE,
                                "%s: there is no %s '%s'; did you mean '%s'?", option,
                                what, names->wanted, names->nearest.name);
    for (size_t i = 0; i < names->count; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s'%s'",
                                   i > 0 ? ", " : "", names->items[i]);
    return esi_command_fail(ES_EXIT_USAGE, "%s: there is no %s '%s'; the run has %s%s",
                            option, what, names->wanted, length > 0 ? list : "none",
                            names->more ? " and more" : "");
}

int esi_view_check(const struct esi_consumer *consumer,
                   const struct es_view *view,
                   bool follow)
{
    const struct es_selection *selection = &view->selection;
    struct known_run known = {.world = 0};
    int status;

    if (!selection->ranks && !selection->host && selection->thread < 0 &&
        !view->communicator)
        return ES_EXIT_SUCCESS;
    want_name(&known.hosts, selection->host);
    want_name(&known.communicators, view->communicator);
    if (look_at_run(consumer, &known) < 0 || known.world == 0)
        return ES_EXIT_SUCCESS; /* reported by the reader of the run; or it has not
                                   begun */
    status = esi_view_check_ranks(selection->ranks, known.world, "the run");
    if (status != ES_EXIT_SUCCESS || (follow && known.lives))
        return status;
    status = check_thread(&known, selection->thread);
    if (status == ES_EXIT_SUCCESS)
        status = check_name(&known.hosts, "--host", "host");
    if (status == ES_EXIT_SUCCESS)
        status = check_name(&known.communicators, "--comm", "communicator");
    return status;
}
