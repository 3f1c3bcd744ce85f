/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_source.h - what a sender has to tell a receiver: the part of its log in this
 * epoch that the receiver does not know yet, the newest first.  For the writer.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_SOURCE_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_layout.h"
#include "monitors/order/epoch/epoch_trace.h"

/* A run of entries, of an open log or of a block. */
struct esi_epoch_span {
    const struct esi_log *log; /* NULL: of the block */
    const unsigned char *block;
    struct esi_block_place place;
    const unsigned char *root; /* of steps; else NULL */
    struct esi_steps_layout layout;
    uint32_t head; /* of steps: the send's */
    uint32_t from, to;
};

/* Caller's memory; its fields are private. */
struct esi_epoch_source {
    const struct esi_epoch_trace *trace;
    const struct esi_cuts *cuts;
    uint32_t known; /* own index up to which the receiver knows everything */
    uint32_t upto;  /* of the send */
    enum { ESI_SOURCE_END, ESI_SOURCE_OPEN, ESI_SOURCE_SEALED } next;
    struct esi_run_place segment; /* the next one, if it is sealed */
};

/* `known` is what the receiver knows of the sender, less than `upto`. */
void esi_source_init(struct esi_epoch_source *source,
                     const struct esi_cuts *cuts,
                     const struct esi_epoch_trace *trace,
                     uint32_t known,
                     uint32_t upto);

/* The next run, older than those before; false = no more. */
bool esi_source_next(struct esi_epoch_source *source, struct esi_epoch_span *ret_span);

/* Entries of all runs. */
uint64_t esi_source_entries(struct esi_epoch_source source);

/* Entry of a span, with `from` <= at < `to`; its value 0 = none. */
static inline uint64_t esi_span_entry(const struct esi_epoch_span *span, uint32_t at)
{
    uint32_t trace, value;

    if (span->log)
        return esi_log_entry(span->log, at);
    if (span->root) {
        trace = esi_steps_trace(span->root, &span->layout, at);
        value =
            esi_steps_value(span->root, &span->layout, &span->place, span->head, at);
    } else {
        esi_block_entry(span->block, &span->place, at, &trace, &value);
    }
    return (uint64_t)trace << 32 | value;
}

#endif
