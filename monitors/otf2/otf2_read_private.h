/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_read_private.h - what otf2_read.c and otf2_read_rma.c share. */
#ifndef ES_MONITORS_OTF2_OTF2_READ_PRIVATE_H
#define ES_MONITORS_OTF2_OTF2_READ_PRIVATE_H

#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "monitors/causality/causality.h"
#include "monitors/otf2/otf2_posts.h"
#include "monitors/otf2/otf2_tables.h"
#include "monitors/otf2/otf2_world.h"

/* What a record says. */
struct esi_otf2_read_record {
    bool is_there;
    uint16_t code; /* of the operation, where the region says none */
    uint32_t communicator;
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
    uint32_t number;
};

/* What of a call a record is. */
enum esi_otf2_read_part {
    ESI_OTF2_READ_SEND,
    ESI_OTF2_READ_RECEIVE,
    ESI_OTF2_READ_COLLECTIVE,
    ESI_OTF2_READ_PARTS
};

/* A region that a location is in. */
struct esi_otf2_read_region {
    const struct es_operation *operation; /* NULL = none of MPI */
    uint64_t start_ns;
    struct esi_otf2_read_record records[ESI_OTF2_READ_PARTS];
    bool is_told;                     /* its records speak for it */
    const struct esi_otf2_row *group; /* of the epoch that it begins; NULL = none */
    uint64_t window;                  /* of that */
};

/* What was posted and is not complete. */
struct esi_otf2_read_request {
    uint64_t id;
    size_t post;
    uint64_t start_ns;
    const struct es_operation *operation; /* of the region */
};

struct esi_otf2_read_location {
    struct esi_otf2_place place;
    struct esi_otf2_read_region
        *regions; /* the innermost is last; owned, as the next */
    size_t region_count, region_capacity;
    struct esi_otf2_read_request *requests;
    size_t request_count, request_capacity;
};

struct esi_otf2_reading {
    const char *path;
    struct es_error *error;
    int result; /* of what a callback did */
    struct esi_otf2_tables tables;
    struct esi_otf2_read_location *locations; /* by row; owned */
    struct esi_causality *causality;          /* NULL = the first time */
    struct esi_otf2_posts posts;
    size_t next_post;
    struct esi_otf2_counters sends; /* and epochs */
    uint64_t tuples;
};

/* Whether the reading goes on. */
OTF2_CallbackCode esi_otf2_read_code(const struct esi_otf2_reading *reading);

/* What an event names; NULL after an error. */
struct esi_otf2_row *esi_otf2_read_named(struct esi_otf2_reading *reading,
                                         const struct esi_otf2_table *table,
                                         const char *what,
                                         uint64_t id);
/* Where an event on a communicator is, and the communicator's row, by which tuples name
 * it.  NULL: of nobody, or after an error. */
struct esi_otf2_read_location *esi_otf2_read_place(struct esi_otf2_reading *reading,
                                                   OTF2_LocationRef id,
                                                   uint64_t communicator,
                                                   uint32_t *ret_row);
/* The call that a location is in; NULL: in none of MPI. */
const struct es_operation *esi_otf2_read_call(
    const struct esi_otf2_read_location *location);

/* Bytes as tuples have them. */
static inline uint32_t esi_otf2_read_bytes(uint64_t bytes)
{
    return bytes < ES_BYTES_MAX ? (uint32_t)bytes : ES_BYTES_MAX;
}

/* The number of a collective operation that blocks, on a communicator or a window.
 * Those that order nothing have none. */
OTF2_CallbackCode esi_otf2_read_number(struct esi_otf2_reading *reading,
                                       const struct esi_otf2_read_location *location,
                                       struct esi_otf2_read_record *record,
                                       uint32_t kind,
                                       uint64_t id);
/* A record of a call that blocks, or of a send or access: it is told when the region is
 * left, or here if there is none. */
OTF2_CallbackCode esi_otf2_read_keep(struct esi_otf2_reading *reading,
                                     const struct esi_otf2_read_location *location,
                                     const struct esi_otf2_read_record *record,
                                     enum esi_otf2_read_part part,
                                     OTF2_TimeStamp time);

/* The innermost region that a location is in; NULL: none. */
struct esi_otf2_read_region *esi_otf2_read_innermost(
    const struct esi_otf2_read_location *location);
/* Tells of a record. */
OTF2_CallbackCode esi_otf2_read_add(struct esi_otf2_reading *reading,
                                    const struct esi_otf2_read_location *location,
                                    const struct esi_otf2_read_record *record,
                                    uint64_t start_ns,
                                    uint64_t stop_ns);
/* A region that has begun an epoch is left: tells of the members of its group. */
OTF2_CallbackCode esi_otf2_read_members(struct esi_otf2_reading *reading,
                                        const struct esi_otf2_read_location *location,
                                        const struct esi_otf2_read_region *region,
                                        uint64_t stop_ns);

/* Has records of windows read. */
void esi_otf2_read_windows(OTF2_GlobalEvtReaderCallbacks *callbacks);

#endif
