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

/* Borrows all three. */
int esi_recorder_tables_create(const struct es_scope *scope,
                               struct es_servers *servers,
                               struct esi_archive_tables *tables,
                               struct esi_recorder_tables **ret_recorder);
/* Accepts NULL. */
void esi_recorder_tables_destroy(struct esi_recorder_tables *recorder);

/* Takes in an element that the scope has come to know, in the order of their numbers.
 * 0 or -ENOMEM. */
int esi_recorder_tables_add_origin(struct esi_recorder_tables *recorder,
                                   uint32_t origin);

/* The archive's element of an origin, which was taken in; and what converts its ticks.
 */
uint32_t esi_recorder_tables_element(const struct esi_recorder_tables *recorder,
                                     uint32_t origin);
struct esi_recorder_clock *esi_recorder_tables_clock(
    const struct esi_recorder_tables *recorder,
    uint32_t origin);

/* An origin of a process, by the archive's number. */
uint32_t esi_recorder_tables_origin(const struct esi_recorder_tables *recorder,
                                    size_t process);

/* A tuple was seen that names a communicator of the origin's process. */
void esi_recorder_tables_note(struct esi_recorder_tables *recorder,
                              uint32_t origin,
                              uint16_t communicator);

/* A tuple of the origin was called there: its module is to stand in the tables.  1 if
 * some were added, else 0, or -ENOMEM. */
int esi_recorder_tables_note_site(struct esi_recorder_tables *recorder,
                                  uint32_t origin,
                                  uint64_t site);

/* Looks up communicators that were noted, and the members of their groups.  Returns how
 * many rows were added or -ENOMEM.  `last`: also what has changed of communicators and
 * processes that are there. */
int esi_recorder_tables_refresh(struct esi_recorder_tables *recorder, bool last);

#endif
