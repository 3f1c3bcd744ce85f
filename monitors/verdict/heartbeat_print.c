/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat_print.c - prints the heartbeat as a table with explanations, and as
 * JSON. */
#include "config.h"

#include "monitors/verdict/heartbeat_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "base/rows.h"
#include "base/table.h"
#include "eventspace/operation.h"
#include "monitors/follow/activity.h"
#include "monitors/follow/describe.h"
#include "monitors/verdict/heartbeat_fold.h"
#include "monitors/verdict/verdict_print.h"
#include "monitors/verdict/wait_words.h"
#include "tuplespace/process_state.h"

enum { WORDS = ES_FOLD_WORDS };

/* Limits for runs with many threads, unless all are requested. */
enum {
    FOLD_OVER = 16, /* with more threads, those that do the same share a row */
};

/* --- Threads ----------------------------------------------------------------- */

/* The last column: the thread's current or last operation, or how it ended. */
static void describe_doing(const struct esi_facts *facts,
                           const struct esi_thread_state *thread,
                           char out[WORDS])
{
    char words[WORDS];

    esi_describe_end(out, WORDS, thread);
    if (thread->verdict == ES_VERDICT_UNKNOWN)
        esi_describe_append(out, WORDS, "collectors are off");
    if (thread->polls_rise && thread->polling_since_ns) {
        esi_describe_append(
            out, WORDS, "polling for %s",
            esi_quantity_time(words, sizeof words,
                              (double)esi_thread_quiet_ns(thread, facts->now_ns)));
    } else if (thread->open.present) {
        esi_describe_append(out, WORDS, "%s%s", out[0] ? ", in " : "",
                            esi_describe_activity(words, sizeof words, &thread->open));
    } else if (thread->last.present && thread->verdict != ES_VERDICT_FINISHED) {
        esi_describe_append(out, WORDS, "%safter %s", out[0] ? ", " : "",
                            esi_describe_activity(words, sizeof words, &thread->last));
    }
}

static void describe_activity(struct esi_row *row,
                              const char *name,
                              const struct esi_activity *activity)
{
    if (!esi_row_begin_object(esi_row_if(row, activity->present), name))
        return;
    esi_row_text(row, "operation", NULL, es_operation_name(activity->operation));
    esi_activity_describe(row, activity, 0);
    esi_row_text(row, "awaits", NULL, esi_activity_awaits(activity));
    esi_row_text(row, "site", NULL,
                 activity->site && *activity->site ? activity->site : NULL);
    esi_row_end(row);
}

/* Omits the rank itself if any one of the targets suffices. */
static void describe_targets(struct esi_row *row, int rank, const struct esi_wait *wait)
{
    if (!esi_row_begin_array(row, "ranks"))
        return;
    for (size_t i = 0; i < wait->target_count; i++)
        if (!wait->any || wait->target_count == 1 || wait->targets[i] != rank)
            esi_row_signed(row, NULL, NULL, wait->targets[i]);
    esi_row_end(row);
}

static void describe_wait(struct esi_row *row,
                          int rank,
                          bool is_blocked,
                          const struct esi_wait *wait)
{
    static const char *const reasons[] = {
        [ES_REASON_NONE] = "unknown",        [ES_REASON_RECEIVE] = "receive",
        [ES_REASON_SEND] = "send",           [ES_REASON_TRANSFER] = "transfer",
        [ES_REASON_COLLECTIVE] = "members",  [ES_REASON_COMPLETION] = "requests",
        [ES_REASON_ENTERED] = "all entered", [ES_REASON_WINDOW] = "window",
        [ES_REASON_POLL] = "poll",
    };

    if (!esi_row_begin_object(esi_row_if(row, is_blocked), "waits_for"))
        return;
    esi_row_text(row, "reason", NULL, reasons[wait->reason]);
    describe_targets(row, rank, wait);
    esi_row_bool(row, "any", NULL, wait->any);
    esi_row_bool(row, "certain", NULL, wait->certain);
    esi_row_bool(row, "stuck", NULL, wait->stuck);
    esi_row_end(row);
}

/* A row of the table, and the JSON record of a thread. */
struct thread_row {
    const struct esi_diagnosis *diagnosis;
    size_t index;
};

