/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of waits, their causes and the critical path, in programs of known delays. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/delay/delay.h"
#include "tests/monitors/draw.h"
#include "tests/monitors/made_timeline.h"
#include "tests/suites.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

enum {
    CALL = 1000,     /* ns of a call without its wait: the default of made_timeline */
    START = 1001000, /* time at which all ranks have left MPI_Init */
};

/* --- Helpers ---------------------------------------------------------------------- */

static bool is_near(double found, double wanted)
{
    return found - wanted < 1e-3 && wanted - found < 1e-3;
}

#define assert_near(FOUND, WANTED)                                                     \
    do {                                                                               \
        double found_ = (FOUND);                                                       \
        double wanted_ = (double)(WANTED);                                             \
        if (!is_near(found_, wanted_))                                                 \
            fail_msg("%s: %.3f, not %.3f", #FOUND, found_, wanted_);                   \
    } while (0)

static struct esi_delay *begin_delay(void)
{
    const struct esi_delay_config config = {.window = 0};
    struct esi_delay *delay;

    assert_int_equal(esi_delay_create(&config, &delay), 0);
    return delay;
}

static const struct esi_delay_times *times_of_rank(const struct esi_delay *delay,
                                                   int rank)
{
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].rank == rank)
            return &rows[i].times;
    fail_msg("no row of rank %d", rank);
    return NULL;
}

static const struct esi_delay_times *times_of_line(const struct esi_delay *delay,
                                                   const char *line,
                                                   const char *operation)
{
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_LINE, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, line) == 0 &&
            strcmp(rows[i].operation, operation) == 0)
            return &rows[i].times;
    fail_msg("no row of %s at %s", operation, line);
    return NULL;
}

static const struct esi_delay_times *times_of_kind(const struct esi_delay *delay,
                                                   enum esi_delay_kind kind)
{
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_KIND, &count);

    assert_true((size_t)kind < count);
    return &rows[kind].times;
}

static struct esi_delay_totals totals_of(const struct esi_delay *delay)
{
    struct esi_delay_totals totals;

    esi_delay_totals(delay, &totals);
    return totals;
}

/* The sum of all costs is the sum of all waits. */
static void check_sums(const struct esi_delay *delay)
{
    struct esi_delay_totals totals = totals_of(delay);
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);
    double waited = 0;
    double caused = totals.elsewhere;
    double direct = 0;

    for (size_t i = 0; i < count; i++) {
        waited += rows[i].times.waited;
        caused += rows[i].times.caused;
        direct += rows[i].times.direct;
    }
    assert_near(waited, totals.waited);
    assert_near(caused, totals.waited);
    assert_near(direct, totals.direct);
}

static void end_telling(struct esi_delay *delay)
{
    assert_int_equal(esi_delay_settle(delay), 0);
    assert_int_equal(esi_delay_find_critical(delay), 0);
    check_sums(delay);
}

/* Runs the timeline and destroys it.  Caller destroys the result. */
static struct esi_delay *analyse(struct made_timeline *timeline)
{
    struct esi_delay *delay = begin_delay();
    struct esi_causal_listener listener = esi_delay_listener(delay);

    made_timeline_run(timeline);
    made_timeline_tell(timeline, &listener);
    made_timeline_fini(timeline);
    end_telling(delay);
    return delay;
}

/* There is exactly one wait, of this kind and length. */
static void check_only_wait(const struct esi_delay *delay,
                            enum esi_delay_kind kind,
                            int rank,
                            uint64_t ns)
{
    assert_int_equal(totals_of(delay).waits, 1);
    assert_near(totals_of(delay).waited, ns);
    assert_int_equal(times_of_kind(delay, kind)->calls, 1);
    assert_near(times_of_kind(delay, kind)->waited, ns);
    assert_near(times_of_rank(delay, rank)->waited, ns);
}

static void step(struct made_timeline *timeline, int rank, struct made_step made)
{
    made_timeline_step(timeline, rank, made);
}

static void compute(struct made_timeline *timeline, int rank, uint64_t ns)
{
    step(timeline, rank, (struct made_step){.kind = MADE_COMPUTE, .ns = ns});
}

#define STEP(...) ((struct made_step){__VA_ARGS__})

/* --- Messages --------------------------------------------------------------------- */

static void a_receive_waits_for_its_sender(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 2);
    step(&timeline, 0, STEP(MADE_STEP_RECV, .peer = 1, .line = 1));
    compute(&timeline, 1, 50 * US);
    step(&timeline, 1, STEP(MADE_STEP_SEND, .peer = 0, .line = 2));
    delay = analyse(&timeline);
    check_only_wait(delay, ESI_DELAY_LATE_SENDER, 0, 50 * US);
    assert_near(times_of_rank(delay, 1)->caused, 50 * US);
    assert_near(times_of_line(delay, "made.c:2", "MPI_Send")->caused_computing,
                50 * US);
    assert_near(times_of_line(delay, "made.c:1", "MPI_Recv")->waited, 50 * US);
    assert_near(times_of_rank(delay, 1)->computed, 50 * US);
    assert_near(times_of_rank(delay, 0)->called, 2 * CALL);
    esi_delay_destroy(delay);
}

