/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Where a host's tuple server keeps its files. */
#include "config.h"

#include "scopes/server/server_location.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/message.h"
#include "tuplespace/run_file.h"

/* Whether `eventspace run` laid the directory out, and on which host. */
static enum es_seat find_seat(const char *run, const char *host)
{
    enum es_seat seat = ES_SEAT_OWN;
    struct es_message *facts;
    size_t length;
    char *text;

    if (es_run_file_read(run, "run.json", NULL, &text, &length) < 0)
        return ES_SEAT_OWN;
    if (es_message_parse(text, length, "run.json", NULL, &facts) == 0) {
        const char *home = es_member_text_or(es_message_root(facts), "host", host);
        seat = strcmp(home, host) == 0 ? ES_SEAT_HOME : ES_SEAT_SHARED;
        es_message_destroy(facts);
    }
    free(text);
    return seat;
}

void esi_server_place_find(const char *run,
                           const char *host,
                           struct es_server_place *ret_place)
{
    struct es_server_place place = {.seat = find_seat(run, host)};

    snprintf(place.run, sizeof place.run, "%s", run);
    snprintf(place.host, sizeof place.host, "%s", host);
    if (place.seat == ES_SEAT_SHARED)
        snprintf(place.suffix, sizeof place.suffix, ".%s", place.host);
    *ret_place = place;
}

const char *esi_server_file(const struct es_server_place *place,
                            const char *kind,
                            char out[96])
{
    const char *stem = strcmp(kind, "log") == 0 ? "eventspaced" : "server";

    snprintf(out, 96, "%s%s.%s", stem, place->suffix, kind);
    return out;
}

int esi_server_path(const struct es_server_place *place,
                    const char *kind,
                    struct es_error *error,
                    char out[ES_RUN_PATH_BYTES])
{
    char file[96];

    return es_run_directory_path(place->run, esi_server_file(place, kind, file), error,
                                 out);
}

int esi_server_socket(const struct es_server_place *place,
                      struct es_error *error,
                      char out[ES_ADDRESS_BYTES])
{
    char path[ES_RUN_PATH_BYTES];

    int code = esi_server_path(place, "sock", error, path);
    if (code < 0)
        return code;
    if (strlen(path) + sizeof "unix:" > ES_ADDRESS_BYTES)
        return es_error_set_at(error, -ENAMETOOLONG, path, 0, 0,
                               "too long for a socket; set EVENTSPACE_DIR to a "
                               "shorter one");
    snprintf(out, ES_ADDRESS_BYTES, "unix:%.290s", path);
    return 0;
}

static int find_address(const struct es_member *list,
                        const char *prefix,
                        char out[ES_ADDRESS_BYTES])
{
    for (size_t i = 0; i < es_member_count(list); i++) {
        const char *address = es_member_as_text(es_member_at(list, i));

        if (!address || strncmp(address, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(out, ES_ADDRESS_BYTES, "%s", address);
        return 0;
    }
    return -ENOENT;
}

int esi_server_former(const struct es_server_place *place,
                      const char *prefix,
                      char out[ES_ADDRESS_BYTES])
{
    struct es_message *facts;
    char file[96];
    size_t length;
    char *text;

    int code = es_run_file_read(place->run, esi_server_file(place, "json", file), NULL,
                                &text, &length);
    if (code < 0)
        return -ENOENT;
    code = es_message_parse(text, length, file, NULL, &facts);
    free(text);
    if (code < 0)
        return -ENOENT;
    code =
        find_address(es_member_find(es_message_root(facts), "addresses"), prefix, out);
    es_message_destroy(facts);
    return code;
}
