/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* verdict_print.c - prints verdicts as text and as JSON. */
#include "config.h"

#include "monitors/verdict/verdict_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/table.h"
#include "eventspace/operation.h"
#include "monitors/follow/activity.h"
#include "monitors/follow/describe.h"
#include "monitors/verdict/hints.h"
#include "monitors/verdict/wait_words.h"
#include "tuplespace/process_state.h"

enum {
    WORDS = ES_WAIT_WORDS,
    ITEMS_MOST = 8,   /* verdicts and holding ranks, unless all are requested */
    WAITS_MOST = 8,   /* threads of a verdict, likewise */
    CYCLE_MOST = 16,  /* ranks of a cycle that is printed in full */
    CYCLE_ENDS = 6,   /* ranks printed at the start of a longer cycle */
    PENDING_MOST = 4, /* requests of a thread, likewise */
};

/* The first thread of the rank; NULL if it is not known. */
static const struct esi_thread_state *find_thread(const struct esi_facts *facts,
                                                  int rank)
{
    size_t process = esi_facts_find_process(facts, rank);

    return process < facts->process_count
               ? &facts->threads[facts->processes[process].first_thread]
               : NULL;
}

static const char *describe_span(char *out, size_t size, uint64_t span)
{
    return esi_quantity_time(out, size, (double)span);
}

static const char *describe_certainty(const struct esi_verdict_item *item)
{
    return item->certain ? "certain" : "possible";
}

/* --- Headlines -------------------------------------------------------------------- */

/* "0 -> 1 -> 0" */
static void describe_cycle(const struct esi_verdict_item *item, bool all, FILE *out)
{
    const struct esi_number_list *cycle = &item->cycle;
    bool is_long = !all && cycle->count > CYCLE_MOST;

    for (size_t i = 0; i < cycle->count; i++) {
        if (is_long && i == CYCLE_ENDS) {
            fputs("... -> ", out);
            i = cycle->count - 1;
        }
        fprintf(out, "%d -> ", cycle->items[i]);
    }
    fprintf(out, "%d", cycle->items[0]);
    if (is_long)
        fprintf(out, " (%zu ranks)", cycle->count);
    if (item->ranks.count > cycle->count)
        fprintf(out, ", of %zu ranks that wait for each other", item->ranks.count);
}

static void describe_entry(const struct esi_diagnosis *diagnosis,
                           const struct esi_instance_entry *entry,
                           FILE *out)
{
    (void)diagnosis;
    fprintf(out, "rank %d in %s", entry->rank, es_operation_name(entry->operation));
    if (entry->root >= 0)
        fprintf(out, " with root %d", entry->root);
}

static void describe_mismatch(const struct esi_diagnosis *diagnosis,
                              const struct esi_instance_mismatch *mismatch,
                              FILE *out)
{
    const struct esi_instance_entry *entries = mismatch->entries;
    const char *name = esi_fact_group(diagnosis->facts, mismatch->group)->name;

    describe_entry(diagnosis, &entries[0], out);
    fputs(", ", out);
    describe_entry(diagnosis, &entries[1], out);
    fprintf(out, ", both as operation %" PRIu32 " on %s", mismatch->instance,
            name[0] ? name : "a communicator");
    if (entries[0].operation == entries[1].operation &&
        entries[0].hash != entries[1].hash)
        fputs(": operator, type or count differ", out);
}

/* The last call of a process that ended. */
static void describe_last_call(const struct esi_diagnosis *diagnosis,
                               const struct esi_fact_process *process,
                               FILE *out)
{
    char words[WORDS];

    for (size_t i = 0; i < process->thread_count; i++) {
        const struct esi_thread_state *thread =
            &diagnosis->facts->threads[process->first_thread + i];

        if (!thread->open.present)
            continue;
        fprintf(out, " in %s",
                esi_describe_activity(words, sizeof words, &thread->open));
        return;
    }
}

static size_t count_communicators(const struct esi_fact_process *process)
{
    return process->participant ? process->participant->member_count : 0;
}

/* The call with which a process ended that had left MPI, or was not in it yet; NULL if
 * it did not end so. */
