/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * time_repair.c - moves each time forward as far as the times before it require.
 *
 * Start and stop of an operation are two points on its process's line.  Points are
 * settled in time order: a stop when everything that must precede it is settled, a
 * start when no earlier stop of its process is unsettled.  As causes really are
 * earlier, this never waits in a cycle; if it does because matches or times are wrong,
 * the window ends the wait.
 *
 * Operations are stored in a ring in the order of adding, and are identified by their
 * number + 1 in that order; 0 is none.
 */
#include "config.h"

#include "monitors/events/time_repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "monitors/events/logical_clock.h"

#define DEFAULT_MAX ((size_t)65536)
#define DEFAULT_CONTROL 0.99
#define MOST_PROCESSES (UINT32_C(1) << 20)

/* A match: a send and its receive, the members of a collective operation, or both ends
 * of a tree's edge.  It is removed when all its ends were seen and settled; of the
 * others, the oldest is removed if there are too many. */
struct time_match {
    struct esi_end end;
    uint32_t members_left; /* ends not seen yet */
    uint32_t befores_left; /* starts not known yet */
    uint32_t members;
    uint64_t latest_ns; /* of the known starts */
    uint64_t error_ns;  /* error bound of its clock */
    bool told;          /* at least one start is known */
    uint64_t waiting;   /* the first operation that waits for all starts */
    uint32_t users;     /* operations that refer to it */
};

struct held {
    struct esi_timed timed;   /* as added; with repaired times once settled */
    struct time_match *match; /* NULL = none, or released */
    uint64_t next;            /* next operation of its process */
    uint64_t next_start;      /* next unsettled start of its process */
    uint64_t next_waiting;    /* next one that waits for the same match */
    uint64_t shown_start_ns;
    bool start_settled;
    bool waits;
    bool forced;  /* stop waiting */
    bool settled; /* both times are settled */
    bool given;
};

struct repaired_process {
    struct esi_logical_clock clock;
    uint64_t first; /* the first with an unsettled stop */
    uint64_t last;
    uint64_t starts; /* unsettled starts that others wait for, in order */
    uint64_t last_start;
    uint64_t newest_ns;
};

struct esi_time_repair {
    struct esi_time_repair_config config;
    struct esi_time_repair_totals totals;
    struct esi_ends matches;            /* of struct time_match */
    struct repaired_process *processes; /* owned */
    size_t process_count;
    struct held *ring; /* owned; a power of two; likewise payloads */
    char *payloads;
    size_t ring_size;
    struct esi_heap settled; /* settled but not delivered: numbers, by time or by
                                number */
    uint64_t added;          /* number of the newest */
    uint64_t given;          /* all up to this number were delivered */
    uint64_t unsettled;      /* all before this number are settled */
    uint64_t newest_ns;      /* newest stop */
    uint32_t *todo;          /* owned: processes to examine */
    size_t todo_count;
    size_t todo_capacity;
};

static struct held *item_at(const struct esi_time_repair *repair, uint64_t number)
{
    return &repair->ring[number & (repair->ring_size - 1)];
}

static void *payload_of(const struct esi_time_repair *repair, uint64_t number)
{
    return repair->payloads +
           (number & (repair->ring_size - 1)) * repair->config.payload_bytes;
}

int esi_time_repair_create(const struct esi_time_repair_config *config,
                           struct esi_time_repair **ret_repair)
{
    struct esi_time_repair *repair = calloc(1, sizeof *repair);

    if (!repair)
        return -ENOMEM;
    repair->config = *config;
    if (repair->config.max_held == 0)
        repair->config.max_held = DEFAULT_MAX;
    if (repair->config.control <= 0)
        repair->config.control = DEFAULT_CONTROL;
    if (config->mode != ES_REPAIR_LOGICAL)
        repair->config.control = 0;
    repair->unsettled = 1;
    esi_ends_init(&repair->matches, sizeof(struct time_match),
                  config->max_open ? config->max_open : DEFAULT_MAX);
    *ret_repair = repair;
    return 0;
}

