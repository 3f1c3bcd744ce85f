/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The costs of messages are estimated correctly, modelled times of operations over
 * trees are right, and the proposed tree is the best one. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/advice/link_feed.h"
#include "monitors/advice/tree_advice.h"
#include "monitors/advice/tree_model.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { MOST_RANKS = 64 };

static uint64_t random_state;

static void assert_near(double value, double expected, double part)
{
    if (fabs(value - expected) > part * fabs(expected) + 1e-6)
        fail_msg("%g is not near %g", value, expected);
}

/* --- Costs of links -------------------------------------------------------------- */

/* Adds messages that take the minimum time, and sometimes much longer. */
static void add_messages(struct esi_link_costs *costs,
                         enum esi_link_class link,
                         double latency_ns,
                         double ns_per_byte,
                         uint64_t most_bytes)
{
    for (uint64_t bytes = 1; bytes <= most_bytes; bytes *= 4) {
        for (int i = 0; i < 300; i++) {
            double ns = latency_ns + ns_per_byte * (double)bytes;

            ns *= 1 + 0.02 * random_unit(&random_state);
            if (random_int(&random_state, 3) == 0)
                ns += 1e5 * random_unit(&random_state);
            esi_link_costs_add(costs, link, bytes, (int64_t)ns, 10);
        }
    }
}

static void planted_costs_are_found_again(void **state)
{
    struct esi_link_costs *costs;
    struct esi_link_cost host;
    struct esi_link_cost cluster;
    struct esi_link_cost wide;

    (void)state;
    assert_int_equal(esi_link_costs_create(&costs), 0);
    random_state = 1;
    add_messages(costs, ES_LINK_HOST, 400, 0.1, 1 << 20);
    add_messages(costs, ES_LINK_CLUSTER, 5000, 1, 1 << 22);
    host = esi_link_costs_get(costs, ES_LINK_HOST);
    cluster = esi_link_costs_get(costs, ES_LINK_CLUSTER);
    wide = esi_link_costs_get(costs, ES_LINK_WIDE);
    assert_true(host.known);
    assert_near(host.latency_ns + 2 * host.overhead_ns, 400, 0.1);
    assert_near(host.ns_per_byte, 0.1, 0.1);
    assert_near(cluster.latency_ns + 2 * cluster.overhead_ns, 5000, 0.1);
    assert_near(cluster.ns_per_byte, 1, 0.1);
    assert_near(cluster.error_ns, 10, 0.01);
    assert_false(wide.known);
    esi_link_costs_add_round_trip(costs, ES_LINK_WIDE, 9000);
    esi_link_costs_add_round_trip(costs, ES_LINK_WIDE, 8000);
    esi_link_costs_add_overhead(costs, ES_LINK_WIDE, 100);
    wide = esi_link_costs_get(costs, ES_LINK_WIDE);
    assert_true(wide.known);
    assert_near(wide.overhead_ns, 100, 0.01);
    assert_near(wide.latency_ns, 3800, 0.01);
    esi_link_costs_destroy(costs);
}

/* By inaccurate clocks messages may even arrive before they leave. */
static void costs_are_never_negative(void **state)
{
    struct esi_link_costs *costs;
    struct esi_link_cost cost;

    (void)state;
    assert_int_equal(esi_link_costs_create(&costs), 0);
    for (int i = 0; i < 50; i++) {
        esi_link_costs_add(costs, ES_LINK_CLUSTER, 0, -500, 1000);
        esi_link_costs_add(costs, ES_LINK_CLUSTER, 100000, -900, 1000);
    }
    cost = esi_link_costs_get(costs, ES_LINK_CLUSTER);
    assert_true(cost.known);
    assert_true(cost.latency_ns >= 0 && cost.ns_per_byte >= 0 && cost.overhead_ns >= 0);
    esi_link_costs_destroy(costs);
}

static bool find_place(void *data, int world_rank, struct esi_location *ret_place)
{
    const struct esi_location *places = data;

    if (world_rank > 2)
        return false;
    *ret_place = places[world_rank];
    return true;
}

