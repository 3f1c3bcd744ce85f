/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* consumer.c - opens a run for reading, on this host or on all hosts. */
#include "config.h"

#include "cli/consumer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "cli/command.h"

enum { OPTION_SERVER = 0x4001, OPTION_LOCAL };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct esi_consumer_options *options = state->input;

    if (key == OPTION_SERVER)
        options->server = text;
    else if (key == OPTION_LOCAL)
        options->local = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option options[] = {
    {"server", OPTION_SERVER, "ADDRESS", OPTION_HIDDEN,
     "the run's home server, as tls:HOST:PORT, if this host is not one of the run's",
     0},
    {"local", OPTION_LOCAL, NULL, OPTION_HIDDEN,
     "read this host's part of the run only", 0},
    {0},
};

const struct argp esi_consumer_argp = {options, parse_option, NULL, NULL,
                                       NULL,    NULL,         NULL};

/* --- Settings ------------------------------------------------------------------ */

enum { OPTION_SET = 0x4101, OPTION_SHAPE };

static void change_setting(struct es_scope_config *config,
                           const char *name,
                           const char *value,
                           struct argp_state *state)
{
    struct es_error error = {.text = ""};

    if (es_scope_config_set(config, name, value, &error) < 0)
        argp_error(state, "%s", error.text);
}

static void change_by_text(struct es_scope_config *config,
                           const char *text,
                           struct argp_state *state)
{
    size_t length = strcspn(text, "=");
    char name[64];

    if (text[length] != '=' || length >= sizeof name)
        argp_error(state, "--set: '%s' is not SETTING=VALUE", text);
    memcpy(name, text, length);
    name[length] = '\0';
    change_setting(config, name, text + length + 1, state);
}

static error_t parse_setting(int key, char *text, struct argp_state *state)
{
    if (key == OPTION_SET)
        change_by_text(state->input, text, state);
    else if (key == OPTION_SHAPE)
        change_setting(state->input, "shape", text, state);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option setting_options[] = {
    {"shape", OPTION_SHAPE, "NAME", OPTION_HIDDEN,
     "of the gather tree: views, flat, hosts, kary, levels or stages", 0},
    {"set", OPTION_SET, "SETTING=VALUE", OPTION_HIDDEN,
     "another setting of the gather tree, as in eventspace-scope(1)", 0},
    {0},
};

const struct argp esi_settings_argp = {
    setting_options, parse_setting, NULL, NULL, NULL, NULL, NULL};

/* --- Opening ------------------------------------------------------------------- */

/* Whether access was refused because the run belongs to another user; then not even the
 * segments are read, since they would be only a part of the run. */
static bool is_refused(int code)
{
    return code == -EPERM || code == -ENOTDIR;
}

static bool is_here(const char *run)
{
    struct es_run *found;

    int code = es_run_open(run, NULL, &found);

    if (code == 0)
        es_run_close(found);
    return code != -ENOENT;
}

int esi_consumer_open_servers(const char *run,
                              const char *server,
                              struct es_servers **ret_servers)
{
    struct es_error error = {.text = ""};
    int code = es_servers_open(run, server, &error, ret_servers);

    if (code == 0)
        return 0;
    if (code == -ENOENT && run && !server && !is_here(run))
        return esi_command_fail_to_find(run);
    if (code == -ENOENT || code == -EACCES || code == -EINVAL || code == -ENOTUNIQ ||
        is_refused(code))
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "cannot use the run's tuple servers");
    return esi_command_fail_error(ES_EXIT_LOST, &error, code,
                                  "the run's tuple servers cannot be reached");
}

int esi_consumer_open(const char *run,
                      const struct esi_consumer_options *given,
                      struct esi_consumer *ret_consumer)
{
    struct esi_consumer consumer = {.run = NULL};
    struct es_error error = {.text = ""};
    int code;

    if (given->server) {
        int status = esi_consumer_open_servers(run, given->server, &consumer.servers);

        if (status != 0)
            return status;
    } else if (!given->local) {
        code = es_servers_open(run, NULL, &error, &consumer.servers);
        if (is_refused(code))
            return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                          "cannot open the run");
        if (code < 0)
            consumer.servers = NULL;
        if (code < 0 && code != -ENOENT && code != -ENOTUNIQ)
            esi_command_note("only this host's part of the run is read: %s",
                             error.text);
    }
    if (!consumer.servers) {
        int status = esi_command_open_run(run, &consumer.run);

        if (status == 0)
            *ret_consumer = consumer;
        return status;
    }
    code = es_run_open_empty(es_servers_run(consumer.servers), &error, &consumer.run);
    if (code < 0) {
        es_servers_close(consumer.servers);
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "cannot open the run");
    }
    *ret_consumer = consumer;
    return 0;
}

void esi_consumer_close(struct esi_consumer *consumer)
{
    es_run_close(consumer->run);
    es_servers_close(consumer->servers);
}

static void print_note(const char *text)
{
    esi_command_note("%s", text);
}

struct esi_tree_hosts esi_consumer_tree_hosts(const struct esi_consumer *consumer)
{
    return (struct esi_tree_hosts){consumer->run, consumer->servers, print_note};
}

static bool is_among(const struct esi_notices *notices, const char *part)
{
    for (size_t i = 0; i < notices->count; i++)
        if (strcmp(notices->parts[i], part) == 0)
            return true;
    return false;
}

void esi_notices_show(struct esi_notices *notices,
                      const struct es_notice *items,
                      size_t count)
{
    struct esi_notices now = {.count = 0};
    char silent[ESI_QUANTITY_BYTES];

    for (size_t i = 0; i < count && now.count < 16; i++) {
        if (!is_among(notices, items[i].part))
            esi_command_note(
                "%s has not answered for %s: %s", items[i].part,
                esi_quantity_time(silent, sizeof silent, (double)items[i].silent_ns),
                strerror(-items[i].code));
        snprintf(now.parts[now.count++], sizeof now.parts[0], "%s", items[i].part);
    }
    for (size_t i = 0; i < notices->count; i++)
        if (!is_among(&now, notices->parts[i]))
            esi_command_note("%s answers again", notices->parts[i]);
    *notices = now;
}

void esi_notices_follow(struct esi_notices *notices,
                        const struct esi_follower *follower)
{
    const struct es_notice *items = NULL;
    size_t count = esi_follower_notices(follower, &items);

    if (!esi_follower_is_over(follower))
        esi_notices_show(notices, items, count);
}
