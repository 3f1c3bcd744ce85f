/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_source.h - what a sender passes to a receiver: the part of its log in this
 * epoch that the receiver does not know yet, newest first.  For the writer.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_SOURCE_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_layout.h"
#include "monitors/order/epoch/epoch_trace.h"

/* A range of entries of an open log or a block. */
struct esi_epoch_span {
    const struct esi_log *log; /* NULL if the range is in a block */
    const unsigned char *block;
    struct esi_block_place place;
    const unsigned char *root; /* of steps; otherwise NULL */
    struct esi_steps_layout layout;
    uint32_t head; /* of steps: the head of the send */
    uint64_t bit;  /* of steps: where those of the place `from` begin */
    uint32_t from, to;
};

/* Allocated by the caller; its fields are private. */
struct esi_epoch_source {
    const struct esi_epoch_trace *trace;
    const struct esi_cuts *cuts;
    uint32_t known; /* the receiver knows everything up to this own index */
    uint32_t upto;  /* own index of the send */
    enum { ESI_SOURCE_END, ESI_SOURCE_OPEN, ESI_SOURCE_SEALED } next;
    struct esi_run_place segment; /* of the next range, if it is sealed */
};

/* `known` is the index up to which the receiver knows the sender; it is less than
 * `upto`. */
void esi_source_init(struct esi_epoch_source *source,
                     const struct esi_cuts *cuts,
                     const struct esi_epoch_trace *trace,
                     uint32_t known,
                     uint32_t upto);

/* Returns the next range, which is older than the previous ones; false at the end. */
bool esi_source_next(struct esi_epoch_source *source, struct esi_epoch_span *ret_span);

/* Returns the number of entries of all ranges. */
uint64_t esi_source_entries(struct esi_epoch_source source);

/* Takes an entry of a span that is not empty; value 0 = none.  Entries of logs and
 * records are taken from the last one on, and those of steps in the order of their
 * places. */
static inline uint64_t esi_span_take(struct esi_epoch_span *span)
{
    uint32_t trace, value;

    if (span->log)
        return esi_log_entry(span->log, --span->to);
    if (span->root) {
        trace = esi_steps_trace(span->root, &span->layout, span->from);
        value = esi_steps_next(span->root, &span->layout, &span->place, span->head,
                               span->from++, &span->bit);
    } else {
        esi_block_entry(span->block, &span->place, --span->to, &trace, &value);
    }
    return (uint64_t)trace << 32 | value;
}

#endif
