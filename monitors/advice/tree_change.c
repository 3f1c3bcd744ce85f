/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_change.c - the rules in force, and changes to them. */
#include "config.h"

#include "monitors/advice/tree_change.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "scopes/remote/run_files.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/tree_control.h"

#define NO_RULES "eventspace-trees 1\nend\n"
#define PAUSE_NS 100000000

/* --- The rules -------------------------------------------------------------------- */

/* The initial rules.  The caller frees *ret_text. */
static int first_rules(const struct esi_tree_hosts *hosts, char **ret_text)
{
    const char *run = es_run_name(hosts->run);
    size_t length;
    int code = esi_run_file_read(run, "collect.trees", NULL, ret_text, &length);

    if (code < 0 && hosts->servers)
        code = esi_run_file_fetch(hosts->servers, "collect.trees", NULL, ret_text);
    if (code == 0)
        return 0;
    /* A run not started by `eventspace run` has published no rules. */
    *ret_text = strdup(NO_RULES);
    return *ret_text ? 0 : -ENOMEM;
}

int esi_tree_plan_load(const struct esi_tree_hosts *hosts,
                       bool first,
                       struct es_error *error,
                       struct esi_tree_plan *ret_plan)
{
    char *text = NULL;
    int code = first ? 0 : esi_tree_wish_ask(hosts, &text);

    if (code == 0 && !text)
        code = first_rules(hosts, &text);
    if (code == 0)
        code = esi_tree_plan_parse(text, "rules in force", error, ret_plan);
    free(text);
    return code;
}

static bool is_for_the_same(const struct esi_tree_rule *a,
                            const struct esi_tree_rule *b)
{
    return a->operations == b->operations && a->min_bytes == b->min_bytes &&
           a->max_bytes == b->max_bytes &&
           strcmp(a->communicator, b->communicator) == 0;
}

static void remove_same(struct esi_tree_rules *rules, const struct esi_tree_rule *rule)
{
    size_t kept = 0;

    for (size_t i = 0; i < rules->count; i++) {
        if (is_for_the_same(&rules->rules[i], rule))
            esi_tree_rule_fini(&rules->rules[i]);
        else
            rules->rules[kept++] = rules->rules[i];
    }
    rules->count = kept;
}

static bool has_name(const struct esi_tree_rules *rules, const char *name)
{
    for (size_t i = 0; i < rules->count; i++)
        if (strcmp(rules->rules[i].name, name) == 0)
            return true;
    return false;
}

/* "kary", or "kary-2" if that is taken. */
static void name_rule(const struct esi_tree_rules *rules, struct esi_tree_rule *rule)
{
    const char *shape = esi_tree_shape_name(rule->shape);

    snprintf(rule->name, sizeof rule->name, "%s", shape);
    for (unsigned int i = 2; has_name(rules, rule->name); i++)
        snprintf(rule->name, sizeof rule->name, "%s-%u", shape, i);
}

int esi_tree_rules_put(struct esi_tree_rules *rules, const struct esi_tree_rule *rule)
{
    struct esi_tree_rule copy;

    remove_same(rules, rule);
    if (ESI_ARRAY_RESERVE(rules->rules, rules->capacity, rules->count + 1) < 0)
        return -ENOMEM;
    if (esi_tree_rule_copy(rule, &copy) < 0)
        return -ENOMEM;
    name_rule(rules, &copy);
    memmove(rules->rules + 1, rules->rules, rules->count * sizeof copy);
    rules->rules[0] = copy;
    rules->count++;
    return 0;
}

int esi_tree_plan_text(const struct esi_tree_plan *plan,
                       struct es_error *error,
                       char **ret_text)
{
    char *text;
    int code = esi_tree_plan_format(plan, &text);

    if (code < 0)
        return code;
    if (strlen(text) >= ES_TREE_DESIRED_BYTES) {
        free(text);
        return es_error_set(error, -EMSGSIZE, "the rules take more than %u bytes",
                            ES_TREE_DESIRED_BYTES - 1);
    }
    *ret_text = text;
    return 0;
}

/* --- Switching -------------------------------------------------------------------- */

/* A communicator of one rank has no trees. */
bool esi_tree_is_behind(const struct esi_tree_row *row, const char *pattern)
{
    return row->alive && row->size > 1 && row->version != row->wish &&
           fnmatch(pattern, row->communicator, 0) == 0;
}

static bool is_any_behind(const struct esi_tree_rows *rows, const char *pattern)
{
    for (size_t i = 0; i < rows->count; i++)
        if (esi_tree_is_behind(&rows->rows[i], pattern))
            return true;
    return false;
}

int esi_tree_wait(const struct esi_tree_hosts *hosts,
                  const char *pattern,
                  uint64_t wait_ns,
                  struct esi_tree_rows *rows)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t end_ns = esi_now_ns(CLOCK_MONOTONIC) + wait_ns;

    for (;;) {
        esi_tree_rows_fini(rows);
        int code = esi_tree_rows_ask(hosts, rows);
        if (code < 0 || rows->silent > 0 || !is_any_behind(rows, pattern) ||
            esi_now_ns(CLOCK_MONOTONIC) >= end_ns)
            return code;
        nanosleep(&pause, NULL);
    }
}