static const struct esi_activity *find_misplaced(const struct esi_diagnosis *diagnosis,
                                                 const struct esi_fact_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct esi_activity *open =
            &diagnosis->facts->threads[process->first_thread + i].open;

        if (open->present &&
            esi_process_misplaced(process->state, count_communicators(process),
                                  open->operation))
            return open;
    }
    return NULL;
}

/* MPI's message may have several lines. */
static void describe_error(const struct esi_ledger *ledger, FILE *out)
{
    fprintf(out, "; %s had failed: ", es_operation_name(ledger->error_operation));
    for (const char *next = ledger->error_text; *next; next++)
        fputc(*next == '\n' ? ' ' : *next, out);
    fprintf(out, " (%s)", es_error_name(ledger->error_class));
}

static void describe_death(const struct esi_diagnosis *diagnosis,
                           const struct esi_verdict_item *item,
                           FILE *out)
{
    const struct esi_fact_process *process = item->process;
    const struct esi_ledger *ledger = process->ledger;
    char words[WORDS];

    if (item->together) {
        struct esi_thread_state thread =
            diagnosis->facts->threads[process->first_thread];

        thread.before_mpi = false; /* others had called MPI */
        esi_describe_ranks(words, sizeof words, item->ranks.items, item->ranks.count);
        fprintf(out, "%s were", words);
        fprintf(out,
                " %s, which the whole job got: by a time limit, from a batch system, "
                "because its launcher was ended, or after an error in one of them",
                esi_describe_end(words, sizeof words, &thread));
        return;
    }
    if (item->ranks.count > 1) {
        esi_describe_ranks(words, sizeof words, item->ranks.items, item->ranks.count);
        fprintf(out, "%s ended at the same time, and which was first is not known; ",
                words);
    }
    const struct esi_activity *misplaced = find_misplaced(diagnosis, process);

    if (misplaced) {
        fprintf(out, "rank %d called %s %s", process->rank,
                es_operation_name(misplaced->operation),
                esi_process_misplaced(process->state, count_communicators(process),
                                      misplaced->operation));
        if (misplaced->site && *misplaced->site)
            fprintf(out, ", at %s", misplaced->site);
        if (process->exit_code > 0)
            fprintf(out, ", and exited with %d", process->exit_code);
    } else {
        fprintf(out, "rank %d %s", process->rank,
                esi_describe_end(words, sizeof words,
                                 &diagnosis->facts->threads[process->first_thread]));
        describe_last_call(diagnosis, process, out);
    }
    if (ledger && ledger->error_class)
        describe_error(ledger, out);
    if (item->behind.count) {
        esi_describe_ranks(words, sizeof words, item->behind.items, item->behind.count);
        fprintf(out, "; %s ended later", words);
    }
}

static void describe_missing(const struct esi_verdict_item *item, FILE *out)
{
    char words[WORDS];

    esi_describe_ranks(words, sizeof words, item->ranks.items, item->ranks.count);
    fprintf(out, "%s %s in MPI_Finalize or after it, and %s waited for", words,
            item->ranks.count == 1 ? "is" : "are",
            item->ranks.count == 1 ? "is" : "are");
}

/* The ranks whose waits are printed. */
static const struct esi_number_list *list_waiting(const struct esi_verdict_item *item)
{
    return item->kind == ESI_VERDICT_MISSING ? &item->behind : &item->ranks;
}

/* ", for 2 min 50 s, until it was killed 15 min ago" */
static void describe_duration(const struct esi_diagnosis *diagnosis,
                              const struct esi_verdict_item *item,
                              FILE *out)
{
    const struct esi_facts *facts = diagnosis->facts;
    const struct esi_number_list *ranks = list_waiting(item);
    const struct esi_thread_state *thread =
        ranks->count ? find_thread(facts, ranks->items[0]) : NULL;
    uint64_t until_ns =
        thread ? esi_thread_until_ns(thread, facts->now_ns) : facts->now_ns;
    char span[32];

    if (!item->since_ns || until_ns <= item->since_ns)
        return;
    fprintf(out, ", for %s",
            describe_span(span, sizeof span, until_ns - item->since_ns));
    if (!thread || !thread->ended_ns)
        return;
    fprintf(out, ", until it %s",
            thread->process == ES_PROCESS_KILLED ? "was killed" : "ended");
    if (!facts->recorded && facts->now_ns > until_ns)
        fprintf(out, " %s ago",
                describe_span(span, sizeof span, facts->now_ns - until_ns));
}

