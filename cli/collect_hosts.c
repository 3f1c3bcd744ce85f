/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Switches the collectors on the other hosts of a run, through their tuple servers. */
#include "config.h"

#include "cli/collect_hosts.h"

#include <errno.h>
#include <string.h>

#include "cli/command.h"
#include "scopes/remote/servers.h"

#define ANSWER_NS UINT64_C(5000000000)

/* --- The request -------------------------------------------------------------- */

static void write_selection(struct esi_json_out *out,
                            const struct es_selection *selection)
{
    esi_json_out_begin_object(out, "selection");
    if (selection->ranks)
        esi_json_out_string(out, "ranks", selection->ranks);
    if (selection->collector)
        esi_json_out_string(out, "collector", selection->collector);
    if (selection->name)
        esi_json_out_string(out, "name", selection->name);
    if (selection->host)
        esi_json_out_string(out, "host", selection->host);
    esi_json_out_signed(out, "thread", selection->thread);
    esi_json_out_unsigned(out, "classes", selection->classes);
    esi_json_out_end(out);
}

struct collecting {
    const struct es_selection *selection;
    const struct esi_collect_change *change;
};

static void write_collect(struct esi_json_out *out, void *data)
{
    const struct collecting *collecting = data;
    const struct esi_collect_change *change = collecting->change;

    write_selection(out, collecting->selection);
    if (change->threshold > 0)
        esi_json_out_unsigned(out, "threshold", change->threshold);
    else
        esi_json_out_bool(out, "enable", change->on);
}

/* --- The answers -------------------------------------------------------------- */

void esi_collect_note_limit(struct esi_collect_result *result, uint32_t limit)
{
    if (result->least_limit == 0 || limit < result->least_limit)
        result->least_limit = limit;
    if (limit > result->most_limit)
        result->most_limit = limit;
}

static void take_refused(const char *host,
                         const struct es_member *list,
                         struct esi_collect_result *result)
{
    for (size_t i = 0; i < esi_member_count(list); i++) {
        const struct es_member *one = esi_member_at(list, i);
        const char *element = esi_member_text_or(one, "element", "?");
        int code = (int)esi_member_integer_or(one, "code", EIO);
        if (code == ERANGE)
            esi_collect_note_limit(result, (uint32_t)esi_member_integer_within(
                                               one, "threshold", 1, UINT32_MAX, 1));
        else
            esi_command_note("element %s on %s: %s", element, host, strerror(code));
    }
}

static void ask_host(struct es_servers *servers,
                     const char *host,
                     const struct esi_rpc_request *request,
                     struct esi_collect_result *result)
{
    struct es_error error = {.text = ""};
    struct es_message *reply;

    int code = esi_servers_call(servers, host, request, ANSWER_NS, &error, &reply);
    if (code < 0) {
        esi_command_fail_error(0, &error, code, "nothing was changed on host %s", host);
        result->silent++;
        return;
    }
    const struct es_member *root = esi_message_root(reply);
    result->fit += (int)esi_member_integer_or(root, "fit", 0);
    result->changed += (int)esi_member_integer_or(root, "changed", 0);
    take_refused(host, esi_member_find(root, "refused"), result);
    esi_message_destroy(reply);
}

void esi_collect_hosts(struct es_servers *servers,
                       const struct es_selection *selection,
                       const struct esi_collect_change *change,
                       struct esi_collect_result *ret_result)
{
    struct esi_collect_result result = {.fit = 0};
    struct collecting collecting = {.selection = selection, .change = change};
    const struct esi_rpc_request request = {"collect", write_collect, &collecting};
    struct es_server_info info;

    for (size_t i = 0; es_servers_at(servers, i, &info) == 0; i++) {
        bool is_meant = !selection->host || strcmp(selection->host, info.host) == 0;
        if (!info.here && is_meant && info.state != ES_SERVER_ENDED)
            ask_host(servers, info.host, &request, &result);
    }
    *ret_result = result;
}
