/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace record - writes the events of a run to an archive on disk. */
#include "config.h"

#include <inttypes.h>

#include "base/plain.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/recording.h"
#include "cli/view_check.h"
#include "cli/view_options.h"
#include "monitors/archive/archive_read.h"
#include "base/options.h"

enum {
    OPTION_NEW = 256,
    OPTION_FOR,
    OPTION_NO_WAIT,
    OPTION_REPAIR,
};

struct record_arguments {
    const char *run;
    const char *repair; /* directory; NULL = record */
    struct esi_recording recording;
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "the archive: a new or an empty directory", 0},
    {"for", OPTION_FOR, "TIME", 0, "end after this time, such as 10s", 2},
    {"new", OPTION_NEW, NULL, 0, "no existing events", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {"no-wait", OPTION_NO_WAIT, NULL, 0, "the program does not wait for the recording",
     2},
    {NULL, 0, NULL, 0, "Instead of recording:", 3},
    {"repair", OPTION_REPAIR, "DIR", 0,
     "truncate incomplete packets in the archive of a killed recording", 3},
    {0},
};

static const char doc[] =
    "Writes the events of RUN to an archive until the run ends: Common Trace Format, "
    "for babeltrace2 and Trace Compass, with tables."
    "\vAn interrupt (Ctrl-C) ends the recording; the archive is complete up to there. "
    "Losses are counted, here and in the archive.\n"
    "Exit status: 0 success, 2 usage or input error or the archive cannot be written, "
    "3 the run vanished, or contact with its hosts was lost.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct record_arguments *arguments = state->input;
    struct esi_recorder_config *recorder = &arguments->recording.recorder;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->consumer;
        state->child_inputs[1] = &recorder->scope;
        state->child_inputs[2] = &recorder->scope.view;
        state->child_inputs[3] = &arguments->recording.format;
        return 0;
    case 'o':
        recorder->directory = text;
        return 0;
    case OPTION_FOR:
        arguments->recording.limit_ns = esi_option_duration(text, "--for", 1, state);
        return 0;
    case OPTION_NEW:
        recorder->scope.take = ES_TAKE_NEW;
        return 0;
    case OPTION_NO_WAIT:
        recorder->scope.lossless = false;
        return 0;
    case OPTION_REPAIR:
        arguments->repair = text;
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    case ARGP_KEY_END:
        if (!recorder->directory && !arguments->repair)
            argp_error(state, "no archive given: -o DIR");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int repair_archive(const char *directory)
{
    struct es_error error = {.text = ""};
    uint64_t bytes;
    int count = esi_archive_repair(directory, &bytes, &error);

    if (count < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, count,
                                      "archive %s cannot be repaired", directory);
    if (count == 0)
        esi_plain_print(stdout, "%s: complete, nothing was cut off\n", directory);
    else
        esi_plain_print(stdout, "%s: cut %" PRIu64 " bytes off %d streams\n", directory,
                        bytes, count);
    return ES_EXIT_SUCCESS;
}

int esi_cmd_record(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_consumer_argp, 0, NULL, 0},
                                                 {&esi_settings_argp, 0, NULL, 0},
                                                 {&esi_view_argp, 0, NULL, 0},
                                                 {&esi_format_argp, 0, NULL, 0},
                                                 {0}};
    static const struct argp parser = {options,  parse_option, "[RUN]", doc,
                                       children, NULL,         NULL};
    struct record_arguments arguments = {.recording = {.ready = -1, .lifeline = -1}};
    struct esi_recorder_config *recorder = &arguments.recording.recorder;
    struct esi_consumer consumer;
    int status;

    es_scope_config_init(&recorder->scope);
    recorder->scope.lossless = true;
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (arguments.repair)
        return repair_archive(arguments.repair);
    status = esi_consumer_open(arguments.run, &arguments.consumer, &consumer);
    if (status != 0)
        return status;
    status = esi_view_check(&consumer, &recorder->scope.view, true);
    if (status == ES_EXIT_SUCCESS)
        status = esi_recording_run(&consumer, &arguments.recording);
    esi_consumer_close(&consumer);
    return status;
}
