/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat_print.c - the heartbeat as a table with a section in plain words, and as
 * JSON. */
#include "config.h"

#include "monitors/heartbeat/heartbeat_print.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "base/table.h"
#include "eventspace/operation.h"
#include "monitors/follow/describe.h"

enum { WORDS = 320 };

static uint64_t quiet_ns(const struct esi_heartbeat_report *report,
                         const struct esi_thread_state *thread)
{
    return thread->quiet_since_ns && report->realtime_ns > thread->quiet_since_ns
               ? report->realtime_ns - thread->quiet_since_ns
               : 0;
}

/* --- The table --------------------------------------------------------------- */

static const struct esi_text_table_column columns[] = {
    {"THREAD", ES_TABLE_RIGHT, 0}, {"HOST", ES_TABLE_LEFT, 8},
    {"EVENTS", ES_TABLE_RIGHT, 0}, {"POLLS", ES_TABLE_RIGHT, 0},
    {"VERDICT", ES_TABLE_LEFT, 0}, {"FOR", ES_TABLE_RIGHT, 0},
    {"DOING", ES_TABLE_LEFT, 24},
};

/* What the last column says: what the thread is in, or did last, or how it ended. */
static void describe_doing(const struct esi_heartbeat_report *report,
                           const struct esi_thread_state *thread,
                           char out[WORDS])
{
    char words[WORDS];

    esi_describe_end(out, WORDS, thread);
    if (thread->polls_rise && thread->polling_since_ns) {
        esi_describe_append(
            out, WORDS, "polling for %s",
            esi_describe_span(words, sizeof words, quiet_ns(report, thread)));
    } else if (thread->open.present) {
        esi_describe_append(out, WORDS, "%s%s", out[0] ? ", in " : "",
                            esi_describe_activity(words, sizeof words, &thread->open));
    } else if (thread->last.present && thread->verdict != ES_VERDICT_FINISHED) {
        esi_describe_append(out, WORDS, "%safter %s", out[0] ? ", " : "",
                            esi_describe_activity(words, sizeof words, &thread->last));
    }
}

static void add_row(struct es_table *table,
                    const struct esi_heartbeat_report *report,
                    const struct esi_thread_state *thread)
{
    bool ended = thread->verdict == ES_VERDICT_FINISHED;
    char words[WORDS];

    esi_text_table_cell(table, "%d.%d", thread->rank, thread->thread);
    esi_text_table_cell(table, "%s", thread->host);
    esi_text_table_cell(table, "%" PRIu64, thread->events);
    esi_text_table_cell(table, "%" PRIu64, thread->polls);
    esi_text_table_cell(table, "%s", esi_verdict_name(thread->verdict));
    esi_text_table_cell(
        table, "%s",
        ended ? "" : esi_describe_span(words, sizeof words, quiet_ns(report, thread)));
    describe_doing(report, thread, words);
    esi_text_table_cell(table, "%s", words);
}

static int print_table(const struct esi_heartbeat_report *report,
                       FILE *stream,
                       size_t width)
{
    struct es_table *table;
    int result =
        esi_text_table_create(columns, sizeof columns / sizeof *columns, &table);

    if (result < 0)
        return result;
    for (size_t i = 0; i < report->thread_count; i++)
        add_row(table, report, &report->threads[i]);
    result = esi_text_table_print(table, stream, width);
    esi_text_table_destroy(table);
    return result;
}

/* --- In plain words ---------------------------------------------------------- */

/* "rank 0", and its thread where it has several. */
static const char *name_thread(const struct esi_heartbeat_report *report,
                               size_t index,
                               char out[48])
{
    const struct esi_thread_state *thread = &report->threads[index];
    bool several = false;

    for (size_t i = 0; i < report->thread_count; i++)
        several |= i != index && report->threads[i].rank == thread->rank;
    snprintf(out, 48, several ? "rank %d (thread %d)" : "rank %d", thread->rank,
             thread->thread);
    return out;
}

static bool is_message(const struct es_operation *operation)
{
    return operation && (operation->op_class == ES_CLASS_SEND ||
                         operation->op_class == ES_CLASS_RECEIVE);
}

/* "(tag 7, 12 s)", "(MPI_Irecv, any tag, 12 s)" */
static void describe_details(const struct esi_heartbeat_report *report,
                             const struct esi_thread_state *thread,
                             char out[WORDS])
{
    const struct esi_activity *open = &thread->open;
    char span[32];

    esi_describe_span(span, sizeof span, quiet_ns(report, thread));
    snprintf(out, WORDS, "(");
    if (open->awaited)
        esi_describe_append(out, WORDS, "%s, ", es_operation_name(open->awaited));
    if (open->tag == ES_TAG_ANY)
        esi_describe_append(out, WORDS, "any tag, ");
    else if (!open->awaited || is_message(esi_activity_subject(open)))
        esi_describe_append(out, WORDS, "tag %d, ", open->tag);
    esi_describe_append(out, WORDS, "%s)", span);
}

