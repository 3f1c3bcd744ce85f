/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_advice.c - the data of each group of operations, used by tree_propose.c. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/advice/tree_advice_private.h"

static size_t or_default(size_t value, size_t preset)
{
    return value ? value : preset;
}

int esi_tree_advisor_create(const struct esi_tree_advisor_config *config,
                            struct esi_tree_advisor **ret_advisor)
{
    struct esi_tree_advisor *advisor = calloc(1, sizeof *advisor);

    if (!advisor)
        return -ENOMEM;
    advisor->config = *config;
    advisor->config.max_groups = or_default(config->max_groups, 256);
    advisor->config.samples = or_default(config->samples, 32);
    advisor->config.min_samples = or_default(config->min_samples, 8);
    if (config->min_gain_ns <= 0)
        advisor->config.min_gain_ns = 1000;
    if (config->min_gain <= 0)
        advisor->config.min_gain = 0.1;
    advisor->state = 1;
    *ret_advisor = advisor;
    return 0;
}

static void free_group(const struct esi_tree_advisor *advisor,
                       struct esi_advice_group *group)
{
    for (size_t i = 0; group->samples && i < advisor->config.samples; i++)
        free(group->samples[i].enters_ns);
    free(group->samples);
    free(group->world_ranks);
}

void esi_tree_advisor_destroy(struct esi_tree_advisor *advisor)
{
    if (!advisor)
        return;
    for (size_t i = 0; i < advisor->count; i++)
        free_group(advisor, &advisor->groups[i]);
    free(advisor->groups);
    free(advisor);
}

/* Order of magnitude: 0, 1, 2 to 3, 4 to 7, ... bytes. */
static unsigned order_of(uint64_t bytes)
{
    unsigned order = 0;

    for (; bytes > 0; bytes >>= 1)
        order++;
    return order;
}

static bool fits_group(const struct esi_advice_group *group,
                       const struct esi_collective_instance *instance,
                       uint32_t operation)
{
    return group->operation == operation && group->order == order_of(instance->bytes) &&
           group->size == instance->size &&
           memcmp(group->key, instance->key, sizeof group->key) == 0;
}

/* The least recently used group. */
static size_t quietest_group(const struct esi_tree_advisor *advisor)
{
    size_t found = 0;

    for (size_t i = 1; i < advisor->count; i++)
        if (advisor->groups[i].touched < advisor->groups[found].touched)
            found = i;
    return found;
}

static struct esi_advice_group *make_group(struct esi_tree_advisor *advisor)
{
    struct esi_advice_sample *samples =
        calloc(advisor->config.samples, sizeof *samples);
    bool has_room = advisor->count < advisor->config.max_groups;
    struct esi_advice_group *group;

    if (!samples || (has_room && ESI_ARRAY_RESERVE(advisor->groups, advisor->capacity,
                                                   advisor->count + 1) < 0)) {
        free(samples);
        return NULL;
    }
    if (has_room) {
        group = &advisor->groups[advisor->count++];
    } else {
        group = &advisor->groups[quietest_group(advisor)];
        free_group(advisor, group);
    }
    *group = (struct esi_advice_group){.samples = samples};
    return group;
}

static struct esi_advice_group *find_group(
    struct esi_tree_advisor *advisor,
    const struct esi_collective_instance *instance,
    uint32_t operation)
{
    struct esi_advice_group *group;

    for (size_t i = 0; i < advisor->count; i++)
        if (fits_group(&advisor->groups[i], instance, operation))
            return &advisor->groups[i];
    group = make_group(advisor);
    if (!group)
        return NULL;
    memcpy(group->key, instance->key, sizeof group->key);
    group->operation = operation;
    group->order = order_of(instance->bytes);
    group->size = instance->size;
    return group;
}

/* --- Measurements ----------------------------------------------------------------- */

static int compare_numbers(const void *x, const void *y)
{
    double a = *(const double *)x;
    double b = *(const double *)y;

    return (a > b) - (a < b);
}

double esi_advice_typical(double *numbers, size_t count, double *ret_error)
{
    size_t cut = count / 8;
    size_t kept = count - 2 * cut;
    double mean = 0;
    double squares = 0;

    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (size_t i = cut; i < cut + kept; i++)
        mean += numbers[i] / (double)kept;
    for (size_t i = cut; i < cut + kept; i++)
        squares += (numbers[i] - mean) * (numbers[i] - mean);
    if (ret_error)
        *ret_error = kept > 1 ? sqrt(squares / (double)(kept - 1) / (double)kept) : 0;
    return mean;
}

static struct esi_advice_past *find_past(struct esi_advice_group *group,
                                         bool tree,
                                         uint32_t version)
{
    struct esi_advice_past *quietest = &group->pasts[0];

    for (size_t i = 0; i < ESI_ADVICE_PASTS; i++) {
        struct esi_advice_past *past = &group->pasts[i];

        if (past->count > 0 && past->tree == tree && past->version == version)
            return past;
        if (past->touched < quietest->touched)
            quietest = past;
    }
    *quietest = (struct esi_advice_past){.tree = tree, .version = version};
    return quietest;
}

static void remember_instance(struct esi_tree_advisor *advisor,
                              struct esi_advice_group *group,
                              const struct esi_advice_sample *sample)
{
    struct esi_advice_past *past = find_past(group, sample->tree, sample->version);
    size_t at = past->count++ % ESI_ADVICE_PAST_KEPT;

    past->measured_ns[at] = sample->measured_ns;
    past->error_ns[at] = sample->error_ns;
    past->touched = advisor->touches + 1;
}

int esi_tree_advisor_past(const struct esi_tree_advisor *advisor,
                          size_t index,
                          bool tree,
                          uint32_t version,
                          struct esi_advised_past *ret_past)
{
    const struct esi_advice_group *group = &advisor->groups[index];

