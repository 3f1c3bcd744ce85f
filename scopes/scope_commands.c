/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_commands.c - what a live scope does on demand: shows itself, is changed. */
#include "config.h"

#include "scopes/scope_commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "pathmap/message.h"
#include "scopes/remote/remote.h"
#include "scopes/scope_private.h"

/* How long a tuple server may take to tell what its stages cost. */
#define COSTS_NS UINT64_C(2000000000)

/* --- Showing --------------------------------------------------------------------- */

static void write_setting(void *data,
                          const char *name,
                          const char *value,
                          const char *help)
{
    (void)help;
    esi_json_out_string(data, name, value);
}

static void write_settings(const struct es_scope *scope, struct esi_json_out *out)
{
    esi_json_out_begin_object(out, "settings");
    es_scope_config_foreach(&scope->config, write_setting, out);
    esi_json_out_end(out);
}

static void write_row(void *data, const struct esi_stage_row *row)
{
    struct esi_json_out *out = data;

    esi_json_out_begin_object(out, NULL);
    esi_stage_row_write(row, out);
    esi_json_out_bool(out, "silent", row->silent);
    esi_json_out_end(out);
}

static void write_cost(const struct es_scope *scope, struct esi_json_out *out)
{
    struct es_scope_cost cost;

    es_scope_cost(scope, &cost);
    esi_json_out_begin_object(out, "cost");
    esi_json_out_unsigned(out, "pulls", cost.pulls);
    esi_json_out_unsigned(out, "failures", cost.failures);
    esi_json_out_unsigned(out, "tuples", cost.tuples);
    esi_json_out_unsigned(out, "lost", cost.lost);
    esi_json_out_unsigned(out, "late", cost.late);
    esi_json_out_unsigned(out, "total_ns", cost.total_ns);
    esi_json_out_unsigned(out, "cpu_ns", cost.cpu_ns);
    esi_json_out_unsigned(out, "elements", cost.origins);
    esi_json_out_end(out);
}

static void scope_commands_show(struct es_scope *scope, struct esi_json_out *out)
{
    write_settings(scope, out);
    write_cost(scope, out);
    esi_json_out_begin_array(out, "stages");
    esi_stage_foreach_row(scope->root, 0, COSTS_NS, write_row, out);
    esi_json_out_end(out);
    esi_scope_write_pace(scope, out);
}

/* --- Changing -------------------------------------------------------------------- */

struct scope_commands_change {
    struct es_scope_config config;
    struct es_error *error;
};

static int take_setting(void *data, const char *name, const struct es_member *value)
{
    struct scope_commands_change *change = data;
    const char *text = esi_member_as_text(value);

    if (!text)
        return es_error_set(change->error, -EINVAL, "setting \"%.60s\" is no text",
                            name);
    return es_scope_config_set(&change->config, name, text, change->error);
}

static int scope_commands_set(struct es_scope *scope,
                              const struct es_member *command,
                              struct es_error *error)
{
    struct scope_commands_change change = {.config = scope->config, .error = error};
    const struct es_member *settings = esi_member_find(command, "settings");
    int result;

    if (!settings)
        return es_error_set(error, -EINVAL, "no settings were given");
    result = esi_member_foreach(settings, take_setting, &change);
    return result < 0 ? result : es_scope_reconfigure(scope, &change.config, error);
}

/* --- Commands -------------------------------------------------------------------- */

static int scope_commands_run(struct es_scope *scope,
                              const struct es_member *command,
                              struct esi_json_out *out,
                              struct es_error *error)
{
    const char *what = esi_member_text_or(command, "do", "");
    int result = 0;

    if (strcmp(what, "show") == 0) {
        scope_commands_show(scope, out);
        return 0;
    }
    if (strcmp(what, "set") == 0)
        result = scope_commands_set(scope, command, error);
    else if (strcmp(what, "rate") == 0)
        result = esi_scope_set_pace(scope, esi_member_real_or(command, "budget", 0),
                                    esi_member_real_or(command, "rate", 0), error);
    else
        result = es_error_set(error, -ENOSYS,
                              "\"%.40s\" is nothing that this scope can do", what);
    if (result == 0)
        write_settings(scope, out);
    return result;
}

static void write_failure(int code,
                          const struct es_error *error,
                          struct esi_json_out *out)
{
    esi_json_out_signed(out, "code", -code);
    esi_json_out_string(out, "text", error->text[0] ? error->text : strerror(-code));
}

int esi_scope_command(struct es_scope *scope,
                      const struct es_member *command,
                      char **ret_answer)
{
    struct es_error error = {.text = ""};
    struct esi_json_text json;
    int result = esi_json_text_begin(&json);

    if (result < 0)
        return result;
    esi_json_out_begin_object(&json.out, NULL);
    result = scope_commands_run(scope, command, &json.out, &error);
    if (result < 0)
        write_failure(result, &error, &json.out);
    esi_json_out_end(&json.out);
    return esi_json_text_finish(&json, ret_answer, NULL);
}
