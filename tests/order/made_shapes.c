/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * made_shapes.c - the shapes of random computations: a function for each, which adds a
 * few events at each call.
 */
#include "config.h"

#include "tests/order/made_shapes.h"

#include <stdlib.h>
#include <string.h>

/* --- Common functions ------------------------------------------------------------- */

static bool is_alive(const struct made_maker *maker, uint32_t process)
{
    uint32_t now = maker->made->count;

    return maker->begins[process] <= now && now < maker->ends[process];
}

/* A random process that is alive. */
static uint32_t pick(struct made_maker *maker)
{
    uint32_t process = random_below(&maker->draw, maker->processes);

    return is_alive(maker, process) ? process : 0;
}

static uint32_t below(struct made_maker *maker, uint32_t limit)
{
    return random_below(&maker->draw, limit);
}

static bool percent(struct made_maker *maker, unsigned part)
{
    return random_percent(&maker->draw, part);
}

static bool is_lost(struct made_maker *maker)
{
    return maker->made->config.is_lossy && percent(maker, 8);
}

static void unary(struct made_maker *maker, uint32_t process)
{
    made_maker_add(maker, maker->process[process], ES_EVENT_UNARY, NULL, 0);
}

static struct es_event_id send(struct made_maker *maker, uint32_t process)
{
    return made_maker_add(maker, maker->process[process], ES_EVENT_SEND, NULL, 0);
}

static void receive(struct made_maker *maker,
                    uint32_t process,
                    const struct es_event_id *partners,
                    uint32_t count)
{
    made_maker_add(maker, maker->process[process], ES_EVENT_RECEIVE, partners,
                   is_lost(maker) ? 0 : count);
}

static void message(struct made_maker *maker, uint32_t from, uint32_t to)
{
    struct es_event_id partner;

    if (!is_alive(maker, from) || !is_alive(maker, to))
        return;
    partner = send(maker, from);
    receive(maker, to, &partner, 1);
}

/* Sends a message that is received later or never. */
static void post(struct made_maker *maker, uint32_t from, uint32_t to)
{
    if (maker->message_count == maker->message_capacity) {
        maker->message_capacity = maker->message_capacity * 2 + 16;
        maker->messages = made_memory(maker->messages, maker->message_capacity,
                                      sizeof *maker->messages);
    }
    maker->messages[maker->message_count++] =
        (struct made_message){.send = send(maker, from), .to = to};
}

static struct made_message take_message(struct made_maker *maker, uint32_t at)
{
    struct made_message taken = maker->messages[at];

    memmove(&maker->messages[at], &maker->messages[at + 1],
            (--maker->message_count - at) * sizeof *maker->messages);
    return taken;
}

/* Receives message number `at`; does nothing if the receiver has ended. */
static void deliver(struct made_maker *maker, uint32_t at)
{
    struct made_message taken = take_message(maker, at);

    if (is_alive(maker, taken.to))
        receive(maker, taken.to, &taken.send, 1);
}

/* --- Messages --------------------------------------------------------------------- */

static void uniform_step(struct made_maker *maker)
{
    uint32_t what = below(maker, 100);

    if (what < 15)
        unary(maker, pick(maker));
    else if (what < 60 || maker->message_count == 0)
        post(maker, pick(maker), pick(maker));
    else
        deliver(maker, below(maker, maker->message_count));
}

/* The oldest message with the same sender and receiver as message `at`. */
static uint32_t oldest_like(const struct made_maker *maker, uint32_t at)
{
    const struct made_message *like = &maker->messages[at];
    uint32_t i = 0;

    while (maker->messages[i].send.trace != like->send.trace ||
           maker->messages[i].to != like->to)
        i++;
    return i;
}

static void channels_step(struct made_maker *maker)
{
    uint32_t from = pick(maker);

    if (percent(maker, 10))
        unary(maker, from);
    if (percent(maker, 50) || maker->message_count == 0)
        post(maker, from, (from * 3 + 1 + below(maker, 2)) % maker->processes);
    else
        deliver(maker, oldest_like(maker, below(maker, maker->message_count)));
}

static void clients_step(struct made_maker *maker)
{
    enum { REQUESTS = 4 };
    uint32_t servers = maker->processes / 4 + 1;
    uint32_t client[REQUESTS], server[REQUESTS], count = 0;
    struct es_event_id partner[REQUESTS];

    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint32_t who = pick(maker);

        server[count] = below(maker, servers);
        if (who == server[count] || !is_alive(maker, server[count]))
            continue;
        partner[count] = send(maker, who);
        client[count++] = who;
    }
    while (count > 0) {
        uint32_t at = below(maker, count--);

        receive(maker, server[at], &partner[at], 1);
        unary(maker, server[at]);
        message(maker, server[at], client[at]);
        client[at] = client[count];
        server[at] = server[count];
        partner[at] = partner[count];
    }
}

