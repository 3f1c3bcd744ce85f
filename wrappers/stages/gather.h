/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * gather.h - how a stage pulls several children into one batch.
 *
 * Children that have something to announce (stages `remote`, mostly) are asked all
 * together before the first is waited for.  For that each needs its part of the limit
 * beforehand: all get the same, and the first what cannot be divided.  The others
 * follow in turn, each with what is left.
 *
 * Where the limit is reached before the last child, the next pull begins with the child
 * that came away short, so that none starves.
 */
#ifndef ES_WRAPPERS_STAGES_GATHER_H
#define ES_WRAPPERS_STAGES_GATHER_H

#include "eventspace/stage.h"

/* Part of the state of a stage; all zero: concurrent, from the first child on. */
struct esi_fan {
    bool sequential; /* nothing is announced: one child after the other */
    size_t next;     /* child that the next pull begins with */
    uint64_t asked;  /* serial of the pull that was announced; 0 = none */
};

/* The property `mode` of stages that have a fan; its value is esi_fan.sequential. */
extern const char *const esi_fan_modes[];
#define ESI_FAN_MODE                                                                   \
    {                                                                                  \
        .name = "mode", .type = ES_PROPERTY_CHOICE, .fallback = "concurrent",          \
        .choices = esi_fan_modes,                                                      \
        .help = "ask all children before waiting, or one after the other"              \
    }

/* The part of `max` of the child whose turn it is, counted from the one the pull begins
 * with; the parts of all children make `max`. */
size_t esi_fan_share(size_t max, size_t child_count, size_t turn);

/* Announces a pull to the children, with what each will be asked for. */
void esi_fan_ask(struct es_stage *stage,
                 struct esi_fan *fan,
                 const struct es_pull *pull);

/* Pulls the children into the batch.  0 or -errno of the first that failed. */
int esi_fan_pull(struct es_stage *stage,
                 struct esi_fan *fan,
                 const struct es_pull *pull,
                 struct es_batch *batch);

#endif
