/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_control.c - registers a scope with the home server, and executes the commands
 * of users: to show the scope and to change it.
 *
 * It uses a separate connection.  A pull checks whether the last poll was answered, and
 * polls again after a while; it never waits.  If the server is lost, reconnection is
 * attempted after some seconds; pulling continues in any case. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/now.h"
#include "pathmap/message.h"
#include "scopes/remote/remote.h"
#include "scopes/remote/servers.h"
#include "scopes/scope_control.h"
#include "scopes/scope_private.h"

/* Longest time for a tuple server to report the costs of its stages. */
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

void esi_scope_write_stages(struct es_scope *scope,
                            uint64_t timeout_ns,
                            struct esi_json_out *out)
{
    esi_json_out_begin_array(out, "stages");
    esi_stage_foreach_row(scope->root, 0, timeout_ns, write_row, out);
    esi_json_out_end(out);
}

static void control_show(struct es_scope *scope, struct esi_json_out *out)
{
    write_settings(scope, out);
    write_cost(scope, out);
    esi_scope_write_stages(scope, COSTS_NS, out);
    esi_scope_write_pace(scope, out);
}

/* --- Changing -------------------------------------------------------------------- */

struct settings_change {
    struct es_scope_config config;
    struct es_error *error;
};

static int take_setting(void *data, const char *name, const struct es_member *value)
{
    struct settings_change *change = data;
    const char *text = esi_member_as_text(value);

    if (!text)
        return es_error_set(change->error, -EINVAL, "setting '%.60s' is not a text",
                            name);
    return es_scope_config_set(&change->config, name, text, change->error);
}

static int control_set(struct es_scope *scope,
                       const struct es_member *command,
                       struct es_error *error)
{
    struct settings_change change = {.config = scope->config, .error = error};
    const struct es_member *settings = esi_member_find(command, "settings");
    int result;

    if (!settings)
        return es_error_set(error, -EINVAL, "no settings were given");
    result = esi_member_foreach(settings, take_setting, &change);
    return result < 0 ? result : es_scope_reconfigure(scope, &change.config, error);
}

/* --- Commands -------------------------------------------------------------------- */

static int control_run(struct es_scope *scope,
                       const struct es_member *command,
                       struct esi_json_out *out,
                       struct es_error *error)
{
    const char *what = esi_member_text_or(command, "do", "");
    int result = 0;

    if (strcmp(what, "show") == 0) {
        control_show(scope, out);
        return 0;
    }
    if (strcmp(what, "set") == 0)
        result = control_set(scope, command, error);
    else if (strcmp(what, "rate") == 0)
        result = esi_scope_set_pace(scope, esi_member_real_or(command, "budget", 0),
                                    esi_member_real_or(command, "rate", 0), error);
    else
        result = es_error_set(error, -ENOSYS, "'%.40s' is not a command of this scope",
                              what);
    if (result == 0)
        write_settings(scope, out);
    return result;
}

static int answer_command(struct es_scope *scope,
                          const struct es_member *command,
                          char **ret_answer)
{
    struct es_error error = {.text = ""};
    struct esi_json_text json;
    int result = esi_json_text_begin(&json);

    if (result < 0)
        return result;
    esi_json_out_begin_object(&json.out, NULL);
    result = control_run(scope, command, &json.out, &error);
    if (result < 0) {
        esi_json_out_signed(&json.out, "code", -result);
        esi_json_out_string(&json.out, "text",
                            error.text[0] ? error.text : strerror(-result));
    }
    esi_json_out_end(&json.out);
    return esi_json_text_finish(&json, ret_answer, NULL);
}

/* --- The connection to the home server -------------------------------------------- */

#define POLL_NS UINT64_C(100000000)
#define RETRY_NS UINT64_C(5000000000)
#define FIRST_CONNECT_NS UINT64_C(1000000000)
/* Reconnecting delays a pull.  A handshake over a slow link takes longer than the first
 * attempts allow; the pauses keep the time of all attempts below one percent. */
#define CONNECT_LEAST_NS UINT64_C(20000000)
#define CONNECT_MOST_NS UINT64_C(500000000)
enum { PAUSE_FACTOR = 100 };
#define SEND_NS UINT64_C(20000000)
/* Time without an answer after which the connection is closed. */
#define SILENT_NS UINT64_C(30000000000)

struct esi_scope_control {
    struct es_link *link; /* NULL if not connected */
    uint64_t next_ns;     /* time of the next poll or attempt to connect */
    uint64_t connect_ns;  /* time limit of the next attempt */
    uint64_t sent_ns;
    bool waiting; /* for the reply to the last request */
    uint64_t requests;
    struct es_scope_cost before; /* at the last poll */
    uint64_t before_ns;
};

static void drop_link(struct esi_scope_control *control)
{
    esi_link_close(control->link);
    control->link = NULL;
    control->waiting = false;
    control->next_ns = esi_now_ns(CLOCK_MONOTONIC) + RETRY_NS;
}

/* --- Requests -------------------------------------------------------------------- */

/* `write` writes the members of the request. */
static void send_request(struct es_scope *scope,
                         const char *name,
                         void (*write)(struct esi_json_out *out, void *data),
                         void *data)
{
    struct esi_scope_control *control = scope->control;
    const struct esi_rpc_request request = {name, write, data};

    if (esi_rpc_send(control->link, ++control->requests, &request, SEND_NS) < 0) {
        drop_link(control);
        return;
    }
    control->waiting = true;
    control->sent_ns = esi_now_ns(CLOCK_MONOTONIC);
}