static void ring_step(struct made_maker *maker)
{
    uint32_t tokens = maker->processes / 4 + 1;
    uint32_t token = maker->tokens % tokens, round = maker->tokens / tokens;
    uint32_t at = (round + token * 4) % maker->processes;

    maker->tokens++;
    message(maker, at, (at + 1) % maker->processes);
    if (percent(maker, 30))
        unary(maker, pick(maker));
}

static void tree_step(struct made_maker *maker)
{
    uint32_t count = maker->processes, root = below(maker, count);

    for (uint32_t i = 1; i < count; i++)
        message(maker, ((i - 1) / 2 + root) % count, (i + root) % count);
    for (uint32_t i = count; i-- > 1;)
        message(maker, (i + root) % count, ((i - 1) / 2 + root) % count);
}

static void stencil_step(struct made_maker *maker)
{
    uint32_t count = maker->processes;
    struct es_event_id *sends = made_memory(NULL, count, sizeof *sends);
    bool *is_sent = made_memory(NULL, count, sizeof *is_sent);

    for (uint32_t i = 0; i < count; i++) {
        is_sent[i] = is_alive(maker, i);
        if (is_sent[i])
            sends[i] = send(maker, i);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t right = (i + 1) % count, left = (i + count - 1) % count;

        if (is_alive(maker, i) && is_sent[right])
            receive(maker, i, &sends[right], 1);
        if (is_alive(maker, i) && is_sent[left])
            receive(maker, i, &sends[left], 1);
    }
    free(sends);
    free(is_sent);
}

static void near_step(struct made_maker *maker)
{
    enum { BLOCK = 3 };
    uint32_t from = pick(maker), to = from / BLOCK * BLOCK + below(maker, BLOCK);

    if (to >= maker->processes || percent(maker, 10))
        to = pick(maker);
    if (from == to)
        unary(maker, from);
    else
        message(maker, from, to);
}

/* --- Several partners ------------------------------------------------------------- */

static void syncs_step(struct made_maker *maker)
{
    uint32_t a = maker->process[pick(maker)], b = maker->process[pick(maker)];
    uint32_t *counts = maker->made->counts;

    if (a == b || percent(maker, 40)) {
        uniform_step(maker);
        return;
    }
    made_maker_add(maker, a, ES_EVENT_SYNC,
                   &(struct es_event_id){.trace = b, .index = counts[b] + 1}, 1);
    made_maker_add(maker, b, ES_EVENT_SYNC,
                   &(struct es_event_id){.trace = a, .index = counts[a]}, 1);
}

/* Receives all messages to one process at once, some of them also at others. */
static void many_partners_step(struct made_maker *maker)
{
    enum { MOST = 8 };
    struct es_event_id partners[MOST];
    uint32_t to = pick(maker), count = 0;

    if (maker->message_count < MOST / 2 || percent(maker, 60)) {
        uniform_step(maker);
        return;
    }
    for (uint32_t i = maker->message_count; i-- > 0 && count < MOST;) {
        if (percent(maker, 20))
            partners[count++] = maker->messages[i].send;
        else if (maker->messages[i].to == to)
            partners[count++] = take_message(maker, i).send;
    }
    receive(maker, to, partners, count);
}

/* --- Collectives ------------------------------------------------------------------ */

/* The members that take part, and the sends by which they enter. */
struct entry {
    uint32_t *who;
    struct es_event_id *enters;
    uint32_t count;
};

/* Members of a communicator enter, beginning with a random one; `root` becomes the
 * first of the entry if it is a member. */
static struct entry enter_members(struct made_maker *maker,
                                  uint32_t communicator,
                                  uint32_t root)
{
    uint32_t processes = maker->processes, start = below(maker, processes);
    struct entry entry = {.who = made_memory(NULL, processes, sizeof *entry.who),
                          .enters = made_memory(NULL, processes, sizeof *entry.enters)};

    for (uint32_t i = 0; i < processes; i++) {
        uint32_t who = (start + i) % processes;

        if (!is_alive(maker, who) || !maker->is_member[communicator * processes + who])
            continue;
        entry.who[entry.count] = who;
        if (who == root) {
            entry.who[entry.count] = entry.who[0];
            entry.who[0] = who;
        }
        entry.count++;
    }
    for (uint32_t i = 0; i < entry.count; i++)
        entry.enters[i] = send(maker, entry.who[i]);
    return entry;
}

static void free_entry(struct entry *entry)
{
    free(entry->who);
    free(entry->enters);
}

