/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Checks what events say of each other, while they come in the order of their file
 * (docs/event-sets.md, "What is checked").  Cycles are not looked for.
 *
 * Of each event its kind is kept, in 2 bits; of a reference whose other end did not
 * come yet who made it, and where.
 */
#ifndef ES_MONITORS_EVENTSET_SET_CHECK_H
#define ES_MONITORS_EVENTSET_SET_CHECK_H

#include "monitors/eventset/set_line.h"

struct esi_set_check;

/* 0 or -ENOMEM. */
int esi_set_check_create(struct esi_set_check **ret_check);
/* Accepts NULL. */
void esi_set_check_destroy(struct esi_set_check *check);

/* One more trace.  0 or -ENOMEM. */
int esi_set_check_trace(struct esi_set_check *check);

/* The next event of the file, a send with the partners that it lists.  0; -EINVAL with
 * words; -ENOMEM. */
int esi_set_check_event(struct esi_set_check *check,
                        const struct es_set_event *event,
                        const struct esi_set_place *place,
                        struct es_error *error);

/* Nothing more comes: 0, or -EINVAL with the first reference to what is not there. */
int esi_set_check_finish(const struct esi_set_check *check,
                         const char *source,
                         struct es_error *error);

#endif