static bool is_of_several_requests(const struct esi_activity *open)
{
    const struct es_operation *operation = es_operation_find(open->operation);

    return operation && operation->op_class == ES_CLASS_COMPLETION && open->bytes > 1;
}

static void print_message_wait(const struct esi_heartbeat_report *report,
                               size_t index,
                               const char *who,
                               FILE *stream)
{
    const struct esi_thread_state *thread = &report->threads[index];
    const struct esi_wait *wait = &report->waits[index];
    const char *operation = es_operation_name(thread->open.operation);
    char ranks[WORDS] = "somebody";
    char details[WORDS];

    describe_details(report, thread, details);
    if (wait->target_count)
        esi_describe_ranks(ranks, sizeof ranks, wait->targets, wait->target_count);
    if (wait->reason == ES_REASON_TRANSFER)
        esi_plain_print(stream, "%s is in %s, the message %s %s is under way %s\n", who,
                        operation,
                        thread->open.peer == ES_PEER_ANY ? "of one of" : "shared with",
                        ranks, details);
    else if (is_of_several_requests(&thread->open))
        esi_plain_print(stream,
                        "%s waits in %s for %" PRIu32
                        " requests, the first of them with %s %s\n",
                        who, operation, thread->open.bytes, ranks, details);
    else
        esi_plain_print(
            stream, "%s waits in %s for %s%s %s\n", who, operation,
            thread->open.peer == ES_PEER_ANY && wait->target_count > 1 ? "any of " : "",
            ranks, details);
}

static void print_collective_wait(const struct esi_heartbeat_report *report,
                                  size_t index,
                                  const char *who,
                                  FILE *stream)
{
    const struct esi_thread_state *thread = &report->threads[index];
    const struct esi_wait *wait = &report->waits[index];
    char operation[WORDS];
    char ranks[WORDS] = "others";
    char span[32];

    esi_describe_activity(operation, sizeof operation, &thread->open);
    esi_describe_span(span, sizeof span, quiet_ns(report, thread));
    if (wait->target_count)
        esi_describe_ranks(ranks, sizeof ranks, wait->targets, wait->target_count);
    if (wait->reason == ES_REASON_ENTERED)
        esi_plain_print(stream, "%s is in %s, which all have entered (%s)\n", who,
                        operation, span);
    else
        esi_plain_print(stream, "%s waits in %s%s for %s to enter (%s)\n", who,
                        operation, thread->open.awaited ? "," : "", ranks, span);
}

static void print_wait(const struct esi_heartbeat_report *report,
                       size_t index,
                       FILE *stream)
{
    const struct esi_thread_state *thread = &report->threads[index];
    char who[48];
    char words[WORDS];

    name_thread(report, index, who);
    switch (report->waits[index].reason) {
    case ES_REASON_RECEIVE:
    case ES_REASON_SEND:
    case ES_REASON_TRANSFER:
    case ES_REASON_COMPLETION:
        print_message_wait(report, index, who, stream);
        return;
    case ES_REASON_COLLECTIVE:
    case ES_REASON_ENTERED:
        print_collective_wait(report, index, who, stream);
        return;
    case ES_REASON_NONE:
        break;
    }
    esi_describe_span(words, sizeof words, quiet_ns(report, thread));
    if (thread->polls_rise)
        esi_plain_print(stream, "%s polls in vain (%s, %" PRIu64 " polls)\n", who,
                        words, thread->polls);
    else
        esi_plain_print(stream, "%s is in %s (%s)\n", who,
                        es_operation_name(thread->open.operation), words);
}

static void print_cycle(const struct esi_wait_cycle *cycle, FILE *stream)
{
    fputs(cycle->certain ? "deadlock: " : "possible deadlock: ", stream);
    for (size_t i = 0; i < cycle->count; i++)
        fprintf(stream, "%d -> ", cycle->ranks[i]);
    fprintf(stream, "%d\n", cycle->ranks[0]);
}

