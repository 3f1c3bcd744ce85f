/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_schedule.c - creates random schedules that cannot deadlock. */
#include "order_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

/* Receives of one rank with the same source and tag. */
struct class
{
    int sent;
    int posted;
};

/* A pending request. */
struct held {
    bool used;
    bool has_class;
    bool receives;
    bool contested; /* a send; other messages may match its receive */
    struct class *class;
    int number; /* in the class */
};

struct maker {
    struct schedule schedule;
    uint64_t random;
    int size;
    struct class classes[COMMS][RANKS_MAX][RANKS_MAX + 1][TAGS + 1];
    struct held held[RANKS_MAX][SLOTS];
    bool failed;
};

static int pick(struct maker *maker, int below)
{
    return random_int(&maker->random, below);
}

bool schedule_are_connected(enum comm comm, int a, int b)
{
    if (comm == COMM_BETWEEN)
        return a % 2 != b % 2;
    return comm != COMM_HALF || a % 2 == b % 2;
}

bool schedule_is_member(enum comm comm, int of, int rank)
{
    return comm != COMM_HALF || of % 2 == rank % 2;
}

bool schedule_has_edge(uint64_t seed, int size, int from, int to)
{
    uint64_t state = seed * 77 + (uint64_t)(from * size + to) + 1;

    return from != to && random_below(&state, 5) < 2;
}

int schedule_asked_source(const struct step *of)
{
    bool any = of->comm == COMM_WILD || of->comm == COMM_GRID ||
               (of->comm == COMM_WORLD && of->tag == TAGS - 1);

    return any ? -1 : of->rank;
}

int schedule_asked_tag(const struct step *of)
{
    bool any =
        of->comm == COMM_WILD || of->comm == COMM_REVERSED || of->comm == COMM_GRAPH;

    return any ? -1 : of->tag;
}

/* Returns the class of the receives that can match message `of`. */
static struct class *class_of(struct maker *maker, const struct step *of)
{
    return &maker->classes[of->comm][of->peer][schedule_asked_source(of) + 1]
                          [schedule_asked_tag(of) + 1];
}

static struct step *add(struct maker *maker, enum step_kind kind, int rank)
{
    static struct step nowhere;
    struct schedule *schedule = &maker->schedule;
    struct step *step;

    if (schedule->count == schedule->room) {
        size_t room = schedule->room * 2 + 256;
        void *steps = realloc(schedule->steps, room * sizeof *schedule->steps);

        if (steps == NULL) {
            maker->failed = true;
            return &nowhere;
        }
        schedule->steps = steps;
        schedule->room = room;
    }
    step = &schedule->steps[schedule->count++];
    memset(step, 0, sizeof *step);
    step->kind = kind;
    step->rank = rank;
    step->peer = -1;
    for (int i = 0; i < RANKS_MAX; i++)
        step->slot[i] = -1;
    return step;
}

/* All ranks complete the steps so far before any later step begins. */
static void add_barrier(struct maker *maker)
{
    struct step *step = add(maker, STEP_TOGETHER, 0);

    step->comm = COMM_WORLD;
    step->form = COLLECTIVE_BARRIER;
    step->other_form = WAY_BLOCKING;
    step->id = maker->schedule.ids++;
}

/* --- Requests --------------------------------------------------------------------- */

static int free_slot(const struct maker *maker, int rank)
{
    for (int i = 0; i < SLOTS; i++)
        if (!maker->held[rank][i].used)
            return i;
    return -1;
}

static int hold(struct maker *maker, int rank, struct class *class, bool receives)
{
    int slot = free_slot(maker, rank);

    maker->held[rank][slot] = (struct held){.used = true,
                                            .has_class = class != NULL,
                                            .receives = receives,
                                            .class = class,
                                            .number = class == NULL ? 0
                                                      : receives    ? class->posted
                                                                    : class->sent};
    return slot;
}

/* Whether the request is certain to complete, given the steps so far. */
static bool completes(const struct held *held)
{
    if (!held->has_class)
        return true;
    /* It is unknown which messages the posted receives have matched. */
    return held->receives ? held->number < held->class->sent
                          : held->class->posted >= held->class->sent;
}

static void add_finish(struct maker *maker, int rank, uint64_t slots)
{
    struct step *step;

    if (slots == 0)
        return;
    step = add(maker, STEP_FINISH, rank);
    step->slots = slots;
    step->form = pick(maker, FINISH_FORMS);
}

static void finish(struct maker *maker, int rank, bool all)
{
    bool contested = false;
    uint64_t slots = 0;

    for (int i = 0; i < SLOTS; i++)
        if (maker->held[rank][i].used && completes(&maker->held[rank][i]) &&
            (all || pick(maker, 3) > 0)) {
            slots |= UINT64_C(1) << i;
            maker->held[rank][i].used = false;
            contested |= maker->held[rank][i].contested;
        }
    add_finish(maker, rank, slots);
    if (contested)
        add_barrier(maker);
}

/* --- Messages --------------------------------------------------------------------- */

