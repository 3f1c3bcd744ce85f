/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_read_private.h - shared by otf2_read.c and otf2_read_rma.c. */
#ifndef ES_MONITORS_OTF2_OTF2_READ_PRIVATE_H
#define ES_MONITORS_OTF2_OTF2_READ_PRIVATE_H

#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "monitors/causality/causality.h"
#include "monitors/otf2/otf2_posts.h"
#include "monitors/otf2/otf2_tables.h"
#include "monitors/otf2/otf2_world.h"

/* The content of a record. */
struct esi_otf2_read_record {
    bool is_there;
    uint16_t code; /* of the operation, if the region has none */
    uint32_t communicator;
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
    uint32_t number;
};

/* The part of a call that a record describes. */
enum esi_otf2_read_part {
    ESI_OTF2_READ_SEND,
    ESI_OTF2_READ_RECEIVE,
    ESI_OTF2_READ_COLLECTIVE,
    ESI_OTF2_READ_PARTS
};

/* A region in progress. */
struct esi_otf2_read_region {
    const struct es_operation *operation; /* NULL = not MPI */
    uint64_t start_ns;
    struct esi_otf2_read_record records[ESI_OTF2_READ_PARTS];
    bool is_told;                     /* its records represent it */
    const struct esi_otf2_row *group; /* of the epoch that it begins; NULL = none */
    uint64_t window;                  /* of this epoch */
};

/* A posted operation that is not complete. */
struct esi_otf2_read_request {
    uint64_t id;
    size_t post;
    uint64_t start_ns;
    const struct es_operation *operation; /* of the region */
};

struct esi_otf2_read_location {
    struct esi_otf2_place place;
    struct esi_otf2_read_region *regions; /* innermost last; owned, like `requests` */
    size_t region_count, region_capacity;
    struct esi_otf2_read_request *requests;
    size_t request_count, request_capacity;
};

struct esi_otf2_reading {
    const char *path;
    struct es_error *error;
    int result; /* of the callbacks */
    struct esi_otf2_tables tables;
    struct esi_otf2_read_location *locations; /* by row; owned */
    struct esi_causality *causality;          /* NULL = first pass */
    struct esi_otf2_posts posts;
    size_t next_post;
    struct esi_otf2_counters sends; /* counts sends and epochs */
    uint64_t tuples;
    uint64_t records; /* of all kinds */
    uint64_t calls;   /* of callbacks: other records have kinds that are not imported */
    uint64_t skipped; /* number of these calls for records that are not imported */
};

/* Whether the reading continues. */
OTF2_CallbackCode esi_otf2_read_code(const struct esi_otf2_reading *reading);

/* Counts a record of MPI that adds nothing to the others of its call. */
OTF2_CallbackCode esi_otf2_read_note(struct esi_otf2_reading *reading,
                                     OTF2_LocationRef id);

/* The definition that an event refers to; NULL after an error. */
struct esi_otf2_row *esi_otf2_read_named(struct esi_otf2_reading *reading,
                                         const struct esi_otf2_table *table,
                                         const char *what,
                                         uint64_t id);
/* The location of an event on a communicator, and the communicator's row, which
 * identifies it in tuples.  NULL if it belongs to no rank, or after an error. */
struct esi_otf2_read_location *esi_otf2_read_place(struct esi_otf2_reading *reading,
                                                   OTF2_LocationRef id,
                                                   uint64_t communicator,
                                                   uint32_t *ret_row);
/* The call that a location is in; NULL if not in an MPI call. */
const struct es_operation *esi_otf2_read_call(
    const struct esi_otf2_read_location *location);

/* The number of bytes as in tuples. */
static inline uint32_t esi_otf2_read_bytes(uint64_t bytes)
{
    return bytes < ES_BYTES_MAX ? (uint32_t)bytes : ES_BYTES_MAX;
}

/* Numbers a blocking collective operation on a communicator or window.  Operations that
 * do not order events have no number. */
OTF2_CallbackCode esi_otf2_read_number(struct esi_otf2_reading *reading,
                                       const struct esi_otf2_read_location *location,
                                       struct esi_otf2_read_record *record,
                                       uint32_t kind,
                                       uint64_t id);
/* Stores the record of a blocking call, send or access: it is delivered when the region
 * is left, or at once if there is none. */
OTF2_CallbackCode esi_otf2_read_keep(struct esi_otf2_reading *reading,
                                     const struct esi_otf2_read_location *location,
                                     const struct esi_otf2_read_record *record,
                                     enum esi_otf2_read_part part,
                                     OTF2_TimeStamp time);

/* The innermost region of a location; NULL if none. */
struct esi_otf2_read_region *esi_otf2_read_innermost(
    const struct esi_otf2_read_location *location);
/* Delivers a record. */
OTF2_CallbackCode esi_otf2_read_add(struct esi_otf2_reading *reading,
                                    const struct esi_otf2_read_location *location,
                                    const struct esi_otf2_read_record *record,
                                    uint64_t start_ns,
                                    uint64_t stop_ns);
/* Delivers the group members of an epoch when the region that began it is left. */
OTF2_CallbackCode esi_otf2_read_members(struct esi_otf2_reading *reading,
                                        const struct esi_otf2_read_location *location,
                                        const struct esi_otf2_read_region *region,
                                        uint64_t stop_ns);

/* Registers the callbacks for records of windows. */
void esi_otf2_read_windows(OTF2_GlobalEvtReaderCallbacks *callbacks);
/* Registers those for records that add nothing. */
void esi_otf2_read_notes(OTF2_GlobalEvtReaderCallbacks *callbacks);

#endif
