/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_program.c - calls that refer to messages by number, and their tuples. */
#include "config.h"

#include "tests/monitors/made_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tuplespace/operation_codes.h"

enum { STEP = 10, LASTS = 5, KEY = 77 };

void made_program_begin(struct made_program *program, int ranks)
{
    *program = (struct made_program){.ranks = ranks, .now = 1000};
}

static bool is_request(enum made_kind kind)
{
    return kind == MADE_ISEND || kind == MADE_IRECEIVE || kind == MADE_IBARRIER;
}

int made_program_message(struct made_program *program, int from, int to, int tag)
{
    struct made_message *message = &program->messages[program->message_count];
    uint32_t sequence = 0;

    assert_true(program->message_count < MADE_MESSAGES);
    for (int i = 0; i < program->message_count; i++)
        sequence += program->messages[i].source == from &&
                    program->messages[i].destination == to &&
                    program->messages[i].tag == tag;
    *message = (struct made_message){.source = from,
                                     .destination = to,
                                     .tag = tag,
                                     .send = -1,
                                     .receive = -1,
                                     .sequence = sequence};
    return program->message_count++;
}

static void complete_requests(struct made_program *program, int rank, int number)
{
    struct made_call *wait = &program->calls[rank][number];

    for (int i = 0; i < number; i++) {
        struct made_call *call = &program->calls[rank][i];

        if (is_request(call->kind) && call->completed_by < 0 &&
            (wait->kind == MADE_WAITALL || wait->first == i))
            call->completed_by = number;
    }
}

static void note_message(struct made_program *program, enum made_kind kind, int message)
{
    struct made_message *noted = &program->messages[message];

    if (kind == MADE_RECEIVE || kind == MADE_IRECEIVE)
        noted->receive = program->counts[noted->destination];
    else
        noted->send = program->counts[noted->source];
}

int made_program_call(struct made_program *program,
                      int rank,
                      enum made_kind kind,
                      int message)
{
    int number = program->counts[rank];

    assert_true(number < MADE_CALLS);
    program->now += STEP;
    program->calls[rank][number] = (struct made_call){.kind = kind,
                                                      .message = message,
                                                      .first = message,
                                                      .start = program->now,
                                                      .stop = program->now + LASTS,
                                                      .completed_by = -1};
    if (kind < MADE_BARRIER && kind != MADE_EXCHANGE)
        note_message(program, kind, message);
    if (kind == MADE_WAIT || kind == MADE_WAITALL)
        complete_requests(program, rank, number);
    program->counts[rank]++;
    return number;
}

void made_program_collective(struct made_program *program, enum made_kind kind)
{
    int instance = program->instances++;

    for (int i = 0; i < program->ranks; i++)
        program->instance_calls[instance][i] =
            made_program_call(program, i, kind, instance);
}

/* --- At random -------------------------------------------------------------------- */

/* The next message of a channel whose send (or receive) has no call yet; -1 = none. */
static int next_message(const struct made_program *program,
                        int from,
                        int to,
                        int tag,
                        bool sends)
{
    for (int i = 0; i < program->message_count; i++) {
        const struct made_message *message = &program->messages[i];

        if (message->source == from && message->destination == to &&
            message->tag == tag && (sends ? message->send : message->receive) < 0)
            return i;
    }
    return -1;
}

static int meet_message(struct made_program *program,
                        int from,
                        int to,
                        int tag,
                        bool sends)
{
    int message = next_message(program, from, to, tag, sends);

    return message < 0 ? made_program_message(program, from, to, tag) : message;
}

static bool may_complete(const struct made_program *program, int rank, int number)
{
    const struct made_call *call = &program->calls[rank][number];

    return call->kind != MADE_IRECEIVE || program->messages[call->message].send >= 0;
}

static bool is_open(const struct made_program *program, int rank, int number)
{
    const struct made_call *call = &program->calls[rank][number];

    return is_request(call->kind) && call->completed_by < 0;
}

