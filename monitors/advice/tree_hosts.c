/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collective trees of a run on all its hosts.
 *
 * This host is queried with the same messages as the others, but without its tuple
 * server, which it may not have.
 */
#include "config.h"

#include "monitors/advice/tree_hosts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_out.h"
#include "scopes/collective_trees.h"
#include "scopes/remote/servers.h"

#define ANSWER_NS UINT64_C(5000000000)

enum request { TREES, WISH, CHANGE };

void esi_tree_hosts_note(const struct esi_tree_hosts *hosts, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    hosts->note(text);
}

/* A query to all hosts, and its result. */
struct question {
    enum request request;
    const char *text; /* for CHANGE */
    int (*take)(void *data, const struct es_member *reply);
    void *data;
    int silent; /* hosts that did not answer */
};

/* --- Asking ----------------------------------------------------------------------- */

static int answer_here(const struct es_run *run,
                       const struct question *question,
                       struct esi_json_out *out)
{
    switch (question->request) {
    case TREES:
        esi_collective_trees_report(run, NULL, out);
        return 0;
    case WISH:
        return esi_collective_trees_report_desired(run, NULL, out);
    case CHANGE:
        esi_collective_trees_desire(run, NULL, question->text, out);
        return 0;
    }
    return -EINVAL;
}

static int ask_here(const struct es_run *run, const struct question *question)
{
    struct es_message *reply;
    struct esi_json_text json;
    char *text;
    size_t length;

    if (esi_json_text_begin(&json) < 0)
        return -ENOMEM;
    esi_json_out_begin_object(&json.out, NULL);
    int code = answer_here(run, question, &json.out);
    esi_json_out_end(&json.out);
    int finished = esi_json_text_finish(&json, &text, &length);
    if (finished < 0)
        return finished;
    if (code == 0)
        code = esi_message_parse(text, length, "this host", NULL, &reply);
    if (code == 0) {
        code = question->take(question->data, esi_message_root(reply));
        esi_message_destroy(reply);
    }
    free(text);
    return code;
}

static void write_question(struct esi_json_out *out, void *data)
{
    const struct question *question = data;

    if (question->text)
        esi_json_out_string(out, "text", question->text);
}

static int ask_host(const struct esi_tree_hosts *hosts,
                    const char *host,
                    struct question *question)
{
    static const char *const names[] = {
        [TREES] = "trees", [WISH] = "trees.wish", [CHANGE] = "trees.change"};
    const struct esi_rpc_request request = {names[question->request], write_question,
                                            question};
    struct es_error error = {.text = ""};
    struct es_message *reply;

    int code =
        esi_servers_call(hosts->servers, host, &request, ANSWER_NS, &error, &reply);
    if (code < 0) {
        char reason[512];

        if (error.text[0])
            es_error_format(&error, reason, sizeof reason);
        else
            snprintf(reason, sizeof reason, "%s", strerror(-code));
        esi_tree_hosts_note(hosts, "cannot query host %s: %s", host, reason);
        question->silent++;
        return 0;
    }
    code = question->take(question->data, esi_message_root(reply));
    esi_message_destroy(reply);
    return code;
}

static int ask_others(const struct esi_tree_hosts *hosts, struct question *question)
{
    struct es_server_info info;
    int code = 0;

    for (size_t i = 0; code == 0 && es_servers_at(hosts->servers, i, &info) == 0; i++)
        if (!info.here && info.state != ES_SERVER_ENDED)
            code = ask_host(hosts, info.host, question);
    return code;
}

static int ask_all(const struct esi_tree_hosts *hosts, struct question *question)
{
    int code = es_run_refresh(hosts->run);

    if (code >= 0)
        code = ask_here(hosts->run, question);
    if (code == 0 && hosts->servers)
        code = ask_others(hosts, question);
    return code;
}

/* --- Rules in force --------------------------------------------------------------- */

static struct esi_tree_row *add_row(struct esi_tree_rows *rows,
                                    const struct esi_tree_row *row)
{
    if (ESI_ARRAY_RESERVE(rows->rows, rows->capacity, rows->count + 1) < 0)
        return NULL;
    rows->rows[rows->count] = *row;
    rows->rows[rows->count].order = rows->count;
    return &rows->rows[rows->count++];
}

static int take_rule(struct esi_tree_rows *rows,
                     const struct esi_tree_row *communicator,
                     const struct es_member *rule)
{
    struct esi_tree_row *row = add_row(rows, communicator);

    if (!row)
        return -ENOMEM;
    row->has_rule = true;
    row->operations = (uint32_t)esi_member_integer_or(rule, "operations", 0);
    snprintf(row->bytes, sizeof row->bytes, "%s",
             esi_member_text_or(rule, "bytes", ""));
    snprintf(row->name, sizeof row->name, "%s", esi_member_text_or(rule, "name", ""));
    snprintf(row->tree, sizeof row->tree, "%s", esi_member_text_or(rule, "tree", "?"));
    return 0;
}

