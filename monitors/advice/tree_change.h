/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Changes the collective trees of a run.  The rules in force are those of the newest
 * request, or the initial ones.  A change modifies them, and the complete rules are
 * sent to all processes (tree_hosts.h), which switch at their next agreement.
 */
#ifndef ES_MONITORS_ADVICE_TREE_CHANGE_H
#define ES_MONITORS_ADVICE_TREE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/advice/tree_hosts.h"
#include "tuplespace/plan/tree_rules.h"

/* Loads the requested rules, or with `first` the initial ones.  On success the caller
 * frees the plan with esi_tree_plan_fini(). */
int esi_tree_plan_load(const struct esi_tree_hosts *hosts,
                       bool first,
                       struct es_error *error,
                       struct esi_tree_plan *ret_plan);

/* Inserts a copy of a rule before the others and gives it a unique name; removes a rule
 * for the same operations.  Returns 0 or -ENOMEM. */
int esi_tree_rules_put(struct esi_tree_rules *rules, const struct esi_tree_rule *rule);

/* Formats the rules for esi_tree_change(). The caller frees *ret_text.  Returns 0,
 * -EMSGSIZE or -ENOMEM. */
int esi_tree_plan_text(const struct esi_tree_plan *plan,
                       struct es_error *error,
                       char **ret_text);

/* Whether the row's communicator matches the pattern and has not switched to the newest
 * request. */
bool esi_tree_is_behind(const struct esi_tree_row *row, const char *pattern);

/* Polls until all communicators that match the pattern have switched, or the time is
 * over.  The last answer replaces `rows`, which the caller frees.  Returns 0 or
 * -ENOMEM. */
int esi_tree_wait(const struct esi_tree_hosts *hosts,
                  const char *pattern,
                  uint64_t wait_ns,
                  struct esi_tree_rows *rows);

#endif