/* Adds one end of a message that takes 300 ns within a host and 7000 ns beyond. */
static void add_end(struct esi_causality *messages, int source, int number, bool sends)
{
    uint64_t took_ns = source == 1 ? 300 : 7000;
    uint64_t start_ns = 1000000 + (uint64_t)number * 100000;
    const char *name = sends ? "tree departure up" : "tree arrival up";
    struct esi_causal_tuple end = {
        .tuple = {.operation = es_operation_by_name(name)->code,
                  .start = start_ns,
                  .stop = start_ns + (sends ? 50 : took_ns),
                  .peer = sends ? 0 : source,
                  .bytes = 8,
                  .sequence = (uint32_t)number},
        .start_ns = start_ns,
        .stop_ns = start_ns + (sends ? 50 : took_ns),
        .error_ns = 5,
    };

    assert_int_equal(esi_causality_add(messages, sends ? (uint32_t)source : 0, &end),
                     0);
}

static void both_ends_of_messages_tell_their_costs(void **state)
{
    struct esi_location places[3] = {{.host = 0}, {.host = 0}, {.host = 1}};
    struct esi_link_feed feed = {.place = find_place, .data = places};
    struct esi_causality_config config = {
        .listener = {.told = esi_link_feed_told, .data = &feed}, .trees = true};
    struct esi_causality *messages;
    struct esi_link_cost cost;

    (void)state;
    assert_int_equal(esi_link_costs_create(&feed.costs), 0);
    assert_int_equal(esi_causality_create(&config, &messages), 0);
    for (int i = 0; i < 4; i++) {
        struct esi_run_process known = {.host = "", .rank = i};
        struct esi_run_reported world = {
            .key = {1, 2}, .rank = i, .size = 4, .world = (int32_t[]){0, 1, 2, 3}};
        struct esi_run_model *run = esi_causality_run(messages);
        struct esi_run_process *process;
        uint32_t element;

        assert_int_equal(esi_run_model_add_process(run, &known, &process), 0);
        assert_int_equal(esi_run_model_set_communicator(run, process, 0, &world), 0);
        assert_int_equal(esi_causality_add_element(messages, process, 0, &element), 0);
        assert_int_equal(element, i);
    }
    for (int i = 0; i < 20; i++) {
        for (int j = 1; j < 4; j++) {
            add_end(messages, j, i, i % 2);
            add_end(messages, j, i, i % 2); /* a repetition, not the other end */
            add_end(messages, j, i + 1000, i % 2);
            add_end(messages, j, i + 1000, !(i % 2));
        }
    }
    assert_int_equal(esi_causality_finish(messages), 0);
    cost = esi_link_costs_get(feed.costs, ES_LINK_HOST);
    assert_int_equal(cost.samples, 20);
    assert_near(cost.latency_ns + 2 * cost.overhead_ns, 300, 0);
    cost = esi_link_costs_get(feed.costs, ES_LINK_CLUSTER);
    assert_int_equal(cost.samples, 20);
    assert_near(cost.latency_ns + 2 * cost.overhead_ns, 7000, 0);
    assert_near(cost.error_ns, 10, 0);
    esi_causality_destroy(messages);
    esi_link_costs_destroy(feed.costs);
}

static void places_tell_the_class_of_a_link(void **state)
{
    struct esi_location a = {.cluster = 0, .host = 0};
    struct esi_location b = {.cluster = 0, .host = 1};
    struct esi_location c = {.cluster = 1, .host = 2};
    struct esi_location lost = {.cluster = 0, .host = -1};

    (void)state;
    assert_int_equal(esi_link_class_of(&a, &a), ES_LINK_HOST);
    assert_int_equal(esi_link_class_of(&a, &b), ES_LINK_CLUSTER);
    assert_int_equal(esi_link_class_of(&a, &c), ES_LINK_WIDE);
    assert_int_equal(esi_link_class_of(&lost, &lost), ES_LINK_CLUSTER);
}

