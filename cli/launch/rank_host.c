/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the first rank prepares on a host other than the home of the run.
 *
 * The ranks of a host take turns with a lock on the file server.start; if it is not
 * empty, there is nothing left to do.
 */
#include "config.h"

#include "cli/launch/rank_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "cli/command.h"
#include "cli/launch/server_start.h"
#include "scopes/remote/rpc.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/transport/run_key.h"
#include "tuplespace/segment_name.h"

#define PLAN_FILE "collect.plan"
#define SECOND_NS UINT64_C(1000000000)
#define CONNECT_NS (2 * SECOND_NS)
#define ANSWER_NS (5 * SECOND_NS)

enum { TURN_MS = 10000 };

struct invitation {
    char run[64];
    char home[4096];
    struct esi_run_key key;
    bool has_key;
};

/* Erases the key from the environment, and from the memory that the system shows to
 * others as this process's environment. */
static void forget_key(char *key)
{
    if (!key)
        return;
    explicit_bzero(key, strlen(key));
    unsetenv("EVENTSPACE_KEY");
}

/* Returns false if there is nothing to do here. */
static bool take_invitation(struct invitation *ret_invitation)
{
    const char *run = getenv("EVENTSPACE_RUN");
    const char *home = getenv("EVENTSPACE_HOME");
    char *key = getenv("EVENTSPACE_KEY");
    struct invitation invitation = {.has_key = false};

    bool is_invited = run && esi_run_id_is_valid(run) && home && *home &&
                      !getenv("EVENTSPACE_DISABLE");
    if (is_invited) {
        snprintf(invitation.run, sizeof invitation.run, "%s", run);
        snprintf(invitation.home, sizeof invitation.home, "%s", home);
        invitation.has_key = key && esi_run_key_parse(key, &invitation.key) == 0;
    }
    unsetenv("EVENTSPACE_HOME");
    forget_key(key);
    *ret_invitation = invitation;
    explicit_bzero(&invitation.key, sizeof invitation.key);
    return is_invited;
}

/* --- The plan ----------------------------------------------------------------- */

static int connect_home(const struct invitation *invitation,
                        const char *host,
                        struct es_error *error,
                        struct es_link **ret_link)
{
    struct esi_greeting greeting =
        esi_rpc_greeting(invitation->run, host, "eventspace exec");

    return esi_rpc_connect(invitation->home, &greeting, &invitation->key, CONNECT_NS,
                           error, ret_link, NULL);
}

static void write_name(struct esi_json_out *out, void *data)
{
    (void)data;
    esi_json_out_string(out, "name", PLAN_FILE);
}

/* Caller frees *ret_text. */
static int ask_for_plan(struct es_link *link, struct es_error *error, char **ret_text)
{
    const struct esi_rpc_request request = {"file", write_name, NULL};
    struct es_message *reply;
    const char *text;

    int code = esi_rpc_call(link, 1, &request, ANSWER_NS, error, &reply);
    if (code < 0)
        return code;
    code = esi_member_text(esi_message_root(reply), "text", error, &text);
    *ret_text = code == 0 ? strdup(text) : NULL;
    if (code == 0 && !*ret_text)
        code = -ENOMEM;
    esi_message_destroy(reply);
    return code;
}

static int fetch_plan(const struct invitation *invitation,
                      const char *host,
                      struct es_error *error)
{
    struct es_link *link;
    char *text;

    int code = connect_home(invitation, host, error, &link);
    if (code < 0)
        return code;
    code = ask_for_plan(link, error, &text);
    esi_link_close(link);
    /* A job not started by `eventspace run` has no plan: the default is collected. */
    if (code == -ENOENT) {
        es_error_clear(error);
        return 0;
    }
    if (code < 0)
        return code;
    code = esi_run_file_replace(invitation->run, PLAN_FILE, text, strlen(text), error);
    free(text);
    return code;
}

/* --- The host's turn ---------------------------------------------------------- */

