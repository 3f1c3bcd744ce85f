/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Requests that change how this host's elements are collected.
 *
 *   {"request": "collect", "selection": {"ranks":, "thread":, "classes":,
 *    "collector":, "name":, "host":}, "enable": BOOL}
 *
 * or with "threshold": N or "block": BOOL instead of "enable".  What a selection leaves
 * out it does not ask for.  The reply tells how many elements "fit", how many have
 * "changed", and in "refused" why others have not.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/server/service.h"

enum { THRESHOLD_MAX = 1 << 24, REFUSED_MAX = 16 };

enum action { ACTION_ENABLE, ACTION_THRESHOLD, ACTION_BLOCK };

struct control_requests_change {
    enum action action;
    uint32_t threshold;
    bool on;
};

static int read_selection(const struct es_member *object,
                          struct es_error *error,
                          struct es_selection *ret_selection)
{
    struct es_selection selection;

    es_selection_init(&selection);
    if (object) {
        selection.ranks = esi_member_text_or(object, "ranks", NULL);
        selection.collector = esi_member_text_or(object, "collector", NULL);
        selection.name = esi_member_text_or(object, "name", NULL);
        selection.host = esi_member_text_or(object, "host", NULL);
        selection.thread =
            (int)esi_member_integer_or(object, "thread", selection.thread);
        selection.classes =
            (uint32_t)esi_member_integer_or(object, "classes", selection.classes);
    }
    int code = es_selection_check(&selection, error);
    if (code == 0)
        *ret_selection = selection;
    return code;
}

static int read_change(const struct es_member *request,
                       struct es_error *error,
                       struct control_requests_change *ret_change)
{
    struct control_requests_change change = {.action = ACTION_ENABLE};
    int64_t threshold;
    int code;

    if (esi_member_find(request, "threshold")) {
        change.action = ACTION_THRESHOLD;
        code = esi_member_integer(request, "threshold", 1, THRESHOLD_MAX, error,
                                  &threshold);
        if (code == 0)
            change.threshold = (uint32_t)threshold;
    } else if (esi_member_find(request, "block")) {
        change.action = ACTION_BLOCK;
        code = esi_member_boolean(request, "block", error, &change.on);
    } else {
        code = esi_member_boolean(request, "enable", error, &change.on);
    }
    if (code == 0)
        *ret_change = change;
    return code;
}

static int change_element(const struct control_requests_change *change,
                          const struct es_element_view *element)
{
    switch (change->action) {
    case ACTION_ENABLE:
        es_element_enable(element, change->on);
        return 0;
    case ACTION_BLOCK:
        es_element_set_block(element, change->on);
        return 0;
    case ACTION_THRESHOLD:
        break;
    }
    return es_element_set_threshold(element, change->threshold);
}

static void write_refused(const struct es_element_view *element,
                          int code,
                          struct esi_json_out *reply)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    esi_json_out_begin_object(reply, NULL);
    esi_json_out_string(reply, "element", info.name);
    esi_json_out_unsigned(reply, "threshold", info.threshold);
    esi_json_out_signed(reply, "code", -code);
    esi_json_out_end(reply);
}

/* The elements of the host that this server stands for. */
static bool is_ours(const struct esi_service_connection *connection,
                    const struct es_element_view *element)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    return strcmp(info.host, connection->service->host) == 0;
}

static int serve_collect(struct esi_service_connection *connection,
                         const struct es_member *request,
                         struct esi_json_out *reply,
                         struct es_error *error)
{
    struct es_element_view **elements = NULL;
    struct es_selection selection;
    struct control_requests_change change = {.action = ACTION_ENABLE};
    struct es_run *run;
    uint64_t fit = 0, changed = 0, refused = 0;

    int code = read_selection(esi_member_find(request, "selection"), error, &selection);
    if (code == 0)
        code = read_change(request, error, &change);
    if (code == 0)
        code = esi_service_run(connection, error, &run);
    if (code < 0)
        return code;
    int count = es_run_select(run, &selection, &elements);
    if (count < 0)
        return count;
    esi_json_out_begin_array(reply, "refused");
    for (int i = 0; i < count; i++) {
        if (!is_ours(connection, elements[i]))
            continue;
        fit++;
        code = change_element(&change, elements[i]);
        changed += code == 0;
        if (code < 0 && refused++ < REFUSED_MAX)
            write_refused(elements[i], code, reply);
    }
    esi_json_out_end(reply);
    esi_json_out_unsigned(reply, "fit", fit);
    esi_json_out_unsigned(reply, "changed", changed);
    free(elements);
    return 0;
}

const struct es_request esi_control_requests[] = {
    {"collect", serve_collect, true},
    {NULL, NULL, false},
};