static void describe_headline(const struct esi_diagnosis *diagnosis,
                              const struct esi_verdict_item *item,
                              bool all,
                              FILE *out)
{
    fprintf(out, "%s (%s): ", esi_verdict_kind_name(item->kind),
            describe_certainty(item));
    switch (item->kind) {
    case ESI_VERDICT_DEADLOCK:
        describe_cycle(item, all, out);
        break;
    case ESI_VERDICT_MISMATCH:
        describe_mismatch(diagnosis, item->mismatch, out);
        break;
    case ESI_VERDICT_MISSING:
        describe_missing(item, out);
        break;
    case ESI_VERDICT_DIED:
        describe_death(diagnosis, item, out);
        break;
    }
    if (item->kind != ESI_VERDICT_DIED)
        describe_duration(diagnosis, item, out);
}

/* --- Lines ------------------------------------------------------------------------ */

/* Prints a line written by `describe`. */
static void print_headline(const struct esi_diagnosis *diagnosis,
                           const struct esi_verdict_item *item,
                           bool all,
                           FILE *stream)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    describe_headline(diagnosis, item, all, out);
    if (fclose(out) == 0)
        esi_text_tone_print(stream, item->certain ? ESI_TONE_WORST : ESI_TONE_BAD, "%s",
                            text);
    free(text);
}

/* --- Threads that wait ------------------------------------------------------------ */

static bool is_told_of(const struct esi_diagnosis *diagnosis,
                       const struct esi_verdict_item *item,
                       size_t thread)
{
    return diagnosis->conditions.waits[thread].reason != ES_REASON_NONE ||
           (item->kind >= ESI_VERDICT_MISMATCH &&
            diagnosis->facts->threads[thread].open.present);
}

typedef bool wait_fn(void *data,
                     const struct esi_diagnosis *diagnosis,
                     const struct esi_fact_process *process,
                     size_t thread);

/* Calls `use` for each such thread, until it returns false. */
static void foreach_wait(const struct esi_diagnosis *diagnosis,
                         const struct esi_verdict_item *item,
                         wait_fn *use,
                         void *data)
{
    const struct esi_facts *facts = diagnosis->facts;
    const struct esi_number_list *ranks = list_waiting(item);

    for (size_t i = 0; i < ranks->count; i++) {
        size_t process = esi_facts_find_process(facts, ranks->items[i]);

        for (size_t j = 0; process < facts->process_count &&
                           j < facts->processes[process].thread_count;
             j++) {
            size_t thread = facts->processes[process].first_thread + j;

            if (is_told_of(diagnosis, item, thread) &&
                !use(data, diagnosis, &facts->processes[process], thread))
                return;
        }
    }
}

static void describe_wait(const struct esi_diagnosis *diagnosis,
                          size_t index,
                          char words[WORDS])
{
    const struct esi_thread_state *thread = &diagnosis->facts->threads[index];
    char span[32];

    describe_span(span, sizeof span,
                  esi_thread_quiet_ns(thread, diagnosis->facts->now_ns));
    esi_wait_describe(
        &(struct esi_wait_words){.thread = thread,
                                 .wait = &diagnosis->conditions.waits[index],
                                 .span = span},
        words);
}

/* State of printing a verdict's threads. */
struct wait_printing {
    const struct esi_verdict_style *style;
    FILE *stream;
    size_t told;
};

static void print_pending(const struct wait_printing *printing,
                          const struct esi_diagnosis *diagnosis,
                          const struct esi_fact_process *process,
                          const struct esi_wait *wait)
{
    size_t count = printing->style->all || wait->pending_count <= PENDING_MOST
                       ? wait->pending_count
                       : PENDING_MOST;
    struct esi_activity request;
    char words[WORDS];

    for (size_t i = 0; i < count; i++) {
        esi_pending_read(diagnosis->facts, process,
                         diagnosis->conditions.pending[wait->first_pending + i],
                         &request);
        esi_text_prose_print(printing->stream, "    %s",
                             esi_describe_activity(words, sizeof words, &request));
    }
    if (count < wait->pending_count)
        fprintf(printing->stream, "    and %zu more; -v shows all\n",
                wait->pending_count - count);
}

