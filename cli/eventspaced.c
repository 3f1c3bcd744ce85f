/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspaced - the tuple server of one run on one host: options and start-up. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "base/options.h"
#include "base/plain.h"
#include "cli/command.h"
#include "scopes/server/daemon.h"
#include "scopes/server/server_location.h"
#include "tuplespace/segment_name.h"
#include "tuplespace/transport/address.h"
#include "tuplespace/transport/run_key.h"

#define SECOND_NS UINT64_C(1000000000)

/* Options that have no short form. */
enum {
    OPTION_RUN = 256,
    OPTION_HOME,
    OPTION_LISTEN,
    OPTION_ADVERTISE,
    OPTION_GRACE,
    OPTION_FOREGROUND,
    OPTION_LOG,
    OPTION_STAGES,
    OPTION_HOST,
    OPTION_CLUSTER,
    OPTION_GATEWAY,
};

static const struct argp_option options[] = {
    {"run", OPTION_RUN, "RUN", 0, "the run to serve; default: EVENTSPACE_RUN", 0},
    {"home", OPTION_HOME, "ADDRESS", 0,
     "register with the home server there; without, this is the home server", 0},
    {"listen", OPTION_LISTEN, "ADDRESS", 0,
     "listen there: unix:PATH, tls:HOST:PORT or tcp:HOST:PORT; may be given several "
     "times; default: a Unix socket in the run directory, and over tls: the address "
     "that is advertised, else the one that leads to the home server, else that of "
     "this host's name, else all (tls:*:0)",
     0},
    {"advertise", OPTION_ADVERTISE, "HOST", 0,
     "name or address by which other hosts reach this one; default: as the home server "
     "sees it",
     0},
    {"grace", OPTION_GRACE, "TIME", 0,
     "how long to stay without live processes of the run (10), or after a crash (600)",
     0},
    {"foreground", OPTION_FOREGROUND, NULL, 0,
     "stay with the terminal, and log to standard error", 0},
    {"log", OPTION_LOG, "FILE", 0, "default: eventspaced.log in the run directory", 0},
    {"stages", OPTION_STAGES, "FILE", 0,
     "load stage types from this shared object; may be given several times", 0},
    {"host", OPTION_HOST, "NAME", 0,
     "this host's name, as in its segments; default: the system's", 0},
    {"cluster", OPTION_CLUSTER, "NAME", 0, "cluster that this host belongs to", 0},
    {"gateway", OPTION_GATEWAY, "HOST", 0, "host that leads into that cluster", 0},
    {0},
};

static const char doc[] =
    "The tuple server of one run on one host: reads the segments of the run's "
    "processes for consumers on other hosts, and runs stages of their gather trees."
    "\v'eventspace run' starts it. It goes into the background, prints the addresses "
    "it listens on, and ends with the run. A second one of the same run on one host "
    "ends at once with 0. See eventspaced(1).";

/* Adds a file to EVENTSPACE_STAGES. */
static void add_stages(const char *file, struct argp_state *state)
{
    const char *before = getenv("EVENTSPACE_STAGES");
    char path[PATH_MAX];
    char *list;

    if (!realpath(file, path))
        argp_failure(state, ES_EXIT_USAGE, errno, "--stages: %s", file);
    if (asprintf(&list, "%s%s%s", before ? before : "", before && *before ? ":" : "",
                 path) < 0)
        argp_failure(state, ES_EXIT_USAGE, ENOMEM, "--stages");
    setenv("EVENTSPACE_STAGES", list, 1);
    free(list);
}

/* The server changes its folder, so paths must be absolute. */
static const char *make_absolute(const char *path, struct argp_state *state)
{
    char folder[PATH_MAX];
    char *absolute;

    if (*path == '/')
        return path;
    if (!getcwd(folder, sizeof folder) ||
        asprintf(&absolute, "%s/%s", folder, path) < 0) {
        argp_failure(state, ES_EXIT_USAGE, errno, "--log: %s", path);
        return path;
    }
    return absolute;
}

static void add_address(struct esi_daemon_options *chosen,
                        const char *text,
                        struct argp_state *state)
{
    if (chosen->address_count == ES_DAEMON_ADDRESSES)
        argp_error(state, "--listen: more than %d addresses", ES_DAEMON_ADDRESSES);
    chosen->addresses[chosen->address_count++] = text;
}

static const char *check_name(const char *text,
                              const char *option,
                              struct argp_state *state)
{
    if (!*text || strlen(text) >= ES_HOST_NAME_BYTES || strpbrk(text, "/ \t\n"))
        argp_error(state, "%s: '%s' is not a name", option, text);
    return text;
}

/* An IPv6 address before a port is enclosed in brackets. */
static const char *check_advertised(const char *text, struct argp_state *state)
{
    static char bracketed[ES_HOST_NAME_BYTES + 2];

    check_name(text, "--advertise", state);
    if (text[0] == '[' || !strchr(text, ':'))
        return text;
    snprintf(bracketed, sizeof bracketed, "[%s]", text);
    return bracketed;
}