static void choose_message(struct maker *maker, struct step *step)
{
    do {
        step->comm = (enum comm)pick(maker, COMMS);
        step->rank = pick(maker, maker->size);
        step->peer = pick(maker, maker->size);
        step->tag = pick(maker, TAGS);
    } while (step->rank == step->peer ||
             !schedule_are_connected(step->comm, step->rank, step->peer));
}

/* Makes `step` a receive at the destination of `of` that this message could match. */
static void post(struct maker *maker,
                 struct step *step,
                 const struct step *of,
                 int form)
{
    struct class *class = class_of(maker, of);

    step->comm = of->comm;
    step->peer = schedule_asked_source(of);
    step->tag = schedule_asked_tag(of);
    step->form = form;
    if (form >= RECEIVE_LATER)
        step->slot[0] = hold(maker, of->peer, class, true);
    class->posted++;
}

/* Whether a message of a later step, by another sender, may arrive first. */
static bool is_contested(const struct step *message)
{
    return schedule_asked_source(message) < 0;
}

static void add_message(struct maker *maker)
{
    struct step message;
    struct step *step;
    struct class *class;
    bool contested;
    int form = pick(maker, SEND_FORMS);

    choose_message(maker, &message);
    class = class_of(maker, &message);
    contested = is_contested(&message);
    if (form < SEND_BUFFERED &&
        (class->posted < class->sent || (contested && pick(maker, 2))))
        form = SEND_BUFFERED; /* no receive is certain to match it soon */
    if (free_slot(maker, message.rank) < 0)
        form = SEND_BUFFERED;
    step = add(maker, STEP_SEND, message.rank);
    step->peer = message.peer;
    step->comm = message.comm;
    step->tag = message.tag;
    step->form = form;
    step->id = maker->schedule.ids++;
    if (form >= SEND_LATER)
        step->slot[0] = hold(maker, message.rank, class, false);
    if (step->slot[0] >= 0)
        maker->held[message.rank][step->slot[0]].contested = contested;
    if (form < SEND_BUFFERED && class->posted == class->sent) {
        step->kind = STEP_PAIR;
        step->other_form = pick(maker, RECEIVE_LATER);
        class->posted++;
    }
    class->sent++;
    if (form < SEND_BUFFERED && contested)
        add_barrier(maker);
}

/* Adds a receive of a message that was sent, or before it is sent. */
static void add_receive(struct maker *maker)
{
    struct step message;
    struct class *class;
    int form = pick(maker, RECEIVE_FORMS);

    choose_message(maker, &message);
    class = class_of(maker, &message);
    if (form < RECEIVE_LATER && class->posted >= class->sent)
        form = RECEIVE_LATER + pick(maker, RECEIVE_FORMS - RECEIVE_LATER);
    /* Receives that are posted long before their messages must not use up the slots. */
    if (form >= RECEIVE_LATER &&
        (free_slot(maker, message.peer) < 0 || class->posted > class->sent + 2))
        return;
    post(maker, add(maker, STEP_RECEIVE, message.peer), &message, form);
}

/* Adds an MPI_Sendrecv of two ranks with each other; no other message of these classes
 * is pending. */
static void add_exchange(struct maker *maker)
{
    struct step message;
    struct step answer;
    struct step *step;
    struct class *there;
    struct class *back;

    choose_message(maker, &message);
    there = class_of(maker, &message);
    answer = message;
    answer.rank = message.peer;
    answer.peer = message.rank;
    back = class_of(maker, &answer);
    if (there->posted != there->sent || back->posted != back->sent)
        return;
    step = add(maker, STEP_EXCHANGE, message.rank);
    step->peer = message.peer;
    step->comm = message.comm;
    step->tag = message.tag;
    step->id = maker->schedule.ids;
    maker->schedule.ids += 2;
    there->sent++, there->posted++;
    back->sent++, back->posted++;
    if (is_contested(&message))
        add_barrier(maker);
}

/* Adds a receive that no message can match, and cancels it. The barrier delays later
 * messages until it is cancelled, so that its class can still be used. */
static void add_cancel(struct maker *maker)
{
    struct step message;
    struct step *step;
    struct class *class;

    choose_message(maker, &message);
    class = class_of(maker, &message);
    if (class->posted < class->sent)
        return;
    step = add(maker, STEP_CANCEL, message.peer);
    step->comm = message.comm;
    step->peer = schedule_asked_source(&message);
    step->tag = schedule_asked_tag(&message);
    add_barrier(maker);
}

/* --- Collective operations and windows -------------------------------------------- */

static bool all_have_slots(const struct maker *maker)
{
    for (int i = 0; i < maker->size; i++)
        if (free_slot(maker, i) < 0)
            return false;
    return true;
}

/* Whether intercommunicators have the operation, and its result can be checked. */
static bool has_groups(int collective)
{
    return collective <= COLLECTIVE_ALLTOALL;
}

static bool has_way(int collective, int way)
{
    if (collective == COLLECTIVE_DUPLICATE)
        return way != WAY_PERSISTENT;
    return way != WAY_PERSISTENT || collective == COLLECTIVE_BCAST ||
           collective == COLLECTIVE_ALLREDUCE || collective == COLLECTIVE_BARRIER;
}

