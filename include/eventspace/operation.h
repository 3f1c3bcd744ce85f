/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The vocabulary of operations: codes, names and classes of what tuples record.
 *
 * Generated from wrappers/mpi/operations.tab; codes never change once released, since
 * archives hold them.
 */
#ifndef EVENTSPACE_OPERATION_H
#define EVENTSPACE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/api.h"

enum es_class {
    ES_CLASS_NONE = 0, /* not collected (local calls) */
    ES_CLASS_SEND,
    ES_CLASS_RECEIVE,
    ES_CLASS_COMPLETION,
    ES_CLASS_COLLECTIVE,
    ES_CLASS_COMMUNICATOR,
    ES_CLASS_ONE_SIDED,
    ES_CLASS_IO,
    ES_CLASS_OTHER,
    ES_CLASS_MONITOR,    /* what consumers do themselves: no operation of MPI */
    ES_CLASS_CONTRIBUTE, /* instrumented collective trees: what a rank brings in, */
    ES_CLASS_ARRIVAL,    /* what reaches a node over one of its edges, */
    ES_CLASS_DEPARTURE,  /* and what leaves it (paper, figure 2b) */
    ES_CLASS_COUNT,
};

/* The classes of MPI's operations, as bits 1 << class. */
#define ES_CLASSES_ALL ((1u << ES_CLASS_MONITOR) - 2u)
/* What is recorded inside instrumented collective trees.  Views that name no class
 * leave these and the monitors' out. */
#define ES_CLASSES_TREE                                                                \
    (1u << ES_CLASS_CONTRIBUTE | 1u << ES_CLASS_ARRIVAL | 1u << ES_CLASS_DEPARTURE)

/* How a collective orders its ranks (semantics: event sets that come from MPI). */
enum es_order_kind {
    ES_ORDER_NONE = 0,
    ES_ORDER_ALL_TO_ALL,
    ES_ORDER_ROOT_TO_ALL,
    ES_ORDER_ALL_TO_ROOT,
    ES_ORDER_PREFIX,
    ES_ORDER_EXCLUSIVE_PREFIX,
    ES_ORDER_NEIGHBOURS,
};

/* Of how much data the ranks of a collective tell. */
enum es_counts_kind {
    ES_COUNTS_ALIKE = 0,
    ES_COUNTS_VECTOR, /* there is a count for each rank, and all know all of them */
    ES_COUNTS_OWN,    /* likewise, but a rank knows none but its own */
};

struct es_operation {
    uint16_t code;
    uint8_t op_class;   /* enum es_class */
    uint8_t order;      /* enum es_order_kind; collectives only */
    uint8_t counts;     /* enum es_counts_kind; collectives only */
    const char *name;   /* "MPI_Send"; pseudo-operations "MPI_Sendrecv receive" */
    bool nonblocking;   /* its tuple is written when the request completes */
    bool synchronizing; /* a barrier; or a synchronous send */
    bool persistent;    /* only makes a request, which is started later */
    bool combined;      /* a half of a send and receive in one call */
    bool probe;         /* asks for a message that another call receives: of the
                           completion class, but described as a receive is */
    bool waits;         /* until requests are complete */
    bool any;           /* of several requests one suffices */
    bool poll;          /* asks for requests or a message, and does not wait */
};

/* By code; NULL when there is no such code.  Of receives and probes also with the bit
 * ES_OPERATION_ANY_SOURCE (tuple.h).  O(1). */
ES_API const struct es_operation *es_operation_find(uint16_t code);
/* By name, NULL when unknown.  O(log n) for the name as it is in the table; people may
 * also write "send" or "mpi_send", which is O(n). */
ES_API const struct es_operation *es_operation_by_name(const char *name);
/* The name, or "operation N" is not made up: "?" for an unknown code. */
ES_API const char *es_operation_name(uint16_t code);
/* "send", "receive", "completion", "collective", "communicator", "one-sided", "io",
 * "other", "monitor", "contribute", "arrival", "departure". */
ES_API const char *es_class_name(enum es_class op_class);
/* ES_CLASS_NONE when unknown. */
ES_API enum es_class es_class_by_name(const char *name);

/* Every routine name that the table knows, collected or not (for `eventspace doctor`).
 */
struct es_routine {
    const char *name;   /* "MPI_Comm_rank" */
    uint16_t operation; /* its code, or 0: not collected */
    const char
        *why; /* not collected: the reason, e.g. "local: moves no data"; else NULL */
};
/* NULL when the table does not know the name (a newer MPI's routine). */
ES_API const struct es_routine *es_routine_find(const char *name);

#endif