static void describe_thread(struct esi_row *row, const void *record)
{
    const struct esi_diagnosis *diagnosis =
        ((const struct thread_row *)record)->diagnosis;
    size_t i = ((const struct thread_row *)record)->index;
    const struct esi_thread_state *thread = &diagnosis->facts->threads[i];
    bool is_killed = thread->process == ES_PROCESS_KILLED;
    bool has_code =
        thread->process != ES_PROCESS_RUNNING && thread->exit_code >= 0 && !is_killed;
    bool is_over = thread->verdict == ES_VERDICT_FINISHED;
    char words[WORDS];

    esi_row_quantity(row, "THREAD", "%d.%d", thread->rank, thread->thread);
    esi_row_signed(row, "rank", NULL, thread->rank);
    esi_row_signed(row, "thread", NULL, thread->thread);
    esi_row_long_text(esi_row_minor(row, 2), "host", "HOST", 8, thread->host);
    esi_row_signed(row, "pid", NULL, thread->pid);
    esi_row_text(row, "verdict", NULL, esi_verdicts[thread->verdict].name);
    esi_row_text(row, "process", NULL, esi_process_state_name(thread->process));
    esi_row_signed(esi_row_if(row, is_killed), "signal", NULL, thread->signal);
    esi_row_signed(esi_row_if(row, has_code), "exit_code", NULL, thread->exit_code);
    esi_row_unsigned(esi_row_minor(row, 1), "events", "EVENTS", thread->events);
    esi_row_unsigned(esi_row_minor(row, 3), "polls", "POLLS", thread->polls);
    esi_row_unsigned(row, "elements_off", NULL, thread->elements_off);
    esi_row_text(esi_row_tone(row, esi_verdicts[thread->verdict].tone), NULL, "VERDICT",
                 esi_verdicts[thread->verdict].name);
    esi_row_bool(row, "polling", NULL, thread->polls_rise);
    esi_row_unsigned(row, "unchanged_pulls", NULL, thread->unchanged);
    esi_row_unsigned(row, "quiet_ns", NULL,
                     esi_thread_quiet_ns(thread, diagnosis->facts->now_ns));
    esi_quantity_time(words, sizeof words,
                      (double)esi_thread_quiet_ns(thread, diagnosis->facts->now_ns));
    esi_row_quantity(row, "FOR", "%s", is_over ? "" : words);
    describe_doing(diagnosis->facts, thread, words);
    esi_row_words(row, "DOING", 24, "%s", words);
    describe_activity(row, "last", &thread->last);
    describe_activity(row, "open", &thread->open);
    describe_wait(row, thread->rank,
                  esi_thread_is_blocked(thread) ||
                      diagnosis->conditions.waits[i].reason != ES_REASON_NONE,
                  &diagnosis->conditions.waits[i]);
}

static int print_table(const struct esi_diagnosis *diagnosis, FILE *stream)
{
    const struct esi_facts facts = {.threads = &(struct esi_thread_state){.rank = 0}};
    const struct esi_diagnosis empty = {
        .facts = &facts,
        .conditions.waits = &(struct esi_wait){.reason = ES_REASON_NONE},
    };
    struct esi_rows rows;

    esi_rows_init(&rows, ESI_ROWS_TABLE, stream, describe_thread);
    int result = esi_rows_begin(&rows, &(struct thread_row){&empty, 0});
    if (result < 0)
        return result;
    for (size_t i = 0; i < diagnosis->facts->thread_count; i++)
        esi_rows_add(&rows, &(struct thread_row){diagnosis, i});
    return esi_rows_finish(&rows);
}

/* --- Explanations ----------------------------------------------------------------- */

/* "rank 0", and the thread if the rank has several. */
static const char *name_thread(const struct esi_facts *facts,
                               size_t index,
                               char out[48])
{
    const struct esi_thread_state *thread = &facts->threads[index];
    bool several = false;

    for (size_t i = 0; i < facts->thread_count; i++)
        several |= i != index && facts->threads[i].rank == thread->rank;
    snprintf(out, 48, several ? "rank %d (thread %d)" : "rank %d", thread->rank,
             thread->thread);
    return out;
}

/* --- Groups of threads ------------------------------------------------------------ */

static uint64_t longest_ns(const struct esi_facts *facts,
                           const struct esi_folded_thread *items,
                           size_t count)
{
    uint64_t longest = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t span_ns =
            esi_thread_quiet_ns(&facts->threads[items[i].index], facts->now_ns);

        longest = span_ns > longest ? span_ns : longest;
    }
    return longest;
}

