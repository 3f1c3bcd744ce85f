/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pattern_cases.c - tables of cases and searches. */
#include "config.h"

#include "bench/pattern_cases.h"

#include <stdio.h>
#include <string.h>

/* The names of the indirectly written cases are "1b" and so on. */
const struct pattern_case pattern_cases[] = {
    {"1", "tcp", "sockets.pattern", {"FirstConnectionEstablished"}, 1},
    {"2", "tcp", "sockets.pattern", {"LastConnectionEstablished"}, 1},
    {"3", "tcp", "sockets.pattern", {"FinalDataTransferC1", "FinalDataTransferC2"}, 1},
    {"4", "tcp", "sockets.pattern", {"ConsecutiveC1Sends", "ConsecutiveC2Sends"}, 58},
    {"5", "tcp", "sockets.pattern", {"HappensBeforeC1C2"}, 0},
    {"6", "ucpp", "monitors.pattern", {"ConcurrentMonitors"}, 65},
    {"7", "ucpp", "monitors.pattern", {"StartStop"}, 28},
    {"8", "ucpp", "monitors.pattern", {"IndThreads"}, 78},
    {"9", "pvm-merge", "pvm.pattern", {"ConSend"}, 0},
    {"9.1", "pvm-merge", "pvm.pattern", {"ConSendNew"}, 0},
    {"9.2", "pvm-merge", "pvm.pattern", {"ConSendNew2"}, 0},
    {"10", "pvm-life", "pvm.pattern", {"SendSend"}, 47},
    {"11", "pvm-life", "pvm.pattern", {"SendRecv"}, 1918},
    {"1b", "tcp", "sockets.pattern", {"FirstConnectionEstablished2"}, 1},
    {"2b", "tcp", "sockets.pattern", {"LastConnectionEstablished2"}, 1},
    {"11b", "pvm-life", "pvm.pattern", {"SendRecv2"}, 1918},
    {.name = NULL},
};

#define THESIS " 1 2 3 4 5 6 7 8 9 10 11 "
#define PRUNING " 1 1b 2 2b 11 11b "
#define REORDERING " 4 5 8 9 9.1 9.2 "

const struct pattern_way pattern_ways[] = {
    /* Tables 4.1 and 4.2. */
    {.name = "closure_existing",
     .engine = "closure",
     .closure = {.method = ES_CLOSURE_EXISTING},
     .cases = THESIS,
     .slow = " 9 10 11 "},
    {.name = "closure_binary",
     .engine = "closure",
     .closure = {.method = ES_CLOSURE_BINARY},
     .cases = THESIS,
     .slow = " 9 10 11 "},
    {.name = "closure_combining",
     .engine = "closure",
     .closure = {.method = ES_CLOSURE_BINARY, .combining = true},
     .cases = THESIS "9.1 9.2 ",
     .slow = " 9 9.1 9.2 10 11 "},
    /* Tables 5.1 and 6.1 to 6.4. */
    {.name = "rewrite_none", .engine = "rewrite", .slow = " 9 9.1 9.2 10 11 11b "},
    {.name = "rewrite_prune",
     .engine = "rewrite",
     .rewrite = {.prune = true},
     .cases = PRUNING,
     .slow = " 11 11b "},
    {.name = "rewrite_brute",
     .engine = "rewrite",
     .rewrite = {.reordering = ES_REORDER_BRUTE},
     .cases = REORDERING,
     .slow = " 9 9.1 9.2 "},
    {.name = "rewrite_success",
     .engine = "rewrite",
     .rewrite = {.reordering = ES_REORDER_SUCCESS},
     .cases = REORDERING,
     .slow = " 9 9.1 9.2 "},
    {.name = "rewrite_cluster",
     .engine = "rewrite",
     .rewrite = {.reordering = ES_REORDER_CLUSTER},
     .cases = REORDERING,
     .slow = " 9 9.1 9.2 "},
    {.name = "rewrite_failed",
     .engine = "rewrite",
     .rewrite = {.failed_first = true},
     .cases = " 10 11 "},
    {.name = "rewrite_best",
     .engine = "rewrite",
     .rewrite = {.reordering = ES_REORDER_CLUSTER, .failed_first = true},
     .slow = " 9 9.1 9.2 "},
    /* The indexed engine. */
    {.name = "indexed_1", .engine = "indexed", .threads = 1},
    {.name = "indexed_2", .engine = "indexed", .threads = 2},
    {.name = NULL},
};

static bool is_among(const char *names, const char *name)
{
    char word[16];

    snprintf(word, sizeof word, " %s ", name);
    return strstr(names, word) != NULL;
}

bool pattern_way_has(const struct pattern_way *way, const char *name)
{
    return !way->cases || is_among(way->cases, name);
}

bool pattern_way_is_slow(const struct pattern_way *way, const char *name)
{
    return way->slow && is_among(way->slow, name);
}
