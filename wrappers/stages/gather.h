/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * gather.h - how a stage pulls several children into one batch.
 *
 * Children that have to be announced (usually `remote` stages) are asked all at once
 * before the first is waited for.  Each must know its share of the limit beforehand:
 * all get the same share, and the first also the remainder.  The other children follow
 * in turn, each with what is left.
 *
 * If the limit is reached before the last child, the next pull begins with the child
 * that got less than it could have used, so that none starves.
 */
#ifndef ES_WRAPPERS_STAGES_GATHER_H
#define ES_WRAPPERS_STAGES_GATHER_H

#include "eventspace/stage.h"

/* Part of the state of a stage.  Zero: concurrent, starting with the first child. */
struct esi_fan {
    bool sequential; /* one child after the other, without announcements */
    size_t next;     /* the child with which the next pull begins */
    uint64_t asked;  /* serial of the announced pull; 0 if none */
};

/* The property `mode` of stages that have a fan; its value is esi_fan.sequential. */
extern const char *const esi_fan_modes[];
#define ESI_FAN_MODE                                                                   \
    {                                                                                  \
        .name = "mode", .type = ES_PROPERTY_CHOICE, .fallback = "concurrent",          \
        .choices = esi_fan_modes,                                                      \
        .help = "ask all children before waiting, or one after the other"              \
    }

/* The share of `max` of a child, `turn` counted from the child with which the pull
 * begins.  The shares of all children add up to `max`. */
size_t esi_fan_share(size_t max, size_t child_count, size_t turn);

/* Announces a pull to the children, with the request that each will get. */
void esi_fan_ask(struct es_stage *stage,
                 struct esi_fan *fan,
                 const struct es_pull *pull);

/* Pulls the children into the batch.  Returns 0, or -errno of the first that failed. */
int esi_fan_pull(struct es_stage *stage,
                 struct esi_fan *fan,
                 const struct es_pull *pull,
                 struct es_batch *batch);

#endif
