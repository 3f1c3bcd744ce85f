/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_propose.c - replays a group's sample over the candidates, and explains the
 * result. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "monitors/advice/tree_advice_private.h"
#include "monitors/advice/tree_model.h"

/* The largest error of the model for the measured tree at which it is still used for
 * others. */
#define LEAST_SCALE 0.1
#define MOST_SCALE 10.0

static const char *const candidates[] = {
    "linear",
    "kary:2",
    "kary:4",
    "kary:8",
    "kary:16",
    "binomial",
    "levels:host",
    "levels:host:2",
    "levels:host:4",
    "levels:host,cluster",
    "levels:host,cluster:2",
    "levels:host,cluster:4",
    "levels:host,cluster,gateway",
    "levels:host,cluster,gateway:2",
    "levels:host,cluster,gateway:4",
};

enum { CANDIDATE_COUNT = sizeof candidates / sizeof candidates[0] };

_Static_assert((int)CANDIDATE_COUNT < (int)ES_ADVICE_CANDIDATES, "they have room");

/* State of replaying a group's sample over several trees. */
struct replay {
    const struct esi_tree_advisor *advisor;
    const struct esi_advice_group *group;
    const struct esi_advice_situation *situation;
    struct esi_link_cost costs[ES_LINK_CLASSES];
    enum esi_tree_kind kind;
    double *now_ns;                  /* per sample that counts */
    double *then_ns;                 /* per sample, over the current candidate */
    double *best_ns;                 /* over the best so far */
    double *scratch;                 /* for two numbers per sample */
    double now_chance;               /* relative standard error of the measurements */
    struct esi_advised_past library; /* earlier measurements; count 0 = none */
    struct esi_advice_edges in_force;
};

const char *esi_advice_basis_name(enum esi_advice_basis basis)
{
    static const char *const names[] = {[ES_ADVICE_SCALED] = "scaled",
                                        [ES_ADVICE_UNSCALED] = "unscaled",
                                        [ES_ADVICE_MEASURED] = "measured"};

    return names[basis];
}

const char *esi_advice_verdict_name(enum esi_advice_verdict verdict)
{
    static const char *const names[] = {[ES_ADVICE_BETTER] = "better",
                                        [ES_ADVICE_SETTLED] = "settled",
                                        [ES_ADVICE_UNSURE] = "unsure",
                                        [ES_ADVICE_UNKNOWN] = "unknown"};

    return names[verdict];
}

/* --- Replaying -------------------------------------------------------------------- */

static void count_edges(const struct replay *replay,
                        const struct esi_tree *tree,
                        struct esi_advice_edges *ret_edges)
{
    const struct esi_location *places = replay->situation->places;
    struct esi_advice_edges edges = {.depth = tree->depth};

    for (int i = 0; i < tree->size; i++) {
        int children = esi_tree_child_count(tree, i);

        if (tree->parents[i] >= 0)
            edges.count[esi_link_class_of(&places[i], &places[tree->parents[i]])]++;
        if (children > edges.most_children)
            edges.most_children = children;
    }
    *ret_edges = edges;
}

static bool are_known(const struct replay *replay, const struct esi_advice_edges *edges)
{
    for (int i = 0; i < ES_LINK_CLASSES; i++)
        if (edges->count[i] > 0 && !replay->costs[i].known)
            return false;
    return true;
}

static int replay_sample(const struct replay *replay,
                         const struct esi_advice_sample *sample,
                         const struct esi_tree_rule *rule,
                         const struct esi_tree *tree,
                         double *ret_ns)
{
    struct esi_model_operation operation = {
        .kind = replay->kind,
        .bytes = sample->bytes,
        .segment_bytes = rule->segment_bytes,
        .enters_ns = sample->enters_ns,
        .places = replay->situation->places,
        .costs = replay->costs,
    };
    struct esi_model_result result;
    int code = esi_tree_model_run(tree, &operation, NULL, &result);

    if (code == 0)
        *ret_ns = replay->advisor->config.goal == ES_ADVICE_TREE_TIME ? result.tree_ns
                                                                      : result.rank_ns;
    return code;
}

