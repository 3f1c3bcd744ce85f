/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What `eventspace run` prepares before the ranks start. */
#include "config.h"

#include "cli/launch/run_setup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "base/json_out.h"
#include "base/now.h"
#include "cli/command.h"
#include "cli/launch/run_trees.h"
#include "eventspace/tuple.h"
#include "pathmap/pathmap.h"
#include "scopes/server/server_location.h"
#include "tuplespace/plan/plan.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/transport/address.h"

#define PLAN_FILE "collect.plan"

enum { NAME_TRIES = 8, WAYS_MAX = 8 };

/* --- The map ---------------------------------------------------------------------- */

static int load_map(const struct esi_run_request *request,
                    struct es_error *error,
                    struct esi_pathmap **ret_map)
{
    struct esi_pathmap *map;

    int code = esi_pathmap_load(request->map, error, &map);
    if (code < 0)
        return code;
    int ranks = esi_pathmap_rank_count(map);
    if (request->ranks && ranks != request->ranks) {
        code = es_error_set_at(
            error, -EINVAL, request->map, 0, 0,
            "it is for %d ranks, but -n asks for %d; leave -n out or make "
            "another with 'eventspace map -n %d'",
            ranks, request->ranks, request->ranks);
        esi_pathmap_destroy(map);
        return code;
    }
    *ret_map = map;
    return 0;
}

/* A recorder that waits for a CPU loses tuples that elements cannot hold: they may use
 * a quarter of the free space in /dev/shm.  0 = from the map. */
static uint32_t choose_threshold(int ranks)
{
    enum { SHARE = 4, ELEMENTS_OF_RANK = 8, LARGEST = 262143 };
    uint32_t threshold = LARGEST;
    struct statvfs shm;

    if (statvfs("/dev/shm", &shm) != 0 || ranks < 1)
        return 0;
    uint64_t share = (uint64_t)shm.f_bavail * shm.f_frsize / SHARE;
    uint64_t room =
        share / ((uint64_t)ranks * ELEMENTS_OF_RANK * sizeof(struct es_tuple));
    while (threshold > room)
        threshold /= 2;
    return threshold > ES_PLAN_THRESHOLD ? threshold : 0;
}

static uint32_t find_threshold(const struct esi_run_request *request,
                               const struct esi_pathmap *map)
{
    if (request->threshold || request->map || !request->is_recorded)
        return request->threshold;
    return choose_threshold(esi_pathmap_rank_count(map));
}

static int make_map(const struct esi_run_request *request,
                    struct es_error *error,
                    struct esi_pathmap **ret_map)
{
    struct esi_pathmap_request generate = {.ranks = request->ranks,
                                           .hostfile = request->hostfile};
    struct esi_pathmap *map;

    int code = request->map ? load_map(request, error, &map)
                            : esi_pathmap_generate(&generate, error, &map);
    if (code < 0)
        return code;
    uint32_t threshold = find_threshold(request, map);
    if (threshold)
        code = esi_pathmap_set_threshold(map, threshold, error);
    if (code == 0 && request->on_full)
        code =
            esi_pathmap_set_block(map, strcmp(request->on_full, "block") == 0, error);
    if (code == 0)
        code = esi_pathmap_expand(map, error);
    if (code < 0) {
        esi_pathmap_destroy(map);
        return code;
    }
    *ret_map = map;
    return 0;
}

/* --- The run directory's files ---------------------------------------------------- */

static int write_text(const char *run,
                      const char *file,
                      const char *text,
                      struct es_error *error)
{
    return esi_run_file_replace(run, file, text, strlen(text), error);
}

static int save_plan(const struct es_plan *plan,
                     const char *run,
                     struct es_error *error)
{
    char *text;
    int code = esi_plan_format(plan, &text);

    if (code < 0)
        return code;
    code = write_text(run, PLAN_FILE, text, error);
    free(text);
    return code;
}

/* `trees` is the request with tree options; NULL: the run has no trees. */
static int write_plan(const struct esi_pathmap *map,
                      const char *run,
                      const struct esi_run_request *trees,
                      bool sites,
                      struct es_error *error)
{
    struct es_plan plan;

    int code = esi_pathmap_plan(map, NULL, error, &plan);
    if (code < 0)
        return code;
    if (trees)
        code = esi_pathmap_add_trees(&plan, trees->threshold);
    if (code == 0 && !sites)
        esi_plan_set_sites(&plan, false);
    if (code == 0)
        code = save_plan(&plan, run, error);
    esi_plan_fini(&plan);
    return code;
}

