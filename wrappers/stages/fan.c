/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* fan.c - pulls several children into one batch. */
#include "config.h"

#include "wrappers/stages/fan.h"

const char *const esi_fan_modes[] = {"concurrent", "sequential", NULL};

size_t esi_fan_share(size_t max, size_t child_count, size_t turn)
{
    if (max < child_count)
        return turn < max;
    return max / child_count + (turn == 0 ? max % child_count : 0);
}

/* The child after this one, around the end. */
static size_t fan_behind(const struct es_stage *stage, size_t child)
{
    return child + 1 == stage->child_count ? 0 : child + 1;
}

void esi_fan_ask(struct es_stage *stage,
                 struct esi_fan *fan,
                 const struct es_pull *pull)
{
    struct es_pull part = *pull;
    size_t child = fan->next;

    if (fan->sequential)
        return;
    fan->asked = pull->serial;
    for (size_t turn = 0; turn < stage->child_count; turn++) {
        part.max = esi_fan_share(pull->max, stage->child_count, turn);
        if (part.max > 0)
            es_stage_ask(stage->children[child], &part);
        child = fan_behind(stage, child);
    }
}

/* What the children that were asked may give together. */
static size_t fan_promised(const struct es_stage *stage, size_t first, size_t max)
{
    size_t child = first;
    size_t sum = 0;

    for (size_t turn = 0; turn < stage->child_count; turn++) {
        if (stage->children[child]->asks)
            sum += esi_fan_share(max, stage->child_count, turn);
        child = fan_behind(stage, child);
    }
    return sum;
}

/* Pulls siblings in one loop of their own. */
static int pull_together(struct es_stage *stage,
                         const struct es_pull *pull,
                         struct es_batch *batch)
{
    int result = stage->children[0]->pull_siblings(stage, pull, batch);

    stage->together += result == 0;
    return result;
}

/* A child that gets nothing is not pulled, and is the first of the next pull. */
static int pull_child(struct es_stage *stage,
                      struct esi_fan *fan,
                      size_t child,
                      const struct es_pull *part,
                      struct es_batch *batch,
                      bool *is_short)
{
    if (part->max == 0) {
        if (!*is_short) {
            *is_short = true;
            batch->more = true;
            fan->next = child;
        }
        return 0;
    }
    return es_stage_pull(stage->children[child], part, batch);
}

/* Pulls children of which some have been asked already: what these were promised is
 * kept for them.  The others get what is left, also those that were asked for nothing
 * as the limit is below the number of children. */
static int pull_asked(struct es_stage *stage,
                      struct esi_fan *fan,
                      const struct es_pull *pull,
                      struct es_batch *batch)
{
    struct es_pull part = *pull;
    size_t before = batch->count;
    size_t child = fan->next;
    size_t kept = fan_promised(stage, child, pull->max);
    bool is_short = false;
    int result = 0;

    for (size_t turn = 0; turn < stage->child_count && result == 0; turn++) {
        size_t share = stage->children[child]->asks
                           ? esi_fan_share(pull->max, stage->child_count, turn)
                           : 0;

        kept -= share;
        part.max = share ? share : pull->max - (batch->count - before) - kept;
        result = pull_child(stage, fan, child, &part, batch, &is_short);
        child = fan_behind(stage, child);
    }
    return result;
}

/* Pulls the children one after the other, each with what is left of the limit. */
static int pull_in_turn(struct es_stage *stage,
                        struct esi_fan *fan,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    struct es_pull part = *pull;
    size_t before = batch->count;
    size_t child = fan->next;
    bool is_short = false;

    for (size_t turn = 0; turn < stage->child_count; turn++) {
        int result;

        part.max = pull->max - (batch->count - before);
        result = pull_child(stage, fan, child, &part, batch, &is_short);
        if (result < 0)
            return result;
        if (is_short)
            return 0;
        if (++child == stage->child_count)
            child = 0;
    }
    return 0;
}

int esi_fan_pull(struct es_stage *stage,
                 struct esi_fan *fan,
                 const struct es_pull *pull,
                 struct es_batch *batch)
{
    if (stage->siblings && pull->max >= stage->child_count && !pull->measure)
        return pull_together(stage, pull, batch);
    if (!stage->asks || fan->sequential)
        return pull_in_turn(stage, fan, pull, batch);
    if (fan->asked != pull->serial)
        esi_fan_ask(stage, fan, pull);
    fan->asked = 0;
    return pull_asked(stage, fan, pull, batch);
}