/* Replays all samples over the trees of a rule, one per root among them. */
static int replay_rule(struct replay *replay,
                       const struct esi_tree_rule *rule,
                       struct esi_advice_edges *ret_edges)
{
    const struct esi_advice_group *group = replay->group;
    struct esi_tree *tree = NULL;
    int result = 0;

    for (size_t i = 0; i < group->count && result == 0; i++) {
        const struct esi_advice_sample *sample = &group->samples[i];

        if (!tree || tree->root != sample->root) {
            esi_tree_destroy(tree);
            tree = NULL;
            result = esi_tree_create(rule, group->size, sample->root,
                                     replay->situation->places, NULL, &tree);
            if (result == 0)
                count_edges(replay, tree, ret_edges);
        }
        if (result == 0)
            result = replay_sample(replay, sample, rule, tree, &replay->then_ns[i]);
    }
    esi_tree_destroy(tree);
    return result;
}

static bool is_by_tree(const struct replay *replay)
{
    const struct esi_tree_rule *rule = replay->situation->in_force;

    return rule && rule->shape != ES_TREE_LIBRARY;
}

/* Whether a sample was taken with the rule in force. */
static bool counts_instance(const struct replay *replay,
                            const struct esi_advice_sample *sample)
{
    bool tree = is_by_tree(replay);

    return sample->tree == tree &&
           (!tree || sample->version == ES_ADVICE_VERSION(replay->situation->version));
}

/* Compares the measured times of these samples with the model of the tree in force. */
static void compare_in_force(struct replay *replay, struct esi_tree_advice *advice)
{
    const struct esi_advice_group *group = replay->group;
    bool is_tree = is_by_tree(replay);
    double *measured_ns = replay->scratch;
    double *modelled_ns = replay->scratch + group->count;
    double model_ns;
    double chance_ns;

    for (size_t i = 0; i < group->count; i++) {
        if (!counts_instance(replay, &group->samples[i]))
            continue;
        measured_ns[advice->samples] = group->samples[i].measured_ns;
        modelled_ns[advice->samples++] = replay->then_ns[i];
    }
    advice->scale = 1;
    if (advice->samples == 0)
        return;
    advice->now_ns = esi_advice_typical(measured_ns, advice->samples, &chance_ns);
    model_ns = is_tree ? esi_advice_typical(modelled_ns, advice->samples, NULL) : 0;
    replay->now_chance = advice->now_ns > 0 ? chance_ns / advice->now_ns : 0;
    if (model_ns > 0)
        advice->scale = advice->now_ns / model_ns;
}

/* The current times of the samples.  Samples of other trees use the model alone or, if
 * that is not possible, the mean of the others. */
static int measure_tree(struct replay *replay, struct esi_tree_advice *advice)
{
    const struct esi_advice_group *group = replay->group;
    bool is_tree = is_by_tree(replay);
    int result =
        is_tree ? replay_rule(replay, replay->situation->in_force, &replay->in_force)
                : 0;

    if (result < 0)
        return result;
    compare_in_force(replay, advice);
    advice->basis = is_tree ? ES_ADVICE_SCALED : ES_ADVICE_UNSCALED;
    for (size_t i = 0; i < group->count; i++)
        replay->now_ns[i] = is_tree ? replay->then_ns[i] * advice->scale
                            : counts_instance(replay, &group->samples[i])
                                ? group->samples[i].measured_ns
                                : advice->now_ns;
    return is_tree && !are_known(replay, &replay->in_force) ? -ENODATA : 0;
}

static int try_candidate(struct replay *replay,
                         const char *name,
                         struct esi_tree_advice *advice)
{
    size_t count = replay->group->count;
    struct esi_advice_candidate *candidate =
        &advice->candidates[advice->candidate_count];
    const struct esi_advice_candidate *best = advice->best < advice->candidate_count
                                                  ? &advice->candidates[advice->best]
                                                  : NULL;
    struct esi_tree_rule rule;
    int result = esi_tree_rule_parse_short(name, NULL, &rule);

