/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * How the ranks of a communicator come to follow the same rules from the same operation
 * on, without a message for each operation.
 *
 * Operations on a communicator are counted alike at all ranks.  At the first, and from
 * then on at the first *blocking* one whose number is not below what the last agreement
 * named, all ranks take part in a small broadcast from rank 0 over the shadow
 * communicator.  It says which version of the rules holds from this operation on, under
 * which name the communicator is known (names are local in MPI), and the number for the
 * next time; the text of new rules follows.  Rank 0 chooses that number so that
 * agreements come about twice a second, as the program goes.
 *
 * Nonblocking operations need no agreement: those that begin between two agreements
 * follow the rules of the first.
 */
#ifndef ES_WRAPPERS_TREES_RULE_SYNC_H
#define ES_WRAPPERS_TREES_RULE_SYNC_H

#include <stdbool.h>
#include <stdint.h>

struct esi_call;
struct esi_comm_trees;

/* What rank 0 tells the others. */
struct esi_rule_sync {
    uint32_t version; /* of the rules: of the wish that they came with; 0 = those that
                         the run began with */
    uint32_t next;    /* number of the operation at which the next agreement takes place
                       */
    uint32_t text_bytes; /* of new rules that follow, with the end mark; 0 = none */
    char name[64];       /* of the communicator */
};

/* Where rank 0 stands in time. */
struct esi_rule_sync_pace {
    bool began;      /* there was an agreement before */
    uint32_t number; /* of the operation at it */
    uint64_t time_ns;
};

enum {
    ESI_RULE_SYNC_FIRST_GAP = 8,
    /* A program that slows down must not be out of reach for long; and one broadcast in
     * a thousand operations is not felt. */
    ESI_RULE_SYNC_MAX_GAP = 1024,
};

/* How many operations there are to the next agreement, when `operations` have taken
 * `elapsed_ns` since the last: as many as half a second has, at least one. */
uint32_t esi_rule_sync_gap(uint32_t operations, uint64_t elapsed_ns);

/* Notes an agreement at operation `number` and returns the next one's. */
uint32_t esi_rule_sync_next(struct esi_rule_sync_pace *pace,
                            uint32_t number,
                            uint64_t now_ns);

/* Whether the operation must agree first.  Numbers wrap around. */
static inline bool esi_rule_sync_is_due(const struct esi_rule_sync *agreed,
                                        uint32_t number)
{
    return (int32_t)(number - agreed->next) >= 0;
}

/* Takes part in an agreement, at operation `number`.  Returns MPI's code. */
int esi_rule_sync_run(struct esi_comm_trees *site,
                      const struct esi_call *call,
                      uint32_t number);

#endif
