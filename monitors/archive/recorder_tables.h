/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Fills the tables of an archive with what a scope knows of a run: its processes,
 * elements, communicators and hosts.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_RECORDER_TABLES_H
#define ES_MONITORS_ARCHIVE_RECORDER_TABLES_H

#include "eventspace/scope.h"
#include "monitors/archive/archive_tables.h"
#include "monitors/archive/recorder_clock.h"

struct esi_recorder_tables;

/* Borrows `scope`, `servers` and `tables`. */
int esi_recorder_tables_create(const struct es_scope *scope,
                               struct es_servers *servers,
                               struct esi_archive_tables *tables,
                               struct esi_recorder_tables **ret_recorder);
/* Accepts NULL. */
void esi_recorder_tables_destroy(struct esi_recorder_tables *recorder);

/* Adds an element that the scope has found; elements must be added in the order of
 * their numbers.  Returns 0 or -ENOMEM. */
int esi_recorder_tables_add_origin(struct esi_recorder_tables *recorder,
                                   uint32_t origin);

/* Return the archive's element of an added origin, and the clock that converts its
 * ticks. */
uint32_t esi_recorder_tables_element(const struct esi_recorder_tables *recorder,
                                     uint32_t origin);
struct esi_recorder_clock *esi_recorder_tables_clock(
    const struct esi_recorder_tables *recorder,
    uint32_t origin);

/* Returns an origin of a process, given by its number in the archive. */
uint32_t esi_recorder_tables_origin(const struct esi_recorder_tables *recorder,
                                    size_t process);

/* Records that a tuple of the origin names a communicator. */
void esi_recorder_tables_note(struct esi_recorder_tables *recorder,
                              uint32_t origin,
                              uint16_t communicator);

/* Records that a tuple of the origin was called at `site`, so that its module is added
 * to the tables.  Returns 1 if modules were added, otherwise 0, or -ENOMEM. */
int esi_recorder_tables_note_site(struct esi_recorder_tables *recorder,
                                  uint32_t origin,
                                  uint64_t site);

/* Looks up the communicators that were noted and the members of their groups.  Returns
 * the number of rows added, or -ENOMEM.  `last`: also updates existing communicators
 * and processes that have changed. */
int esi_recorder_tables_refresh(struct esi_recorder_tables *recorder, bool last);

/* Adds the process of an element of class ES_CLASSES_STARTED in another scope, after
 * the last refresh, unless it has elements or is no rank: it has not called MPI.
 * Returns 0 or -ENOMEM. */
int esi_recorder_tables_add_early(struct esi_recorder_tables *recorder,
                                  const struct es_scope *scope,
                                  uint32_t origin);

#endif
