/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* thread_state.c - verdicts on threads. */
#include "config.h"

#include "monitors/follow/thread_state.h"

const struct es_operation *esi_activity_subject(const struct esi_activity *activity)
{
    return es_operation_find(activity->awaited ? activity->awaited
                                               : activity->operation);
}

const char *esi_verdict_name(enum esi_verdict verdict)
{
    static const char *const names[] = {
        [ES_VERDICT_PROGRESSING] = "progressing",
        [ES_VERDICT_COMPUTING] = "computing",
        [ES_VERDICT_WAITING] = "waiting",
        [ES_VERDICT_POLLING] = "polling",
        [ES_VERDICT_STALLED] = "stalled",
        [ES_VERDICT_FINISHED] = "finished",
        [ES_VERDICT_DEAD] = "dead",
    };

    return names[verdict];
}

/* The verdict on a thread whose process has ended or finalized. */
static bool judge_end(struct esi_thread_state *state)
{
    switch (state->process) {
    case ES_PROCESS_RUNNING:
        return false;
    case ES_PROCESS_FINALIZED:
        state->verdict = ES_VERDICT_FINISHED;
        return true;
    case ES_PROCESS_EXITED:
        state->verdict = state->exit_code == 0 ? ES_VERDICT_FINISHED : ES_VERDICT_DEAD;
        return true;
    case ES_PROCESS_ABORTED:
    case ES_PROCESS_KILLED:
    case ES_PROCESS_LOST:
        break;
    }
    state->verdict = ES_VERDICT_DEAD;
    return true;
}

/* When the thread last did something that we know of. */
static uint64_t last_sign_ns(const struct esi_thread_state *state)
{
    if (state->open.present)
        return state->open.start_ns;
    return state->last.present ? state->last.stop_ns : 0;
}

/* Polls also begin an operation each time; only what completes is an event. */
static bool has_moved(const struct esi_thread_state *state,
                      const struct esi_thread_state *before)
{
    if (state->events != before->events)
        return true;
    if (state->polls != before->polls)
        return false;
    return state->open.present &&
           (!before->open.present || state->open.start_ns > before->open.start_ns);
}

static void judge_quiet(struct esi_thread_state *state, bool over_limit)
{
    if (state->polls_rise)
        state->verdict = over_limit ? ES_VERDICT_STALLED : ES_VERDICT_POLLING;
    else if (state->open.present)
        state->verdict = over_limit ? ES_VERDICT_STALLED : ES_VERDICT_WAITING;
    else
        state->verdict = ES_VERDICT_COMPUTING;
}

void esi_thread_judge(struct esi_thread_state *state,
                      const struct esi_thread_state *before,
                      unsigned limit,
                      uint64_t now_ns)
{
    state->unchanged = 0;
    state->polls_rise = before && state->polls != before->polls;
    state->polling_since_ns = 0;
    state->quiet_since_ns = last_sign_ns(state);
    if (judge_end(state))
        return;
    state->verdict = ES_VERDICT_PROGRESSING;
    if (!before || has_moved(state, before))
        return;
    state->unchanged = before->unchanged + 1;
    if (state->polls_rise) {
        /* Since the last event; each poll's own beginning says nothing. */
        state->polling_since_ns = before->polling_since_ns ? before->polling_since_ns
                                  : state->last.present    ? state->last.stop_ns
                                                           : now_ns;
        state->quiet_since_ns = state->polling_since_ns;
    }
    judge_quiet(state, state->unchanged >= limit);
}

void esi_thread_judge_by_age(struct esi_thread_state *state,
                             uint64_t limit_ns,
                             uint64_t now_ns)
{
    uint64_t sign_ns = last_sign_ns(state);
    uint64_t age_ns = now_ns > sign_ns ? now_ns - sign_ns : 0;

    state->quiet_since_ns = sign_ns;
    if (judge_end(state))
        return;
    if (!state->open.present)
        state->verdict =
            age_ns < limit_ns ? ES_VERDICT_PROGRESSING : ES_VERDICT_COMPUTING;
    else
        state->verdict = age_ns < limit_ns ? ES_VERDICT_WAITING : ES_VERDICT_STALLED;
}

bool esi_thread_is_blocked(const struct esi_thread_state *state)
{
    return state->open.present && !state->polls_rise &&
           (state->verdict == ES_VERDICT_STALLED ||
            state->verdict == ES_VERDICT_WAITING);
}