void esi_time_repair_destroy(struct esi_time_repair *repair)
{
    if (!repair)
        return;
    esi_ends_fini(&repair->matches);
    free(repair->processes);
    free(repair->ring);
    free(repair->payloads);
    esi_heap_fini(&repair->settled);
    free(repair->todo);
    free(repair);
}

/* --- Delivery --------------------------------------------------------------------- */

/* The key up to which nothing more can arrive that must be delivered earlier. */
static uint64_t limit_waiting(struct esi_time_repair *repair)
{
    while (repair->unsettled <= repair->added &&
           item_at(repair, repair->unsettled)->settled)
        repair->unsettled++;
    if (!repair->config.sorted)
        return repair->unsettled - 1;
    if (repair->unsettled > repair->added)
        return repair->newest_ns;
    return item_at(repair, repair->unsettled)->timed.stop_ns;
}

static int emit_item(struct esi_time_repair *repair, uint64_t number)
{
    struct held *held = item_at(repair, number);
    int result = repair->config.give(repair->config.data, &held->timed,
                                     payload_of(repair, number));

    held->given = true;
    while (repair->given < repair->added && item_at(repair, repair->given + 1)->given)
        repair->given++;
    return result;
}

/* If times were moved far forward, gives up the order to bound memory. */
static bool is_crowded(const struct esi_time_repair *repair)
{
    return repair->added - repair->given >= 2 * (uint64_t)repair->config.max_held;
}

static int give_settled(struct esi_time_repair *repair, bool all)
{
    uint64_t last = all ? UINT64_MAX : limit_waiting(repair);
    int result = 0;

    while (result >= 0 && repair->settled.count > 0 &&
           (esi_heap_top(&repair->settled).key <= last || is_crowded(repair))) {
        uint64_t number = esi_heap_top(&repair->settled).item;

        esi_heap_pop(&repair->settled);
        result = emit_item(repair, number);
    }
    return result < 0 ? result : 0;
}

/* --- Settling ------------------------------------------------------------------- */

static void look_at(struct esi_time_repair *repair, uint32_t process)
{
    repair->todo[repair->todo_count++] = process;
}

static void leave_match(struct esi_time_repair *repair, struct held *held)
{
    struct time_match *match = held->match;

    held->match = NULL;
    if (match && --match->users == 0 && match->members_left == 0)
        esi_ends_forget(&repair->matches, &match->end);
}

static void note_move(struct esi_time_repair *repair,
                      const struct held *held,
                      uint64_t stop_ns)
{
    uint64_t start_by = held->shown_start_ns - held->timed.start_ns;
    uint64_t stop_by = stop_ns - held->timed.stop_ns;
    uint64_t largest = start_by > stop_by ? start_by : stop_by;

    repair->totals.moved += largest > 0;
    if (largest > repair->totals.largest_ns)
        repair->totals.largest_ns = largest;
}

/* Records the start of a member in its match, and wakes those waiting for all of
 * them. */
static void tell_start(struct esi_time_repair *repair,
                       struct time_match *match,
                       uint64_t time_ns,
                       uint64_t error_ns)
{
    if (match->befores_left == 0)
        return;
    if (!match->told || time_ns > match->latest_ns) {
        match->latest_ns = time_ns;
        match->error_ns = error_ns;
    }
    match->told = true;
    if (--match->befores_left > 0)
        return;
    for (uint64_t number = match->waiting; number;) {
        struct held *held = item_at(repair, number);

        look_at(repair, held->timed.process);
        number = held->next_waiting;
    }
    match->waiting = 0;
}

