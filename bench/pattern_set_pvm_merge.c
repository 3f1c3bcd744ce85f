/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pattern_set_pvm_merge.c - a merge sort over a binary tree of 16 nodes (Nichols, 4.7).
 *
 * The thesis states: 138 events on 16 traces, at most half of the nodes send at a time,
 * eight concurrent sends are found and nine are not.  The first node sends each other
 * node its part (15 messages), all sort, and the parts are merged over a tree (15
 * messages): 30 sends and as many receives, start and exit of 16 nodes, 15 packed
 * parts, 16 sorts and 15 merges make 138 events.  That the parts are not sent down a
 * tree follows from the comparisons of case 9, 0.51 * 10^9 in the thesis: 0.50 * 10^9
 * with this set, if each send is tested against all that were chosen before it, 18.8 *
 * 10^9 if parts are halved on the way down.
 */
#include "config.h"

#include "bench/pattern_set_maker.h"

enum { NODES = 16 };

static void distribute(struct pattern_set_maker *maker)
{
    for (uint32_t node = 1; node < NODES; node++) {
        set_unary(maker, 0, "pack", NULL);
        set_message(maker, 0, "send", node, "recv");
    }
}

static void collect(struct pattern_set_maker *maker)
{
    for (uint32_t stride = 1; stride < NODES; stride *= 2)
        for (uint32_t node = 0; node < NODES; node += 2 * stride) {
            set_message(maker, node + stride, "send", node, "recv");
            set_unary(maker, node, "merge", NULL);
        }
}

void make_pvm_merge_set(struct pattern_set_maker *maker)
{
    static const char *const names[NODES] = {
        "merge0",  "merge1",  "merge2",  "merge3", "merge4",  "merge5",
        "merge6",  "merge7",  "merge8",  "merge9", "merge10", "merge11",
        "merge12", "merge13", "merge14", "merge15"};

    for (uint32_t node = 0; node < NODES; node++)
        set_trace(maker, names[node]);
    for (uint32_t node = 0; node < NODES; node++)
        set_unary(maker, node, "start", NULL);
    distribute(maker);
    for (uint32_t node = 0; node < NODES; node++)
        set_unary(maker, node, "sort", NULL);
    collect(maker);
    for (uint32_t node = 0; node < NODES; node++)
        set_unary(maker, node, "exit", NULL);
}
