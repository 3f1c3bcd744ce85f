/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pattern_set_pvm_life.c - tokens that move between neighbours (Nichols, 4.7).
 *
 * The thesis states: 5,898 events on 48 traces; one node first sends to all others,
 * then each node relays to a neighbour; when a node receives from a neighbour, it
 * forwards to another one and waits.  47 pairs of sends directly follow each other, all
 * on the first node: 47 first sends and its own relay.  1,918 receives directly follow
 * a send, "the number of successful data transfers".  A receive does not directly
 * follow a send of its own trace, otherwise it would be counted, too: each is preceded
 * by the wait.  3 * 1,918 transfers and 3 * 48 events of nodes that begin and end make
 * 5,898.
 *
 * Nodes form a ring and choose either neighbour.  With this choice, the comparisons of
 * cases 10 and 11 (1.13 and 1.21 * 10^9 without improvements; 1.23 and 1.26 in the
 * thesis) and those of closures computed by single steps (tables 4.9 and 4.10) are
 * close to the thesis; on a plane, where tokens mix faster, closures are four times as
 * large.  All messages take equally long: none is overtaken by one that it caused.
 */
#include "config.h"

#include <stdio.h>

#include "bench/pattern_set_maker.h"

enum {
    NODES = 48,
    TRANSFERS = 1918,
    LATENCY = 100,
    REST = 400, /* at most, before a message is answered */
};

/* Under way; each token is one message at a time. */
struct token {
    uint32_t to;
    uint64_t arrives;
    struct es_event_id send;
};

struct life {
    struct pattern_set_maker *maker;
    uint64_t free_at[NODES]; /* when a node has sent and waits */
    struct token tokens[NODES];
    uint32_t token_count;
    uint32_t sent;
};

static uint32_t choose_neighbour(struct life *life, uint32_t node)
{
    uint32_t step = set_draw(life->maker, 2) == 0 ? 1 : NODES - 1;

    return (node + step) % NODES;
}

static void send_token(struct life *life,
                       uint32_t token,
                       uint32_t node,
                       uint32_t to,
                       uint64_t now)
{
    life->tokens[token] =
        (struct token){.to = to,
                       .arrives = now + LATENCY,
                       .send = set_send(life->maker, node, "send", NULL)};
    life->sent++;
}

/* The time at which it is received: a busy node lets it wait. */
static uint64_t received_at(const struct life *life, const struct token *token)
{
    uint64_t free_at = life->free_at[token->to];

    return token->arrives > free_at ? token->arrives : free_at;
}

/* The first to be received; at equal times, the first to arrive. */
static uint32_t next_token(const struct life *life)
{
    uint32_t next = 0;

    for (uint32_t i = 1; i < life->token_count; i++) {
        const struct token *a = &life->tokens[i], *b = &life->tokens[next];
        uint64_t at_a = received_at(life, a), at_b = received_at(life, b);

        if (at_a < at_b || (at_a == at_b && a->arrives < b->arrives))
            next = i;
    }
    return next;
}

/* Receives it, and forwards it until there are enough transfers. */
static void pass_token(struct life *life, uint32_t number)
{
    struct token token = life->tokens[number];
    uint64_t now = received_at(life, &token) + 1 + set_draw(life->maker, REST);

    set_unary(life->maker, token.to, "wait", NULL);
    set_receive(life->maker, token.to, "recv", NULL, token.send);
    life->free_at[token.to] = now;
    if (life->sent < TRANSFERS)
        send_token(life, number, token.to, choose_neighbour(life, token.to), now);
    else
        life->tokens[number] = life->tokens[--life->token_count];
}

static void begin(struct life *life)
{
    for (uint32_t node = 0; node < NODES; node++) {
        char name[16];

        snprintf(name, sizeof name, "life%u", node);
        set_trace(life->maker, name);
    }
    for (uint32_t node = 0; node < NODES; node++) {
        set_unary(life->maker, node, "start", NULL);
        set_unary(life->maker, node, "join", NULL);
    }
    for (uint32_t node = 1; node < NODES; node++)
        send_token(life, life->token_count++, 0, node, node);
    send_token(life, life->token_count++, 0, choose_neighbour(life, 0), NODES);
}

void make_pvm_life_set(struct pattern_set_maker *maker)
{
    struct life life = {.maker = maker};

    begin(&life);
    while (life.token_count > 0)
        pass_token(&life, next_token(&life));
    for (uint32_t node = 0; node < NODES; node++)
        set_unary(maker, node, "exit", NULL);
}
