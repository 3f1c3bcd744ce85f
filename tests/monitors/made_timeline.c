/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * made_timeline.c - runs lists of steps in virtual time.
 *
 * A rank runs until it needs a step of another rank that has not run yet.  The
 * relations of its calls to other ranks are stored as ties.  When all ranks have ended
 * and all times are known, ties are converted to needs.
 */
#include "config.h"

#include "tests/monitors/made_timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "eventspace/operation.h"

enum { BEGIN_NS = 1000000, COST_NS = 1000, ADVANCE_TUPLES = 16, BYTES = 8 };

/* Grows by doubling. */
static void *grow(void *array, size_t count, size_t bytes)
{
    if ((count & (count - 1)) != 0)
        return array;
    array = realloc(array, (count ? 2 * count : 1) * bytes);
    assert_non_null(array);
    return array;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* --- Programs --------------------------------------------------------------------- */

void made_timeline_init(struct made_timeline *timeline, int ranks)
{
    assert_true(ranks <= TIMELINE_RANKS);
    *timeline = (struct made_timeline){.ranks = ranks};
    for (int line = 0; line < TIMELINE_LINES; line++)
        snprintf(timeline->lines[line], sizeof timeline->lines[line], "made.c:%d",
                 line);
    for (int rank = 0; rank < ranks; rank++) {
        timeline->of[rank].now = BEGIN_NS;
        timeline->of[rank].host = "made";
        made_timeline_step(timeline, rank, (struct made_step){.kind = MADE_STEP_INIT});
    }
}

void made_timeline_fini(struct made_timeline *timeline)
{
    for (int rank = 0; rank < timeline->ranks; rank++) {
        struct made_timed_rank *of = &timeline->of[rank];

        for (size_t i = 0; i < of->call_count; i++)
            free(of->calls[i].needs);
        free(of->calls);
        free(of->steps);
        free(of->ties);
    }
    free(timeline->messages);
    free(timeline->meetings);
    free(timeline->tuples);
}

void made_timeline_step(struct made_timeline *timeline, int rank, struct made_step step)
{
    struct made_timed_rank *of = &timeline->of[rank];

    if (step.ns == 0)
        step.ns = COST_NS;
    of->steps = grow(of->steps, of->step_count, sizeof *of->steps);
    of->steps[of->step_count++] = step;
}

void made_timeline_step_all(struct made_timeline *timeline, struct made_step step)
{
    for (int rank = 0; rank < timeline->ranks; rank++)
        made_timeline_step(timeline, rank, step);
}

/* --- Tuples ----------------------------------------------------------------------- */

static uint16_t code_of(const char *operation)
{
    const struct es_operation *found = es_operation_by_name(operation);

    assert_non_null(found);
    return found->code;
}

static void write_tuple(struct made_timeline *timeline,
                        int rank,
                        int line,
                        struct es_tuple tuple)
{
    timeline->tuples =
        grow(timeline->tuples, timeline->tuple_count, sizeof *timeline->tuples);
    timeline->tuples[timeline->tuple_count] = (struct made_timed_tuple){
        .tuple = tuple, .rank = rank, .line = line, .number = timeline->tuple_count};
    timeline->tuple_count++;
}

void made_timeline_tuple(struct made_timeline *timeline,
                         int rank,
                         const char *operation,
                         struct es_tuple tuple)
{
    tuple.operation = code_of(operation);
    write_tuple(timeline, rank, 0, tuple);
}

static void write_message(struct made_timeline *timeline,
                          int rank,
                          int line,
                          const char *operation,
                          const struct made_timed_message *message,
                          uint64_t start,
                          uint64_t stop)
{
    write_tuple(
        timeline, rank, line,
        (struct es_tuple){.operation = code_of(operation),
                          .start = start,
                          .stop = stop,
                          .peer = rank == message->from ? message->to : message->from,
                          .tag = message->tag,
                          .sequence = message->sequence,
                          .bytes = BYTES});
}

/* --- Messages --------------------------------------------------------------------- */

static size_t find_message(struct made_timeline *timeline,
                           int from,
                           int to,
                           int tag,
                           bool sends)
{
    struct made_timed_message *message;
    uint32_t sequence = 0;

    for (size_t i = 0; i < timeline->message_count; i++) {
        message = &timeline->messages[i];
        if (message->is_collective || message->from != from || message->to != to ||
            message->tag != tag)
            continue;
        if (sends ? !message->sent : !message->posted)
            return i;
        sequence++;
    }
    timeline->messages =
        grow(timeline->messages, timeline->message_count, sizeof *timeline->messages);
    timeline->messages[timeline->message_count] = (struct made_timed_message){
        .from = from, .to = to, .tag = tag, .sequence = sequence};
    return timeline->message_count++;
}

static void add_tie(struct made_timed_rank *of, struct made_tie tie)
{
    of->ties = grow(of->ties, of->tie_count, sizeof *of->ties);
    tie.call = SIZE_MAX;
    of->ties[of->tie_count++] = tie;
}

static void begin_send(struct made_timeline *timeline,
                       int rank,
                       const struct made_step *step,
                       uint64_t now)
{
    size_t index = find_message(timeline, rank, step->peer, step->tag, true);

    timeline->messages[index].sent = true;
    timeline->messages[index].sent_ns = now;
    add_tie(&timeline->of[rank],
            (struct made_tie){.kind = MADE_TIE_SEND,
                              .index = index,
                              .start = now,
                              .line = step->line,
                              .rendezvous =
                                  step->rendezvous || step->kind == MADE_STEP_SSEND});
}

static void begin_receive(struct made_timeline *timeline,
                          int rank,
                          int from,
                          const struct made_step *step,
                          uint64_t now)
{
    size_t index = find_message(timeline, from, rank, step->tag, false);

    timeline->messages[index].posted = true;
    timeline->messages[index].posted_ns = now;
    add_tie(&timeline->of[rank], (struct made_tie){.kind = MADE_TIE_RECEIVE,
                                                   .index = index,
                                                   .start = now,
                                                   .line = step->line});
}

/* --- Collective operations -------------------------------------------------------- */

static const char *name_of(enum made_step_kind kind)
{
    static const char *const names[] = {
        [MADE_STEP_SEND] = "MPI_Send",           [MADE_STEP_SSEND] = "MPI_Ssend",
        [MADE_STEP_RECV] = "MPI_Recv",           [MADE_STEP_ISEND] = "MPI_Isend",
        [MADE_STEP_IRECV] = "MPI_Irecv",         [MADE_STEP_WAITALL] = "MPI_Waitall",
        [MADE_STEP_SENDRECV] = "MPI_Sendrecv",   [MADE_STEP_BARRIER] = "MPI_Barrier",
        [MADE_STEP_ALLREDUCE] = "MPI_Allreduce", [MADE_STEP_BCAST] = "MPI_Bcast",
        [MADE_STEP_REDUCE] = "MPI_Reduce",       [MADE_STEP_SCAN] = "MPI_Scan",
        [MADE_STEP_IBARRIER] = "MPI_Ibarrier",   [MADE_STEP_INIT] = "MPI_Init",
    };

    return names[kind];
}

static void enter_meeting(struct made_timeline *timeline,
                          int rank,
                          const struct made_step *step,
                          uint64_t now)
{
    size_t index = timeline->of[rank].instances++;
    struct made_meeting *meeting;

    while (timeline->meeting_count <= index) {
        timeline->meetings = grow(timeline->meetings, timeline->meeting_count,
                                  sizeof *timeline->meetings);
        timeline->meetings[timeline->meeting_count++] =
            (struct made_meeting){.kind = step->kind, .root = step->peer};
    }
    meeting = &timeline->meetings[index];
    assert_int_equal(meeting->kind, step->kind);
    assert_int_equal(meeting->root, step->peer);
    meeting->entered[rank] = true;
    meeting->enter_ns[rank] = now;
    add_tie(&timeline->of[rank], (struct made_tie){.kind = MADE_TIE_MEETING,
                                                   .index = index,
                                                   .start = now,
                                                   .line = step->line});
}

/* Whether `rank` can leave only after `other` has entered. */
static bool needs_other(const struct made_meeting *meeting, int rank, int other)
{
    if (rank == other)
        return false;
    switch (meeting->kind) {
    case MADE_STEP_BCAST:
        return other == meeting->root;
    case MADE_STEP_REDUCE:
        return rank == meeting->root;
    case MADE_STEP_SCAN:
        return other < rank;
    default:
        return true;
    }
}

/* --- Ties ------------------------------------------------------------------------- */

/* Advances *until to the time at which the operation lets `rank` leave.  Returns false
 * if that time is not known yet. */
static bool wait_for_meeting(const struct made_timeline *timeline,
                             int rank,
                             const struct made_meeting *meeting,
                             uint64_t *until)
{
    for (int other = 0; other < timeline->ranks; other++) {
        if (!needs_other(meeting, rank, other))
            continue;
        if (!meeting->entered[other])
            return false;
        *until = later_of(*until, meeting->enter_ns[other] + timeline->latency_ns);
    }
    return true;
}

static bool wait_for_tie(const struct made_timeline *timeline,
                         int rank,
                         const struct made_tie *tie,
                         uint64_t *until)
{
    const struct made_timed_message *message;

    if (tie->kind == MADE_TIE_MEETING)
        return wait_for_meeting(timeline, rank, &timeline->meetings[tie->index], until);
    message = &timeline->messages[tie->index];
    if (tie->kind == MADE_TIE_RECEIVE) {
        *until = later_of(*until, message->sent_ns + timeline->latency_ns);
        return message->sent;
    }
    if (!tie->rendezvous)
        return true;
    *until = later_of(*until, message->posted_ns + timeline->latency_ns);
    return message->posted;
}

/* Writes the tuple of a request that completes. */
static void write_completed(struct made_timeline *timeline,
                            int rank,
                            const struct made_tie *tie,
                            uint64_t stop)
{
    if (tie->kind == MADE_TIE_RECEIVE)
        write_message(timeline, rank, tie->line, "MPI_Irecv",
                      &timeline->messages[tie->index], tie->start, stop);
    else if (tie->kind == MADE_TIE_MEETING)
        write_tuple(timeline, rank, tie->line,
                    (struct es_tuple){.operation = code_of("MPI_Ibarrier"),
                                      .start = tie->start,
                                      .stop = stop,
                                      .peer = ES_PEER_NONE,
                                      .sequence = (uint32_t)tie->index});
}

/* A wait has the fields of its first request. */
static void describe_wait(const struct made_timeline *timeline,
                          int rank,
                          const struct made_tie *tie,
                          struct es_tuple *wait)
{
    const struct made_timed_message *message;

    wait->communicator = 0;
    if (tie->kind == MADE_TIE_MEETING) {
        wait->sequence = code_of("MPI_Ibarrier");
        wait->tag = (int32_t)tie->index;
        return;
    }
    message = &timeline->messages[tie->index];
    wait->sequence = code_of(tie->kind == MADE_TIE_SEND ? "MPI_Isend" : "MPI_Irecv");
    wait->peer = rank == message->from ? message->to : message->from;
    wait->tag = message->tag;
}

static void write_completion(struct made_timeline *timeline,
                             int rank,
                             const struct made_step *step,
                             uint64_t start,
                             uint64_t stop)
{
    const struct made_timed_rank *of = &timeline->of[rank];
    struct es_tuple tuple = {.operation = code_of("MPI_Waitall"),
                             .communicator = ES_COMMUNICATOR_NONE,
                             .start = start,
                             .stop = stop,
                             .peer = ES_PEER_NONE,
                             .sequence = ES_SEQUENCE_UNKNOWN};

    for (size_t i = 0; i < of->tie_count; i++)
        if (of->ties[i].call == SIZE_MAX) {
            write_completed(timeline, rank, &of->ties[i], stop);
            if (tuple.bytes++ == 0)
                describe_wait(timeline, rank, &of->ties[i], &tuple);
        }
    write_tuple(timeline, rank, step->line, tuple);
}

static void end_tie(struct made_timeline *timeline,
                    int rank,
                    struct made_tie *tie,
                    uint64_t stop)
{
    tie->call = timeline->of[rank].call_count - 1;
    if (tie->kind == MADE_TIE_RECEIVE) {
        timeline->messages[tie->index].received = true;
        timeline->messages[tie->index].received_ns = stop;
    } else if (tie->kind == MADE_TIE_MEETING) {
        timeline->meetings[tie->index].left[rank] = true;
        timeline->meetings[tie->index].leave_ns[rank] = stop;
    }
}

/* --- Calls ------------------------------------------------------------------------ */

static void add_call(struct made_timed_rank *of,
                     const struct made_step *step,
                     uint64_t end)
{
    of->calls = grow(of->calls, of->call_count, sizeof *of->calls);
    of->calls[of->call_count++] =
        (struct made_timed_call){.operation = name_of(step->kind),
                                 .line = step->line,
                                 .begin = of->begin,
                                 .end = end};
}

static void write_ties(struct made_timeline *timeline,
                       int rank,
                       const struct made_step *step,
                       uint64_t stop)
{
    const struct made_timed_rank *of = &timeline->of[rank];

    for (size_t i = of->tie_count; i-- > 0;) {
        const struct made_tie *tie = &of->ties[i];

        if (tie->call != SIZE_MAX || tie->start != of->begin)
            continue;
        if (tie->kind == MADE_TIE_MEETING)
            write_tuple(timeline, rank, step->line,
                        (struct es_tuple){.operation = code_of(name_of(step->kind)),
                                          .start = of->begin,
                                          .stop = stop,
                                          .peer = step->peer,
                                          .sequence = (uint32_t)tie->index,
                                          .bytes = BYTES});
        else
            write_message(timeline, rank, step->line,
                          step->kind == MADE_STEP_SENDRECV &&
                                  tie->kind == MADE_TIE_RECEIVE
                              ? "MPI_Sendrecv receive"
                              : name_of(step->kind),
                          &timeline->messages[tie->index], of->begin, stop);
    }
}

/* Whether the step starts a request that another step completes. */
static bool is_begin(enum made_step_kind kind)
{
    return kind == MADE_STEP_ISEND || kind == MADE_STEP_IRECV ||
           kind == MADE_STEP_IBARRIER;
}

static void begin_step(struct made_timeline *timeline,
                       int rank,
                       const struct made_step *step)
{
    struct made_timed_rank *of = &timeline->of[rank];

    of->inside = true;
    of->begin = of->now;
    switch (step->kind) {
    case MADE_STEP_SENDRECV:
        begin_receive(timeline, rank, step->from, step, of->now);
        begin_send(timeline, rank, step, of->now);
        break;
    case MADE_STEP_SEND:
    case MADE_STEP_SSEND:
    case MADE_STEP_ISEND:
        begin_send(timeline, rank, step, of->now);
        break;
    case MADE_STEP_RECV:
    case MADE_STEP_IRECV:
        begin_receive(timeline, rank, step->peer, step, of->now);
        break;
    case MADE_COMPUTE:
    case MADE_STEP_INIT:
    case MADE_STEP_WAITALL:
        break;
    default:
        enter_meeting(timeline, rank, step, of->now);
        break;
    }
}

/* An MPI_Isend is a call of its own; other requests are reported at completion. */
static void end_begin(struct made_timeline *timeline,
                      int rank,
                      const struct made_step *step)
{
    struct made_timed_rank *of = &timeline->of[rank];
    const struct made_tie *tie = &of->ties[of->tie_count - 1];
    uint64_t stop = of->begin + step->ns;

    of->now = stop;
    if (step->kind == MADE_STEP_ISEND) {
        add_call(of, step, stop);
        write_message(timeline, rank, step->line, "MPI_Isend",
                      &timeline->messages[tie->index], of->begin, stop);
    } else if (step->kind == MADE_STEP_IBARRIER) {
        write_tuple(timeline, rank, step->line,
                    (struct es_tuple){.operation = code_of("MPI collective post"),
                                      .start = of->begin,
                                      .stop = stop,
                                      .peer = ES_PEER_NONE,
                                      .tag = code_of("MPI_Ibarrier"),
                                      .sequence = (uint32_t)tie->index});
    }
}

/* Whether a tie belongs to the current call. */
static bool concerns(const struct made_timed_rank *of,
                     const struct made_step *step,
                     const struct made_tie *tie)
{
    return tie->call == SIZE_MAX &&
           (step->kind == MADE_STEP_WAITALL || tie->start == of->begin);
}

static bool end_call(struct made_timeline *timeline,
                     int rank,
                     const struct made_step *step)
{
    struct made_timed_rank *of = &timeline->of[rank];
    uint64_t until = of->begin;

    for (size_t i = 0; i < of->tie_count; i++)
        if (concerns(of, step, &of->ties[i]) &&
            !wait_for_tie(timeline, rank, &of->ties[i], &until))
            return false;
    of->now = until + step->ns;
    if (step->kind == MADE_STEP_WAITALL)
        write_completion(timeline, rank, step, of->begin, of->now);
    else if (step->kind == MADE_STEP_INIT)
        write_tuple(timeline, rank, step->line,
                    (struct es_tuple){.operation = code_of("MPI_Init"),
                                      .communicator = ES_COMMUNICATOR_NONE,
                                      .start = of->begin,
                                      .stop = of->now,
                                      .peer = ES_PEER_NONE,
                                      .sequence = ES_SEQUENCE_UNKNOWN});
    else
        write_ties(timeline, rank, step, of->now);
    add_call(of, step, of->now);
    for (size_t i = 0; i < of->tie_count; i++)
        if (concerns(of, step, &of->ties[i]))
            end_tie(timeline, rank, &of->ties[i], of->now);
    return true;
}

/* Runs the next step as far as possible.  Returns whether it ended. */
static bool run_step(struct made_timeline *timeline, int rank)
{
    struct made_timed_rank *of = &timeline->of[rank];
    const struct made_step *step = &of->steps[of->next];

    if (!of->inside)
        begin_step(timeline, rank, step);
    if (step->kind == MADE_COMPUTE)
        of->now += step->ns;
    else if (is_begin(step->kind))
        end_begin(timeline, rank, step);
    else if (!end_call(timeline, rank, step))
        return false;
    of->inside = false;
    of->next++;
    return true;
}

/* --- Needs ------------------------------------------------------------------------ */

static void add_need(struct made_timed_call *call, int rank, uint64_t ns)
{
    call->needs = grow(call->needs, call->need_count, sizeof *call->needs);
    call->needs[call->need_count++] = (struct made_need){.rank = rank, .ns = ns};
}

static void add_collective_message(struct made_timeline *timeline,
                                   const struct made_meeting *meeting,
                                   int from,
                                   int to)
{
    timeline->messages =
        grow(timeline->messages, timeline->message_count, sizeof *timeline->messages);
    timeline->messages[timeline->message_count++] =
        (struct made_timed_message){.from = from,
                                    .to = to,
                                    .sent = true,
                                    .posted = true,
                                    .received = true,
                                    .is_collective = true,
                                    .sent_ns = meeting->enter_ns[from],
                                    .received_ns = meeting->leave_ns[to]};
}

static bool is_all_to_all(const struct made_meeting *meeting)
{
    return meeting->kind == MADE_STEP_BARRIER || meeting->kind == MADE_STEP_ALLREDUCE ||
           meeting->kind == MADE_STEP_IBARRIER;
}

static void add_needs_of_meeting(struct made_timeline *timeline,
                                 int rank,
                                 struct made_timed_call *call,
                                 const struct made_meeting *meeting)
{
    for (int other = 0; other < timeline->ranks; other++) {
        if (!needs_other(meeting, rank, other))
            continue;
        add_need(call, other, meeting->enter_ns[other]);
        if (!is_all_to_all(meeting))
            add_collective_message(timeline, meeting, other, rank);
    }
}

static void add_need_of_message(struct made_timed_call *call,
                                const struct made_tie *tie,
                                const struct made_timed_message *message)
{
    if (tie->kind == MADE_TIE_RECEIVE)
        add_need(call, message->from, message->sent_ns);
    else if (message->received)
        add_need(call, message->to, message->posted_ns);
}

static void add_needs(struct made_timeline *timeline, int rank)
{
    struct made_timed_rank *of = &timeline->of[rank];

    for (size_t i = 0; i < of->tie_count; i++) {
        const struct made_tie *tie = &of->ties[i];

        if (tie->call == SIZE_MAX)
            continue;
        if (tie->kind == MADE_TIE_MEETING)
            add_needs_of_meeting(timeline, rank, &of->calls[tie->call],
                                 &timeline->meetings[tie->index]);
        else
            add_need_of_message(&of->calls[tie->call], tie,
                                &timeline->messages[tie->index]);
    }
}

/* --- Running ---------------------------------------------------------------------- */

static int by_publication(const void *left, const void *right)
{
    const struct made_timed_tuple *a = left;
    const struct made_timed_tuple *b = right;

    if (a->tuple.stop != b->tuple.stop)
        return a->tuple.stop < b->tuple.stop ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

void made_timeline_run(struct made_timeline *timeline)
{
    bool goes_on = true;

    while (goes_on) {
        goes_on = false;
        for (int rank = 0; rank < timeline->ranks; rank++)
            while (timeline->of[rank].next < timeline->of[rank].step_count &&
                   run_step(timeline, rank))
                goes_on = true;
    }
    for (int rank = 0; rank < timeline->ranks; rank++) {
        assert_int_equal(timeline->of[rank].next, timeline->of[rank].step_count);
        add_needs(timeline, rank);
    }
    qsort(timeline->tuples, timeline->tuple_count, sizeof *timeline->tuples,
          by_publication);
}

/* --- Reporting -------------------------------------------------------------------- */

static int ignore_trace(void *data, uint32_t trace, const char *name)
{
    (void)data;
    (void)trace;
    (void)name;
    return 0;
}

static int ignore_event(void *data, const struct es_set_event *event)
{
    (void)data;
    (void)event;
    return 0;
}

static uint32_t tell_rank(const struct made_timeline *timeline,
                          struct esi_causality *causality,
                          int rank)
{
    struct esi_run_process config = {
        .host = timeline->of[rank].host, .rank = rank, .identity = (uint64_t)rank + 1};
    struct esi_run_reported world = {
        .key = {1, 2}, .name = "MPI_COMM_WORLD", .rank = rank, .size = timeline->ranks};
    struct esi_run_process *process;
    uint32_t element;

    assert_int_equal(
        esi_run_model_add_process(esi_causality_run(causality), &config, &process), 0);
    assert_int_equal(esi_causality_add_element(causality, process, 0, &element), 0);
    assert_int_equal(esi_run_model_set_communicator(esi_causality_run(causality),
                                                    process, 0, &world),
                     0);
    return element;
}

static void tell_tuple(const struct made_timeline *timeline,
                       struct esi_causality *causality,
                       uint32_t element,
                       const struct made_timed_tuple *made)
{
    const struct made_timed_rank *of = &timeline->of[made->rank];
    struct esi_causal_tuple told = {
        .tuple = made->tuple,
        .start_ns = made->tuple.start + (uint64_t)of->offset_ns,
        .stop_ns = made->tuple.stop + (uint64_t)of->offset_ns,
        .error_ns = of->error_ns,
        .site = timeline->lines[made->line],
    };

    assert_int_equal(esi_causality_add(causality, element, &told), 0);
}

void made_timeline_tell(struct made_timeline *timeline,
                        const struct esi_causal_listener *listener)
{
    const struct es_set_sink nobody = {.trace = ignore_trace, .event = ignore_event};
    const struct esi_causality_config config = {
        .sink = timeline->sink.event ? timeline->sink : nobody,
        .listener = *listener,
        .attributes = timeline->attributes};
    size_t advance =
        timeline->advance_tuples > 0 ? timeline->advance_tuples : ADVANCE_TUPLES;
    struct esi_causality_totals totals;
    struct esi_causality *causality;
    uint32_t elements[TIMELINE_RANKS];

    assert_int_equal(esi_causality_create(&config, &causality), 0);
    for (int rank = 0; rank < timeline->ranks; rank++)
        elements[rank] = tell_rank(timeline, causality, rank);
    for (size_t i = 0; i < timeline->tuple_count; i++) {
        tell_tuple(timeline, causality, elements[timeline->tuples[i].rank],
                   &timeline->tuples[i]);
        if (i % advance == 0)
            assert_int_equal(esi_causality_advance(causality), 0);
    }
    assert_int_equal(esi_causality_finish(causality), 0);
    esi_causality_totals(causality, &totals);
    assert_int_equal(totals.held, 0);
    assert_int_equal(totals.unmatched_receives, 0);
    assert_int_equal(totals.incomplete, 0);
    esi_causality_destroy(causality);
}
