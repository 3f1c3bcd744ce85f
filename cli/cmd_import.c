/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace import - converts the output of other tools to an event set. */
#include "config.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/event_source.h"
#include "cli/import_otf2.h"
#include "cli/progress.h"
#include "monitors/archive/archive_read.h"
#include "monitors/eventset/set_write.h"
#include "monitors/eventset/sinks.h"
#include "monitors/eventset/formats/shiviz_read.h"

enum {
    OPTION_FROM = 256,
    OPTION_REGEX,
    OPTION_DELIMITER,
    OPTION_HEADER,
};

enum import_format {
    IMPORT_DETECT,
    IMPORT_SET,
    IMPORT_SHIVIZ,
    IMPORT_ARCHIVE,
    IMPORT_OTF2,
};

static const char *const formats[] = {
    [IMPORT_DETECT] = "", /* not a format name */
    [IMPORT_SET] = "event-set",   [IMPORT_SHIVIZ] = "shiviz",
    [IMPORT_ARCHIVE] = "archive", [IMPORT_OTF2] = "otf2",
};

struct import_arguments {
    const char *path;
    char *anchor; /* the path, if it was found in a folder; owned */
    const char *output;
    enum import_format from;
    struct esi_shiviz_config shiviz;
    bool shiviz_options; /* some were given */
};

static const struct argp_option options[] = {
    {"output", 'o', "SET", 0, "the event set to write, or - for standard output", 1},
    {"from", OPTION_FROM, "FORMAT", 0,
     "event-set, shiviz, archive or otf2; else detected", 1},
    {NULL, 0, NULL, 0, "Of ShiViz logs:", 2},
    {"regex", OPTION_REGEX, "REGEX", 0,
     "an event, with the groups (?<host>...), (?<clock>...) and "
     "(?<event>...); ShiViz's own is " ES_SHIVIZ_REGEX,
     2},
    {"delimiter", OPTION_DELIMITER, "REGEX", 0,
     "separator of several executions; the group (?<trace>...) names the next", 2},
    {"header", OPTION_HEADER, NULL, 0,
     "the first two lines hold these two, as in files uploaded to ShiViz", 2},
    {0},
};

static const char doc[] =
    "Converts FILE to an event set: another event set (checked and ordered), a log for "
    "ShiViz, an archive, or an OTF2 archive (its folder, or its file traces.otf2)."
    "\vThe vector clocks of a ShiViz log become messages. An event that receives and "
    "sends becomes two.\n\n"
    "Exit status: 0 success, 2 usage or input error.";

static enum import_format parse_from(const char *text, struct argp_state *state)
{
    for (int i = IMPORT_SET; i <= IMPORT_OTF2; i++)
        if (strcmp(text, formats[i]) == 0)
            return (enum import_format)i;
    argp_error(state, "--from: '%s' is not one of event-set, shiviz, archive or otf2",
               text);
    return IMPORT_DETECT;
}

static error_t parse_shiviz_option(int key,
                                   const char *text,
                                   struct import_arguments *arguments)
{
    switch (key) {
    case OPTION_REGEX:
        arguments->shiviz.regex = text;
        break;
    case OPTION_DELIMITER:
        arguments->shiviz.delimiter = text;
        break;
    case OPTION_HEADER:
        arguments->shiviz.header = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    arguments->shiviz_options = true;
    return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct import_arguments *arguments = state->input;

    switch (key) {
    case 'o':
        if (!*text)
            argp_error(state, "-o: the name of a file is needed");
        arguments->output = text;
        return 0;
    case OPTION_FROM:
        arguments->from = parse_from(text, state);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->path)
            argp_error(state, "unexpected argument '%s': give one FILE", text);
        arguments->path = text;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->path)
            argp_error(state, "a FILE is needed");
        if (!arguments->output)
            argp_error(state, "-o SET is needed");
        if (arguments->shiviz_options && arguments->from != IMPORT_DETECT &&
            arguments->from != IMPORT_SHIVIZ)
            argp_error(state, "--regex, --delimiter and --header need --from shiviz");
        return 0;
    default:
        return parse_shiviz_option(key, text, arguments);
    }
}

/* Whether it is the anchor file of an OTF2 archive. */
static bool is_anchor(const char *path)
{
    size_t length = strlen(path);

    return length > 5 && strcmp(path + length - 5, ".otf2") == 0;
}

static int is_anchor_entry(const struct dirent *entry)
{
    return is_anchor(entry->d_name);
}

/* The anchor file in the folder of an OTF2 archive: traces.otf2, or the only one.  NULL
 * if there is none.  The caller frees it. */