    if (result < 0)
        return result;
    *candidate = (struct esi_advice_candidate){.possible = false};
    snprintf(candidate->name, sizeof candidate->name, "%s", name);
    result = replay_rule(replay, &rule, &candidate->edges);
    candidate->possible = result == 0 && are_known(replay, &candidate->edges);
    for (size_t i = 0; i < count; i++)
        replay->then_ns[i] *= advice->scale;
    memcpy(replay->scratch, replay->then_ns, count * sizeof *replay->scratch);
    candidate->then_ns = esi_advice_typical(replay->scratch, count, NULL);
    if (candidate->possible && (!best || candidate->then_ns < best->then_ns)) {
        memcpy(replay->best_ns, replay->then_ns, count * sizeof *replay->best_ns);
        advice->best = advice->candidate_count;
        advice->rule = rule;
    }
    if (result == 0)
        advice->candidate_count++;
    esi_tree_rule_fini(&rule);
    return result == -EINVAL ? 0 : result;
}

/* There is no model of the library's own algorithm: uses earlier measurements. */
static void try_library(struct replay *replay, struct esi_tree_advice *advice)
{
    const struct esi_tree_advisor *advisor = replay->advisor;
    size_t index = (size_t)(replay->group - advisor->groups);
    struct esi_advice_candidate *candidate =
        &advice->candidates[advice->candidate_count];

    if (!is_by_tree(replay) ||
        esi_tree_advisor_past(advisor, index, false, 0, &replay->library) < 0 ||
        replay->library.count < advisor->config.min_samples)
        return;
    *candidate = (struct esi_advice_candidate){
        .name = "library", .possible = true, .then_ns = replay->library.mean_ns};
    if (advice->best >= advice->candidate_count ||
        candidate->then_ns < advice->candidates[advice->best].then_ns) {
        advice->best = advice->candidate_count;
        advice->basis = ES_ADVICE_MEASURED;
        esi_tree_rule_init(&advice->rule, ES_TREE_LIBRARY);
    }
    advice->candidate_count++;
}

/* --- Judging ---------------------------------------------------------------------- */

/* Mean error bound of the clocks of the samples. */
static double clocks_of(const struct esi_advice_group *group)
{
    double error_ns = 0;

    for (size_t i = 0; i < group->count; i++)
        error_ns += group->samples[i].error_ns / (double)group->count;
    return error_ns;
}

/* Both were measured with the same clocks. */
static void gain_measured(const struct replay *replay, struct esi_tree_advice *advice)
{
    double now_ns = replay->now_chance * advice->now_ns;
    double then_ns = replay->library.chance_ns;

    advice->gain_ns = advice->now_ns - advice->then_ns;
    advice->doubt_ns = 2 * sqrt(now_ns * now_ns + then_ns * then_ns) +
                       fmax(clocks_of(replay->group), replay->library.clocks_ns);
}

/* Uses the same samples for both, so that the better tree does not just have easier
 * ones.  If the model is scaled, chance and clock errors affect the gain in proportion
 * to the measured time: which of two trees is better according to the model does not
 * depend on them.  Otherwise they add up. */
static void gain_modelled(const struct replay *replay, struct esi_tree_advice *advice)
{
    const struct esi_advice_group *group = replay->group;
    double clocks_ns = clocks_of(group);
    double chance_ns;
    double scale_ns;

    for (size_t i = 0; i < group->count; i++)
        replay->scratch[i] = replay->now_ns[i] - replay->best_ns[i];
    advice->gain_ns = esi_advice_typical(replay->scratch, group->count, &chance_ns);
    if (advice->basis == ES_ADVICE_UNSCALED) {
        advice->doubt_ns = 2 * chance_ns + clocks_ns;
        return;
    }
    scale_ns = advice->gain_ns * replay->now_chance;
    advice->doubt_ns = 2 * sqrt(chance_ns * chance_ns + scale_ns * scale_ns);
    if (advice->now_ns > 0)
        advice->doubt_ns += fabs(advice->gain_ns) * fmin(clocks_ns / advice->now_ns, 1);
}

/* A model with such an error for the tree in force is not used for others. */
static bool is_far_off(const struct esi_tree_advice *advice)
{
    return advice->basis == ES_ADVICE_SCALED &&
           (advice->scale <= LEAST_SCALE || advice->scale >= MOST_SCALE);
}

static void classify_proposal(const struct replay *replay,
                              struct esi_tree_advice *advice)
{
    const struct esi_tree_advisor_config *config = &replay->advisor->config;

