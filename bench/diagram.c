/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram.c - the cost of the process-time diagram: bench/diagram [EVENTS [RANKS]].
 *
 * Ranks exchange messages in a ring and perform a reduction in each fifth step.  The
 * events are passed to an order alone, then to a diagram, which has its own order.
 * Then windows of 1,600 columns by 100 rows are requested, wide and narrow, on both
 * axes, and cones of events distributed over the run; the sums are saved and loaded.
 * The calls of a window of fixed width are requested of a thread with few nonblocking
 * operations, and with ten times as many; and hosts are added, few and ten times as
 * many.  Prints `figure: NAME VALUE UNIT`.
 */
#include "config.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/now.h"
#include "eventspace/operation.h"
#include "monitors/diagram/diagram_marks.h"

enum {
    EVENTS = 10000000,
    RANKS = 1000,
    REDUCE_EVERY = 5,
    COLUMNS = 1600,
    ROWS = 100,
    ROUNDS = 9,
    CONES = 51,
    STEP_NS = 100000,
    FLIGHTS = 50000,
    HOSTS = 2000,
};

/* The destination of events; their times are made up here. */
struct ring {
    size_t ranks;
    uint32_t *next; /* index of each rank's next event; owned, like the next */
    uint64_t *now;
    uint64_t *calls;   /* number of its last call */
    uint32_t *entered; /* the enter events of a reduction */
    uint32_t junction; /* index of the communicator's next event */
    uint64_t events;
    uint64_t random;
    struct esi_causal_listener listener;
    struct es_set_sink sink;
    struct es_event_id *partners; /* owned */
};

static void fail(const char *what)
{
    fprintf(stderr, "diagram: %s\n", what);
    exit(1);
}

static uint64_t draw_below(struct ring *ring, uint64_t limit)
{
    ring->random = ring->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (ring->random >> 33) % limit;
}

static void emit(struct ring *ring,
                 const struct es_set_event *event,
                 const struct esi_causal_call *call)
{
    ring->events++;
    if (ring->listener.told &&
        ring->listener.told(ring->listener.data, event, call) < 0)
        fail("the diagram takes no more");
    if (ring->sink.event && ring->sink.event(ring->sink.data, event) < 0)
        fail("the order takes no more");
}

/* Emits an event of a rank, in a call of `length` that begins now. */
static struct es_event_id emit_call(struct ring *ring,
                                    size_t rank,
                                    const char *type,
                                    enum es_event_kind kind,
                                    enum esi_role role,
                                    const struct es_event_id *partner,
                                    uint64_t length)
{
    static char name[] = "MPI_COMM_WORLD";
    static struct esi_run_communicator world = {.name = name};
    struct esi_run_process process = {.host = "made", .rank = (int)rank};
    const struct esi_run_thread thread = {.process = &process};
    const struct es_operation *operation = es_operation_by_name(type);
    const struct esi_run_member member = {.process = &process, .communicator = &world};
    struct esi_causal_tuple told = {.tuple = {.peer = 1,
                                              .bytes = 8,
                                              .stop = 1,
                                              /* its collectives are not judged */
                                              .sequence = ES_SEQUENCE_UNKNOWN},
                                    .start_ns = ring->now[rank],
                                    .stop_ns = ring->now[rank] + length,
                                    .site = "ring.c:12 in step()"};
    struct esi_causal_call call = {.told = &told,
                                   .operation = operation,
                                   .role = role,
                                   .thread = &thread,
                                   .member = &member};
    struct es_set_event event = {.id = {(uint32_t)rank, ring->next[rank]++},
                                 .kind = kind,
                                 .partner_count = partner ? 1 : 0,
                                 .partners = partner,
                                 .type = type,
                                 .text = ""};

    if (!operation->nonblocking)
        call.number = ring->calls[rank] += role != ESI_ROLE_EXIT;
    emit(ring, &event, &call);
    if (role != ESI_ROLE_ENTER)
        ring->now[rank] += length;
    return event.id;
}

