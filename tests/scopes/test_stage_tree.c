/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Gather trees have the requested shape. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scopes/stage_tree.h"
#include "tests/scopes/node_text.h"
#include "tests/suites.h"

/* Two hosts; the elements have no order, as after a refresh. */
static const struct es_origin origins[] = {
    {.name = "0.0/p2p", .host = "a", .pid = 10, .rank = 0, .thread = 0},
    {.name = "1.0/p2p", .host = "b", .pid = 11, .rank = 1, .thread = 0},
    {.name = "0.1/p2p", .host = "a", .pid = 10, .rank = 0, .thread = 1},
    {.name = "0.0/coll", .host = "a", .pid = 10, .rank = 0, .thread = 0},
};

struct tree_case {
    const char *what;
    size_t origins;
    enum es_take take;
    enum es_shape shape;
    enum es_sorting sorting;
    bool open;
    const char *view_filter;
    const char *filter;
    const char *text;
};

static const struct tree_case cases[] = {
    {"nothing to gather", 0, ES_TAKE_EVERY, ES_SHAPE_VIEWS, ES_SORTING_NONE, false,
     NULL, NULL, "gather \"scope\"\n"},
    {"one host needs no root above it", 1, ES_TAKE_EVERY, ES_SHAPE_VIEWS,
     ES_SORTING_NONE, false, NULL, NULL,
     "gather \"host a\"\n"
     "  gather \"thread 0.0\"\n"
     "    element read=every \"0.0/p2p\"\n"},
    {"the tree of the paper's heartbeat", 4, ES_TAKE_LATEST_OF_THREAD, ES_SHAPE_VIEWS,
     ES_SORTING_NONE, true, NULL, NULL,
     "gather \"scope\"\n"
     "  gather \"host a\"\n"
     "    reduce to=latest \"thread 0.0\"\n"
     "      element read=latest open=yes \"0.0/p2p\"\n"
     "      element read=latest open=yes \"0.0/coll\"\n"
     "    reduce to=latest \"thread 0.1\"\n"
     "      element read=latest open=yes \"0.1/p2p\"\n"
     "  gather \"host b\"\n"
     "    reduce to=latest \"thread 1.0\"\n"
     "      element read=latest open=yes \"1.0/p2p\"\n"},
    {"flat", 4, ES_TAKE_LATEST, ES_SHAPE_FLAT, ES_SORTING_NONE, false, NULL, NULL,
     "gather \"scope\"\n"
     "  element read=latest \"0.0/p2p\"\n"
     "  element read=latest \"0.0/coll\"\n"
     "  element read=latest \"0.1/p2p\"\n"
     "  element read=latest \"1.0/p2p\"\n"},
    {"filters stand on their host, the view's below the person's", 2, ES_TAKE_EVERY,
     ES_SHAPE_VIEWS, ES_SORTING_NONE, false, "class == send", "tag == 1",
     "gather \"scope\"\n"
     "  filter where=tag == 1 \"host a\"\n"
     "    filter where=class == send \"host a\"\n"
     "      gather \"host a\"\n"
     "        gather \"thread 0.0\"\n"
     "          element read=every \"0.0/p2p\"\n"
     "  filter where=tag == 1 \"host b\"\n"
     "    filter where=class == send \"host b\"\n"
     "      gather \"host b\"\n"
     "        gather \"thread 1.0\"\n"
     "          element read=every \"1.0/p2p\"\n"},
    {"sorted: each host merges its elements, the root the hosts", 3, ES_TAKE_NEW,
     ES_SHAPE_VIEWS, ES_SORTING_START, false, NULL, NULL,
     "sort by=start window=5ns \"scope\"\n"
     "  sort by=start window=5ns \"host a\"\n"
     "    element read=every \"0.0/p2p\"\n"
     "    element read=every \"0.1/p2p\"\n"
     "  sort by=start window=5ns \"host b\"\n"
     "    element read=every \"1.0/p2p\"\n"},
};