    advice->then_ns = advice->candidates[advice->best].then_ns;
    if (advice->basis == ES_ADVICE_MEASURED)
        gain_measured(replay, advice);
    else
        gain_modelled(replay, advice);
    advice->gain = advice->now_ns > 0 ? advice->gain_ns / advice->now_ns : 0;
    if (advice->gain_ns < config->min_gain_ns || advice->gain < config->min_gain)
        advice->verdict = ES_ADVICE_SETTLED;
    else if (advice->gain_ns <= advice->doubt_ns || is_far_off(advice))
        advice->verdict = ES_ADVICE_UNSURE;
    else
        advice->verdict = ES_ADVICE_BETTER;
}

/* Escapes special characters, since a name is not a pattern.  If there is no space for
 * that, uses a wildcard. */
static void quote_pattern(const char *name, char *out, size_t size)
{
    size_t length = 0;

    for (; *name && length + 2 < size; name++) {
        if (strchr("*?[\\", *name))
            out[length++] = '\\';
        out[length++] = *name;
    }
    out[length] = '\0';
}

static void fill_rule(const struct replay *replay, struct esi_tree_advice *advice)
{
    const struct esi_advice_group *group = replay->group;
    struct esi_tree_rule *rule = &advice->rule;

    snprintf(rule->name, sizeof rule->name, "advised");
    quote_pattern(group->communicator, rule->communicator, sizeof rule->communicator);
    rule->operations = group->operation;
    rule->min_bytes = group->order ? UINT64_C(1) << (group->order - 1) : 0;
    rule->max_bytes = (UINT64_C(1) << group->order) - 1;
    rule->edges = NULL;
    rule->edge_count = 0;
}

/* --- Descriptions ----------------------------------------------------------------- */

/* The most expensive link class that the new tree uses less; -1 = none. */
static int saved_class(const struct esi_advice_edges *now,
                       const struct esi_advice_edges *then)
{
    for (int i = ES_LINK_CLASSES - 1; i > ES_LINK_HOST; i--) {
        if (then->count[i] < now->count[i])
            return i;
        if (then->count[i] > now->count[i])
            break;
    }
    return -1;
}

static void explain_tree(const struct esi_advice_edges *now,
                         const struct esi_advice_candidate *then,
                         struct esi_tree_advice *advice)
{
    int edges = now->count[0] + now->count[1] + now->count[2];
    int saved = saved_class(now, &then->edges);

    if (saved >= 0)
        snprintf(advice->reason, sizeof advice->reason,
                 "%d of %d edges of the tree in force go %s; with %s %d %s",
                 now->count[saved], edges,
                 esi_link_class_name((enum esi_link_class)saved), then->name,
                 then->edges.count[saved],
                 then->edges.count[saved] == 1 ? "does" : "do");
    else if (then->edges.most_children < now->most_children)
        snprintf(advice->reason, sizeof advice->reason,
                 "a node of the tree in force serves %d children one after the other; "
                 "with %s %d at most",
                 now->most_children, then->name, then->edges.most_children);
    else if (then->edges.depth < now->depth)
        snprintf(advice->reason, sizeof advice->reason,
                 "the tree in force is %d edges deep; %s is %d", now->depth, then->name,
                 then->edges.depth);
    else
        snprintf(advice->reason, sizeof advice->reason,
                 "with %s late ranks are nearer to the root", then->name);
}

static void explain_proposal(const struct replay *replay,
                             struct esi_tree_advice *advice)
{
    const struct esi_advice_candidate *then = &advice->candidates[advice->best];
    int edges = replay->group->size - 1;
    char gain[ESI_QUANTITY_BYTES];
    char time[ESI_QUANTITY_BYTES];

    esi_quantity_time(gain, sizeof gain, fmax(advice->gain_ns, 0));

