/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collect tree`.
 *
 * The rules in force are those of the newest request, or the initial ones; a change
 * modifies them, and the complete rules are the next request.
 */
#include "config.h"

#include "cli/collect_tree.h"

#include <stdlib.h>
#include <string.h>

#include "monitors/advice/tree_change.h"
#include "cli/tree_show.h"
#include "pathmap/pathmap.h"

/* --- The rules -------------------------------------------------------------------- */

/* Replaces the rules by those of the file, and keeps the hosts. */
static int take_file(const char *path,
                     struct es_error *error,
                     struct esi_tree_plan *plan)
{
    struct esi_tree_plan file;
    int code = esi_pathmap_rules_load(path, error, &file);

    if (code < 0)
        return code;
    struct esi_tree_rules old = plan->rules;
    plan->rules = file.rules;
    file.rules = old;
    esi_tree_plan_fini(&file);
    return 0;
}

/* The complete new rules.  The caller frees *ret_text. */
static int make_text(const struct esi_tree_hosts *hosts,
                     const struct esi_tree_request *request,
                     struct es_error *error,
                     char **ret_text)
{
    struct esi_tree_plan plan;
    int code = esi_tree_plan_load(hosts, request->clear, error, &plan);

    if (code < 0)
        return code;
    if (request->file)
        code = take_file(request->file, error, &plan);
    if (code == 0 && request->has_rule)
        code = esi_tree_rules_put(&plan.rules, &request->rule);
    if (code == 0)
        code = esi_tree_plan_text(&plan, error, ret_text);
    esi_tree_plan_fini(&plan);
    return code;
}

/* --- Changing --------------------------------------------------------------------- */

static int fail_nobody(const struct esi_tree_hosts *hosts,
                       const struct esi_tree_rows *rows)
{
    if (rows->processes > 0)
        return esi_command_fail(ES_EXIT_LOST, "run '%s' has ended",
                                es_run_name(hosts->run));
    return esi_command_fail(ES_EXIT_USAGE,
                            "run '%s': its collective operations cannot be switched; "
                            "start it with --trees",
                            es_run_name(hosts->run));
}

static int change_rules(const struct esi_tree_hosts *hosts,
                        const struct esi_tree_request *request)
{
    struct es_error error = {.text = ""};
    struct esi_tree_change done;
    char *text;

    int code = make_text(hosts, request, &error, &text);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "the trees are not changed");
    code = esi_tree_change(hosts, text, &done);
    free(text);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot change the trees of run '%s'",
                                      es_run_name(hosts->run));
    if (done.silent > 0)
        return ES_EXIT_LOST;
    return done.changed < done.fit ? ES_EXIT_USAGE : ES_EXIT_SUCCESS;
}

static const char *pattern_of(const struct esi_tree_request *request)
{
    return request->has_rule ? request->rule.communicator : "*";
}

static int report_behind(const struct esi_tree_request *request,
                         const struct esi_tree_rows *rows)
{
    int status = ES_EXIT_SUCCESS;

    for (size_t i = 0; i < rows->count; i++) {
        const struct esi_tree_row *row = &rows->rows[i];
        bool is_told = i > 0 && rows->rows[i - 1].rank == row->rank &&
                       strcmp(rows->rows[i - 1].communicator, row->communicator) == 0;
        if (!esi_tree_is_behind(row, pattern_of(request)) || is_told)
            continue;
        esi_command_note("%s (%d ranks from rank %d on) has not switched yet: it does "
                         "so with its next blocking collective operations",
                         row->communicator[0] ? row->communicator
                                              : "an unnamed communicator",
                         row->size, row->rank);
        status = ES_EXIT_FINDING;
    }
    return status;
}

static int change_and_wait(const struct esi_tree_hosts *hosts,
                           const struct esi_tree_request *request,
                           struct esi_tree_rows *rows)
{
    int status = change_rules(hosts, request);

    if (status != ES_EXIT_SUCCESS)
        return status;
    int code = esi_tree_wait(hosts, pattern_of(request), request->wait_ns, rows);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot query the trees of run '%s'",
                                      es_run_name(hosts->run));
    return request->wait_ns > 0 ? report_behind(request, rows) : ES_EXIT_SUCCESS;
}

static int show_or_change(const struct esi_tree_hosts *hosts,
                          const struct esi_tree_request *request,
                          struct esi_tree_rows *rows)
{
    bool is_change = request->has_rule || request->file || request->clear;
    int status = ES_EXIT_SUCCESS;

    int code = esi_tree_rows_ask(hosts, rows);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot query the trees of run '%s'",
                                      es_run_name(hosts->run));
    if (rows->processes == 0 && rows->silent > 0)
        return ES_EXIT_LOST;
    if (rows->processes == 0 || (is_change && rows->alive == 0))
        return fail_nobody(hosts, rows);
    if (is_change)
        status = change_and_wait(hosts, request, rows);
    if (status > ES_EXIT_FINDING)
        return status;
    code = esi_tree_show(rows, es_run_name(hosts->run), request->format);
    if (code < 0)
        return esi_command_fail_output(code);
    return status;
}

int esi_collect_tree(const struct esi_tree_request *request)
{
    struct esi_consumer_options everywhere = {.server = NULL};
    struct esi_tree_rows rows = {.rows = NULL};
    struct esi_consumer consumer;

    int status = esi_consumer_open(request->run, &everywhere, &consumer);
    if (status)
        return status;
    const struct esi_tree_hosts hosts = esi_consumer_tree_hosts(&consumer);
    status = show_or_change(&hosts, request, &rows);
    esi_tree_rows_fini(&rows);
    esi_consumer_close(&consumer);
    return status;
}

int esi_collect_tree_list(const struct esi_consumer *consumer, enum esi_format format)
{
    const struct esi_tree_hosts hosts = esi_consumer_tree_hosts(consumer);
    struct esi_tree_rows rows;
    int code = esi_tree_rows_ask(&hosts, &rows);

    if (code < 0)
        return code;
    esi_tree_list(&rows, es_run_name(consumer->run), format);
    esi_tree_rows_fini(&rows);
    return 0;
}
