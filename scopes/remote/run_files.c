/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_files.c - reads files of a run's directory, which may be on another host. */
#include "config.h"

#include "scopes/remote/run_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/remote/servers.h"
#include "tuplespace/run_directory.h"

#define MAP_FILE "map.json"
#define ASK_NS UINT64_C(5000000000)

static void write_name(struct esi_json_out *out, void *data)
{
    esi_json_out_string(out, "name", data);
}

int esi_run_file_fetch(struct es_servers *servers,
                       const char *name,
                       struct es_error *error,
                       char **ret_text)
{
    /* The cast is safe: the name is only read. */
    const struct esi_rpc_request request = {"file", write_name, (void *)name};
    struct es_message *reply;
    const char *text;
    int result = esi_servers_call(servers, NULL, &request, ASK_NS, error, &reply);

    if (result < 0)
        return result;
    result = esi_member_text(esi_message_root(reply), "text", error, &text);
    if (result == 0) {
        *ret_text = strdup(text);
        result = *ret_text ? 0 : -ENOMEM;
    }
    esi_message_destroy(reply);
    return result;
}

static int fetch_map(struct es_servers *servers,
                     struct es_error *error,
                     struct esi_pathmap **ret_map)
{
    char *text;
    int result = esi_run_file_fetch(servers, MAP_FILE, error, &text);

    if (result < 0)
        return result;
    result = esi_pathmap_parse(text, strlen(text), MAP_FILE, error, ret_map);
    free(text);
    return result;
}

/* Error messages contain the full path. */
static int parse_map(const char *run,
                     const char *text,
                     size_t length,
                     struct es_error *error,
                     struct esi_pathmap **ret_map)
{
    char path[ES_RUN_PATH_BYTES];
    int result = esi_run_directory_path(run, MAP_FILE, error, path);

    return result < 0 ? result : esi_pathmap_parse(text, length, path, error, ret_map);
}

int esi_run_map_load(const char *run,
                     struct es_servers *servers,
                     struct es_error *error,
                     struct esi_pathmap **ret_map)
{
    size_t length;
    char *text;
    int result = esi_run_file_read(run, MAP_FILE, error, &text, &length);

    if (result == -ENOENT && servers) {
        es_error_clear(error);
        return fetch_map(servers, error, ret_map);
    }
    if (result < 0)
        return result;
    result = parse_map(run, text, length, error, ret_map);
    free(text);
    return result;
}