static void a_synchronous_send_waits_for_its_receiver(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 2);
    step(&timeline, 0, STEP(MADE_STEP_SSEND, .peer = 1, .line = 1));
    compute(&timeline, 1, 70 * US);
    step(&timeline, 1, STEP(MADE_STEP_RECV, .peer = 0, .line = 2));
    delay = analyse(&timeline);
    check_only_wait(delay, ESI_DELAY_LATE_RECEIVER, 0, 70 * US);
    assert_near(times_of_line(delay, "made.c:2", "MPI_Recv")->caused_computing,
                70 * US);
    esi_delay_destroy(delay);
}

static void a_send_in_rendezvous_waits_for_its_receiver(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 2);
    step(&timeline, 0, STEP(MADE_STEP_ISEND, .peer = 1, .rendezvous = true));
    compute(&timeline, 0, 10 * US);
    step(&timeline, 0, STEP(MADE_STEP_WAITALL, .line = 1));
    compute(&timeline, 1, 70 * US);
    step(&timeline, 1, STEP(MADE_STEP_IRECV, .peer = 0, .line = 2));
    compute(&timeline, 1, 5 * US);
    step(&timeline, 1, STEP(MADE_STEP_WAITALL, .line = 3));
    delay = analyse(&timeline);
    check_only_wait(delay, ESI_DELAY_LATE_RECEIVER, 0, 60 * US - CALL);
    assert_near(times_of_rank(delay, 0)->nonblocking, 60 * US - CALL);
    esi_delay_destroy(delay);
}

static void a_nonblocking_send_does_not_wait_itself(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 2);
    step(&timeline, 0, STEP(MADE_STEP_ISEND, .peer = 1, .ns = 20 * US));
    step(&timeline, 0, STEP(MADE_STEP_WAITALL, .line = 1));
    compute(&timeline, 1, 10 * US);
    step(&timeline, 1, STEP(MADE_STEP_RECV, .peer = 0, .line = 2));
    delay = analyse(&timeline);
    assert_int_equal(totals_of(delay).waits, 0);
    esi_delay_destroy(delay);
}

static void what_completes_a_receive_waits_for_it(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 3);
    step(&timeline, 0, STEP(MADE_STEP_IRECV, .peer = 1));
    step(&timeline, 0, STEP(MADE_STEP_IRECV, .peer = 2));
    compute(&timeline, 0, 10 * US);
    step(&timeline, 0, STEP(MADE_STEP_WAITALL, .line = 1));
    compute(&timeline, 1, 30 * US);
    step(&timeline, 1, STEP(MADE_STEP_SEND, .line = 2));
    compute(&timeline, 2, 40 * US);
    step(&timeline, 2, STEP(MADE_STEP_SEND, .line = 3));
    delay = analyse(&timeline);
    /* The last message counts.  Starting a request counts as computing. */
    check_only_wait(delay, ESI_DELAY_LATE_SENDER, 0, 30 * US - 2 * CALL);
    assert_near(times_of_rank(delay, 0)->nonblocking, 30 * US - 2 * CALL);
    assert_near(times_of_line(delay, "made.c:1", "MPI_Waitall")->waited,
                30 * US - 2 * CALL);
    assert_near(times_of_rank(delay, 2)->caused, 30 * US - 2 * CALL);
    assert_near(times_of_rank(delay, 1)->caused, 0);
    assert_near(times_of_rank(delay, 0)->computed, 10 * US + 2 * CALL);
    esi_delay_destroy(delay);
}

/* Rank 0 waits for the second message while an earlier one is already there. */
static void a_receive_in_the_wrong_order_is_told(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 2);
    step(&timeline, 1, STEP(MADE_STEP_SEND, .tag = 1, .line = 3));
    compute(&timeline, 1, 80 * US);
    step(&timeline, 1, STEP(MADE_STEP_SEND, .tag = 0, .line = 4));
    compute(&timeline, 0, 20 * US);
    step(&timeline, 0, STEP(MADE_STEP_RECV, .peer = 1, .tag = 0, .line = 1));
    step(&timeline, 0, STEP(MADE_STEP_RECV, .peer = 1, .tag = 1, .line = 2));
    delay = analyse(&timeline);
    check_only_wait(delay, ESI_DELAY_WRONG_ORDER, 0, 60 * US + CALL);
    esi_delay_destroy(delay);
}

/* --- Collective operations -------------------------------------------------------- */

/* Rank 2 of four enters 40 us late an operation whose root is rank 0 or 2. */
static struct esi_delay *enter_late(enum made_step_kind kind, int root)
{
    struct made_timeline timeline;

    made_timeline_init(&timeline, 4);
    compute(&timeline, 2, 40 * US);
    for (int rank = 0; rank < 4; rank++)
        step(&timeline, rank, STEP(kind, .peer = root, .line = 5));
    return analyse(&timeline);
}