static void each_shape_is_as_drawn(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_scope_config config;
        struct esi_stage_node *root;
        char *text;

        es_scope_config_init(&config);
        config.take = cases[i].take;
        config.tree.shape = cases[i].shape;
        config.sorting = cases[i].sorting;
        config.open = cases[i].open;
        config.window_ns = 5;
        config.view.filter = cases[i].filter;
        print_message("# %s\n", cases[i].what);
        assert_int_equal(esi_stage_tree_plan(origins, cases[i].origins, &config, NULL,
                                             cases[i].view_filter, NULL, &root),
                         0);
        text = node_text(root);
        assert_string_equal(text, cases[i].text);
        free(text);
        esi_stage_node_destroy(root);
    }
}

/* --- Several hosts ------------------------------------------------------------ */

/* Two clusters of three hosts. The gateway of b runs no ranks, a has no gateway,
 * and a3 has no server. */
static const struct es_host_info sites[] = {
    {.host = "a1", .cluster = "a", .has_server = true},
    {.host = "a2", .cluster = "a", .has_server = true},
    {.host = "a3", .cluster = "a", .has_server = false},
    {.host = "b1", .cluster = "b", .gateway = "gate", .has_server = true},
    {.host = "b2", .cluster = "b", .gateway = "gate", .has_server = true},
    {.host = "b3", .cluster = "b", .gateway = "gate", .has_server = true},
    {.host = "gate", .has_server = true},
};

/* One rank on each host, of one thread with one element; a1 has two threads. */
static const struct es_origin far_origins[] = {
    {.name = "5.0/x", .host = "b3", .rank = 5},
    {.name = "0.0/x", .host = "a1"},
    {.name = "0.1/x", .host = "a1", .thread = 1},
    {.name = "1.0/x", .host = "a2", .rank = 1},
    {.name = "2.0/x", .host = "a3", .rank = 2},
    {.name = "3.0/x", .host = "b1", .rank = 3},
    {.name = "4.0/x", .host = "b2", .rank = 4},
};

static const struct es_origin ranks[] = {
    {.name = "0.0/x", .host = "a1", .rank = 0},
    {.name = "1.0/x", .host = "a1", .rank = 1},
    {.name = "2.0/x", .host = "a1", .rank = 2},
    {.name = "4.0/x", .host = "a2", .rank = 4},
    {.name = "6.0/x", .host = "a2", .rank = 6},
    {.name = "9.0/x", .host = "a2", .rank = 9}, /* its socket is unknown */
};

static int socket_of(void *data, int rank)
{
    (void)data;
    return rank == 9 ? -1 : rank % 2;
}

static struct esi_host_infos known_at(const char *here)
{
    return (struct esi_host_infos){.here = here,
                                   .items = sites,
                                   .count = sizeof sites / sizeof *sites,
                                   .socket_of = socket_of};
}

/* Like node_text(), but the labels of elements follow their parent.  Adds
 * "@HOST" if a stage is on another host than its parent. */
static void print_brief(const struct esi_stage_node *node,
                        const char *host,
                        int depth,
                        FILE *out)
{
    const char *own = node->host ? node->host : host;

    fprintf(out, "%*s%s", depth * 2, "", node->type);
    if (strcmp(own, host) != 0)
        fprintf(out, "@%s", own);
    for (size_t i = 0; i < node->property_count; i++)
        node_property_print(&node->properties[i], out);
    fprintf(out, " \"%s\"", node->label);
    for (size_t i = 0; i < node->child_count; i++)
        if (strcmp(node->children[i]->type, "element") == 0)
            fprintf(out, " %s", node->children[i]->label);
    fputc('\n', out);
    for (size_t i = 0; i < node->child_count; i++)
        if (strcmp(node->children[i]->type, "element") != 0)
            print_brief(node->children[i], own, depth + 1, out);
}

