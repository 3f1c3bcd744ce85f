/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* view_options.c - the options by which commands take a part of a run's events. */
#include "config.h"

#include "cli/view_options.h"

#include <limits.h>
#include <string.h>

#include "cli/command.h"
#include "eventspace/operation.h"
#include "base/options.h"

enum { OPTION_CLASS = 0x4201, OPTION_OPERATION, OPTION_FILTER };

uint32_t esi_option_classes(const char *text, struct argp_state *state)
{
    const char *names[ES_CLASS_COUNT] = {NULL};
    uint32_t classes = 0;

    for (unsigned i = 1; i < ES_CLASS_COUNT; i++)
        names[i - 1] = es_class_name((enum es_class)i);
    do {
        size_t length = strcspn(text, ",");
        char word[32];

        snprintf(word, sizeof word, "%.*s", (int)length, text);
        classes |= 2u << esi_option_word(word, "--class", names, state);
        text += length;
    } while (*text++);
    return classes;
}

static error_t parse_view(int key, char *text, struct argp_state *state)
{
    struct es_view *view = state->input;

    switch (key) {
    case 'r':
        view->selection.ranks = text;
        return 0;
    case 't':
        view->selection.thread =
            (int)esi_option_number(text, "--thread", 0, INT_MAX, state);
        return 0;
    case 'H':
        view->selection.host = text;
        return 0;
    case OPTION_CLASS:
        view->selection.classes = esi_option_classes(text, state);
        return 0;
    case OPTION_OPERATION:
        view->operation = text;
        return 0;
    case 'c':
        view->communicator = text;
        return 0;
    case OPTION_FILTER:
        view->filter = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which events:", 1},
    {"rank", 'r', "RANKS", 0, "of these ranks, such as 0-3,7", 1},
    {"thread", 't', "THREAD", 0, "of this thread of each rank", 1},
    {"host", 'H', "HOST", 0, "of this host", 1},
    {"class", OPTION_CLASS, "CLASSES", 0,
     "send, receive, completion, collective, communicator, one-sided, io, "
     "other, monitor",
     1},
    {"operation", OPTION_OPERATION, "NAME", 0, "of this operation, such as send", 1},
    {"comm", 'c', "NAME", 0, "on the communicator of this name", 1},
    {"filter", OPTION_FILTER, "EXPRESSION", 0,
     "such as 'bytes > 64KiB && duration >= 1ms'", 1},
    {0},
};

const struct argp esi_view_argp = {options, parse_view, NULL, NULL, NULL, NULL, NULL};
