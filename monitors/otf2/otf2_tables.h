/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_tables.h - the definitions of an archive that is read, by their numbers. */
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
    uint64_t refers;   /* a group's node, a location's group, a communicator's group, a
                          window's communicator */
    uint64_t other;    /* an intercommunicator's second group; else UINT64_MAX; of a
                       location its number of events */
    char *text;        /* a string, a node's name; owned, as the next */
    uint64_t *members; /* of a group */
    uint32_t count;    /* of them; a window's number on its communicator */
    uint32_t kind;     /* OTF2_GroupType of a group */
    const struct es_operation *operation; /* of a region; NULL = none of MPI */
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
    uint64_t offset;      /* the tick of `real_ns` */
    uint64_t real_ns;
};

/* The row of a definition; NULL: there is none. */
struct esi_otf2_row *esi_otf2_row(const struct esi_otf2_table *table, uint64_t id);

/* Reads the definitions.  0; -ENOMEM; -EINVAL with words. */
int esi_otf2_tables_read(struct esi_otf2_tables *tables,
                         OTF2_Reader *reader,
                         const char *path,
                         struct es_error *error);
/* Zeros are allowed. */
void esi_otf2_tables_fini(struct esi_otf2_tables *tables);

/* A time as nanoseconds. */
uint64_t esi_otf2_time_ns(const struct esi_otf2_tables *tables, OTF2_TimeStamp time);

#endif