/* --- The model ------------------------------------------------------------------- */

static const struct esi_link_cost simple[ES_LINK_CLASSES] = {
    {.known = true, .latency_ns = 100, .ns_per_byte = 1, .overhead_ns = 10},
    {.known = true, .latency_ns = 1000, .ns_per_byte = 2, .overhead_ns = 50},
    {.known = true, .latency_ns = 50000, .ns_per_byte = 8, .overhead_ns = 100},
};

/* Places `size` ranks on `hosts` hosts (rank i on host i % hosts if scattered), with
 * two hosts in each cluster. */
static void set_places(struct esi_location *places, int size, int hosts, bool scattered)
{
    for (int i = 0; i < size; i++) {
        int host = scattered ? i % hosts : i * hosts / size;

        places[i] = (struct esi_location){
            .cluster = host / 2, .gateway_host = host / 2 * 2, .host = host, .core = i};
    }
}

static struct esi_tree *make_tree(const char *text,
                                  int size,
                                  int root,
                                  const struct esi_location *places)
{
    struct esi_tree_rule rule;
    struct esi_tree *tree;

    assert_int_equal(esi_tree_rule_parse_short(text, NULL, &rule), 0);
    assert_int_equal(esi_tree_create(&rule, size, root, places, NULL, &tree), 0);
    esi_tree_rule_fini(&rule);
    return tree;
}

static struct esi_model_result model(const char *text,
                                     enum esi_tree_kind kind,
                                     int size,
                                     uint64_t bytes,
                                     uint64_t segment_bytes,
                                     const double *enters_ns)
{
    struct esi_location places[MOST_RANKS];
    struct esi_model_operation operation = {.kind = kind,
                                            .bytes = bytes,
                                            .segment_bytes = segment_bytes,
                                            .enters_ns = enters_ns,
                                            .places = places,
                                            .costs = simple};
    struct esi_model_result result;
    struct esi_tree *tree;

    set_places(places, size, 1, false);
    tree = make_tree(text, size, 0, places);
    assert_int_equal(esi_tree_model_run(tree, &operation, NULL, &result), 0);
    esi_tree_destroy(tree);
    return result;
}

static void operations_take_what_a_hand_reckons(void **state)
{
    static const double together[4] = {0, 0, 0, 0};
    static const double late[4] = {0, 0, 5000, 0};

    (void)state;
    /* Both children send for 10 and the message takes 100. The root receives them one
     * after the other, for 10 each: 130.  It answers at 140 and 150; the answers are
     * received by 250 and 260. */
    assert_near(model("linear", ES_TREE_BARRIER, 3, 0, 0, together).tree_ns, 260, 0);
    /* All ranks are there before rank 2, at 5000: 10 + 100 + 10, then 10 to send to
     * rank 1 first, 10 to send to rank 2, 100 and 10. */
    assert_near(model("linear", ES_TREE_BARRIER, 3, 0, 0, late).last_exit_ns,
                5000 + 120 + 20 + 110, 0);
    assert_near(model("linear", ES_TREE_BARRIER, 3, 0, 0, late).tree_ns, 250, 0);
    /* 50 bytes for rank 1 leave at 10, those for rank 2 when the link is free, at 60;
     * they arrive at 60 + 100 + 50 and are received for 10. */
    assert_near(model("linear", ES_TREE_BCAST, 3, 50, 0, together).tree_ns, 220, 0);
    /* Two blocks of 50 leave at 10 and pass the root's link one after the other. */
    assert_near(model("linear", ES_TREE_GATHER, 3, 50, 0, together).tree_ns, 220, 0);
    /* Along a chain: twice 10 + 100 + 1000 + 10. In four pieces of 250, the last piece
     * leaves at 10 + 750, arrives and is received after 360, and then takes 10 + 100 +
     * 250 + 10. */
    assert_near(model("explicit:0-1,1-2", ES_TREE_BCAST, 3, 1000, 0, together).tree_ns,
                2240, 0);
    assert_near(
        model("explicit:0-1,1-2", ES_TREE_BCAST, 3, 1000, 250, together).tree_ns, 1490,
        0);
    /* In a broadcast nobody but the late rank itself waits for it. */
    assert_near(model("linear", ES_TREE_BCAST, 4, 0, 0, late).last_exit_ns, 5010, 0);
}

