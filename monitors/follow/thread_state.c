/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* thread_state.c - verdicts on threads. */
#include "config.h"

#include "monitors/follow/thread_state.h"

#include "tuplespace/process_state.h"

/* A wait of this length is reported before it counts as stalled. */
#define LASTING_NS UINT64_C(500000000)

const struct es_operation *esi_activity_subject(const struct esi_activity *activity)
{
    return es_operation_find(activity->awaited ? activity->awaited
                                               : activity->operation);
}

const struct esi_verdict_info esi_verdicts[ES_VERDICTS] = {
    [ES_VERDICT_PROGRESSING] = {"progressing", 1, ESI_COLOUR_GOOD, ESI_TONE_PLAIN},
    [ES_VERDICT_COMPUTING] = {"computing", 2, ESI_COLOUR_PLAIN, ESI_TONE_PLAIN},
    [ES_VERDICT_UNKNOWN] = {"unknown", 5, ESI_COLOUR_WAITS, ESI_TONE_DOUBT},
    [ES_VERDICT_WAITING] = {"waiting", 3, ESI_COLOUR_WAITS, ESI_TONE_PLAIN},
    [ES_VERDICT_POLLING] = {"polling", 4, ESI_COLOUR_WAITS, ESI_TONE_PLAIN},
    [ES_VERDICT_STALLED] = {"stalled", 6, ESI_COLOUR_BAD, ESI_TONE_BAD},
    [ES_VERDICT_FINISHED] = {"finished", 0, ESI_COLOUR_PLAIN, ESI_TONE_PLAIN},
    [ES_VERDICT_DEAD] = {"dead", 7, ESI_COLOUR_WORST, ESI_TONE_BAD},
};

/* The verdict on a thread whose process has ended or finalized. */
static bool judge_end(struct esi_thread_state *state)
{
    if (state->process == ES_PROCESS_RUNNING)
        return false;
    state->verdict = esi_process_has_failed(state->process, state->exit_code)
                         ? ES_VERDICT_DEAD
                         : ES_VERDICT_FINISHED;
    return true;
}

/* The time of the last known activity of the thread. */
static uint64_t last_sign_ns(const struct esi_thread_state *state)
{
    if (state->open.present)
        return state->open.start_ns;
    return state->last.present ? state->last.stop_ns : 0;
}

/* Each poll also begins an operation; only a completion is an event. */
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

static uint64_t span_since(uint64_t since_ns, uint64_t now_ns)
{
    return now_ns > since_ns ? now_ns - since_ns : 0;
}

static void judge_quiet(struct esi_thread_state *state,
                        uint64_t limit_ns,
                        uint64_t now_ns)
{
    uint64_t since_ns =
        state->polls_rise ? state->polling_since_ns : state->quiet_since_ns;
    uint64_t span_ns = span_since(since_ns, now_ns);

    if (!state->polls_rise && !state->open.present)
        state->verdict =
            state->elements_off ? ES_VERDICT_UNKNOWN : ES_VERDICT_COMPUTING;
    else if (span_ns >= limit_ns)
        state->verdict = ES_VERDICT_STALLED;
    else
        state->verdict = state->polls_rise ? ES_VERDICT_POLLING : ES_VERDICT_WAITING;
    state->lasts = state->verdict == ES_VERDICT_STALLED ||
                   (state->verdict == ES_VERDICT_WAITING && span_ns >= LASTING_NS);
}

/* The start of a single poll is not relevant. */
static void note_polling(struct esi_thread_state *state,
                         const struct esi_thread_state *before,
                         uint64_t now_ns)
{
    state->polling_since_ns =
        before->polling_since_ns ? before->polling_since_ns : now_ns;
    state->quiet_since_ns =
        state->last.present ? state->last.stop_ns : state->polling_since_ns;
}

void esi_thread_judge(struct esi_thread_state *state,
                      const struct esi_thread_state *before,
                      uint64_t limit_ns,
                      uint64_t now_ns)
{
    state->unchanged = 0;
    state->lasts = false;
    state->polls_rise = before && state->polls != before->polls;
    state->polling_since_ns = 0;
    state->quiet_since_ns = last_sign_ns(state);
    if (judge_end(state))
        return;
    if (before && has_moved(state, before)) {
        state->verdict = ES_VERDICT_PROGRESSING;
        return;
    }
    if (before)
        state->unchanged = before->unchanged + 1;
    if (state->polls_rise)
        note_polling(state, before, now_ns);
    judge_quiet(state, limit_ns, now_ns);
}

uint64_t esi_thread_until_ns(const struct esi_thread_state *state, uint64_t now_ns)
{
    if (state->ended_ns)
        return state->ended_ns;
    return state->verdict == ES_VERDICT_DEAD ? last_sign_ns(state) : now_ns;
}

uint64_t esi_thread_quiet_ns(const struct esi_thread_state *state, uint64_t now_ns)
{
    return state->quiet_since_ns
               ? span_since(state->quiet_since_ns, esi_thread_until_ns(state, now_ns))
               : 0;
}

bool esi_thread_is_blocked(const struct esi_thread_state *state)
{
    return state->open.present && !state->polls_rise &&
           (state->verdict == ES_VERDICT_STALLED ||
            state->verdict == ES_VERDICT_WAITING);
}
