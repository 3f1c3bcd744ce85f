/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* batch.c - the stage `batch`: a gate that is closed until enough tuples wait below it,
 * or the first has waited long enough.
 *
 * It holds no tuples.  Waiting tuples are those between the position up to which the
 * tuples of an element have left the tree, and its head; they wait in their elements,
 * or in a sort below.  Tuples behind another tuple server cannot be seen; one may have
 * arrived just after the gate was closed, so the gate opens at the latest after the
 * waiting time.
 *
 * It does not sleep: a pull before that time emits nothing. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "tuplespace/element_view.h"
#include "wrappers/stages/stage.h"

enum { PROPERTY_TUPLES, PROPERTY_WAIT };
static const struct es_property_schema properties[] = {
    [PROPERTY_TUPLES] = {.name = "tuples",
                         .type = ES_PROPERTY_INTEGER,
                         .fallback = "1024",
                         .minimum = 1,
                         .maximum = 1 << 24,
                         .help = "how many are enough"},
    [PROPERTY_WAIT] = {.name = "wait",
                       .type = ES_PROPERTY_DURATION,
                       .fallback = "100ms",
                       .maximum = INT64_C(3600000000000),
                       .help = "longest time that the first waits for the others"},
};

struct gate {
    uint64_t enough;
    uint64_t wait_ns;
    uint32_t *origins; /* owned; of the elements below that this process reads */
    size_t origin_count;
    bool is_blind;     /* there are stages below whose elements cannot be seen */
    uint64_t since_ns; /* when the first waiting tuple was seen; 0 if none waits */
    uint64_t asked;    /* serial of the pull for which `is_open` was decided */
    bool is_open;
    bool more; /* the last pull left tuples that had waited long enough */
};

/* --- Opening ---------------------------------------------------------------------- */

static size_t count_stages(const struct es_stage *stage)
{
    size_t count = 1;

    for (size_t i = 0; i < stage->child_count; i++)
        count += count_stages(stage->children[i]);
    return count;
}

static bool is_readable(const struct es_stage_context *context, uint32_t origin)
{
    return context && context->origins && context->places &&
           origin < context->origins->count && origin < context->places->count &&
           context->origins->items[origin].element;
}

static void list_elements(struct gate *gate, const struct es_stage *stage)
{
    if (is_readable(stage->context, stage->origin))
        gate->origins[gate->origin_count++] = stage->origin;
    else if (stage->child_count == 0)
        gate->is_blind = true;
    for (size_t i = 0; i < stage->child_count; i++)
        list_elements(gate, stage->children[i]);
}

static int open_batch(struct es_stage *stage,
                      const struct es_property_value *values,
                      struct es_error *error)
{
    struct gate *gate = calloc(1, sizeof *gate);

    (void)error;
    if (!gate)
        return -ENOMEM;
    gate->enough = (uint64_t)values[PROPERTY_TUPLES].integer;
    gate->wait_ns = (uint64_t)values[PROPERTY_WAIT].integer;
    gate->origins = calloc(count_stages(stage->children[0]), sizeof *gate->origins);
    if (!gate->origins) {
        free(gate);
        return -ENOMEM;
    }
    list_elements(gate, stage->children[0]);
    stage->state = gate;
    return 0;
}

static void close_batch(struct es_stage *stage)
{
    struct gate *gate = stage->state;

    free(gate->origins);
    free(gate);
}

/* --- The gate --------------------------------------------------------------------- */

/* Counts waiting tuples, as far as they can be seen, up to the number that is
 * sufficient. */
static uint64_t count_waiting(const struct es_stage *stage)
{
    const struct gate *gate = stage->state;
    const struct es_stage_context *context = stage->context;
    uint64_t count = 0;

    for (size_t i = 0; i < gate->origin_count && count < gate->enough; i++) {
        uint32_t origin = gate->origins[i];
        uint64_t head = esi_element_view_head(context->origins->items[origin].element);
        uint64_t position = esi_read_state_position(&context->places->items[origin]);

        count += head > position ? head - position : 0;
    }
    return count;
}

static bool is_due(const struct es_stage *stage, const struct es_pull *pull)
{
    struct gate *gate = stage->state;
    uint64_t count;

    if (pull->drain || gate->more)
        return true;
    count = count_waiting(stage);
    if (count >= gate->enough)
        return true;
    if (count == 0 && !gate->is_blind) {
        gate->since_ns = 0;
        return false;
    }
    if (gate->since_ns == 0)
        gate->since_ns = pull->realtime_ns ? pull->realtime_ns : 1;
    return pull->realtime_ns >= gate->since_ns + gate->wait_ns;
}

/* Decides once per pull, because announcement and pull must agree. */
static void batch_decide(struct es_stage *stage, const struct es_pull *pull)
{
    struct gate *gate = stage->state;

    if (gate->asked == pull->serial)
        return;
    gate->asked = pull->serial;
    gate->is_open = is_due(stage, pull);
}

static void ask_batch(struct es_stage *stage, const struct es_pull *pull)
{
    struct gate *gate = stage->state;

    if (pull->max == 0)
        return;
    batch_decide(stage, pull);
    if (gate->is_open)
        esi_stage_ask_child(stage, pull);
}

static int pull_batch(struct es_stage *stage,
                      const struct es_pull *pull,
                      struct es_batch *batch)
{
    struct gate *gate = stage->state;
    bool more = batch->more;
    int result;

    if (pull->max == 0)
        return 0;
    batch_decide(stage, pull);
    if (!gate->is_open)
        return 0;
    batch->more = false;
    result = es_stage_pull(stage->children[0], pull, batch);
    gate->since_ns = 0;
    gate->more = batch->more;
    batch->more |= more;
    return result;
}

const struct es_stage_ops esi_stage_batch = {
    .name = "batch",
    .help = "waits until enough tuples have arrived, and emits all of them",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_batch,
    .pull = pull_batch,
    .ask = ask_batch,
    .close = close_batch,
};