static void check_collective(enum made_step_kind kind,
                             int root,
                             enum esi_delay_kind wanted,
                             int waiting,
                             const char *operation)
{
    struct esi_delay *delay = enter_late(kind, root);

    assert_int_equal(totals_of(delay).waits, waiting);
    assert_near(times_of_kind(delay, wanted)->waited, (uint64_t)waiting * 40 * US);
    assert_near(times_of_line(delay, "made.c:5", operation)->caused_computing,
                (uint64_t)waiting * 40 * US);
    assert_near(times_of_rank(delay, 2)->caused, (uint64_t)waiting * 40 * US);
    assert_near(times_of_rank(delay, 2)->waited, 0);
    esi_delay_destroy(delay);
}

static void members_wait_for_whom_the_operation_needs(void **state)
{
    (void)state;
    check_collective(MADE_STEP_BARRIER, 0, ESI_DELAY_BARRIER, 3, "MPI_Barrier");
    check_collective(MADE_STEP_ALLREDUCE, 0, ESI_DELAY_ALL_TO_ALL, 3, "MPI_Allreduce");
    check_collective(MADE_STEP_BCAST, 2, ESI_DELAY_ROOT_TO_ALL, 3, "MPI_Bcast");
    check_collective(MADE_STEP_BCAST, 0, ESI_DELAY_ROOT_TO_ALL, 0, "MPI_Bcast");
    check_collective(MADE_STEP_REDUCE, 0, ESI_DELAY_ALL_TO_ROOT, 1, "MPI_Reduce");
    check_collective(MADE_STEP_REDUCE, 2, ESI_DELAY_ALL_TO_ROOT, 0, "MPI_Reduce");
    check_collective(MADE_STEP_SCAN, 0, ESI_DELAY_PARTIAL, 1, "MPI_Scan");
}

static void what_completes_a_collective_waits_for_its_last_member(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 3);
    compute(&timeline, 1, 90 * US);
    for (int rank = 0; rank < 3; rank++) {
        step(&timeline, rank, STEP(MADE_STEP_IBARRIER, .line = 6));
        compute(&timeline, rank, 30 * US);
        step(&timeline, rank, STEP(MADE_STEP_WAITALL, .line = 7));
    }
    delay = analyse(&timeline);
    assert_int_equal(totals_of(delay).waits, 2);
    assert_near(times_of_kind(delay, ESI_DELAY_BARRIER)->waited, 2 * (60 * US - CALL));
    assert_near(times_of_kind(delay, ESI_DELAY_BARRIER)->nonblocking,
                2 * (60 * US - CALL));
    assert_near(times_of_line(delay, "made.c:7", "MPI_Waitall")->caused_computing,
                2 * (60 * US - CALL));
    esi_delay_destroy(delay);
}

/* --- One-sided operations and probes, by hand ------------------------------------- */

/* Adds a call.  A call of an epoch has no peer: ES_PEER_NONE.  One that completes
 * requests completes one. */
static void add_call(struct made_timeline *timeline,
                     int rank,
                     const char *operation,
                     int peer,
                     uint64_t start,
                     uint64_t stop)
{
    const struct es_tuple tuple = {.start = START + start,
                                   .stop = START + stop,
                                   .peer = peer,
                                   .tag = 9,
                                   .bytes = es_operation_by_name(operation)->completes};

    made_timeline_tuple(timeline, rank, operation, tuple);
}

static void an_access_waits_for_the_post(void **state)
{
    struct made_timeline hand;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&hand, 2);
    add_call(&hand, 1, "MPI_Win_start", ES_PEER_NONE, 2 * US, 3 * US);
    add_call(&hand, 1, "MPI_Win_start member", 0, 2 * US, 3 * US);
    add_call(&hand, 0, "MPI_Win_post", ES_PEER_NONE, 40 * US, 41 * US);
    add_call(&hand, 0, "MPI_Win_post member", 1, 40 * US, 41 * US);
    add_call(&hand, 1, "MPI_Win_complete", ES_PEER_NONE, 10 * US, 42 * US);
    add_call(&hand, 0, "MPI_Win_wait", ES_PEER_NONE, 42 * US, 43 * US);
    delay = analyse(&hand);
    check_only_wait(delay, ESI_DELAY_LATE_POST, 1, 30 * US);
    assert_near(times_of_rank(delay, 0)->caused, 30 * US);
    esi_delay_destroy(delay);
}

static void an_exposure_waits_for_the_complete(void **state)
{
    struct made_timeline hand;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&hand, 2);
    add_call(&hand, 0, "MPI_Win_post", ES_PEER_NONE, 2 * US, 3 * US);
    add_call(&hand, 0, "MPI_Win_post member", 1, 2 * US, 3 * US);
    add_call(&hand, 1, "MPI_Win_start", ES_PEER_NONE, 4 * US, 5 * US);
    add_call(&hand, 1, "MPI_Win_start member", 0, 4 * US, 5 * US);
    add_call(&hand, 1, "MPI_Win_complete", ES_PEER_NONE, 60 * US, 61 * US);
    add_call(&hand, 0, "MPI_Win_wait", ES_PEER_NONE, 10 * US, 62 * US);
    delay = analyse(&hand);
    check_only_wait(delay, ESI_DELAY_LATE_COMPLETE, 0, 50 * US);
    esi_delay_destroy(delay);
}