static int take_communicator(struct esi_tree_rows *rows,
                             struct esi_tree_row row,
                             const struct es_member *communicator)
{
    const struct es_member *rules = esi_member_find(communicator, "rules");
    size_t count = esi_member_count(rules);
    int code = 0;

    snprintf(row.communicator, sizeof row.communicator, "%s",
             esi_member_text_or(communicator, "name", ""));
    row.size = (int)esi_member_integer_or(communicator, "size", 0);
    row.version = (uint32_t)esi_member_integer_or(communicator, "version", 0);
    row.since = esi_member_integer_or(communicator, "since", 0);
    if (count == 0 && !add_row(rows, &row))
        return -ENOMEM;
    for (size_t i = 0; i < count && code == 0; i++)
        code = take_rule(rows, &row, esi_member_at(rules, i));
    return code;
}

static int take_processes(void *data, const struct es_member *reply)
{
    const struct es_member *processes = esi_member_find(reply, "processes");
    struct esi_tree_rows *rows = data;
    int code = 0;

    for (size_t i = 0; i < esi_member_count(processes) && code == 0; i++) {
        const struct es_member *process = esi_member_at(processes, i);
        const struct es_member *list = esi_member_find(process, "communicators");
        struct esi_tree_row row = {
            .rank = (int)esi_member_integer_or(process, "rank", -1),
            .alive = esi_member_boolean_or(process, "alive", false),
            .wish = (uint32_t)esi_member_integer_or(process, "wish", 0),
        };
        rows->processes++;
        rows->alive += row.alive;
        for (size_t j = 0; j < esi_member_count(list) && code == 0; j++)
            code = take_communicator(rows, row, esi_member_at(list, j));
    }
    return code;
}

static int compare_rows(const void *a, const void *b)
{
    const struct esi_tree_row *left = a, *right = b;

    if (left->rank != right->rank)
        return left->rank > right->rank ? 1 : -1;
    return left->order > right->order ? 1 : -1;
}

int esi_tree_rows_ask(const struct esi_tree_hosts *hosts,
                      struct esi_tree_rows *ret_rows)
{
    struct esi_tree_rows rows = {.rows = NULL};
    struct question question = {
        .request = TREES, .take = take_processes, .data = &rows};
    int code = ask_all(hosts, &question);

    if (code < 0) {
        esi_tree_rows_fini(&rows);
        return code;
    }
    /* Rules of a communicator keep their order, which is their precedence. */
    if (rows.count > 0)
        qsort(rows.rows, rows.count, sizeof *rows.rows, compare_rows);
    rows.silent = question.silent;
    *ret_rows = rows;
    return 0;
}

void esi_tree_rows_fini(struct esi_tree_rows *rows)
{
    free(rows->rows);
    *rows = (struct esi_tree_rows){.rows = NULL};
}

/* --- Requested rules -------------------------------------------------------------- */

struct newest {
    char *text;
    int64_t rank;
};

static int take_wish(void *data, const struct es_member *reply)
{
    struct newest *newest = data;
    const char *text = esi_member_text_or(reply, "text", NULL);
    int64_t rank = esi_member_integer_or(reply, "rank", 0);

    if (!text || (newest->text && rank >= newest->rank))
        return 0;
    free(newest->text);
    newest->text = strdup(text);
    newest->rank = rank;
    return newest->text ? 0 : -ENOMEM;
}

int esi_tree_wish_ask(const struct esi_tree_hosts *hosts, char **ret_text)
{
    struct newest newest = {.text = NULL};
    struct question question = {.request = WISH, .take = take_wish, .data = &newest};
    int code = ask_all(hosts, &question);

    if (code < 0)
        free(newest.text);
    else
        *ret_text = newest.text;
    return code;
}

/* The sum of the answers to a change. */
struct changing {
    const struct esi_tree_hosts *hosts;
    struct esi_tree_change change;
};

static int take_change(void *data, const struct es_member *reply)
{
    const struct es_member *refused = esi_member_find(reply, "refused");
    struct changing *changing = data;
    struct esi_tree_change *change = &changing->change;

    change->fit += (int)esi_member_integer_or(reply, "fit", 0);
    change->changed += (int)esi_member_integer_or(reply, "changed", 0);
    for (size_t i = 0; i < esi_member_count(refused); i++) {
        const struct es_member *one = esi_member_at(refused, i);
        esi_tree_hosts_note(changing->hosts, "rank %d keeps its trees: %s",
                            (int)esi_member_integer_or(one, "rank", -1),
                            strerror((int)esi_member_integer_or(one, "code", EIO)));
    }
    return 0;
}

int esi_tree_change(const struct esi_tree_hosts *hosts,
                    const char *text,
                    struct esi_tree_change *ret_change)
{
    struct changing changing = {.hosts = hosts};
    struct question question = {
        .request = CHANGE, .text = text, .take = take_change, .data = &changing};
    int code = ask_all(hosts, &question);

    if (code < 0)
        return code;
    changing.change.silent = question.silent;
    *ret_change = changing.change;
    return 0;
}
