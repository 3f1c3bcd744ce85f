/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * facts_archive.h - the facts of a run that was recorded, as of the recording's end.
 *
 * Of a rank that lived on then there is only one look: nothing of it is certain.
 */
#ifndef ES_MONITORS_VERDICT_FACTS_ARCHIVE_H
#define ES_MONITORS_VERDICT_FACTS_ARCHIVE_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "monitors/verdict/facts.h"

struct esi_archived_facts;

/* 1; 0: all of the run ended well, and nothing is made; -ENOMEM; others with words. */
int esi_archived_facts_read(const char *directory,
                            struct es_error *error,
                            struct esi_archived_facts **ret_archived);
/* Accepts NULL. */
void esi_archived_facts_destroy(struct esi_archived_facts *archived);

/* Whether the recording was ended, and not killed: only then it is known what the ranks
 * were in. */
bool esi_archived_facts_are_whole(const struct esi_archived_facts *archived);

/* Borrowed. */
const struct esi_facts *esi_archived_facts_get(
    const struct esi_archived_facts *archived);

#endif