static int write_map(const struct esi_pathmap *map,
                     const char *run,
                     struct es_error *error)
{
    char *text;
    int code = esi_pathmap_format(map, &text);

    if (code < 0)
        return code;
    code = write_text(run, "map.json", text, error);
    free(text);
    return code;
}

static void print_facts(FILE *stream,
                        const struct esi_run_request *request,
                        const char *run,
                        int ranks)
{
    char host[ES_HOST_NAME_BYTES], folder[PATH_MAX];
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_signed(&out, "version", 1);
    esi_json_out_string(&out, "run", run);
    esi_json_out_begin_array(&out, "command");
    for (char **word = request->program; *word; word++)
        esi_json_out_string(&out, NULL, *word);
    esi_json_out_end(&out);
    esi_json_out_signed(&out, "ranks", ranks);
    esi_json_out_string(&out, "host", esi_host_name(host));
    esi_json_out_string(&out, "folder", getcwd(folder, sizeof folder));
    esi_json_out_unsigned(&out, "started_ns", esi_now_ns(CLOCK_REALTIME));
    esi_json_out_signed(&out, "pid", getpid());
    esi_json_out_end(&out);
}

static int write_facts(const struct esi_run_request *request,
                       const char *run,
                       int ranks,
                       struct es_error *error)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return -ENOMEM;
    print_facts(stream, request, run, ranks);
    int code = fclose(stream) == 0 ? write_text(run, "run.json", text, error) : -ENOMEM;
    free(text);
    return code;
}

/* --- The directory ---------------------------------------------------------------- */

bool esi_run_setup_is_live(const char *run)
{
    return esi_run_lock_is_taken(run, "lock");
}

/* Whether segments of that name are left from an earlier run. */
static bool has_segments(const char *run)
{
    struct es_run *found;

    if (es_run_open(run, NULL, &found) < 0)
        return false;
    es_run_close(found);
    return true;
}

static int create_directory(const struct esi_run_request *request,
                            struct es_error *error,
                            char *ret_name,
                            char *ret_path)
{
    int code = -EEXIST;

    if (request->name) {
        snprintf(ret_name, ES_RUN_NAME_BYTES, "%s", request->name);
        return has_segments(ret_name)
                   ? -EEXIST
                   : esi_run_directory_create(ret_name, error, ret_path);
    }
    for (int i = 0; i < NAME_TRIES && code == -EEXIST; i++) {
        es_error_clear(error);
        esi_job_fresh_name(request->program[0], ret_name);
        code = esi_run_directory_create(ret_name, error, ret_path);
    }
    return code;
}

static int set_environment(const char *name, const char *path)
{
    char plan[ES_RUN_PATH_BYTES];

    int code = esi_run_directory_path(name, PLAN_FILE, NULL, plan);
    if (code < 0)
        return code;
    if (setenv("EVENTSPACE_RUN", name, 1) != 0 ||
        setenv("EVENTSPACE_RUN_DIR", path, 1) != 0 ||
        setenv("EVENTSPACE_PLAN", plan, 1) != 0)
        return -errno;
    return 0;
}

static int fill_directory(const struct esi_run_request *request,
                          const struct esi_pathmap *map,
                          const char *path,
                          struct es_error *error,
                          struct esi_run_setup *setup)
{
    char *trees = NULL;
    int code = esi_run_trees_text(request, map, error, &trees);

    /* The lock, which marks the run as live, is released with the process. */
    if (code == 0)
        code = esi_run_lock_take(setup->name, "lock", error, &setup->lock);

    if (code == 0)
        code = write_map(map, setup->name, error);
    if (code == 0)
        code = write_plan(map, setup->name, trees ? request : NULL, !request->no_sites,
                          error);
    /* Changing the rules requires the initial ones. */
    if (code == 0 && trees)
        code = write_text(setup->name, "collect.trees", trees, error);
    if (code == 0)
        code = write_facts(request, setup->name, setup->ranks, error);
    if (code == 0)
        code = set_environment(setup->name, path);
    if (code == 0 && trees)
        code = esi_run_trees_set(trees);
    free(trees);
    return code;
}

/* Creates the directory; on failure prints a message and leaves the run without a
 * name. */
static int lay_out(const struct esi_run_request *request,
                   const struct esi_pathmap *map,
                   struct esi_run_setup *setup)
{
    struct es_error error = {.text = ""};
    char path[ES_RUN_PATH_BYTES];