struct far_case {
    const char *what;
    const char *here;
    const struct es_origin *items; /* NULL = far_origins */
    size_t origins;                /* 0 = all of these */
    bool renewed;
    struct es_tree_config tree;
    enum es_take take;
    enum es_sorting sorting;
    const char *filter;
    const char *text;
};

static const struct far_case far_cases[] = {
    {.what = "here a1: its elements are read directly",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_VIEWS},
     .text = "gather \"scope\"\n"
             "  gather \"host a1\"\n"
             "    gather \"thread 0.0\" 0.0/x\n"
             "    gather \"thread 0.1\" 0.1/x\n"
             "  gather@a2 \"host a2\"\n"
             "    gather \"thread 1.0\" 1.0/x\n"
             "  gather@a3 \"host a3\"\n"
             "    gather \"thread 2.0\" 2.0/x\n"
             "  gather@b1 \"host b1\"\n"
             "    gather \"thread 3.0\" 3.0/x\n"
             "  gather@b2 \"host b2\"\n"
             "    gather \"thread 4.0\" 4.0/x\n"
             "  gather@b3 \"host b3\"\n"
             "    gather \"thread 5.0\" 5.0/x\n"},
    {.what = "flat: one stage a host that is elsewhere, here none",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_FLAT},
     .text = "gather \"scope\" 0.0/x 0.1/x\n"
             "  gather@a2 \"host a2\" 1.0/x\n"
             "  gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 \"host b1\" 3.0/x\n"
             "  gather@b2 \"host b2\" 4.0/x\n"
             "  gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "flat with a filter: here needs a stage to filter",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_FLAT},
     .filter = "tag == 1",
     .origins = 2,
     .text = "gather \"scope\"\n"
             "  filter where=tag == 1 \"host a1\"\n"
             "    gather \"host a1\" 0.0/x\n"
             "  filter@b3 where=tag == 1 \"host b3\"\n"
             "    gather \"host b3\" 5.0/x\n"},
    {.what = "hosts",
     .here = "x",
     .tree = {.shape = ES_SHAPE_HOSTS},
     .text = "gather \"scope\"\n"
             "  gather@a1 \"host a1\" 0.0/x 0.1/x\n"
             "  gather@a2 \"host a2\" 1.0/x\n"
             "  gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 \"host b1\" 3.0/x\n"
             "  gather@b2 \"host b2\" 4.0/x\n"
             "  gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "through the server here, too",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_HOSTS, .through_server = true},
     .origins = 2,
     .text = "gather \"scope\"\n"
             "  gather \"host a1\" 0.0/x\n"
             "  gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "one other host alone",
     .here = "x",
     .tree = {.shape = ES_SHAPE_VIEWS},
     .origins = 1,
     .text = "gather@b3 \"host b3\"\n"
             "  gather \"thread 5.0\" 5.0/x\n"},
    {.what = "fan-out 2: groups keep to their cluster",
     .here = "x",
     .tree = {.shape = ES_SHAPE_KARY, .fan_out = 2},
     .text = "gather \"scope\"\n"
             "  gather@a1 \"hosts a1 to a3\"\n"
             "    gather \"host a1\" 0.0/x 0.1/x\n"
             "    gather@a2 \"hosts a2 to a3\"\n"
             "      gather \"host a2\" 1.0/x\n"
             "      gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 \"hosts b1 to b3\"\n"
             "    gather \"host b1\" 3.0/x\n"
             "    gather@b2 \"hosts b2 to b3\"\n"
             "      gather \"host b2\" 4.0/x\n"
             "      gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "fan-out 3, the consumer on a host of the tree",
     .here = "a2",
     .tree = {.shape = ES_SHAPE_KARY, .fan_out = 3},
     .text = "gather \"scope\"\n"
             "  gather \"host a2\" 1.0/x\n"
             "  gather@a1 \"hosts a1 to a3\"\n"
             "    gather \"host a1\" 0.0/x 0.1/x\n"
             "    gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 \"hosts b1 to b3\"\n"
             "    gather \"host b1\" 3.0/x\n"
             "    gather@b2 \"host b2\" 4.0/x\n"
             "    gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "fan-out is 8 where nothing is said",
     .here = "x",
     .tree = {.shape = ES_SHAPE_KARY},
     .text = "gather \"scope\"\n"
             "  gather@a1 \"host a1\" 0.0/x 0.1/x\n"
             "  gather@a2 \"host a2\" 1.0/x\n"
             "  gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 \"host b1\" 3.0/x\n"
             "  gather@b2 \"host b2\" 4.0/x\n"
             "  gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "joints where they are wanted",
     .here = "x",
     .tree = {.shape = ES_SHAPE_KARY, .fan_out = 3, .joints = "a2, gate"},
     .text = "gather \"scope\"\n"
             "  gather@a2 \"hosts a1 to a3\"\n"
             "    gather@a1 \"host a1\" 0.0/x 0.1/x\n"
             "    gather \"host a2\" 1.0/x\n"
             "    gather@a3 \"host a3\" 2.0/x\n"
             "  gather@gate \"hosts b1 to b3\"\n"
             "    gather@b1 \"host b1\" 3.0/x\n"
             "    gather@b2 \"host b2\" 4.0/x\n"
             "    gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "all levels, the consumer outside",
     .here = "x",
     .tree = {.shape = ES_SHAPE_LEVELS, .levels = ES_LEVELS_ALL},
     .text = "gather \"scope\"\n"
             "  gather@a1 \"cluster a\"\n"
             "    gather \"host a1\"\n"
             "      gather \"thread 0.0\" 0.0/x\n"
             "      gather \"thread 0.1\" 0.1/x\n"
             "    gather@a2 \"host a2\"\n"
             "      gather \"thread 1.0\" 1.0/x\n"
             "    gather@a3 \"host a3\"\n"
             "      gather \"thread 2.0\" 2.0/x\n"
             "  gather@gate \"gateway gate\"\n"
             "    gather@b1 \"cluster b\"\n"
             "      gather \"host b1\"\n"
             "        gather \"thread 3.0\" 3.0/x\n"
             "      gather@b2 \"host b2\"\n"
             "        gather \"thread 4.0\" 4.0/x\n"
             "      gather@b3 \"host b3\"\n"
             "        gather \"thread 5.0\" 5.0/x\n"},
    {.what = "all levels, the consumer in a cluster",
     .here = "a2",
     .tree = {.shape = ES_SHAPE_LEVELS, .levels = ES_LEVELS_ALL},
     .text = "gather \"scope\"\n"
             "  gather \"cluster a\"\n"
             "    gather@a1 \"host a1\"\n"
             "      gather \"thread 0.0\" 0.0/x\n"
             "      gather \"thread 0.1\" 0.1/x\n"
             "    gather \"host a2\"\n"
             "      gather \"thread 1.0\" 1.0/x\n"
             "    gather@a3 \"host a3\"\n"
             "      gather \"thread 2.0\" 2.0/x\n"
             "  gather@gate \"gateway gate\"\n"
             "    gather@b1 \"cluster b\"\n"
             "      gather \"host b1\"\n"
             "        gather \"thread 3.0\" 3.0/x\n"
             "      gather@b2 \"host b2\"\n"
             "        gather \"thread 4.0\" 4.0/x\n"
             "      gather@b3 \"host b3\"\n"
             "        gather \"thread 5.0\" 5.0/x\n"},
    {.what = "clusters and hosts only, sorted",
     .here = "gate",
     .tree = {.shape = ES_SHAPE_LEVELS, .levels = ES_LEVEL_CLUSTER | ES_LEVEL_HOST},
     .sorting = ES_SORTING_STOP,
     .text = "sort by=stop window=5ns \"scope\"\n"
             "  sort@a1 by=stop window=5ns \"cluster a\"\n"
             "    sort by=stop window=5ns \"host a1\" 0.0/x 0.1/x\n"
             "    sort@a2 by=stop window=5ns \"host a2\" 1.0/x\n"
             "    sort@a3 by=stop window=5ns \"host a3\" 2.0/x\n"
             "  sort@b1 by=stop window=5ns \"cluster b\"\n"
             "    sort by=stop window=5ns \"host b1\" 3.0/x\n"
             "    sort@b2 by=stop window=5ns \"host b2\" 4.0/x\n"
             "    sort@b3 by=stop window=5ns \"host b3\" 5.0/x\n"},
    {.what = "gateways only",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_LEVELS, .levels = ES_LEVEL_GATEWAY},
     .text = "gather \"scope\" 0.0/x 0.1/x\n"
             "  gather@a2 \"host a2\" 1.0/x\n"
             "  gather@a3 \"host a3\" 2.0/x\n"
             "  gather@gate \"gateway gate\"\n"
             "    gather@b1 \"host b1\" 3.0/x\n"
             "    gather@b2 \"host b2\" 4.0/x\n"
             "    gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "levels with a fan-out",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_LEVELS,
              .levels = ES_LEVEL_GATEWAY | ES_LEVEL_CLUSTER,
              .fan_out = 2},
     .text = "gather \"scope\"\n"
             "  gather \"cluster a\" 0.0/x 0.1/x\n"
             "    gather@a2 \"hosts a2 to a3\" 1.0/x\n"
             "      gather@a3 \"host a3\" 2.0/x\n"
             "  gather@gate \"gateway gate\"\n"
             "    gather@b1 \"cluster b\" 3.0/x\n"
             "      gather@b2 \"hosts b2 to b3\" 4.0/x\n"
             "        gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "one after the other",
     .here = "x",
     .tree = {.shape = ES_SHAPE_KARY, .fan_out = 4, .mode = ES_MODE_SEQUENTIAL},
     .text = "gather mode=sequential \"scope\"\n"
             "  gather@a1 mode=sequential \"hosts a1 to a3\"\n"
             "    gather \"host a1\" 0.0/x 0.1/x\n"
             "    gather@a2 \"host a2\" 1.0/x\n"
             "    gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 mode=sequential \"hosts b1 to b3\"\n"
             "    gather \"host b1\" 3.0/x\n"
             "    gather@b2 \"host b2\" 4.0/x\n"
             "    gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "threads pull the children of the root",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_HOSTS, .threads = 3},
     .text = "threads count=3 \"scope\"\n"
             "  gather \"host a1\" 0.0/x 0.1/x\n"
             "  gather@a2 \"host a2\" 1.0/x\n"
             "  gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 \"host b1\" 3.0/x\n"
             "  gather@b2 \"host b2\" 4.0/x\n"
             "  gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "batches stand on top of what servers give",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_HOSTS, .batch = 100, .batch_wait_ns = 7},
     .filter = "tag == 1",
     .origins = 3,
     .text = "gather \"scope\"\n"
             "  filter where=tag == 1 \"host a1\"\n"
             "    gather \"host a1\" 0.0/x 0.1/x\n"
             "  batch@b3 tuples=100 wait=7ns \"host b3\"\n"
             "    filter where=tag == 1 \"host b3\"\n"
             "      gather \"host b3\" 5.0/x\n"},
    {.what = "summaries merge at each joint; filters stand below",
     .here = "x",
     .tree = {.shape = ES_SHAPE_LEVELS,
              .levels = ES_LEVEL_CLUSTER,
              .reduce = "histogram of=bytes by=operation",
              .threads = 2},
     .filter = "tag == 1",
     .text = "reduce to=histogram of=bytes by=operation \"scope\"\n"
             "  threads count=2 \"threads\"\n"
             "    reduce@a1 to=histogram of=bytes by=operation \"cluster a\"\n"
             "      reduce to=histogram of=bytes by=operation \"thread 0.0\"\n"
             "        filter where=tag == 1 \"0.0/x\" 0.0/x\n"
             "      reduce to=histogram of=bytes by=operation \"thread 0.1\"\n"
             "        filter where=tag == 1 \"0.1/x\" 0.1/x\n"
             "      reduce@a2 to=histogram of=bytes by=operation \"host a2\"\n"
             "        reduce to=histogram of=bytes by=operation \"thread 1.0\"\n"
             "          filter where=tag == 1 \"1.0/x\" 1.0/x\n"
             "      reduce@a3 to=histogram of=bytes by=operation \"host a3\"\n"
             "        reduce to=histogram of=bytes by=operation \"thread 2.0\"\n"
             "          filter where=tag == 1 \"2.0/x\" 2.0/x\n"
             "    reduce@b1 to=histogram of=bytes by=operation \"cluster b\"\n"
             "      reduce to=histogram of=bytes by=operation \"thread 3.0\"\n"
             "        filter where=tag == 1 \"3.0/x\" 3.0/x\n"
             "      reduce@b2 to=histogram of=bytes by=operation \"host b2\"\n"
             "        reduce to=histogram of=bytes by=operation \"thread 4.0\"\n"
             "          filter where=tag == 1 \"4.0/x\" 4.0/x\n"
             "      reduce@b3 to=histogram of=bytes by=operation \"host b3\"\n"
             "        reduce to=histogram of=bytes by=operation \"thread 5.0\"\n"
             "          filter where=tag == 1 \"5.0/x\" 5.0/x\n"},
    {.what = "the latest of each thread is no summary",
     .here = "x",
     .tree = {.shape = ES_SHAPE_HOSTS, .reduce = "latest"},
     .origins = 3,
     .take = ES_TAKE_LATEST,
     .text = "gather \"scope\"\n"
             "  gather@a1 \"host a1\"\n"
             "    reduce to=latest \"thread 0.0\" 0.0/x\n"
             "    reduce to=latest \"thread 0.1\" 0.1/x\n"
             "  gather@b3 \"host b3\"\n"
             "    reduce to=latest \"thread 5.0\" 5.0/x\n"},
    {.what = "observed joints",
     .here = "x",
     .tree = {.shape = ES_SHAPE_KARY, .fan_out = 3, .observe = "joints"},
     .text = "observe name=scope \"scope\"\n"
             "  gather \"scope\"\n"
             "    observe@a1 name=scope \"hosts a1 to a3\"\n"
             "      gather \"hosts a1 to a3\"\n"
             "        gather \"host a1\" 0.0/x 0.1/x\n"
             "        gather@a2 \"host a2\" 1.0/x\n"
             "        gather@a3 \"host a3\" 2.0/x\n"
             "    observe@b1 name=scope \"hosts b1 to b3\"\n"
             "      gather \"hosts b1 to b3\"\n"
             "        gather \"host b1\" 3.0/x\n"
             "        gather@b2 \"host b2\" 4.0/x\n"
             "        gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "observed hosts",
     .here = "a1",
     .tree = {.shape = ES_SHAPE_HOSTS, .observe = "hosts tree", .batch = 2},
     .origins = 3,
     .text = "gather \"scope\"\n"
             "  observe name=tree \"host a1\"\n"
             "    gather \"host a1\" 0.0/x 0.1/x\n"
             "  observe@b3 name=tree \"host b3\"\n"
             "    batch tuples=2 \"host b3\"\n"
             "      gather \"host b3\" 5.0/x\n"},
    {.what = "all observed",
     .here = "x",
     .tree = {.shape = ES_SHAPE_VIEWS, .observe = "all"},
     .origins = 3,
     .text = "observe name=scope \"scope\"\n"
             "  gather \"scope\"\n"
             "    observe@a1 name=scope \"host a1\"\n"
             "      gather \"host a1\"\n"
             "        observe name=scope \"thread 0.0\"\n"
             "          gather \"thread 0.0\" 0.0/x\n"
             "        observe name=scope \"thread 0.1\"\n"
             "          gather \"thread 0.1\" 0.1/x\n"
             "    observe@b3 name=scope \"host b3\"\n"
             "      gather \"host b3\"\n"
             "        observe name=scope \"thread 5.0\"\n"
             "          gather \"thread 5.0\" 5.0/x\n"},
    {.what = "ranks are below their socket",
     .here = "x",
     .tree = {.shape = ES_SHAPE_LEVELS, .levels = ES_LEVEL_SOCKET},
     .items = ranks,
     .origins = sizeof ranks / sizeof *ranks,
     .text = "gather \"scope\"\n"
             "  gather@a1 \"host a1\"\n"
             "    gather \"socket 0\" 0.0/x 2.0/x\n"
             "    gather \"socket 1\" 1.0/x\n"
             "  gather@a2 \"host a2\" 9.0/x\n"
             "    gather \"socket 0\" 4.0/x 6.0/x\n"},
    {.what = "a renewed tree does without a server that is away",
     .here = "x",
     .tree = {.shape = ES_SHAPE_KARY, .fan_out = 3, .joints = "a3"},
     .renewed = true,
     .text = "gather \"scope\"\n"
             "  gather@a1 \"hosts a1 to a3\"\n"
             "    gather \"host a1\" 0.0/x 0.1/x\n"
             "    gather@a2 \"host a2\" 1.0/x\n"
             "    gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 \"hosts b1 to b3\"\n"
             "    gather \"host b1\" 3.0/x\n"
             "    gather@b2 \"host b2\" 4.0/x\n"
             "    gather@b3 \"host b3\" 5.0/x\n"},
    {.what = "and puts aggregators where the list still allows",
     .here = "x",
     .tree = {.shape = ES_SHAPE_KARY, .fan_out = 3, .joints = "a3,b1"},
     .renewed = true,
     .text = "gather \"scope\"\n"
             "  gather@b1 \"hosts a1 to a3\"\n"
             "    gather@a1 \"host a1\" 0.0/x 0.1/x\n"
             "    gather@a2 \"host a2\" 1.0/x\n"
             "    gather@a3 \"host a3\" 2.0/x\n"
             "  gather@b1 \"hosts b1 to b3\"\n"
             "    gather \"host b1\" 3.0/x\n"
             "    gather@b2 \"host b2\" 4.0/x\n"
             "    gather@b3 \"host b3\" 5.0/x\n"},
};