static bool is_done(int turn)
{
    struct stat status;

    return fstat(turn, &status) == 0 && status.st_size > 0;
}

/* The lock, or -1 if there is nothing to do or it failed. */
static int take_turn(const struct esi_server_location *place)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    char file[96];
    int left = TURN_MS / 5;

    int turn = esi_run_file_open(place->run, esi_server_file(place, "start", file),
                                 O_CREAT | O_RDWR, NULL);
    while (turn >= 0 && !is_done(turn)) {
        if (flock(turn, LOCK_EX | LOCK_NB) == 0 && !is_done(turn))
            return turn;
        if (left-- == 0)
            break;
        nanosleep(&pause, NULL);
    }
    if (turn >= 0)
        close(turn);
    return -1;
}

static int save_key(const struct invitation *invitation, struct es_error *error)
{
    struct esi_run_key key;

    int code = esi_run_key_load(invitation->run, NULL, &key);
    explicit_bzero(&key, sizeof key);
    if (code != -ENOENT)
        return code;
    return invitation->has_key
               ? esi_run_key_save(invitation->run, &invitation->key, error)
               : es_error_set(error, -ENOENT,
                              "the run's key is not in its directory, and "
                              "EVENTSPACE_KEY is not set");
}

static int lay_out(const struct invitation *invitation,
                   const struct esi_server_location *place,
                   struct es_error *error)
{
    const struct esi_server_order order = {.run = invitation->run,
                                           .home = invitation->home};
    char plan[ES_RUN_PATH_BYTES], said[4096];
    struct es_error later = {.text = ""};

    int code = save_key(invitation, error);
    if (code == 0)
        code = esi_run_directory_path(invitation->run, PLAN_FILE, error, plan);
    if (code < 0)
        return code;
    /* Even if the home server cannot be reached now: it may be reachable later. */
    if (access(plan, R_OK) != 0)
        code = fetch_plan(invitation, place->host, error);
    int started = esi_server_start(&order, &later, said, sizeof said);
    if (code == 0 && started < 0)
        return es_error_set(error, started, "%s", later.text);
    return code;
}

/* Sets the paths of the directory and the plan on this host. */
static void set_paths(const char *run)
{
    const char *given = getenv("EVENTSPACE_PLAN");
    char path[ES_RUN_PATH_BYTES];

    if (given && access(given, R_OK) == 0)
        return;
    if (esi_run_directory_path(run, NULL, NULL, path) == 0)
        setenv("EVENTSPACE_RUN_DIR", path, 1);
    if (esi_run_directory_path(run, PLAN_FILE, NULL, path) == 0 &&
        access(path, R_OK) == 0)
        setenv("EVENTSPACE_PLAN", path, 1);
    else
        unsetenv("EVENTSPACE_PLAN");
}

static void prepare_host(const struct invitation *invitation)
{
    static const char done[] = "done\n";
    char path[ES_RUN_PATH_BYTES], host[ES_HOST_NAME_BYTES];
    struct es_error error = {.text = ""};
    struct esi_server_location place;

    esi_server_location_find(invitation->run, esi_host_name(host), &place);
    if (place.kind == ES_RUN_DIRECTORY_HOME)
        return;
    int code = esi_run_directory_create(invitation->run, &error, path);
    if (code < 0 && code != -EEXIST) {
        esi_command_fail_error(0, &error, code, "no tuple server on %s", host);
        return;
    }
    es_error_clear(&error);
    int turn = take_turn(&place);
    if (turn >= 0) {
        code = lay_out(invitation, &place, &error);
        if (code < 0)
            esi_command_fail_error(0, &error, code, "no tuple server on %s", host);
        (void)!write(turn, done, sizeof done - 1);
        close(turn);
    }
    set_paths(invitation->run);
}

void esi_rank_host_prepare(void)
{
    struct invitation invitation;

    if (take_invitation(&invitation))
        prepare_host(&invitation);
    explicit_bzero(&invitation, sizeof invitation);
}
