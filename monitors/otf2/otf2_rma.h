/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_rma.h - one-sided communication on one location: windows, accesses and locks.
 *
 * An access is complete when a later call on its window completes it: MPI_Put returns
 * earlier.  Likewise MPI_Win_lock returns before the lock is held: what is complete at
 * the target proves that it was (MPI-4.0, section 12.5.3).
 *
 * The group of an epoch is that of the call that began it.  It comes in tuples of their
 * own, and the call that ends the epoch has the same.
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
        bool is_local; /* complete at the origin */
    } * accesses;      /* that are not complete; owned, as the next */
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
        bool exposes;    /* to others; else accesses them */
        uint32_t number; /* of those on the window */
        OTF2_GroupRef group;
    } * epochs; /* that were begun; owned, as the next */
    size_t epoch_count, epoch_capacity;
    int32_t *members; /* of the group of the one that is being begun */
    size_t member_count, member_capacity;
};

/* Zeros and `definitions` are a location without accesses. */
void esi_otf2_rma_fini(struct esi_otf2_rma *rma);
/* A new location. */
void esi_otf2_rma_clear(struct esi_otf2_rma *rma);

/* What stands behind the ENTER of a one-sided call; `number` counts requests. */
OTF2_ErrorCode esi_otf2_rma_enter(struct esi_otf2_rma *rma,
                                  const struct esi_otf2_record *record,
                                  OTF2_EvtWriter *writer,
                                  uint64_t ns,
                                  uint64_t *number);
/* What stands ahead of the LEAVE of one that has ended. */
OTF2_ErrorCode esi_otf2_rma_leave(struct esi_otf2_rma *rma,
                                  const struct esi_otf2_record *record,
                                  OTF2_EvtWriter *writer,
                                  uint64_t ns);
/* A member of the group of the epoch that the last call has begun; it may come when the
 * call has not been left yet. */
OTF2_ErrorCode esi_otf2_rma_add_member(struct esi_otf2_rma *rma,
                                       const struct esi_otf2_record *record);
/* A call has completed a request of MPI_Rput and the like, and names its target. */
OTF2_ErrorCode esi_otf2_rma_complete(struct esi_otf2_rma *rma,
                                     const struct esi_otf2_record *record,
                                     OTF2_EvtWriter *writer,
                                     uint64_t ns);

#endif