static bool print_wait(void *data,
                       const struct esi_diagnosis *diagnosis,
                       const struct esi_fact_process *process,
                       size_t thread)
{
    struct wait_printing *printing = data;
    char name[32] = "", words[WORDS];

    if (!printing->style->all && printing->told++ == WAITS_MOST)
        return false;
    if (process->thread_count > 1)
        snprintf(name, sizeof name, " (thread %d)",
                 diagnosis->facts->threads[thread].thread);
    describe_wait(diagnosis, thread, words);
    esi_text_prose_print(printing->stream, "  rank %d%s %s", process->rank, name,
                         words);
    print_pending(printing, diagnosis, process, &diagnosis->conditions.waits[thread]);
    return true;
}

static void print_waits(const struct esi_diagnosis *diagnosis,
                        const struct esi_verdict_item *item,
                        const struct esi_verdict_style *style,
                        FILE *stream)
{
    struct wait_printing printing = {.style = style, .stream = stream};

    foreach_wait(diagnosis, item, print_wait, &printing);
}

/* --- Hints ------------------------------------------------------------------------ */

typedef void (*hint_fn)(void *data, const char *hint);

/* Calls `use` for each hint on the waits of the verdict. */
static void foreach_hint(const struct esi_diagnosis *diagnosis,
                         const struct esi_verdict_item *item,
                         hint_fn use,
                         void *data)
{
    const struct esi_facts *facts = diagnosis->facts;
    const struct esi_number_list *ranks = list_waiting(item);
    char words[ESI_HINT_WORDS];
    size_t looked = 0;

    if (!item->certain &&
        esi_hint_find_others(facts, ranks->items, ranks->count, words))
        use(data, words);

    for (size_t i = 0; i < ranks->count && looked < WAITS_MOST; i++) {
        size_t process = esi_facts_find_process(facts, ranks->items[i]);

        for (size_t j = 0; process < facts->process_count &&
                           j < facts->processes[process].thread_count;
             j++, looked++)
            if (esi_hint_find(&diagnosis->conditions,
                              facts->processes[process].first_thread + j, words))
                use(data, words);
    }
}

static void print_hint(void *data, const char *hint)
{
    esi_text_prose_print(data, "  hint: %s", hint);
}

static void print_item(const struct esi_diagnosis *diagnosis,
                       const struct esi_verdict_item *item,
                       const struct esi_verdict_style *style,
                       FILE *stream)
{
    char words[WORDS];

    print_headline(diagnosis, item, style->all, stream);
    if (item->kind == ESI_VERDICT_DIED)
        return;
    if (style->waits)
        print_waits(diagnosis, item, style, stream);
    foreach_hint(diagnosis, item, print_hint, stream);
    if (item->behind.count && (item->kind != ESI_VERDICT_MISSING || !style->waits)) {
        esi_describe_ranks(words, sizeof words, item->behind.items, item->behind.count);
        esi_text_prose_print(stream, "  %s %s behind", words,
                             item->behind.count == 1 ? "waits" : "wait");
    }
}

/* What the holding rank is doing, according to its first thread. */
static void describe_holder(const struct esi_facts *facts,
                            const struct esi_verdict_holder *holder,
                            char out[WORDS])
{
    const struct esi_thread_state *thread = find_thread(facts, holder->rank);
    char words[WORDS], span[32];

    snprintf(out, WORDS, "is not known here");
    if (!thread)
        return;
    if (thread->before_mpi && thread->process == ES_PROCESS_RUNNING) {
        esi_describe_end(out, WORDS, thread);
        return;
    }
    if (thread->quiet_since_ns && !thread->open.present &&
        (thread->verdict == ES_VERDICT_COMPUTING || thread->verdict == ES_VERDICT_DEAD))
        snprintf(out, WORDS, "%s computing for %s",
                 thread->verdict == ES_VERDICT_DEAD ? "had been" : "has been",
                 describe_span(span, sizeof span,
                               esi_thread_quiet_ns(thread, facts->now_ns)));
    else
        snprintf(out, WORDS, "is %s", esi_verdicts[thread->verdict].name);
    if (thread->open.present)
        esi_describe_append(out, WORDS, ": in %s",
                            esi_describe_activity(words, sizeof words, &thread->open));
    else if (thread->last.present && thread->verdict != ES_VERDICT_FINISHED)
        esi_describe_append(out, WORDS, ": after %s",
                            esi_describe_activity(words, sizeof words, &thread->last));
    esi_describe_end(words, sizeof words, thread);
    if (words[0])
        esi_describe_append(out, WORDS, ": %s", words);
    if (thread->verdict == ES_VERDICT_UNKNOWN)
        esi_describe_append(out, WORDS, ": its collectors are off");
}

