/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_tables.h - the definitions of an archive being read, by their numbers. */
#ifndef ES_MONITORS_OTF2_OTF2_TABLES_H
#define ES_MONITORS_OTF2_OTF2_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include <otf2/otf2.h>

#include "base/hash.h"
#include "eventspace/error.h"
#include "eventspace/operation.h"

struct esi_otf2_row {
    uint64_t id;       /* of the definition */
    uint64_t refers;   /* node of a location group, group of a location or
                          communicator, or communicator of a window */
    uint64_t other;    /* second group of an intercommunicator, otherwise UINT64_MAX;
                          for a location its number of events */
    char *text;        /* a string or node name; owned, like `members` */
    uint64_t *members; /* of a group */
    uint32_t count;    /* number of members; for a window its number on its
                          communicator */
    uint32_t kind;     /* OTF2_GroupType of a group */
    const struct es_operation *operation; /* of a region; NULL = not MPI */
};

/* Definitions of one kind. */
struct esi_otf2_table {
    struct esi_otf2_row *rows; /* owned */
    size_t count, capacity;
    struct esi_hash hash;
};

struct esi_otf2_tables {
    struct esi_otf2_table texts;
    struct esi_otf2_table nodes;
    struct esi_otf2_table processes; /* location groups */
    struct esi_otf2_table locations;
    struct esi_otf2_table regions;
    struct esi_otf2_table groups;
    struct esi_otf2_table communicators;
    struct esi_otf2_table windows;
    uint64_t ranks; /* id of the group of all ranks' locations; UINT64_MAX = none */
    uint64_t event_count; /* of all locations */
    uint64_t resolution;  /* ticks per second */
    uint64_t offset;      /* the tick at `real_ns` */
    uint64_t real_ns;
};

/* The row of a definition; NULL if there is none. */
struct esi_otf2_row *esi_otf2_row(const struct esi_otf2_table *table, uint64_t id);

/* Reads the definitions.  Returns 0, -ENOMEM, or -EINVAL with `error` filled. */
int esi_otf2_tables_read(struct esi_otf2_tables *tables,
                         OTF2_Reader *reader,
                         const char *path,
                         struct es_error *error);
/* Accepts a zeroed struct. */
void esi_otf2_tables_fini(struct esi_otf2_tables *tables);

/* Converts a time to nanoseconds. */
uint64_t esi_otf2_time_ns(const struct esi_otf2_tables *tables, OTF2_TimeStamp time);

#endif