/* --- The same by discrete-event simulation ---------------------------------------- */

struct action {
    bool sends;
    int other;
    double bytes;
};

struct actor {
    struct action actions[4 * MOST_RANKS * ES_MODEL_PIECES];
    int count;
    int done;
    double busy;
    double in;
    double out;
};

struct simulation {
    const struct esi_location *places;
    struct actor actors[MOST_RANKS];
    /* Times at which messages left, in order, by sender and receiver. */
    double left[MOST_RANKS][MOST_RANKS][2 * ES_MODEL_PIECES];
    int sent[MOST_RANKS][MOST_RANKS];
    int taken[MOST_RANKS][MOST_RANKS];
};

static void do_later(struct simulation *simulation,
                     int rank,
                     bool sends,
                     int other,
                     double bytes)
{
    struct actor *actor = &simulation->actors[rank];

    actor->actions[actor->count++] =
        (struct action){.sends = sends, .other = other, .bytes = bytes};
}

static bool act(struct simulation *simulation, int rank)
{
    struct actor *actor = &simulation->actors[rank];
    const struct action *action = &actor->actions[actor->done];
    const struct esi_link_cost *cost;
    double arrived;

    if (actor->done == actor->count)
        return false;
    cost = &simple[esi_link_class_of(&simulation->places[rank],
                                     &simulation->places[action->other])];
    if (action->sends) {
        double leaves = fmax(actor->busy + cost->overhead_ns, actor->out);

        actor->busy += cost->overhead_ns;
        actor->out = leaves + cost->ns_per_byte * action->bytes;
        simulation->left[rank][action->other][simulation->sent[rank][action->other]++] =
            leaves;
    } else {
        int *taken = &simulation->taken[action->other][rank];

        if (*taken == simulation->sent[action->other][rank])
            return false;
        arrived = simulation->left[action->other][rank][(*taken)++] + cost->latency_ns;
        actor->in = fmax(actor->in, arrived) + cost->ns_per_byte * action->bytes;
        actor->busy = fmax(actor->busy, actor->in) + cost->overhead_ns;
    }
    actor->done++;
    return true;
}

/* How many pieces go along an edge, in each direction, and whose blocks they are. */
enum part { NOBODY, ONE, SUBTREE, ALL };

static const struct {
    int up, down;
    enum part is_sent_up, is_sent_down;
} kinds[] = {
    [ES_TREE_BARRIER] = {1, 1, NOBODY, NOBODY},
    [ES_TREE_BCAST] = {0, 3, NOBODY, ONE},
    [ES_TREE_REDUCE] = {3, 0, ONE, NOBODY},
    [ES_TREE_ALLREDUCE] = {3, 3, ONE, ONE},
    [ES_TREE_GATHER] = {1, 0, SUBTREE, NOBODY},
    [ES_TREE_SCATTER] = {0, 1, NOBODY, SUBTREE},
    [ES_TREE_ALLGATHER] = {1, ES_MODEL_PIECES, SUBTREE, ALL},
};

static double bytes_of(const struct esi_tree *tree,
                       const struct esi_model_operation *operation,
                       enum part part,
                       int child)
{
    const int blocks[] = {
        [NOBODY] = 0, [ONE] = 1, [SUBTREE] = tree->subtree[child], [ALL] = tree->size};

    return (double)operation->bytes * blocks[part];
}

