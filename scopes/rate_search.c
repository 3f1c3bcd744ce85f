/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* rate_search.c - finds the settings that serve the goals best by trying them.
 *
 * Starts from the current settings and tries those that differ in one respect: the
 * mode, one step more or fewer threads or pulls ahead, another shape.  Settings that
 * are clearly better become the new start.  A search therefore takes the sum, not the
 * product, of the numbers of choices.  It ends when no single step helps. */
#include "config.h"

#include "scopes/rate_search.h"

#define CLEARLY 1.05 /* better by this factor; less may be noise */

/* --- What is better ----------------------------------------------------------- */

double esi_rate_pull_cost(const struct esi_rate_measure *measure)
{
    return measure->hz > 0 ? measure->share / measure->hz : 0;
}

double esi_rate_reach(const struct esi_rate_config *config,
                      const struct esi_rate_measure *measure)
{
    double cost = esi_rate_pull_cost(measure);
    double reach = measure->possible_hz;

    if (config->interval_min_ns && reach > 1e9 / (double)config->interval_min_ns)
        reach = 1e9 / (double)config->interval_min_ns;
    if (config->budget > 0 && cost > 0 && reach > ESI_RATE_AIM * config->budget / cost)
        reach = ESI_RATE_AIM * config->budget / cost;
    if (config->wanted_hz > 0 && reach > config->wanted_hz)
        reach = config->wanted_hz;
    return reach;
}

/* A higher rate takes precedence, then a lower cost per pull. */
static bool is_better(const struct esi_rate_config *config,
                      const struct esi_rate_measure *a,
                      const struct esi_rate_measure *b)
{
    double first = esi_rate_reach(config, a);
    double second = esi_rate_reach(config, b);

    if (first > second * CLEARLY || second > first * CLEARLY)
        return first > second;
    return esi_rate_pull_cost(a) * CLEARLY < esi_rate_pull_cost(b);
}

/* --- What there is to try ------------------------------------------------------ */

static bool is_same_tree(const struct esi_rate_settings *a,
                         const struct esi_rate_settings *b)
{
    return a->mode == b->mode && a->threads == b->threads && a->ahead == b->ahead &&
           a->shape == b->shape &&
           (a->shape != ES_SHAPE_KARY || a->fan_out == b->fan_out);
}

static bool was_tried(const struct esi_rate_search *search,
                      const struct esi_rate_settings *settings)
{
    for (size_t i = 0; i < search->tried_count; i++)
        if (is_same_tree(&search->tried[i], settings))
            return true;
    return false;
}

/* Creates the `index`-th neighbour of settings in one respect.  Returns false if there
 * is none with this or a larger index. */
typedef bool (*neighbour_fn)(struct esi_rate_settings *settings,
                             const struct esi_rate_config *config,
                             size_t servers,
                             size_t index);

static bool other_mode(struct esi_rate_settings *settings,
                       const struct esi_rate_config *config,
                       size_t servers,
                       size_t index)
{
    (void)config;
    if (index > 0 || servers < 2)
        return false;
    settings->mode =
        settings->mode == ES_MODE_CONCURRENT ? ES_MODE_SEQUENTIAL : ES_MODE_CONCURRENT;
    return true;
}

/* Doubles (index 0) or halves the number; below `first` there is only 0.  Above `most`,
 * it stays unchanged, and was therefore already tried. */
static void rate_search_step(unsigned *number,
                             unsigned first,
                             unsigned most,
                             size_t index)
{
    unsigned next = *number / 2;

    if (index == 0)
        next = *number ? *number * 2 : first;
    else if (next < first)
        next = 0;
    if (next <= most)
        *number = next;
}

static bool other_threads(struct esi_rate_settings *settings,
                          const struct esi_rate_config *config,
                          size_t servers,
                          size_t index)
{
    if (index > 1 || servers < 2)
        return false;
    rate_search_step(&settings->threads, 2, config->max_threads, index);
    return true;
}

static bool other_ahead(struct esi_rate_settings *settings,
                        const struct esi_rate_config *config,
                        size_t servers,
                        size_t index)
{
    if (index > 1 || servers < 1)
        return false;
    rate_search_step(&settings->ahead, 1, config->max_ahead, index);
    return true;
}

static bool other_shape(struct esi_rate_settings *settings,
                        const struct esi_rate_config *config,
                        size_t servers,
                        size_t index)
{
    static const struct {
        enum es_shape shape;
        unsigned fan_out;
    } shapes[] = {
        {ES_SHAPE_FLAT, 0},   {ES_SHAPE_HOSTS, 0}, {ES_SHAPE_VIEWS, 0},
        {ES_SHAPE_LEVELS, 0}, {ES_SHAPE_KARY, 2},  {ES_SHAPE_KARY, 4},
        {ES_SHAPE_KARY, 8},   {ES_SHAPE_KARY, 16},
    };

    (void)config;
    if (index >= sizeof shapes / sizeof *shapes || servers < 2)
        return false;
    /* With fewer hosts, the tree equals that of ES_SHAPE_HOSTS. */
    if (shapes[index].fan_out >= servers)
        return true;
    settings->shape = shapes[index].shape;
    settings->fan_out = shapes[index].fan_out;
    return true;
}

static const struct {
    enum esi_rate_freedom freedom;
    neighbour_fn neighbour;
} respects[] = {
    {ES_RATE_MODE, other_mode},
    {ES_RATE_AHEAD, other_ahead},
    {ES_RATE_SHAPE, other_shape},
    {ES_RATE_THREADS, other_threads},
};

/* --- The walk ------------------------------------------------------------------ */

static void rate_search_remember(struct esi_rate_search *search,
                                 const struct esi_rate_settings *settings)
{
    search->tried[search->tried_count++] = *settings;
}

void esi_rate_search_start(struct esi_rate_search *search,
                           const struct esi_rate_settings *settings,
                           const struct esi_rate_measure *measure)
{
    *search = (struct esi_rate_search){
        .active = true, .best = *settings, .best_measure = *measure};
    rate_search_remember(search, settings);
}

void esi_rate_search_judge(struct esi_rate_search *search,
                           const struct esi_rate_config *config,
                           const struct esi_rate_measure *measure)
{
    if (!is_better(config, measure, &search->best_measure))
        return;
    search->best = search->tried[search->tried_count - 1];
    search->best_measure = *measure;
}

bool esi_rate_search_next(struct esi_rate_search *search,
                          const struct esi_rate_config *config,
                          size_t servers,
                          struct esi_rate_settings *ret_settings)
{
    for (size_t i = 0; i < sizeof respects / sizeof *respects; i++) {
        if (!(config->freedom & respects[i].freedom))
            continue;
        for (size_t index = 0; search->tried_count < ESI_RATE_TRIALS; index++) {
            struct esi_rate_settings settings = search->best;

            if (!respects[i].neighbour(&settings, config, servers, index))
                break;
            if (was_tried(search, &settings))
                continue;
            rate_search_remember(search, &settings);
            *ret_settings = settings;
            return true;
        }
    }
    search->active = false;
    return false;
}
