/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_reference.c - computes costs of waits and the critical path by brute force. */
#include "config.h"

#include "tests/monitors/delay_reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct reference_call {
    uint64_t from;  /* end of the previous call */
    uint64_t until; /* end of the wait; 0 = no wait */
    int late;       /* rank that is waited for */
    uint64_t cause;
    int place;
    reference_sums *costs; /* of the wait; NULL = not computed yet */
};

static double overlap(uint64_t a, uint64_t b, uint64_t begin, uint64_t end)
{
    uint64_t low = a > begin ? a : begin;
    uint64_t high = b < end ? b : end;

    return high > low ? (double)(high - low) : 0;
}

/* --- Calls ------------------------------------------------------------------------ */

static int find_place(struct delay_reference *reference,
                      const struct made_timed_call *call)
{
    for (int i = 0; i < reference->place_count; i++)
        if (reference->places[i].line == call->line &&
            strcmp(reference->places[i].operation, call->operation) == 0)
            return i;
    assert_true(reference->place_count < REFERENCE_PLACES);
    reference->places[reference->place_count].line = call->line;
    reference->places[reference->place_count].operation = call->operation;
    return reference->place_count++;
}

/* Finds the wait of a call: until the last event that it needed, if within the call. */
static void find_wait(struct delay_reference *reference,
                      struct reference_call *found,
                      const struct made_timed_call *call,
                      uint64_t bound_ns)
{
    for (size_t i = 0; i < call->need_count; i++) {
        const struct made_need *need = &call->needs[i];

        if (need->ns <= call->begin + bound_ns || need->ns >= call->end)
            continue;
        if (need->ns == found->until && need->rank != found->late)
            reference->ties++;
        if (need->ns > found->until) {
            found->until = need->ns;
            found->cause = need->ns;
            found->late = need->rank;
        }
    }
}

static void make_calls(struct delay_reference *reference, int rank, uint64_t bound_ns)
{
    const struct made_timed_rank *of = &reference->timeline->of[rank];

    reference->calls[rank] = calloc(of->call_count + 1, sizeof *reference->calls[rank]);
    assert_non_null(reference->calls[rank]);
    for (size_t i = 0; i < of->call_count; i++) {
        struct reference_call *call = &reference->calls[rank][i];

        call->from = i > 0 ? of->calls[i - 1].end : of->calls[i].begin;
        call->place = find_place(reference, &of->calls[i]);
        find_wait(reference, call, &of->calls[i], bound_ns);
    }
}

/* --- Meetings --------------------------------------------------------------------- */

static uint64_t met_by_messages(const struct made_timeline *timeline,
                                int waiting,
                                uint64_t begin,
                                int late,
                                uint64_t cause)
{
    uint64_t last = 0;

    for (size_t i = 0; i < timeline->message_count; i++) {
        const struct made_timed_message *message = &timeline->messages[i];
        bool is_known =
            message->received && ((message->from == late && message->to == waiting &&
                                   message->received_ns <= begin) ||
                                  (message->from == waiting && message->to == late &&
                                   message->received_ns <= cause));

        if (is_known && message->sent_ns > last)
            last = message->sent_ns;
    }
    return last;
}

static uint64_t met_by_meetings(const struct made_timeline *timeline,
                                int waiting,
                                uint64_t begin,
                                int late,
                                uint64_t cause)
{
    uint64_t last = 0;

    for (size_t i = 0; i < timeline->meeting_count; i++) {
        const struct made_meeting *meeting = &timeline->meetings[i];
        bool meets_all = meeting->kind == MADE_STEP_BARRIER ||
                         meeting->kind == MADE_STEP_ALLREDUCE ||
                         meeting->kind == MADE_STEP_IBARRIER;

        if (!meets_all || !meeting->left[waiting] || !meeting->left[late] ||
            meeting->leave_ns[waiting] > begin || meeting->leave_ns[late] > cause)
            continue;
        for (int rank = 0; rank < timeline->ranks; rank++)
            if (meeting->enter_ns[rank] > last)
                last = meeting->enter_ns[rank];
    }
    return last;
}

/* --- Costs ------------------------------------------------------------------------ */

static const reference_sums *costs_of(struct delay_reference *reference,
                                      int rank,
                                      size_t number);

/* Adds the activities of a rank in (begin, end]: its own to `own`, and the ultimate
 * causes of its waits to `others`. */