/* Describes the view's selection for users. */
static void format_view(const struct es_view *view, char *out, size_t size)
{
    const struct es_selection *selection = &view->selection;
    const struct {
        const char *name;
        const char *value;
    } parts[] = {{"host", selection->host},
                 {"ranks", selection->ranks},
                 {"collector", selection->collector},
                 {"name", selection->name},
                 {"comm", view->communicator},
                 {"operation", view->operation},
                 {"filter", view->filter}};
    size_t length = 0;

    snprintf(out, size, "all");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].value && length < size)
            length +=
                (size_t)snprintf(out + length, size - length, "%s%s=%s",
                                 length ? " " : "", parts[i].name, parts[i].value);
}

static void write_registration(struct esi_json_out *out, void *data)
{
    const struct es_scope *scope = data;
    char view[256];

    format_view(&scope->config.view, view, sizeof view);
    esi_json_out_string(out, "name", scope->config.name);
    esi_json_out_string(out, "host", scope->from.here);
    esi_json_out_string(out, "program", program_invocation_short_name);
    esi_json_out_signed(out, "pid", getpid());
    esi_json_out_string(out, "view", view);
}

static void write_poll(struct esi_json_out *out, void *data)
{
    struct es_scope *scope = data;
    struct esi_scope_control *control = scope->control;
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);
    struct es_scope_cost cost;

    es_scope_cost(scope, &cost);
    esi_json_out_unsigned(out, "pulls", cost.pulls);
    esi_json_out_unsigned(out, "tuples", cost.tuples);
    esi_json_out_unsigned(out, "lost", cost.lost);
    esi_json_out_unsigned(out, "failures", cost.failures);
    esi_json_out_real(out, "rate",
                      (double)(cost.pulls - control->before.pulls) * 1e9 /
                          (double)(now - control->before_ns + 1));
    esi_json_out_string(out, "shape", esi_scope_shape_name(scope->config.tree.shape));
    control->before = cost;
    control->before_ns = now;
    control->next_ns = now + POLL_NS;
}

struct answer {
    int64_t id;
    const char *text; /* JSON */
};

static void write_answer(struct esi_json_out *out, void *data)
{
    const struct answer *answer = data;

    esi_json_out_signed(out, "id", answer->id);
    esi_json_out_raw(out, "answer", answer->text);
}

/* --- Replies --------------------------------------------------------------------- */

/* Executes the command in the reply to a poll. */
static void execute_command(struct es_scope *scope, const struct es_member *reply)
{
    const struct es_member *command = esi_member_find(reply, "command");
    struct answer answer = {.id = esi_member_integer_or(reply, "id", 0)};
    char *text;

    if (!command || answer_command(scope, command, &text) < 0)
        return;
    answer.text = text;
    send_request(scope, "answer", write_answer, &answer);
    free(text);
}

/* Processes the reply if it has arrived, or arrives within that time. */
static void take_reply(struct es_scope *scope, uint64_t timeout_ns)
{
    struct esi_scope_control *control = scope->control;
    struct es_message *message;
    struct esi_frame frame;
    int result = esi_link_receive(control->link, timeout_ns, NULL, &frame);

    if (result == -ETIMEDOUT &&
        esi_now_ns(CLOCK_MONOTONIC) - control->sent_ns < SILENT_NS)
        return;
    if (result < 0 || esi_rpc_read(&frame, NULL, &message) < 0) {
        drop_link(control);
        return;
    }
    control->waiting = false;
    execute_command(scope, esi_message_root(message));
    esi_message_destroy(message);
}

static void connect_home(struct es_scope *scope, uint64_t timeout_ns)
{
    struct esi_scope_control *control = scope->control;

    if (esi_servers_connect(scope->config.servers, NULL, timeout_ns, NULL,
                            &control->link) < 0) {
        control->link = NULL;
        control->next_ns = esi_now_ns(CLOCK_MONOTONIC) + RETRY_NS;
        return;
    }
    send_request(scope, "announce", write_registration, scope);
}

static void connect_again(struct es_scope *scope)
{
    struct esi_scope_control *control = scope->control;
    uint64_t limit_ns = control->connect_ns;
    uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t spent_ns;

    connect_home(scope, limit_ns);
    if (control->link)
        return;
    spent_ns = esi_now_ns(CLOCK_MONOTONIC) - begun_ns;
    if (spent_ns * PAUSE_FACTOR > RETRY_NS)
        control->next_ns = begun_ns + spent_ns * PAUSE_FACTOR;
    if (spent_ns >= limit_ns)
        control->connect_ns =
            limit_ns * 2 < CONNECT_MOST_NS ? limit_ns * 2 : CONNECT_MOST_NS;
}

/* --- The scope's side ------------------------------------------------------------- */

int esi_scope_register(struct es_scope *scope)
{
    if (!scope->config.name || !scope->config.servers)
        return 0;
    scope->control = calloc(1, sizeof *scope->control);
    if (!scope->control)
        return -ENOMEM;
    scope->control->before_ns = esi_now_ns(CLOCK_MONOTONIC);
    scope->control->connect_ns = CONNECT_LEAST_NS;
    connect_home(scope, FIRST_CONNECT_NS);
    if (scope->control->waiting)
        take_reply(scope, FIRST_CONNECT_NS); /* from now on it is listed */
    return 0;
}

void esi_scope_poll(struct es_scope *scope)
{
    struct esi_scope_control *control = scope->control;

    if (control->link && control->waiting)
        take_reply(scope, 0);
    if (control->waiting || esi_now_ns(CLOCK_MONOTONIC) < control->next_ns)
        return;
    if (control->link)
        send_request(scope, "poll", write_poll, scope);
    else
        connect_again(scope);
}

void esi_scope_deregister(struct es_scope *scope)
{
    if (!scope->control)
        return;
    esi_link_close(scope->control->link);
    free(scope->control);
}
