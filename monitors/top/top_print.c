/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* top_print.c - heading, table and record of an observation. */
#include "config.h"

#include "monitors/top/top_print.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "base/rows.h"
#include "monitors/follow/describe.h"
#include "monitors/verdict/verdict_print.h"

enum { WORDS = 256 };

/* --- The heading ------------------------------------------------------------------ */

static void describe_run(const struct esi_top_look *look, char *out, size_t size)
{
    time_t seconds =
        (time_t)(look->observation.diagnosis->facts->now_ns / UINT64_C(1000000000));
    char clock[16] = "";
    struct tm local;

    if (localtime_r(&seconds, &local))
        strftime(clock, sizeof clock, "%H:%M:%S", &local);
    snprintf(out, size, "run %s  %zu rank%s on %zu host%s  %s",
             look->observation.diagnosis->facts->run, look->row_count,
             look->row_count == 1 ? "" : "s", look->host_count,
             look->host_count == 1 ? "" : "s", clock);
}

/* "2 stalled, 30 computing", worst first. */
static void describe_verdicts(const struct esi_top_look *look, char *out, size_t size)
{
    struct esi_top_row all = {.rank = -1};

    for (size_t i = 0; i < ES_VERDICTS; i++)
        all.verdicts[i] = look->verdicts[i];
    esi_top_cell(&all, ESI_TOP_DOING, out, size);
    if (out[0] == '\0')
        snprintf(out, size, "no rank yet");
}

static void describe_numbers(const struct esi_top_look *look, char *out, size_t size)
{
    char text[ESI_QUANTITY_BYTES], seen[ESI_COVERAGE_BYTES];

    snprintf(out, size, "%s events/s  %" PRIu64 "%s overwritten",
             look->rate < 0 ? "-" : esi_quantity_number(text, sizeof text, look->rate),
             look->overwritten, look->overwritten_more ? "+" : "");
    if (look->waits.delay && esi_coverage_describe(&look->waits.seen, seen)) {
        seen[strcspn(seen, ":")] = '\0';
        esi_describe_append(out, size, "  waits of %s", seen);
    }
    if (look->clock_error_ns != UINT64_MAX)
        esi_describe_append(
            out, size, "  clocks within %s",
            esi_quantity_time(text, sizeof text, (double)look->clock_error_ns));
    else
        esi_describe_append(out, size, "  clocks not compared");
    if (look->cost >= 0)
        esi_describe_append(out, size, "  this costs %.2g %% of a core",
                            100 * look->cost);
}

const char *esi_top_head(const struct esi_top_look *look,
                         unsigned line,
                         char out[ESI_TOP_HEAD_BYTES])
{
    if (line == 0)
        describe_run(look, out, ESI_TOP_HEAD_BYTES);
    else if (line == 1)
        describe_verdicts(look, out, ESI_TOP_HEAD_BYTES);
    else
        describe_numbers(look, out, ESI_TOP_HEAD_BYTES);
    return out;
}

/* --- Rows ------------------------------------------------------------------------- */

/* A row, and whether waits are read. */
struct top_table_row {
    const struct esi_top_row *row;
    bool waits;
};

/* For JSON only. */
static void describe_doing(struct esi_row *row, const struct esi_top_row *from)
{
    const struct esi_thread_state *thread = from->thread;
    const struct esi_activity *activity = thread ? &thread->open : NULL;

    if (activity && !activity->present)
        activity = &thread->last;
    if (activity && !activity->present)
        activity = NULL;
    esi_row_text(row, "operation", NULL,
                 activity ? es_operation_name(activity->operation) : NULL);
    esi_row_bool(esi_row_if(row, activity), "open", NULL, activity == &thread->open);
    esi_row_signed(esi_row_if(row, activity && activity->peer >= 0), "peer", NULL,
                   activity ? activity->peer : 0);
    esi_row_text(row, "site", NULL,
                 activity && activity->site && *activity->site ? activity->site : NULL);
}

/* The JSON members, with the same names as in other records. */
static void describe_members(struct esi_row *row, const struct esi_top_row *from)
{
    esi_row_signed(esi_row_if(row, from->rank >= 0), "rank", NULL, from->rank);
    esi_row_text(row, "host", NULL, from->host);
    esi_row_unsigned(row, "ranks", NULL, from->ranks);
    esi_row_text(row, "verdict", NULL, esi_verdicts[from->verdict].name);
    esi_row_text(row, "finding", NULL,
                 from->finding >= 0
                     ? esi_verdict_kind_name((enum esi_verdict_kind)from->finding)
                     : NULL);
    esi_row_unsigned(row, "quiet_ns", NULL, from->quiet_ns);
    describe_doing(row, from);
    esi_row_real(esi_row_if(row, from->rate >= 0), "events_per_second", NULL,
                 from->rate);
    esi_row_real(esi_row_if(row, from->share >= 0), "mpi_share", NULL, from->share);
    esi_row_real(esi_row_if(row, from->caused_ns >= 0), "caused_ns", NULL,
                 from->caused_ns);
    esi_row_real(esi_row_if(row, from->suffered_ns >= 0), "suffered_ns", NULL,
                 from->suffered_ns);
}