    for (size_t i = 0; i < ESI_ADVICE_PASTS; i++) {
        const struct esi_advice_past *past = &group->pasts[i];
        size_t kept = past->count < ESI_ADVICE_PAST_KEPT ? (size_t)past->count
                                                         : ESI_ADVICE_PAST_KEPT;
        double numbers[ESI_ADVICE_PAST_KEPT];

        if (kept == 0 || past->tree != tree || (tree && past->version != version))
            continue;
        memcpy(numbers, past->measured_ns, sizeof numbers);
        *ret_past = (struct esi_advised_past){.count = past->count};
        ret_past->mean_ns = esi_advice_typical(numbers, kept, &ret_past->chance_ns);
        for (size_t j = 0; j < kept; j++)
            ret_past->clocks_ns += past->error_ns[j] / (double)kept;
        return 0;
    }
    return -ENOENT;
}

/* --- Adding ----------------------------------------------------------------------- */

static double measured_ns(const struct esi_tree_advisor *advisor,
                          const struct esi_collective_instance *instance)
{
    double sum_ns = 0;

    if (advisor->config.goal == ES_ADVICE_TREE_TIME)
        return (double)instance->tree_ns;
    for (int i = 0; i < instance->size; i++)
        sum_ns +=
            (double)(instance->arrivals[i].exit_ns - instance->arrivals[i].enter_ns);
    return sum_ns;
}

/* Fills the sample, then replaces samples of other trees, then random ones, so that old
 * samples fade out. */
static struct esi_advice_sample *choose_sample(
    struct esi_tree_advisor *advisor,
    struct esi_advice_group *group,
    const struct esi_collective_instance *instance)
{
    uint32_t version = instance->tree ? instance->version : 0;

    if (group->count < advisor->config.samples)
        return &group->samples[group->count];
    for (size_t i = 0; i < group->count; i++)
        if (group->samples[i].tree != instance->tree ||
            group->samples[i].version != version)
            return &group->samples[i];
    advisor->state = advisor->state * UINT64_C(6364136223846793005) + 1;
    return &group->samples[(advisor->state >> 33) % advisor->config.samples];
}

static bool is_of_use(const struct esi_collective_instance *instance,
                      uint32_t operation)
{
    return (operation & ES_TREE_ALL_BLOCKING) != 0 && instance->size >= 2 &&
           instance->known == instance->size && instance->impossible == 0;
}

static void fill_sample(const struct esi_tree_advisor *advisor,
                        const struct esi_collective_instance *instance,
                        struct esi_advice_sample *sample)
{
    for (int i = 0; i < instance->size; i++)
        sample->enters_ns[i] =
            (double)(instance->arrivals[i].enter_ns - instance->first_enter_ns);
    sample->root = instance->root >= 0 ? instance->root : 0;
    sample->bytes = instance->bytes;
    sample->tree = instance->tree;
    sample->version = instance->tree ? instance->version : 0;
    sample->measured_ns = measured_ns(advisor, instance);
    sample->error_ns = (double)instance->error_ns;
}

static int note_ranks(struct esi_advice_group *group,
                      const struct esi_collective_instance *instance)
{
    if (group->world_ranks)
        return 0;
    group->world_ranks = malloc((size_t)instance->size * sizeof *group->world_ranks);
    if (!group->world_ranks)
        return -ENOMEM;
    for (int i = 0; i < instance->size; i++)
        group->world_ranks[i] = instance->arrivals[i].world_rank;
    return 0;
}

int esi_tree_advisor_add(struct esi_tree_advisor *advisor,
                         const struct esi_collective_instance *instance)
{
    uint32_t operation = esi_tree_operation_of_code(instance->operation);
    struct esi_advice_group *group;
    struct esi_advice_sample *sample;

    if (!is_of_use(instance, operation))
        return -EINVAL;
    group = find_group(advisor, instance, operation);
    if (!group || note_ranks(group, instance) < 0)
        return -ENOMEM;
    sample = choose_sample(advisor, group, instance);
    if (!sample->enters_ns)
        sample->enters_ns = malloc((size_t)instance->size * sizeof *sample->enters_ns);
    if (!sample->enters_ns)
        return -ENOMEM;
    fill_sample(advisor, instance, sample);
    remember_instance(advisor, group, sample);
    if (sample == &group->samples[group->count])
        group->count++;
    group->tree = sample->tree;
    group->version = sample->version;
    group->instances++;
    group->touched = ++advisor->touches;
    snprintf(group->communicator, sizeof group->communicator, "%s",
             instance->communicator ? instance->communicator : "*");
    return 0;
}

size_t esi_tree_advisor_count(const struct esi_tree_advisor *advisor)
{
    return advisor->count;
}

void esi_tree_advisor_group(const struct esi_tree_advisor *advisor,
                            size_t index,
                            struct esi_advised_group *ret_group)
{
    const struct esi_advice_group *group = &advisor->groups[index];
    double bytes = 0;

    for (size_t i = 0; i < group->count; i++)
        bytes += (double)group->samples[i].bytes / (double)group->count;
    *ret_group = (struct esi_advised_group){
        .communicator = group->communicator,
        .operation = group->operation,
        .min_bytes = group->order ? UINT64_C(1) << (group->order - 1) : 0,
        .max_bytes = (UINT64_C(1) << group->order) - 1,
        .size = group->size,
        .tree = group->tree,
        .version = group->version,
        .samples = group->count,
        .instances = group->instances,
        .mean_bytes = bytes,
        .world_ranks = group->world_ranks,
    };
    memcpy(ret_group->key, group->key, sizeof ret_group->key);
}