/* "ranks 0-2,7" for sorted threads. */
static void describe_group_ranks(const struct esi_facts *facts,
                                 const struct esi_folded_thread *items,
                                 size_t count,
                                 char *out,
                                 size_t size)
{
    int *ranks = calloc(count + 1, sizeof *ranks);
    size_t rank_count = 0;

    for (size_t i = 0; ranks && i < count; i++) {
        int rank = facts->threads[items[i].index].rank;

        if (rank_count == 0 || ranks[rank_count - 1] != rank)
            ranks[rank_count++] = rank;
    }
    if (ranks)
        esi_describe_ranks(out, size, ranks, rank_count);
    else
        snprintf(out, size, "%zu threads", count);
    free(ranks);
}

/* --- Rows of many threads -------------------------------------------------------- */

static bool is_any(const struct esi_thread_state *thread)
{
    (void)thread;
    return true;
}

static void describe_row(const struct esi_diagnosis *diagnosis,
                         size_t index,
                         bool brief,
                         char out[WORDS])
{
    const struct esi_thread_state *thread = &diagnosis->facts->threads[index];
    bool is_over =
        thread->verdict == ES_VERDICT_DEAD || thread->verdict == ES_VERDICT_FINISHED;

    if (thread->polls_rise && thread->polling_since_ns)
        snprintf(out, WORDS, "polling");
    else if (!brief || thread->verdict == ES_VERDICT_UNKNOWN)
        describe_doing(diagnosis->facts, thread, out);
    else if (is_over)
        esi_describe_end(out, WORDS, thread);
    else if (thread->open.present)
        snprintf(out, WORDS, "%s", es_operation_name(thread->open.operation));
    else
        snprintf(out, WORDS, thread->last.present ? "after %s" : "%s",
                 thread->last.present ? es_operation_name(thread->last.operation) : "");
}

/* A row of the table. */
struct group_row {
    const struct esi_facts *facts;
    const struct esi_folded_thread *items;
    size_t count;
};

/* "0-2,7"; for a single thread followed by its number, as in THREAD. */
static void describe_group_name(const struct group_row *group, char *out, size_t size)
{
    const struct esi_thread_state *threads = group->facts->threads;
    int thread = threads[group->items[0].index].thread;
    char ranks[96];
    bool is_one = true;

    for (size_t i = 1; i < group->count; i++)
        is_one &= threads[group->items[i].index].thread == thread;
    describe_group_ranks(group->facts, group->items, group->count, ranks, sizeof ranks);
    snprintf(out, size, is_one ? "%s.%d" : "%s", strchr(ranks, ' ') + 1, thread);
}

/* Minimum and maximum of a count; `offset` is its position in a thread. */
static void describe_range(struct esi_row *row,
                           const char *heading,
                           const struct group_row *group,
                           size_t offset)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (size_t i = 0; i < group->count; i++) {
        const void *thread = &group->facts->threads[group->items[i].index];
        uint64_t number = *(const uint64_t *)((const char *)thread + offset);

        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    if (least == most)
        esi_row_quantity(row, heading, "%" PRIu64, most);
    else
        esi_row_quantity(row, heading, "%" PRIu64 "-%" PRIu64, least, most);
}

static void describe_group_host(struct esi_row *row, const struct group_row *group)
{
    const struct esi_thread_state *threads = group->facts->threads;
    const char *host = threads[group->items[0].index].host;

    for (size_t i = 1; i < group->count; i++)
        if (strcmp(threads[group->items[i].index].host, host) != 0)
            host = "several";
    esi_row_long_text(esi_row_minor(row, 3), NULL, "HOST", 8, host);
}

static void describe_group(struct esi_row *row, const void *record)
{
    const struct group_row *group = record;
    const struct esi_thread_state *thread =
        &group->facts->threads[group->items[0].index];
    char words[WORDS];

    describe_group_name(group, words, sizeof words);
    esi_row_words(row, "THREADS", 12, "%s", words);
    esi_row_quantity(esi_row_minor(row, 1), "COUNT", "%zu", group->count);
    describe_group_host(row, group);
    describe_range(esi_row_minor(row, 2), "EVENTS", group,
                   offsetof(struct esi_thread_state, events));
    describe_range(esi_row_minor(row, 4), "POLLS", group,
                   offsetof(struct esi_thread_state, polls));
    esi_row_text(esi_row_tone(row, esi_verdicts[thread->verdict].tone), NULL, "VERDICT",
                 esi_verdicts[thread->verdict].name);
    esi_quantity_time(words, sizeof words,
                      (double)longest_ns(group->facts, group->items, group->count));
    esi_row_quantity(row, "FOR", "%s",
                     thread->verdict == ES_VERDICT_FINISHED ? "" : words);
    esi_row_words(row, "DOING", 24, "%s", group->items[0].words);
}

