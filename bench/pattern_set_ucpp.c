/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pattern_set_ucpp.c - two monitors protected by a faulty semaphore (Nichols, 4.7).
 *
 * The thesis states: 177,735 events on 11 traces; 5 threads, each with 2,000 passes
 * through one of two monitors, both protected by one semaphore which is not acquired
 * properly once in a hundred times; 4 events each for acquiring, releasing, entering
 * and leaving; 65 pairs of concurrent entries; only the event of its creation precedes
 * a thread's start.
 *
 * The rest follows from the counts: 78 concurrent pairs of start and stop (case 8) and
 * 28 times an event, a start and a stop (case 7) are 8 threads, of which 5 precede each
 * other's stops (25 pairs) and 3, which control, nobody's but their own: 25 + 3 = 28, 3
 * * 25 + 3 = 78.  With two monitors and the semaphore these are the 11 traces.  There
 * are about 5,000 entries per monitor (case 6: 37.46 million comparisons are one for
 * each pair and another for each that is not in this order).
 *
 * Calls are made one by one: a thread that can continue makes its next call.  A thread
 * that finds the semaphore taken is blocked, which makes two more events; the rest are
 * ticks of the thread that controls time.
 */
#include "config.h"

#include <stdbool.h>

#include "bench/pattern_set_maker.h"

enum {
    WORKERS = 5,
    CONTROLS = 3,
    THREADS = WORKERS + CONTROLS,
    MONITORS = 2,
    RUNS = 2000,
    EVENTS = 177735,
    FAULTY = 100, /* one of this many acquisitions */
    THINKING = 7, /* one of this many visits ends it */
};

enum phase { THINK, ACQUIRE, BLOCKED, ENTER, LEAVE, RELEASE, DONE };

struct worker {
    uint32_t trace;
    enum phase phase;
    uint32_t runs;
    uint32_t monitor; /* of the current pass */
    bool is_faulty;   /* the current pass does not have the semaphore */
};

struct ucpp {
    struct pattern_set_maker *maker;
    struct worker workers[WORKERS];
    uint32_t controls[CONTROLS];
    uint32_t monitors[MONITORS];
    uint32_t semaphore;
    bool is_taken;
};

/* --- Calls ------------------------------------------------------------------------ */

static void call(struct ucpp *ucpp, uint32_t thread, const char *type, uint32_t callee)
{
    set_message(ucpp->maker, thread, type, callee, "thread received");
}

static void answer(struct ucpp *ucpp,
                   uint32_t callee,
                   const char *type,
                   uint32_t thread,
                   const char *received)
{
    set_message(ucpp->maker, callee, type, thread, received);
}

static void grant(struct ucpp *ucpp, struct worker *worker)
{
    answer(ucpp, ucpp->semaphore, "thread granted", worker->trace, "acquired");
    worker->phase = ENTER;
}

static void acquire(struct ucpp *ucpp, struct worker *worker)
{
    call(ucpp, worker->trace, "acquire", ucpp->semaphore);
    worker->monitor = ucpp->monitors[set_draw(ucpp->maker, MONITORS)];
    worker->is_faulty = set_draw(ucpp->maker, FAULTY) == 0;
    if (ucpp->is_taken && !worker->is_faulty) {
        set_unary(ucpp->maker, ucpp->semaphore, "thread blocked", NULL);
        worker->phase = BLOCKED;
        return;
    }
    ucpp->is_taken = ucpp->is_taken || !worker->is_faulty;
    grant(ucpp, worker);
}

/* A waiting thread gets the semaphore next. */
static void wake(struct ucpp *ucpp)
{
    uint32_t blocked = 0, chosen;

    for (uint32_t i = 0; i < WORKERS; i++)
        blocked += ucpp->workers[i].phase == BLOCKED;
    ucpp->is_taken = blocked > 0;
    if (blocked == 0)
        return;
    chosen = set_draw(ucpp->maker, blocked);
    for (uint32_t i = 0; i < WORKERS; i++)
        if (ucpp->workers[i].phase == BLOCKED && chosen-- == 0) {
            set_unary(ucpp->maker, ucpp->semaphore, "thread unblocked", NULL);
            grant(ucpp, &ucpp->workers[i]);
            return;
        }
}

