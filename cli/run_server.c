/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The home server of a run that `eventspace run` starts. */
#include "config.h"

#include "cli/run_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "cli/command.h"
#include "cli/server_start.h"
#include "tuplespace/interface.h"
#include "tuplespace/run_key.h"

enum { ADDRESSES_MAX = 8, SAID_BYTES = 4096 };

static void add_home(char *list, size_t size, const char *host, const char *port)
{
    size_t length = strlen(list);
    bool is_bare_ipv6 = host[0] != '[' && strchr(host, ':');

    snprintf(list + length, size - length, "%stls:%s%s%s:%s", length ? "," : "",
             is_bare_ipv6 ? "[" : "", host, is_bare_ipv6 ? "]" : "", port);
}

/* Where others may find the server: by its addresses, and by the host's name. */
static void list_homes(const char *advertise, const char *port, char *list, size_t size)
{
    char addresses[ADDRESSES_MAX][ES_INTERFACE_BYTES], host[ES_HOST_NAME_BYTES];

    list[0] = '\0';
    if (advertise) {
        add_home(list, size, advertise, port);
        return;
    }
    size_t count = es_interface_addresses(addresses, ADDRESSES_MAX);
    for (size_t i = 0; i < count; i++)
        add_home(list, size, addresses[i], port);
    add_home(list, size, es_host_name(host), port);
}

/* The port in "tls:*:4711", one of the lines. */
static const char *find_port(char *lines)
{
    char *line = strstr(lines, "tls:");

    if (!line)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    char *colon = strrchr(line, ':');
    return colon + 1;
}

/* What the ranks' `eventspace exec` finds, and keeps from the program. */
static int set_environment(const struct es_run_key *key,
                           const char *advertise,
                           char *addresses)
{
    char text[ES_RUN_KEY_TEXT_BYTES], homes[(ADDRESSES_MAX + 1) * ES_ADDRESS_BYTES];
    const char *port = find_port(addresses);

    if (!port)
        return -EADDRNOTAVAIL;
    list_homes(advertise, port, homes, sizeof homes);
    es_run_key_format(key, text);
    int code = setenv("EVENTSPACE_HOME", homes, 1) == 0 &&
                       setenv("EVENTSPACE_KEY", text, 1) == 0
                   ? 0
                   : -errno;
    explicit_bzero(text, sizeof text);
    return code;
}

void esi_run_server_start(const char *run, bool others, const char *advertise)
{
    const struct es_server_order order = {
        .run = run, .advertise = advertise, .local = !others};
    struct es_error error = {.text = ""};
    char said[SAID_BYTES];
    struct es_run_key key;

    int code = es_run_key_make(&key);
    if (code == 0)
        code = es_run_key_save(run, &key, &error);
    if (code == 0)
        code = esi_server_start(&order, &error, said, sizeof said);
    if (code == 0 && others)
        code = set_environment(&key, advertise, said);
    explicit_bzero(&key, sizeof key);
    if (code < 0)
        esi_command_fail_error(0, &error, code, "no tuple server");
}

void esi_run_server_end(const char *run, bool keep)
{
    struct es_error error = {.text = ""};
    char unreached[ES_UNREACHED_BYTES];

    int code = esi_server_end(run, keep, &error, unreached);
    if (code < 0 && code != -ENOENT)
        esi_command_fail_error(0, &error, code, "cannot end the tuple server");
    if (unreached[0])
        esi_command_note("not reached, so that what the run left there stays: %s; "
                         "`eventspace clean %s` there removes it",
                         unreached, run);
}
