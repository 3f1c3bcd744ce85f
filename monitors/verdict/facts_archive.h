/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * facts_archive.h - the facts of a recorded run at the end of its recording.  There is
 * only one observation of the ranks that were still alive: nothing about them is
 * certain.
 *
 *   esi_archived_facts_create(reader, &error, &archived);
 *   esi_archived_facts_add(archived, &item);  ...
 *   esi_archived_facts_finish(archived);
 */
#ifndef ES_MONITORS_VERDICT_FACTS_ARCHIVE_H
#define ES_MONITORS_VERDICT_FACTS_ARCHIVE_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "monitors/archive/archive_read.h"
#include "monitors/verdict/facts.h"

struct esi_archived_facts;

/* Reads the tables and ledgers of an archive; `reader` must outlive the facts.  Returns
 * 0, -ENOMEM, or another error, with `error` filled. */
int esi_archived_facts_create(const struct esi_archive_reader *reader,
                              struct es_error *error,
                              struct esi_archived_facts **ret_archived);
/* Accepts NULL. */
void esi_archived_facts_destroy(struct esi_archived_facts *archived);

/* Whether all processes ended successfully: there is no verdict, and the last
 * operations of ranks are not looked for. */
bool esi_archived_facts_ended_well(const struct esi_archived_facts *archived);

/* Adds an item; each element's items come in their order.  Returns 0 or -ENOMEM. */
int esi_archived_facts_add(struct esi_archived_facts *archived,
                           const struct esi_archive_item *item);
/* Call after the last item. */
void esi_archived_facts_finish(struct esi_archived_facts *archived);

/* Whether recording ended regularly: only then the last operations of ranks are
 * known. */
bool esi_archived_facts_are_whole(const struct esi_archived_facts *archived);

/* Borrowed. */
const struct esi_facts *esi_archived_facts_get(
    const struct esi_archived_facts *archived);

#endif