static void exchange(struct ring *ring, struct es_event_id *sent)
{
    for (size_t rank = 0; rank < ring->ranks; rank++) {
        ring->now[rank] += STEP_NS + draw_below(ring, STEP_NS);
        sent[rank] =
            emit_call(ring, rank, "MPI_Send", ES_EVENT_SEND, ESI_ROLE_SEND, NULL, 1000);
    }
    for (size_t rank = 0; rank < ring->ranks; rank++)
        emit_call(ring, rank, "MPI_Recv", ES_EVENT_RECEIVE, ESI_ROLE_RECEIVE,
                  &sent[(rank + ring->ranks - 1) % ring->ranks],
                  1000 + draw_below(ring, STEP_NS));
}

static void reduce(struct ring *ring)
{
    uint32_t trace = (uint32_t)ring->ranks;
    struct es_set_event event = {
        .type = "release", .text = "", .kind = ES_EVENT_RECEIVE};
    struct es_event_id released;

    for (size_t rank = 0; rank < ring->ranks; rank++)
        ring->partners[rank] = emit_call(ring, rank, "MPI_Allreduce", ES_EVENT_SEND,
                                         ESI_ROLE_ENTER, NULL, STEP_NS);
    event.id = (struct es_event_id){trace, ring->junction++};
    event.partners = ring->partners;
    event.partner_count = (uint32_t)ring->ranks;
    emit(ring, &event, NULL);
    released = (struct es_event_id){trace, ring->junction++};
    event = (struct es_set_event){
        .id = released, .type = "release", .text = "", .kind = ES_EVENT_SEND};
    emit(ring, &event, NULL);
    for (size_t rank = 0; rank < ring->ranks; rank++)
        emit_call(ring, rank, "MPI_Allreduce", ES_EVENT_RECEIVE, ESI_ROLE_EXIT,
                  &released, STEP_NS);
}

/* Returns the nanoseconds per event. */
static double run_ring(struct ring *ring, uint64_t events)
{
    struct es_event_id *sent = calloc(ring->ranks, sizeof *sent);
    uint64_t begin;
    char name[32];

    ring->next = calloc(ring->ranks, sizeof *ring->next);
    ring->now = calloc(ring->ranks, sizeof *ring->now);
    ring->calls = calloc(ring->ranks, sizeof *ring->calls);
    ring->partners = calloc(ring->ranks, sizeof *ring->partners);
    if (!sent || !ring->next || !ring->now || !ring->calls || !ring->partners)
        fail("no memory");
    for (size_t i = 0; i <= ring->ranks; i++) {
        snprintf(name, sizeof name, "%zu.0", i);
        if (ring->sink.trace(ring->sink.data, (uint32_t)i, name) < 0)
            fail("no memory");
        if (i < ring->ranks) {
            ring->next[i] = 1;
            ring->now[i] = STEP_NS;
        }
    }
    ring->junction = 1;
    begin = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t step = 1; ring->events < events; step++) {
        exchange(ring, sent);
        if (step % REDUCE_EVERY == 0)
            reduce(ring);
    }
    free(sent);
    return (double)(esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) /
           (double)ring->events;
}

static void end_ring(struct ring *ring)
{
    free(ring->next);
    free(ring->now);
    free(ring->calls);
    free(ring->partners);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* Median of the milliseconds for a window that covers a share of the axis. */
static double time_window(struct esi_diagram *diagram,
                          struct ring *ring,
                          enum esi_diagram_axis axis,
                          double share)
{
    struct esi_diagram_cell *cells = calloc(COLUMNS, sizeof *cells);
    struct esi_diagram_extent extent;
    double times[ROUNDS];

    esi_diagram_extent(diagram, &extent);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t all = extent.end[axis] - extent.begin[axis];
        uint64_t length = (uint64_t)((double)all * share) + 1;
        uint32_t first =
            (uint32_t)draw_below(ring, ring->ranks > ROWS ? ring->ranks - ROWS : 1);
        struct esi_diagram_window window = {.axis = axis, .columns = COLUMNS};
        uint64_t begin;

        window.from = extent.begin[axis] + draw_below(ring, all - length + 2);
        window.to = window.from + length;
        begin = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);
        for (uint32_t row = 0; row < ROWS && row < ring->ranks; row++)
            if (esi_diagram_cells(diagram, first + row, &window, cells) < 0)
                fail("no cells");
        times[round] = (double)(esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e6;
    }
    free(cells);
    return median_of(times, ROUNDS);
}

