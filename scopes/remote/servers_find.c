/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* servers_find.c - finds a run's tuple servers through the run's directory.
 *
 * A server writes server.json when it listens; where hosts share the directory, that is
 * the home server's, and the others' files have their host's name in theirs.
 */
#include "config.h"

#include "scopes/remote/servers_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "eventspace/run.h"
#include "pathmap/message.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/run_file.h"

/* --- The run ----------------------------------------------------------------- */

/* The only live run of this host; where it has no segments, the only run directory. */
static int find_run(struct es_error *error, char out[64])
{
    struct es_run *run;
    char(*names)[64];
    int result = es_run_open(NULL, error, &run);

    if (result == 0) {
        snprintf(out, 64, "%s", es_run_name(run));
        es_run_close(run);
        return 0;
    }
    if (result != -ENOENT)
        return result;
    es_error_clear(error);
    result = esi_run_directory_list(error, &names);
    if (result < 0)
        return result;
    if (result == 1) {
        snprintf(out, 64, "%s", names[0]);
    }
    free(names);
    return result == 1 ? 0
                       : es_error_set(error, -ENOENT, "there is no run on this host");
}

/* --- Its files --------------------------------------------------------------- */

/* -ENOENT: there is none that can be understood; else what is wrong with it. */
static int read_facts(const char *run,
                      const char *file,
                      struct es_error *error,
                      struct es_message **ret_facts)
{
    struct es_error fault = {.text = ""};
    char *text;
    size_t length;
    int result = esi_run_file_read(run, file, &fault, &text, &length);

    if (result == -ENOENT)
        return result;
    if (result < 0)
        return es_error_set_at(error, result, fault.source, 0, 0, "%s", fault.text);
    result = esi_message_parse(text, length, file, NULL, ret_facts);
    free(text);
    return result < 0 ? -ENOENT : 0;
}

/* The first address that is, or is not, a socket of this host; "*" in it is what the
 * server calls its host for others. */
static int choose_address(const struct es_member *facts,
                          bool is_socket,
                          char out[ES_ADDRESS_BYTES])
{
    const struct es_member *list = esi_member_find(facts, "addresses");
    const char *host =
        esi_member_text_or(facts, "advertise", esi_member_text_or(facts, "host", ""));

    for (size_t i = 0; i < esi_member_count(list); i++) {
        const char *address = esi_member_as_text(esi_member_at(list, i));
        const char *star;

        if (!address || (strncmp(address, "unix:", 5) == 0) != is_socket)
            continue;
        star = strstr(address, ":*:");
        if (star)
            snprintf(out, ES_ADDRESS_BYTES, "%.*s:%s%s", (int)(star - address), address,
                     host, star + 2);
        else
            snprintf(out, ES_ADDRESS_BYTES, "%s", address);
        return 0;
    }
    return -ENOENT;
}

/* What this host's server says in a file of its own, which there is only where the
 * directory is shared. */
static int find_socket(const char *here,
                       struct es_error *error,
                       struct esi_servers_found *found)
{
    char file[ES_HOST_NAME_BYTES + 16];
    struct es_message *facts;

    snprintf(file, sizeof file, "server.%s.json", here);
    int result = read_facts(found->run, file, error, &facts);
    if (result < 0)
        return result == -ENOENT ? 0 : result;
    (void)choose_address(esi_message_root(facts), true, found->socket);
    esi_message_destroy(facts);
    return 0;
}

/* What server.json says: of this host's server, the home server, or both. */
static int find_home(const char *here,
                     struct es_error *error,
                     struct esi_servers_found *found)
{
    struct es_message *message;
    const struct es_member *facts;
    bool is_here;
    int result = read_facts(found->run, "server.json", error, &message);

    if (result < 0)
        return result;
    facts = esi_message_root(message);
    is_here = strcmp(esi_member_text_or(facts, "host", ""), here) == 0;
    if (is_here)
        (void)choose_address(facts, true, found->socket);
    if (!esi_member_boolean_or(facts, "home", true))
        snprintf(found->home, sizeof found->home, "%s",
                 esi_member_text_or(facts, "home_address", ""));
    else if (is_here && found->socket[0])
        memcpy(found->home, found->socket, sizeof found->home);
    else
        (void)choose_address(facts, false, found->home);
    esi_message_destroy(message);
    return found->home[0] ? 0 : -ENOENT;
}

int esi_servers_find(const char *run,
                     const char *home,
                     struct es_error *error,
                     struct esi_servers_found *ret_found)
{
    struct esi_servers_found found = {.socket = ""};
    char here[ES_HOST_NAME_BYTES];
    int result = 0, local;

    esi_host_name(here);
    if (run)
        snprintf(found.run, sizeof found.run, "%s", run);
    else
        result = find_run(error, found.run);
    if (result < 0)
        return result;
    result = find_home(here, error, &found);
    local = find_socket(here, error, &found);
    /* What somebody else has written decides nothing. */
    if (result < 0 && result != -ENOENT)
        return result;
    if (local < 0)
        return local;
    if (home)
        snprintf(found.home, sizeof found.home, "%s", home);
    else if (result < 0)
        return es_error_set(error, -ENOENT,
                            "run \"%s\" has no tuple server that could be found",
                            found.run);
    *ret_found = found;
    return 0;
}