/* Plans the actions of each rank, in order. */
static void plan(struct simulation *simulation,
                 const struct esi_tree *tree,
                 const struct esi_model_operation *operation)
{
    int up = kinds[operation->kind].up, down = kinds[operation->kind].down;
    enum part is_sent_up = kinds[operation->kind].is_sent_up;
    enum part is_sent_down = kinds[operation->kind].is_sent_down;

    for (int i = 0; i < tree->size; i++) {
        const int *children = esi_tree_children(tree, i);
        int count = esi_tree_child_count(tree, i);

        for (int piece = 0; piece < up; piece++) {
            for (int j = 0; j < count; j++)
                do_later(simulation, i, false, children[j],
                         bytes_of(tree, operation, is_sent_up, children[j]) / up);
            if (i != tree->root)
                do_later(simulation, i, true, tree->parents[i],
                         bytes_of(tree, operation, is_sent_up, i) / up);
        }
        for (int piece = 0; piece < down; piece++) {
            if (i != tree->root)
                do_later(simulation, i, false, tree->parents[i],
                         bytes_of(tree, operation, is_sent_down, i) / down);
            for (int j = 0; j < count; j++)
                do_later(simulation, i, true, children[j],
                         bytes_of(tree, operation, is_sent_down, children[j]) / down);
        }
    }
}

static void compare_with_simulation(const struct esi_tree *tree,
                                    const struct esi_model_operation *operation)
{
    struct simulation *simulation = calloc(1, sizeof *simulation);
    struct esi_model_result result;
    double exits[MOST_RANKS];
    bool moves = true;

    assert_non_null(simulation);
    simulation->places = operation->places;
    for (int i = 0; i < tree->size; i++)
        simulation->actors[i].busy = operation->enters_ns[i];
    plan(simulation, tree, operation);
    while (moves) {
        moves = false;
        for (int i = 0; i < tree->size; i++)
            while (act(simulation, i))
                moves = true;
    }
    assert_int_equal(esi_tree_model_run(tree, operation, exits, &result), 0);
    for (int i = 0; i < tree->size; i++) {
        assert_int_equal(simulation->actors[i].done, simulation->actors[i].count);
        assert_near(exits[i], simulation->actors[i].busy, 1e-9);
    }
    free(simulation);
}

static void the_model_agrees_with_a_simulation(void **state)
{
    static const char *const shapes[] = {"linear", "kary:3", "binomial",
                                         "levels:host,cluster:2", "levels:host"};

    (void)state;
    random_state = 7;
    for (int round = 0; round < 200; round++) {
        struct esi_location places[MOST_RANKS];
        double enters[MOST_RANKS];
        int size = 2 + random_int(&random_state, 40);
        struct esi_model_operation operation = {
            .kind = (enum esi_tree_kind)random_int(&random_state, ES_TREE_KIND_COUNT),
            .bytes = 3000,
            .segment_bytes = 1000,
            .enters_ns = enters,
            .places = places,
            .costs = simple,
        };
        struct esi_tree *tree;

        set_places(places, size, 1 + random_int(&random_state, 6),
                   random_int(&random_state, 2));
        for (int i = 0; i < size; i++)
            enters[i] = 20000 * random_unit(&random_state);
        /* A small allgather goes down in as many pieces as it has bytes for. */
        if (operation.kind == ES_TREE_ALLGATHER)
            operation.segment_bytes = 100;
        tree = make_tree(shapes[random_int(&random_state, 5)], size,
                         random_int(&random_state, size), places);
        compare_with_simulation(tree, &operation);
        esi_tree_destroy(tree);
    }
}

/* --- Advice ---------------------------------------------------------------------- */

struct scene {
    int size;
    struct esi_location places[MOST_RANKS];
    struct esi_link_costs *costs;
    struct esi_tree_advisor *advisor;
    const char *in_force; /* NULL = library */
    double factor;        /* ratio of the actual times to those of the model */
    double noise;
};

