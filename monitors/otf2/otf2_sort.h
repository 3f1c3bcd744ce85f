/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_sort.h - sorts the operations of a run for OTF2: by location, then by start
 * time.
 *
 * A merge sort (Knuth, The Art of Computer Programming 3, 5.4.1). When the buffer is
 * full, sorted runs are written to an unnamed file; they are merged at the end.
 */
#ifndef ES_MONITORS_OTF2_OTF2_SORT_H
#define ES_MONITORS_OTF2_OTF2_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of an operation that a record describes. */
enum esi_otf2_part {
    ESI_OTF2_CALL,       /* a call, from its start to its stop */
    ESI_OTF2_POST,       /* the call that started a nonblocking collective operation */
    ESI_OTF2_REQUEST,    /* posted at the start, complete at the stop, in other calls;
                         or a member of an epoch's group */
    ESI_OTF2_COMPLETION, /* the call before it completes the send of this event */
};

struct esi_otf2_record {
    uint64_t start; /* nanoseconds of run time */
    uint64_t stop;  /* for operations in progress: time of the run's last event */
    uint32_t location;
    uint32_t order;        /* of adding */
    uint32_t event;        /* in the trace, which is also the number of a request */
    uint32_t communicator; /* UINT32_MAX = none */
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
    uint32_t sequence;
    uint32_t lost;      /* number of tuples missing before it */
    uint16_t operation; /* code, without ES_OPERATION_ANY_SOURCE */
    uint8_t part;       /* enum esi_otf2_part */
    bool open;          /* in progress */
    bool cancelled;
};

struct esi_otf2_sort;

/* Returns 0 or -ENOMEM. `buffer` is the number of records in memory; 0 = 2^19. */
int esi_otf2_sort_create(size_t buffer, struct esi_otf2_sort **ret_sort);
/* Accepts NULL. */
void esi_otf2_sort_destroy(struct esi_otf2_sort *sort);

/* Adds a record and sets its order.  Returns 0, -ENOMEM, or the error of writing the
 * file. */
int esi_otf2_sort_add(struct esi_otf2_sort *sort, const struct esi_otf2_record *record);

/* Call after all were added, before esi_otf2_sort_next(). Returns like
 * esi_otf2_sort_add(). */
int esi_otf2_sort_finish(struct esi_otf2_sort *sort);
/* Returns 1 and the next record; 0 at the end; or -errno if the file cannot be read. */
int esi_otf2_sort_next(struct esi_otf2_sort *sort, struct esi_otf2_record *ret_record);

#endif
