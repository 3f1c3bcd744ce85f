/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* wait_words.c - puts into words what a thread waits for. */
#include "config.h"

#include "monitors/heartbeat/wait_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "eventspace/operation.h"
#include "monitors/follow/describe.h"

enum { WORDS = ES_WAIT_WORDS };

static bool is_message(const struct es_operation *operation)
{
    return operation && (operation->op_class == ES_CLASS_SEND ||
                         operation->op_class == ES_CLASS_RECEIVE);
}

/* "(tag 7, 12 s)", "(MPI_Irecv, any tag, 12 s)" */
static void describe_details(const struct esi_activity *open,
                             const char *span,
                             char out[WORDS])
{
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

static void describe_message_wait(const struct esi_heartbeat_report *report,
                                  const struct esi_wait_words *words,
                                  char out[WORDS])
{
    const struct esi_activity *open = &report->threads[words->index].open;
    const struct esi_wait *wait = &report->waits[words->index];
    const char *operation = es_operation_name(open->operation);
    char ranks[WORDS] = "somebody";
    char details[WORDS];

    describe_details(open, words->span, details);
    if (wait->target_count)
        esi_describe_ranks(ranks, sizeof ranks, wait->targets, wait->target_count);
    snprintf(out, WORDS, "%s", "");
    if (wait->reason == ES_REASON_TRANSFER)
        esi_describe_append(out, WORDS, "%s in %s, the message %s %s is under way %s",
                            words->many ? "are" : "is", operation,
                            open->peer == ES_PEER_ANY ? "of one of" : "shared with",
                            ranks, details);
    else if (is_of_several_requests(open))
        esi_describe_append(
            out, WORDS,
            "%s in %s for %" PRIu32 " requests, the first of them with %s %s",
            words->many ? "wait" : "waits", operation, open->bytes, ranks, details);
    else
        esi_describe_append(
            out, WORDS, "%s in %s for %s%s %s", words->many ? "wait" : "waits",
            operation,
            open->peer == ES_PEER_ANY && wait->target_count > 1 ? "any of " : "", ranks,
            details);
}

static void describe_collective_wait(const struct esi_heartbeat_report *report,
                                     const struct esi_wait_words *words,
                                     char out[WORDS])
{
    const struct esi_activity *open = &report->threads[words->index].open;
    const struct esi_wait *wait = &report->waits[words->index];
    char operation[WORDS];
    char ranks[WORDS] = "others";

    esi_describe_activity(operation, sizeof operation, open);
    if (wait->target_count)
        esi_describe_ranks(ranks, sizeof ranks, wait->targets, wait->target_count);
    snprintf(out, WORDS, "%s", "");
    if (wait->reason == ES_REASON_ENTERED)
        esi_describe_append(out, WORDS, "%s in %s, which all have entered (%s)",
                            words->many ? "are" : "is", operation, words->span);
    else
        esi_describe_append(out, WORDS, "%s in %s%s for %s to enter (%s)",
                            words->many ? "wait" : "waits", operation,
                            open->awaited ? "," : "", ranks, words->span);
}

void esi_wait_describe(const struct esi_heartbeat_report *report,
                       const struct esi_wait_words *words,
                       char out[WORDS])
{
    const struct esi_thread_state *thread = &report->threads[words->index];
    enum esi_wait_reason reason = report->waits[words->index].reason;
    const char *operation = es_operation_name(thread->open.operation);

    if (thread->polls_rise)
        snprintf(out, WORDS, "%s in vain (%s)", words->many ? "poll" : "polls",
                 words->span);
    else if (words->brief)
        snprintf(out, WORDS, "%s in %s for different ranks (%s)",
                 words->many ? "wait" : "waits", operation, words->span);
    else if (reason == ES_REASON_COLLECTIVE || reason == ES_REASON_ENTERED)
        describe_collective_wait(report, words, out);
    else if (reason != ES_REASON_NONE)
        describe_message_wait(report, words, out);
    else
        snprintf(out, WORDS, "%s in %s (%s)", words->many ? "are" : "is", operation,
                 words->span);
}
