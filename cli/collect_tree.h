/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* `eventspace collect tree`: the collective trees of a running program, shown and
 * changed. */
#ifndef ES_CLI_COLLECT_TREE_H
#define ES_CLI_COLLECT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/consumer.h"
#include "tuplespace/plan/tree_rules.h"

struct esi_tree_request {
    const char *run; /* NULL = the only one */
    bool has_rule;   /* `rule` goes in front of those in force */
    struct esi_tree_rule rule;
    const char *file; /* its rules replace those in force; NULL = none */
    bool clear;       /* those that the run began with replace them */
    uint64_t wait_ns; /* until all communicators have followed */
    enum esi_format format;
};

/* Shows the trees in force, after changing them if the request says so.  An exit
 * status. */
int esi_collect_tree(const struct esi_tree_request *request);

/* Prints a line (or JSON object) for each communicator that has trees: for `eventspace
 * list`.  Runs that cannot change their trees get none.  -errno. */
int esi_collect_tree_list(const struct esi_consumer *consumer, enum esi_format format);

#endif