static void settle_start(struct esi_time_repair *repair, struct held *held)
{
    uint64_t error_ns = held->timed.error_ns;

    held->shown_start_ns = esi_logical_clock_at(
        &repair->processes[held->timed.process].clock, held->timed.start_ns, &error_ns);
    held->start_settled = true;
    if (!held->match || !(held->timed.link.ends & ES_TIME_BEFORE))
        return;
    tell_start(repair, held->match, held->shown_start_ns, error_ns);
    if (!(held->timed.link.ends & ES_TIME_AFTER))
        leave_match(repair, held);
}

/* Settles the starts before each unsettled stop. */
static void settle_starts(struct esi_time_repair *repair,
                          struct repaired_process *process)
{
    while (process->starts) {
        struct held *held = item_at(repair, process->starts);

        if (process->first && process->first != process->starts &&
            item_at(repair, process->first)->timed.stop_ns <= held->timed.start_ns)
            return;
        process->starts = held->next_start;
        if (!process->starts)
            process->last_start = 0;
        settle_start(repair, held);
    }
}

static uint64_t add_up(uint64_t x, uint64_t y)
{
    return x > UINT64_MAX - y ? UINT64_MAX : x + y;
}

/* Makes the process's clock jump if the stop is too early. */
static void check_stop(struct esi_time_repair *repair,
                       struct repaired_process *process,
                       const struct held *held)
{
    const struct time_match *match = held->match;
    uint64_t error_ns = 0;
    struct esi_logical_jump jump;
    bool beyond;

    if (!match || !(held->timed.link.ends & ES_TIME_AFTER) || !match->told)
        return;
    jump = (struct esi_logical_jump){.at_ns = held->timed.stop_ns,
                                     .to_ns = match->latest_ns,
                                     .error_ns = match->error_ns};
    if (match->end.key.kind != ES_TIME_COLLECTIVE)
        jump.to_ns = add_up(jump.to_ns, repair->config.latency_ns);
    repair->totals.checked++;
    if (esi_logical_clock_at(&process->clock, jump.at_ns, &error_ns) >= jump.to_ns)
        return;
    beyond = jump.to_ns - jump.at_ns > add_up(held->timed.error_ns, match->error_ns);
    repair->totals.beyond += beyond;
    if (beyond && repair->config.mode != ES_REPAIR_LOGICAL)
        return;
    repair->totals.repaired++;
    esi_logical_clock_jump(&process->clock, &jump);
}

static void settle_stop(struct esi_time_repair *repair, uint64_t number)
{
    struct held *held = item_at(repair, number);
    struct repaired_process *process = &repair->processes[held->timed.process];
    uint64_t error_ns = 0;
    uint64_t stop_ns;

    check_stop(repair, process, held);
    stop_ns = esi_logical_clock_at(&process->clock, held->timed.stop_ns, &error_ns);
    if (!held->start_settled)
        settle_start(repair, held);
    if (stop_ns < held->shown_start_ns)
        stop_ns = held->shown_start_ns;
    note_move(repair, held, stop_ns);
    leave_match(repair, held);
    process->first = held->next;
    if (!process->first)
        process->last = 0;
    held->timed.start_ns = held->shown_start_ns;
    held->timed.stop_ns = stop_ns;
    held->settled = true;
    esi_heap_push(&repair->settled, repair->config.sorted ? stop_ns : number, number);
}

/* Whether a stop can be settled; if not, its process is examined again when it can. */
static bool is_ready(struct esi_time_repair *repair, uint64_t number)
{
    struct held *held = item_at(repair, number);
    struct time_match *match = held->match;

    if (!match || !(held->timed.link.ends & ES_TIME_AFTER) || held->forced ||
        match->befores_left == 0)
        return true;
    if (!held->waits) {
        held->waits = true;
        held->next_waiting = match->waiting;
        match->waiting = number;
    }
    return false;
}

/* Settles what is possible in the processes to examine, and in those woken by this. */
static void advance_threads(struct esi_time_repair *repair)
{
    while (repair->todo_count > 0) {
        struct repaired_process *process =
            &repair->processes[repair->todo[--repair->todo_count]];

        settle_starts(repair, process);
        while (process->first && is_ready(repair, process->first)) {
            settle_stop(repair, process->first);
            settle_starts(repair, process);
        }
    }
}

