/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random programs are passed to all that tell of waits: the analysis of delays
 * (`time`), the process-time diagram (`view`, `export --to svg`), the analysis of
 * collective operations (`collectives`), and the export as comma-separated values.
 * They must agree on each wait and on each partner.
 */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/collectives/collectives.h"
#include "monitors/delay/delay_private.h"
#include "monitors/diagram/diagram.h"
#include "monitors/eventset/formats/export.h"
#include "tests/monitors/drawn_program.h"
#include "tests/suites.h"

enum {
    PROGRAMS = 1000,
    TRACES = 2 * TIMELINE_RANKS,
    EVENTS = 512,
    COLUMNS = 17,
    INSTANCES = 64,
    BEGIN_NS = 2000000, /* after MPI_Init */
};

static const struct esi_diagram_window everything = {.axis = ESI_DIAGRAM_TIME,
                                                     .to = UINT64_MAX,
                                                     .columns = 1};
static const char *const hosts[] = {"east", "west"};

/* --- What each says --------------------------------------------------------------- */

/* An event as a line of the export. */
struct line_event {
    bool is_receive; /* of a message, or the like */
    char operation[32];
    uint64_t start, stop;
    struct es_event_id partners[TIMELINE_RANKS];
    size_t partner_count;
};

struct kept_instance {
    int size;
    uint64_t error_ns;
    struct esi_collective_arrival arrivals[TIMELINE_RANKS];
};

struct agreement {
    struct made_timeline timeline;
    struct esi_delay *delay;
    struct esi_diagram *diagram;
    struct esi_collectives *collectives;
    struct esi_export *export;
    struct esi_causal_listener delay_listener, diagram_listener, collectives_listener;
    struct es_set_sink diagram_sink, export_sink;
    char *text; /* of the export */
    size_t length;
    FILE *stream;
    struct line_event lines[TRACES][EVENTS]; /* by trace and index */
    uint32_t line_count[TRACES];
    size_t line_messages, messages; /* according to both */
    uint64_t late[TRACES][EVENTS];  /* by delay's thread and call: according to */
    uint32_t of[TRACES][EVENTS];    /* messages; and the traces that they came from */
    int rank_of[TRACES];
    struct kept_instance instances[INSTANCES];
    size_t instance_count;
    uint64_t waits, shared; /* that were compared */
};

/* The delays of an operation's members are known only at the end. */
static void keep_instance(void *data, const struct esi_collective_instance *instance)
{
    struct agreement *made = data;
    struct kept_instance *kept = &made->instances[made->instance_count];

    if (!instance->waits_known)
        return;
    assert_true(made->instance_count++ < INSTANCES);
    kept->size = instance->size;
    kept->error_ns = instance->error_ns;
    memcpy(kept->arrivals, instance->arrivals,
           (size_t)instance->size * sizeof *kept->arrivals);
}

static int hear(void *data,
                const struct es_set_event *event,
                const struct esi_causal_call *call)
{
    struct agreement *made = data;

    if (call)
        made->rank_of[event->id.trace] = call->thread->process->rank;
    assert_int_equal(made->delay_listener.told(made->delay_listener.data, event, call),
                     0);
    return made->diagram_listener.told(made->diagram_listener.data, event, call);
}

static int hear_instance(void *data, const struct esi_causal_instance *instance)
{
    struct agreement *made = data;

    assert_int_equal(instance->known, made->timeline.ranks);
    assert_int_equal(
        made->collectives_listener.instance(made->collectives_listener.data, instance),
        0);
    return made->diagram_listener.instance(made->diagram_listener.data, instance);
}

static int hear_trace(void *data, uint32_t trace, const char *name)
{
    struct agreement *made = data;

    assert_true(trace < TRACES);
    assert_int_equal(made->export_sink.trace(made->export_sink.data, trace, name), 0);
    return made->diagram_sink.trace(made->diagram_sink.data, trace, name);
}

static int hear_event(void *data, const struct es_set_event *event)
{
    struct agreement *made = data;

    return made->export_sink.event(made->export_sink.data, event);
}

/* --- The export ------------------------------------------------------------------- */