/* The events of the waiting rank come before those of the holder, or after them. */
static void a_lock_waits_for_the_unlock(void **state)
{
    static const char *const waits[] = {"MPI_Win_lock", "MPI_Win_flush",
                                        "MPI_Win_flush_local"};

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof waits / sizeof *waits); i++) {
        int holder = 1 + (int)(i % 2);
        int waiting = 3 - holder;
        struct made_timeline hand;
        struct esi_delay *delay;

        made_timeline_init(&hand, 3);
        add_call(&hand, holder, "MPI_Win_lock", 0, 2 * US, 3 * US);
        add_call(&hand, holder, "MPI_Win_unlock", 0, 50 * US, 51 * US);
        add_call(&hand, waiting, waits[i / 2], 0, 10 * US, 52 * US);
        add_call(&hand, waiting, "MPI_Win_unlock", 0, 53 * US, 54 * US);
        delay = analyse(&hand);
        check_only_wait(delay, ESI_DELAY_LOCK, waiting, 41 * US);
        assert_near(times_of_rank(delay, holder)->caused, 41 * US);
        esi_delay_destroy(delay);
    }
}

/* Rank 0 waits in a call. `polled` is the part of the wait spent in repeated polls. */
static void check_polling(struct made_timeline *hand,
                          enum esi_delay_kind kind,
                          uint64_t waited,
                          uint64_t polled)
{
    struct esi_delay *delay = analyse(hand);

    check_only_wait(delay, kind, 0, waited);
    assert_near(times_of_rank(delay, 0)->polling, polled);
    esi_delay_destroy(delay);
}

/* The tuple of a test or probe begins at the first of the polls that it ends. */
static void probes_and_rows_of_polls_wait(void **state)
{
    struct made_timeline hand;

    (void)state;
    for (int polls = 0; polls < 2; polls++) {
        made_timeline_init(&hand, 2);
        add_call(&hand, 1, "MPI_Send", 0, 30 * US, 31 * US);
        add_call(&hand, 0, polls ? "MPI_Iprobe" : "MPI_Probe", 1, 2 * US, 32 * US);
        add_call(&hand, 0, "MPI_Recv", 1, 33 * US, 34 * US);
        check_polling(&hand, ESI_DELAY_LATE_SENDER, 28 * US, polls ? 28 * US : 0);
    }
    made_timeline_init(&hand, 2);
    add_call(&hand, 1, "MPI_Send", 0, 30 * US, 31 * US);
    add_call(&hand, 0, "MPI_Irecv", 1, 1 * US, 32 * US);
    add_call(&hand, 0, "MPI_Test", ES_PEER_NONE, 2 * US, 32 * US);
    check_polling(&hand, ESI_DELAY_LATE_SENDER, 28 * US, 28 * US);
    made_timeline_init(&hand, 2);
    add_call(&hand, 0, "MPI_Isend", 1, 1 * US, 2 * US);
    add_call(&hand, 1, "MPI_Recv", 0, 30 * US, 32 * US);
    add_call(&hand, 0, "MPI_Testall", ES_PEER_NONE, 3 * US, 32 * US);
    check_polling(&hand, ESI_DELAY_LATE_RECEIVER, 27 * US, 27 * US);
}

/* Who looks for a message, in a call or in a row of polls, completes no send. */
static void a_look_for_a_message_is_no_wait_of_a_send(void **state)
{
    static const char *const looks[] = {"MPI_Iprobe", "MPI_Improbe", "MPI_Probe"};

    (void)state;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        struct made_timeline hand;
        struct esi_delay *delay;

        made_timeline_init(&hand, 2);
        add_call(&hand, 0, "MPI_Isend", 1, 1 * US, 2 * US);
        add_call(&hand, 1, "MPI_Recv", 0, 30 * US, 32 * US);
        add_call(&hand, 0, looks[i], 1, 3 * US, 32 * US);
        delay = analyse(&hand);
        assert_int_equal(totals_of(delay).waits, 0);
        esi_delay_destroy(delay);
    }
}

/* Adds a wait for one request, for an operation with rank `peer`. */
static void add_wait(struct made_timeline *timeline,
                     int rank,
                     const char *awaited,
                     int peer,
                     uint64_t start,
                     uint64_t stop)
{
    const struct es_tuple tuple = {.start = START + start,
                                   .stop = START + stop,
                                   .sequence = es_operation_by_name(awaited)->code,
                                   .peer = peer,
                                   .tag = 9,
                                   .bytes = 1};

    made_timeline_tuple(timeline, rank, "MPI_Wait", tuple);
}

/* Rank 0 sends until `end` and then waits for its request, rank 1 posts the receive
 * after 30 us.  Caller destroys the result. */
static struct esi_delay *analyse_send(const char *operation, uint64_t end)
{
    bool also_receives = strncmp(operation, "MPI_Isendrecv", 13) == 0;
    struct made_timeline hand;
    char half[40];