static int print_folded_table(const struct esi_diagnosis *diagnosis, FILE *stream)
{
    static const struct esi_fold_rule rule = {is_any, describe_row};
    struct esi_fold fold;
    struct esi_rows rows;

    int result = esi_fold_init(diagnosis, &rule, &fold);
    if (result < 0)
        return result;
    esi_rows_init(&rows, ESI_ROWS_TABLE, stream, describe_group);
    result =
        esi_rows_begin(&rows, &(struct group_row){diagnosis->facts, fold.items, 1});
    for (size_t i = 0, size; result == 0 && i < fold.count; i += size) {
        size = esi_fold_group_size(&fold, i);
        esi_rows_add(&rows,
                     &(struct group_row){diagnosis->facts, &fold.items[i], size});
    }
    if (result == 0)
        result = esi_rows_finish(&rows);
    esi_fold_fini(&fold);
    return result;
}

/* --- Waits ------------------------------------------------------------------------ */

static bool is_told(const struct esi_thread_state *thread)
{
    return thread->lasts;
}

static const char *not_counted(enum esi_verdict verdict)
{
    return verdict == ES_VERDICT_STALLED ? "" : ", not yet counted as stalled";
}

static void print_wait(const struct esi_diagnosis *diagnosis,
                       size_t index,
                       FILE *stream)
{
    const struct esi_thread_state *thread = &diagnosis->facts->threads[index];
    char span[32];
    char who[48];
    char words[WORDS];

    esi_quantity_time(span, sizeof span,
                      (double)esi_thread_quiet_ns(thread, diagnosis->facts->now_ns));
    esi_wait_describe(
        &(struct esi_wait_words){.thread = thread,
                                 .wait = &diagnosis->conditions.waits[index],
                                 .span = span},
        words);
    esi_text_prose_print(stream, "%s %s%s", name_thread(diagnosis->facts, index, who),
                         words, not_counted(thread->verdict));
}

static void describe_wait_key(const struct esi_diagnosis *diagnosis,
                              size_t index,
                              bool brief,
                              char out[WORDS])
{
    esi_wait_describe(
        &(struct esi_wait_words){.thread = &diagnosis->facts->threads[index],
                                 .wait = &diagnosis->conditions.waits[index],
                                 .brief = brief,
                                 .span = ""},
        out);
}

static void print_group_wait(const struct esi_diagnosis *diagnosis,
                             const struct esi_folded_thread *items,
                             size_t count,
                             bool brief,
                             FILE *stream)
{
    char span[32];
    char ranks[WORDS];
    char words[WORDS];

    esi_quantity_time(span, sizeof span,
                      (double)longest_ns(diagnosis->facts, items, count));
    describe_group_ranks(diagnosis->facts, items, count, ranks, sizeof ranks);
    esi_wait_describe(
        &(struct esi_wait_words){.thread = &diagnosis->facts->threads[items[0].index],
                                 .wait = &diagnosis->conditions.waits[items[0].index],
                                 .many = true,
                                 .brief = brief,
                                 .span = span},
        words);
    esi_text_prose_print(
        stream, "%s %s%s", ranks, words,
        not_counted(diagnosis->facts->threads[items[0].index].verdict));
}

static int print_folded_waits(const struct esi_diagnosis *diagnosis, FILE *stream)
{
    static const struct esi_fold_rule rule = {is_told, describe_wait_key};
    struct esi_fold fold;

    int result = esi_fold_init(diagnosis, &rule, &fold);
    if (result < 0)
        return result;
    for (size_t i = 0, size; i < fold.count; i += size) {
        size = esi_fold_group_size(&fold, i);
        if (size == 1)
            print_wait(diagnosis, fold.items[i].index, stream);
        else
            print_group_wait(diagnosis, &fold.items[i], size, fold.brief, stream);
    }
    esi_fold_fini(&fold);
    return 0;
}

/* --- Verdicts --------------------------------------------------------------------- */

/* Prints verdicts first, then long waits. */
static int print_waits(const struct esi_diagnosis *diagnosis, bool folded, FILE *stream)
{
    struct esi_verdict_style style = {.all = !folded};
    size_t told = 0;
    int result;

    for (size_t i = 0; i < diagnosis->facts->thread_count; i++)
        told += diagnosis->facts->threads[i].lasts;
    if (told == 0 && diagnosis->count == 0)
        return 0;
    fputs("\n", stream);
    result = esi_diagnosis_print_text(diagnosis, &style, stream);
    if (result < 0)
        return result;
    if (folded)
        return print_folded_waits(diagnosis, stream);
    for (size_t i = 0; i < diagnosis->facts->thread_count; i++)
        if (diagnosis->facts->threads[i].lasts)
            print_wait(diagnosis, i, stream);
    return 0;
}