static error_t parse_place(int key,
                           char *text,
                           struct esi_daemon_options *chosen,
                           struct argp_state *state)
{
    switch (key) {
    case OPTION_HOST:
        chosen->host = check_name(text, "--host", state);
        return 0;
    case OPTION_CLUSTER:
        chosen->cluster = check_name(text, "--cluster", state);
        return 0;
    case OPTION_GATEWAY:
        chosen->gateway = check_name(text, "--gateway", state);
        return 0;
    case OPTION_ADVERTISE:
        chosen->advertise = check_advertised(text, state);
        return 0;
    case OPTION_LISTEN:
        add_address(chosen, text, state);
        return 0;
    case OPTION_HOME:
        chosen->home = *text ? text : NULL;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct esi_daemon_options *chosen = state->input;

    switch (key) {
    case OPTION_RUN:
        chosen->run = text;
        return 0;
    case OPTION_GRACE:
        chosen->grace_ns = esi_option_duration(text, "--grace", 0, state);
        chosen->keep_grace_ns = chosen->grace_ns;
        return 0;
    case OPTION_FOREGROUND:
        chosen->foreground = true;
        return 0;
    case OPTION_LOG:
        chosen->log = make_absolute(text, state);
        return 0;
    case OPTION_STAGES:
        add_stages(text, state);
        return 0;
    case ARGP_KEY_END:
        if (!chosen->run || !esi_run_id_is_valid(chosen->run))
            argp_error(state, "--run: '%s' is not a run's name",
                       chosen->run ? chosen->run : "");
        return 0;
    default:
        return parse_place(key, text, chosen, state);
    }
}

static int fail_start(const struct es_error *error, int code)
{
    char words[sizeof error->source + sizeof error->text + 32];

    es_error_format(error, words, sizeof words);
    esi_plain_print(stderr, "eventspaced: %s\n",
                    error->text[0] ? words : strerror(-code));
    return ES_EXIT_USAGE;
}

/* Finds or creates the run's directory. */
static int find_directory(const char *run, struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];

    int code = esi_run_directory_create(run, error, path);
    if (code == -EEXIST) {
        es_error_clear(error);
        code = 0;
    }
    return code;
}

/* The host of an address such as "tls:HOST:PORT", without its brackets. */
static void copy_host(const char *address, char out[ES_ADDRESS_BYTES])
{
    struct esi_address parsed;

    out[0] = '\0';
    if (esi_address_parse(address, NULL, &parsed) == 0 &&
        parsed.kind != ES_ADDRESS_UNIX)
        snprintf(out, ES_ADDRESS_BYTES, "%s", parsed.place);
}

/* The interface that reaches the home server, by the first of its addresses that has a
 * route. */
static int find_way_home(const char *home, char out[ES_INTERFACE_BYTES])
{
    char address[ES_ADDRESS_BYTES], host[ES_ADDRESS_BYTES];
    int code = -EHOSTUNREACH;

    while (*home && code < 0) {
        size_t length = strcspn(home, ",");
        snprintf(address, sizeof address, "%.*s", (int)length, home);
        copy_host(address, host);
        if (host[0])
            code = esi_interface_toward(host, out);
        home += length + (home[length] == ',');
    }
    return code;
}

/* Chooses where to listen: no more is exposed to a network than necessary. */
static void choose_interface(const struct esi_daemon_options *chosen,
                             char out[ES_INTERFACE_BYTES])
{
    if (chosen->advertise && esi_interface_find(chosen->advertise, out) == 0)
        return;
    if (chosen->home && find_way_home(chosen->home, out) == 0)
        return;
    /* A host advertised by an address that is not its own is behind address
     * translation. */
    if (!chosen->advertise && !chosen->home &&
        esi_interface_find(chosen->host, out) == 0)
        return;
    strcpy(out, "*");
}

static int add_default_addresses(const struct esi_server_location *place,
                                 struct es_error *error,
                                 struct esi_daemon_options *chosen)
{
    static char unix_address[ES_ADDRESS_BYTES], former[ES_ADDRESS_BYTES];
    static char tls_address[ES_ADDRESS_BYTES];
    char interface[ES_INTERFACE_BYTES];

    if (chosen->address_count > 0)
        return 0;
    int code = esi_server_socket(place, error, unix_address);
    if (code < 0)
        return code;
    choose_interface(chosen, interface);
    snprintf(tls_address, sizeof tls_address, "tls:%s:0", interface);
    chosen->addresses[chosen->address_count++] = unix_address;
    chosen->addresses[chosen->address_count++] = tls_address;
    if (esi_server_former(place, "tls:", former) == 0)
        chosen->former = former;
    return 0;
}

/* Files opened later must not become standard error. */
static void fill_standard_descriptors(void)
{
    int descriptor;

    do
        descriptor = open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

int main(int argc, char **argv)
{
    static const struct argp parser = {options, parse_option, NULL, doc,
                                       NULL,    NULL,         NULL};
    char host[ES_HOST_NAME_BYTES], file[96];
    struct esi_daemon_options chosen = {
        .run = getenv("EVENTSPACE_RUN"),
        .host = esi_host_name(host),
        .grace_ns = 10 * SECOND_NS,
        .keep_grace_ns = 600 * SECOND_NS,
    };
    struct es_error error = {.text = ""};
    struct esi_server_location place;
    int lock;

    esi_run_key_guard();
    fill_standard_descriptors();
    argp_err_exit_status = ES_EXIT_USAGE;
    esi_command_parse(&parser, argc, argv, 0, &chosen);
    int code = find_directory(chosen.run, &error);
    if (code < 0)
        return fail_start(&error, code);
    esi_server_location_find(chosen.run, chosen.host, &place);
    code = esi_run_lock_take(chosen.run, esi_server_file(&place, "lock", file), &error,
                             &lock);
    if (code == -EWOULDBLOCK)
        return ES_EXIT_SUCCESS;
    if (code == 0)
        code = add_default_addresses(&place, &error, &chosen);
    if (code < 0)
        return fail_start(&error, code);
    int ready = chosen.foreground ? -1 : esi_daemon_detach(lock);
    esi_daemon_step_back();
    return esi_daemon_serve(&chosen, &place, lock, ready);
}