    made_timeline_init(&hand, 2);
    add_call(&hand, 0, operation, 1, 1 * US, end);
    add_call(&hand, 1, "MPI_Recv", 0, 30 * US, 32 * US);
    if (also_receives) { /* from nobody, and without it the send is not complete */
        snprintf(half, sizeof half, "%s receive", operation);
        add_call(&hand, 0, half, ES_PEER_NONE, 1 * US, 40 * US);
    }
    add_wait(&hand, 0, operation, 1, end + 1 * US, 40 * US);
    return analyse(&hand);
}

static void what_completes_a_posted_send_waits_for_its_receiver(void **state)
{
    static const char *posts[] = {
        "MPI_Isend",      "MPI_Isend_c",
        "MPI_Issend",     "MPI_Irsend",
        "MPI_Isendrecv",  "MPI_Isendrecv_replace",
        "MPI_Start send", "MPI_Start partitioned send",
    };

    (void)state;
    for (size_t i = 0; i < sizeof posts / sizeof posts[0]; i++) {
        struct esi_delay *delay = analyse_send(posts[i], 2 * US);

        check_only_wait(delay, ESI_DELAY_LATE_RECEIVER, 0, 27 * US);
        esi_delay_destroy(delay);
    }
}

/* The receive may become known before the wait of the sender, or after it. */
static void the_order_of_events_does_not_matter(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        int sender = i / 2;
        struct made_timeline hand;
        struct esi_delay *delay;

        made_timeline_init(&hand, 2);
        add_call(&hand, sender, "MPI_Isend", 1 - sender, 1 * US, 2 * US);
        add_wait(&hand, sender, "MPI_Isend", 1 - sender, 3 * US, 40 * US);
        add_call(&hand, 1 - sender, "MPI_Recv", sender, 30 * US,
                 i % 2 ? 32 * US : 41 * US);
        hand.advance_tuples = 1;
        delay = analyse(&hand);
        check_only_wait(delay, ESI_DELAY_LATE_RECEIVER, sender, 27 * US);
        esi_delay_destroy(delay);
    }
}

/* When the receive is posted, the sender waits for a message that has been sent long
 * ago; the call that completes its own send comes later. */
static void a_wait_for_another_request_is_no_wait_of_a_send(void **state)
{
    struct made_timeline hand;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&hand, 3);
    add_call(&hand, 2, "MPI_Send", 0, 1 * US, 2 * US);
    add_call(&hand, 0, "MPI_Isend", 1, 1 * US, 2 * US);
    add_call(&hand, 0, "MPI_Irecv", 2, 3 * US, 40 * US);
    add_wait(&hand, 0, "MPI_Irecv", 2, 4 * US, 40 * US);
    add_call(&hand, 1, "MPI_Recv", 0, 30 * US, 50 * US);
    add_wait(&hand, 0, "MPI_Isend", 1, 42 * US, 43 * US);
    hand.advance_tuples = 1;
    delay = analyse(&hand);
    assert_int_equal(totals_of(delay).waits, 0);
    esi_delay_destroy(delay);
}

/* It is not known which of two sends the call has completed: it may have waited for the
 * one whose receive is posted meanwhile. */
static void a_wait_for_one_of_several_sends_may_be_for_each(void **state)
{
    (void)state;
    for (int sender = 0; sender < 2; sender++) {
        struct made_timeline hand;
        struct esi_delay *delay;

        made_timeline_init(&hand, 3);
        add_call(&hand, sender, "MPI_Isend", 1 - sender, 1 * US, 2 * US);
        add_call(&hand, sender, "MPI_Isend", 2, 3 * US, 4 * US);
        add_call(&hand, sender, "MPI_Waitany", 1 - sender, 5 * US, 40 * US);
        add_call(&hand, 1 - sender, "MPI_Recv", sender, 30 * US, 31 * US);
        add_call(&hand, 2, "MPI_Recv", sender, 50 * US, 51 * US);
        hand.advance_tuples = (size_t)sender + 1;
        delay = analyse(&hand);
        check_only_wait(delay, ESI_DELAY_LATE_RECEIVER, sender, 25 * US);
        esi_delay_destroy(delay);
    }
}

static void a_buffered_send_waits_for_nobody(void **state)
{
    static const struct {
        const char *operation;
        uint64_t end;
    } sends[] = {
        {"MPI_Ibsend", 2 * US}, {"MPI_Bsend", 35 * US}, {"MPI_Bsend_c", 35 * US}};

    (void)state;
    for (size_t i = 0; i < sizeof sends / sizeof sends[0]; i++) {
        struct esi_delay *delay = analyse_send(sends[i].operation, sends[i].end);

        assert_int_equal(totals_of(delay).waits, 0);
        esi_delay_destroy(delay);
    }
}

/* --- Causes ----------------------------------------------------------------------- */

/* Adds a step of a ring, in which a rank waits for messages of both neighbours. */
static void add_halo(struct made_timeline *timeline, int rank)
{
    int left = (rank + timeline->ranks - 1) % timeline->ranks;
    int right = (rank + 1) % timeline->ranks;

    step(timeline, rank, STEP(MADE_STEP_IRECV, .peer = left, .tag = 0));
    step(timeline, rank, STEP(MADE_STEP_IRECV, .peer = right, .tag = 1));
    step(timeline, rank, STEP(MADE_STEP_ISEND, .peer = right, .tag = 0, .line = 10));
    step(timeline, rank, STEP(MADE_STEP_ISEND, .peer = left, .tag = 1, .line = 11));
    step(timeline, rank, STEP(MADE_STEP_WAITALL, .line = 12));
}