    int code = create_directory(request, &error, setup->name, path);
    if (code == -EEXIST && request->name)
        return esi_command_fail(
            ES_EXIT_USAGE,
            "--name: run '%s' already exists; 'eventspace clean %s' removes it when it "
            "has ended",
            request->name, request->name);
    if (code == 0) {
        code = fill_directory(request, map, path, &error, setup);
        if (code < 0) {
            /* Removing needs as many descriptors as creating. */
            esi_run_setup_fini(setup);
            esi_run_directory_remove(setup->name, NULL);
        }
    }
    if (code < 0) {
        esi_command_fail_error(0, &error, code, "not collecting");
        setup->name[0] = '\0';
    }
    return 0;
}

/* Other hosts cannot reach this one by such a name. */
static bool is_loop(const char *address)
{
    return strcmp(address, "localhost") == 0 || strcmp(address, "::1") == 0 ||
           strncmp(address, "127.", 4) == 0;
}

/* The address from which this host reaches the others; "" if there are several, or the
 * others are not known here.  Only the first few are tried, since name lookups take
 * time. */
static void find_way(const struct esi_pathmap *map,
                     const char *name,
                     char *out,
                     size_t size)
{
    char first[ES_INTERFACE_BYTES] = "", next[ES_INTERFACE_BYTES];
    int looked_at = 0;

    for (size_t i = 0; i < esi_pathmap_host_count(map) && looked_at < WAYS_MAX; i++) {
        const struct esi_pathmap_host *host = esi_pathmap_host(map, i);
        const char *address = host->address ? host->address : host->name;

        if (strcmp(host->name, name) == 0)
            continue;
        looked_at++;
        if (esi_interface_toward(address, next) < 0 || is_loop(next) ||
            (first[0] && strcmp(first, next) != 0))
            return;
        strcpy(first, next);
    }
    snprintf(out, size, "%s", first);
}

/* Reads the other hosts and this host's address from the map. */
static void look_around(const struct esi_pathmap *map, struct esi_run_setup *setup)
{
    char name[ES_HOST_NAME_BYTES];

    esi_host_name(name);
    for (size_t i = 0; i < esi_pathmap_host_count(map); i++) {
        const struct esi_pathmap_host *host = esi_pathmap_host(map, i);
        if (strcmp(host->name, name) != 0)
            setup->has_other_hosts = true;
        else if (host->address && !is_loop(host->address))
            snprintf(setup->address, sizeof setup->address, "%s", host->address);
    }
    if (setup->has_other_hosts && !setup->address[0])
        find_way(map, name, setup->address, sizeof setup->address);
}

int esi_run_setup(const struct esi_run_request *request,
                  struct esi_run_setup *ret_setup)
{
    struct esi_run_setup setup = {.lock = -1};
    struct es_error error = {.text = ""};
    struct esi_pathmap *map;

    int code = make_map(request, &error, &map);
    if (code < 0 && (request->map || request->hostfile))
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      request->map ? "--map" : "--hostfile");
    if (code < 0) {
        esi_command_fail_error(0, &error, code, "not collecting");
        setup.ranks = request->ranks ? request->ranks : 1;
        *ret_setup = setup;
        return 0;
    }
    setup.ranks = esi_pathmap_rank_count(map);
    look_around(map, &setup);
    int status = lay_out(request, map, &setup);
    esi_pathmap_destroy(map);
    if (status) {
        esi_run_setup_fini(&setup);
        return status;
    }
    *ret_setup = setup;
    return 0;
}

static int change_plan(const char *run, struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    struct es_plan plan;

    int code = esi_run_directory_path(run, PLAN_FILE, error, path);
    if (code == 0)
        code = esi_plan_load(path, error, &plan);
    if (code < 0)
        return code;
    esi_plan_await_readers(&plan);
    code = save_plan(&plan, run, error);
    esi_plan_fini(&plan);
    return code;
}

void esi_run_setup_await_readers(const struct esi_run_setup *setup)
{
    struct es_error error = {.text = ""};

    int code = change_plan(setup->name, &error);
    if (code < 0)
        esi_command_fail_error(0, &error, code, "the first events may not be recorded");
}

void esi_run_setup_remove(const struct esi_run_setup *setup)
{
    struct es_error error = {.text = ""};

    int code = esi_run_directory_remove(setup->name, &error);
    if (code < 0)
        esi_command_fail_error(0, &error, code, "cannot remove the run directory");
}

void esi_run_setup_fini(struct esi_run_setup *setup)
{
    if (setup->lock >= 0)
        close(setup->lock);
    setup->lock = -1;
}