static void read_line(struct agreement *made, char *text)
{
    enum { TRACE, INDEX = 2, KIND, PARTNERS = 6, OPERATION, CLASS, START = 15, STOP };
    char *fields[COLUMNS], *partners, *one;
    struct line_event *event;
    uint32_t trace, index;

    for (int i = 0; i < COLUMNS; i++) {
        fields[i] = strsep(&text, ",");
        assert_non_null(fields[i]);
    }
    trace = (uint32_t)strtoul(fields[TRACE], NULL, 10);
    index = (uint32_t)strtoul(fields[INDEX], NULL, 10);
    assert_true(trace < TRACES && index < EVENTS);
    made->line_count[trace] = index;
    event = &made->lines[trace][index];
    event->start = strtoull(fields[START], NULL, 10);
    event->stop = strtoull(fields[STOP], NULL, 10);
    event->is_receive =
        strcmp(fields[KIND], "receive") == 0 ||
        (strcmp(fields[KIND], "sync") == 0 && strcmp(fields[CLASS], "receive") == 0);
    snprintf(event->operation, sizeof event->operation, "%s", fields[OPERATION]);
    partners = fields[PARTNERS];
    while ((one = strsep(&partners, " ")) != NULL && *one) {
        struct es_event_id *partner = &event->partners[event->partner_count++];

        assert_true(event->partner_count <= TIMELINE_RANKS);
        assert_int_equal(
            sscanf(one, "%" SCNu32 ":%" SCNu32, &partner->trace, &partner->index), 2);
    }
}

static void read_export(struct agreement *made)
{
    char *rest = made->text;

    strsep(&rest, "\n"); /* the header */
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line;)
        read_line(made, line);
}

/* The last of the calls of other threads that an event has needed. */
static struct es_event_id partner_in_lines(const struct agreement *made,
                                           const struct line_event *event)
{
    struct es_event_id last = event->partners[0];

    for (size_t i = 1; i < event->partner_count; i++) {
        struct es_event_id id = event->partners[i];

        if (made->lines[id.trace][id.index].start >
            made->lines[last.trace][last.index].start)
            last = id;
    }
    return last;
}

static uint64_t error_between(const struct agreement *made,
                              uint32_t one,
                              uint32_t other)
{
    const struct made_timed_rank *of = made->timeline.of;
    int a = made->rank_of[one], b = made->rank_of[other];

    return strcmp(of[a].host, of[b].host) == 0 ? 100 : of[a].error_ns + of[b].error_ns;
}

/* How long the lines say that a call has waited for an event. */
static uint64_t late_in_lines(const struct agreement *made, struct es_event_id received)
{
    const struct line_event *event = &made->lines[received.trace][received.index];
    const struct line_event *call = event;
    struct es_event_id partner = partner_in_lines(made, event);
    uint64_t error_ns = error_between(made, received.trace, partner.trace);
    uint64_t done = made->lines[partner.trace][partner.index].start, until;

    if (strcmp(event->operation, "MPI_Irecv") == 0)
        while (strcmp(call->operation, "MPI_Waitall") != 0)
            assert_true(++call <=
                        &made->lines[received.trace][made->line_count[received.trace]]);
    until = done < call->stop ? done : call->stop;
    return done > call->start && until - call->start > error_ns &&
                   done - until <= error_ns
               ? until - call->start
               : 0;
}

static void count_messages_in_lines(struct agreement *made)
{
    for (uint32_t trace = 0; trace < TRACES; trace++)
        for (uint32_t i = 1; i <= made->line_count[trace]; i++) {
            const struct line_event *event = &made->lines[trace][i];

            made->line_messages += event->is_receive && made->rank_of[trace] >= 0 &&
                                   event->partner_count > 0 &&
                                   made->rank_of[event->partners[0].trace] >= 0;
        }
}

/* --- The diagram against the export ----------------------------------------------- */

static int compare_message(void *data, const struct esi_diagram_message *message)
{
    struct agreement *made = data;
    struct es_event_id received = message->events[1];
    struct es_event_id partner =
        partner_in_lines(made, &made->lines[received.trace][received.index]);
    const struct esi_delay_thread *thread = made->delay->traces[received.trace];
    uint64_t number = esi_delay_thread_find(thread, message->ns[1] - 1);

    made->messages++;
    assert_int_equal(message->events[0].trace, partner.trace);
    assert_int_equal(message->events[0].index, partner.index);
    assert_int_equal(message->ns[0], made->lines[partner.trace][partner.index].start);
    assert_int_equal(message->late_ns, late_in_lines(made, received));
    assert_true(number < EVENTS);
    if (message->late_ns > made->late[thread->number][number]) {
        made->late[thread->number][number] = message->late_ns;
        made->of[thread->number][number] = partner.trace;
    }
    return 0;
}

/* --- The analysis of delays against the diagram ----------------------------------- */