/* Whether an older send of the same channel is open. A wait names the oldest one. */
static bool has_older(const struct made_program *program, int rank, int number)
{
    const struct made_call *call = &program->calls[rank][number];

    for (int i = 0; i < number && call->kind == MADE_ISEND; i++) {
        const struct made_call *other = &program->calls[rank][i];

        if (is_open(program, rank, i) && other->kind == MADE_ISEND &&
            program->messages[other->message].destination ==
                program->messages[call->message].destination &&
            program->messages[other->message].tag ==
                program->messages[call->message].tag)
            return true;
    }
    return false;
}

static void draw_wait(struct made_program *program, uint64_t *seed, int rank)
{
    int count = program->counts[rank];
    int number = count > 0 ? random_int(seed, count) : 0;

    if (count > 0 && is_open(program, rank, number) &&
        may_complete(program, rank, number) && !has_older(program, rank, number))
        made_program_call(program, rank, MADE_WAIT, number);
}

static void draw_waitall(struct made_program *program, int rank)
{
    bool any = false;

    for (int i = 0; i < program->counts[rank]; i++) {
        if (is_open(program, rank, i) && !may_complete(program, rank, i))
            return;
        any = any || is_open(program, rank, i);
    }
    if (any)
        made_program_call(program, rank, MADE_WAITALL, -1);
}

static void draw_receive(struct made_program *program, uint64_t *seed, int rank)
{
    int message = next_message(program, random_int(seed, program->ranks), rank,
                               random_int(seed, 2), false);

    if (message >= 0 && program->messages[message].send >= 0)
        made_program_call(program, rank, MADE_RECEIVE, message);
}

/* Each rank sends to the next and receives from the one before in one call. */
static void draw_ring(struct made_program *program)
{
    int messages[MADE_RANKS];

    for (int i = 0; i < program->ranks; i++) {
        int to = (i + 1) % program->ranks;

        messages[i] = made_program_message(program, i, to, 2);
        program->messages[messages[i]].send = program->counts[i];
        program->messages[messages[i]].receive = program->counts[to];
    }
    for (int i = 0; i < program->ranks; i++) {
        int number = made_program_call(program, i, MADE_EXCHANGE, messages[i]);

        program->calls[i][number].other =
            messages[(i + program->ranks - 1) % program->ranks];
    }
}

static void draw_message(struct made_program *program, uint64_t *seed, int rank)
{
    static const enum made_kind kinds[] = {MADE_SEND,     MADE_SEND,     MADE_ISEND,
                                           MADE_IRECEIVE, MADE_IRECEIVE, MADE_BUFFERED};
    enum made_kind kind = kinds[random_int(seed, 6)];
    int other = random_int(seed, program->ranks);
    bool sends = kind != MADE_IRECEIVE;
    int message = sends
                      ? meet_message(program, rank, other, random_int(seed, 2), true)
                      : meet_message(program, other, rank, random_int(seed, 2), false);

    made_program_call(program, rank, kind, message);
}

static void draw_step(struct made_program *program, uint64_t *seed)
{
    int rank = random_int(seed, program->ranks);
    int what = random_int(seed, 40);

    if (what < 12)
        draw_message(program, seed, rank);
    else if (what < 22)
        draw_receive(program, seed, rank);
    else if (what < 30)
        draw_wait(program, seed, rank);
    else if (what < 36)
        draw_waitall(program, rank);
    else if (what < 37)
        draw_ring(program);
    else
        made_program_collective(program, what < 38 ? MADE_BARRIER : MADE_IBARRIER);
}

void made_program_draw(struct made_program *program, uint64_t *seed, int steps)
{
    for (int i = 0; i < steps; i++)
        draw_step(program, seed);
    for (int i = 0; i < program->message_count; i++)
        if (program->messages[i].send < 0)
            made_program_call(program, program->messages[i].source, MADE_SEND, i);
    for (int i = 0; i < program->message_count; i++)
        if (program->messages[i].receive < 0)
            made_program_call(program, program->messages[i].destination, MADE_RECEIVE,
                              i);
    for (int i = 0; i < program->ranks; i++)
        draw_waitall(program, i);
}