static void assert_far_case(const struct far_case *far)
{
    struct esi_host_infos known = known_at(far->here);
    struct es_scope_config config = {.tree = far->tree,
                                     .take = far->take,
                                     .sorting = far->sorting,
                                     .window_ns = 5,
                                     .view.filter = far->filter};
    size_t count =
        far->origins ? far->origins : sizeof far_origins / sizeof *far_origins;
    struct esi_stage_node *root;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    known.renewed = far->renewed;
    print_message("# %s\n", far->what);
    assert_non_null(out);
    assert_int_equal(esi_stage_tree_plan(far->items ? far->items : far_origins, count,
                                         &config, &known, NULL, NULL, &root),
                     0);
    print_brief(root, far->here ? far->here : "", 0, out);
    fclose(out);
    esi_stage_node_destroy(root);
    assert_string_equal(text, far->text);
    free(text);
}

static void hosts_are_arranged_as_drawn(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof far_cases / sizeof *far_cases; i++)
        assert_far_case(&far_cases[i]);
}

/* --- Other members of nodes ---------------------------------------------------- */

static void assert_hints(const struct esi_stage_node *node, const char *host)
{
    bool is_far = node->host && strcmp(node->host, host) != 0;

    if (is_far) {
        assert_int_equal(node->ahead, 3);
        assert_int_equal(node->limit_ns, 77);
    }
    for (size_t i = 0; i < node->child_count; i++)
        assert_hints(node->children[i], node->host ? node->host : host);
}