static char *find_anchor(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_anchor_entry, alphasort);
    char *path = NULL;

    for (int i = 0; i < count; i++) {
        bool is_it = count == 1 || strcmp(entries[i]->d_name, "traces.otf2") == 0;

        if (is_it && !path && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
            path = NULL;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return path;
}

/* Event sets are identified by their first line. */
static enum import_format detect_file(const char *path)
{
    FILE *stream = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    bool is_set = true; /* read errors are reported by the reader */

    if (stream) {
        is_set = getline(&line, &size, stream) > 0 &&
                 line[strspn(line, " \t\r")] == '{' &&
                 strstr(line, "\"eventspace-events\"");
        fclose(stream);
    }
    free(line);
    return is_set ? IMPORT_SET : IMPORT_SHIVIZ;
}

/* For a folder with an OTF2 archive, also sets the path of its anchor file. */
static enum import_format detect_format(struct import_arguments *arguments)
{
    bool may_be_otf2 =
        arguments->from == IMPORT_DETECT || arguments->from == IMPORT_OTF2;
    struct stat status;

    if (may_be_otf2 && stat(arguments->path, &status) == 0 && S_ISDIR(status.st_mode) &&
        !esi_archive_is_one(arguments->path))
        arguments->anchor = find_anchor(arguments->path);
    if (arguments->anchor) {
        arguments->path = arguments->anchor;
        return IMPORT_OTF2;
    }
    if (arguments->from != IMPORT_DETECT)
        return arguments->from;
    if (arguments->shiviz_options)
        return IMPORT_SHIVIZ;
    if (strcmp(arguments->path, "-") == 0)
        return IMPORT_SET;
    if (stat(arguments->path, &status) == 0 && S_ISDIR(status.st_mode))
        return IMPORT_ARCHIVE;
    return is_anchor(arguments->path) ? IMPORT_OTF2 : detect_file(arguments->path);
}

static int import_shiviz(struct import_arguments *arguments,
                         const struct es_set_sink *sink)
{
    struct esi_shiviz_statistics statistics;
    struct es_error error = {.text = ""};
    struct es_set_sink items[2] = {{.trace = NULL}};
    struct esi_sinks sinks = {.items = items};
    struct esi_progress progress;
    int result;

    sinks.count = esi_progress_start(&progress, &items[0]);
    items[sinks.count++] = *sink;
    arguments->shiviz.sink = esi_sinks_sink(&sinks);
    result =
        esi_shiviz_read_file(arguments->path, &arguments->shiviz, &statistics, &error);
    esi_progress_end(&progress);
    if (result < 0) {
        esi_command_fail_error(ES_EXIT_USAGE, &error, result, "cannot read the log");
        if (arguments->from == IMPORT_DETECT && !arguments->shiviz_options)
            esi_command_note("a file that is not an event set is read as a log for "
                             "ShiViz; --from and --regex change that");
        return ES_EXIT_USAGE;
    }
    esi_command_note("%" PRIu64 " events of the log, %" PRIu64 " of them split into "
                     "two",
                     statistics.log_events, statistics.split_events);
    return ES_EXIT_SUCCESS;
}

/* Imports a file of the format given by --from. */
static int import_events(const struct import_arguments *arguments,
                         enum import_format from,
                         const struct es_set_sink *sink)
{
    const struct esi_event_source source = {.path = arguments->path};
    struct esi_set_source_facts facts;
    enum esi_set_source_kind kind;
    struct es_error error = {.text = ""};
    int result = esi_set_source_detect(arguments->path, &kind, &error);
    int status;

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot read the events");
    if (kind == ES_SET_SOURCE_RUN)
        return esi_command_fail(ES_EXIT_USAGE,
                                "%s: no such file or archive; the events of a run are "
                                "written by 'eventspace export RUN --to event-set'",
                                arguments->path);
    if ((kind == ES_SET_SOURCE_ARCHIVE) != (from == IMPORT_ARCHIVE))
        return esi_command_fail(ES_EXIT_USAGE, "%s: not in the format '%s'",
                                arguments->path, formats[from]);
    status = esi_event_source_read(&source, true, sink, 1, &facts);
    if (status == ES_EXIT_SUCCESS)
        esi_event_source_tell_missing(&facts);
    return status;
}

static int import_all(struct import_arguments *arguments)
{
    enum import_format from = detect_format(arguments);
    struct es_error error = {.text = ""};
    struct esi_set_write *write;
    struct es_set_sink sink;
    int result = esi_set_write_open(arguments->output, &error, &write);
    int status;

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot write the event set");
    sink = esi_set_write_sink(write);
    status = from == IMPORT_SHIVIZ ? import_shiviz(arguments, &sink)
             : from == IMPORT_OTF2 ? esi_import_otf2(arguments->path, &sink)
                                   : import_events(arguments, from, &sink);
    if (status != ES_EXIT_SUCCESS) {
        esi_set_write_destroy(write);
        return status;
    }
    result = esi_set_write_close(write, &error);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot write the event set");
    return ES_EXIT_SUCCESS;
}

int esi_cmd_import(int argc, char **argv)
{
    static const struct argp parser = {options, parse_option, "FILE -o SET", doc,
                                       NULL,    NULL,         NULL};
    struct import_arguments arguments = {.path = NULL};
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    status = import_all(&arguments);
    free(arguments.anchor);
    return status;
}
