/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * random_run.c - creates random computations.
 *
 * Each thread has its own time; events that depend on others come later than these, so
 * the times are consistent with one clock.  Only the first thread of a process takes
 * part in collective operations and epochs.
 */
#include "config.h"

#include "tests/causality/random_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "tests/random.h"

enum { WINDOW = 5 };

static void *grow(void *array, size_t count, size_t bytes)
{
    if ((count & (count - 1)) != 0)
        return array;
    array = realloc(array, (count ? 2 * count : 1) * bytes);
    assert_non_null(array);
    return array;
}

/* --- Pieces ----------------------------------------------------------------------- */

static int first_of(int process)
{
    return process * RANDOM_THREADS;
}

static uint64_t later(struct random_run *run, uint64_t time)
{
    return time + 1 +
           (uint64_t)random_int(&run->random, random_int(&run->random, 8) ? 20 : 400);
}

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static size_t add_event(struct random_run *run,
                        int place,
                        uint64_t time,
                        uint32_t tuple,
                        bool second)
{
    run->events = grow(run->events, run->event_count, sizeof *run->events);
    run->events[run->event_count] = (struct random_event){.place = place,
                                                          .time = time,
                                                          .tuple = tuple,
                                                          .second = second,
                                                          .unit = run->event_count};
    return run->event_count++;
}

static void add_edge(struct random_run *run, size_t from, size_t to)
{
    run->edges = grow(run->edges, run->edge_count, sizeof *run->edges);
    run->edges[run->edge_count++] = (struct edge){from, to};
}

static uint16_t code_of(const char *operation)
{
    assert_non_null(es_operation_by_name(operation));
    return es_operation_by_name(operation)->code;
}

/* Adds a tuple, which is published at its stop. Returns its number. */
static uint32_t write_tuple(struct random_run *run, int place, struct es_tuple tuple)
{
    struct random_tuple made = {.tuple = tuple, .place = place, .publish = tuple.stop};

    made.tuple.bytes = (uint32_t)run->tuple_count + 1;
    made.element = es_operation_find(tuple.operation)->op_class % run->elements;
    run->tuples = grow(run->tuples, run->tuple_count, sizeof *run->tuples);
    run->tuples[run->tuple_count++] = made;
    return made.tuple.bytes;
}

/* --- Messages --------------------------------------------------------------------- */

static size_t send_from(struct random_run *run,
                        int place,
                        int destination,
                        const char *operation,
                        uint64_t start,
                        uint64_t stop)
{
    int source = place / RANDOM_THREADS;
    int tag = random_int(&run->random, RANDOM_TAGS);
    uint32_t sequence = run->sent[source][destination][tag]++;
    uint32_t tuple = write_tuple(run, place,
                                 (struct es_tuple){.operation = code_of(operation),
                                                   .start = start,
                                                   .stop = stop,
                                                   .peer = destination,
                                                   .tag = tag,
                                                   .sequence = sequence});
    size_t event = add_event(run, place, start, tuple, false);

    run->pending = grow(run->pending, run->pending_count, sizeof *run->pending);
    run->pending[run->pending_count++] = (struct random_pending){
        event, source, destination, tag, sequence, strcmp(operation, "MPI_Ssend") == 0};
    return event;
}

static void remove_pending(struct random_run *run, size_t at)
{
    memmove(run->pending + at, run->pending + at + 1,
            (--run->pending_count - at) * sizeof *run->pending);
}

/* Returns a random message that is the next one of its channel, or -1. */
static int find_pending(struct random_run *run, int destination)
{
    for (size_t i = 0; i < run->pending_count; i++) {
        const struct random_pending *message = &run->pending[i];

        if ((destination < 0 || message->destination == destination) &&
            run->received[message->source][message->destination][message->tag] ==
                message->sequence &&
            random_int(&run->random, 3) == 0)
            return (int)i;
    }
    return -1;
}

static size_t receive_at(struct random_run *run,
                         int place,
                         size_t at,
                         const char *operation,
                         uint64_t start,
                         uint64_t stop)
{
    struct random_pending message = run->pending[at];
    uint32_t tuple = write_tuple(run, place,
                                 (struct es_tuple){.operation = code_of(operation),
                                                   .start = start,
                                                   .stop = stop,
                                                   .peer = message.source,
                                                   .tag = message.tag,
                                                   .sequence = message.sequence});
    size_t event = add_event(run, place, stop, tuple, true);

    run->received[message.source][message.destination][message.tag]++;
    add_edge(run, message.send, event);
    remove_pending(run, at);
    if (run->holds_back && random_int(&run->random, 4) == 0)
        run->tuples[run->tuple_count - 1].publish = stop + 300;
    return event;
}

static int random_place(struct random_run *run)
{
    return random_int(&run->random, run->processes * RANDOM_THREADS);
}

