/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The table of operations: codes, names and classes of the operations that tuples
 * record.
 *
 * Generated from wrappers/mpi/operations.tab.  Released codes never change, because
 * archives contain them.
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
    ES_CLASS_MONITOR,    /* actions of consumers, not MPI operations */
    ES_CLASS_CONTRIBUTE, /* instrumented collective trees: a rank contributes, */
    ES_CLASS_ARRIVAL,    /* data arrives at a node over one of its edges, */
    ES_CLASS_DEPARTURE,  /* data leaves the node (paper, figure 2b) */
    ES_CLASS_COUNT,
};

/* The classes of MPI operations, as bits 1 << class. */
#define ES_CLASSES_ALL ((1u << ES_CLASS_MONITOR) - 2u)
/* The classes recorded inside instrumented collective trees.  Views that name no class
 * exclude these and ES_CLASS_MONITOR. */
#define ES_CLASSES_TREE                                                                \
    (1u << ES_CLASS_CONTRIBUTE | 1u << ES_CLASS_ARRIVAL | 1u << ES_CLASS_DEPARTURE)

/* How a collective orders its ranks, when MPI tuples become an event set. */
enum es_order_kind {
    ES_ORDER_NONE = 0,
    ES_ORDER_ALL_TO_ALL,
    ES_ORDER_ROOT_TO_ALL,
    ES_ORDER_ALL_TO_ROOT,
    ES_ORDER_PREFIX,
    ES_ORDER_EXCLUSIVE_PREFIX,
    ES_ORDER_NEIGHBOURS,
};

/* Which data counts the ranks of a collective know. */
enum es_counts_kind {
    ES_COUNTS_ALIKE = 0,
    ES_COUNTS_VECTOR, /* one count per rank, and all ranks know all counts */
    ES_COUNTS_OWN,    /* one count per rank, and each rank knows only its own */
};

/* What a one-sided operation does with its window.  Readers rely on the order: up to
 * ES_RMA_SWAP are accesses, ES_RMA_POST to ES_RMA_TEST are of the epoch of a group, and
 * those from ES_RMA_LOCK on wait for a lock, or for accesses that need it. */
enum es_rma_kind {
    ES_RMA_NONE = 0,
    ES_RMA_PUT,
    ES_RMA_GET,
    ES_RMA_ACCUMULATE,
    ES_RMA_FETCH, /* and accumulate */
    ES_RMA_SWAP,  /* compare and swap */
    ES_RMA_FREE,
    ES_RMA_FENCE,
    ES_RMA_POST,
    ES_RMA_START,
    ES_RMA_COMPLETE,
    ES_RMA_WAIT,
    ES_RMA_TEST,
    ES_RMA_LOCK,
    ES_RMA_UNLOCK,
    ES_RMA_FLUSH,
    ES_RMA_FLUSH_LOCAL,
};

struct es_operation {
    uint16_t code;
    uint8_t op_class;   /* enum es_class */
    uint8_t order;      /* enum es_order_kind; collectives only */
    uint8_t counts;     /* enum es_counts_kind; collectives only */
    uint8_t rma;        /* enum es_rma_kind; one-sided operations only */
    const char *name;   /* "MPI_Send"; pseudo-operations "MPI_Sendrecv receive" */
    bool nonblocking;   /* the tuple is written when the request completes */
    bool synchronizing; /* a barrier or a synchronous send */
    bool persistent;    /* only creates a request, which another call starts */
    bool posts;         /* the tuple is written at once, but another call completes
                           the operation */
    bool buffered;      /* a send that never waits for its receiver */
    bool ready;         /* a send whose receive was posted before */
    bool combined;      /* one half of a combined send and receive */
    bool probe;         /* checks for a message that another call receives: of class
                           completion, but its tuple has the fields of a receive */
    bool waits;         /* blocks until requests are complete */
    bool any;           /* completes as soon as one of several requests does */
    bool poll;          /* tests requests or probes for a message without blocking */
    bool completes;     /* completes requests */
    bool starts;        /* starts persistent requests */
};

/* Finds an operation by code; NULL if there is none.  The code may include
 * ES_OPERATION_FAILED, and that of a receive or probe ES_OPERATION_ANY_SOURCE
 * (tuple.h).  O(1). */
ES_API const struct es_operation *es_operation_find(uint16_t code);
/* Finds an operation by name; NULL if unknown.  O(log n) for the exact name.  Also
 * accepts "send" or "mpi_send", in O(n). */
ES_API const struct es_operation *es_operation_by_name(const char *name);
/* Name of an operation, or "?" for an unknown code.  Static. */
ES_API const char *es_operation_name(uint16_t code);
/* Name of a class: "send", "receive", "completion", "collective", "communicator",
 * "one-sided", "io", "other", "monitor", "contribute", "arrival" or "departure".
 * Static. */
ES_API const char *es_class_name(enum es_class op_class);
/* Finds a class by name; ES_CLASS_NONE if unknown. */
ES_API enum es_class es_class_by_name(const char *name);

/* Name of a class of MPI's errors by its number in tuples, which is the same for all
 * MPIs: "MPI_ERR_RANK"; "unknown class" for others, such as a class that a program has
 * added.  Static. */
ES_API const char *es_error_name(uint32_t number);

/* A routine in the table, collected or not (for `eventspace doctor`). */
struct es_routine {
    const char *name;   /* "MPI_Comm_rank" */
    uint16_t operation; /* its code; 0 if not collected */
    const char
        *why; /* why it is not collected, e.g. "local: moves no data"; NULL if it is */
};
/* Finds a routine by name; NULL if the table does not contain it, such as a routine of
 * a newer MPI. */
ES_API const struct es_routine *es_routine_find(const char *name);

#endif