static void set_scene(struct scene *scene, int size, int hosts, bool scattered)
{
    const struct esi_tree_advisor_config config = {.samples = 0};

    *scene = (struct scene){.size = size, .factor = 1, .noise = 0.02};
    set_places(scene->places, size, hosts, scattered);
    assert_int_equal(esi_link_costs_create(&scene->costs), 0);
    assert_int_equal(esi_tree_advisor_create(&config, &scene->advisor), 0);
    for (int i = 0; i < ES_LINK_CLASSES; i++) {
        for (uint64_t bytes = 1; bytes <= 1 << 20; bytes *= 32)
            esi_link_costs_add(scene->costs, (enum esi_link_class)i, bytes,
                               (int64_t)(simple[i].latency_ns +
                                         2 * simple[i].overhead_ns +
                                         simple[i].ns_per_byte * (double)bytes),
                               0);
        esi_link_costs_add_overhead(scene->costs, (enum esi_link_class)i,
                                    (uint64_t)simple[i].overhead_ns);
    }
}

static void end_scene(struct scene *scene)
{
    esi_link_costs_destroy(scene->costs);
    esi_tree_advisor_destroy(scene->advisor);
}

/* Adds an operation over the tree in force. */
static void happen(struct scene *scene, const char *name, uint32_t bytes)
{
    struct esi_collective_arrival arrivals[MOST_RANKS];
    double enters[MOST_RANKS];
    const struct es_operation *found = es_operation_by_name(name);
    struct esi_collective_instance instance = {.communicator = "world",
                                               .size = scene->size,
                                               .known = scene->size,
                                               .root = -1,
                                               .bytes = bytes,
                                               .arrivals = arrivals,
                                               .first_enter_ns = 1000000};
    struct esi_model_operation operation = {.bytes = bytes,
                                            .segment_bytes = 65536,
                                            .enters_ns = enters,
                                            .places = scene->places,
                                            .costs = simple};
    struct esi_model_result result;
    struct esi_tree *tree = make_tree(scene->in_force ? scene->in_force : "linear",
                                      scene->size, 0, scene->places);
    uint32_t bit;

    assert_non_null(found);
    instance.operation = found->code;
    instance.tree = scene->in_force != NULL;
    instance.version = instance.tree ? 1 : 0;
    bit = esi_tree_operation_of_code(found->code);
    while (bit != 1u << operation.kind)
        operation.kind++;
    for (int i = 0; i < scene->size; i++) {
        enters[i] = i == 0 ? 0 : 500 * random_unit(&random_state);
        arrivals[i] = (struct esi_collective_arrival){
            .known = true, .enter_ns = 1000000 + (uint64_t)enters[i]};
    }
    assert_int_equal(esi_tree_model_run(tree, &operation, NULL, &result), 0);
    instance.tree_ns =
        (uint64_t)(result.tree_ns * scene->factor *
                   (1 + scene->noise * (random_unit(&random_state) - 0.5)));
    assert_int_equal(esi_tree_advisor_add(scene->advisor, &instance), 0);
    esi_tree_destroy(tree);
}

static struct esi_tree_advice advise(const struct scene *scene)
{
    struct esi_advice_situation situation = {
        .places = scene->places, .costs = scene->costs, .version = 1};
    struct esi_tree_rule rule;
    struct esi_tree_advice advice;

    if (scene->in_force) {
        assert_int_equal(esi_tree_rule_parse_short(scene->in_force, NULL, &rule), 0);
        situation.in_force = &rule;
    }
    assert_int_equal(esi_tree_advisor_propose(scene->advisor, 0, &situation, &advice),
                     0);
    if (scene->in_force)
        esi_tree_rule_fini(&rule);
    return advice;
}

/* Eight hosts in four clusters, with ranks dealt out in turn: a tree by rank crosses
 * between clusters at nearly every edge. */
