/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The home server of a run that `eventspace run` starts. */
#include "config.h"

#include "cli/launch/run_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "cli/command.h"
#include "cli/launch/server_start.h"
#include "tuplespace/transport/address.h"
#include "tuplespace/transport/run_key.h"

enum { ADDRESSES_MAX = 8, SAID_BYTES = 4096 };

#define KEY_NAME "EVENTSPACE_KEY="

static void add_home(char *list, size_t size, const char *host, const char *port)
{
    size_t length = strlen(list);
    bool is_bare_ipv6 = host[0] != '[' && strchr(host, ':');

    snprintf(list + length, size - length, "%stls:%s%s%s:%s", length ? "," : "",
             is_bare_ipv6 ? "[" : "", host, is_bare_ipv6 ? "]" : "", port);
}

/* All addresses of this host, and its name. */
static void add_all_homes(char *list, size_t size, const char *port)
{
    char addresses[ADDRESSES_MAX][ES_INTERFACE_BYTES], host[ES_HOST_NAME_BYTES];

    size_t count = esi_interface_addresses(addresses, ADDRESSES_MAX);
    for (size_t i = 0; i < count; i++)
        add_home(list, size, addresses[i], port);
    add_home(list, size, esi_host_name(host), port);
}

/* The addresses of the server, for others; `lines` contains "tls:HOST:PORT". */
static int list_homes(const char *advertise, char *lines, char *list, size_t size)
{
    char *line = strstr(lines, "tls:");

    if (!line)
        return -EADDRNOTAVAIL;
    line[strcspn(line, "\n")] = '\0';
    char *host = line + strlen("tls:"), *colon = strrchr(line, ':');
    *colon = '\0';
    list[0] = '\0';
    if (advertise)
        add_home(list, size, advertise, colon + 1);
    else if (strcmp(host, "*") == 0)
        add_all_homes(list, size, colon + 1);
    else
        add_home(list, size, host, colon + 1);
    return 0;
}

/* Not on the heap, where copies would remain. */
static char key_variable[sizeof KEY_NAME + ES_RUN_KEY_TEXT_BYTES];

/* For the ranks' `eventspace exec`, which removes it before the program starts. */
static int set_environment(const struct esi_run_key *key,
                           const struct esi_run_network *network,
                           char *addresses)
{
    char homes[(ADDRESSES_MAX + 1) * ES_ADDRESS_BYTES];

    int code = list_homes(network->advertise, addresses, homes, sizeof homes);
    if (code < 0)
        return code;
    if (setenv("EVENTSPACE_HOME", homes, 1) != 0)
        return -errno;
    unsetenv("EVENTSPACE_KEY");
    if (network->shared)
        return 0;
    strcpy(key_variable, KEY_NAME);
    esi_run_key_format(key, key_variable + strlen(KEY_NAME));
    return putenv(key_variable) == 0 ? 0 : -errno;
}

void esi_run_server_hide_key(void)
{
    if (!key_variable[0])
        return;
    unsetenv("EVENTSPACE_KEY");
    explicit_bzero(key_variable, sizeof key_variable);
}

void esi_run_server_start(const char *run, const struct esi_run_network *network)
{
    const struct esi_server_order order = {.run = run,
                                           .advertise = network->advertise,
                                           .everywhere =
                                               network->others && network->everywhere,
                                           .local = !network->others};
    struct es_error error = {.text = ""};
    char said[SAID_BYTES];
    struct esi_run_key key;

    int code = esi_run_key_make(&key);
    if (code == 0)
        code = esi_run_key_save(run, &key, &error);
    if (code == 0)
        code = esi_server_start(&order, &error, said, sizeof said);
    if (code == 0 && network->others)
        code = set_environment(&key, network, said);
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
        esi_command_note("data of the run remains on hosts that were not reached: %s; "
                         "'eventspace clean %s' there removes it",
                         unreached, run);
}