static void compare_call(struct agreement *made,
                         const struct esi_delay_thread *thread,
                         uint64_t number)
{
    const struct esi_delay_call *call = esi_delay_thread_call(thread, number);
    uint64_t late = made->late[thread->number][number];
    uint64_t waited = call->until_ns > 0 ? call->until_ns - call->begin_ns : 0;

    switch ((enum esi_delay_kind)call->cause.kind) {
    case ESI_DELAY_LATE_SENDER:
    case ESI_DELAY_WRONG_ORDER:
    case ESI_DELAY_ROOT_TO_ALL:
    case ESI_DELAY_ALL_TO_ROOT:
    case ESI_DELAY_PARTIAL:
        assert_int_equal(waited, late);
        assert_int_equal(made->delay->traces[made->of[thread->number][number]]->number,
                         call->cause.thread);
        made->waits++;
        break;
    default: /* of several, the longest counts */
        assert_true(late <= waited);
        break;
    }
}

/* --- Collective operations against the analysis of delays ------------------------- */

static const struct esi_delay_thread *thread_of_rank(const struct agreement *made,
                                                     int rank)
{
    for (size_t i = 0; i < made->delay->thread_count; i++)
        if (made->delay->threads[i]->rank == rank)
            return made->delay->threads[i];
    return NULL;
}

static void compare_instance(struct agreement *made,
                             const struct kept_instance *instance)
{
    for (int rank = 0; rank < instance->size; rank++) {
        const struct esi_collective_arrival *arrival = &instance->arrivals[rank];
        const struct esi_delay_thread *thread =
            thread_of_rank(made, arrival->world_rank);
        const struct esi_delay_call *call = esi_delay_thread_call(
            thread, esi_delay_thread_find(thread, arrival->enter_ns));
        uint64_t waited = call->until_ns > 0 ? call->until_ns - call->begin_ns : 0;

        assert_int_equal(call->begin_ns, arrival->enter_ns);
        /* Between hosts one bound holds for all members, and may be wider. */
        if (arrival->wait_ns == 0 && waited <= instance->error_ns)
            continue;
        assert_int_equal(waited, arrival->wait_ns);
        assert_int_equal(
            instance->arrivals[made->delay->threads[call->cause.thread]->rank].enter_ns,
            call->cause.ns);
        made->shared++;
    }
}

/* --- Programs --------------------------------------------------------------------- */

static void begin_agreement(struct agreement *made)
{
    const struct esi_delay_config delay = {.lag = 1 << 20};
    const struct esi_diagram_config diagram = {.calls_max = 0};
    const struct esi_collectives_config collectives = {.on_instance = keep_instance,
                                                       .data = made};
    struct esi_export_config export = {.format = "csv"};
    struct es_error error;

    *made = (struct agreement){.waits = made->waits, .shared = made->shared};
    memset(made->rank_of, 0xff, sizeof made->rank_of);
    assert_int_equal(esi_delay_create(&delay, &made->delay), 0);
    assert_int_equal(esi_diagram_create(&diagram, &made->diagram), 0);
    assert_int_equal(esi_collectives_create(&collectives, &made->collectives), 0);
    export.stream = made->stream = open_memstream(&made->text, &made->length);
    assert_non_null(made->stream);
    assert_int_equal(esi_export_create(&export, &error, &made->export), 0);
    made->delay_listener = esi_delay_listener(made->delay);
    made->diagram_listener = esi_diagram_listener(made->diagram);
    made->collectives_listener = esi_collectives_listener(made->collectives);
    made->diagram_sink = esi_diagram_sink(made->diagram);
    made->export_sink = esi_export_sink(made->export);
}

static void end_agreement(struct agreement *made)
{
    esi_delay_destroy(made->delay);
    esi_diagram_destroy(made->diagram);
    esi_collectives_destroy(made->collectives);
    esi_export_destroy(made->export);
    fclose(made->stream);
    free(made->text);
    made_timeline_fini(&made->timeline);
}

/* Half of the programs run on two hosts; their clocks differ by no more than they
 * say. */
static void draw_hosts(struct made_timeline *timeline)
{
    bool are_two = draw_below(2);
    uint64_t bound = draw_below(4000);

    for (int rank = 0; rank < timeline->ranks; rank++) {
        timeline->of[rank].host = hosts[are_two ? rank % 2 : 0];
        timeline->of[rank].error_ns = bound;
        timeline->of[rank].offset_ns =
            are_two && rank % 2 ? (int64_t)draw_below(bound + 1) : 0;
    }
    /* Those of one host have read the same clock. */
    for (int rank = 3; rank < timeline->ranks; rank += 2)
        timeline->of[rank].offset_ns = timeline->of[1].offset_ns;
}