static void nodes_tell_their_remote_stage_how_to_pull(void **state)
{
    struct esi_host_infos known = known_at("x");
    struct es_scope_config config = {.tree = {.shape = ES_SHAPE_LEVELS,
                                              .levels = ES_LEVELS_ALL,
                                              .ahead = 3,
                                              .limit_ns = 77,
                                              .batch = 2,
                                              .observe = "all"}};
    struct esi_stage_node *root;

    (void)state;
    assert_int_equal(
        esi_stage_tree_plan(far_origins, 7, &config, &known, NULL, NULL, &root), 0);
    assert_hints(root, "x");
    esi_stage_node_destroy(root);
}

static void what_makes_no_tree_is_refused_in_words(void **state)
{
    static const struct {
        struct es_tree_config tree;
        bool without_sites;
        const char *text;
    } faults[] = {
        {{.joints = "a1,gaet"},
         false,
         "joints: the run has no host 'gaet'; did you mean 'gate'?"},
        {{.joints = "elsewhere"}, false, "joints: the run has no host 'elsewhere'"},
        {{.joints = "a3"},
         false,
         "joints: no stage can run on host 'a3': it has no tuple server"},
        {{.joints = "a1"},
         true,
         "joints: no stage can run on host 'a1': the run has no tuple servers"},
        {{.fan_out = 1},
         false,
         "fan-out: joints of one child make no tree: expected 2 or more"},
        {{.reduce = ""}, false, "reduce: expected the name of a reduction"},
        {{.reduce = "sum bytes"},
         false,
         "reduce: 'bytes': expected a reduction and then of=FIELD or by=FIELD"},
        {{.reduce = "sum of=bytes of=tag"}, false, "reduce: 'of' is given twice"},
        {{.observe = "some"},
         false,
         "observe: 'some': expected hosts, joints or all, and then the collectors' "
         "name"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct esi_host_infos known = known_at("x");
        struct es_scope_config config = {.tree = faults[i].tree};
        struct es_error error = {.text = ""};
        struct esi_stage_node *root;

        assert_int_equal(esi_stage_tree_plan(far_origins, 2, &config,
                                             faults[i].without_sites ? NULL : &known,
                                             NULL, &error, &root),
                         -EINVAL);
        assert_string_equal(error.text, faults[i].text);
    }
}

static void every_origin_has_one_leaf(void **state)
{
    enum { COUNT = 5000 };
    struct es_origin *many = calloc(COUNT, sizeof *many);
    struct es_scope_config config;
    struct esi_stage_node *root;

    (void)state;
    assert_non_null(many);
    for (int i = 0; i < COUNT; i++)
        many[i] = (struct es_origin){
            .name = "x", .host = i % 3 ? "a" : "b", .rank = i % 40, .thread = i % 7};
    es_scope_config_init(&config);
    assert_int_equal(esi_stage_tree_plan(many, COUNT, &config, NULL, NULL, NULL, &root),
                     0);
    /* The root, 2 hosts, 40 * 7 threads of each host, since all combinations of i % 3,
     * i % 40 and i % 7 occur, and the elements. */
    assert_int_equal(esi_stage_node_count(root), 1 + 2 + 2 * 280 + COUNT);
    esi_stage_node_destroy(root);
    free(many);
}

SUITE(test_stage_tree)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_is_as_drawn),
        cmocka_unit_test(hosts_are_arranged_as_drawn),
        cmocka_unit_test(nodes_tell_their_remote_stage_how_to_pull),
        cmocka_unit_test(what_makes_no_tree_is_refused_in_words),
        cmocka_unit_test(every_origin_has_one_leaf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