/* Median of the microseconds for the calls in a hundred steps of a thread that has
 * completed so many nonblocking operations, one each step. */
static double time_flights(size_t flights)
{
    enum { WINDOW_STEPS = 100, QUERIES = 200, CALLS = 1000 };
    const struct esi_diagram_config config = {.calls_max = (size_t)1 << 24};
    struct esi_diagram_call *calls = calloc(CALLS, sizeof *calls);
    struct esi_diagram_window window = {.axis = ESI_DIAGRAM_TIME, .columns = 1};
    struct ring ring = {.ranks = 1, .random = 1};
    struct esi_diagram *diagram = NULL;
    double times[ROUNDS];
    uint32_t next = 1;
    uint64_t now = STEP_NS, made = 0;

    ring.next = &next;
    ring.now = &now;
    ring.calls = &made;
    if (!calls || esi_diagram_create(&config, &diagram) < 0)
        fail("no memory");
    ring.listener = esi_diagram_listener(diagram);
    ring.sink = esi_diagram_sink(diagram);
    if (ring.sink.trace(ring.sink.data, 0, "0.0") < 0)
        fail("no memory");
    ring.sink.event = NULL; /* the listener passes the events on */
    for (size_t i = 0; i < flights; i++) {
        now += draw_below(&ring, STEP_NS);
        emit_call(&ring, 0, "MPI_Irecv", ES_EVENT_UNARY, ESI_ROLE_WHOLE, NULL, STEP_NS);
        emit_call(&ring, 0, "MPI_Wait", ES_EVENT_UNARY, ESI_ROLE_WHOLE, NULL, 1);
    }
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);

        for (int i = 0; i < QUERIES; i++) {
            window.from = STEP_NS + draw_below(&ring, now - STEP_NS);
            window.to = window.from + (uint64_t)WINDOW_STEPS * STEP_NS;
            if (esi_diagram_calls(diagram, 0, &window, calls, CALLS) < 0)
                fail("no calls");
        }
        times[round] =
            (double)(esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e3 / QUERIES;
    }
    esi_diagram_destroy(diagram);
    free(calls);
    return median_of(times, ROUNDS);
}

/* Median of the nanoseconds for finding a host, of so many. */
static double time_hosts(size_t hosts)
{
    const struct esi_diagram_config config = {.calls_max = 0};
    double times[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        struct esi_diagram *diagram;
        uint64_t begin;
        char name[32];

        if (esi_diagram_create(&config, &diagram) < 0)
            fail("no memory");
        begin = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);
        for (size_t i = 0; i < hosts; i++) {
            snprintf(name, sizeof name, "host%zu", i);
            if (esi_diagram_set_cluster(diagram, name, "") < 0)
                fail("no memory");
        }
        times[round] =
            (double)(esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)hosts;
        esi_diagram_destroy(diagram);
    }
    return median_of(times, ROUNDS);
}

static double time_cones(struct esi_diagram *diagram, struct ring *ring)
{
    uint32_t *past = calloc(ring->ranks, sizeof *past);
    uint32_t *future = calloc(ring->ranks, sizeof *future);
    double times[CONES];

    for (int i = 0; i < CONES; i++) {
        uint32_t rank = (uint32_t)draw_below(ring, ring->ranks);
        struct es_event_id event = {
            rank, 1 + (uint32_t)draw_below(ring, ring->next[rank] - 1)};
        uint64_t begin = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);

        if (esi_diagram_cone(diagram, event, past, future, ring->ranks) < 0)
            fail("no cone");
        times[i] = (double)(esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e6;
    }
    free(past);
    free(future);
    return median_of(times, CONES);
}