static void describe_row(struct esi_row *row, const void *record)
{
    const struct top_table_row *shown = record;
    char cell[WORDS];

    for (int i = 0; i < ESI_TOP_COLUMNS; i++) {
        const struct esi_top_column_info *info =
            esi_top_column_info((enum esi_top_column)i);

        if (!shown->waits && (i == ESI_TOP_CAUSED || i == ESI_TOP_SUFFERED))
            continue;
        esi_top_cell(shown->row, (enum esi_top_column)i, cell, sizeof cell);
        if (i == ESI_TOP_RANK && shown->row->rank < 0)
            snprintf(cell, sizeof cell, "host");
        if (info->minor)
            esi_row_minor(row, info->minor);
        if (i == ESI_TOP_STATE)
            esi_row_tone(row, shown->row->finding >= 0
                                  ? ESI_TONE_WORST
                                  : esi_verdicts[shown->row->verdict].tone);
        if (info->right)
            esi_row_quantity(row, info->heading, "%s", cell);
        else
            esi_row_words(row, info->heading,
                          i == ESI_TOP_DOING || i == ESI_TOP_LINE ? info->width : 0,
                          "%s", cell);
    }
}

int esi_top_print_text(const struct esi_top_look *look,
                       const struct esi_top_list *list,
                       FILE *stream)
{
    const struct esi_verdict_style style = {.waits = false};
    const struct esi_top_row empty = {.host = "", .rank = -1, .finding = -1};
    bool waits = look->waits.delay != NULL;
    char text[ESI_TOP_HEAD_BYTES];
    struct esi_rows rows;
    int result;

    for (unsigned i = 0; i < ESI_TOP_HEAD_LINES; i++)
        esi_text_prose_print(stream, "%s", esi_top_head(look, i, text));
    result = esi_diagnosis_print_text(look->observation.diagnosis, &style, stream);
    if (result < 0)
        return result;
    fputs("\n", stream);
    esi_rows_init(&rows, ESI_ROWS_TABLE, stream, describe_row);
    result = esi_rows_begin(&rows, &(struct top_table_row){&empty, waits});
    for (size_t i = 0; result == 0 && i < list->count; i++)
        esi_rows_add(&rows, &(struct top_table_row){&list->items[i], waits});
    return result < 0 ? result : esi_rows_finish(&rows);
}

/* --- JSON ------------------------------------------------------------------------- */

struct top_record {
    const struct esi_top_look *look;
    const struct esi_top_list *list;
};

static void describe_record(struct esi_row *row, const void *from)
{
    const struct top_record *record = from;
    const struct esi_top_look *look = record->look;

    esi_row_text(row, "type", NULL, "top");
    esi_row_text(row, "run", NULL, look->observation.diagnosis->facts->run);
    esi_row_unsigned(row, "time_unix_ns", NULL,
                     look->observation.diagnosis->facts->now_ns);
    esi_row_unsigned(row, "ranks", NULL, look->row_count);
    esi_row_unsigned(row, "hosts", NULL, look->host_count);
    for (size_t i = 0; i < ES_VERDICTS; i++)
        esi_row_unsigned(row, esi_verdicts[i].name, NULL, look->verdicts[i]);
    esi_row_real(esi_row_if(row, look->rate >= 0), "events_per_second", NULL,
                 look->rate);
    esi_row_unsigned(row, "overwritten", NULL, look->overwritten);
    esi_row_bool(row, "overwritten_more", NULL, look->overwritten_more);
    esi_row_unsigned(esi_row_if(row, look->clock_error_ns != UINT64_MAX),
                     "clock_error_ns", NULL, look->clock_error_ns);
    esi_row_unsigned(esi_row_if(row, look->waits.delay), "waits_seen_ns", NULL,
                     look->waits.seen.seen_ns);
    esi_row_unsigned(esi_row_if(row, look->waits.delay), "waits_run_ns", NULL,
                     look->waits.seen.end_ns - look->waits.seen.begin_ns);
    esi_row_real(esi_row_if(row, look->cost >= 0), "cost", NULL, look->cost);
    esi_row_begin_array(row, "rows");
    for (size_t i = 0; i < record->list->count; i++) {
        esi_row_begin_object(row, NULL);
        describe_members(row, &record->list->items[i]);
        esi_row_end(row);
    }
    esi_row_end(row);
}

int esi_top_print_json(const struct esi_top_look *look,
                       const struct esi_top_list *list,
                       FILE *stream)
{
    return esi_rows_print_json(stream, describe_record,
                               &(struct top_record){look, list});
}