/* What the rank that others wait for is at, told by its first thread. */
static void describe_culprit(const struct esi_heartbeat_report *report,
                             const struct esi_wait_culprit *culprit,
                             char out[WORDS])
{
    for (size_t i = 0; i < report->thread_count; i++) {
        const struct esi_thread_state *thread = &report->threads[i];
        char words[WORDS];

        if (thread->rank != culprit->rank)
            continue;
        describe_doing(report, thread, words);
        snprintf(out, WORDS, "%s", esi_verdict_name(thread->verdict));
        if (words[0])
            esi_describe_append(out, WORDS, ": %s", words);
        return;
    }
    snprintf(out, WORDS, "not known here");
}

static void print_culprit(const struct esi_heartbeat_report *report,
                          const struct esi_wait_culprit *culprit,
                          FILE *stream)
{
    char words[WORDS];

    describe_culprit(report, culprit, words);
    esi_plain_print(stream, "rank %d holds up %zu %s; it is %s\n", culprit->rank,
                    culprit->waiting, culprit->waiting == 1 ? "thread" : "threads",
                    words);
}

static void print_waits(const struct esi_heartbeat_report *report, FILE *stream)
{
    const struct esi_wait_result *result = report->result;

    if (report->stalled == 0)
        return;
    fputs("\n", stream);
    for (size_t i = 0; i < report->thread_count; i++)
        if (report->threads[i].verdict == ES_VERDICT_STALLED)
            print_wait(report, i, stream);
    for (size_t i = 0; i < result->cycle_count; i++)
        print_cycle(&result->cycles[i], stream);
    for (size_t i = 0; i < result->culprit_count; i++)
        print_culprit(report, &result->culprits[i], stream);
}

static void print_heading(const struct esi_heartbeat_report *report, FILE *stream)
{
    time_t seconds = (time_t)(report->realtime_ns / UINT64_C(1000000000));
    struct tm local;
    char clock[16] = "";

    if (localtime_r(&seconds, &local))
        strftime(clock, sizeof clock, "%H:%M:%S", &local);
    esi_plain_print(stream,
                    "run %s  pull %" PRIu64
                    "  %s  %zu threads: %zu stalled, %zu dead, %zu finished\n",
                    report->run, report->pull, clock, report->thread_count,
                    report->stalled, report->dead, report->finished);
}

int esi_heartbeat_print_text(const struct esi_heartbeat_report *report,
                             FILE *stream,
                             size_t width)
{
    int result;

    print_heading(report, stream);
    result = print_table(report, stream, width);
    if (result == 0)
        print_waits(report, stream);
    return result < 0 ? result : ferror(stream) ? -EIO : 0;
}

/* --- JSON -------------------------------------------------------------------- */

static void put_activity(struct esi_json_out *out,
                         const char *key,
                         const struct esi_activity *activity)
{
    if (!activity->present) {
        esi_json_out_null(out, key);
        return;
    }
    esi_json_out_begin_object(out, key);
    esi_json_out_string(out, "operation", es_operation_name(activity->operation));
    if (activity->has_communicator)
        esi_json_out_string(out, "communicator", activity->communicator);
    else
        esi_json_out_null(out, "communicator");
    if (activity->peer >= 0)
        esi_json_out_signed(out, "peer", activity->peer);
    else if (activity->peer == ES_PEER_ANY)
        esi_json_out_string(out, "peer", "any");
    else
        esi_json_out_null(out, "peer");
    if (activity->tag == ES_TAG_ANY)
        esi_json_out_string(out, "tag", "any");
    else
        esi_json_out_signed(out, "tag", activity->tag);
    esi_json_out_unsigned(out, "bytes", activity->bytes);
    if (activity->sequence == ES_SEQUENCE_UNKNOWN)
        esi_json_out_null(out, "sequence");
    else
        esi_json_out_unsigned(out, "sequence", activity->sequence);
    esi_json_out_unsigned(out, "start_ns", activity->start_ns);
    if (activity->stop_ns)
        esi_json_out_unsigned(out, "stop_ns", activity->stop_ns);
    else
        esi_json_out_null(out, "stop_ns");
    esi_json_out_string(
        out, "awaits", activity->awaited ? es_operation_name(activity->awaited) : NULL);
    esi_json_out_end(out);
}

static const char *process_name(enum es_process_state state)
{
    static const char *const names[] = {
        [ES_PROCESS_RUNNING] = "running", [ES_PROCESS_FINALIZED] = "finalized",
        [ES_PROCESS_ABORTED] = "aborted", [ES_PROCESS_EXITED] = "exited",
        [ES_PROCESS_KILLED] = "killed",   [ES_PROCESS_LOST] = "lost",
    };

    return names[state];
}

