/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collective_causes.c - why ranks are late in collective operations. */
#include "config.h"

#include "cli/collective_causes.h"

#include <stdio.h>
#include <time.h>

#include "base/now.h"
#include "base/rows.h"
#include "monitors/delay/delay_print.h"
#include "monitors/delay/delay_run.h"

enum { LOOKS = 20 }; /* the pause is this multiple of a reading's duration */

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

/* If the run can no longer be read, the last results stay. */
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
             whose, blame.computing ? "computation before" : "in", blame.operation,
             has_line ? " at " : "", has_line ? blame.line : "");
}

/* --- For programs ----------------------------------------------------------------- */

struct told_blame {
    int rank;
    struct esi_delay_blame blame;
};

static void describe_blame(struct esi_row *row, const void *record)
{
    const struct told_blame *told = record;

    esi_delay_describe_blame(row, told->rank, &told->blame);
}

/* Whether others have waited for the rank, in any group. */
static bool is_blamed(const struct esi_collectives_report *report, int rank)
{
    for (size_t i = 0; i < esi_collective_statistics_count(report->statistics); i++) {
        const struct esi_collective_group *group =
            esi_collective_statistics_at(report->statistics, i);

        for (int member = 0; member < group->size; member++)
            if (group->ranks[member].world_rank == rank &&
                group->ranks[member].debt_ns > 0)
                return true;
    }
    return false;
}

int esi_causes_print_json(struct esi_cause_finder *finder,
                          const struct esi_collectives_report *report,
                          FILE *stream)
{
    int result = 0;

    for (int rank = 0; rank < report->ranks && result == 0; rank++) {
        struct told_blame told = {.rank = rank};

        if (!is_blamed(report, rank))
            continue;
        look_again(finder);
        if (finder->delay && esi_delay_find_blame(finder->delay, rank, &told.blame))
            result = esi_rows_print_json(stream, describe_blame, &told);
    }
    return result;
}

struct esi_collectives_causes esi_causes(struct esi_cause_finder *finder)
{
    return (struct esi_collectives_causes){.describe = describe_cause, .data = finder};
}
