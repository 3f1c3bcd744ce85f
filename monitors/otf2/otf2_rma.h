/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_rma.h - one-sided communication of one location: windows, accesses and locks.
 *
 * An access completes in a later call on its window, since MPI_Put returns earlier.
 * Likewise, MPI_Win_lock returns before the lock is held; a completed access to the
 * target proves that it was (MPI-4.0, section 12.5.3).
 *
 * The group of an epoch is that of the call that began it, and is recorded in separate
 * tuples.  The call that ends the epoch has the same group.
 */
#ifndef ES_MONITORS_OTF2_OTF2_RMA_H
#define ES_MONITORS_OTF2_OTF2_RMA_H

#include "monitors/otf2/otf2_definitions.h"
#include "monitors/otf2/otf2_sort.h"

struct esi_otf2_rma {
    struct esi_otf2_definitions *definitions; /* borrowed */
    struct esi_otf2_access {
        OTF2_RmaWinRef window;
        uint32_t peer;
        uint64_t number;
        bool has_request;
        bool is_local; /* complete at the origin only */
    } * accesses;      /* incomplete ones; owned, like `locks` */
    size_t access_count, access_capacity;
    struct esi_otf2_lock {
        OTF2_RmaWinRef window;
        uint32_t peer; /* OTF2_UNDEFINED_UINT32 = all */
        OTF2_LockType type;
        bool is_held;
    } * locks;
    size_t lock_count, lock_capacity;
    struct esi_otf2_epoch {
        OTF2_RmaWinRef window;
        bool exposes;    /* an exposure epoch; otherwise an access epoch */
        uint32_t number; /* epoch number on the window */
        OTF2_GroupRef group;
    } * epochs; /* open epochs; owned, like `members` */
    size_t epoch_count, epoch_capacity;
    int32_t *members; /* of the group of the epoch that is beginning */
    size_t member_count, member_capacity;
};

/* A zeroed struct with `definitions` set is a location without accesses. */
void esi_otf2_rma_fini(struct esi_otf2_rma *rma);
/* Starts a new location. */
void esi_otf2_rma_clear(struct esi_otf2_rma *rma);

/* Writes the records after the ENTER of a one-sided call; `number` counts requests. */
OTF2_ErrorCode esi_otf2_rma_enter(struct esi_otf2_rma *rma,
                                  const struct esi_otf2_record *record,
                                  OTF2_EvtWriter *writer,
                                  uint64_t ns,
                                  uint64_t *number);
/* Writes the records before the LEAVE of a completed call. */
OTF2_ErrorCode esi_otf2_rma_leave(struct esi_otf2_rma *rma,
                                  const struct esi_otf2_record *record,
                                  OTF2_EvtWriter *writer,
                                  uint64_t ns);
/* Adds a member to the group of the epoch that the last call has begun; may be called
 * before the call is left. */
OTF2_ErrorCode esi_otf2_rma_add_member(struct esi_otf2_rma *rma,
                                       const struct esi_otf2_record *record);
/* Writes the completion of a request of MPI_Rput or the like by a call that names its
 * target. */
OTF2_ErrorCode esi_otf2_rma_complete(struct esi_otf2_rma *rma,
                                     const struct esi_otf2_record *record,
                                     OTF2_EvtWriter *writer,
                                     uint64_t ns);

#endif