static int random_other(struct random_run *run, int process)
{
    return (process + 1 + random_int(&run->random, run->processes - 1)) %
           run->processes;
}

static void step_send(struct random_run *run)
{
    static const char *const operations[] = {"MPI_Send", "MPI_Isend"};
    int place = random_place(run);
    uint64_t start = later(run, run->now[place]);
    uint64_t stop = later(run, start);

    run->now[place] = stop;
    send_from(run, place, random_other(run, place / RANDOM_THREADS),
              operations[random_int(&run->random, 2)], start, stop);
}

static void step_receive(struct random_run *run)
{
    int at = find_pending(run, -1);
    int place;
    uint64_t start;
    bool blocks;

    if (at < 0)
        return;
    place = run->pending[at].destination * RANDOM_THREADS +
            random_int(&run->random, RANDOM_THREADS);
    start = later(run, run->now[place]);
    run->now[place] =
        later(run, latest(start, run->events[run->pending[at].send].time));
    blocks = !run->pending[at].synchronous && random_int(&run->random, 2);
    receive_at(run, place, (size_t)at, blocks ? "MPI_Recv" : "MPI_Irecv", start,
               run->now[place]);
}

/* A synchronous send; its receive is blocking, too, or was posted before. */
static void step_synchronous(struct random_run *run)
{
    int from = random_place(run);
    int process = random_other(run, from / RANDOM_THREADS);
    int to = process * RANDOM_THREADS + random_int(&run->random, RANDOM_THREADS);
    bool blocks = random_int(&run->random, 2);
    uint64_t start = later(run, run->now[from]);
    uint64_t post = later(run, run->now[to]);
    uint64_t stop = later(run, latest(start, post));
    size_t send = send_from(run, from, process, "MPI_Ssend", start, stop);
    const struct random_pending *last = &run->pending[run->pending_count - 1];
    size_t receive;

    run->now[from] = stop;
    if (run->received[last->source][last->destination][last->tag] != last->sequence)
        return; /* other messages are received first */
    run->now[to] = later(run, latest(start, post));
    receive = receive_at(run, to, run->pending_count - 1,
                         blocks ? "MPI_Recv" : "MPI_Irecv", post, run->now[to]);
    if (blocks)
        run->events[receive].unit = send;
}

static void step_sendrecv(struct random_run *run)
{
    int place = random_place(run);
    int at = find_pending(run, place / RANDOM_THREADS);
    uint64_t start = later(run, run->now[place]);

    if (at < 0)
        return;
    run->now[place] =
        later(run, latest(start, run->events[run->pending[at].send].time));
    receive_at(run, place, (size_t)at, "MPI_Sendrecv receive", start, run->now[place]);
    send_from(run, place, random_other(run, place / RANDOM_THREADS), "MPI_Sendrecv",
              start, run->now[place]);
}

static void step_alone(struct random_run *run)
{
    int place = random_place(run);
    uint64_t start = later(run, run->now[place]);
    uint32_t tuple;

    run->now[place] = later(run, start);
    tuple = write_tuple(run, place,
                        (struct es_tuple){.operation = code_of("MPI_Wait"),
                                          .communicator = ES_COMMUNICATOR_NONE,
                                          .start = start,
                                          .stop = run->now[place],
                                          .peer = ES_PEER_NONE,
                                          .sequence = ES_SEQUENCE_UNKNOWN});
    add_event(run, place, run->now[place], tuple, false);
}

/* --- Collective operations -------------------------------------------------------- */

/* Whether the exit of `to` waits for the enter of `from`. */
static bool waits_for(const struct random_run *run,
                      uint16_t operation,
                      int root,
                      int from,
                      int to)
{
    if (from == to)
        return false;
    switch ((enum es_order_kind)es_operation_find(operation)->order) {
    case ES_ORDER_ALL_TO_ALL:
        return true;
    case ES_ORDER_ROOT_TO_ALL:
        return from == root;
    case ES_ORDER_ALL_TO_ROOT:
        return to == root;
    case ES_ORDER_PREFIX:
    case ES_ORDER_EXCLUSIVE_PREFIX:
        return from < to;
    case ES_ORDER_NEIGHBOURS:
        return from == (to + 1) % run->processes;
    default:
        return false;
    }
}

static struct random_outstanding *begin_collective(struct random_run *run,
                                                   uint16_t operation,
                                                   uint32_t instance)
{
    struct random_outstanding *made;

    run->outstanding =
        grow(run->outstanding, run->outstanding_count, sizeof *run->outstanding);
    made = &run->outstanding[run->outstanding_count++];
    *made =
        (struct random_outstanding){.operation = operation,
                                    .instance = instance,
                                    .root = random_int(&run->random, run->processes)};
    for (int i = 0; i < run->processes; i++) {
        int place = first_of(i);

        made->starts[i] = later(run, run->now[place]);
        run->now[place] = made->starts[i];
        made->enters[i] = add_event(run, place, made->starts[i], 0, false);
    }
    return made;
}