/* Rank 0 is last in the reduction because its neighbours have waited for rank 2. */
static void a_slow_rank_of_a_ring_causes_all_waits(void **state)
{
    struct made_timeline timeline;
    struct esi_delay_blame blame;
    struct esi_delay *delay;
    const struct esi_delay_times *line;
    double waited, critical;

    (void)state;
    made_timeline_init(&timeline, 4);
    for (int i = 1; i <= 40; i++)
        for (int rank = 0; rank < 4; rank++) {
            compute(&timeline, rank, rank == 2 ? 12 * MS : 3 * MS);
            add_halo(&timeline, rank);
            if (i % 5 == 0)
                step(&timeline, rank, STEP(MADE_STEP_ALLREDUCE, .line = 13));
        }
    delay = analyse(&timeline);
    waited = totals_of(delay).waited;
    critical = totals_of(delay).critical;
    line = times_of_line(delay, "made.c:10", "MPI_Isend");
    assert_true(waited > 3. * 30 * 9 * MS);
    assert_true(times_of_rank(delay, 2)->caused >= .99 * waited);
    assert_true(line->caused_computing >= .99 * waited);
    assert_true(times_of_rank(delay, 2)->critical >= .99 * critical);
    assert_true(line->critical_computing >= .99 * critical);
    assert_true(critical >= 40. * 12 * MS);
    if (esi_delay_find_blame(delay, 0, &blame)) {
        assert_int_equal(blame.causing, 2);
        assert_string_equal(blame.line, "made.c:10");
        assert_true(blame.own < .01 * blame.waited);
    }
    esi_delay_destroy(delay);
}

/* Each rank passes on its delay and adds the time of its own call. */
static void a_delay_is_charged_along_a_chain(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 5);
    compute(&timeline, 0, 100 * US);
    for (int rank = 0; rank < 5; rank++) {
        if (rank > 0)
            step(&timeline, rank, STEP(MADE_STEP_RECV, .peer = rank - 1, .line = 1));
        if (rank < 4)
            step(&timeline, rank, STEP(MADE_STEP_SEND, .peer = rank + 1, .line = 2));
    }
    delay = analyse(&timeline);
    for (int rank = 1; rank < 5; rank++)
        assert_near(times_of_rank(delay, rank)->waited,
                    100 * US + (uint64_t)(rank - 1) * CALL);
    assert_near(times_of_rank(delay, 0)->caused, 4 * 100 * US);
    assert_near(times_of_rank(delay, 0)->direct, 100 * US);
    assert_near(times_of_rank(delay, 1)->caused, 3 * CALL);
    assert_near(times_of_rank(delay, 3)->caused, CALL);
    assert_near(times_of_line(delay, "made.c:2", "MPI_Send")->caused_computing,
                4 * 100 * US);
    assert_near(totals_of(delay).direct, 100 * US + 3 * CALL);
    /* Init, computing, and the receives of ranks 1 to 4, which send at their ends. */
    assert_near(times_of_rank(delay, 0)->critical, 100 * US + CALL);
    assert_near(totals_of(delay).critical, 100 * US + 5 * CALL);
    esi_delay_destroy(delay);
}

static void a_delay_is_charged_through_a_collective(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 4);
    compute(&timeline, 3, 200 * US);
    step(&timeline, 3, STEP(MADE_STEP_SEND, .peer = 0, .line = 1));
    step(&timeline, 0, STEP(MADE_STEP_RECV, .peer = 3, .line = 2));
    compute(&timeline, 0, 50 * US);
    made_timeline_step_all(&timeline, STEP(MADE_STEP_BARRIER, .line = 3));
    delay = analyse(&timeline);
    /* Ranks 1 and 2 wait for rank 0, which has waited for rank 3. */
    assert_near(times_of_rank(delay, 1)->waited, 250 * US + CALL);
    assert_near(times_of_rank(delay, 3)->waited, 50 * US);
    assert_near(times_of_line(delay, "made.c:1", "MPI_Send")->caused_computing,
                3 * 200 * US);
    assert_near(times_of_rank(delay, 3)->caused, 3 * 200 * US);
    assert_true(times_of_rank(delay, 0)->caused > 3. * 50 * US);
    esi_delay_destroy(delay);
}

/* Two delays in sequence are each charged with their own part. */
static void delays_that_add_up_are_shared(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 3);
    compute(&timeline, 0, 30 * US);
    step(&timeline, 0, STEP(MADE_STEP_SEND, .peer = 1, .line = 1));
    step(&timeline, 1, STEP(MADE_STEP_RECV, .peer = 0, .line = 2));
    compute(&timeline, 1, 20 * US);
    step(&timeline, 1, STEP(MADE_STEP_SEND, .peer = 2, .line = 3));
    step(&timeline, 2, STEP(MADE_STEP_RECV, .peer = 1, .line = 4));
    delay = analyse(&timeline);
    assert_near(times_of_rank(delay, 2)->waited, 50 * US + CALL);
    assert_near(times_of_rank(delay, 0)->caused, 30 * US + 30 * US);
    assert_near(times_of_line(delay, "made.c:3", "MPI_Send")->caused_computing,
                20 * US);
    assert_near(times_of_line(delay, "made.c:2", "MPI_Recv")->caused, CALL);
    esi_delay_destroy(delay);
}

