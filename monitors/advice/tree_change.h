/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Changing the collective trees of a run: the rules that hold are those of the newest
 * wish, or those that the run began with; a change is made to them, and the whole is
 * handed to all processes (tree_hosts.h), which follow at their next agreement.
 */
#ifndef ES_MONITORS_ADVICE_TREE_CHANGE_H
#define ES_MONITORS_ADVICE_TREE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/advice/tree_hosts.h"
#include "tuplespace/plan/tree_rules.h"

/* The rules that are wished for, with `first` those that the run began with.  On
 * success the caller ends the plan with esi_tree_plan_fini(). */
int esi_tree_plan_load(const struct esi_tree_hosts *hosts,
                       bool first,
                       struct es_error *error,
                       struct esi_tree_plan *ret_plan);

/* Copies a rule in front of the others; one for the same operations goes.  It gets a
 * name of its own.  -ENOMEM. */
int esi_tree_rules_put(struct esi_tree_rules *rules, const struct esi_tree_rule *rule);

/* What can be handed to esi_tree_change().  Caller frees *ret_text.  -EMSGSIZE,
 * -ENOMEM.
 */
int esi_tree_plan_text(const struct esi_tree_plan *plan,
                       struct es_error *error,
                       char **ret_text);

/* Whether a communicator whose name fits has not followed the newest wish. */
bool esi_tree_is_behind(const struct esi_tree_row *row, const char *pattern);

/* Asks until all communicators whose names fit have followed or the time is up; the
 * last answer takes the place of `rows`, which the caller ends.  -ENOMEM. */
int esi_tree_wait(const struct esi_tree_hosts *hosts,
                  const char *pattern,
                  uint64_t wait_ns,
                  struct esi_tree_rows *rows);

#endif