static void add_activities(struct delay_reference *reference,
                           int rank,
                           uint64_t begin,
                           uint64_t end,
                           double sign,
                           double own[][2],
                           reference_sums others)
{
    const struct made_timed_rank *of = &reference->timeline->of[rank];

    for (size_t i = 0; i < of->call_count; i++) {
        const struct made_timed_call *call = &of->calls[i];
        const struct reference_call *known = &reference->calls[rank][i];
        double waited = overlap(call->begin, known->until, begin, end);
        const reference_sums *costs;

        own[known->place][0] += sign * overlap(known->from, call->begin, begin, end);
        own[known->place][1] += sign * overlap(call->begin, call->end, begin, end);
        if (waited <= 0)
            continue;
        own[known->place][1] -= sign * waited;
        costs = costs_of(reference, rank, i);
        for (int r = 0; r < TIMELINE_RANKS; r++)
            for (int p = 0; p < reference->place_count; p++)
                for (int what = 0; what < 2; what++)
                    others[r][p][what] += sign * (*costs)[r][p][what] * waited /
                                          (double)(known->until - call->begin);
    }
}

/* The sum of the activity of a rank just before a time. */
static double *activity_at(const struct delay_reference *reference,
                           int rank,
                           uint64_t ns,
                           reference_sums sums)
{
    const struct made_timed_rank *of = &reference->timeline->of[rank];
    size_t i = 0;

    while (i < of->call_count && of->calls[i].end < ns)
        i++;
    assert_true(i < of->call_count);
    return &sums[rank][reference->calls[rank][i].place][of->calls[i].begin < ns];
}

/* A cause that appears on both sides, as an activity of one rank and as a cause of
 * waits of the other, counts as excess only by its difference. */
static void cancel_both(int late,
                        int waiting,
                        int places,
                        double own[][2],
                        reference_sums others)
{
    for (int p = 0; p < places; p++)
        for (int what = 0; what < 2; what++) {
            double *of_waiting = &others[waiting][p][what];
            double *of_late = &others[late][p][what];
            double *mine = &own[p][what];
            double both;

            if (*mine < 0 && *of_waiting > 0) {
                both = -*mine < *of_waiting ? -*mine : *of_waiting;
                *mine += both;
                *of_waiting -= both;
            }
            if (*mine > 0 && *of_late < 0) {
                both = *mine < -*of_late ? *mine : -*of_late;
                *mine -= both;
                *of_late += both;
            }
        }
}

/* Divides `wait` in proportion to the positive sums.  Returns the share of `late`. */
static double share(double wait,
                    int late,
                    int places,
                    double own[][2],
                    reference_sums others,
                    reference_sums costs)
{
    double sum = 0;
    double direct = 0;

    for (int p = 0; p < places; p++)
        for (int what = 0; what < 2; what++) {
            direct += own[p][what] > 0 ? own[p][what] : 0;
            for (int r = 0; r < TIMELINE_RANKS; r++)
                *(r == late ? &direct : &sum) +=
                    others[r][p][what] > 0 ? others[r][p][what] : 0;
        }
    sum += direct;
    if (sum <= 0)
        return wait;
    for (int p = 0; p < places; p++)
        for (int what = 0; what < 2; what++) {
            if (own[p][what] > 0)
                costs[late][p][what] += wait * own[p][what] / sum;
            for (int r = 0; r < TIMELINE_RANKS; r++)
                if (others[r][p][what] > 0)
                    costs[r][p][what] += wait * others[r][p][what] / sum;
        }
    return wait * direct / sum;
}

static int count_of(const struct delay_reference *reference, const reference_sums *sums)
{
    int count = 0;

    for (int r = 0; r < TIMELINE_RANKS; r++)
        for (int p = 0; p < reference->place_count; p++)
            count += ((*sums)[r][p][0] > 0) + ((*sums)[r][p][1] > 0);
    return count;
}

static double sum_of(const struct delay_reference *reference,
                     const reference_sums *sums)
{
    double sum = 0;

    for (int r = 0; r < TIMELINE_RANKS; r++)
        for (int p = 0; p < reference->place_count; p++)
            sum += (*sums)[r][p][0] + (*sums)[r][p][1];
    return sum;
}

