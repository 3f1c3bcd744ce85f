/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace view - serves a page with the process-time diagram of a run. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/page/page_feed.h"
#include "cli/page/page_server.h"
#include "cli/page/page_watch.h"
#include "monitors/archive/archive_read.h"
#include "tuplespace/run_directory.h"

#define PAUSE_NS UINT64_C(100000000)

enum { OPTION_PORT = 256, OPTION_SOCKET, OPTION_KEEP };

enum {
    NAME_BYTES = 64,
    ADDRESS_BYTES = ES_RUN_PATH_BYTES + 96,
    ADDRESSES = 16, /* maximum number to try */
};

/* Calls kept.  A live run may go on for days, beside other programs. */
enum {
    ARCHIVE_CALLS = 1 << 22,
    RUN_CALLS = 1 << 19,
    LEAST_ORDER_CALLS = 1 << 16,
    ORDER_CALL_BYTES = 128, /* for the order of a run's events, per call */
};

struct view_arguments {
    struct esi_event_source source;
    const char *socket; /* NULL = in the folder of runs */
    int port;           /* -1 = a Unix socket */
    size_t keep;
    char run[NAME_BYTES]; /* its name, if none was given */
};

static const struct argp_option options[] = {
    {"port", OPTION_PORT, "N", 0,
     "serve on this host's loopback, port N (0: any), with a token", 0},
    {"socket", OPTION_SOCKET, "PATH", 0, "serve on this Unix socket", 0},
    {"keep", OPTION_KEEP, "CALLS", 0,
     "number of calls kept individually (524288 of a run, 4194304 of an archive); of "
     "older ones only sums. The diagram of a run takes at most 448 bytes per kept call",
     0},
    {0},
};

static const char doc[] =
    "Serves a page with the process-time diagram of RUN, also live, or of the archive "
    "DIR: states of threads, messages, what an event can have caused, patterns, waits "
    "and verdicts. Prints the URL, and runs until an interrupt (Ctrl-C)."
    "\vThe page is read only, and for this user only.\n"
    "Exit status: 0 ended by an interrupt, 2 usage or input error, 3 lost the run.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct view_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->source.consumer;
        return 0;
    case OPTION_PORT:
        arguments->port = (int)esi_option_number(text, "--port", 0, 65535, state);
        return 0;
    case OPTION_SOCKET:
        arguments->socket = text;
        return 0;
    case OPTION_KEEP:
        arguments->keep =
            (size_t)esi_option_number(text, "--keep", 1, INT64_C(1) << 31, state);
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->source.path);
    case ARGP_KEY_END:
        if (arguments->socket && arguments->port >= 0)
            argp_error(state, "--port and --socket: give only one of them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- Address ---------------------------------------------------------------------- */

/* The last part of a name, restricted to characters of file names. */
static void name_socket(const char *name, char out[NAME_BYTES])
{
    const char *end = name + strlen(name), *begin;
    size_t length = 0;

    while (end > name + 1 && end[-1] == '/')
        end--;
    for (begin = end; begin > name && begin[-1] != '/';)
        begin--;
    for (; begin < end && length < NAME_BYTES - 1; begin++)
        out[length++] = strchr(" \t\n'\"\\$", *begin) ? '_' : *begin;
    out[length] = '\0';
}

/* The `number`-th address to try, from 1: the first names may be in use by others.
 * Returns 0, or the exit status after a message. */
static int choose_address(const struct view_arguments *arguments,
                          int number,
                          char address[ADDRESS_BYTES])
{
    struct es_error error = {.text = ""};
    char folder[ES_RUN_PATH_BYTES], name[NAME_BYTES], ending[16] = "";
    int result;

    if (arguments->port >= 0) {
        snprintf(address, ADDRESS_BYTES, "tcp:127.0.0.1:%d", arguments->port);
        return ES_EXIT_SUCCESS;
    }
    if (arguments->socket) {
        snprintf(address, ADDRESS_BYTES, "unix:%s", arguments->socket);
        return ES_EXIT_SUCCESS;
    }
    /* Not in the run's own directory, which is removed when it ends. */
    result = esi_run_directory_make_base(&error, folder);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot create the folder of the socket");
    name_socket(arguments->source.path, name);
    if (number > 1)
        snprintf(ending, sizeof ending, "-%d", number);
    snprintf(address, ADDRESS_BYTES, "unix:%s/view-%s%s.sock", folder, name, ending);
    return ES_EXIT_SUCCESS;
}

/* Returns 0, or the exit status after a message. */
static int start_server(const struct view_arguments *arguments,
                        const struct esi_page_model *model,
                        struct esi_page_server **ret_server)
{
    int tries = arguments->port >= 0 || arguments->socket ? 1 : ADDRESSES;
    struct es_error error = {.text = ""};
    char address[ADDRESS_BYTES];
    int result = -EADDRINUSE;

    for (int i = 1; i <= tries && result == -EADDRINUSE; i++) {
        const struct esi_page_server_config config = {
            .address = address, .has_token = arguments->port >= 0, .model = *model};
        int status = choose_address(arguments, i, address);

        if (status != ES_EXIT_SUCCESS)
            return status;
        es_error_clear(&error);
        result = esi_page_server_start(&config, &error, ret_server);
    }
    if (result == -ENOSYS)
        return esi_command_fail(ES_EXIT_USAGE, "%s", error.text);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "the page cannot be served");
    return ES_EXIT_SUCCESS;
}