/* --- Strict execution ------------------------------------------------------------- */

static bool is_posted(const struct made_program *program, const int *at, int message)
{
    return program->messages[message].receive <=
           at[program->messages[message].destination];
}

static bool is_sent(const struct made_program *program, const int *at, int message)
{
    return program->messages[message].send <= at[program->messages[message].source];
}

static bool have_entered(const struct made_program *program,
                         const int *at,
                         int instance)
{
    for (int i = 0; i < program->ranks; i++)
        if (program->instance_calls[instance][i] > at[i])
            return false;
    return true;
}

static bool is_request_done(const struct made_program *program,
                            const int *at,
                            const struct made_call *call)
{
    if (call->kind == MADE_ISEND)
        return is_posted(program, at, call->message);
    if (call->kind == MADE_IRECEIVE)
        return is_sent(program, at, call->message);
    return have_entered(program, at, call->message);
}

/* Whether the current call of a rank may return. */
static bool may_end(const struct made_program *program, const int *at, int rank)
{
    const struct made_call *call = &program->calls[rank][at[rank]];

    switch (call->kind) {
    case MADE_SEND:
        return is_posted(program, at, call->message);
    case MADE_RECEIVE:
        return is_sent(program, at, call->message);
    case MADE_EXCHANGE:
        return is_posted(program, at, call->message) &&
               is_sent(program, at, call->other);
    case MADE_BARRIER:
        return have_entered(program, at, call->message);
    case MADE_WAIT:
    case MADE_WAITALL:
        for (int i = 0; i < at[rank]; i++)
            if (program->calls[rank][i].completed_by == at[rank] &&
                !is_request_done(program, at, &program->calls[rank][i]))
                return false;
        return true;
    default:
        return true;
    }
}

bool made_program_ends(const struct made_program *program)
{
    int at[MADE_RANKS] = {0};
    bool moved = true;
    bool ended = true;

    while (moved) {
        moved = false;
        for (int i = 0; i < program->ranks; i++)
            while (at[i] < program->counts[i] && may_end(program, at, i)) {
                at[i]++;
                moved = true;
            }
    }
    for (int i = 0; i < program->ranks; i++)
        ended = ended && at[i] == program->counts[i];
    return ended;
}

/* --- Tuples ----------------------------------------------------------------------- */

static uint16_t operation_of(enum made_kind kind)
{
    static const uint16_t operations[] = {
        [MADE_SEND] = ES_OP_MPI_Send,         [MADE_RECEIVE] = ES_OP_MPI_Recv,
        [MADE_EXCHANGE] = ES_OP_MPI_Sendrecv, [MADE_ISEND] = ES_OP_MPI_Isend,
        [MADE_IRECEIVE] = ES_OP_MPI_Irecv,    [MADE_BUFFERED] = ES_OP_MPI_Bsend,
        [MADE_BARRIER] = ES_OP_MPI_Barrier,   [MADE_IBARRIER] = ES_OP_MPI_Ibarrier,
        [MADE_WAIT] = ES_OP_MPI_Wait,         [MADE_WAITALL] = ES_OP_MPI_Waitall,
    };

    return operations[kind];
}

static void fill_end(const struct made_program *program,
                     int message,
                     bool sends,
                     struct es_tuple *tuple)
{
    const struct made_message *filled = &program->messages[message];

    tuple->peer = sends ? filled->destination : filled->source;
    tuple->tag = filled->tag;
    tuple->sequence = filled->sequence;
    tuple->bytes = 8;
}

/* Fills in the number of requests completed, and the fields of the first one. */
static void fill_wait(const struct made_program *program,
                      int rank,
                      int number,
                      struct es_tuple *tuple)
{
    tuple->sequence = ES_SEQUENCE_UNKNOWN;
    for (int i = number - 1; i >= 0; i--) {
        const struct made_call *call = &program->calls[rank][i];
        uint32_t bytes = tuple->bytes;

        if (call->completed_by != number)
            continue;
        if (call->kind == MADE_IBARRIER)
            tuple->tag = call->message;
        else
            fill_end(program, call->message, call->kind == MADE_ISEND, tuple);
        tuple->sequence = operation_of(call->kind);
        tuple->bytes = bytes + 1;
    }
}