static void slow_links_between_clusters_call_for_levels(void **state)
{
    struct scene scene;
    struct esi_tree_advice advice;
    struct esi_advised_group group;

    (void)state;
    random_state = 3;
    set_scene(&scene, 32, 8, true);
    scene.in_force = "binomial";
    for (int i = 0; i < 40; i++)
        happen(&scene, "MPI_Allreduce", 10000);
    advice = advise(&scene);
    assert_int_equal(advice.verdict, ES_ADVICE_BETTER);
    assert_int_equal(advice.rule.shape, ES_TREE_LEVELS);
    assert_true(advice.rule.levels & (ES_TREE_LEVEL_CLUSTER | ES_TREE_LEVEL_GATEWAY));
    assert_int_equal(advice.candidates[advice.best].edges.count[ES_LINK_WIDE], 3);
    assert_true(advice.gain > 0.3);
    assert_near(advice.scale, 1, 0.1);
    assert_non_null(strstr(advice.reason, "edges of the tree in force go between "
                                          "clusters; with levels:"));
    assert_non_null(strstr(advice.reason, " 3 do"));
    assert_string_equal(advice.rule.communicator, "world");
    assert_int_equal(advice.rule.operations, 1u << ES_TREE_ALLREDUCE);
    assert_int_equal(advice.rule.min_bytes, 8192);
    assert_int_equal(advice.rule.max_bytes, 16383);
    esi_tree_advisor_group(scene.advisor, 0, &group);
    assert_int_equal(group.instances, 40);
    assert_int_equal(group.samples, 32);
    end_scene(&scene);
}

static void where_nothing_is_gained_nothing_is_proposed(void **state)
{
    struct scene scene;
    struct esi_tree_advice advice;
    char best[64];

    (void)state;
    random_state = 4;
    set_scene(&scene, 32, 8, true);
    scene.in_force = "linear";
    for (int i = 0; i < 20; i++)
        happen(&scene, "MPI_Allreduce", 10000);
    advice = advise(&scene);
    assert_int_equal(advice.verdict, ES_ADVICE_BETTER);
    memcpy(best, advice.candidates[advice.best].name, sizeof best);
    end_scene(&scene);
    /* If it is in force already, there is nothing better to propose. */
    set_scene(&scene, 32, 8, true);
    scene.in_force = best;
    for (int i = 0; i < 20; i++)
        happen(&scene, "MPI_Allreduce", 10000);
    advice = advise(&scene);
    assert_int_equal(advice.verdict, ES_ADVICE_SETTLED);
    assert_true(advice.gain < 0.1);
    assert_non_null(strstr(advice.reason, " alternatives"));
    end_scene(&scene);
}

static void the_library_is_compared_by_what_it_takes(void **state)
{
    struct scene scene;
    struct esi_tree_advice advice;

    (void)state;
    set_scene(&scene, 16, 2, false);
    scene.factor = 20;
    for (int i = 0; i < 20; i++)
        happen(&scene, "MPI_Allreduce", 8);
    advice = advise(&scene);
    assert_int_equal(advice.verdict, ES_ADVICE_BETTER);
    assert_non_null(strstr(advice.reason, "the MPI library takes"));
    end_scene(&scene);
    set_scene(&scene, 16, 2, false);
    scene.factor = 0.01;
    for (int i = 0; i < 20; i++)
        happen(&scene, "MPI_Allreduce", 8);
    advice = advise(&scene);
    assert_int_equal(advice.verdict, ES_ADVICE_SETTLED);
    end_scene(&scene);
}

static void what_scatters_or_is_not_known_leads_to_nothing(void **state)
{
    struct scene scene;
    struct esi_tree_advice advice;

    (void)state;
    set_scene(&scene, 16, 2, false);
    scene.factor = 2;
    for (int i = 0; i < 7; i++)
        happen(&scene, "MPI_Allreduce", 8);
    assert_int_equal(advise(&scene).verdict, ES_ADVICE_UNKNOWN);
    end_scene(&scene);
    /* A quarter of the operations takes very long; a single one would be ignored. */
    set_scene(&scene, 16, 2, false);
    for (int i = 0; i < 16; i++) {
        scene.factor = i % 5 == 0 ? 1000 : 0.5;
        happen(&scene, "MPI_Allreduce", 8);
    }
    advice = advise(&scene);
    assert_int_equal(advice.verdict, ES_ADVICE_UNSURE);
    end_scene(&scene);
    /* The costs of links between hosts are unknown. */
    set_scene(&scene, 16, 2, false);
    esi_link_costs_destroy(scene.costs);
    assert_int_equal(esi_link_costs_create(&scene.costs), 0);
    esi_link_costs_add(scene.costs, ES_LINK_HOST, 8, 200, 0);
    for (int i = 0; i < 16; i++)
        happen(&scene, "MPI_Allreduce", 8);
    assert_int_equal(advise(&scene).verdict, ES_ADVICE_UNKNOWN);
    end_scene(&scene);
}