    if (advice->verdict == ES_ADVICE_SETTLED && advice->gain_ns <= 0)
        snprintf(advice->reason, sizeof advice->reason,
                 "none of the %zu alternatives considered takes less time",
                 advice->candidate_count);
    else if (advice->verdict == ES_ADVICE_SETTLED)
        snprintf(advice->reason, sizeof advice->reason,
                 "the best of %zu alternatives, %s, gains %s (%.0f %%) at most",
                 advice->candidate_count, then->name, gain,
                 fmax(advice->gain, 0) * 100);
    else if (advice->verdict == ES_ADVICE_UNSURE && is_far_off(advice))
        snprintf(advice->reason, sizeof advice->reason,
                 "%s may gain %s, but the tree in force takes %.2g times as long as "
                 "predicted: something other than messages dominates",
                 then->name, gain, advice->scale);
    else if (advice->verdict == ES_ADVICE_UNSURE)
        snprintf(advice->reason, sizeof advice->reason,
                 "%s may gain %s, but operations and clocks vary by %s", then->name,
                 gain, esi_quantity_time(time, sizeof time, advice->doubt_ns));
    else if (advice->basis == ES_ADVICE_MEASURED)
        snprintf(advice->reason, sizeof advice->reason,
                 "the MPI library took %s in the %" PRIu64
                 " operations that were observed with it here",
                 esi_quantity_time(time, sizeof time, advice->then_ns),
                 replay->library.count);
    else if (is_by_tree(replay))
        explain_tree(&replay->in_force, then, advice);
    else
        snprintf(advice->reason, sizeof advice->reason,
                 "the MPI library takes %s; with %s %d of %d edges go between clusters "
                 "and %d between hosts (prediction only: no tree was measured here to "
                 "check the model)",
                 esi_quantity_time(time, sizeof time, advice->now_ns), then->name,
                 then->edges.count[ES_LINK_WIDE], edges,
                 then->edges.count[ES_LINK_CLUSTER]);
}

/* --- Proposing -------------------------------------------------------------------- */

static int propose_tree(struct replay *replay, struct esi_tree_advice *advice)
{
    int result = measure_tree(replay, advice);

    if (result < 0 && result != -ENODATA)
        return result;
    advice->verdict = ES_ADVICE_UNKNOWN;
    if (advice->samples < replay->advisor->config.min_samples || advice->samples < 2) {
        snprintf(advice->reason, sizeof advice->reason,
                 "%zu operations were seen with the current choice, %zu are needed",
                 advice->samples, replay->advisor->config.min_samples);
        return 0;
    }
    for (size_t i = 0; i < CANDIDATE_COUNT; i++) {
        int code = try_candidate(replay, candidates[i], advice);

        if (code < 0)
            return code;
    }
    if (result == -ENODATA)
        advice->best = SIZE_MAX;
    try_library(replay, advice);
    if (advice->best >= advice->candidate_count) {
        snprintf(advice->reason, sizeof advice->reason,
                 "the cost of messages is not known for all links; operations over any "
                 "tree, such as binomial, would show it");
        return 0;
    }
    classify_proposal(replay, advice);
    fill_rule(replay, advice);
    explain_proposal(replay, advice);
    return 0;
}

static enum esi_tree_kind kind_of(uint32_t operation)
{
    unsigned kind = 0;

    while (!(operation & (1u << kind | ES_TREE_NONBLOCKING(kind))))
        kind++;
    return (enum esi_tree_kind)kind;
}

int esi_tree_advisor_propose(const struct esi_tree_advisor *advisor,
                             size_t index,
                             const struct esi_advice_situation *situation,
                             struct esi_tree_advice *ret_advice)
{
    struct esi_tree_advice advice = {.best = SIZE_MAX};
    struct replay replay = {.advisor = advisor, .situation = situation};
    double *numbers;
    int result;

    if (index >= advisor->count)
        return -ENOENT;
    replay.group = &advisor->groups[index];
    replay.kind = kind_of(replay.group->operation);
    for (int i = 0; i < ES_LINK_CLASSES; i++)
        replay.costs[i] = esi_link_costs_get(situation->costs, (enum esi_link_class)i);
    numbers = calloc(5 * advisor->config.samples, sizeof *numbers);
    if (!numbers)
        return -ENOMEM;
    replay.now_ns = numbers;
    replay.then_ns = numbers + advisor->config.samples;
    replay.best_ns = numbers + 2 * advisor->config.samples;
    replay.scratch = numbers + 3 * advisor->config.samples;
    result = propose_tree(&replay, &advice);
    free(numbers);
    if (result == 0)
        *ret_advice = advice;
    return result;
}