static struct es_tuple tuple_of(const struct random_outstanding *collective,
                                int member,
                                uint64_t stop)
{
    bool is_fence = collective->operation == code_of("MPI_Win_fence");

    return (struct es_tuple){.operation = collective->operation,
                             .start = collective->starts[member],
                             .stop = stop,
                             .peer = collective->root,
                             .tag = is_fence ? WINDOW : 0,
                             .sequence = collective->instance};
}

static void leave_collective(struct random_run *run,
                             struct random_outstanding *collective,
                             int member)
{
    int place = first_of(member);
    uint64_t time = run->now[place];
    uint32_t tuple;
    size_t exit;

    for (int i = 0; i < run->processes; i++)
        if (waits_for(run, collective->operation, collective->root, i, member))
            time = latest(time, collective->starts[i]);
    run->now[place] = later(run, time);
    tuple = write_tuple(run, place, tuple_of(collective, member, run->now[place]));
    exit = add_event(run, place, run->now[place], tuple, true);
    if (run->events[collective->enters[member]].tuple == 0)
        run->events[collective->enters[member]].tuple = tuple;
    else
        run->events[collective->enters[member]].other = tuple;
    for (int i = 0; i < run->processes; i++)
        if (waits_for(run, collective->operation, collective->root, i, member))
            add_edge(run, collective->enters[i], exit);
    collective->left[member] = true;
}

static void post_collective(struct random_run *run,
                            struct random_outstanding *collective)
{
    for (int i = 0; i < run->processes; i++) {
        struct es_tuple tuple = tuple_of(collective, i, 0);

        run->now[first_of(i)] = later(run, run->now[first_of(i)]);
        tuple.stop = run->now[first_of(i)];
        tuple.tag = tuple.operation;
        tuple.operation = code_of("MPI collective post");
        run->events[collective->enters[i]].tuple = write_tuple(run, first_of(i), tuple);
    }
}

static void step_collective(struct random_run *run)
{
    static const char *const operations[] = {
        "MPI_Barrier",   "MPI_Allreduce",        "MPI_Bcast",
        "MPI_Scatter",   "MPI_Reduce",           "MPI_Gather",
        "MPI_Scan",      "MPI_Exscan",           "MPI_Comm_dup",
        "MPI_Win_fence", "MPI_Neighbor_alltoall"};
    static const char *const later_ones[] = {
        "MPI_Ibarrier",      "MPI_Ibcast",     "MPI_Ireduce",
        "MPI_Iscan",         "MPI_Iallreduce", "MPI_Ineighbor_allgather",
        "MPI_Allreduce_init"};
    bool blocks = random_int(&run->random, 2);
    uint16_t operation = code_of(blocks ? operations[random_int(&run->random, 11)]
                                        : later_ones[random_int(&run->random, 7)]);
    uint32_t instance =
        operation == code_of("MPI_Win_fence") ? run->fences++ : run->instances++;
    struct random_outstanding *collective = begin_collective(run, operation, instance);

    if (!blocks) {
        post_collective(run, collective);
        return;
    }
    for (int i = 0; i < run->processes; i++)
        leave_collective(run, collective, i);
    run->outstanding_count--;
}

/* Completes a nonblocking operation at one of its members, or all operations. */
static void step_complete(struct random_run *run, bool all)
{
    for (size_t i = 0; i < run->outstanding_count; i++)
        for (int member = 0; member < run->processes; member++)
            if (!run->outstanding[i].left[member] &&
                (all || random_int(&run->random, 4) == 0)) {
                leave_collective(run, &run->outstanding[i], member);
                if (!all)
                    return;
            }
}

/* --- Epochs ----------------------------------------------------------------------- */

static uint32_t write_call(struct random_run *run,
                           int process,
                           const char *operation,
                           uint64_t start,
                           uint64_t stop,
                           int peer,
                           uint32_t sequence)
{
    return write_tuple(run, first_of(process),
                       (struct es_tuple){.operation = code_of(operation),
                                         .start = start,
                                         .stop = stop,
                                         .peer = peer,
                                         .tag = WINDOW,
                                         .sequence = sequence});
}

/* Adds a call with one event, at its start or stop. Returns the event. */
static size_t step_call(struct random_run *run,
                        int process,
                        const char *operation,
                        uint32_t number,
                        bool at_start)
{
    uint64_t *now = &run->now[first_of(process)];
    uint64_t start = later(run, *now);
    uint32_t tuple;

    *now = later(run, start);
    tuple = write_call(run, process, operation, start, *now, ES_PEER_NONE, number);
    return add_event(run, first_of(process), at_start ? start : *now, tuple, false);
}