static void what_is_proposed_is_the_least_of_all(void **state)
{
    static const char *const forces[] = {"linear", "kary:2", "binomial", "kary:4",
                                         NULL};
    static const char *const names[] = {"MPI_Barrier",  "MPI_Bcast",   "MPI_Reduce",
                                        "MPI_Gather",   "MPI_Scatter", "MPI_Allgather",
                                        "MPI_Allreduce"};

    (void)state;
    random_state = 5;
    for (int round = 0; round < 60; round++) {
        struct scene scene;
        struct esi_tree_advice advice;
        const char *name = names[round % 7];
        uint32_t bytes = round % 7 ? 1u << random_int(&random_state, 20) : 0;

        set_scene(&scene, 2 + random_int(&random_state, 60),
                  1 + random_int(&random_state, 8), random_int(&random_state, 2));
        scene.in_force = forces[random_int(&random_state, 5)];
        scene.factor = 0.3 + 2 * random_unit(&random_state);
        for (int i = 0; i < 12; i++)
            happen(&scene, name, bytes);
        advice = advise(&scene);
        assert_true(advice.best < advice.candidate_count);
        for (size_t i = 0; i < advice.candidate_count; i++)
            assert_true(!advice.candidates[i].possible ||
                        advice.then_ns <= advice.candidates[i].then_ns);
        if (advice.verdict == ES_ADVICE_BETTER) {
            assert_true(advice.gain_ns >= 1000 && advice.gain >= 0.1);
            assert_true(advice.then_ns < advice.now_ns);
        }
        assert_true(advice.reason[0] != '\0');
        end_scene(&scene);
    }
}

static void groups_are_bounded_and_the_quietest_goes(void **state)
{
    const struct esi_tree_advisor_config config = {.max_groups = 3};
    struct scene scene;
    struct esi_advised_group group;

    (void)state;
    set_scene(&scene, 4, 1, false);
    esi_tree_advisor_destroy(scene.advisor);
    assert_int_equal(esi_tree_advisor_create(&config, &scene.advisor), 0);
    for (uint32_t order = 0; order < 5; order++) {
        happen(&scene, "MPI_Barrier", 0);
        happen(&scene, "MPI_Bcast", 1u << order);
    }
    assert_int_equal(esi_tree_advisor_count(scene.advisor), 3);
    esi_tree_advisor_group(scene.advisor, 0, &group);
    assert_int_equal(group.operation, 1u << ES_TREE_BARRIER);
    assert_int_equal(group.instances, 5);
    end_scene(&scene);
}

SUITE(test_tree_advice)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_costs_are_found_again),
        cmocka_unit_test(costs_are_never_negative),
        cmocka_unit_test(both_ends_of_messages_tell_their_costs),
        cmocka_unit_test(places_tell_the_class_of_a_link),
        cmocka_unit_test(operations_take_what_a_hand_reckons),
        cmocka_unit_test(the_model_agrees_with_a_simulation),
        cmocka_unit_test(slow_links_between_clusters_call_for_levels),
        cmocka_unit_test(where_nothing_is_gained_nothing_is_proposed),
        cmocka_unit_test(the_library_is_compared_by_what_it_takes),
        cmocka_unit_test(what_scatters_or_is_not_known_leads_to_nothing),
        cmocka_unit_test(what_is_proposed_is_the_least_of_all),
        cmocka_unit_test(groups_are_bounded_and_the_quietest_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