/* If two delays overlap, all wait for the later one, including the earlier rank. */
static void of_delays_that_overlap_the_later_counts(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 4);
    compute(&timeline, 0, 30 * US);
    compute(&timeline, 1, 50 * US);
    made_timeline_step_all(&timeline, STEP(MADE_STEP_BARRIER, .line = 3));
    delay = analyse(&timeline);
    assert_near(times_of_rank(delay, 1)->caused, 120 * US);
    assert_near(times_of_rank(delay, 0)->caused, 0);
    assert_near(times_of_rank(delay, 0)->waited, 20 * US);
    esi_delay_destroy(delay);
}

/* A wait of both ranks for the same third rank is not an excess of either. */
static void a_common_cause_cancels(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 3);
    compute(&timeline, 0, 100 * US);
    step(&timeline, 0, STEP(MADE_STEP_BCAST, .peer = 0, .line = 1));
    step(&timeline, 1, STEP(MADE_STEP_BCAST, .peer = 0, .line = 1));
    step(&timeline, 2, STEP(MADE_STEP_BCAST, .peer = 0, .line = 1));
    compute(&timeline, 1, 40 * US);
    step(&timeline, 1, STEP(MADE_STEP_SEND, .peer = 2, .line = 2));
    step(&timeline, 2, STEP(MADE_STEP_RECV, .peer = 1, .line = 3));
    delay = analyse(&timeline);
    assert_near(times_of_rank(delay, 0)->caused, 200 * US);
    assert_near(times_of_rank(delay, 1)->caused, 40 * US);
    assert_near(times_of_rank(delay, 2)->waited, 140 * US);
    esi_delay_destroy(delay);
}

/* A request is sent and its answer received in one call.  The two ranks are
 * synchronised by the request, at the beginning of that call. */
static void an_answer_is_late_since_the_question(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 2);
    compute(&timeline, 0, 100 * US);
    step(&timeline, 0, STEP(MADE_STEP_SENDRECV, .peer = 1, .from = 1, .line = 1));
    step(&timeline, 1, STEP(MADE_STEP_RECV, .peer = 0, .line = 2));
    compute(&timeline, 1, 60 * US);
    step(&timeline, 1, STEP(MADE_STEP_SEND, .peer = 0, .line = 3));
    delay = analyse(&timeline);
    assert_near(times_of_rank(delay, 0)->waited, 60 * US + CALL);
    assert_near(times_of_rank(delay, 1)->caused, 60 * US + CALL);
    assert_near(times_of_rank(delay, 0)->caused, 100 * US);
    assert_near(times_of_line(delay, "made.c:3", "MPI_Send")->caused_computing,
                60 * US);
    esi_delay_destroy(delay);
}

/* --- Random programs with known delays -------------------------------------------- */

enum { PLANTED_PROGRAMS = 200, PHASES = 3, PHASE_STEPS = 4 };

/* Each rank exchanges messages with its neighbours; `late` computes `ns` longer before
 * step `at`.  Each step has its own line. */
static void add_phase(struct made_timeline *timeline,
                      int phase,
                      int late,
                      int at,
                      uint64_t ns)
{
    int ranks = timeline->ranks;

    for (int i = 0; i < PHASE_STEPS; i++)
        for (int rank = 0; rank < ranks; rank++) {
            compute(timeline, rank, 20 * US + (rank == late && i == at ? ns : 0));
            step(timeline, rank,
                 STEP(MADE_STEP_SENDRECV, .peer = (rank + 1) % ranks,
                      .from = (rank + ranks - 1) % ranks,
                      .line = phase * PHASE_STEPS + i));
        }
    made_timeline_step_all(timeline, STEP(MADE_STEP_BARRIER, .line = 60));
}

/* One delay in each phase: all other ranks wait for it, in the exchanges or in the
 * barrier that ends the phase. */
static void planted_delays_are_found(void **state)
{
    (void)state;
    for (int program = 0; program < PLANTED_PROGRAMS; program++) {
        struct made_timeline timeline;
        struct esi_delay *delay;
        int late[PHASES], at[PHASES];
        double planted[PHASES];

        made_timeline_init(&timeline, 3 + (int)draw_below(TIMELINE_RANKS - 2));
        for (int phase = 0; phase < PHASES; phase++) {
            uint64_t ns = 1 * MS + draw_below(10 * MS);

            late[phase] = (int)draw_below((uint64_t)timeline.ranks);
            at[phase] = (int)draw_below(PHASE_STEPS);
            planted[phase] = (double)ns * (timeline.ranks - 1);
            add_phase(&timeline, phase, late[phase], at[phase], ns);
        }
        delay = analyse(&timeline);
        for (int phase = 0; phase < PHASES; phase++) {
            char line[16];
            double found;

            snprintf(line, sizeof line, "made.c:%d", phase * PHASE_STEPS + at[phase]);
            found = times_of_line(delay, line, "MPI_Sendrecv")->caused_computing;
            assert_true(found > .9 * planted[phase] && found < 1.1 * planted[phase]);
        }
        esi_delay_destroy(delay);
    }
}

