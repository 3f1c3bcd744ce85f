/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collect tree`.
 *
 * The rules that hold are those of the newest wish, or those that the run began with; a
 * change is made to them, and the whole is the next wish.
 */
#include "config.h"

#include "cli/collect_tree.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "cli/tree_hosts.h"
#include "cli/tree_show.h"
#include "pathmap/file.h"
#include "pathmap/pathmap.h"
#include "scopes/run_files.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/tree_board.h"

#define NO_RULES "eventspace-trees 1\nend\n"
#define PAUSE_NS 100000000

/* --- The rules -------------------------------------------------------------------- */

/* Those that the run began with.  Caller frees *ret_text. */
static int first_rules(const struct esi_consumer *consumer, char **ret_text)
{
    const char *run = es_run_name(consumer->run);
    char path[ES_RUN_PATH_BYTES];
    size_t length;
    int code = es_run_directory_path(run, "collect.trees", NULL, path);

    if (code == 0)
        code = esi_file_read(path, NULL, ret_text, &length);
    if (code < 0 && consumer->servers)
        code = es_run_file_fetch(consumer->servers, "collect.trees", NULL, ret_text);
    if (code == 0)
        return 0;
    /* A run that was not started by `eventspace run` has told them to nobody. */
    *ret_text = strdup(NO_RULES);
    return *ret_text ? 0 : -ENOMEM;
}

static int load_plan(const struct esi_consumer *consumer,
                     bool first,
                     struct es_error *error,
                     struct es_tree_plan *ret_plan)
{
    char *text = NULL;
    int code = first ? 0 : esi_tree_wish_ask(consumer, &text);

    if (code == 0 && !text)
        code = first_rules(consumer, &text);
    if (code == 0)
        code = es_tree_plan_parse(text, "rules in force", error, ret_plan);
    free(text);
    return code;
}

static bool is_for_the_same(const struct es_tree_rule *a, const struct es_tree_rule *b)
{
    return a->operations == b->operations && a->min_bytes == b->min_bytes &&
           a->max_bytes == b->max_bytes &&
           strcmp(a->communicator, b->communicator) == 0;
}

static void remove_same(struct es_tree_rules *rules, const struct es_tree_rule *rule)
{
    size_t kept = 0;

    for (size_t i = 0; i < rules->count; i++) {
        if (is_for_the_same(&rules->rules[i], rule))
            es_tree_rule_fini(&rules->rules[i]);
        else
            rules->rules[kept++] = rules->rules[i];
    }
    rules->count = kept;
}

static bool has_name(const struct es_tree_rules *rules, const char *name)
{
    for (size_t i = 0; i < rules->count; i++)
        if (strcmp(rules->rules[i].name, name) == 0)
            return true;
    return false;
}

/* "kary", or "kary-2" where that is taken. */
static void name_rule(const struct es_tree_rules *rules, struct es_tree_rule *rule)
{
    const char *shape = es_tree_shape_name(rule->shape);

    snprintf(rule->name, sizeof rule->name, "%s", shape);
    for (unsigned int i = 2; has_name(rules, rule->name); i++)
        snprintf(rule->name, sizeof rule->name, "%s-%u", shape, i);
}

static int copy_edges(const struct es_tree_rule *from, struct es_tree_rule *to)
{
    if (from->edge_count == 0)
        return 0;
    to->edges = calloc(from->edge_count, sizeof *to->edges);
    if (!to->edges)
        return -ENOMEM;
    memcpy(to->edges, from->edges, from->edge_count * sizeof *to->edges);
    return 0;
}

static int put_in_front(struct es_tree_rules *rules, const struct es_tree_rule *rule)
{
    struct es_tree_rule *grown;
    struct es_tree_rule copy = *rule;

    remove_same(rules, rule);
    grown = reallocarray(rules->rules, rules->count + 1, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    rules->rules = grown;
    if (copy_edges(rule, &copy) < 0)
        return -ENOMEM;
    name_rule(rules, &copy);
    memmove(grown + 1, grown, rules->count * sizeof *grown);
    grown[0] = copy;
    rules->count++;
    return 0;
}

/* Takes the rules of the file, and leaves the hosts. */
static int take_file(const char *path,
                     struct es_error *error,
                     struct es_tree_plan *plan)
{
    struct es_tree_plan file;
    int code = es_pathmap_rules_load(path, error, &file);

    if (code < 0)
        return code;
    struct es_tree_rules old = plan->rules;
    plan->rules = file.rules;
    file.rules = old;
    es_tree_plan_fini(&file);
    return 0;
}

/* The whole that is to hold.  Caller frees *ret_text. */
static int make_text(const struct esi_consumer *consumer,
                     const struct esi_tree_request *request,
                     struct es_error *error,
                     char **ret_text)
{
    struct es_tree_plan plan;
    int code = load_plan(consumer, request->clear, error, &plan);

    if (code < 0)
        return code;
    if (request->file)
        code = take_file(request->file, error, &plan);
    if (code == 0 && request->has_rule)
        code = put_in_front(&plan.rules, &request->rule);
    if (code == 0)
        code = es_tree_plan_format(&plan, ret_text);
    es_tree_plan_fini(&plan);
    if (code == 0 && strlen(*ret_text) >= ES_TREE_WISH_BYTES) {
        free(*ret_text);
        code = es_error_set(error, -EMSGSIZE, "the rules take more than %u bytes",
                            ES_TREE_WISH_BYTES - 1);
    }
    return code;
}

/* --- Changing --------------------------------------------------------------------- */

static int fail_nobody(const struct esi_consumer *consumer,
                       const struct esi_tree_rows *rows)
{
    if (rows->processes > 0)
        return esi_command_fail(ES_EXIT_LOST, "run '%s' has ended",
                                es_run_name(consumer->run));
    return esi_command_fail(ES_EXIT_USAGE,
                            "the run's collective operations cannot be switched; start "
                            "it with --trees");
}

static int change(const struct esi_consumer *consumer,
                  const struct esi_tree_request *request)
{
    struct es_error error = {.text = ""};
    struct esi_tree_change done;
    char *text;

    int code = make_text(consumer, request, &error, &text);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "the trees stay as they are");
    code = esi_tree_change(consumer, text, &done);
    free(text);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot change the trees");
    if (done.silent > 0)
        return ES_EXIT_LOST;
    return done.changed < done.fit ? ES_EXIT_USAGE : ES_EXIT_SUCCESS;
}

/* Communicators that have not followed; one rank alone has no trees. */
static bool is_behind(const struct esi_tree_request *request,
                      const struct esi_tree_row *row)
{
    const char *pattern = request->has_rule ? request->rule.communicator : "*";

    return row->alive && row->size > 1 && row->version != row->wish &&
           fnmatch(pattern, row->communicator, 0) == 0;
}

static bool is_any_behind(const struct esi_tree_request *request,
                          const struct esi_tree_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (is_behind(request, &rows->rows[i]))
            return true;
    return false;
}

/* Asks until all have followed or the time is up; the last answer is the result. */
static int wait_for_all(const struct esi_consumer *consumer,
                        const struct esi_tree_request *request,
                        struct esi_tree_rows *rows)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t end_ns = es_now_ns(CLOCK_MONOTONIC) + request->wait_ns;

    for (;;) {
        esi_tree_rows_fini(rows);
        int code = esi_tree_rows_ask(consumer, rows);
        if (code < 0 || rows->silent > 0 || !is_any_behind(request, rows) ||
            es_now_ns(CLOCK_MONOTONIC) >= end_ns)
            return code;
        nanosleep(&pause, NULL);
    }
}

static int report_behind(const struct esi_tree_request *request,
                         const struct esi_tree_rows *rows)
{
    int status = ES_EXIT_SUCCESS;

    for (size_t i = 0; i < rows->count; i++) {
        const struct esi_tree_row *row = &rows->rows[i];
        bool is_told = i > 0 && rows->rows[i - 1].rank == row->rank &&
                       strcmp(rows->rows[i - 1].communicator, row->communicator) == 0;
        if (!is_behind(request, row) || is_told)
            continue;
        esi_command_note("%s (%d ranks from rank %d on) has not followed yet: it does "
                         "with its next blocking collective operations",
                         row->communicator[0] ? row->communicator
                                              : "a communicator without name",
                         row->size, row->rank);
        status = ES_EXIT_FINDING;
    }
    return status;
}

static int change_and_wait(const struct esi_consumer *consumer,
                           const struct esi_tree_request *request,
                           struct esi_tree_rows *rows)
{
    int status = change(consumer, request);

    if (status != ES_EXIT_SUCCESS)
        return status;
    int code = wait_for_all(consumer, request, rows);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot ask for the trees");
    return request->wait_ns > 0 ? report_behind(request, rows) : ES_EXIT_SUCCESS;
}

static int show_or_change(const struct esi_consumer *consumer,
                          const struct esi_tree_request *request,
                          struct esi_tree_rows *rows)
{
    bool is_change = request->has_rule || request->file || request->clear;
    int status = ES_EXIT_SUCCESS;

    int code = esi_tree_rows_ask(consumer, rows);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot ask for the trees");
    if (rows->processes == 0 && rows->silent > 0)
        return ES_EXIT_LOST;
    if (rows->processes == 0 || (is_change && rows->alive == 0))
        return fail_nobody(consumer, rows);
    if (is_change)
        status = change_and_wait(consumer, request, rows);
    if (status > ES_EXIT_FINDING)
        return status;
    code = esi_tree_show(rows, es_run_name(consumer->run), request->format);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot print the trees");
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
    status = show_or_change(&consumer, request, &rows);
    esi_tree_rows_fini(&rows);
    esi_consumer_close(&consumer);
    return status;
}

int esi_collect_tree_list(const struct esi_consumer *consumer, enum es_format format)
{
    struct esi_tree_rows rows;
    int code = esi_tree_rows_ask(consumer, &rows);

    if (code < 0)
        return code;
    esi_tree_list(&rows, es_run_name(consumer->run), format);
    esi_tree_rows_fini(&rows);
    return 0;
}