static void put_process(struct esi_json_out *out, const struct esi_thread_state *thread)
{
    esi_json_out_string(out, "process", process_name(thread->process));
    if (thread->process == ES_PROCESS_KILLED)
        esi_json_out_signed(out, "signal", thread->signal);
    else
        esi_json_out_null(out, "signal");
    if (thread->process == ES_PROCESS_EXITED && thread->exit_code >= 0)
        esi_json_out_signed(out, "exit_code", thread->exit_code);
    else
        esi_json_out_null(out, "exit_code");
}

static void put_ranks(struct esi_json_out *out,
                      const char *key,
                      const int *ranks,
                      size_t count)
{
    esi_json_out_begin_array(out, key);
    for (size_t i = 0; i < count; i++)
        esi_json_out_signed(out, NULL, ranks[i]);
    esi_json_out_end(out);
}

static void put_wait(struct esi_json_out *out,
                     const struct esi_heartbeat_report *report,
                     size_t i)
{
    static const char *const reasons[] = {
        [ES_REASON_NONE] = "unknown",        [ES_REASON_RECEIVE] = "receive",
        [ES_REASON_SEND] = "send",           [ES_REASON_TRANSFER] = "transfer",
        [ES_REASON_COLLECTIVE] = "members",  [ES_REASON_COMPLETION] = "requests",
        [ES_REASON_ENTERED] = "all entered",
    };
    const struct esi_wait *wait = &report->waits[i];

    if (!esi_thread_is_blocked(&report->threads[i])) {
        esi_json_out_null(out, "waits_for");
        return;
    }
    esi_json_out_begin_object(out, "waits_for");
    esi_json_out_string(out, "reason", reasons[wait->reason]);
    put_ranks(out, "ranks", wait->targets, wait->target_count);
    esi_json_out_bool(out, "any", wait->state == ES_WAIT_ANY);
    esi_json_out_bool(out, "certain", wait->certain);
    esi_json_out_bool(out, "stuck", report->nodes[i].stuck);
    esi_json_out_end(out);
}

static void put_thread(struct esi_json_out *out,
                       const struct esi_heartbeat_report *report,
                       size_t i)
{
    const struct esi_thread_state *thread = &report->threads[i];

    esi_json_out_begin_object(out, NULL);
    esi_json_out_signed(out, "rank", thread->rank);
    esi_json_out_signed(out, "thread", thread->thread);
    esi_json_out_string(out, "host", thread->host);
    esi_json_out_signed(out, "pid", thread->pid);
    esi_json_out_string(out, "verdict", esi_verdict_name(thread->verdict));
    put_process(out, thread);
    esi_json_out_unsigned(out, "events", thread->events);
    esi_json_out_unsigned(out, "polls", thread->polls);
    esi_json_out_bool(out, "polling", thread->polls_rise);
    esi_json_out_unsigned(out, "unchanged_pulls", thread->unchanged);
    esi_json_out_unsigned(out, "quiet_ns", quiet_ns(report, thread));
    put_activity(out, "last", &thread->last);
    put_activity(out, "open", &thread->open);
    put_wait(out, report, i);
    esi_json_out_end(out);
}

static void put_result(struct esi_json_out *out, const struct esi_wait_result *result)
{
    esi_json_out_begin_array(out, "cycles");
    for (size_t i = 0; i < result->cycle_count; i++) {
        esi_json_out_begin_object(out, NULL);
        put_ranks(out, "ranks", result->cycles[i].ranks, result->cycles[i].count);
        esi_json_out_bool(out, "certain", result->cycles[i].certain);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
    esi_json_out_begin_array(out, "held_up_by");
    for (size_t i = 0; i < result->culprit_count; i++) {
        esi_json_out_begin_object(out, NULL);
        esi_json_out_signed(out, "rank", result->culprits[i].rank);
        esi_json_out_unsigned(out, "threads", result->culprits[i].waiting);
        esi_json_out_bool(out, "gone", result->culprits[i].gone);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

void esi_heartbeat_print_json(const struct esi_heartbeat_report *report, FILE *stream)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "run", report->run);
    esi_json_out_unsigned(&out, "pull", report->pull);
    esi_json_out_unsigned(&out, "time_ns", report->realtime_ns);
    esi_json_out_unsigned(&out, "stalled", report->stalled);
    esi_json_out_unsigned(&out, "dead", report->dead);
    esi_json_out_unsigned(&out, "finished", report->finished);
    esi_json_out_begin_array(&out, "threads");
    for (size_t i = 0; i < report->thread_count; i++)
        put_thread(&out, report, i);
    esi_json_out_end(&out);
    put_result(&out, report->result);
    esi_json_out_end(&out);
}
