/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collective_causes.c - why ranks are late in collective operations. */
#include "config.h"

#include "cli/collective_causes.h"

#include <stdio.h>
#include <time.h>

#include "base/now.h"
#include "monitors/delay/delay_run.h"

enum { LOOKS = 20 }; /* as long as one takes until the next */

void esi_causes_init(struct esi_cause_finder *finder,
                     const struct esi_consumer *consumer)
{
    *finder = (struct esi_cause_finder){.consumer = consumer};
}

void esi_causes_fini(struct esi_cause_finder *finder)
{
    esi_delay_destroy(finder->delay);
    finder->delay = NULL;
}

/* What can no longer be read is told as it was. */
static void look_again(struct esi_cause_finder *finder)
{
    uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    struct es_error error = {.text = ""};
    struct esi_delay *delay;

    if (begun_ns < finder->next_ns)
        return;
    if (esi_delay_read_run(finder->consumer->run, finder->consumer->servers, &error,
                           &delay) == 0) {
        esi_delay_destroy(finder->delay);
        finder->delay = delay;
    }
    finder->next_ns = begun_ns + LOOKS * (esi_now_ns(CLOCK_MONOTONIC) - begun_ns);
}

static void describe_cause(void *data, int rank, char *out, size_t size)
{
    struct esi_cause_finder *finder = data;
    struct esi_delay_blame blame;
    char whose[64] = "its own delay";
    double part;
    bool has_line;

    out[0] = '\0';
    look_again(finder);
    if (!finder->delay || !esi_delay_find_blame(finder->delay, rank, &blame))
        return;
    part = blame.causing == rank ? blame.own : blame.caused;
    has_line = blame.line && *blame.line;
    if (blame.causing != rank)
        snprintf(whose, sizeof whose, "the delay of rank %d, which kept it waiting",
                 blame.causing);
    snprintf(out, size, "%.0f %% of that is %s: %s %s%s%s", 100 * part / blame.waited,
             whose, blame.computing ? "what is computed ahead of" : "in",
             blame.operation, has_line ? " at " : "", has_line ? blame.line : "");
}

struct esi_collectives_causes esi_causes(struct esi_cause_finder *finder)
{
    return (struct esi_collectives_causes){.describe = describe_cause, .data = finder};
}