static void print_holders(const struct esi_diagnosis *diagnosis, bool all, FILE *stream)
{
    size_t unknown = esi_diagnosis_count_unknown(diagnosis);
    size_t count = all || diagnosis->holder_count <= ITEMS_MOST
                       ? diagnosis->holder_count
                       : ITEMS_MOST;
    char words[WORDS];

    for (size_t i = 0; i < count; i++) {
        const struct esi_verdict_holder *holder = &diagnosis->holders[i];

        describe_holder(diagnosis->facts, holder, words);
        esi_text_prose_print(
            stream, "%srank %d holds up %zu %s; it %s",
            diagnosis->count || holder->gone || unknown ? "" : "no deadlock: ",
            holder->rank, holder->waiting, holder->waiting == 1 ? "thread" : "threads",
            words);
    }
    if (count < diagnosis->holder_count)
        fprintf(stream, "and %zu more hold up others; -v shows all\n",
                diagnosis->holder_count - count);
}

/* If there is no verdict, and nobody waits. */
static void print_calm(const struct esi_diagnosis *diagnosis, FILE *stream)
{
    const struct esi_facts *facts = diagnosis->facts;
    size_t unknown = esi_diagnosis_count_unknown(diagnosis);
    size_t finished = 0, early = 0;

    for (size_t i = 0; i < facts->thread_count; i++) {
        finished += facts->threads[i].verdict == ES_VERDICT_FINISHED;
        early += facts->threads[i].before_mpi;
    }
    if (unknown) {
        esi_text_prose_print(stream,
                             "%zu of %zu threads may wait or not: their collectors are "
                             "off ('eventspace collect on' switches them on)",
                             unknown, facts->thread_count);
        return;
    }
    fprintf(stream, "nothing is wrong: %zu threads, %zu finished", facts->thread_count,
            finished);
    if (early > 0)
        fprintf(stream, ", %zu %s not called MPI yet", early,
                early == 1 ? "has" : "have");
    fputc('\n', stream);
}

int esi_diagnosis_print_text(const struct esi_diagnosis *diagnosis,
                             const struct esi_verdict_style *style,
                             FILE *stream)
{
    size_t count =
        style->all || diagnosis->count <= ITEMS_MOST ? diagnosis->count : ITEMS_MOST;

    for (size_t i = 0; i < count; i++)
        print_item(diagnosis, &diagnosis->items[i], style, stream);
    if (count < diagnosis->count)
        fprintf(stream, "and %zu more verdicts; -v shows all\n",
                diagnosis->count - count);
    print_holders(diagnosis, style->all, stream);
    if (style->calm && diagnosis->count == 0 && diagnosis->holder_count == 0)
        print_calm(diagnosis, stream);
    return ferror(stream) ? -EIO : 0;
}

/* --- JSON ------------------------------------------------------------------------- */

static void describe_numbers(struct esi_row *row,
                             const char *name,
                             const struct esi_number_list *list)
{
    esi_row_begin_array(row, name);
    for (size_t i = 0; i < list->count; i++)
        esi_row_signed(row, NULL, NULL, list->items[i]);
    esi_row_end(row);
}

static void add_hint(void *data, const char *hint)
{
    esi_row_text(data, NULL, NULL, hint);
}

static void describe_site(struct esi_row *row, const char *site)
{
    esi_row_text(row, "site", NULL, site && *site ? site : NULL);
}