void made_program_add(struct made_program *program,
                      int rank,
                      const struct es_tuple *tuple)
{
    const struct esi_causal_tuple timed = {
        .tuple = *tuple, .start_ns = tuple->start, .stop_ns = tuple->stop};

    assert_int_equal(
        esi_causality_add(program->causality, program->elements[rank], &timed), 0);
}

static void add_request(struct made_program *program,
                        int rank,
                        struct es_tuple tuple,
                        const struct made_call *call)
{
    if (call->kind == MADE_IBARRIER) {
        struct es_tuple post = tuple;

        post.operation = ES_OP_MPI_collective_post;
        post.tag = ES_OP_MPI_Ibarrier;
        post.sequence = (uint32_t)call->message;
        made_program_add(program, rank, &post);
        tuple.sequence = (uint32_t)call->message;
    } else {
        fill_end(program, call->message, call->kind == MADE_ISEND, &tuple);
    }
    if (call->kind != MADE_ISEND)
        tuple.stop = program->calls[rank][call->completed_by].stop;
    made_program_add(program, rank, &tuple);
}

static void add_call(struct made_program *program, int rank, int number)
{
    const struct made_call *call = &program->calls[rank][number];
    struct es_tuple tuple = {.stop = call->stop,
                             .operation = operation_of(call->kind),
                             .start = call->start,
                             .peer = ES_PEER_NONE};

    if (is_request(call->kind)) {
        add_request(program, rank, tuple, call);
        return;
    }
    if (call->kind == MADE_BARRIER)
        tuple.sequence = (uint32_t)call->message;
    else if (call->kind == MADE_WAIT || call->kind == MADE_WAITALL)
        fill_wait(program, rank, number, &tuple);
    else
        fill_end(program, call->message, call->kind != MADE_RECEIVE, &tuple);
    made_program_add(program, rank, &tuple);
    if (call->kind == MADE_EXCHANGE) {
        tuple.operation = ES_OP_MPI_Sendrecv_receive;
        fill_end(program, call->other, false, &tuple);
        made_program_add(program, rank, &tuple);
    }
}

static void add_rank(struct made_program *program, int rank)
{
    const struct esi_run_process config = {.rank = rank};
    const struct esi_run_reported world = {.key = {KEY, 1},
                                           .name = "MPI_COMM_WORLD",
                                           .rank = rank,
                                           .size = program->ranks};
    struct esi_run_model *run = esi_causality_run(program->causality);
    struct esi_run_process *process;

    assert_int_equal(esi_run_model_add_process(run, &config, &process), 0);
    assert_int_equal(esi_run_model_set_communicator(run, process, 0, &world), 0);
    assert_int_equal(esi_causality_add_element(program->causality, process, 0,
                                               &program->elements[rank]),
                     0);
}

void made_program_open_replay(struct made_program *program)
{
    struct esi_causality_config config = {.held_max = 0};

    assert_int_equal(esi_replay_create(&program->replay), 0);
    config.listener = esi_replay_listener(program->replay);
    assert_int_equal(esi_causality_create(&config, &program->causality), 0);
    for (int i = 0; i < program->ranks; i++)
        add_rank(program, i);
}

struct esi_replay *made_program_finish_replay(struct made_program *program)
{
    struct esi_causality_totals totals;

    assert_int_equal(esi_causality_finish(program->causality), 0);
    esi_causality_totals(program->causality, &totals);
    assert_int_equal(esi_replay_finish(program->replay, &totals), 0);
    return program->replay;
}

struct esi_replay *made_program_replay(struct made_program *program)
{
    made_program_open_replay(program);
    for (int i = 0; i < program->ranks; i++)
        for (int k = 0; k < program->counts[i]; k++)
            add_call(program, i, k);
    return made_program_finish_replay(program);
}

void made_program_release(struct made_program *program)
{
    esi_replay_destroy(program->replay);
    esi_causality_destroy(program->causality);
}
