/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_source.c - iterates over what a sender knew. */
#include "config.h"

#include "monitors/order/epoch/epoch_source.h"

void esi_source_init(struct esi_epoch_source *source,
                     const struct esi_cuts *cuts,
                     const struct esi_epoch_trace *trace,
                     uint32_t known,
                     uint32_t upto)
{
    *source = (struct esi_epoch_source){.trace = trace,
                                        .cuts = cuts,
                                        .known = known,
                                        .upto = upto,
                                        .next = ESI_SOURCE_OPEN};
    if (upto > esi_trace_sealed(trace))
        return;
    source->next = ESI_SOURCE_SEALED;
    source->segment = esi_trace_segment(trace, upto);
}

static void open_span(struct esi_epoch_source *source, struct esi_epoch_span *span)
{
    const struct esi_epoch_trace *trace = source->trace;
    uint32_t sealed = esi_trace_sealed(trace);

    *span = (struct esi_epoch_span){.log = &trace->log,
                                    .to = esi_log_end_at(&trace->log, source->upto)};
    source->next = ESI_SOURCE_END;
    if (source->known > sealed) {
        span->from = esi_log_end_at(&trace->log, source->known);
    } else if (source->known < sealed &&
               atomic_load_explicit(&trace->continues, memory_order_relaxed)) {
        source->next = ESI_SOURCE_SEALED;
        source->segment = esi_trace_segment(trace, sealed);
    }
}

static void sealed_span(struct esi_epoch_source *source, struct esi_epoch_span *span)
{
    const struct esi_segment *segment = esi_run_segment(&source->segment);

    *span = (struct esi_epoch_span){
        .block = segment->block,
        .place = {source->cuts, segment->cut, segment->first},
    };
    if (segment->block)
        span->to = esi_block_end_at(segment->block, &span->place, source->upto);
    if (segment->block && esi_steps_is(segment->block)) {
        span->root = esi_steps_root(segment->block);
        span->layout = esi_steps_layout_of(span->root);
        span->head = esi_steps_head(segment->block, &span->place, source->upto);
    } else if (segment->block && source->known >= segment->first) {
        span->from = esi_block_end_at(segment->block, &span->place, source->known);
    }
    /* Forgotten events count as known.  At its end, a block of steps contains
     * everything that earlier parts contain. */
    if ((span->root && esi_steps_is_end(segment->block, span->head)) ||
        !esi_run_back(&source->segment, source->known))
        source->next = ESI_SOURCE_END;
}

bool esi_source_next(struct esi_epoch_source *source, struct esi_epoch_span *ret_span)
{
    if (source->next == ESI_SOURCE_END)
        return false;
    if (source->next == ESI_SOURCE_OPEN)
        open_span(source, ret_span);
    else
        sealed_span(source, ret_span);
    return true;
}

uint64_t esi_source_entries(struct esi_epoch_source source)
{
    struct esi_epoch_span span;
    uint64_t entries = 0;

    while (esi_source_next(&source, &span))
        entries += span.to - span.from;
    return entries;
}