static void release(struct ucpp *ucpp, struct worker *worker)
{
    call(ucpp, worker->trace, "release", ucpp->semaphore);
    answer(ucpp, ucpp->semaphore, "thread released", worker->trace, "released");
    worker->phase = --worker->runs > 0 ? THINK : DONE;
    if (!worker->is_faulty)
        wake(ucpp);
}

/* --- Threads ---------------------------------------------------------------------- */

static void step(struct ucpp *ucpp, struct worker *worker)
{
    switch (worker->phase) {
    case THINK:
        if (set_draw(ucpp->maker, THINKING) == 0)
            worker->phase = ACQUIRE;
        break;
    case ACQUIRE:
        acquire(ucpp, worker);
        break;
    case ENTER:
        call(ucpp, worker->trace, "enter", worker->monitor);
        answer(ucpp, worker->monitor, "thread entered", worker->trace, "entered");
        worker->phase = LEAVE;
        break;
    case LEAVE:
        set_message(ucpp->maker, worker->trace, "leave", worker->monitor,
                    "thread left");
        answer(ucpp, worker->monitor, "thread returned", worker->trace, "left");
        worker->phase = RELEASE;
        break;
    case RELEASE:
        release(ucpp, worker);
        break;
    case BLOCKED:
    case DONE:
        break;
    }
}

static void run_workers(struct ucpp *ucpp)
{
    bool is_running = true;

    while (is_running && ucpp->maker->code >= 0) {
        step(ucpp, &ucpp->workers[set_draw(ucpp->maker, WORKERS)]);
        is_running = false;
        for (uint32_t i = 0; i < WORKERS; i++)
            is_running = is_running || ucpp->workers[i].phase != DONE;
    }
}

static void tell_traces(struct ucpp *ucpp)
{
    static const char *const controls[CONTROLS] = {"uMain(0x0x9ac5010)",
                                                   "uSystemTask(0x0x9ac51c8)",
                                                   "uProcessorTask(0x0x9ac5380)"};
    static const char *const workers[WORKERS] = {"T(0x0x9ac6010)", "T(0x0x9ac6198)",
                                                 "T(0x0x9ac6320)", "T(0x0x9ac64a8)",
                                                 "T(0x0x9ac6630)"};

    for (int i = 0; i < CONTROLS; i++)
        ucpp->controls[i] = set_trace(ucpp->maker, controls[i]);
    ucpp->semaphore = set_trace(ucpp->maker, "uSemaphore(0x0x9ac55c8)");
    ucpp->monitors[0] = set_trace(ucpp->maker, "M1(0x0x9ac5730)");
    ucpp->monitors[1] = set_trace(ucpp->maker, "M1(0x0x9ac5684)");
    for (int i = 0; i < WORKERS; i++)
        ucpp->workers[i] = (struct worker){
            .trace = set_trace(ucpp->maker, workers[i]), .phase = THINK, .runs = RUNS};
}

static uint32_t thread_trace(const struct ucpp *ucpp, uint32_t thread)
{
    return thread < WORKERS ? ucpp->workers[thread].trace
                            : ucpp->controls[thread - WORKERS];
}

static void make_on_threads(struct ucpp *ucpp, const char *type)
{
    for (uint32_t thread = 0; thread < THREADS; thread++)
        set_unary(ucpp->maker, thread_trace(ucpp, thread), type, NULL);
}

void make_ucpp_set(struct pattern_set_maker *maker)
{
    struct ucpp ucpp = {.maker = maker};

    tell_traces(&ucpp);
    make_on_threads(&ucpp, "thread create");
    make_on_threads(&ucpp, "thread start");
    run_workers(&ucpp);
    while (maker->code >= 0 && maker->made + THREADS < EVENTS)
        set_unary(maker, ucpp.controls[1], "tick", NULL);
    make_on_threads(&ucpp, "thread stop");
}