/* Adds the start and complete of an origin. Returns the enter event of the latter. */
static size_t access_window(struct random_run *run, int origin, int target, size_t post)
{
    uint64_t *now = &run->now[first_of(origin)];
    uint32_t number = run->accesses[origin]++;
    uint64_t start, begun;
    uint32_t tuple;
    size_t enter;

    step_call(run, origin, "MPI_Win_start", number, false);
    begun = run->tuples[run->tuple_count - 1].tuple.start;
    write_call(run, origin, "MPI_Win_start member", begun, *now, target,
               run->posts[target][origin]);
    start = later(run, *now);
    *now = later(run, latest(start, run->events[post].time));
    tuple =
        write_call(run, origin, "MPI_Win_complete", start, *now, ES_PEER_NONE, number);
    enter = add_event(run, first_of(origin), start, tuple, false);
    add_edge(run, post, add_event(run, first_of(origin), *now, tuple, true));
    return enter;
}

static void step_epoch(struct random_run *run)
{
    int target = random_int(&run->random, run->processes);
    uint64_t *now = &run->now[first_of(target)];
    size_t enters[RANDOM_PROCESSES];
    uint32_t number = run->exposures[target]++;
    size_t post = step_call(run, target, "MPI_Win_post", number, true);
    uint64_t stop = *now;
    uint64_t start;
    size_t wait;

    for (int i = 0; i < run->processes; i++)
        if (i != target) {
            write_call(run, target, "MPI_Win_post member", run->events[post].time, *now,
                       i, run->posts[target][i]);
            enters[i] = access_window(run, i, target, post);
            stop = latest(stop, run->events[enters[i]].time);
            run->posts[target][i]++;
        }
    start = later(run, *now);
    *now = later(run, latest(stop, start));
    wait = add_event(
        run, first_of(target), *now,
        write_call(run, target, "MPI_Win_wait", start, *now, ES_PEER_NONE, number),
        true);
    for (int i = 0; i < run->processes; i++)
        if (i != target)
            add_edge(run, enters[i], wait);
}

/* --- Runs ------------------------------------------------------------------------- */

static void tell_neighbours(struct random_run *run)
{
    for (int i = 0; i < run->processes; i++) {
        uint64_t *now = &run->now[first_of(i)];

        *now = 10;
        write_tuple(run, first_of(i),
                    (struct es_tuple){.operation = code_of("MPI topology neighbour"),
                                      .start = 5,
                                      .stop = 10,
                                      .peer = (i + 1) % run->processes,
                                      .tag = 1});
    }
}

void random_run_make(struct random_run *run, uint64_t seed, int steps, bool holds_back)
{
    *run = (struct random_run){.random = seed, .holds_back = holds_back};
    run->processes = 2 + random_int(&run->random, RANDOM_PROCESSES - 1);
    run->elements = 1 + random_int(&run->random, RANDOM_ELEMENTS);
    tell_neighbours(run);
    for (int i = 0; i < steps; i++) {
        int choice = random_int(&run->random, 20);

        if (choice < 6)
            step_send(run);
        else if (choice < 11)
            step_receive(run);
        else if (choice < 13)
            step_synchronous(run);
        else if (choice < 14)
            step_sendrecv(run);
        else if (choice < 15)
            step_alone(run);
        else if (choice < 17)
            step_collective(run);
        else if (choice < 18)
            step_epoch(run);
        else
            step_complete(run, false);
    }
    step_complete(run, true);
}

void random_run_fini(struct random_run *run)
{
    free(run->events);
    free(run->tuples);
    free(run->edges);
    free(run->pending);
    free(run->outstanding);
}

/* Whether both events are of one thread and in this order. */
static bool is_before(const struct random_event *a, const struct random_event *b)
{
    return a->place == b->place && a->time < b->time;
}

void random_run_relate(const struct random_run *run, struct made_relation *ret_relation)
{
    struct made_relation units;

    made_relation_init(&units, run->event_count);
    made_relation_init(ret_relation, run->event_count);
    for (size_t a = 0; a < run->event_count; a++)
        for (size_t b = 0; b < run->event_count; b++)
            if (is_before(&run->events[a], &run->events[b]))
                made_relation_add(&units, run->events[a].unit, run->events[b].unit);
    for (size_t i = 0; i < run->edge_count; i++)
        if (run->events[run->edges[i].from].unit != run->events[run->edges[i].to].unit)
            made_relation_add(&units, run->events[run->edges[i].from].unit,
                              run->events[run->edges[i].to].unit);
    made_relation_close(&units);
    for (size_t a = 0; a < run->event_count; a++) {
        assert_false(made_relation_has(&units, a, a));
        for (size_t b = 0; b < run->event_count; b++)
            if (made_relation_has(&units, run->events[a].unit, run->events[b].unit))
                made_relation_add(ret_relation, a, b);
    }
    made_relation_fini(&units);
}