static void tell_address(const struct esi_page_server *server)
{
    const char *address = esi_page_server_address(server);
    char host[256] = "HOST";

    if (strncmp(address, "tcp:", 4) == 0) {
        printf("http://localhost:%s/#token=%s\n", strrchr(address, ':') + 1,
               esi_page_server_token(server));
    } else {
        gethostname(host, sizeof host - 1);
        printf("socket %s\n"
               "on your own computer: ssh -L 8080:%s %s\n"
               "then open http://localhost:8080/\n",
               address + strlen("unix:"), address + strlen("unix:"), host);
    }
    fflush(stdout);
}

/* --- Serving ---------------------------------------------------------------------- */

static int read_and_wait(struct esi_page_feed *feed)
{
    struct esi_set_source_facts facts;
    int status = esi_page_feed_read(feed, &facts);

    if (status == ES_EXIT_USAGE)
        return status;
    while (!esi_interrupt_came())
        esi_interrupt_sleep(PAUSE_NS);
    return status;
}

static int serve_page(const struct view_arguments *arguments,
                      const struct esi_page_model *model)
{
    struct esi_page_server *server;
    int status = start_server(arguments, model, &server);

    if (status != ES_EXIT_SUCCESS)
        return status;
    tell_address(server);
    status = read_and_wait(model->feed);
    esi_page_server_stop(server);
    return status;
}

static int view_run(const struct view_arguments *arguments, bool is_archive)
{
    const size_t calls = arguments->keep ? arguments->keep
                         : is_archive    ? ARCHIVE_CALLS
                                         : RUN_CALLS;
    const struct esi_page_feed_config feed = {
        .name = arguments->source.path,
        .is_archive = is_archive,
        .keeps_sums = is_archive,
        .follow = !is_archive,
        .consumer = arguments->source.consumer,
        .diagram = {.calls_max = calls,
                    .order_bytes = is_archive ? 0
                                   : calls < LEAST_ORDER_CALLS
                                       ? LEAST_ORDER_CALLS * ORDER_CALL_BYTES
                                       : (uint64_t)calls * ORDER_CALL_BYTES}};
    struct esi_page_watch_config watch = {
        .name = feed.name, .is_archive = is_archive, .consumer = feed.consumer};
    struct esi_page_model model = {.feed = NULL};
    int status, result;

    esi_interrupt_catch(ES_INTERRUPT_FIRST);
    result = esi_page_feed_create(&feed, &model.feed);
    if (result == 0) {
        watch.feed = model.feed;
        result = esi_page_watch_start(&watch, &model.watch);
    }
    if (result < 0)
        status = esi_command_fail(ES_EXIT_USAGE, "cannot begin: %s", strerror(-result));
    else
        status = serve_page(arguments, &model);
    esi_page_watch_stop(model.watch);
    esi_page_feed_destroy(model.feed);
    return status;
}

/* The name of the only live run.  Returns 0, or the exit status after a message. */
static int find_run(struct view_arguments *arguments)
{
    struct esi_consumer consumer;
    int status;

    if (arguments->source.path)
        return ES_EXIT_SUCCESS;
    status = esi_consumer_open(NULL, &arguments->source.consumer, &consumer);
    if (status != ES_EXIT_SUCCESS)
        return status;
    snprintf(arguments->run, sizeof arguments->run, "%s", es_run_name(consumer.run));
    arguments->source.path = arguments->run;
    esi_consumer_close(&consumer);
    return ES_EXIT_SUCCESS;
}

int esi_cmd_view(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_consumer_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        options, parse_option, "[RUN|DIR]", doc, children, 0, 0};
    struct view_arguments arguments = {.port = -1};
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    status = esi_event_source_refuse_set(&arguments.source);
    if (status == ES_EXIT_SUCCESS)
        status = find_run(&arguments);
    if (status != ES_EXIT_SUCCESS)
        return status;
    return view_run(&arguments, esi_archive_is_one(arguments.source.path));
}