/* --- Clocks ----------------------------------------------------------------------- */

/* Rank 1 is on another host. Its clock is ahead by 30 us, with a bound of 40 us. */
static struct esi_delay *wait_across_hosts(uint64_t ns)
{
    struct made_timeline timeline;

    made_timeline_init(&timeline, 2);
    timeline.of[1].host = "other";
    timeline.of[1].offset_ns = 30 * (int64_t)US;
    timeline.of[1].error_ns = 40 * US;
    step(&timeline, 0, STEP(MADE_STEP_RECV, .peer = 1, .line = 1, .ns = 100 * US));
    compute(&timeline, 1, ns);
    step(&timeline, 1, STEP(MADE_STEP_SEND, .peer = 0, .line = 2));
    return analyse(&timeline);
}

static void what_is_below_the_clocks_error_is_not_claimed(void **state)
{
    struct esi_delay *delay = wait_across_hosts(5 * US);
    double found;

    (void)state;
    assert_int_equal(totals_of(delay).waits, 0);
    assert_int_equal(totals_of(delay).doubtful, 1);
    assert_int_equal(totals_of(delay).worst_error_ns, 40 * US);
    esi_delay_destroy(delay);
    delay = wait_across_hosts(500 * US);
    found = totals_of(delay).waited;
    assert_int_equal(totals_of(delay).waits, 1);
    assert_true(found >= 460. * US && found <= 540. * US);
    assert_near(times_of_rank(delay, 1)->caused, found);
    esi_delay_destroy(delay);
}

static void without_a_bound_nothing_is_claimed_across_hosts(void **state)
{
    struct made_timeline timeline;
    struct esi_delay *delay;

    (void)state;
    made_timeline_init(&timeline, 3);
    timeline.of[2].host = "other";
    timeline.of[2].error_ns = UINT64_MAX;
    compute(&timeline, 2, 50 * US);
    step(&timeline, 2, STEP(MADE_STEP_SEND, .peer = 0));
    step(&timeline, 0, STEP(MADE_STEP_RECV, .peer = 2, .line = 1));
    step(&timeline, 0, STEP(MADE_STEP_SEND, .peer = 1));
    step(&timeline, 1, STEP(MADE_STEP_RECV, .peer = 0, .line = 2));
    delay = analyse(&timeline);
    /* Within a host the wait is certain. Its cause is the whole call of rank 0, since
     * the wait in that call is not known. */
    check_only_wait(delay, ESI_DELAY_LATE_SENDER, 1, 51 * US);
    assert_near(times_of_line(delay, "made.c:1", "MPI_Recv")->caused, 51 * US);
    assert_int_equal(totals_of(delay).doubtful, 1);
    esi_delay_destroy(delay);
}

SUITE(test_delay)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receive_waits_for_its_sender),
        cmocka_unit_test(a_synchronous_send_waits_for_its_receiver),
        cmocka_unit_test(a_send_in_rendezvous_waits_for_its_receiver),
        cmocka_unit_test(a_nonblocking_send_does_not_wait_itself),
        cmocka_unit_test(what_completes_a_receive_waits_for_it),
        cmocka_unit_test(a_receive_in_the_wrong_order_is_told),
        cmocka_unit_test(members_wait_for_whom_the_operation_needs),
        cmocka_unit_test(what_completes_a_collective_waits_for_its_last_member),
        cmocka_unit_test(an_access_waits_for_the_post),
        cmocka_unit_test(an_exposure_waits_for_the_complete),
        cmocka_unit_test(a_lock_waits_for_the_unlock),
        cmocka_unit_test(probes_and_rows_of_polls_wait),
        cmocka_unit_test(a_look_for_a_message_is_no_wait_of_a_send),
        cmocka_unit_test(what_completes_a_posted_send_waits_for_its_receiver),
        cmocka_unit_test(the_order_of_events_does_not_matter),
        cmocka_unit_test(a_wait_for_another_request_is_no_wait_of_a_send),
        cmocka_unit_test(a_wait_for_one_of_several_sends_may_be_for_each),
        cmocka_unit_test(a_buffered_send_waits_for_nobody),
        cmocka_unit_test(a_slow_rank_of_a_ring_causes_all_waits),
        cmocka_unit_test(a_delay_is_charged_along_a_chain),
        cmocka_unit_test(a_delay_is_charged_through_a_collective),
        cmocka_unit_test(delays_that_add_up_are_shared),
        cmocka_unit_test(of_delays_that_overlap_the_later_counts),
        cmocka_unit_test(a_common_cause_cancels),
        cmocka_unit_test(an_answer_is_late_since_the_question),
        cmocka_unit_test_setup(planted_delays_are_found, draw_seed),
        cmocka_unit_test(what_is_below_the_clocks_error_is_not_claimed),
        cmocka_unit_test(without_a_bound_nothing_is_claimed_across_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
