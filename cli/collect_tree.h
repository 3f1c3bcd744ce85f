/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* `eventspace collect tree`: shows and changes the collective trees of a running
 * program. */
#ifndef ES_CLI_COLLECT_TREE_H
#define ES_CLI_COLLECT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/consumer.h"
#include "tuplespace/plan/tree_rules.h"

struct esi_tree_request {
    const char *run; /* NULL = the only one */
    bool has_rule;   /* `rule` is inserted before those in force */
    struct esi_tree_rule rule;
    const char *file; /* its rules replace those in force; NULL = none */
    bool clear;       /* the initial rules replace those in force */
    uint64_t wait_ns; /* until all communicators have switched */
    enum esi_format format;
};

/* Shows the trees in force, after changing them if requested.  Returns an exit
 * status. */
int esi_collect_tree(const struct esi_tree_request *request);

/* Prints a line (or JSON object) for each communicator with trees, for `eventspace
 * list`; nothing for runs that cannot change their trees.  Returns 0 or -errno. */
int esi_collect_tree_list(const struct esi_consumer *consumer, enum esi_format format);

#endif
