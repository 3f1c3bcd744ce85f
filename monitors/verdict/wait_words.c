/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* wait_words.c - describes in words what a thread waits for. */
#include "config.h"

#include "monitors/verdict/wait_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Omits the rank itself if any one of the targets suffices. */
static const char *describe_targets(const struct esi_wait_words *words,
                                    char out[WORDS],
                                    size_t *ret_count)
{
    const struct esi_wait *wait = words->wait;
    int *ranks = calloc(wait->target_count + 1, sizeof *ranks);
    size_t count = 0;

    for (size_t i = 0; ranks && i < wait->target_count; i++)
        if (!wait->any || wait->target_count == 1 ||
            wait->targets[i] != words->thread->rank)
            ranks[count++] = wait->targets[i];
    if (count)
        esi_describe_ranks(out, WORDS, ranks, count);
    else
        snprintf(out, WORDS, "some rank");
    free(ranks);
    *ret_count = count;
    return out;
}

static void describe_message_wait(const struct esi_wait_words *words, char out[WORDS])
{
    const struct esi_activity *open = &words->thread->open;
    const struct esi_wait *wait = words->wait;
    const char *operation = es_operation_name(open->operation);
    char ranks[WORDS];
    size_t count;
    char details[WORDS];

    describe_details(open, words->span, details);
    describe_targets(words, ranks, &count);
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
        esi_describe_append(out, WORDS, "%s in %s for %s%s %s",
                            words->many ? "wait" : "waits", operation,
                            wait->any && count > 1 ? "any of " : "", ranks, details);
}

static void describe_collective_wait(const struct esi_wait_words *words,
                                     char out[WORDS])
{
    struct esi_activity open = words->thread->open;
    const struct esi_wait *wait = words->wait;
    char operation[WORDS];
    char ranks[WORDS] = "others";

    open.site = NULL; /* it comes last */
    esi_describe_activity(operation, sizeof operation, &open);
    if (wait->target_count)
        esi_describe_ranks(ranks, sizeof ranks, wait->targets, wait->target_count);
    snprintf(out, WORDS, "%s", "");
    if (wait->reason == ES_REASON_ENTERED)
        esi_describe_append(out, WORDS, "%s in %s, which all have entered (%s)",
                            words->many ? "are" : "is", operation, words->span);
    else
        esi_describe_append(out, WORDS, "%s in %s%s for %s to enter (%s)",
                            words->many ? "wait" : "waits", operation,
                            open.awaited ? "," : "", ranks, words->span);
}

/* Shows how many of several requests are outstanding. */
static void describe_requests(const struct esi_wait_words *words, char out[WORDS])
{
    const struct esi_wait *wait = words->wait;
    char ranks[WORDS];
    size_t count;

    describe_targets(words, ranks, &count);
    snprintf(out, WORDS, "%s", "");
    esi_describe_append(out, WORDS,
                        "%s in %s for %s%s (%" PRIu32 " of %" PRIu32
                        " requests outstanding, %s)",
                        words->many ? "wait" : "waits",
                        es_operation_name(words->thread->open.operation),
                        wait->any && count > 1 ? "any of " : "", ranks, wait->requests,
                        words->thread->open.bytes, words->span);
}

static void describe_polls(const struct esi_wait_words *words, char out[WORDS])
{
    char ranks[WORDS];
    size_t count;

    snprintf(out, WORDS, "%s in vain", words->many ? "poll" : "polls");
    describe_targets(words, ranks, &count);
    if (count)
        esi_describe_append(out, WORDS, " for %s%s", count > 1 ? "any of " : "", ranks);
    esi_describe_append(out, WORDS, " (%s)", words->span);
}

static void describe_wait(const struct esi_wait_words *words, char out[WORDS])
{
    enum esi_wait_reason reason = words->wait->reason;
    const char *operation = es_operation_name(words->thread->open.operation);

    if (words->thread->polls_rise)
        describe_polls(words, out);
    else if (words->brief)
        snprintf(out, WORDS, "%s in %s for different ranks (%s)",
                 words->many ? "wait" : "waits", operation, words->span);
    else if (words->wait->requests && is_of_several_requests(&words->thread->open))
        describe_requests(words, out);
    else if ((reason == ES_REASON_COLLECTIVE || reason == ES_REASON_ENTERED) &&
             words->wait->requests <= 1)
        describe_collective_wait(words, out);
    else if (reason != ES_REASON_NONE)
        describe_message_wait(words, out);
    else
        snprintf(out, WORDS, "%s in %s (%s)", words->many ? "are" : "is", operation,
                 words->span);
}

void esi_wait_describe(const struct esi_wait_words *words, char out[ES_WAIT_WORDS])
{
    const struct esi_activity *open = &words->thread->open;

    describe_wait(words, out);
    if (!words->many && open->present && open->site && *open->site)
        esi_describe_append(out, WORDS, ", at %s", open->site);
}

/* --- Requests --------------------------------------------------------------------- */

void esi_pending_read(const struct esi_facts *facts,
                      const struct esi_fact_process *process,
                      const struct esi_ledger_request *request,
                      struct esi_activity *ret_activity)
{
    uint32_t group = esi_fact_group_of(process, request->communicator);

    *ret_activity = (struct esi_activity){
        .present = true,
        .operation = request->operation,
        .peer = esi_fact_world_rank(process, request->communicator, request->peer),
        .tag = request->tag,
        .bytes = request->bytes,
        .sequence = request->sequence,
        .has_communicator = group != ESI_FACT_NO_GROUP,
        .communicator_index = request->communicator,
        .site = esi_fact_name_site(facts, process, request->site),
    };
    if (group != ESI_FACT_NO_GROUP)
        memcpy(ret_activity->communicator, esi_fact_group(facts, group)->name,
               sizeof ret_activity->communicator);
}
