/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* describe.c - describes what monitors know in words. */
#include "config.h"

#include "monitors/follow/describe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/operation.h"
#include "tuplespace/operation_codes.h"

void esi_describe_append(char *out, size_t size, const char *format, ...)
{
    size_t length = strlen(out);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(out + length, size - length, format, arguments);
    va_end(arguments);
}

static int compare_ranks(const void *a, const void *b)
{
    int first = *(const int *)a;
    int second = *(const int *)b;

    return (first > second) - (first < second);
}

/* "0-2,7" for sorted ranks.  Returns whether all of them are listed. */
static bool append_ranges(char *out, size_t size, const int *ranks, size_t count)
{
    const char *between = "";

    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && ranks[end] == ranks[end - 1] + 1;)
            end++;
        /* Leaves space for one more range and the end of the text. */
        if (strlen(out) + 48 > size) {
            esi_describe_append(out, size, " and %zu more", count - first);
            return false;
        }
        if (end - first == 1)
            esi_describe_append(out, size, "%s%d", between, ranks[first]);
        else
            esi_describe_append(out, size, "%s%d-%d", between, ranks[first],
                                ranks[end - 1]);
        between = ",";
    }
    return true;
}

/* Does the same for ranks in any order. */
static bool append_ranks(char *out, size_t size, const int *ranks, size_t count)
{
    int *ordered = calloc(count + 1, sizeof *ordered);
    bool is_whole;

    if (!ordered) {
        esi_describe_append(out, size, "(%zu of them)", count);
        return false;
    }
    memcpy(ordered, ranks, count * sizeof *ordered);
    qsort(ordered, count, sizeof *ordered, compare_ranks);
    is_whole = append_ranges(out, size, ordered, count);
    free(ordered);
    return is_whole;
}

const char *esi_describe_ranks(char *out, size_t size, const int *ranks, size_t count)
{
    snprintf(out, size, count == 1 ? "rank " : "ranks ");
    append_ranks(out, size, ranks, count);
    return out;
}

/* "from", "to" or "with" the peer. */
static const char *preposition_of(const struct es_operation *operation)
{
    if (operation && operation->probe)
        return "from";
    switch (operation ? operation->op_class : ES_CLASS_NONE) {
    case ES_CLASS_RECEIVE:
        return "from";
    case ES_CLASS_SEND:
        return "to";
    case ES_CLASS_COLLECTIVE:
        return "root";
    default:
        return "with";
    }
}

static void append_tag(char *out, size_t size, const struct esi_activity *activity)
{
    if (activity->tag == ES_TAG_ANY)
        esi_describe_append(out, size, ", any tag");
    else
        esi_describe_append(out, size, ", tag %d", activity->tag);
}

static bool is_message(enum es_class op_class)
{
    return op_class == ES_CLASS_SEND || op_class == ES_CLASS_RECEIVE ||
           op_class == ES_CLASS_COMPLETION;
}

static void append_peer(char *out,
                        size_t size,
                        const struct esi_activity *activity,
                        const struct es_operation *operation)
{
    if (activity->peer >= 0)
        esi_describe_append(out, size, " %s %d", preposition_of(operation),
                            activity->peer);
    else if (activity->has_no_peer)
        esi_describe_append(out, size, " %s %d (no such rank)",
                            preposition_of(operation), activity->argument);
    else if (activity->peer == ES_PEER_ANY)
        esi_describe_append(out, size, " %s any rank", preposition_of(operation));
    if (activity->peer != ES_PEER_NONE && operation &&
        is_message((enum es_class)operation->op_class))
        append_tag(out, size, activity);
}

/* " of 8 requests, first MPI_Irecv", " for MPI_Irecv". */
static void append_requests(char *out, size_t size, const struct esi_activity *activity)
{
    const struct es_operation *operation = es_operation_find(activity->operation);
    /* The number of a probe is the size of the message. */
    bool completes =
        operation && operation->op_class == ES_CLASS_COMPLETION && !operation->probe;
    const char *relation = operation && operation->waits ? " for" : " of";
    bool begins = activity->operation == ES_OP_MPI_collective_post;
    bool several = (completes || activity->awaited) && !begins && activity->bytes > 1;

    if (several)
        esi_describe_append(out, size, " of %" PRIu32 " requests", activity->bytes);
    if (activity->awaited)
        esi_describe_append(out, size, "%s %s", several ? ", first" : relation,
                            es_operation_name(activity->awaited));
}

const char *esi_describe_activity(char *out,
                                  size_t size,
                                  const struct esi_activity *activity)
{
    const struct es_operation *subject = esi_activity_subject(activity);
    bool collective = subject && subject->order != ES_ORDER_NONE;

    snprintf(out, size, "%s", es_operation_name(activity->operation));
    append_requests(out, size, activity);
    append_peer(out, size, activity, subject);
    if (activity->has_communicator && activity->communicator[0] &&
        (collective || strcmp(activity->communicator, "MPI_COMM_WORLD") != 0))
        esi_describe_append(out, size, " on %s", activity->communicator);
    if (collective && activity->sequence != ES_SEQUENCE_UNKNOWN)
        esi_describe_append(out, size, ", instance %" PRIu32, activity->sequence);
    if (activity->error)
        esi_describe_append(out, size, ", failed: %s", es_error_name(activity->error));
    if (activity->site && *activity->site)
        esi_describe_append(out, size, ", at %s", activity->site);
    return out;
}

static const char *signal_name(int signal)
{
    const char *name = sigabbrev_np(signal);

    return name ? name : "?";
}

const char *esi_describe_end(char *out,
                             size_t size,
                             const struct esi_thread_state *thread)
{
    const char *early =
        thread->before_mpi ? "before its first MPI call" : "without MPI_Finalize";

    snprintf(out, size, "%s", "");
    switch (thread->process) {
    case ES_PROCESS_RUNNING:
        if (thread->before_mpi)
            snprintf(out, size, "has not called MPI yet");
        break;
    case ES_PROCESS_FINALIZED:
        if (thread->exit_code > 0)
            snprintf(out, size, "exited with %d after MPI_Finalize", thread->exit_code);
        else
            snprintf(out, size, "finalized");
        break;
    case ES_PROCESS_ABORTED:
        snprintf(out, size, "called MPI_Abort");
        break;
    case ES_PROCESS_EXITED:
        if (thread->exit_code >= 0)
            snprintf(out, size, "exited with %d %s", thread->exit_code, early);
        else
            snprintf(out, size, "exited %s", early);
        break;
    case ES_PROCESS_KILLED:
        snprintf(out, size, "killed by signal %d (SIG%s)%s%s", thread->signal,
                 signal_name(thread->signal), thread->before_mpi ? " " : "",
                 thread->before_mpi ? early : "");
        break;
    case ES_PROCESS_LOST:
        snprintf(out, size, "gone for an unknown reason");
        break;
    }
    return out;
}

const char *esi_describe_off(char *out,
                             size_t size,
                             const char *run,
                             const int *ranks,
                             size_t count,
                             bool some)
{
    char list[160] = "";
    bool is_whole = append_ranks(list, sizeof list, ranks, count);

    snprintf(out, size, "%scollectors of %s %s are off: what %s%s is not known; ",
             some ? "some " : "", count == 1 ? "rank" : "ranks", list,
             some ? "else " : "", count == 1 ? "it does" : "they do");
    /* A truncated list cannot be used in an option. */
    if (is_whole)
        esi_describe_append(out, size,
                            "'eventspace collect on --rank %s %s' switches them on",
                            list, run);
    else
        esi_describe_append(out, size, "'eventspace collect on %s' switches all on",
                            run);
    return out;
}
