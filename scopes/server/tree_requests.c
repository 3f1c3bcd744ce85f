/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Requests about the collective trees of this host's processes.
 *
 *   {"request": "trees"}                      what is in force: collective_trees.h
 *   {"request": "trees.wish"}                 the newest desired rules: "rank" and
 * "text"
 *   {"request": "trees.change", "text": ...}  the rules that are to hold from now on
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "scopes/collective_trees.h"
#include "scopes/server/service.h"
#include "tuplespace/plan/tree_rules.h"

static int serve_trees(struct esi_service_connection *connection,
                       const struct es_member *request,
                       struct esi_json_out *reply,
                       struct es_error *error)
{
    struct es_run *run;
    int code = esi_service_run(connection, error, &run);

    (void)request;
    if (code == 0)
        esi_collective_trees_report(run, connection->service->host, reply);
    return code;
}

static int serve_desired(struct esi_service_connection *connection,
                         const struct es_member *request,
                         struct esi_json_out *reply,
                         struct es_error *error)
{
    struct es_run *run;
    int code = esi_service_run(connection, error, &run);

    (void)request;
    return code == 0 ? esi_collective_trees_report_desired(
                           run, connection->service->host, reply)
                     : code;
}

/* Nobody but the processes would see that the rules are wrong, and they could tell
 * nobody. */
static int check_rules(const char *text, struct es_error *error)
{
    struct esi_tree_plan plan;
    int code = esi_tree_plan_parse(text, "rules", error, &plan);

    if (code == 0)
        esi_tree_plan_fini(&plan);
    return code;
}

static int serve_change(struct esi_service_connection *connection,
                        const struct es_member *request,
                        struct esi_json_out *reply,
                        struct es_error *error)
{
    struct es_run *run;
    const char *text;
    int code = esi_member_text(request, "text", error, &text);

    if (code == 0)
        code = check_rules(text, error);
    if (code == 0)
        code = esi_service_run(connection, error, &run);
    if (code == 0)
        esi_collective_trees_desire(run, connection->service->host, text, reply);
    return code;
}

const struct es_request esi_tree_requests[] = {
    {"trees", serve_trees, false},
    {"trees.wish", serve_desired, false},
    {"trees.change", serve_change, true},
    {NULL, NULL, false},
};