/* Passes the program to all of them. */
static void tell_all(struct agreement *made)
{
    const struct esi_causal_listener listener = {
        .told = hear, .instance = hear_instance, .data = made};
    struct es_error error;

    made->timeline.attributes = true;
    made->timeline.sink = (struct es_set_sink){hear_trace, hear_event, made};
    made_timeline_tell(&made->timeline, &listener);
    assert_int_equal(esi_export_finish(made->export, &error), 0);
    fflush(made->stream);
}

static void all_say_the_same_of_each_wait_and_partner(void **state)
{
    static struct agreement made;

    (void)state;
    made.waits = made.shared = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        begin_agreement(&made);
        draw_program(&made.timeline);
        draw_hosts(&made.timeline);
        tell_all(&made);
        read_export(&made);
        count_messages_in_lines(&made);
        assert_int_equal(esi_diagram_foreach_message(made.diagram, &everything, NULL,
                                                     compare_message, &made),
                         0);
        assert_int_equal(made.messages, made.line_messages);
        for (size_t t = 0; t < made.delay->thread_count; t++)
            for (uint64_t n = made.delay->threads[t]->first;
                 n < made.delay->threads[t]->next; n++)
                compare_call(&made, made.delay->threads[t], n);
        for (size_t j = 0; j < made.instance_count; j++)
            compare_instance(&made, &made.instances[j]);
        end_agreement(&made);
    }
    print_message("%" PRIu64 " waits for messages, %" PRIu64
                  " in collective operations\n",
                  made.waits, made.shared);
    assert_true(made.waits > PROGRAMS && made.shared > PROGRAMS);
}

/* --- Which call has waited, by hand ----------------------------------------------- */

static int add_late(void *data, const struct esi_diagram_message *message)
{
    *(uint64_t *)data += message->late_ns;
    return 0;
}

/* Rank 1 sends at 30 us.  Rank 0 receives in up to three calls. */
static void a_message_is_late_for_the_call_that_waited_for_it(void **state)
{
    static const struct {
        struct {
            const char *operation;
            int peer;
            uint64_t start, stop; /* us */
        } calls[3];
        uint64_t late; /* us */
    } cases[] = {
        {{{"MPI_Recv", 1, 2, 32}}, 28},
        {{{"MPI_Recv", 1, 31, 32}}, 0},
        {{{"MPI_Probe", 1, 2, 32}, {"MPI_Recv", 1, 33, 34}}, 28},
        {{{"MPI_Iprobe", 1, 2, 32}, {"MPI_Irecv", 1, 33, 35}, {"MPI_Wait", -1, 34, 35}},
         28},
        {{{"MPI_Probe", 7, 2, 32}, {"MPI_Recv", 1, 33, 34}}, 0}, /* for another one */
        {{{"MPI_Irecv", 1, 2, 32}, {"MPI_Wait", -1, 10, 32}}, 20},
        {{{"MPI_Irecv", 1, 2, 32}, {"MPI_Testany", -1, 5, 32}}, 25},
        {{{"MPI_Irecv", 1, 2, 41}, {"MPI_Send", 1, 5, 40}, {"MPI_Wait", -1, 40, 41}},
         0},
    };
    static struct agreement made;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esi_delay_totals totals;
        uint64_t late = 0;

        begin_agreement(&made);
        made_timeline_init(&made.timeline, 2);
        made_timeline_run(&made.timeline);
        for (size_t j = 0; j < 3 && cases[i].calls[j].operation; j++)
            made_timeline_tuple(
                &made.timeline, 0, cases[i].calls[j].operation,
                (struct es_tuple){.start = BEGIN_NS + cases[i].calls[j].start * 1000,
                                  .stop = BEGIN_NS + cases[i].calls[j].stop * 1000,
                                  .peer = cases[i].calls[j].peer});
        made_timeline_tuple(
            &made.timeline, 1, "MPI_Send",
            (struct es_tuple){.start = BEGIN_NS + 30000, .stop = BEGIN_NS + 31000});
        tell_all(&made);
        assert_int_equal(esi_diagram_foreach_message(made.diagram, &everything, NULL,
                                                     add_late, &late),
                         0);
        assert_int_equal(late, cases[i].late * 1000);
        assert_int_equal(esi_delay_settle(made.delay), 0);
        esi_delay_totals(made.delay, &totals);
        assert_true(totals.waited == (double)late);
        end_agreement(&made);
    }
}

SUITE(test_waits)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_say_the_same_of_each_wait_and_partner),
        cmocka_unit_test(a_message_is_late_for_the_call_that_waited_for_it),
    };

    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