static void all_to_all(struct made_maker *maker, uint32_t communicator)
{
    struct entry entry = enter_members(maker, communicator, UINT32_MAX);
    uint32_t trace = maker->process[maker->processes + communicator];
    struct es_event_id *named = made_memory(NULL, entry.count, sizeof *named);
    struct es_event_id release;
    uint32_t count = 0;

    for (uint32_t i = 0; i < entry.count; i++)
        if (!is_lost(maker))
            named[count++] = entry.enters[i];
    made_maker_add(maker, trace, ES_EVENT_RECEIVE, named, count);
    release = made_maker_add(maker, trace, ES_EVENT_SEND, NULL, 0);
    for (uint32_t i = 0; i < entry.count; i++)
        receive(maker, entry.who[i], &release, 1);
    free(named);
    free_entry(&entry);
}

static void some_messages(struct made_maker *maker)
{
    for (uint32_t i = below(maker, 2 * maker->processes); i > 0; i--)
        uniform_step(maker);
}

static void collectives_step(struct made_maker *maker)
{
    some_messages(maker);
    all_to_all(maker, 0);
}

static void communicators_step(struct made_maker *maker)
{
    some_messages(maker);
    all_to_all(maker,
               below(maker, made_shape_communicators(MADE_COMMUNICATORS,
                                                     maker->made->config.traces)));
}

/* Each exit has the root's enter as its partner. */
static void broadcast(struct made_maker *maker, uint32_t root)
{
    struct entry entry = enter_members(maker, 0, root);

    for (uint32_t i = 0; i < entry.count; i++)
        receive(maker, entry.who[i], entry.enters, i > 0);
    free_entry(&entry);
}

/* The root's exit has all enters as partners, unless they are lost. */
static void reduce(struct made_maker *maker, uint32_t root)
{
    struct entry entry = enter_members(maker, 0, root);

    for (uint32_t i = entry.count; i-- > 0;)
        receive(maker, entry.who[i], entry.enters, i == 0 ? entry.count : 0);
    free_entry(&entry);
}

/* Each exit has the enters of the members before it as partners. */
static void scan(struct made_maker *maker)
{
    struct entry entry = enter_members(maker, 0, 0);

    for (uint32_t i = 0; i < entry.count; i++)
        receive(maker, entry.who[i], entry.enters, i);
    free_entry(&entry);
}

static void rooted_step(struct made_maker *maker)
{
    uint32_t root = pick(maker), what = below(maker, 4);

    some_messages(maker);
    if (!is_alive(maker, root))
        root = 0;
    if (what == 0)
        scan(maker);
    if (what == 1 || what == 3)
        reduce(maker, root);
    if (what == 2 || what == 3)
        broadcast(maker, root);
}

static void mixed_step(struct made_maker *maker);

/* --- Table of shapes -------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*step)(struct made_maker *maker);
} shapes[MADE_SHAPES] = {
    [MADE_UNIFORM] = {"uniform", uniform_step},
    [MADE_CHANNELS] = {"channels", channels_step},
    [MADE_CLIENTS] = {"clients", clients_step},
    [MADE_RING] = {"ring", ring_step},
    [MADE_TREE] = {"tree", tree_step},
    [MADE_STENCIL] = {"stencil", stencil_step},
    [MADE_NEAR] = {"near", near_step},
    [MADE_SYNCS] = {"syncs", syncs_step},
    [MADE_MANY_PARTNERS] = {"many partners", many_partners_step},
    [MADE_COLLECTIVES] = {"collectives", collectives_step},
    [MADE_ROOTED] = {"rooted", rooted_step},
    [MADE_COMMUNICATORS] = {"communicators", communicators_step},
    [MADE_MIXED] = {"mixed", mixed_step},
};

/* Continues with one shape for a while, then with another. */
static void mixed_step(struct made_maker *maker)
{
    if (percent(maker, 10))
        maker->step = (enum made_shape)below(maker, MADE_MIXED);
    shapes[maker->step].step(maker);
}

const char *made_shape_name(enum made_shape shape)
{
    return shapes[shape].name;
}

uint32_t made_shape_communicators(enum made_shape shape, uint32_t traces)
{
    uint32_t most = traces / 3 + 1 < 4 ? traces / 3 + 1 : 4;

    if (shape == MADE_COMMUNICATORS || shape == MADE_MIXED)
        return most;
    return shape == MADE_COLLECTIVES || shape == MADE_ROOTED;
}

void made_shape_step(struct made_maker *maker)
{
    uint32_t before = maker->made->count;

    shapes[maker->made->config.shape].step(maker);
    if (maker->made->count == before)
        unary(maker, 0);
}