/* Costs of a call that waited; computed at the first use. */
static const reference_sums *costs_of(struct delay_reference *reference,
                                      int rank,
                                      size_t number)
{
    const struct made_timeline *timeline = reference->timeline;
    struct reference_call *call = &reference->calls[rank][number];
    uint64_t begin = timeline->of[rank].calls[number].begin;
    double own[REFERENCE_PLACES][2] = {{0}};
    reference_sums others = {{{0}}};
    double wait = (double)(call->until - begin);
    uint64_t since, meeting;

    if (call->costs)
        return (const reference_sums *)call->costs;
    call->costs = calloc(1, sizeof *call->costs);
    assert_non_null(call->costs);
    since = met_by_messages(timeline, rank, begin, call->late, call->cause);
    meeting = met_by_meetings(timeline, rank, begin, call->late, call->cause);
    if (meeting > since)
        since = meeting;
    add_activities(reference, call->late, since, call->cause, 1, own, others);
    add_activities(reference, rank, since, begin, -1, own, others);
    cancel_both(call->late, rank, reference->place_count, own, others);
    reference->direct +=
        share(wait, call->late, reference->place_count, own, others, *call->costs);
    if (sum_of(reference, (const reference_sums *)call->costs) <= 0)
        *activity_at(reference, call->late, call->cause, *call->costs) += wait;
    return (const reference_sums *)call->costs;
}

static void sum_costs(struct delay_reference *reference, int rank)
{
    const struct made_timed_rank *of = &reference->timeline->of[rank];

    for (size_t i = 0; i < of->call_count; i++) {
        const struct reference_call *call = &reference->calls[rank][i];
        const reference_sums *costs;

        if (call->until == 0)
            continue;
        reference->waits++;
        reference->waited[rank] += (double)(call->until - of->calls[i].begin);
        costs = costs_of(reference, rank, i);
        if (count_of(reference, costs) > reference->most_causes)
            reference->most_causes = count_of(reference, costs);
        for (int r = 0; r < TIMELINE_RANKS; r++)
            for (int p = 0; p < reference->place_count; p++)
                for (int what = 0; what < 2; what++)
                    reference->caused[r][p][what] += (*costs)[r][p][what];
    }
}

/* --- The critical path ------------------------------------------------------------ */

/* Adds the activities of a rank in (begin, end]; calls include their waits. */
static void add_piece(struct delay_reference *reference,
                      int rank,
                      uint64_t begin,
                      uint64_t end)
{
    const struct made_timed_rank *of = &reference->timeline->of[rank];

    for (size_t i = 0; i < of->call_count; i++) {
        const struct reference_call *call = &reference->calls[rank][i];
        double *sums = reference->critical[rank][call->place];

        sums[0] += overlap(call->from, of->calls[i].begin, begin, end);
        sums[1] += overlap(of->calls[i].begin, of->calls[i].end, begin, end);
    }
}

/* Number of the last call whose wait has ended by `ns`; SIZE_MAX = none. */
static size_t last_wait(const struct delay_reference *reference, int rank, uint64_t ns)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < reference->timeline->of[rank].call_count; i++)
        if (reference->calls[rank][i].until > 0 &&
            reference->calls[rank][i].until <= ns)
            found = i;
    return found;
}

static void find_critical(struct delay_reference *reference)
{
    const struct made_timeline *timeline = reference->timeline;
    int rank = 0;
    uint64_t ns = 0;
    size_t wait;

    for (int i = 0; i < timeline->ranks; i++) {
        const struct made_timed_rank *of = &timeline->of[i];

        if (of->calls[of->call_count - 1].end == ns)
            reference->ties++;
        if (of->calls[of->call_count - 1].end > ns) {
            ns = of->calls[of->call_count - 1].end;
            rank = i;
        }
    }
    while ((wait = last_wait(reference, rank, ns)) != SIZE_MAX) {
        const struct reference_call *call = &reference->calls[rank][wait];

        add_piece(reference, rank, call->until, ns);
        ns = call->cause;
        rank = call->late;
    }
    add_piece(reference, rank, 0, ns);
}

void delay_reference_make(struct delay_reference *reference,
                          const struct made_timeline *timeline,
                          uint64_t bound_ns)
{
    *reference = (struct delay_reference){.timeline = timeline};
    for (int rank = 0; rank < timeline->ranks; rank++)
        make_calls(reference, rank, bound_ns);
    for (int rank = 0; rank < timeline->ranks; rank++)
        sum_costs(reference, rank);
    find_critical(reference);
}

void delay_reference_fini(struct delay_reference *reference)
{
    for (int rank = 0; rank < reference->timeline->ranks; rank++) {
        for (size_t i = 0; i < reference->timeline->of[rank].call_count; i++)
            free(reference->calls[rank][i].costs);
        free(reference->calls[rank]);
    }
}
