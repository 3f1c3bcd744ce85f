/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Checks that events agree with each other, as they arrive in the order of their file
 * (docs/event-sets.md, "What is checked"). Does not search for cycles.
 *
 * Memory: the kind of each event, in 2 bits; and for each reference to an event that
 * has not arrived, its origin and location.
 */
#ifndef ES_MONITORS_EVENTSET_SET_CHECK_H
#define ES_MONITORS_EVENTSET_SET_CHECK_H

#include "monitors/eventset/set_line.h"

struct esi_set_check;

/* Returns 0 or -ENOMEM. */
int esi_set_check_create(struct esi_set_check **ret_check);
/* Accepts NULL. */
void esi_set_check_destroy(struct esi_set_check *check);

/* Adds a trace.  Returns 0 or -ENOMEM. */
int esi_set_check_trace(struct esi_set_check *check);

/* Checks the next event of the file; a send has the partners that it lists.  Returns 0;
 * -EINVAL with `error` filled; or -ENOMEM. */
int esi_set_check_event(struct esi_set_check *check,
                        const struct es_set_event *event,
                        const struct esi_set_place *place,
                        struct es_error *error);

/* Call at the end of the file.  Returns 0, or -EINVAL with the first reference to an
 * event that does not exist. */
int esi_set_check_finish(const struct esi_set_check *check,
                         const char *source,
                         struct es_error *error);

#endif