static void describe_pending(struct esi_row *row,
                             const struct esi_diagnosis *diagnosis,
                             const struct esi_fact_process *process,
                             const struct esi_wait *wait)
{
    struct esi_activity request;

    esi_row_begin_array(row, "requests");
    for (size_t i = 0; i < wait->pending_count; i++) {
        esi_pending_read(diagnosis->facts, process,
                         diagnosis->conditions.pending[wait->first_pending + i],
                         &request);
        esi_row_begin_object(row, NULL);
        esi_row_text(row, "operation", NULL, es_operation_name(request.operation));
        esi_activity_describe_subject(row, &request);
        describe_site(row, request.site);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static bool add_wait(void *data,
                     const struct esi_diagnosis *diagnosis,
                     const struct esi_fact_process *process,
                     size_t thread)
{
    struct esi_row *row = data;
    const struct esi_thread_state *state = &diagnosis->facts->threads[thread];
    const struct esi_wait *wait = &diagnosis->conditions.waits[thread];
    char words[WORDS];

    esi_row_begin_object(row, NULL);
    esi_row_signed(row, "rank", NULL, process->rank);
    esi_row_signed(row, "thread", NULL, state->thread);
    esi_row_text(row, "operation", NULL,
                 state->open.present ? es_operation_name(state->open.operation) : NULL);
    describe_site(row, state->open.present ? state->open.site : NULL);
    describe_wait(diagnosis, thread, words);
    esi_row_text(row, "text", NULL, words);
    describe_pending(row, diagnosis, process, wait);
    esi_row_end(row);
    return true;
}

static void describe_text(struct esi_row *row,
                          const struct esi_diagnosis *diagnosis,
                          const struct esi_verdict_item *item)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    describe_headline(diagnosis, item, true, out);
    if (fclose(out) == 0)
        esi_row_text(row, "text", NULL, text);
    free(text);
}

static void describe_item(struct esi_row *row,
                          const struct esi_diagnosis *diagnosis,
                          const struct esi_verdict_item *item)
{
    bool hangs =
        item->kind == ESI_VERDICT_DEADLOCK || item->kind == ESI_VERDICT_MISSING;

    esi_row_begin_object(row, NULL);
    esi_row_text(row, "kind", NULL, esi_verdict_kind_name(item->kind));
    esi_row_bool(row, "certain", NULL, item->certain);
    describe_numbers(row, "ranks", &item->ranks);
    describe_numbers(row, "cycle", &item->cycle);
    describe_numbers(row, "behind", &item->behind);
    esi_row_unsigned(esi_row_if(row, item->since_ns), "since_unix_ns", NULL,
                     item->since_ns);
    describe_text(row, diagnosis, item);
    esi_row_begin_array(row, "waits");
    foreach_wait(diagnosis, item, add_wait, row);
    esi_row_end(row);
    esi_row_begin_array(row, "hints");
    if (hangs)
        foreach_hint(diagnosis, item, add_hint, row);
    esi_row_end(row);
    esi_row_end(row);
}

void esi_diagnosis_describe(struct esi_row *row, const struct esi_diagnosis *diagnosis)
{
    esi_row_begin_array(row, "verdicts");
    for (size_t i = 0; i < diagnosis->count; i++)
        describe_item(row, diagnosis, &diagnosis->items[i]);
    esi_row_end(row);
    esi_row_begin_array(row, "held_up_by");
    for (size_t i = 0; i < diagnosis->holder_count; i++) {
        esi_row_begin_object(row, NULL);
        esi_row_signed(row, "rank", NULL, diagnosis->holders[i].rank);
        esi_row_unsigned(row, "threads", NULL, diagnosis->holders[i].waiting);
        esi_row_bool(row, "gone", NULL, diagnosis->holders[i].gone);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static void describe_record(struct esi_row *row, const void *record)
{
    const struct esi_diagnosis *diagnosis = record;

    esi_row_text(row, "type", NULL, "verdict");
    esi_row_text(row, "run", NULL, diagnosis->facts->run);
    esi_row_unsigned(row, "time_unix_ns", NULL, diagnosis->facts->now_ns);
    esi_row_unsigned(row, "unknown", NULL, esi_diagnosis_count_unknown(diagnosis));
    esi_diagnosis_describe(row, diagnosis);
}

int esi_diagnosis_print_json(const struct esi_diagnosis *diagnosis, FILE *stream)
{
    return esi_rows_print_json(stream, describe_record, diagnosis);
}