static void add_together(struct maker *maker)
{
    static const enum comm comms[] = {COMM_WORLD, COMM_WILD,  COMM_REVERSED, COMM_HALF,
                                      COMM_GRID,  COMM_GRAPH, COMM_BETWEEN};
    struct step *step = add(maker, STEP_TOGETHER, pick(maker, maker->size));

    step->comm = comms[pick(maker, sizeof comms / sizeof *comms)];
    do
        step->form = pick(maker, COLLECTIVES);
    while (step->comm == COMM_BETWEEN && !has_groups(step->form));
    step->other_form = pick(maker, step->comm == COMM_BETWEEN ? WAY_PERSISTENT : WAYS);
    if (step->form == COLLECTIVE_NEIGHBOURS)
        step->comm = pick(maker, 2) ? COMM_GRID : COMM_GRAPH;
    if (!has_way(step->form, step->other_form) || !all_have_slots(maker))
        step->other_form = WAY_BLOCKING;
    do
        step->root = pick(maker, maker->size);
    while (!schedule_is_member(step->comm, step->rank, step->root));
    step->id = maker->schedule.ids++;
    for (int i = 0; step->other_form != WAY_BLOCKING && i < maker->size; i++)
        if (schedule_is_member(step->comm, step->rank, i))
            step->slot[i] = hold(maker, i, NULL, false);
}

/* MPICH 4.0 does not progress nonblocking collectives while it waits for an epoch. */
static void finish_operations(struct maker *maker)
{
    for (int rank = 0; rank < maker->size; rank++) {
        uint64_t slots = 0;

        for (int i = 0; i < SLOTS; i++)
            if (maker->held[rank][i].used && !maker->held[rank][i].has_class) {
                slots |= UINT64_C(1) << i;
                maker->held[rank][i].used = false;
            }
        add_finish(maker, rank, slots);
    }
}

static void add_epoch(struct maker *maker)
{
    struct step *step;

    /* MPICH 4.0 counts posts without their origin: it may take one for a later epoch
     * for a missing one, unless all ranks have ended the previous epochs. */
    finish_operations(maker);
    add_barrier(maker);
    step = add(maker, STEP_EPOCH, 0);
    step->id = maker->schedule.ids++;
    for (int origin = 0; origin < maker->size; origin++)
        for (int target = 0; target < maker->size; target++)
            if (origin != target && pick(maker, 3) == 0)
                step->slots |= UINT64_C(1) << (origin * RANKS_MAX + target);
}

/* --- Schedules -------------------------------------------------------------------- */

static void add_any(struct maker *maker)
{
    int what = pick(maker, 100);

    if (what < 38)
        add_message(maker);
    else if (what < 66)
        add_receive(maker);
    else if (what < 72)
        add_exchange(maker);
    else if (what < 86)
        finish(maker, pick(maker, maker->size), false);
    else if (what < 88)
        add(maker, STEP_POLL, pick(maker, maker->size));
    else if (what < 89)
        add_cancel(maker);
    else if (what < 97)
        add_together(maker);
    else if (what < 98)
        add(maker, STEP_FENCE, 0)->id = maker->schedule.ids++;
    else
        add_epoch(maker);
}

/* Adds receives for all sent messages, and messages for all posted receives. */
static void settle(struct maker *maker, const struct step *of)
{
    struct class *class = class_of(maker, of);

    while (class->posted < class->sent)
        post(maker, add(maker, STEP_RECEIVE, of->peer), of, RECEIVE_BLOCKING);
    while (class->sent < class->posted) {
        struct step *step = add(maker, STEP_SEND, of->rank);

        step->peer = of->peer;
        step->comm = of->comm;
        step->tag = of->tag;
        step->form = SEND_BUFFERED;
        step->id = maker->schedule.ids++;
        class->sent++;
    }
}

static void settle_all(struct maker *maker)
{
    struct step of = {.kind = STEP_SEND};

    for (int comm = 0; comm < COMMS; comm++)
        for (of.rank = 0; of.rank < maker->size; of.rank++)
            for (of.peer = 0; of.peer < maker->size; of.peer++)
                for (of.tag = 0; of.tag < TAGS; of.tag++) {
                    of.comm = (enum comm)comm;
                    if (of.rank != of.peer &&
                        schedule_are_connected(of.comm, of.rank, of.peer))
                        settle(maker, &of);
                }
    for (int rank = 0; rank < maker->size; rank++)
        finish(maker, rank, true);
}

bool schedule_make(uint64_t seed, int size, int length, struct schedule *ret_schedule)
{
    struct maker *maker = calloc(1, sizeof *maker);

    if (maker == NULL)
        return false;
    maker->random = seed;
    maker->size = size;
    for (int i = 0; i < length; i++)
        add_any(maker);
    settle_all(maker);
    *ret_schedule = maker->schedule;
    length = maker->failed;
    free(maker);
    return length == 0;
}