/* Removes a waiting operation from its match's list, since its slot will be reused. */
static void stop_waiting(struct esi_time_repair *repair, uint64_t number)
{
    struct held *held = item_at(repair, number);
    uint64_t *link = &held->match->waiting;

    while (*link != number)
        link = &item_at(repair, *link)->next_waiting;
    *link = held->next_waiting;
}

/* Settles the oldest unsettled operation with what is known.  Everything before it is
 * settled, so it waits only for its own match. */
static void force_oldest(struct esi_time_repair *repair)
{
    uint64_t number = repair->unsettled;
    struct held *held = item_at(repair, number);

    if (held->waits)
        stop_waiting(repair, number);
    held->forced = true;
    repair->totals.unmatched++;
    look_at(repair, held->timed.process);
    advance_threads(repair);
}

int esi_time_repair_expire(struct esi_time_repair *repair, uint64_t time_ns)
{
    (void)limit_waiting(repair);
    while (repair->unsettled <= repair->added &&
           item_at(repair, repair->unsettled)->timed.stop_ns <= time_ns) {
        force_oldest(repair);
        (void)limit_waiting(repair);
    }
    return give_settled(repair, false);
}

int esi_time_repair_finish(struct esi_time_repair *repair)
{
    int result = esi_time_repair_expire(repair, UINT64_MAX);

    return result < 0 ? result : give_settled(repair, true);
}

/* --- Adding --------------------------------------------------------------------- */

static int grow_processes(struct esi_time_repair *repair, uint32_t process)
{
    size_t count = repair->process_count;

    if (ESI_ARRAY_RESERVE(repair->processes, repair->process_count,
                          (size_t)process + 1) < 0)
        return -ENOMEM;
    for (; count < repair->process_count; count++)
        repair->processes[count] =
            (struct repaired_process){.clock.control = repair->config.control};
    return 0;
}

/* Doubles the size of ring and payloads. */
static int grow_ring(struct esi_time_repair *repair)
{
    size_t size = repair->ring_size ? 2 * repair->ring_size : 64;
    size_t bytes = repair->config.payload_bytes;
    struct esi_time_repair old = *repair;
    struct held *ring = calloc(size, sizeof *ring);
    char *payloads = ring ? calloc(size, bytes ? bytes : 1) : NULL;

    if (!payloads || esi_heap_reserve(&repair->settled, size) < 0) {
        free(payloads);
        free(ring);
        return -ENOMEM;
    }
    repair->ring = ring;
    repair->payloads = payloads;
    repair->ring_size = size;
    for (uint64_t number = old.given + 1; number <= old.added; number++) {
        *item_at(repair, number) = *item_at(&old, number);
        if (bytes)
            memcpy(payload_of(repair, number), payload_of(&old, number), bytes);
    }
    free(old.ring);
    free(old.payloads);
    return 0;
}

static int make_room(struct esi_time_repair *repair, uint32_t process)
{
    int result = 0;

    if (process >= repair->process_count)
        result = grow_processes(repair, process);
    if (result == 0 && repair->added - repair->given >= repair->ring_size)
        result = grow_ring(repair);
    if (result < 0)
        return result;
    /* Each operation wakes those that wait for it once, and itself: at most this many
     * processes are to be examined. */
    return ESI_ARRAY_RESERVE(repair->todo, repair->todo_capacity,
                             2 * repair->ring_size + 2);
}

/* Removes a match if there are too many.  A match in use becomes the newest. */
static void bound_matches(struct esi_ends *matches)
{
    struct time_match *oldest = esi_ends_excess(matches);

    if (!oldest)
        return;
    if (oldest->users == 0)
        esi_ends_forget(matches, &oldest->end);
    else
        esi_ends_wait(matches, &oldest->end, 1);
}

