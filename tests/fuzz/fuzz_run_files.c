/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds files of a run directory with the addresses of servers.  The first line of an
 * input is run.json, the second server.json, the third server.HOST.json; "@HOST@" in
 * them stands for the name of this host.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "scopes/remote/servers.h"
#include "scopes/server/server_location.h"
#include "tests/fuzz/fuzz_target.h"
#include "tuplespace/run_directory.h"

static char run[64];
static char here[ES_HOST_NAME_BYTES];

static void remove_all(void)
{
    char base[ES_RUN_PATH_BYTES];

    esi_run_directory_remove(run, NULL);
    if (esi_run_directory_base(NULL, base) == 0)
        rmdir(base);
}

static void begin(void)
{
    char directory[] = "/tmp/fuzz-run-files-XXXXXX";
    char path[ES_RUN_PATH_BYTES];

    require(mkdtemp(directory) != NULL);
    setenv("EVENTSPACE_DIR", directory, 1);
    snprintf(run, sizeof run, "fuzz-files-%d", (int)getpid());
    require(esi_run_directory_create(run, NULL, path) == 0);
    esi_host_name(here);
    atexit(remove_all);
}

static void write_file(const char *file, const char *text, size_t length)
{
    static const char mark[] = "@HOST@";
    char path[ES_RUN_PATH_BYTES];
    FILE *stream;

    require(esi_run_directory_path(run, file, NULL, path) == 0);
    /* Create a new file: a file that is truncated and rewritten is flushed to disk at
     * once, which is slow. */
    unlink(path);
    stream = fopen(path, "w");
    require(stream != NULL);
    while (length > 0) {
        const char *found = memmem(text, length, mark, strlen(mark));
        size_t before = found ? (size_t)(found - text) : length;

        fwrite(text, 1, before, stream);
        if (found) {
            fputs(here, stream);
            before += strlen(mark);
        }
        text += before;
        length -= before;
    }
    fclose(stream);
}

static void write_files(const char *data, size_t size)
{
    char own[ES_HOST_NAME_BYTES + 16];
    const char *files[] = {"run.json", "server.json", own};

    snprintf(own, sizeof own, "server.%s.json", here);
    for (int i = 0; i < 3; i++) {
        const char *end = memchr(data, '\n', size);
        size_t length = end && i < 2 ? (size_t)(end - data) : size;

        write_file(files[i], data, length);
        data += length + (end && i < 2);
        size -= length + (end && i < 2);
    }
}

static void find_places(void)
{
    struct esi_server_location place;
    char address[ES_ADDRESS_BYTES], path[ES_RUN_PATH_BYTES];

    esi_server_location_find(run, here, &place);
    require(esi_server_path(&place, "json", NULL, path) == 0);
    if (esi_server_former(&place, "tls:", address) == 0)
        require(strncmp(address, "tls:", 4) == 0 && strlen(address) < sizeof address);
    if (esi_server_former(&place, "", address) == 0)
        require(strlen(address) < sizeof address);
}

static void find_servers(const char *home)
{
    struct es_error error = {.text = ""};
    struct esi_servers_found found;

    if (esi_servers_find(run, home, &error, &found) < 0) {
        require(error.text[0] != '\0');
        return;
    }
    require(found.home[0] != '\0' && strlen(found.home) < sizeof found.home);
    require(strlen(found.socket) < sizeof found.socket);
    require(strcmp(found.run, run) == 0);
}

FUZZ_TARGET(fuzz_run_files, data, size)
{
    if (!run[0])
        begin();
    write_files((const char *)data, size);
    find_places();
    find_servers(NULL);
    find_servers("tls:home:4711");
    return 0;
}
