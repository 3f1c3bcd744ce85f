/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * facts_archive.h - the facts of a recorded run at the end of its recording.  There is
 * only one observation of the ranks that were still alive: nothing about them is
 * certain.
 */
#ifndef ES_MONITORS_VERDICT_FACTS_ARCHIVE_H
#define ES_MONITORS_VERDICT_FACTS_ARCHIVE_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "monitors/verdict/facts.h"

struct esi_archived_facts;

/* Returns 1; 0 if all processes ended successfully (then nothing is created); -ENOMEM;
 * or another error, with `error` filled. */
int esi_archived_facts_read(const char *directory,
                            struct es_error *error,
                            struct esi_archived_facts **ret_archived);
/* Accepts NULL. */
void esi_archived_facts_destroy(struct esi_archived_facts *archived);

/* Whether recording ended regularly: only then the last operations of ranks are
 * known. */
bool esi_archived_facts_are_whole(const struct esi_archived_facts *archived);

/* Borrowed. */
const struct esi_facts *esi_archived_facts_get(
    const struct esi_archived_facts *archived);

#endif
