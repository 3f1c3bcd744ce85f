/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_sort.h - the operations of a run, in the order in which OTF2 wants them: one
 * location after the other, and by time of start in each.
 *
 * A merge sort (Knuth, The Art of Computer Programming 3, 5.4.1).  What is beyond the
 * buffer is written in sorted runs to a file without a name; they are merged at the
 * end.
 */
#ifndef ES_MONITORS_OTF2_OTF2_SORT_H
#define ES_MONITORS_OTF2_OTF2_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What of an operation has a record of its own. */
enum esi_otf2_part {
    ESI_OTF2_CALL,    /* a call, from its start to its stop */
    ESI_OTF2_POST,    /* the call that began a nonblocking collective operation */
    ESI_OTF2_REQUEST, /* posted at the start, complete at the stop, in other calls; a
                         member of an epoch's group */
};

struct esi_otf2_record {
    uint64_t start; /* nanoseconds of the run */
    uint64_t stop;  /* of what is under way: that of the run's last event */
    uint32_t location;
    uint32_t order;        /* in which they were added */
    uint32_t communicator; /* UINT32_MAX = none */
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
    uint32_t sequence;
    uint32_t lost;      /* tuples missing ahead of it */
    uint16_t operation; /* code, without ES_OPERATION_ANY_SOURCE */
    uint8_t part;       /* enum esi_otf2_part */
    bool open;          /* under way */
    bool cancelled;
};

struct esi_otf2_sort;

/* 0 or -ENOMEM.  `buffer` = records in memory; 0 = 2^19. */
int esi_otf2_sort_create(size_t buffer, struct esi_otf2_sort **ret_sort);
/* Accepts NULL. */
void esi_otf2_sort_destroy(struct esi_otf2_sort *sort);

/* 0, -ENOMEM, or why the file cannot be written.  Sets the record's order. */
int esi_otf2_sort_add(struct esi_otf2_sort *sort, const struct esi_otf2_record *record);

/* All were added: begins to give them.  As the above. */
int esi_otf2_sort_finish(struct esi_otf2_sort *sort);
/* The next one.  1; 0: there is none; -errno: the file cannot be read. */
int esi_otf2_sort_next(struct esi_otf2_sort *sort, struct esi_otf2_record *ret_record);

#endif