static void print_windows(struct esi_diagram *diagram, struct ring *ring)
{
    static const struct {
        const char *name;
        double share;
    } windows[] = {{"whole", 1}, {"tenth", 0.1}, {"thousandth", 0.001}};

    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        printf("figure: diagram_window_time_%s %.2f ms\n", windows[i].name,
               time_window(diagram, ring, ESI_DIAGRAM_TIME, windows[i].share));
        printf("figure: diagram_window_level_%s %.2f ms\n", windows[i].name,
               time_window(diagram, ring, ESI_DIAGRAM_LEVEL, windows[i].share));
    }
}

/* Measures the data stored next to an archive, at its maximum size. */
static void time_marks(struct esi_diagram *diagram, uint64_t events)
{
    uint64_t begin = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID), saved, loaded;
    struct esi_diagram *kept;
    unsigned char *bytes;
    size_t length;

    if (esi_diagram_save_marks(diagram, 1, ESI_DIAGRAM_MARKS_MAX, &bytes, &length) < 0)
        fail("marks are not saved");
    saved = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (esi_diagram_load_marks(bytes, length, 1, NULL, &kept) < 0)
        fail("marks are not loaded");
    loaded = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    printf("figure: diagram_marks_save %.1f ms\n", (double)(saved - begin) / 1e6);
    printf("figure: diagram_marks_load %.1f ms\n", (double)(loaded - saved) / 1e6);
    printf("figure: diagram_marks_bytes %.2f B/event\n",
           (double)length / (double)events);
    esi_diagram_destroy(kept);
    free(bytes);
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : EVENTS;
    size_t ranks = argc > 2 ? strtoull(argv[2], NULL, 10) : RANKS;
    const struct esi_diagram_config config = {.calls_max = (size_t)1 << 24};
    struct ring alone = {.ranks = ranks, .random = 1};
    struct ring drawn = {.ranks = ranks, .random = 1};
    struct esi_diagram *diagram;
    struct es_order *order;
    double order_ns, diagram_ns, few, many;
    size_t held;

    if (ranks < 2 || events == 0)
        fail("at least an event and two ranks");
    if (es_order_open(NULL, 0, NULL, NULL, &order) < 0)
        fail("no memory");
    alone.sink = es_order_sink(order);
    order_ns = run_ring(&alone, events);
    end_ring(&alone);
    es_order_destroy(order);
    if (esi_diagram_create(&config, &diagram) < 0)
        fail("no memory");
    drawn.listener = esi_diagram_listener(diagram);
    drawn.sink = esi_diagram_sink(diagram);
    held = mallinfo2().uordblks + mallinfo2().hblkhd;
    diagram_ns = run_ring(&drawn, events);
    held = mallinfo2().uordblks + mallinfo2().hblkhd - held;
    printf("%llu events of %zu ranks\n", (unsigned long long)drawn.events, ranks);
    printf("figure: diagram_order_alone %.0f ns/event\n", order_ns);
    printf("figure: diagram_event %.0f ns\n", diagram_ns);
    printf("figure: diagram_events %.2f M/s\n", 1e3 / diagram_ns);
    printf("figure: diagram_over_order %.2f x\n", diagram_ns / order_ns);
    printf("figure: diagram_memory %.0f B/event\n",
           (double)held / (double)drawn.events);
    print_windows(diagram, &drawn);
    printf("figure: diagram_cone %.2f ms\n", time_cones(diagram, &drawn));
    time_marks(diagram, drawn.events);
    few = time_flights(FLIGHTS);
    many = time_flights(10 * FLIGHTS);
    printf("figure: diagram_calls_of_%d_flights %.2f us\n", FLIGHTS, few);
    printf("figure: diagram_flights_growth %.2f x\n", many / few);
    few = time_hosts(HOSTS);
    many = time_hosts(10 * HOSTS);
    printf("figure: diagram_host_of_%d %.0f ns\n", HOSTS, few);
    printf("figure: diagram_hosts_growth %.2f x\n", many / few);
    end_ring(&drawn);
    esi_diagram_destroy(diagram);
    return 0;
}