/* Finds or creates the match of an operation; none if all its ends had been seen, or if
 * other ends specify a different number.  Returns 0 or -ENOMEM. */
static int meet_others(struct esi_time_repair *repair, struct held *held)
{
    const struct esi_time_link *link = &held->timed.link;
    struct time_match *match;

    if (link->key.kind == 0 || link->ends == 0)
        return 0;
    match = esi_ends_find(&repair->matches, &link->key);
    if (match && (match->members_left == 0 || match->members != link->members))
        return 0;
    if (!match) {
        match = esi_ends_add(&repair->matches, &link->key);
        if (!match)
            return -ENOMEM;
        match->members = link->members;
        match->members_left = link->members;
        match->befores_left = link->befores;
        esi_ends_wait(&repair->matches, &match->end, 1);
        bound_matches(&repair->matches);
    }
    match->members_left--;
    match->users++;
    held->match = match;
    return 0;
}

/* Inserts into the process's awaited starts, sorted by time: usually at the end. */
static void insert_start(struct esi_time_repair *repair,
                         struct repaired_process *process,
                         uint64_t number)
{
    struct held *held = item_at(repair, number);
    uint64_t *link = &process->starts;

    if (process->last_start &&
        item_at(repair, process->last_start)->timed.start_ns <= held->timed.start_ns)
        link = &item_at(repair, process->last_start)->next_start;
    while (*link && item_at(repair, *link)->timed.start_ns <= held->timed.start_ns)
        link = &item_at(repair, *link)->next_start;
    held->next_start = *link;
    *link = number;
    if (!held->next_start)
        process->last_start = number;
}

static void enter_item(struct esi_time_repair *repair, uint64_t number)
{
    struct held *held = item_at(repair, number);
    struct repaired_process *process = &repair->processes[held->timed.process];

    if (process->last)
        item_at(repair, process->last)->next = number;
    else
        process->first = number;
    process->last = number;
    if (held->match && (held->timed.link.ends & ES_TIME_BEFORE))
        insert_start(repair, process, number);
    repair->totals.operations++;
    repair->totals.disordered += held->timed.stop_ns < process->newest_ns;
    if (held->timed.stop_ns > process->newest_ns)
        process->newest_ns = held->timed.stop_ns;
    if (held->timed.stop_ns > repair->newest_ns)
        repair->newest_ns = held->timed.stop_ns;
}

/* Settles operations that have waited too long, or if too many are held. */
static void expire_waiting(struct esi_time_repair *repair)
{
    uint64_t window_ns = repair->config.window_ns;

    (void)limit_waiting(repair);
    while (repair->unsettled <= repair->added) {
        const struct held *oldest = item_at(repair, repair->unsettled);

        if (repair->added - repair->unsettled < repair->config.max_held &&
            add_up(oldest->timed.stop_ns, window_ns) >= repair->newest_ns)
            return;
        force_oldest(repair);
        (void)limit_waiting(repair);
    }
}

int esi_time_repair_add(struct esi_time_repair *repair,
                        const struct esi_timed *timed,
                        const void *payload)
{
    uint64_t number = repair->added + 1;
    int result;

    if (timed->stop_ns < timed->start_ns || timed->process >= MOST_PROCESSES)
        return -EINVAL;
    result = make_room(repair, timed->process);
    if (result < 0)
        return result;
    *item_at(repair, number) = (struct held){.timed = *timed};
    result = meet_others(repair, item_at(repair, number));
    if (result < 0)
        return result;
    if (repair->config.payload_bytes)
        memcpy(payload_of(repair, number), payload, repair->config.payload_bytes);
    repair->added = number;
    enter_item(repair, number);
    look_at(repair, timed->process);
    advance_threads(repair);
    expire_waiting(repair);
    return give_settled(repair, false);
}

void esi_time_repair_totals(const struct esi_time_repair *repair,
                            struct esi_time_repair_totals *ret_totals)
{
    *ret_totals = repair->totals;
}