/* --- Disabled collectors ---------------------------------------------------------- */

/* The ranks with all collectors disabled, or only `some`. Caller frees; NULL if out of
 * memory. */
static int *list_off(const struct esi_facts *facts, bool some, size_t *ret_count)
{
    int *ranks = calloc(facts->thread_count + 1, sizeof *ranks);
    size_t count = 0;

    for (size_t i = 0; ranks && i < facts->thread_count; i++) {
        const struct esi_thread_state *thread = &facts->threads[i];
        bool is_some = thread->elements_off < thread->elements;

        if (thread->process == ES_PROCESS_RUNNING && thread->elements_off &&
            is_some == some && (count == 0 || ranks[count - 1] != thread->rank))
            ranks[count++] = thread->rank;
    }
    *ret_count = count;
    return ranks;
}

static void print_off(const struct esi_facts *facts, bool some, FILE *stream)
{
    char words[WORDS * 2];
    size_t count;
    int *ranks = list_off(facts, some, &count);

    if (ranks && count) {
        fputs("\n", stream);
        esi_text_prose_print(
            stream, "%s",
            esi_describe_off(words, sizeof words, facts->run, ranks, count, some));
    }
    free(ranks);
}

static void print_heading(const struct esi_observation *observation, FILE *stream)
{
    const struct esi_facts *facts = observation->diagnosis->facts;
    const size_t *counts = observation->verdicts;
    time_t seconds = (time_t)(facts->now_ns / UINT64_C(1000000000));
    struct tm local;
    char clock[16] = "";
    char unknown[32] = "";

    if (localtime_r(&seconds, &local))
        strftime(clock, sizeof clock, "%H:%M:%S", &local);
    if (counts[ES_VERDICT_UNKNOWN])
        snprintf(unknown, sizeof unknown, ", %zu unknown", counts[ES_VERDICT_UNKNOWN]);
    esi_text_prose_print(stream,
                         "run %s  pull %" PRIu64
                         "  %s  %zu threads: %zu stalled, %zu dead, %zu finished%s",
                         facts->run, observation->number, clock, facts->thread_count,
                         counts[ES_VERDICT_STALLED], counts[ES_VERDICT_DEAD],
                         counts[ES_VERDICT_FINISHED], unknown);
}

int esi_heartbeat_print_text(const struct esi_observation *observation,
                             bool all,
                             FILE *stream)
{
    const struct esi_diagnosis *diagnosis = observation->diagnosis;
    bool folded = !all && diagnosis->facts->thread_count > FOLD_OVER;
    int result;

    print_heading(observation, stream);
    result = print_waits(diagnosis, folded, stream);
    print_off(diagnosis->facts, false, stream);
    print_off(diagnosis->facts, true, stream);
    fputs("\n", stream);
    if (result == 0)
        result = folded ? print_folded_table(diagnosis, stream)
                        : print_table(diagnosis, stream);
    return result < 0 ? result : ferror(stream) ? -EIO : 0;
}

/* --- JSON -------------------------------------------------------------------- */

/* For JSON only. */
static void describe_observation(struct esi_row *row, const void *record)
{
    static const enum esi_verdict counted[] = {ES_VERDICT_STALLED, ES_VERDICT_DEAD,
                                               ES_VERDICT_FINISHED, ES_VERDICT_UNKNOWN};
    const struct esi_observation *observation = record;
    const struct esi_facts *facts = observation->diagnosis->facts;

    esi_row_text(row, "type", NULL, "heartbeat");
    esi_row_text(row, "run", NULL, facts->run);
    esi_row_unsigned(row, "pull", NULL, observation->number);
    esi_row_unsigned(row, "time_unix_ns", NULL, facts->now_ns);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        esi_row_unsigned(row, esi_verdicts[counted[i]].name, NULL,
                         observation->verdicts[counted[i]]);
    esi_row_begin_array(row, "threads");
    for (size_t i = 0; i < facts->thread_count; i++) {
        esi_row_begin_object(row, NULL);
        describe_thread(row, &(struct thread_row){observation->diagnosis, i});
        esi_row_end(row);
    }
    esi_row_end(row);
    esi_diagnosis_describe(row, observation->diagnosis);
}

int esi_heartbeat_print_json(const struct esi_observation *observation, FILE *stream)
{
    return esi_rows_print_json(stream, describe_observation, observation);
}
